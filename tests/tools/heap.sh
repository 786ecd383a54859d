#!/bin/sh
# nsysx-heap on hand-written dumps: curve, peaks, live buffers; folders, compressed dumps, refusals.
. "${0%/*}/../testlib.sh"

make_dump() {
	protoc -I heap --encode=Dump heap/dump.proto <"heap/$1.textproto" >"$2"
}
rows() { printf "$@"; }
dumps=$T/dumps
mkdir "$dumps"
step=$dumps/module_0012.jit_step.sm_9.0_gpu_after_optimizations.hlo.pb
big=$dumps/module_0003.jit_init.sm_9.0_gpu_after_optimizations.hlo.pb
ok 'a dump is encoded' make_dump step "$step"
ok 'another dump is encoded' make_dump big "$big"

# ---- one dump ----
rows 'id\tname\ttrace\tstep\tbytes\n' >"$T/curve"
rows '12\tjit_step\t0\t%s\t%s\n' 0 0 1 3000 4 8000 5 5000 6 0 >>"$T/curve"
rows '12\tjit_step\t1\t%s\t%s\n' 0 0 1 5000 >>"$T/curve"
golden 'the curve has a row for each change' "$T/curve" nsysx-heap "$step"
rows 'id\tname\ttrace\tpeak\tpoints\tmemory\n12\tjit_step\t0\t8000\t5\tdevice\n12\tjit_step\t1\t5000\t2\tdevice\n' >"$T/peak"
golden '--peak has a row for each trace' "$T/peak" nsysx-heap --peak "$step"
rows 'id\tname\ttrace\tbuffer\tsize\tshare\tinstruction\top_name\tsource\n' >"$T/at"
rows '12\tjit_step\t0\t2\t5000\t0.625\tdot.1\tjit(step)/dot\tmodel.py:20[layer]\n' >>"$T/at"
rows '12\tjit_step\t0\t1\t3000\t0.375\tadd.2\tjit(step)/add\t\n' >>"$T/at"
rows '12\tjit_step\t1\t2\t5000\t1\tdot.1\tjit(step)/dot\tmodel.py:20[layer]\n' >>"$T/at"
golden '--at-peak has live buffers, the largest first' "$T/at" nsysx-heap --at-peak "$step"
mkdir "$T/order"
cp "$step" "$T/order/module_0001.jit_step.after_optimizations.hlo.pb"
cp "$big" "$T/order/module_0002.jit_init.after_optimizations.hlo.pb"
nsysx-heap -q --at-peak "$T/order" | awk 'NR > 1 { print $1, $3 }' | uniq >"$T/got"
nsysx-heap -q --peak "$T/order" | awk 'NR > 1 { print $1, $3 }' >"$T/want"
same '--at-peak of a folder: the program with the largest peak first' "$T/got" "$T/want"
nsysx-heap -q "$T/order" | awk 'NR > 1 { print $1, $3 }' | uniq >"$T/got"
same '... so are curves' "$T/got" "$T/want"
nsysx-heap --all --tsv -o "$T/all-%" "$T/order" 2>"$T/said"
for part in heap: heap-peak:--peak heap-at-peak:--at-peak; do
	nsysx-heap --tsv ${part#*:} "$T/order" >"$T/want" 2>>"$T/each"
	same "--all: ${part%%:*}" "$T/want" "$T/all-${part%%:*}"
done
sort -u "$T/each" >"$T/want"
same '... what is said comes once' "$T/want" "$T/said"
fails '--all and --peak' 2 'exclude each other' nsysx-heap --all --peak -o "$T/all-%" "$T/order"
nsysx-heap -q --summary "$T/order" | awk -F'\t' 'NR > 1 { print $10 }' >"$T/got"
sort -rn "$T/got" >"$T/want"
same '... and the summary' "$T/got" "$T/want"
equal 'a heading for the peak of heaps, another for that of the whole' "$(nsysx-heap --peak --table "$step" | head -n 1 | awk '{ print $4 }') $(nsysx-heap --summary --table "$step" | head -n 1 | awk '{ print $9, $10 }')" \
	'heap_peak heap_peak whole_peak'
equal '--stacks has all frames' "$(nsysx-heap --at-peak --stacks "$step" | awk -F'\t' '$7 == "dot.1" { print $9; exit }')" \
	'train.py:10[main];model.py:20[layer]'
equal '--json has the same rows' "$(nsysx-heap --peak --json "$step" | python3 -c 'import json, sys; print([r["peak"] for r in json.load(sys.stdin)])')" '[8000, 5000]'
equal '--table has units' "$(nsysx-heap --peak --table "$step" | awk 'NR == 2 { print $4, $5 }')" '8.000 kB'
nsysx-heap --peak -o "$T/out" "$step"
same '-o' "$T/out" "$T/peak"

# ---- memories ----
ok 'a dump with memories is encoded' make_dump memory "$T/mix"
head='id\tname\tmemory\targuments\toutputs\taliased\tconstants\ttemp\theap\tpeak\tfragmentation\treserved\n'
rows "$head"'8\tjit_mix\tdevice\t100\t150\t100\t7\t64\t60\t217\t4\t221\n8\tjit_mix\thost\t11\t0\t0\t0\t30\t18\t29\t12\t41\n' >"$T/want"
rows '8\tjit_mix\tS(9)\t0\t0\t0\t3\t0\t0\t3\t0\t3\n' >>"$T/want"
golden '--summary has a row for each memory' "$T/want" nsysx-heap --summary "$T/mix"
equal 'no diags' "$(cat "$T_private/err")" ''
equal '--peak names the memory of each trace' "$(nsysx-heap --peak "$T/mix" | cut -f 3,4,6 | tr '\t\n' ': ')" 'trace:peak:memory 0:60:device 1:9:host 2:9:host '
rows "$head"'12\tjit_step\tdevice\t0\t0\t0\t0\t0\t13000\t13000\t-13000\t0\n' >"$T/want"
golden 'without allocations --summary has what traces contain' "$T/want" nsysx-heap --summary "$step"

# ---- with arguments, results and constants ----

# Sums by kind of --at-peak --arguments, and those of --summary: arguments alone and as results, results, constants, heap.
sums_of_rows() { awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { s[$at["kind"]] += $at["size"] }
	END { print s["argument"] + s["argument,output"], s["output"] + s["argument,output"], s["argument,output"] + 0, s["constant"] + 0, s["temp"] + 0 }'; }
sums_of_summary() { awk -F'\t' 'NR > 1 { for (i = 4; i <= 7; i++) s[i] += $i; s[8] += $9 } END { print s[4] + 0, s[5] + 0, s[6] + 0, s[7] + 0, s[8] + 0 }'; }
equal '--arguments: rows add up to the sums' "$(nsysx-heap -q --at-peak --arguments "$T/mix" | sums_of_rows)" "$(nsysx-heap -q --summary "$T/mix" | sums_of_summary)"
equal '... which are these' "$(nsysx-heap -q --at-peak --arguments "$T/mix" | sums_of_rows)" '111 150 100 10 78'
equal '... without a trace, before those of traces' "$(nsysx-heap -q --at-peak --arguments "$T/mix" | awk -F'\t' 'NR > 1 { print ($3 == "") ":" ($4 == "temp") }' | uniq | tr '\n' ' ')" '1:0 0:1 '
fails '--arguments alone' 2 '--arguments goes with --at-peak' nsysx-heap --arguments "$T/mix"
protoc -I heap --encode=Dump heap/dump.proto <heap/arguments.textproto >"$T/arguments"
rows 'id\tname\ttrace\tkind\tbuffer\tsize\tshare\tinstruction\top_name\tsource\n' >"$T/want"
rows '5\tjit_f\t\targument,output\t2\t600\t0.6\tp.1\tstate\t\n5\tjit_f\t\targument\t3\t100\t0.1\tp.2\tbatch\t\n5\tjit_f\t0\ttemp\t4\t300\t0.3\tadd.3\tjit(f)/add\t\n' >>"$T/want"
golden '... with the name of the parameter, and shares of the whole peak' "$T/want" nsysx-heap --at-peak --arguments "$T/arguments"

# ---- of the memory of a device ----
printf '#nsysx\t2\n#device\tdevice:i\tprofile:i\tmemory:i\ndevice\t0\t0\t2000\ndevice\t1\t0\t1000\n#end\trecords:i\nend\t2\n' >"$T/devices"
equal '--job: what of the smallest memory is needed, of device memory' "$(nsysx-heap --summary --job "$T/devices" "$T/mix" | awk -F'\t' '{ print $3, $12, $13, $14 }' | tr '\n' ';')" \
	'memory reserved capacity share;device 221 1000 0.221;host 41  ;S(9) 3  ;'
says_it() { nsysx-heap --table --summary --job "$T/devices" "$T/mix" | tail -n 1; }
equal '... in a sentence' "$(says_it)" 'the largest program needs 0.0 MB of 0.0 GB of a device (22.1%)'
sed 's/2000$//; s/1000$//' "$T/devices" >"$T/unknown"
equal '... a warning where it is not recorded' "$(nsysx-heap --summary --job "$T/unknown" "$T/mix" 2>&1 >"$T/null" | grep -c 'how much memory its devices have is not recorded')" 1
fails '--job alone' 2 '--job goes with --summary' nsysx-heap --job "$T/devices" "$T/mix"
fails 'a stream that is not there' 1 "$T/absent" nsysx-heap --summary --job "$T/absent" "$T/mix"
if [ -x "$SYNTH" ]; then
	"$SYNTH" -q -o "$T/sized"
	equal 'the memory of a device is that of the export' "$(nsysx-extract -q "$T/sized/r0.sqlite" | nsysx-view -q -t device | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["memory"] }')" 85899345920
fi

# ---- several, folders, compressed ----
rows 'id\tname\ttrace\tpeak\tpoints\tmemory\n3\tjit_init\t0\t1000000\t3\tdevice\n12\tjit_step\t0\t8000\t5\tdevice\n12\tjit_step\t1\t5000\t2\tdevice\n' >"$T/peaks"
golden 'the largest peak comes first' "$T/peaks" nsysx-heap --peak "$step" "$big"
: >"$dumps/module_0012.jit_step.before_optimizations.hlo.pb"
: >"$dumps/module_0012.jit_step.sm_9.0_gpu_after_optimizations.txt"
golden 'of a folder, dumps of optimized programs are read' "$T/peaks" nsysx-heap --peak "$dumps"
xz -k "$step"
zstd -q "$big"
golden 'a dump that is also there compressed is read once' "$T/peaks" nsysx-heap --peak "$dumps"
rm "$step" "$big"
golden 'compressed dumps are read' "$T/peaks" nsysx-heap --peak "$dumps"
equal 'curves of a folder are sorted by id' "$(nsysx-heap "$dumps" | cut -f1 | uniq | tr '\n' ' ')" 'id 3 12 '
xz -d <"$step.xz" >"$T/step"
nsysx-heap --peak <"$T/step" >"$T/out"
same 'standard input' "$T/out" "$T/peak"
nsysx-heap --peak - <"$step.xz" >"$T/out"
same 'standard input, compressed' "$T/out" "$T/peak"

# ---- empty results, and refusals ----
mkdir "$T/none"
ok 'an empty folder' nsysx-heap --peak "$T/none"
equal '... a header' "$(cat "$T_private/out")" 'id	name	trace	peak	points	memory'
equal '... a warning' "$(cat "$T_private/err")" "nsysx-heap: warning: $T/none: no dump of an optimized program in this folder"
printf 'hlo_module { name: "jit_f" id: 1 computations { name: "main" id: 1 } }' | protoc -I heap --encode=Dump heap/dump.proto >"$T/bare"
ok 'a dump without a trace' nsysx-heap "$T/bare"
equal '... a warning' "$(cat "$T_private/err")" 'nsysx-heap: warning: programs without a heap trace in their dump'
ok 'a dump without any memory' nsysx-heap --summary "$T/bare"
equal '... a warning' "$(cat "$T_private/err")" 'nsysx-heap: warning: programs without a buffer assignment in their dump'
nsysx-heap --peak "$T/bare" "$T/step" >"$T/out" 2>"$T/err"
equal 'beside other dumps it is no warning' "$(cat "$T/err")" ''
head -c 150 "$T/step" >"$T/cut"
fails 'a truncated dump' 1 "nsysx-heap: $T/cut: " nsysx-heap -o "$T/left" "$T/cut"
ok '... no output is left' test ! -e "$T/left"
fails 'a file that is not a dump' 1 'heap.sh: ' nsysx-heap --at-peak heap.sh
fails 'one invalid dump of several' 1 "$T/cut" nsysx-heap --peak "$T/step" "$T/cut"
fails 'a missing file' 1 "$T/absent: No such file" nsysx-heap "$T/absent"
fails 'a full disk' 1 '/dev/full' nsysx-heap -o /dev/full "$T/step"
fails 'two forms' 2 'exclude each other' nsysx-heap --peak --at-peak "$T/step"
fails 'two other forms' 2 'exclude each other' nsysx-heap --summary --peak "$T/step"
fails '--stacks alone' 2 'goes with --at-peak' nsysx-heap --stacks "$T/step"

# ---- a generated job with known peaks ----
if [ -x "$SYNTH" ] && "$SYNTH" -o "$T/job" && [ -s "$T/job/answers/heap.tsv" ]; then
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print $at["program_id"], $at["name"], $at["trace"], $at["peak"], $at["points"], $at["memory"] }' "$T/job/answers/heap.tsv" | sort -u >"$T/want"
	nsysx-heap --peak "$T/job/dump0" 2>/dev/null | awk -F'\t' 'NR > 1 { print $1, $2, $3, $4, $5, $6 }' | sort -u >"$T/got"
	same 'peaks, points and memories of the generated job' "$T/got" "$T/want"
	sed 1d "$T/job/answers/memory.tsv" | sort >"$T/want"
	nsysx-heap --summary "$T/job/dump0" | sed 1d | cut -f 1-11 | sort >"$T/got"
	same 'all memory of the generated job' "$T/got" "$T/want"
	"$SYNTH" -q -o "$T/jax" --seed 3 --processes 1 --steps 2 --xspace
	for form in --peak --summary --at-peak; do
		nsysx-heap -q --tsv $form "$T/jax/dump0" | sort >"$T/want"
		nsysx-heap -q --tsv $form "$T/jax/r0.xplane.pb" | sort >"$T/got"
		same "a profile of JAX, whose programs are those of the dumps: $form" "$T/got" "$T/want"
	done
	gzip -c "$T/jax/r0.xplane.pb" >"$T/jax.gz"
	nsysx-heap -q --tsv --at-peak "$T/jax.gz" | sort >"$T/got.gz"
	same '... in gzip' "$T/got.gz" "$T/got"
	head -c 9000 "$T/jax/r0.xplane.pb" >"$T/jax.cut"
	fails '... cut off' 1 'not an XSpace, or cut off' nsysx-heap "$T/jax.cut"
	fails 'an HLO dump is no profile' 1 'not a profile that nsysx reads' nsysx-extract "$T"/jax/dump0/module_0001*after*.hlo.pb
	sed 1d "$T/job/answers/memory.tsv" | sort >"$T/want"
	nsysx-heap --summary "$T/job/dump0" | sed 1d | sort >"$T/got"
	equal 'the job has several memories' "$(cut -f3 "$T/got" | sort -u | tr '\n' ' ')" 'device host '
else
	skip 'peaks and points of the generated job' 'there is no nsysx-synth that writes dumps'
fi
done_testing
