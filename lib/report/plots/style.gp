# style.gp -- the common style of plots; `data` and `picture` are set by the caller. dress.awk replaces its colours by those of a light or dark page.
set encoding utf8
set terminal svg size 600,380 noenhanced font "sans-serif,14" name "plot"
set output picture
set datafile separator "\t"
set border 3 lc rgb "#8a8f98"
set tics nomirror out scale 0.6
set grid back lt 1 lw 0.5 lc rgb "#d5d8dd"
set linetype 1 lc rgb "#3b76d1"
set linetype 2 lc rgb "#d9603b"
set linetype 3 lc rgb "#2f9c8c"
set linetype 4 lc rgb "#9a6fd0"
set linetype 5 lc rgb "#c2952b"
set linetype 6 lc rgb "#d0609a"
set linetype 7 lc rgb "#6b8f3a"
set linetype 8 lc rgb "#5aa6d6"
set linetype cycle 8
# The unit for times of up to m ns, and its name.
unit(m) = m >= 1e9 ? 1e9 : m >= 1e6 ? 1e6 : m >= 1e3 ? 1e3 : 1.0
unit_name(m) = m >= 1e9 ? "s" : m >= 1e6 ? "ms" : m >= 1e3 ? "us" : "ns"
set key outside top left horizontal Left reverse maxrows 3 samplen 2 spacing 1.1
