# lib.sh -- shared by the parts of `make bench`; run.sh sources it, then each part.
#
#   about TITLE LINE...    what the next table shows
#   turns NAME COMMAND...  run commands in turn (turns.c); $rows then holds a line a command: its name, tab, $cost
#   over SECONDS           the same with a limit, its first argument
#   row FILE VALUE...      add a row to the table $work/FILE.tsv
#   show FILE              print that table
#   bytes FILE, records STREAM
#   scale N, job STEPS     set $export, or $exports and $inputs, to generated files; generated once
#
# Set: $work, the folder of all files; $bin, $tools, directories of the tools and of the programs beside this file.
bin=$B/bin tools=$B/tests/bench work=${WORK:-$B/bench}
tab=$(printf '\t')
cost="wall_s${tab}wall_least_s${tab}cpu_s${tab}peak_kib${tab}anonymous_kib${tab}wall_ratio${tab}cpu_ratio${tab}over"

about() {
	echo
	printf '%s\n' "$@" ''
}

# Whether OLD has each program of nsysx that the command $1 names.
old_has() {
	for program in $(printf '%s' "$1" | grep -o "$bin/nsysx-[a-z]*" | sort -u); do
		[ -x "$OLD/${program##*/}" ] || return 1
	done
}

# With OLD each command of nsysx is followed by itself with the programs of that folder, `NAME, before`, where they are all there.
turns() {
	if [ -n "$OLD" ]; then
		left=$#
		while [ "$left" -gt 0 ]; do
			set -- "$@" "$1" "$2"
			case $2 in
			*"$bin/nsysx-"*) ! old_has "$2" || set -- "$@" "$1, before" "$(printf '%s' "$2" | sed "s,$bin/nsysx-,$OLD/nsysx-,g")" ;;
			esac
			shift 2
			left=$((left - 2))
		done
	fi
	"$tools/turns" "$TIMES" "$@" >"$work/turns.rows"
	rows=$work/turns.rows
}

over() {
	limit=$1
	shift
	"$tools/turns" -l "$limit" "$TIMES" "$@" >"$work/turns.rows"
	rows=$work/turns.rows
}

# A row a line; the first one of a table names its columns.
row() {
	table=$work/$1.tsv
	shift
	printf '%s' "$1" >>"$table"
	shift
	[ $# -eq 0 ] || printf '\t%s' "$@" >>"$table"
	echo >>"$table"
}

show() {
	awk -f tests/bench/table.awk "$work/$1.tsv"
}

bytes() {
	wc -c <"$1" | tr -d ' '
}

# The count in the last record of a stream.
records() {
	"$bin/nsysx-view" -q --text "$1" | awk -F'\t' '$1 == "end" { n = $2 } END { print n; exit n == "" }'
}

# Files are renamed when complete: an existing file is not generated again.
generate() {
	[ -e "$1" ] && return
	rm -rf "$1.part"
	made=$1
	shift
	"$B/tests/synth/nsysx-synth" -q -o "$made.part" "$@"
	mv "$made.part" "$made"
}

# An export of N ranges as PyTorch nests them, on five threads.
scale() {
	generate "$work/scale-$1" --scale "$1"
	export=$work/scale-$1/r0.sqlite
}

# An XLA job of two processes, and the arguments of nsysx-extract for it.
job() {
	generate "$work/job-$1-$LAYERS" --steps "$1" --layers "$LAYERS"
	dir=$work/job-$1-$LAYERS
	exports="$dir/r0.sqlite $dir/r1.sqlite"
	inputs="-x $dir/dump0 $dir/r0.sqlite -x $dir/dump1 $dir/r1.sqlite"
}
