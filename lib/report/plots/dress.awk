# dress.awk -- plots of gnuplot's SVG that follow the reader's light or dark, without white rings around points: letters and grid take its
# colours, the ground is the page's. Each NAME.raw becomes NAME.svg in the folder `to`. Fails where one is not whole.
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
# What comes first, under all, and empty, has the colour of the plot before: which that is must not be seen.
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
