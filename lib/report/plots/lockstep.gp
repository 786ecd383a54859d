stats data using 1 nooutput
n = STATS_blocks
# Data are in us.
t = unit(STATS_max * 1e3) / 1e3
set xlabel "time since the program's start, ".unit_name(STATS_max * 1e3)
stats data index 2:n-1 using 2 nooutput
set ylabel "late (above 0) or early, us"
# A device that deviates far for a moment, as at a start, must not flatten the other curves.
q = 12 * (abs(STATS_up_quartile) > abs(STATS_lo_quartile) ? abs(STATS_up_quartile) : abs(STATS_lo_quartile))
if (q > 0 && (STATS_max > q || STATS_min < -q)) set yrange [-q:q]
plot data index 1 using ($1 / t):2:3 with filledcurves fc rgb "#8a8f98" fs transparent solid 0.22 noborder title columnheader(1), \
     for [i=2:n-1] data index i using ($1 / t):2 with lines lw 1.5 lc i-1 title columnheader(1), \
     data index 0 using ($1 / t):2 with points pt 9 ps 0.8 lc rgb "#8a8f98" title columnheader(1)
