#!/bin/sh
# index.sh -- the lists of all tools in docs/tour.md and docs/man/nsysx.7, whose texts are the lines .Nd of their pages: `make index`.
# usage: index.sh [DIR]
# Tools stay in the order of each list; new ones come last, and those without a page go. With DIR the pages are made there.
set -eu
root=$(cd "${0%/*}/.." && pwd)
to=${1-}

# list PAGE BEGIN END ROW BEFORE BETWEEN AFTER: the page, in which a list of tools is between the lines BEGIN and END. A row begins with ROW; it becomes
# BEFORE, the name, BETWEEN, the text, AFTER.
list() {
	page=$root/$1
	out=${to:-${page%/*}}/${page##*/}.new
	begin=$2 end=$3 row=$4 before=$5 between=$6 after=$7 page=$page awk '
	function put(tool) { print ENVIRON["before"] tool ENVIRON["between"] text[tool] ENVIRON["after"]; delete text[tool] }
	FILENAME != ENVIRON["page"] {
		if ($1 == ".Nd") {
			tool = FILENAME
			sub(/.*\//, "", tool)
			sub(/\.1$/, "", tool)
			text[tool] = substr($0, 5)
			order[++n] = tool
		}
		next
	}
	$0 == ENVIRON["end"] {
		for (i = 1; i <= n; i++)
			if (order[i] in text)
				put(order[i])
		inside = 0
	}
	!inside { print; inside = $0 == ENVIRON["begin"]; rows = 0; next }
	index($0, ENVIRON["row"]) == 1 {
		rows++
		match($0, /nsysx(-[a-z]+)?/)
		tool = substr($0, RSTART, RLENGTH)
		if (tool in text)
			put(tool)
	}
	inside && !rows { print }   # the heads
	' "$root"/docs/man/*.1 "$page" >"$out"
	mv "$out" "${out%.new}"
}
list docs/tour.md '| tool | does |' '<!-- end of the tools -->' '| `' '| `' '` | ' ' |'
list docs/man/nsysx.7 '.\" The tools: make index.' '.\" End of the tools.' '.It Xr ' '.It Xr ' ' 1
' ''
