#!/bin/sh
# Completion in bash, zsh and fish: every option of every tool, and the values of their arguments.
. "${0%/*}/../testlib.sh"

made=$B/completion
tab=$(printf '\t')

# The options of tool $1 in its --help, a word per line.
options() {
	"$1" --help | grep -E '^  (-[A-Za-z0-9], |    )--' | sed 's/^  //' | cut -d ' ' -f 1-5 | tr ' ,' '\n\n' |
		sed -n 's/^\(-[A-Za-z0-9]\)$/\1/p; s/^\(--[a-z0-9-]*\).*/\1/p' | sort
}

# Completions of line $1 in bash, sorted; a space at the end of the line makes an empty last word. COMP_WORDS is split as bash does.
in_bash() {
	bash --norc -c '
		source "$1"
		read -r -a COMP_WORDS <<<"${2//=/ = }"
		[[ $2 == *[\ =] ]] && COMP_WORDS+=("")
		[[ $2 == *= ]] && unset "COMP_WORDS[-1]"
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_nsysx
		[[ ${#COMPREPLY[@]} -eq 0 ]] || printf "%s\n" "${COMPREPLY[@]}"' bash "$made/nsysx.bash" "$1" 2>"$T/err" | sort
}
bash_gives() { equal "bash: $1" "$(in_bash "$1" | tr '\n' ' ')$(cat "$T/err")" "${2:+$2 }"; }
fish_gives() {
	equal "fish: $1" "$(cd "$T/work" && env HOME="$T" XDG_CONFIG_HOME="$T" XDG_DATA_HOME="$T" XDG_DATA_DIRS="$T/data" LC_ALL=C.UTF-8 \
		fish -c 'complete -C $argv[1]' -- "$1" 2>&1 | cut -f 1 | sort | tr '\n' ' ')" "${2:+$2 }"
}

# Each line of standard input, LINE TAB ANSWER, by function $1. Answers for files: there are a folder `sub` and a file `some`.
lines() {
	while IFS=$tab read -r line answer; do
		"$1" "$(printf %s "$line" | sed 's/_$/ /')" "$answer"
	done
}

kinds=$(nsysx-view --schema | awk -F'\t' 'NR > 1 && $2 == "" && $1 != "end" { print $1 }' | sort | tr '\n' ' ')
tools=$(cd "$B/bin" && echo nsysx-*)
short=$(echo "$tools" | sed 's/nsysx-//g')

equal 'the values of nsysx-idle --by are those of its message' \
	"$(nsysx-idle --by=- 2>&1 | sed -n 's/.*want \([^;]*\)$/\1/p' | sed 's/ or /, /; s/[A-Z][A-Z]*//g; s/, /\n/g' | sort | tr '\n' ' ')" \
	"$(awk -F'\t' '$2 == "nsysx-idle" && $4 == "by" { print $7 }' "$made/rows.tsv" | tr '|' '\n' | sort | tr '\n' ' ')"
for tool in $tools; do
	equal "the values in the help of $tool are offered" \
		"$(awk -F'\t' -v t="$tool" '$2 == t && $6 == "words" { print $4 "=" $7 }' "$made/rows.tsv" | grep -v '^by=device|module|execution|step' | sort)" \
		"$("$tool" --help | sed -nE 's/^ +(-., )?--([a-z-]+)\[?=([a-z][^] ]*).*/\2=\3/p' | sed 's/:N/:/' | sort)"
done

# The same answers for all shells; `_` at the end of a line is a space.
cat >"$T/lines" <<X
nsysx-fold --by _	host kernel module nvtx op-name opcode scope source
nsysx-fold --by k	kernel
nsysx fold --by _	host kernel module nvtx op-name opcode scope source
nsysx fo	fold
nsysx _	$short
nsysx-view -t _	${kinds% }
nsysx-view -t mod	module
nsysx view --table mod	module
nsysx-view -k thunk,mod	thunk,module
nsysx-warmup --require inst _	F
nsysx-warmup --require=ins	E--require= inst
nsysx-fold --by=op	E--by= op-name opcode
nsysx-stragglers --waits=	E--waits= device pairs
nsysx-extract --ranges=a	E--ranges= all
nsysx-summary --by=nothing	
nsysx-copies --by _	size
nsysx-idle --by _	axis block: device every: execution group host module node partition rack range: step
nsysx-fold _	F
nsysx-fold -- --b	
X
# In bash the part after = is a word, in fish the whole; where the function gives nothing, bash completes files.
sed "s/${tab}F\$/$tab/; s/${tab}E[^ ]* /$tab/" "$T/lines" >"$T/bash.lines"
awk -F'\t' -v OFS='\t' '
	$2 == "F" { $2 = "some sub/" }
	$2 ~ /^E/ { n = split($2, w, " "); $2 = ""; for (i = 2; i <= n; i++) $2 = $2 (i > 2 ? " " : "") substr(w[1], 2) w[i] }
	{ print }' "$T/lines" >"$T/fish.lines"

if command -v bash >/dev/null 2>&1; then
	ok 'the completion for bash is sound' bash -n "$made/nsysx.bash"
	for tool in nsysx $tools; do
		equal "bash knows the options of $tool" "$(in_bash "$tool -" | grep -v '=$')" "$(options "$tool")"
	done
	lines bash_gives <"$T/bash.lines"
	bash_gives 'nsysx-view -k thunk,' "$(printf 'thunk,%s\n' $kinds | tr '\n' ' ' | sed 's/ $//')"
	bash_gives 'nsysx-extract --ra' '--ranges --ranges='
	bash_gives 'nsysx-record -o x -- nsysx-fol' nsysx-fold
	bash_gives 'nsysx nothing --' ''
	equal 'bash completes every tool with the function' "$(bash --norc -c 'source "$1"; complete -p' bash "$made/nsysx.bash" | awk '/-F _nsysx/ { print $NF }' | sort)" \
		"$(printf '%s\n' nsysx $tools | sort)"
	equal 'bash completes a word with = in it' \
		"$(bash --norc -c 'source "$1"; COMP_WORDS=(nsysx-fold --by=op); COMP_CWORD=1; _nsysx; echo ${COMPREPLY[@]}' bash "$made/nsysx.bash")" \
		'--by=op-name --by=opcode'
else
	skip 'bash completes' 'bash is not here'
fi

# The words given to zsh, with _arguments and similar functions replaced: one word per line.
in_zsh() {
	zsh -f -c '
		_arguments() { print -rl -- "$@"; state=$then then=; return 1 }
		_describe() { print -rl -- "$tools[@]" }
		service=$2
		words=("${(@)argv[3,-1]}") then=${3:+rest}
		source "$1"' zsh "$made/_nsysx" "$@"
}
for tool in nsysx $tools; do
	equal "the file for zsh has the options of $tool" "$(awk -v tool="$tool" '
		$1 == tool ")" && $2 == "specs=(" { on = 1; next }
		/^\t\t\) ;;/ { on = 0 }
		on { sub(/^\t\t./, ""); sub(/^(\*|\([^)]*\))/, ""); match($0, /^--?[A-Za-z0-9-]*[A-Za-z0-9]/); print substr($0, 1, RLENGTH) }' "$made/_nsysx" | sort)" \
		"$(options "$tool")"
done
if command -v zsh >/dev/null 2>&1; then
	ok 'the completion for zsh is sound' zsh -n "$made/_nsysx"
	in_zsh nsysx-fold >"$T/zsh"
	equal 'zsh gets the values of --by' "$(grep -c 'by=.*:(source op-name opcode module nvtx kernel scope host)$' "$T/zsh")" 1
	equal 'zsh gets the kinds' "$(in_zsh nsysx-view | sed -n 's/.*--require=.*:(\(.*\))$/\1/p' | tr ' ' '\n' | sort | tr '\n' ' ')" "$kinds"
	in_zsh nsysx fold --by | grep -v -e '->' >"$T/rest"
	ok 'zsh completes nsysx fold as nsysx-fold' grep -qxF -e "$(grep -e --by= "$T/zsh")" "$T/rest"
else
	skip 'zsh completes' 'zsh is not here'
fi

for tool in nsysx $tools; do
	equal "the file for fish has the options of $tool" \
		"$(sed -n "s/^complete -c $tool .*-l \([a-z0-9-]*\) .*/--\1/p" "$made/fish/$tool.fish" >"$T/long"
		sed -n "s/^complete -c $tool.* -s \(.\) -l .*/-\1/p" "$made/fish/$tool.fish" | sort - "$T/long")" "$(options "$tool")"
done
if command -v fish >/dev/null 2>&1; then
	mkdir -p "$T/data/fish/vendor_completions.d" "$T/work/sub"
	: >"$T/work/some"
	cp "$made"/fish/*.fish "$T/data/fish/vendor_completions.d"
	for f in "$made"/fish/*.fish; do
		ok "${f##*/} is sound" fish -n "$f"
	done
	lines fish_gives <"$T/fish.lines"
	fish_gives 'nsysx-extract -x ' 'sub/'
	fish_gives 'nsysx-record -o x -- nsysx-fol' nsysx-fold
else
	skip 'fish completes' 'fish is not here'
fi
done_testing
