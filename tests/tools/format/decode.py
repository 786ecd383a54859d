"""Write the text stream that `protoc --decode=nsysx.Stream` on standard input says is there.

Written from docs/format.md alone, shares nothing with the library: standard library only.
"""
import re
import struct
import sys

MASK = (1 << 64) - 1
ESCAPES = {"n": 10, "r": 13, "t": 9, '"': 34, "'": 39, "\\": 92}


def unquote(s):
    """The bytes of a string in protobuf's text format."""
    def one(m):
        e = m.group(1)
        return bytes([int(e, 8)]) if e[0].isdigit() else bytes([ESCAPES[e]])
    return re.sub(rb"\\([0-7]{1,3}|.)", lambda m: one(re.match(r"\\(.*)", m.group(0).decode("latin-1"), re.S)), s[1:-1])


def parse(lines):
    """A message: {field: [values]}."""
    out = {}
    for line in lines:
        line = line.strip()
        if line == b"}":
            return out
        if line.endswith(b" {"):
            out.setdefault(line[:-2].decode(), []).append(parse(lines))
            continue
        name, value = line.split(b": ", 1)
        out.setdefault(name.decode(), []).append(unquote(value) if value[:1] == b'"' else value.decode())
    return out


def ints(message, field):
    return [int(x) for x in message.get(field, [])]


def num(message, field, names=()):
    value = message.get(field, ["0"])[0]
    return names.index(value) if value in names else int(value)


def signed(x):
    x &= MASK
    return x - (1 << 64) if x >> 63 else x


BASES = ("ZERO", "SAME", "LAST", "LAST_OR_TOP", "TOP")


def column(c, n, cols, keys, kind_type):
    """(values as 64-bit numbers, presence) of a Values message."""
    has, now = [], True
    for run in ints(c, "presence") or [n]:
        has += [now] * run
        now = not now
    assert len(has) == n, "presence"
    if c.get("doubles"):
        assert kind_type == "f" and num(c, "base", BASES) == 0
        diffs = [struct.unpack("<Q", struct.pack("<d", float(x)))[0] for x in c["doubles"]]
    elif c.get("run_differences"):
        diffs = []
        counts = ints(c, "run_counts")
        for i, d in enumerate(ints(c, "run_differences")):
            diffs += [d] * counts[i]
    else:
        diffs = ints(c, "differences")
    assert len(diffs) == sum(has), "differences"
    base, first = num(c, "base", BASES), num(c, "first")
    plus, minus = num(c, "plus"), num(c, "minus")
    extra = lambda p: (cols[plus - 1][p] if plus else 0) - (cols[minus - 1][p] if minus else 0)
    key = keys[num(c, "key")] if base in (2, 3) else []
    last, top, diff, out = {}, first, iter(diffs), []
    for r in range(n):
        alike = tuple(cols[k][r] for k in key)
        if not has[r]:
            out.append(0)
            continue
        if base == 0:
            want = 0
        elif base == 1:
            want = cols[num(c, "of")][r] + extra(r)
        elif base in (2, 3) and alike in last:
            want = out[last[alike]] + extra(last[alike])
        else:
            want = first if base == 2 else top
        value = (next(diff) + want) & MASK
        out.append(value)
        last[alike] = r
        top = max(top, signed(value) + 1)
    return out, has


def escape(b):
    out, i = bytearray(), 0
    while i < len(b):
        for n in (1, 2, 3, 4):
            try:
                c = b[i:i + n].decode("utf-8")
            except UnicodeDecodeError:
                continue
            if c:
                break
        else:
            n, c = 1, None
        if c is None or ord(c) < 32 or ord(c) == 127 or c == "\\":
            out += {9: b"\\t", 10: b"\\n", 13: b"\\r", 92: b"\\\\"}.get(b[i], b"\\x%02X" % b[i])
        else:
            out += b[i:i + n]
        i += n
    return bytes(out)


def shortest(x):
    """The fewest digits that read back, as %g writes them."""
    if x != x or x in (float("inf"), float("-inf")):
        return "nan" if x != x else "inf" if x > 0 else "-inf"
    return next(s for s in ("%.*g" % (d, x) for d in range(1, 18)) if float(s) == x)


def field(type, bits, strings):
    if type == "s":
        return escape(strings[bits])
    if type == "i":
        return b"%d" % signed(bits)
    return shortest(struct.unpack("<d", struct.pack("<Q", bits))[0]).encode()


def main():
    stream = parse(iter(sys.stdin.buffer.read().splitlines()))
    out = sys.stdout.buffer
    header = stream["header"][0]
    assert header["magic"] == [b"nsysx"] and header["version"] == ["2"]
    out.write(b"#nsysx\t2\n")
    kinds, met, count = [], 0, 0
    for block in stream.get("blocks", []):
        for k in block.get("kinds", []):
            kinds.append((k["name"][0].decode(), [(c["name"][0].decode(), {"0": "i", "DOUBLE": "f", "STRING": "s"}[c.get("type", ["0"])[0]])
                                                  for c in k.get("columns", [])]))
        order = list(zip(ints(block, "order_kinds"), ints(block, "order_counts")))
        rows = {}
        for k, n in order:
            rows[k] = rows.get(k, 0) + n
        strings, at = [], 0
        for s in block.get("strings", []):
            for back, shared, length in zip(ints(s, "back"), ints(s, "shared"), ints(s, "length")):
                strings.append((strings[len(strings) - 1 - back][:shared] if shared else b"") + s["text"][0][at:at + length])
                at += length
        values = {}
        for r in block.get("records", []):
            k, cols, has = num(r, "kind"), {}, {}
            keys = [ints(key, "columns") for key in r.get("keys", [])]
            for c in r.get("columns", []):
                i = num(c, "column")
                cols[i], has[i] = column(c, rows[k], cols, keys, kinds[k][1][i][1])
            values[k] = cols, has
        next_row = dict.fromkeys(rows, 0)
        for k, n in order:
            name, columns = kinds[k]
            if k == met:
                out.write(("#" + "".join([name] + ["\t%s:%s" % c for c in columns]) + "\n").encode())
                met += 1
            cols, has = values.get(k, ({}, {}))
            for r in range(next_row[k], next_row[k] + n):
                out.write(b"\t".join([name.encode()] + [field(t, cols[i][r], strings) if i in cols and has[i][r] else b""
                                                        for i, (_, t) in enumerate(columns)]) + b"\n")
            next_row[k] += n
            count += n
    end = num(stream["end"][0], "records")
    assert end == count, "the end counts %d of %d" % (end, count)
    columns = dict(kinds)["end"]
    out.write(b"\t".join([b"end"] + [b"%d" % count if c == "records" else b"" for c, _ in columns]) + b"\n")


main()
