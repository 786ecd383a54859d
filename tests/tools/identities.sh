#!/bin/sh
# Identities of tables (identities/identities.py) in streams that nobody would plant: jobs of the generator, and these with their work on one device, without
# programs, with marks twice, of other devices or of some only, without names, cut, and merged.
. "${0%/*}/../testlib.sh"
command -v python3 >/dev/null 2>&1 || skip_all 'there is no python3'
[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'

# try CLAIM STREAM: all identities.
try() {
	if ! python3 identities/identities.py "$2" >"$T/claims" 2>"$T/trouble" </dev/null; then
		fail "$1: claims can be tried" "$(tail -n 1 "$T/trouble")"
		return
	fi
	while IFS='	' read -r verdict claim why; do
		case $verdict in
		ok) pass "$1: $claim" ;;
		*)  fail "$1: $claim" "$why" ;;
		esac
	done <"$T/claims"
}
# The job with these options: $T/NAME.
prepare() {
	name=$1
	shift
	rm -rf "$T/job"
	"$SYNTH" -q -o "$T/job" "$@"
	set --
	for r in "$T"/job/r*.sqlite; do
		n=${r##*/r}
		[ -d "$T/job/dump${n%.sqlite}" ] && set -- "$@" -x "$T/job/dump${n%.sqlite}"
		set -- "$@" "$r"
	done
	nsysx-extract -q -a --host --metrics "$@" | nsysx-align -q | nsysx-warmup -q | nsysx-overlap -q | nsysx-collectives -q | nsysx-steps -q --mark |
		nsysx-idle -q --mark -o "$T/$name"
}
# of STREAM AWK: its records with the columns of each kind in at[kind, column], changed; without the count of records.
of() {
	awk -F'\t' -v OFS='\t' '
	/^#/ { k = substr($1, 2); for (i = 2; i <= NF; i++) { split($i, c, ":"); at[k, c[1]] = i } print; next }
	$1 == "end" { print $1, ""; next }
	function set(column, value) { if (at[$1, column]) $at[$1, column] = value }
	function get(column) { return at[$1, column] ? $at[$1, column] : "" }
	'"$2" "$T/$1" >"$T/odd"
}
# odd NAME: the shapes of that job.
odd() {
	of "$1" '$1 == "step" { next } get("device") != "" && $1 !~ /^(device|clock|communicator)$/ { set("device", 0) } { print }'
	try "$1, all work on one device" "$T/odd"
	of "$1" '$1 ~ /^(program|inst|module|thunk|step|idle|collective)$/ { next } { print }'
	try "$1, no programs and no marks" "$T/odd"
	of "$1" '{ print } $1 ~ /^(step|idle|metric|collective)$/'
	try "$1, each mark twice" "$T/odd"
	of "$1" '$1 == "step" && get("device") == 1 { next } { print }'
	try "$1, a device without marks of steps" "$T/odd"
	of "$1" '$1 ~ /^(step|metric|idle)$/ { set("device", 7) } { print }'
	try "$1, marks of another device" "$T/odd"
	of "$1" '{ set("name", "") } { print }'
	try "$1, no names" "$T/odd"
	of "$1" '$1 == "range" { set("parent", "") } { print }'
	try "$1, ranges in none" "$T/odd"
	of "$1" '$1 == "op" && ++n % 7 == 0 { set("dur", n % 2 ? -5 : "") } { print }'
	try "$1, operations without a length, or one below 0" "$T/odd"
	of "$1" '$1 == "op" && ++n == 40 { set("dur", "2305843009213693953") } { print }'
	try "$1, an operation of 73 years" "$T/odd"
	of "$1" '$1 == "step" && ++n % 3 == 0 { set("period", -1000); set("dur", -5) } { print }'
	try "$1, marks of steps below 0" "$T/odd"
}

prepare xla --metrics 50000 --graphs --processes 3
try xla "$T/xla"
odd xla
prepare torch --torch --layers 6 --metrics 20000
try torch "$T/torch"
odd torch
while read -r name options; do
	# shellcheck disable=SC2086 # options are words
	prepare "$name" $options </dev/null
	try "$options" "$T/$name"
done <<'END'
late --late 1 --steps 3
pair --processes 3 --offset 2000000 --sessions 1000000
server --torch=vllm --steps 24
few --torch=vllm --steps 2
groups --processes 4 --devices 2 --groups 2
pipeline --pipeline --offload --checkpoint 3 --steps 9
evaluate --torch --evaluate 3 --checkpoint 5 --steps 14
nccl --nccl --schema 3.24.14 --processes 4
replay --sim replay
contend --contend 30
END
odd server
done_testing
