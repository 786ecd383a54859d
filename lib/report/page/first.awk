# first.awk -- the first numbers of a page: time, its shares as a bar, devices, the program and the bandwidth that stand for the rest.
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
file == "record-device" { devices++ }
file == "record-profile" { profiles++ }
file == "module" { module_time += v("total") }
file == "module" && FNR == 2 { top = v("name"); top_mean = v("mean"); top_execs = v("execs") }
file == "bandwidth" && v("busbw_mean") != "" && (best_bytes == "" || v("bytes") + 0 > best_bytes + 0 || (v("bytes") == best_bytes && v("busbw_mean") + 0 > best + 0)) {
	best = v("busbw_mean")
	best_bytes = v("bytes")
	best_kind = v("collective")
}
file == "kernel" { kernel_time += v("total"); kernel_count += v("count"); kernels++ }
file == "range" { ranges++ }
function card(x, form, name) { print "<div><dt>" esc(name) "</dt><dd>" data(x, form) "</dd></div>" }
function part(class, x) { if (x + 0 > 0) printf "<i class=\"%s\" style=\"width:%.3f%%\"></i>", class, x }
function legend(class, x, name) { printf "<li><i class=\"%s\"></i>%s %s</li>", class, esc(name), percent(x) }
END {
	print "<dl class=\"cards\">"
	if (top != "")
		card(top_mean, "ns", "an execution of " top ", mean of " top_execs)
	if (total["wall"] + 0 > 0) {
		idle = share["idle during module executions"] + share["idle between module executions"]
		card(total["wall"], "ns", "GPU time, all devices")
		card(share["computation"], "%", "computing")
		card(share["exposed communication"], "%", "exposed communication")
		card(share["hidden communication"], "%", "hidden communication")
		card(idle, "%", "idle")
	} else if (kernels) {
		card(kernel_time, "ns", "time of GPU operations")
		card(kernel_count, "n", "GPU operations")
		card(kernels, "n", "kernels and kinds of copies")
		card(ranges + 0, "n", "names of ranges with GPU work")
	}
	card(devices + 0, "n", devices == 1 ? "device" : "devices")
	card(profiles + 0, "n", profiles == 1 ? "profile" : "profiles")
	if (best != "")
		card(best, "bw", "bus bandwidth of " best_kind ", " size(best_bytes))
	print "</dl>"
	if (total["wall"] + 0 > 0) {
		printf "<div class=\"bar\" role=\"img\" aria-label=\"computing %s, exposed communication %s, idle %s\">", percent(share["computation"]), percent(share["exposed communication"]), percent(idle)
		part("compute", share["computation"])
		part("exposed", share["exposed communication"])
		part("idle", idle)
		printf "</div>\n<ul class=\"key\">"
		legend("compute", share["computation"], "computing")
		legend("exposed", share["exposed communication"], "exposed communication")
		legend("idle", idle, "idle")
		print "</ul>\n<p class=\"note\">From the first to the last execution of each device, summed over devices. Hidden communication runs beside computation and is part of that time already." \
			(total["modules"] + 0 < module_time ? " Only programs that make up 99 % of executions\47 time are counted here, by kind of operation, instruction and device; tables by program and by collective hold all." : "") "</p>"
	}
}
