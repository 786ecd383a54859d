"""Claims about the pages of nsysx-report as a browser shows them. DIR holds the folders job, torch and one; screenshots go to SHOTS."""
import os
import sys
import time

from webdriver import Browser

DIR, SHOTS = sys.argv[1], sys.argv[2]
count = failed = 0

# Texts whose colour does not stand out from what is behind them, by the rules for contrast.
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
return [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll, nav') && e.getClientRects().length &&
	(e.getBoundingClientRect().right > innerWidth + 1 || e.getBoundingClientRect().left < -1)).map(e => e.tagName + '.' + e.className).slice(0, 5);"""

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
    equal("%s: every picture loads" % where, b.js("return [...document.images].filter(i => !i.naturalWidth).map(i => i.src)"), [])
    equal("%s: letters stand out from their ground" % where, b.js(PALE), [])
    b.window(width, min(high, 12000), dark)
    time.sleep(0.3)
    b.shot("%s/report-%s-%d-%s.png" % (SHOTS, name, width, "dark" if dark else "light"))
    equal("%s: opens without complaint" % where, [e["message"] for e in b.log() if e["level"] in ("SEVERE", "WARNING")], [])


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


b = Browser(1280, 844)
try:
    for name in ("job", "torch", "one"):
        for width in (1280, 390):
            for dark in (False, True):
                look(b, name, width, dark)
    parts(b)
finally:
    b.close()
print("1..%d" % count)
sys.exit(failed > 0)
