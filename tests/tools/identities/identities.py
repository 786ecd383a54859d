"""What has to hold in every table of any stream: identities.py STREAM

Sums over rows are those of the operations, parts add up to their whole, one number has one value whatever groups it by, and no
share is above 1. For each claim a line as agree.py prints it. Nothing is known of the job: any stream with operations will do.
"""
import collections
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "agree"))
from agree import Differs, RELATIVE, claim_list, judge, kind_of, length, minus, inside, run, rows_of, table, union  # noqa: E402

REACH = 1 << 61
claims, claim = claim_list()


def meet(u, v):
    return minus(u, minus(u, v))


def add_up(rows, column, keys=()):
    sums = collections.Counter()
    for r in rows:
        sums[tuple(r[k] for k in keys)] += r.get(column) or 0
    return {k: v for k, v in sums.items() if v}


def end(o):
    return o["start"] + o["dur"]


def reaches(o):
    return all(-REACH <= o[c] <= REACH for c in ("start", "dur", "host_start", "host_dur") if o.get(c) is not None)


class Stream:
    """Operations by device, of those with times that tools count."""

    def __init__(self, path):
        self.path = path
        every = table("view -q -t op", path)
        self.timed = [o for o in every if o["dur"] is not None and o["dur"] >= 0 and reaches(o)]
        self.device = collections.defaultdict(list)
        for o in self.timed:
            if o["start"] is not None and o["device"] is not None:
                self.device[o["device"]].append(o)
        for ops in self.device.values():
            ops.sort(key=lambda o: o["start"])

    def time(self, device, *kinds):
        return union((o["start"], end(o)) for o in self.device[device] if kind_of(o) in kinds)

    def table(self, command):
        return table(command, self.path)

    def by(self, how):
        return self.table(f"summary -q --by {how}")


@claim("--by overlap: hidden is the time in which devices computed and also communicated or copied, whatever of it is known")
def overlap(s, same):
    rows, hidden, count = s.by("overlap"), 0, 0
    for d, ops in s.device.items():
        others = s.time(d, "comm", "copy")
        hidden += length(meet(s.time(d, "compute"), others))
        count += sum(1 for o in ops if kind_of(o) == "compute" and length(meet([[o["start"], end(o)]], inside(others, o["start"], end(o)))))
    same("hidden", sum(r["hidden"] for r in rows), hidden)
    same("count", sum(r["count"] for r in rows), count)
    for r in rows:
        same(f"{r['name']}: known is of hidden", r["known"] <= r["hidden"], True)
        if r["saved"] is not None:
            same(f"{r['name']}: saved", r["saved"], r["known"] - r["paid"], 1)
            same(f"{r['name']}: paid", r["slowdown"], r["beside_mean"] / r["alone_mean"] - 1, 1e-6)


@claim("--by device: parts add up to the window; what is hidden runs beside something")
def devices(s, same):
    for r in s.by("device"):
        d = r["device"]
        if d not in s.device or not r["window"]:
            continue
        same(f"parts of device {d}", r["compute"] + r["exposed"] + r["copy"] + r["idle"], r["window"])
        same(f"hidden of device {d}", r["hidden"], length(meet(s.time(d, "compute"), s.time(d, "comm"))))
        same(f"copy_hidden of device {d}", r["copy_hidden"], length(meet(s.time(d, "compute", "comm"), s.time(d, "copy"))))


@claim("--metrics: samples and coverage are those of the operations, counted one by one; no coverage above 1")
def metrics(s, same):
    samples = s.table("view -q -t metric")
    for how in ("kernel", "range", "step") if samples else ():
        for r in s.table(f"summary -q --metrics={how}"):
            if r["samples"]:
                same(f"--metrics={how}, shares of {r['name']}", 0 < r["coverage"] <= 1 + 1e-9 and 0 <= r["exclusive"] <= 1 + 1e-9, True)
                same(f"--metrics={how}, mean of {r['name']}", r["mean"] <= r["max"] * (1 + 1e-9), True)
    time, want, until = collections.Counter(), collections.defaultdict(lambda: [0, 0]), {}
    for ops in s.device.values():
        for o in ops:
            time[o["name"]] += o["dur"]
    for m in samples:
        a, b, key = m["start"], m["start"] + (m["dur"] or 0), (m["device"], m["name"])
        if a >= b or a < until.get(key, a):
            continue
        until[key] = b
        names = collections.defaultdict(list)
        for o in s.device.get(m["device"], ()):
            if o["start"] < b and end(o) > a:
                names[o["name"]].append((max(a, o["start"]), min(b, end(o))))
        for name, pieces in names.items():
            ns = length(union(pieces))
            if 2 * ns >= b - a:
                want[name, m["name"]][0] += 1
                want[name, m["name"]][1] += ns
    got = {(r["name"], r["metric"]): r for r in s.table("summary -q --metrics")} if samples else {}
    same("names with samples", sum(1 for r in got.values() if r["samples"]), len(want))
    for key, (n, ns) in want.items():
        r = got.get(key, {})
        same(f"samples of {key}", r.get("samples"), n)
        same(f"coverage of {key}", r.get("coverage"), ns / time[key[0]], 1e-9)


@claim("nsysx-launch: kernels and ranges have the same sums")
def launches(s, same):
    kernels, ranges = s.table("launch -q"), s.table("launch -q --by range")
    for column in ("kernels", "kernel", "queued", "queue", "starved"):
        same(column, sum(r[column] for r in ranges), sum(r[column] for r in kernels))


@claim("nsysx-launch --by graph: replays, spans and waits are those of the operations; busy and gaps add up to the span")
def graphs(s, same):
    rows, replays, starved = s.table("launch -q --by graph"), collections.defaultdict(list), 0
    for d, ops in s.device.items():
        busy = gone = None
        for o in ops:
            if o.get("removed") is not None:
                gone = o["start"] - o["removed"]
            key = d, o["profile"], o["call"]
            if (o["type"] == "graph" or o["graph_node"] is not None) and o["call"] is not None:
                if key not in replays and busy is not None and o["host_start"] is not None:
                    starved += max(0, min(o["start"], o["host_start"] + (o["host_dur"] or 0)) - max(busy, busy if gone is None else gone))
                replays[key].append(o)
            busy = max(busy or end(o), end(o))
    same("replays", sum(r["replays"] for r in rows), len(replays))
    same("span", sum(r["span"] for r in rows), sum(max(map(end, v)) - v[0]["start"] for v in replays.values()))
    same("starved", sum(r["starved"] for r in rows), starved)
    for r in rows:
        if r["busy"] is not None:
            same(f"parts of {r['name']}", r["busy"] + r["gaps"], r["span"])


@claim("nsysx-launch --by stretch: what is starved is idle, and shares are of the windows of devices")
def stretches(s, same):
    rows, of = s.table("launch -q --by stretch"), s.by("device")
    whole = sum(r["window"] or 0 for r in of)
    for r in rows:
        same(f"{r['name']}: starved is idle, in the span", r["starved"] <= r["idle"] <= r["span"], True)
        same(f"{r['name']}: share", r["share"], r["starved"] / whole, 1e-9)
    same("idle time of stretches is idle", sum(r["idle"] for r in rows) <= sum(r["idle"] or 0 for r in of), True)


@claim("phases, scopes and families have each operation once, its communication and its work")
def partitions(s, same):
    kernels, families, phases = s.by("kernel"), s.by("family"), s.by("phase")
    scopes = s.by("scope")
    roots = [r for r in scopes if r["depth"] == 1]
    whole, count = (sum(r[c] for r in kernels) for c in ("total", "count"))
    same("kernels", whole, sum(o["dur"] for o in s.timed))
    for what, rows in (("families", families), ("phases", phases), ("scopes", roots)):
        same(f"total of {what}", sum(r["total"] for r in rows), whole)
        same(f"count of {what}", sum(r["count"] for r in rows), count)
        if whole:
            same(f"shares of {what}", sum(r["share"] for r in rows), 1, 1e-9)
    same("self of scopes", sum(r["self"] for r in scopes), whole)
    same("paths of scopes", len({r["scope"] for r in scopes}), len(scopes))
    same("communication of families", sum(r["total"] for r in families if r["family"] == "communication"), sum(r["comm"] for r in phases))
    for column in ("comm", "exposed", "copy", "flops"):
        same(f"{column} of scopes", sum(r[column] or 0 for r in roots), sum(r[column] or 0 for r in phases))
    for r in phases:
        same(f"parts of {r['phase']}", r["compute"] + r["comm"] + r["copy"], r["total"])
        same(f"{r['phase']} of scopes", sum(x.get(r["phase"]) or 0 for x in roots), r["total"] if r["phase"] in roots[0] else 0)
    for r in scopes:
        same(f"parts of {r['scope']}", r["self"] <= r["total"] and r["comm"] + r["copy"] <= r["total"]
             and r["forward"] + r["backward"] + r["recompute"] + r["optimizer"] <= r["total"], True)


@claim("nsysx-steps: parts of each step add up to its period, and so do the differences that explain one")
def steps(s, same):
    each = s.table("steps -q --each")
    counts = collections.Counter((r["class"], r["device"]) for r in each)
    same("counts", {(r["class"], r["device"]): r["count"] for r in s.table("steps -q")}, dict(counts))
    for r in each:
        where = f"step {r['step']} of {r['class']}, device {r['device']}"
        if r["period"] is not None:
            same(f"{where}: between", r["between"], r["period"] - r["span"])
        if r["period"] is None or r["compute"] is None:
            continue
        same(f"{where}: parts", r["compute"] + r["exposed"] + r["copy"] + r["idle"], r["period"])
        same(f"{where}: busy", r["compute"] + r["exposed"] + r["copy"], r["busy"])
        same(f"{where}: none below 0", min(r[c] for c in ("span", "compute", "exposed", "copy", "idle", "hidden")) >= 0, True)
        same(f"{where}: hidden, helper", r["hidden"] <= r["compute"] and (r["helper"] or 0) <= (r["ops"] or 0), True)
    out, _, status = run(f"nsysx-steps -q --explain {s.path}")
    periods, sums = {(r["class"], r["device"], r["step"]): r["period"] for r in each}, collections.Counter()
    for r in rows_of(out, "steps --explain") if not status else ():
        sums[r["class"], r["device"], r["base_step"], r["step"]] += r["delta"]
    for (cls, d, base, new), delta in sums.items():
        same(f"steps {base} and {new} of {cls}, device {d}", delta, periods[cls, d, new] - periods[cls, d, base])


@claim("nsysx-steps --by phase, shape: each step once, shares add up to 1, parts to the period")
def phases_of_steps(s, same):
    phases, status = (run(f"nsysx-steps -q --by phase {s.path}")[i] for i in (0, 2))
    if status:
        return
    phases, shapes = rows_of(phases, "steps --by phase"), s.table("steps -q --by shape")
    for column in ("count",):
        same(f"{column} by shape", add_up(shapes, column, ("phase",)), add_up(phases, column, ("phase",)))
    for what, rows in (("phases", phases), ("shapes", shapes)):
        shares = [r["share"] for r in rows if r["share"] is not None]
        if shares:
            same(f"shares of {what}", sum(shares), 1, 1e-9)
        for r in rows:
            if r["compute"] is not None:
                same(f"parts of {r['phase']}", r["compute"] + r["exposed"] + r["copy"] + r["idle"], r["period_mean"], 1e-3)


TOOLS = (("summary", (), ("compute", "exposed", "copy", "idle", "window", "hidden", "copy_hidden", "execs")),
         ("steps", ("class",), ("count",)), ("idle", ("part", "cause"), ("ns", "count", "drained", "blocked")),
         ("stragglers --waits", ("collective",), ("count", "wait", "last", "caused")),
         ("stragglers", ("program", "id"), ("executions",)), ("stragglers --pace", (), ("kernels", "time")))


@claim("sums over groups of devices are those over devices, along each axis")
def groups(s, same):
    for tool, keys, columns in TOOLS:
        if run(f"nsysx-{tool} -q --by device {s.path}")[2]:
            continue
        each = s.table(f"{tool} -q --by device")
        for way in ("node", "partition", "block:3", "axis", "group"):
            rows = s.table(f"{tool} -q --by {way}")
            # Replica groups of no axis may have some of the devices only.
            axes = {r["axis"] for r in rows if way == "axis" or r["axis"].startswith("axis")} if way in ("axis", "group") else {None}
            for axis in axes:
                mine = [r for r in rows if axis is None or r["axis"] == axis]
                for column in columns:
                    same(f"{tool} --by {way} {axis or ''} {column}", add_up(mine, column, keys), add_up(each, column, keys))


TABLES = [f"summary --by {by}" for by in ("module", "thunk", "opcode", "collective", "device", "total", "range", "kernel", "source",
                                          "phase", "scope", "family", "overlap", "node", "axis")] + \
    ["summary --metrics", "launch", "launch --by stretch", "launch --by graph", "steps", "steps --each", "steps --by phase",
     "steps --by shape", "idle", "copies", "stragglers --waits", "collectives --summary", "diagnose --min 0", "diagnose --where"]
SIGNED = ("paid", "saved", "low", "slowdown", "between", "start", "host_start", "device", "worst", "step")


@claim("no number is below 0 or none, no share is above 1")
def numbers(s, same):
    for name in TABLES:
        out, _, status = run(f"nsysx-{name} -q {s.path}")
        for r in rows_of(out, name) if not status and out else ():
            for column, v in r.items():
                if not isinstance(v, (int, float)):
                    continue
                what = f"{name}: {column} of {next(iter(r.values()))}: {v}"
                same(what, math.isfinite(v) and (v >= 0 or any(column.startswith(c) for c in SIGNED)), True)
                # Modules of two processes may run at once; a range in one of its name counts in both.
                if RELATIVE.search(column) and r.get("quantity") != "modules" and column != "gpu_share":
                    same(what, v <= 1 + 1e-9, True)


def main():
    s = Stream(sys.argv[1])
    for text, function in claims:
        judge(text, function, s)


main()
