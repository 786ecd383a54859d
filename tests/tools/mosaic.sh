#!/bin/sh
# nsysx-mosaic on buffers written word by word; results are derived beside them.
. "${0%/*}/../testlib.sh"

# Words, decimal, hexadecimal or negative, as a buffer.
pack() {
	python3 -c 'import struct, sys
sys.stdout.buffer.write(b"".join(struct.pack("<I", int(w, 0) & 0xffffffff) for w in sys.argv[1:]))' "$@"
}
# A NumPy file of format version $1 with header $2, the data from standard input.
npy() {
	python3 -c 'import struct, sys
v, h = int(sys.argv[1]), sys.argv[2].encode() + b"\n"
sys.stdout.buffer.write(b"\x93NUMPY" + bytes([v, 0]) + struct.pack("<H" if v == 1 else "<I", len(h)) + h + sys.stdin.buffer.read())' "$1" "$2"
}
end=0x80000000
printf '0\tload\n1\tmma\n2\tq"\\\\\\n\\xff\303\251\n' >"$T/names"
mosaic() { nsysx-mosaic --grid 2 --block 128 --names "$T/names" "$@"; }

# Buffers of a kernel with ranges in ranges on an H100, a trace for each warpgroup, for each warp, and with too little
# space and checked bounds; beside each what Mosaic's profiler (JAX 0.11) wrote from it.
real=$tests_dir/tools/mosaic
recorded() { nsysx-mosaic --grid 8,1,1 --block 128,1,1 --names "$real/names" "$@"; }
golden "a kernel's warpgroups" "$real/wg.json" recorded "$real/wg.npy"
golden "a kernel's warps" "$real/warp.json" recorded "$real/warp.npy"
golden '--scope warp' "$real/warp.json" recorded --scope warp "$real/warp.npy"
golden '--scope warpgroup' "$real/wg.json" recorded --scope warpgroup "$real/wg.npy"
equal '--scope warpgroup of warps: one in four' "$(recorded --scope warpgroup --stream "$real/warp.npy" | nsysx-view -t range | tail -n +2 | wc -l)" \
	"$(($(grep -o '"ph": "B"' "$real/warp.json" | wc -l) / 4))"
golden 'a kernel whose later events were dropped' "$real/cut.json" recorded -q "$real/cut.npy"
recorded "$real/cut.npy" >"$T/out" 2>"$T/err"
equal '... with a warning' "$(cat "$T/err")" 'nsysx-mosaic: warning: traces that fill their space: events that came after, if any, are missing (8)'
fails '--scope warpgroup of a block that has none' 1 'a block of 96 threads is not of whole warpgroups of 128' recorded --block 96 --scope warpgroup "$real/wg.npy"
fails 'a wrong --scope' 1 'warp 0: not enough space' recorded --scope warp --layout traces "$real/wg.npy"
fails 'a block without whole warps' 1 'a block of 48 threads is not of whole' recorded --block 48 "$real/wg.npy"

# Two blocks of a warpgroup. The second started earlier; its clock passes 2^32. The minimum distance of events is 50
# cycles: recording one costs 12 - 1 = 11. First slot: 0, 50 - 11, 150 - 22, 200 - 33; second: 0, 50 - 11.
pack 5000 2 8 0 100 1 150 0x80000001 250 $end 300 0 0 4000 2 4 1 -20 0x80000001 30 7 7 7 7 7 7 >"$T/traces"
# The same with the header included in the count.
pack 5000 2 11 0 100 1 150 0x80000001 250 $end 300 0 0 4000 2 7 1 -20 0x80000001 30 7 7 7 7 7 7 >"$T/entries"
{
	printf '{"displayTimeUnit": "ns", "traceEvents": ['
	printf '{"name": "mma", "ph": "B", "ts": 4.0, "pid": 3, "tid": 2}, {"name": "mma", "ph": "E", "ts": 4.039, "pid": 3, "tid": 2}, '
	printf '{"name": "load", "ph": "B", "ts": 5.0, "pid": 3, "tid": 1}, {"name": "mma", "ph": "B", "ts": 5.039, "pid": 3, "tid": 1}, '
	printf '{"name": "mma", "ph": "E", "ts": 5.128, "pid": 3, "tid": 1}, {"name": "load", "ph": "E", "ts": 5.167, "pid": 3, "tid": 1}]}'
} >"$T/want"
golden 'a buffer whose count excludes the header' "$T/want" mosaic "$T/traces"
golden 'a buffer whose count includes the header' "$T/want" mosaic "$T/entries"
golden '--layout' "$T/want" mosaic --layout entries "$T/entries"
fails 'a wrong --layout' 1 'warpgroup 0: 8 words in use is no whole number' mosaic --layout entries "$T/traces"
mosaic <"$T/traces" >"$T/out"
same 'standard input' "$T/out" "$T/want"
mosaic -o "$T/out" "$T/entries"
same '-o' "$T/out" "$T/want"
for version in 1 2 3; do
	npy $version "{'descr': '<u4', 'fortran_order': False, 'shape': (2, 13), }   " <"$T/traces" >"$T/n.npy"
	golden "NumPy's format $version" "$T/want" mosaic "$T/n.npy"
done
npy 1 '{"shape":(26L,),"descr":"<i4","fortran_order":True}' <"$T/traces" >"$T/n.npy"
golden 'a NumPy header with other order, quotes and numbers' "$T/want" mosaic "$T/n.npy"

# ---- names ----
pack 1 0 4 2 0 0x80000002 1010 >"$T/one"
one() { nsysx-mosaic --grid 1 --block 4,4,8 --names "$T/names" "$@"; }
# 1010 - 11 cycles; a byte that is not UTF-8 becomes four characters, and any other that is not ASCII an escape.
equal 'names are JSON in ASCII' "$(one "$T/one")" \
	'{"displayTimeUnit": "ns", "traceEvents": [{"name": "q\"\\\n\\xFF\u00e9", "ph": "B", "ts": 0.001, "pid": 1, "tid": 1}, {"name": "q\"\\\n\\xFF\u00e9", "ph": "E", "ts": 1.0, "pid": 1, "tid": 1}]}'
one "$T/one" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["traceEvents"]))' >"$T/out"
equal 'and a JSON reader reads it' "$(cat "$T/out")" 2
printf '2\tx\n2\ty\n' >"$T/twice"
fails 'an id with two names' 1 "$T/twice:2: a second name of id 2" one --names "$T/twice" "$T/one"
printf '2 x\n' >"$T/tabless"
fails 'a line without a tab' 1 "$T/tabless:1: want an id" one --names "$T/tabless" "$T/one"
printf '2\t\\q\n' >"$T/escape"
fails 'an invalid escape' 1 "$T/escape:1: a backslash" one --names "$T/escape" "$T/one"
printf '0\tload\n' >"$T/few"
fails 'an event without a name' 1 'warpgroup 0: event 0: no name has the id 2' one --names "$T/few" "$T/one"

# ---- clocks ----
# At least 9 cycles between two events: overhead 8. After 109 - 8 comes 20 - 16, which is reported and becomes 102; 127 - 24 and 136 - 32 are later.
pack 0 0 10 0 0 1 109 0x80000001 20 $end 127 1 136 0 0 >"$T/back"
one "$T/back" >"$T/out" 2>"$T/err"
equal 'times never decrease' "$(grep -o '"ts": [0-9.]*' "$T/out" | cut -d' ' -f2 | tr '\n' ' ')" '0.0 0.101 0.102 0.103 0.104 0.104 '
equal 'a clock that decreases is reported' "$(grep clock "$T/err")" 'nsysx-mosaic: warning: clock went backwards for event end `mma`: 101 -> 4'
equal 'a range that is open at the end ends with the last event' "$(grep -o '"name": "mma", "ph": "E", "ts": [^}]*' "$T/out" | tail -1)" \
	'"name": "mma", "ph": "E", "ts": 0.104, "pid": 1, "tid": 1'
equal '... with a warning' "$(grep -v clock "$T/err")" 'nsysx-mosaic: warning: ranges without an end: they end with the last event of their trace'
# 2 cycles between two events of the second warpgroup: overhead 1 in both.
pack 0 0 4 0 0 $end 4 0 0 4 0 100 $end 102 >"$T/short"
equal 'the overhead of recording is subtracted' "$(mosaic "$T/short" | grep -o '"ts": [0-9.]*' | cut -d' ' -f2 | tr '\n' ' ')" '0.0 0.003 0.0 0.001 '
# 2 cycles between events, overhead 1: the fourth, 1 - 3 cycles after the first, is before it.
pack 0 0 8 0 0 1 2 0x80000001 4 $end 1 0 0 0 0 0 0 0 0 0 0 0 >"$T/wrapped"
mosaic "$T/wrapped" >"$T/out" 2>"$T/err"
equal 'a warpgroup whose clock wraps around is ignored' "$(cat "$T/out")" '{"displayTimeUnit": "ns", "traceEvents": []}'
equal '... with a warning' "$(grep -c 'warpgroups ignored: their clock wrapped around' "$T/err")" 1

# ---- ranges that are open when their space ends ----
# Warps of a block of 96 threads, which has no whole warpgroup: the second lacks two ends, of which the inner comes first.
pack 7 1 4 0 10 $end 110 0 0 7 1 4 0 20 1 120 0 0 7 1 0 9 9 9 9 9 9 >"$T/three"
nsysx-mosaic --grid 1 --block 96 --names "$T/names" "$T/three" >"$T/out" 2>"$T/err"
equal 'open ranges of warps' "$(grep -o '"name": [^}]*' "$T/out" | tail -n 4 | sed 's/"pid": 2, //' | tr '\n' ';')" \
	'"name": "load", "ph": "B", "ts": 0.007, "tid": 2;"name": "mma", "ph": "B", "ts": 0.096, "tid": 2;"name": "mma", "ph": "E", "ts": 0.096, "tid": 2;"name": "load", "ph": "E", "ts": 0.096, "tid": 2;'
equal '... with warnings' "$(sort "$T/err" | tr '\n' ';')" 'nsysx-mosaic: warning: ranges without an end: they end with the last event of their trace (2);'

# ---- streams ----
mosaic --stream "$T/traces" >"$T/stream"
ok 'a stream is written' nsysx-view -o "$T/out" "$T/stream"
equal 'ranges nest' "$(nsysx-view -t range "$T/stream" | awk -F'\t' 'NR > 1 { print $2, $3, $4, $5, $6, $9, $10, $11 }' | tr '\n' ';')" \
	'0  0 3 2 mma 4000 39;1  0 3 1 load 5000 167;2 1 1 3 1 mma 5039 89;'
equal 'fold: time of each range without its children' "$(nsysx-fold --by nvtx "$T/stream" | tr '\n' ';')" 'load 78;load;mma 89;mma 39;'
mosaic --stream -b -z "$T/traces" | nsysx-view >"$T/out"
same 'binary has the same records' "$T/out" "$T/stream"
equal 'the profile is named after the file' "$(nsysx-view -t profile "$T/stream" | awk -F'\t' 'NR == 2 { print $2 }')" traces
# An end without a beginning, one that ends two ranges, and one that never ends.
pack 0 0 12 $end 0 0 100 1 200 $end 300 0x80000001 400 2 500 0 0 >"$T/odd"
one --stream "$T/odd" >"$T/stream" 2>"$T/err"
equal 'ranges that do not nest are closed' "$(nsysx-view -t range "$T/stream" | awk -F'\t' 'NR > 1 { print $2, $10, $11 }' | tr '\n' ';')" \
	'0 89 178;1 178 89;2 445 0;'
equal '... with a warning' "$(sort "$T/err" | tr '\n' ';')" 'nsysx-mosaic: warning: ends of ranges that had not begun: ignored (2);nsysx-mosaic: warning: ranges without an end of their own: they end with the range around them, or with the trace'"'"'s last event (2);'
pack 0 0 0 1 1 1 >"$T/silent"
ok 'no events' one --stream -o "$T/out" "$T/silent"
equal '... a diag' "$(nsysx-view -t diag "$T/out" | awk -F'\t' 'NR == 2 { print $1, $3 }')" 'warning no events'
equal '... and an empty trace' "$(one -q "$T/silent")" '{"displayTimeUnit": "ns", "traceEvents": []}'

# ---- the manual page's way to save buffer and names, with stand-ins for JAX and NumPy ----
awk '/^import numpy/ { on = 1 } on && /^\.Ed/ { exit } on' "$tests_dir/../docs/man/nsysx-mosaic.1" | sed 's/\\e/\\/g' >"$T/save.py"
cat >"$T/stubs.py" <<'END'
import sys, types
for name in "numpy", "jax", "jax.experimental", "jax.experimental.mosaic", "jax.experimental.mosaic.gpu", "jax.experimental.mosaic.gpu.profiler":
    sys.modules[name] = types.ModuleType(name)
    if "." in name:
        setattr(sys.modules[name.rpartition(".")[0]], name.rpartition(".")[2], sys.modules[name])
class ProfilerSpec:
    interned_names = {"load": 0, "a\tb\n\r\\\u00e9": 2}
sys.modules["jax.experimental.mosaic.gpu.profiler"].ProfilerSpec = ProfilerSpec
sys.modules["numpy"].asarray = lambda a: a
sys.modules["numpy"].save = lambda path, a: open(path, "wb").write(a)
exec(open("save.py").read())
ProfilerSpec().dump(open("one", "rb").read(), None, grid=(1, 1, 1), block=(128, 1, 1))
END
(cd "$T" && python3 stubs.py) >"$T/shape"
# shellcheck disable=SC2046  # the output are options
equal 'the saved files are read, with names' "$(nsysx-mosaic $(cat "$T/shape") --names "$T/kernel.names" "$T/kernel.npy" | grep -o '"name": "[^"]*"' | uniq)" \
	'"name": "a\tb\n\r\\\u00e9"'

# ---- refusals ----
pack 0 0 10 0 100 0 100 0 100 0 100 >"$T/full"
fails 'dropped events' 1 'warpgroup 0: not enough space' one "$T/full"
pack 0 0 0xffffffff 0 0 >"$T/huge"
fails 'a count near 2^32' 1 'not enough space' one --layout traces "$T/huge"
fails 'an implausible count near 2^32' 1 'not enough space' one --layout entries "$T/huge"
pack 0 0 1 0 0 >"$T/odd1"
fails 'a count smaller than the header' 1 '1 words in use is no whole number of events in a buffer of layout entries' one "$T/odd1"
fails 'an odd number of events' 1 '1 words in use is no whole number of events in a buffer of layout traces' one --layout traces "$T/odd1"
pack 0 0 2 0 0 0 0 0 0 5 0 0 0 0 >"$T/mixed"
fails 'an odd and an even number of events' 1 'warpgroups 0 and 1 use 2 and 5 words' mosaic "$T/mixed"
fails 'a buffer of another shape' 1 '26 words do not divide into 3 warpgroups' mosaic --grid 3,1,1 "$T/traces"
fails 'a buffer that is too small for its shape' 1 'do not divide' mosaic --grid 26 "$T/traces"
fails 'an empty buffer' 1 'do not divide' mosaic /dev/null
head -c 41 "$T/traces" >"$T/cut"
fails 'a buffer with a partial word' 1 '41 bytes are not whole' mosaic "$T/cut"
fails 'a buffer with a partial warpgroup' 1 'a block of 96 threads' mosaic --scope warpgroup --block 96 "$T/traces"
fails 'more blocks than numbers' 1 'do not divide' mosaic --grid 2147483647,2147483647,1 "$T/traces"
fails 'a grid whose size does not fit' 2 '--grid' mosaic --grid 2147483647,2147483647,2147483647 "$T/traces"
npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (22,), }" <"$T/traces" >"$T/n.npy"
fails 'a NumPy file of another type' 1 'a NumPy file of <f4, want <u4' mosaic "$T/n.npy"
npy 1 "{'descr': '<u4', 'fortran_order': True, 'shape': (2, 11), }" <"$T/traces" >"$T/n.npy"
fails 'a NumPy file in Fortran order' 1 'Fortran order' mosaic "$T/n.npy"
npy 1 "{'descr': '<u4', 'fortran_order': False, 'shape': (23,), }" <"$T/traces" >"$T/n.npy"
fails 'a truncated NumPy file' 1 'a NumPy file of 23 numbers has 104 bytes' mosaic "$T/n.npy"
npy 1 "{'descr': '<u4', 'shape': (22,), }" <"$T/traces" >"$T/n.npy"
fails 'a NumPy file without a key' 1 'header of the NumPy file cannot be parsed' mosaic "$T/n.npy"
npy 9 '{}' </dev/null >"$T/n.npy"
fails 'a NumPy file of a later version' 1 'a NumPy file of version 9' mosaic "$T/n.npy"
fails 'a missing buffer' 1 "$T/absent: No such file" mosaic "$T/absent"
fails 'missing names' 1 "$T/absent: No such file" mosaic --names "$T/absent" "$T/traces"
fails 'no --grid' 2 '--grid is needed' nsysx-mosaic --block 128 --names "$T/names" "$T/traces"
fails 'no --names' 2 '--names is needed' nsysx-mosaic --grid 1 --block 128 "$T/traces"
fails 'four numbers' 2 '--grid' mosaic --grid 1,1,1,1 "$T/traces"
fails 'a grid of size 0' 2 '--grid' mosaic --grid 0 "$T/traces"
fails 'two buffers' 2 'one BUFFER' mosaic "$T/traces" "$T/traces"
fails '--binary without --stream' 2 'go with --stream' mosaic -b "$T/traces"
fails 'a full disk' 1 '/dev/full' mosaic -o /dev/full "$T/traces"
fails 'a refusal leaves no output' 1 'no name has the id' one --names "$T/few" -o "$T/left" "$T/one"
ok '... not even an empty one' test ! -e "$T/left"
done_testing
