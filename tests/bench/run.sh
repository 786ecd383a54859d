#!/bin/sh
# run.sh -- the cost of nsysx compared with yardsticks, in one run: `make bench`. Tables on standard output, the same
# numbers in $B/bench/*.tsv. docs/performance.md describes them. Fails if any command fails.
#
#   T='extract filters'  these parts alone [all but scale, which takes ten minutes]
#   SCALE=large          an export of 16 million ranges and a longer job [small]
#   TIMES=N              runs of each command, after one to warm up [5; large: 3]
#   RANGES=N             ranges of the largest export [500000; large: 16000000]
#   STEPS=N LAYERS=N     of the largest XLA job [500, 12; large: 4000, 12]
#   LIMIT=SECONDS        for one join in SQL [10; large: 60]
#   JOINS='N...'         joins in SQL of an Nth of RANGES [128 32 16 1; large: 1024 256 32]
#   COPIES=N             of a real export, where that is at hand [30; large: 100]
#   DEVICES='N...' WIDE='N...'   with T=scale: processes of generated jobs [64 256 1024], and of a multiplied one [4096; large: 4096 10240]
#   DUMP_MIB=N           size of the HLO dump [200; large: 2000]
#   OLD=DIR              also the programs of DIR, in turn with these; they must read the same streams [none]
#   STREAM=FILE          for `whatif`: also forecasts of this stream [none]
#   WORK=DIR             for inputs and results [$B/bench]
set -eu
cd "$(dirname "$0")/../.."
LC_ALL=C
export LC_ALL
unset NSYSX_FORMAT
B=${B:-build}
case ${SCALE:-small} in
small) : "${TIMES:=5}" "${RANGES:=500000}" "${STEPS:=500}" "${LAYERS:=12}" "${LIMIT:=10}" "${COPIES:=30}" "${DUMP_MIB:=200}" "${JOINS:=128 32 16 1}" ;;
large) : "${TIMES:=3}" "${RANGES:=16000000}" "${STEPS:=4000}" "${LAYERS:=12}" "${LIMIT:=60}" "${COPIES:=100}" "${DUMP_MIB:=2000}" "${JOINS:=1024 256 32}" ;;
*) echo "run.sh: SCALE: want small or large, got $SCALE" >&2; exit 2 ;;
esac
OLD=${OLD:-}
all='extract sources filters kept pipeline report sql growth dump codec startup whatif'
more=scale   # when asked for
for part in ${T:-$all}; do
	[ -e "tests/bench/$part.sh" ] && case " $all $more " in *" $part "*) continue ;; esac
	echo "run.sh: no part of the name $part; there are: $all $more" >&2
	exit 2
done
. tests/bench/lib.sh
mkdir -p "$work"

. tests/bench/machine.sh
for part in ${T:-$all}; do
	rm -f "$work/$part.tsv"
	. "tests/bench/$part.sh"
done
