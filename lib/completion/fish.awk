# fish.awk -- completion for fish of one selected tool: fish reads the file with the name of a command.
function quoted(s) { gsub(/[\\']/, "\\\\&", s); return "'" s "'" }
function argument(mode, sort, arg) {
	if (mode == "none" || (mode == "may" && sort == "any")) return ""
	if (mode == "may") { gsub(/\|/, " ", arg); return " -f -a " quoted(arg) }
	if (sort == "file") return " -r -F"
	if (sort == "dir") return " -x -a '(__fish_complete_directories)'"
	if (sort == "kind") return " -x -a " quoted(kinds)
	if (sort == "kinds") return " -x -a '(__fish_append , " kinds ")'"
	if (sort == "words") { gsub(/\|/, " ", arg); return " -x -a " quoted(arg) }
	return " -x"
}
# The end of a function: complete its words without those that are dropped.
function rest(dropped, name) {
	print "\tset -e words[" dropped "]"
	print "\tcomplete -C (string join ' ' -- " name "(string escape -- $words) (commandline -ct))\nend"
}
BEGIN { print "# fish completion of " tool "; made from its --help." }
$1 == "kind" { kinds = kinds (kinds == "" ? "" : " ") $2 }
$1 == "tool" && $2 != "nsysx" { tools[++n] = substr($2, 7); says[n] = $3 }
$1 == "option" && $2 == tool {
	lines[++m] = "complete -c " tool (tool == "nsysx" ? " -n __fish_use_subcommand" : "") ($3 == "" ? "" : " -s " $3) " -l " $4 argument($5, $6, $7) " -d " quoted($8)
}
END {
	for (i = 1; i <= m; i++)
		print lines[i]
	if (tool == "nsysx-record") {
		print "# Behind --, what the program is completed with."
		print "function __nsysx_program"
		print "\tset -l words (commandline -opc)"
		print "\tset -l at (contains -i -- -- $words); or return"
		rest("1..$at", "")
		print "complete -c nsysx-record -n 'contains -- -- (commandline -opc)' -x -a '(__nsysx_program)'"
	}
	if (tool != "nsysx")
		exit
	for (i = 1; i <= n; i++)
		print "complete -c nsysx -n __fish_use_subcommand -f -a " tools[i] " -d " quoted(says[i])
	print "# Behind the tool, what the tool itself is completed with."
	print "function __nsysx_rest"
	print "\tset -l words (commandline -opc)"
	print "\tset -l name nsysx-$words[2]"
	rest("1 2", "$name ")
	print "complete -c nsysx -n 'not __fish_use_subcommand' -x -a '(__nsysx_rest)'"
}
