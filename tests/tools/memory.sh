#!/bin/sh
# How memory grows. Filters pass 16 times as many records within the same memory, from files and from pipes; only align keeps its
# collectives. Peaks are resident sets, which vary by a few percent.
. "${0%/*}/../testlib.sh"
PEAK=$B/tests/bench/peak REPEAT=$B/tests/bench/repeat
grep -qE '__(asan|tsan|msan)_init' "$B/bin/nsysx-view" && skip_all 'a sanitizer takes memory of its own'

"$SYNTH" -q -o "$T/job" --steps 28 --processes 2 --offset 100000
for p in 0 1; do
	nsysx-extract -q -b --ranges --ops -x "$T/job/dump$p" "$T/job/r$p.sqlite" -o "$T/r$p"
done
nsysx-merge -q -b "$T/r0" "$T/r1" -o "$T/both"
# Repetitions of first executions only: they never leave initialisation.
nsysx-warmup -q -b --init "$T/both" -o "$T/init"

small=10 large=160
{ "$REPEAT" $small <"$T/both" >"$T/both.1" && "$REPEAT" $large <"$T/both" >"$T/both.16"; } &
for p in 0 1; do
	"$REPEAT" $small <"$T/r$p" >"$T/r$p.1"
	"$REPEAT" $large <"$T/r$p" >"$T/r$p.16"
done
"$REPEAT" $((small * 16)) same <"$T/init" >"$T/init.1"
"$REPEAT" $((large * 16)) same <"$T/init" >"$T/init.16"
wait

n=$(nsysx-view "$T/both.1" | sed -n '$s/^end	//p')
equal 'the small stream has over 100000 records, in many blocks' "$((n > 100000))" 1
nsysx-warmup "$T/init.1" 2>&1 >"$T/steady" | grep -q 'everything counts as steady state'
equal 'first executions alone have no steady state' $? 0
equal 'more than 50000 of their records are held' "$(($(nsysx-view -k thunk,op,module "$T/init.1" | wc -l) > 50000))" 1

# Peaks of a command on stdin, as file and as pipe, in KiB, to $T/file.$1 and $T/pipe.$1. It reads $2. A peak that was there stays if it is lower:
# the kernel counts resident pages in batches, so what one run uses appears as up to half a MiB more or less.
peaks() {
	size=$1 input=$2
	shift 2
	cat "$input" | "$PEAK" "$T/peak.pipe" "$@" >/dev/null 2>"$T/err.pipe" &
	"$PEAK" "$T/peak.file" "$@" <"$input" >/dev/null 2>"$T/err.file" || cat "$T/err.file" >&2
	wait $! || cat "$T/err.pipe" >&2
	for how in file pipe; do
		cat "$T/peak.$how" "$T/$how.$size" 2>/dev/null | sort -n | head -n 1 >"$T/lower"
		mv "$T/lower" "$T/$how.$size"
	done
}

# 16 times the records need at most $within tenths of the memory, the least of up to three runs each: CLAIM STREAM COMMAND...
within=12
is_flat() {
	[ "$(cat "$T/$1.1")" -gt 0 ] && [ $(($(cat "$T/$1.16") * 10)) -le $(($(cat "$T/$1.1") * within)) ]
}
flat() {
	claim=$1 stream=$2
	shift 2
	rm -f "$T"/file.* "$T"/pipe.*
	for turn in 1 2 3; do
		for size in 1 16; do
			for a; do
				shift
				case $a in *.1 | *.16) a=${a%.*}.$size ;; esac
				set -- "$@" "$a"
			done
			peaks $size "$stream.$size" "$@"
		done
		is_flat file && is_flat pipe && break
	done
	for how in file pipe; do
		small_kib=$(cat "$T/$how.1") large_kib=$(cat "$T/$how.16")
		if is_flat $how; then
			pass "$claim, from a $how"
		else
			fail "$claim, from a $how" "$small_kib KiB, then $large_kib KiB"
		fi
	done
}

flat 'merge is flat' "$T/r0" nsysx-merge -q -b - "$T/r1.1"
awk -v steps=50 -f host/steps.awk | awk -f host/stream.awk >"$T/steps"
"$REPEAT" 20 <"$T/steps" >"$T/host.1"
"$REPEAT" 320 <"$T/steps" >"$T/host.16"
equal 'the small host stream has over 150000 records' "$(($(nsysx-view "$T/host.1" | sed -n '$s/^end	//p') > 150000))" 1
while read -r stream within command; do
	# shellcheck disable=SC2086  # words
	flat "$command is flat, of $stream" "$T/$stream" nsysx-$command
done <<END
$(listed memory)
END

# ---- extraction ----
# 15 of 16 ranges have a unique name: 60 bytes per range are less than such names alone would take.
"$SYNTH" -q -o "$T/many" --scale 400000
ok 'names that differ in numbers are stored in parts' nsysx-extract -q -j1 -b --ranges=all --max-memory=60M -o "$T/many.nsx" "$T/many/r0.sqlite"
sqlite3 "$T/many/r0.sqlite" 'SELECT rowid, text FROM NVTX_EVENTS ORDER BY rowid' | tr '|' '\t' >"$T/want"
nsysx-view -q -t range "$T/many.nsx" | awk -F'\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["range"], $at["name"] }' |
	sort -n >"$T/is"
same '... and are restored' "$T/is" "$T/want"

# ---- align ----

# Bytes of memory for each record of a collective on a device: the large stream's peak less the small stream's.
parts() { nsysx-view -t thunk "$1" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "comm") c = i; next } $c == 1 { n++ } END { print n }'; }
one=$(parts "$T/both")
more=$(((large - small) * one))
rm -f "$T"/file.* "$T"/pipe.*
peaks 1 "$T/both.1" nsysx-align -q -b
peaks 16 "$T/both.16" nsysx-align -q -b
for how in file pipe; do
	each=$((($(cat "$T/$how.16") - $(cat "$T/$how.1")) * 1024 / more))
	if [ "$each" -ge 24 ] && [ "$each" -le 128 ]; then
		pass "align keeps up to 128 bytes of a part, from a $how"
	else
		fail "align keeps up to 128 bytes of a part, from a $how" "$each bytes"
	fi
done

# A file is read twice; data from a pipe are stored, compressed, in TMPDIR.
nsysx-align -q "$T/both.1" -o "$T/aligned"
TMPDIR=$T/nowhere nsysx-align -q "$T/both.1" -o "$T/file.aligned"
same 'a file needs no temporary file' "$T/file.aligned" "$T/aligned"
TMPDIR=$T/nowhere nsysx-align -q <"$T/both.1" >"$T/stdin.aligned"
same 'a file on standard input needs no temporary file' "$T/stdin.aligned" "$T/aligned"
cat "$T/both.1" | nsysx-align -q >"$T/pipe.aligned"
same 'a pipe gives the same' "$T/pipe.aligned" "$T/aligned"
fails 'a pipe needs a temporary folder, which is named' 1 'TMPDIR' \
	sh -c 'cat "$T/both.1" | TMPDIR=$T/nowhere nsysx-align -q'
# ---- what is held for each operation ----

for steps in 6000 18000; do
	"$SYNTH" -q --nccl --schema 3.24.14 --steps $steps -o "$T/nccl$steps" || exit 1
	rm "$T/nccl$steps/r1.sqlite"
	"$PEAK" "$T/extract.$steps" nsysx-extract -q -b --ops "$T/nccl$steps/r0.sqlite" -o "$T/nccl.$steps"
	for table in instances each; do
		"$PEAK" "$T/$table.$steps" nsysx-collectives -q --$table "$T/nccl.$steps" >"$T/rows.$steps"
	done
done
ops=$(($(wc -l <"$T/rows.18000") - $(wc -l <"$T/rows.6000")))
equal 'another 150000 operations of NCCL and more' "$((ops > 150000))" 1
each() { # CLAIM FILE LIMIT: bytes
	held=$((($(cat "$T/$2.18000") - $(cat "$T/$2.6000")) * 1024 / ops))
	equal "$1: at most $3 bytes" "$([ $held -gt 0 ] && [ $held -le $3 ] && echo yes || echo $held)" yes
}
each 'collectives --instances, for each operation' instances 260
each 'collectives --each, for each operation' each 290
each 'extract --ops, for each operation with its ranges and calls' extract 440
done_testing
