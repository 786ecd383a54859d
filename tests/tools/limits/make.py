"""make.py WHAT FILE -- inputs at their limits."""
import os
import sys


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def calls(depth):
    """A dump of program 7 whose fusion.1 calls what calls what ... all-reduces, `depth` times."""
    shape = field(3, field(2, 11) + field(3, varint(256)))   # 256 floats
    comps = []
    for k in range(depth):
        inner = field(1, b"c.%d" % k) + field(2, b"call") + shape + field(35, 10 + k) + field(38, varint(100 + k + 1))
        comps.append(field(3, field(1, b"comp.%d" % k) + field(2, inner) + field(5, 100 + k) + field(6, 10 + k)))
    reduce = field(1, b"all-reduce.9") + field(2, b"all-reduce") + shape + field(35, 9)
    comps.append(field(3, field(1, b"last") + field(2, reduce) + field(5, 100 + depth) + field(6, 9)))
    fusion = field(1, b"fusion.1") + field(2, b"fusion") + shape + field(35, 1) + field(38, varint(100))
    entry = field(3, field(1, b"main") + field(2, fusion) + field(5, 1) + field(6, 1))
    return field(1, field(1, b"m") + field(2, b"main") + b"".join(comps) + entry + field(5, 7) + field(6, 1))


def names(n):
    """n instructions that each run once."""
    out = ["#nsysx\t2\n#profile\tprofile:i\tname:s\nprofile\t0\tr\n#device\tdevice:i\tprofile:i\tlocal:i\tknown:i\ndevice\t0\t0\t0\t1\n"
           "#program\tprogram:i\tid:i\tname:s\tkey:s\nprogram\t0\t7\tp\tp@7\n#alias\tprofile:i\tprogram:i\tid:i\nalias\t0\t0\t7\n"
           "#inst\tprogram:i\tinst:i\tname:s\topcode:s\n"]
    out += [f"inst\t0\t{i}\tfusion.{i}\tfusion\n" for i in range(n)]
    out.append("#module\tprofile:i\tprogram:i\texecution:i\tdevice:i\tstart:i\tdur:i\tthunks:i\n"
               "#thunk\tprofile:i\tprogram:i\texecution:i\tdevice:i\tinst:i\toccurrence:i\tname:s\tstart:i\tdur:i\n"
               f"module\t0\t0\t0\t0\t0\t{10 * n}\t{n}\n")
    out += [f"thunk\t0\t0\t0\t0\t{i}\t0\tfusion.{i}\t{10 * i}\t9\n" for i in range(n)]
    return ("".join(out) + f"#end\trecords:i\nend\t{2 * n + 5}\n").encode()


def stream(columns, records):
    """A stream of one device for each of `reports`; records: (time, kind, values), put in order."""
    reports = len({r[2][0] for r in records})
    out = ["#nsysx\t2\n#profile\tprofile:i\tname:s\n#device\tdevice:i\tprofile:i\tlocal:i\tpid:i\tknown:i\n"]
    out += [f"#{kind}\t{names}\n" for kind, names in columns.items()]
    out += [f"profile\t{i}\tr{i}\n" for i in range(reports)] + [f"device\t{i}\t{i}\t0\t{i + 1}\t1\n" for i in range(reports)]
    order = list(columns)
    for _, kind, values in sorted(records, key=lambda r: (r[0], order.index(r[1]), r[2])):
        out.append("\t".join([kind, *map(str, values)]) + "\n")
    return ("".join(out) + f"#end\trecords:i\nend\t{2 * reports + len(records)}\n").encode()


MEMORY = "profile:i\tdevice:i\tpid:i\tstart:i\tchange:s\tmemory:s\tbytes:i\taddress:i\tcontext:i"
CALL = "profile:i\tcall:i\tpid:i\ttid:i\tstart:i\tdur:i\tname:s\tclass:s\tops:i\tblocking:i"
OP = "profile:i\top:i\ttype:s\tdevice:i\tstream:i\tname:s\tstart:i\tdur:i"
STEP = "profile:i\tdevice:i\tclass:s\tstep:i\tstart:i\tdur:i\tperiod:i\tremoved:i\tkept:i"


def reports(n):
    """Operations of n reports, whose numbers have gaps."""
    out = []
    for i in range(n):
        out += [(1000 * k, "op", (i, 32500 * k, "kernel", i, 7, "k", 1000 * k, 500)) for k in range(3)]
        out += [(1000 * k, "step", (i, i, "s", k, 1000 * k, 500, 1000, 0, 1)) for k in range(2)]
    return stream({"op": OP, "step": STEP}, out)


def pauses(n):
    """n operations 80 ms apart, beside as many calls of 40 ms, neither of which waits for the other."""
    ms, out = 1000000, []
    for i in range(n):
        t = 80 * ms * i
        out.append((t, "call", (0, i, 1, 1, t, 40 * ms, "cudaDeviceSynchronize", "sync", 0, 1)))
        out.append((t + 20 * ms, "op", (0, i, "kernel", 0, 7, "k", t + 20 * ms, 1000)))
        if i % 100 == 0:
            out.append((t + 20 * ms, "step", (0, 0, "s", i // 100, t + 20 * ms, 1000, 8000 * ms, 0, 1)))
    return stream({"call": CALL, "op": OP, "step": STEP}, out)


def peaks(n, steps):
    """n reports of a device and its steps, in the last of which it allocates memory."""
    out = [(1000 * k, "step", (i, i, "s", k, 1000 * k, 1000, 1000, 0, 1)) for i in range(n) for k in range(steps)]
    out += [(1000 * steps - 500, "memory", (i, i, i, 1000 * steps - 500, "alloc", "device", 100, 1, 1)) for i in range(n)]
    return stream({"memory": MEMORY, "step": STEP}, out)


MAKE = {
    "peaks": lambda: peaks(2000, 300),
    "reports": lambda: reports(1000),
    "pauses": lambda: pauses(300000),
    "calls": lambda: calls(100000),
    "names": lambda: names(1000000),
    # A block of 300 MiB, of which 20 bytes come; one of 2^60; a string of 2^40 bytes.
    "block": lambda: b"\n\x09\n\x05nsysx\x10\x02" + b"\x12" + varint(300 << 20) + b"\0" * 20,
    "huge": lambda: b"\n\x09\n\x05nsysx\x10\x02" + b"\x12" + varint(1 << 60) + b"\0" * 20,
    "string": lambda: b"\n\x09\n\x05nsysx\x10\x02" + field(2, field(4, field(3, varint(1 << 40)) + field(4, b"x"))),
}
with open(sys.argv[2], "wb") as f:
    f.write(MAKE[sys.argv[1]]())
