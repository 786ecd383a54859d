#!/bin/sh
# What CUDA allocates: nsysx-extract --memory and nsysx-summary --memory, on a generated job, for no export with the table was at hand.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"

# ---- by hand ----

# Process 7 of report 0 and process 7 of report 1 have the same addresses; 100 is allocated twice without a free between; 999 was
# allocated before; 200 is pinned; 300 and 400 are of a pool that has reserved 64, then 96.
cat <<'END_OF' | stream >"$T/hand"
#device device:i profile:i pid:i memory:i
device 0 0 7 1000
device 1 1 7 1000
#range profile:i range:i parent:i pid:i tid:i host_start:i host_dur:i name:s
#memory profile:i device:i pid:i start:i change:s memory:s bytes:i address:i context:i by:s range:i variable:s pool:i pool_size:i
#step profile:i device:i class:s step:i start:i dur:i host_start:i host_dur:i
range 0 1 - 7 7 0 100 outer
memory 0 - 7 5 alloc pinned 70 200 1 cudaHostAlloc 1 - - -
memory 0 0 7 6 free device 5 999 1 cudaFree 1 - - -
range 0 2 1 7 7 10 50 inner
memory 0 0 7 10 alloc device 100 100 1 cudaMalloc 2 - - -
memory 0 0 7 20 alloc device 40 100 1 cudaMalloc 2 - - -
memory 1 1 7 25 free device 40 100 1 cudaFree - - - -
memory 0 0 7 30 alloc device 30 300 1 cudaMallocAsync 2 - 5 64
memory 0 0 7 40 alloc device 50 400 1 cudaMallocAsync 1 - 5 96
memory 0 0 7 45 alloc device-static 10 500 2 - - table - -
memory 0 0 7 50 free device 30 300 1 cudaFreeAsync 2 - 5 96
memory 0 0 7 55 free device 40 100 1 cudaFree 2 - - -
step 0 0 train 3 60 100 15 30
END_OF
table_is 'peaks by kind of memory: a free of something unknown subtracts nothing, a second allocation replaces the first' \
	nsysx-summary -q --memory --tsv "$T/hand" <<'END_OF'
profile device pid memory peak reserved capacity share start class step end allocs frees unknown
0 0 7 all 130 146 1000 0.146 45 - - 60 5 3 1
0 0 7 device 100 - 1000 0.1 10 - - 0 2 2 1
0 0 7 pool 80 96 1000 0.096 40 train 3 50 2 1 0
0 - 7 all 70 - - - 5 - - 70 1 0 0
0 - 7 pinned 70 - - - 5 - - 70 1 0 0
0 0 7 device-static 10 - 1000 0.01 45 - - 10 1 0 0
1 1 7 all 0 - 1000 0 - - - 0 0 1 1
1 1 7 device 0 - 1000 0 - - - 0 0 1 1
END_OF
table_is 'what is live at the peak, by call and ranges' nsysx-summary -q --memory=live --tsv "$T/hand" <<'END_OF'
profile device pid memory by path variable count bytes share
0 - 7 pinned cudaHostAlloc outer - 1 70 1
0 0 7 pool cudaMallocAsync outer - 1 50 0.384615384615
0 0 7 device cudaMalloc outer;inner - 1 40 0.307692307692
0 0 7 pool cudaMallocAsync outer;inner - 1 30 0.230769230769
0 0 7 device-static - - table 1 10 0.0769230769231
END_OF
nsysx-summary --memory --tsv "$T/hand" 2>&1 >"$T/null" | grep -c 'allocated before: how much is not known.*(2)\|a free was not recorded' >"$T/got"
equal 'both are said' "$(cat "$T/got")" 2
fails '--memory with --by' 2 'goes without --by' nsysx-summary --memory --by kernel "$T/hand"
fails '... with --metrics' 2 'and --memory' nsysx-summary --memory --metrics "$T/hand"
fails '... of something else' 2 'want peak, curve or live' nsysx-summary --memory=all "$T/hand"
grep -v '^memory' "$T/hand" | nsysx-summary --partial --memory --tsv >"$T/got" 2>"$T/err"
equal 'without allocations there is a reason' "$(wc -l <"$T/got") $(grep -c 'no allocations of memory: record with' "$T/err")" '1 1'

# Two processes with the same addresses on a device, and an allocation where one of another memory was not freed.
cat <<'END_OF' | stream >"$T/two"
#device device:i profile:i pid:i memory:i
device 0 0 7 1000
#memory profile:i device:i pid:i start:i change:s memory:s bytes:i address:i context:i pool:i pool_size:i
memory 0 0 7 10000 alloc device 100 100 1 - -
memory 0 0 8 20000 alloc device 50 100 1 - -
memory 0 0 7 30000 free device 100 100 1 - -
memory 0 0 8 40000 alloc device 7 100 1 5 64
memory 0 0 8 50000 alloc device 9 100 1 5 64
END_OF
nsysx-perfetto -q --chrome "$T/two" | python3 -c 'import json, sys
for e in json.load(sys.stdin)["traceEvents"]:
    if e["ph"] == "C": print(e["name"], *e["args"].values())' >"$T/got"
equal 'counters of a device have what all processes allocated of a memory' "$(sed 's/allocated: //' "$T/got" | tr '\n' ,)" \
	'device 100,device 150,device 50,device 0,pool 7,pool 9,'

# ---- a job of PyTorch whose peak is known ----

[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'
"$SYNTH" -q -o "$T/job" --torch --memory --steps 9
nsysx-extract -q -a --memory -o "$T/job.nsysx" "$T/job/r0.sqlite" "$T/job/r1.sqlite"
nsysx-steps -q --mark -o "$T/steps.nsysx" "$T/job.nsysx"
nsysx-summary -q --memory --tsv "$T/steps.nsysx" >"$T/peak"
awk -F'\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["device"] != "" && $at["memory"] == "all" { print $at["device"], $at["pid"], $at["peak"], $at["reserved"], $at["step"] }' "$T/peak" | sort >"$T/got"
tail -n +2 "$T/job/answers/allocated.tsv" | sort >"$T/want"
ok 'the answers have devices' test -s "$T/want"
same 'peaks, with pools, and their steps are those that the job was made with' "$T/got" "$T/want"

# From the tables of the exports, with a list of what is live after each row.
cat >"$T/brute.py" <<'END_OF'
import collections, sqlite3, sys
kinds = {1: "pinned", 2: "device", 5: "device-static"}
for n, path in enumerate(sys.argv[2:]):
    db = sqlite3.connect(path)
    names = dict(db.execute("SELECT id, value FROM StringIds"))
    calls = {}
    for corr, gtid, start, end, name in db.execute("SELECT correlationId, globalTid, start, end, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start, end DESC"):
        calls.setdefault((gtid >> 24, corr), (gtid, start, end, names[name].rsplit("_v", 1)[0]))
    ranges = [(g, s, e, t if t is not None else names[i]) for g, s, e, t, i in
              db.execute("SELECT globalTid, start, end, text, textId FROM NVTX_EVENTS WHERE eventType IN (59, 60) AND end IS NOT NULL")]
    live, now, points, sites = {}, collections.Counter(), collections.defaultdict(list), {}
    for start, gpid, dev, ctx, addr, size, kind, op, var, corr, pool in db.execute(
            "SELECT start, globalPid, deviceId, contextId, address, bytes, memKind, memoryOperationType, name, correlationId, localMemoryPoolAddress FROM CUDA_GPU_MEMORY_USAGE_EVENTS ORDER BY start, rowid"):
        pid = gpid >> 24 & 0xffffff
        where = (n, "" if kind == 1 else n, pid)     # one device in each report: that of its number
        old = live.pop((gpid, ctx, addr), None)
        if old:
            for m in (old[1], "all"):
                now[old[0], m] -= old[2]
        if op == 0:
            memory = "pool" if pool else kinds[kind]
            c = calls.get((gpid >> 24, corr))
            path = ";".join(t for g, s, e, t in sorted((r for r in ranges if c and r[0] == c[0] and r[1] <= c[1] and c[2] <= r[2]), key=lambda r: (r[1], -r[2])))
            live[gpid, ctx, addr] = where, memory, size, (memory, c[3] if c else "", path, var or "")
            for m in (memory, "all"):
                now[where, m] += size
        elif not old:
            continue
        for m in ((live[gpid, ctx, addr][1] if op == 0 else old[1]), "all"):
            points[where, m].append((start, now[where, m]))
            if m == "all" and now[where, m] > sites.get(where, (0,))[0]:
                c = collections.Counter(); k = collections.Counter()
                for w, _, b, site in live.values():
                    if w == where: c[site] += b; k[site] += 1
                sites[where] = now[where, m], c, k
    if sys.argv[1] == "curve":
        for (w, m), l in points.items():
            for start, b in l: print(*w, m, start, b, sep="\t")
    elif sys.argv[1] == "peak":
        for (w, m), l in points.items():
            peak = max(b for _, b in l)
            print(*w, m, peak, min(s for s, b in l if b == peak), l[-1][1], sep="\t")
    else:
        for w, (peak, c, k) in sites.items():
            for s, b in c.items():
                if b >= peak // 1000: print(*w, *s, k[s], b, sep="\t")
            small = [s for s, b in c.items() if b < peak // 1000]
            if small: print(*w, "", "", "[rest]", "", sum(k[s] for s in small), sum(c[s] for s in small), sep="\t")
END_OF
brute() { python3 "$T/brute.py" "$1" "$T/job/r0.sqlite" "$T/job/r1.sqlite" | LC_ALL=C sort >"$T/want"; }
cut_of() { cut -f "$1" | tail -n +2 | LC_ALL=C sort >"$T/got"; }
brute peak
cut_of 1-5,9,12 <"$T/peak"
same 'peaks, their times and ends, as found by going through the tables' "$T/got" "$T/want"
brute live
nsysx-summary -q --memory=live --tsv "$T/steps.nsysx" | cut_of 1-9
same 'what is live at the peak, by call and ranges' "$T/got" "$T/want"
awk -F'\t' '{ s[$1 FS $2] += $9 } END { for (k in s) print k FS s[k] }' "$T/got" | sort >"$T/sums"
awk -F'\t' 'NR > 1 && $4 == "all" { print $1 FS $2 FS $5 }' "$T/peak" | sort >"$T/want"
same '... sums to the peak' "$T/sums" "$T/want"
brute curve
# Where an allocation replaces one whose free was not recorded, the table has the moment between too.
nsysx-summary -q --memory=curve --tsv "$T/steps.nsysx" | cut -f 1-6 | tail -n +2 | LC_ALL=C sort >"$T/got"
equal 'a short curve is whole' "$(comm -13 "$T/got" "$T/want" | wc -l) $(comm -23 "$T/got" "$T/want" | awk -F'\t' '{ print $5 }' | sort -u | wc -l)" '0 2'

nsysx-summary -q --memory=live --tsv "$T/steps.nsysx" >"$T/want"
nsysx-view "$T/steps.nsysx" | nsysx-summary -q --memory=live --tsv >"$T/got"
same 'text gives the same as binary' "$T/got" "$T/want"
for r in 0 1; do nsysx-extract -q -a --memory -o "$T/r$r" "$T/job/r$r.sqlite"; done
nsysx-merge -q "$T/r0" "$T/r1" | nsysx-view -q -t memory >"$T/got"
nsysx-view -q -t memory "$T/job.nsysx" >"$T/want"
same 'merged streams have the records of both' "$T/got" "$T/want"
"$SYNTH" -q -o "$T/full" --torch --memory --steps 9 --full --shuffle
nsysx-extract -q -a --memory "$T/full/r0.sqlite" "$T/full/r1.sqlite" | nsysx-steps -q --mark | nsysx-summary -q --memory --tsv >"$T/got"
cut -f 1-9,12- "$T/peak" >"$T/want"
cut -f 1-9,12- "$T/got" >"$T/shuffled"
same 'rows in any order, in a full export, are the same' "$T/shuffled" "$T/want"
"$SYNTH" -q -o "$T/old" --torch --memory --steps 9 --schema 3.0.0
nsysx-extract -q -a --memory "$T/old/r0.sqlite" "$T/old/r1.sqlite" | nsysx-summary -q --memory --tsv | awk -F'\t' 'NR > 1 && $2 != "" && $4 == "all" { print $5 FS $6 }' | sort >"$T/got"
equal 'without columns of pools nothing is of one' "$(cat "$T/got")" "$(printf '%s\t\n' $(awk 'NR > 1 { print $3 }' "$T/job/answers/allocated.tsv" | sort))"
equal 'without --memory there are none' "$(nsysx-extract -q -a "$T/job/r0.sqlite" | nsysx-view -q -t memory | wc -l)" 1
middle=$(awk -F'\t' '$4 == "all" && $2 == 0 { print $9 }' "$T/peak")
nsysx-extract -q -a --memory --time "$((middle - 1000)):" "$T/job/r0.sqlite" | nsysx-summary -q --memory --tsv | awk -F'\t' '$4 == "all" && $2 == 0 { print $5 }' >"$T/got"
equal '--time keeps what was allocated before it' "$(cat "$T/got")" "$(awk -F'\t' '$4 == "all" && $2 == 0 { print $5 }' "$T/peak")"
sqlite3 "$T/full/r0.sqlite" 'UPDATE CUDA_GPU_MEMORY_USAGE_EVENTS SET start = 0'
equal 'events that are all at one time: a warning' "$(nsysx-extract --memory "$T/full/r0.sqlite" 2>&1 >"$T/null" | grep -c 'allocations of memory all have one time')" 1
# Its enumeration counts otherwise.
cp "$T/job/r0.sqlite" "$T/other.sqlite"
sqlite3 "$T/other.sqlite" 'UPDATE CUDA_GPU_MEMORY_USAGE_EVENTS SET memKind = memKind + 10, memoryOperationType = 1 - memoryOperationType;
	UPDATE ENUM_CUDA_MEM_KIND SET id = id + 10; UPDATE ENUM_CUDA_DEV_MEM_EVENT_OPER SET label = CASE id WHEN 1 THEN "Allocation" ELSE "Deallocation" END'
nsysx-extract -q --memory "$T/other.sqlite" | nsysx-summary -q --memory --tsv | cut -f 4-6 >"$T/got"
nsysx-extract -q --memory "$T/job/r0.sqlite" | nsysx-summary -q --memory --tsv | cut -f 4-6 >"$T/want"
same 'the numbers of an export mean what its own tables say' "$T/got" "$T/want"

# Many changes: points are changes, the peak is one, and between two the curve is nowhere above both.
python3 - >"$T/many" <<'END_OF'
import random
random.seed(3)
print("#device\tdevice:i\tprofile:i\n#memory\tprofile:i\tdevice:i\tpid:i\tstart:i\tchange:s\tmemory:s\tbytes:i\taddress:i\tcontext:i\ndevice\t0\t0")
live, n = [], 0
for t in range(20000):
    if live and random.random() < .497:
        a, b = live.pop(random.randrange(len(live)))
        print("memory", 0, 0, 7, 10 * t, "free", "device", b, a, 1, sep="\t")
    else:
        n += 1; b = random.randint(1, 10**9); live.append((n, b))
        print("memory", 0, 0, 7, 10 * t, "alloc", "device", b, n, 1, sep="\t")
END_OF
nsysx-summary -q --partial --memory=curve --tsv "$T/many" >"$T/got"
python3 - "$T/many" "$T/got" <<'END_OF' >"$T/said"
import sys
now, curve, size = 0, [], {}
for l in open(sys.argv[1]):
    f = l.split("\t")
    if f[0] == "memory":
        now += int(f[7]) if f[5] == "alloc" else -int(f[7])
        curve.append((int(f[4]), now))
rows = [l.rstrip("\n").split("\t") for l in open(sys.argv[2])][1:]
pts = [(int(r[4]), int(r[5])) for r in rows if r[3] == "device"]
at = dict(curve)
print(all(at[t] == b for t, b in pts), max(b for _, b in pts) == max(at.values()), pts[-1] == curve[-1], 200 < len(pts) <= 513,
      all(b <= max(p[1], q[1]) for p, q in zip(pts, pts[1:]) for t, b in curve[p[0] // 10:q[0] // 10 + 1]))
END_OF
equal 'a long curve keeps its peak and its end, and bounds what it leaves out' "$(cat "$T/said")" 'True True True True True'

# On a timeline: a counter for each kind of memory of each device and process, at each change.
nsysx-perfetto -q --chrome "$T/job.nsysx" | python3 -c 'import json, sys
seen = {}
for e in json.load(sys.stdin)["traceEvents"]:
    if e["ph"] == "C":
        seen.setdefault((e["pid"], e["name"]), []).append(list(e["args"].values())[0])
for v in sorted((k[1].split(" ")[-1], max(v), v[-1]) for k, v in seen.items()): print(*v, sep="\t")' >"$T/got"
awk -F'\t' -v OFS='\t' 'NR > 1 && $4 != "all" { print $4, $5, $12 }' "$T/peak" | sort >"$T/want"
sort "$T/got" >"$T/sorted"
same 'on a timeline there is a counter for each kind of memory' "$T/sorted" "$T/want"

# A job of XLA allocates once: the curve is flat, which is said; warm-up keeps what initialisation allocated.
"$SYNTH" -q -o "$T/xla" --memory --offset 3000000
set --
for r in 0 1; do set -- "$@" -x "$T/xla/dump$r" "$T/xla/r$r.sqlite"; done
nsysx-prepare -q --memory -o "$T/xla.nsysx" "$@"
nsysx-summary --memory --tsv "$T/xla.nsysx" >"$T/got" 2>"$T/err"
equal 'what was allocated before warm-up is there' "$(awk -F'\t' 'NR > 1 { print $2, $4, $5 }' "$T/got" | sort | tr '\n' ' ')" '0 all 64424509440 0 device 64424509440 1 all 64424509440 1 device 64424509440 '
equal '... and that it is one piece is said' "$(grep -c 'one allocation is most of the memory.*(2)' "$T/err")" 1
nsysx-extract -q --ops --memory -o "$T/u.nsysx" "$@"
nsysx-align -q "$T/u.nsysx" -o "$T/aligned"
# shift KIND COLUMN: by device how much starts of the first record moved.
shift_of() {
	for f in "$T/u.nsysx" "$T/aligned"; do
		nsysx-view -q -t "$1" "$f" | awk -F'\t' -v c="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			{ d = $at["device"]; if (!(d in t) || $at[c] < t[d]) t[d] = $at[c] } END { for (d in t) print d, t[d] }' | sort
	done | awk '$1 in t { print $1, $2 - t[$1]; next } { t[$1] = $2 }'
}
equal 'aligned events move with the host of their device' "$(shift_of memory start)" "$(shift_of op host_start)"
"$SYNTH" -q -o "$T/none" --torch
equal 'an export without allocations: a warning' "$(nsysx-extract --memory "$T/none/r0.sqlite" 2>&1 >"$T/null" | grep -c 'no allocations of memory: record with nsys profile --cuda-memory-usage=true')" 1
done_testing
