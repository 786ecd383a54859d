#!/bin/sh
# One generated job in three forms: exports of nsys, traces of PyTorch's profiler, XSpaces. Every table of every tool is
# the same for all, but for what a form does not record: sources/differences lists that, with the reason.
. "${0%/*}/../testlib.sh"

# stream_of FORM INPUT...: the stream of a form, ready for all tools. Of one name in all, since findings name it.
stream_of() {
	mkdir -p "$T/job/$1"
	to=$T/job/$1/job
	shift
	nsysx-extract -q -a "$@" | nsysx-align -q | nsysx-overlap -q -o "$to"
}
# Compare the tables of the form with those of the exports: all, or only those that know nothing of ranges and programs.
compare() {
	while read -r table; do
		case $which:$table in all:* | kernels:summary*kernel | kernels:copies* | kernels:launch*tsv) ;; *) continue ;; esac
		for side in "$1" export; do
			# shellcheck disable=SC2086  # a tool and options
			(cd "$T/job/$side" && nsysx-$table -q job) >"$T/raw" 2>/dev/null
			[ $? -lt 2 ] || fail "$how, $1: $table" 'it ends as wrong usage'
			awk -v form="$1" -v side="$([ "$side" = export ] && echo export || echo form)" -v table="$table" -v used="$T/used.$side" \
				-f sources/plain.awk sources/differences "$T/raw" | sort >"$T/$side.table"
			cat "$T/used.$side" >>"$T/used" 2>/dev/null
			rm -f "$T/used.$side"
		done
		rows=$((rows + $(wc -l <"$T/export.table")))
		cmp -s "$T/export.table" "$T/$1.table" && [ "$(wc -l <"$T/export.table")" -eq 0 ] && continue
		same "$how, $1: $table" "$T/export.table" "$T/$1.table"
	done <sources/tables
}

rows=0
: >"$T/used"
while read -r form which how; do
	rm -rf "$T/job"
	# shellcheck disable=SC2086  # options
	make_job job --"$form" $how
	with_exports job stream_of export
	set -- "$T"/job/r*.pt.trace.json "$T"/job/r*.xplane.pb
	for f do
		[ -e "$f" ] && set -- "$@" "$f"
		shift
	done
	stream_of "$form" "$@"
	compare "$form"
done <<'END'
kineto all --torch --plant straggler --schema 3.24.14 --steps 6
kineto all --torch=vllm --seed 3 --processes 1
kineto all --torch --seed 5 --devices 2
xspace all --titles 2026 --no-warmup --steps 6
xspace all --titles 2026 --no-warmup --offload --pipeline --processes 4 --groups 2 --steps 4
xspace all --no-warmup --devices 2 --offset 3000000 --drift 30 --sessions 50000000 --jitter 300
xspace kernels --torch --plant blocking --steps 4
kineto kernels --titles 2026 --steps 3
xspace kernels --titles 2026 --steps 3
END
ok "there is much to compare: $rows rows" test "$rows" -gt 1000
equal 'each difference that is listed is one' "$(awk -v FS='\t' 'NR == FNR { used[$1]; next } !/^#/ && !(FNR in used) { print FNR ": " $1, $2, $4 }' "$T/used" sources/differences)" ''
done_testing
