#!/bin/sh
# NCCL's payloads: communication of operations, instances of communicators, alignment by instances, compared with the generator's answers.
. "${0%/*}/../testlib.sh"

# make_job NAME OPTION...: exports of a job that calls NCCL in all ways
make_job() {
	job=$1
	shift
	"$SYNTH" -o "$T/$job" --titles 2026 --schema 3.24.14 --steps 6 "$@" || exit 1
}

# cells NAME,...: these columns of a table with a header row on standard input, without it, sorted
cells() {
	awk -F'\t' -v want="$1" 'NR == 1 { sub(/^#/, ""); for (i = 1; i <= NF; i++) c[$i] = i; n = split(want, w, ","); next }
		{ line = $c[w[1]]; for (i = 2; i <= n; i++) line = line "\t" $c[w[i]]; print line }' | sort
}

CALLS=device,start,dur,collective,comm_id,bytes,group,calls,pair
EACH=device,start,dur,collective,comm_id,bytes,group,calls,pair,seq,wait

# calls_agree CLAIM NAME: a record for each operation, equal to the answers
calls_agree() {
	nsysx-extract --ops "$T/$2"/r*.sqlite >"$T/$2.nsx" 2>"$T/$2.err" || exit 1
	nsysx-collectives -q "$T/$2.nsx" | nsysx-view -q -t collective | cells $CALLS >"$T/said"
	cells $CALLS <"$T/$2/answers/nccl.tsv" >"$T/true"
	ok "$1: the answers have operations" test -s "$T/true"
	same "$1: kind, communicator, bytes, group, calls, pair" "$T/true" "$T/said"
}

for how in 2.28 2.27 2.24 hex broken none; do
	make_job "$how" --nccl=$how --processes 3
	calls_agree "$how" $how
done
for how in 2.28 2.27 hex; do
	nsysx-view -q -t communicator "$T/$how.nsx" | cells comm_id,device,rank,ranks >"$T/said"
	cells comm_id,device,rank,ranks <"$T/$how/answers/communicators.tsv" >"$T/true"
	same "$how: members of communicators" "$T/true" "$T/said"
	nsysx-collectives -q --each --tsv "$T/$how.nsx" >"$T/x" 2>&1
	equal "$how: several profiles that are not aligned are refused" "$?" 1
done
equal 'before 2.25 there are no communicators' "$(grep -c '^communicator' "$T/2.24.nsx")" 0
equal 'with complete payloads no diags' "$(grep -c 'payloads left out' "$T/2.28.nsx")" 0
ok 'truncated payloads are counted' grep -q 'NVTX payloads ignored: shorter than their own size' "$T/broken.nsx"
ok 'unknown schemas are counted' grep -q 'NVTX payloads ignored: their schema is not in the export' "$T/broken.nsx"
ok 'calls without payloads are counted' grep -q 'NCCL calls without a payload' "$T/none.nsx"
ok 'without payloads a summary counts operations' test "$(nsysx-collectives -q --summary --tsv "$T/none.nsx" | wc -l)" -gt 5

# ---- one report: instances, with seq and wait

each_agrees() {
	nsysx-extract -q --ops "$T/$2"/r*.sqlite >"$T/$2.nsx"
	nsysx-collectives -q --each --tsv "$T/$2.nsx" | cells $EACH >"$T/said"
	cells $EACH <"$T/$2/answers/nccl.tsv" | awk -F'\t' '$10 != ""' >"$T/true"
	ok "$1: the answers have instances" test -s "$T/true"
	same "$1: every operation of an instance, seq and wait" "$T/true" "$T/said"
}
make_job one --nccl --processes 4 --one-export
calls_agree 'four processes in one export' one
each_agrees 'four processes in one export' one
make_job devices --nccl --processes 2 --devices 2 --one-export
calls_agree 'processes of two devices, calls for both in one group' devices
each_agrees 'processes of two devices, calls for both in one group' devices
make_job many --nccl --processes 64 --devices 2 --one-export --steps 2
calls_agree 'a hundred devices and more' many
each_agrees 'a hundred devices and more' many
make_job shuffled --nccl --processes 2 --one-export --shuffle
each_agrees 'rows in any order' shuffled

# The table of instances equals sums over the table of operations.
nsysx-collectives -q --each --tsv "$T/one.nsx" | awk -F'\t' 'NR > 1 {
		k = $1 FS $2 FS $3 FS $4; n[k]++
		if (!(k in first) || $6 < first[k]) first[k] = $6
		if (!(k in last) || $6 > last[k]) { last[k] = $6; late[k] = $5 }
		if ($6 + $7 > end[k]) end[k] = $6 + $7
	} END { for (k in n) printf "%s\t%d\t%.0f\t%s\t%.0f\n", k, n[k], last[k] - first[k], late[k], end[k] - last[k] }' | sort >"$T/sums"
nsysx-collectives -q --instances --tsv "$T/one.nsx" | sed 1d | cut -f 1-4,6,11-13 | sort >"$T/instances"
same 'instances equal sums of their operations' "$T/sums" "$T/instances"
equal 'a summary counts each instance once' "$(nsysx-overlap -q "$T/one.nsx" | nsysx-collectives -q --summary --tsv | awk -F'\t' '$3 == 4 { n += $4 } END { print n }')" \
	"$(awk -F'\t' '$5 == 4 { n++ } END { print n }' "$T/instances")"

# ---- different clocks, and a capture that began later

make_job apart --nccl --processes 3 --offset 5000000
calls_agree 'different clocks' apart
for t in apart; do
	nsysx-align -q "$T/$t.nsx" >"$T/$t.aligned"
	nsysx-collectives -q --each --tsv "$T/$t.aligned" | cells device,dur,collective,comm_id,bytes,pair,seq >"$T/said"
	cells device,dur,collective,comm_id,bytes,pair,seq <"$T/$t/answers/nccl.tsv" | awk -F'\t' '$7 != ""' >"$T/true"
	same 'different clocks: after alignment operations have their instances' "$T/true" "$T/said"
done
equal 'no skew records: these need instructions' "$(grep -c '^skew' "$T/apart.aligned")" 0
ok 'clock records have the number of instances' test "$(nsysx-view -q -t clock "$T/apart.aligned" | cells collectives | head -n 1)" -gt 20
# In the plan, ends of an instance differ by at most 300 ns.
equal 'corrected clocks are near the truth' "$(awk -F'\t' 'FNR == 1 { for (i = 1; i <= NF; i++) { sub(/^#/, "", $i); c[$i] = i } next }
		FILENAME ~ /tsv$/ { t[++n] = $c["offset_ns"]; next } { s[++m] = $c["offset"] }
		END { for (i = 2; i <= n; i++) { d = (t[i] - t[1]) - (s[i] - s[1]); bad += d > 300 || d < -300 } print n == m, bad + 0 }' \
	"$T/apart/answers/clocks.tsv" - <<END
$(nsysx-view -q -t clock "$T/apart.aligned")
END
)" '1 0'
nsysx-align -q -e "$T/apart.nsx" >"$T/estimate"
nsysx-align -q --apply "$T/estimate" "$T/apart.nsx" | nsysx-collectives -q --each --tsv >"$T/a"
nsysx-collectives -q --each --tsv "$T/apart.aligned" >"$T/b"
same 'an estimate that is applied gives the same' "$T/b" "$T/a"

make_job late --nccl --processes 3 --late 1
calls_agree 'a capture that began later' late
nsysx-align -q "$T/late.nsx" | nsysx-collectives -q --each --tsv | cells device,dur,collective,comm_id,pair,seq >"$T/said"
cells device,dur,collective,comm_id,pair,seq <"$T/late/answers/nccl.tsv" | awk -F'\t' '$6 != ""' >"$T/true"
same 'a capture that began later: its numbers are shifted' "$T/true" "$T/said"

# ---- captures that began many calls apart

# calls_apart N LATE PERIOD RANDOM [START0 START1]: a stream of N all-reduces on each of two devices; the second one's capture
# began LATE calls later and its clock is 7 s ahead; a call ends PERIOD ns and up to RANDOM ns after the one before it
calls_apart() {
	awk -v N="$1" -v LATE="$2" -v PERIOD="$3" -v RANDOM="$4" '
	function op(d, end, dur) { printf "%.0f\top\t%d\t%d\t%d\tkernel\tncclDevKernel_AllReduce\t%.0f\t%d\t4096\t1\tall-reduce\t0x1\t2\t1\n", end - dur, n++, d, d, end - dur, dur }
	BEGIN {	x = 7; t = 1e9
		for (i = 0; i < N + LATE; i++) {
			x = (x * 16807) % 2147483647
			t += PERIOD + (RANDOM ? x % RANDOM : 0)
			if (i < N) op(0, t, 50000)
			if (i >= LATE) op(1, t + 7e9 + x % 300, 30000)
		} }' | sort -n | cut -f 2- >"$T/ops"
	{	printf '#nsysx\t2\n#profile\tprofile:i\tname:s\tstart_utc:i\nprofile\t0\tr0\t%s\nprofile\t1\tr1\t%s\n' "${5-}" "${6-}"
		printf '#device\tdevice:i\tprofile:i\tprocess:i\tlocal:i\tpid:i\tname:s\ndevice\t0\t0\t0\t0\t10\tGPU\ndevice\t1\t1\t1\t0\t11\tGPU\n'
		printf '#op\top:i\tprofile:i\tdevice:i\ttype:s\tname:s\tstart:i\tdur:i\tbytes:i\tcomm:i\tcollective:s\tcomm_id:s\tgroup:i\tcalls:i\n'
		cat "$T/ops"
		printf '#end\trecords:i\nend\t%d\n' $((2 * $1 + 4))
	} >"$T/calls"
	nsysx-align "$T/calls" >"$T/calls.aligned" 2>"$T/calls.err"
}

# paired: how far the clocks are apart, in us; calls that both devices have, and calls of one
paired() {
	nsysx-view -q -t clock "$T/calls.aligned" | cells offset | awk '{ s[NR] = $1 } END { d = s[2] - s[1]; printf "%d ", (d < 0 ? -d : d) / 1000 }'
	nsysx-collectives -q --each --tsv "$T/calls.aligned" | cells seq | uniq -c | awk '{ n[$1]++ } END { print n[2] + 0, n[1] + 0 }'
}
for late in 5 100 320; do
	calls_apart 640 $late 1000000 200000
	equal "captures of 640 calls that began $late apart: offset, pairs" "$(paired)" "7000000 $((640 - late)) $((2 * late))"
	equal "... nothing is uncertain" "$(cat "$T/calls.err")" ''
done

# lose DEVICE FIRST LAST: the operations of that device with these numbers, from 1, are not in its capture
lose() {
	calls_apart 640 5 1000000 200000
	awk -F'\t' -v OFS='\t' -v D="$1" -v A="$2" -v B="$3" '$1 == "op" && $4 == D && ++n >= A && n <= B { next }
		$1 == "end" { $2 -= B - A + 1 } { print }' "$T/calls" >"$T/some"
	nsysx-align -q "$T/some" >"$T/calls.aligned"
}
for what in '1 300 300' '0 300 300' '1 200 260' '0 200 350' '1 634 634'; do
	# shellcheck disable=SC2086
	lose $what
	set -- $what
	gone=$(($3 - $2 + 1))
	equal "a capture that lacks operations ($what): the others are paired" "$(paired)" "7000000 $((635 - gone)) $((10 + gone))"
done
ok '... which a diag tells' sh -c "nsysx-collectives --each --tsv '$T/calls.aligned' 2>&1 >'$T/x' | grep -q 'lacks some'"

# Losses near each other, of one device or of several: LOST lists DEVICE-CALL. An operation's number tells its call.
scattered() {
	awk -v OFS='\t' -v lost="$1" 'BEGIN {
		n = split(lost, l, " ")
		for (i = 1; i <= n; i++) gone[l[i]] = 1
		print "#nsysx", 2
		print "#device", "device:i", "profile:i", "name:s"
		print "#op", "profile:i", "op:i", "type:s", "device:i", "stream:i", "name:s", "start:i", "dur:i", "comm:i", "comm_id:s", "collective:s", "bytes:i"
		for (d = 0; d < 4; d++) { print "device", d, 0, "GPU"; k++ }
		for (c = 0; c < 120; c++) {
			t += 40000 + c * 7919 % 50000
			for (d = 0; d < 4; d++)
				if (!((d "-" c) in gone)) { print "op", 0, 10 * c + d, "kernel", d, 7, "ncclDevKernel_AllReduce", t, 9000 + (c * 31 + d * 57) % 300, 1, "a", "all-reduce", 64; k++ }
		}
		print "#end", "records:i"
		print "end", k
	}' >"$T/scattered"
	nsysx-collectives -q --each --tsv "$T/scattered" | cells seq,op | awk '{ c = int($2 / 10) }
		$1 in call && call[$1] != c { mixed[$1] = 1 }
		{ call[$1] = c }
		END { n = 0; for (s in mixed) n++; print n }'
}
for lost in '1-67 1-71' '3-57 3-60 0-64' '2-30 2-35 0-37' '2-4' '1-16 1-19 1-22 1-25' '0-50 1-53 0-55 2-58 0-60' '1-112 1-115 1-118'; do
	equal "operations lost near each other ($lost): no instance has two calls" "$(scattered "$lost")" 0
done
calls_apart 6000 4000 1000000 200000
equal 'captures that have a third of their calls in common' "$(paired)" '7000000 2000 8000'
calls_apart 640 5 1000000 0 1790000007000000000 1790000000000000000
equal 'calls at equal distances: the start of the sessions decides' "$(paired)" '7000000 635 10'
ok '... with a warning' grep -q "uncertain.*offset of the sessions' starts" "$T/calls.err"
calls_apart 640 5 1000000 0
ok 'and a warning where it is unknown' grep -q 'uncertain.*unknown' "$T/calls.err"

# ---- the same stream in other ways

nsysx-extract -q --ops --spool "$T/2.28"/r*.sqlite >"$T/spooled"
same 'with temporary files' "$T/2.28.nsx" "$T/spooled"
for r in 2 0 1; do
	nsysx-extract -q --ops "$T/2.28/r$r.sqlite" >"$T/r$r.nsx"
done
nsysx-merge -q "$T/r2.nsx" "$T/r0.nsx" "$T/r1.nsx" >"$T/merged"
same 'merged from single profiles' "$T/2.28.nsx" "$T/merged"
nsysx-collectives -q "$T/one.nsx" >"$T/once"
nsysx-collectives -q "$T/once" | cmp -s - "$T/once"
equal 'aligning twice gives the same' $? 0

# ---- unknown groups: the devices that ran operations of the communicator, known at the end only

nsysx-view -q "$T/one.nsx" | awk -F'\t' '/^#op\t/ { for (i = 2; i <= NF; i++) if ($i == "group:i") g = i }
	$1 == "communicator" || $1 == "end" { next } $1 == "op" { OFS = FS; $g = "" } { print }' >"$T/bare"
nsysx-collectives -q --partial --hold 0 "$T/bare" >"$T/inferred"
equal 'a communicator of four devices has group 4' "$(nsysx-view -q --partial -t collective "$T/inferred" | cells collective,comm_id,group | awk -F'\t' '$1 == "all-reduce" && $2 != "" { print $3 }' | sort -u)" 4
equal '... a diag counts its operations' "$(nsysx-view -q --partial -t diag "$T/inferred" | awk -F'\t' '/communicators of unknown size/ { print $4 }')" \
	"$(nsysx-view -q --partial -t collective "$T/inferred" | cells comm_id,group | awk -F'\t' '$1 != "" && $2 != ""' | wc -l)"
nsysx-collectives -q --partial "$T/bare" | cmp -s - "$T/inferred"
equal '... with and without temporary files' $? 0

# ---- instances of hand-written operations

# ranks N: an all-reduce of a communicator of four devices, N of them with a record, in profiles of PROFILES devices [4].
ranks() {
	for d in $(seq 0 $(($1 - 1))); do
		echo "device device=$d profile=$((d / ${PROFILES:-4}))"
		echo "op name=nccl device=$d profile=$((d / ${PROFILES:-4})) start=$((100 + d)) dur=50 comm=1 collective=all-reduce comm_id=00000000c0ffee00 group=4 bytes=1000"
	done | awk -f host/stream.awk
}
for n in 3 4; do
	ranks $n >"$T/ranks"
	nsysx-collectives --summary --tsv "$T/ranks" 2>"$T/err" | sed 1d | cut -f 1-4 | tr '\t' ' ' >"$T/got"
	equal "an instance with $n of 4 devices" "$(cat "$T/got"), $(grep -c 'devices that are not in the stream' "$T/err")" "all-reduce 1000 4 1, $((4 - n))"
done
# Starts 100 101 102 103: waits 3 2 1 0.
equal 'waits are those of --each' "$(nsysx-collectives --summary --tsv "$T/ranks" | sed 1d | cut -f 8,9,12), $(nsysx-collectives --each --tsv "$T/ranks" | awk -F'\t' '
	NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { s += $c["wait"] } END { print s, NR - 1 }')" '1.5	3	6, 6 4'
PROFILES=2 ranks 4 >"$T/ranks"
nsysx-collectives --summary --tsv "$T/ranks" 2>"$T/err" | sed 1d | cut -f 4,8 | tr '\t' ' ' >"$T/got"
equal 'on different clocks operations count one by one' "$(cat "$T/got")" '4 '
equal '... and are counted' "$(grep -c 'devices whose clocks cannot be compared: no wait.* (4)$' "$T/err")" 1
ranks 4 | sed 's/00000000c0ffee00//' >"$T/ranks"
equal 'operations of unknown communicators are in no instance' \
	"$(nsysx-collectives --instances -v "$T/ranks" 2>&1 | grep -c -e 'communicator is not known: in no instance (4)$' -e '^all-reduce')" 1
ranks 4 | sed 's/all-reduce/send-recv/' >"$T/ranks"
equal 'send-recvs of unknown ranks are in no instance' \
	"$(nsysx-collectives --instances -v "$T/ranks" 2>&1 | grep -c -e 'send-recvs between unknown ranks: in no instance (4)$' -e '^send-recv')" 1

# ---- what waits for the end of a stream: blocks of a binary one, records of a text

"$SYNTH" -o "$T/long" --schema 3.24.14 --nccl --steps 400 --layers 8 || exit 1
nsysx-extract -q -a -b -o "$T/long.b" "$T/long"/r*.sqlite && nsysx-view -q --text -o "$T/long.t" "$T/long.b" || exit 1
ok 'the stream has many blocks' test "$(wc -l <"$T/long.t")" -gt 40000
nsysx-collectives -q "$T/long.t" >"$T/said.t"
nsysx-collectives -q "$T/long.b" >"$T/said"
same 'records of a binary stream are those of a text' "$T/said.t" "$T/said"
nsysx-collectives -q --hold 0 "$T/long.b" >"$T/said"
same '... and with all that waits on disk' "$T/said.t" "$T/said"
nsysx-collectives -q -b "$T/long.b" | nsysx-collectives -q >"$T/said"
same '... and of a stream that has collectives already' "$T/said.t" "$T/said"
nsysx-view -q -k profile,device,communicator,range,call,op,overhead "$T/said.t" | sed '/^#end/,$d' >"$T/rest"
nsysx-view -q -k profile,device,communicator,range,call,op,overhead "$T/long.t" | sed '/^#end/,$d' >"$T/want"
same '... and nothing else of it changes' "$T/want" "$T/rest"

# ---- usage

fails 'two tables' 2 'exclude each other' nsysx-collectives --each --instances "$T/one.nsx"
fails 'the generator says which schema NCCL needs' 2 'add --schema 3.24.14' "$SYNTH" -o "$T/x" --nccl
fails 'a binary table' 2 'do not go with a table' nsysx-collectives --each -b "$T/one.nsx"
nsysx-collectives -q --instances --tsv --require collective "$T/2.24.nsx" >"$T/x" 2>&1
equal '--require: a table without rows' $? 1
done_testing
