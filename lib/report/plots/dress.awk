# dress.awk -- adapt SVG plots of gnuplot to the reader's light or dark mode, without white rings around points: letters
# and grid have its colours, the background is that of the page. Each NAME.raw becomes NAME.svg in the folder `to`.
# Fails if a plot is not complete.
function check() {
	if (out == "")
		return
	close(out)
	if (!whole) {
		print "nsysx-report: " name ": gnuplot left an unfinished picture" >"/dev/stderr"
		failed = 1
		exit 1
	}
}
FNR == 1 {
	check()
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.raw$/, "", name)
	out = to name ".svg"
	whole = ground = 0
	files++
}
/^<\/svg>/ { whole = 1 }
/^<desc>/ || /<use [^>]*color='white'/ { next }
/<title>Gnuplot<\/title>/ { sub(/Gnuplot/, name) }
/<title>plot_/ { gsub(/plot_/, "") }
# The first element, which is empty and below all others, has a colour left from the previous plot; it is replaced, so
# that the result does not depend on that plot.
/^<g fill="none" color="white"/ && !ground++ { sub(/ stroke="[^"]*"/, " stroke=\"currentColor\"") }
/^<g id="plot"|^<g id="gnuplot_canvas"/ {
	print "<style>text { fill: #3c4350 } [fill='black'] { fill: #3c4350 } @media (prefers-color-scheme: dark) { text { fill: #c3c9d4 }" \
		" path[stroke='rgb(213, 216, 221)'], path[stroke='#d5d8dd'] { stroke: #353b47 } }</style>" >out
}
{ print >out }
END {
	if (failed)
		exit 1
	check()
	if (files < ARGC - 1) {
		print "nsysx-report: gnuplot left an empty picture" >"/dev/stderr"
		exit 1
	}
}
