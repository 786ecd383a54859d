set xlabel "step"
stats data using 1 nooutput
# With few steps, ticks would be between them.
if (STATS_max - STATS_min <= 12) set xtics 1
stats data using 2 nooutput
u = unit(STATS_up_quartile)
# A very long step is drawn at the upper edge, so that it does not flatten the others.
top = STATS_max > 3 * STATS_median ? 3 * STATS_median : STATS_max * 1.05
set ylabel "period, ".unit_name(STATS_up_quartile)
set yrange [0:top / u]
# Points do not hide each other: the first device has small dots, the following ones increasingly large rings.
shape(i) = i == 0 ? 7 : 6
larger(i) = i == 0 ? 0.4 : 0.4 + 0.25 * i
plot for [i=0:STATS_blocks-1] data index i using 1:($2 > top ? NaN : $2 / u) with points pt shape(i) ps larger(i) lc i+1 title columnheader(1), \
     for [i=0:STATS_blocks-1] data index i using 1:($2 > top ? top / u : NaN) with points pt 9 ps 1 + 0.25 * i lc i+1 notitle
