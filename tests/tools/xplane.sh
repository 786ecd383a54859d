#!/bin/sh
# XSpaces (xplane.pb): a planted profile of a program on a GPU, whose executions, instructions and calls are known.
. "${0%/*}/../testlib.sh"

# plant NAME [MODE]: see xplane/space.py.
plant() {
	python3 xplane/space.py "$T/$1.xplane.pb" ${2+"$2"} ${3+"$3"} || exit 1
}
plant job
nsysx-extract -q -a -o "$T/s" "$T/job.xplane.pb"
# column KIND NAME...: columns of the records of a kind, in $s.
s=$T/s
column() {
	kind=$1
	shift
	nsysx-view -q -t "$kind" "$s" | awk -F'\t' -v want="$*" '
		NR == 1 { n = split(want, name, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ for (k = 1; k <= n; k++) printf "%s%s", $(at[name[k]]), k < n ? " " : "\n" }'
}
equal 'time counts from the start of the profile' "$(column profile name start_utc)" 'job 1700000000000000000'
equal 'the GPU as the profile has it' "$(column device local sms clock)" '0 132 1980000000'
equal 'operations of streams only' "$(column op type | sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ' ')" '9 kernel 3 memcpy '
equal 'times are whole ns' "$(column op start dur | head -n 1)" '11000 8000'
equal 'a copy of the runtime is no part of the program' "$(column op type program bytes src dst | sort -u | grep memcpy)" 'memcpy  64 device pinned'
equal 'executions' "$(column module name start dur thunks | tr '\n' ' ')" 'jit_f 11000 28000 3 jit_f 111000 28000 3 jit_f 211000 28000 3 '
equal 'instructions' "$(column thunk name start | head -n 3 | tr '\n' ' ')" 'fusion.1 11000 dot.2 21000 fusion.1 31000 '
equal 'what instructions are, from the HLO in the profile' "$(column inst name opcode op_name | tr '\n' ' ')" 'dot.2 dot jit(f)/dot fusion.1 fusion jit(f)/mul '
equal 'calls on the thread that TraceMes are matched with' "$(column call tid class | sort | uniq -c | awk '{ print $1, $2, $3 }' | tr '\n' ' ')" '3 71 copy 9 71 launch '
equal 'an annotation with its step' "$(column range kind name | grep annotation)" 'annotation train#5'
equal 'Python functions only on request' "$(nsysx-extract -q -a --python "$T/job.xplane.pb" | grep -c 'train.py:1 f') $(grep -c 'train.py:1 f' "$T/s")" '1 0'
mkdir "$T/far"
for mode in '' cross trouble; do
	plant job "$mode"
	plant far/job "$mode" far
	equal "ids of metadata may be any numbers${mode:+: $mode}" "$(nsysx-extract -a "$T/far/job.xplane.pb" 2>&1 | sed "s,$T/far,$T," | cksum)" \
		"$(nsysx-extract -a "$T/job.xplane.pb" 2>&1 | cksum)"
done
plant job
# Operations have the numbers that the profile gives them, and are referred to by these.
plant start start
equal 'a start awaits what was issued before it' "$(nsysx-extract -q -a "$T/start.xplane.pb" | nsysx-view -q -t op | awk -F'\t' '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ name[$(at["op"])] = $(at["name"]) " " $(at["start"]) }
	$(at["after"]) != "" { printf "%s after %s;", $(at["name"]) " " $(at["start"]), name[$(at["after"])] }')" \
	'ncclDevKernel_AllReduce 29000 after kernel_dot.2 21000;ncclDevKernel_AllReduce 129000 after kernel_dot.2 121000;ncclDevKernel_AllReduce 229000 after kernel_dot.2 221000;'
nsysx-prepare -q -o "$T/job.nsysx" "$T/job.xplane.pb"
equal 'it takes two commands, as for a report: an execution each 100 us, of 24 us of kernels and a copy of 8' \
	"$(nsysx-diagnose -q --tsv --where "$T/job.nsysx" | awk -F'\t' '$1 == "step" || $1 == "compute" || $1 == "copy" { print $1, $6 }' | tr '\n' ' ')" 'step 100000 compute 24000 copy 8000 '
gzip -k "$T/job.xplane.pb"
nsysx-extract -q -a "$T/job.xplane.pb.gz" >"$T/got"
same 'gzip gives the same' "$T/s" "$T/got"
fails 'what unpacks to more than asked is refused' 1 '--max-unpacked sets the limit' nsysx-extract -q --max-unpacked 1000 "$T/job.xplane.pb.gz"
cat "$T/job.xplane.pb" "$T/job.xplane.pb" >"$T/two.xplane.pb"
equal 'two spaces in one file are one' "$(nsysx-extract -q -a "$T/two.xplane.pb" | nsysx-view -q -t op | wc -l | tr -d ' ')" 25
# Operations of two programs by turns, which no TraceMe holds.
plant cross cross
nsysx-extract -q -a -o "$T/cross" "$T/cross.xplane.pb"
s=$T/cross
equal 'instructions of two programs by turns are of their programs' "$(column inst program name opcode | tr '\n' ' ')" \
	'0 dot.2  0 fusion.1  1 add.3 add 1 dot.9 dot '
equal 'each turn is an execution' "$(column module name start thunks | tr '\n' ' ')" 'jit_f 11000 1 jit_g 21000 1 jit_f 31000 1 jit_g 41000 1 jit_f 51000 1 '
equal 'calls of a thread whose number is none' "$(column op call | sort -u | tr '\n' ' ')" '0 1 2 3 4 '
# diags NAME TEXT: how many of that text.
diags() {
	nsysx-extract -q -a "$T/$1.xplane.pb" | nsysx-view -q -t diag | awk -F'\t' -v text="$2" 'index($3, text) { print $4 }'
}
# The copy of the runtime belongs to no range.
plant nvtx nvtx
equal 'ranges of NVTX have their domains and reach the calls of their thread' "$(nsysx-extract -q -a "$T/nvtx.xplane.pb" | nsysx-view -q -t range | awk -F'\t' '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$(at["domain"]) == "mine" || $(at["name"]) ~ /at::/ { print $(at["domain"]) "," $(at["name"]) "," $(at["kind"]) "," $(at["start"]) "," $(at["dur"]) "," $(at["tid"]) }' | sort | tr '\n' ' ')" \
	',at::add,,111000,8000,71 mine,load:1,,111000,28000,71 '
equal 'XLA'"'"'s own are counted, and no second executions' "$(diags nvtx 'repeat what operations tell') $(nsysx-extract -q -a "$T/nvtx.xplane.pb" | grep -c '^module	')" '1 3'
# A domain has a number of 16 bits: the first 65,534 of a profile have one, beside none and XLA's own.
plant crowd crowd
nsysx-extract -q -a -o "$T/crowd" "$T/crowd.xplane.pb"
equal 'ranges of more domains than there is room for keep them in their names' "$(nsysx-view -q -t range "$T/crowd" | awk -F'\t' '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$(at["domain"]) ~ /^domain/ { with++ } $(at["name"]) ~ /^domain.*:part/ { without++ } $(at["name"]) == "late" { late = $(at["domain"]) }
	END { print with, without, late }')" '65535 466 domain7'
equal '... which is said' "$(diags crowd 'NVTX ranges taken as without a domain')" 466
equal 'a program without HLO is counted' "$(diags cross 'executed programs without HLO in the profile')" 1
equal 'operations without their execution are counted' "$(diags cross 'whose execution is not in the profile')" 5
# No calls.
plant alone alone
nsysx-extract -q -a -o "$T/alone" "$T/alone.xplane.pb"
s=$T/alone
equal 'without calls a program is one execution, a series of an instruction a thunk' "$(column module name start dur thunks)" 'jit_f 11000 228000 7'
equal 'operations of programs without calls are counted' "$(diags alone 'operations of programs whose call is not')" 9
equal 'and those of none' "$(diags alone 'copies whose call is not')" 3
# On a CPU.
plant cpu cpu
nsysx-extract -q -a -o "$T/cpu" "$T/cpu.xplane.pb"
s=$T/cpu
equal 'a loop on a CPU is no operation, what it holds is' "$(column thunk name start dur | tr '\n' ' ')" 'fusion.1 2000 900 dot.2 3000 900 '
equal 'a device has its number in the job where an execution names it' "$(column device device local known)" '6 0 1'
equal 'and so is that they ran on a CPU' "$(diags cpu 'instructions that ran on a CPU')" 2
equal 'the loop is counted' "$(diags cpu 'they hold others')" 1
equal 'the device is no GPU' "$(column device name)" CPU
# What is lost.
plant trouble trouble
for claim in 'a time is negative or too large' 'whose program is not in the profile' 'devices that are not supported' 'of no known kind' 'without the number of a node' 'profiler: lost on HOST'; do
	equal "counted: $claim" "$(diags trouble "$claim")" 1
done
equal 'the name of the host in a warning of the profiler only with --host' "$(nsysx-extract -q -a "$T/trouble.xplane.pb" | grep -ac node17) \
$(nsysx-extract -q -a --host "$T/trouble.xplane.pb" | nsysx-view -q -t diag | grep -c 'lost on node17')" '0 1'
cat "$T/job.xplane.pb" "$T/trouble.xplane.pb" >"$T/starts.xplane.pb"
equal 'profiles of different starts in one file are counted' "$(diags starts 'started at another time')" 1
plant before before
equal 'a start before 1970 is none' "$(diags before 'profiles that do not say when they started') $(nsysx-extract -q -a "$T/before.xplane.pb" | nsysx-view -q -t op | wc -l | tr -d ' ')" '1 13'
size=$(wc -c <"$T/job.xplane.pb")
for cut in 1 2 10 100 500 1000 $((size / 2)) $((size - 100)) $((size - 1)); do
	head -c "$cut" "$T/job.xplane.pb" >"$T/cut.xplane.pb"
	rm -f "$T/got"
	nsysx-extract -q -a -o "$T/got" "$T/cut.xplane.pb" 2>"$T/err"
	equal "cut at byte $cut: refused, nothing written" "$? $([ -e "$T/got" ] && echo a file) $(grep -c 'cut.xplane.pb' "$T/err")" '1  1'
done
done_testing
