#!/bin/sh
# nsysx-report -- a report of profiles in a folder: finds lib/report/report.mk and has make build it.
set -u
unset CDPATH
tool=nsysx-report

usage='usage: nsysx-report [OPTION]... [-x DIR] EXPORT...'
help() {
	cat <<END
$usage
Build a folder of streams, tables, flame graphs, plots and a page that puts them together.

  -x, --dump=DIR            folder of the HLO dumps of the exports that follow, - for none
      --title=TEXT          the page's title [made of the profiles' names]
      --no-align            leave the clocks of the reports as they are
      --no-warmup           keep the first executions
      --no-detail           leave out NVTX ranges and single GPU operations, which make streams large
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

# Where this is, behind links: the tools are beside it and report.mk in share or, before it is installed, in the source.
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

# A name as a word of a list of make. Make would take it apart at spaces.
word() {
	case $1 in
	'') misuse 'an empty name' ;;
	*[[:space:]]*) die "$1: want a name without spaces: make cannot hold one that has them (link to it)" ;;
	esac
	printf '%s' "$1" | sed 's/\$/$$/g'
}

# A text as make reads the value of a variable.
text() {
	case $1 in
	*"$newline"*) misuse "$2: want one line" ;;
	esac
	printf '%s' "$1" | sed 's/\$/$$/g'
}
newline='
'

output=report title='' align='' warmup='' detail='' flags='' jobs='' verbose='' quiet='' clean=
dump=- dumps='' profiles='' given=
# One more export, with the dump that stands before it.
operand() {
	profiles="$profiles $(word "$1")" || exit
	dumps="$dumps $(word "$dump")" || exit
	[ "$dump" = - ] || given=1
}
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
	-x|--dump|--title|--extract-flags|-j|--jobs|-o|--output)
		if [ -z "$has" ]; then
			[ $# -gt 0 ] || misuse "$arg: want a value"
			value=$1
			shift
		fi ;;
	--*) [ -z "$has" ] || misuse "$arg takes no value" ;;
	esac
	case $arg in
	-x|--dump) dump=$value ;;
	--title) title=$value ;;
	--extract-flags) flags=$value ;;
	-j|--jobs) jobs=$value ;;
	-o|--output) output=$value ;;
	--no-align) align=no ;;
	--no-warmup) warmup=no ;;
	--no-detail) detail=no ;;
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
case $jobs in
'') jobs=$(getconf _NPROCESSORS_ONLN) ;;
*[!0-9]*|0) misuse "--jobs: want a number from 1, got \"$jobs\"" ;;
esac
case $output in
-*) output=./$output ;;
esac
out=$(word "$output") && title=$(text "$title" --title) && flags=$(text "$flags" --extract-flags) || exit
[ "$given" ] || dumps=
set -- --no-print-directory -f "$report/report.mk" -j "$jobs" PROFILES="${profiles# }" DUMPS="${dumps# }" OUT="$out" \
	TITLE="$title" ALIGN="$align" WARMUP="$warmup" DETAIL="$detail" \
	EXTRACT_FLAGS="$flags" NSYSX="$bin" V="$verbose"
[ "$clean" ] && set -- "$@" clean
# Inside another make its flags are not meant for this one.
unset MAKEFLAGS MFLAGS MAKELEVEL GNUMAKEFLAGS MAKEFILES
if [ "$quiet" ]; then
	make "$@" >/dev/null || exit 1
else
	make "$@" || exit 1
fi
