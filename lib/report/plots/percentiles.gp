stats data using 1 nooutput
u = unit(STATS_up_quartile)
top = STATS_max > 3 * STATS_median ? 3 * STATS_median : STATS_max
set xlabel "period, ".unit_name(STATS_up_quartile)
set ylabel "steps that take no longer, %"
set yrange [0:100]
set xrange [STATS_min / u * 0.98:top / u * 1.02]
set ytics (0, 25, 50, 75, 90, 100)
plot data using ($1 / u):(100.0 / STATS_records) smooth cumulative with lines lw 2 lc 1 notitle
