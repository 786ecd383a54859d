# rules.awk -- checks of how reliable the numbers are, each with its value: those above their limit, then the others.
# Reads tables; a table without rows decides no rule.
# Most rows are of this table.
residuals_at && FNR > 1 {
	x = $residuals_at
	residuals++
	square += x * x
	next
}
FNR == 1 { residuals_at = 0 }
FILENAME ~ /folded$/ {
	if (/^\[GPU active\]/) {
		active += substr($0, match($0, / [0-9]+$/))
		if (/^\[GPU active\];\[Unknown\]/)
			unknown += substr($0, match($0, / [0-9]+$/))
	}
	next
}
FNR == 1 {
	file = FILENAME
	sub(/.*\//, "", file)
	sub(/\.[a-z]*$/, "", file)
	split("", col)
	for (i = 1; i <= NF; i++)
		col[$i] = i
	residuals_at = file == "residual" ? col["skew"] : 0
	next
}
function v(name) { return $col[name] }
file == "thunk" {
	thunks++
	time_all += v("total")
	if (v("opcode") != "") time_known += v("total")
}
file == "compile-process" { compiled += v("compilations"); compile += v("compile"); wall += v("wall") }
file == "record-diag" { if (v("severity") != "info") warned++ }

# A finding: number x, its limit, whether it is known; its subject, its text, a link to details.
function rule(known, x, limit, form, name, text, anchor) {
	if (!known)
		return
	if (x + 0 > limit)
		bad[++bads] = "<li><a href=\"#" anchor "\"><b>" esc(name) "</b></a> <span class=\"figure\">" data(x, form) "</span><br>" esc(text) "</li>"
	else
		good[++goods] = "<li><b>" esc(name) "</b> " data(x, form) ", at most " esc(shown(limit, form)) "</li>"
}
function list(class, items, n,   i) {
	print "<ul class=\"" class "\">"
	for (i = 1; i <= n; i++)
		print items[i]
	print "</ul>"
}
END {
	rule(compiled > 0, wall ? 100 * compile / wall : 0, 20, "%", "Compilation", "of the time of the captured processes is compilation: it is not part of steps.", "compilation")
	rule(thunks, time_all ? 100 * (1 - time_known / time_all) : 0, 5, "%", "Names unknown",
		"of instruction time has no opcode: the HLO dump is missing or from another run, or the instructions are in command buffers.", "diags")
	rule(active > 0, active ? 100 * unknown / active : 0, 25, "%", "Source unknown", "of active GPU time comes from no known source line. Record with JAX_TRACEBACK_IN_LOCATIONS_LIMIT=-1 and an HLO dump.", "flame")
	rule(residuals, residuals ? root(square / residuals) : 0, 20000, "ns", "Clocks",
		"is the remaining difference of skews after alignment (root mean square): times of different devices cannot be compared more precisely.", "clocks")
	rule(1, warned + 0, 0, "n", "Warnings", "warnings about the data, below: read them before you believe a number.", "diags")
	if (bads)
		list("findings", bad, bads)
	if (goods) {
		print "<details><summary>" goods " of " goods + bads " rules about the data found nothing</summary>"
		list("quiet", good, goods)
		print "</details>"
	}
}
