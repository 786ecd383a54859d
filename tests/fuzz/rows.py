#!/usr/bin/env python3
"""rows.py EXPORT.sqlite ROWS [DUMP...] -- an export and HLO dumps as the text that rows.c reads: at most ROWS rows of each table."""
import os
import re
import sqlite3
import sys

LETTER = {"INTEGER": "i", "TEXT": "t", "BLOB": "b", "REAL": "f"}


def value(v):
    if v is None:
        return ""
    if isinstance(v, bytes):
        return "x" + v.hex()
    text = str(v)
    for raw, escaped in ("\\", "\\\\"), ("\n", "\\n"), ("\t", "\\t"), ("\0", "\\0"):
        text = text.replace(raw, escaped)
    return text


def main():
    db = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
    limit = int(sys.argv[2])
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid").fetchall():
        columns = db.execute("SELECT name, type, pk FROM pragma_table_info(?)", (table,)).fetchall()
        rows = db.execute('SELECT * FROM "%s" LIMIT ?' % table, (limit,)).fetchall()
        if rows:
            keys = sum(pk > 0 for _, _, pk in columns)
            print("#" + "\t".join([table] + ["%s:%s" % (name, "p" if pk and keys == 1 and type_ == "INTEGER"
                                                        else LETTER.get(re.split(r"\W", type_)[0], "t"))
                                             for name, type_, pk in columns]))
        for row in rows:
            print("\t".join(map(value, row)))
    for path in sys.argv[3:]:
        with open(path, "rb") as f:
            print("!%s\t%s" % (os.path.basename(path), value(f.read())))


main()
