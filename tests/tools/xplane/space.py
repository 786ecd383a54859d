# space.py FILE [MODE [far]]: a planted XSpace. On a GPU: jit_f(7), 3 executions, each fusion.1 twice with dot.2 between, and a
# copy by the runtime; MODE: start: all-reduce-start.3 of each execution on a stream of its own, issued when dot.2 had
# been; nvtx: ranges of NVTX around the calls of the second execution; crowd: ranges of 66,000 domains; cross: no TraceMes, jit_f and jit_g by turns on one thread; alone: no calls; cpu: a run of jit_f on a CPU, with a
# loop around it, by device 6; trouble: what the reader is to report; before: times that count from 1970, and a start that
# is none. far: most ids of metadata are large, in no order.
import sys

def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])

def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value) if value else b""
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value

def id_of(n):
    return n if sys.argv[3:] != ["far"] or n % 3 == 0 else n << 40 if n % 3 == 1 else 1000 - n

names = {}
def named(text):
    return names.setdefault(text, id_of(len(names) + 1))

def stats(number, given):
    return b"".join(field(number, field(1, named(k)) + (field(4, v) if isinstance(v, int) else
        field(6, v) if isinstance(v, bytes) else field(7, named(v)))) for k, v in given.items())

events = {}
def event(name, start, dur, **given):
    return field(4, field(1, events.setdefault(name, id_of(len(events) + 1))) + field(2, start * 1000 + 7)
        + (field(3, dur * 1000 + 1) if dur else b"") + stats(4, given))

def line(number, name, *what):
    return field(3, field(1, number) + field(2, name) + field(3, start if mode == "before" else 1000) + b"".join(what))

def plane(name, lines, more=b""):
    metas = b"".join(field(4, field(1, i) + field(2, field(1, i) + field(2, n))) for n, i in events.items())
    kinds = b"".join(field(5, field(1, i) + field(2, field(1, i) + field(2, n))) for n, i in names.items())
    return field(1, field(2, name) + lines + metas + kinds + more)

def program(number, module, *what):
    """/host:metadata with the HLO of a program: instructions as (name, opcode, op_name)."""
    shape = field(2, 11) + field(3, 8)
    insts = b"".join(field(2, field(1, name) + field(2, opcode) + field(3, shape) + field(7, field(2, path) + field(3, "f.py")
        + field(4, 9)) + field(35, i + 1)) for i, (name, opcode, path) in enumerate(what))
    hlo = field(1, field(1, module) + field(2, "main") + field(3, field(1, "main") + insts + field(5, 1) + field(6, len(what)))
        + field(5, number) + field(6, 1))
    proto = stats(5, {"Hlo Proto": hlo})
    return field(1, field(2, "/host:metadata") + field(4, field(1, 900) + field(2, field(1, 900) + field(2, f"{module}({number})") + proto))
        + field(5, field(1, named("Hlo Proto")) + field(2, field(1, named("Hlo Proto")) + field(2, "Hlo Proto"))))

def kernel(op, at, n, module="jit_f", number=7):
    return event("kernel_" + op, at, 8000, correlation_id=n, hlo_op=op, hlo_module=module, program_id=number, kernel_details="regs:1")

def call(at, n, name="cuLaunchKernelEx"):
    return event(name, at, 2000, correlation_id=n)

def execution(at, first):
    for k, op in enumerate(("fusion.1", "dot.2", "fusion.1")):
        calls.append(call(at + 1000 + 5000 * k, first + k))
        gpu.append(kernel(op, at + 10000 + 10000 * k, first + k))
    calls.append(call(at + 16000, first + 3, "cuMemcpyDtoDAsync"))
    gpu.append(event("MemcpyD2D", at + 40000, 8000, correlation_id=first + 3,
        memcpy_details="kind_src:device kind_dst:pinned size:64 dest:0 async:1"))

mode = sys.argv[2] if len(sys.argv) > 2 else ""
gpu, calls, marks, starts, more = [], [], [], [], b""
start = 1700000000000000000
if mode == "cross":
    turns = ("jit_f", 7, "fusion.1"), ("jit_g", 8, "dot.9"), ("jit_f", 7, "dot.2"), ("jit_g", 8, "add.3"), ("jit_f", 7, "fusion.1")
    for k, (module, number, op) in enumerate(turns):
        calls.append(call(1000 + 5000 * k, k + 1))
        gpu.append(kernel(op, 10000 + 10000 * k, k + 1, module, number))
elif mode == "cpu":
    for k, op in enumerate(("while.5", "fusion.1", "dot.2")):
        marks.append(event(op, 1000 * k, 900 if k else 9000, run_id=3, hlo_op=op, hlo_module="jit_f", program_id=7, device_ordinal=0))
    marks.append(event("end: f", 9000, 0))
    marks.append(event("[0] Executable::Execute (jit_f)", 0, 9500, global_device_id=6))
else:
    for run in range(3):
        marks.append(event("jit_f:XLA GPU module", run * 100000, 50000))
        execution(run * 100000, 4 * run + 1)
        if mode == "start":
            calls.append(call(run * 100000 + 8500, 100 + run))
            starts.append(event("ncclDevKernel_AllReduce", run * 100000 + 28000, 9000, correlation_id=100 + run, hlo_op="all-reduce-start.3",
                hlo_module="jit_f", program_id=7))
    marks.append(event("train", 0, 300000, _r=1, step_num=5))
    marks.append(event("$train.py:1 f", 0, 300000))
if mode == "alone":
    calls = []
if mode == "trouble":
    gpu.append(event("kernel_x", 390000, 900, correlation_id=77, hlo_op="x.1", kernel_details="regs:1"))
    calls.append(call(391000, 88, "cuGraphLaunch (CudaGraph:7)"))
    gpu.append(event("kernel_of_graph", 395000, 900, correlation_id=88, kernel_details="regs:1"))
    gpu.append(event("kernel_late", (1 << 63) // 1000 - 10, 900))
    more = plane("/device:TPU:0", b"") + plane("/host:new", line(1, "new")) + field(2, "lost on node17") + field(4, "node17")
space = b""
if mode != "cross":
    space += program(7, "jit_f", ("fusion.1", "fusion", "jit(f)/mul"), ("dot.2", "dot", "jit(f)/dot"), ("while.5", "while", "jit(f)/while"))
else:
    space += program(8, "jit_g", ("add.3", "add", "jit(g)/add"), ("dot.9", "dot", "jit(g)/dot"))
space += plane("/host:CPU", line(71, "Host Threads/" + ("4294967295" if mode == "cross" else "71"), *calls) + line(-5, "py_xla_execute/-5", *marks))
if mode == "crowd":
    space += plane("/host:NVTX-CUPTI", line(71, "Host Threads/71/NVTX", *(event(f"NVTX:domain{n}:part{n % 3}", 4 * n, 2)
        for n in range(66000)), event("NVTX:domain7:late", 264002, 2)))
if mode == "nvtx":
    space += plane("/host:NVTX-CUPTI", line(71, "Host Threads/71/NVTX", event("NVTX:mine:load:1", 100000, 20000), event("NVTX:at::add", 100500, 4000),
        event("NVTX:TSL:XlaModule:#hlo_module=jit_f,program_id=7#", 100000, 20000)))
if gpu:
    space += plane("/device:GPU:0", line(13, "Stream #13(Kernel)", *gpu)
        + (line(14, "Stream #14(Kernel)", *starts) if starts else b"") + line(9, "XLA Ops", event("fusion.1", 0, 900)),
        stats(6, {"core_count": 132, "clock_rate": 1980000}))
space += more + plane("Task Environment", b"", stats(6, {"profile_start_time": -9 * 10 ** 18 if mode == "before" else start + (mode == "trouble")}))
open(sys.argv[1], "wb").write(space)
