"""forms.py TSV CSV METRICS: the CSV has the cells of the TSV, and the metrics have its numbers, in base units, under labels that no
two rows share. Prints what differs."""
import csv, re, sys


def unescape(s):
    return re.sub(r"\\(.)", lambda m: {"t": "\t", "n": "\n", "r": "\r"}.get(m.group(1), m.group(1)), s)


def near(a, b):
    return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b))


rows = [line.split("\t") for line in open(sys.argv[1], newline="", encoding="utf-8", errors="surrogateescape").read().split("\n")[:-1]]
got = list(csv.reader(open(sys.argv[2], newline="", encoding="utf-8", errors="surrogateescape")))
if got != [[unescape(c) for c in r] for r in rows]:
    print("the CSV differs from the TSV")

head, rows = rows[0], rows[1:]
lines = open(sys.argv[3], encoding="utf-8", errors="surrogateescape").read().split("\n")
if lines[-2:] != ["# EOF", ""]:
    print("it does not end with # EOF")
families, name = {}, None
label = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
for line in lines[:-2]:
    m = re.fullmatch(r"# TYPE ([a-zA-Z_][a-zA-Z0-9_]*) gauge", line)
    if m:
        name = m.group(1)
        if name in families:
            print(f"{name} is declared twice")
        families[name] = []
        continue
    m = re.fullmatch(r"([a-zA-Z_][a-zA-Z0-9_]*)(?:\{(.*)\})? (\S+)", line)
    if not m or m.group(1) != name:
        print(f"no sample of {name}: {line[:100]}")
        continue
    labels, at = {}, 0
    text = m.group(2) or ""
    while at < len(text):
        found = label.match(text, at)
        if not found:
            print(f"no label: {text[at:][:80]}")
            break
        labels[found.group(1)] = re.sub(r"\\(.)", lambda x: "\n" if x.group(1) == "n" else x.group(1), found.group(2))
        at = found.end()
    families[name].append((labels, float(m.group(3))))
units = {"seconds": 1e-9, "bytes_per_second": 1e9, "ratio": 1}
for name, samples in families.items():
    if len({tuple(sorted(l.items())) for l, _ in samples}) != len(samples):
        print(f"{name}: two samples have the same labels")
    column = [c for c in head if re.fullmatch(r"nsysx_[a-z]+_" + re.escape(re.sub(r"[^a-zA-Z0-9]", "_", c)) + r"(_seconds|_bytes|_flops|_ratio|_bytes_per_second)?", name)]
    if not column:
        print(f"{name}: of no column")
        continue
    column = max(column, key=len)
    i = head.index(column)
    unit = next((f for u, f in units.items() if name.endswith("_" + u) and not column.endswith(u)), 1)
    want = [float(r[i]) * unit for r in rows if r[i] != ""]
    if len(want) != len(samples) or not all(near(a, b) for a, (_, b) in zip(want, samples)):
        print(f"{name}: values differ from column {column}")
    keys = [k for k in (samples[0][0] if samples else {}) if k != "row"]
    for r, (l, _) in zip([r for r in rows if r[i] != ""], samples):
        if any(unescape(r[head.index(k)]) != v for k, v in l.items() if k != "row"):
            print(f"{name}: labels {l} of row {r}")
            break
text_columns = [c for c in head if any(r[head.index(c)] and not re.fullmatch(r"-?[0-9.]+(e[+-]?[0-9]+)?|nan|-?inf", r[head.index(c)]) for r in rows)]
for c in text_columns:
    if any(c == n[len("nsysx_"):].split("_", 1)[-1] for n in families):
        print(f"column {c} of texts is a metric")
