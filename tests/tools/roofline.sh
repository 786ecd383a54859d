#!/bin/sh
# nsysx-roofline: times of instructions compared with limits of the hardware. Expected results are derived beside the streams.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"

# The table of nsysx-roofline ARGS equals standard input.
is() {
	claim=$1
	shift
	table_is "$claim" nsysx-roofline -q --tsv "$@"
}
# Warnings of nsysx-roofline ARGS, joined by |.
warned() { nsysx-roofline "$@" 2>&1 >"$T/got" | sed 's/.*warning: //' | paste -sd'|' -; }

devices='#device device:i profile:i pid:i name:s known:i sms:i clock:i mem_bandwidth:i cc:i'
insts='#inst program:i inst:i name:s opcode:s comm:i op_name:s flops:i math:s vector:i mem_bytes:i'
head_of() {
	cat <<END
#profile profile:i name:s
profile 0 r0
$devices
device 0 0 1 Some_GPU 1 - - - -
device 1 0 1 Some_GPU 1 - - - -
#program program:i id:i name:s key:s
program 0 7 step step@7
program 1 9 tiny tiny@9
$insts
END
}
events='#module profile:i program:i execution:i device:i start:i dur:i thunks:i
#thunk profile:i program:i execution:i device:i inst:i occurrence:i name:s start:i dur:i comm:i'

# ---- tables. At 1 TFLOP/s, 0.1 of f32 and 10 GB/s one ns is 1000 operations, 100 of scalar units, 10 bytes.

p='--peak bf16=1,f32=0.1 --bandwidth 10'
{
	head_of
	# Minimum time on matrix units, scalar units, of memory: dot 1000 10 500; add - 20 300; exp - 500 100; tie 100 100 100; even - 100 100.
	cat <<END
inst 0 0 dot fusion 0 j/dot 1000000 bf16 1000 5000
inst 0 1 add fusion 0 j/add 0 - 2000 3000
inst 0 2 exp fusion 0 - 0 - 50000 1000
inst 0 3 ar all-reduce 1 - - - - -
inst 0 4 sort sort 0 j/sort - - - -
inst 0 5 tie fusion 0 j/dot 100000 bf16 10000 1000
inst 0 6 nil fusion 0 - 0 - 0 0
inst 0 7 even fusion 0 - 0 - 10000 1000
inst 1 0 copy copy 0 - 0 - 0 4000
$events
module 0 0 0 0 0 4000 9
thunk 0 0 0 0 0 0 dot 0 1500 0
module 0 0 0 1 0 6000 4
thunk 0 0 0 1 0 0 dot 0 1500 0
thunk 0 0 0 1 0 1 dot 1500 1250 0
thunk 0 0 0 0 1 0 add 1500 400 0
thunk 0 0 0 0 2 0 exp 1900 400 0
thunk 0 0 0 0 3 0 ar 2300 9000 1
thunk 0 0 0 0 4 0 sort 2400 300 0
thunk 0 0 0 0 5 0 tie 2700 200 0
thunk 0 0 0 1 0 2 dot 2750 750 0
thunk 0 0 0 0 6 0 nil 2900 50 0
thunk 0 0 0 0 7 0 even 2950 0 0
thunk 0 0 0 1 1 0 add 3500 350 0
module 0 1 0 0 7000 1000 2
thunk 0 1 0 0 0 0 copy 7000 100 0
thunk 0 1 0 0 0 1 copy 7100 100 0
END
} | stream _ >"$T/s"

cat >"$T/by_inst" <<'END'
id program name opcode math bound count total limit headroom efficiency flops vector bytes intensity tflops gbps share note op_name gain
7 step dot fusion bf16 matrix 4 5000 4000 1000 0.8 1000000 1000 5000 200 0.8 4 0.724637681159 - j/dot 0
7 step add fusion - memory 2 750 600 150 0.8 0 2000 3000 0.666666666667 0.00533333333333 8 0.108695652174 - j/add 0
7 step tie fusion bf16 matrix 1 200 100 100 0.5 100000 10000 1000 100 0.5 5 0.0289855072464 - j/dot 75
7 step nil fusion - memory 1 50 0 50 0 0 0 0 - 0 0 0.00724637681159 - - 50
7 step exp fusion - vector 1 400 500 0 1 0 50000 1000 50 0.125 2.5 0.0579710144928 peak - 0
9 tiny copy copy - memory 2 200 800 0 1 0 0 4000 0 0 40 0.0289855072464 cache - 0
7 step even fusion - vector 1 0 100 0 - 0 10000 1000 10 - - 0 peak - 0
7 step sort sort - - 1 300 - - - - - - - - - 0.0434782608696 unmodelled j/sort -
END
is 'a row per instruction' $p "$T/s" <"$T/by_inst"
head -n 4 "$T/by_inst" >"$T/first"
is '--top cuts' --top 3 $p "$T/s" <"$T/first"
is 'by opcode and math' --by opcode $p "$T/s" <<'END'
opcode math instructions count total modelled limit headroom efficiency flops bytes tflops gbps share gain
fusion bf16 2 5 5200 5200 4100 1100 0.788461538462 4100000 21000 0.788461538462 4.03846153846 0.753623188406 75
fusion - 4 5 1200 1200 1200 200 0.833333333333 0 8000 0 6.66666666667 0.173913043478 50
sort - 1 1 300 0 0 0 - 0 0 - - 0.0434782608696 0
copy - 1 2 200 200 800 0 1 0 8000 0 40 0.0289855072464 0
END
is 'by op_name' --by op-name $p "$T/s" <<'END'
op_name instructions count total modelled limit headroom efficiency flops bytes tflops gbps share gain
j/dot 2 5 5200 5200 4100 1100 0.788461538462 4100000 21000 0.788461538462 4.03846153846 0.753623188406 75
j/add 1 2 750 750 600 150 0.8 0 6000 0 8 0.108695652174 0
- 4 5 650 650 1400 50 0.923076923077 0 10000 0 15.3846153846 0.0942028985507 50
j/sort 1 1 300 0 0 0 - 0 0 - - 0.0434782608696 0
END
is 'by program' --by program $p "$T/s" <<'END'
id program key executions time compute modelled matrix vector memory limit headroom efficiency share flops tflops hfu
7 step step@7 2 10000 6700 6400 5200 400 800 5300 1300 0.796875 0.955223880597 4100000 0.41 0.41
9 tiny tiny@9 1 1000 200 200 0 0 200 800 0 1 1 0 0 0
END
is 'points' --points $p "$T/s" <<'END'
id program name opcode math bound intensity tflops gbps peak bandwidth total
7 step dot fusion bf16 matrix 200 0.8 4 1 10 5000
7 step add fusion vector memory 0.666666666667 0.00533333333333 8 0.1 10 750
7 step tie fusion bf16 matrix 100 0.5 5 1 10 200
7 step exp fusion vector vector 50 0.125 2.5 0.1 10 400
7 step even fusion vector vector 10 - - 0.1 10 0
END

# ---- sentences

nsysx-roofline -q --table $p "$T/s" | sed '1,9d' >"$T/got"
cat >"$T/want" <<'END'
step@7: matrix-bound in 81% of its time, at 79.7% of the limit; headroom 650 ns per execution, 650 ns of it in the first 5 rows; HFU 41.0% of the time of executions; 4.5% without a limit: sort
look first at tie, gain 38 ns per execution
tiny@9: memory-bound in 100% of its time, at 100.0% of the limit; headroom 0 ns per execution, 0 ns of it in the first 5 rows; HFU 0.0% of the time of executions
rows faster than memory allows (cache): 1; data stayed in caches, or less was moved than modelled
rows faster than the peak (peak): 2; the clock is above the table's, or --peak is wrong
rows whose work is not modelled (unmodelled): 1
HFU counts all operations that ran, including rematerialised ones, and the time between kernels of an execution, not that between executions; nsysx-summary --by scope has those of the kernels' time, and an mfu without rematerialised ones; that of the model's own count of FLOPs is not in HLO
the stream holds no diags
END
same 'sentences about programs below an aligned table' "$T/want" "$T/got"
# Six rows with a limit of 100 ns that take 6000 to 1000 ns longer: 21000, of which 20000 in five.
{
	head_of
	for i in 0 1 2 3 4 5; do echo "inst 0 $i i$i copy 0 - 0 - 0 1000"; done
	echo "$events"
	echo 'module 0 0 0 0 0 30000 6'
	for i in 0 1 2 3 4 5; do echo "thunk 0 0 0 0 $i 0 i$i $i $((100 + 1000 * (6 - i))) 0"; done
} | stream _ >"$T/six"
equal 'the headroom of the first rows' "$(nsysx-roofline -q --table $p "$T/six" | grep -o 'headroom .* rows')" \
	'headroom 21.00 us per execution, 20.00 us of it in the first 5 rows'
equal '... not below points' "$(nsysx-roofline -q --table --points $p "$T/s" | wc -l)" 7
equal '... not in other forms' "$(nsysx-roofline -q --json --by program $p "$T/s" | grep -c HFU)" 0

# Two layers of 250 ns each, one of 300: at a limit of 100 ns gains are 125 each, and 175.
{
	head_of
	echo 'inst 0 0 a fusion 0 j/layers.0/mul[axis=(1,)] 0 - 0 1000'
	echo 'inst 0 1 b fusion 0 j/layers.1/mul[axis=(2,)] 0 - 0 1000'
	echo 'inst 0 2 c fusion 0 j/head 0 - 0 1000'
	echo "$events"
	echo 'module 0 0 0 0 0 1000 3'
	echo 'thunk 0 0 0 0 0 0 a 0 250 0'
	echo 'thunk 0 0 0 0 1 0 b 250 250 0'
	echo 'thunk 0 0 0 0 2 0 c 500 300 0'
} | stream _ >"$T/layers"
equal 'many that are alike, and the one with the largest gain' "$(nsysx-roofline -q --table $p "$T/layers" | grep '^look first')" \
	'look first at 2 instructions of op_name j/layers.#/mul, gain 250 ns per execution (--by op-name --names=digits); of single ones at c, gain 175 ns'
is '... are a row' --by op-name --names digits $p "$T/layers" <<'END'
op_name instructions count total modelled limit headroom efficiency flops bytes tflops gbps share gain
j/layers.#/mul[axis=(#,)] 2 2 500 500 200 300 0.4 0 2000 0 4 0.625 250
j/head 1 1 300 300 100 200 0.333333333333 0 1000 0 3.33333333333 0.375 175
END
equal '... in full two' "$(nsysx-roofline -q --tsv --by op-name --names=full $p "$T/layers" | wc -l)" 4
sed 's/layers\.\([01]\)/while[\1]/; s/axis=(\([12]\),)/axes=[\1]/' "$T/layers" >"$T/brackets"
equal 'only the last brackets are options' "$(nsysx-roofline -q --table $p "$T/brackets" | grep -o '^look first.*, gain 250')" \
	'look first at 2 instructions of op_name j/while[#]/mul, gain 250'
# b has an op_name at a further location alone, which is not that of the row, whatever form names have.
{
	sed 's/\(inst	0	1	b	fusion	0	\)[^	]*/\1/; /^#*end/d' "$T/layers" | awk '
		/^#module/ { print "#loc\tprogram:i\tinst:i\top_name:s"; print "loc\t0\t1\tj/layers.1/mul[axis=(2,)]" } { print }'
} >"$T/located"
sed 's/\(inst	0	1	b	fusion	0	\)[^	]*/\1/' "$T/layers" >"$T/unlocated"
for names in full digits; do
	nsysx-roofline -q --partial --tsv --by op-name --names $names $p "$T/unlocated" >"$T/want"
	nsysx-roofline -q --partial --tsv --by op-name --names $names $p "$T/located" >"$T/got"
	same "--names $names: a further location gives no op_name" "$T/want" "$T/got"
done
stream >"$T/far" <<'END'
#device device:i profile:i
device 0 0
#program program:i id:i name:s key:s
program 0 7 step step@7
#thunk device:i program:i execution:i inst:i start:i dur:i
thunk 0 0 0 1 10 2305843009213693953
END
nsysx-roofline --tsv "$T/far" >"$T/got" 2>"$T/err"
equal 'thunks beyond reach are ignored, not lacking' "$(grep -c 'beyond 73 years' "$T/err") $(grep -c 'no thunk records' "$T/err")" '1 0'
fails '--names without op-name' 2 '--names goes with --by op-name' nsysx-roofline --names digits --by opcode "$T/layers"

# ---- the same for any encoding and order of records

for by in '' '--by opcode' '--by op-name' '--by program' --points --peaks; do
	nsysx-roofline -q $by $p "$T/s" >"$T/a"
	nsysx-view -b "$T/s" | nsysx-roofline -q $by $p -o "$T/b"
	same "binary gives the same: ${by:-by instruction}" "$T/a" "$T/b"
	{ grep -v '^thunk\|^module\|end' "$T/s"; grep '^thunk\|^module' "$T/s" | tac; sed -n '/^#end/,$p' "$T/s"; } >"$T/back"
	nsysx-roofline -q $by $p "$T/back" >"$T/b"
	same "records in another order give the same: ${by:-by instruction}" "$T/a" "$T/b"
done
equal 'JSON' "$(nsysx-roofline -q --json $p "$T/s" | head -n 2 | tail -n 1 | cut -c 1-71)" '{"id": 7, "program": "step", "name": "dot", "opcode": "fusion", "math":'

# ---- two kinds of devices: 20.48 TFLOP/s and 1 GB/s, 20.48 and 1000. 20480000 operations take 1000 ns, 10000 bytes 10000 and 10.

one='#program program:i id:i name:s key:s
program 0 7 f f@7'
{
	cat <<END
#profile profile:i name:s
profile 0 r0
$devices
device 5 0 1 A 1 10 1000000000 1000000000000 80
device 3 0 1 B 1 10 1000000000 1000000000 80
$one
$insts
inst 0 0 dot fusion 0 - 20480000 bf16 0 10000
$events
thunk 0 0 0 5 0 0 dot 0 2000 0
thunk 0 0 0 3 0 0 dot 0 20000 0
thunk 0 0 0 5 0 1 dot 2000 2000 0
END
} | stream _ >"$T/two"
equal 'each execution counts for its device, the bound is that of the lowest number' "$(nsysx-roofline -q --tsv "$T/two" | awk -F'\t' 'NR == 2 { print $6, $7, $8, $9, $10 }')" 'memory 3 24000 12000 12000'
equal '... also with --points' "$(nsysx-roofline -q --tsv --points "$T/two" | awk -F'\t' 'NR == 2 { print $10, $11 }')" '20.48 1'

# ---- peaks

# gpus LINE...: peaks of devices: name sms clock mem_bandwidth cc; f8 bf16 f32 of each with their sources.
gpus() {
	{ printf '#profile profile:i name:s\nprofile 0 r0\n%s\n' "$devices"; for d; do echo "$d"; done | awk '{ print "device", NR, 0, 1, $1, 1, $2, $3, $4, $5 }'; } | stream _ >"$T/gpus"
	nsysx-roofline -q --tsv --peaks $o "$T/gpus" | awk -F'\t' 'NR > 1 && $3 ~ /^(f8|bf16|f32)$/ { printf "%s:%s=%s,%s %s,%s;", $1, $3, $4, $7, $6, $8 }'
}
o=
equal 'all values from the export; matrix units below its clock' "$(gpus 'NVIDIA_H100_80GB_HBM3 132 1980000000 3352320000000 90')" \
	'1:f8=1978.85952,export 3352.32,export;1:bf16=989.42976,export 3352.32,export;1:f32=66.90816,export 3352.32,export;'
equal 'all values from the table, by name in any case' "$(gpus 'nvidia_a100-sxm4-80gb - - - -')" '1:bf16=311.86944,table 2039.04,table;1:f32=19.49184,table 2039.04,table;'
equal 'some values from the export' "$(gpus 'NVIDIA_A100-SXM4-40GB 54 - 1000000000 -')" '1:bf16=155.93472,table 1,export;1:f32=9.74592,table 1,export;'
equal 'zeros and negative values are absent' "$(gpus 'NVIDIA_A100-SXM4-40GB 0 -5 0 -1')" '1:bf16=311.86944,table 1555.2,table;1:f32=19.49184,table 1555.2,table;'
equal 'an unknown GeForce accumulates at half the rate' "$(gpus 'NVIDIA_GeForce_RTX_3060 28 1777000000 360048000000 86')" \
	'1:bf16=25.475072,export 360.048,export;1:f32=12.737536,export 360.048,export;'
equal 'a name within a word does not match' "$(gpus 'NVIDIA_L400 - - - -' 'XA100 - - - -' 'GB2000 - - - -' 'A100x - - - -')" ''
equal 'an unknown compute capability has no peaks' "$(gpus 'New_GPU 100 1000000000 1000000000 130')" ''
o='--peak f8=7,bf16=989.4 --peak f32=3 --bandwidth 0.5'
equal 'options have precedence, on any device' "$(gpus 'NVIDIA_H100_80GB_HBM3 132 1980000000 3352320000000 90' 'New_GPU - - - -')" \
	'1:f8=7,option 0.5,option;1:bf16=989.4,option 0.5,option;1:f32=3,option 0.5,option;2:f8=7,option 0.5,option;2:bf16=989.4,option 0.5,option;2:f32=3,option 0.5,option;'
o=
gpus 'NVIDIA_L4 - - - -' 'NVIDIA_GeForce_RTX_4090 - - - -' >/dev/null
equal '--top cuts, ridges are operations per byte' "$(nsysx-roofline -q --tsv --peaks --top 2 "$T/gpus" | cut -f 3,4,5 | tr '\n\t' '| ')" 'math tflops ridge|f8 242.31936 807.7312|s8 242.31936 807.7312|'

# Every math on a chip of compute capability 8.6, 1 multiprocessor of 1 GHz: f4 and f8 as bf16 (1024 a clock), s8 2048, tf32 512, f64 4, f32 256; and on 7.0:
# bf16, tf32, s8 as f32 (128). 1e6 operations are 1e6 / that many ns.
for cc in 86 70; do
	{
		printf '%s\n' '#profile profile:i name:s' 'profile 0 r0' "$devices" "device 0 0 1 A 1 1 1000000000 1000000000000 $cc" "$one" "$insts"
		n=0
		for m in f4 f8 s8 f16 bf16 tf32 f64 f32; do echo "inst 0 $n $m dot 0 - 1000000 $m 0 0"; n=$((n + 1)); done
		echo "$events"
		for n in 0 1 2 3 4 5 6 7; do echo "thunk 0 0 0 0 $n 0 x $n 1 0"; done
	} | stream _ >"$T/maths.$cc"
done
limits() { nsysx-roofline -q --tsv "$1" | awk -F'\t' 'NR > 1 { printf "%s %.0f\n", $3, $9 }' | sort | paste -sd' ' -; }
equal 'maths that a chip lacks' "$(limits "$T/maths.86")" 'bf16 977 f16 977 f32 3906 f4 977 f64 250000 f8 977 s8 488 tf32 1953'
equal '... as scalar units' "$(limits "$T/maths.70")" 'bf16 7812 f16 977 f32 7812 f4 7812 f64 15625 f8 7812 s8 7812 tf32 7812'
sed 's/	86$/	1/' "$T/maths.86" >"$T/maths.none"
equal '... except on chips of unknown compute capability' "$(nsysx-roofline -q --tsv --peak bf16=1 "$T/maths.none" | awk -F'\t' 'NR > 1 && $9 != "" { print $3, $9, $19 }')" 'bf16 1000 peak'

# ---- unknown values

equal 'without a peak: no limit, but work' "$(nsysx-roofline -q --tsv --peak f32=1 --bandwidth 10 "$T/s" | awk -F'\t' '$3 == "dot" { print $6 "|" $9 "|" $10 "|" $11 "|" $12 "|" $16 "|" $19 }')" \
	'||||1000000|0.8|no-peak'
equal '... a warning' "$(warned --peak f32=1 --bandwidth 10 "$T/s")" 'Some GPU: devices of unknown peak, no limits of matrix operations: give --peak (2)'
equal '... without HFU' "$(nsysx-roofline -q --tsv --by program --peak f32=1 --bandwidth 10 "$T/s" | awk -F'\t' 'NR == 2 { print $7, $15, $17 "." }')" '1200 4100000 .'
equal 'without a peak of scalar units: the limit of the rest' "$(nsysx-roofline -q --tsv --peak bf16=1 --bandwidth 10 "$T/s" | awk -F'\t' '$3 == "exp" { print $6, $9 }')" 'memory 100'
equal 'without a bandwidth: no limit' "$(nsysx-roofline -q --tsv --peak bf16=1,f32=1 "$T/s" | awk -F'\t' 'NR > 1 { print $9 $19 }' | sort -u | paste -sd' ' -)" 'no-peak unmodelled'
equal '... a warning' "$(warned --peak bf16=1,f32=1 "$T/s")" 'Some GPU: devices of unknown memory bandwidth, no limits: give --bandwidth (2)'
{
	head_of
	cat <<END
inst 0 0 flops fusion 0 - 1000 bf16 - -
inst 0 1 bytes fusion 0 - - - - 1000
inst 0 2 negative fusion 0 - 1000 bf16 0 -1
inst 0 3 unknown fusion 0 - 1000 f7 0 1000
inst 0 4 nameless fusion 0 - 1000 - 0 1000
inst 0 5 good fusion 0 - 0 f7 0 1000
inst 0 6 none fusion 0 - - - - -
$events
END
	for i in 0 1 2 3 4 5 6; do echo "thunk 0 0 0 0 $i 0 x $i 100 0"; done
	echo 'thunk 0 0 0 0 0 1 x 7 - 0'
	echo 'thunk 0 0 0 0 0 2 x 7 -5 0'
	echo 'module 0 0 0 0 8 - 1'
	echo 'thunk 0 0 0 0 99 0 x 8 3 0'
	echo 'thunk 0 0 0 7 5 0 x 9 100 0'
} | stream _ >"$T/odd"
equal 'work that is incomplete, negative or of an unknown math is not modelled' "$(nsysx-roofline -q --tsv $p "$T/odd" | awk -F'\t' 'NR > 1 { print $3, $12 $13 $14, $19 }' | sort | paste -sd'|' -)" \
	'  unmodelled|bytes  unmodelled|flops  unmodelled|good 001000 |nameless  unmodelled|negative  unmodelled|none  unmodelled|unknown  unmodelled'
equal '... a warning, as for missing durations' "$(warned $p "$T/odd")" \
	'instructions whose work is incomplete, negative or of an unknown type of math: taken as not modelled (5)|thunks without a duration: ignored (2)|modules without a duration: ignored'
equal 'a device without a record uses the options' "$(nsysx-roofline -q --tsv $p "$T/odd" | awk -F'\t' '$3 == "good" { print $7, $8, $9 }')" '2 200 200'
ok '... in sentences' nsysx-roofline --table $p "$T/odd"
sed 's/:i	op_name:s.*/:i/; /^inst/s/^\(\([^	]*	\)\{5\}[^	]*\).*/\1/' "$T/s" >"$T/bare"
run nsysx-roofline --tsv $p "$T/bare"
equal 'a stream without columns of work: status 0' "$status" 0
equal '... no instruction has a limit' "$(awk -F'\t' 'NR > 1 { print $19 }' "$T_private/out" | sort -u)" unmodelled
equal '... a warning' "$(sed 's/.*warning: //' "$T_private/err")" 'no instruction has flops, vector or mem_bytes: extract with -x DIR'
equal '... instructions are counted with -v' "$(nsysx-roofline -v $p "$T/s" 2>&1 >/dev/null | grep -c 'instructions whose work is not modelled: without a limit')" 1
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
equal 'a stream without records: a warning' "$(warned --by opcode "$T/empty")" "no thunk records, which come from XLA's NVTX ranges: no instruction to compare with its limit; nsysx-summary --by kernel works without them"
for by in '' '--by opcode' '--by op-name' '--by program' --points --peaks; do
	equal "... only a header: ${by:-by instruction}" "$(nsysx-roofline -q --tsv $by "$T/empty" | wc -l)" 1
	ok '... in sentences' nsysx-roofline -q --table $by "$T/empty"
done

# ---- sums beyond 64 bits

M=9223372036854775807
{ head_of; echo "inst 0 0 dot fusion 0 - $M bf16 $M $M"; echo "$events"; echo 'module 0 0 0 0 0 1 2'; echo 'thunk 0 0 0 0 0 0 dot 0 1 0'; echo 'thunk 0 0 0 0 0 1 dot 1 1 0'; } | stream _ >"$T/work"
equal 'work of one execution is exact' "$(nsysx-roofline -q --tsv $p "$T/work" | awk -F'\t' 'NR == 2 { print $12, $13, $14 }')" "$M $M $M"
equal 'sums of work are absent' "$(nsysx-roofline -q --tsv --by opcode $p "$T/work" | awk -F'\t' 'NR == 2 { print $10 "|" $11 }')" '|'
equal '... a warning' "$(warned --by opcode $p "$T/work")" 'sums of operations or bytes beyond 64 bits: ignored (2)'
{ head_of; echo "inst 0 0 dot fusion 0 - 1 bf16 1 1"; echo "$events"; for i in 0 1 2 3 4; do echo "thunk 0 0 0 0 0 $i dot 0 $((1 << 61)) 0"; done; } | stream _ >"$T/times"
fails 'times beyond 64 bits' 1 'exceeds 64 bits' nsysx-roofline $p "$T/times"
{ head_of; echo "$events"; for i in 0 1 2 3 4; do echo "module 0 0 $i 0 0 $((1 << 61)) 1"; done; } | stream _ >"$T/times"
fails 'times of modules beyond 64 bits' 1 'exceeds 64 bits' nsysx-roofline --by program $p "$T/times"

# ---- random streams, compared with a computation by fractions

mkdir "$T/tables"
for seed in $(seq 1 "${ROOFLINE_SEEDS:-40}"); do
	python3 roofline/random.py stream "$seed" >"$T/random"
	nsysx-roofline -q --tsv "$T/random" >"$T/tables/inst"
	for by in program opcode; do nsysx-roofline -q --tsv --by $by "$T/random" >"$T/tables/$by"; done
	python3 roofline/random.py hold "$T/random" "$T/tables" 2>&1 | sed "s/^/seed $seed: /"
done >"$T/differs"
equal 'random streams: tables equal those of fractions' "$(head -n 3 "$T/differs")" ''

# ---- merge and align keep known values and absent ones

# report FILE PID COST: a profile of one device and one program, whose dot has that cost (flops math vector mem_bytes).
report() {
	printf '%s\n' '#profile profile:i name:s' "profile 0 r$2" "$devices" "device $2 0 $2 GPU$2 1 ${4:-- - - -}" '#program program:i id:i name:s fingerprint:s key:s' \
		"program 0 ${5:-7} f ${5:-7}a f@${5:-7}" '#inst program:i inst:i name:s opcode:s comm:i flops:i math:s vector:i mem_bytes:i' "inst 0 0 dot fusion 0 $3" \
		'#module profile:i program:i execution:i device:i start:i dur:i host_start:i host_dur:i thunks:i' \
		'#thunk profile:i program:i execution:i device:i inst:i occurrence:i name:s start:i dur:i host_start:i host_dur:i comm:i' \
		"module 0 0 0 $2 10 100 1 5 1" "thunk 0 0 0 $2 0 0 dot 10 100 1 5 0" | stream _ >"$T/$1"
}
# cells FILE KIND NAME...: those columns of records of that kind, absent as -.
cells() {
	file=$1 kind=$2
	shift 2
	nsysx-view --text "$file" | awk -F'\t' -v kind="$kind" -v names="$*" 'BEGIN { n = split(names, name, " ") }
		$1 == "#" kind { for (i = 2; i <= NF; i++) { sub(":.*", "", $i); at[$i] = i } }
		$1 == kind { for (k = 1; k <= n; k++) { v = name[k] in at ? $at[name[k]] : ""; printf "%s%s", v == "" ? "-" : v, k < n ? " " : ";" } }'
}
work() { cells "$1" inst flops math vector mem_bytes; }
report with 1 '1000 bf16 20 500' '132 1980000000 3352320000000 90'
report without 2 '- - - -'
report other 2 '- - - -' '- - - -' 8
report partly 1 '0 - 5 6' '10 - - 80'
for r in with without partly; do
	for tool in align warmup overlap 'view -b' merge; do
		nsysx-${tool} -q "$T/$r" >"$T/through" 2>/dev/null
		alike "$tool of a stream $r: instructions" "$(work "$T/through")" "$(work "$T/$r")"
		alike "$tool of a stream $r: devices" "$(cells "$T/through" device sms clock mem_bandwidth cc)" "$(cells "$T/$r" device sms clock mem_bandwidth cc)"
	done
done
equal '(the columns are present)' "$(work "$T/with")$(work "$T/without")$(work "$T/partly")" '1000 bf16 20 500;- - - -;0 - 5 6;'
sed 's/	flops:i.*//; s/	sms:i.*//; /^inst/s/\(	[^	]*\)\{4\}$//; /^device/s/\(	[^	]*\)\{4\}$//' "$T/without" >"$T/bare"
nsysx-align -q "$T/bare" >"$T/through"
equal 'align of a stream without the columns' "$(work "$T/through")$(cells "$T/through" device sms cc)" '- - - -;- -;'
for bare in other bare; do
	nsysx-merge -q "$T/with" "$T/$bare" >"$T/merged"
	equal "merge of with and $bare: devices" "$(cells "$T/merged" device sms clock mem_bandwidth cc)" '132 1980000000 3352320000000 90;- - - -;'
done
nsysx-merge -q "$T/with" "$T/other" >"$T/merged"
equal 'merge of streams with different programs' "$(work "$T/merged")" '1000 bf16 20 500;- - - -;'
for pair in 'with bare' 'bare with' 'with without'; do
	# shellcheck disable=SC2086  # two names
	set -- $pair
	nsysx-merge "$T/$1" "$T/$2" >"$T/merged" 2>"$T/said"
	equal "merge of $pair: values that one of them has" "$(work "$T/merged")" '1000 bf16 20 500;'
	equal "... without a contradiction" "$(grep -c disagree "$T/said")" 0
done
for cost in '1001 bf16 20 500' '1000 f16 20 500' '1000 bf16 21 500' '1000 bf16 20 501' '0 - 20 500'; do
	report disagrees 2 "$cost"
	nsysx-merge "$T/with" "$T/disagrees" >"$T/merged" 2>"$T/said"
	equal "contradicting dumps ($cost): the first is used" "$(work "$T/merged")" '1000 bf16 20 500;'
	equal '... a warning' "$(grep -c 'dumps disagree on opcode, comm, bytes or work' "$T/said")" 1
done
nsysx-roofline -q "$T/with" >"$T/want"
nsysx-align -q "$T/with" | nsysx-roofline -q >"$T/got"
same 'nsysx-align does not change the table' "$T/want" "$T/got"

# ---- refusals

for peak in bf16=0 foo=3 bf16 =3 bf16= bf16=-1 bf16=x bf16=nan bf16=inf bf16=1e99 '' , bf16=1, ,bf16=1 'bf16=1,foo=3' 'BF16=1' 'bf16=1 '; do
	fails "--peak '$peak'" 2 'want MATH=TFLOPS' nsysx-roofline --peak "$peak" "$T/s"
done
for gbps in 0 -1 x '' nan inf 1e99 10GB; do
	fails "--bandwidth '$gbps'" 2 'want GB/s' nsysx-roofline "--bandwidth=$gbps" "$T/s"
done
for top in -1 x; do fails "--top $top" 2 '--top' nsysx-roofline "--top=$top" "$T/s"; done
fails 'an unknown --by' 2 '--by' nsysx-roofline --by thunk "$T/s"
nsysx-roofline -q --tsv --all -o "$T/all-%" "$T/s"
nsysx-roofline -q --tsv "$T/s" >"$T/want"
same '--all: the table' "$T/want" "$T/all-roofline"
nsysx-roofline -q --tsv --points "$T/s" >"$T/want"
same '... and the points' "$T/want" "$T/all-points"
fails '--all and --points' 2 'exclude each other' nsysx-roofline --all --points -o "$T/all-%" "$T/s"
fails '--all without a % in -o' 2 'want -o FILE with a %' nsysx-roofline --all -o "$T/none" "$T/s"
fails '--by and --points' 2 'exclude each other' nsysx-roofline --by opcode --points "$T/s"
fails '--points and --peaks' 2 'exclude each other' nsysx-roofline --peaks --points "$T/s"
fails 'two forms' 2 'exclude each other' nsysx-roofline --tsv --json "$T/s"
fails 'two files' 2 'one FILE at most' nsysx-roofline "$T/s" "$T/s"
head -c 900 "$T/s" >"$T/cut"
fails 'a stream cut short' 1 'cut short' nsysx-roofline -o "$T/none" "$T/cut"
equal '... without output' "$(find "$T" -name '*none')" "$T/maths.none"
fails '--require without such a record' 1 'no op record' nsysx-roofline --require op -o "$T/none" "$T/s"
fails 'a full disk' 1 '/dev/full' nsysx-roofline -o /dev/full "$T/s"

# Of an instruction one execution is meant, of a program all: the heading tells them apart.
heads() { nsysx-roofline -q --table --wide "$@" "$T/s" | head -n 1 | tr -s ' ' '\n' | grep -e '^flops' -e '^vector' -e '^bytes' | paste -sd' '; }
equal 'work of one execution is headed so' "$(heads)" 'flops_each vector_each bytes_each'
equal 'work of all executions is not' "$(heads --by opcode)" 'flops bytes'
equal 'for people, the time of all instructions of a program is not headed as computation is' \
	"$(nsysx-roofline -q --table --wide --by program $p "$T/s" | head -n 1 | grep -o -e ' compute' -e instructions_total)" instructions_total

done_testing
