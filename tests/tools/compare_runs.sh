#!/bin/sh
# nsysx-compare with several base runs: what differs from run to run is noise, computed again in Python.
. "${0%/*}/../testlib.sh"
. "${0%/*}/../comparelib.sh"

# A stream of a program's executions on standard output: their periods, us. name=value: name of the program, utc of the session.
cat >"$T/run.py" <<'END'
import sys
o = dict(a.split("=", 1) for a in sys.argv[1:] if "=" in a)
periods = [float(a) for a in sys.argv[1:] if "=" not in a]
name, t, n = o.get("name", "step"), 1000, 0
print("#nsysx\t2\n#profile\tprofile:i\tname:s\tstart_utc:i\n#device\tdevice:i\tprofile:i\tname:s")
print("#program\tprogram:i\tid:i\tname:s\tkey:s\n#module\tprofile:i\tprogram:i\texecution:i\tdevice:i\tstart:i\tdur:i")
print("profile\t0\tp\t%s\ndevice\t0\t0\tGPU\nprogram\t0\t7\t%s\t%s@7" % (o.get("utc", ""), name, name))
for p in periods + [periods[-1]]:
    print("module\t0\t0\t%d\t0\t%d\t%d" % (n, t, 50000))
    t += round(1000 * p)
    n += 1
print("#end\trecords:i\nend\t%d" % (n + 3))
END
# run NAME MEAN [SPREAD [COUNT]]: COUNT periods around MEAN, half of them SPREAD above it and half below.
run_of() {
	python3 - "$2" "${3:-1}" "${4:-20}" >"$T/periods" <<'END'
import sys
mean, spread, n = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
print(*[mean + (spread if i % 2 else -spread) for i in range(n)])
END
	python3 "$T/run.py" $(cat "$T/periods") >"$T/$1"
}
# noise ALPHA VALUES...: t of n - 1 degrees of freedom, integrated by Simpson's rule, times the deviation of a further value from the mean of these.
cat >"$T/noise.py" <<'END'
import math, statistics, sys
alpha, v = float(sys.argv[1]), [float(x) for x in sys.argv[2:]]
k = len(v)
def tail(t, f):   # P(T > t); x = t + u / (1 - u)
    if f == 1: return math.atan(1 / t) / math.pi if t > 0 else 0.5
    c = math.exp(math.lgamma((f + 1) / 2) - math.lgamma(f / 2)) / math.sqrt(f * math.pi)
    g = lambda u: 0 if u >= 1 else c * (1 + (t + u / (1 - u)) ** 2 / f) ** (-(f + 1) / 2) / (1 - u) ** 2
    n = 20000
    return sum(g(i / n) * (1 if i in (0, n) else 4 if i % 2 else 2) for i in range(n + 1)) / 3 / n
low, high = 0, 2000
for _ in range(60):
    mid = (low + high) / 2
    low, high = (mid, high) if tail(mid, k - 1) > alpha else (low, mid)
print("%.1f" % (1000 * low * statistics.stdev(v) * math.sqrt(1 + 1 / k)))
END
period() { nsysx-compare -q --tsv --by step "$@" 2>"$T/said" | columns class,statistic,base,new,noise,verdict,witness,base_runs,base_min,base_max,base_std | awk '$2 == "period"'; }

# By device where there are no steps: a run is one value. Two devices, of which the operations take 1 ms each at 100.
whole() {
	awk -v OFS='\t' -v of="$2" -v n="${3:-40}" 'BEGIN { print "#nsysx", 2; print "#profile", "profile:i", "name:s"; print "#device", "device:i", "profile:i", "name:s"
		print "#op", "profile:i", "op:i", "type:s", "device:i", "stream:i", "name:s", "start:i", "dur:i"; print "profile", 0, "p"
		for (d = 0; d < 2; d++) print "device", d, 0, "GPU"
		for (i = 0; i < n; i++) for (d = 0; d < 2; d++) print "op", 0, k++, "kernel", d, 7, "gemm", i * 20000 * of, 10000 * of
		print "#end", "records:i"; print "end", 2 * n + 3 }' >"$T/$1"
}
wholes= n=0
for m in 100 102 99 101 98 100; do
	n=$((n + 1))
	whole whole.$n $m
	wholes="$wholes $T/whole.$n"
done
whole whole.near 104
whole whole.far 112
whole whole.longer 100 50
# shellcheck disable=SC2086
{
	gate 'whole runs that differ as the base runs do are the same' 0 'times are of whole runs' --by device $wholes "$T/whole.near"
	gate 'one that differs more is slower' 1 'slower: device 1: window: 88.48 ms per run, was 79.00 ms' --by device $wholes "$T/whole.far"
	equal 'noise is that between the runs' "$(nsysx-compare -q --tsv --by device $wholes "$T/whole.far" | columns device,statistic,noise,verdict,witness,base_runs,base_min,base_max | awk '$2 == "compute" { printf "%s %.0f %s %s %s %s %s;", $1, $3, $4, $5, $6, $7, $8 }')" \
		"$(n=$(python3 "$T/noise.py" 0.0006749490 40000 40800 39600 40400 39200 40000 | awk '{ printf "%.0f", $1 }'); for d in 0 1; do printf '%s %s slower both 6 39200000 40800000;' $d "$n"; done)"
	gate 'runs of another amount of work do not compare' 3 'not comparable: BASE has 80 operations, NEW 100' --by device $wholes "$T/whole.longer"
	gate '... nor as a base run' 3 'BASE 2: it has 100 operations, the first base run 80' --by device "$T/whole.1" "$T/whole.longer" "$T/whole.2"
}

means='100 102 99 101 98 100'
bases=
for m in $means; do
	run_of "base.$m.$(echo "$bases" | wc -w)" "$m"
	bases="$bases $T/base.$m.$(echo "$bases" | wc -w)"
done
run_of near 107
run_of far 112
run_of quick 80
# shellcheck disable=SC2086
{
	first=${bases# }
	first=${first%% *}
	gate 'within the first run alone 7 % is not noise' 1 'slower: step: period: 107.0 us per step, was 100.0 us (+7.0%)' --by step "$first" "$T/near"
	gate 'between six runs it is' 0 '' --by step $bases "$T/near"
	gate '12 % is not' 1 'slower: step: period: 112.0 us per step, was 100.0 us (+12.0%), noise 9.825 us between 6 base runs' --by step $bases "$T/far"
	gate 'nor is what one run tells, without --by' 1 'slower: step: period: ' $bases "$T/far"
	want=$(python3 "$T/noise.py" 0.000675 $means)
	equal 'noise is that of the formula' "$(period $bases "$T/near" | awk '{ printf "%.0f", $5 - '"$want"' }')" 0
	equal 'the row shows the runs: mean, number, extremes' "$(period $bases "$T/near" | awk '{ print $3, $4, $6, $8, $9, $10 }')" '100000 107000 hidden 6 98000 102000'
	equal 'and their standard deviation' "$(period $bases "$T/near" | awk '{ printf "%.1f\n", $11 }')" 1414.2
	equal 'mean and median speak' "$(period $bases "$T/far" | cut -d ' ' -f 6,7)" 'slower both'
	equal 'faster likewise' "$(period $bases "$T/quick" | cut -d ' ' -f 6,7)" 'faster both'
	gate 'what is hidden is a warning' 0 'the period grew by 7.0%, less than its noise, 9.8%: hidden; compare more base runs' --by step $bases "$T/near"
	gate 'a row without noise is judged by the floors' 1 'slower: step' --sigma=0 $bases "$T/near"
	nsysx-compare -q --by step --table --wide $bases "$T/far" >"$T/table"
	ok 'a line below the table tells of how many runs the steps are' grep -q 'BASE has 126 steps of step@7 on 1 device in 6 runs' "$T/table"
}

# Runs that differ by 5 %, so that a run that is a tenth slower is within their noise, and one that is equal tells nothing.
run_of x 95
run_of y 105
run_of z 100
run_of tenth 110
run_of even 100
wide=$(python3 "$T/noise.py" 0.000675 95 105 100 | awk '{ printf "%.1f", $1 / 1000 }')
for new in tenth even; do
	gate "of runs that differ much $new is not judged" 3 "not judged: step: noise between 3 base runs is $wide% or more, so that an increase of 2% is not seen" --by step "$T/x" "$T/y" "$T/z" "$T/$new"
	equal '... in the headline' "$(nsysx-compare -q --markdown --by step "$T/x" "$T/y" "$T/z" "$T/$new" | grep -c '^\*\*not judged\*\* by step: step: noise')" 1
done
gate 'who asks for as much as that gets an answer' 0 '' --by step --percent 200 "$T/x" "$T/y" "$T/z" "$T/tenth"
run_of far3 500
gate 'as do runs that differ by more' 1 'slower: step: period' --by step "$T/x" "$T/y" "$T/z" "$T/far3"
gate 'or none, if noise is not asked for' 1 'slower: step: period' --by step --sigma 0 "$T/x" "$T/y" "$T/z" "$T/tenth"

# Few runs.
run_of a 100
run_of b 100.2
run_of c 100.1
run_of d 105
gate 'two base runs are compared' 3 'two base runs hardly tell how runs differ' --by step "$T/a" "$T/b" "$T/d"
equal 'with the larger noise, that of one degree of freedom' "$(period "$T/a" "$T/b" "$T/d" | awk '{ printf "%.2f %s", $5 / '"$(python3 "$T/noise.py" 0.000675 100 100.2)"', $6 }')" '1.00 hidden'
gate 'three find it' 1 'between 3 base runs' --by step "$T/a" "$T/b" "$T/c" "$T/d"
run_of e 100 20 8
run_of e2 100 20 8
run_of f 115 20 8
gate 'two equal runs have the noise of their steps' 3 'less than its noise' --by step "$T/e" "$T/e2" "$T/f"

# A run that lacks the steps, a short one, one of another class.
sed '/^module/d; s/^end\t.*/end\t3/' "$T/a" >"$T/none"
gate 'a base run without steps does not count' 1 'between 3 base runs' --by step "$T/a" "$T/none" "$T/b" "$T/c" "$T/d"
nsysx-compare -q --by step --table --wide "$T/a" "$T/none" "$T/b" "$T/c" "$T/d" >"$T/table"
ok '... below the table, too' grep -q 'BASE has 63 steps of step@7 on 1 device in 3 runs' "$T/table"
gate 'and is named' 1 'warning: BASE 2: no steps: it is not one of the base runs' --by step "$T/a" "$T/none" "$T/b" "$T/c" "$T/d"
run_of short 105 1 6
gate 'a run that is much shorter is not judged' 3 'not comparable: step: NEW has 6 steps, each base run 20 or more: record as many' --by step "$T/a" "$T/b" "$T/c" "$T/short"
run_of less 105 1 12
gate 'one of more than half as many steps is' 1 'slower' --by step "$T/a" "$T/b" "$T/c" "$T/less"
python3 "$T/run.py" name=other 100 100 100 100 100 100 >"$T/other"
gate 'base runs of another program match nothing' 3 'not comparable: ' --by step "$T/other" "$T/other" "$T/other" "$T/a"
equal 'a class that some base runs have' "$(period "$T/other" "$T/a" "$T/b" "$T/c" "$T/d" | cut -d ' ' -f 1,6,8 | sort)" 'other@7 gone 1
step@7 slower 3'

# The rest of the contract.
fails 'other ways have one base run' 2 'several base runs: want --by step or device' nsysx-compare --by module "$T/a" "$T/b" "$T/c"
fails 'one stream is too few' 2 'want two streams or tables or more, BASE... and NEW' nsysx-compare "$T/a"
fails 'standard input is read once' 2 'standard input can be read only once' nsysx-compare - "$T/a" -
equal 'one of several may be standard input' "$(nsysx-compare -q --tsv --by step "$T/a" - "$T/c" "$T/d" <"$T/b")" "$(nsysx-compare -q --tsv --by step "$T/a" "$T/b" "$T/c" "$T/d")"
equal 'the order of base runs does not matter' "$(nsysx-compare -q --tsv --by step "$T/c" "$T/a" "$T/b" "$T/d" | cut -f 1-8)" "$(nsysx-compare -q --tsv --by step "$T/a" "$T/b" "$T/c" "$T/d" | cut -f 1-8)"
equal 'two streams have no columns of runs' "$(nsysx-compare -q --tsv --by step "$T/a" "$T/d" | head -n 1 | grep -c base_runs)" 0

# By their tails: a long step among 120, as long in all base runs, longer in NEW.
tails() { python3 "$T/run.py" $(awk -v long="$2" -v d="$3" 'BEGIN { for (i = 0; i < 120; i++) print i % 40 == 7 ? long : 100 + d + i % 2 }') >"$T/$1"; }
tails t1 200 0.0
tails t2 202 0.1
tails t3 198 0.2
tails t4 200 0.1
tails tn 290 0.1
tails ts 203 0.1
gate 'p99 is judged between runs, from 100 steps on' 1 'slower: step: period: p99 290.0 us, was 200.0 us (+45.0%), noise 16.' --gate=p99 --by step "$T/t1" "$T/t2" "$T/t3" "$T/t4" "$T/tn"
gate 'of equal ones it is the same' 0 '' --gate=p99 --by step "$T/t1" "$T/t2" "$T/t3" "$T/t4" "$T/ts"
tails th 210 0.1
tails tf 190 0.1
gate 'what may be noise is hidden, with a warning about the p99' 0 'step@7: p99 of the period grew by 5.0%, no more than its noise: hidden; compare more base runs' --gate=p99 --by step "$T/t1" "$T/t2" "$T/t3" "$T/t4" "$T/th"
equal '... and no other' "$(grep -c 'grew by' "$T_private/err")" 1
for at in 'th hidden -' 'tf hidden -' 'tn slower p99'; do
	set -- $at
	equal "... in the table: $1" "$(nsysx-compare -q --tsv --gate=p99 --by step "$T/t1" "$T/t2" "$T/t3" "$T/t4" "$T/$1" 2>"$T/said" | columns statistic,verdict,witness | grep '^period')" "period $2 $3"
done
nsysx-compare -q --tsv --gate=p99 --by step "$T/t1" "$T/t2" "$T/t3" "$T/t4" "$T/th" 2>"$T/said" >"$T/rows"
equal 'a row shows the p99 of both, how much it grew, and the noise of that' "$(columns statistic,base,new,delta,change,base_p99,new_p99,base_min,base_max <"$T/rows" | grep '^period')" 'period 200000 210000 10000 0.05 200000 210000 198000 202000'
want=$(python3 "$T/noise.py" 0.001349898 200 202 198 200)
equal '... computed again' "$(columns statistic,noise <"$T/rows" | awk '/^period/ { printf "%.0f", $2 - '"$want"' }')" 0
# A tail of one device of two: the other one's is shorter, and so is the mean of both.
device_tails() {
	awk -v OFS='\t' -v a="$2" -v b="$3" 'BEGIN {
		print "class", "device", "step", "span", "period", "compute", "exposed", "copy", "idle", "kept"
		for (d = 0; d < 2; d++) for (i = 0; i < 120; i++) {
			p = 100000 + i % 2 + (i % 40 == 7 ? 1000 * (d ? b : a) : 0)
			print "t", d, i, p - 10, p, p, 0, 0, 0, 1
		} }' >"$T/$1.tsv"
}
device_tails v1 100.0 80
device_tails v2 101.0 79
device_tails v3 100.5 79.5
device_tails vn 130.0 50
run nsysx-compare --gate=p99 --markdown "$T/v1.tsv" "$T/v2.tsv" "$T/v3.tsv" "$T/vn.tsv"
equal 'a tail of one device fails the gate, and is told once' "$status $(grep -c 'slower: t on device 0: period: p99 230.0 us, was 200.5 us (+14.7%)' "$T_private/err") $(grep -c 'slower: ' "$T_private/err")" '1 1 1'
equal '... with the device in the headline' "$(head -n 1 "$T_private/out" | grep -c '^\*\*slower\*\* by step: .*; on device 0 alone$')" 1
equal '... and the change of its p99 in the row' "$(nsysx-compare -q --tsv --gate=p99 "$T/v1.tsv" "$T/v2.tsv" "$T/v3.tsv" "$T/vn.tsv" 2>"$T/said" | columns device,statistic,change | awk '$1 == 0 && $2 == "period" { printf "%.1f", 100 * $3 }')" 14.7
gate 'fewer steps do not tell' 3 'not comparable: step: NEW has 20 steps, a base run 20, want 100 for their p99: record more steps' --gate=p99 --by step "$T/a" "$T/b" "$T/c" "$T/d"
# A part of the period by its tail: exposed communication of some steps, whose idle time is as before.
parts() {
	awk -v OFS='\t' -v long="$2" 'BEGIN {
		print "class", "device", "step", "span", "period", "compute", "exposed", "copy", "idle", "kept"
		for (i = 0; i < 120; i++) { e = i % 40 == 7 ? long : 20000 + i % 2; print "t", 0, i, 70000 + e, 80000 + e, 70000, e, 0, 10000, 1 }
	}' >"$T/$1.tsv"
}
parts p1 50000
parts p2 50200
parts p3 50100
parts pn 150000
statistics() { nsysx-compare -q --tsv --gate=p99 "$T/p1.tsv" "$T/p2.tsv" "$T/p3.tsv" "$1" 2>"$T/said" | columns statistic,verdict | tr '\n' ' '; }
equal 'every statistic is judged by its p99' "$(statistics "$T/pn.tsv")" 'period slower compute same exposed slower copy same idle same span slower '
equal '... and equal ones are the same' "$(statistics "$T/p3.tsv")" 'period same compute same exposed same copy same idle same span same '

# ---- kept tables ----
for r in a b c d; do
	nsysx-steps -q --tsv --each "$T/$r" >"$T/$r.tsv"
done
gate 'tables of steps are as good as streams' 1 'slower: step: period: 105.0 us per step, was 100.0 us (+5.0%)' "$T/a.tsv" "$T/d.tsv"
gate 'which --by step may confirm' 1 'slower: step: period: ' --by step "$T/a.tsv" "$T/d.tsv"
gate 'several are base runs, mixed with streams' 1 'between 3 base runs' "$T/a.tsv" "$T/b" "$T/c.tsv" "$T/d"
equal 'in any place' "$(nsysx-compare -q --tsv "$T/a" "$T/b.tsv" "$T/c" "$T/d.tsv")" "$(nsysx-compare -q --tsv --by step "$T/a" "$T/b" "$T/c" "$T/d")"
(head -n 1 "$T/d.tsv"; sed 1d "$T/d.tsv" | sort -r) >"$T/sorted.tsv"
equal 'the order of the rows does not matter' "$(nsysx-compare -q --tsv "$T/a.tsv" "$T/sorted.tsv")" "$(nsysx-compare -q --tsv "$T/a.tsv" "$T/d.tsv")"
awk -F'\t' -v OFS='\t' '{ print $9, $1, $2, $3, $8, $11, $12, $14, $15 }' "$T/d.tsv" | awk -F'\t' -v OFS='\t' '{ print $2, $3, $4, $1, $5, $6, $7, $8, $9 }' >"$T/cut.tsv"
equal 'columns that are not read may be missing' "$(nsysx-compare -q --tsv "$T/a.tsv" "$T/cut.tsv")" "$(nsysx-compare -q --tsv "$T/a.tsv" "$T/d.tsv")"
nsysx-steps -q --tsv "$T/a" >"$T/classes.tsv"
gate 'a table by class has no times of steps' 3 'classes.tsv: a table of steps: want a row for each, as of nsysx-steps --each' "$T/classes.tsv" "$T/d"
gate 'a table by step is not one by module' 3 'a.tsv: a table by step: want one by module' --by module "$T/a.tsv" "$T/d"
head -c 600 "$T/a.tsv" >"$T/short.tsv"
gate 'a table that is cut short is refused' 3 'short.tsv: cut short: the last line has no end' "$T/short.tsv" "$T/d"
sed '3s/\t100000\t/\t-5\t/; 3s/\t99000\t/\t-5\t/; 3s/\t101000\t/\t-5\t/' "$T/a.tsv" >"$T/bad.tsv"
gate 'a time that is none is refused with its line' 3 'bad.tsv:3: period: want a whole number that is not negative, got "-5"' "$T/bad.tsv" "$T/d"

SYNTH=$B/tests/synth/nsysx-synth
if [ -x "$SYNTH" ]; then
	# Jobs with operations on two devices, calls, and steps of another class between.
	n=0
	for args in '--torch --steps=12' '--torch --steps=12 --seed=2' '--steps=12 --evaluate=3' '--steps=12 --evaluate=3 --seed=2'; do
		n=$((n + 1))
		# shellcheck disable=SC2086
		"$SYNTH" -q -o "$T/j" $args >"$T/null" || fail "the job $args" 'nsysx-synth failed' "$args"
		case $args in
		*torch*) nsysx-extract -q -a -o "$T/j$n" "$T/j/r0.sqlite" "$T/j/r1.sqlite" ;;
		*) nsysx-extract -q -a -o "$T/j$n" -x "$T/j/dump0" "$T/j/r0.sqlite" -x "$T/j/dump1" "$T/j/r1.sqlite" ;;
		esac
		rm -rf "$T/j"
		nsysx-steps -q --tsv --each "$T/j$n" >"$T/j$n.tsv"
	done
	for pair in '1 2' '3 4'; do
		a=$T/j${pair% *} b=$T/j${pair#* }
		nsysx-compare -q --tsv --by step "$a" "$b" | grep -v "	idle:" >"$T/streams"
		ok 'two jobs have rows to compare' test "$(wc -l <"$T/streams")" -gt 12
		for sides in "$a.tsv $b.tsv" "$a $b.tsv" "$a.tsv $b"; do
			# shellcheck disable=SC2086
			equal "rows of tables are those of streams, but for causes: $(echo "$sides" | sed "s|$T/||g")" "$(nsysx-compare -q --tsv --by step $sides)" "$(cat "$T/streams")"
		done
	done

	# By device: five runs of a job, and one of which a kernel takes five times as long.
	for seed in 1 2 3 4 5 6 7; do
		# Instructions are numbered from a thousand times the seed before.
		"$SYNTH" -q -o "$T/j" --steps=14 --seed=$seed $(test $seed -lt 7 || echo --slow=cublas-gemm.6000:400) >"$T/null"
		nsysx-extract -q --ops -x "$T/j/dump0" "$T/j/r0.sqlite" -x "$T/j/dump1" "$T/j/r1.sqlite" | nsysx-warmup -q -o "$T/s$seed"
		rm -rf "$T/j"
	done
	runs="$T/s1 $T/s2 $T/s3 $T/s4 $T/s5"
	# shellcheck disable=SC2086
	{
		gate 'equal jobs by device are the same' 0 '' --by device $runs "$T/s6"
		gate 'a slower one is found on each device' 1 'slower: device 0: period' --by device $runs "$T/s7"
		gate '... on the other' 1 'slower: device 1: period' --by device $runs "$T/s7"
		for r in $runs "$T/s6"; do
			nsysx-compare -q --tsv --by device "$r" "$T/s7" | columns device,statistic,base
		done | awk '{ k = $1 " " $2; if (!(k in sum)) order[++n] = k; if (++seen[k] < 7) sum[k] += $3 } END { for (i = 1; i <= n; i++) printf "%s %.3f\n", order[i], sum[order[i]] / 6 }' >"$T/means"
		equal 'a base value is the mean of those of the runs' "$(nsysx-compare -q --tsv --by device $runs "$T/s6" "$T/s7" | columns device,statistic,base | awk '{ printf "%s %s %.3f\n", $1, $2, $3 }')" "$(cat "$T/means")"
		gate 'by step, too' 1 'slower: jit_train_step: period' --by step $runs "$T/s7"
		nsysx-summary -q --tsv --by device "$T/s1" >"$T/device.tsv"
		gate 'a table by device has no steps' 3 'BASE 2: several base runs by device: want steps on all devices, as in the first one, or in none; by step other runs can be compared' --by device "$T/s1" "$T/device.tsv" "$T/s2"
	}
else
	skip 'tables of jobs' 'there is no nsysx-synth'
fi
done_testing
