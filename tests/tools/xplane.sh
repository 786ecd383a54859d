#!/bin/sh
# XSpaces (xplane.pb): a planted profile of a program on a GPU, whose executions, instructions and calls are known.
. "${0%/*}/../testlib.sh"

# space.py FILE [CPU]: a profile of jit_f(7): 3 executions, each fusion.1 twice with dot.2 between, and a copy by the runtime.
cat >"$T/space.py" <<'END'
import sys

def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])

def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value) if value else b""
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value

names = {}
def named(text):
    return names.setdefault(text, len(names) + 1)

def stats(number, given):
    return b"".join(field(number, field(1, named(k)) + (field(4, v) if isinstance(v, int) else field(7, named(v)))) for k, v in given.items())

events = {}
def event(name, start, dur, **given):
    return field(4, field(1, events.setdefault(name, len(events) + 1)) + field(2, start * 1000 + 7) + (field(3, dur * 1000 + 1) if dur else b"") + stats(4, given))

def line(number, name, *what):
    return field(3, field(1, number) + field(2, name) + field(3, 1000) + b"".join(what))

def plane(name, lines, more=b""):
    metas = b"".join(field(4, field(1, i) + field(2, field(1, i) + field(2, n))) for n, i in events.items())
    kinds = b"".join(field(5, field(1, i) + field(2, field(1, i) + field(2, n))) for n, i in names.items())
    return field(1, field(2, name) + lines + metas + kinds + more)

gpu, calls, marks = [], [], []
n = 0
for run in range(3):
    at = run * 100000
    marks.append(event("jit_f:XLA GPU module", at, 50000))
    for k, op in enumerate(("fusion.1", "dot.2", "fusion.1", "")):
        n += 1
        calls.append(event("cuMemcpyDtoDAsync" if not op else "cuLaunchKernelEx", at + 1000 + 5000 * k, 2000, correlation_id=n))
        if op:
            gpu.append(event("kernel_" + op, at + 10000 + 10000 * k, 8000, correlation_id=n, hlo_op=op, hlo_module="jit_f", program_id=7, kernel_details="regs:1"))
        else:
            gpu.append(event("MemcpyD2D", at + 10000 + 10000 * k, 8000, correlation_id=n, memcpy_details="kind_src:device kind_dst:pinned size:64 dest:0 async:1"))
marks.append(event("train", 0, 300000, _r=1, step_num=5))
marks.append(event("$train.py:1 f", 0, 300000))
space = plane("/host:CPU", line(71, "Host Threads/71", *calls) + line(-5, "py_xla_execute/-5", *marks))
space += plane("/device:GPU:0", line(13, "Stream #13(Kernel)", *gpu) + line(9, "XLA Ops", event("fusion.1", 0, 900)), stats(6, {"core_count": 132, "clock_rate": 1980000}))
space += plane("Task Environment", b"", stats(6, {"profile_start_time": 1700000000000000000}))
open(sys.argv[1], "wb").write(space)
END
python3 "$T/space.py" "$T/job.xplane.pb" || exit 1
nsysx-extract -q -a -o "$T/s" "$T/job.xplane.pb"
# column KIND NAME...: columns of the records of a kind.
column() {
	kind=$1
	shift
	nsysx-view -q -t "$kind" "$T/s" | awk -F'\t' -v want="$*" '
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
equal 'calls on the thread that TraceMes are matched with' "$(column call tid class | sort | uniq -c | awk '{ print $1, $2, $3 }' | tr '\n' ' ')" '3 71 copy 9 71 launch '
equal 'an annotation with its step' "$(column range kind name | grep annotation)" 'annotation train#5'
equal 'Python functions only on request' "$(nsysx-extract -q -a --python "$T/job.xplane.pb" | grep -c 'train.py:1 f') $(grep -c 'train.py:1 f' "$T/s")" '1 0'
nsysx-prepare -q -o "$T/job.nsysx" "$T/job.xplane.pb"
equal 'it takes two commands, as for a report: an execution each 100 us, of 24 us of kernels and a copy of 8' \
	"$(nsysx-diagnose -q --tsv --where "$T/job.nsysx" | awk -F'\t' '$1 == "step" || $1 == "compute" || $1 == "copy" { print $1, $6 }' | tr '\n' ' ')" 'step 100000 compute 24000 copy 8000 '
gzip -k "$T/job.xplane.pb"
nsysx-extract -q -a "$T/job.xplane.pb.gz" >"$T/got"
same 'gzip gives the same' "$T/s" "$T/got"
cat "$T/job.xplane.pb" "$T/job.xplane.pb" >"$T/two.xplane.pb"
equal 'two spaces in one file are one' "$(nsysx-extract -q -a "$T/two.xplane.pb" | nsysx-view -q -t op | wc -l | tr -d ' ')" 25
size=$(wc -c <"$T/job.xplane.pb")
for cut in 1 2 10 100 500 1000 $((size / 2)) $((size - 100)) $((size - 1)); do
	head -c "$cut" "$T/job.xplane.pb" >"$T/cut.xplane.pb"
	rm -f "$T/got"
	nsysx-extract -q -a -o "$T/got" "$T/cut.xplane.pb" 2>"$T/err"
	equal "cut at byte $cut: refused, nothing written" "$? $([ -e "$T/got" ] && echo a file) $(grep -c 'cut.xplane.pb' "$T/err")" '1  1'
done
done_testing
