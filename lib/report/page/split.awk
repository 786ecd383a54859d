# split.awk -- the total and the exposed time of communication, in two lines above the table of collectives: how its
# sums are related to the other numbers of exposed communication on the page. Reads where.tsv, device.tsv, which may be
# empty, and collective.tsv.
FNR == 1 {
	file = FILENAME
	sub(/.*\//, "", file)
	split("", col)
	for (i = 1; i <= NF; i++)
		col[$i] = i
	next
}
function v(name) { return $col[name] }
file == "where.tsv" && v("part") == "step" { stepped = 1 }
file == "where.tsv" && v("part") == "comm" { step = v("mean"); known = 1 }
file == "device.tsv" { devices++; union += v("exposed") }
file == "collective.tsv" {
	count += v("count")
	total += v("total")
	exposed += v("exposed")
	hidden += v("hidden")
}
END {
	if (!count)
		exit
	# Both include all programs, so they differ by operations that are exposed on a device at the same time.
	twice = exposed - union
	print "<p class=\"note\">" data(count, "n") (count == 1 ? " operation" : " operations") ", " data(total, "ns") " in all: " \
		data(exposed, "ns") " exposed, " data(hidden, "ns") " hidden behind computation. " \
		(!devices ? "Each is counted in full, also where several run concurrently." : \
		twice > 0 ? "Each is counted in full: the exposed time of those that run concurrently on a device is counted more than once, by " data(twice, "ns") "." : \
		"No two of them are exposed on a device at once, so nothing counts twice.") "</p>"
	if (known)
		print "<p class=\"note\">As time of devices, each moment counted once, exposed communication is " \
			(devices ? data(union, "ns") " of all executions on all devices, and " : "") data(step, "ns") " of a " (stepped ? "step" : "device") ", the mean over devices.</p>"
}
