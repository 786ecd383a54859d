"""A second computation of nsysx-roofline's tables, in fractions.

    random.py stream SEED          a random text stream
    random.py hold STREAM TABLES   TABLES/inst, program, opcode (TSV) against the stream; prints what differs

Devices have all columns and compute capability 8.0 or 9.0, so that peaks are multiprocessors x operations a clock x clock."""
import csv, random, sys
from collections import defaultdict
from fractions import Fraction as F

OPS = {80: dict(s8=4096, f16=2048, bf16=2048, tf32=1024, f64=128, f32=128), 90: dict(f8=8192, s8=8192, f16=4096, bf16=4096, tf32=2048, f64=256, f32=256)}
MATHS = ["f4", "f8", "s8", "f16", "bf16", "tf32", "f64", "f32"]


def peak(d, math):
    has = OPS[d["cc"]]
    for m in {"f4": ["f4", "f8", "bf16"], "f8": ["f8", "bf16"]}.get(math, [math]):
        if m in has:
            return F(d["sms"] * has[m] * d["clock"], 10**9)      # operations a ns


def stream(seed):
    r = random.Random(seed)
    out, records = [], 0
    head = lambda kind, *columns: out.append("\t".join(["#" + kind, *columns]))
    line = lambda kind, *values: out.append("\t".join([kind, *("" if v is None else str(v) for v in values)]))
    head("profile", "profile:i", "name:s"), line("profile", 0, "r")
    head("device", "device:i", "profile:i", "pid:i", "name:s", "known:i", "sms:i", "clock:i", "mem_bandwidth:i", "cc:i")
    devices = r.sample(range(20), r.randint(1, 4))
    for d in devices:
        line("device", d, 0, 1, "Some chip", 1, r.randint(1, 200), r.randint(10**8, 3 * 10**9), r.randint(10**11, 8 * 10**12), r.choice([80, 90]))
    head("program", "program:i", "id:i", "name:s", "key:s")
    programs = range(r.randint(1, 3))
    for p in programs:
        line("program", p, r.randint(1, 3), f"p{p}", f"p{p}@{p}")
    head("inst", "program:i", "inst:i", "name:s", "opcode:s", "comm:i", "flops:i", "math:s", "vector:i", "mem_bytes:i")
    size = lambda: r.choice([0, r.randint(1, 10**4), r.randint(1, 10**7), r.randint(1, 10**10)])
    insts = []
    for p in programs:
        for i in range(r.randint(1, 12)):
            comm, modelled, flops = r.random() < 0.1, r.random() < 0.85, size()
            cost = (flops, r.choice(MATHS) if flops else None, size(), size()) if modelled and not comm else (None,) * 4
            line("inst", p, i, f"i{i}", r.choice(["fusion", "dot", "copy", None]), int(comm), *cost)
            insts.append((p, i, comm))
    head("module", "profile:i", "program:i", "execution:i", "device:i", "start:i", "dur:i")
    head("thunk", "profile:i", "program:i", "execution:i", "device:i", "inst:i", "occurrence:i", "name:s", "start:i", "dur:i", "comm:i")
    for p in programs:
        for d in devices:
            if r.random() < 0.8:
                line("module", 0, p, 0, d, 0, r.randint(1, 10**7))
    for n in range(r.randint(0, 200)):
        p, i, comm = r.choice(insts)
        line("thunk", 0, p, 0, r.choice(devices), i, n, f"i{i}", n, r.choice([0, r.randint(1, 100), r.randint(1, 10**6)]), int(comm))
    print("#nsysx\t2", *out, "#end\trecords:i", f"end\t{sum(x[0] != '#' for x in out)}", sep="\n")


def read(path):
    columns, records = {}, defaultdict(list)
    for line in open(path):
        kind, *values = line.rstrip("\n").split("\t")
        if kind[0] == "#":
            columns[kind[1:]] = values
        else:
            records[kind].append({c[:-2]: (None if v == "" else int(v) if c[-1] == "i" else v) for c, v in zip(columns[kind], values)})
    return records


def sums(rows):
    known = [x for x in rows if "limit" in x]
    s = dict(count=sum(x["count"] for x in rows), total=sum(x["total"] for x in rows), modelled=sum(x["total"] for x in known),
             limit=sum((x["limit"] for x in known), F(0)), headroom=sum((x["headroom"] for x in known), F(0)))
    if s["modelled"]:
        s["efficiency"] = 1 - s["headroom"] / s["modelled"]
    return s, known


def want(records):
    device, inst = {d["device"]: d for d in records["device"]}, {(i["program"], i["inst"]): i for i in records["inst"]}
    runs = defaultdict(lambda: defaultdict(list))
    for t in records["thunk"]:
        if not t["comm"]:
            runs[t["program"], t["inst"]][t["device"]].append(t["dur"])
    rows = {}
    for k, by_device in runs.items():
        i = inst[k]
        row = rows[k] = dict(count=sum(map(len, by_device.values())), total=sum(map(sum, by_device.values())), math=i["math"] or "", opcode=i["opcode"] or "")
        if i["mem_bytes"] is None:
            row["note"] = "unmodelled"
            continue
        row.update(flops=i["flops"], vector=i["vector"], bytes=i["mem_bytes"], limit=F(0), at_peak=F(0))
        for d in sorted(by_device, reverse=True):
            n, x = len(by_device[d]), device[d]
            parts = [F(i["flops"]) / peak(x, i["math"]) if i["flops"] else F(0), F(i["vector"]) / peak(x, "f32"), F(i["mem_bytes"] * 10**9, x["mem_bandwidth"])]
            row["limit"] += n * max(parts)
            row["at_peak"] += n * parts[0]
            row["bound"] = ["matrix", "vector", "memory"][parts.index(max(parts)) if max(parts) else 2]
        row["headroom"] = max(F(0), row["total"] - row["limit"])
        row["gain"] = max(F(0), row["total"] - row["limit"] * F(5, 4))
        ops = i["flops"] or i["vector"]
        if i["mem_bytes"]:
            row["intensity"] = F(ops, i["mem_bytes"])
        if row["total"]:
            row["efficiency"] = 1 - row["headroom"] / row["total"]
            row["tflops"], row["gbps"] = F(ops * row["count"], row["total"] * 1000), F(i["mem_bytes"] * row["count"], row["total"])
        row["note"] = "" if row["limit"] <= row["total"] else "cache" if row["bound"] == "memory" else "peak"
    everything = sum(x["total"] for x in rows.values())
    for x in rows.values():
        if everything:
            x["share"] = F(x["total"], everything)
    programs = {}
    for p in {k[0] for k in rows} | {m["program"] for m in records["module"]}:
        mine, modules = [x for k, x in rows.items() if k[0] == p], [m["dur"] for m in records["module"] if m["program"] == p]
        s, known = sums(mine)
        s.update(compute=s.pop("total"), executions=len(modules), time=sum(modules), flops=sum(x["flops"] * x["count"] for x in known))
        del s["count"]
        for b in ("matrix", "vector", "memory"):
            s[b] = sum(x["total"] for x in known if x["bound"] == b)
        if s["compute"]:
            s["share"] = F(s["modelled"], s["compute"])
        if modules:
            s["tflops"], s["hfu"] = F(s["flops"], s["time"] * 1000), sum((x["at_peak"] for x in known), F(0)) / s["time"]
        programs[p] = s
    groups = defaultdict(list)
    for x in rows.values():
        groups[x["opcode"], x["math"]].append(x)
    opcodes = {}
    for k, mine in groups.items():
        s, known = sums(mine)
        s.update(instructions=len(mine), gain=sum((x.get("gain", F(0)) for x in mine), F(0)), flops=sum(x["flops"] * x["count"] for x in known), bytes=sum(x["bytes"] * x["count"] for x in known))
        if s["modelled"]:
            s["tflops"], s["gbps"] = F(s["flops"], s["modelled"] * 1000), F(s["bytes"], s["modelled"])
        opcodes[k] = s
    return rows, programs, opcodes


def same(where, got, wanted):
    for k, v in got.items():
        w = wanted.get(k)
        good = v == "" if w is None else v == w if isinstance(w, str) else int(v) == w if isinstance(w, int) else v != "" and abs(F(v) - w) <= abs(w) * F(1, 10**9)
        if not good:
            print(f"{where}, {k}: {v!r}, want {w if w is None or isinstance(w, (str, int)) else float(w)}")


def hold(path, tables):
    table = lambda name: list(csv.DictReader(open(f"{tables}/{name}"), delimiter="\t", quoting=csv.QUOTE_NONE))
    records = read(path)
    rows, programs, opcodes = want(records)
    name = {f"p{p['program']}": p["program"] for p in records["program"]}
    found = {"inst": {(name[r["program"]], int(r["name"][1:])): r for r in table("inst")}, "program": {name[r["program"]]: r for r in table("program")},
             "opcode": {(r["opcode"], r["math"]): r for r in table("opcode")}}
    for what, wanted in (("inst", rows), ("program", programs), ("opcode", opcodes)):
        if found[what].keys() != wanted.keys() or len(table(what)) != len(wanted):
            print(f"{what}: other rows")
            continue
        for k, r in found[what].items():
            held = {c: v for c, v in r.items() if c not in ("id", "program", "name", "key", "op_name") and (c != "share" or what != "opcode")}
            same(f"{what} {k}", held, {"opcode": k[0], "math": k[1], **wanted[k]} if what == "opcode" else wanted[k])
        if what == "program":
            order = [-int(x["time"]) for x in table(what)]
        else:
            order = [(x["headroom"] == "", -float(x["headroom"] or 0), -int(x["total"])) for x in table(what)]
        if order != sorted(order):
            print(f"{what}: order")


stream(int(sys.argv[2])) if sys.argv[1] == "stream" else hold(*sys.argv[2:])
