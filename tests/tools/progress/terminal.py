"""terminal.py COLUMNS NAME COMMAND -- run a shell command on a terminal of its own; its exit status.
NAME.raw: what came out, byte for byte. NAME.screen: what is on the screen at the end. NAME.frames: a line for each time that a line
of progress was drawn. NAME.times: seconds until the first byte came, and until the command ended."""
import fcntl, os, pty, re, signal, struct, sys, termios, time

columns, name, command = int(sys.argv[1]), sys.argv[2], sys.argv[3]
began = time.monotonic()
pid, fd = pty.fork()
if pid == 0:
    # Nothing runs before the terminal has its size.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python has it ignored
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    os.execvp("sh", ["sh", "-c", command])
raw, first = b"", 0.0
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:  # the last one on the terminal has gone
        break
    if not data:
        break
    first = first or time.monotonic() - began
    raw += data
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
took = time.monotonic() - began

lines, row, column = [[]], 0, 0
for token in re.findall(rb"\x1b\[K|\r|\n|[^\r\n\x1b]|\x1b", raw):
    if token == b"\r":
        column = 0
    elif token == b"\n":
        row += 1
        if row == len(lines):
            lines.append([])
    elif token == b"\x1b[K":
        del lines[row][column:]
    else:
        lines[row] += [b" "] * (column + 1 - len(lines[row]))
        lines[row][column] = token
        column += 1
with open(name + ".raw", "wb") as f:
    f.write(raw)
with open(name + ".screen", "wb") as f:
    f.write(b"".join(b"".join(line) + b"\n" for line in (lines if lines[-1] else lines[:-1])))
with open(name + ".frames", "wb") as f:
    f.write(b"".join(frame + b"\n" for frame in re.findall(rb"\r([^\r\n\x1b]+)\x1b\[K", raw)))
with open(name + ".times", "w") as f:
    f.write("%.3f %.3f\n" % (first, took))
sys.exit(status)
