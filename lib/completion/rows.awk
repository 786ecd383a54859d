# rows.awk -- what `TOOL --help` says as rows, of tab-separated columns:
#
#     tool    TOOL  SUMMARY
#     option  TOOL  LETTER  NAME  MODE  VALUES  ARG  HELP
#
# LETTER may be empty. MODE: none, must or may (have an argument). VALUES, of the argument: words (those of ARG, between
# bars, or the only one), file, dir, kind, kinds (separated by commas) or any.
function values(arg) {
	if (arg ~ /\|/ || arg ~ /^[a-z]+$/) return "words"
	if (arg == "FILE" || arg == "DIR") return tolower(arg)
	if (arg == "KIND") return "kind"
	return arg == "KIND,..." ? "kinds" : "any"
}
function row() {
	if (name != "")
		print "option", tool, letter, name, mode, mode == "none" ? "" : values(arg), arg, help
	name = ""
}
BEGIN { OFS = "\t" }
NR == 2 { print "tool", tool, $0 }
/^Tools:$/ { exit }
/^  (-[A-Za-z0-9], |    )--/ {
	row()
	letter = substr($0, 3, 1) == "-" ? substr($0, 4, 1) : ""
	name = substr($0, 9)
	sub(/ .*/, "", name)
	help = substr($0, 9 + length(name))
	sub(/^ +/, "", help)
	mode = "none"
	arg = ""
	if (match(name, /[[]?=/)) {
		mode = RLENGTH == 2 ? "may" : "must"
		arg = substr(name, RSTART + RLENGTH)
		if (mode == "may")
			sub(/\]$/, "", arg)
		# What is put together from a word and something else is offered up to there.
		if (arg == "WINDOWS")
			arg = "device|module|execution|step|range:|every:|host|node|rack|partition|group|axis|block:N"
		if (arg ~ /[|]/)
			gsub(/:N/, ":", arg)
		name = substr(name, 1, RSTART - 1)
	}
	next
}
# The help of an option that left no room for it.
name != "" && help == "" { help = $0; sub(/^ +/, "", help) }
END { row() }
