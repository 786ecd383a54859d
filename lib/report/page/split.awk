# split.awk -- what communication takes in all and what of it is hidden, in a line above the table of collectives.
NR == 1 {
	for (i = 1; i <= NF; i++)
		col[$i] = i
	next
}
$col["collective"] == "[all]" {
	print "<p class=\"note\">" data($col["count"], "n") ($col["count"] == 1 ? " operation" : " operations") " of NCCL, " data($col["total"], "ns") " in all: " \
		data($col["exposed"], "ns") " exposed, " data($col["hidden"], "ns") " hidden behind computation.</p>"
}
