"""summary.py MODE CSV -- the summary of a CSV of nvtx_pushpop_trace by its definition, row against row; MODE is agg or full.
summary.py random SEED N -- such a CSV, whose names hold commas and quotes."""
import csv
import random
import sys

HEADER = ["Start (ns)", "Duration (ns)", "DurNonChild (ns)", "Name", "PID", "TID", "RangeId", "ParentId", "RangeStack"]


def make(seed, n):
    rnd = random.Random(seed)
    kinds = ["XlaCompileBackend", "XlaPass", "XlaPassPipeline", "XlaEmitLlvmIr", "XlaDumpHloModule"]
    rows, stacks = [], [""]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(HEADER)
    for i in range(1, n + 1):
        up = rnd.choice(stacks[-8:])
        what = rnd.random()
        if what < 0.1:
            name = f"TSL:XlaCompile:#module=m{i % 3},program_id={i}#"
        elif what < 0.8:
            name = f"TSL:{rnd.choice(kinds)}:#name=p{rnd.randrange(4)},module=m,program_id={i % 5}#"
        else:
            name = rnd.choice(["user", 'say "hi"', "NCCL:ncclGroupEnd", 'a,"b",c', "cuBLAS:x:y"])
        own = rnd.choice([0, 1, 10, 10, rnd.randrange(10 ** rnd.randrange(1, 13))])
        stack = f"{up}:{i}"
        stacks.append(stack)
        out.writerow([i, own, own, name, 1, 1, i, up.rsplit(":", 1)[-1], stack])


def summary(mode, path):
    rows = list(csv.DictReader(open(path, newline="")))
    for c in rows:
        if not c["Name"].startswith("TSL:XlaCompile:#module="):
            continue
        sums = {}
        for r in rows:
            if not r["RangeStack"].startswith(c["RangeStack"] + ":"):
                continue
            key = r["Name"]
            if mode == "agg" and ":" in key:
                key = key.split(":")[1]
                key = "XlaPass" if key == "XlaPassPipeline" else key
            sums[key] = sums.get(key, 0) + int(r["DurNonChild (ns)"])
        total = sum(sums.values())
        print(f"Compilation: {c['Name']}: {total / 1e9!r}")
        done = 0.0
        for key, ns in sorted(sums.items(), key=lambda x: (-x[1], x[0].encode())):
            if not total:
                break
            done += ns / total
            if not done < 0.99:
                break
            print(f" {key} {ns / total:.2%} {ns / 1e9:.4}")


if sys.argv[1] == "random":
    make(int(sys.argv[2]), int(sys.argv[3]))
else:
    summary(sys.argv[1], sys.argv[2])
