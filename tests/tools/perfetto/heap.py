"""What counters of heap memory should be: heap.py PROGRAMS INSTS THUNKS DUMP..., tables of a stream and dumps as protoc decodes them.

For each instruction with a thunk memory is counted anew from the set of buffers that are alive after each event. Lines: GPU, counter, time,
value. With --full the programs whose instructions with memory all have thunks: id, trace, the largest value at a thunk."""
import collections, re, sys

def table(path):
    head, *rows = [line.rstrip("\n").split("\t") for line in open(path)]
    return [dict(zip(head, r)) for r in rows]

full = "--full" in sys.argv
programs, insts, thunks, *dumps = [a for a in sys.argv[1:] if a != "--full"]
executed = collections.defaultdict(set)
for r in table(insts):
    executed[r["program"]].add(r["name"])
numbers = {(r["id"], r["name"]): r for r in table(programs)}

def number(text, key, default=0):
    m = re.search(r"^ *%s: (-?\d+)" % key, text, re.M)
    return int(m[1]) if m else default

def blocks(text, key, indent):
    return re.findall(r"^%s%s \{\n(.*?)^%s\}" % (indent, key, indent), text, re.M | re.S)

# program -> a list of traces: (instruction -> (at, after), whether all are executed)
known = {}
for path in dumps:
    text = open(path).read()
    module = blocks(text, "hlo_module", "")[0]
    name, ident = re.search(r'^  name: "(.*)"', module, re.M)[1], re.search(r"^  id: (\d+)", module, re.M)[1]
    if (ident, name) not in numbers:
        continue
    program = numbers[ident, name]["program"]
    size = {number(b, "id"): number(b, "size") for b in blocks(text, "logical_buffers", "  ")}
    traces = []
    for trace in blocks(text, "heap_simulator_traces", "  "):
        users, used, owner, after, first = collections.Counter(), [], {}, {}, []
        for i, e in enumerate(blocks(trace, "events", "    ")):
            kind, b = number(e, "kind"), number(e, "buffer_id")
            if kind == 1:
                users[owner[b]] -= 1
            else:
                owner[b] = owner[number(e, "share_with_canonical_id")] if kind == 2 else b
                users[owner[b]] += 1
                who = re.search(r'instruction_name: "(.*)"', e)[1]
                if not first or first[-1][1] != who:
                    first.append([i, who, i])
                first[-1][2] = i
            used.append(sum(size[k] for k, n in users.items() if n))
        mine = [f for f in first if f[1] in executed[program]]
        ends = [f[0] for f in mine[1:]] + [len(used)]
        traces.append(({f[1]: (max(used[f[0]:f[2] + 1]), used[end - 1]) for f, end in zip(mine, ends)}, len(mine) == len(first)))
    known[program] = traces

if full:
    for program, traces in known.items():
        for i, (steps, all_there) in enumerate(traces):
            if all_there:
                print(next(r["id"] for r in numbers.values() if r["program"] == program), i, max(v[0] for v in steps.values()), sep="\t")
    sys.exit()
runs = collections.defaultdict(list)
for r in table(thunks):
    if r["program"] in known:
        runs[r["device"], r["program"], int(r["execution"])].append((int(r["start"]), int(r["start"]) + int(r["dur"]), r["name"]))
order = sorted(runs)
keys = {r["program"]: r["key"] for r in numbers.values()}
lines, last = [], {}
for device, program, execution in order:
    mine = runs[device, program, execution]
    after = [v for v in order if v[:2] == (device, program) and v[2] > execution]
    end = min([max(t[1] for t in mine)] + [t[0] for v in after[:1] for t in runs[v]])
    for i, (steps, _) in enumerate(known[program]):
        name = "heap " + keys[program] + (" trace %d" % i if len(known[program]) > 1 else "")
        later = 0
        for start, _, inst in mine:
            if after and start >= min(t[0] for t in runs[after[0]]):
                continue
            value, later = steps.get(inst, (later, later))
            if last.get((device, name)) != value:
                lines.append((device, name, start, value))
            last[device, name] = value
        if last[device, name]:
            lines.append((device, name, end, 0))
        last[device, name] = 0
for line in sorted(lines, key=lambda l: l[:3]):
    print(*line, sep="\t")
