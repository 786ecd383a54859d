#!/bin/sh
# nsysx-pgle: costs by fingerprint, decoded by protoc with a separate description of the format.
. "${0%/*}/../testlib.sh"

# "name cost" of a file, the cost in microseconds.
costs() {
	protoc -I pgle --encode=Costs pgle/costs.proto <"$1" | protoc -I pgle --decode=Costs pgle/costs.proto |
		awk '/name:/ { name = $2 } /cost_us:/ { cost = $2 } /^}/ { printf "%s %.3f\n", name, cost; cost = 0 }' | sort
}

# Two profiles. Program 0 is f0 in the first and f1 in the second; 1 has f0 as well; 2 has none; that of 3 is not a file name.
{
	printf '#nsysx\t2\n#program\tprogram:i\tid:i\tname:s\tfingerprint:s\tkey:s\n'
	printf 'program\t0\t1\tstep\tf0\tstep@1\nprogram\t1\t2\tagain\tf0\tagain@2\nprogram\t2\t3\tbare\t\tbare@3\nprogram\t3\t4\tevil\t../f2\tevil@4\n'
	printf '#alias\tprofile:i\tprogram:i\tid:i\tfingerprint:s\n'
	printf 'alias\t0\t0\t1\tf0\nalias\t1\t0\t1\tf1\nalias\t1\t1\t2\t\n'
	printf '#inst\tprogram:i\tinst:i\tname:s\topcode:s\tcomm:i\tscheduling_name:s\n'
	printf 'inst\t0\t0\tfusion.1\tfusion\t\t\ninst\t0\t1\tall-reduce-start\tall-reduce-start\t1\tall-reduce-start.7\n'
	printf 'inst\t0\t2\tcommand_buffer\t\t\t\ninst\t0\t3\tidle.1\tadd\t\t\ninst\t0\t4\t"q\\\\"\tadd\t\t\ninst\t0\t5\tbroken\tadd\t\t\n'
	printf 'inst\t1\t0\tfusion.1\tfusion\t\t\ninst\t1\t1\tother\tadd\t\t\ninst\t2\t0\tx\tadd\t\t\ninst\t3\t0\tx\tadd\t\t\n'
	printf '#thunk\tprofile:i\tprogram:i\texecution:i\tdevice:i\tinst:i\tname:s\tstart:i\tdur:i\thidden:i\tcomm:i\n'
	awk -v OFS='\t' '{ print "thunk", $1, $2, 1, $1, $3, "n", NR, $4 == "-" ? "" : $4, $5, $6 }' <<'END'
0 0 0 12500 0 0
0 0 0 13000 0 0
0 0 1 7000 6999 1
0 0 1 9001 0 1
0 0 2 5 0 0
0 0 4 1000 0 0
0 0 5 - 0 0
1 0 0 200 0 0
1 0 1 100 0 1
1 1 0 12400 0 0
1 1 1 0 0 0
0 2 0 5 0 0
0 3 0 5 0 0
0 9 9 5 0 0
END
	printf '#end\trecords:i\nend\t0\n'
} >"$T/s"
nsysx-pgle --max -d "$T/out" "$T/s" >"$T/stdout" 2>"$T/err"
equal 'a stream is accepted' "$? $(cat "$T/stdout")" '0 '
equal 'a file for each fingerprint' "$(ls "$T/out" | tr '\n' ' ')" 'f0.pbtxt f1.pbtxt '
ok '... and no other files' test ! -e "$T/f2.pbtxt"
# The minimum of computation, over both programs of f0; with --max the maximum of communication, including hidden time; scheduling names.
equal 'costs of a fingerprint' "$(costs "$T/out/f0.pbtxt" | tr '\n' ';')" \
	'"\"q\\\"" 1.000;"all-reduce-start.7" 9.001;"fusion.1" 12.400;"other" 0.000;'
equal 'each profile uses its fingerprint' "$(costs "$T/out/f1.pbtxt" | tr '\n' ';')" '"all-reduce-start.7" 0.100;"fusion.1" 0.200;'
equal 'the text of a file' "$(sed -n 2p "$T/out/f0.pbtxt")" 'costs { name: "all-reduce-start.7" cost_us: 9.001 }'
equal 'instructions without a cost are counted' "$(grep -c 'step@1: 3 of 6 instructions have a cost; 1 did not run in this stream; 1 are no instructions in the dump; 1 have no duration$' "$T/err")" 1
equal 'a program without such instructions is not reported' "$(grep -c 'again@2' "$T/err")" 0
equal '... except with -v' "$(nsysx-pgle -v -d "$T/out2" "$T/s" 2>&1 | grep -c 'again@2: 2 of 2 instructions have a cost')" 1
equal 'programs without a fingerprint' "$(grep -c 'programs without a fingerprint' "$T/err")" 1
equal 'a fingerprint that is a path' "$(grep -c 'cannot be file names' "$T/err")" 1
equal 'executions of unknown instructions' "$(grep -c 'have no record' "$T/err")" 1
equal 'with communication and no compilation execution 1 is steady' "$(grep -c initialisation "$T/err")" 0
sed 's/^thunk	1	0	1/thunk	1	0	0/' "$T/s" | nsysx-pgle -d "$T/out2" 2>"$T/err"
equal '... execution 0 is initialisation' "$(grep -c 'times include executions of initialisation: .*(2)$' "$T/err")" 1
nsysx-view -b -z "$T/s" | nsysx-pgle -q --max -d "$T/binary"
same 'binary gives the same as text' "$T/binary/f0.pbtxt" "$T/out/f0.pbtxt"
printf 'old' >"$T/out/f1.pbtxt"
nsysx-pgle -q --max -d "$T/out" "$T/s"
same 'old files are replaced' "$T/out/f1.pbtxt" "$T/binary/f1.pbtxt"

# ---- instructions that XLA asks for and that never ran ----

# stream FINGERPRINT THUNK...: executions of the program that pgle/step.textproto spells, "INST DUR COMM" each.
stream() {
	printf '#nsysx\t2\n#program\tprogram:i\tid:i\tname:s\tfingerprint:s\tkey:s\nprogram\t0\t1\tjit_step\t%s\tjit_step@1\n' "$1"
	printf '#inst\tprogram:i\tinst:i\tname:s\topcode:s\tcomm:i\tscheduling_name:s\n'
	printf 'inst\t0\t0\tfusion.2\tfusion\t0\t\ninst\t0\t1\twrapped.4\tfusion\t1\t\ninst\t0\t2\treduce-scatter.23\treduce-scatter\t1\t\n'
	printf 'inst\t0\t3\tcommand_buffer\t\t0\t\ninst\t0\t4\tuntimed.15\tcopy\t0\t\ninst\t0\t5\tfusion.3\tfusion\t0\tfusion.33\n'
	printf '#thunk\tprofile:i\tprogram:i\texecution:i\tdevice:i\tinst:i\tname:s\tstart:i\tdur:i\thidden:i\tcomm:i\n'
	shift
	for thunk in "$@"; do
		echo "$thunk"
	done | awk -v OFS='\t' '{ print "thunk", 0, 0, 1, 0, $1, "n", NR, $2 == "-" ? "" : $2, 0, $3 }'
	printf '#end\trecords:i\nend\t0\n'
}
mkdir "$T/dumps"
protoc -I pgle --encode=Dump pgle/dump.proto <pgle/step.textproto >"$T/dumps/module_0001.jit_step.sm_9.0_gpu_after_optimizations.hlo.pb"
stream f0 '0 7000 0' '1 12000 1' '1 15000 1' '2 9000 1' '4 - 0' >"$T/s"
nsysx-pgle -v -d "$T/full" --complete "$T/dumps" "$T/s" 2>"$T/err"
equal '--complete: a start has the cost of its instruction, one that did not run 0, a collective that did not run none' \
	"$(costs "$T/full/f0.pbtxt" | tr '\n' ';')" "$(printf '"%s" %s;' allocate.14 0.000 done.13 0.000 done.6 0.000 fusion.2 7.000 fusion.33 0.000 less.22 0.000 \
		reduce-scatter.23 9.000 start.10 9.000 start.12 0.000 start.5 15.000 wrapped.24 0.000 wrapped.4 15.000)"
equal 'their numbers are reported' "$(grep -c -e 'jit_step: instructions that did not run: cost 0 (7)' -e 'jit_step: starts cost the time of the work in them (2)' "$T/err")" 2
nsysx-pgle -q -d "$T/part" "$T/s"
equal 'without --complete there are only instructions that ran' "$(costs "$T/part/f0.pbtxt" | cut -d' ' -f1 | tr '\n' ' ')" '"fusion.2" "reduce-scatter.23" "wrapped.4" '
stream f0 '0 7000 0' '3 600 0' '3 34 0' '5 1 0' >"$T/s"
nsysx-pgle -d "$T/full" --complete "$T/dumps" "$T/s" 2>"$T/err"
equal 'with time in command buffers no costs are added' "$(costs "$T/full/f0.pbtxt" | tr '\n' ';')" '"fusion.2" 7.000;"fusion.33" 0.001;'
equal '... a warning' "$(grep -c 'jit_step@1: not completed: 634 ns are in command buffers' "$T/err")" 1
stream f0 '0 7000 0' '3 0 0' >"$T/s"
nsysx-pgle -q -d "$T/full" --complete "$T/dumps" "$T/s"
equal 'a command buffer without time is ignored' "$(grep -c 'less.22' "$T/full/f0.pbtxt")" 1
stream f7 '0 7000 0' >"$T/s"
nsysx-pgle -d "$T/other" --complete "$T/dumps" "$T/s" 2>"$T/err"
equal 'dumps of another fingerprint add nothing' "$(costs "$T/other/f7.pbtxt" | tr '\n' ';')" '"fusion.2" 7.000;'
equal '... a warning' "$(grep -c "not completed: no dump of their fingerprint in $T/dumps" "$T/err")" 1
mkdir "$T/none"
for order in "$T/none $T/dumps" "$T/dumps $T/none"; do
	# shellcheck disable=SC2086  # folders
	set -- $order
	stream f0 '0 7000 0' '1 12000 1' '1 15000 1' '2 9000 1' '4 - 0' >"$T/s"
	nsysx-pgle -d "$T/several" --complete "$1" --complete "$2" "$T/s" 2>"$T/err"
	nsysx-pgle -q -d "$T/single" --complete "$T/dumps" "$T/s"
	same 'of several folders the one that has the dump completes' "$T/single/f0.pbtxt" "$T/several/f0.pbtxt"
	equal '... without a warning' "$(grep -c 'not completed' "$T/err")" 0
done
stream f7 '0 7000 0' >"$T/s"
equal '... a warning names them all' "$(nsysx-pgle -d "$T/several" --complete "$T/none" --complete "$T/dumps" "$T/s" 2>&1 | grep -c "no dump of their fingerprint in $T/none, $T/dumps")" 1
fails 'a folder of dumps that is not there' 1 "$T/absent" nsysx-pgle -d "$T/left" --complete "$T/absent" "$T/s"
ok '... writes nothing' test ! -e "$T/left"
echo 'no dump' >"$T/dumps/module_0002.jit_bad.sm_9.0_gpu_after_optimizations.hlo.pb"
fails 'an invalid dump' 1 "jit_bad" nsysx-pgle -d "$T/left" --complete "$T/dumps" "$T/s"

# ---- a job with a known schedule ----
if [ -x "$SYNTH" ] && "$SYNTH" -o "$T/job" && [ -d "$T/job/dump0" ]; then
	nsysx-extract -q -x "$T/job/dump0" -o "$T/job.nsysx" "$T/job/r0.sqlite"
	nsysx-warmup -q "$T/job.nsysx" | nsysx-pgle --max -d "$T/job.out" 2>"$T/err"
	equal 'after warm-up no initialisation is reported' "$(grep -c initialisation "$T/err")" 0
	nsysx-pgle -d "$T/cold.out" "$T/job.nsysx" 2>"$T/err"
	equal 'without it there is a warning' "$(grep -c 'times include executions of initialisation' "$T/err")" 1
	fingerprint=$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["profile"] == "r0" && $at["name"] == "jit_train_step" { print $at["fingerprint"] }' "$T/job/answers/programs.tsv")
	ok 'the file exists' test -s "$T/job.out/$fingerprint.pbtxt"
	# Steady executions of the step are those above 1: it is compiled, and communicates.
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["profile"] == "r0" && $at["program_id"] == 40 && $at["execution"] > 1 {
			n = $at["name"]; d = $at["dur"]
			if (!(n in cost) || ($at["comm"] == 1 ? d > cost[n] : d < cost[n])) cost[n] = d }
		END { for (n in cost) printf "\"%s\" %.3f\n", n, cost[n] / 1000 }' "$T/job/answers/thunks.tsv" | sort >"$T/known"
	costs "$T/job.out/$fingerprint.pbtxt" >"$T/got"
	ok 'the schedule has instructions' test -s "$T/known"
	same 'costs equal the schedule' "$T/got" "$T/known"
	nsysx-warmup -q "$T/job.nsysx" | nsysx-pgle -q --max -d "$T/whole.out" --complete "$T/job/dump0"
	costs "$T/whole.out/$fingerprint.pbtxt" >"$T/whole"
	same 'completed files have the same costs' "$(awk 'NR == FNR { ran[$1]; next } $1 in ran' "$T/known" "$T/whole" >"$T/ran"; echo "$T/ran")" "$T/known"
	equal 'added costs are 0 or that of the work in them' "$(awk 'NR == FNR { cost[$2]; next } !($2 in cost) && $2 != "0.000"' "$T/known" "$T/whole")" ''
else
	skip 'costs equal the schedule' 'there is no nsysx-synth that writes dumps'
fi

# ---- transfers ----

# Two devices of one profile execute all-reduce.1 four times: "EXECUTION DEVICE START DUR". From the last start to the
# last end that is 40, 90, 70 and 300; the lower one of the two in the middle is 70. Device 0 waits for 25, 0, 30, 5.
transfers() {
	printf '#nsysx\t2\n#profile\tprofile:i\tname:s\n'
	for profile in $1; do
		printf 'profile\t%s\tr%s\n' "$profile" "$profile"
	done
	printf '#device\tdevice:i\tprofile:i\ndevice\t0\t0\ndevice\t1\t%s\n' "${1##* }"
	printf '#program\tprogram:i\tid:i\tname:s\tfingerprint:s\tkey:s\nprogram\t0\t1\tstep\tf0\tstep@1\n'
	printf '#inst\tprogram:i\tinst:i\tname:s\topcode:s\tcomm:i\tcollective:s\tbytes:i\n'
	printf 'inst\t0\t0\tall-reduce.1\tall-reduce\t1\tall-reduce\t1024\n'
	printf '#thunk\tprofile:i\tprogram:i\texecution:i\tdevice:i\tinst:i\toccurrence:i\tname:s\tstart:i\tdur:i\tcomm:i\n'
	awk -v OFS='\t' -v last="${1##* }" '{ print "thunk", $2 ? last : 0, 0, $1, $2, 0, 0, "all-reduce.1", $3, $4, 1 }' <<'END'
1 0 1000 65
1 1 1025 39
2 1 1970 115
2 0 2000 90
3 0 3000 100
3 1 3030 60
4 0 4000 304
4 1 4005 300
END
	printf '#end\trecords:i\nend\t0\n'
}
transfers 0 >"$T/t"
nsysx-pgle -d "$T/t.out" "$T/t" 2>"$T/err"
equal 'a collective costs the median of its transfers' "$(costs "$T/t.out/f0.pbtxt")" '"all-reduce.1" 0.070'
equal '... without a message' "$(cat "$T/err")" ''
nsysx-pgle -q --max -d "$T/t.out" "$T/t"
equal '--max: its longest duration' "$(costs "$T/t.out/f0.pbtxt")" '"all-reduce.1" 0.304'
nsysx-collectives -q "$T/t" | nsysx-pgle -q -d "$T/t.out"
equal 'with the records of nsysx-collectives it is the same' "$(costs "$T/t.out/f0.pbtxt")" '"all-reduce.1" 0.070'
# Clocks of two profiles say nothing of each other: the shortest records are 39, 90, 60, 300.
transfers '0 1' | nsysx-pgle -v -d "$T/t.out" 2>"$T/err"
equal 'on clocks that were not compared it is the median of the shortest records' "$(costs "$T/t.out/f0.pbtxt")" '"all-reduce.1" 0.060'
equal '... a message' "$(grep -c 'clocks that were not compared: their cost is the shortest record; .* (4)$' "$T/err")" 1
# The processes compiled it with different fingerprints: an instance is one of both.
transfers '0 1' | awk '{ print } /^program/ { printf "#alias\tprofile:i\tprogram:i\tid:i\tfingerprint:s\nalias\t0\t0\t1\tf0\nalias\t1\t0\t1\tf1\n" }' >"$T/apart"
nsysx-pgle -v -d "$T/apart.out" "$T/apart" 2>"$T/err"
equal 'a transfer is that of each fingerprint that takes part' "$(costs "$T/apart.out/f0.pbtxt") $(costs "$T/apart.out/f1.pbtxt")" '"all-reduce.1" 0.060 "all-reduce.1" 0.060'
equal '... counted once' "$(grep -c 'their cost is the shortest record; .* (4)$' "$T/err")" 1
# All but the first thunk of execution 4 and those of device 1.
grep -v '^thunk.*	1	0	0	all-reduce' "$T/t" | nsysx-pgle -d "$T/t.out" 2>"$T/err"
equal 'of a device alone it is the median of its durations' "$(costs "$T/t.out/f0.pbtxt")" '"all-reduce.1" 0.090'
equal '... a warning' "$(grep -c 'warning: executions of collectives of whose devices the stream has one: their cost includes waiting (4)$' "$T/err")" 1
if [ -x "$SYNTH" ] && "$SYNTH" -q -o "$T/two" --processes=1 --devices=2 --steps=8; then
	nsysx-extract -q -x "$T/two/dump0" "$T/two/r0.sqlite" | nsysx-warmup -q | nsysx-pgle -q -d "$T/two.out"
	fingerprint=$(awk -F'\t' '$3 == "jit_train_step" || $2 == 40 { print $7; exit }' "$T/two/answers/programs.tsv")
	costs "$T/two.out/$fingerprint.pbtxt" >"$T/got"
	# Of steady executions, from the answers: by name the transfers of instances, sorted, and the middle one.
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["program_id"] == 40 && $at["execution"] > 1 {
			n = $at["name"]; k = n "\t" $at["instance"]; s = $at["start"]; e = s + $at["dur"]
			if (!(k in last) || s > last[k]) last[k] = s
			if (!(k in end) || e > end[k]) end[k] = e }
		END { for (k in last) { split(k, p, "\t"); print p[1] "\t" end[k] - last[k] } }' "$T/two/answers/collectives.tsv" |
		sort -t'	' -k1,1 -k2,2n | awk -F'\t' 'function put() { if (n) printf "\"%s\" %.3f\n", was, v[int((n + 1) / 2)] / 1000 }
			$1 != was { put(); was = $1; n = 0 } { v[++n] = $2 } END { put() }' | sort >"$T/known"
	ok 'a generated job has collectives' test -s "$T/known"
	awk 'NR == FNR { want[$1]; next } $1 in want' "$T/known" "$T/got" >"$T/collectives"
	same 'their costs are the medians of the answers' "$T/collectives" "$T/known"
	nsysx-extract -q -x "$T/two/dump0" "$T/two/r0.sqlite" | nsysx-warmup -q | nsysx-pgle -q --max -d "$T/two.max"
	costs "$T/two.max/$fingerprint.pbtxt" >"$T/most"
	equal '... none more than with --max, and some less' "$(awk 'NR == FNR { most[$1] = $2; next }
		$2 > most[$1] { bad = 1 } $2 < most[$1] { less = 1 } END { print bad + 0, less + 0 }' "$T/most" "$T/known")" '0 1'
fi

# ---- empty results, and refusals ----
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
ok 'a stream without thunks' nsysx-pgle -d "$T/none" "$T/empty"
equal '... writes no file' "$(ls "$T/none" | wc -l)" 0
equal '... a warning' "$(cat "$T_private/err")" "nsysx-pgle: warning: no thunk records, which come from XLA's NVTX ranges: nothing to write a profile of"
sed '$d' "$T/s" >"$T/cut"
fails 'a stream that was cut short' 1 'cut short' nsysx-pgle -d "$T/left" "$T/cut"
ok '... writes nothing' test ! -e "$T/left"
ok '... is accepted with --partial' nsysx-pgle --partial -d "$T/left" "$T/cut"
: >"$T/file"
fails 'a folder that is a file' 1 "$T/file" nsysx-pgle -d "$T/file" "$T/s"
fails 'a folder in one that is not there' 1 "$T/no/where: No such file" nsysx-pgle -d "$T/no/where" "$T/s"
fails 'no folder' 2 '--dir is needed' nsysx-pgle "$T/s"
fails 'two streams' 2 'one FILE at most' nsysx-pgle -d "$T/out" "$T/s" "$T/s"
done_testing
