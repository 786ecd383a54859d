#!/usr/bin/env python3
"""Hold FLOPs and bytes of instructions against XLA's own cost analysis.

costs.py TARGET [PROGRAM]...: compile programs for the GPU that TARGET describes (XLA has such files in
xla/backends/gpu/target_config/specs), which need not be there, ask XLA's cost analysis about each instruction of what it
makes, and nsysx-extract of build/bin, through an export and a dump made here, about the same. A row of each class of
instructions says how many are equal, a line of each that differs what both say; the exit status is 1 where a difference
is not one of those that nsysx-roofline(1) explains.

Needs jax with its CUDA plugin, no GPU: python3 -m venv V && V/bin/pip install 'jax[cuda13]'. Not part of make check.
"""
import argparse
import collections
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1")
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_autotune_level=0"

import jax
import jax.numpy as jnp
from jax import lax
from jax._src.lib import _jax
from jaxlib import _hlo
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding

BF16, F32, F16, S8, S32 = jnp.bfloat16, jnp.float32, jnp.float16, jnp.int8, jnp.int32

# ---- programs


def dots(a):
    def f(x, w, q, k, v, m, h, i, j):
        return (x @ w, x.T @ x, jnp.einsum("bqhd,bkhd->bhqk", q, k), jnp.einsum("bhqk,bkhd->bqhd", jnp.einsum("bqhd,bkhd->bhqk", q, v), k),
                jnp.dot(m, m.T, precision="highest"), jnp.dot(m, m), h @ h, lax.dot(i, j, preferred_element_type=S32),
                m @ m[0], jnp.outer(m[0], m[1]), jax.nn.gelu((x + 1) @ w + w[0]),
                jnp.tensordot(m.reshape(16, 16, 256), m.reshape(16, 256, 16), ((0, 2), (2, 1))))
    return f, (a((512, 256)), a((256, 1024)), a((2, 128, 8, 64)), a((2, 96, 8, 64)), a((2, 96, 8, 64)), a((256, 256), F32), a((128, 128), F16),
               a((128, 256), S8), a((256, 64), S8))


def convolutions(a):
    def conv(x, k, *rest, **kw):
        return lax.conv_general_dilated(x, k, *rest, dimension_numbers=("NHWC", "HWIO", "NHWC"), **kw)

    def f(x, k, g, line, taps, cube, box):
        same = lambda x, k: conv(x, k, (1, 1), "SAME")
        wide = lambda x, k: conv(x, k, (2, 2), ((3, 1), (0, 2)))
        y, back = jax.vjp(same, x, k)
        z, back2 = jax.vjp(wide, x, k)
        return (back(y), back2(z), conv(x, k, (1, 1), "VALID", rhs_dilation=(2, 3)), conv(x, k, (1, 1), ((2, 2), (1, 2)), lhs_dilation=(2, 2)),
                conv(x, g, (1, 1), "SAME", feature_group_count=32), conv(x, k[..., :8, :], (1, 1), "SAME", feature_group_count=4),
                lax.conv(line, taps, (2,), "SAME"), lax.conv(cube, box, (1, 1, 1), "VALID"))
    return f, (a((4, 28, 28, 32)), a((3, 3, 32, 64)), a((5, 5, 1, 32)), a((4, 16, 200)), a((24, 16, 7)), a((2, 8, 12, 12, 12)), a((16, 8, 3, 3, 3)))


def attention(a):
    def f(x, w, o):
        q, k, v = (t.reshape(t.shape[0], t.shape[1], 8, -1) for t in jnp.split(x @ w, 3, -1))
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
        s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e9)
        p = jax.nn.softmax(s.astype(F32), -1).astype(x.dtype)
        return jnp.einsum("bhqk,bkhd->bqhd", p, v).reshape(x.shape) @ o
    return jax.value_and_grad(lambda *t: jnp.sum(f(*t).astype(F32) ** 2), (0, 1, 2)), (a((4, 256, 512)), a((512, 1536)), a((512, 512)))


def norms(a):
    def f(x, g, b):
        y = x.astype(F32)
        m = y.mean(-1, keepdims=True)
        n = (y - m) * lax.rsqrt(((y - m) ** 2).mean(-1, keepdims=True) + 1e-6) * g + b
        r = y * lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-6)
        c = (y - y.mean((0, 1))) * lax.rsqrt(y.var((0, 1)) + 1e-5)
        return jnp.sum(n.astype(BF16) * r.astype(BF16)).astype(F32) + jnp.sum(c ** 3)
    return jax.value_and_grad(f, (0, 1, 2)), (a((8, 256, 1024)), a((1024,), F32), a((1024,), F32))


def block(a):
    attend, shapes = attention(a)

    def norm(x):
        return (x * lax.rsqrt(jnp.mean(jnp.square(x.astype(F32)), -1, keepdims=True) + 1e-6)).astype(x.dtype)

    def loss(w, e, t):
        x = e[t[:, :-1]]
        q, k, v = (u.reshape(u.shape[0], u.shape[1], 8, -1) for u in jnp.split(norm(x) @ w["qkv"], 3, -1))
        p = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32), -1).astype(BF16)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", p, v).reshape(x.shape) @ w["o"]
        x = x + jax.nn.gelu(norm(x) @ w["up"]) @ w["down"]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax((x @ e.T).astype(F32)), t[:, 1:, None], -1))

    def step(w, m, v, e, t):
        l, g = jax.value_and_grad(loss)(w, e, t)
        m = jax.tree.map(lambda p, q: 0.9 * p + 0.1 * q, m, g)
        v = jax.tree.map(lambda p, q: 0.99 * p + 0.01 * q * q, v, g)
        return l, jax.tree.map(lambda p, q, r: (p - 1e-3 * q / (jnp.sqrt(r) + 1e-8)).astype(p.dtype), w, m, v), m, v
    w = {"qkv": a((512, 1536)), "o": a((512, 512)), "up": a((512, 2048)), "down": a((2048, 512))}
    return step, (w, w, w, a((4000, 512)), a((4, 257), S32))


def pools(a):
    def f(x):
        top = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        mean = lax.reduce_window(x, 0.0, lax.add, (1, 4, 4, 1), (1, 1, 1, 1), "VALID") / 16
        y, back = jax.vjp(top, x)
        return y, mean, back(y)[0], jnp.cumsum(x, 1), lax.cummax(x, 2), x.max((1, 2)), jnp.argmax(x, -1), jnp.prod(x, (0, 3))
    return f, (a((8, 32, 32, 64), F32),)


def unmodelled(a):
    def f(x, s):
        return jnp.fft.rfft(x), jnp.sort(x), lax.top_k(x, 5), jnp.linalg.cholesky(s), lax.linalg.triangular_solve(s, s)
    return f, (a((64, 256), F32), a((32, 32), F32))


def moves(a):
    def f(e, t, x, u, i):
        y = lax.dynamic_update_slice(x, u, (i, 0))
        return (e[t], jnp.zeros_like(e).at[t].add(1), lax.dynamic_slice(x, (i, 3), (16, 100)), y, jnp.concatenate([x, u]),
                jnp.pad(x, ((1, 2), (0, 5))),
                x[::-1], x.T, x[3:40, ::2], jnp.broadcast_to(u[0], (50, u.shape[1])), jnp.arange(1000), x.astype(BF16), jnp.roll(x, 3, 1),
                jnp.take_along_axis(x, t[:64, :1] % 7, 1), jnp.where(x > 0, x, 0), x.at[t[:8, 0], t[:8, 1]].set(0))
    return f, (a((5000, 128)), a((64, 32), S32), a((64, 512), F32), a((8, 512), F32), a((), S32))


def functions(a):
    def f(x, y):
        one = [jnp.abs, jnp.ceil, jnp.cos, jnp.exp, jnp.expm1, jnp.floor, jnp.log, jnp.log1p, jnp.negative, jnp.sign, jnp.sin, jnp.sqrt, jnp.tanh, lax.rsqrt,
               lax.erf, lax.logistic, jnp.cbrt, jnp.tan, jnp.round, jnp.isfinite, jnp.arctan, jax.nn.gelu, jax.nn.softmax]
        two = [jnp.add, jnp.arctan2, jnp.divide, jnp.maximum, jnp.power, jnp.remainder, jnp.greater, jnp.nextafter]
        return [lax.optimization_barrier(g(x)) for g in one] + [lax.optimization_barrier(g(x, y)) for g in two]
    return f, (a((64, 129), F32), a((64, 129), F32))


def chance(a):
    def f(k):
        key = jax.random.wrap_key_data(k)
        return jax.random.normal(key, (100, 100)), jax.random.uniform(key, (1000,)), jax.random.bernoulli(key, 0.3, (64, 64)), \
            jax.random.categorical(key, jnp.ones((8, 100)))
    return f, (a((2,), jnp.uint32),)


def loops(a):
    def f(x, w):
        def body(x, w):
            return jnp.tanh(x @ w), jnp.sum(x)
        x, s = lax.scan(body, x, w)
        grown = lax.while_loop(lambda c: jnp.sum(c[0]) < 1e3, lambda c: (c[0] * 2 + 1, c[1] + 1), (x.astype(F32), 0))
        return grown, s, lax.cond(s[0] > 0, lambda: x * 2, lambda: x @ x.T @ x)
    return f, (a((64, 128)), a((6, 128, 128)))


def narrow(a):
    f8 = jnp.float8_e4m3fn

    def f(x, w, s):
        y = lax.dot_general(x, w, (((1,), (1,)), ((), ())), preferred_element_type=F32)
        return y, (x.astype(BF16) * s) @ (w.T.astype(BF16) * s)
    return f, (a((256, 512), f8), a((128, 512), f8), a((), BF16))


PROGRAMS = {f.__name__: f for f in (dots, convolutions, attention, norms, block, pools, unmodelled, moves, functions, chance, loops, narrow)}
KINDS = {"library": {"xla_gpu_enable_triton_gemm": False}, "own": {}}

# ---- the text of a module

Inst = collections.namedtuple("Inst", "name shape opcode operands rest")


def closing(s, i):
    """The end of the brackets that open at s[i]."""
    depth = 0
    while True:
        if s[i] == '"':
            i = re.compile(r'"(?:[^"\\]|\\.)*"').match(s, i).end() - 1
        depth += (s[i] in "([{") - (s[i] in ")]}")
        i += 1
        if not depth:
            return i


def instruction(line):
    m = re.match(r"\s*(?:ROOT )?%([^ ]+) = ", line)
    if not m:
        return None
    i = closing(line, m.end()) if line[m.end()] == "(" else line.index(" ", m.end())
    shape, rest = line[m.end():i], line[i:].lstrip()
    at = rest.index("(")
    end = closing(rest, at)
    return Inst(m.group(1), shape, rest[:at], re.findall(r"%([^ ,()]+)", rest[at:end]), rest[end:])


def computations(text):
    """{name: (is_entry, header line, [Inst], text)} in the order of the text."""
    found, name = collections.OrderedDict(), None
    for line in text.split("\n"):
        m = re.match(r"(ENTRY )?%([^ ]+) \(.*\{$", line)
        if m:
            name, found[m.group(2)] = m.group(2), (bool(m.group(1)), [], [line])
        elif name:
            found[name][2].append(line)
            i = instruction(line)
            if i:
                found[name][1].append(i)
            if line == "}":
                name = None
    return found


def executed(comps):
    """Instructions that can be a thunk: of the entry, of loops, branches and calls."""
    todo = [n for n, c in comps.items() if c[0]]
    for n in todo:
        for i in comps[n][1]:
            yield n, i
            if i.opcode in ("while", "conditional", "call"):
                called = re.findall(r"(?:body|condition|to_apply|true_computation|false_computation)=%([^ ,]+)", i.rest)
                called += re.findall(r"%([^ ,{}]+)", "".join(re.findall(r"branch_computations=\{([^}]*)\}", i.rest)))
                todo += [c for c in called if c not in todo]


# ---- XLA's answer

FREE = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "while", "conditional", "call", "after-all"}


def first(shape):
    """The first array of a tuple, or the array."""
    return re.match(r"\(?(\w+\[[^\]]*\](?:\{[^}]*\})?)", shape).group(1)


def stands_for(i, shapes):
    """An instruction, or what a library's call computes, as (shape, opcode, shapes of operands, attributes); None where XLA has no model."""
    if i.opcode != "custom-call":
        return i.shape, i.opcode, [shapes[o] for o in i.operands], i.rest
    target = re.search(r'custom_call_target="([^"]*)"', i.rest)
    target = target.group(1) if target else ""
    a, b, out = ([first(shapes[o]) for o in i.operands[:2]] + [None, None])[:2] + [first(i.shape)]
    if target in ("__cublas$gemm", "__cublas$lt$matmul", "__cublas$lt$matmul$f8"):
        config = json.JSONDecoder().raw_decode(i.rest[i.rest.index("backend_config=") + 15:])[0]
        n = config["gemm_backend_config"]["dot_dimension_numbers"]
        dims = ", ".join("%s={%s}" % (k.replace("dimensions", "dims"), ",".join(n.get(k, ()))) for k in
                         ("lhs_batch_dimensions", "lhs_contracting_dimensions", "rhs_batch_dimensions", "rhs_contracting_dimensions"))
        return out, "dot", [a, b], ", " + dims
    if target.startswith("__cudnn$conv"):
        # Calls of the backward passes have the window of the forward pass, whose input or kernel they compute.
        if target == "__cudnn$convBackwardInput":
            a, out = out, a
        elif target == "__cudnn$convBackwardFilter":
            b, out = out, b
        elif not target.startswith("__cudnn$convForward") and not target.startswith("__cudnn$convBias"):
            return None
        kept = re.findall(r"(?:window=\{[^}]*\}|dim_labels=[^ ,]+|feature_group_count=\d+|batch_group_count=\d+)", i.rest)
        return out, "convolution", [a, b], ", " + ", ".join(kept)
    return None


def asked(client, comps, shape, opcode, operands, rest):
    """flops + transcendentals, bytes of a module of that instruction alone."""
    rest = re.sub(r", (?:metadata|backend_config|frontend_attributes|sharding|control-predecessors)=\{.*", "", rest)
    called = [c for c in re.findall(r"%([^ ,{}]+)", rest) if c in comps]
    need = []
    while called:
        c = called.pop()
        if c not in need:
            need.append(c)
            called += [d for d in re.findall(r"%([^ ,(){}]+)", "\n".join(comps[c][2][1:])) if d in comps]
    lines = ["HloModule one", ""]
    for n in comps:
        if n in need:
            lines += comps[n][2] + [""]
    lines.append("ENTRY %the_entry {")
    names = []
    for k, o in enumerate(operands):
        names.append("%%operand.%d" % k)
        lines.append("  %s = %s parameter(%d)" % (names[-1], o, k))
    lines += ["  ROOT %%the.root = %s %s(%s)%s" % (shape, opcode, ", ".join(names), rest), "}"]
    text = re.sub(r"stack_frame_id=\d+", "", "\n".join(lines))
    module = _hlo.hlo_module_from_text(text)
    p = _jax.hlo_module_cost_analysis(client, module)
    return p.get("flops", 0) + p.get("transcendentals", 0), p.get("bytes accessed", 0)


# ---- nsysx's answer


def varint(v):
    out = bytearray()
    while v >= 128:
        out.append(v & 127 | 128)
        v >>= 7
    return bytes(out + bytes([v]))


def told(bindir, folder, modules):
    """{(program, name): (flops + vector, bytes) or None}. modules: (number, name, proto, [names of instructions])."""
    db = sqlite3.connect(os.path.join(folder, "r0.sqlite"))
    db.executescript("""
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
        CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER, endGlobalTid INTEGER,
            textId INTEGER, domainId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, streamId INTEGER NOT NULL,
            correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL);
        INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.13.1');
        INSERT INTO StringIds VALUES (1, 'kernel');""")
    pid = 1 << 48
    tid, t, k = pid + 16777216 + 11, 1000, 1
    db.execute("INSERT INTO NVTX_EVENTS VALUES (0, 0, 75, 'TSL', ?, NULL, NULL, 1)", (tid,))
    for number, name, proto, names in modules:
        dump = proto + b"\x28" + varint(number)   # if a field occurs twice, protobuf uses the last: the id
        with open(os.path.join(folder, "module_%04d.%s.sm_9.0_gpu_after_optimizations.hlo.pb" % (number, name)), "wb") as f:
            f.write(b"\x0a" + varint(len(dump)) + dump)
    # Run everything twice: the last execution may count as cut off, and is then not used.
    for number, module, _, names in modules * 2:
        start = t
        for name in names:
            db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, NULL, NULL, 1)", (t + 10, t + 60, "Thunk:#hlo_op=%s#" % name, tid))
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?)", (t + 20, t + 30, tid, k))
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, ?, ?, 1)", (t + 40, t + 90, k, pid + 16777216))
            t, k = t + 100, k + 1
        title = "XlaModule:#hlo_module=%s,program_id=%d#" % (module, number)
        db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, NULL, NULL, 1)", (start, t, title, tid))
        t += 1000
    db.commit()
    db.close()
    text = subprocess.run([os.path.join(bindir, "nsysx-extract"), "-q", "-x", folder, os.path.join(folder, "r0.sqlite")],
                          check=True, capture_output=True, text=True).stdout
    heads, ids, out = {}, {}, {}
    for line in text.splitlines():
        cell = line.split("\t")
        if cell[0].startswith("#"):
            heads[cell[0][1:]] = [c.rsplit(":", 1)[0] for c in cell[1:]]
            continue
        r = dict(zip(heads.get(cell[0], ()), cell[1:]))
        if cell[0] == "program":
            ids[r["program"]] = int(r["id"])
        elif cell[0] == "inst":
            known = r.get("mem_bytes", "") != ""
            out[ids[r["program"]], r["name"]] = (int(r["flops"]) + int(r["vector"]), int(r["mem_bytes"]), int(r["flops"])) if known else None
    return out


# ---- both


EXPLAINED = (({"gather", "scatter"}, "elements of a gather or scatter"),
             ({"dynamic-update-slice"}, "update in place"),
             ({"slice", "dynamic-slice"}, "part of an operand"),
             ({"broadcast", "concatenate", "pad", "reduce-window"}, "read more than once"))


def why(i, comps, xla, own):
    """What nsysx-roofline(1) says of a difference in bytes, or None."""
    inside = set()
    called = re.search(r"calls=%([^ ,]+)", i.rest)
    if called and called.group(1) in comps:
        inside = {j.opcode for j in comps[called.group(1)][1]}
    if i.opcode == "custom-call":
        return "bias, scales and C of a library's call" if len(i.operands) > 2 else None
    # The minimum traffic can only be below XLA's sum: a number above it is unexplained.
    if own > xla:
        return None
    for opcodes, known in EXPLAINED:
        if inside & opcodes:
            return known
    return None


def near(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("target")
    p.add_argument("program", nargs="*", help="of " + " ".join(PROGRAMS))
    p.add_argument("--bin", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "bin"))
    p.add_argument("--keep", help="leave modules and export in this folder")
    args = p.parse_args()
    with open(args.target) as f:
        topology = topologies.get_topology_desc(platform="cuda", target_config=f.read(), topology="1x1x1")
    sharding = SingleDeviceSharding(topology.devices[0])
    client = jax.devices("cpu")[0].client
    a = lambda shape, t=BF16: jax.ShapeDtypeStruct(shape, t, sharding=sharding)
    modules, programs = [], []
    for name in args.program or PROGRAMS:
        for kind, options in KINDS.items():
            f, shapes = PROGRAMS[name](a)
            lowered = jax.jit(f).lower(*shapes)
            try:
                module = lowered.compile(compiler_options=options).runtime_executable().hlo_modules()[0]
            except Exception as e:
                print("%s.%s: does not compile: %s" % (name, kind, str(e).split("\n")[0][:150]))
                continue
            comps = computations(module.to_string())
            insts = [i for _, i in executed(comps) if i.opcode not in FREE]
            written = _jax.hlo_module_cost_analysis(client, _hlo.hlo_module_from_text(lowered.as_text("hlo")))
            modules.append((len(modules) + 1, module.name, module.as_serialized_hlo_module_proto(), [i.name for i in insts]))
            programs.append(("%s.%s" % (name, kind), comps, insts, written["flops"]))
    with tempfile.TemporaryDirectory() as folder:
        folder = args.keep or folder
        os.makedirs(folder, exist_ok=True)
        own = told(args.bin, folder, modules)
    rows, lines, failed, sums = collections.OrderedDict(), [], 0, []
    unknown = collections.Counter()
    for number, (program, comps, insts, written) in enumerate(programs, 1):
        shapes = {i.name: i.shape for _, c, _ in comps.values() for i in c}
        total = 0
        for i in insts:
            mine = own.get((number, i.name))
            total += mine[2] if mine else 0
            row = rows.setdefault(i.opcode, collections.Counter())
            row["all"] += 1
            ask = stands_for(i, shapes)
            if not mine:
                row["unmodelled"] += 1
                unknown[i.opcode, re.sub(r'.*custom_call_target="([^"]*)".*|.*', r"\1", i.rest) or re.sub(r"[.\d]+$", "", i.name)] += 1
                continue
            if not ask:
                row["XLA has no model"] += 1
                continue
            flops, size = asked(client, comps, *ask)
            row["flops equal"] += near(flops, mine[0])
            row["bytes equal"] += near(size, mine[1])
            if not near(flops, mine[0]):
                lines.append("%s %s: %s: %d operations, XLA: %d" % (program, i.name, i.opcode, mine[0], flops))
                failed += 1
            if not near(size, mine[1]):
                known = why(i, comps, size, mine[1])
                row["explained"] += known is not None
                failed += known is None
                lines.append("%s %s: %s: %d bytes, XLA: %d: %s" % (program, i.name, i.opcode, mine[1], size, known or "NOT EXPLAINED"))
        sums.append((program, total, written))
    columns = ["all", "unmodelled", "XLA has no model", "flops equal", "bytes equal", "explained"]
    print("%-22s %s" % ("opcode", " ".join("%16s" % c for c in columns)))
    for opcode, row in sorted(rows.items()):
        print("%-22s %s" % (opcode, " ".join("%16d" % row[c] for c in columns)))
    print("%-22s %s" % ("all", " ".join("%16d" % sum(r[c] for r in rows.values()) for c in columns)))
    print("not modelled:", ", ".join("%s %s (%d)" % (*k, n) for k, n in sorted(unknown.items())))
    print("\n%-22s %20s %20s" % ("program", "products' FLOPs", "flops as written"))
    for s in sums:
        print("%-22s %20d %20d" % s)
    print("\n" + "\n".join(lines))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
