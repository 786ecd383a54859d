#!/bin/sh
# nsysx-flame against its manual page. Numbers are computed again from the stacks, by awk and Python; the picture is read by an XML parser.
. "${0%/*}/../testlib.sh"

# flame.py PICTURE: a line for each frame, DEPTH OFFSET VALUE CLASS X WIDTH Y NAME, tab-separated; fails unless it is well-formed.
cat >"$T/flame.py" <<'END'
import sys
import xml.etree.ElementTree as ET
S = "{http://www.w3.org/2000/svg}"
root = ET.parse(sys.argv[1]).getroot()
for g in root.iter(S + "g"):
    if "f" in g.get("class").split():
        r, t = g.find(S + "rect"), g.find(S + "title").text.split("\n")
        print(*(g.get("data-" + k) for k in "dov"), g.get("class").split()[1], r.get("x"), r.get("width"), r.get("y"), t[0], " | ".join(t[1:]), sep="\t")
END
frames() { python3 "$T/flame.py" "$1"; }
# The lines of text above the frames.
head_of() { python3 -c '
import sys, xml.etree.ElementTree as ET
S = "{http://www.w3.org/2000/svg}"
for g in ET.parse(sys.argv[1]).getroot().iter(S + "g"):
    if g.get("class") == "head":
        for t in g.iter(S + "text"): print(t.text)' "$1"; }
class_of() { frames "$1" | awk -F'\t' -v n="$2" '$8 == n { print $4 }'; }

# The sum of every prefix of a stack, by awk: PATH TAB SUM, sorted.
prefixes() {
	awk '{ n = $NF; sub(/ [^ ]*$/, ""); k = split($0, f, ";"); p = ""; for (i = 1; i <= k; i++) { p = p ";" f[i]; t[p] += n } }
		END { for (p in t) if (t[p]) printf "%s\t%d\n", p, t[p] }' "$@" | LC_ALL=C sort
}
# The same from the frames of a picture.
drawn() {
	frames "$1" | awk -F'\t' '{ path[$1] = $1 ? path[$1 - 1] ";" $8 : ""; if ($1) printf "%s\t%d\n", path[$1], $3 }' | LC_ALL=C sort
}

cat >"$T/small" <<'END'
b;x 30
a;y;z 10
a 5
a;y 15
a;y;z 7
[GPU idle between] 33
END
y_of() { frames "$1" | awk -F'\t' -v d="$2" '$1 == d { y = $7 } END { print y }'; }
nsysx-flame -o "$T/small.svg" "$T/small"
prefixes "$T/small" >"$T/want"
drawn "$T/small.svg" >"$T/got"
same 'each frame has the sum of the stacks above it' "$T/want" "$T/got"
equal 'the root has the total' "$(frames "$T/small.svg" | sed -n 1p)" "$(printf '0\t0\t100\tg0\t0%%\t100%%\t%s\tall: 100 ns\t100 ns (100 ns), 100.00 %%' \
	"$(y_of "$T/small.svg" 0)")"
equal 'frames are sorted by name, offsets add up' "$(frames "$T/small.svg" | cut -f 1-3,5,6,8 | tail -n +2)" "$(printf '%s\n' \
	'1 0 33 0% 33% [GPU idle between]' '1 33 37 33% 37% a' '2 33 32 33% 32% y' '3 33 17 33% 17% z' '1 70 30 70% 30% b' '2 70 30 70% 30% x' |
	sed 's/ /\t/; s/ /\t/; s/ /\t/; s/ /\t/; s/ /\t/')"
nsysx-flame --sort size "$T/small" >"$T/size.svg"
equal '--sort size puts the largest left' "$(frames "$T/size.svg" | awk -F'\t' '$1 == 1 { print $2, $8 }')" "$(printf '0 a\n37 [GPU idle between]\n70 b')"
ok 'the root is at the bottom' test "$(y_of "$T/small.svg" 0)" -gt "$(y_of "$T/small.svg" 1)"
nsysx-flame --icicle <"$T/small" >"$T/icicle.svg"
ok '--icicle: at the top' test "$(y_of "$T/icicle.svg" 0)" -lt "$(y_of "$T/icicle.svg" 1)"

# Order, equal lines, line ends and compression do not matter.
sort -r "$T/small" >"$T/sorted"
nsysx-flame -o "$T/other.svg" "$T/sorted"
same 'the order of lines is irrelevant' "$T/small.svg" "$T/other.svg"
{ sed 's/$/\r/' "$T/small"; printf '\n\na;nothing 0\n'; } | zstd -q | nsysx-flame >"$T/other.svg"
same 'line ends, empty lines, zeros and zstd are irrelevant' "$T/small.svg" "$T/other.svg"
head -c -1 "$T/small" | nsysx-flame >"$T/other.svg"
same 'the last line may lack a line end' "$T/small.svg" "$T/other.svg"

# Many stacks, in random order; each frame lies within the frame below it, and frames do not overlap.
awk 'BEGIN { srand(7); for (i = 0; i < 30000; i++) { s = "r" int(rand() * 5); for (d = int(rand() * 9); d > 0; d--) s = s ";f" int(rand() * 4) "/g" int(rand() * 3); print s, int(rand() * 1000) } }' >"$T/many"
nsysx-flame --min-width 0 -o "$T/many.svg" "$T/many"
prefixes "$T/many" >"$T/want"
drawn "$T/many.svg" >"$T/got"
same '30000 stacks: every sum' "$T/want" "$T/got"
equal 'no frame extends beyond its parent or overlaps another' "$(frames "$T/many.svg" | awk -F'\t' '
	{ d = $1; if (d && ($2 < from[d - 1] || $2 + $3 > to[d - 1] || (d in to && from[d] >= from[d - 1] && $2 < to[d]))) bad++; from[d] = $2; to[d] = $2 + $3 }
	END { print bad + 0 }')" 0
nsysx-flame -v --min-width 0.001 "$T/many" >"$T/few.svg" 2>"$T/err"
total=$(awk '{ n += $NF } END { print n }' "$T/many")
awk -F'\t' -v t="$total" '$2 >= t / 1000' "$T/want" >"$T/wide"
drawn "$T/few.svg" >"$T/got"
same '--min-width draws frames of at least that share, with their sums' "$T/wide" "$T/got"
narrow=$(($(wc -l <"$T/want") - $(wc -l <"$T/wide")))
equal 'the number of other frames is in the subtitle' "$(head_of "$T/few.svg" | grep 'not drawn')" "$narrow frames below 0.1 % of it not drawn"
equal 'their sum is in the picture, for searches' "$(sed -n 's/^<svg .* data-narrow="\([0-9]*\)".*/\1/p' "$T/few.svg")" "$(awk -F'\t' -v t="$total" '
	$2 >= t / 1000 { wide[$1]; next } { p = $1; sub(/;[^;]*$/, "", p); narrow[$1] = p; n[$1] = $2 }
	END { for (k in narrow) if (narrow[k] == "" || narrow[k] in wide) s += n[k]; print s + 0 }' "$T/want")"
equal '... the number on standard error' "$(cat "$T/err")" "nsysx-flame: info: $T/many: frames too narrow to be drawn; --min-width=0 draws all ($narrow)"

# Kinds.
printf '%s 1\n' 'all-reduce.1' 'm;all-gather-start' 'jit(f)/psum' 'psum_invariant' 'all_to_all[axis=(a/b)]' 'ncclDevKernel_AllGather(x)' 'recv-done.3' \
	'TSL:Thunk:#name=x/mul,hlo_op=reduce-scatter.2#' 'NCCL:ncclAllReduce;inner kernel' >"$T/comm"
printf '%s 1\n' 'sender' 'gather' 'all-gathering' 'send_batch' '/x/psum/y.py:3[f]' 'jit(psum)/add' 'fusion.1' 'recv' >"$T/rest"
printf '%s 1\n' '[GPU idle during module execution];x' >"$T/idle"
printf '%s 1\n' '[Unknown]' '[no instruction]' 'x;' '[no NVTX range];gemm' >"$T/unknown"
leaves() { nsysx-flame "$1" | python3 "$T/flame.py" /dev/stdin | awk -F'\t' '{ if (NR > 1 && $1 <= d) print k; d = $1; k = substr($4, 1, 1) } END { print k }' | sort | uniq -c | awk '{ print $1 $2 }' | tr '\n' ' '; }
equal 'communication is recognised by names' "$(leaves "$T/comm")" '9m '
equal '... not by similar names' "$(leaves "$T/rest")" '7c 1m '
printf '%s 1\n' '[CUDA memcpy Host-to-Device]' 'range;[CUDA memcpy Peer-to-Peer]' '[CUDA memset]' '[CUDA memcpy kind 99]' >"$T/copies"
equal 'copies are neither computation nor communication' "$(leaves "$T/copies")" '4p '
equal 'idle time' "$(leaves "$T/idle")" '1i '
equal 'unknown; frames on it have their own kind' "$(leaves "$T/unknown")" '1c 3u '
printf '%s\n' 'a 500' 'all-reduce 300' '[x idle] 150' '[Unknown] 50' '[GPU active];a 1000' >"$T/kinds"
nsysx-flame "$T/kinds" >"$T/kinds.svg"
equal 'the legend has the share of each kind' "$(head_of "$T/kinds.svg" | tail -n 4)" "$(printf '%s\n' 'computation 75.00 %' 'communication 15.00 %' 'idle 7.50 %' 'unknown 2.50 %')"
printf '%s\n' 'gemm 30' 'step;[CUDA memcpy Host-to-Device] 960' 'step;[CUDA memset] 10' >"$T/mostly"
nsysx-flame "$T/mostly" >"$T/mostly.svg"
equal 'copies have a share' "$(head_of "$T/mostly.svg" | tail -n 2)" "$(printf '%s\n' 'computation 3.00 %' 'copies 97.00 %')"
printf '%s\n' 'gemm 50' '[CUDA memcpy Peer-to-Peer];[communication] 30' '[CUDA memcpy Device-to-Host] 20' >"$T/marked"
nsysx-flame "$T/marked" >"$T/marked.svg"
equal 'marked communication counts as communication, also in copies' "$(head_of "$T/marked.svg" | tail -n 3)" "$(printf '%s\n' 'computation 50.00 %' 'communication 30.00 %' 'copies 20.00 %')"
nsysx-flame --plain "$T/kinds" >"$T/plain.svg"
equal '--plain: one colour, and no legend' "$(frames "$T/plain.svg" | tail -n +2 | cut -f 4 | cut -c 1 | sort -u) $(head_of "$T/plain.svg" | grep -c '%')" 'c 0'
fails '--plain is not for comparisons' 2 '--plain and --diff exclude each other' nsysx-flame --plain --diff "$T/kinds" "$T/kinds"
equal 'groups have no colour' "$(class_of "$T/kinds.svg" '[GPU active]' | cut -c 1)" g
equal 'a name has the same colour in all places' "$(class_of "$T/kinds.svg" a | sort -u | wc -l)" 1
ok 'names have different shades' test "$(frames "$T/many.svg" | cut -f 4 | grep -c '^c[0-5]$')" -gt 1000 -a "$(frames "$T/many.svg" | cut -f 4 | grep '^c' | sort -u | wc -l)" -gt 3

# Comparison: same, +0.5 %, +50 %, new, half, 1/10, gone.
printf '%s\n' 'same 1000' 'near 1005' 'up 1500' 'new;deep 100' 'half 500' 'tenth 100' >"$T/new"
printf '%s\n' 'same 1000' 'near 1000' 'up 1000' 'half 1000' 'tenth 1000' 'gone 40' 'same;gone 2' >"$T/base"
nsysx-flame -v --diff "$T/base" "$T/new" >"$T/diff.svg" 2>"$T/err"
equal 'the frames are the new ones' "$(drawn "$T/diff.svg")" "$(prefixes "$T/new")"
equal 'red has grown, blue has shrunk' "$(frames "$T/diff.svg" | awk -F'\t' 'NR > 1 { print $8, $4 }' | sort)" "$(printf '%s\n' 'deep h5' 'half l4' 'near z0' 'new h5' 'same z0' 'tenth l5' 'up h3')"
equal 'tooltips have base and change' "$(frames "$T/diff.svg" | awk -F'\t' '$8 == "up" || $8 == "tenth" || $8 == "new" { print $9 }')" "$(printf '%s\n' \
	'100 ns (100 ns), 2.38 % | base 0 ns, change +100 ns, new' '100 ns (100 ns), 2.38 % | base 1000 ns, change -900 ns, -90.00 %' '1.500 us (1500 ns), 35.67 % | base 1000 ns, change +500 ns, +50.00 %')"
equal 'the subtitle has the time of vanished stacks' "$(head_of "$T/diff.svg" | sed -n 2,4p)" "$(printf '%s\n' '4.205 us in 6 stacks' 'base 5.042 us, change -837 ns, -16.60 %' '2 stacks of the base vanished, with 42 ns')"
equal '... their number is on standard error' "$(cat "$T/err")" "nsysx-flame: info: $T/base: stacks that are not in the other file: not drawn (2)"
nsysx-flame --diff "$T/new" "$T/new" >"$T/none.svg"
equal 'without change there is no colour' "$(frames "$T/none.svg" | cut -f 4 | sort -u)" z0

# ---- any bytes
python3 -c '
import sys
b = bytes(c for c in range(256) if c not in (10, 13, 59))
sys.stdout.buffer.write(b"<b>&amp\"\x27]]><![CDATA[;" + b + b" 7\n\xef\xbf\xbe\xed\xa0\x80\xc2\x85\xe2\x80\xae;\xf0\x9f\x94\xa5\xe4\xb8\xad x 3\n")' >"$T/bytes"
nsysx-flame --title "$(printf '<t>&\001\377')" --subtitle '"]]>' -o "$T/bytes.svg" "$T/bytes"
frames "$T/bytes.svg" | cut -f 8 >"$T/got"
equal 'markup is escaped' "$(sed -n 2p "$T/got")" '<b>&amp"'"'"']]><![CDATA['
equal 'control characters and invalid bytes are shown escaped' "$(sed -n 3p "$T/got" | grep -c '^\\x00\\x01.*\\x1F !"#\$%&.*~\\x7F\\x80.*\\xFF$')" 1
equal '... as are characters that XML refuses or that are invisible' "$(sed -n 4p "$T/got")" '\xEF\xBF\xBE\xED\xA0\x80\xC2\x85\xE2\x80\xAE'
equal 'other characters are unchanged' "$(sed -n 5p "$T/got")" '🔥中 x'
equal 'titles are escaped the same way' "$(head_of "$T/bytes.svg" | sed -n 1,2p)" "$(printf '%s\n' '<t>&\x01\xFF' '"]]>')"
equal 'the only script is that of the tool' "$(grep -c '<script' "$T/bytes.svg")" 1
equal 'nothing is fetched' "$(sed 's,http://www.w3.org/[0-9a-z/]*,,g' "$T/bytes.svg" | grep -ciE 'https?:|url\(|@import|href')" 0
equal 'no code is made from text' "$(grep -cE 'eval\(|new Function|innerHTML|document\.write' ../../lib/draw/flame/flame.js)" 0
equal 'style and script are ASCII and end no CDATA' "$(cat ../../lib/draw/flame/flame.css ../../lib/draw/flame/flame.js | LC_ALL=C grep -cE '[^[:print:][:space:]]|]]>')" 0

# ---- labels; of a path the end is kept
label_of() { nsysx-flame "$1" | python3 -c '
import sys, xml.etree.ElementTree as ET
S = "{http://www.w3.org/2000/svg}"
for g in ET.parse(sys.stdin).getroot().iter(S + "g"):
    if (g.get("class") or "").startswith("f ") and g.find(S + "title").text.startswith(sys.argv[1]): print(g.find(S + "text").text if g.find(S + "text") is not None else "")' "$2"; }
printf '%s\n' '/opt/a_long_folder/of_things/model/layers.py:14[norm] 20' 'x 80' >"$T/label"
equal 'a path that does not fit loses folders' "$(label_of "$T/label" /opt)" '…/model/layers.py:14[norm]'
printf '%s\n' '/opt/a_long_folder/of_things/model/layers.py:14[norm] 8' 'x 92' >"$T/label"
equal 'then the beginning of the file name: the line number is kept' "$(label_of "$T/label" /opt)" '…ayers.py:14'
printf '%s\n' '/opt/a_long_folder/of_things/model/layers.py:14[norm] 9' 'x 91' >"$T/label"
equal 'the function goes before the line' "$(label_of "$T/label" /opt)" 'layers.py:14…'
printf '%s\n' 'jit(f)/jvp(model)/layers_1/dot_general[dimension_numbers=(1,)] 8' 'x 92' >"$T/label"
equal 'of other names the beginning is kept' "$(label_of "$T/label" jit)" 'dot_general…'
printf '%s\n' 'a_kernel_of_a_long_name 1' 'x 999' >"$T/label"
equal 'a frame that is too narrow has no label' "$(label_of "$T/label" a_kernel)" ''

# --collapse, with the example of rows.c and fewer frames: the frame that represents a row has the number of frames.
cat >"$T/rows.py" <<'END'
import sys
import xml.etree.ElementTree as ET
S = "{http://www.w3.org/2000/svg}"
# ROW NAME CLASSES COUNT LABEL of a picture's frames, rows counted from the root.
frames = []
for g in ET.parse(sys.argv[1]).getroot().iter(S + "g"):
    if "f" in g.get("class").split():
        t = g.find(S + "text")
        frames.append((int(g.find(S + "rect").get("y")), g.find(S + "title").text.split("\n")[0], g.get("class").split(), g.get("data-n", "1"),
                       t.text if t is not None else ""))
for y, name, classes, n, label in frames:
    print((frames[0][0] - y) // 18, name, "hidden" if "k" in classes else "dim" if "d" in classes else "shown", n, label, sep="|")
END
rows() { python3 "$T/rows.py" "$1"; }
cat >"$T/run" <<'END'
train.py:9[main];/x/flax/module.py:5[call];model.py:7[loss];util.py:2[wrap];/x/flax/linear.py:3[call];util.py:2[wrap] 60
train.py:9[main];/x/flax/module.py:5[call];model.py:7[loss];util.py:2[wrap];/x/flax/linear.py:3[call];dot;mul 40
END
nsysx-flame --collapse --min-width 0 -o "$T/run.svg" "$T/run"
equal '--collapse makes one row of frames with the same width' "$(rows "$T/run.svg" | tail -n +2)" "$(printf '%s\n' '1|train.py:9[main]|hidden|1|' \
	'1|/x/flax/module.py:5[call]|hidden|1|' '1|model.py:7[loss]|shown|5|+4 model.py:7[loss]' '1|util.py:2[wrap]|hidden|1|' \
	'1|/x/flax/linear.py:3[call]|hidden|1|' '2|dot|hidden|1|' '2|mul|shown|2|+1 mul' '2|util.py:2[wrap]|shown|1|util.py:2[wrap]')"
nsysx-flame --collapse --dim '' --min-width 0 "$T/run" >"$T/other.svg"
equal 'of equally frequent names the innermost represents the row' "$(rows "$T/other.svg" | grep '|5|')" '1|/x/flax/linear.py:3[call]|shown|5|+4 /x/flax/linear.py:3[call]'
equal 'its tooltip has all names' "$(frames "$T/run.svg" | awk -F'\t' '$8 == "model.py:7[loss]" { print $9 }' | sed 's/.*% | //')" \
	'5 frames in this row: |   train.py:9[main] |   /x/flax/module.py:5[call] |   model.py:7[loss] |   util.py:2[wrap] |   /x/flax/linear.py:3[call]'
nsysx-flame --min-width 0 -o "$T/plain.svg" "$T/run"
equal 'without --collapse each frame has its row' "$(rows "$T/plain.svg" | cut -d '|' -f 1,3 | tr '\n' ' ')" '0|shown 1|shown 2|dim 3|shown 4|shown 5|dim 6|shown 7|shown 6|shown '
printf '%s\n' '[GPU active];a;b;[communication] 5' '[GPU active];a;b;psum;x 3' 'c;d;[Unknown];e 2' >"$T/run"
nsysx-flame --collapse --min-width 0 "$T/run" | python3 "$T/rows.py" /dev/stdin >"$T/got"
equal 'names in brackets and kinds keep their rows' "$(cut -d '|' -f 1-4 "$T/got" | tail -n +2 | tr '\n' ' ')" \
	'1|[GPU active]|shown|1 2|a|hidden|1 2|b|shown|2 3|[communication]|shown|1 3|psum|hidden|1 3|x|shown|2 1|c|hidden|1 1|d|shown|2 2|[Unknown]|shown|1 3|e|shown|1 '
# Every frame has its place from a picture without --collapse, and rows follow from the stacks: runs counted by Python.
awk 'BEGIN { srand(5); for (i = 0; i < 400; i++) { s = "r" int(rand() * 3); for (d = int(rand() * 12); d > 0; d--) s = s ";f" int(rand() * rand() * 3); print s, int(rand() * 50) } }' >"$T/chains"
for opt in --icicle --sort=size "--diff=$T/many"; do
	nsysx-flame -q "$opt" --min-width 0 -o "$T/plain.svg" "$T/chains"
	nsysx-flame -q "$opt" --min-width 0 --collapse -o "$T/run.svg" "$T/chains"
	frames "$T/plain.svg" | cut -f 1-6,8 >"$T/want"
	frames "$T/run.svg" | cut -f 1-6,8 >"$T/got"
	same "--collapse ${opt%%=*} keeps places and widths" "$T/want" "$T/got"
done
nsysx-flame --min-width 0 --collapse --dim '[02]$' -o "$T/run.svg" "$T/chains"
equal 'rows are runs of only children of the same width' "$(python3 - "$T/chains" "$T/run.svg" <<'END'
import collections, subprocess, sys
total, children = collections.Counter(), collections.defaultdict(set)
for line in open(sys.argv[1]):
    stack, n = line.rsplit(" ", 1)
    f = tuple(stack.split(";"))
    for d in range(1, len(f) + 1) if int(n) else ():
        total[f[:d]] += int(n)
        children[f[:d - 1]].add(f[:d])
often = collections.Counter(p[-1] for p in total)
want = {}
def walk(path, row):
    run = [path]
    while len(children[run[-1]]) == 1 and total[min(children[run[-1]])] == total[path]:
        run.append(min(children[run[-1]]))
    bright = [p for p in run if p[-1][-1] not in "02"] or run
    shown = min(reversed(bright), key=lambda p: often[p[-1]])
    for p in run:
        want[p] = (row, len(run) if p == shown else 0)
    for c in children[run[-1]]:
        walk(c, row + 1)
for top in children[()]:
    walk(top, 1)
import xml.etree.ElementTree as ET
S = "{http://www.w3.org/2000/svg}"
got, path, root = {}, [], None
for g in ET.parse(sys.argv[2]).getroot().iter(S + "g"):
    if "f" not in g.get("class").split():
        continue
    y = int(g.find(S + "rect").get("y"))
    if g.get("data-d") == "0":
        root = y
        continue
    path[int(g.get("data-d")) - 1:] = [g.find(S + "title").text.split("\n")[0]]
    got[tuple(path)] = ((root - y) // 18, 0 if "k" in g.get("class").split() else int(g.get("data-n", "1")))
print(len(got) > 300, got == want)
END
)" 'True True'

# --dim.
printf '%s 1\n' '/usr/lib/python3/dist-packages/a.py:1[f]' '/v/lib/python3.12/site-packages/b/c.py:22[g]' '/opt/praxis/x.py:3[h]' 'jax/_src/api.py:9[x]' \
	'/usr/lib/python3.11/runpy.py:8[r]' >"$T/lib"
printf '%s 1\n' '/home/u/flaxen/train.py:1[f]' 'jit(f)/flax/dot' 'train.py:7[jax]' 'jax' 'torch::mm' >"$T/own"
dimmed() { nsysx-flame --min-width 0 "$@" | python3 "$T/rows.py" /dev/stdin | grep -c '|dim|'; }
equal 'code of libraries is dimmed' "$(dimmed "$T/lib")" 5
equal 'other code is not dimmed' "$(dimmed "$T/own")" 0
equal "--dim '' dims nothing" "$(dimmed --dim '' "$T/lib")" 0
equal '--dim takes a pattern' "$(dimmed --dim '^(jax|train)' "$T/own")" 2
equal 'the subtitle names what is dimmed' "$(nsysx-flame "$T/lib" | python3 -c 'import sys; print(sys.stdin.read().count(">paler: library code<"))')" 1
fails 'an invalid pattern' 2 '--dim: "(" is no extended regular expression: ' nsysx-flame --dim '(' "$T/own"

# Stacks of nsysx-fold --mark-comm: marked frames, and frames that contain only these, are communication; names do not count.
printf '%s\n' 'a;psum;[communication] 20' 'a;psum;x 10' 'b;gather;[communication] 30' 'all-reduce 40' >"$T/marked"
nsysx-flame "$T/marked" >"$T/marked.svg"
equal 'only marked frames are communication' "$(frames "$T/marked.svg" | awk -F'\t' 'NR > 1 { print $8, substr($4, 1, 1) }' | sort)" "$(printf '%s\n' '[communication] x' \
	'[communication] x' 'a c' 'all-reduce c' 'b m' 'gather m' 'psum c' 'x c' | sort)"
equal 'its share is exact' "$(head_of "$T/marked.svg" | grep communication)" 'communication 50.00 %'

# Units.
units() { printf 'a %s\n' "$2" | nsysx-flame --unit "$1" | python3 "$T/flame.py" /dev/stdin | sed -n '1s/.*all: //p' | tr '\t' ' '; }
equal 'times' "$(units ns 1234567890)" '1.235 s 1.235 s (1234567890 ns), 100.00 %'
equal 'rounding goes into the next unit' "$(units ns 999999)" '1.000 ms 1.000 ms (999999 ns), 100.00 %'
equal 'bytes' "$(units bytes 45678901)" '45.68 MB 45.68 MB (45678901 bytes), 100.00 %'
equal 'counts' "$(units count 45678901)" '45678901 45678901, 100.00 %'
equal 'the largest number' "$(units count 9223372036854775807)" '9223372036854775807 9223372036854775807, 100.00 %'

# ---- empty and invalid inputs
: >"$T/empty"
nsysx-flame "$T/empty" >"$T/empty.svg" 2>"$T/err"
equal 'no stacks is not an error' $? 0
equal '... a warning' "$(cat "$T/err")" "nsysx-flame: warning: $T/empty: no stacks: the picture is empty"
equal '... and a text in the picture' "$(head_of "$T/empty.svg" | sed -n 2p)" 'no stacks in the input'
printf 'a 0\n' | nsysx-flame -q >"$T/zero.svg"
same 'stacks of 0 only are no stacks' "$T/empty.svg" "$T/zero.svg"
refuses() {
	printf "$3" >"$T/bad"
	fails "$1" 1 "nsysx-flame: $T/bad:$2" nsysx-flame "$T/bad"
}
refuses 'a line without a number' '2: want FRAME;FRAME NUMBER' 'a 1\na;b\n'
refuses 'a fraction' '1: want FRAME;FRAME NUMBER' 'a 1.5\n'
refuses 'a number alone' '1: want FRAME;FRAME NUMBER' ' 12\n'
refuses 'a negative number' '3: want a number that is not negative' 'a 1\n\na -1\n'
refuses 'a number exceeds 64 bits' '1: want FRAME;FRAME NUMBER' 'a 9223372036854775808\n'
refuses 'a sum exceeds 64 bits' '2: the sum of the numbers exceeds 64 bits' 'a 9223372036854775807\nb 1\n'
refuses 'a stream' '1: a stream, want folded stacks: nsysx-fold writes them' '#nsysx\t2\n'
printf 'a 1\nb\n' >"$T/bad"
fails 'an invalid line of the base' 1 "$T/bad:2: want FRAME" nsysx-flame --diff "$T/bad" "$T/small"
fails 'a file that is not there' 1 "$T/nothing: No such file" nsysx-flame "$T/nothing"
fails 'a full disk' 1 'nsysx-flame: ' sh -c 'nsysx-flame "$1" >/dev/full' - "$T/small"
fails 'two files' 2 'one FILE at most' nsysx-flame "$T/small" "$T/small"
fails 'standard input twice' 2 'standard input is FILE or BASE' nsysx-flame --diff - -
fails 'a share above 1' 2 'want a share from 0 to 1' nsysx-flame --min-width 2 "$T/small"
fails 'a share that is not a number' 2 'want a share from 0 to 1' nsysx-flame --min-width nan "$T/small"
nsysx-flame -o "$T/kept.svg" "$T/bad" 2>/dev/null
ok 'an error leaves no picture' test ! -e "$T/kept.svg"

# A stack of 50000 frames, a line of a megabyte, and random bytes.
awk 'BEGIN { s = "f"; for (i = 1; i < 50000; i++) s = s ";f"; print s, 5; print s ";g", 6 }' >"$T/deep"
ok 'a deep stack' nsysx-flame -o "$T/deep.svg" "$T/deep"
equal '... has all its frames' "$(grep -c '<g class="f ' "$T/deep.svg")" 50002
awk 'BEGIN { s = "n"; for (i = 0; i < 20; i++) s = s s; print "a;" s, 5; print "b 1" }' >"$T/long"
ok 'a long name' nsysx-flame -o "$T/long.svg" "$T/long"
equal '... is complete in its title' "$(frames "$T/long.svg" | awk -F'\t' '{ print length($8) }' | sort -n | tail -n 1)" 1048576
equal 'random bytes: a picture or an error message' "$(python3 -c '
import random, subprocess, sys, xml.dom.minidom
random.seed(11)
words = [b"a", b"b;", b";", b" ", b" 1\n", b" 22\n", b"\n", b"\0", b"\xff", b"\xe2\x80", b"<", b"&", b"]]>", b"[idle]", b"/", b"(", b" -1\n", b"\r\n", b"9" * 18 + b"\n"]
for n in range(150):
    data = b"".join(random.choices(words, k=random.randrange(30))) + random.choice([b"", b" 3\n"])
    p = subprocess.run(["nsysx-flame", "-q"], input=data, capture_output=True)
    if p.returncode not in (0, 1) or (p.returncode == 1) == bool(p.stdout): print("status", p.returncode, data)
    if p.returncode == 0: xml.dom.minidom.parseString(p.stdout)
')" ''

# Output of nsysx-fold for the sample.
if [ -x "$SYNTH" ]; then
	"$SYNTH" -o "$T/s" >/dev/null
	nsysx-extract -q --ranges --ops -x "$T/s/dump0" "$T/s/r0.sqlite" | nsysx-overlap -q -o "$T/s.nsysx"
	for by in source op-name opcode module nvtx kernel; do
		nsysx-fold -q --by $by --cover 1 -o "$T/folded" "$T/s.nsysx"
		nsysx-flame --min-width 0 -o "$T/folded.svg" "$T/folded"
		prefixes "$T/folded" >"$T/want"
		drawn "$T/folded.svg" >"$T/got"
		same "--by $by of the sample" "$T/want" "$T/got"
	done
	nsysx-fold -q --by opcode --cover 1 "$T/s.nsysx" | nsysx-flame --min-width 0 >"$T/opcode.svg"
	equal 'communication by opcode equals the stacks' "$(frames "$T/opcode.svg" | awk -F'\t' '$4 ~ /^m/ { n += $3 } END { print n + 0 }')" \
		"$(nsysx-fold -q --by opcode --cover 1 "$T/s.nsysx" | awk '/;(all-|reduce-scatter|collective-|send|recv)/ { n += $NF } END { print n + 0 }')"
	nsysx-fold -q --mark-comm --cover 1 -o "$T/folded" "$T/s.nsysx"
	nsysx-flame --min-width 0 --collapse -o "$T/folded.svg" "$T/folded"
	ok 'the sample has communication' grep -q ';\[communication\] ' "$T/folded"
	equal 'frames that mark communication equal the stacks' "$(frames "$T/folded.svg" | awk -F'\t' '$4 == "x0" { n += $3 } END { print n + 0 }')" \
		"$(awk '/;\[communication\] / { n += $NF } END { print n + 0 }' "$T/folded")"
	prefixes "$T/folded" >"$T/want"
	drawn "$T/folded.svg" >"$T/got"
	same '--collapse keeps every sum of the sample' "$T/want" "$T/got"
else
	skip 'the sample' 'there is no nsysx-synth'
fi
done_testing
