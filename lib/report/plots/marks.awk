# marks.tsv: where the collectives of a program start: mean ns since the start of the device's own module, from tables of
# records: of programs and of collectives, and of modules, whose file is `modules`. A collective comes after its module.
BEGIN {
	FS = OFS = "\t"
	OFMT = CONVFMT = "%.17g"
	print "program", "name", "time"
	if (next_module())
		for (i = 1; i in field; i++)
			at[field[i]] = i
	next_module()
}
# Read the next module into field[].
function next_module(  line) {
	more = (getline line <modules) > 0
	if (more)
		split(line, field, FS)
	return more
}
# Whether the module starts when the collective does, or before. Times of 64 bits are compared as texts, for they do not
# fit a number of awk.
function is_before(module, collective) {
	if (module ~ /^-/ || length(module) != length(collective))
		return module + 0 <= collective + 0
	return module "" <= collective ""
}
FNR == 1 {
	programs = !files++
	for (i = 1; i <= NF; i++)
		col[$i] = i
	next
}
programs { key[$col["program"]] = $col["id"]; next }
{
	while (more && is_before(field[at["start"]], $col["start"])) {
		k = field[at["program"]] OFS field[at["device"]]
		start[k] = field[at["start"]]
		run[k] = field[at["execution"]]
		next_module()
	}
	k = $col["program"] OFS $col["device"]
	if (run[k] != $col["execution"])
		next
	k = $col["program"] OFS $col["inst"] OFS $col["occurrence"]
	if (!(k in n)) {
		order[++m] = k
		name[k] = $col["name"]
		of[k] = $col["program"]
	}
	n[k]++
	sum[k] += $col["start"] - start[$col["program"] OFS $col["device"]]
}
END {
	for (i = 1; i <= m; i++)
		print key[of[order[i]]], name[order[i]], sum[order[i]] / n[order[i]]
}
