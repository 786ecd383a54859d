"""make.py WHAT N -- a stream with N of what there are a few of elsewhere."""
import sys

what, n = sys.argv[1], int(sys.argv[2])
out = []


def rec(*fields):
    out.append("\t".join(str(f) for f in fields) + "\n")


def device(i):
    rec("device", i, 0, i, 5, f"GPU-{i}", 1)


def call(i, tid, start, dur, ops=1):
    rec("call", 0, i, 5, tid, "cudaLaunchKernel", "launch", start, dur, ops)


def op(i, dev, start, dur, name="k", kind="kernel", **more):
    rec("op", 0, i, kind, dev, name, start, dur, *(more.get(k, "") for k in ("host_start", "host_dur", "tid", "call", "program", "execution", "bytes", "graph_node", "comm", "collective", "comm_id", "group")))


def range_(i, tid, host_start, host_dur, start="", dur=""):
    rec("range", 0, i, 0, f"r{i}", start, dur, host_start, host_dur, 5, tid)


def launched(i, dev, tid, start):
    call(i, tid, start, 5)
    op(i, dev, start + 6, 3, host_start=start, host_dur=5, tid=tid, call=i)


def ranges():
    """Host ranges of one thread that begin one by one and end one by one; launches while they end."""
    device(0)
    for i in range(n):
        range_(i, 1, i * 10, n * 10)
    for i in range(1000):
        launched(i, 0, 1, n * 10 + i * (n // 120))


def coming():
    """Ranges whose GPU work begins before the host."""
    device(0)
    for i in range(n):
        range_(i, 1, 10 + i * 10, 5, 0, 1)
    for i in range(1000):
        launched(i, 0, 1, 10 + i * (n // 100))


def devices():
    for i in range(n):
        device(i)
    for i in range(n):
        launched(i, i, 1, i * 10)


def threads():
    """As many devices as threads."""
    for i in range(n):
        device(i)
    for i in range(10 * n):
        launched(i, i * 7 % n, i % n, i * 10)


def kernels():
    """A graph of n kernels of n names, launched by one call."""
    device(0)
    for i in range(n):
        op(i, 0, i * 10 + 10, 5, f"k{i}", host_start=0, host_dur=3, tid=1, call=7, graph_node=i)


def modules():
    """Executions within one that lasts."""
    device(0)
    rec("program", 0, 7, "p", "p@7")
    rec("module", 0, 0, 0, 0, 0, n * 20, 1)
    for i in range(n):
        rec("module", 0, 0, i + 1, 0, i * 10, 5, 1)
        op(i, 0, i * 10 + 1, 3, program=0, execution=i + 1)


def samples():
    """Short kernels of 8 devices, of 40 names, and samples that last for 500 of them."""
    for d in range(8):
        device(d)
    for i in range(n // 8):
        for d in range(8):
            op(8 * i + d, d, i * 2000, 1800, f"k{i * 7 % 40}")
        for m in range(8 * 10 if i % 500 == 0 else 0):
            rec("metric", 0, m // 10, i * 2000, 1000000, f"m{m % 10}", 50)


def classes():
    """Ranges of n names on 50 threads."""
    device(0)
    for i in range(n):
        call(i, i % 50, i * 10, 1)
        range_(i, i % 50, i * 10, 5, i * 10 + 1, 3)
        op(i, 0, i * 10 + 1, 3, host_start=i * 10, host_dur=1, tid=i % 50, call=i)


def copies():
    """Copies that last, and a kernel behind each."""
    device(0)
    for i in range(n):
        op(2 * i, 0, i * 10, n * 100, "[CUDA memcpy Host-to-Device]", "memcpy", bytes=100)
        op(2 * i + 1, 0, i * 10 + 1, 3)


def meetings():
    """Steps of n devices with collectives of all of them; the last device is the last to come."""
    for d in range(n):
        device(d)
    for k in range(40):
        for d in range(n):
            call(k * n + d, d, k * 5000, 1)
        for d in range(n if k % 10 == 0 else 0):
            range_(k * n + d, d, k * 5000, 49000, k * 5000 + 1, 49000)
        for d in range(n):
            op(k * n + d, d, k * 5000 + 1000 + d, 3000 - d, "ncclDevKernel_AllReduce", host_start=k * 5000, host_dur=1, tid=d, call=k * n + d,
               comm=1, collective="all-reduce", comm_id="1", group=n)


def beyond():
    """Two good kernels, and one with each time out of reach."""
    device(0)
    launched(0, 0, 1, 100)
    for k, (start, dur, host_start, host_dur) in enumerate(((1 << 62, 3, 100, 5), (110, 1 << 62, 100, 5), (111, 3, -(1 << 62), 5), (112, 3, 100, 1 << 62))):
        op(k + 10, 0, start, dur, host_start=host_start, host_dur=host_dur, tid=1, call=0)
    launched(1, 0, 1, 200)
    out.sort(key=lambda r: int(r.split("\t")[7 if r.startswith("call") else 6]) if r[0] in "co" else -1)


def sums():
    """n kernels and copies of 2^61 ns."""
    device(0)
    for i in range(n):
        call(i, 1, i * 10, 5)
        op(i, 0, i * 10 + 6, 1 << 61, host_start=i * 10, host_dur=5, tid=1, call=i)
        op(n + i, 0, i * 10 + 6, 1 << 61, "[CUDA memcpy Host-to-Device]", "memcpy", bytes=1)


globals()[what]()
print("#nsysx\t2\n#profile\tprofile:i\tname:s\n#device\tdevice:i\tprofile:i\tlocal:i\tpid:i\tuuid:s\tknown:i\n"
      "#program\tprogram:i\tid:i\tname:s\tkey:s\n#module\tprofile:i\tprogram:i\texecution:i\tdevice:i\tstart:i\tdur:i\tthunks:i\n"
      "#range\tprofile:i\trange:i\tlevel:i\tname:s\tstart:i\tdur:i\thost_start:i\thost_dur:i\tpid:i\ttid:i\n"
      "#call\tprofile:i\tcall:i\tpid:i\ttid:i\tname:s\tclass:s\tstart:i\tdur:i\tops:i\n"
      "#op\tprofile:i\top:i\ttype:s\tdevice:i\tname:s\tstart:i\tdur:i\thost_start:i\thost_dur:i\ttid:i\tcall:i\tprogram:i\texecution:i\tbytes:i\tgraph_node:i\tcomm:i\tcollective:s\tcomm_id:s\tgroup:i\n"
      "#metric\tprofile:i\tdevice:i\tstart:i\tdur:i\tname:s\tvalue:i\n"
      "profile\t0\tr0")
sys.stdout.write("".join(out) + f"#end\trecords:i\nend\t{len(out) + 1}\n")
