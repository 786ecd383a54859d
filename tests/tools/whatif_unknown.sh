#!/bin/sh
# nsysx-whatif: ranges of gains where it is not known what some events waited for, of small streams in which the truth is derived beside them.
. "${0%/*}/../testlib.sh"

# Period, predicted, low and high for FILE with each CHANGE.
gains() {
	file=$T/$1
	shift
	for change; do set -- "$@" "--what=$change"; shift; done
	nsysx-whatif -q --tsv "$@" "$file" | awk -F'\t' 'NR > 2 { print $3, $4 == "" ? "-" : $4, $6, $7 }'
}
step() { awk -v "device=$1" -v "from=$2" 'BEGIN { for (k = 0; k < 8; k++) print k * 10000000 + from "\tstep\t" device "\t" k "\t" (k < 7) }'; }
# Records with their time before them, of so many devices: so many.
stream() {
	printf '#nsysx\t2\n#profile\tprofile:i\tname:s\n#device\tdevice:i\tprofile:i\tprocess:i\tlocal:i\tcuda:i\tpid:i\tknown:i\n'
	printf '#call\tprofile:i\tcall:i\tpid:i\ttid:i\tstart:i\tdur:i\tname:s\tclass:s\tops:i\tblocking:i\twaited:s\n'
	printf '#op\tprofile:i\top:i\ttype:s\tdevice:i\tstream:i\tname:s\tstart:i\tdur:i\tcall:i\ttid:i\thost_start:i\thost_dur:i\tcomm:i\tcollective:s\tcomm_id:s\n'
	printf '#step\tprofile:i\tdevice:i\tclass:s\tstep:i\tstart:i\tdur:i\tperiod:i\tremoved:i\tkept:i\tops:i\tby:s\n'
	awk -v "n=$1" 'BEGIN { for (d = 0; d < n; d++) print "profile\t" d "\tr" d
		for (d = 0; d < n; d++) print "device\t" d "\t" d "\t" d "\t0\t0\t" d + 1 "\t1" }'
	sort -n -s -k1,1 | awk -F'\t' -v OFS='\t' '
		$2 == "step" { print "step", $3, $3, "S", $4, $1, 9000000, $5 ? 10000000 : "", "", $5 ? 1 : "", 3, "step S"; next }
		$2 == "op" { $4 = n[$3]++ + 0 }
		{ sub(/^[^\t]*\t/, ""); print }'
	printf '#end\trecords:i\nend\t%d\n' "$((2 * $1 + $2))"
}

# Steps of 10 ms: A is launched, then a call waits, then B, which begins 2 ms before A, and C after it. If the call waited for A, it returned long before A
# ended: what B waited for cannot be what A waited for.
contradict() {
	awk 'function call(s, dur, name, class, ops, blocking, waited) {
			print s "\tcall\t0\t" ++c "\t1\t1\t" s "\t" dur "\t" name "\t" class "\t" ops "\t" blocking "\t" waited
		}
		function op(stream, name, s, dur, call, at) {
			print s "\top\t0\t\tkernel\t0\t" stream "\t" name "\t" s "\t" dur "\t" call "\t1\t" at "\t5000\t\t\t"
		}
		BEGIN {
			for (k = 0; k < 8; k++) {
				t = k * 10000000
				call(t, 5000, "cudaLaunchKernel", "launch", 1, "", "")
				call(t + 10000, 40000, "cudaStreamSynchronize", "sync", 0, 1, 3 * k + 1)
				call(t + 60000, 5000, "cudaLaunchKernel", "launch", 1, "", "")
				call(t + 70000, 5000, "cudaLaunchKernel", "launch", 1, "", "")
				op(13, "B", t + 100000, 900000, c - 1, t + 60000)
				op(7, "A", t + 2000000, 1000000, c - 3, t)
				op(7, "C", t + 3002000, 6900000, c, t + 70000)
			}
		}'
}
{ contradict; step 0 100000; } | stream 1 64 >"$T/contradict"
equal 'a change saves no more than what it takes away, whatever contradicts itself' "$(gains contradict faster:A=2 faster:A=inf faster:C=inf | awk '{
	most = $1 - 10000000 + (NR == 1 ? 500000 : NR == 2 ? 1000000 : 6900000)
	print ($3 >= 0 && $3 <= $4 && $4 <= most) ? "good" : $0 }' | uniq)" good
equal '... and no less than that of what the next step waits for' "$(gains contradict faster:A=2 | cut -d ' ' -f 3-)" '500000 500000'

# Of collectives whose members are not known that of device 0 takes 8 ms, within which devices 1 and 2 do other work, in so many operations, until that of
# device 1 begins, 7 ms after it. That of device 2 is over before.
members() {
	awk -v "n=$1" '
		function op(device, stream, name, s, dur, comm) {
			print s "\top\t" device "\t\tkernel\t" device "\t" stream "\t" name "\t" s "\t" dur "\t\t\t\t\t" (comm ? "1\tall-reduce\tunknown" : "0\t\t")
		}
		BEGIN {
			for (k = 0; k < 8; k++) {
				t = k * 10000000
				op(0, 7, "a", t, 1000000)
				op(0, 9, "ncclDevKernel_AllReduce", t + 1000000, 8000000, 1)
				op(0, 7, "b", t + 9000000, 900000)
				for (i = 0; i < n; i++)
					op(1, 7, "k", t + 1000000 + i * int(7000000 / n), int(7000000 / n) - 100)
				op(1, 9, "ncclDevKernel_AllReduce", t + 8000000, 500000, 1)
				op(1, 7, "b", t + 9000000, 900000)
				op(2, 7, "a", t, 500000)
				op(2, 9, "ncclDevKernel_AllReduce", t + 600000, 300000, 1)
			}
		}'
}
for n in 10 100 1000; do
	{ members $n; step 0 0; step 1 1000000; } | stream 3 $(((7 + n + 2) * 8)) >"$T/members"
	equal "a collective that may have waited for one among $n operations" "$(gains members nowait | cut -d ' ' -f 3-)" '0 3500000'
done
equal '... for that device, not for another one' "$(gains members nowait:1 nowait:2 nowait:1-2 nowait:2,nowait:1 nowait:0 | cut -d ' ' -f 3- | paste -sd, -)" \
	'0 7000000,0 0,0 7000000,0 7000000,0 0'
# Its own part takes 1 ms or more, from the start of the other to its end, and that of device 1 half one.
equal '... and is faster than it is' "$(gains members nowait:1,transfer=2 nowait,transfer=8 | cut -d ' ' -f 4 | paste -sd, -)" '7500000,4156250'
ok '... which names something' sh -c '! nsysx-whatif --what nowait:1 "$1" 2>&1 | grep "names nothing"' sh "$T/members"
# Of 80 other devices the I-th begins I us later than 7 ms, within the 8 ms of device 0 from 1 ms on.
awk 'function op(device, name, s, dur, comm) {
		print s "\top\t" device "\t\tkernel\t" device "\t" (comm ? 9 : 7) "\t" name "\t" s "\t" dur "\t\t\t\t\t" (comm ? "1\tall-reduce\tunknown" : "0\t\t")
	}
	BEGIN {
		for (t = 0; t < 80000000; t += 10000000) {
			op(0, "a", t, 1000000)
			op(0, "ncclDevKernel_AllReduce", t + 1000000, 8000000, 1)
			op(0, "b", t + 9000000, 900000)
			for (d = 1; d <= 80; d++)
				op(d, "ncclDevKernel_AllReduce", t + 7000000 + d * 1000, 100000 + d * 1000, 1)
		}
	}' >"$T/many"
{ cat "$T/many"; step 0 0; } | stream 81 $((83 * 8 + 8)) >"$T/s"
# shellcheck disable=SC2046 # words
equal '... for any of many devices' "$(gains s $(seq -f nowait:%.0f 1 80) | awk '$4 == 6000000 + NR * 1000' | wc -l)" 80

# Steps of 10 ms of a host that may wait, in no call, for X, the 5 ms of one stream, or for what another one does until 7.6 ms, so many operations.
waits() {
	awk -v "n=$1" '
		function call(s, ops) { print s "\tcall\t0\t" ++c "\t1\t1\t" s "\t5000\tcudaLaunchKernel\tlaunch\t" ops "\t\t" }
		function op(stream, name, s, dur, at) { print s "\top\t0\t\tkernel\t0\t" stream "\t" name "\t" s "\t" dur "\t" c "\t1\t" at "\t5000\t\t\t" }
		BEGIN {
			each = int(7600000 / n)
			for (t = 0; t < 80000000; t += 10000000) {
				call(t, 1)
				op(8, "X", t + 10000, 5000000, t)
				call(t + 8000, n)
				for (i = 0; i < n; i++)
					op(7, "k", t + 20000 + i * each, each - 2000, t + 8000)
			}
		}'
}
for n in 10 126 127 128 1000; do
	{ waits $n; step 0 10000; } | stream 1 $(((2 + 1 + n + 1) * 8)) >"$T/s"
	equal "a host that may have waited for one of two streams, of $((n + 1)) operations" "$(gains s faster:X=2 | cut -d ' ' -f 3-)" '0 2500000'
	left=0
	[ "$n" -lt 127 ] || left=1
	equal '... which tells whether some were left out' "$(nsysx-whatif --what faster:X=2 "$T/s" 2>&1 | grep -c 'of which some are left out')" $left
done

# Steps of 10 ms: C starts long after P; a call waits for it, and returns long before it ends, so that what is launched after that call, so many operations
# within the time before C, waits for C.
vain() {
	awk -v "n=$1" '
		function call(s, dur, name, class, ops, waited) {
			print s "\tcall\t0\t" ++c "\t1\t1\t" s "\t" dur "\t" name "\t" class "\t" ops "\t" (waited != "" ? 1 : "") "\t" waited
		}
		function op(stream, name, s, dur, call, at) {
			print s "\top\t0\t\tkernel\t0\t" stream "\t" name "\t" s "\t" dur "\t" call "\t1\t" at "\t5000\t\t\t"
		}
		BEGIN {
			for (k = 0; k < 8; k++) {
				t = k * 10000000
				call(t, 5000, "cudaLaunchKernel", "launch", 1, "")
				op(7, "P", t + 100000, 900000, c, t)
				call(t + 10000, 5000, "cudaLaunchKernel", "launch", 1, "")
				op(7, "C", t + 9000000, 500000, c, t + 10000)
				call(t + 50000, 20000, "cudaStreamSynchronize", "sync", 0, k * (n + 2) + n + 1)
				for (i = 0; i < n; i++)
					for (j = 0; j < 4; j++) {
						s = t + 1100000 + (4 * i + j) * 15000
						call(s, 5000, j ? "cudaEventRecord" : "cudaLaunchKernel", j ? "event" : "launch", j ? 0 : 1, "")
						if (!j)
							op(9, "X", s + 10000, 5000, c, s)
					}
			}
		}'
}
for n in 10 100; do
	{ vain $n; step 0 100000; } | stream 1 $(((n * 5 + 5 + 1) * 8)) >"$T/s"
	left=0
	[ "$n" -lt 100 ] || left=1
	equal "$n operations that may have been waited for by what they wait for: told if some are left out" \
		"$(nsysx-whatif --what faster:P=inf "$T/s" 2>&1 | grep -c 'as too many wait for each other')" $left
	equal '... and so is it in a diagnosis' "$(nsysx-diagnose "$T/s" 2>&1 >/dev/null | grep -c 'as too many wait for each other')" $left
done

# Steps of 10 ms, launched long before: C begins when P of its stream and N1 have ended; others of its device are late. N1 is a node of
# a graph, of which N2 begins before C does. If C waited for N1 it does not begin before N1 ends, but for a latency.
awk 'function op(node, stream, name, s, dur, call) {
		print s "\top\t0\t\tkernel\t0\t" stream "\t" name "\t" s "\t" dur "\t" call "\t1\t" call * 20000 - 1000000 "\t5000\t\t\t\t" node
	}
	BEGIN {
		for (k = 0; k < 8; k++) {
			t = k * 10000000
			for (i = 1; i <= 4; i++)
				print 20000 * (4 * k + i) - 1000000 "\tcall\t0\t" 4 * k + i "\t1\t1\t" 20000 * (4 * k + i) - 1000000 "\t5000\tcudaLaunchKernel\tlaunch\t" (i == 2 ? 2 : 1) "\t\t"
			op(1, 13, "N1", t + 50000, 949800, 4 * k + 2)
			op(2, 13, "N2", t + 999900, 500000, 4 * k + 2)
			op("", 14, "P", t + 940000, 60000, 4 * k + 1)
			op("", 14, "C", t + 1001000, 4000000, 4 * k + 3)
			op("", 14, "L", t + 6000000, 3900000, 4 * k + 4)
		}
	}' >"$T/nodes"
{ cat "$T/nodes"; step 0 940000; } | stream 1 80 | awk '{ print $0 (/^#op/ ? "\tgraph_node:i" : "") }' >"$T/s"
equal 'an operation may have waited for a node of a graph' "$(gains s faster:P=inf | cut -d ' ' -f 3-)" '0 60000'

# In steps of 10 ms two threads of a process wait, it is not known for what, for 6 ms at the same time; long before the first step, and of a process that
# launches nothing, that says nothing.
awk 'function wait(pid, tid, s, dur) { print s "\tcall\t0\t" ++c "\t" pid "\t" tid "\t" s "\t" dur "\tcudaStreamSynchronize\tsync\t0\t1\t" }
	BEGIN {
		wait(1, 2, -90000000, 80000000)
		for (k = 0; k < 8; k++) {
			t = k * 10000000
			print t "\tcall\t0\t" ++c "\t1\t1\t" t "\t5000\tcudaLaunchKernel\tlaunch\t1\t\t"
			at = c
			wait(1, 2, t + 1000000, 6000000)
			wait(1, 3, t + 1000000, 6000000)
			wait(2, 1, t + 1000000, 9000000)
			print t + 6000 "\top\t0\t\tkernel\t0\t7\tA\t" t + 6000 "\t9000000\t" at "\t1\t" t "\t5000\t\t\t"
		}
	}' >"$T/blind"
{ cat "$T/blind"; step 0 6000; } | stream 1 49 >"$T/s"
equal 'calls that wait for what is not known, of the time of the process' "$(nsysx-whatif --what faster:A=2 "$T/s" 2>&1 | grep -o 'what is not known take [0-9.]* %')" \
	'what is not known take 60.0 %'

# A change may make a step longer by what it makes longer, but no more: A takes 9 of 10 ms.
equal 'a kernel that takes ten times as long' "$(gains s faster:A=0.1 | awk '{ print ($3 <= 10000000 - 90000000 && $3 >= -90000000) }')" 1
# Steps of which most are something else: the range of what a host without work saves was beyond the period, which no job has.
make_job absurd --pipeline --processes 5
nsysx-extract -q -a -b "$T"/absurd/r*.sqlite | nsysx-align -q -b | nsysx-warmup -q -b -o "$T/absurd/s"
nsysx-whatif -q --tsv --step '.*' "$T/absurd/s" >"$T/out"
equal 'no range is beyond the period' "$(awk -F'\t' 'NR > 2 && $6 != "" && ($6 < -$3 || $7 > $3)' "$T/out")" ''
equal '... but empty' "$(awk -F'\t' '$1 == "host=inf" { print $4 "," $5 "," $6 "," $7 }' "$T/out")" ,,,
equal '... while others are known' "$(awk -F'\t' 'NR > 2 && $6 != "" { n++ } END { print (n >= 5) }' "$T/out")" 1
fails '... alone it is no forecast' 1 'no forecasts: ' nsysx-whatif --step '.*' --what host=inf "$T/absurd/s"

# A straggler, of which the host is not known. What a change saves does not depend on whether communicators are known, or found by what ends together.
make_job straggler --sim straggler
nsysx-extract -q --ops --ranges "$T/straggler/r.sqlite" | nsysx-view >"$T/known"
awk -F'\t' -v OFS='\t' '$1 == "#op" { for (i = 1; i <= NF; i++) if ($i == "comm_id:s") at = i }
	$1 == "op" && $at != "" { $at = "unknown" } { print }' "$T/known" >"$T/guessed"
gains known nowait | cut -d ' ' -f 4 >"$T/high"
equal 'a guessed communicator makes a change save no more' "$(gains guessed nowait | cut -d ' ' -f 4)" "$(cat "$T/high")"
ok '... which it does' awk '{ high = $1 } END { exit !(high > 0) }' "$T/high"
equal '... and perhaps nothing' "$(gains guessed nowait | awk '{ print ($3 <= 0) }')" 1
done_testing
