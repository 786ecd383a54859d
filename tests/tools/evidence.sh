#!/bin/sh
# nsysx-diagnose: the command of each finding runs as it is printed, on the stream that it names, and what it prints adds up to the number of
# the finding, of steps alone. Each kind of finding that there is occurs here.
. "${0%/*}/../testlib.sh"

[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'
stream() { awk -f host/stream.awk >"$T/$1"; }

# Of a table on standard input, columns by name: an awk program for each row in which at("COLUMN") is a cell.
rows() {
	awk -F'\t' "function at(name) { if (!(name in col)) { print \"no column \" name; exit } return \$col[name] }
		NR == 1 { for (i = 1; i <= NF; i++) col[\$i] = i; next } $1"
}
# about GOT WANT WITHIN: the share by which they differ is at most that.
about() { awk -v a="$1" -v b="$2" -v w="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a > 0 && d <= w * b + 1e-6) }'; }

# held JOB FILE: each finding of it. N: steps of all devices; gain: ns of all steps.
held() {
	job=$1 file=$2
	shift 2
	nsysx-diagnose -q --tsv --min 0 "$@" "$file" >"$T/findings"
	nsysx-diagnose -q --where --tsv "$@" "$file" >"$T/where"
	n=$(rows '!done++ { print at("count") }' <"$T/where")
	comm=$(rows 'at("part") == "comm" { print at("ns") }' <"$T/where")
	devices=$(nsysx-view -q -t device "$file" | rows '{ print at("device") }' | wc -l)
	equal "$job: commands have nothing that TSV escapes" "$(cut -f 6 "$T/findings" | grep -c '\\')" 0
	# A tab would be white space to read, which passes over empty columns.
	tail -n +2 "$T/findings" | tr '\t' '\037' >"$T/each"
	while IFS=$(printf '\037') read -r _ finding gain _ evidence command subject _; do
		echo "$finding" >>"$T/seen"
		gain=$(awk -v g="$gain" -v n="$n" 'BEGIN { printf "%.0f", g * n }')
		ok "$job: $finding: its command runs" sh -c "$command"
		sh -c "$command" >"$T/shown" 2>/dev/null
		case $finding in
		idle:*) equal "$job: $finding: gaps add up" "$(rows '{ s += at("own") } END { print s }' <"$T/shown")" "$gain" ;;
		blocking)
			# Gaps, then copies that break a rule: those that the host waits for.
			sum=$(awk -F'\t' '$1 == "device" || $1 == "rule" { for (i = 1; i <= NF; i++) col[$i] = i; copies = $1 == "rule"; next }
				!copies { s += $col["blocked"] } copies && $1 != "tiny" && !seen[$col["device"], $col["start"]]++ { s += $col["dur"] } END { print s }' "$T/shown")
			ok "$job: blocking: gaps and copies add up to $gain, $sum" about "$sum" "$gain" 0 ;;
		launch-bound) equal "$job: $finding: adds up" "$(rows '{ s += at("starved") } END { print s }' <"$T/shown")" "$gain" ;;
		layout) equal "$job: $finding: adds up" "$(rows '{ s += at("total") } END { print s }' <"$T/shown")" "$gain" ;;
		roofline) ok "$job: $finding: adds up" about "$(rows '{ s += at("gain") } END { print s }' <"$T/shown")" "$gain" 1e-9 ;;
		copies)
			blocking=$(awk -F'\t' '$2 == "blocking" { print 1 }' "$T/findings")
			sum=$(rows '{ s += at("time") * (1 - at("hidden_share")) } END { printf "%.0f\n", s }' <"$T/shown")
			# What the host waits for is told of as blocking.
			if [ "$blocking" ]; then
				ok "$job: copies: at least $gain, $sum" test "$sum" -ge "$gain"
			else
				ok "$job: copies: add up to $gain, $sum" about "$sum" "$gain" 0.001
			fi ;;
		exposed-communication)
			sum=$(rows 'at("exposed") != "" { s += at("exposed") } END { print s }' <"$T/shown")
			# Without operations no part is known.
			[ "${comm:-0}" = 0 ] || ok "$job: $finding: the whole is $comm, $sum" about "$sum" "$comm" 0.02
			ok "$job: ... of which the gain is a part" test "$sum" -ge "$gain"
			case $subject in
			*communicator*) ;;
			*) ok "$job: ... and $subject is there" grep -qF -e "$subject" "$T/shown" ;;
			esac ;;
		straggler | late-host | late-device | waiting)
			if head -n 1 "$T/shown" | grep -q skew; then
				ok "$job: $finding: the first row names $subject" test "device $(rows '{ print at("straggler"); exit }' <"$T/shown")" = "${subject%%,*}"
				continue
			fi
			# What others waited; where all wait as long, all of them would gain N / (N - 1) of it.
			case $subject in
			'device '*) of="at(\"device\") == ${subject#device }" ;;
			*) of=1 ;;
			esac
			of=$(printf %s "$of" | sed 's/,.*//')
			caused=$(rows "$of { s += at(\"caused\") } END { print s * $devices / ($devices - 1) }" <"$T/shown")
			case $finding:$job in
			straggler:straggler | late-host:late-host | waiting:waiting | late-device:*) ok "$job: $finding: $gain of $caused" about "$gain" "$caused" 0.1 ;;
			# What several wait for is more than what half of them wait for.
			*) ok "$job: $finding: no more than $gain of $caused" awk -v g="$gain" -v c="$caused" 'BEGIN { exit !(g <= c) }' ;;
			esac
			[ "$of" = 1 ] || ok "$job: $finding: the first row is of $subject" test "device $(rows '{ print at("device"); exit }' <"$T/shown")" = "${subject%%,*}" ;;
		slow-collective)
			said=$(printf '%s\n' "$evidence" | sed 's/.* at \([0-9.]*\) GB.*/\1/')
			if head -n 1 "$T/shown" | grep -q transfer; then
				ok "$job: $finding: is at $said GB/s" about "$(rows '{ b += at("bytes"); s += at("transfer"); f = at("busbw") / at("algbw") } END { print b / s * f }' <"$T/shown")" "$said" 0.05
			else
				# An instance is as quick as the quickest of its devices.
				ok "$job: $finding: is at $said GB/s" about "$(rows '{ k = at("execution") FS at("occurrence"); if (!(k in d) || at("dur") < d[k]) d[k] = at("dur")
					f = at("busbw") * at("dur") } END { for (k in d) { s += d[k]; m++ } print f * m / s }' <"$T/shown")" "$said" 0.02
				equal "$job: ... of the steps alone" "$(rows 'END { print NR - 1 }' <"$T/shown")" "$n"
			fi ;;
		costly-overlap) ok "$job: $finding: adds up" about "$(rows 'at("paid") != "" { s += at("paid") } END { print s }' <"$T/shown")" "$gain" 1e-9 ;;
		casts) equal "$job: $finding: adds up" "$(rows 'at("family") == "cast" { s += at("total") } END { print s }' <"$T/shown")" "$gain" ;;
		elementwise | f32-products | flash-attention-2 | unfused-attention) ok "$job: $finding: a part of what is shown" awk -v g="$gain" -v t="$(rows '{ s += at("total") } END { print s }' <"$T/shown")" 'BEGIN { exit !(g > 0 && g < t) }' ;;
		slow-link) ok "$job: $finding: a part of the time of copies" awk -v g="$gain" -v t="$(rows '{ s += at("time") } END { print s }' <"$T/shown")" 'BEGIN { exit !(g > 0 && g < t) }' ;;
		variability) ok "$job: $finding: a step is explained" test "$(wc -l <"$T/shown")" -gt 1 ;;
		*) fail "$job: $finding is held by a test" 'it is not' ;;
		esac
	done <"$T/each"
}

for cause in layout late-host slow-collective straggler blocking; do
	ok "a job is made: $cause" "$SYNTH" -o "$T/$cause" --processes 4 --offset 2000000 --steps 8 --plant $cause
	set --
	for r in 0 1 2 3; do set -- "$@" -x "$T/$cause/dump$r" "$T/$cause/r$r.sqlite"; done
	nsysx-extract -q -a "$@" | nsysx-align -q | nsysx-warmup -q | nsysx-overlap -q -b -o "$T/$cause/it's job.nsysx"
	held $cause "$T/$cause/it's job.nsysx"
done

# NCCL's communicators of all processes and of groups of them, at work at the same time, without steps: a device has no more to save by waiting
# less and communicating less than it is exposed.
ok 'a job is made: NCCL with groups' "$SYNTH" -o "$T/groups" --nccl --schema 3.24.14 --processes 4 --steps 30
nsysx-extract -q -a "$T"/groups/r?.sqlite | nsysx-align -q | nsysx-overlap -q -b -o "$T/groups.nsysx"
most=$(nsysx-idle -q --tsv "$T/groups.nsysx" | rows 'at("part") == "comm" && at("group") == "" { s[at("device")] += at("ns") } END { for (d in s) if (s[d] > m) m = s[d]; print m }')
ok 'NCCL with groups: gains are within what the device is exposed that is exposed most' test "$(nsysx-diagnose -q --tsv --min 0 "$T/groups.nsysx" |
	rows 'at("finding") ~ /^(exposed-communication|slow-collective|straggler|late-host|late-device|waiting)$/ { s += at("gain") } END { printf "%.0f", s }')" -le "$most"
equal '... of waiting and of communication' "$(nsysx-diagnose -q --tsv --min 0 "$T/groups.nsysx" | cut -f 2 | grep -c -x -e waiting -e late-device -e exposed-communication)" 2

# ---- kinds that are not planted: two devices or more on one clock, four executions of 1,000 ns, the last of which is no step that ends

devices() {
	for d in $(seq 0 $(($1 - 1))); do
		echo "profile profile=$d name=r$d"
		echo "device device=$d profile=$d pid=$((d + 1)) last=9000 sms=1 clock=1000000000 mem_bandwidth=1000000000 cc=80"
		echo "clock device=$d profile=$d offset=0 rate=0 ref=0 collectives=9 component=0"
		for k in 0 1 2 3; do echo "module profile=$d program=0 execution=$k device=$d start=$((k * 1000)) dur=900 name=step"; done
	done
	echo 'program program=0 id=7 name=step key=step@7'
}
# thunk INST DEVICE START DUR COMM: in each step.
thunk() {
	for k in 0 1 2 3; do
		echo "thunk profile=$2 program=0 execution=$k device=$2 inst=$1 occurrence=0 name=i$1 start=$((k * 1000 + $3)) dur=$4 hidden=0 comm=$5"
	done
}
collectives() {
	echo "groups groups=1 members=$1"
	for i in 1 2 3; do echo "inst program=0 inst=$i name=i$i opcode=reduce-scatter comm=1 collective=reduce-scatter bytes=1000 groups=1"; done
}
# Names of which a regular expression, a shell or awk would make something else.
for name in i2 'i[2].*' "it's|i2"; do
	{ devices 2; collectives 0,1; thunk 1 0 100 100 1; thunk 1 1 150 50 1; thunk 2 0 300 200 1; thunk 2 1 300 200 1; } | awk -v n="$name" '{ sub(/name=i2 /, "name=" n " ") } 1' | stream slow
	held "late-device, $name" "$T/slow"
done
{ devices 3; collectives 0,1,2; for i in 1 2 3; do for d in 0 1 2; do
	if [ $((i - 1)) = $d ]; then thunk $i $d $((i * 100 + 30)) 50 1; else thunk $i $d $((i * 100)) 80 1; fi; done; done; } | stream turns
held waiting "$T/turns"
# Instructions that move data, among them names that are parts of others; one far from its limit.
{
	devices 1
	echo 'inst program=0 inst=1 name=far opcode=fusion mem_bytes=100 flops=0 vector=0'
	echo 'inst program=0 inst=2 name=turn opcode=transpose mem_bytes=10 flops=0 vector=0'
	echo 'inst program=0 inst=3 name=turn.1 opcode=copy mem_bytes=10 flops=0 vector=0'
	echo 'inst program=0 inst=4 name=turn11 opcode=fusion mem_bytes=100 flops=0 vector=0'
	thunk 1 0 0 200 0; thunk 2 0 200 100 0; thunk 3 0 300 20 0; thunk 4 0 320 110 0
} | stream roof
held 'roofline, layout' "$T/roof"
# More of them than a command lists, beside one whose name is a part of theirs.
{
	devices 1
	for i in $(seq 1 15); do echo "inst program=0 inst=$i name=wrapped_transpose.$i opcode=fusion"; done
	echo 'inst program=0 inst=16 name=transpose_add.1 opcode=fusion'
	for i in $(seq 1 16); do thunk "$i" 0 $((i * 20)) 20 0; done
} | awk '/^thunk/ && !sub(/name=i16 /, "name=transpose_add.1 ") { sub(/name=i/, "name=wrapped_transpose.") } 1' | stream many
held 'many layouts' "$T/many"
# In every other step gemm runs beside a collective of 200 ns, and takes 120 ns longer.
{
	devices 1
	for k in 0 1 2 3 4 5 6 7; do
		b=$((k * 1000))
		[ "$k" -lt 4 ] || echo "module profile=0 program=0 execution=$k device=0 start=$b dur=900 name=step"
		if [ $((k % 2)) = 0 ]; then
			echo "op op=$k type=kernel name=gemm device=0 start=$b dur=300 comm=0"
		else
			echo "op op=$k type=kernel name=gemm device=0 start=$b dur=420 comm=0"
			echo "op op=$((k + 10)) type=kernel name=ncclAll device=0 start=$((b + 100)) dur=200 comm=1"
		fi
	done
} | stream overlap
held 'costly overlap' "$T/overlap"
equal 'costly overlap: what it says' "$(nsysx-diagnose -q --tsv --min 0 "$T/overlap" | awk -F'\t' '$2 == "costly-overlap" { print $5 }')" \
	'51 ns paid for 86 ns hidden in a step: kernels take 40.0% longer beside communication and copies than alone'
# A step of 1,600 ns, named by its program.
{
	echo 'device device=0 last=9000'
	echo 'program program=0 id=7 name=step key=step@7'
	for k in 0 1 2 3 4; do
		b=$((k * 1000 + (k == 4) * 600)) dur=$(((k == 3) * 600 + 800))
		echo "module program=0 execution=$k device=0 start=$b dur=$dur name=step"
		echo "op name=gemm start=$b dur=$dur program=0 execution=$k"
	done
} | stream jitter
held variability "$T/jitter" --module step
# Kernels without XLA: no steps, of which two are launched while the device waits; and layouts by the words in names.
{
	echo 'device device=0 last=5000'
	for k in 0 1 2 3; do
		b=$((k * 1000 + 1000)) c=$((k * 10))
		echo "call call=$((c + 1)) start=$((b - 50)) dur=10 name=cudaLaunchKernel class=launch ops=1"
		echo "op name=dot start=$b dur=800 call=$((c + 1)) tid=1 host_start=$((b - 50)) host_dur=10"
		for i in 0 1; do
			echo "call call=$((c + 2 + i)) start=$((b + 805 + i * 25)) dur=10 name=cudaLaunchKernel class=launch ops=1"
			echo "op name=tiny start=$((b + 815 + i * 25)) dur=10 call=$((c + 2 + i)) tid=1 host_start=$((b + 805 + i * 25)) host_dur=10"
		done
		echo "op name=void~at::elementwise_kernel<(int)128,~at::gpu_kernel_impl_nocast<at::direct_copy_kernel_cuda(int)>>(int) start=$((b + 860)) dur=40"
		echo "op name=void~at::unrolled_kernel<at::direct_copy_kernel_cuda(int)>>(int) start=$((b + 900)) dur=30"
		echo "op name=nchwToNhwcKernel start=$((b + 930)) dur=10"
	done
} | stream tiny
held 'launch-bound, kernels that move data' "$T/tiny"
# NCCL without XLA: communicator a has a slow all-reduce, another one is like it; device 1 comes late to all of them.
for late in 0 5000; do
	{
		echo 'device device=0 last=9000000'
		echo 'device device=1 last=9000000'
		for d in 0 1; do echo "clock device=$d offset=0 rate=0 ref=0 collectives=9 component=0"; done
		for k in 0 1 2 3 4; do for d in 0 1; do
			b=$((k * 1000000))
			echo "range range=$((k * 2 + d + 1)) tid=$((d + 1)) device=$d name=step_$k start=$b dur=900000 host_start=$b host_dur=900000"
			for i in 0 1 2 3 4; do
				echo "call call=$((k * 100 + d * 10 + i + 1)) tid=$((d + 1)) start=$((b + i * 1000)) dur=10 name=cudaLaunchKernel class=launch ops=1"
				[ $i -gt 0 ] || echo "op name=gemm device=$d start=$((b + 20000)) dur=470000 call=$((k * 100 + d * 10 + 1)) tid=$((d + 1)) host_start=$b host_dur=10"
			done
			for i in 1 2 3 4; do
				echo "op name=ncclDevKernel device=$d start=$((b + 400000 + i * 100000 + late * d)) dur=$(($([ $i -ge 3 ] && echo 90000 || echo 20000) - late * d)) call=$((k * 100 + d * 10 + i)) tid=$((d + 1)) host_start=$((b + i * 1000)) host_dur=10 comm=1 collective=all-reduce comm_id=$([ $i = 4 ] && echo b || echo a) group=2 bytes=$([ $i -ge 3 ] && echo 110000 || echo 100000)"
			done
		done; done
	} | stream nccl
	held "NCCL, device 1 later by $late" "$T/nccl"
done

# Families of kernels: attention of FlashAttention 2 and products in f32 on an H100, casts, elementwise kernels in a row, and a copy of 16 MiB in 4 ms.
{
	echo 'device device=0 last=9900000 name=NVIDIA~H100~80GB~HBM3 cc=90'
	at=0 n=0
	for k in 1 2 3 4; do
		for of in 400000:void~flash::flash_fwd_kernel\<x\>\(P\) 200000:ampere_sgemm_32x32_tn 150000:wrapped_convert 150000:at::elementwise_kernel\<4,mul\>\(int\) 190000:at::elementwise_kernel\<4,add\>\(int\); do
			n=$((n + 1))
			echo "op op=$n name=${of#*:} device=0 start=$at dur=${of%%:*}"
			at=$((at + ${of%%:*}))
		done
	done
	echo "op op=$((n + 1)) type=memcpy name=[CUDA~memcpy~Host-to-Device] device=0 start=$at dur=4000000 bytes=16777216 src=pinned dst=device"
} | stream families
sed -i 's/~/ /g' "$T/families"
held families "$T/families"

# Attention kernel by kernel.
{
	echo 'device device=0 last=9900000 name=NVIDIA~H100~80GB~HBM3 cc=90'
	at=0 n=0
	for k in 1 2 3 4; do
		for of in 300000:ampere_bf16_gemm 150000:at::elementwise_kernel\<4,mul\>\(int\) 250000:softmax_warp_forward 300000:ampere_bf16_gemm; do
			n=$((n + 1))
			echo "op op=$n name=${of#*:} device=0 start=$at dur=${of%%:*}"
			at=$((at + ${of%%:*}))
		done
	done
} | stream unfused
sed -i 's/~/ /g' "$T/unfused"
held unfused "$T/unfused"

findings=$(sed -n 's/^FINDING([A-Z0-9_]*, "\([a-z0-9-]*\)".*/\1/p' "$tests_dir/../lib/table/diagnose/findings.def")
ok 'the list of findings is read' test "$(printf '%s\n' "$findings" | wc -w)" -ge 13
for finding in $findings; do
	ok "$finding is among them" grep -q "^$finding\(:\|\$\)" "$T/seen"
done

# ---- nsysx-steps --cut: of each device what begins in its steps but the last

{ devices 2; echo 'inst program=0 inst=1 name=a opcode=fusion'; thunk 1 0 100 50 0; thunk 1 1 950 50 0; echo 'op name=none device=5 start=5 dur=2'; } | stream job
nsysx-steps -q --cut "$T/job" >"$T/cut"
equal 'its steps are those of the stream, less the last' "$(nsysx-view -t module "$T/cut" | rows '{ print at("device"), at("start") }' | sort | tr '\n' ' ')" '0 0 0 1000 0 2000 1 0 1 1000 1 2000 '
equal '... and so is what is in them' "$(nsysx-view -t thunk "$T/cut" | rows '{ print at("device"), at("start") }' | sort | tr '\n' ' ')" '0 100 0 1100 0 2100 1 1950 1 2950 1 950 '
equal '... nothing of another device' "$(nsysx-view -q -t op "$T/cut" | wc -l | tr -d ' ')" 1
equal 'a diag counts what is left out' "$(nsysx-view -t diag "$T/cut" | tail -n 1 | tr '\t' ' ')" 'info nsysx-steps records outside the steps dropped 5'
nsysx-view -b "$T/job" | nsysx-steps -q --cut --text >"$T/piped"
same 'through a pipe, in binary, it is the same' "$T/cut" "$T/piped"
nsysx-steps -q --cut "$T/cut" | nsysx-view -t diag | grep dropped >"$T/file"
# shellcheck disable=SC2002  # a pipe
cat "$T/cut" | nsysx-steps -q --cut | nsysx-view -t diag | grep dropped >"$T/pipe"
equal 'diags of the input pass, and a second cut drops nothing' "$(wc -l <"$T/file" | tr -d ' ')" 1
same '... through a pipe, too' "$T/file" "$T/pipe"
# Steps that are not those by which a stream was cut would have what was left out in their periods.
name=$(nsysx-view -q -t module "$T/cut" | rows '{ print at("name") }' | head -n 1)
for options in --mark --cut; do
	fails "steps $options of a stream that was cut by others" 1 'cut by other steps' nsysx-steps $options --module "$name" -o "$T/all" "$T/cut"
done
ok '... of their table a warning' sh -c 'nsysx-steps --tsv --module "$2" "$1/cut" 2>&1 >/dev/null | grep -q "warning: cut by other steps"' sh "$T" "$name"
nsysx-steps -q --cut --module "$name" -o "$T/named" "$T/job"
ok 'those by which it was cut are marked and cut again' sh -c 'for o in --mark --cut; do nsysx-steps $o --module "$2" "$1/named" 2>"$1/err" | nsysx-view -q -t step | cut -f 3- >"$1/again" && [ "$(grep -c 1$ "$1/again")" -gt 3 ] && ! grep other "$1/err" || exit; done' sh "$T" "$name"
fails 'a name of steps that does not occur' 1 'no range matches nosuch' nsysx-steps --cut --step nosuch -o "$T/all" "$T/job"
fails 'a stream is no table' 2 'options of tables do not go with them' nsysx-steps --cut --tsv "$T/job"
fails 'a table is no stream' 2 'do not go with a table' nsysx-steps -b "$T/job"

# ---- --only: rows by what is in a column

only() { nsysx-summary -q --by thunk --tsv "$@" "$T/roof" | rows '{ print at("name") }' | tr '\n' ' '; }
equal '--only: the text itself' "$(only --only name=turn.1)" 'turn.1 '
equal '... what matches' "$(only --only 'name~^turn')" 'turn11 turn turn.1 '
equal '... a number as TSV has it' "$(only --only total=400)" 'turn '
equal '... what is absent' "$(nsysx-summary -q --by thunk --tsv --only exposed= "$T/slow" | wc -l | tr -d ' ') $(nsysx-summary -q --by thunk --tsv --only op_name= "$T/slow" | wc -l | tr -d ' ')" '1 3'
equal '... all of several' "$(only --only 'name~^turn' --only 'opcode~fus')" 'turn11 '
equal '... before the first N are taken' "$(only --only 'name~n$' --top 1)" 'turn '
fails 'a column that is not there' 2 'no column nme: want one of id, program, name' nsysx-summary --by thunk --only nme=a "$T/roof"
fails 'no condition' 2 'want COLUMN=TEXT or COLUMN~REGEX' nsysx-summary --only name "$T/roof"
fails 'no regular expression' 2 '--only' nsysx-summary --only 'name~(' "$T/roof"
run nsysx-summary --by thunk --tsv --only name=nosuch "$T/roof"
equal 'no row: it says so' "$(grep -c 'none of 4 rows matches' "$T_private/err")" 1
equal 'nsysx-view: of records' "$(nsysx-view -t inst --only name=turn "$T/roof" | rows '{ print at("inst") }')" 2
equal '... a number, and what is absent' "$(nsysx-view -t inst --only mem_bytes=10 --only comm= "$T/roof" | rows '{ print at("inst") }' | tr '\n' ' ')" '2 3 '
fails '... with the nearest one' 2 'no column opcod; did you mean opcode?' nsysx-view -t inst --only opcod=1 "$T/roof"
fails '... a column that they do not have' 2 'inst records have no column nosuch' nsysx-view -t inst --only nosuch=1 "$T/roof"
fails '... and no stream' 2 '--only goes with --table' nsysx-view --only name=a "$T/roof"
run nsysx-view -t inst --only name=nosuch "$T/roof"
equal '... none of them' "$(grep -c 'no record of kind inst matches --only' "$T_private/err")" 1
done_testing
