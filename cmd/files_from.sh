# What --files-from does in scripts, in the place of @FILES_FROM@. It needs die, operand and the number of operands in
# $counted.

# Take the names in list $1, - for standard input, as operands: separated by NUL if there is one, else by newlines.
take_list() {
	if [ "$1" != - ] && ! [ -r "$1" ]; then die "--files-from $1: want a file that can be read"; fi
	nul=$(printf '\001') end=$(printf '\002')
	names=$(if [ "$1" = - ]; then cat; else cat -- "$1"; fi | tr '\0\n' '\001\002')
	case $names in
	*"$nul"*)
		case $names in *"$end"*) die "--files-from $1: want names without newlines" ;; esac
		end=$nul ;;
	esac
	taken=$counted ifs=$IFS IFS=$end
	set -f
	for name in $names; do
		IFS=$ifs
		[ -z "$name" ] || operand "$name"
	done
	set +f
	IFS=$ifs
	[ "$counted" -gt "$taken" ] || die "--files-from $1: want the name of a file in it"
}
