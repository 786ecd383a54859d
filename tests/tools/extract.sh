#!/bin/sh
# nsysx-extract compared with the generator's answers, for all forms of exports.
. "${0%/*}/../testlib.sh"
. "$tests_dir/answers.sh"

# extract NAME OPTION...: the stream of a generated job, in $T/NAME.nsx.
extract() {
	job=$1
	shift
	nsysx-extract -q "$@" "$T/$job"/*.sqlite >"$T/$job.nsx"
}

# all_agree CLAIM NAME: modules, thunks and compile records equal the answers.
all_agree() {
	agrees "$1: modules" modules "$T/$2.nsx" "$T/$2"
	agrees "$1: thunks" thunks "$T/$2.nsx" "$T/$2"
	agrees "$1: compilation" compile "$T/$2.nsx" "$T/$2"
}

make_job plain
ok 'extracts a job of two processes' extract plain --ranges --ops
all_agree 'two processes' plain
agrees 'two processes: projected ranges' ranges "$T/plain.nsx" "$T/plain"
agrees 'two processes: GPU operations' ops "$T/plain.nsx" "$T/plain"

for what in modules thunks ranges compile ops; do
	rm -rf "$T/broken"
	make_job broken --break $what
	said $what "$T/plain.nsx" >"$T/said"
	answered $what "$T/broken" >"$T/answered"
	if cmp -s "$T/said" "$T/answered"; then differs=no; else differs=yes; fi
	equal "a falsified answer is detected: $what" "$differs" yes
done

for titles in early 2024 2026; do
	make_job titles-$titles --titles $titles
	extract titles-$titles
	all_agree "titles of $titles" titles-$titles
done

for schema in 3.0.0 3.7.2 3.11.1 3.13.1 3.24.14 3.25.0 3.28.1; do
	make_job schema-$schema --schema $schema --shuffle
	extract schema-$schema --ranges --ops
	all_agree "schema $schema, shuffled" schema-$schema
	agrees "schema $schema, shuffled: ranges" ranges "$T/schema-$schema.nsx" "$T/schema-$schema"
	agrees "schema $schema, shuffled: GPU operations" ops "$T/schema-$schema.nsx" "$T/schema-$schema"
done

# Decompression is GPU work; a stream that waits for a host function does no work.
for options in '' --torch '--graphs --full' '--graphs=whole --late 1'; do
	rm -rf "$T/fns"
	# shellcheck disable=SC2086
	make_job fns --schema 3.28.1 --shuffle $options
	extract fns --ranges --ops
	agrees "host functions, ${options:-plain}: GPU operations" ops "$T/fns.nsx" "$T/fns"
	agrees "host functions, ${options:-plain}: ranges" ranges "$T/fns.nsx" "$T/fns"
	equal 'decompressions are copies named decompression' "$(awk -F'\t' '/^#op\t/ { for (i = 2; i <= NF; i++) at[substr($i, 1, index($i, ":") - 1)] = i }
		$1 == "op" && $at["name"] == "[CUDA mem decompress]" { n++; typed += $at["type"] == "memcpy" && $at["bytes"] % 4096 == 0 && $at["bytes"] > 0 }
		END { print n + 0, typed + 0 }' "$T/fns.nsx")" "$(awk -F'\t' '$1 == "decompressions" { print $2, $2 }' "$T/fns/answers/totals.tsv")"
	equal 'host functions are counted, with their time' "$(awk -F'\t' '$1 == "diag" && $4 ~ /^functions on the host .* ns$/ { n += $5; sub(/ ns$/, "", $4); sub(/.* /, "", $4); ns += $4 }
		END { print n + 0, ns + 0 }' "$T/fns.nsx")" "$(awk -F'\t' '$1 ~ /^host_function/ { print $2 }' "$T/fns/answers/totals.tsv" | paste -sd' ' -)"
done
make_job full --full
extract full
all_agree 'an export with empty tables' full

make_job devices --processes 2 --devices 2
extract devices
all_agree 'two devices a process' devices
make_job one --processes 2 --devices 2 --one-export
extract one
all_agree 'processes in one export' one

make_job late --late 1
extract late
all_agree 'a capture that began late' late
make_job disagree --disagree
extract disagree
all_agree 'ids that disagree' disagree
make_job autotune --autotune
extract autotune
all_agree 'autotuner runs ignored; out' autotune
make_job graphs --graphs
extract graphs --ops
all_agree 'command buffers' graphs
agrees 'command buffers: GPU operations' ops "$T/graphs.nsx" "$T/graphs"
make_job whole --graphs=whole
extract whole --ops
all_agree 'command buffers traced whole' whole
agrees 'command buffers traced whole: GPU operations' ops "$T/whole.nsx" "$T/whole"
make_job unfinished --unfinished
extract unfinished
all_agree 'a last module without end' unfinished
make_job details --unfinished --details
extract details
all_agree 'a last module that ends with the capture' details
make_job nocall --ops-without-call 7
extract nocall --ops
all_agree 'operations without a call' nocall
agrees 'operations without a call: all are extracted' ops "$T/nocall.nsx" "$T/nocall"

make_job torch --torch
extract torch --ranges --ops
agrees 'PyTorch: ranges' ranges "$T/torch.nsx" "$T/torch"
agrees 'PyTorch: GPU operations' ops "$T/torch.nsx" "$T/torch"
for server in vllm sglang tensorrt-llm; do
	make_job $server --torch=$server --steps 9
	extract $server --ranges --ops
	agrees "$server: ranges" ranges "$T/$server.nsx" "$T/$server"
	agrees "$server: GPU operations" ops "$T/$server.nsx" "$T/$server"
done

# The same bytes for any order of files and number of threads, for compressed exports, and in binary.
nsysx-extract -q --ranges=all --ops "$T/plain/r1.sqlite" "$T/plain/r0.sqlite" >"$T/other"
nsysx-extract -q --ranges=all --ops -j 1 "$T/plain/r0.sqlite" "$T/plain/r1.sqlite" >"$T/one.out"
same 'order of files does not matter' "$T/one.out" "$T/other"
nsysx-extract -q --ranges=all --ops -j 3 "$T/plain/r0.sqlite" "$T/plain/r1.sqlite" >"$T/other"
same 'number of threads does not matter' "$T/one.out" "$T/other"
nsysx-extract -q -b -z --ranges=all --ops "$T/plain/r0.sqlite" "$T/plain/r1.sqlite" | nsysx-view >"$T/other"
same 'binary and text agree' "$T/one.out" "$T/other"
zstd -q "$T/plain/r0.sqlite" "$T/plain/r1.sqlite"
nsysx-extract -q --ranges=all --ops "$T/plain/r0.sqlite.zst" "$T/plain/r1.sqlite.zst" >"$T/other"
same 'compressed exports' "$T/one.out" "$T/other"

nsysx-extract -q --ranges=all --ops -b -o "$T/m1" "$T/plain/r1.sqlite"
nsysx-extract -q --ranges=all --ops -z -o "$T/m0" "$T/plain/r0.sqlite"
nsysx-merge -q "$T/m1" "$T/m0" >"$T/other"
same 'extracted separately and merged' "$T/one.out" "$T/other"

nsysx-extract -q --ranges=all --ops --spool "$T/plain/r1.sqlite" "$T/plain/r0.sqlite" >"$T/other"
same 'extracted one at a time' "$T/one.out" "$T/other"
fails 'one at a time: an export that cannot be read' 1 'nowhere.sqlite' nsysx-extract --spool "$T/plain/r0.sqlite" "$T/nowhere.sqlite"

# Windows and filters select records, and never renumber.
from=$(awk -F'\t' '$1 == "module" { start[n++] = $6 } END { print start[int(n / 2)] }' "$T/plain.nsx")
nsysx-extract -q --time "$from:" "$T"/plain/r?.sqlite | nsysx-view -t thunk | sort >"$T/late.thunks"
nsysx-view -t thunk "$T/plain.nsx" | sort >"$T/all.thunks"
equal 'a window has only records of the whole' "$(comm -23 "$T/late.thunks" "$T/all.thunks")" ''
equal 'a window lacks some records' "$([ "$(wc -l <"$T/late.thunks")" -lt "$(wc -l <"$T/all.thunks")" ] && [ "$(wc -l <"$T/late.thunks")" -gt 1 ] && echo yes)" yes
nsysx-extract -q --device 1 "$T"/plain/r?.sqlite | nsysx-view -t thunk >"$T/device1"
sort "$T/device1" >"$T/got"
{ nsysx-view -t thunk "$T/plain.nsx" | head -n 1; awk -F'\t' '$4 == 1' "$T/all.thunks"; } | sort >"$T/want"
same 'one device' "$T/got" "$T/want"

# Privacy: what the extraction does not need never reaches its output.
make_job secret --secret 'hush-hush-7261' --full
nsysx-extract --ranges=all --ops "$T"/secret/*.sqlite >"$T/secret.nsx" 2>"$T/secret.err"
equal 'the stream has no secret of the export' "$(grep -c hush-hush "$T/secret.nsx" "$T/secret.err" | cut -d: -f2 | tr '\n' ' ')" '0 0 '

# Times beyond 64 bits.
cp "$T/plain/r0.sqlite" "$T/wide.sqlite"
chmod u+w "$T/wide.sqlite"
sqlite3 "$T/wide.sqlite" "UPDATE NVTX_EVENTS SET start = -9000000000000000000, end = 9000000000000000000 WHERE rowid = (SELECT max(rowid) FROM NVTX_EVENTS WHERE eventType = 59)"
nsysx-extract --ranges=all "$T/wide.sqlite" >"$T/wide.nsx" 2>"$T/wide.err"
equal 'a duration beyond 63 bits is reported' "$? $(grep -c 'beyond 63 bits' "$T/wide.err")" '0 1'
equal '... and cut to the maximum' "$(nsysx-view -t range "$T/wide.nsx" | cut -f 13 | grep -c '^9223372036854775807$')" 1

# XLA truncates long titles.
cp "$T/plain/r0.sqlite" "$T/cut-title.sqlite"
chmod u+w "$T/cut-title.sqlite"
sqlite3 "$T/cut-title.sqlite" "UPDATE StringIds SET value = 'Thunk:#name=jit(f)/aaa' || char(10) || '[truncated]' || char(10) WHERE id = (SELECT min(id) FROM StringIds WHERE value LIKE 'Thunk:#%hlo_op=loop_add_fusion%')"
nsysx-extract "$T/cut-title.sqlite" >"$T/cut-title.nsx" 2>"$T/cut-title.err"
equal 'a thunk with a truncated title is extracted' "$(nsysx-view -t thunk "$T/cut-title.nsx" | wc -l)" "$(nsysx-extract -q "$T/plain/r0.sqlite" | nsysx-view -t thunk | wc -l)"
equal '... and counted' "$(grep -c 'cut before their own name' "$T/cut-title.err")" 1
ok '... and can be merged' nsysx-merge "$T/cut-title.nsx"

# ---- no XLA
make_job quiet --torch
ok 'an export without XLA gives a valid stream' nsysx-extract "$T/quiet/r0.sqlite"
fails '... unless modules are required' 1 'no module record' nsysx-extract --require module -o "$T/none" "$T/quiet/r0.sqlite"
equal '... then no file has the final name' "$(ls "$T" | grep -c '^none')" 0

# ---- invalid inputs
echo 'not a database, but long enough to be looked at twice' >"$T/junk.sqlite"
fails 'no profile' 1 "$T/junk.sqlite: not a profile that nsysx reads: want an SQLite export of nsys, a Kineto trace" nsysx-extract "$T/junk.sqlite"
head -c 20000 "$T/plain/r0.sqlite" >"$T/cut.sqlite"
fails 'a truncated export' 1 "$T/cut.sqlite: cut short" nsysx-extract "$T/cut.sqlite"
sqlite3 "$T/foreign.sqlite" 'CREATE TABLE t (a); INSERT INTO t VALUES (1)'
fails 'an SQLite file that is not an export' 1 "$T/foreign.sqlite: not an Nsight Systems export" nsysx-extract "$T/foreign.sqlite"
cp "$T/plain/r0.sqlite" "$T/columns.sqlite"
chmod u+w "$T/columns.sqlite"
sqlite3 "$T/columns.sqlite" 'ALTER TABLE NVTX_EVENTS RENAME COLUMN globalTid TO tid'
fails 'a table without a required column' 1 'globalTid' nsysx-extract "$T/columns.sqlite"
cp "$T/plain/r0.sqlite" "$T/wal.sqlite"
echo log >"$T/wal.sqlite-wal"
fails 'an export with a write-ahead log beside it' 1 'wal' nsysx-extract "$T/wal.sqlite"
: >"$T/empty.sqlite"
fails 'an empty file' 1 "$T/empty.sqlite" nsysx-extract "$T/empty.sqlite"
fails 'a folder' 1 "$T" nsysx-extract "$T"
fails 'a file that is not there' 1 'No such file' nsysx-extract "$T/nowhere.sqlite"
fails 'a full disk' 1 '/dev/full' nsysx-extract -q -o /dev/full "$T/plain/r0.sqlite"
fails 'the same export twice' 1 'both have device' nsysx-extract "$T/plain/r0.sqlite" "$T/plain/r0.sqlite"
fails 'the same export twice, one at a time' 1 "is in $T/plain/r0.sqlite and in $T/plain/r0.sqlite" nsysx-extract --spool "$T/plain/r0.sqlite" "$T/plain/r0.sqlite"
fails 'no export' 2 'no export' nsysx-extract
fails 'a window that ends before it begins' 2 '--time' nsysx-extract --time 5s:1s "$T/plain/r0.sqlite"
fails 'an invalid list' 2 '--device' nsysx-extract --device 1,x "$T/plain/r0.sqlite"

# Lists of names keep their place behind -x.
make_job listed --processes 2 --steps 3
(cd "$T/listed" && ls r0.sqlite >one && ls r?.sqlite >two &&
nsysx-extract -q -x dump0 r0.sqlite -x dump1 r1.sqlite >want && nsysx-extract -q -x dump0 --files-from one -x dump1 r1.sqlite >got &&
nsysx-extract -q -x dump0 r0.sqlite r1.sqlite >want2 && nsysx-extract -q -x dump0 --files-from two >got2)
same 'a dump belongs to the names of the list behind it' "$T/listed/want" "$T/listed/got"
same '... to all of them' "$T/listed/want2" "$T/listed/got2"
done_testing
