#!/bin/sh
# nsysx-summary: tables of where GPU time goes. Expected results are derived beside the streams.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"

# The table of nsysx-summary ARGS equals standard input.
is() {
	claim=$1
	shift
	table_is "$claim" nsysx-summary --tsv "$@"
}

head_of() {
	cat <<'END'
#profile profile:i name:s
profile 0 r0
#device device:i profile:i
device 0 0
device 1 0
#program program:i id:i name:s key:s
program 0 7 step step@7
program 1 9 tiny tiny@9
#inst program:i inst:i name:s opcode:s comm:i collective:s op_name:s
inst 0 0 fusion.1 fusion - - jit/a
inst 0 1 ar all-reduce-start 1 all-reduce -
inst 0 2 other - - - -
inst 1 0 copy copy - - -
#module profile:i program:i execution:i device:i start:i dur:i thunks:i
#thunk profile:i program:i execution:i device:i inst:i occurrence:i name:s start:i dur:i hidden:i comm:i
END
}
# Two executions of step on two devices, one of tiny.
{
	head_of
	cat <<'END'
module 0 1 0 0 500 2 1
thunk 0 1 0 0 0 0 copy 500 2 0 0
module 0 0 0 1 1000 110 3
module 0 0 0 0 1000 100 3
thunk 0 0 0 1 0 0 fusion.1 1000 50 0 0
thunk 0 0 0 0 0 0 fusion.1 1000 40 0 0
thunk 0 0 0 0 1 0 ar 1040 50 10 1
thunk 0 0 0 1 1 0 ar 1050 40 15 1
thunk 0 0 0 0 2 0 other 1090 5 0 0
module 0 0 1 1 2000 130 4
module 0 0 1 0 2000 120 3
thunk 0 0 1 1 0 0 fusion.1 2000 70 0 0
thunk 0 0 1 0 0 0 fusion.1 2000 60 0 0
thunk 0 0 1 0 1 0 ar 2060 30 0 1
thunk 0 0 1 1 1 0 ar 2070 20 20 1
thunk 0 0 1 1 2 0 other 2090 7 0 0
END
} >"$T/step"
stream <"$T/step" >"$T/step.tsv"

# Durations 100 110 120 130: mean 115, std sqrt(500/3); thunks 3 3 3 4. Exposed time of ar: 40 and 25, then 30 and 0: 15 and 30,
# spread: mean 22.5, std 15/sqrt 2. Device 0 starts ar 10 before device 1 in both: waits 10 0 10 0, mean 5, std 10/sqrt 3,
# 5 of 115. step has 460 of 462 ns.
is 'a row per program' --by module "$T/step.tsv" <<'END'
id name key execs thunks_mean thunks_std total mean std share wait_mean wait_std wait_share spread_mean spread_std
7 step step@7 4 3.25 0.5 460 115 12.9099444874 0.995670995671 5 5.7735026919 0.0434782608696 22.5 10.6066017178
9 tiny tiny@9 1 1 - 2 2 - 0.004329004329 - - - - -
END
# Device 0 waits 80 of its 100 ns for device 1, which takes 20 and waits for none: a mean of 40 of 60.
{
	head_of
	cat <<'END'
module 0 0 0 0 1000 100 1
thunk 0 0 0 0 1 0 ar 1010 90 0 1
module 0 0 0 1 1080 20 1
thunk 0 0 0 1 1 0 ar 1090 10 0 1
END
} | stream >"$T/late.tsv"
equal 'wait_share is the share of the mean' "$(nsysx-summary -q --tsv "$T/late.tsv" | cut -f 11,13 | tail -n 1)" "$(printf '40\t0.6666666666666666')"
# Without alignment two reports have two clocks: no waits, but spreads.
sed -e 's/^device\t1\t0/device\t1\t1/' "$T/late.tsv" >"$T/apart.tsv"
equal 'clocks that cannot be compared: no waits, but spreads' "$(nsysx-summary -q --tsv "$T/apart.tsv" | cut -f 11-14 | tail -n 1 | tr '\t' ' ')" '   80'
nsysx-summary "$T/step.tsv" >"$T/default"
nsysx-summary --by module "$T/step.tsv" >"$T/module"
same '--by module is the default' "$T/default" "$T/module"

# Exposed: fusion.1 40 50 60 70; ar 40 25 30 0 (std of these sqrt(868.75/3)); other 5 7; copy 2; of 462.
is 'a row per instruction, the longest exposed time first' --by thunk "$T/step.tsv" <<'END'
id program name opcode comm count total mean std relstd share op_name exposed
7 step fusion.1 fusion 0 4 220 55 12.9099444874 0.234726263407 0.47619047619 jit/a -
7 step ar all-reduce-start 1 4 95 23.75 17.0171482139 0.716511503743 0.205627705628 - 95
7 step other - 0 2 12 6 1.41421356237 0.235702260396 0.025974025974 - -
9 tiny copy copy 0 1 2 2 - - 0.004329004329 - -
END
grep -v '^end' "$T/step.tsv" | awk -F'\t' 'BEGIN { OFS = FS } $1 == "#thunk" { for (i = 1; i <= NF; i++) if ($i == "hidden:i") h = i } $1 == "thunk" { $h = "" } { print }' |
	nsysx-view -q --partial >"$T/not-overlapped.tsv"
equal 'exposed is absent without nsysx-overlap' "$(nsysx-summary -q --by thunk "$T/not-overlapped.tsv" | cut -f 13 | tr '\n' ' ')" 'exposed     '
# Shares are of everything also where --cover omits some; the last line counts the rows and the share that it omits.
is '--cover omits the rows of small programs' --by thunk --cover 0.99 "$T/step.tsv" <<'END'
id program name opcode comm count total mean std relstd share op_name exposed
7 step fusion.1 fusion 0 4 220 55 12.9099444874 0.234726263407 0.47619047619 jit/a -
7 step ar all-reduce-start 1 4 95 23.75 17.0171482139 0.716511503743 0.205627705628 - 95
7 step other - 0 2 12 6 1.41421356237 0.235702260396 0.025974025974 - -
END
equal '... without a warning' "$(cat "$T_private/err")" ''
run nsysx-summary -v --by thunk --cover 0.99 "$T/step.tsv"
equal '... an info with -v, in ms' "$(cat "$T_private/err")" \
	'nsysx-summary: info: programs beyond --cover ignored: 2e-06 ms of module time, 2e-06 ms of thunk time'
# 462 - 220 - 95 - 12 = 135 of 462, 462 - 220 - 95 = 147, 462 - 220 = 242.
left() { nsysx-summary -q --table "$@" "$T/step.tsv" | grep '^\.\.\. and .* more [^c]'; }
equal 'rest of --cover' "$(left --by thunk --cover 0.99)" '... and 1 more (29.2% of module time): --cover 1'
equal 'rest of --cover and --top' "$(left --by thunk --cover 0.99 --top 1)" '... and 3 more (52.4% of module time): --cover 1 --top 0'
equal 'rest of --top' "$(left --by thunk --top 2)" '... and 2 more (31.8% of module time): --top 0'
equal 'rest of --top by opcode' "$(left --by opcode --top 1)" '... and 4 more (52.4% of module time): --top 0'
equal 'rest of --cover by opcode' "$(left --by opcode --cover 0.99)" '... and 1 more (0.4% of module time): --cover 1'
equal 'rest of --cover by source' "$(left --by source --cover 0.99 | sed 's/ more.*//')" "$(nsysx-summary -q --by source "$T/step.tsv" | sed 1d | wc -l |
	awk -v n="$(nsysx-summary -q --by source --cover 0.99 "$T/step.tsv" | sed 1d | wc -l)" '$1 > n { print "... and", $1 - n }')"
equal 'rest of --top by module' "$(left --by module --top 1)" '... and 1 more (0.4% of module time): --top 0'
equal 'no rest of what --only omits' "$(left --by thunk --only comm=1)" ''
equal 'rest of --top of what --only shows: of those rows' "$(left --by thunk --only comm=0 --top 1)" '... and 2 more (6.0% of total): --top 0'
# 329 exposed of 462.
is 'a row per opcode, and idle time' --by opcode "$T/step.tsv" <<'END'
opcode total share
fusion 220 0.47619047619
all-reduce-start 95 0.205627705628
[no_instruction] 12 0.025974025974
copy 2 0.004329004329
[GPU_idle_during_module_execution] 133 0.287878787879
END
is 'a row per kind of collective' --by collective "$T/step.tsv" <<'END'
collective count total exposed hidden hidden_share axis
all-reduce 4 140 95 45 0.321428571429 -
END
equal 'their sums are below the table, and no row' "$(nsysx-summary -q --by collective --table "$T/step.tsv" | grep -F '[all]')" \
	'[all]: 4 records, total 140 ns, exposed 95 ns, hidden 45 ns (32.1%)'
# Device 0 from 1000 to 2620, device 1 to 2130.
is 'a row per device' --by device "$T/step.tsv" <<'END'
device profile execs span modules compute exposed hidden idle compute_share exposed_share idle_share window copy copy_hidden
0 r0 3 1620 222 107 70 10 1443 0.066049382716 0.0432098765432 0.890740740741 - 0 -
1 r0 2 1130 240 127 25 35 978 0.112389380531 0.0221238938053 0.865486725664 - 0 -
END
is 'sums over the stream' --totals "$T/step.tsv" <<'END'
quantity total share
wall 2750 1
modules 462 0.168
thunks 329 0.119636363636
computation 234 0.0850909090909
exposed_communication 95 0.0345454545455
hidden_communication 45 0.0163636363636
copies 0 0
idle_during_module_executions 133 0.0483636363636
idle_between_module_executions 2288 0.832
END
for by in total device thunk opcode source; do
	nsysx-summary -q --by $by "$T/step.tsv" >"$T/got"
	nsysx-summary -q --by $by --cover 1 "$T/step.tsv" >"$T/want"
	same "--by $by includes all programs" "$T/want" "$T/got"
done
# fusion.1 and other vary by more than a tenth of their mean; ar communicates. 55 is more than 6.
is 'the slowest computations that vary' --variable "$T/step.tsv" <<'END'
id program name opcode comm count total mean std relstd share op_name exposed
7 step fusion.1 fusion 0 4 220 55 12.9099444874 0.234726263407 0.47619047619 jit/a -
7 step other - 0 2 12 6 1.41421356237 0.235702260396 0.025974025974 - -
END
equal '--variable=1: only the slowest' "$(nsysx-summary -q --variable=1 "$T/step.tsv" | cut -f 3 | tr '\n' ' ')" 'name fusion.1 '

# std 1 of mean 10 is a tenth, not more: 9 10 11. 8 10 12 is: std 2.
{ head_of; echo 'module 0 0 0 0 0 100 1'; for d in 9 10 11; do echo "thunk 0 0 0 0 0 0 even $d $d 0 0"; done
	for d in 8 10 12; do echo "thunk 0 0 0 0 2 0 uneven 1$d $d 0 0"; done; } | stream >"$T/vary"
equal 'a tenth of the mean is not variable' "$(nsysx-summary -q --variable --tsv "$T/vary" | cut -f 3,9 | tr '\n\t' '  ')" 'name std other 2 '

# ---- waits ----
# Two concurrent groups, {0,1} and {2,3}: exposed 50 and 10, 30 and 25: the instruction made its execution wait 40, not 45. A copy to
# the host concerns one device. Another execution without communication has no wait to add.
stream >"$T/groups" <<'END'
#device device:i profile:i
device 0 0
device 1 0
device 2 0
device 3 0
#program program:i id:i name:s key:s
program 0 7 step step@7
#groups groups:i members:s
groups 0 0,1;2,3
#inst program:i inst:i name:s comm:i collective:s groups:i
inst 0 0 ar 1 all-reduce 0
inst 0 1 h2d 1 host-to-device -
#module program:i execution:i device:i start:i dur:i thunks:i
module 0 0 0 0 100 2
module 0 0 1 0 100 2
module 0 0 2 0 100 2
module 0 0 3 0 100 2
#thunk program:i execution:i device:i inst:i occurrence:i name:s start:i dur:i hidden:i comm:i
thunk 0 0 0 0 0 ar 1 50 0 1
thunk 0 0 2 0 0 ar 2 30 0 1
thunk 0 0 3 0 0 ar 3 30 5 1
thunk 0 0 1 0 0 ar 4 50 40 1
thunk 0 0 0 1 0 h2d 60 20 0 1
thunk 0 0 1 1 0 h2d 60 10 0 1
thunk 0 0 0 0 1 ar 80 7 0 1
thunk 0 0 1 0 1 ar 81 6 0 1
module 0 1 0 200 100 0
END
# The second occurrence ran on two devices of four: 7 and 6.
nsysx-summary -q "$T/groups" | cut -f 4,11,14 | tail -n 1 >"$T/got"
equal 'concurrent groups: the largest spread counts; waits are of all devices' "$(cat "$T/got")" '5	1.25	41'

# ---- operations and ranges ----
stream >"$T/ops" <<'END'
#range profile:i range:i domain:s name:s start:i dur:i host_start:i host_dur:i ops:i
#op profile:i op:i type:s device:i name:s start:i dur:i
range 0 1 - a 0 30 0 5 3
range 0 2 TSL a 0 10 0 2 1
op 0 1 kernel 0 gemm 0 10
op 0 2 kernel 0 gemm 10 14
op 0 3 memcpy 0 HtoD 20 5
op 0 4 kernel 0 add 25 1
range 0 3 - a 40 40 0 6 4
range 0 4 - idle - - 0 9 -
END
# gemm: 10 14, std sqrt 8; 24 of 25 ns of kernels. Copies have their own total.
is 'operations by type and name, of all profiles' --by kernel "$T/ops" <<'END'
type name count total mean std min max share
kernel gemm 2 24 12 2.82842712475 10 14 0.96
memcpy HtoD 1 5 5 - 5 5 1
kernel add 1 1 1 - 1 1 0.04
END
# Operations do not say what range they are of: GPU time is unknown, and not 0.
is 'ranges by domain and name' --by range "$T/ops" <<'END'
domain name count total mean std min max ops host_total gpu_time gpu_self gpu_mean gpu_share
- a 2 70 35 7.07106781187 30 40 7 11 - - - -
TSL a 1 10 10 - 10 10 1 2 - - - -
END
grep -v -e '^op' -e '^#op' "$T/ops" | sed 's/^end\t.*/end\t4/' >"$T/spans"
is 'without operations: spans of ranges' --by range "$T/spans" <<'END'
domain name count total mean std min max ops host_total gpu_time gpu_self gpu_mean gpu_share
- a 2 70 35 7.07106781187 30 40 7 11 - - - -
TSL a 1 10 10 - 10 10 1 2 - - - -
END
equal '... and a warning' "$(nsysx-summary --by range --table "$T/spans" | tail -n 2 | head -n 1)" 'in order of total, the span of GPU work; extract with --ops for gpu_time'
# A long span with little work comes after short ones full of work: outer 100 ns has 8 + 5 + 7 of its own and of its children, the nested pair
# `in` 12, which the outer one contains; alone 30 of 30. 2 of 62 ns are in no range, and 10 name a missing one.
stream >"$T/nested" <<'END'
#range profile:i range:i parent:i name:s start:i dur:i host_start:i host_dur:i ops:i
#op profile:i op:i type:s device:i name:s start:i dur:i range:i
range 0 1 - outer 0 100 0 9 3
range 0 2 1 in 10 25 1 5 2
range 0 3 2 in 20 15 2 3 1
op 0 1 kernel 0 k 0 8 1
op 0 2 kernel 0 k 10 5 2
op 0 3 kernel 0 k 20 7 3
op 0 4 kernel 0 k 40 2 -
op 0 5 kernel 0 k 50 10 99
range 0 4 - alone 200 30 200 1 1
op 0 6 kernel 0 k 200 30 4
END
is 'ranges by the time of operations launched in them' --by range "$T/nested" <<'END'
domain name count total mean std min max ops host_total gpu_time gpu_self gpu_mean gpu_share
- alone 1 30 30 - 30 30 1 1 30 30 30 0.483870967742
- outer 1 100 100 - 100 100 3 9 20 8 20 0.322580645161
- in 2 40 20 7.07106781187 15 25 3 8 12 12 12 0.193548387097
END
equal 'an operation whose range is missing is reported' "$(nsysx-summary --by range "$T/nested" 2>&1 >"$T/got" | grep -c 'operations whose range is not in the stream')" 1
# A filter removed what the first of two executions launched, and all that `gone` did: those ranges take no part, whether
# their operations are forgotten early or late; `outer` has work within.
stream >"$T/removed" <<'END'
#range profile:i range:i parent:i name:s start:i dur:i host_start:i host_dur:i ops:i
#op profile:i op:i type:s device:i name:s start:i dur:i range:i
range 0 1 - step 0 100 0 9 3
range 0 2 - gone 10 20 1 5 2
range 0 3 - outer 1000 60 1000 8 2
range 0 4 3 step 1000 50 1000 7 2
op 0 1 kernel 0 k 1000 12 4
op 0 2 kernel 0 k 1040 10 4
END
is 'ranges whose operations are not in the stream are left out' --by range "$T/removed" <<'END'
domain name count total mean std min max ops host_total gpu_time gpu_self gpu_mean gpu_share
- outer 1 60 60 - 60 60 2 8 22 0 22 1
- step 1 50 50 - 50 50 2 7 22 22 22 1
END
equal '... and counted' "$(nsysx-summary -v --by range "$T/removed" 2>&1 >"$T/got" | grep -c 'ranges whose operations are not in the stream: ignored (2)')" 1
# Threads 11 and 13 of process 1 have ranges of class `step.#`; 12 has `bwd` only, 14 none. Operation 1 is launched in `step.0`. Both 2, of 12 in `bwd`, and
# 3, of 14, help `step.0`, which alone is open; 3 also `bwd` and `empty`, which launches nothing, and 2 not `bwd`, as it is in it. 4 is of thread 13 itself.
# 5 comes when nothing is open, 6 is of another process, 7 begins as `step.0` ends. At 430, `step.1` of thread 11 and `step.2` of 13 are open: 8, of device 0,
# helps `step.1`, although `step.2` started later, as thread 13 has worked on device 1 only; 11, of device 1, helps `step.2`. `lone` has no row.
stream >"$T/helped" <<'END'
#device device:i profile:i pid:i
#range profile:i range:i parent:i pid:i tid:i name:s start:i dur:i host_start:i host_dur:i ops:i
#op profile:i op:i type:s device:i name:s start:i dur:i range:i tid:i host_start:i host_dur:i
device 0 0 1
device 1 0 1
device 2 0 2
range 0 1 - 1 11 step.0 65 5 0 100 1
range 0 2 - 1 12 bwd 60 9 20 30 1
op 0 2 kernel 0 k 60 9 2 12 30 2
range 0 3 1 1 11 empty - - 40 20 -
op 0 1 kernel 0 k 65 5 1 11 10 2
op 0 3 kernel 0 k 70 7 - 14 45 2
op 0 6 kernel 2 k 80 1 - 14 50 2
op 0 7 kernel 0 k 102 3 - 14 100 2
range 0 7 - 1 11 lone - - 110 2 -
op 0 5 kernel 0 k 120 4 - 12 115 2
range 0 4 - 1 13 step.0 300 40 200 50 1
op 0 4 kernel 1 k 300 40 4 13 210 2
range 0 5 - 1 11 step.1 500 60 400 100 1
range 0 6 - 1 13 step.2 510 40 420 60 1
op 0 9 kernel 0 k 500 60 5 11 405 2
op 0 10 kernel 1 k 510 40 6 13 425 2
op 0 8 kernel 0 k 560 8 - 12 430 2
op 0 11 kernel 1 k 570 6 - 14 431 2
END
is 'with --helpers, the work that other threads launched meanwhile' --by range --helpers "$T/helped" <<'END'
domain name count total mean std min max ops host_total gpu_time gpu_self gpu_mean gpu_share gpu_helper
- step.1 1 60 60 - 60 60 1 100 60 60 60 0.327868852459 8
- step.0 2 45 22.5 24.7487373415 5 40 2 150 45 45 22.5 0.245901639344 16
- step.2 1 40 40 - 40 40 1 60 40 40 40 0.218579234973 6
- bwd 1 9 9 - 9 9 1 30 9 9 9 0.0491803278689 7
- empty 0 0 - - - - 0 0 0 0 - 0 7
END
nsysx-summary -v --by range --table "$T/helped" >"$T/got" 2>"$T/err"
equal 'GPU work in no range is reported, with its threads' "$(grep -o '29 ns of GPU work.*' "$T/err")" \
	'29 ns of GPU work, 15.8%, was launched in no range: thread 14 of process 1 16 ns, thread 12 of process 1 12 ns, thread 14 of process 2 1 ns (6)'
equal '... below the table too' "$(grep -c '^29 ns of GPU work, 15.8%, was launched in no range: thread 14' "$T/got")" 1
equal '... and that gpu_time is of own threads' "$(grep -c '^gpu_time counts only the work that the thread of a range launched' "$T/got")" 1
nsysx-summary -v --by range --table "$T/nested" >"$T/got" 2>&1
equal '... not where threads do not differ' "$(grep -c 'several threads' "$T/got")" 0
equal 'the share of a kernel is headed as that of its type' "$(nsysx-summary -q --by kernel --table --wide "$T/ops" | head -n 1 | tr -s ' ' '\n' | grep -c -x of_type)" 1
fails '--helpers goes with ranges' 2 '--helpers goes with --by range' nsysx-summary --by kernel --helpers "$T/ops"
# Every operation again, added to all ranges around it.
cat >"$T/walk.awk" <<'END'
BEGIN { FS = "\t" }
$1 ~ /^#(range|op)$/ { for (i = 1; i <= NF; i++) { n = $i; sub(/:.*/, "", n); c[substr($1, 2), n] = i }; next }
$1 == "range" && $c["range", "start"] != "" {
	id = $c["range", "profile"] "," $c["range", "range"]
	up[id] = $c["range", "profile"] "," $c["range", "parent"]
	of[id] = $c["range", "domain"] "\t" $c["range", "name"]
}
$1 == "op" {
	id = $c["op", "profile"] "," $c["op", "range"]
	if (id in of) self[of[id]] += $c["op", "dur"]
	for (; id in of; id = up[id]) all[of[id]] += $c["op", "dur"]
}
END { for (id in of) seen[of[id]] = 1; for (k in seen) printf "%s\t%.0f\t%.0f\n", k, all[k], self[k] }
END
equal 'ranges without GPU work are counted with -v' "$(nsysx-summary -v --by range "$T/ops" 2>&1 | grep -c 'ranges without GPU work: ignored')" 1

# Five calls of two operations and a layer's hook as named by frameworks: a row per key, not per call; XLA's names are unchanged.
stream >"$T/calls" <<'END'
#range profile:i range:i domain:s name:s start:i dur:i host_start:i host_dur:i ops:i
range 0 1 - aten::mm,\sseq\s=\s7,\sop_id\s=\s52,\ssizes\s=\s[[2,\s3],\s[]] 0 30 0 5 3
range 0 2 - aten::mm,\sop_id\s=\s53 40 50 0 6 4
range 0 3 D aten::mm,\sop_id\s=\s54 100 1 0 1 1
range 0 4 - blocks.1.attn 110 2 0 1 1
range 0 5 - blocks.22.attn 120 5 0 1 1
range 0 6 - {'Module':\s'blocks.3.attn'} 130 7 0 1 1
range 0 7 TSL mm,\sop_id\s=\s9 140 4 0 1 1
END
sed 's/\\s/ /g' "$T/calls" >"$T/calls.tsv"
named() { nsysx-summary -q --by range --tsv "$@" "$T/calls.tsv" | awk -F'\t' 'NR > 1 { print $1 "|" $2 "|" $3, $4, $7, $8, $9, $10 }'; }
equal 'a row per key' "$(named)" '|aten::mm|2 80 30 50 7 11
|blocks.3.attn|1 7 7 7 1 1
|blocks.22.attn|1 5 5 5 1 1
TSL|mm, op_id = 9|1 4 4 4 1 1
|blocks.1.attn|1 2 2 2 1 1
D|aten::mm|1 1 1 1 1 1'
equal 'a row per key without numbers' "$(named --names=digits)" '|aten::mm|2 80 30 50 7 11
|blocks.#.attn|3 14 2 7 3 3
TSL|mm, op_id = 9|1 4 4 4 1 1
D|aten::mm|1 1 1 1 1 1'
sed 's/blocks.1.attn/step 1/; s/blocks.22.attn/step 22/' "$T/calls.tsv" >"$T/stepped.tsv"
says_steps() { nsysx-summary -q --by range --table "$@" "$T/stepped.tsv" | grep -c ' rows are of steps that differ in their numbers: --names=steps makes them 1$'; }
equal 'a line below tells of rows that are steps' "$(says_steps)" 1
equal '... not where they are one, or names are wanted in full' "$(says_steps --names=steps; says_steps --names=full)" '0
0'
sed 's/D\taten::mm/D\tstep 1/; s/TSL\tmm, op_id = 9/D\tstep 2/' "$T/stepped.tsv" >"$T/domains.tsv"
equal '... of each domain' "$(nsysx-summary -q --by range --table "$T/domains.tsv" | sed -n 's/ rows are of steps.*makes them/,/p') $(nsysx-summary -q --by range --tsv --names=steps "$T/domains.tsv" | awk -F'\t' '$2 == "step #" { n++ } END { print n }')" '4, 2 2'
equal 'a row for all steps' "$(nsysx-summary -q --by range --tsv --names=steps "$T/stepped.tsv" | awk -F'\t' 'NR > 1 && !$1 { print $2 "|" $3, $4 }')" 'aten::mm|2 80
blocks.3.attn|1 7
step #|2 7'
equal 'a row per name' "$(named --names=full | cut -d'|' -f 2 | sort)" "$(awk -F'\t' '$1 == "range" { print $5 }' "$T/calls.tsv" | sort)"
fails '--names goes with ranges' 2 '--names goes with --by range' nsysx-summary --by kernel --names=full "$T/ops"

# ---- order and encoding ----
awk '/^module|^thunk/ { late[++n] = $0; next } { print } END { while (n) print late[n--] }' "$T/step" | stream >"$T/back.tsv"
nsysx-view -bz "$T/step.tsv" >"$T/step.nsx"
for by in module thunk opcode collective device total; do
	nsysx-summary -q --by $by "$T/step.tsv" >"$T/a"
	nsysx-summary -q --by $by "$T/back.tsv" >"$T/b"
	same "--by $by does not depend on the order of records" "$T/a" "$T/b"
	nsysx-summary -q --by $by -o "$T/b" <"$T/step.nsx"
	same "--by $by of a binary stream, and -o" "$T/a" "$T/b"
	nsysx-summary -q --by $by --json "$T/step.tsv" >"$T/json"
	python3 -c '
import csv, json, sys
rows = json.load(open(sys.argv[1]))
want = list(csv.DictReader(open(sys.argv[2]), delimiter="\t"))
print(len(rows) > 0 and [list(r) for r in rows] == [list(w) for w in want] and all(
    (r[k] is None and w[k] == "") or (r[k] == w[k] if isinstance(r[k], str) else float(w[k]) == r[k]) for r, w in zip(rows, want) for k in w))' \
		"$T/json" "$T/a" >"$T/b"
	equal "--by $by in JSON" "$(cat "$T/b")" True
done
nsysx-summary -q --table --by opcode "$T/step.tsv" >"$T/got"
{
	printf 'opcode                               total  share\n'
	printf 'fusion                              220 ns  47.6%%\n'
	printf 'all-reduce-start                     95 ns  20.6%%\n'
	printf '[no instruction]                     12 ns   2.6%%\n'
	printf 'copy                                  2 ns   0.4%%\n'
	printf '[GPU idle during module execution]  133 ns  28.8%%\n'
	printf 'the stream holds no diags\n'
} >"$T/want"
same 'aligned columns with units' "$T/want" "$T/got"

# ---- the same as nsysx-fold ----
folded() { sed 's/^\[GPU active\];//' | awk '{ n = $NF; sub(/ [0-9]*$/, ""); print $0 "\t" n }' | sort; }
# Stacks by opcode equal our rows, to the nanosecond.
agree() {
	nsysx-fold -q --by opcode --cover "$2" "$1" | folded >"$T/fold"
	nsysx-summary -q --by opcode --cover "$2" "$1" | sed 1d | awk -F'\t' '$2 > 0 { print $1 "\t" $2 }' >"$T/rows"
	nsysx-summary -q --totals --cover "$2" "$1" | awk -F'\t' '$1 ~ /^idle between/ && $2 > 0 { print "[GPU idle between module executions]\t" $2 }' >>"$T/rows"
	sort "$T/rows" >"$T/sorted"
	same "$3" "$T/fold" "$T/sorted"
	nsysx-summary -q --by device --cover "$2" "$1" | sed 1d | awk -F'\t' '{ w += $4; m += $5; c += $6; e += $7; h += $8 } END { printf "%.0f %.0f %.0f %.0f %.0f\n", w, m, c, e, h }' >"$T/devices"
	nsysx-summary -q --totals --cover "$2" "$1" | awk -F'\t' '{ v[$1] = $2 } END { print v["wall"], v["modules"], v["computation"], v["exposed communication"], v["hidden communication"] }' >"$T/totals"
	same "$3: devices add up to the totals" "$T/devices" "$T/totals"
}
agree "$T/step.tsv" 1 'the same as nsysx-fold'
agree "$T/step.tsv" 0.9 'the same as nsysx-fold of the top program'

# ---- generated job ----
if [ -x "$SYNTH" ] && [ -x "$B/bin/nsysx-extract" ]; then
	"$SYNTH" --processes 2 --devices 2 -o "$T/job"
	nsysx-extract -q --ranges --ops "$T/job/r0.sqlite" "$T/job/r1.sqlite" | nsysx-overlap -q -b >"$T/job/s"
	nsysx-summary -q --by module --tsv "$T/job/s" | cut -f 1,4,7 | sed 1d | sort >"$T/got"
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ n[$c["program_id"]]++; t[$c["program_id"]] += $c["dur"] } END { for (p in n) print p "\t" n[p] "\t" t[p] }' "$T/job/answers/modules.tsv" | sort >"$T/want"
	ok 'the generator has modules' test -s "$T/want"
	same 'executions and time of modules equal those of the generator' "$T/want" "$T/got"
	# Thunks hide what thunks compute, in a stream without operations.
	nsysx-extract -q --ranges "$T/job/r0.sqlite" "$T/job/r1.sqlite" | nsysx-overlap -q -b >"$T/job/t"
	nsysx-summary -q --by thunk --cover 1 --tsv "$T/job/t" | cut -f 1,3,6,7 | sed 1d | sort >"$T/got"
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ k = $c["program_id"] "\t" $c["name"]; n[k]++; t[k] += $c["dur"] - $c["hidden"] } END { for (k in n) print k "\t" n[k] "\t" t[k] }' \
		"$T/job/answers/thunks.tsv" | sort >"$T/want"
	same 'exposed time of thunks equals that of the generator' "$T/want" "$T/got"
	nsysx-summary -q --by collective --tsv "$T/job/t" | awk -F'\t' 'NR > 1 { n += $2; t += $3; h += $5 } END { print n, t, h }' >"$T/got"
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { n++; t += $c["dur"]; h += $c["hidden"] } END { print n, t, h }' \
		"$T/job/answers/collectives.tsv" >"$T/want"
	same 'time of collectives equals that of the generator' "$T/want" "$T/got"
	nsysx-summary -q --by kernel --tsv "$T/job/s" | cut -f 1-4 | sed 1d | sort >"$T/got"
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ k = $c["type"] "\t" $c["name"]; n[k]++; t[k] += $c["dur"] } END { for (k in n) print k "\t" n[k] "\t" t[k] }' "$T/job/answers/ops.tsv" | sort >"$T/want"
	same 'time of operations equals that of the generator' "$T/want" "$T/got"
	nsysx-summary -q --by range --tsv "$T/job/s" | awk -F'\t' -v OFS='\t' 'NR > 1 { print $1, $2, $3, $4, $9 }' | sort >"$T/got"
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ sub(/, op_id = [0-9]+$/, "", $c["name"]); sub(/, seq = [0-9]+$/, "", $c["name"]); k = $c["domain"] "\t" $c["name"]; n[k]++; t[k] += $c["dur"]; o[k] += $c["ops"] } END { for (k in n) print k "\t" n[k] "\t" t[k] "\t" o[k] }' \
		"$T/job/answers/ranges.tsv" | sort >"$T/want"
	same 'time of ranges equals that of the generator' "$T/want" "$T/got"
	agree "$T/job/t" 1 'a whole job: the same as nsysx-fold'
else
	skip 'times equal those of the generator' 'there is no nsysx-synth or nsysx-extract'
fi

# ---- reference results ----
oracle() { zstd -dcq "$SHARED/oracle/$1/$2.tsv.zst"; }
# Sums of doubles in ms, and a factor to ns: within 10 ns; means and shares to 1e-6.
compare() {
	python3 - "$@" <<'END'
import csv, sys
def rows(p): return list(csv.DictReader(open(p), delimiter="\t"))
what, got, want = sys.argv[1], rows(sys.argv[2]), rows(sys.argv[3])
ms = lambda v: float(v) * 1e6
near = lambda a, b, tol: abs(float(a) - b) <= tol
if what == "totals":
    g = {r["quantity"]: r["total"] for r in got}
    names = {"all_thunks_active_ms": "thunks", "all_modules_active_ms": "modules", "all_modules_wall_ms": "wall"}
    print(len(want) == 3 and all(near(g[names[w["Quantity"]]], ms(w["Ms"]), 10) for w in want))
elif what == "opcodes":
    g = {r["opcode"]: r["total"] for r in got}
    w = {r["Opcode"]: ms(r["Ms"]) for r in want if not r["Opcode"].startswith("_")}
    w = {"[GPU idle during module execution]" if k.startswith("GPU idle") else k: v for k, v in w.items()}
    print(len(w) > 5 and g.keys() == w.keys() and all(near(g[k], w[k], 10) for k in w))
elif what == "hidden":
    g = {r["collective"]: r["hidden_share"] for r in got}
    g["[all]"] = sum(float(r["hidden"]) for r in got) / sum(float(r["total"]) for r in got)
    print(len(want) == len(g) and all(near(g[w["Collective"].replace("_overall", "[all]")], float(w["HiddenToTotal"]), 1e-6) for w in want))
elif what == "variable":
    g = [(r["id"], r["name"]) for r in got]
    close = all(near(r["mean"], ms(w["mean"]), 1e-3) for r, w in zip(got, want))
    print(len(want) == len(got) > 10 and close and sorted(g) == sorted((w["ProgramId"], w["Name"]) for w in want))
elif what == "threshold":
    print(len(got) == int(float(want[0]["num_selected"])) and min(float(r["mean"]) for r in got) > ms(want[0]["mean_threshold"]) - 1e-3)
elif what == "kernels":
    k = {r["name"]: r for r in got if r["type"] == "kernel"}
    w = [(v, x) for x in csv.DictReader(open(sys.argv[3])) for v in [list(x.values())] if x.get("Name")]
    print(len(w) == len(k) and all(
        int(k[x["Name"]]["total"]) == int(v[1]) and int(k[x["Name"]]["count"]) == int(v[2]) and near(k[x["Name"]]["mean"], float(v[3]), 0.06)
        and int(k[x["Name"]]["min"]) == int(v[5]) and int(k[x["Name"]]["max"]) == int(v[6]) and near(k[x["Name"]]["std"] or 0, float(v[7]), 0.06)
        and near(float(k[x["Name"]]["share"]) * 100, float(v[0]), 0.06) for v, x in w))
END
}
if [ -d "$SHARED/oracle" ] && [ -x "$B/bin/nsysx-extract" ]; then
	d=$SHARED/data/pax
	nsysx-extract -q -b -x "$d/dump0" "$d/p0.sqlite.zst" | nsysx-warmup -q | nsysx-overlap -q -b >"$T/p0"
	nsysx-extract -q -b -x "$d/dump0" "$d/p0.sqlite.zst" -x "$d/dump1" "$d/p1.sqlite.zst" -x "$d/dump2" "$d/p2.sqlite.zst" \
		-x "$d/dump3" "$d/p3.sqlite.zst" | { if [ -x "$B/bin/nsysx-align" ]; then nsysx-align -q; else cat; fi; } | nsysx-warmup -q | nsysx-overlap -q -b >"$T/combined"
	for job in p0 combined; do
		oracle $job totals >"$T/want"
		# The reference is of the programs that make up 99 % of the time.
		nsysx-summary -q --totals --cover 0.99 --tsv "$T/$job" >"$T/got"
		# Two of the three are independent of clocks.
		equal "$job: totals" "$(compare totals "$T/got" "$T/want")" True
		oracle $job op_runtime >"$T/want"
		nsysx-summary -q --by opcode --cover 0.99 --tsv "$T/$job" >"$T/got"
		equal "$job: time by opcode" "$(compare opcodes "$T/got" "$T/want")" True
		oracle $job hidden_to_total >"$T/want"
		nsysx-summary -q --by collective --tsv "$T/$job" >"$T/got"
		equal "$job: hidden time" "$(compare hidden "$T/got" "$T/want")" True
		oracle $job compute_variability_high >"$T/want"
		nsysx-summary -q --variable=100000 --tsv "$T/$job" >"$T/got"
		equal "$job: variable computations" "$(compare variable "$T/got" "$T/want")" True
		oracle $job compute_variability_threshold >"$T/want"
		nsysx-summary -q --variable --tsv "$T/$job" >"$T/got"
		equal "$job: the ten slowest of these" "$(compare threshold "$T/got" "$T/want")" True
		agree "$T/$job" 1 "$job: the same as nsysx-fold"
	done
	for profile in h100_2gpu_1s mfu_2gpu_before; do
		nsysx-extract -q --ops "$SHARED/data/torch/$profile.sqlite.zst" | nsysx-summary -q --by kernel --tsv >"$T/got"
		zstd -dcq "$SHARED/data/torch/$profile.cuda_gpu_kern_sum.csv.zst" >"$T/want"
		equal "$profile: kernels" "$(compare kernels "$T/got" "$T/want")" True
	done
else
	skip 'reference results' 'they are not here'
fi

# ---- empty results, and refusals ----
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
head -c 700 "$T/step.tsv" >"$T/cut"
for by in module thunk opcode collective device total range kernel; do
	ok "--by $by of a stream without records" nsysx-summary --by $by "$T/empty"
	equal "... --by $by: only a header" "$(nsysx-summary -q --by $by "$T/empty" | wc -l)" 1
	equal "... --by $by: a warning" "$(nsysx-summary --by $by "$T/empty" 2>&1 | grep -c 'warning: no .* records[:,]')" 1
	equal "... --by $by: an empty list in JSON" "$(nsysx-summary -q --by $by --json "$T/empty")" '[]'
	fails "--by $by refuses a stream cut short" 1 'cut short' nsysx-summary --by $by -o "$T/none" "$T/cut"
done
equal 'no output after a failure' "$(find "$T" -name '*none*')" ''
{ head_of; echo 'module 0 0 0 0 0 -1 1'; echo 'module 0 0 1 0 0 50 1'; echo 'thunk 0 0 0 0 0 0 f 0 - 0 0'; echo 'thunk 0 0 0 0 1 0 ar 0 5 9 1'
	echo 'thunk 0 0 0 0 1 1 ar 0 5 -9 1'; } | stream >"$T/odd"
equal 'invalid durations and hidden times are reported' "$(nsysx-summary --by opcode "$T/odd" 2>&1 >"$T/got" | sed 's/.*warning: //' | tr '\n' '|')" \
	'thunks without a duration: ignored|modules without start or duration: ignored|thunks whose hidden time exceeds their duration: cut to it (2)|'
equal '... and not counted' "$(cut -f 1,2 "$T/got" | tr '\n\t' '|=')" 'opcode=total|all-reduce-start=5|[GPU idle during module execution]=45|'
# Operations: hidden times of 20 of 10 ns and of -1 are cut to 10 and 0; one starts before the previous one; 6, then 4 of 100 ns are in no execution.
ops='#op type:s device:i name:s start:i dur:i program:i execution:i comm:i collective:s hidden:i'
{ echo "$ops"; echo 'op kernel 0 n 0 10 - - 1 all-reduce 20'; echo 'op kernel 0 n 20 10 - - 1 all-reduce -1'; } | stream >"$T/odd"
equal 'invalid hidden times of operations are cut' "$(nsysx-summary --by collective --tsv "$T/odd" 2>"$T/err" | tail -n 1 | cut -f 1-5 | tr '\t' ' ') $(grep -c 'exceeds their duration: cut to it (2)$' "$T/err")" 'all-reduce 2 20 10 10 1'
{ echo "$ops"; echo 'op kernel 0 a 10 5 - - 0 - -'; echo 'op kernel 0 b 5 5 - - 0 - -'; } | stream >"$T/odd"
equal 'operations out of order are reported' "$(nsysx-summary --by device "$T/odd" 2>&1 >"$T/got" | grep -c 'operations out of order on their device')" 1
for share in 6 4; do
	{ echo "$ops"; echo "op kernel 0 a 0 $((100 - share)) 0 0 0 - -"; echo "op kernel 0 b 100 $share - - 0 - -"; } | stream >"$T/outside"
	equal "operations outside of executions are reported from 5 % on: $share %" \
		"$(nsysx-summary -v --by kernel "$T/outside" 2>&1 >"$T/got" | sed -n 's/.*: \([0-9.]*%\) of the time is spent in operations outside executions.*/\1/p')" \
		"$([ $share = 6 ] && echo 6.0%)"
done
# Beyond a share of 0.5: the last two of three programs.
{ echo '#program program:i id:i name:s key:s'; for i in 0 1 2; do echo "program $i $i p$i p$i"; done
	echo '#module program:i execution:i device:i start:i dur:i'; for i in 0 1 2; do echo "module $i 0 0 $i $((100 - 40 * i))"; done
	echo '#thunk program:i execution:i device:i inst:i occurrence:i name:s start:i dur:i comm:i'; for i in 0 1 2; do echo "thunk $i 0 0 0 0 f 2 10 0"; done; } | stream >"$T/three"
equal 'programs beyond --cover are counted' "$(nsysx-summary -v --by thunk --cover 0.5 "$T/three" 2>&1 >"$T/got" | grep -o 'programs beyond.*')" \
	'programs beyond --cover ignored: 8e-05 ms of module time, 2e-05 ms of thunk time (2)'
sed '/^thunk/s/	[0-9]*	\([01]\)$/		\1/' "$T/step.tsv" >"$T/plain"
equal 'communication without hidden time is reported' "$(nsysx-summary --by opcode "$T/plain" 2>&1 | grep -c 'the stream did not pass nsysx-overlap: communication counts whole')" 1
{ head_of; for e in 1 2 3 4 5 6; do echo "module 0 0 $e 0 0 2305843009213693000 1"; done; } | stream >"$T/huge"
for by in module device total; do
	fails "--by $by: times beyond 64 bits" 1 'exceeds 64 bits' nsysx-summary --by $by "$T/huge"
done
fails '--require without such a record' 1 'no op record' nsysx-summary --require op -o "$T/none" "$T/step.tsv"
ok '--require: there is such a record' nsysx-summary --require thunk "$T/step.tsv"
fails 'a full disk is an error' 1 '/dev/full' nsysx-summary -o /dev/full "$T/step.tsv"
for share in 0 1.1 99% ''; do
	fails "--cover '$share' is not a share" 2 'want a share' nsysx-summary --by thunk --cover "$share" "$T/step.tsv"
done
fails '--cover where every program counts' 2 '--cover goes with' nsysx-summary --by module --cover 0.9 "$T/step.tsv"
fails '--variable with other tables' 2 '--variable goes with' nsysx-summary --by opcode --variable "$T/step.tsv"
fails '--variable=0' 2 'want a number' nsysx-summary --variable=0 "$T/step.tsv"
fails '--totals with other tables' 2 'exclude each other' nsysx-summary --by module --totals "$T/step.tsv"
fails 'two forms' 2 'exclude each other' nsysx-summary --tsv --json "$T/step.tsv"
fails 'an unknown --by' 2 'nsysx-summary:' nsysx-summary --by file "$T/step.tsv"
fails 'two files' 2 'one FILE at most' nsysx-summary "$T/step.tsv" "$T/step.tsv"
# --no-compile: ranges whose chain of parents contains one of compilation, and their operations, are counted again from the records.
"$SYNTH" -o "$T/auto" --autotune >/dev/null
nsysx-extract -q --ranges --ops -x "$T/auto/dump0" "$T/auto/r0.sqlite" | nsysx-view --text -o "$T/auto.text"
python3 - "$T/auto.text" >"$T/want" <<'END'
import sys
cols, compile, parent, ranges, ops = {}, set(), {}, [], []
for line in open(sys.argv[1], encoding="utf-8"):
    f = line.rstrip("\n").split("\t")
    if f[0].startswith("#"):
        cols[f[0][1:]] = [c.split(":")[0] for c in f[1:]]
        continue
    r = dict(zip(cols[f[0]], f[1:]))
    if f[0] == "compile":
        compile.add(r["range"])
    if f[0] == "range":
        parent[r["range"]] = r["parent"]
        ranges.append(r)
    if f[0] == "op":
        ops.append(r)
def compiling(x):
    while x:
        if x in compile:
            return True
        x = parent.get(x)
    return False
for name, rows, of in ("kernel", ops, "range"), ("range", [r for r in ranges if r["start"]], "range"):
    left = [r for r in rows if not compiling(r[of])]
    print(name, len(left), sum(int(r["dur"]) for r in left), len(left) < len(rows))
END
for by in kernel range; do
	nsysx-summary -q --tsv --by $by --no-compile "$T/auto.text" | awk -F'\t' -v by=$by 'NR > 1 { n += $3; t += $4 } END { printf "%s %d %d True\n", by, n, t }'
done >"$T/got"
same '--no-compile drops exactly what compilation runs' "$T/want" "$T/got"
fails '--no-compile requires operations or ranges' 2 '--no-compile goes with --by kernel and range' nsysx-summary --no-compile --by module "$T/auto.text"

# ---- several tables in one reading
every='module thunk variable opcode collective device total node range kernel source'
for f in "$T/step.tsv" "$T/ops" "$T/auto.text"; do
	nsysx-summary --tsv --no-compile --names=digits --by "$(echo $every | tr ' ' ,)" -o "$T/of-%" "$f" 2>"$T/said"
	for by in $every; do
		flags=
		case $by in range) flags='--no-compile --names=digits' ;; kernel) flags=--no-compile ;; esac
		nsysx-summary --tsv --by "$by" $flags "$f" 2>>"$T/each" >"$T/want"
		same "$by of ${f##*/} is the same in one reading with others" "$T/want" "$T/of-$by"
	done
	sort -u "$T/each" >"$T/want"
	sort "$T/said" >"$T/got"
	same "diags of ${f##*/} are printed once, with their count" "$T/want" "$T/got"
	rm "$T/each"
done
nsysx-summary -q --tsv --by thunk --variable "$T/auto.text" >"$T/want"
nsysx-summary -q --tsv --by module,variable -o "$T/of-%" "$T/auto.text"
same '--by variable is --variable' "$T/want" "$T/of-variable"
# GPU time of ranges, in a job of XLA and one of a framework, nested and on several threads.
"$SYNTH" -o "$T/torch" --torch >/dev/null
for f in "$T/auto.text" "$T/torch.text"; do
	[ -e "$f" ] || nsysx-extract -q --ranges --ops "$T"/torch/r*.sqlite | nsysx-view --text -o "$f"
	awk -f "$T/walk.awk" "$f" | LC_ALL=C sort >"$T/want"
	nsysx-summary -q --tsv --by range --names=full "$f" | awk -F'\t' -v OFS='\t' 'NR > 1 { print $1, $2, $11, $12 }' | LC_ALL=C sort >"$T/got"
	same "GPU time of ranges of ${f##*/} equals a sum over operations" "$T/want" "$T/got"
	ok 'some ranges are nested' awk -F'\t' '$3 > $4 { n++ } END { exit !n }' "$T/got"
done

# --sort: by time, by text; ties keep their order, absent values come last.
for by in module thunk kernel; do
	nsysx-summary -q --tsv --by $by "$T/auto.text" >"$T/plain"
	[ $by = kernel ] && of=max || of=mean
	at=$(head -n 1 "$T/plain" | tr '\t' '\n' | grep -nx $of | cut -d : -f 1)
	{ head -n 1 "$T/plain"; tail -n +2 "$T/plain" | LC_ALL=C sort -s -t "$(printf '\t')" -k "$at,$at"gr; } >"$T/want"
	nsysx-summary -q --tsv --by $by --sort $of "$T/auto.text" >"$T/got"
	same "by $by, sorted by $of" "$T/want" "$T/got"
done
{ head -n 1 "$T/plain"; tail -n +2 "$T/plain" | LC_ALL=C sort -s -t "$(printf '\t')" -k 2,2; } >"$T/want"
nsysx-summary -q --tsv --by kernel --sort name "$T/auto.text" >"$T/got"
same 'sorted by a name' "$T/want" "$T/got"
fails 'an unknown column' 2 '--sort: no column nmae: want one of type, name, count, total' nsysx-summary --by kernel --sort nmae "$T/auto.text"
ok 'of several tables those with the column are sorted' nsysx-summary -q --by kernel,module --sort execs -o "$T/of-%" "$T/auto.text"
# Time by source line equals that of nsysx-compare.
nsysx-warmup -q "$T/auto.text" | nsysx-overlap -q -o "$T/lines" 2>/dev/null
nsysx-summary -q --tsv --by source --cover 1 "$T/lines" | awk -F'\t' 'NR > 1 { printf "%s\t%.0f\n", $1, $3 }' | LC_ALL=C sort >"$T/got"
nsysx-compare -q --tsv --by source --time exposed "$T/lines" "$T/lines" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	{ t[$c["source"]] += $c["base"] * $c["base_execs"] } END { for (k in t) printf "%s\t%.0f\n", k, t[k] }' | LC_ALL=C sort >"$T/want"
same 'time by source line equals that of nsysx-compare' "$T/want" "$T/got"
ok 'several source lines' awk 'END { exit NR < 4 }' "$T/got"
equal 'their sum equals that of opcodes' "$(awk -F'\t' '{ s += $2 } END { printf "%.0f", s }' "$T/got")" \
	"$(nsysx-summary -q --tsv --by opcode --cover 1 "$T/lines" | awk -F'\t' 'NR > 1 && $1 !~ /^.GPU idle/ { s += $2 } END { printf "%.0f", s }')"
fails 'several tables require a file each' 2 'want -o FILE with a % in its name' nsysx-summary --by thunk,device -o "$T/one" "$T/step.tsv"
fails 'a table twice' 2 'or several with commas' nsysx-summary --by thunk,thunk -o "$T/of-%" "$T/step.tsv"
fails 'an empty --by' 2 'or several with commas' nsysx-summary --by thunk,,device -o "$T/of-%" "$T/step.tsv"

# Spans of ranges have other headings than GPU time in aligned tables; for a stream whose ranges launch nothing a warning has the reason.
printf '#nsysx\t2\n#device\tdevice:i\tprofile:i\n#range\tprofile:i\trange:i\tname:s\tdevice:i\tstart:i\tdur:i\thost_start:i\thost_dur:i\n#end\trecords:i\ndevice\t0\t0\n' >"$T/spans"
cp "$T/spans" "$T/idle_ranges"
printf 'range\t0\t1\ta\t0\t10\t5\t1\t2\nend\t2\n' >>"$T/spans"
printf 'range\t0\t1\ta\t\t\t\t1\t2\nend\t2\n' >>"$T/idle_ranges"
equal 'spans are headed as spans' "$(nsysx-summary -q --table --by range "$T/spans" | head -n 1 | grep -c 'span_total  span_mean')" 1
equal 'launches are not headed as operations' "$(nsysx-summary -q --table --wide --by range "$T/spans" | head -n 1 | grep -oE ' (ops|calls) ')" ' calls '
equal '... and have their names in TSV' "$(nsysx-summary -q --tsv --by range "$T/spans" | head -n 1 | cut -f 4,5)" "$(printf 'total\tmean')"
equal 'ranges that launch nothing have no rows' "$(nsysx-summary -q --tsv --by range "$T/idle_ranges" | wc -l)" 1
equal '... a warning says what to do' "$(nsysx-summary --tsv --by range "$T/idle_ranges" 2>&1 >"$T/null" | grep -c 'none of the ranges launched GPU work: .*--trace=cuda,nvtx')" 1
equal '... but not if other ranges do' "$(nsysx-summary --tsv --by range "$T/spans" 2>&1 >"$T/null" | grep -c 'none of the ranges')" 0

# ---- what overlap saved ----

# gemm takes 100 alone, twice, and 130 and 150 beside communication of which 130 and 60 are hidden; on device 1 it takes 200 alone, once only. add is beside
# a copy, and beside both; it takes 10 alone. Of two kernels at once (both and late, [2000,2100) and [2050,2200)) the first has the moment that both could
# hide. varies takes 10 and 90 alone: not known.
cat <<'END' | stream >"$T/overlap"
#device device:i profile:i
device 0 0
device 1 0
#op device:i type:s name:s start:i dur:i comm:i
op 0 kernel gemm 0 100 0
op 1 kernel gemm 0 200 0
op 0 kernel ncclAll 200 300 1
op 0 kernel gemm 220 130 0
op 0 kernel gemm 440 150 0
op 0 kernel gemm 600 100 0
op 0 kernel add 700 10 0
op 0 kernel add 720 10 0
op 0 memcpy [h2d] 800 40 0
op 0 kernel add 810 16 0
op 0 kernel ncclAll 900 50 1
op 0 memcpy [h2d] 920 50 0
op 0 kernel add 940 20 0
op 1 kernel ncclAll 1000 300 1
op 1 kernel gemm 1100 250 0
op 0 kernel varies 1400 10 0
op 0 kernel varies 1500 90 0
op 0 kernel ncclAll 1600 100 1
op 0 kernel varies 1650 20 0
op 0 kernel both 2000 100 0
op 0 kernel ncclAll 2040 100 1
op 0 kernel late 2050 150 0
END
is 'by overlap: what hiding saved' --by overlap "$T/overlap" <<'END'
name beside count hidden known alone_mean beside_mean slowdown paid saved
gemm communication 3 390 190 100 140 0.4 80 110
both communication 1 60 0 - - - - -
late communication 1 40 0 - - - - -
add both 1 20 20 10 20 1 10 10
varies communication 1 20 0 - - - - -
add copies 1 16 16 10 16 0.6 6 10
END
grep -v 'h2d' "$T/overlap" >"$T/no_copies"
equal '... the rows add up to the hidden time of devices' "$(nsysx-summary -q --partial --tsv --by overlap "$T/no_copies" | awk -F'\t' '{ s += $4 } END { print s }')" \
	"$(nsysx-summary -q --partial --tsv --by device "$T/no_copies" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { s += $at["hidden"] } END { print s }')"
nsysx-summary --table --by overlap "$T/overlap" >"$T/got"
equal '... in a sentence' "$(grep -c 'of 546 ns hidden, 41.4% are behind kernels that also ran alone: these took 96 ns (43.6%) longer, so hiding saved 57.5% of that part' "$T/got")" 1
# gemm takes less beside it, add longer; of others nothing is known.
awk -F'\t' -v OFS='\t' '$4 == "gemm" && $6 > 120 && $2 == 0 { $6 = 60 } { print }' "$T/overlap" >"$T/evenly"
nsysx-summary --table --by overlap "$T/evenly" >"$T/got"
equal '... which says its part, and contradicts no row' \
	"$(grep -c 'are behind kernels that also ran alone: in all these took no longer, beyond chance, though single rows may; of the rest nothing is known' "$T/got") $(grep -c 'saved all' "$T/got")" '1 0'
grep -v 'ncclAll\|memcpy' "$T/overlap" | nsysx-summary -v --partial --tsv --by overlap >"$T/got" 2>"$T/err"
equal 'without communication and copies there are no rows' "$(wc -l <"$T/got") $(grep -c 'nothing is hidden' "$T/err")" '1 1'
fails 'by overlap: operations out of order' 1 'out of order: op' sh -c '{ cat "$1"; printf "op\t0\tkernel\tlate\t50\t10\t0\n"; } | sed "/^#*end/d" | nsysx-summary --partial --by overlap' sh "$T/overlap"
# Beyond 73 years and without a length: counted in no table of the time of devices, and reported by each.
{ cat "$T/overlap"; printf 'op\t1\tkernel\tages\t3000\t2305843009213693953\t0\nop\t1\tkernel\tnever\t3000\t-1\t0\n'; } | sed '/^#*end/d' >"$T/ages"
for by in device total overlap; do
	nsysx-summary --partial --tsv --by $by "$T/ages" >"$T/got" 2>"$T/err"
	same "by $by: operations beyond reach are not counted" "$T/got" /dev/stdin <<END
$(nsysx-summary -q --partial --tsv --by $by "$T/overlap")
END
	equal '... and are reported' "$(grep -c 'beyond 73 years: ignored$' "$T/err") $(grep -c 'without a* *start or duration: ignored$' "$T/err")" '1 1'
done
# One rule for all tables, of text and of columns.
for by in kernel family phase scope range; do
	nsysx-summary --partial --tsv --by $by "$T/ages" >"$T/got" 2>"$T/err"
	equal "by $by: nor are they here" "$(grep -c 2305843009213693953 "$T/got") $(grep -c 'beyond 73 years: ignored$' "$T/err")" '0 1'
	sed '/^#*end/d' "$T/ages" | nsysx-view --partial -b 2>"$T/null" | nsysx-summary --partial --tsv --by $by >"$T/got2" 2>"$T/err2"
	same "by $by: binary" "$T/got" "$T/got2"
	equal '... says so, too' "$(grep -c 'beyond 73 years: ignored$' "$T/err2")" 1
done
stream >"$T/far" <<'END'
#device device:i profile:i
device 0 0
#op device:i type:s name:s start:i dur:i range:i
op 0 kernel ages 3000 2305843009213693953 1
END
nsysx-summary --by range "$T/far" >"$T/got" 2>"$T/err"
nsysx-view -b "$T/far" | nsysx-summary --by range >"$T/null" 2>"$T/err2"
equal 'an operation beyond reach is no range' "$(grep -c 'no range records' "$T/err")" 1
same '... in columns neither' "$T/err" "$T/err2"
# What is beyond reach is ignored, not lacking.
cat >"$T/far.txt" <<'END'
#device device:i profile:i
device 0 0
#program program:i id:i name:s key:s
program 0 7 step step@7
#module device:i program:i execution:i start:i dur:i
module 0 0 0 10 2305843009213693953
#thunk device:i program:i execution:i inst:i start:i dur:i
thunk 0 0 0 1 10 2305843009213693953
#range profile:i range:i name:s start:i dur:i ops:i
range 0 1 r 10 20 1
#op device:i type:s name:s start:i dur:i range:i
op 0 kernel ages 3000 2305843009213693953 1
END
stream <"$T/far.txt" >"$T/far"
for by in module thunk opcode collective device total kernel source phase scope family range; do
	nsysx-summary --tsv --by $by "$T/far" >"$T/got" 2>"$T/err"
	equal "by $by: records beyond reach are reported, not asked for" "$(grep -c 'beyond 73 years' "$T/err") $(grep -c '^.*: no .* records\|extract with' "$T/err")" '1 0'
done
# Thunks whose operations do not count.
sed 's/^\(module 0 0 0 10\) .*/\1 50/; s/^\(thunk 0 0 0 1 10\) .*/\1 40/' "$T/far.txt" | stream >"$T/partly"
for by in device total phase scope; do
	equal "by $by: times of thunks say so" "$(nsysx-summary -v --tsv --by $by "$T/partly" 2>&1 >"$T/got" | grep -c 'no operation counts: times are those of thunks')" 1
done
nsysx-summary -q --tsv --by device "$T/far" >"$T/got"
equal '... and their device has a row' "$(cut -f 1,3 "$T/got" | tail -n +2 | tr '\t' ' ')" '0 '
# Instructions of equal costs do the same work, others do not.
overlap_costs() {
	cat <<'END' | sed "s/BYTES/$1/" | stream
#device device:i profile:i
device 0 0
#program program:i id:i name:s key:s
program 0 7 step step@7
#inst program:i inst:i name:s opcode:s comm:i flops:i vector:i mem_bytes:i
inst 0 0 dot.1 dot 0 1000 0 64
inst 0 1 dot.2 dot 0 1000 0 BYTES
inst 0 2 ar all-reduce 1 - - -
#op device:i program:i execution:i inst:i type:s name:s start:i dur:i comm:i
op 0 0 0 0 kernel gemm 0 100 0
op 0 0 0 0 kernel gemm 200 100 0
op 0 0 0 2 kernel ncclAll 400 300 1
op 0 0 0 1 kernel gemm 500 120 0
END
}
overlap_costs 64 >"$T/overlap"
is 'by overlap: instructions of equal costs do equal work' --by overlap "$T/overlap" <<'END'
name beside count hidden known alone_mean beside_mean slowdown paid saved
gemm communication 1 120 120 100 120 0.2 20 100
END
overlap_costs 65 >"$T/overlap"
is '... others do not' --by overlap "$T/overlap" <<'END'
name beside count hidden known alone_mean beside_mean slowdown paid saved
gemm communication 1 120 0 - - - - -
END
if [ -x "$SYNTH" ]; then
	"$SYNTH" -q -o "$T/contend" --torch --contend 60 --layers 6 --steps 8
	nsysx-extract -q --ops "$T/contend"/r?.sqlite | nsysx-summary -q --tsv --by overlap >"$T/got"
	# Kernels and what they took longer, from the plan.
	awk -F'\t' 'NR > 1 { n += $3; t += $4 } END { print n, t }' "$T/contend/answers/contended.tsv" >"$T/known"
	equal 'a job with kernels that are slow beside collectives: their number' "$(awk -F'\t' '$2 == "communication" { n += $3 } END { print n }' "$T/got")" \
		"$(cut -d' ' -f1 "$T/known")"
	ok '... and what they took longer, by 15 % at most' awk -F'\t' 'NR == FNR { split($0, k, " "); want = k[2]; next } FNR > 1 { got += $9 }
		END { exit !(want > 100000 && got > 0.85 * want && got < 1.15 * want) }' "$T/known" "$T/got"
	# The same by pairs of operations.
	python3 - "$T/contend/answers/ops.tsv" >"$T/want" <<'END'
import collections, csv, statistics, sys
ops = collections.defaultdict(list)
for o in csv.DictReader(open(sys.argv[1]), delimiter="\t"):
    ops[o["device"]].append((int(o["start"]), int(o["start"]) + int(o["dur"]), o["type"], o["name"]))
cells = collections.defaultdict(lambda: ([], collections.defaultdict(list)))
for device, of in ops.items():
    comm = [o for o in of if "nccl" in o[3]]
    copy = [o for o in of if o[2] != "kernel"]
    for k in of:
        if k[2] != "kernel" or "nccl" in k[3]:
            continue
        by = lambda l: sum(max(0, min(k[1], o[1]) - max(k[0], o[0])) for o in l)
        c, m = by(comm), by(copy)
        name = "both" if c and m else "communication" if c else "copies"
        if c or m:
            cells[device, k[3]][1][name].append((k[1] - k[0], c + m))
        else:
            cells[device, k[3]][0].append(k[1] - k[0])
rows = collections.defaultdict(lambda: [0, 0, 0, 0.0])
for (device, name), (alone, beside) in cells.items():
    for side, l in beside.items():
        r = rows[name, side]
        r[0] += len(l)
        r[1] += sum(h for _, h in l)
        if len(alone) > 1 and statistics.stdev(alone) < 0.2 * statistics.mean(alone):
            r[2] += sum(h for _, h in l)
            r[3] += sum(d - statistics.mean(alone) for d, _ in l)
for (name, side), r in sorted(rows.items()):
    print(name, side, *r[:3], "%.1f" % r[3], sep="\t")
END
	awk -F'\t' 'NR > 1 { printf "%s\t%s\t%s\t%s\t%s\t%.1f\n", $1, $2, $3, $4, $5, $9 }' "$T/got" | LC_ALL=C sort >"$T/rows"
	same '... as found by comparing all operations with each other' "$T/rows" "$T/want"
fi
# The first text of a block is a name and a domain, and other ranges are without one: they are rows of their own, in text and in binary.
awk 'BEGIN {
	OFS = "\t"
	print "#nsysx", 2
	print "#range", "profile:i", "range:i", "domain:s", "name:s", "start:i", "dur:i", "ops:i"
	print "#op", "profile:i", "op:i", "type:s", "device:i", "name:s", "start:i", "dur:i", "range:i"
	for (i = 0; i < 100; i++) {
		print "range", 0, i, i % 2 ? "" : "NCCL", i ? "all_reduce, seq = " int(i / 2) : "NCCL", 1000 * (i + 1), 100, 1
		print "op", 0, i, "kernel", 0, "k", 1000 * (i + 1), 100, i
	}
	print "#end", "records:i"
	print "end", 200
}' >"$T/domains"
nsysx-view -b -o "$T/domains.nsx" "$T/domains"
for file in domains domains.nsx; do
	equal "the same name with and without a domain: $file" \
		"$(nsysx-summary -q --tsv --by range "$T/$file" | awk -F'\t' 'NR > 1 { print $1 ":" $2, $3 }' | LC_ALL=C sort | tr '\n' ' ')" \
		':all_reduce 50 NCCL:NCCL 1 NCCL:all_reduce 49 '
done

# Records of a binary block come in runs, as columns, those of text one by one. The 40 ranges of each name follow each other in turn, with
# an operation of 2 ns in each, the last ones with one more outside of ranges: 80 ns of 242 for a name.
awk 'BEGIN {
	OFS = "\t"
	print "#nsysx", 2
	print "#range", "profile:i", "range:i", "name:s", "start:i", "dur:i", "ops:i"
	print "#op", "profile:i", "op:i", "type:s", "device:i", "name:s", "start:i", "dur:i", "range:i"
	for (i = 0; i < 120; i++) {
		name = i % 3 == 0 ? "aten::mm, op_id = " i : i % 3 == 1 ? "aten::mm_1" : "Mm, seq = " i % 7 ", op_id = " i * 37
		print "range", 0, i, name, 10 * i, 5, 1
		print "op", 0, i, "kernel", 0, "k" i % 2, 10 * i + 1, 2, i
	}
	print "op", 0, i, "kernel", 0, "k0", 10 * i, 2, ""
	print "#end", "records:i"
	print "end", 241
}' >"$T/turns"
for form in text binary; do
	file=$T/turns
	[ $form = text ] || { file=$T/turns.nsx; nsysx-view -b -o "$file" "$T/turns"; }
	is "ranges in turn, $form" --by range "$file" <<'END'
domain name count total mean std min max ops host_total gpu_time gpu_self gpu_mean gpu_share
- Mm 40 200 5 0 5 5 40 0 80 80 2 0.330578512397
- aten::mm 40 200 5 0 5 5 40 0 80 80 2 0.330578512397
- aten::mm_1 40 200 5 0 5 5 40 0 80 80 2 0.330578512397
END
	is "kernels in turn, $form" --by kernel "$file" <<'END'
type name count total mean std min max share
kernel k0 61 122 2 0 2 2 0.504132231405
kernel k1 60 120 2 0 2 2 0.495867768595
END
	equal "in full each range with a number has a row, $form" "$(nsysx-summary --by range --names full --tsv "$file" | wc -l | tr -d ' ')" 82
done
for file in ops spans nested removed helped; do
	nsysx-view -b -o "$T/$file.nsx" "$T/$file"
	for by in kernel range 'range --helpers' 'range --no-compile' 'range --names digits'; do
		# shellcheck disable=SC2086
		equal "$file by $by: in binary as in text" "$(nsysx-summary -v --by $by --tsv "$T/$file.nsx" 2>&1)" \
			"$(nsysx-summary -v --by $by --tsv "$T/$file" 2>&1)"
	done
done

cut_periods >"$T/periods"
equal 'of a stream that was cut the wall of thunks is the periods' "$(nsysx-summary -q --by total --tsv "$T/periods" | awk '/^wall|^idle/ { print $(NF - 1) }' | tr '\n' ' ')" '200 20 80 '
equal '... and the span of a device' "$(nsysx-summary -q --by device --tsv "$T/periods" | cut -f 4,5,9 | sed -n 2p | tr '\t' ' ')" '200 120 100'
done_testing
