set xlabel "time since the program's start, µs"
set ylabel "late (above 0) or early, µs"
stats data using 1 nooutput
plot data index 1 using 1:2:3 with filledcurves fc rgb "#8a8f98" fs transparent solid 0.22 noborder title columnheader(1), \
     for [i=2:STATS_blocks-1] data index i using 1:2 with lines lw 1.5 lc i-1 title columnheader(1), \
     data index 0 using 1:2 with points pt 9 ps 0.8 lc rgb "#8a8f98" title columnheader(1)
