"""One question, one answer: what several tools say of the same thing, for a job of the generator.

agree.py DIR STREAM [OPTION...]: DIR has the job's exports and answers, STREAM is its steady stream, OPTION... are those of
the generator. For each claim a line: "ok", or "not ok", a tab, the claim, a tab, what differs. A claim of which the job has
nothing prints no line.

Only claims that held.list names are tried, all with AGREE=all: a claim is named there when it holds for all jobs of agree.sh.

Truth is counted here from the operations of the stream (unions of intervals), or is in the generator's answers.
"""
import collections
import json
import math
import os
import re
import subprocess
import sys

PARTS = ("compute", "exposed", "copy", "idle")
NAMES = {"compute": "compute", "exposed": "comm", "copy": "copy", "idle": "idle"}   # as idle and diagnose call them
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


# ---- tables

class Row(dict):
    def __missing__(self, column):
        raise Differs(f"{self.of} has no column {column}")


class Differs(Exception):
    pass


def value(text):
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            pass
    return text if text else None


def rows_of(text, of):
    lines = text.split("\n")
    head = lines[0].lstrip("#").split("\t")
    rows = []
    for line in lines[1:]:
        if line:
            row = Row(zip(head, map(value, line.split("\t"))))
            row.of = of
            rows.append(row)
    return rows


ran = {}


def run(command):
    """What a command prints, its messages, its status."""
    if command not in ran:
        p = subprocess.run(["sh", "-c", command], capture_output=True, stdin=subprocess.DEVNULL)
        ran[command] = p.stdout.decode("utf-8", "surrogateescape"), p.stderr.decode("utf-8", "replace"), p.returncode
    return ran[command]


def table(command, stream):
    out, err, status = run(f"nsysx-{command} {stream}")
    if status:
        raise Differs(f"nsysx-{command}: status {status}: {err.strip()[:160]}")
    return rows_of(out, "nsysx-" + command)


def answers(job, name):
    path = os.path.join(job.dir, "answers", name + ".tsv")
    return rows_of(open(path, errors="surrogateescape").read(), path) if os.path.exists(path) else []


# ---- intervals

def union(intervals):
    out = []
    for a, b in sorted(intervals):
        if out and a <= out[-1][1]:
            out[-1][1] = max(out[-1][1], b)
        elif b > a:
            out.append([a, b])
    return out


def minus(u, v):
    out, first = [], 0
    for a, b in u:
        while first < len(v) and v[first][1] <= a:
            first += 1
        k = first
        while k < len(v) and v[k][0] < b:
            if v[k][0] > a:
                out.append([a, v[k][0]])
            a = max(a, v[k][1])
            k += 1
        if a < b:
            out.append([a, b])
    return out


def length(u):
    return sum(b - a for a, b in u)


def inside(u, a, b):
    return [[max(x, a), min(y, b)] for x, y in u if x < b and y > a]


def kind_of(op):
    if op["comm"] == 1:
        return "comm"
    return "copy" if op["type"] in ("memcpy", "memset") else "compute"


class Device:
    """What a device does at each moment: the parts of its time, and what warm-up removed."""

    def __init__(self, ops):
        by = collections.defaultdict(list)
        removed, busy = [], None
        for op in ops:
            end = op["start"] + op["dur"]
            by[kind_of(op)].append((op["start"], end))
            # The operation that was removed ended so long before this one, or, below 0, after this one's start.
            if busy is not None and op["start"] > busy and op["removed"] is not None:
                removed.append((busy, max(busy, op["start"] - op["removed"])))
            busy = end if busy is None else max(busy, end)
        self.ops = ops
        self.computing = union(by["compute"])
        comm, copy = union(by["comm"]), union(by["copy"])
        busy_at = union(i for kind in by.values() for i in kind)
        self.parts = {"compute": self.computing, "exposed": minus(comm, self.computing),
                      "copy": minus(minus(copy, self.computing), comm), "removed": minus(union(removed), busy_at)}
        self.first, self.last = ops[0]["start"], busy

    def within(self, a, b):
        p = {k: length(inside(u, a, b)) for k, u in self.parts.items()}
        p["window"] = b - a - p["removed"]
        p["idle"] = p["window"] - p["compute"] - p["exposed"] - p["copy"]
        return p

    def whole(self):
        return self.within(self.first, self.last)


class Job:
    def __init__(self, folder, stream, options):
        self.dir, self.stream, self.options = folder, stream, options
        self.how = "--step 'execute_context_(0)?'" if "--torch=vllm" in options else ""
        self.exact = not any(o.split("=")[0] in ("--offset", "--drift", "--sessions", "--late") for o in options)
        self.xla = not any(o.startswith(("--torch", "--nccl", "--gaps", "--scale")) for o in options)
        by = collections.defaultdict(list)
        for op in table("view -q -t op", stream):
            by[op["device"]].append(op)
        self.device = {d: Device(sorted(ops, key=lambda o: o["start"])) for d, ops in by.items()}
        self.each = table(f"steps -q --each {self.how}", stream)
        self.time = {}
        self.kept = self.periods()

    def marked(self):
        """The stream with marks of collectives and of idle time."""
        path = self.stream + ".marked"
        if not os.path.exists(path):
            run(f"nsysx-collectives -q -b {self.stream} | nsysx-idle -q -b --mark -o {path}")
        return path

    def periods(self):
        """By class: the periods that count, as (row, start, end): those without a start of another class, on devices that
        have two of them, otherwise all."""
        starts = collections.defaultdict(list)
        for r in self.each:
            starts[r["device"]].append((r["start"], r["class"]))
        by = collections.defaultdict(list)
        for r in self.each:
            by[r["class"], r["device"]].append(r)
        kept = collections.defaultdict(list)
        if by and all(re.search(": (prefill|decode|mixed|empty)$", str(cls)) for cls, _ in by):
            # Steps of a server are one sequence: the next one of any phase ends a period.
            for d in {d for _, d in by}:
                rows = sorted((r for r in self.each if r["device"] == d), key=lambda r: r["start"])
                for a, b in zip(rows, rows[1:]):
                    kept[a["class"]].append((a, a["start"], b["start"]))
                    self.time[a["class"]] = tuple(x + b["start"] - a["start"] for x in self.time.get(a["class"], (0, 0)))
            return kept
        for (cls, d), rows in sorted(by.items(), key=str):
            rows.sort(key=lambda r: r["start"])
            every = [(a, a["start"], b["start"]) for a, b in zip(rows, rows[1:])]
            spans = sorted(r["span"] for r in rows)
            others = [s for s, c in starts[d] if c != cls] + self.others(rows, d, spans[(len(spans) + 1) // 2 - 1])
            pure = [p for p in every if not any(p[1] <= s < p[2] for s in others)]
            # The headline class is that whose pure periods take the most time; of equal ones the one whose periods do.
            self.time[cls] = tuple(x + sum(b - a for _, a, b in v) for x, v in zip(self.time.get(cls, (0, 0)), (pure, every)))
            kept[cls] += pure if len(pure) > 1 else every
        return kept

    def others(self, rows, device, median):
        """Starts of what is no step here and lasts at least half as long: executions of other programs; ranges on the thread
        of the steps, between two of them, as starts of the step before."""
        own = {r["start"] for r in rows}
        if self.xla:
            return [m["start"] for m in table("view -q -t module", self.stream)
                    if m["device"] == device and m["start"] not in own and 2 * m["dur"] >= median]
        ranges = table("view -q -t range", self.stream)
        of = {(r["device"], r["range"]): r for r in ranges if r["start"] is not None or r["host_start"] is not None}
        found = []
        for a, b in zip(rows, rows[1:]):
            step = of.get((device, a["range"]))
            for r in ranges if step else ():
                between = (r["pid"], r["tid"], r["profile"]) == (step["pid"], step["tid"], step["profile"]) and \
                    r["host_start"] >= a["host_start"] + a["host_dur"] and \
                    r["host_start"] + r["host_dur"] <= b["host_start"]
                if between and r["device"] == device and r["dur"] and 2 * r["dur"] >= median \
                        and not re.match("nccl|.*, seq = ", str(r["name"])):
                    found.append(a["start"])
        return found

    def headline(self):
        return max(self.kept, key=lambda c: self.time[c]) if self.kept else None


def rank(values, percent):
    values = sorted(values)
    return values[max(0, math.ceil(percent * len(values) / 100) - 1)]


class Claim:
    """Differences, of which the first are quoted."""

    def __init__(self):
        self.held, self.differ = 0, []

    def __call__(self, what, got, want, within=0):
        self.held += 1
        if isinstance(got, (int, float)) and isinstance(want, (int, float)):
            if abs(got - want) <= max(within, 1e-9 * abs(want)):
                return
        elif got == want:
            return
        self.differ.append(f"{what}: {got!r}, want {want!r}")


def claim_list():
    """A list of claims, and the decorator that adds a function to it."""
    claims = []

    def claim(text):
        def add(function):
            claims.append((text, function))
            return function
        return add
    return claims, claim


claims, claim = claim_list()


# ---- parts of time

@claim("parts of devices: idle has those of the operations")
def idle_parts(job, same):
    got = collections.Counter()
    for r in table("idle -q", job.stream):
        got[r["device"], r["part"]] += r["ns"]
    for d, device in job.device.items():
        want = device.whole()
        for part in PARTS:
            same(f"idle device {d} {NAMES[part]}", got[d, NAMES[part]], want[part])


@claim("parts of devices: summary --by device has those of the operations")
def device_parts(job, same):
    rows = {r["device"]: r for r in table("summary -q --by device", job.stream)}
    for d, device in job.device.items():
        want = device.whole()
        if d in rows:
            for part in PARTS + ("window",):
                same(f"summary --by device, device {d} {part}", rows[d][part], want[part])


@claim("parts of devices: summary --totals has their sums")
def totals(job, same):
    total = collections.Counter()
    for device in job.device.values():
        total.update(device.whole())
    names = {"wall": "window", "computation": "compute", "exposed communication": "exposed", "copies": "copy"}
    for r in table("summary -q --totals", job.stream) if job.xla else []:
        if r["quantity"] in names:
            same(f"summary --totals {r['quantity']}", r["total"], total[names[r["quantity"]]])


@claim("parts of devices: compare --by device has those of the operations")
def compared_parts(job, same):
    rows = [r for r in table(f"compare -q --by device {job.how} {job.stream}", job.stream) if r["device"] in job.device]
    per_step = any(r["statistic"] == "period" for r in rows)
    if per_step and not job.kept:
        # What repeats is the step there, as it is by step: of all devices it has the same means.
        for w in table(f"compare -q --by step {job.how} {job.stream}", job.stream):
            mine = [r for r in rows if r["statistic"] == w["statistic"]]
            if w["device"] is None and mine:
                same(f"compare --by device, {w['statistic']} of all", sum(r["base"] * r["base_execs"] for r in mine)
                     / sum(r["base_execs"] for r in mine), w["base"], 1e-3)
        return
    for r in rows:
        mine = [job.device[r["device"]].within(a, b) for step, a, b in job.kept.get(job.headline(), ()) if step["device"] == r["device"]]
        whole = "period" if per_step else "window"
        if r["statistic"] not in PARTS + (whole,):
            continue
        name = "window" if r["statistic"] == whole else r["statistic"]
        want = sum(p[name] for p in mine) / len(mine) if per_step else \
            job.device[r["device"]].whole()[name] / (r["base_execs"] or 1)
        same(f"compare --by device, device {r['device']} {r['statistic']}", r["base"], want, 1e-3)


@claim("parts of each step sum to its period: steps --each, the operations")
def each_step(job, same):
    for cls, periods in job.kept.items():
        for r, a, b in periods:
            want = job.device[r["device"]].within(a, b)
            where = f"steps --each device {r['device']} step {r['step']}"
            same(f"{where} period", r["period"], want["window"])
            for part in PARTS:
                same(f"{where} {part}", r[part], want[part])
            same(f"{where} sum of parts", sum(r[p] for p in PARTS), r["period"])


@claim("means and percentiles of steps are those of their periods")
def steps(job, same):
    for r in table(f"steps -q {job.how}", job.stream):
        mine = [job.device[r["device"]].within(a, b) for row, a, b in job.kept[r["class"]] if row["device"] == r["device"]]
        if not mine:
            continue
        for part in PARTS + ("period",):
            v = [p["window" if part == "period" else part] for p in mine]
            where = f"steps device {r['device']} {part}"
            same(f"{where}_mean", r[part + "_mean"], sum(v) / len(v), 1e-3)
            for p in (50, 90, 99):
                same(f"{where}_p{p}", r[f"{part}_p{p}"], rank(v, p))


def kept_parts(job):
    want = collections.Counter()
    for r, a, b in job.kept[job.headline()]:
        want.update(job.device[r["device"]].within(a, b))
    return want


@claim("the step of a job: diagnose --where has its parts, count and percentiles")
def where_step(job, same):
    cls = job.headline()
    if cls is None or not job.kept[cls]:
        return
    windows_ = [job.device[r["device"]].within(a, b)["window"] for r, a, b in job.kept[cls]]
    where = table(f"diagnose -q --where {job.how}", job.stream)
    same("the whole", where[0]["part"], "step")
    same("steps", where[0]["count"], len(windows_))
    same("period", where[0]["ns"], sum(windows_))
    same("p50", where[0]["p50"], rank(windows_, 50))
    same("p99", where[0]["p99"], rank(windows_, 99))
    for part, ns in kept_parts(job).items():
        if part in NAMES:
            same(NAMES[part], sum(r["ns"] for r in where if r["part"] == NAMES[part]), ns)


def idle_tool(option):
    def hold(job, same):
        cls = job.headline()
        if cls is None or not job.kept[cls]:
            return
        got = collections.Counter()
        for r in table(f"idle -q {option} {job.how}", job.stream):
            if r.get("class") in (None, cls):
                got[r["part"]] += r["ns"]
        for part, ns in kept_parts(job).items():
            if part in NAMES:
                same(f"idle {option} {NAMES[part]}", got[NAMES[part]], ns)
    return hold


claim("the step of a job: idle --steps has its parts")(idle_tool("--steps"))
claim("the step of a job: idle --by step has its parts")(idle_tool("--by step"))


@claim("the step of a job: compare --by step has its means, and nothing differs from itself")
def compared_step(job, same):
    cls = job.headline()
    if cls is None or not job.kept[cls]:
        return
    want, n = kept_parts(job), len(job.kept[cls])
    whole = None if len({r["device"] for r, _, _ in job.kept[cls]}) > 1 else job.kept[cls][0][0]["device"]
    rows = {r["statistic"]: r for r in table(f"compare -q --by step {job.how} {job.stream}", job.stream)
            if r["device"] == whole and r["class"] == cls}
    for part in PARTS:
        if want[part]:
            same(f"compare --by step {part}", rows.get(part, {}).get("base"), want[part] / n, 1e-3)
    same("compare --by step period", rows.get("period", {}).get("base"), want["window"] / n, 1e-3)
    for r in rows.values():
        # Few steps, or steps that depend on each other, tell too little.
        same(f"compare with itself {r['statistic']}", r["verdict"] in ("same", "unknown"), True)


@claim("steps are the executions that the plan has")
def executions(job, same):
    planned = answers(job, "modules")
    cls = str(job.headline()).split("@")[0]
    if not (job.exact and planned and job.each) or any(o.startswith(("--unfinished", "--xla26")) for o in job.options):
        return
    mine = {(r["device"], r["start"]) for r in job.each if str(r["class"]).split("@")[0] == cls}
    want = {(r["device"], r["start"]) for r in planned if r["name"] == cls and r["steady"] == 1}
    same("steps --each, device and start", sorted(mine), sorted(want))


@claim("idle --by step numbers steps as steps --each does")
def numbers(job, same):
    mine = {(r["device"], r["start"]): r["step"] for r in job.each}
    for r in table(f"idle -q --by step {job.how}", job.stream):
        same(f"step of device {r['device']} at {r['start']}", r["step"], mine.get((r["device"], r["start"])))


@claim("a step has one number on all devices: by the collectives in it, and by its name")
def one_number(job, same):
    steps_ = collections.defaultdict(list)
    for r in job.each:
        steps_[r["device"]].append(r)
    of = collections.defaultdict(lambda: collections.defaultdict(set))
    for c in table("view -q -t collective", job.marked()):
        inside_ = [r for r in steps_[c["device"]] if r["start"] <= c["start"] and c["start"] + c["dur"] <= r["start"] + r["span"]]
        if c["instance"] is not None and len(inside_) == 1:
            of[c["instance"]][inside_[0]["class"]].add(inside_[0]["step"])
    for instance, classes in of.items():
        for cls, numbers_ in classes.items():
            same(f"numbers of {cls} in collective {instance}", len(numbers_), 1)
    names = {(r["profile"], r["range"]): r["name"] for r in table("view -q -t range", job.stream)}
    profile = {r["device"]: r["profile"] for r in table("view -q -t device", job.stream)}
    named = collections.defaultdict(list)
    for r in job.each:
        name = re.fullmatch(r"ProfilerStep#(\d+)", str(names.get((profile[r["device"]], r["range"]))))
        if name:
            named[r["class"], r["device"]].append((int(name.group(1)), r["step"]))
    # Ranges of several threads at once are no steps one after the other.
    if all(b[0] == a[0] + 1 for by in named.values() for a, b in zip(by, by[1:])):
        for cls in {cls for cls, _ in named}:
            same(f"numbers in names of {cls} less those of steps", len({a - b for k, by in named.items() if k[0] == cls for a, b in by}), 1)


@claim("steps --cut: diagnose, idle and steps say of it what they say of the whole")
def cut(job, same):
    if job.headline() is None or not job.kept[job.headline()]:
        return
    piece = job.stream + ".cut"
    run(f"nsysx-steps -q --cut {job.how} -b -o {piece} {job.stream}")
    for tool in (f"diagnose -q --where {job.how}", f"idle -q --steps {job.how}"):
        sums = []
        for stream in (job.stream, piece):
            sums.append(collections.Counter())
            for r in table(tool, stream):
                sums[-1][r["part"], r.get("cause")] += r["ns"]
        for part in {k[0] for k in sums[0] + sums[1]}:
            whole, mine = ({k[1]: v for k, v in s.items() if k[0] == part} for s in sums)
            same(f"{tool} of the cut, {part}", sum(mine.values()), sum(whole.values()))
            # What ended the wait after the last operation of a window is cut away, and with it the cause.
            for cause in set(mine) - {"after"}:
                if mine[cause] > whole.get(cause, 0):
                    same(f"{tool} of the cut, {part}, no more of {cause}", mine[cause], whole.get(cause, 0))
    want = kept_parts(job)
    for tool in ("idle -q", f"idle -q --by step {job.how}"):
        mine = collections.Counter()
        for r in table(tool, piece):
            mine[r["part"]] += r["ns"]
        for part in PARTS:
            same(f"{tool} of the cut, {part}", mine[NAMES[part]], want[part])
    # Nodes of graphs that are no first ones, and operations without a call, wait for no launch of their own.
    starved = sum(r["ns"] for r in table("idle -q", piece) if r["group"] == "launch-starved")
    launched = sum(r["starved"] or 0 for r in table("launch -q", piece))
    same(f"launch of the cut: starved, {launched}, no more than idle's {starved}", launched <= starved, True)
    rows = table("summary -q --by device", piece)
    for part in PARTS + ("window",):
        same(f"summary --by device of the cut, {part}", sum(r[part] or 0 for r in rows), want[part])
    total = {r["quantity"]: r["total"] for r in table("summary -q --by total", piece)}
    for part, name in (("window", "wall"), ("compute", "computation"), ("exposed", "exposed communication"), ("copy", "copies"), ("idle", "idle")):
        same(f"summary --by total of the cut, {name}", total[name], want[part])
    run(f"nsysx-idle -q -b --mark -o {piece}.marked {piece}")
    same("marks of idle time of the cut", sum(r["dur"] for r in table("view -q -t idle", piece + ".marked")), want["idle"])
    same("idle of the marked cut", sum(r["ns"] for r in table("idle -q", piece + ".marked") if r["part"] == "idle"), want["idle"])
    again = piece + ".again"
    run(f"nsysx-steps -q --cut {job.how} -b -o {again} {piece}")
    same("a second cut", run(f"nsysx-view -q {again} | grep -v '^end\|^diag' | cksum")[0], run(f"nsysx-view -q {piece} | grep -v '^end\|^diag' | cksum")[0])


@claim("--time leaves whole steps as they are, and what it cuts is no step")
def windows(job, same):
    steps = sorted((r for r in job.each if r["device"] == job.each[0]["device"]), key=lambda r: r["start"])
    # Clocks of PyTorch's processes are estimated, from fewer kernels in a part of the time.
    if not job.exact or not job.xla or len(steps) < 4:
        return
    a, b = (r["start"] + r["span"] // 2 for r in (steps[0], steps[-1]))
    piece = job.stream + ".time"
    exports = " ".join(f"-x {job.dir}/dump{e[1:-7]} {job.dir}/{e}" if os.path.isdir(f"{job.dir}/dump{e[1:-7]}") else f"{job.dir}/{e}"
                       for e in sorted(os.listdir(job.dir), key=lambda e: (len(e), e)) if e.endswith(".sqlite"))
    run(f"nsysx-extract -q -a -b --time {a}:{b} {exports} | nsysx-align -q -b -o {piece}")
    whole = {(r["device"], r["start"]): r for r in job.each
             if min(r["host_start"], r["start"]) >= a and max(r["host_start"] + r["host_dur"], r["start"] + r["span"]) <= b}
    got = {(r["device"], r["start"]): r for r in table(f"steps -q --each {job.how}", piece)}
    same("steps --each, device and start", sorted(got), sorted(whole))
    seen = {r["profile"]: (r["from"], r["to"]) for r in table("view -q -t profile", piece)}
    cut_ = [m for m in table("view -q -t module", piece) if m["dur"] is not None and None not in seen[m["profile"]]
            and (m["start"] < seen[m["profile"]][0] or m["start"] + m["dur"] > seen[m["profile"]][1])]
    told = re.search(r"executions that the recording or --time cuts: .*\((\d+)\)", run(f"nsysx-summary --by module {piece}")[1])
    same("executions that are cut, as summary tells", int(told.group(1)) if told else 0, len(cut_))
    for k in set(got) & set(whole):
        for column in ("span", "ops") + (PARTS + ("period",) if got[k]["period"] is not None else ()):
            same(f"{column} of the step of device {k[0]} at {k[1]}", got[k][column], whole[k][column])


@claim("time that warm-up removed is in no share, no window and not called idle")
def removed(job, same):
    where = table(f"diagnose -q --where {job.how}", job.stream)
    if not where:
        return
    parts_ = [r for r in where[1:] if r["part"] != "removed"]
    whole = sum(r["ns"] for r in parts_)
    same("diagnose --where, sum of parts", whole, where[0]["ns"])
    for r in parts_:
        same(f"diagnose --where, share of {r['part']} {r['cause'] or ''}", r["share"], r["ns"] / whole if whole else 0, 1e-9)
    same("diagnose --table has idle: removed", "idle: removed" in run(f"nsysx-diagnose --table {job.how} {job.stream}")[0], False)


# ---- communication

def steady_executions(job):
    return {(r["program_id"], r["true_execution"] if "true_execution" in r else r["execution"], r["device"])
            for r in answers(job, "modules") if r["steady"] == 1}


def planned_waits(job):
    """By kind and by program: the waits of whole instances of steady executions; None where the plan does not tell."""
    records = answers(job, "collectives")
    # Of collectives in CUDA graphs the answers have those that tools can tell apart, not all.
    unknown = ("--xla26", "--disagree", "--unfinished", "--graphs")
    if not (job.xla and job.exact and records) or any(o.startswith(unknown) for o in job.options):
        return None, None
    steady = steady_executions(job)
    participants = collections.Counter(r["instance"] for r in records)
    records = [r for r in records if (r["program_id"], r["execution"], r["device"]) in steady]
    there = collections.Counter(r["instance"] for r in records)
    kinds_, programs_ = collections.Counter(), collections.Counter()
    for r in records:
        if there[r["instance"]] == participants[r["instance"]]:
            kinds_[r["collective"]] += r["wait"]
            programs_[r["program_id"]] += r["wait"]
    return kinds_, programs_


def wait_tool(tool):
    def hold(job, same):
        want, _ = planned_waits(job)
        if not want:
            return
        got = collections.Counter()
        for r in table(tool, job.stream):
            got[r["collective"]] += r["wait"] or 0
        for kind in want:
            same(f"{tool} {kind}", got[kind], want[kind])
    return hold


claim("waits: collectives --summary has those of the plan")(wait_tool("collectives -q --summary"))
claim("waits: stragglers --waits has those of the plan")(wait_tool("stragglers -q --waits"))


@claim("waits: wait_mean of summary --by module is their sum by execution of a device")
def module_waits(job, same):
    _, want = planned_waits(job)
    for r in table("summary -q --by module", job.stream) if want else []:
        if r["wait_mean"] is not None and r["execs"]:
            same(f"{r['name']} wait_mean", r["wait_mean"], want[r["id"]] / r["execs"], 1)


@claim("waits: the marks of collectives are the plan's, and what --summary and --waits add up")
def marked_waits(job, same):
    records = table("view -q -t collective", job.marked())
    want, _ = planned_waits(job)
    got, of = collections.Counter(), collections.defaultdict(list)
    for r in records:
        got[r["collective"]] += r["wait"] or 0
        if r["instance"] is not None:
            of[r["instance"]].append(r)
    for kind in want or {}:
        same(f"collective.wait of {kind}", got[kind], want[kind])
    summed = collections.Counter()
    for r in table("collectives -q --summary", job.stream):
        summed[r["collective"]] += r["wait"] or 0
    for kind in set(got) | set(summed):
        same(f"collective.wait of {kind}, --summary", summed[kind], got[kind])
    waited = collections.Counter()
    for r in table("stragglers -q --waits", job.stream):
        waited[r["collective"]] += r["wait"] or 0
    # There an instance of one device is none.
    for kind in waited:
        same(f"collective.wait of {kind}, stragglers --waits", waited[kind], got[kind])
    # Numbers count instances from 0 in the order of the stream; in one, all but the last to start wait for it.
    same("numbers of instances", list(of), list(range(len(of))))
    for n, members in of.items():
        devices = [r["device"] for r in members]
        same(f"instance {n}: devices", len(set(devices)), len(devices))
        if members[0]["wait"] is not None:
            same(f"instance {n}: start and wait", len({r["start"] + r["wait"] for r in members}), 1)
            same(f"instance {n}: late", [r["wait"] for r in members if r["late"] == 1], [0])
            same(f"instance {n}: group", members[0]["group"] in (None, 1) or len(members) > 1, True)


@claim("idle time: its marks add up to the table by cause, and are where nothing runs")
def marked_idle(job, same):
    marks = table("view -q -t idle", job.marked())
    sums, rows = collections.Counter(), collections.Counter()
    for r in marks:
        sums[r["device"], r["cause"]] += r["dur"]
    for r in table("idle -q", job.stream):
        if r["part"] == "idle" and r["cause"] != "removed":
            rows[r["device"], r["cause"]] += r["ns"]
    same("idle.dur by device and cause", sums, rows)
    of = collections.defaultdict(list)
    for r in marks:
        of[r["device"]].append((r["start"], r["start"] + r["dur"]))
    for d, pieces in of.items():
        same(f"pieces of device {d} share no time", length(union(pieces)), sum(b - a for a, b in pieces))
        busy = union((o["start"], o["start"] + o["dur"]) for o in job.device[d].ops)
        same(f"device {d} runs nothing in them", length(minus(union(pieces), busy)), length(union(pieces)))


@claim("idle time: the host was in the call and the range that its marks name")
def marked_host(job, same):
    marks = [r for r in table("view -q -t idle", job.marked()) if r["cause"] in ("sync", "launch", "alloc", "api", "range", "compile")]
    calls = {(r["profile"], r["call"]): r for r in table("view -q -t call", job.stream)} if marks else {}
    ranges = {(r["profile"], r["range"]): r for r in table("view -q -t range", job.stream)} if marks else {}
    for r in marks:
        if r["cause"] in ("range", "compile"):
            x = ranges.get((r["profile"], r["range"]))
            a, d = (x["host_start"], x["host_dur"]) if x else (0, 0)
        else:
            x = calls.get((r["profile"], r["call"]))
            a, d = (x["start"], x["dur"]) if x else (0, 0)
        same(f"{r['cause']} at {r['start']} of device {r['device']} lies in it", x is not None and a <= r["start"] and r["start"] + r["dur"] <= a + d, True)
        if x:
            same(f"{r['cause']} at {r['start']}: its thread", x["tid"], r["tid"])


@claim("a late capture: no wait that nobody had, executions of one number overlap")
def late(job, same):
    if not any(o == "--late" for o in job.options) or not job.xla:
        return
    want, records = collections.Counter(), collections.Counter()
    for r in answers(job, "collectives"):
        want[r["collective"]] += r["wait"] or 0
        records[r["collective"]] += 1
    for tool in ("collectives -q --summary", "stragglers -q --waits"):
        got = collections.Counter()
        for r in table(tool, job.stream):
            got[r["collective"]] += r["wait"] or 0
        for kind in got:
            same(f"{tool} {kind}, {got[kind]} ns is at most {want[kind]} + 2 us each",
                 got[kind] <= want[kind] + 2000 * records[kind], True)
    programs = {t["program"] for t in table("view -q -t thunk", job.stream) if t["comm"] == 1}
    spans = collections.defaultdict(list)
    for m in table("view -q -t module", job.stream):
        if m["program"] in programs:
            spans[m["program"], m["execution"]].append((m["start"], m["start"] + m["dur"]))
    for k, v in spans.items():
        same(f"execution {k[1]} of program {k[0]} overlaps", max(a for a, _ in v) < min(b for _, b in v), True)


@claim("clocks that nothing compared are not one clock")
def clocks(job, same):
    if "--torch" not in job.options or not any(o.startswith("--offset") for o in job.options):
        return
    out, err, _ = run(f"nsysx-align -b -o {job.stream}.aligned {job.stream}")
    same("align says that all is on one clock", "all GPU work is on one clock" in err + out, False)
    for tool, column in (("stragglers -q --waits", "wait"), ("collectives -q --each", "wait")):
        same(f"{tool}, sum of waits", sum(r[column] or 0 for r in table(tool, job.stream + ".aligned")), 0)


@claim("exposed communication: summary --by collective sums its operations less what computes beside them")
def exposed(job, same):
    want = collections.Counter()
    told = {(i["program"], i["inst"]): i["collective"] for i in table("view -q -t inst", job.stream) if i["comm"] == 1}
    for device in job.device.values():
        for op in device.ops:
            if kind_of(op) == "comm":
                a, b = op["start"], op["start"] + op["dur"]
                want[told.get((op["program"], op["inst"])) or op["collective"]] += length(minus([[a, b]], inside(device.computing, a, b)))
    got = {r["collective"]: r["exposed"] for r in table("summary -q --by collective", job.stream) if r["collective"] != "[all]"}
    for kind in want:
        same(f"summary --by collective {kind}", got.get(kind), want[kind])


@claim("copies between host and device do not communicate: operations, instructions, collectives")
def host_copies(job, same):
    for device in job.device.values():
        for op in device.ops:
            if op["type"] == "memcpy" and "Host" in op["name"]:
                same(f"op.comm of {op['name']}", op["comm"] == 1, False)
    for tool in ("summary -q --by collective", "collectives -q --summary"):
        for r in table(tool, job.stream):
            same(f"{tool}, {r['collective']}", "host" in str(r["collective"]), False)
    for i in table("view -q -t inst", job.stream):
        if i["name"].startswith("copy-"):
            same(f"inst.comm of {i['name']}", i["comm"] == 1, False)


@claim("copies: nsysx-copies has their time, and the share of it that work hides")
def hidden_copies(job, same):
    time, hidden = collections.Counter(), collections.Counter()
    for device in job.device.values():
        cover_ = union((o["start"], o["start"] + o["dur"]) for o in device.ops if kind_of(o) != "copy")
        for op in device.ops:
            if op["type"] == "memcpy" and op["comm"] != 1:
                a, b = op["start"], op["start"] + op["dur"]
                key = op["name"], op["src"], op["dst"]
                time[key] += op["dur"]
                hidden[key] += op["dur"] - length(minus([[a, b]], inside(cover_, a, b)))
    got, times = collections.Counter(), collections.Counter()
    for r in table("copies -q", job.stream):
        key = r["name"], r["src"], r["dst"]
        times[key] += r["time"]
        got[key] += r["time"] * (r["hidden_share"] or 0)
    for key in time:
        same(f"copies {key} time", times[key], time[key])
        same(f"copies {key} hidden", got[key], hidden[key], 2)


@claim("bandwidth of instances is their arithmetic mean, their transfer from last start to last end")
def bandwidth(job, same):
    by = collections.defaultdict(list)
    for r in table("collectives -q --instances", job.stream):
        by[r["collective"], r["bytes"]].append(r)
    for r in table("collectives -q --summary", job.stream):
        rows = by.get((r["collective"], r["bytes"]), [])
        if rows and len(rows) == r["instances"] and all(x["busbw"] is not None for x in rows):
            same(f"collectives --summary {r['collective']} {r['bytes']} busbw_mean", r["busbw_mean"],
                 sum(x["busbw"] for x in rows) / len(rows), 1e-6)
    for r in table(f"compare -q --by collective {job.stream}", job.stream):
        rows = by.get((r["collective"], r["bytes"]), [])
        if rows and r["base_instances"] == len(rows) and all(x["transfer"] is not None for x in rows):
            same(f"compare --by collective {r['collective']} {r['bytes']} base_transfer", r["base_transfer"],
                 sum(x["transfer"] for x in rows) / len(rows), 1)


# ---- arithmetic

TABLES = ("summary", "summary --by thunk", "summary --by opcode", "summary --by collective", "summary --by device", "summary --totals",
          "summary --by kernel", "summary --by phase", "summary --by scope", "summary --by family", "steps --by phase", "summary --by range", "summary --variable", "steps", "steps --each", "idle", "idle --steps",
          "diagnose --min 0", "diagnose --where", "launch", "copies", "collectives --summary", "stragglers", "stragglers --waits",
          "roofline", "roofline --by opcode", "roofline --by program", "compile", "compile --by phase")
RELATIVE = re.compile("(^|_)(share|efficiency|hfu)$")


def all_tables(job):
    for name in TABLES:
        tool, _, rest_ = name.partition(" ")
        out, _, status = run(f"nsysx-{tool} -q {rest_} {job.stream}")
        if not status and out:
            yield name, out


@claim("no column is a percentage")
def percentages(job, same):
    for name, out in all_tables(job):
        for column in out.split("\n")[0].split("\t"):
            same(f"{name}, column {column}", "percent" in column, False)


@claim("shares are from 0 to 1")
def shares(job, same):
    for name, out in all_tables(job):
        for r in rows_of(out, name):
            for column, v in r.items():
                if RELATIVE.search(column) and isinstance(v, (int, float)):
                    same(f"{name} {column} of {next(iter(r.values()))}: {v}", -1e-9 <= v <= 1 + 1e-9, True)


@claim("efficiency is 1 - headroom / modelled time: instructions, opcodes, op names, programs")
def efficiency(job, same):
    for by, whole in (("", "total"), ("--by opcode", "modelled"), ("--by op-name", "modelled"), ("--by program", "modelled")):
        for r in table(f"roofline -q {by}", job.stream):
            if r["efficiency"] is not None and r[whole]:
                same(f"roofline {by} {next(iter(r.values()))}", r["efficiency"], 1 - r["headroom"] / r[whole], 1e-9)


@claim("measure: median, p90 and p99 are ranks of its rows, and steps has the same span")
def measured(job, same):
    cls = job.headline()
    if not job.xla or cls is None or not job.each:
        return
    module = str(cls).split("@")[0]
    by = collections.defaultdict(list)
    for r in table(f"measure -q --module {module}", job.stream):
        for what in ("kernels", "events"):
            by[r["device"], what].append(r[what])
    spans = {r["device"]: r for r in table("steps -q", job.stream) if r["class"] == cls}
    for r in table(f"measure -q --module {module} --stats", job.stream):
        v = by.get((r["device"], r["measure"]), [])
        if len(v) != r["count"]:
            continue
        for column, p in (("median", 50), ("p90", 90), ("p99", 99)):
            same(f"measure --stats device {r['device']} {r['measure']} {column}", r[column], rank(v, p))
        # The record of an execution lacks work that its program launched outside it; nsysx-measure counts that work.
        if r["measure"] == "events" and "--outside" not in job.options and r["device"] in spans and spans[r["device"]]["count"] == r["count"]:
            same(f"steps span_p50 of device {r['device']}", spans[r["device"]]["span_p50"], r["median"])


@claim("diagnose --min omits findings and changes none")
def least(job, same):
    every = {(r["finding"], r["subject"]): r for r in table("diagnose -q --min 0", job.stream)}
    order = list(every)
    for least_ in ("0.5", "2"):
        rows = table(f"diagnose -q --min {least_}", job.stream)
        for r in rows:
            k = r["finding"], r["subject"]
            same(f"diagnose --min {least_}, {k}", every[k]["gain"] if k in every else None, r["gain"], 1e-6)
        kept = [(r["finding"], r["subject"]) for r in rows]
        same(f"diagnose --min {least_}, order", kept, [k for k in order if k in kept])
        for k, r in every.items():
            if 100 * r["share"] >= float(least_) * (1 + 1e-9):
                same(f"diagnose --min {least_} has {k}", k in kept, True)


@claim("commands of findings sum to their gains")
def commands(job, same):
    where = table("diagnose -q --where", job.stream)
    if not where or not where[0]["count"]:
        return
    n = where[0]["count"]
    for r in table("diagnose -q --min 0.01", job.stream):
        if not re.match("idle:|layout|launch-bound", r["finding"]):
            continue
        command = re.sub("--list 20", "--list 1000000", r["command"].replace("STREAM", job.stream))
        out, err, status = run(command)
        same(f"status of: {command} ({err.strip()[:80]})", status, 0)
        if status:
            continue
        sums = collections.Counter()
        for row in rows_of(out, command):
            for column in ("total", "ns", "drained", "own", "starved", "time"):
                sums[column] += row.get(column) or 0
        sums["ns - drained"] = sums["ns"] - sums["drained"]
        if not any(abs(v / n - r["gain"]) <= 1 for v in sums.values()):
            same(f"{r['finding']}, sums of its command per step", {k: v / n for k, v in sums.items() if v}, r["gain"])
        else:
            same(r["finding"], True, True)


@claim("time of instructions: roofline's rows, sums and programs have that of summary --by thunk, and less its gaps is computation")
def instruction_time(job, same):
    thunks = [t for t in table("view -q -t thunk", job.stream) if t["comm"] != 1 and t["dur"] is not None]
    if not thunks:
        return
    total = sum(t["dur"] for t in thunks)
    same("summary --by thunk", sum(r["total"] for r in table("summary -q --by thunk", job.stream) if r["comm"] != 1), total)
    for by, column in (("", "total"), ("--by opcode", "total"), ("--by op-name", "total"), ("--by program", "compute")):
        same(f"roofline {by}", sum(r[column] for r in table(f"roofline -q {by}", job.stream)), total)
    modelled = [sum(r["modelled"] for r in table(f"roofline -q --by {by}", job.stream)) for by in ("opcode", "op-name", "program")]
    same("modelled by opcode, op name and program", len(set(modelled)), 1)
    # Where instructions run one at a time, copy nothing and have all that computes, their gaps are the whole difference.
    of = {d: union((t["start"], t["start"] + t["dur"]) for t in thunks if t["device"] == d) for d in job.device}
    if sum(map(length, of.values())) != total or any(t["copy"] == 1 for t in thunks) or \
            any(minus(device.computing, of[d]) for d, device in job.device.items()):
        return
    gaps = sum(length(minus(of[d], device.computing)) for d, device in job.device.items())
    computation = [r["total"] for r in table("summary -q --by total", job.stream) if r["quantity"] == "computation"]
    if job.device and computation:
        same("roofline --by program: compute less gaps", total - gaps, computation[0])


@claim("executions: their span has no time that warm-up removed, and flame graphs add up to it")
def spans(job, same):
    rows = [r for r in table("summary -q --by device", job.stream) if r["span"] is not None]
    for r in rows:
        ops = job.device[r["device"]].ops if r["device"] in job.device else []
        own = [m for m in table("view -q -t module", job.stream) if m["device"] == r["device"] and m["dur"] is not None]
        first, last = min(m["start"] for m in own), max(m["start"] + m["dur"] for m in own)
        # Executions begin and end with operations.
        if ops and ops[0]["start"] <= first and job.device[r["device"]].last >= last:
            same(f"span of device {r['device']} less removed", r["span"],
                 last - first - length(inside(job.device[r["device"]].parts["removed"], first, last)))
            same(f"span of device {r['device']} is in its window", r["span"] <= r["window"], True)
    for by in ("opcode", "module", "source", "op-name") if rows else ():
        lines = run(f"nsysx-fold -q --cover 1 --by {by} {job.stream}")[0].splitlines()
        of = {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines}
        if any(name.startswith("[GPU idle between") for name in of) and any(name.startswith("[GPU idle during") for name in of):
            same(f"fold --by {by}", sum(of.values()), sum(r["span"] for r in rows))


@claim("totals are of everything: --cover 1 changes nothing")
def cover(job, same):
    for by in ("--by thunk", "--by device", "--totals"):
        a, b = (run(f"nsysx-summary -q {by} {o} {job.stream}")[0] for o in ("", "--cover 1"))
        same(f"summary {by}", a, b)


@claim("no row of summary is a sum of the others")
def no_sums(job, same):
    for by in ("thunk", "collective", "opcode"):
        rows = table(f"summary -q --by {by}", job.stream)
        same(f"summary --by {by} has a row of sums", any(next(iter(r.values())) == "[all]" for r in rows), False)


@claim("every operation is of one phase, one module and one family")
def partitions(job, same):
    all_ = sum(r["total"] for r in table("summary -q --by kernel", job.stream))
    if not all_:
        return
    for by, column in (("phase", "total"), ("scope", "self"), ("family", "total")):
        same(f"summary --by {by}, sum of {column}", sum(r[column] for r in table(f"summary -q --by {by}", job.stream)), all_)
    # Sums of whole operations, where devices count each moment once.
    of = collections.Counter()
    for device in job.device.values():
        for op in device.ops:
            of[kind_of(op)] += op["dur"]
    for kind in ("compute", "comm", "copy"):
        same(f"summary --by phase, {kind}", sum(r[kind] for r in table("summary -q --by phase", job.stream)), of[kind])
    out, _, _ = run(f"nsysx-fold -q --by scope {job.stream}")
    same("fold --by scope", sum(int(line.rsplit(" ", 1)[1]) for line in out.splitlines()), all_)
    phases = collections.Counter()
    for r in table("summary -q --by scope", job.stream):
        if r["depth"] == 1:
            for phase in ("forward", "backward", "recompute", "optimizer"):
                phases[phase] += r[phase]
    for r in table("summary -q --by phase", job.stream):
        if r["phase"] in phases:
            same(f"summary --by scope, roots' {r['phase']}", phases[r["phase"]], r["total"])


@claim("a server's steps by phase are those planned, and their parts add up")
def serving(job, same):
    planned = answers(job, "serving")
    rows = table("steps -q --by phase", job.stream) if planned else []
    if not planned:
        return
    same("steps --by phase", {r["phase"]: r["count"] for r in rows}, dict(collections.Counter(r["phase"] for r in planned)))
    for r in rows:
        if r["period_mean"]:
            same(f"parts of {r['phase']}", r["compute"] + r["exposed"] + r["copy"] + r["idle"], r["period_mean"], 1e-3)
    devices = {r["device"] for r in planned}
    by = {r["phase"]: r for r in rows}
    classes = collections.defaultdict(list)
    for r in table("steps -q --each", job.stream):
        classes[str(r["class"]).rsplit(": ", 1)[-1]].append(r)
    for phase, steps_ in classes.items():
        kept = [r for r in steps_ if r["kept"] == 1]
        same(f"steps --by phase and the class {phase}: steps", by[phase]["count"] if phase in by else 0, len(steps_))
        for column in ("period", "compute", "exposed", "copy", "idle") if kept and phase in by else ():
            same(f"steps --by phase and the class {phase}: {column}", by[phase]["period_mean" if column == "period" else column],
                 sum(r[column] for r in kept) / len(kept), 1e-3)
    for r in rows:
        same(f"tokens of {r['phase']}", r["tokens_mean"] * r["count"], sum(p["tokens"] for p in planned if p["phase"] == r["phase"]), 1e-6)
    same("devices", len(devices), len(job.device))


@claim("variability: its numbers are those of the periods, and what it says of first steps is true")
def variability(job, same):
    cls = job.headline()
    for r in table(f"diagnose -q --min 0 {job.how}", job.stream):
        if r["finding"] != "variability" or cls is None:
            continue
        of = collections.defaultdict(list)
        for row in sorted((x for x in job.each if x["class"] == cls), key=lambda x: x["start"]):
            of[row["device"]].append(row["start"])
        kept = [(row["start"] in of[row["device"]][:2], job.device[row["device"]].within(a, b)["window"]) for row, a, b in job.kept[cls]]
        p50 = rank([p for _, p in kept], 50)
        same("gain", r["gain"], sum(p for _, p in kept) / len(kept) - p50, 1e-3)
        above = sum(max(0, p - p50) for _, p in kept)
        same("more than half of it is of first steps", "more than half of that is of each device's first two" in r["evidence"],
             2 * sum(max(0, p - p50) for first, p in kept if first) > above)


@claim("the step of a job: steps, diagnose, compare and idle have one number and mean of periods, and whatif says which it has; marks, groups")
def counted(job, same):
    cls = job.headline()
    if cls is None or not job.kept[cls]:
        return
    by = collections.defaultdict(list)
    for r, a, b in job.kept[cls]:
        by[r["device"]].append(job.device[r["device"]].within(a, b)["window"])
    # What came before the first step of a device is not known to whatif, which leaves it out where others remain, and says so.
    left, lasted, n = [], [], sum(map(len, by.values()))
    for r, a, b in job.kept[cls]:
        rows = sorted((x["start"], x["class"]) for x in job.each if x["device"] == r["device"])
        if a != rows[0][0] or sum(of == cls for _, of in rows) < 4:
            left.append(job.device[r["device"]].within(a, b)["window"])
            lasted.append(b - a)
    every = sum(map(sum, by.values())) / n
    path = table(f"whatif -q --tsv --critical {job.how}", job.stream) if left else []
    for r in table(f"whatif -q --tsv {job.how}", job.stream)[:1] + path[:1] if left else ():
        same("steps of whatif", r["steps"], len(left))
        same("all steps of whatif", r["all_steps"], n)
        same("period of all steps, whatif", r["all_period"], every, 1e-3)
        if "period" in r:
            same("period of whatif", r["period"], sum(left) / len(left), 1e-3)
    if path:
        same("the parts of the critical path add up to the time from start to start", sum(r["ns"] for r in path),
             sum(lasted) / len(lasted), 1e-3)
        said = run(f"nsysx-whatif -q --table --critical {job.how} {job.stream}")[0]
        same("whatif says which steps it has, where these are not all",
             f"the mean of {len(left)} steps; that of all {n}, " in said, len(left) != n)
    # All others have all of them, each with one vote.
    rows = [r for r in table(f"steps -q {job.how}", job.stream) if r["class"] == cls]
    same("periods of steps", sum(r["periods"] for r in rows), n)
    same("period of steps", sum(r["periods"] * (r["period_mean"] or 0) for r in rows) / n, every, 1e-3)
    said = run(f"nsysx-steps -q --table {job.how} {job.stream}")[0]
    same("steps says the step of the job of several devices", f"the mean of {n} periods on {len(by)} devices" in said, len(by) > 1)
    for r in table(f"diagnose -q --where {job.how}", job.stream)[:1]:
        same("periods of diagnose", r["count"], n)
        same("period of diagnose", r["mean"], every, 1e-3)
    same("period of idle --steps", sum(r["ns"] for r in table(f"idle -q --steps {job.how}", job.stream)) / n, every, 1e-3)
    path = job.stream + ".steps"
    run(f"nsysx-steps -q -b --mark {job.how} -o {path} {job.stream}")
    marks = {(r["device"], r["start"]): r for r in table("view -q -t step", path)}
    same("marks of steps", len(marks), len({(r["device"], r["start"]) for r in job.each}))
    for r in job.each:
        m = marks.get((r["device"], r["start"]))
        for column in ("step", "period", "ops", "helper", "range") if m and m["class"] == r["class"] else ():
            same(f"{column} of the mark of step {r['step']} of device {r['device']}", m[column], r[column])
    mean = {d: sum(v) / len(v) for d, v in by.items()}
    rows = [r for r in table(f"steps -q --by node {job.how}", job.stream) if r["class"] == cls]
    same("steps --by node: count", sum(r["count"] for r in rows), len([r for r in job.each if r["class"] == cls]))
    if len(rows) == 1:
        same("steps --by node: period", rows[0]["period_mean"], sum(mean.values()) / len(mean), 1e-3)
    for r in table(f"compare -q --by step {job.how} {job.stream}", job.stream):
        if r["class"] == cls and r["statistic"] == "period" and (r["device"] in mean or len(mean) > 1 and r["device"] is None):
            n = len(by[r["device"]]) if r["device"] in mean else sum(map(len, by.values()))
            same(f"compare --by step, device {r['device']}: steps", r["base_steps"], n)
            same(f"compare --by step, device {r['device']}: period", r["base"],
                 sum(by[r["device"]] if r["device"] in mean else sum(by.values(), [])) / n, 1e-3)


@claim("kernels, copies and all operations have one number and time in the tables that count them")
def operations(job, same):
    ops = [op for d in job.device.values() for op in d.ops]
    rows = table("summary -q --by kernel", job.stream)
    if not rows:
        return
    same("summary --by kernel: operations", sum(r["count"] for r in rows), len(ops))
    same("summary --by kernel: time", sum(r["total"] for r in rows), sum(op["dur"] for op in ops))
    for by in ("family", "phase"):
        rows = table(f"summary -q --by {by}", job.stream)
        same(f"summary --by {by}: operations", sum(r["count"] for r in rows), len(ops))
    launched = table("launch -q", job.stream)
    if launched and "kernels" in launched[0]:
        same("launch: kernels", sum(r["kernels"] for r in launched),
             len([op for op in ops if op["type"] in ("kernel", "graph") and op["call"] is not None]))
    copies = [op for op in ops if op["type"] in ("memcpy", "memset")]
    rows = table("copies -q", job.stream)
    if rows and "count" in rows[0]:
        same("copies: their number", sum(r["count"] for r in rows), len(copies))


@claim("launch: starved is idle's launch-starved time before kernels, and rows by range add up to those by kernel")
def launched(job, same):
    rows = table("launch -q", job.stream)
    if not rows or "starved" not in rows[0]:
        return
    group = {r["cause"]: r["group"] for r in table("idle -q", job.stream) if r["part"] == "idle"}
    kernels = {(o["profile"], o["op"]): o for d in job.device.values() for o in d.ops if o["type"] in ("kernel", "graph")}
    same("starved", sum(r["starved"] or 0 for r in rows), sum(m["dur"] for m in table("view -q -t idle", job.marked())
         if group.get(m["cause"]) == "launch-starved" and (m["profile"], m["op"]) in kernels))
    ranges = table("launch -q --by range", job.stream)
    for column in ("kernels", "queued", "queue", "kernel", "starved") if ranges else ():
        same(f"launch --by range, {column}", sum(r[column] or 0 for r in ranges), sum(r[column] or 0 for r in rows))
    calls = {(profile, o["call"]) for (profile, _), o in kernels.items() if o["call"] is not None}
    if ranges:
        same("launch --by range, calls", sum(r["calls"] for r in ranges), len(calls))


@claim("steps --explain: the differences of its rows add up to that of the two periods")
def explained(job, same):
    delta = collections.Counter()
    for r in table(f"steps -q --explain {job.how}", job.stream):
        delta[r["class"], r["device"], r["base_step"], r["step"]] += r["delta"]
    period = {(r["class"], r["device"], r["step"]): r["period"] for r in job.each}
    for (cls, device, base, new), ns in delta.items():
        same(f"steps {base} and {new} of {cls}, device {device}", ns, period[cls, device, new] - period[cls, device, base])


@claim("the critical path: its edges, and its sums by part and by device, are one time")
def critical(job, same):
    parts_ = table(f"whatif -q --tsv --critical=part {job.how}", job.stream)
    if not parts_ or "ns" not in parts_[0]:
        return
    same("by device", sum(r["ns"] for r in table(f"whatif -q --tsv --critical=device {job.how}", job.stream)), sum(r["ns"] for r in parts_))
    same("edges", sum(r["dur"] for r in table(f"whatif -q --tsv --critical=edge {job.how}", job.stream)), sum(r["ns"] for r in parts_))
    mean = table(f"whatif -q --tsv --critical {job.how}", job.stream)
    # Of a server's steps the mean is of one class; then it is compared nowhere else.
    if len({r["class"] for r in job.each}) == 1:
        same("the mean of steps", round(sum(r["ns"] for r in mean) * mean[0]["steps"]), sum(r["ns"] for r in parts_))


@claim("exposed time of thunks: by instruction, opcode, source, in flame graphs and in compare")
def thunk_time(job, same):
    rows = table("summary -q --by thunk", job.stream)
    if not rows:
        return
    total = sum(r["total"] for r in rows)
    same("summary --by opcode", sum(r["total"] for r in table("summary -q --by opcode", job.stream) if not str(r["opcode"]).startswith("[GPU idle")), total)
    same("summary --by source", sum(r["total"] for r in table("summary -q --by source", job.stream)), total)
    for by in ("source", "op-name", "opcode", "module"):
        lines = run(f"nsysx-fold -q --cover 1 --by {by} {job.stream}")[0].splitlines()
        same(f"fold --by {by}", sum(int(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("[GPU active]")), total)
    for by in ("thunk", "opcode", "source"):
        got = table(f"compare -q --by {by} --time exposed {job.stream}", job.stream)
        if got:
            same(f"compare --by {by} --time exposed", sum(r["base"] * r["base_execs"] for r in got), total, 1)


@claim("instances: marks, all sums of collectives and compare count the same")
def instances(job, same):
    marks = table("view -q -t collective", job.marked())
    if not marks:
        return
    told, alone = {r["instance"] for r in marks} - {None}, [r for r in marks if r["instance"] is None]
    want = len(told) + len(alone)
    for by in ("", "--by group", "--by instruction"):
        same(f"collectives --summary {by}", sum(r["instances"] for r in table(f"collectives -q --summary {by}", job.stream)), want)
    rows = table(f"compare -q --by collective {job.stream}", job.stream)
    if rows and all(r["base_instances"] is not None for r in rows):
        same("compare --by collective", sum(r["base_instances"] for r in rows), want)
    same("compare --by collective: records", sum(r["base_count"] for r in rows), len(marks))
    text = run(f"nsysx-collectives -q --summary --table {job.stream}")[0]
    m = re.search(r"\[all\]: (\d+) instances?(?: \((\d+) are single)?", text)
    same("the line [all]", m and (int(m.group(1)), int(m.group(2) or 0)), (want, len(alone)))


@claim("waits: stragglers, collectives and what devices caused add up to one number")
def caused(job, same):
    waits_ = table("stragglers -q --waits", job.stream)
    if not waits_:
        return
    total = sum(r["wait"] or 0 for r in waits_)
    same("stragglers --waits: caused", sum(r["caused"] or 0 for r in waits_), total)
    same("collectives --summary: wait", sum(r["wait"] or 0 for r in table("collectives -q --summary", job.stream)), total)
    same("marks", sum(r["wait"] or 0 for r in table("view -q -t collective", job.marked())), total)


@claim("what a change saves is one number: beside the finding that it removes, and among forecasts")
def forecasts(job, same):
    for r in table("diagnose -q --tsv", job.stream):
        if not r["change"] or not isinstance(r["saved"], (int, float)):
            continue
        of = [w for w in table(f"whatif -q --tsv --what '{r['change']}'", job.stream) if w["what"] == r["change"]]
        same(f"saved by {r['change']}", r["saved"], of[0]["saved"] if of else None, 1e-9)


@claim("rows left out are counted, and what is shown and the rest are 100 %")
def rest(job, same):
    rows = table("summary -q --by thunk --cover 1", job.stream)
    if len(rows) < 4:
        return
    out = run(f"nsysx-summary -q --by thunk --cover 1 --top 2 --table {job.stream}")[0]
    m = re.search(r"and ([\d,]+) more \(([\d.]+)% of", out)
    same("there is a rest", bool(m), True)
    if m:
        same("rows left out", int(m.group(1).replace(",", "")), len(rows) - 2)
        same("their share", float(m.group(2)), 100 * (1 - sum(r["share"] for r in rows[:2])), 0.06)


@claim("JSON has the values of the TSV")
def forms(job, same):
    for name in ("idle -q --steps", "diagnose -q --where", "collectives -q --summary"):
        tsv = table(name, job.stream)
        out, err, status = run(f"nsysx-{name} --json {job.stream}")
        if status:
            continue
        try:
            rows = json.loads(out)
        except ValueError:
            rows = [json.loads(line) for line in out.split("\n") if line]
        same(f"{name}, rows", len(rows), len(tsv))
        for a, b in zip(rows, tsv):
            for column, v in a.items():
                if isinstance(v, (int, float)) and not isinstance(v, bool):
                    same(f"{name} {column}", v, b[column], abs(v) * 1e-9)


# ---- what was planted

@claim("a slow device is named with its percentage, and no other")
def slow_device(job, same):
    found = table("diagnose -q --min 0", job.stream) if answers(job, "slow_device") else []
    for r in answers(job, "slow_device"):
        own = [f["evidence"] for f in found if re.match(rf"device {r['device']}\b", f["evidence"])]
        named = [float(m) for e in own for m in re.findall(r"(?:slower|longer)\b[^;%]*?([\d.]+)%|([\d.]+)% (?:slower|longer)", e) for m in m if m]
        if r["percent"]:
            same(f"device {r['device']}, {r['percent']}% slower: {own}", any(abs(p - r["percent"]) < 0.5 for p in named), True)
        else:
            same(f"device {r['device']}, as fast as the others: {own}", named, [])


@claim("a late rack is the finding, by the names of its hosts or its devices")
def late_rack(job, same):
    racks = [r for r in answers(job, "racks") if r["late"]]
    if not racks:
        return
    first = table("diagnose -q --min 0", job.stream)
    found = [r for r in first if r["finding"].startswith(("late-", "straggler"))]
    text = " ".join(str(r["evidence"]) for r in found[:1])
    low, high = min(r["device"] for r in racks), max(r["device"] for r in racks)
    hosts = [r["host"] for r in racks]
    same(f"the first late one: {text[:160]!r}", bool(found) and (all(str(h) in text for h in (hosts[0], hosts[-1]))
         or bool(re.search(rf"devices? {low}\b.*\b{high}\b", text)) or bool(re.search(rf"the {len(racks)} devices", text))), True)


@claim("steps that alternate between programs are kinds, not variability")
def kinds(job, same):
    if not any(o == "--evaluate" for o in job.options):
        return
    found = [r for r in table("diagnose -q --min 0", job.stream) if r["finding"] == "variability"]
    same("variability", [r["evidence"][:120] for r in found], [])


@claim("one program without dumps as with them")
def programs(job, same):
    planned = answers(job, "programs")
    if not planned or not job.xla:
        return
    exports = " ".join(f"{job.dir}/{e}" for e in sorted(os.listdir(job.dir), key=lambda e: (len(e), e)) if e.endswith(".sqlite"))
    rows = rows_of(run(f"nsysx-extract -q {exports} | nsysx-view -q -t program")[0], "nsysx-view -t program")
    executed = {r["name"] for r in answers(job, "modules")}
    if "--disagree" not in job.options:
        same("programs", sorted(r["name"] for r in rows if r["name"] in executed), sorted(executed))


@claim("the verdict of diagnose has the shares of the table below it, and no part is above its whole")
def screen(job, same):
    text = " ".join(run(f"nsysx-diagnose --table --min 0 --top 0 {job.how} {job.stream}")[0].split())
    verdict, below = re.search(r"computation is the largest part[^,]*, ([\d.]+)%", text), re.search(r" compute [\d.]+ \S+ ([\d.]+)%", text)
    if verdict and below:
        same("share of computation", float(verdict.group(1)), float(below.group(1)), 0.051)
    for r in table(f"diagnose -q --min 0 {job.how}", job.stream):
        whole = re.search(r"([\d.]+) (ns|us|ms|s) a step", r["evidence"])
        for m in re.finditer(r"([\d.]+) (ns|us|ms|s) of (?:it|that|the rest)\b", r["evidence"]) if whole else []:
            same(f"{r['finding']}: {m.group(0)} of {whole.group(0)}",
                 float(m.group(1)) * UNITS[m.group(2)] <= 1.0005 * float(whole.group(1)) * UNITS[whole.group(2)], True)


@claim("what was planted is the first finding")
def planted(job, same):
    rows = answers(job, "planted")
    if not rows or "--torch" in job.options and rows[0]["finding"] == "slow-collective":
        return          # NCCL without programs: no two collectives are known to be equal
    first = table("diagnose -q", job.stream)[:1]
    same("finding", first and first[0]["finding"], rows[0]["finding"])
    same(f"subject in {first and first[0]['evidence'][:200]!r}", bool(first) and str(rows[0]["subject"]) in str(first[0]["evidence"]) + str(first[0]["subject"]), True)


def judge(text, function, job):
    """Print whether the claim holds of the job: nothing where it does not apply."""
    same = Claim()
    try:
        function(job, same)
    except Differs as e:
        same.differ.append(str(e))
    if same.differ:
        print(f"not ok\t{text}\t{len(same.differ)} of {same.held}: " + "; ".join(" ".join(d.split())[:260] for d in same.differ[:4]))
    elif same.held:
        print(f"ok\t{text}\t")


def main():
    job = Job(sys.argv[1], sys.argv[2], sys.argv[3:])
    held = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "held.list")).read().split("\n")
    for text, function in claims:
        if text not in held and os.environ.get("AGREE") != "all":
            continue
        judge(text, function, job)


if __name__ == "__main__":
    main()
