"""What can be told of a report's page without a browser. Prints a line for everything wrong; OUT is the report's folder.

  page.py OUT                 well formed, every link and anchor leads somewhere, nothing comes from elsewhere, numbers read as they are
  page.py OUT TABLE FILE      the values shown under the link to tables/TABLE.tsv are those of FILE, a table that tools wrote
"""
import html.parser
import os
import re
import sys

VOID = {"meta", "link", "img", "br", "hr", "input"}
SCALE = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "GB/s": 1, "%": 1, "": 1}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.wrong, self.open, self.ids, self.links, self.tables, self.numbers = [], [], [], [], [], []
        self.text, self.row, self.cell, self.scripts = "", None, None, 0
        self.feed(open(path, encoding="utf-8").read())
        self.close()
        if self.open:
            self.wrong.append("not closed: %s" % self.open)

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if len(a) != len(attrs):
            self.wrong.append("an attribute twice in %s" % tag)
        if "id" in a:
            self.ids.append(a["id"])
        self.links += [a[k] for k in ("href", "src") if k in a]
        if tag == "script":
            self.scripts += 1
        if (tag == "script" and (a or self.scripts > 1)) or any(k.startswith("on") for k in a):
            self.wrong.append("a script: %s %s" % (tag, a))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([None, []])
        if tag == "tr":
            self.row = []
        if tag == "td":
            self.cell = ["", a.get("title")]
        if tag == "data":
            self.value, self.text = a["value"], ""
        if tag == "a" and a["href"].startswith("tables/") and self.tables and self.tables[-1][0] is None:
            self.tables[-1][0] = a["href"][7:-4]

    def handle_data(self, data):
        self.text += data
        if self.cell:
            self.cell[0] += data

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append("</%s> at %s closes something else" % (tag, self.getpos()))
        if tag == "data":
            self.numbers.append((self.value, self.text))
            if self.cell:
                self.cell[1] = self.value
        if tag == "td":
            self.row.append(self.cell[0] if self.cell[1] is None else self.cell[1])
            self.cell = None
        if tag == "tr" and self.row:
            self.tables[-1][1].append(self.row)


def reads(value, text):
    """Whether a number as shown is the value to three figures at least, or a tenth of a us, whatever its unit; shares may be shown in percent."""
    m = re.fullmatch(r"(−?)([0-9.e+-]+) ?(\S*)", text)
    if not m or m.group(3) not in SCALE:
        return False
    got = float(m.group(2)) * SCALE[m.group(3)] * (-1 if m.group(1) else 1)
    slack = 0.05001 if m.group(3) == "%" else max(abs(got) * 0.006, 50.01 if re.search(r"[.][0-9] us", text) else 0)
    return any(abs(got - want) <= slack for want in ([float(value), 100 * float(value)] if m.group(3) == "%" else [float(value)]))


def whole(out):
    page = Page(os.path.join(out, "index.html"))
    wrong = page.wrong
    wrong += ["an id twice: " + i for i in set(page.ids) if page.ids.count(i) > 1]
    for link in page.links:
        if link.startswith("#"):
            if link[1:] not in page.ids:
                wrong.append("no such place: " + link)
        elif link != "data:,":
            if re.match("[a-z]+:|/", link) or not os.path.isfile(os.path.join(out, link)):
                wrong.append("no such file: " + link)
    wrong += ["%r is shown as %r" % n for n in page.numbers if not reads(*n)]
    if len(page.numbers) < 3:
        wrong.append("hardly a number")
    return wrong


def table(out, name, path):
    page = Page(os.path.join(out, "index.html"))
    shown = [rows for link, rows in page.tables if link == name]
    want = [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8")][1:]
    if len(shown) != 1 or not shown[0] or not want:
        return ["%d tables of %s" % (len(shown), name)]
    # Each row shown holds, in the table's order of columns, values of the row of that place; – stands for none.
    wrong = []
    for got, row in zip(shown[0], want):
        if any(v not in row and not (v == "–" and "" in row) for v in got):
            wrong.append("%s is none of %s" % (got, row))
    if len(shown[0]) > len(want) or (len(shown[0]) < len(want) and len(shown[0]) < 8):
        wrong.append("%d of %d rows" % (len(shown[0]), len(want)))
    return wrong


found = whole(sys.argv[1]) if len(sys.argv) == 2 else table(*sys.argv[1:])
print("\n".join(found[:10]), end="\n" if found else "")
sys.exit(bool(found))
