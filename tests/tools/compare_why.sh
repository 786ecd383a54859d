#!/bin/sh
# nsysx-compare --why: what fills steps adds up to their periods exactly, and what a job was given to be slow by comes first.
. "${0%/*}/../testlib.sh"
. "${0%/*}/../comparelib.sh"
cd "${0%/*}" || exit 1

# CLAIM BASE NEW [OPTION...]: the rows below each period add up to it, in each column.
adds_up() {
	claim=$1 a=$2 b=$3
	shift 3
	equal "$claim" "$(nsysx-compare -q --tsv --why "$@" "$a" "$b" | columns class,device,kind,base,new,diff | awk '{ k = $1 " " $2 }
		$3 == "period" { n++; p[k] = $4 " " $5 " " $6; next }
		{ b[k] += $4; m[k] += $5; d[k] += $6 }
		END { for (k in p) if (p[k] != b[k] " " m[k] " " d[k]) print k ": " p[k] ", sums " b[k], m[k], d[k]; print (n > 0) }')" 1
}
# CLAIM BASE NEW DEVICE NAME LEAST MOST: the first row below the period of the device (- is all) has that name, and a difference within.
first() {
	equal "$1" "$(nsysx-compare -q --tsv --why "$2" "$3" | columns device,kind,name,diff | awk -v at="$4" -v least="$6" -v most="$7" '
		$1 == at && $2 != "period" { print $2, $3, ($4 >= least && $4 <= most) ? "within" : $4; exit }')" "$5 within"
}

# Two periods of BASE: a 40, gemm_v1 20, c 10, idle 30. Three of NEW: gemm_v2 takes 35, extra 5 is new, idle time is 30, 30 and 31.
steps() {
	awk -v n="$1" -v gemm="$2" -v ns="$3" -v extra="$4" -v odd="$5" '
		function op(name, dur) { printf "op name=%s start=%d dur=%d tid=1 host_start=%d host_dur=1\n", name, t, dur, h + 1; t += dur }
		BEGIN { print "device device=0"
			for (i = 0; i < n; i++) {
				h = t = 1000 + i * (80 + ns + extra) + (i == n - 1 ? odd : 0)
				printf "range range=%d host_start=%d host_dur=50 start=%d dur=%d device=0 name=step~%d\n", i + 1, h, t, 50 + ns + extra, i
				op("a", 40); op(gemm, ns); op("c", 10)
				if (extra) op("extra", extra)
			} }' | awk -f host/stream.awk
}
steps 3 gemm_v1 20 0 0 >"$T/base"
steps 4 gemm_v2 35 5 1 >"$T/new"
why() { nsysx-compare -q --tsv --why --step '^step' "$@"; }
equal 'a job of known times: renamed, new and unchanged work, by mean' "$(why "$T/base" "$T/new" | columns kind,name,base_name,match,base,new,diff)" \
'period - - - 100 120 20
kernel gemm_v2 gemm_v1 place 20 35 15
kernel extra - new 0 5 5
idle no-call - name 30 30 0
kernel [2_others] - - 50 50 0'
equal '... the other way round' "$(why "$T/new" "$T/base" | columns kind,name,base_name,match,base,new,diff | head -n 3)" \
'period - - - 120 100 -20
kernel gemm_v1 gemm_v2 place 35 20 -15
kernel extra - gone 5 0 -5'
adds_up '... add up' "$T/base" "$T/new" --step '^step'
# Idle time in ranges of the host: of each step 40 ns in load, which NEW has not, and of the rest of its range 10 before the second launch, in NEW 25.
waits() {
	awk -v data="$1" -v rest="$2" 'BEGIN {
		step = 100 + data + rest
		print "device device=0"
		for (k = 0; k < 4; k++) {
			t = k * step
			print "range range=" 3 * k + 1 " start=" t + 10 " dur=" step - 50 " host_start=" t " host_dur=" step " name=step~" k " tid=1"
			if (data)
				print "range range=" 3 * k + 2 " parent=" 3 * k + 1 " host_start=" t + 30 " host_dur=" data " name=load tid=1"
			for (i = 0; i < 2; i++) {
				at = t + (i ? 30 + data + rest : 0)
				print "call call=" 2 * k + i " start=" at " dur=10 name=cudaLaunchKernel class=launch ops=1 tid=1"
				print "op op=" 2 * k + i " name=k" i " start=" at + 10 " dur=" (i ? 60 : 20) " call=" 2 * k + i " tid=1 host_start=" at " host_dur=10 range=" 3 * k + 1
			}
		}
	}' | awk -f host/stream.awk
}
waits 40 10 >"$T/waits"
waits 0 25 >"$T/waits2"
equal 'idle time in the host has a row for each range' "$(why "$T/waits" "$T/waits2" | columns kind,name,range,match,base,new,diff | grep idle)" \
'idle range load gone 40 0 -40
idle range step_# name 10 25 15
idle launch - name 20 20 0'
adds_up '... and adds up' "$T/waits" "$T/waits2" --step '^step'
# Instructions that another compilation has renumbered: products of two layers, whose names are the other way round in
# the second, and a fusion. $3: they have op_names, as with a dump.
numbered() {
	awk -v first="$1" -v ns="$2" -v dump="$3" '
		function inst(i, name, opcode) { print "inst program=0 inst=" i " name=" name (dump ? " opcode=" opcode : "") }
		function op(i, dur) { printf "op name=k%d start=%d dur=%d tid=1 host_start=%d host_dur=1 program=0 inst=%d\n", i, t, dur, h + 1, i; t += dur }
		BEGIN { print "device device=0"
			print "program program=0 id=7 name=f key=f@7"
			inst(0, "custom-call." first, "custom-call")
			inst(1, "custom-call." 3 - first, "custom-call")
			inst(2, "fusion.3", "fusion")
			for (i = 0; i < 6; i++) {
				h = t = 1000 + i * 1000
				printf "range range=%d host_start=%d host_dur=50 start=%d dur=%d device=0 name=step~%d\n", i + 1, h, t, 500, i
				op(0, ns); op(1, 200); op(2, 50)
			} }' | awk -f host/stream.awk | awk -v dump="$3" 'BEGIN { split("layer_0/dot layer_1/dot layer_1/add", op, " ") }
		/^#inst/ { print $0 "\top_name:s"; next } /^inst/ { print $0 "\t" (dump ? "jit(f)/" op[++n] : ""); next } { print }'
}
numbered 1 100 1 >"$T/numbered"
numbered 2 180 1 >"$T/renumbered"
equal 'instructions that are renumbered are those of their op_names' \
	"$(why "$T/numbered" "$T/renumbered" | columns kind,name,base_name,match,base,new,diff | grep instruction)" \
'instruction custom-call.2 custom-call.1 place 100 180 80
instruction [2_others] - - 250 250 0'
numbered 1 180 '' >"$T/dumpless"
equal '... and of their names where one side has no op_names' \
	"$(why "$T/numbered" "$T/dumpless" | columns kind,name,base_name,match,base,new,diff | grep instruction)" \
'instruction custom-call.1 - name 100 180 80
instruction [2_others] - - 250 250 0'
adds_up '... add up' "$T/numbered" "$T/renumbered" --step '^step'

# Small work that is new or gone: `a` takes 20 us more; gone1 to gone5 took 10 to 50 ns, new1 to new6 take 10 to 60.
small() {
	awk -v a="$1" -v name="$2" -v n="$3" '
		function op(name, dur) { printf "op name=%s start=%d dur=%d tid=1 host_start=%d host_dur=1\n", name, t, dur, h + 1; t += dur }
		BEGIN { print "device device=0"
			for (i = 0; i < 6; i++) {
				h = t = 1000 + i * 100000
				printf "range range=%d host_start=%d host_dur=50 start=%d dur=%d device=0 name=step~%d\n", i + 1, h, t, 90000, i
				op("a", a); op("x", 7); op("y", 8); for (k = 1; k <= n; k++) op(name k, 10 * k)
			} }' | awk -f host/stream.awk
}
small 40000 gone 5 >"$T/small"
small 60000 new 6 >"$T/small2"
equal 'small work that is new or gone: the largest by name, the number of the others' "$(why "$T/small" "$T/small2" | columns kind,name,match,base,new,diff | grep kernel | LC_ALL=C sort)" \
'kernel [2_others] - 15 15 0
kernel [2_others] gone 30 0 -30
kernel [3_others] new 0 60 60
kernel a name 40000 60000 20000
kernel gone3 gone 30 0 -30
kernel gone4 gone 40 0 -40
kernel gone5 gone 50 0 -50
kernel new4 new 0 40 40
kernel new5 new 0 50 50
kernel new6 new 0 60 60'
adds_up '... add up' "$T/small" "$T/small2" --step '^step'
equal 'a pipe is as a file' "$(why - "$T/new" <"$T/base" | cksum)" "$(why "$T/base" "$T/new" | cksum)"
equal '--why alone is by step' "$(why --by step "$T/base" "$T/new" | cksum)" "$(why "$T/base" "$T/new" | cksum)"
for options in '--by kernel' --history; do
	run nsysx-compare --why $options "$T/base" "$T/new"
	equal "--why is refused with $options" "$status" 2
done
run nsysx-compare --why "$T/base" "$T/base" "$T/new"
equal '... with several base runs' "$status" 2
nsysx-steps -q --tsv --each --step '^step' "$T/base" >"$T/table"
run nsysx-compare --why "$T/table" "$T/new"
equal '... with a table' "$status $(grep -c 'want streams for --why' "$T_private/err")" '1 1'

SYNTH=$B/tests/synth/nsysx-synth
[ -x "$SYNTH" ] || { done_testing; exit; }
# job NAME ARGS: the stream $T/NAME of a job of two processes.
job() {
	name=$1
	shift
	mkdir "$T/$name.d"
	"$SYNTH" -q -o "$T/$name.d" --seed=1 --steps=12 --no-warmup "$@" >"$T/null" || fail "the job $name" 'nsysx-synth failed' "$*"
	for p in 0 1; do nsysx-extract -q --ops -x "$T/$name.d/dump$p" "$T/$name.d/r$p.sqlite" >"$T/$name.$p"; done
	nsysx-merge -q "$T/$name.0" "$T/$name.1" >"$T/$name"
}
job job
period=$(nsysx-compare -q --tsv --by step "$T/job" "$T/job" | columns device,statistic,base | awk '$1 == "-" && $2 == "period" { printf "%d", $3; exit }')
equal 'the period is the mean that is compared' "$(nsysx-compare -q --tsv --why "$T/job" "$T/job" | columns device,kind,base,new | head -n 1)" "- period $period $period"
equal 'a job differs from itself in nothing' "$(nsysx-compare -q --tsv --why "$T/job" "$T/job" | columns diff | sort -u)" 0
equal '... and with --changed has no rows' "$(nsysx-compare -q --tsv --why --changed "$T/job" "$T/job" 2>"$T/null" | wc -l | tr -d ' ')" 1

# What an instruction took more in a step, by the generator's answers, within 10 %.
grown() {
	for j in job "$1"; do
		awk -F'\t' -v want="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$at["name"] == want { n++; sum += $at["dur"] } END { print sum / n }' "$T/$j.d/answers/thunks.tsv"
	done | awk '{ v[NR] = $1 } END { print int(0.9 * (v[2] - v[1])), int(1.1 * (v[2] - v[1])) }'
}
for at in 'slow all-to-all collective --slow=all-to-all:50' 'slow-collective reduce-scatter collective --plant=slow-collective'; do
	set -- $at
	job "$1" "$4"
	first "$4 is found by name, with its time" "$T/job" "$T/$1" - "$3 $2" $(grown "$1" "$2")
	adds_up "$4 adds up" "$T/job" "$T/$1"
done
equal 'a gate fails as without --why' "$(nsysx-compare -q --why --gate "$T/job" "$T/slow-collective" >"$T/null" 2>&1; echo $?)" 1
equal 'most of the period is its' "$(nsysx-compare -q --tsv --why "$T/job" "$T/slow-collective" | columns share | awk 'NR == 2 { print ($1 > 0.9 && $1 < 1.1) }')" 1

job late-host --plant=late-host
more=$(nsysx-compare -q --tsv --why "$T/job" "$T/late-host" | columns device,kind,diff | awk '$1 == 1 { print $3; exit }')
first 'a late host is idle time of its device' "$T/job" "$T/late-host" 1 'idle host' "$((more * 9 / 10))" "$((more * 11 / 10))"
first '... for which the other device waits in a collective' "$T/job" "$T/late-host" 0 'collective all-gather-start' "$((more * 9 / 10))" "$((more * 12 / 10))"
adds_up '... adds up' "$T/job" "$T/late-host"
job blocking --plant=blocking
first 'a blocked host is idle time' "$T/job" "$T/blocking" - 'idle host' 1 1000000000
job layout --plant=layout
first 'a copy for a layout is found by its name' "$T/job" "$T/layout" - 'instruction wrapped_transpose' 1 1000000000
job device --slow-device=1:20
equal 'of a slow device computation takes longer, on the other it waits' "$(nsysx-compare -q --tsv --why "$T/job" "$T/device" | columns device,kind,diff |
	awk '$2 != "period" { sum[$1 " " $2] += $3 } $2 == "period" { p[$1] = $3 }
	END { print (sum["1 instruction"] > 0.9 * p[1]), (sum["0 collective"] > 0.9 * p[0]) }')" '1 1'
adds_up '... adds up' "$T/job" "$T/device"

# What a stream does not record is neither new nor gone.
nsysx-extract -q -x "$T/job.d/dump0" "$T/job.d/r0.sqlite" >"$T/no-ops"
equal 'a stream without operations has no things' "$(nsysx-compare -q --tsv --why "$T/no-ops" "$T/slow.0" | columns kind,base,new,diff | awk '{ print $1, $2 == b, $3 == n; b = $2; n = $3 }')" \
'period 0 0
rest 1 1'
nsysx-extract -q --ops --calls -x "$T/job.d/dump0" "$T/job.d/r0.sqlite" >"$T/calls"
equal 'idle time is one row if a stream has no calls' "$(nsysx-compare -q --tsv --why "$T/calls" "$T/late-host.1" | columns kind,name,match | grep idle)" 'idle - name'
adds_up '... adds up' "$T/calls" "$T/late-host.1"

# Kernels in ranges: the planted range's kernel takes twice as long, and no other. A kernel of another name in the same ranges is matched by its place.
for at in 'torch --torch' 'mm --torch --slow=aten::mm:100'; do
	set -- $at
	name=$1
	shift
	mkdir "$T/$name.d"
	"$SYNTH" -q -o "$T/$name.d" --seed=1 --steps=12 "$@" >"$T/null"
	nsysx-extract -q --ops --ranges "$T/$name.d/r0.sqlite" 2>"$T/null" | nsysx-view >"$T/$name"
done
torch() { nsysx-compare -q --tsv --why --step '^ProfilerStep' "$@"; }
equal 'the kernel of a slow range takes twice its time, which is the difference' "$(torch "$T/torch" "$T/mm" | columns kind,range,match,base,new,diff | awk '
	$1 == "period" { p = $6; next } { print $1, $2, $3, ($5 > 1.99 * $4 && $5 < 2.01 * $4), ($6 > 0.99 * p && $6 < 1.01 * p); exit }')" 'kernel aten::mm name 1 1'
kernel=$(torch "$T/torch" "$T/mm" | columns kind,name | awk '$1 == "kernel" { print $2; exit }')
awk -F'\t' -v OFS='\t' -v kernel="$kernel" '/^op\t/ { for (i = 2; i <= NF; i++) if ($i == kernel) $i = "another_gemm" } { print }' "$T/mm" >"$T/renamed"
equal 'a kernel of another name in the same range is the same by its place' "$(torch "$T/torch" "$T/renamed" | columns kind,name,range,base_name,match | awk 'NR == 2')" \
	"kernel another_gemm aten::mm $kernel place"
equal '... with the same times' "$(torch "$T/torch" "$T/renamed" | columns base,new,diff | cksum)" "$(torch "$T/torch" "$T/mm" | columns base,new,diff | cksum)"
adds_up '... adds up' "$T/torch" "$T/renamed" --step '^ProfilerStep'
awk -F'\t' -v OFS='\t' '/^range\t/ { for (i = 2; i <= NF; i++) sub(/^aten::mm/, "my::mm", $i) } { print }' "$T/renamed" >"$T/moved"
equal 'in another range it is another one' "$(torch "$T/torch" "$T/moved" | columns kind,name,range,match | awk '$4 == "new" || $4 == "gone"' | LC_ALL=C sort)" \
	"$(printf '%s\n' 'kernel another_gemm my::mm new' "kernel $kernel aten::mm gone" | LC_ALL=C sort)"

# Names that changed: of kernels in the same range, and of those of the same instruction.
renamed() { nsysx-compare -q --tsv --why=renamed "$@"; }
equal 'the table of names that changed has the kernel of the range' "$(renamed --step '^ProfilerStep' "$T/torch" "$T/renamed" | columns name,base_name,how,places)" "another_gemm $kernel range 1"
equal '... with the times of its row' "$(renamed --step '^ProfilerStep' "$T/torch" "$T/renamed" | columns base,new)" \
	"$(torch "$T/torch" "$T/renamed" | columns name,base,new | awk '$1 == "another_gemm" { print int($2), int($3) }')"
nsysx-view "$T/job.0" >"$T/v1"
# All that gathers runs a kernel of another name.
awk -F'\t' -v OFS='\t' '/^#op\t/ { for (i = 2; i <= NF; i++) { split($i, f, ":"); at[f[1]] = i } }
	/^op\t/ && $at["name"] ~ /AllGather/ { $at["name"] = "new_" $at["name"] } { print }' "$T/v1" >"$T/v2"
awk -F'\t' '/^#op\t/ { for (i = 2; i <= NF; i++) { split($i, f, ":"); at[f[1]] = i } }
	/^op\t/ && $at["name"] ~ /^new_/ { n = $at["name"]; if (!seen[n, $at["program"], $at["inst"]]++) places[n]++ }
	END { for (n in places) { p = places[n]; gsub(" ", "_", n); print n, substr(n, 5), "instruction", p } }' "$T/v2" | LC_ALL=C sort >"$T/want"
renamed "$T/v1" "$T/v2" | columns name,base_name,how,places | LC_ALL=C sort >"$T/got"
same 'kernels of the same instruction are paired, however they are called' "$T/want" "$T/got"
ok '... which are some' test -s "$T/want"
equal 'equal names are no pairs' "$(renamed "$T/v1" "$T/v1" | columns name)" ''
run nsysx-compare --why=nothing "$T/v1" "$T/v1"
equal 'another word is refused' "$status" 2
done_testing
