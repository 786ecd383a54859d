"""Training loops in pairs, before a change and after: train_torch.py MODE DIR [NAME ...]. MODE nsys captures 12 steps of each, plain
prints how long its steps take, kineto writes traces of PyTorch's profiler to DIR. See README.md."""
import sys, os, time, json, math, ctypes
MODE, OUT = sys.argv[1], sys.argv[2]
ONLY = sys.argv[3:]
import torch, torch.nn as nn, torch.nn.functional as F
import triton, triton.language as tl
dev = 'cuda'
cu = ctypes.CDLL('libcuda.so.1')
nvtx = torch.cuda.nvtx
STEPS = int(os.environ.get('STEPS', 12))

@triton.jit
def rms_kernel(X, Y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for o in range(0, n, BLOCK):
        i = o + tl.arange(0, BLOCK)
        x = tl.load(X + row * n + i, mask=i < n, other=0.0).to(tl.float32)
        acc += x * x
    r = 1.0 / tl.sqrt(tl.sum(acc) / n + 1e-6)
    for o in range(0, n, BLOCK):
        i = o + tl.arange(0, BLOCK)
        x = tl.load(X + row * n + i, mask=i < n, other=0.0).to(tl.float32)
        tl.store(Y + row * n + i, x * r, mask=i < n)

class Rms(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, block, warps):
        y = torch.empty_like(x)
        rows = x.numel() // x.shape[-1]
        rms_kernel[(rows,)](x, y, x.shape[-1], BLOCK=block, num_warps=warps)
        return y
    @staticmethod
    def backward(ctx, g):
        return g, None, None

class Block(nn.Module):
    def __init__(s, d, h, o):
        super().__init__()
        s.h, s.o = h, o
        s.qkv, s.proj = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        s.up, s.down = nn.Linear(d, 4 * d, bias=False), nn.Linear(4 * d, d, bias=False)
    def norm(s, x):
        if s.o.get('norm') is None:
            return F.rms_norm(x, (x.shape[-1],))
        return Rms.apply(x, *s.o['norm'])
    def forward(s, x):
        B, T, d = x.shape
        with torch.autograd.profiler.record_function('attention') if MODE == 'kineto' else nvtx.range('attention'):
            q, k, v = s.qkv(s.norm(x)).view(B, T, 3, s.h, d // s.h).permute(2, 0, 3, 1, 4)
            if s.o.get('flash', True):
                a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:
                w = (q @ k.transpose(-1, -2)) * (1.0 / math.sqrt(d // s.h))
                m = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
                a = torch.softmax(w.masked_fill(~m, float('-inf')), -1) @ v
            x = x + s.proj(a.transpose(1, 2).reshape(B, T, d))
        with torch.autograd.profiler.record_function('mlp') if MODE == 'kineto' else nvtx.range('mlp'):
            return x + s.down(F.gelu(s.up(s.norm(x))))

class Model(nn.Module):
    def __init__(s, d, L, h, V, o):
        super().__init__()
        s.o = o
        s.emb = nn.Embedding(V, d)
        s.blocks = nn.ModuleList([Block(d, h, o) for _ in range(L)])
        s.head = nn.Linear(d, V, bias=False)
    def forward(s, t, y):
        x = s.emb(t)
        for b in s.blocks:
            x = b(x)
            if s.o.get('item'):
                x.abs().max().item()
        return F.cross_entropy(s.head(x).view(-1, s.head.out_features), y.reshape(-1))

SIZES = {'big': (1024, 8, 16, 16384, 8, 1024), 'mid': (1024, 12, 16, 8192, 4, 512), 'small': (256, 6, 4, 4096, 4, 128)}

def make(o):
    torch.manual_seed(0)
    d, L, h, V, B, T = SIZES[o['size']]
    torch.set_float32_matmul_precision(o.get('prec', 'high'))
    m = Model(d, L, h, V, o).to(dev)
    if not o.get('fp32'):
        m = m.to(torch.bfloat16)
    opt = torch.optim.AdamW(m.parameters(), lr=1e-4, capturable=bool(o.get('graph')), foreach=True)
    host = [torch.randint(0, V, (B, T + 1)) for _ in range(4)]
    extra = None
    if o.get('batch'):
        extra = [torch.randn(o['batch'] << 18) for _ in range(2)]
        if o.get('pinned'):
            extra = [e.pin_memory() for e in extra]
        if o.get('ongpu'):
            extra = [e.to(dev) for e in extra]
    side = torch.cuda.Stream()
    buf = [torch.empty(o['offload'] << 19, dtype=torch.bfloat16).pin_memory() for _ in range(2)] if o.get('offload') else None
    ondev = [x.to(dev) for x in host]
    def compute(t):
        opt.zero_grad(set_to_none=not o.get('graph'))
        with nvtx.range('forward'):
            loss = m(t[:, :-1], t[:, 1:])
        with nvtx.range('backward'):
            loss.backward()
        with nvtx.range('optimizer'):
            opt.step()
        return loss
    g = None
    if o.get('graph'):
        st = ondev[0].clone()
        s = torch.cuda.Stream()
        s.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(s):
            for _ in range(3):
                compute(st)
        torch.cuda.current_stream().wait_stream(s)
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            out = compute(st)
    state = {'i': 0}
    def step():
        i = state['i']; state['i'] += 1
        with nvtx.range('step %d' % i):
            if o.get('busy'):
                with nvtx.range('loader'):
                    e = time.perf_counter() + o['busy'] / 1e3
                    while time.perf_counter() < e:
                        pass
            if extra is not None:
                x = extra[i % 2].to(dev, non_blocking=bool(o.get('pinned')))
                x.mul_(2.0)
            t = ondev[i % 4]
            if g is not None:
                st.copy_(t)
                g.replay()
                loss = out
            else:
                if o.get('h2d'):
                    t = host[i % 4].to(dev)
                loss = compute(t)
            if buf is not None:
                src = m.head.weight.grad.view(-1)[: buf[0].numel()]
                side.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(side):
                    buf[i % 2][: src.numel()].copy_(src, non_blocking=True)
                torch.cuda.current_stream().wait_stream(side)
            if o.get('loss'):
                loss.item()
            if o.get('sync'):
                torch.cuda.synchronize()
    return step

VARIANTS = {
    # a kernel replaced
    'flash0': dict(size='big', flash=False), 'flash1': dict(size='big', flash=True),
    'norm0': dict(size='big', norm=(64, 1)), 'norm1': dict(size='big', norm=(1024, 8)),
    'gemm0': dict(size='mid', fp32=1, prec='highest'), 'gemm1': dict(size='mid', fp32=1, prec='high'),
    # syncs removed
    'item0': dict(size='mid', item=1), 'item1': dict(size='mid'),
    'sync0': dict(size='small', sync=1, loss=1, h2d=1), 'sync1': dict(size='small', h2d=1),
    # host work removed, launches replaced by a graph
    'busy0': dict(size='mid', busy=6), 'busy1': dict(size='mid'),
    'graph0': dict(size='small'), 'graph1': dict(size='small', graph=1),
    # copies
    'copy0': dict(size='mid', batch=64), 'copy1': dict(size='mid', batch=64, ongpu=1),
    'off0': dict(size='big', offload=24), 'off1': dict(size='big'),
}
times = {}
for name, o in VARIANTS.items():
    if ONLY and name not in ONLY:
        continue
    try:
        step = make(o)
        for _ in range(4):
            step()
        torch.cuda.synchronize()
        if MODE == 'nsys':
            cu.cuProfilerStart()
            nvtx.mark('variant ' + name)
            for _ in range(STEPS):
                step()
            torch.cuda.synchronize()
            cu.cuProfilerStop()
        elif MODE == 'kineto':
            from torch.profiler import profile, ProfilerActivity
            with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
                for _ in range(STEPS):
                    step(); p.step()
                torch.cuda.synchronize()
            p.export_chrome_trace('%s/k_%s.json.gz' % (OUT, name))
        runs = []
        for _ in range(3 if MODE == 'plain' else 0):
            torch.cuda.synchronize()
            e = [torch.cuda.Event(enable_timing=True) for _ in range(31)]
            for i in range(30):
                e[i].record(); step()
            e[30].record()
            torch.cuda.synchronize()
            runs.append([e[i].elapsed_time(e[i + 1]) for i in range(30)])
        times[name] = runs
        print(name, ['%.3f' % (sum(r[1:]) / 29) for r in runs], flush=True)
        del step
    except Exception as x:
        print(name, 'FAILED', repr(x)[:300], flush=True)
    torch.cuda.empty_cache()
json.dump(times, open('%s/times_%s.json' % (OUT, MODE), 'w'))
