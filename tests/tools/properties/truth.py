"""truth.py STREAM DIR -- what the tables and stacks in DIR should say of STREAM, worked out from its text.

STREAM is what nsysx-overlap wrote, with ranges and operations. Prints a line for each claim: the claim, a tab, and what is wrong
with it if something is. Everything is brute force on purpose: nothing here has the shape of the code under test.
"""
import collections
import json
import re
import sys

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
DIR = sys.argv[2]


def records(path):
    """Records of a text stream by kind, each a dict of the values that are there."""
    heads, out = {}, collections.defaultdict(list)
    for line in open(path, encoding="utf-8", errors="surrogateescape", newline="\n").read().split("\n")[1:-1]:
        f = line.split("\t")
        if f[0].startswith("#"):
            heads[f[0][1:]] = [c.split(":") for c in f[1:]]
            continue
        out[f[0]].append({n: int(v) if t == "i" else float(v) if t == "f" else v for (n, t), v in zip(heads[f[0]], f[1:]) if v != ""})
    return out


def table(name):
    return json.load(open(f"{DIR}/{name}.json", encoding="utf-8", errors="surrogateescape"))


def stacks(name):
    out = []
    for line in open(f"{DIR}/{name}.folded", encoding="utf-8", errors="surrogateescape").read().split("\n")[:-1]:
        stack, _, ns = line.rpartition(" ")
        out.append((stack, int(ns)))
    return out


def claim(what, got, want):
    wrong = "" if got == want else f"got {got}, want {want}"
    print(f"{what}\t{wrong[:400]}")


def sums(rows, key, value):
    out = collections.defaultdict(int)
    for r in rows:
        out[key(r)] += value(r)
    return dict(out)


S = records(sys.argv[1])
thunks, modules, ops, ranges = S["thunk"], S["module"], S["op"], S["range"]
insts = {(i["program"], i["inst"]): i for i in S["inst"]}
programs = {p["program"]: p for p in S["program"]}
exposed = lambda t: t["dur"] - t["hidden"]

# ---- hidden time: the length of the union of what the device computed in the meantime, by operations if there are any
computing = collections.defaultdict(list)
part = lambda o: "exposed" if o.get("comm") else "copy" if o["type"] in ("memcpy", "memset") else "compute"
for t in [o for o in ops if part(o) == "compute"] if ops else [t for t in thunks if not t.get("comm") and not t.get("copy")]:
    computing[t["device"]].append((t["start"], t["start"] + t["dur"]))
claim("thunks that only copy", [(t["name"], t["start"]) for t in thunks if t.get("copy") and t.get("comm")], [])
wrong = []
for t in thunks:
    length = 0
    if t.get("comm"):
        a, b = t["start"], t["start"] + t["dur"]
        last = a
        for s, e in sorted(computing[t["device"]]):
            if s >= b:
                break
            s, e = max(s, last), min(e, b)
            if e > s:
                length += e - s
            last = max(last, e)
    if t["hidden"] != length:
        wrong.append((t["name"], t["start"], t["hidden"], length))
claim("hidden time is the union of what computes meanwhile", wrong[:3], [])

# ---- devices: exposed and hidden time sum to the whole
whole = lambda rows: sums(rows, lambda t: t["device"], lambda t: t["dur"])
comm = [t for t in thunks if t.get("comm")]
want = {}
for m in modules:
    first, last = want.get(m["device"], (m["start"], m["start"] + m["dur"]))
    want[m["device"]] = min(first, m["start"]), max(last, m["start"] + m["dur"])
by_device = table("device")
get = lambda column: {r["device"]: r[column] for r in by_device}
zero = lambda d: {k: d.get(k, 0) for k in want}
columns = {c for r in by_device for c in r}
if modules or thunks:
    claim("a device's span", get("span"), {d: b - a for d, (a, b) in want.items()})
    claim("a device's modules", get("modules"), zero(whole(modules)))


def activities(mine):
    """ns of a device by what it does, each moment once, the first of compute, exposed, copy that applies; and its window."""
    edges = sorted({e for o in mine for e in (o["start"], o["start"] + o["dur"])})
    moves = collections.defaultdict(collections.Counter)
    for o in mine:
        moves[o["start"]][part(o)] += 1
        moves[o["start"] + o["dur"]][part(o)] -= 1
    out, now = collections.Counter(), collections.Counter()
    for a, b in zip(edges, edges[1:]):
        now.update(moves[a])
        out[next((p for p in ("compute", "exposed", "copy") if now[p] > 0), "idle")] += b - a
        out["hidden"] += b - a if now["compute"] > 0 and now["exposed"] > 0 else 0
        out["copy_hidden"] += b - a if now["copy"] > 0 and (now["compute"] > 0 or now["exposed"] > 0) else 0
        out["window"] += b - a
    return out


doing = {d: activities([o for o in ops if o["device"] == d]) for d in {o["device"] for o in ops}}
for column in "compute", "exposed", "copy", "idle", "hidden", "copy_hidden", "window":
    claim(f"a device's {column}", {d: v for d, v in get(column).items() if v is not None}, {d: v[column] for d, v in doing.items()})

# ---- one total, wherever it is asked for
active = sum(map(exposed, thunks))
module_time = sum(m["dur"] for m in modules)
wall = sum(b - a for a, b in want.values())
idle = max(module_time - active, 0) + max(wall - module_time, 0)
for by in "source", "op-name", "opcode", "module":
    folded = stacks(by)
    claim(f"fold by {by}: active time", sum(n for s, n in folded if s.startswith("[GPU active]")), active)
    claim(f"fold by {by}: idle time", sum(n for s, n in folded if s.startswith("[GPU idle")), idle)
    claim(f"fold by {by}: nothing else, each stack once, in order", [s for s, n in folded],
          sorted({s for s, n in folded if s.startswith("[GPU ") and n > 0}, key=lambda s: s.encode("utf-8", "surrogateescape")))
claim("summary by thunk: total", sum(r["total"] for r in table("thunk")), active)
claim("summary by thunk: count", sum(r["count"] for r in table("thunk")), len(thunks))
claim("summary by opcode: thunks", sum(r["total"] for r in table("opcode") if not r["opcode"].startswith("[GPU idle")), active)
claim("summary by module: total", sum(r["total"] for r in table("module")), module_time)
claim("summary by module: executions", sum(r["execs"] for r in table("module")), len(modules))
total = {r["quantity"]: r["total"] for r in table("total")}
claim("summary by total: modules", total.get("modules", 0), module_time)
for row, column in ("wall", "window"), ("computation", "compute"), ("exposed communication", "exposed"), ("copies", "copy"), ("idle", "idle"), \
                   ("hidden communication", "hidden"):
    claim(f"summary by total: {row}", total.get(row, 0), sum(v[column] for v in doing.values()))

# ---- by opcode and by thunk
opcode = lambda t: insts[t["program"], t["inst"]].get("opcode", "[no instruction]")
positive = lambda d: {k: v for k, v in d.items() if v}
want_op = sums(thunks, opcode, exposed)
claim("opcodes", positive({r["opcode"]: r["total"] for r in table("opcode") if not r["opcode"].startswith("[GPU idle")}), positive(want_op))
claim("opcodes of stacks", sums([(s.split(";")[1], n) for s, n in stacks("opcode") if s.startswith("[GPU active]")], lambda r: r[0], lambda r: r[1]),
      positive(want_op))
by_thunk = lambda t: (programs[t["program"]]["id"] if "id" in programs[t["program"]] else None, t["name"])
claim("thunks", sorted(sums(table("thunk"), lambda r: (str(r["id"]), r["name"]), lambda r: r["total"]).items()),
      sorted((((str(k[0]), k[1]), v) for k, v in sums(thunks, by_thunk, exposed).items())))

# ---- modules hold their thunks
spans = {(m["profile"], m["program"], m["execution"], m["device"]): m for m in modules}
key = lambda t: (t["profile"], t["program"], t["execution"], t["device"])
claim("a module counts its thunks", {k: m["thunks"] for k, m in spans.items()}, {k: n for k, n in sums(thunks, key, lambda t: 1).items() if k in spans})
claim("every thunk has its module", [t["name"] for t in thunks if key(t) not in spans], [])

# ---- ranges and operations
TAIL = re.compile(r"(?s)(?<=.)(?=, )(, (stashed )?seq ?= ?[0-9]+)?(, op_id = [0-9]+)?(, sizes = \[[-0-9, \[\]]*\])?(, input_op_ids = \[[-0-9, ()]*\])?\Z")
MODULE = re.compile(r"""(?s)\{'Module': (['"])(.+?)\1""")


def named(r, names):
    """Domain and name of a range as --names of that value shows it."""
    domain, name = r.get("domain") or "", r["name"]
    if names != "full" and domain != "TSL":
        module = MODULE.match(name)
        name = module.group(2) if module else TAIL.sub("", name, count=1)
        if names == "digits":
            name = re.sub(r"(?<![0-9A-Za-z])[0-9]+", "#", name)
    return domain, name


with_work = [r for r in ranges if "start" in r]
for names in "key", "full", "digits":
    want, got = lambda r: named(r, names), lambda r: (r.get("domain") or "", r["name"])
    said = table(f"range.{names}")
    claim(f"ranges by {names}: time", sums(said, got, lambda r: r["total"]), sums(with_work, want, lambda r: r["dur"]))
    claim(f"ranges by {names}: count", sums(said, got, lambda r: r["count"]), sums(with_work, want, lambda r: 1))
    claim(f"ranges by {names}: host time", sums(said, got, lambda r: r["host_total"]), sums(with_work, want, lambda r: r["host_dur"]))
    claim(f"ranges by {names}: launches", sums(said, got, lambda r: r["ops"]), sums(with_work, want, lambda r: r["ops"]))
    claim(f"ranges by {names}: a row each", len(said), len({got(r) for r in said}))
claim("ranges by default: by key", table("range"), table("range.key"))
op_of = lambda o: (o["type"], o["name"]) if "name" in o else (o["type"], "")
claim("kernels: time", sums(table("kernel"), lambda r: (r["type"], r.get("name") or ""), lambda r: r["total"]), sums(ops, op_of, lambda o: o["dur"]))
for by in "nvtx", "kernel":
    claim(f"fold by {by}: the time of all operations", sum(n for s, n in stacks(by)), sum(o["dur"] for o in ops))
    claim(f"fold by {by}: less what is hidden", sum(n for s, n in stacks(by + ".exposed")), sum(o["dur"] - (o["hidden"] if o.get("comm") else 0) for o in ops))

# ---- operations of modules
own = collections.defaultdict(list)
for o in ops:
    if "program" in o and "execution" in o:
        own[o["program"], o["execution"], o["device"]].append(o)
ids = {p["program"]: p.get("id") for p in S["program"]}
for name in sorted({p["name"] for p in S["program"] if p["program"] in {m["program"] for m in modules}}):
    want_m = {(ids[p], e, d): (sum(o["dur"] for o in v), max(o["start"] + o["dur"] for o in v) - min(o["start"] for o in v), len(v))
              for (p, e, d), v in own.items() if programs[p]["name"] == name}
    claim(f"measure --module {name}", {(r["id"], r["execution"], r["device"]): (r["kernels"], r["events"], r["ops"]) for r in table(f"measure.{name}")
                               if r["ops"]}, want_m)

# ---- collectives
C = records(f"{DIR}/collectives.nsx")["collective"]
place = lambda t: (t["profile"], t["program"], t["execution"], t["device"], t["inst"], t["occurrence"])
claim("a collective for each communicating thunk, with its times",
      sorted(place(c) + (c["start"], c["dur"], c["hidden"]) for c in C if "op" not in c), sorted(place(t) + (t["start"], t["dur"], t["hidden"]) for t in comm))
comm_insts = {(n["program"], n["inst"]) for n in S.get("inst", []) if n.get("comm")}
claim("and for each operation that communicates elsewhere", sorted((c["profile"], c["op"], c["start"], c["dur"]) for c in C if "op" in c),
      sorted((o["profile"], o["op"], o["start"], o["dur"]) for o in ops if o.get("comm") and (o.get("program"), o.get("inst")) not in comm_insts))
claim("summary by collective: counts", {r["collective"]: r["count"] for r in table("collective") if r["collective"] != "[all]"},
      {k: v for k, v in sums(C, lambda c: c.get("collective"), lambda c: 1).items()})
