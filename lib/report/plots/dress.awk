# dress.awk -- a plot of gnuplot's SVG that follows the reader's light or dark, without white rings around points: letters and grid take its colours, the ground is the page's.
/^<desc>/ || /<use [^>]*color='white'/ { next }
/<title>Gnuplot<\/title>/ { sub(/Gnuplot/, title) }
/<title>plot_/ { gsub(/plot_/, "") }
/^<g id="plot"|^<g id="gnuplot_canvas"/ {
	print "<style>text { fill: #3c4350 } [fill='black'] { fill: #3c4350 } @media (prefers-color-scheme: dark) { text { fill: #c3c9d4 }" \
		" path[stroke='rgb(213, 216, 221)'], path[stroke='#d5d8dd'] { stroke: #353b47 } }</style>"
}
{ print }
