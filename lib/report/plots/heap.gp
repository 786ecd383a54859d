set xlabel "program order, %"
set ylabel "heap, MB"
set yrange [0:*]
stats data using 1 nooutput
plot for [i=0:STATS_blocks-1] data index i using 1:2 with steps lw 1.5 lc i+1 title columnheader(1)
