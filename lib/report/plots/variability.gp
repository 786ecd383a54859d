set logscale xy
set xlabel "mean time, us"
set ylabel "standard deviation, % of the mean"
set format xy "%g"
plot 10 with lines dt 2 lw 1 lc rgb "#8a8f98" title "10 %", \
     data index 1 using 1:2 with points pt 7 ps 0.4 lc 1 title "computation", \
     data index 2 using 1:2 with points pt 7 ps 0.4 lc 3 title "communication", \
     data index 0 using 1:2 with points pt 7 ps 0.8 lc 2 title "computation that varies", \
     data index 0 using 1:2:3 with labels offset 0.9,0.5 font ",11" notitle
