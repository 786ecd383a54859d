set logscale xy
set xlabel "operations per byte"
set ylabel "TFLOP/s"
set format xy "%g"
stats data using 2 nooutput
# Points that are a hundred thousand times slower than the fastest are not shown.
set yrange [STATS_max / 1e5:*]
# Blocks of points, then as many roofs, whose names have a colon; fewer if a peak is not known.
n = STATS_blocks
roofs = int(system("grep -c ':' ".data))
points = n - roofs
plot for [i=0:points-1] data index i using 1:2 with points pt 7 ps 0.4 lc i+1 title columnheader(1), \
     for [i=points:n-1] data index i using 1:2 with lines lw 1.5 lc i-points+1 title columnheader(1)
