#!/bin/sh
# Properties of any job, over seeds and shapes: tables and stacks equal sums over the stream's text (properties/truth.py), the stream
# equals the export (properties/projected.sql), and different ways to the same records agree.
. "${0%/*}/../testlib.sh"

# The arguments that name the exports of job $1, each with its dumps.
exports() {
	for export in "$T/$1"/r*.sqlite; do
		i=${export##*/r}
		i=${i%.sqlite}
		if [ -d "$T/$1/dump${i:-0}" ]; then echo "-x $T/$1/dump${i:-0} $export"; else echo "$export"; fi
	done
}
# extract JOB OPTION...: standard output.
extract() {
	job=$1
	shift
	# shellcheck disable=SC2046  # no blanks in these names
	nsysx-extract -q "$@" $(exports "$job")
}
# Records that are no metadata, diag or end, without the column that nsysx-warmup adds.
events() {
	awk -F'\t' -v OFS='\t' '$1 == "#op" { at = 0; for (i = 2; i <= NF; i++) if ($i == "removed:i") at = i }
		$1 == "op" && at { line = $1; for (i = 2; i <= NF; i++) if (i != at) line = line OFS $i; print line; next }
		$1 ~ /^(compile|module|range|thunk|op|collective)$/' "$1"
}

# ---- tables and stacks

# Every table and stack of the stream $1 that truth.py looks at, into folder $2.
tables() {
	for by in source op-name opcode module; do nsysx-fold -q --cover 1 --by $by "$1" >"$2/$by.folded"; done
	for by in nvtx kernel; do
		nsysx-fold -q --by $by "$1" >"$2/$by.folded"
		nsysx-fold -q --by $by --exposed "$1" >"$2/$by.exposed.folded"
	done
	for names in key full digits; do nsysx-summary -q --by range --names=$names --json "$1" >"$2/range.$names.json"; done
	for by in thunk opcode device total; do nsysx-summary -q --cover 1 --by $by --json "$1" >"$2/$by.json"; done
	for by in module collective range kernel; do nsysx-summary -q --by $by --json "$1" >"$2/$by.json"; done
	nsysx-collectives -q "$1" >"$2/collectives.nsx"
	for program in $(nsysx-view -q -k program "$1" | nsysx-view -q -t program | sed 1d | cut -f 3 | sort -u); do
		nsysx-measure -q --module "$program" --json "$1" >"$2/measure.$program.json"
	done
}
# tables_true CLAIM NAME: all claims of truth.py about job NAME, whose stream $T/NAME.nsx is through overlap.
tables_true() {
	mkdir -p "$T/tables"
	tables "$T/$2.nsx" "$T/tables"
	python3 properties/truth.py "$T/$2.nsx" "$T/tables" >"$T/claims" 2>"$T/wrong"
	equal "$1: what tables and stacks say can be looked at" "$? $(cat "$T/wrong")" '0 '
	awk -F'\t' '$2 != ""' "$T/claims" >"$T/wrong"
	equal "$1: $(wc -l <"$T/claims" | tr -d ' ') sums are those of the text" "$(cat "$T/wrong")" ''
}
# projected CLAIM EXPORT: its ranges are on the GPU where SQL finds their operations.
projected() {
	work=
	for kind in KERNEL MEMCPY MEMSET GRAPH_TRACE; do
		[ "$(sqlite3 "$2" "SELECT 1 FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_$kind'")" ] || continue
		work="${work:+$work UNION ALL }SELECT start, end, correlationId AS c, globalPid AS p FROM CUPTI_ACTIVITY_KIND_$kind"
	done
	{ echo "CREATE TEMP VIEW work AS $work;"; cat properties/projected.sql; } | sqlite3 -separator '	' "$2" >"$T/want"
	nsysx-extract -q --ranges "$2" | nsysx-view -t range | awk -F'\t' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["start"] != "" { print $at["range"] "\t" $at["start"] "\t" $at["dur"] "\t" $at["ops"] }' | sort -n >"$T/got"
	ok "$1: there are ranges" test -s "$T/want"
	same "$1: ranges are where their operations are" "$T/want" "$T/got"
}

# odd NAME: operations of no length, and of equal starts and ends, in the exports of a job.
odd() {
	for export in "$T/$1"/r*.sqlite; do
		chmod u+w "$export"
		sqlite3 "$export" "
			UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start / 20000 * 20000, end = end / 20000 * 20000;
			UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET start = start / 20000 * 20000, end = end / 20000 * 20000;"
	done
}

while read -r name options; do
	# shellcheck disable=SC2086  # options are words
	make_job "$name" $options
	case $name in odd*) odd "$name" ;; esac
	extract "$name" --ranges --ops | nsysx-overlap -q >"$T/$name.nsx"
	tables_true "$name" "$name"
	for export in "$T/$name"/r*.sqlite; do projected "$name, $(basename "$export")" "$export"; done
done <<'END'
spmd --groups 2 --devices 2
mixed --seed 2 --disagree --titles 2026 --autotune
one --seed 3 --processes 1 --no-comm
nodes --seed 4 --graphs
whole --seed 5 --processes 1 --graphs=whole --late 0
outside --seed 6 --outside --late 1 --steps 3
three --seed 7 --processes 3 --groups 3 --jitter 500 --offset 10000 --steps 3
lost --seed 8 --ops-without-call 9 --shuffle --unfinished
shared --seed 9 --one-export --devices 2 --steps 3
torch --seed 10 --torch
server --seed 11 --torch=sglang --steps 9
odd --seed 11 --devices 2
oddnodes --seed 12 --graphs --titles 2026
END
# They cannot all pass by being empty, nor by not being compared.
equal 'there is something to sum' \
	"$(awk -F'\t' '$1 == "thunk" && $15 == 1 && $11 > 0 { hidden = 1 } $1 == "op" { op = 1 } $1 == "range" { range = 1 } END { print hidden op range }' "$T/spmd.nsx")" 111
equal 'and operations of no length, and equal starts' \
	"$(awk -F'\t' '$1 == "thunk" { none += $10 == 0; equal += $9 == last; last = $9 } END { print (none > 10) (equal > 10) }' "$T/odd.nsx")" 11
tables "$T/spmd.nsx" "$T/tables"
for table in source.folded opcode.folded nvtx.folded thunk.json opcode.json module.json device.json total.json range.json kernel.json collectives.nsx measure.jit_train_step.json; do
	mkdir -p "$T/falsified"
	cp "$T/tables"/* "$T/falsified"
	# One more, in the first number of two digits or more that follows the first time of the table.
	python3 - "$T/falsified/$table" <<'END'
import re, sys
text = open(sys.argv[1]).read()
key = {"measure": '"kernels":'}.get(sys.argv[1].split("/")[-1].split(".")[0], '"span":' if "device" in sys.argv[1] else '"total":')
if sys.argv[1].endswith("folded"):
    text = re.sub(r" (\d+)\n", lambda m: f" {int(m[1]) + 1}\n", text, count=1)
elif sys.argv[1].endswith("nsx"):
    text = re.sub(r"(?m)^(collective(?:\t[^\t]*){8}\t)(\d+)", lambda m: m[1] + str(int(m[2]) + 1), text, count=1)
else:
    text = re.sub(key + r" *(\d+)", lambda m: f"{key}{int(m[1]) + 1}", text, count=1)
open(sys.argv[1], "w").write(text)
END
	equal "a nanosecond more is noticed: $table" \
		"$(python3 properties/truth.py "$T/spmd.nsx" "$T/falsified" | awk -F'\t' '$2 != "" { n++ } END { print (n > 0) }')" 1
	rm -r "$T/falsified"
done

# ---- ways to the same records

# Orders of three files, extracted together and merged.
extract three --ranges=all --ops >"$T/all"
for i in 0 1 2; do nsysx-extract -q --ranges=all --ops -x "$T/three/dump$i" "$T/three/r$i.sqlite" >"$T/part$i"; done
ok 'the job has programs to match' test "$(grep -c '^alias' "$T/all")" -gt "$(grep -c '^program' "$T/all")"
for order in '0 1 2' '0 2 1' '1 0 2' '1 2 0' '2 0 1' '2 1 0'; do
	# shellcheck disable=SC2086
	set -- $order
	nsysx-extract -q --ranges=all --ops -j "$(($1 + 1))" -x "$T/three/dump$1" "$T/three/r$1.sqlite" -x "$T/three/dump$2" "$T/three/r$2.sqlite" \
		-x "$T/three/dump$3" "$T/three/r$3.sqlite" >"$T/got"
	same "extracted in the order $order" "$T/all" "$T/got"
	nsysx-merge -q "$T/part$1" "$T/part$2" "$T/part$3" >"$T/got"
	same "merged in the order $order" "$T/all" "$T/got"
	nsysx-merge -q "$T/part$1" "$T/part$2" | nsysx-merge -q - "$T/part$3" >"$T/got"
	same "two of them first, $order" "$T/all" "$T/got"
done

# Both encodings through every step, and threads.
for job in three nodes odd mixed torch; do
	extract $job --ranges --ops -j 1 >"$T/text"
	extract $job --ranges --ops -j 2 >"$T/got"
	same "$job: one thread and two" "$T/text" "$T/got"
	extract $job --ranges --ops -b >"$T/binary"
	for step in 'extract cat' align 'warmup --mark' warmup 'overlap --hold=0' overlap collectives merge; do
		case $step in
		extract*) ;;
		merge) nsysx-merge -q "$T/text" >"$T/next"; nsysx-merge -q -b "$T/binary" >"$T/next.b" ;;
		# shellcheck disable=SC2086
		*) nsysx-$step -q "$T/text" >"$T/next"; nsysx-${step%% *} -q -b ${step#"${step%% *}"} "$T/binary" >"$T/next.b" ;;
		esac
		[ "$step" = 'extract cat' ] || { mv "$T/next" "$T/text"; mv "$T/next.b" "$T/binary"; }
		nsysx-view "$T/binary" >"$T/got"
		same "$job: text and binary after ${step% cat}" "$T/text" "$T/got"
	done
	for tool in 'fold --by source' 'fold --by kernel' 'summary --by thunk' 'summary --by range' 'collectives --summary' 'stragglers' 'compile' \
		'measure --module jit_train_step'; do
		[ "$job $tool" != 'torch fold --by source' ] || continue   # it has no source lines
		nsysx-$tool -q "$T/text" >"$T/want"
		nsysx-$tool -q "$T/binary" >"$T/got"
		same "$job: ${tool%% *} of both" "$T/want" "$T/got"
	done
done

# Initialisation and steady state are the whole, and what --mark says.
for job in spmd mixed nodes three outside torch odd; do
	extract $job --ranges --ops >"$T/all"
	events "$T/all" | sort >"$T/want"
	nsysx-warmup -q "$T/all" >"$T/steady"
	nsysx-warmup -q --init "$T/all" >"$T/init"
	# Compilation is in neither's way: it passes both.
	{ events "$T/steady"; events "$T/init" | grep -v '^compile'; } | sort >"$T/got"
	same "$job: initialisation and steady state are the whole" "$T/want" "$T/got"
	nsysx-warmup -q --mark "$T/all" >"$T/marked"
	events "$T/marked" | grep '	steady$' | sed 's/	steady$//' | sort >"$T/got"
	events "$T/steady" | grep -v '^compile' | sort >"$T/want"
	same "$job: --mark says the same" "$T/want" "$T/got"
done
ok 'there was initialisation' test "$(events "$T/init" | wc -l)" -gt 10

# Nothing to align with: a lone device stays where it is.
for job in one whole; do
	extract $job --ranges --ops >"$T/all"
	events "$T/all" >"$T/want"
	for opt in '' --drift --per-device; do
		# shellcheck disable=SC2086
		nsysx-align -q $opt "$T/all" >"$T/aligned"
		events "$T/aligned" >"$T/got"
		ok "$job: there is something to align" test -s "$T/want"
		same "$job: align $opt leaves a lone device unmoved" "$T/want" "$T/got"
	done
done

# Windows that share a bound hold all records, and both only what goes on at that bound.
window_key='$1 == "module" || $1 == "thunk" || $1 == "op"'
for job in spmd nodes odd; do
	extract $job --ops >"$T/all"
	cuts=$(awk -F'\t' '$1 == "module" { start[n++] = $6; end = $6 + $7 } END { print start[0], start[int(n / 3)], start[int(n / 2)] + 1, end }' "$T/all")
	awk -F'\t' "$window_key" "$T/all" | sort >"$T/want"
	for cut in $cuts; do
		extract $job --ops --time ":$cut" | awk -F'\t' "$window_key" | sort >"$T/before"
		extract $job --ops --time "$cut:" | awk -F'\t' "$window_key" | sort >"$T/after"
		sort -u "$T/before" "$T/after" >"$T/got"
		sort -u "$T/want" >"$T/once"
		same "$job: before $cut and after it are the whole" "$T/once" "$T/got"
		comm -12 "$T/before" "$T/after" | awk -F'\t' -v cut="$cut" '{ s = $1 == "module" ? 6 : $1 == "thunk" ? 9 : 8; if (!($s < cut && $s + $(s + 1) > cut)) print }' >"$T/both"
		awk -F'\t' -v cut="$cut" '{ s = $1 == "module" ? 6 : $1 == "thunk" ? 9 : 8; if ($s < cut && $s + $(s + 1) > cut) print }' "$T/once" >"$T/across"
		equal "$job: both hold only what goes on at $cut" "$(cat "$T/both")" ''
		equal "$job: and all of that" "$(comm -12 "$T/before" "$T/after" | sort -u | wc -l)" "$(wc -l <"$T/across")"
	done
done
done_testing
