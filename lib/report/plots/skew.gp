set xlabel "device"
set ylabel "skew left after alignment, us"
set xtics 1 norangelimit
stats data using 1 nooutput
if (STATS_max - STATS_min > 16) set xtics autofreq
set xrange [STATS_min - 0.8:STATS_max + 0.8]
plot 0 with lines lc rgb "#8a8f98" lw 1 notitle, \
     data using 1:2:4:5 with yerrorbars pt 0 lw 1 lc 3 title "least to greatest", \
     data using 1:2:3 with yerrorbars pt 0 lw 2.5 lc 1 title "standard deviation", \
     data using 1:2 with points pt 7 ps 0.7 lc 1 title "mean"
