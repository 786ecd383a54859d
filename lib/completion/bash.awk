# bash.awk -- completion for bash, which works with and without the package bash-completion.
function case_of(text, body) { return "\t" text ") " body " ;;\n" }
$1 == "kind" { kinds = kinds (kinds == "" ? "" : " ") $2 }
$1 == "tool" && $2 != "nsysx" { short = short (short == "" ? "" : " ") substr($2, 7) }
$1 == "tool" { tools = tools " " $2 }
$1 == "option" {
	list[$2] = list[$2] " " ($3 == "" ? "" : "-" $3 " ") "--" $4 ($5 == "may" ? " --" $4 "=" : "")
	if ($5 == "none")
		next
	words = $7
	gsub(/\|/, " ", words)
	answer = $6 == "words" ? "words " words : $6
	# An argument that may be left out has to be in the same word.
	cases = cases case_of(($3 != "" && $5 == "must" ? $2 ":-" $3 "|" : "") $2 ":--" $4 ($5 == "may" ? "=" : "|" $2 ":--" $4 "="), "echo " answer)
}
END {
	print "# bash completion of nsysx and its tools; made from their --help."
	print "\n_nsysx_kinds='" kinds "'\n_nsysx_tools='" short "'"
	print "\n# The options of tool $1."
	print "_nsysx_options() {\n\tcase $1 in"
	n = split(tools, tool, " ")
	for (i = 1; i <= n; i++)
		printf "%s", case_of(tool[i], "printf '%s '" list[tool[i]])
	print "\tesac\n}"
	print "\n# What the argument of option $2 of tool $1 is: words and what they are, file, dir, kind, kinds or any; nothing: it has none."
	print "_nsysx_values() {\n\tcase $1:$2 in"
	printf "%s\tesac\n}\n\n", cases
	while ((getline line <body) > 0)
		print line
	print "complete -o bashdefault -o default -F _nsysx" tools
}
