"""Claims about nsysx-flame's pictures as a browser shows them. DIR holds NAME.folded and NAME.svg; screenshots go to SHOTS.

The shares that a search should find are counted here from the folded stacks, not from the picture.
"""
import re
import sys
import time

from webdriver import Browser

DIR, SHOTS = sys.argv[1], sys.argv[2]
ENTER, ESCAPE, UP = "\ue007", "\ue00c", "\ue013"
count = failed = 0


def claim(name, good, why=""):
    global count, failed
    count += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", count, name))
    if not good:
        print("# %s" % str(why)[:300].replace("\n", " "))
    sys.stdout.flush()


def equal(name, got, want):
    claim(name, got == want, "got %r, want %r" % (got, want))


def stacks(name):
    for line in open("%s/%s.folded" % (DIR, name), encoding="utf-8"):
        stack, n = line.rstrip("\n").rsplit(" ", 1)
        yield stack.split(";"), int(n)


def share(name, pattern, below=()):
    """The share of stacks with a matching frame, in percent, among those that begin with `below`."""
    rows = [(s, n) for s, n in stacks(name) if tuple(s[:len(below)]) == tuple(below)]
    hit = sum(n for s, n in rows if any(re.search(pattern, f, re.I) for f in s))
    return "%.2f %%" % (100 * hit / sum(n for _, n in rows))


FRAMES = """
return Array.from(document.querySelectorAll('.f')).map((g, i) => {
	const r = g.querySelector('rect').getBoundingClientRect(), t = g.querySelector('text'), b = t && t.textContent ? t.getBoundingClientRect() : null;
	return { i, name: g.querySelector('title').textContent.split('\\n')[0], off: getComputedStyle(g).display === 'none', past: g.classList.contains('past'),
		hit: g.classList.contains('hit'), x: r.x, y: r.y, w: r.width, label: t ? t.textContent : '', left: b ? b.left : 0, right: b ? b.right : 0 };
});"""

CONTRAST = """
const light = c => { const v = c.match(/[0-9.]+/g).slice(0, 3).map(x => x / 255).map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
	return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
const ratio = (a, b) => { const x = light(a), y = light(b); return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
const svg = document.documentElement, probe = document.createElementNS('http://www.w3.org/2000/svg', 'g');
svg.appendChild(probe);
probe.innerHTML = '<rect/><text>x</text>';
let worst = 99;
for (const c of arguments[0]) {
	probe.setAttribute('class', 'f'); probe.firstChild.setAttribute('class', c);
	worst = Math.min(worst, ratio(getComputedStyle(probe.firstChild).fill, getComputedStyle(probe.lastChild).fill));
}
probe.remove();
return worst;"""


def frames(b):
    return b.js(FRAMES)


def found(b):
    return b.js("return document.querySelector('.found').textContent")


def search(b, pattern):
    b.js("const i = document.querySelector('input'); i.value = arguments[0]; i.dispatchEvent(new Event('input'))", pattern)
    return found(b)


def address(b):
    return b.js("return decodeURIComponent(location.hash)")


def go(b, name, fragment=""):
    b.open("about:blank")
    b.open("file://%s/%s.svg%s" % (DIR, name, fragment))


def middle(f):
    return f["x"] + f["w"] / 2, f["y"] + 8


def looks(b):
    for name in ("source", "module", "diff", "rows", "hostile", "empty"):
        for width, height in ((1280, 800), (390, 844)):
            for dark in (False, True):
                where = "%s at %d px, %s" % (name, width, "dark" if dark else "light")
                b.window(width, height, dark)
                go(b, name)
                b.shot("%s/flame-%s-%d-%s.png" % (SHOTS, name, width, "dark" if dark else "light"))
                log = [e["message"] for e in b.log() if e["level"] in ("SEVERE", "WARNING")]
                equal("%s: opens without complaint" % where, log, [])
                out = [f["label"] for f in frames(b) if f["label"] and (f["left"] < f["x"] - 0.5 or f["right"] > f["x"] + f["w"] + 0.5)]
                equal("%s: labels stay in their frames" % where, out, [])
                root = frames(b)[0]
                claim("%s: is as wide as the window" % where, abs(root["w"] - width) < 1.5, root)
                equal("%s: nothing to scroll sideways" % where, b.js("return document.documentElement.scrollWidth <= innerWidth"), True)
    kinds = [k + str(i) for k in "gcmiu" for i in range(6)] + ["z0", "x0"] + [k + str(i) for k in "hl" for i in range(1, 6)]
    for dark in (False, True):
        b.window(1280, 800, dark)
        go(b, "source")
        ratio = b.js(CONTRAST, kinds)
        claim("letters stand out from every %s colour" % ("dark" if dark else "light"), 4.5 <= ratio < 22, ratio)


def searches(b):
    b.window(1280, 800)
    go(b, "source")
    for pattern in ("norm", "train", r"\[GPU idle", "layers_[01]"):
        got = search(b, pattern)
        claim("search for %s finds what the stacks hold" % pattern, got.startswith("matched %s (" % share("source", pattern)),
              "got %s, want %s" % (got, share("source", pattern)))
    equal("frames that match are marked", [f["name"] for f in frames(b) if f["hit"] and not re.search("layers_[01]", f["name"])], [])
    equal("the address holds the pattern", address(b), "#s=layers_[01]")
    b.shot("%s/flame-search.png" % SHOTS)
    equal("a pattern with capitals tells them apart", search(b, "TRAIN_STEP")[:14], "matched 0.00 %")
    equal("what is no pattern is said", search(b, "a["), "not a regular expression")
    go(b, "narrow")
    got = search(b, "norm")
    shown, more = re.match(r"matched ([0-9.]+) %.*, at most ([0-9.]+) % more in frames not drawn$", got).groups() if "at most" in got else (0, 0)
    true = float(share("source", "norm").split()[0])
    claim("a search among frames of which some are not drawn says so", float(shown) < true <= float(shown) + float(more) + 0.011, got)
    go(b, "source", "#s=x")
    b.js("document.querySelector('form button').click()")
    equal("cleared", (found(b), address(b), any(f["hit"] for f in frames(b))), ("", "", False))


def zooms(b):
    go(b, "source")
    before = frames(b)
    target = next(f for f in before if f["name"].startswith("/opt/example/model/layers.py:14"))
    b.click(*middle(target))
    after = frames(b)
    claim("a click makes the frame as wide as the window", target["w"] < 600 and abs(after[target["i"]]["w"] - 1280) < 1.5, after[target["i"]])
    past = [f["name"] for f in after if f["past"]]
    path = next(s for s, _ in stacks("source") if target["name"] in s)
    below = path[:path.index(target["name"]) + 1]
    equal("those below it stay", past[1:], below[:-1])
    shown = {f["name"] for f in after if not f["off"]}
    want = {f for s, _ in stacks("source") if s[:len(below)] == below for f in s}
    equal("what is above it stays, the rest goes", shown - {past[0]}, want)
    equal("the address holds the zoom", address(b), "#z=%d" % target["i"])
    got = search(b, "reduce_sum")
    claim("a search counts within the zoomed frame too", share("source", "reduce_sum", below) + " of the zoomed" in got and
          got.startswith("matched " + share("source", "reduce_sum")), got)
    b.shot("%s/flame-zoom.png" % SHOTS)
    link = address(b)
    go(b, "source", "#z=%d&s=reduce_sum" % target["i"])
    equal("a link leads to the same", (found(b), address(b), frames(b)[target["i"]]["w"]), (got, link, after[target["i"]]["w"]))
    b.js("document.querySelectorAll('form button')[1].click()")
    equal("reset shows all again", [(f["i"], round(f["w"], 2)) for f in frames(b)], [(f["i"], round(f["w"], 2)) for f in before])
    b.js("history.back()")
    back = any(abs(frames(b)[target["i"]]["w"] - 1280) < 1.5 or time.sleep(0.1) for _ in range(100))
    claim("back returns to the zoom", back, address(b))
    b.keys(ESCAPE)
    equal("so does Escape, and keeps the search", address(b), "#s=reduce_sum")
    b.click(*middle(frames(b)[0]))
    equal("a click on the root is no zoom", address(b), "#s=reduce_sum")
    go(b, "source", "#z=999999&s=%E0%A4")
    equal("an address that means nothing shows all", round(frames(b)[0]["w"]), 1280)


def keys(b):
    go(b, "source")
    b.js("document.querySelector('.f').focus()")
    b.keys(UP)
    b.keys(UP)
    name = b.js("return document.activeElement.querySelector('title').textContent.split('\\n')[0]")
    first = min(tuple(s) for s, _ in stacks("source") if len(s) > 1)
    equal("up goes to the first frame above", name, first[1])
    equal("the bar says which", b.js("return document.querySelector('.what').textContent"), name)
    b.keys(ENTER)
    claim("Enter zooms", address(b).startswith("#z="), address(b))
    b.keys(ESCAPE)
    equal("Escape returns", address(b), "")
    b.keys("/")
    equal("a slash goes to the search field", b.js("return document.activeElement.tagName"), "input")


ROWS = """
return Array.from(document.querySelectorAll('.f')).filter(g => getComputedStyle(g).display !== 'none').map(g => [
	g.querySelector('title').textContent.split('\\n')[0], Number(g.dataset.n || 1), Math.round(g.querySelector('rect').getBoundingClientRect().y)]);"""
DISPLAYED = "return Array.from(document.querySelectorAll('.f')).filter(g => getComputedStyle(g).display !== 'none').length"


def rows(b):
    """Collapsed rows open by a click and by the button, keep widths, and are searched whole."""
    go(b, "rows")
    everything = b.js("return document.querySelectorAll('.f').length")
    before = frames(b)
    seen = b.js(ROWS)
    equal("rows stand for all frames", sum(n for _, n, _ in seen), everything)
    claim("some stand for several", len(seen) < everything, len(seen))
    pattern = r"train\.py"
    got = search(b, pattern)
    claim("a search sees what a row hides", got.startswith("matched %s (" % share("rows", pattern)), got)
    claim("and marks the row", any(f["hit"] and not f["off"] for f in frames(b)))
    b.shot("%s/flame-rows-search.png" % SHOTS)
    search(b, "")
    run = max((f for f in before if not f["off"]), key=lambda f: b.js("return Number(document.querySelectorAll('.f')[%d].dataset.n || 1)" % f["i"]))
    n = b.js("return Number(document.querySelectorAll('.f')[%d].dataset.n)" % run["i"])
    claim("its label says how many more", run["label"].startswith("+%d " % (n - 1)), run["label"])
    b.click(*middle(run))
    after = frames(b)
    places = b.js("return Array.from(document.querySelectorAll('.f')).map(g => g.dataset.o + ' ' + g.dataset.v)")
    opened = [f for f in after if not f["off"] and places[f["i"]] == places[run["i"]]]
    claim("a click opens the row", len(opened) >= n and all(abs(f["w"] - 1280) < 1.5 for f in opened), (len(opened), n))
    equal("each frame has a row of its own", len({f["y"] for f in opened}), len(opened))
    claim("labels have no number then", not any(f["label"].startswith("+") for f in after if f["i"] == run["i"]))
    b.shot("%s/flame-rows-open.png" % SHOTS)
    b.keys(ESCAPE)
    equal("Escape closes it", [(f["i"], f["off"], round(f["w"], 2), f["y"]) for f in frames(b)], [(f["i"], f["off"], round(f["w"], 2), f["y"]) for f in before])
    b.js("document.querySelectorAll('form button')[2].click()")
    equal("the button shows every frame", b.js(DISPLAYED), everything)
    equal("the address holds that", address(b), "#a=1")
    wide = {f["i"]: round(f["w"], 2) for f in frames(b)}
    equal("widths are what they were", {f["i"]: round(f["w"], 2) for f in before if not f["off"]}, {f["i"]: wide[f["i"]] for f in before if not f["off"]})
    go(b, "rows", "#a=1")
    equal("a link shows every frame too", b.js(DISPLAYED), everything)
    b.js("document.querySelectorAll('form button')[2].click()")
    equal("and the button collapses again", b.js(DISPLAYED), len(seen))
    b.js("document.querySelector('.f').focus()")
    b.keys(UP)
    b.keys(UP)
    name = b.js("return document.activeElement.querySelector('title').textContent.split('\\n')[0]")
    claim("keys go from row to row", name in [s for s, _, _ in seen], name)
    go(b, "source")
    equal("without such rows there is no such button", b.js("return document.querySelectorAll('form button')[2].offsetParent"), None)


def tall(b):
    b.window(1280, 200)
    go(b, "source")
    b.js("scrollTo(0, 150)")
    b.js("window.dispatchEvent(new Event('scroll'))")
    top = b.js("return document.querySelector('.bar').getBoundingClientRect().top")
    claim("the bar stays in sight", abs(top) < 1, top)
    b.window(1280, 800)


def hostile(b):
    go(b, "hostile")
    equal("names run nothing", b.js("return [typeof window.hacked, document.querySelectorAll('script').length, document.querySelectorAll('[onclick], [onload]').length]"),
          ["undefined", 1, 0])
    want = {f for s, _ in stacks("hostile") for f in s}
    equal("and are shown as they are", {f["name"] for f in frames(b)[1:]}, want)


def plain(b):
    b.devtools("Emulation.setScriptExecutionDisabled", value=True)
    for width in (1280, 390):
        b.window(width, 800)
        b.open("file://%s/module.svg" % DIR)
        b.shot("%s/flame-plain-%d.png" % (SHOTS, width))
        boxes = b.devtools("DOMSnapshot.captureSnapshot", computedStyles=[])
        widths = [box[2] for box in boxes["documents"][0]["layout"]["bounds"]]
        claim("without scripts it fits %d px" % width, any(abs(w - width) < 1.5 for w in widths) and max(widths) < width + 1.5, max(widths))
    b.devtools("Emulation.setScriptExecutionDisabled", value=False)


browser = Browser(1280, 800)
try:
    for part in (looks, searches, zooms, keys, rows, tall, hostile, plain):
        part(browser)
finally:
    browser.close()
print("1..%d" % count)
sys.exit(failed > 0)
