# marks.tsv: where the collectives of a program start: mean ns since the start of the device's own module, from a stream
# of programs, modules and collectives. A collective comes after its module.
BEGIN { FS = OFS = "\t"; OFMT = CONVFMT = "%.17g"; print "program", "name", "time" }
/^#/ {
	kind = substr($1, 2)
	for (i = 2; i <= NF; i++)
		col[kind, substr($i, 1, index($i, ":") - 1)] = i
	next
}
function value(name) { return $col[$1, name] }
$1 == "program" { id[value("program")] = value("id") }
$1 == "module" { start[value("program"), value("device")] = value("start"); run[value("program"), value("device")] = value("execution") }
$1 == "collective" {
	p = value("program")
	d = value("device")
	if (run[p, d] != value("execution"))
		next
	k = p OFS value("inst") OFS value("occurrence")
	if (!(k in n)) {
		order[++m] = k
		name[k] = value("name")
		of[k] = p
	}
	n[k]++
	sum[k] += value("start") - start[p, d]
}
END {
	for (i = 1; i <= m; i++)
		print id[of[order[i]]], name[order[i]], sum[order[i]] / n[order[i]]
}
