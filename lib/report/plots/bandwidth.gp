set logscale xy
set xlabel "message size"
set ylabel "bus bandwidth, GB/s"
set format x "%.0s %cB"
set format y "%g"
stats data using 1 nooutput
plot for [i=0:STATS_blocks-1] data index i using 1:2:3 with yerrorbars pt 0 lw 1.5 lc i+1 notitle, \
     for [i=0:STATS_blocks-1] data index i using 1:2 with points pt 7 ps 0.7 lc i+1 title columnheader(1)
