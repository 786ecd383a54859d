# rules.awk -- what to look at next, each rule with its number: those that ask for it, those that do not, and those that cannot be
# answered with the reason. Reads tables; a table without rows answers nothing.
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
	next
}
function v(name) { return $col[name] }
file == "total" { total[v("quantity")] = v("total"); share[v("quantity")] = v("percent") }
file == "collective" && v("collective") != "[all]" {
	comms++
	if (v("exposed") + 0 > worst_exposed + 0) { worst_exposed = v("exposed"); worst_comm = v("collective") }
}
file == "device" { devices++ }
file == "waits" { caused[v("device")] += v("caused"); wait_all += v("wait"); waits++ }
file == "thunk" {
	thunks++
	time_all += v("total")
	if (v("opcode") != "") time_known += v("total")
	if (v("percent") + 0 > top_percent + 0) { top_percent = v("percent"); top_name = v("name") }
}
file == "thunk" && v("relstd") != "" { several = 1 }
file == "variable" { variable++; vary_all += v("mean") * v("count"); if (variable == 1) { vary_name = v("name"); vary = v("relstd") } }
file == "compile-process" { compiled += v("compilations"); compile += v("compile"); wall += v("wall") }
file == "residual" {
	x = v("skew")
	residuals++
	square += x * x
}
file == "kernel" {
	kernels += v("total")
	if (v("type") == "memcpy") copies += v("total")
}
file == "record-diag" { if (v("severity") != "info") warned++ }

# A finding: number x, its limit, whether the answer stands; what it is, its text, where to read on.
function rule(known, x, limit, form, name, text, anchor, why) {
	if (!known)
		open[++opens] = "<li><b>" esc(name) "</b> cannot be told: " esc(why) "</li>"
	else if (x + 0 > limit)
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
	xla = total["wall"] + 0 > 0
	none = xla ? "no communication" : "no work of XLA programs"
	rule(xla && comms, share["exposed communication"], 10, "%", "Exposed communication",
		"of GPU time is communication that no computation hides" (worst_comm ? ", most of it " worst_comm : "") ".", "communication", none)
	idle = share["idle during module executions"] + share["idle between module executions"]
	rule(xla, idle, 10, "%", "Idle GPUs", "of GPU time nothing runs: " percent(share["idle between module executions"]) " between executions, where the host is late, and " percent(share["idle during module executions"]) " within.", "time", none)
	for (d in caused)
		if (caused[d] > late || (caused[d] == late && (late_by == "" || d + 0 < late_by + 0))) { late = caused[d]; late_by = d }
	rule(waits && devices > 1 && xla, xla ? 100 * late / total["wall"] : 0, 1, "%", "Straggler",
		"of all GPU time the others wait for device " late_by " (" ns(late) " of " ns(wait_all) " that devices wait in collectives).", "devices",
		devices < 2 ? "one device" : comms ? "the clocks of devices were not compared" : none)
	rule(several, time_all ? 100 * vary_all / time_all : 0, 1, "%", "Computation that varies",
		variable ? "of the time of instructions is in computation that varies by more than a tenth; of " (variable < 10 ? variable : "the slowest ten") " most in " vary_name ", by " percent(100 * vary) "." : "", "variability", xla ? "no instruction ran twice" : none)
	rule(thunks, top_percent + 0, 20, "%", "One instruction", "of the time of instructions is " top_name ".", "instructions", none)
	rule(compiled > 0, wall ? 100 * compile / wall : 0, 20, "%", "Compilation", "of the time of processes in the capture is compilation.", "compilation", "the capture holds no compilation")
	rule(thunks, time_all ? 100 * (1 - time_known / time_all) : 0, 5, "%", "Names unknown",
		"of instruction time has no opcode: its HLO dump is missing or another run's, or it is hidden in command buffers.", "diags", none)
	rule(active > 0, active ? 100 * unknown / active : 0, 25, "%", "Source unknown", "of active GPU time comes from no known source line. JAX_TRACEBACK_IN_LOCATIONS_LIMIT=-1 and the dump tell more.", "flame", none)
	rule(residuals, residuals ? root(square / residuals) : 0, 20000, "ns", "Clocks",
		"is what skews still differ by after alignment (root mean square): times of different devices agree no better.", "clocks", devices < 2 ? "one device" : comms ? "the clocks of devices were not compared" : none)
	rule(kernels > 0, kernels ? 100 * copies / kernels : 0, 10, "%", "Copies", "of the time of GPU operations are copies (compilation aside).", "kernels", "single GPU operations were left out (DETAIL=no)")
	rule(1, warned + 0, 0, "n", "Warnings", "warnings about the data, below: read them before you believe a number.", "diags", "")
	if (bads)
		list("findings", bad, bads)
	else
		print "<p>Nothing asks for it: no rule is above its limit.</p>"
	if (goods) {
		print "<details><summary>" goods " of " goods + bads + opens " rules found nothing</summary>"
		list("quiet", good, goods)
		print "</details>"
	}
	if (opens) {
		print "<details><summary>" opens (opens == 1 ? " rule has" : " rules have") " no answer</summary>"
		list("quiet", open, opens)
		print "</details>"
	}
}
