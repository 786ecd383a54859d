#!/bin/sh
# Columns for the work of instructions and for devices in streams of nsysx-extract, from a hand-written dump and exports.
. "${0%/*}/../testlib.sh"

# ---- a dump: protocol buffers, field by field

varint() {
	v=$1
	while [ "$v" -ge 128 ]; do
		printf "\\$(printf %o $((v % 128 + 128)))"
		v=$((v / 128))
	done
	printf "\\$(printf %o "$v")"
}
int() { varint $(($1 * 8)); varint "$2"; }
text() { varint $(($1 * 8 + 2)); varint ${#2}; printf %s "$2"; }
# message FIELD: standard input as a message.
message() { part=$(mktemp "$T/part.XXXXXX") && cat >"$part" && varint $(($1 * 8 + 2)) && varint $(($(wc -c <"$part"))) && cat "$part"; }
# inst NAME OPCODE ID TYPE DIMS OPERANDS
inst() {
	text 1 "$1"; text 2 "$2"; int 35 "$3"
	{ int 2 "$4"; for d in $5; do int 3 "$d"; done; } | message 3
	for o in $6; do int 36 "$o"; done
}
f32=11 bf16=16
# dump DIR N: a program whose dot is of [4,8] and [8,N].
dump() {
	mkdir -p "$T/$1"
	{
		text 1 m; int 5 7; int 6 1
		{
			text 1 main; int 5 1; int 6 5
			inst p.1 parameter 1 $bf16 '4 8' '' | message 2
			{ inst p.2 parameter 2 $bf16 "8 $2" ''; int 9 1; } | message 2
			{ inst dot.3 dot 3 $f32 "4 $2" '1 2'; int 1 1 | message 30; } | message 2
			inst negate.4 negate 4 $f32 "4 $2" '3' | message 2
			{ inst all-reduce.5 all-reduce 5 $f32 "4 $2" '4'; } | message 2
			inst sort.6 sort 6 $f32 "4 $2" '4' | message 2
		} | message 3
	} | message 1 >"$T/$1/module_0007.m.sm_9.0_gpu_after_optimizations.hlo.pb"
}

# ---- an export: a program's four instructions, a kernel each

p=281474976710656 tid=$((281474976710656 + 16777216 + 11)) pid=$((281474976710656 + 16777216))
# new NAME SQL
new() {
	rm -f "$T/$1.sqlite"
	sqlite3 -bail "$T/$1.sqlite" "
		CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
		CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
		CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
			globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
		CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER);
		CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
			streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL);
		INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.13.1');
		INSERT INTO StringIds VALUES (1, 'kernel');
		INSERT INTO NVTX_EVENTS VALUES (0, 0, 75, 'TSL', $tid, NULL, NULL, 1), (5, 900, 59, 'XlaModule:#hlo_module=m,program_id=7#', $tid, NULL, NULL, 1);
		$(n=1; for i in dot.3 negate.4 all-reduce.5 sort.6; do
			echo "INSERT INTO NVTX_EVENTS VALUES ($((n * 100)), $((n * 100 + 50)), 59, 'Thunk:#hlo_op=$i#', $tid, NULL, NULL, 1);
				INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ($((n * 100 + 10)), $((n * 100 + 20)), $tid, $n);
				INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ($((n * 1000)), $((n * 1000 + 500)), 0, 7, $n, $pid, 1);"
			n=$((n + 1))
		done)
		$2" || exit 1
}
# work FILE: name flops math vector mem_bytes of each instruction.
work() { awk -F'\t' '$1 == "inst" { print $4, ($13 == "" ? "-" : $13), ($14 == "" ? "-" : $14), ($15 == "" ? "-" : $15), ($16 == "" ? "-" : $16) }' "$1" | sort | paste -sd';' -; }
# gpu NAME: sms clock mem_bandwidth cc of the device.
gpu() { nsysx-extract -q "$T/$1.sqlite" | awk -F'\t' '$1 == "device" { print ($13 == "" ? "-" : $13), ($14 == "" ? "-" : $14), ($15 == "" ? "-" : $15), ($16 == "" ? "-" : $16) }'; }

dump one 16
dump other 32
new a ''
nsysx-extract -q -x "$T/one" "$T/a.sqlite" >"$T/a.nsx"
want='all-reduce.5 - - - -;dot.3 1024 bf16 0 576;negate.4 0 - 64 512;sort.6 - - - -'
equal 'the work of instructions; none for communication and unknown opcodes' "$(work "$T/a.nsx")" "$want"
nsysx-extract -q "$T/a.sqlite" >"$T/bare.nsx"
equal 'no work without a dump' "$(work "$T/bare.nsx")" 'all-reduce.5 - - - -;dot.3 - - - -;negate.4 - - - -;sort.6 - - - -'
nsysx-view -b "$T/a.nsx" | nsysx-merge -q --text >"$T/merged"
equal 'through binary and a merge' "$(work "$T/merged")" "$want"
new b ''
nsysx-extract -q "$T/b.sqlite" >"$T/b.nsx"
nsysx-merge -q --text "$T/a.nsx" "$T/b.nsx" >"$T/merged"
equal 'merged with a profile without work' "$(work "$T/merged")" "$want"
nsysx-extract -q -x "$T/one" "$T/a.sqlite" -x "$T/other" "$T/b.sqlite" >"$T/two.nsx"
equal 'contradicting dumps: the first is used' "$(work "$T/two.nsx")" "$want"
equal '... a diag counts them' "$(awk -F'\t' '$1 == "diag" && /describe differently/ { print $5 }' "$T/two.nsx")" 3
nsysx-extract -q -x "$T/other" "$T/b.sqlite" >"$T/b.nsx"
nsysx-merge -q --text "$T/a.nsx" "$T/b.nsx" >"$T/merged"
equal 'contradicting streams: the first is used' "$(work "$T/merged")" "$want"
equal '... a diag' "$(grep -c 'dumps disagree on opcode, comm, bytes or work' "$T/merged")" 1

# ---- devices

table="CREATE TABLE TARGET_INFO_GPU (cuDevice INTEGER, name TEXT, smCount INTEGER, computeMajor INTEGER, computeMinor INTEGER"
new full "$table, clockRate INTEGER, memoryBandwidth INTEGER); INSERT INTO TARGET_INFO_GPU VALUES (0, 'Some GPU', 132, 9, 0, 1980000000, 3352320000000);"
equal 'multiprocessors, clock, bandwidth, compute capability' "$(gpu full)" '132 1980000000 3352320000000 90'
new old "$table); INSERT INTO TARGET_INFO_GPU VALUES (0, 'Some GPU', 108, 8, 6);"
equal 'an export that lacks two of them' "$(gpu old)" '108 - - 86'
new none ''
equal 'an export without the table' "$(gpu none)" '- - - -'
new elsewhere "$table); INSERT INTO TARGET_INFO_GPU VALUES (1, 'Some GPU', 108, 8, 6);"
equal 'a row of another device is not used' "$(gpu elsewhere)" '- - - -'
new zero "$table, clockRate INTEGER, memoryBandwidth INTEGER); INSERT INTO TARGET_INFO_GPU VALUES (0, 'Some GPU', 0, 0, 0, -1, NULL);"
equal 'zeros and negative values are absent' "$(gpu zero)" '- - - -'
nsysx-extract -q "$T/full.sqlite" | nsysx-view -b | nsysx-merge -q --text | awk -F'\t' '$1 == "device" { print $13, $14, $15, $16 }' >"$T/merged"
equal 'devices through binary and a merge' "$(cat "$T/merged")" '132 1980000000 3352320000000 90'

# ---- generated instructions, whose work follows from their sizes, up to the table of an A100

# differs WANT GOT: rows of the table that differ from the plan. Integers and words must be equal, times of the limit to 1e-12 (sums of doubles).
differs() {
	awk -F'\t' '
		function far(a, b) { return a == "" || b == "" ? a != b : (a - b) ^ 2 > 1e-24 * a ^ 2 }
		FNR == 1 { if (NR == 1) for (i = 1; i <= NF; i++) want[i] = $i; else for (i = 1; i <= NF; i++) at[$i] = i; columns = NR == 1 ? NF : columns; next }
		NR == FNR { row[$1, $3] = $0; rows++; next }
		{
			split(row[$1, $3], cell, "\t")
			for (i = 1; i <= columns; i++)
				if (want[i] ~ /^(limit|headroom|hfu)$/ ? far(cell[i], $at[want[i]]) : cell[i] "" != $at[want[i]] "") {
					print $1, $3, want[i] ":", cell[i], "planted,", $at[want[i]], "told"
				}
			seen++
		}
		END { if (seen != rows) print seen + 0, "of", rows, "rows"; if (!rows) print "no rows" }' "$1" "$2"
}
while read -r how; do
	# shellcheck disable=SC2086  # options
	"$SYNTH" -q -o "$T/work" --work 300 $how
	nsysx-extract -q -x "$T/work/dump0" "$T/work/r0.sqlite" >"$T/work.nsx"
	nsysx-roofline -q --tsv "$T/work.nsx" >"$T/got"
	equal "work and limits of planted instructions, $how" "$(differs "$T/work/answers/work.tsv" "$T/got" | head -n 3)" ''
	nsysx-roofline -q --tsv --by program "$T/work.nsx" >"$T/got"
	equal '... and of their program' "$(differs "$T/work/answers/work_programs.tsv" "$T/got" | head -n 3)" ''
	rm -rf "$T/work"
done <<'END_HOW'
--seed 1
--seed 2 --dumps zst --schema 3.24.14
--seed 3 --dumps xz --shuffle --full
END_HOW
"$SYNTH" -q -o "$T/work" --work 40 --break work
nsysx-extract -q -x "$T/work/dump0" "$T/work/r0.sqlite" | nsysx-roofline -q --tsv >"$T/got"
equal '(a falsified answer is detected)' "$(differs "$T/work/answers/work.tsv" "$T/got" | wc -l)" 1
equal '(all bounds and all kinds of work are among them)' "$(cut -f 4-6 "$T/work/answers/work.tsv" | tr '\t' '\n' | sort -u | grep -cx 'matrix\|vector\|memory\|dot\|convolution\|fusion\|bf16')" 7

done_testing
