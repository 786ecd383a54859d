#!/bin/sh
# Samples of GPU metrics: nsysx-extract --metrics and nsysx-summary --metrics, on a generated job, for no export with these tables was at hand.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"

# ---- by hand ----

# A sample [0,100) in which gemm ran for 70 ns and add for 20; [100,200) in which add ran for 10; [200,300) in which gemm and copy ran together for 60, gemm
# for 40 more; one of another device.
cat <<'END' | stream '~' >"$T/hand"
#device device:i profile:i
device 0 0
device 1 0
#op device:i type:s name:s start:i dur:i
#metric device:i start:i dur:i name:s value:i
op 0 kernel gemm 0 70
metric 0 0 100 Active~[Throughput~%] 80
metric 1 0 100 Active~[Throughput~%] 5
op 0 kernel add 70 20
metric 0 100 100 Active~[Throughput~%] 20
op 0 kernel add 120 10
op 0 kernel gemm 200 100
metric 0 200 100 Active~[Throughput~%] 40
op 0 memcpy copy 210 60
END
table_is 'a sample counts for what ran for half of its interval; what has none is not 0' nsysx-summary --metrics --tsv "$T/hand" <<'END'
name metric samples mean max coverage exclusive
gemm Active_[Throughput_%] 2 56.4705882353 80 1 0.647058823529
copy Active_[Throughput_%] 1 40 40 1 0
add - 0 - - 0 -
END
awk '{ print } /^metric/ { print }' "$T/hand" | nsysx-summary --partial --metrics --tsv >"$T/got" 2>"$T/err"
same 'the same samples twice count once' "$T/got" /dev/stdin <<END
$(nsysx-summary --metrics --tsv "$T/hand")
END
equal '... and are reported' "$(grep -c 'of their metric and device has ended: ignored (4)' "$T/err")" 1
fails '--metrics with --by' 2 'goes without --by' nsysx-summary --metrics --by kernel "$T/hand"
fails '--metrics of something else' 2 'want kernel, range or step' nsysx-summary --metrics=device "$T/hand"
nsysx-summary --metrics=step --tsv "$T/hand" >"$T/got" 2>"$T/err"
equal 'without steps there is a reason' "$(wc -l <"$T/got") $(grep -c 'no steps: mark them' "$T/err")" '1 1'
grep -v '^metric' "$T/hand" | nsysx-summary --partial --metrics --tsv >"$T/got" 2>"$T/err"
equal '... and without samples' "$(wc -l <"$T/got") $(grep -c 'no samples of GPU metrics: record with' "$T/err")" '1 1'

# ---- a job whose samples are known ----

[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'
"$SYNTH" -q -o "$T/job" --torch --layers 6 --metrics 20000
nsysx-extract --ops --ranges --metrics -o "$T/job.nsysx" "$T/job/r0.sqlite" "$T/job/r1.sqlite" 2>"$T/err"
nsysx-view -t metric "$T/job.nsysx" >"$T/metric"
awk -F'\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ name = $at["name"]; sub(/ .*/, "", name); print $at["device"], $at["start"], name, $at["value"] }' "$T/metric" | LC_ALL=C sort >"$T/got"
awk -F'\t' -v OFS='\t' 'NR > 1 { print $2, $3, "SMs", $5; print $2, $3, "Tensor", $6; print $2, $3, "GPC", 1980000000 }' "$T/job/answers/metrics.tsv" |
	LC_ALL=C sort >"$T/want"
ok 'a generated job has samples' test -s "$T/want"
same 'samples are those of the export, of the GPU of their type' "$T/got" "$T/want"
equal 'a sample lasts until the next; before a pause as long as usual' "$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["dur"] }' "$T/metric" | sort -u)" 20000
equal 'samples that have no name are counted' "$(grep -c 'that the export does not name: ignored$' "$T/err")" 2
equal '... and those before the session' "$(nsysx-extract -v --metrics "$T/job/r0.sqlite" 2>&1 >"$T/null" | grep -c 'samples of GPU metrics before the session: ignored')" 1
nsysx-prepare -q --metrics -o "$T/prepared" "$T/job/r0.sqlite" "$T/job/r1.sqlite"
equal 'nsysx-prepare --metrics has all of them' "$(nsysx-view -q -t metric "$T/prepared" | wc -l)" "$(wc -l <"$T/metric")"
equal '... and without it none' "$(nsysx-prepare -q "$T/job/r0.sqlite" "$T/job/r1.sqlite" | nsysx-view -q -t metric | wc -l)" 1
equal 'without --metrics there are none' "$(nsysx-extract -q -a "$T/job/r0.sqlite" | nsysx-view -q -t metric | wc -l)" 1
"$SYNTH" -q -o "$T/none" --torch
equal 'an export without samples: a warning' "$(nsysx-extract --metrics "$T/none/r0.sqlite" 2>&1 >"$T/null" | grep -c 'no samples of GPU metrics: record with nsys profile --gpu-metrics-devices')" 1
"$SYNTH" -q -o "$T/full" --torch --full --shuffle --metrics 20000 --layers 6
nsysx-extract -q --metrics "$T/full/r0.sqlite" "$T/full/r1.sqlite" | nsysx-view -t metric >"$T/got"
same 'rows in any order are the same samples' "$T/got" "$T/metric"
for r in 0 1; do nsysx-extract -q --ops --ranges --metrics -o "$T/r$r" "$T/job/r$r.sqlite"; done
nsysx-merge -q "$T/r0" "$T/r1" | nsysx-view -t metric >"$T/got"
same 'merged streams have the samples of both' "$T/got" "$T/metric"
nsysx-view -b "$T/job.nsysx" | nsysx-view -t metric >"$T/got"
same '... so has a binary stream' "$T/got" "$T/metric"
from=$(awk -F'\t' 'NR == 2 { print $3 + 1000000 }' "$T/job/answers/metrics.tsv")
nsysx-extract -q --metrics --time "$from:" "$T/job/r0.sqlite" | nsysx-view -t metric | awk -F'\t' 'NR > 1 { print $3 }' | sort -n | head -n 1 >"$T/got"
ok '--time keeps those that overlap it' awk -v from="$from" '{ exit !($1 + 20000 > from && $1 < from + 20000) }' "$T/got"

# By kernel, range and step, found by comparing each sample with each operation.
nsysx-steps -q --mark -o "$T/steps.nsysx" "$T/job.nsysx"
for kind in op step range; do nsysx-view -t $kind "$T/steps.nsysx" >"$T/$kind"; done
cat >"$T/brute.py" <<'END'
import collections, csv, re, sys
read = lambda k: list(csv.DictReader(open(f"{sys.argv[1]}/{k}"), delimiter="\t"))
by = sys.argv[2]
ranges = {(r["profile"], r["range"]): (r["domain"] + ":" if r["domain"] else "") + re.sub(r", (seq|op_id) = .*", "", r["name"]) for r in read("range")}
things = collections.defaultdict(list)
for r in read("step" if by == "step" else "op"):
    name = r["class"] if by == "step" else r["name"] if by == "kernel" else ranges.get((r["profile"], r["range"]))
    if name and int(r["dur"]) > 0:
        things[r["device"]].append((int(r["start"]), int(r["start"]) + int(r["dur"]), name))
total, rows, sampled = collections.Counter(), collections.defaultdict(lambda: [0, 0, 0, 0, -1]), set()
for l in things.values():
    for s, e, n in l:
        total[n] += e - s
def union(l):
    n, end = 0, None
    for s, e in sorted(l):
        n += max(0, e - (s if end is None else max(s, end)))
        end = e if end is None else max(end, e)
    return n
for m in read("metric"):
    s, e = int(m["start"]), int(m["start"]) + int(m["dur"])
    here = [(max(a, s), min(b, e), n) for a, b, n in things[m["device"]] if a < e and b > s]
    for n in {n for _, _, n in here}:
        own, other = [(a, b) for a, b, x in here if x == n], [(a, b) for a, b, x in here if x != n]
        time = union(own)
        if 2 * time >= e - s:
            r = rows[n, m["name"]]
            sampled.add(n)
            r[0] += 1; r[1] += int(m["value"]) * time; r[2] += time; r[3] += union(own + other) - union(other); r[4] = max(r[4], int(m["value"]))
for (n, metric), r in rows.items():
    print(n, metric, r[0], "%.6f" % (r[1] / r[2]), r[4], "%.6f" % (r[2] / total[n]), "%.6f" % (r[3] / r[2]), sep="\t")
for n in total:
    if n not in sampled:
        print(n, "", 0, "", "", "0.000000", "", sep="\t")
END
for by in kernel range step; do
	python3 "$T/brute.py" "$T" $by | LC_ALL=C sort >"$T/want"
	nsysx-summary -q --tsv --metrics=$by "$T/steps.nsysx" | awk -F'\t' -v OFS='\t' 'function f(x) { return x == "" ? "" : sprintf("%.6f", x) }
		NR > 1 { print $1, $2, $3, f($4), $5, f($6), f($7) }' | LC_ALL=C sort >"$T/got"
	same "by $by, as found by comparing each sample with all that ran" "$T/got" "$T/want"
done
nsysx-summary -q --tsv --metrics "$T/job.nsysx" >"$T/got"
nsysx-view "$T/job.nsysx" | nsysx-summary -q --tsv --metrics >"$T/want"
same 'text gives the same as binary' "$T/got" "$T/want"

# On a timeline a metric of a GPU is a counter, with an event for each change.
nsysx-perfetto -q --chrome "$T/job.nsysx" | python3 -c 'import json, sys
seen = {}
for e in json.load(sys.stdin)["traceEvents"]:
    if e["ph"] == "C":
        seen.setdefault((e["pid"], e["name"]), []).append((round(e["ts"] * 1000), e["args"]["value"]))
print(len(seen), sum(len(v) for v in seen.values()), all(a[0] < b[0] and a[1] != b[1] for v in seen.values() for a, b in zip(v, v[1:])))' >"$T/got"
equal 'on a timeline there is a counter for each metric of each GPU' "$(cat "$T/got")" "$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ k = $at["device"] FS $at["name"]; if (!(k in was)) n++; if (!(k in was) || was[k] != $at["value"]) changes++; was[k] = $at["value"] } END { print n, changes, "True" }' "$T/metric")"

# A job of XLA: what warm-up removes has no samples, and samples are shifted with the clock of their device.
"$SYNTH" -q -o "$T/xla" --metrics 50000 --offset 3000000
for r in 0 1; do set -- "$@" -x "$T/xla/dump$r" "$T/xla/r$r.sqlite"; done
nsysx-extract -q --ops --metrics -o "$T/xla.nsysx" "$@"
nsysx-align -q "$T/xla.nsysx" -o "$T/aligned"
# shift KIND: by device how much starts of the first record moved.
shift_of() {
	for f in "$T/xla.nsysx" "$T/aligned"; do
		nsysx-view -q -t "$1" "$f" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			{ d = $at["device"]; if (!(d in t) || $at["start"] < t[d]) t[d] = $at["start"] } END { for (d in t) print d, t[d] }' | sort
	done | awk '$1 in t { print $1, $2 - t[$1]; next } { t[$1] = $2 }'
}
equal 'aligned samples move with the operations of their device' "$(shift_of metric)" "$(shift_of op)"
first=$(nsysx-warmup -q "$T/aligned" | nsysx-view -q -t thunk | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["start"] }' | sort -n | head -n 1)
ok 'warm-up keeps steady samples only' sh -c 'nsysx-warmup -q "$1" | nsysx-view -q -t metric | awk -F"\t" -v first="$2" "NR > 1 { n++; if (\$3 + \$4 <= first) bad = 1 } END { exit !n || bad }"' sh "$T/aligned" "$first"
done_testing
