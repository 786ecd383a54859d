"""brute.py SEEDS DIR -- random jobs, and what nsysx-idle, nsysx-launch, nsysx-copies and nsysx-steps say of them, held to counting moment by moment.

A job is a text stream of a few devices, threads, calls, ranges and operations within some hundred ns, written into DIR. Prints a line for each
claim and job that does not hold, and last how many jobs were tried. Everything is brute force on purpose: nothing here has the shape of
the code under test.
"""
import collections
import json
import math
import random
import re
import subprocess
import sys

SPAN, LATENCY = 600, 9
PARTS = ["compute", "comm", "copy"]
CAUSES = ["before", "after", "graph", "no-call", "profiler", "queue-full", "loading", "sync", "launch", "alloc", "api", "compile", "range", "host",
          "latency", "dependency", "unresolved"]
GROUPS = dict([(c, "edge") for c in CAUSES[:2]] + [("graph", "graph"), ("no-call", "no-call")] + [(c, "launch-starved") for c in CAUSES[4:14]]
              + [(c, "issued") for c in CAUSES[14:]])
HEADS = {
    "device": ["device", "profile", "pid", "last"],
    "overhead": ["profile", "pid", "tid", "start", "dur", "class:s"],
    "call": ["profile", "call", "pid", "tid", "start", "dur", "name:s", "class:s", "ops", "blocking", "stalled", "loading"],
    "range": ["profile", "range", "parent", "pid", "tid", "device", "name:s", "start", "dur", "host_start", "host_dur"],
    "op": ["profile", "op", "type:s", "device", "stream", "name:s", "start", "dur", "range", "bytes", "graph_node", "call", "tid", "host_start", "host_dur",
           "waits", "comm"],
}
RANK = {"overhead": 0, "call": 1, "range": 2, "op": 3}


# ---- a job

def make_job(rnd, odd):
    """Records by kind. odd: some operations start before their call."""
    job = collections.defaultdict(list)
    pids = [7] if rnd.random() < .5 else [7, 8]
    devices = [(d, pids[0] if d < 2 else pids[-1]) for d in range(rnd.choice([1, 2, 3]))]
    threads = [(p, p * 10 + t) for p in pids for t in range(rnd.choice([1, 2, 3]))]
    serial = 0
    job["call"].append(dict(call=0, pid=pids[0], tid=1, start=0, dur=1, name="cuInit", **{"class": "other"}))
    for pid, tid in threads:
        t = rnd.randrange(20)
        while t < SPAN - 100:
            serial += 1
            cls = rnd.choice(["launch"] * 5 + ["graph-launch", "copy", "set", "sync", "event", "alloc", "module", "other"])
            call = dict(call=serial, pid=pid, tid=tid, start=t, dur=rnd.randrange(0, 14), name=cls + "Call" + rnd.choice(["", "Async"]), ops=0, **{"class": cls})
            if cls == "sync" or cls == "copy" and "Async" not in call["name"]:
                call["blocking"] = 1
                call["dur"] += rnd.randrange(40)
            if rnd.random() < .2:
                call["stalled"] = rnd.randrange(1, 5)
            if rnd.random() < .2:
                call["loading"] = rnd.randrange(1, 5)
            job["call"].append(call)
            t += rnd.randrange(0, 40) if rnd.random() < .9 else 0      # the next may begin within this one
        for _ in range(rnd.randrange(6)):
            o = dict(pid=pid, tid=tid, start=rnd.randrange(SPAN), dur=rnd.randrange(40), **{"class": rnd.choice(["profiler", "queue-full", "loading"])})
            if rnd.random() < .2:
                del o["class"]
            elif rnd.random() < .1:
                del o["tid"]
            job["overhead"].append(o)
    free = {}                                       # a stream's end
    for c in list(job["call"]):
        mine = [d for d, p in devices if p == c["pid"]]
        if not mine or c["class"] not in ("launch", "graph-launch", "copy", "set"):
            continue
        device, stream = rnd.choice(mine), rnd.randrange(3)
        if rnd.random() < .1:
            continue
        for node in range(rnd.randrange(1, 5) if c["class"] == "graph-launch" else 1):
            issued = c["start"] + c["dur"] if rnd.random() < .8 else c["start"]
            start = max(issued + rnd.choice([0, 1, 3, LATENCY, LATENCY + 1, 30]), free.get((device, stream), 0) + rnd.choice([0, 0, 2, 5]))
            if odd and rnd.random() < .1:
                start = max(0, c["start"] - rnd.randrange(20))
            dur = rnd.choice([0, 1, 3, 8, 20])
            free[device, stream] = start + dur
            op = dict(type={"copy": "memcpy", "set": "memset"}.get(c["class"], "kernel"), device=device, stream=stream, start=start, dur=dur, call=c["call"],
                      tid=c["tid"], host_start=c["start"], host_dur=c["dur"], bytes=rnd.randrange(100), pid=c["pid"])
            op["name"] = f"{op['type']}{rnd.randrange(3)}"
            if c["class"] == "graph-launch":
                op["graph_node"] = node + 1
                if rnd.random() < .3:
                    op.update(type="graph", name="graph")
                    del op["graph_node"]
                elif rnd.random() < .2:
                    op.update(type="memcpy", name="memcpy9")
            op["comm"] = int(op["type"] == "kernel" and rnd.random() < .25)
            if rnd.random() < .3:
                op["waits"] = rnd.randrange(3)
            if rnd.random() < .1:
                for k in ("call", "tid", "host_start", "host_dur"):
                    del op[k]
            else:
                c["ops"] += 1
            job["op"].append(op)
            if op["type"] == "graph":
                break
    # Ranges of a thread nest or follow each other; each knows the span of what was launched in it.
    def ranges(pid, tid, start, end, parent, depth):
        nonlocal serial
        t = start + rnd.randrange(10)
        while t < end:
            stop = min(end, t + rnd.randrange(1, 250 // depth))
            serial += 1
            r = dict(range=serial, parent=parent, pid=pid, tid=tid, name=rnd.choice(["step", "load", "XlaCompile", "XlaModule:m", "step"]), host_start=t, host_dur=stop - t)
            inside = [o for o in job["op"] if o.get("tid") == tid and t <= o["host_start"] and o["host_start"] + o["host_dur"] <= stop]
            if inside:
                r["start"] = min(o["start"] for o in inside)
                r["dur"] = max(o["start"] + o["dur"] for o in inside) - r["start"]
                if len({o["device"] for o in inside}) == 1:
                    r["device"] = inside[0]["device"]
                for o in inside:
                    o["range"] = r["range"]
            job["range"].append({k: v for k, v in r.items() if v is not None})
            if depth < 3:
                ranges(pid, tid, t, stop, r["range"], depth + 1)
            t = stop + rnd.randrange(30)
    for pid, tid in threads:
        if rnd.random() < .7:
            ranges(pid, tid, rnd.randrange(100), SPAN, None, 1)
    for d, p in devices:
        ends = [o["start"] + o["dur"] for o in job["op"] if o["device"] == d]
        job["device"].append(dict(device=d, pid=p, **({"last": max(ends)} if ends and rnd.random() < .8 else {})))
    return job


def write_job(job, path):
    """Writes the stream; sets of each operation its place among them."""
    lines = ["#nsysx\t2"]
    for kind, cols in HEADS.items():
        lines.append("#" + kind + "".join("\t" + (c if ":" in c else c + ":i") for c in cols))
    work = [(min(r[k] for k in ("start", "host_start") if k in r) if kind == "range" else r["start"], RANK[kind],
             -r.get("host_dur" if kind == "range" else "dur", 0), i, kind, r) for kind in RANK for i, r in enumerate(job[kind])]
    work.sort(key=lambda w: w[:4])
    records = [("device", r) for r in job["device"]] + [w[4:] for w in work]
    job["op"] = [r for kind, r in records if kind == "op"]
    for kind, r in records:
        r["profile"] = 0
        lines.append(kind + "".join("\t" + str(r.get(c.split(":")[0], "")) for c in HEADS[kind]))
    lines += ["#end\trecords:i", f"end\t{len(records)}"]
    open(path, "w", encoding="utf-8").write("\n".join(lines) + "\n")


# ---- moment by moment

def end(r):
    return r["start"] + r["dur"]


def part_at(ops, t):
    on = {("comm" if o["comm"] else "copy" if o["type"] in ("memcpy", "memset") else "compute") for o in ops if o["start"] <= t < end(o)}
    return next((p for p in PARTS if p in on), "idle")


def ranges_at(job, pid, tid, t):
    on = [r for r in job["range"] if r["pid"] == pid and r["tid"] == tid and r["host_start"] <= t < r["host_start"] + r["host_dur"]]
    return sorted(on, key=lambda r: (r["host_start"], -r["host_dur"], r["range"]))


def call_at(job, pid, tid, t):
    on = [c for c in job["call"] if c["pid"] == pid and c["tid"] == tid and c["start"] <= t < end(c)]
    return max(on, key=lambda c: (c["start"], -c["dur"], c["call"]), default=None)


def host_cause(job, op, pid, t):
    over = {o.get("class") for o in job["overhead"] if o["pid"] == pid and o.get("tid") == op["tid"] and o["start"] <= t < end(o)}
    c = call_at(job, pid, op["tid"], t)
    for kind in ("profiler", "queue-full", "loading"):
        if kind in over:
            return kind
    if c:
        if c.get("blocking"):
            return "launch" if c["call"] == op["call"] else "sync"
        return {"module": "loading", "launch": "launch", "graph-launch": "launch", "set": "launch", "copy": "launch", "alloc": "alloc"}.get(c["class"], "api")
    names = [r["name"] for r in ranges_at(job, pid, op["tid"], t)]
    return "compile" if "XlaCompile" in names else "range" if names else "host"


def path_of(job, op):
    by_id, path, r = {r["range"]: r for r in job["range"]}, [], op.get("range")
    while r is not None:
        path.insert(0, by_id[r]["name"])
        r = by_id[r].get("parent")
    return path


def gaps_of(job, device, pid):
    """(g0, g1, op that ends it, drained, [(cause, stack)] of each moment) in order of time; and the device's window."""
    ops = [o for o in job["op"] if o["device"] == device]
    if not ops:
        return [], (0, 0)
    busy, gaps = ops[0]["start"], []
    for i, n in enumerate(ops):
        if n["start"] > busy:
            g0, g1, moments, drained = busy, n["start"], [], False
            m = max(g0, min(n["host_start"] + n["host_dur"], g1)) if "call" in n else None
            second = "graph_node" in n and "call" in n and any(o.get("call") == n["call"] and "graph_node" in o for o in ops[:i])
            late = "dependency" if n.get("waits", 0) > 0 else "unresolved"
            if m is not None and not second and m > g0:
                c = call_at(job, pid, n["tid"], g0)
                drained = c is not None and bool(c.get("blocking")) and c["call"] != n["call"]
            for t in range(g0, g1):
                if second:
                    moments.append(("graph", path_of(job, n) + [n["name"]]))
                elif m is None:
                    moments.append(("no-call", [n["name"]]))
                elif t < m:
                    c = call_at(job, pid, n["tid"], t)
                    moments.append((host_cause(job, n, pid, t), [r["name"] for r in ranges_at(job, pid, n["tid"], t)] + ([c["name"]] if c else [])))
                else:
                    moments.append(("latency" if g1 - m <= LATENCY else late, path_of(job, n) + [n["name"]]))
            gaps.append((g0, g1, n, drained, moments))
        busy = max(busy, end(n))
    return gaps, (ops[0]["start"], busy)


def window_rows(job, device, gaps, own, start, stop, key):
    """Rows of a window of the device: {(key, part, cause): (ns, count, longest, drained)}."""
    ops = [o for o in job["op"] if o["device"] == device]
    parts = [part_at(ops, t) for t in range(start, stop)]
    out = {}
    for p in PARTS:
        runs = [len(r) for r in re.findall("x+", "".join("x" if q == p else "." for q in parts))]
        out[key, p, ""] = (sum(runs), len(runs), max(runs, default=0), 0)
    assert sum(p == "idle" for p in parts) == sum(max(0, min(g[1], stop) - max(g[0], start)) for g in gaps) + max(0, min(own[0], stop) - start) + max(
        0, stop - max(own[1], start))
    for cause in CAUSES:
        each = [(sum(m[0] == cause for m in g[4][max(0, start - g[0]):max(0, stop - g[0])]), g[3]) for g in gaps]
        if cause == "before":
            each = [(max(0, min(own[0], stop) - start), False)]
        if cause == "after":
            each = [(max(0, stop - max(own[1], start)), False)]
        each = [e for e in each if e[0]]
        out[key, "idle", cause] = (sum(e[0] for e in each), len(each), max([e[0] for e in each], default=0), sum(e[0] for e in each if e[1]))
    return out


# ---- claims

def tool(args, path, js=True):
    got = subprocess.run(args + (["--json"] if js else []) + [path], capture_output=True, text=True, encoding="utf-8", check=False)
    # Where a random job has none of the ranges that are named.
    if got.returncode == 1 and "no range matches ^step$" in got.stderr and '\tstep\t' not in open(path, encoding="utf-8").read():
        return []
    if got.returncode:
        return f"status {got.returncode}: {got.stderr.strip()}"
    return json.loads(got.stdout) if js else got.stdout


def rows_of(answer):
    return answer if isinstance(answer, str) else answer["rows"] if isinstance(answer, dict) else answer


def compare(claim, got, want):
    if isinstance(got, str) and not isinstance(want, str):
        print(f"{claim}: {got}")
    elif got != want:
        a, b = (sorted(map(str, x.items() if isinstance(x, dict) else x)) if not isinstance(x, str) else x.split("\n") for x in (got, want))
        print(f"{claim}: has {[x for x in a if x not in b][:3]}, want {[x for x in b if x not in a][:3]}")


def idle_rows(answer, keys):
    rows = rows_of(answer)
    if isinstance(rows, str):
        return rows
    return collections.Counter(((r["device"],) + tuple(r[k] for k in keys), r["part"], r.get("group") or "", r.get("cause") or "", r["ns"], r["count"], r["longest"],
                                r["drained"]) for r in rows)


def listed(windows):
    """What the table has of window_rows: rows of 0 ns are left out."""
    return collections.Counter((k, p, GROUPS.get(c, ""), c) + v for w in windows for (k, p, c), v in w.items() if v[0])


def check_idle(name, job, path, steps):
    by_device, by_range, every, folded, longest, by_step = [], [], [], collections.Counter(), [], []
    base = ["nsysx-idle", "-q", f"--latency={LATENCY}ns", "--names=full"]
    spans = []
    for d in job["device"]:
        device, pid = d["device"], d["pid"]
        gaps, own = gaps_of(job, device, pid)
        spans.append((d, gaps, own))
        by_device.append(window_rows(job, device, gaps, own, *own, (device,)))
        assert sum(v[0] for v in by_device[-1].values()) == own[1] - own[0]
        t = own[0]
        while t < own[1]:
            stop = min(own[1], t // 100 * 100 + 100)
            every.append(window_rows(job, device, gaps, own, t, stop, (device, t // 100 * 100)))
            t = stop
        for r in job["range"]:
            if r["name"] == "step" and "start" in r and r["pid"] == pid and r.get("device", device) == device and own[1] > own[0]:
                by_range.append(window_rows(job, device, gaps, own, r["start"], r["start"] + r["dur"], (device, "step", r["start"])))
        for g0, g1, n, _, moments in gaps:
            for cause, stack in moments:
                group = [GROUPS[cause]] + ([cause] if cause != GROUPS[cause] else [])
                folded[";".join([f"device {device}"] + group + stack)] += 1
            sums = collections.Counter(m[0] for m in moments)
            worst = max(CAUSES, key=lambda c: sums[c])
            longest.append((-(g1 - g0), device, g0, g1 - g0, worst, sums[worst], n.get("tid"), n["name"]))
        for s in steps:
            if s["device"] == device and s["kept"]:
                by_step.append(window_rows(job, device, gaps, own, s["start"], s["start"] + s["period"], (device, s["step"], s["start"])))
    compare(f"{name}: idle by device", idle_rows(tool(base, path), []), listed(by_device))
    lo, hi = min([o[0] for _, g, o in spans if o[1] > o[0]], default=0), max([o[1] for _, g, o in spans], default=0)
    if all(o[1] > o[0] for _, _, o in spans):
        compare(f"{name}: idle --all", idle_rows(tool(base + ["--all"], path), []),
                listed(window_rows(job, d["device"], g, o, lo, hi, (d["device"],)) for d, g, o in spans))
    compare(f"{name}: idle every 100 ns", idle_rows(tool(base + ["--by", "every:100ns"], path), ["start"]), listed(every))
    compare(f"{name}: idle by range", idle_rows(tool(base + ["--by", "range:^step$"], path), ["name", "start"]), listed(by_range))
    if steps:
        compare(f"{name}: idle by step", idle_rows(tool(base + ["--by", "step", "--step", "^step$"], path), ["step", "start"]), listed(by_step))
    got = tool(base + ["--folded"], path, js=False)
    compare(f"{name}: idle stacks", got if got.startswith("status") else dict(((k, int(v)) for k, v in (x.rsplit(" ", 1) for x in got.splitlines()))), dict(folded))
    got = rows_of(tool(base + ["--list", "10"], path))
    compare(f"{name}: longest gaps", got if isinstance(got, str) else [(r["device"], r["start"], r["dur"], r["cause"], r["ns"], r.get("tid"), r["next"]) for r in got],
            [g[1:] for g in sorted(longest, key=lambda g: g[:3])[:10]])


def check_launch(name, job, path):
    rows, by_id, counted = collections.defaultdict(lambda: [0] * 9), {c["call"]: c for c in job["call"]}, set()
    for d in job["device"]:
        ops = [o for o in job["op"] if o["device"] == d["device"]]
        before = {id(g[2]): g[:2] for g in gaps_of(job, d["device"], d["pid"])[0]}
        for o in ops:
            if o["type"] not in ("kernel", "graph") or "call" not in o:
                continue
            key, c, issued = "[CUDA graph]" if o["type"] == "graph" else o["name"], by_id[o["call"]], o["host_start"] + o["host_dur"]
            new = (key, o["call"]) not in counted
            counted.add((key, o["call"]))
            gap = before.get(id(o), (0, 0))
            for i, v in enumerate([1, new, o["start"] >= issued, c["dur"] * new, max(0, o["start"] - issued), o["dur"], sum(t < issued for t in range(*gap)),
                                   c.get("stalled", 0) * new, c.get("loading", 0) * new]):
                rows[key][i] += v
    got = rows_of(tool(["nsysx-launch", "-q"], path))
    cols = ["kernels", "calls", "queued", "api", "queue", "kernel", "starved", "stalled", "loading"]
    compare(f"{name}: launch", got if isinstance(got, str) else {r["name"]: ([r[c] for c in cols], r.get("verdict") or "") for r in got},
            {k: (v, "" if v[6] <= v[5] else "launch-bound" if v[6] <= 20000 * v[0] else "late") for k, v in rows.items()})


def check_copies(name, job, path):
    rows, by_id = collections.defaultdict(lambda: [0] * 4), {c["call"]: c for c in job["call"]}
    for o in job["op"]:
        if o["type"] not in ("memcpy", "memset"):
            continue
        others = [x for x in job["op"] if x is not o and x["device"] == o["device"] and (x["comm"] or x["type"] not in ("memcpy", "memset"))]
        # The stream tells a call's name when it starts: later than an operation that starts before it.
        mode = "" if "call" not in o else "async" if "graph_node" in o else "" if o["start"] < o["host_start"] else "async" if "Async" in by_id[o["call"]]["name"] else "sync"
        for i, v in enumerate([1, o["bytes"], o["dur"], sum(any(x["start"] <= t < end(x) for x in others) for t in range(o["start"], end(o)))]):
            rows[o["name"], mode][i] += v
    got = rows_of(tool(["nsysx-copies", "-q"], path))
    compare(f"{name}: copies", got if isinstance(got, str) else {(r["name"], r.get("mode") or ""): [r["count"], r["bytes"], r["time"], round((r.get("hidden_share") or 0) * r["time"])] for r in got},
            {k: v for k, v in rows.items()})


def number_steps(out):
    """One number for a step of the job: devices are shifted against the one with most steps, by the median distance to its nearest steps: of
    those that communicate within half a period of each other by that, of others by their starts."""
    by_device = [[s for s in out if s["device"] == d] for d in sorted({s["device"] for s in out})]
    if not by_device:
        return
    first = max(by_device, key=len)
    half = (first[-1]["start"] - first[0]["start"]) // (len(first) - 1) // 2 if len(first) > 1 else math.inf
    shifts = [None] * len(by_device)
    for when in ("met", "start"):
        ref = sorted((s[when], j) for j, s in enumerate(first) if s[when] is not None)
        for d, own in enumerate(by_device):
            places, before = [], None
            for i, s in enumerate(own):
                if not ref or s[when] is None or s[when] == before:
                    continue
                before = x = s[when]
                near = max(t for t, _ in ref if abs(t - x) == min(abs(t - x) for t, _ in ref))
                if abs(near - x) <= half or ref[0][0] < x < ref[-1][0]:
                    places.append(min(j for t, j in ref if t == near) - i)
            if own is first:
                shifts[d] = 0
            elif shifts[d] is None and places:
                shifts[d] = sorted(places)[(len(places) - 1) // 2]
    least = min(s for s in shifts if s is not None)
    for own, shift in zip(by_device, shifts):
        for i, s in enumerate(own):
            s["step"] = i if shift is None else i + shift - least


def steps_of(job):
    """Steps of the class `step` on each device, by start."""
    mine = [r for r in job["range"] if r["name"] == "step"]
    stop = lambda r: r["host_start"] + r["host_dur"]
    key = lambda r: (r["host_start"], -r["host_dur"], r["range"])
    outer = [r for r in mine if not any(x is not r and x["tid"] == r["tid"] and x["host_start"] <= r["host_start"] and stop(r) <= stop(x) and key(x) < key(r) for x in mine)]
    pid_of = {d["device"]: d["pid"] for d in job["device"]}
    owners = {(r["pid"], r["tid"]) for r in outer}
    ops = collections.defaultdict(list)
    launched = [o for o in job["op"] if "call" in o]
    for o in launched:
        for r in outer:
            if (r["pid"], r["tid"]) == (pid_of[o["device"]], o["tid"]) and r["host_start"] <= o["host_start"] and o["host_start"] + o["host_dur"] <= stop(r):
                ops[r["range"], o["device"]].append((o, 0))
                break
    own = {((r["pid"], r["tid"]), d) for r in outer for d in pid_of if (r["range"], d) in ops}
    for o in launched:
        pid = pid_of[o["device"]]
        if (pid, o["tid"]) in owners:
            continue
        held = [r for r in outer if r["pid"] == pid and r["host_start"] <= o["host_start"] < stop(r)]
        held = [r for r in held if ((pid, r["tid"]), o["device"]) in own] or held
        if held:
            ops[max(held, key=lambda r: r["host_start"])["range"], o["device"]].append((o, 1))
    out = []
    for r in outer:
        for d in pid_of:
            got = ops.get((r["range"], d))
            if got:
                first, last = min(o["start"] for o, _ in got), max(end(o) for o, _ in got)
                ends = [end(o) for o, _ in got if o.get("comm") == 1]
                out.append(dict(device=d, range=r["range"], met=min(ends) + (max(ends) - min(ends)) // 2 if ends else None, start=first, span=last - first, ops=len(got), helper=sum(h for _, h in got)))
    # Of equal starts the range that came first in the stream.
    place = {r["range"]: (min(r["host_start"], r.get("start", r["host_start"])), -r["host_dur"], i) for i, r in enumerate(job["range"])}
    out.sort(key=lambda s: (s["device"], s["start"], place[s["range"]]))
    number_steps(out)
    for i, s in enumerate(out):
        s["period"] = out[i + 1]["start"] - s["start"] if i + 1 < len(out) and out[i + 1]["device"] == s["device"] else None
        s.update(dict.fromkeys(("busy", "compute", "exposed", "hidden", "copy", "idle")))
        if s["period"] is not None:
            every, times = [o for o in job["op"] if o["device"] == s["device"]], range(s["start"], s["start"] + s["period"])
            parts = [part_at(every, t) for t in times]
            s.update(hidden=sum(any(o["start"] <= t < end(o) and o["comm"] for o in every) and part_at(every, t) == "compute" for t in times), compute=parts.count("compute"),
                     exposed=parts.count("comm"), copy=parts.count("copy"), idle=parts.count("idle"), busy=len(parts) - parts.count("idle"))
    keep_pure(job, out, outer)
    return out


def keep_pure(job, out, outer):
    """Periods count if no range lies between their step and the next one of its thread whose GPU work lasts half of a median step; if a device
    has fewer than two of these, all do."""
    stop = lambda r: r["host_start"] + r["host_dur"]
    after = {}
    for thread in {(r["pid"], r["tid"]) for r in outer}:
        mine = sorted((r for r in outer if (r["pid"], r["tid"]) == thread), key=lambda r: (r["host_start"], -r["host_dur"], r["range"]))
        after.update({a["range"]: (a, b) for a, b in zip(mine, mine[1:])})
    for d in {s["device"] for s in out}:
        mine = [s for s in out if s["device"] == d]
        spans = sorted(s["span"] for s in mine)
        median = spans[(len(spans) + 1) // 2 - 1]
        for s in mine:
            a, b = after.get(s["range"], (None, None))
            s["pure"] = a is None or not any(
                (r["pid"], r["tid"]) == (a["pid"], a["tid"]) and r["host_start"] >= stop(a) and stop(r) <= b["host_start"] and r.get("device") == d
                and r.get("dur", 0) > 0 and r["dur"] >= median - median // 2 for r in job["range"])
        pure = [s for s in mine if s["period"] is not None and s["pure"]]
        for s in mine:
            s["kept"] = s["period"] is not None and (s["pure"] or len(pure) < 2)


def check_steps(name, job, path):
    want = steps_of(job)
    got = rows_of(tool(["nsysx-steps", "-q", "--step", "^step$", "--each"], path))
    cols = ["device", "step", "range", "start", "span", "period", "busy", "compute", "exposed", "hidden", "copy", "idle", "ops", "helper"]
    compare(f"{name}: steps", got if isinstance(got, str) else [tuple(r.get(c) for c in cols) for r in got], [tuple(s[c] for c in cols) for s in want])
    got = rows_of(tool(["nsysx-steps", "-q", "--step", "^step$"], path))
    rows = {}
    for d in {s["device"] for s in want}:
        row = [sum(s["device"] == d for s in want)]
        for m in ("period", "span", "busy", "exposed", "idle"):
            v = sorted(s[m] for s in want if s["device"] == d and s[m] is not None and (s["kept"] or m == "span"))
            # Nearest rank: the ceil(p n / 100)-th smallest.
            row += [v[(p * len(v) + 99) // 100 - 1] if v else None for p in (50, 90, 99, 100)]
        rows[d] = row
    compare(f"{name}: percentiles of steps", got if isinstance(got, str) else
            {r["device"]: [r["count"]] + [r.get(f"{m}_{p}") for m in ("period", "span", "busy", "exposed", "idle") for p in ("p50", "p90", "p99", "max")] for r in got}, rows)
    return want


def main():
    jobs, folder = int(sys.argv[1]), sys.argv[2]
    for seed in range(jobs):
        rnd, odd = random.Random(seed), seed % 2 == 1
        job, path, name = make_job(rnd, odd), f"{folder}/job{seed}", f"job {seed}"
        write_job(job, path)
        steps = []
        if not odd:
            steps = check_steps(name, job, path)
        check_idle(name, job, path, steps)
        check_launch(name, job, path)
        check_copies(name, job, path)
    print(f"{jobs} jobs")


main()
