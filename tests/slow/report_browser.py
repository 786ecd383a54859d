"""Claims about the pages of nsysx-report as a browser shows them. DIR holds the folders job, torch, one, late, long, and cpu and cpux, which
have no GPU work; screenshots go to SHOTS."""
import os
import sys
import time

from webdriver import Browser

DIR, SHOTS = sys.argv[1], sys.argv[2]
count = failed = 0

# Texts with insufficient contrast to their background, by the rules for contrast.
PALE = """
const light = c => { const v = c.match(/[0-9.]+/g).slice(0, 3).map(x => x / 255).map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
	return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c) && c !== 'transparent') return c; } return 'rgb(255,255,255)'; };
const out = new Set();
for (const e of document.querySelectorAll('body *')) {
	if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length) continue;
	const a = light(getComputedStyle(e).color), b = light(behind(e));
	if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5) out.add(e.tagName + '.' + e.className + ': ' + e.textContent.slice(0, 30));
}
return [...out].slice(0, 5);"""

# What sticks out of the window and of everything that scrolls within it.
WIDE = """
return [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll') && e.getClientRects().length &&
	(e.getBoundingClientRect().right > innerWidth + 1 || e.getBoundingClientRect().left < -1)).map(e => e.tagName + '.' + e.className).slice(0, 5);"""

# What holds more than it shows, and does not scroll with a hint above.
CUT = """
return [...document.querySelectorAll('body, body *')].filter(e => e.getClientRects().length && e.clientWidth && e.scrollWidth > e.clientWidth + 1 &&
	!e.closest('svg') && getComputedStyle(e).display !== 'inline' && !(e.matches('.scroll') && /scrolls sideways/.test(getComputedStyle(e, '::before').content))).map(e => e.tagName + '.' + e.className).slice(0, 5);"""

OPENED = """
document.documentElement.style.scrollBehavior = 'auto';
document.querySelectorAll('[loading]').forEach(e => e.loading = 'eager');
document.querySelectorAll('details').forEach(e => e.open = true);
return document.documentElement.scrollHeight;"""

LOADED = """
return [...document.images].every(i => i.complete) && [...document.querySelectorAll('iframe')].every(f => { try { return f.contentDocument === null || f.contentDocument.readyState === 'complete'; } catch (e) { return true; } });"""


def equal(name, got, want):
    global count, failed
    count += 1
    failed += got != want
    print("%sok %d - %s" % ("" if got == want else "not ", count, name))
    if got != want:
        print("# got %s, want %s" % (str(got)[:300].replace("\n", " "), str(want)[:100]))
    sys.stdout.flush()


def look(b, name, width, dark):
    where = "%s at %d px, %s" % (name, width, "dark" if dark else "light")
    b.window(width, 844, dark)
    b.open("about:blank")
    b.open("file://%s/%s/index.html" % (DIR, name))
    high = b.js(OPENED)
    for _ in range(300):
        if b.js(LOADED):
            break
        time.sleep(0.1)
    equal("%s: nothing to scroll sideways" % where, b.js("return document.documentElement.scrollWidth"), width)
    equal("%s: nothing sticks out" % where, b.js(WIDE), [])
    equal("%s: nothing is cut, and what scrolls says so" % where, b.js(CUT), [])
    equal("%s: pictures are as wide as they are, or scroll" % where, b.js("return [...document.querySelectorAll('svg.lanes, .plots img')].filter(e => e.getClientRects().length && e.getBoundingClientRect().width > e.closest('.scroll').clientWidth + 1 && !e.closest('.scroll.wide')).length"), 0)
    equal("%s: every finding says what to do first" % where, b.js("return [...document.querySelectorAll('#summary .findings > li')].filter(e => !/^Do first: .*[a-z]/.test((e.querySelector('.action') || e).textContent)).length"), 0)
    equal("%s: every picture loads" % where, b.js("return [...document.images].filter(i => !i.naturalWidth).map(i => i.src)"), [])
    equal("%s: letters stand out from their ground" % where, b.js(PALE), [])
    b.window(width, min(high, 12000), dark)
    time.sleep(0.3)
    b.shot("%s/report-%s-%d-%s.png" % (SHOTS, name, width, "dark" if dark else "light"))
    equal("%s: opens without complaint" % where, [e["message"] for e in b.log() if e["level"] in ("SEVERE", "WARNING")], [])


# How light the tints of the key of the picture are, from 0 to 100, with the stripes of each, and how many pieces the picture has of each.
GREY = """
const light = c => { const v = c.match(/[0-9.]+/g).slice(0, 3).map(x => x / 255).map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
	return 116 * Math.cbrt(0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]) - 16; };
return [...document.querySelectorAll('#step > .key li')].filter(e => /^idle/.test(e.textContent)).map(e => { const c = getComputedStyle(e.firstChild);
	return [e.textContent, light(c.backgroundColor), c.backgroundImage.replace(/rgb[^)]*./g, ''), [...new Set([...document.querySelectorAll('svg.lanes rect')]
		.filter(r => r.textContent.startsWith(e.textContent + ':')).map(r => getComputedStyle(r).fill))]]; });"""


def grey(b, name, dark):
    seen = b.js(GREY)
    where = "%s, %s" % (name, "dark" if dark else "light")
    equal("%s: causes of idle time differ without colours" % where,
          [(x[0], y[0]) for i, x in enumerate(seen) for y in seen[:i] if x[2] == y[2] and abs(x[1] - y[1]) < 8], [])
    equal("%s: each has one look in the picture, and another than others" % where,
          [x[0] for i, x in enumerate(seen) if len(x[3]) != 1 or x[3] in [y[3] for y in seen[:i]]], [])
    equal("%s: stripes lead to a gradient" % where, b.js("return [...document.querySelectorAll('svg.lanes rect[fill]')].filter(r => !document.querySelector(r.getAttribute('fill').slice(4, -1))).length"), 0)


def parts(b):
    b.window(1280, 844)
    b.open("file://%s/job/index.html" % DIR)
    drawn = len([f for f in os.listdir("%s/job/plots" % DIR) if f.endswith(".svg")])
    equal("every plot is on the page", b.js("return document.images.length"), drawn)
    equal("numbers end at the right, with figures of one width",
          b.js("return [...document.querySelectorAll('td.n')].filter(e => getComputedStyle(e).textAlign !== 'right' || getComputedStyle(e).fontVariantNumeric !== 'tabular-nums').length"), 0)
    equal("the flame graph is whole: it needs no scrolling",
          b.js("const f = document.querySelector('iframe'); return f.clientHeight >= Number(arguments[0])",
               next(line.split('height="')[1].split('"')[0] for line in open("%s/job/flame/source.svg" % DIR) if line.startswith("<svg "))), True)
    b.js("document.documentElement.style.scrollBehavior = 'auto'; document.querySelector('nav a[href=\"#devices\"]').click()")
    time.sleep(0.2)
    low, high = b.js("return [document.querySelector('nav').getBoundingClientRect().bottom, document.querySelector('#devices h2').getBoundingClientRect().top]")
    equal("a link of the bar leads to its section, below the bar", low <= high < 300, True)
    b.open("file://%s/torch/index.html" % DIR)
    equal("a title is only text", b.js("return [document.title, document.querySelectorAll('h1 *').length]"), ['<b>"x"</b>', 0])


# Rows shown in the table that links to tables/NAME.tsv, by content: values of numbers, full names.
SHOWN = """
const box = [...document.querySelectorAll('.table')].find(t => t.querySelector('.more a').getAttribute('href') === 'tables/' + arguments[0] + '.tsv');
return [...box.querySelector('tbody').rows].filter(r => !r.hidden).map(r => [...r.cells].map(c => c.querySelector('data') ? c.querySelector('data').value : c.title || c.textContent));"""
HEAD = """
const box = [...document.querySelectorAll('.table')].find(t => t.querySelector('.more a').getAttribute('href') === 'tables/' + arguments[0] + '.tsv');
box.querySelectorAll('th button')[arguments[1]].click();"""
TYPE = """
const box = [...document.querySelectorAll('.table')].find(t => t.querySelector('.more a').getAttribute('href') === 'tables/' + arguments[0] + '.tsv');
const input = box.querySelector('input'); input.value = arguments[1]; input.dispatchEvent(new Event('input')); return box.querySelector('.tools .note').textContent;"""
MORE = """
const box = [...document.querySelectorAll('.table')].find(t => t.querySelector('.more a').getAttribute('href') === 'tables/' + arguments[0] + '.tsv');
box.querySelector('.link').click();"""


def tables(b):
    b.window(1280, 844)
    b.open("file://%s/job/index.html" % DIR)
    want = [line.rstrip("\n").split("\t") for line in open("%s/job/tables/thunk.tsv" % DIR, encoding="utf-8")]
    head, rows = want[0], want[1:]
    name, count, total = head.index("name"), head.index("count"), head.index("total")
    first = b.js(SHOWN, "thunk")
    limit = len(first)
    equal("a table begins with its first rows", [r[0] for r in first], [r[name] for r in rows[:limit]])
    b.js(MORE, "thunk")
    equal("a click shows all rows", len(b.js(SHOWN, "thunk")), min(200, len(rows)))
    b.js(HEAD, "thunk", 3)
    equal("a click on a number sorts by it, largest first", [r[3] for r in b.js(SHOWN, "thunk")], sorted((r[total] for r in rows[:200]), key=int, reverse=True))
    b.js(HEAD, "thunk", 3)
    equal("another one, smallest first", [int(r[3]) for r in b.js(SHOWN, "thunk")], sorted(int(r[total]) for r in rows[:200]))
    equal("which is told to those who do not see it", b.js("return [...document.querySelectorAll('th[aria-sort]')].map(e => e.getAttribute('aria-sort'))"), ["ascending"])
    b.js(HEAD, "thunk", 0)
    names = [r[0] for r in b.js(SHOWN, "thunk")]
    equal("a click on a name sorts by it, numbers within as numbers", names == sorted(names, key=lambda n: [int(x) if x.isdigit() else x for x in __import__("re").split("([0-9]+)", n)]), True)
    word = rows[0][name]
    found = [r for r in rows[:200] if any(word.lower() in c.lower() for c in r)]
    said = b.js(TYPE, "thunk", word.upper())
    equal("what is typed leaves the rows that hold it", sorted(r[0] for r in b.js(SHOWN, "thunk")), sorted(r[name] for r in found))
    equal("and says how many", said.split()[0], str(len(found)))
    b.js(TYPE, "thunk", "no such row")
    equal("of what no row holds, none", b.js(SHOWN, "thunk"), [])
    b.js(TYPE, "thunk", "")
    equal("an empty field shows all again", len(b.js(SHOWN, "thunk")), min(200, len(rows)))


def lanes(b):
    b.open("file://%s/job/index.html" % DIR)
    shown = "return [...document.querySelectorAll('svg.lanes')].filter(e => e.getClientRects().length).map(e => e.getAttribute('aria-label').split(', ')[1])"
    equal("the slowest step is shown first", b.js(shown), ["slowest"])
    b.js("document.querySelector('label[for=\"lanes-median\"]').click()")
    equal("a click shows the median one", b.js(shown), ["median"])
    equal("every piece tells its name and times", b.js("return [...document.querySelectorAll('svg.lanes rect')].filter(e => !/, .* (ns|us|ms|s) at /.test(e.textContent)).length"), 0)
    equal("every piece lies in the picture", b.js("""return [...document.querySelectorAll('svg.lanes')].filter(e => e.getClientRects().length).map(s => [...s.querySelectorAll('rect')]
        .filter(r => r.getBBox().x < -1 || r.getBBox().x + r.getBBox().width > 1001).length)"""), [0])
    equal("findings lead to their evidence", b.js("return [...document.querySelectorAll('#summary .findings a')].filter(a => !document.querySelector(a.getAttribute('href'))).length"), 0)
    size = os.path.getsize("%s/long/index.html" % DIR)
    equal("the page of a thousand steps is below 3 MB", size < 3000000, True)


def first_screen(b):
    """A job one of whose hosts is late: who is, and what to do, without scrolling."""
    for width in (1280, 390):
        b.window(width, 844)
        b.open("file://%s/late/index.html" % DIR)
        text, bottom = b.js("const e = document.querySelector('.first'); return [e.textContent, e.getBoundingClientRect().bottom]")
        equal("the first line names who is late at %d px" % width, ["Look first at device 3" in text, "late host" in text, "load_batch" in text, bottom < 844], [True] * 4)
        equal("it stands above the verdict at %d px" % width, b.js("return document.querySelector('.first').getBoundingClientRect().bottom <= document.querySelector('.verdict').getBoundingClientRect().top"), True)
        equal("all links of the bar are seen at %d px" % width, b.js("return [...document.querySelectorAll('nav a')].filter(e => e.getBoundingClientRect().right > innerWidth || e.getBoundingClientRect().left < 0).length"), 0)
    b.window(1280, 844)
    equal("what to do first is on the first screen", b.js("return document.querySelector('.findings .action').getBoundingClientRect().bottom < 844"), True)
    anchor = b.js("return document.querySelector('.findings a').getAttribute('href')")
    equal("the card of the late host leads to who waits for whom", anchor, "#waits")
    equal("where the late device stands", b.js("return document.querySelector(arguments[0]).nextElementSibling.textContent.includes('tables/waits.tsv')", anchor), True)
    with open("%s/late/tables/step-each.tsv" % DIR, encoding="utf-8") as f:
        head, *rows = [line.rstrip("\n").split("\t") for line in f]
    step, device, period = head.index("step"), head.index("device"), head.index("period")
    slowest = max(float(r[period]) for r in rows if r[period] not in ("", "-1"))
    for label in b.js("return [...document.querySelectorAll('.choice label')].map(e => e.textContent)"):
        number, told, on = label.split("number ")[1].split(":")[0], label.split(": ")[1], label.split("device ")[1]
        want = slowest if label.startswith("slowest") else next(float(r[period]) for r in rows if r[step] == number and r[device] == on)
        equal("the length of a step that is drawn is that of the table", abs(float(told.split()[0]) * 1e6 - want) < 1e3, True)
    b.window(390, 844)
    b.open("file://%s/late/index.html" % DIR)
    equal("at 390 px the picture of a step is whole, and its ticks stand apart", b.js("""const s = [...document.querySelectorAll('svg.lanes')].find(e => e.getClientRects().length);
        const t = [...s.querySelectorAll('.tick')].map(e => e.getBoundingClientRect());
        return [document.querySelectorAll('.choice > .scroll.wide').length, s.getBoundingClientRect().right <= innerWidth, t.length > 2 && t.every((r, i) => r.height > 8 && r.right <= innerWidth && (!i || r.left > t[i - 1].right))]"""), [0, True, True])


def single(b):
    os.makedirs("%s/alone" % DIR, exist_ok=True)
    os.replace("%s/one/single.html" % DIR, "%s/alone/single.html" % DIR)
    b.open("file://%s/alone/single.html" % DIR)
    b.js(OPENED)
    time.sleep(1)
    equal("in one file every picture loads, alone in its folder", b.js("return [document.images.length > 0, [...document.images].filter(i => !i.naturalWidth).length]"), [True, 0])
    equal("nothing in it leads to another file", b.js("return [...document.querySelectorAll('[href], [src]')].map(e => e.getAttribute('href') || e.getAttribute('src')).filter(x => !/^(#|data:)/.test(x))"), [])
    equal("it opens without complaint", [e["message"] for e in b.log() if e["level"] in ("SEVERE", "WARNING")], [])


b = Browser(1280, 844)
try:
    for name in ("job", "torch", "one", "late", "cpu", "cpux"):
        for width in (1280, 390):
            for dark in (False, True):
                look(b, name, width, dark)
                grey(b, name, dark)
    parts(b)
    tables(b)
    lanes(b)
    first_screen(b)
    single(b)
finally:
    b.close()
print("1..%d" % count)
sys.exit(failed > 0)
