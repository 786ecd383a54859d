"""The same of JAX: train_jax.py MODE DIR [NAME ...]; MODE plain, nsys or xplane. See README.md."""
import sys, os, time, json, ctypes, functools
MODE, OUT = sys.argv[1], sys.argv[2]
ONLY = sys.argv[3:]
os.environ.setdefault('XLA_PYTHON_CLIENT_MEM_FRACTION', '.5')
import jax, jax.numpy as jnp
cu = ctypes.CDLL('libcuda.so.1')
D, L, H, V, B, T = 1024, 6, 16, 8192, 8, 512
def init(key):
    ks = iter(jax.random.split(key, 6 * L + 2))
    n = lambda *s: jax.random.normal(next(ks), s, jnp.float32) * 0.02
    return dict(emb=n(V, D), head=n(D, V), layers=[dict(qkv=n(D, 3 * D), o=n(D, D), up=n(D, 4 * D), down=n(4 * D, D)) for _ in range(L)])
def forward(p, t, prec):
    dot = functools.partial(jnp.dot, precision=prec)
    x = p['emb'][t]
    for i, l in enumerate(p['layers']):
        with jax.named_scope('layer_%d' % i):
            with jax.named_scope('attention'):
                y = x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)
                q, k, v = jnp.split(dot(y, l['qkv']), 3, -1)
                r = lambda a: a.reshape(a.shape[0], a.shape[1], H, -1).transpose(0, 2, 1, 3)
                w = jnp.einsum('bhqd,bhkd->bhqk', r(q), r(k), precision=prec) / 8.0
                w = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((T, T), bool)), w, -1e30), -1)
                a = jnp.einsum('bhqk,bhkd->bhqd', w, r(v), precision=prec).transpose(0, 2, 1, 3).reshape(x.shape)
                x = x + dot(a, l['o'])
            with jax.named_scope('mlp'):
                x = x + dot(jax.nn.gelu(dot(x, l['up'])), l['down'])
    return dot(x, p['head'])
@functools.cache
def program(prec):
    def loss(p, t):
        lg = forward(p, t[:, :-1], prec)
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(lg), t[:, 1:, None], -1))
    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def train_step(p, m, t):
        l, g = jax.value_and_grad(loss)(p, t)
        m = jax.tree.map(lambda a, b: 0.9 * a + b, m, g)
        return jax.tree.map(lambda a, b: a - 1e-3 * b, p, m), m, l
    return train_step
def make(prec, sync):
    train_step = program(prec)
    p = init(jax.random.key(0))
    st = {'p': p, 'm': jax.tree.map(jnp.zeros_like, p), 'i': 0}
    data = [jax.random.randint(jax.random.key(i), (B, T + 1), 0, V) for i in range(4)]
    def step():
        i = st['i']; st['i'] += 1
        with jax.profiler.StepTraceAnnotation('train', step_num=i):
            st['p'], st['m'], l = train_step(st['p'], st['m'], data[i % 4])
            st['l'] = l
            if sync:
                float(l)
                time.sleep(0.002)
    step.done = lambda: jax.block_until_ready(st['p'])
    return step
VARIANTS = {'prec0': ('highest', False), 'prec1': ('default', False), 'jsync0': ('default', True)}
times = {}
for name, a in VARIANTS.items():
    if ONLY and name not in ONLY:
        continue
    try:
        step = make(*a)
        for _ in range(4):
            step()
        step.done()
        if MODE == 'nsys':
            cu.cuProfilerStart()
        if MODE == 'xplane':
            jax.profiler.start_trace('%s/x_%s' % (OUT, name))
        runs = []
        for _ in range(3 if MODE == 'plain' else 1):
            b = time.perf_counter()
            for _ in range(30 if MODE == 'plain' else 12):
                step()
            step.done()
            runs.append((time.perf_counter() - b) / (30 if MODE == 'plain' else 12) * 1e3)
        if MODE == 'nsys':
            cu.cuProfilerStop()
        if MODE == 'xplane':
            jax.profiler.stop_trace()
        times[name] = runs
        print(name, ['%.3f' % r for r in runs], flush=True)
    except Exception as x:
        print(name, 'FAILED', repr(x)[:300], flush=True)
json.dump(times, open('%s/jtimes_%s.json' % (OUT, MODE), 'w'))
