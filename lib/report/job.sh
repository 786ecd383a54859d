#!/bin/sh
# job.sh OUT ALIGN WARMUP BIN -- make collectives.nsysx, the stream for all tables, from OUT/streams/extracted.nsysx,
# and list in OUT/.state/asks what it can answer: xla, compile, comm, devices (several), one on each line. ALIGN and
# WARMUP are as in report.mk, BIN is prefixed to the tools' names.
set -u
unset CDPATH
out=$1 align=$2 warmup=$3 bin=$4
LC_ALL=C
export LC_ALL
from=$out/streams/extracted.nsysx to=$out/streams/collectives.nsysx state=$out/.state logs=$out/logs/streams
trap 'rm -f "$state"/held-*.tsv "$state"/failed-*' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$logs"
steps='align warmup overlap collectives'
for s in $steps; do rm -f "$logs/$s.log"; done

# Whether the temporary table $1 has at least $2 rows.
held() {
	left=$2
	while read -r line; do
		[ "$left" -gt 0 ] || return 0
		left=$((left - 1))
	done <"$state/held-$1.tsv"
	return 1
}
# One step of the pipeline. A step that fails passes on a stream without its end, which the next one refuses.
step() {
	name=$1
	shift
	"${bin}nsysx-$name" -b "$@" 2>"$logs/$name.log" || { : >"$state/failed-$name"; return 1; }
}
align() { eval "step align ${ALIGN_FLAGS:-} \"\$@\""; }
warmup() { step warmup "$@"; }
overlap() { step overlap "$@"; }
# A step that is skipped passes the stream on unchanged.
passed() { cat -- "$@"; }

"${bin}nsysx-view" -q -t module,compile,device -o "$state/held-%.tsv" "$from" || exit 1
xla= comm= devices=
held device 2 2>/dev/null && devices=1
held module 1 && xla=1 comm=1
if ! [ "$xla" ]; then
	"${bin}nsysx-collectives" -q --tsv --summary -o "$state/held-comm.tsv" "$from" || exit 1
	held comm 1 && comm=1
fi
# Clocks are compared by XLA's collectives, or by those of NCCL whose payloads are known, and thus their sizes.
comparable=$xla
! [ "$xla" ] && [ "$comm" ] && awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["bytes"] != "" { found = 1; exit } END { exit !found }' "$state/held-comm.tsv" && comparable=1
{
	[ "$xla" ] && echo xla
	[ "$comm" ] && echo comm
	[ "$devices" ] && echo devices
	held compile 1 && echo compile
	:
} >"$state/asks.new" && mv -f "$state/asks.new" "$state/asks" || exit 1

first=passed second=passed
[ "$comparable" ] && [ "$devices" ] && [ "$align" != no ] && first=align
[ "$xla" ] && [ "$warmup" != no ] && second=warmup
if ! [ "$comm" ]; then
	# A link, where possible, avoids a second copy of the same file.
	rm -f "$to"
	{ ln "$from" "$to" 2>/dev/null || cp "$from" "$to"; } && touch "$to"
	exit
fi
if $first "$from" | $second | overlap | step collectives -o "$to"; then exit 0; fi
for s in $steps; do
	if [ -e "$state/failed-$s" ]; then
		cat "$logs/$s.log" >&2
		break
	fi
done
exit 1
