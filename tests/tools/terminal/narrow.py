"""narrow.py WIDTH COMMAND -- the lines of what the command writes to a terminal of that width that are wider, but for those that are
one word behind an indentation."""
import shlex
import sys
import fit


def words_of(line):
    """Its words; an argument in quotes is one."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


for line in fit.on_terminal(sys.argv[2], int(sys.argv[1])).split("\n"):
    words = words_of(line.rstrip("\\"))
    if fit.width_of(line) > int(sys.argv[1]) and len(words) - (words[0] == "$") > 1:
        print(line)
