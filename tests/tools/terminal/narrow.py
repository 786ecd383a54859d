"""narrow.py WIDTH COMMAND -- the lines of what the command writes to a terminal of that width that are wider, but for those that are
one word behind an indentation."""
import sys
import fit

for line in fit.on_terminal(sys.argv[2], int(sys.argv[1])).split("\n"):
    words = line.split()
    if fit.width_of(line) > int(sys.argv[1]) and len(words) - (words[-1] == "\\") - (words[0] == "$") > 1:
        print(line)
