set xlabel "step"
stats data using 2 nooutput
u = unit(STATS_up_quartile)
# One that takes long stands at the upper edge rather than press the others flat.
top = STATS_max > 3 * STATS_median ? 3 * STATS_median : STATS_max * 1.05
set ylabel "period, ".unit_name(STATS_up_quartile)
set yrange [0:top / u]
plot for [i=0:STATS_blocks-1] data index i using 1:($2 > top ? NaN : $2 / u) with points pt 7 ps 0.4 lc i+1 title columnheader(1), \
     for [i=0:STATS_blocks-1] data index i using 1:($2 > top ? top / u : NaN) with points pt 9 ps 1 lc i+1 notitle
