# Complete $1 to one of the words that follow.
_nsysx_words() {
	local current=$1 word
	shift
	COMPREPLY=()
	# Where no word fits there is nothing, and no file instead.
	compopt +o default +o bashdefault 2>/dev/null
	for word; do
		[[ $word == "$current"* ]] && COMPREPLY+=("$word")
	done
	[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
	return 0
}

# Complete the argument $1 of an option, whose values _nsysx_values described by the words that follow.
_nsysx_argument() {
	local current=$1 sort=$2 head= i
	shift 2
	case $sort in
	words) _nsysx_words "$current" "$@" ;;
	kind) _nsysx_words "$current" $_nsysx_kinds ;;
	kinds)
		[[ $current == *,* ]] && head=${current%,*},
		_nsysx_words "${current##*,}" $_nsysx_kinds
		for i in "${!COMPREPLY[@]}"; do
			COMPREPLY[i]=$head${COMPREPLY[i]}
		done
		compopt -o nospace 2>/dev/null
		;;
	dir) compopt -o dirnames +o default +o bashdefault 2>/dev/null ;;
	any) compopt +o default +o bashdefault 2>/dev/null ;;
	esac
	# A file: bash completes these where we offer nothing.
	return 0
}

_nsysx() {
	local tool=${COMP_WORDS[0]##*/} first=1 current=${COMP_WORDS[COMP_CWORD]} previous values prefix= i
	COMPREPLY=()
	if [[ $tool == nsysx ]]; then
		if [[ $COMP_CWORD -eq 1 ]]; then
			if [[ $current == -* ]]; then
				_nsysx_words "$current" $(_nsysx_options nsysx)
			else
				_nsysx_words "$current" $_nsysx_tools
			fi
			return
		fi
		[[ ${COMP_WORDS[1]} == -* ]] && return
		tool=nsysx-${COMP_WORDS[1]} first=2
	fi
	# What follows -- are operands; of nsysx-record a program.
	for ((i = first; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -- ]] || continue
		if [[ $tool == nsysx-record && $((i + 1)) -eq $COMP_CWORD ]]; then
			COMPREPLY=($(compgen -c -- "$current"))
		fi
		return
	done
	# Bash takes --by=pass for three words, unless COMP_WORDBREAKS lacks the sign.
	previous=${COMP_WORDS[COMP_CWORD - 1]}
	if [[ $current == "=" && $previous == --* ]]; then
		current= previous=$previous=
	elif [[ $previous == "=" && $COMP_CWORD -gt $((first + 1)) ]]; then
		previous=${COMP_WORDS[COMP_CWORD - 2]}=
	elif [[ $current == --*=* ]]; then
		previous=${current%%=*}= current=${current#*=} prefix=$previous
	fi
	values=($(_nsysx_values "$tool" "$previous"))
	if [[ ${#values[@]} -gt 0 ]]; then
		_nsysx_argument "$current" "${values[@]}"
		for i in "${!COMPREPLY[@]}"; do
			COMPREPLY[i]=$prefix${COMPREPLY[i]}
		done
	elif [[ $current == -* ]]; then
		_nsysx_words "$current" $(_nsysx_options "$tool")
	fi
	return 0
}
