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
# Read the next module into field[], and what is compared of its start.
function next_module(  line) {
	more = (getline line <modules) > 0
	if (more) {
		split(line, field, FS)
		at_start = field[at["start"]]
		size = at_start ~ /^-/ ? 0 : length(at_start)
	}
	return more
}
FNR == 1 {
	programs = !files++
	for (i = 1; i <= NF; i++)
		col[$i] = i
	# There are many collectives.
	program = col["program"]
	device = col["device"]
	execution = col["execution"]
	inst = col["inst"]
	occurrence = col["occurrence"]
	begins = col["start"]
	next
}
programs { key[$program] = $col["id"]; next }
{
	# Modules that start when the collective does, or before. Times of 64 bits are compared as texts, for they do not
	# fit a number of awk.
	while (more && (size == length($begins) ? at_start "" <= $begins "" : at_start + 0 <= $begins + 0)) {
		k = field[at["program"]] OFS field[at["device"]]
		start[k] = at_start
		run[k] = field[at["execution"]]
		next_module()
	}
	on = $program OFS $device
	if (run[on] != $execution)
		next
	k = $program OFS $inst OFS $occurrence
	if (!n[k]++) {
		order[++m] = k
		name[k] = $col["name"]
		of[k] = $program
	}
	sum[k] += $begins - start[on]
}
END {
	for (i = 1; i <= m; i++)
		print key[of[order[i]]], name[order[i]], sum[order[i]] / n[order[i]]
}
