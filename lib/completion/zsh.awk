# zsh.awk -- completion for zsh, by _arguments: one file for all tools.
function quoted(s) { gsub(/'/, "'\\''", s); return "'" s "'" }
# In a description colons and brackets have a meaning.
function plain(s) { gsub(/[\[\]:\\]/, "\\\\&", s); return s }
function action(sort, arg, name) {
	if (sort == "words") { gsub(/\|/, " ", arg); return "(" arg ")" }
	if (sort == "file") return "_files"
	if (sort == "dir") return "_files -/"
	if (sort == "kind") return "(" kinds ")"
	return sort == "kinds" ? "_values -s , kind " kinds : " "
}
# --dump, which holds for the exports that follow it, may be given again.
function excluded(letter, name) {
	if (name == "dump")
		return "*"
	return letter == "" ? "" : "(-" letter " --" name ")"
}
$1 == "kind" { kinds = kinds (kinds == "" ? "" : " ") $2 }
$1 == "tool" && $2 != "nsysx" { described = described "\t\t\t" quoted(substr($2, 7) ":" plain($3)) "\n" }
$1 == "tool" { tools = tools " " $2; order[++n] = $2 }
$1 == "option" {
	help = "[" plain($8) "]"
	value = $5 == "none" ? "" : ($5 == "may" ? "::" : ":") plain($7) ":" action($6, $7)
	without = excluded($3, $4)
	if ($3 != "")
		specs[$2] = specs[$2] "\t\t" quoted(without "-" $3 ($5 == "must" ? "+" : $5 == "may" ? "-" : "") help value) "\n"
	specs[$2] = specs[$2] "\t\t" quoted(without "--" $4 ($5 == "must" ? "=" : $5 == "may" ? "=-" : "") help value) "\n"
}
END {
	print "#compdef" tools "\n# zsh completion of nsysx and its tools; made from their --help."
	print "\n# Sets specs to what _arguments wants of tool $1.\n_nsysx_specs() {\n\tcase $1 in"
	for (i = 1; i <= n; i++)
		printf "\t%s) specs=(\n%s\t\t) ;;\n", order[i], specs[order[i]]
	print "\t*) specs=() ;;\n\tesac\n}\n"
	print "_nsysx_tool() {\n\tlocal -a specs\n\t_nsysx_specs $1"
	print "\tcase $1 in\n\tnsysx-record) _arguments -s -S $specs '*::program:_normal' ;;\n\t*) _arguments -s -S $specs '*:file:_files' ;;\n\tesac\n}\n"
	print "_nsysx() {\n\tlocal curcontext=$curcontext state line ret=1\n\tlocal -a specs tools\n\ttypeset -A opt_args"
	print "\tif [[ $service != nsysx ]]; then\n\t\t_nsysx_tool $service\n\t\treturn\n\tfi"
	print "\t_nsysx_specs nsysx\n\t_arguments -C -s $specs '1:tool:->tool' '*::argument:->rest' && ret=0"
	print "\tcase $state in\n\ttool)\n\t\ttools=(\n" described "\t\t)\n\t\t_describe tool tools && ret=0\n\t\t;;"
	print "\trest)\n\t\tcurcontext=${curcontext%:*:*}:nsysx-$words[1]:\n\t\t_nsysx_tool nsysx-$words[1] && ret=0\n\t\t;;\n\tesac\n\treturn ret\n}\n"
	print "_nsysx \"$@\""
}
