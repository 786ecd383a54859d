#!/bin/sh
# nsysx-compare by step, range and kernel: synthetic jobs without XLA with known changes; the results are computed again
# in Python from intervals.
. "${0%/*}/../testlib.sh"
. "${0%/*}/../comparelib.sh"

# A stream of a job on standard output: ARGS are name=value of the known change. Two processes, each with a device and a
# thread. A step: a copy, matrix products with an all-reduce that outlasts them, idle time before its end.
cat >"$T/job.py" <<'END'
import random, sys
o = dict(a.split("=", 1) for a in sys.argv[1:])
steps, seed, gap = int(o.get("steps", 14)), int(o.get("seed", 1)), int(o.get("gap", 0))
devices, name, jitter = int(o.get("devices", 2)), o.get("name", "train step %d"), int(o.get("jitter", 400))
slow = {k[5:]: int(v) for k, v in o.items() if k.startswith("slow:")}
first, hide, lead, pause = int(o.get("first", 0)), int(o.get("hide", 0)), int(o.get("lead", 0)), int(o.get("pause", 0))
rnd = random.Random(seed)
heads = {"profile": "profile:i name:s", "device": "device:i profile:i pid:i name:s",
         "range": "profile:i range:i parent:i pid:i tid:i device:i name:s start:i dur:i host_start:i host_dur:i ops:i",
         "op": "profile:i op:i type:s device:i stream:i name:s start:i dur:i range:i tid:i host_start:i host_dur:i comm:i"}
print("#nsysx\t2")
for k, v in heads.items(): print("\t".join(["#" + k] + v.split()))
out, body, ids = ["profile 0 p".split()], [], [0]
for d in range(devices): out.append(["device", first + d, 0, 10 + d, "GPU"])
for d in range(devices):
    t = 1000000 + lead + 777 * d
    if lead: body.append((t - lead, 1, 0, ["op", 0, 10**9 + d, "kernel", first + d, 7, "init", t - lead, 1000, "", 1, t - lead - 10, 5, 0]))
    for s in range(steps):
        ops = [("memcpy", "Host-to-Device", 0, 5000, 0), ("kernel", "gemm", 5000, 40000, 0), ("kernel", "gemm", 47000, 30000 + hide, 0),
               ("kernel", "ncclDevKernel_AllReduce", 60000, 30000, 1), ("kernel", "loss", 100000, 8000, 0)]
        made, late, base = [], 0, len(body)
        for kind, what, at, dur, comm in ops:
            dur += rnd.randrange(jitter)
            more = dur * slow.get(what, 0) // 100
            made.append((kind, what, t + at + late, dur + more, comm))
            late += more
        def rng(text, lo, hi, host, hdur, parent):
            ids[0] += 1
            body.append((host, 0, ids[0], ["range", 0, ids[0], parent, 10 + d, 1, first + d, text, lo, hi - lo, host, hdur, 1]))
        end = max(x[2] + x[3] for x in made)
        host = t - 500000
        rng(name % s if "%d" in name else name, made[0][2], end, host, 90000, "")
        outer = ids[0]
        rng("aten::mm, seq = %d, op_id = %d" % (s, s), made[1][2], made[2][2] + made[2][3], host + 10, 3000, outer)
        rng("fwd", made[1][2], made[1][2] + made[1][3], host + 2000, 1000, outer + 1)
        for i, (kind, what, at, dur, comm) in enumerate(made):
            body.append((at, 1, i, ["op", 0, ids[0] * 10 + i, kind, first + d, 7, what, at, dur, outer + (0, 2, 1, 0, 0)[i], 1, host + 20 + i, 5, comm]))
        t += 120000 + late + gap + rnd.randrange(jitter) + (pause if s == 3 else 0)
for x in sorted(body, key=lambda x: x[:3]): out.append(x[3])
for x in out: print(*x, sep="\t")
print("#end\trecords:i\nend\t%d" % len(out))
END
job() {
	job=$T/$1
	shift
	python3 "$T/job.py" "$@" >"$job"
}

job base
job again seed=2
job idle seed=3 gap=30000
job gemm seed=4 slow:gemm=30
job comm seed=5 slow:ncclDevKernel_AllReduce=50
job copy seed=6 slow:Host-to-Device=300
job long seed=7 steps=31
job moved seed=9 hide=8000
job one devices=1
job other devices=1 first=1 seed=8

# ---- by step ----
gate 'a job is no slower than itself' 0 '' --by step "$T/base" "$T/base"
gate 'nor than another run of it' 0 '' --by step "$T/base" "$T/again"
gate 'also if that is longer' 0 '' --by step "$T/base" "$T/long"
gate 'idle time between steps is seen' 1 'nsysx-compare: slower: train step #: period: ' --by step "$T/base" "$T/idle"
equal 'once, without its parts and devices, which are in the table' "$(grep -c 'slower: train step #' "$T_private/err")" 1
equal 'and named' "$(sed -n 's/.*slower: train step #: period: .*; of that \([a-z]*\).*/\1/p' "$T_private/err")" idle
gate 'an increase that --percent allows is no regression, but a warning' 0 'train step #: the period grew by ' --by step --percent 50 "$T/base" "$T/idle"
equal 'with its limit' "$(grep -c 'more than its noise of .*, but no more than --percent allows: same$' "$T_private/err")" 1
nsysx-compare --table --by step --percent 50 "$T/base" "$T/idle" >"$T/small" 2>"$T/null"
equal 'and a line below the table' "$(grep -c '^the period of train step # grew by .* --percent allows: same$' "$T/small")" 1
gate 'by device, too' 0 'same, but longer by more than noise, which --percent or --absolute allows; the most: device 0: period: ' --by device --percent 50 "$T/base" "$T/idle"
gate '... and of kernels that grew' 0 'allows; the most: gemm: ' --by kernel --percent 50 "$T/base" "$T/gemm"
gate '... once' 0 '' --by kernel --percent 50 "$T/base" "$T/gemm"
equal '... in one line' "$(grep -c 'longer by more than noise' "$T_private/err")" 1
equal '... and one below the table' "$(nsysx-compare -q --table --by kernel --percent 50 "$T/base" "$T/gemm" | grep -c '^same, but longer by more than noise, .* allows: [1-9][0-9]*; the most: .*gemm')" 1
gate '... not the other way round' 0 '' --by kernel --percent 50 "$T/gemm" "$T/base"
equal '... as it is shorter' "$(grep -c 'longer by more' "$T_private/err")" 0
gate 'two runs of a job cause no such warning' 0 '' --by step "$T/base" "$T/again"
equal 'as they differ by less than noise' "$(grep -c 'grew by' "$T_private/err")" 0
gate 'it is none the other way round' 0 '' --by step "$T/idle" "$T/base"
equal 'but faster' "$(nsysx-compare -q --tsv --changed --by step "$T/idle" "$T/base" | columns device,statistic,verdict | grep -c ' \(period\|idle\) faster$')" 6
# The verdicts of a job's rows over all devices: the period and the parts that grew; also the span of the step, if that
# grew.
verdicts() {
	nsysx-compare -q --tsv --changed --by step "$T/base" "$T/$1" | columns device,statistic,verdict | sed -n 's/^- //p' | tr '\n' ';'
}
equal 'idle time between steps is no part of them' "$(verdicts idle)" 'period slower;idle slower;'
equal 'slower kernels are compute' "$(verdicts gemm)" 'period slower;compute slower;span slower;'
equal 'slower communication is exposed' "$(verdicts comm)" 'period slower;exposed slower;span slower;'
equal 'slower copies are copies' "$(verdicts copy)" 'period slower;copy slower;span slower;'
equal 'nothing else changes' "$(verdicts again)" ''
gate 'a part that grew of steps that are as long as before is none' 0 '' --by step "$T/base" "$T/moved"
equal 'its time was that of other parts' "$(verdicts moved)" 'compute shifted;exposed shifted;'
equal 'which is the answer' "$(nsysx-compare -q --markdown --by step "$T/base" "$T/moved" | head -n 1 | sed 's/:.*//')" '**same** by step'
# Spans of 100 us of 200 us, or of 150: what ran before the steps runs in them.
spans() {
	printf 'class\tdevice\tstep\tspan\tperiod\tcompute\texposed\tcopy\tidle\tkept\n'
	awk -v OFS='\t' -v span="$1" -v period="$2" -v drift="${3:-0}" 'BEGIN { for (i = 0; i < 12; i++) print "step", 0, i, span + i * 37 % 5 * 100, period + (drift ? i * drift : i * 37 % 7 * 100), period - 50000, 0, 0, 50000, 1 }'
}
spans 100000 200000 >"$T/short.tsv"
spans 150000 200000 >"$T/long.tsv"
spans 150000 250000 >"$T/longer.tsv"
spans 100000 200000 3000 >"$T/short_drift.tsv"
spans 150000 202000 3000 >"$T/long_drift.tsv"
of_span() { nsysx-compare -q --tsv --by step "$@" | columns statistic,verdict | grep -e '^period' -e '^span' | tr '\n' ';'; }
gate 'a longer span of periods that are as long as before is no regression' 0 '' --by step "$T/short.tsv" "$T/long.tsv"
equal '... but shifted' "$(of_span "$T/short.tsv" "$T/long.tsv")" 'period same;span shifted;'
equal '... also a shorter one' "$(of_span "$T/long.tsv" "$T/short.tsv")" 'period same;span shifted;'
equal '... also of several base runs' "$(of_span "$T/short.tsv" "$T/short.tsv" "$T/short.tsv" "$T/long.tsv")" 'period same;span shifted;'
equal 'with longer periods it is slower' "$(of_span "$T/short.tsv" "$T/longer.tsv")" 'period slower;span slower;'
gate 'with periods that are not known nothing is' 3 'that depend on each other tell as much as ' --by step "$T/short_drift.tsv" "$T/long_drift.tsv"
equal '... nor the span' "$(of_span "$T/short_drift.tsv" "$T/long_drift.tsv")" 'period unknown;span unknown;'
awk -F'\t' -v OFS='\t' 'NR > 1 { $5 += 10000; $9 += 10000 } 1' "$T/short_drift.tsv" >"$T/idle_drift.tsv"
gate 'a part that is slower tells that the period is not known to be' 1 'slower: step: idle: 60.00 us per step, was 50.00 us (+20.0%), noise 0 ns; the period is unknown' --by step "$T/short_drift.tsv" "$T/idle_drift.tsv"
gate 'of three steps nothing is judged' 3 'not comparable: train step #: 2 steps of BASE tell too little, want 5: record more steps, or several base runs' --by step "$(job two1 steps=3; echo "$T/two1")" "$(job two2 steps=3 seed=2; echo "$T/two2")"
equal '... the table says so' "$(nsysx-compare -q --tsv --by step "$T/two1" "$T/two2" | columns device,statistic,verdict | grep -e '^- period')" '- period unknown'
for many in '14 1' '1 14' '1 1'; do
	set -- $many
	job single1 steps="$1"
	job single2 steps="$2" slow:gemm=200
	gate "nor is a step that has no period: $1 and $2" 3 'not comparable: ^train step: 1 step of ' --by step --step '^train step' "$T/single1" "$T/single2"
	equal '... for one reason' "$(grep -c . "$T_private/err")" 1
done
gate '... unless differences are judged alone' 0 '' --by step --sigma 0 "$T/two1" "$T/two1"
gate 'of steps that scatter, a warning says what is not seen' 0 '% of it: an increase of less is not seen' --by step "$(job few1 steps=12 jitter=90000; echo "$T/few1")" "$T/few1"
equal 'also in a comment' "$(nsysx-compare -q --markdown --by step "$T/few1" "$T/few1" | grep -c 'noise of the period of train step # is [0-9]*% of it')" 1
equal 'which many steps do not need' "$(nsysx-compare --by step "$T/base" "$T/again" 2>&1 | grep -c 'is not seen')" 0
gate 'nor is an increase within its noise passed over in silence' 0 '' --by step "$(job loose1 steps=12 jitter=90000; echo "$T/loose1")" "$(job loose2 steps=12 jitter=90000 seed=2 gap=9000; echo "$T/loose2")"
equal 'both are told' "$(sed -n 's/.*: train step #: the period grew by \([0-9.]*\)%, less than its noise, \([0-9.]*\)%: hidden; compare more steps$/\1 \2/p' "$T_private/err")" \
	"$(nsysx-compare -q --tsv --by step "$T/loose1" "$T/loose2" | columns device,statistic,base,delta,noise,verdict | awk '$1 == "-" && $2 == "period" && $6 == "hidden" { printf "%.1f %.1f", 100 * $4 / $3, 100 * $5 / $3 }')"
equal 'not with floors that allow so much' "$(nsysx-compare --by step --percent 15 "$T/loose1" "$T/loose2" 2>&1 | grep -c 'less than its noise')" 0
gate 'one slow step does not change the verdict, but is reported' 0 '' --by step "$T/base" "$(job pause seed=2 pause=30000; echo "$T/pause")"
equal 'p99 of both' "$(sed -n 's/.*: train step #: p99 of the period grew from \(.*\) to \(.*\), but means are judged.*/\1 \2/p' "$T_private/err")" \
	"$(nsysx-compare -q --tsv --by step "$T/base" "$T/pause" | columns device,statistic,base_p99,new_p99 | awk '$1 == "-" && $2 == "period" && $4 - $3 > 29000 { printf "%.1f us %.1f us", $3 / 1000, $4 / 1000 }')"
equal 'other runs of a job have no such step' "$(nsysx-compare --by step "$T/base" "$T/again" 2>&1 | grep -c 'p99 of the period')" 0
equal 'nor is the slowest of a few steps one' "$(nsysx-compare --by step "$(job short1 steps=4; echo "$T/short1")" "$(job short2 steps=5 seed=2 pause=90000; echo "$T/short2")" 2>&1 | grep -c 'p99 of the period')" 0
gate 'steps that are slower, though a pause hides that from the mean' 1 'slower: train step #: period: ' --by step "$(job still1 steps=20 pause=290000; echo "$T/still1")" "$(job still2 steps=20 pause=290000 seed=2 slow:gemm=30; echo "$T/still2")"
equal 'which the table has of devices too' "$(nsysx-compare -q --tsv --by step "$T/still1" "$T/still2" | columns device,statistic,verdict | grep -e '^- period' -e span | tr '\n' ';')" '- period slower;- span slower;0 span slower;1 span slower;'
equal 'but no line each' "$(grep -c 'slower: .* on device' "$T_private/err")" 0
equal 'steps are counted over devices, periods are fewer by one each' "$(nsysx-compare -q --table --by step "$T/base" "$T/one" | grep ' has .* steps of '; nsysx-compare -q --tsv --by step "$T/base" "$T/base" | columns device,statistic,base_steps | grep '^- period')" \
	'BASE has 28 steps of train step # on 2 devices; the last of each has no period
NEW has 14 steps of train step # on 1 device; the last of each has no period
- period 26'
gate 'a floor is one of the period: what is less than so much of it is none' 0 '' --by step --percent 30 "$T/base" "$T/idle"
nsysx-compare -q --tsv --by step --step '^train' "$T/base" "$T/gemm" >"$T/got"
nsysx-compare -q --tsv --by step "$T/base" "$T/gemm" | sed 's/^train step #/^train/' >"$T/want"
same 'steps are named by an expression' "$T/got" "$T/want"
gate 'steps that have other names on the other side do not compare' 3 'not comparable: ' --by step "$T/base" "$(job renamed 'name=epoch %d' seed=2; echo "$T/renamed")"
grep -v '^range\|^end' "$T/base" >"$T/bare"
gate 'nor do streams without steps' 3 'not comparable: NEW has no steps' --partial --by step "$T/base" "$T/bare"
ok 'which is a table without --gate' nsysx-compare --partial --by step "$T/base" "$T/bare"

# Steps whose times drift: values that depend on each other. 40 of them tell as much as a few, 400 enough.
drifting() {
	awk -v OFS='\t' -v n="$1" -v by="$2" -v tail="$3" 'BEGIN {
		print "#nsysx", 2
		print "#device", "device:i", "profile:i"
		print "#program", "program:i", "id:i", "name:s", "key:s"
		print "#module", "profile:i", "program:i", "execution:i", "device:i", "start:i", "dur:i"
		print "device", 0, 0
		print "program", 0, 7, "step", "step@7"
		for (e = 0; e < n; e++) {
			# A slow wave of 5 %, or every fortieth step longer.
			dur = int(1000000 * by * (1 + (tail ? (e % 40 == 3) * tail : 0.05 * sin(e / 12)) + 0.001 * ((e * 7919) % 13)))
			print "module", 0, 0, e, 0, at + 0, dur - 1000
			at += dur
		}
		print "#end", "records:i"
		print "end", n + 2
	}'
}
drifting 40 1 0 >"$T/drift40"
drifting 400 1 0 >"$T/drift400"
drifting 400 1.2 0 >"$T/drifted400"
gate 'steps that depend on each other are not judged' 3 'step: 39 steps of BASE that depend on each other tell as much as ' --by step "$T/drift40" "$T/drift40"
gate '... and how many to record is said' 3 ', want 5: record about 110 steps, or several base runs' --by step "$T/drift40" "$T/drift40"
drifting 12 0.4 0 >"$T/drifted12"
drifting 12 1 0 >"$T/drift12"
gate 'unless all of one run are far below all of the other' 0 '' --by step "$T/drift12" "$T/drifted12"
gate '... or above' 1 'slower: step: period: ' --by step "$T/drifted12" "$T/drift12"
gate 'many of them are' 0 '' --by step "$T/drift400" "$T/drift400"
gate '... and found where they are 20 % slower' 1 'slower: step: period: ' --by step "$T/drift400" "$T/drifted400"
equal '... with fewer effective steps' "$(nsysx-compare -q --tsv --by step "$T/drift400" "$T/drift400" | columns statistic,base_steps,base_n_eff | awk '$1 == "period" { print $2, ($3 > 5 && $3 < 100) }')" '399 1'
drifting 40 1 1 >"$T/tail40"
drifting 700 1 0.5 >"$T/tail1"
drifting 700 1 1.5 >"$T/tail2"
gate 'p99 of few steps is not judged' 3 'step: 39 steps of BASE tell too little of their p99, want 300: ' --gate=p99 --by step "$T/tail40" "$T/tail40"
gate 'p99 of many is: the same' 0 '' --gate=p99 --by step "$T/tail1" "$T/tail1"
gate '... and longer' 1 'slower: step: period: p99 2.5' --gate=p99 --by step "$T/tail1" "$T/tail2"
equal '... by that witness' "$(nsysx-compare -q --tsv --gate=p99 --by step "$T/tail1" "$T/tail2" | columns statistic,verdict,witness | grep '^period')" 'period slower p99'
equal '... the other way round faster' "$(nsysx-compare -q --tsv --gate=p99 --by step "$T/tail2" "$T/tail1" | columns statistic,verdict,witness | grep '^period')" 'period faster p99'
gate '... not by its mean' 0 '' --by step --percent 5 "$T/tail1" "$T/tail2"
fails '--gate of another statistic' 2 'want mean or p99' nsysx-compare --gate=p98 --by step "$T/base" "$T/base"
# Of every other kind that has samples: 600 executions of a program of one instruction, kernel and range each, 100 us + LATER
# and up to 1 us more, 2 % of them TAIL more.
kinds_of() {
	awk -v later="$1" -v tail="$2" 'BEGIN { OFS = "\t"; print "#nsysx", 2; print "#profile", "profile:i", "name:s"; print "#device", "device:i", "profile:i", "name:s"
		print "#program", "program:i", "id:i", "name:s", "key:s"; print "#inst", "program:i", "inst:i", "name:s", "opcode:s"
		print "#module", "profile:i", "program:i", "execution:i", "device:i", "start:i", "dur:i"
		print "#thunk", "profile:i", "program:i", "execution:i", "device:i", "inst:i", "occurrence:i", "name:s", "start:i", "dur:i"
		print "#range", "profile:i", "range:i", "tid:i", "device:i", "name:s", "start:i", "dur:i", "host_start:i", "host_dur:i", "ops:i"
		print "#op", "profile:i", "op:i", "type:s", "device:i", "stream:i", "name:s", "start:i", "dur:i", "range:i", "tid:i", "host_start:i", "host_dur:i"
		print "profile", 0, "p"; print "device", 0, 0, "GPU"; print "program", 0, 1, "f", "f@1"; print "inst", 0, 0, "mm", "dot"
		for (i = 0; i < 600; i++) { t = 5000000 + i * 1000000; d = 100000 + later + i * 37 % 100 * 10 + (i % 50 == 7 ? tail : 0); h = t - 5000
			print "range", 0, i, 1, 0, "layer", t, d, h, 900, 1; print "module", 0, 0, i, 0, t, d; print "thunk", 0, 0, i, 0, 0, 0, "mm", t, d
			print "op", 0, i, "kernel", 0, 1, "gemm", t, d, i, 1, h + 10, 5 } }' >"$T/$3"
}
kinds_of 0 0 usual
kinds_of 0 50000 tail
kinds_of 5000 50000 later
for by in thunk module opcode source phase range kernel; do
	gate "by $by: p99 is the same" 0 '' --partial --gate=p99 --by $by "$T/usual" "$T/usual"
	gate "by $by: p99 is longer" 1 ': p99 150.' --partial --gate=p99 --by $by "$T/usual" "$T/tail"
	equal "by $by: by that witness; both quantiles of both sides are columns" "$(nsysx-compare -q --partial --tsv --gate=p99 --by $by "$T/usual" "$T/tail" | columns verdict,witness,base_p50,base_p99,new_p50,new_p99,base_n_eff)" \
		"slower p99 $(for s in usual tail; do grep '^op' "$T/$s" | cut -f 9 | sort -n | sed -n '300p; 594p'; done | tr '\n' ' ')600"
	gate "by $by: what is longer, but for its tail, is slower by its mean" 1 'slower: ' --partial --by $by "$T/tail" "$T/later"
done
gate 'p99 of few kernels is not judged' 3 'gemm: 28 operations of BASE tell too little of their p99, want 300: record more operations' --gate=p99 --by kernel "$T/base" "$T/base"
gate 'nor of whole runs' 3 'not all devices have steps: a time of a whole run has no 99th percentile' --partial --gate=p99 --by device "$T/bare" "$T/bare"
nsysx-summary -q --partial --tsv --by thunk "$T/usual" >"$T/usual.tsv"
gate 'nor of tables of nsysx-summary' 3 'a table by thunk, which has no 99th percentiles: want streams for --gate=p99' --gate=p99 "$T/usual.tsv" "$T/usual.tsv"

# All numbers are computed again: intervals of each device, cut at each start of a step.
cat >"$T/again.py" <<'END'
import csv, math, sys
from collections import defaultdict
top, new = sys.argv[1:]
def side(path):
    head, ops, steps = {}, defaultdict(list), defaultdict(list)
    for line in open(path):
        f = line.rstrip("\n").split("\t")
        if f[0].startswith("#"): head[f[0][1:]] = [c.split(":")[0] for c in f[1:]]
        elif f[0] in ("op", "range"):
            r = dict(zip(head[f[0]], f[1:]))
            if f[0] == "op":
                kind = 1 if r["comm"] == "1" else 2 if r["type"] != "kernel" else 0
                ops[int(r["device"])].append((int(r["start"]), int(r["start"]) + int(r["dur"]), kind))
            elif r["name"].startswith("train"): steps[int(r["device"])].append((int(r["start"]), int(r["start"]) + int(r["dur"])))
    times = defaultdict(lambda: defaultdict(list))
    for d in steps:
        steps[d].sort()
        for i, (lo, hi) in enumerate(steps[d]):
            times["span"][d].append(hi - lo)
            if i + 1 == len(steps[d]): continue
            end = steps[d][i + 1][0]
            cuts = sorted({lo, end} | {x for o in ops[d] for x in o[:2] if lo < x < end})
            part = [0, 0, 0, 0]
            for a, b in zip(cuts, cuts[1:]): part[min([k for s, e, k in ops[d] if s <= a and e >= b] + [3])] += b - a
            assert sum(part) == end - lo
            times["period"][d].append(end - lo)
            for name, v in zip(("compute", "exposed", "copy", "idle"), part): times[name][d].append(v)
    return times
def time(devices):
    n = sum(map(len, devices.values()))
    return sum(map(sum, devices.values())) / n, [sum(v) / len(v) for v in zip(*devices.values())]
def tails(t, v):
    f = lambda x: math.cos(x) ** (v - 1)
    def simpson(b, n=400):
        h = b / n
        return h / 3 * (f(0) + f(b) + 4 * sum(f(h * i) for i in range(1, n, 2)) + 2 * sum(f(h * i) for i in range(2, n, 2)))
    return 1 - simpson(math.atan(t / math.sqrt(v))) / simpson(math.pi / 2 - 1e-12)
def effective(x):
    """Mean, effective number, variance: the autocorrelation time by Geyer's initial monotone positive sequence."""
    n, m = len(x), sum(x) / len(x)
    r = [v - m for v in x]
    c = lambda lag: sum(r[i] * r[i + lag] for i in range(n - lag))
    if c(0) == 0: return m, n, 0
    total, least = 0, math.inf
    for k in range(n // 2):
        least = min(least, (c(2 * k) + c(2 * k + 1)) / c(0))
        if least <= 0: break
        total += least
    tau = max(1, 2 * total - 1)
    tau = min(n, 1 + (tau - 1) * (1 + 2 * tau / n))
    return m, n / tau, c(0) / max(1, n - tau)
def speaks(a, b):
    """1, 0 or -1, the noise, and the lesser effective number."""
    (ma, na, va), (mb, nb, vb) = effective(a), effective(b)
    x, y = va / na, vb / nb
    if x + y == 0: return (mb > ma) - (mb < ma), 0, min(na, nb)
    v = (x + y) ** 2 / (x * x / max(1, na - 1) + y * y / max(1, nb - 1))
    p, lo, hi = math.erfc(3 / math.sqrt(2)) / 2, 0, 1e3
    for _ in range(40):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if tails(mid, v) > p else (lo, mid)
    z = lo * math.sqrt(x + y)
    return (mb - ma > z) - (ma - mb > z), z, min(na, nb)
def ranks(a, b):
    both = sorted(a + b)
    return tuple([(both.index(v) + 1 + len(both) - both[::-1].index(v)) / 2 for v in x] for x in (a, b))
median = lambda x: sorted(x)[-(-len(x) // 2) - 1]
near = lambda got, want: abs(float(got) - want) <= 1e-5 * abs(want) + 1e-6
old, now, bad, n = side(f"{top}/base"), side(f"{top}/{new}"), [], 0
for r in csv.DictReader(open(f"{top}/got"), delimiter="\t"):
    only = lambda s, name: {d: v for d, v in s[name].items() if r["device"] in ("", str(d))}
    a, b, p = time(only(old, r["statistic"])), time(only(now, r["statistic"])), time(only(old, "period"))
    (by_mean, z, least), (by_rank, _, _) = speaks(a[1], b[1]), speaks(*ranks(a[1], b[1]))
    delta, middle = b[0] - a[0], median(b[1]) - median(a[1])
    part = r["statistic"] not in ("period", "span")
    floor = 0.02 * (p if part else a)[0]
    every = sorted(x for v in only(old, "period").values() for x in v)
    low = 0.02 * (median(every) if part else median(a[1]))
    said = [by_mean if abs(delta) > max(floor, 100) and by_mean * delta > 0 else 0, by_rank if abs(middle) > max(low, 100) and by_rank * middle > 0 else 0]
    want = "unknown" if least < 5 else "slower" if 1 in said else "faster" if -1 in said else "hidden" if abs(delta) > max(floor, 100) or abs(middle) > max(low, 100) else "same"
    up = want == "slower"
    whole = time(only(now, "period"))[0] - p[0]
    if part and want in ("slower", "faster") and not ((whole > 0) == up and abs(whole) > max(floor, 100)): want = "shifted"
    good = near(r["base"], a[0]) and near(r["new"], b[0]) and near(r["delta"], delta) and near(r["noise"], z) and r["verdict"] == want
    for s, side_of in (("base", old), ("new", now)):
        all_of = sorted(x for v in only(side_of, r["statistic"]).values() for x in v)
        good &= int(r[s + "_steps"]) == len(all_of)
        for p in (50, 99): good &= int(r["%s_p%d" % (s, p)]) == all_of[-(-p * len(all_of) // 100) - 1]
    good &= near(r["change"], delta / a[0]) and r["class"] == "train step #"
    if not good: bad.append((r, a, b, z))
    n += 1
print(n, *bad[:2])
END
for new in again idle gemm comm long moved; do
	nsysx-compare -q --tsv --by step "$T/base" "$T/$new" >"$T/got"
	equal "every row of $new is what counting again says" "$(python3 "$T/again.py" "$T" $new)" 18
done
equal 'parts of a period add up to it' "$(nsysx-compare -q --tsv --by step "$T/base" "$T/gemm" | columns device,statistic,base,new | awk '
	$2 == "period" { b = $3; n = $4 } /compute|exposed|copy|idle/ { b -= $3; n -= $4 }
	$2 == "idle" { print (b < 1e-3 && b > -1e-3 && n < 1e-3 && n > -1e-3) }' | sort | uniq -c | tr -s ' ')" ' 3 1'
equal 'a device that both sides have is named' "$(nsysx-compare -q --tsv --by step "$T/one" "$T/one" | columns device,statistic | head -n 1)" '0 period'
sed 's/	train step 2	/	other	/' "$T/base" >"$T/other.step"
equal 'with --changed a class that is gone is one row, and a device of one too' "$(nsysx-compare -q --tsv --changed --by step --step 'train step ([12])$' "$T/base" "$T/other.step" | columns class,verdict | grep -c '2 gone') $(nsysx-compare -q --tsv --changed --by step "$T/base" "$T/one" | columns device,statistic,verdict | grep gone | tr '\n' ';')" '1 0 period gone;1 period gone;'
equal 'another one is not' "$(nsysx-compare -q --tsv --by step "$T/one" "$T/other" | columns device,statistic,verdict | sort -u | grep -c '^- [a-z]* same$')" 6
nsysx-compare --tsv --by step "$T/base" "$T/one" 2>"$T/err" >"$T/got"
equal 'fewer devices: their rows are gone, those over all are not' "$(columns device,verdict <"$T/got" | sort | uniq -c | tr -s ' \n' ' ')" ' 6 - same 6 0 gone 6 1 gone '
equal 'which is said' "$(grep -c 'BASE ran on 2 devices, NEW on 1' "$T/err")" 1

# ---- executions of programs as steps ----
{ printf '#nsysx\t2\n#program\tprogram:i\tid:i\tname:s\tkey:s\n#module\tprofile:i\tprogram:i\texecution:i\tdevice:i\tstart:i\tdur:i\n'
	printf 'program\t0\t7\tstep\tstep@7\n'; for e in 0 1 2 3 4 5 6 7 8 9; do printf 'module\t0\t0\t%d\t0\t%d00\t%d0\n' $e $((e * 10)) $((50 + e % 2)); done; } >"$T/m7"
sed 's/step@7/step@9/; s/	7	/	9	/' "$T/m7" >"$T/m9"
equal 'of a program that was compiled again, without operations' "$(nsysx-compare -q --partial --tsv --by step "$T/m7" "$T/m9" | columns class,device,statistic,base,new,verdict | tr '\n' ';')" \
	'step@9 0 period 1000 1000 same;step@9 0 span 505 505 same;'
equal 'what its devices did is said not to be known' "$(nsysx-compare --partial --by step "$T/m7" "$T/m9" 2>&1 >/dev/null | grep -c 'no operations in the stream')" 2
head -n 5 "$T/m7" >"$T/m1"
awk -F'\t' -v OFS='\t' '/^module/ && ++n { $6 *= 1.1; print; print "op", 0, n, "kernel", 0, 1, "k", $6, $7 - 5; next } { print }
	/^#module/ { print "#op\tprofile:i\top:i\ttype:s\tdevice:i\tstream:i\tname:s\tstart:i\tdur:i" }' "$T/m7" >"$T/m8ops"
gate 'what one side alone knows of its steps is not what has grown' 1 'slower: step: period: 1.100 us' --partial --absolute 10ns --by step "$T/m7" "$T/m8ops"
equal 'and not told' "$(grep -c 'of that' "$T_private/err")" 0
gate 'a single execution is no step' 3 'no steps' --partial --by step "$T/m7" "$T/m1"
equal 'unless it is named' "$(nsysx-compare -q --partial --tsv --by step --module step "$T/m7" "$T/m1" | columns statistic,noise,verdict | tr '\n' ';')" 'period - gone;span - unknown;'

# ---- synthetic jobs of XLA ----
made() {
	at=$T/$1
	shift
	"$SYNTH" -o "$at.d" "$@" && nsysx-extract -q --ops --calls -x "$at.d/dump0" "$at.d/r0.sqlite" -x "$at.d/dump1" "$at.d/r1.sqlite" | nsysx-warmup -q -o "$at"
	rm -rf "$at.d"
}
if [ -x "$SYNTH" ]; then
	made x1 --steps 14
	made x2 --steps 14 --seed 5
	made x3 --steps 20 --slow cublas-gemm.1:300
	gate 'another run of a job of XLA' 0 '' --by step "$T/x1" "$T/x2"
	gate 'one of a slower program' 1 'slower: jit_train_step: period: ' --by step "$T/x1" "$T/x3"
	equal 'whose computation is what grew' "$(sed -n 's/.*slower: jit_train_step: period: .*; of that \([^+]*\).*/\1/p' "$T_private/err")" 'compute '
	equal 'with the way to the instructions' "$(grep -c 'period: .*, see --by thunk$' "$T_private/err")" 1
	nsysx-compare -q --tsv --by step "$T/x1" "$T/x2" >"$T/got"
	equal 'causes of idle time add up to it' "$(columns device,statistic,base,new <"$T/got" | awk '$2 == "idle" { b[$1] = $3; n[$1] = $4; k++ } $2 ~ /^idle:/ { b[$1] -= $3; n[$1] -= $4; c++ }
		END { for (d in b) bad += b[d] > 1e-3 || b[d] < -1e-3 || n[d] > 1e-3 || n[d] < -1e-3; print k, bad + 0, (c >= k) }')" '3 0 1'
	nsysx-view "$T/x2" | grep -v '^#\{0,1\}call	\|^end' >"$T/x4"
	equal 'without calls there are none' "$(nsysx-compare -q --partial --tsv --by step "$T/x4" "$T/x4" | columns statistic | sort -u | tr '\n' ' ')" 'compute copy exposed idle period span '
else
	skip 'steps of XLA' 'there is no nsysx-synth'
fi

# ---- by range and kernel ----
gate 'no range is slower in another run' 0 '' --by range "$T/base" "$T/again"
gate 'nor is a kernel' 0 '' --by kernel "$T/base" "$T/again"
# Ranges that remain although their operations are removed, as those of initialisation are.
awk -F'\t' '$1 == "#op" { for (i = 2; i <= NF; i++) if ($i ~ /^start:/) at = i } $1 != "op" || $at > 1567000' "$T/gemm" | sed '/^#*end/d' >"$T/cut"
equal 'ranges whose operations were removed take no part in means' "$(nsysx-compare -q --partial --tsv --by range "$T/base" "$T/cut" | columns name,base_count,new_count,verdict | sed -n '/^aten/p')" 'aten::mm 28 20 slower'
gate 'a slower kernel' 1 'nsysx-compare: slower: gemm: ' --by kernel "$T/base" "$T/gemm"
equal 'and it alone' "$(grep -c slower: "$T_private/err")" 1
gate 'a slower range, whatever is appended to its name' 1 'nsysx-compare: slower: aten::mm: ' --by range "$T/base" "$T/gemm"
equal 'and what is around it, but for what each device has once' "$(nsysx-compare -q --tsv --changed --by range "$T/base" "$T/gemm" | columns name,verdict | sort | tr '\n' ';')" \
	'aten::mm slower;fwd slower;'
# Spans are longer by half, the time of work is the same.
awk -F'\t' -v OFS='\t' '$1 == "#range" { for (i = 1; i <= NF; i++) if ($i == "dur:i") d = i } $1 == "range" { $d = int($d * 1.5) } { print }' "$T/base" >"$T/stretched"
gate 'a longer span with the same work is no regression' 0 '' --by range "$T/base" "$T/stretched"
gate 'unless spans are compared' 1 'nsysx-compare: slower: aten::mm: ' --by range --time span "$T/base" "$T/stretched"
equal 'GPU time is that of the operations, in and within' "$(nsysx-compare -q --tsv --by range --names digits "$T/base" "$T/gemm" | columns name,base,new | awk '{ printf "%s %.6g %.6g\n", $1, $2, $3 }' | sort)" \
	"$(for f in base gemm; do awk -F'\t' '$1 == "op" { if ($7 == "gemm") g[n++ % 2] += $9; all += $9 } END { printf "aten::mm %.6g\nfwd %.6g\ntrain_step_# %.6g\n", (g[0] + g[1]) / 28, FIRST / 28, all / 28 }' \
	FIRST="$(awk -F'\t' '$1 == "op" && $7 == "gemm" { print }' "$T/$f" | sort -t "$(printf '\t')" -k 3,3n | awk -F'\t' 'NR % 2 { s += $9 } END { printf "%.0f", s }')" "$T/$f" >"$T/of.$f"; done; awk '{ split($0, f); getline x <OTHER; split(x, h); print f[1], f[2], h[2] }' OTHER="$T/of.gemm" "$T/of.base" | sort)"
nsysx-compare -q --tsv --by range "$T/base" "$T/stretched" | columns name,base,new,base_span,new_span | awk '$1 == "fwd" { print ($2 == $3), ($5 / $4 > 1.49 && $5 / $4 < 1.51) }' >"$T/got"
equal 'spans are columns' "$(cat "$T/got")" '1 1'
grep -v '^op\|^end' "$T/base" >"$T/spans"
equal 'without operations on one side spans are compared, which is said' "$(nsysx-compare --partial --tsv --by range "$T/base" "$T/spans" 2>&1 >"$T/got" | grep -c 'NEW: no operations in its ranges: ranges are compared by their span')$(columns name,base,base_span <"$T/got" | awk '$2 != $3' | wc -l)" 10
fails 'spans of kernels' 2 '--time span: want --by range' nsysx-compare --by kernel --time span "$T/base" "$T/base"
equal '--names digits makes steps one' "$(nsysx-compare -q --tsv --changed --names digits --by range "$T/base" "$T/gemm" | columns name,base_count,new_count,verdict | sort | tr '\n' ';')" \
	'aten::mm 28 28 slower;fwd 28 28 slower;train_step_# 28 28 slower;'
gate 'a range of a longer run is new, and no regression' 0 '' --by range "$T/base" "$T/long"
equal 'of full names each is its own' "$(nsysx-compare -q --tsv --names full --by range "$T/base" "$T/base" | columns name | grep -c '^aten::mm,_seq_=_')" 14
nsysx-compare -q --tsv --by kernel "$T/base" "$T/gemm" >"$T/got"
equal 'kernels: counts, means, effects' "$(python3 - "$T" <<'END'
import csv, sys
top = sys.argv[1]
def side(p):
    out = {}
    for line in open(f"{top}/{p}"):
        f = line.rstrip("\n").split("\t")
        if f[0] == "op": out.setdefault((f[3], f[6]), []).append(int(f[8]))
    return out
a, b, bad, n = side("base"), side("gemm"), [], 0
for r in csv.DictReader(open(f"{top}/got"), delimiter="\t"):
    x, y = a[r["type"], r["name"]], b[r["type"], r["name"]]
    d = sum(y) / len(y) - sum(x) / len(x)
    if (int(r["base_count"]), int(r["new_count"])) != (len(x), len(y)) or abs(float(r["diff"]) - d) > 1e-6 or abs(float(r["effect"]) - d * len(y)) > 1e-4: bad.append(r)
    n += 1
print(n, *bad[:2])
END
)" 4
job single steps=1 devices=1 seed=9 slow:loss=100
equal 'what ran once is not judged' "$(nsysx-compare -q --tsv --by kernel "$T/base" "$T/single" | columns name,verdict | grep loss)" 'loss unknown'
equal 'unless the floors are to decide' "$(nsysx-compare -q --tsv --sigma 0 --by kernel "$T/base" "$T/single" | columns name,verdict | grep loss)" 'loss slower'
gate 'streams without ranges' 3 'NEW has no ranges with GPU work' --partial --by range "$T/base" "$T/bare"

# ---- Markdown ----
nsysx-compare -q --markdown --by step "$T/base" "$T/idle" >"$T/md"
equal 'the answer comes first' "$(head -n 1 "$T/md")" '**slower** by step: 6 slower, 12 same'
equal 'then a table, short enough for a comment' "$(sed -n 3,4p "$T/md")" '| class | device | statistic | base | new | change | delta_share | base_p99 | new_p99 | verdict |
|---|--:|---|--:|--:|--:|--:|--:|--:|---|'
equal 'or of all columns' "$(nsysx-compare -q --wide --markdown --by step "$T/base" "$T/idle" | sed -n 3,4p)" '| class | device | statistic | base | new | delta | change | noise | verdict | base_steps | new_steps | delta_share | base_p50 | new_p50 | base_p99 | new_p99 | base_n_eff | new_n_eff | witness |
|---|--:|---|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|'
equal 'a change is that of the two times beside it' "$(nsysx-compare -q --markdown --by step "$T/few1" "$T/few1" | sed -n 's/ us / /g; s/%//; s/^| `train step #` |[^|]*| `[a-z:]*` | \([0-9.]*\) | \([0-9.]*\) | \(-*[0-9.]*\) |.*/\1 \2 \3/p' |
	awk '$1 { d = 100 * ($2 - $1) / $1 - $3; n++; bad += d * d > 0.0225 } END { print (n > 5), bad + 0 }')" '1 0'
equal 'of all rows' "$(grep -c '^| `train step #` |.*| `\(slower\|same\)` |$' "$T/md")" 18
equal 'the same twice' "$(nsysx-compare -q --markdown --by step "$T/base" "$T/base" | head -n 1)" '**same** by step: 0 slower, 18 same'
equal 'what is faster' "$(nsysx-compare -q --markdown --by step "$T/idle" "$T/base" | head -n 1)" '**faster** by step: 0 slower, 6 faster, 12 same'
equal 'what does not compare' "$(nsysx-compare -q --partial --markdown --by step "$T/base" "$T/bare" | head -n 1)" '**not comparable** by step: NEW has no steps: --step names them, --by range and --by kernel work without them'
job bars 'name=a|b `c` <d>'
equal 'names are code, whatever they hold' "$(nsysx-compare -q --markdown --by range "$T/bars" "$T/bars" | grep -c '^| `` a\\|b `c` <d> `` | 28 | 28 |')" 1

# ---- usage ----
fails 'exposed steps' 2 'whole already: drop --time exposed' nsysx-compare --by step --time exposed "$T/base" "$T/base"
fails 'exposed ranges' 2 'ranges have no exposed time' nsysx-compare --by range --time exposed "$T/base" "$T/base"
fails 'folded steps' 2 'not steps' nsysx-compare --by step --folded new "$T/base" "$T/base"
fails 'names of thunks' 2 '--names: want --by range or kernel' nsysx-compare --names full "$T/base" "$T/base"
fails 'steps by thunk' 2 '--step: want --by step' nsysx-compare --step x "$T/base" "$T/base"
fails 'both' 2 'exclude each other' nsysx-compare --by step --step x --module y "$T/base" "$T/base"
fails 'no expression' 2 '--step (: ' nsysx-compare --by step --step '(' "$T/base" "$T/base"
fails 'two forms' 2 'exclude' nsysx-compare --markdown --json "$T/base" "$T/base"
printf 'type\tname\tcount\n' >"$T/kernel.tsv"
fails 'a table by thunk' 1 'a table by thunk: want one by' nsysx-compare --by kernel "$(printf 'id\tprogram\tname\topcode\top_name\tcount\ttotal\tstd\n' >"$T/thunk.tsv"; echo "$T/thunk.tsv")" "$T/base"

# ---- by kernel, in a job that compiles ---- Ten executions of a program with a kernel in each, one copy, and
# autotuning of that kernel before: many runs with other settings.
compiled() {
	awk -v tune="$1" -v run="$2" -v all="$3" 'BEGIN { OFS = "\t"; print "#nsysx", 2; print "#profile", "profile:i", "name:s"; print "#program", "program:i", "id:i", "name:s", "key:s"
		print "#module", "profile:i", "program:i", "execution:i", "device:i", "start:i", "dur:i"
		print "#op", "profile:i", "op:i", "type:s", "device:i", "stream:i", "name:s", "start:i", "dur:i", "program:i", "execution:i"
		print "profile", 0, "p"; print "program", 0, 1, "f", "f@1"
		for (i = 0; i < 40; i++) print "op", 0, i, "kernel", 0, 1, "gemm", 1000 + i * 100000, tune + i % 3, "", ""
		for (i = 0; i < 10; i++) { t = 5000000 + i * 100000; print "module", 0, 0, i, 0, t, 90000
			print "op", 0, 50 + i, "kernel", 0, 1, "gemm", t, run + i % 3, all ? 0 : "", all ? i : "" } }'
}
compiled 20000 30000 1 >"$T/tune"
compiled 80000 30000 1 >"$T/retune"
compiled 20000 33000 1 >"$T/slowrun"
compiled 20000 30000 '' >"$T/tune0"
compiled 80000 30000 '' >"$T/retune0"
kernels() { nsysx-compare -q --partial --tsv --by kernel "$1" "$2" | columns name,base_count,new_count,base,new,verdict; }
equal 'what autotuning runs is not compared' "$(kernels "$T/tune" "$T/retune")" 'gemm 10 10 30000.9 30000.9 same'
equal 'but what executions run' "$(kernels "$T/tune" "$T/slowrun")" 'gemm 10 10 30000.9 33000.9 slower'
equal 'how much that is, is said below the table' "$(nsysx-compare -q --partial --table --by kernel "$T/tune" "$T/retune" | grep "^operations outside")" \
	'operations outside executions of programs, such as those of autotuning, are not compared: 40 of BASE, 40 of NEW'
equal 'and with --verbose' "$(nsysx-compare -v --partial --by kernel "$T/tune" "$T/retune" 2>&1 >"$T/null" | grep -c 'outside executions of programs')" 2
equal 'where a side does not know executions, all count' "$(kernels "$T/tune0" "$T/retune0" | cut -d ' ' -f 2,3,6; kernels "$T/tune" "$T/retune0" | cut -d ' ' -f 2,3,6)" \
	"$(printf '50 50 unknown\n50 50 unknown')"
gate 'of two kinds one after the other, which tell as much as few' 3 'not comparable: gemm: 50 operations of NEW that depend on each other tell as much as ' --partial --by kernel "$T/tune0" "$T/retune0"
equal 'nsysx-summary says so too' "$(nsysx-summary -q --partial --table --by kernel "$T/tune" | grep -o '72.7% of the time is spent in operations outside executions')" '72.7% of the time is spent in operations outside executions'
equal 'but not where executions are not known' "$(nsysx-summary -q --partial --table --by kernel "$T/tune0" | grep -c 'outside executions')" 0

# ---- by device, runs of different lengths ----
# A device does in each step what it did: a longer or shorter run, after a start that takes as long as all its steps, is
# neither slower nor faster. One whose steps are slower is, in a run of any length.
job begun seed=10 steps=14 lead=2000000
job begun31 seed=11 steps=31 lead=2000000
job begun31gemm seed=12 steps=31 lead=2000000 slow:gemm=5
job begun14gemm seed=13 steps=14 lead=2000000 slow:gemm=5
gate 'by device a longer run is no slower' 0 '' --by device "$T/begun" "$T/begun31"
gate 'nor is a shorter one, in which the start is a larger share' 0 '' --by device "$T/begun31" "$T/begun"
nsysx-compare -q --tsv --by device "$T/begun31" "$T/begun" >"$T/got"
equal 'neither is faster' "$(columns verdict <"$T/got" | sort | uniq -c | tr -s ' \n' ' ')" ' 10 same 2 unknown '
equal 'executions are the steps that have a next one' "$(columns base_execs,new_execs <"$T/got" | sort -u)" '30 13'
gate 'kernels that take 5 % longer are found in a longer run' 1 'slower: device 0: compute: ' --by device "$T/begun" "$T/begun31gemm"
equal 'per step' "$(grep -c 'slower: device [01]: \(period\|compute\): .* per step, was ' "$T_private/err")" 4
gate 'and in a shorter one' 1 'slower: device 1: compute: ' --by device "$T/begun31" "$T/begun14gemm"
nsysx-compare --table --by device "$T/begun" "$T/begun31" >"$T/got" 2>"$T/err"
equal 'a line below the table reports that times are per step' "$(grep -c '^times are per step of train step #, from start to start: ' "$T/got")" 1
equal 'without a warning' "$(cat "$T/err")" ''
nsysx-compare -q --tsv --by device "$T/begun" "$T/begun31gemm" | columns device,statistic,base,new,diff,noise,base_execs,new_execs |
	grep -v hidden | sort >"$T/got"
nsysx-compare -q --tsv --by step "$T/begun" "$T/begun31gemm" >"$T/steps"
columns device,statistic,base,new,delta,noise,base_steps,new_steps <"$T/steps" | grep '^[01] ' | grep -v ' span ' | sort >"$T/want"
same 'times and noise are those of the steps of the device' "$T/got" "$T/want"
ok 'of all of them' test "$(wc -l <"$T/got")" -eq 10
nsysx-compare -q --tsv --by device --step 'train step' - "$T/begun31" <"$T/begun" | columns device,statistic,base,new >"$T/got"
nsysx-compare -q --tsv --by device "$T/begun" "$T/begun31" | columns device,statistic,base,new >"$T/want"
same 'also where --step names them and a side is standard input' "$T/got" "$T/want"
fails 'a step that is in no run is an error' 1 'nosuch' nsysx-compare --by device --step nosuch "$T/begun" "$T/begun31"
# Without ranges there are no steps: the numbers of operations show whether the runs are of equal work.
for j in begun begun31 begun14gemm; do grep -v '^range\|^end' "$T/$j" >"$T/$j.bare"; done
gate 'runs of unequal work without steps do not compare' 3 'not comparable: BASE has 142 operations, NEW 312, and no steps ' --partial --by device "$T/begun.bare" "$T/begun31.bare"
gate 'in either order' 3 'not comparable: BASE has 312 operations, NEW 142' --partial --by device "$T/begun31.bare" "$T/begun.bare"
equal 'their rows have no verdict' "$(nsysx-compare -q --partial --tsv --by device "$T/begun.bare" "$T/begun31.bare" | columns verdict | sort -u)" unknown
gate 'unless --sigma 0 lets the minimum differences decide' 1 'per run, was' --sigma 0 --partial --by device "$T/begun.bare" "$T/begun31.bare"
gate 'those of equal work do' 0 'times are of whole runs' --partial --by device "$T/begun.bare" "$T/begun.bare"
nsysx-summary -q --partial --tsv --by device "$T/begun" >"$T/begun.table"
gate 'a table does not tell how much work it is of' 3 'a table of a job without programs does not tell' "$T/begun.table" "$T/begun31"
done_testing
