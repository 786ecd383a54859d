stats data using 3 nooutput
# Data are in us.
t = unit(STATS_max * 1e3) / 1e3
set xlabel "wait for the last device, ".unit_name(STATS_max * 1e3)
set yrange [*:*] reverse
set offsets 0, 0, 0.5, 0.5
set xrange [0:*]
set format x "%g"
set grid x noy
# The names of collectives may take half of the width: the key ends where the plot does.
set key top right
plot data using ($2 / t):0:($2 / t):($3 / t) with xerrorbars pt 0 lw 1.5 lc 2 title "to the longest", \
     data using ($2 / t):0:yticlabels(1) with points pt 7 ps 0.8 lc 1 title "mean"
