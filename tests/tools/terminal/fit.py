"""fit.py WIDTH... -- tables on terminals of these widths. Each line of standard input is a command that prints a table. What it
prints on a terminal is held to its own TSV: no line is wider than the terminal; columns are some of the TSV's, in order, those with values, and those that
are not there are counted if there are rows; a sentence of a row is below it; rows are the first 20 of more than 25 (of a stream always, with --list never), and the others are counted; a name is whole, or its two ends, or parts of it in their order. A line of output for each
command and width: "ok" or what is wrong."""
import fcntl, os, pty, re, struct, subprocess, sys, termios, unicodedata


def on_terminal(command, width, columns=None):
    """What the command writes to a terminal of that width; 0: one that does not know."""
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("4H", 24 if width else 0, width, 0, 0))
        attributes = termios.tcgetattr(1)
        attributes[1] &= ~termios.OPOST  # lines end as they are written
        termios.tcsetattr(1, termios.TCSANOW, attributes)
        os.environ.pop("COLUMNS", None)
        if columns:
            os.environ["COLUMNS"] = columns
        os.execvp("sh", ["sh", "-c", command + " 2>/dev/null"])
    raw = b""
    while True:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        raw += data
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 0, "%s: %d" % (command, status)
    return raw.decode()


def width_of(text):
    """Columns, by Unicode's properties."""
    return sum(0 if unicodedata.category(c) in ("Mn", "Me", "Cf") else 2 if unicodedata.east_asian_width(c) in ("W", "F") else 1
               for c in text)


def number(text):
    return int(text.replace(",", ""))


HEADS = {"time": "ns", "of_causes": "ns", "wait_of_mean": "wait_percent", "queue_sum": "queue", "change": "percent", "of_type": "share", "GB/s": "gbps",
         "flops_each": "flops", "vector_each": "vector", "bytes_each": "bytes", "whole_peak": "peak", "hfu_of_time": "hfu",
         "instructions_total": "compute", "compute_total": "compute", "copy_total": "copy", "calls": "ops"}
SENTENCES = re.compile("--verdict|-t diag ")


def apart(command, lines):
    """Lines without the sentences below rows, and these, each as one line."""
    rows, sentences = [], []
    for line in lines:
        if re.match(r"  [^ ]", line) and SENTENCES.search(command) and not rows[-1].startswith("... "):
            sentences[-1].append(line.strip())
        else:
            rows.append(line)
            sentences.append([])
    return rows, [" ".join(sentence) for sentence in sentences]


def trouble(command, width):
    """What is wrong with the table on a terminal of that width, or None."""
    out = subprocess.run(["sh", "-c", command + (" 2>/dev/null" if "nsysx-view" in command else " --tsv 2>/dev/null")], stdout=subprocess.PIPE, check=True).stdout.decode()
    names, *rows = [line.split("\t") for line in out.rstrip("\n").split("\n")]
    lines = on_terminal(command, width).rstrip("\n").split("\n")
    wide = [line for line in lines if width_of(line) > width]
    if wide:
        return "%d columns: %s" % (width_of(wide[0]), wide[0])
    lines, sentences = apart(command, lines)
    # Spans of ranges and changes of means are headed as such, and have the names of other times in TSV.
    header = [name if name in names else HEADS.get(name) or name.removeprefix("span_").removeprefix("mean_") for name in lines[0].split()]
    # The peak of the trace; where the table has another one too, it is the column `heap`.
    header = ["heap" if name == "heap_peak" and "heap" in names else "peak" if name == "heap_peak" else name for name in header]
    if "diagnose --where" in command:
        header = ["ns" if name == "total" else name for name in header]
    places = [names.index(name) for name in header if name in names]
    if len(places) != len(header) or places != sorted(places):
        return "columns: " + lines[0]
    # As many as were asked for with --list.
    shown = min(20, len(rows)) if "--list" not in command and len(rows) > 25 or "nsysx-view" in command else len(rows)
    below = " ".join(lines[1 + shown:])
    more = re.search(r"\.\.\. and ([0-9,]+) more(?: \([0-9.]+% of [a-z_ ]+\))?: *--top 0", re.sub(r"\s+", " ", below))
    if (number(more.group(1)) if more else 0) != len(rows) - shown:
        return "%d rows, and: %s" % (len(rows), below)
    more = re.search(r"\.\.\. and ([0-9]+) more columns?: *--wide", re.sub(r"\s+", " ", below))
    below_rows = names.index("text") if SENTENCES.search(command) else None
    if (number(more.group(1)) if more else 0) != (len(names) - len(header) - (below_rows is not None) if rows else 0):
        return "%d columns of %d, and: %s" % (len(header), len(names), below)
    empty = [names[place] for place in places if rows and not any(row[place] for row in rows[:shown])]
    if empty:
        return "no values: %s" % " ".join(empty)
    for line, row, sentence in zip(lines[1:1 + shown], rows, sentences[1:]):
        if below_rows is not None and re.sub(r"\s", "", sentence) != re.sub(r"\s", "", row[below_rows]):
            return "%s is not %s" % (sentence, row[below_rows])
        # A name holds no two spaces, and no cell is empty.
        cells = re.split(r" {2,}", line.strip())
        if len(cells) != len(header):
            return "cells: " + line
        for cell, place in zip(cells, places):
            exact = row[place] or "-"
            # Of a change that names an operation: the name, between the same words.
            change = re.compile(r"faster:name:(.*)=2")
            if change.fullmatch(cell) and change.fullmatch(exact):
                cell, exact = change.fullmatch(cell)[1], change.fullmatch(exact)[1]
            if cell == exact or re.fullmatch(r"[<>]?[-0-9.einf]+( [a-zA-Z/]+|%)?", cell):
                continue
            # Either dots may be the cut. Between both ends there may be a part of the middle.
            if re.fullmatch(".*?".join(map(re.escape, cell.split(".."))), exact) and cell.count("..") in (2, 3):
                continue
            if not any(exact.startswith(cell[:m.start()]) and exact.endswith(cell[m.start() + 2:]) and m.start() > 0
                       and m.start() + 2 < len(cell) for m in re.finditer(r"(?=\.\.)", cell)):
                if "<" in cell and re.search(".*?".join(map(re.escape, cell.split(".."))), exact):
                    continue
                return "%s is not %s" % (cell, exact)
    return None


def main():
    for command in sys.stdin.read().split("\n")[:-1]:
        for width in map(int, sys.argv[1:]):
            print("%s at %d: %s" % (command, width, trouble(command, width) or "ok"))


if __name__ == "__main__":
    main()
