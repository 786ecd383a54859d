#!/bin/sh
# nsysx-report -- write a report of profiles into a folder: finds lib/report/report.mk and lets make build it.
set -u
unset CDPATH
tool=nsysx-report

usage='usage: nsysx-report [OPTION]... [-x DIR] EXPORT|STREAM...'
help() {
	cat <<END
$usage
Build a folder of streams, tables, flame graphs and plots, and a page that shows them, of exports or of a stream that
nsysx-prepare wrote (job.nsysx).

  -x, --dump=DIR            folder of the HLO dumps of the exports that follow, - for none
      --files-from=FILE     also the exports named in FILE, separated by NUL or newlines; - for standard input
      --title=TEXT          the page's title [made of the profiles' names]
      --no-align            leave the clocks of the reports as they are
      --no-warmup           keep the first executions
      --no-detail           leave out NVTX ranges, GPU operations and CUDA calls, which make streams large
      --trace               write a trace for Perfetto, too
      --single              write the page with all its pictures into one file, single.html, too
      --extract-flags=TEXT  further options of nsysx-extract, as the shell reads them
      --clean               remove what an earlier call built in the folder, and build nothing
  -j, --jobs=N              commands to run at a time [one for each processor]
  -o, --output=DIR          the folder to build [report]
  -v, --verbose             show the commands
  -q, --quiet               say only errors
  -h, --help                show this help and exit
  -V, --version             show the version and exit
END
}
die() { printf '%s: %s\n' "$tool" "$1" >&2; exit 1; }
misuse() { printf '%s: %s\n%s\n' "$tool" "$1" "$usage" >&2; exit 2; }

# The real path of this script: the tools are next to it, and report.mk is in share or, before installation, in the
# source.
self=$0
case $self in */*) ;; *) self=$(command -v -- "$self") ;; esac
self=$(readlink -f -- "$self") || die "$0: cannot be found"
bin=${self%/*}
report=
for dir in "$bin/../share/nsysx/report" '@REPORT@'; do
	[ -r "$dir/report.mk" ] && report=$(cd "$dir" && pwd) && break
done
[ -x "$bin/nsysx-extract" ] || bin=
extract=${bin:+$bin/}nsysx-extract

# Set $word to a name as a word of a list of make, which would split it at spaces.
word() {
	case $1 in
	'') misuse 'an empty name' ;;
	*[[:space:]]*) die "$1: want a name without spaces: make cannot hold one that has them (link to it)" ;;
	*'$'*) word=$(printf '%s' "$1" | sed 's/\$/$$/g') ;;
	*) word=$1 ;;
	esac
}

# Print a text in the form of the value of a make variable.
text() {
	case $1 in
	*"$newline"*) misuse "$2: want one line" ;;
	esac
	printf '%s' "$1" | sed 's/\$/$$/g'
}
newline='
'

output=report title='' align='' warmup='' detail='' flags='' trace='' single='' jobs='' verbose='' quiet='' clean=
dump=- dumps='' profiles='' given='' counted=0
# waiting: the operand of the last -x, while no export has followed it; misplaced: the error for the first -x that
# applies to no export.
waiting='' misplaced='' meant='want -x DIR EXPORT, such as -x dump0 r0.sqlite -x dump1 r1.sqlite'
# Add an export, with the dump named before it.
operand() {
	waiting='' counted=$((counted + 1))
	word "$1"
	profiles="$profiles $word"
	word "$dump"
	dumps="$dumps $word"
	[ "$dump" = - ] || given=1
}
@FILES_FROM@
while [ $# -gt 0 ]; do
	arg=$1 value='' has=
	shift
	case $arg in
	--) break ;;
	--*=*) value=${arg#*=} arg=${arg%%=*} has=1 ;;
	-[xjo]?*) value=${arg#-?} arg=${arg%"$value"} has=1 ;;
	-[vqhV]?*) set -- "-${arg#-?}" "$@"; arg=${arg%"${arg#-?}"} ;;
	esac
	case $arg in
	-x|--dump|--files-from|--title|--extract-flags|-j|--jobs|-o|--output)
		if [ -z "$has" ]; then
			[ $# -gt 0 ] || misuse "$arg: want a value"
			value=$1
			shift
		fi ;;
	--*) [ -z "$has" ] || misuse "$arg takes no value" ;;
	esac
	case $arg in
	-x|--dump)
		[ "$value" ] || misuse '-x: want a folder, or - for none'
		[ -z "$waiting" ] || misplaced=${misplaced:-"-x $waiting: -x $value replaces it before any export: $meant"}
		dump=$value waiting=$value ;;
	--files-from) take_list "$value" ;;
	--title) title=$value ;;
	--extract-flags) flags=$value ;;
	-j|--jobs) jobs=$value ;;
	-o|--output) output=$value ;;
	--no-align) align=no ;;
	--no-warmup) warmup=no ;;
	--no-detail) detail=no ;;
	--trace) trace=yes ;;
	--single) single=yes ;;
	--clean) clean=1 ;;
	-v|--verbose) verbose=1 ;;
	-q|--quiet) quiet=1 ;;
	-h|--help) help; exit 0 ;;
	-V|--version) version=$("$extract" --version) || die "$extract: cannot be run"; printf '%s %s\n' "$tool" "${version##* }"; exit 0 ;;
	-?*) misuse "unknown option $arg" ;;
	*) operand "$arg" ;;
	esac
done
for arg; do operand "$arg"; done

[ "$report" ] || die 'report.mk is neither in share/nsysx/report beside it nor in the source'
command -v make >/dev/null 2>&1 || die 'make is not here (GNU make)'
[ "$profiles" ] || [ "$clean" ] || misuse 'which EXPORT?'
[ -z "$waiting" ] || misplaced=${misplaced:-"-x $waiting: no export follows it: $meant"}
[ -z "$misplaced" ] || [ "$clean" ] || misuse "$misplaced"
case $jobs in *[!0-9]*|0) misuse "--jobs: want a number from 1, got \"$jobs\"" ;; esac
processors=$(getconf _NPROCESSORS_ONLN)
jobs=${jobs:-$processors}
# Commands that run side by side share the processors: about ten that make tables, or one for each profile.
share() { share=$(((processors + $1 - 1) / $1)); }
threads='' extract_threads=
told=${NSYSX_THREADS:-}
case $told in *[!0-9]*|0) told= ;; esac
if [ -z "$told" ] && [ "$counted" -gt 0 ]; then
	share $((jobs < 10 ? jobs : 10))
	threads=$share
	share $((jobs < counted ? jobs : counted))
	extract_threads=$share
fi
case $output in
-*) output=./$output ;;
esac
word "$output"
out=$word
title=$(text "$title" --title) && flags=$(text "$flags" --extract-flags) || exit
[ "$given" ] || dumps=
# The names go to make in a file, as thousands would not fit into an argument.
names=$(mktemp "${TMPDIR:-/tmp}/nsysx-report.XXXXXX") || die 'cannot make a temporary file'
trap 'rm -f "$names"' EXIT
trap 'exit 1' HUP INT TERM
printf 'define PROFILES :=\n%s\nendef\ndefine DUMPS :=\n%s\nendef\n' "${profiles# }" "${dumps# }" >"$names" || die "$names: cannot be written"
set -- --no-print-directory -f "$report/report.mk" -j "$jobs" NAMES="$names" OUT="$out" \
	TITLE="$title" ALIGN="$align" WARMUP="$warmup" DETAIL="$detail" \
	EXTRACT_FLAGS="$flags" TRACE="$trace" SINGLE="$single" NSYSX="$bin" V="$verbose" THREADS="$threads" EXTRACT_THREADS="$extract_threads"
[ "$clean" ] && set -- "$@" clean
# Flags of a make that runs this script must not apply to the make started here.
unset MAKEFLAGS MFLAGS MAKELEVEL GNUMAKEFLAGS MAKEFILES
# Report the current step if standard error is a terminal.
[ -t 2 ] && [ -z "$quiet" ] && NSYSX_TELL=1 || NSYSX_TELL=
export NSYSX_TELL
# Two reports in one folder at a time would mix their files: the second waits. The lock is that of the folder, and ends
# with this script.
made=
if command -v flock >/dev/null 2>&1; then
	[ -d "$output" ] || { mkdir -p "$output" 2>/dev/null && made=1; }
	if [ -d "$output" ] && exec 9<"$output"; then
		flock -n 9 || {
			[ "$quiet" ] || printf '%s: %s: another report is being made there: waiting\n' "$tool" "$output" >&2
			flock 9
		}
	fi
fi
# Messages of make itself are dropped; those of the tools show why one failed.
[ "$quiet" ] && exec 3>/dev/null || exec 3>&1
status=$(
	{
		{ make "$@" 2>&1 >&3 3>&- 4>&- 9<&-; echo $? >&4; } | while IFS= read -r line; do
			case $line in 'make: '*|make'['[0-9]*']: '*) ;; *) printf '%s\n' "$line" >&2 ;; esac
		done
	} 4>&1
)
[ -z "$made" ] || [ "$status" = 0 ] || rmdir "$output" 2>/dev/null
[ "$status" = 0 ] || exit 1
