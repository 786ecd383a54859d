#!/bin/sh
# nsysx-compare of runs without steps: captures of 300 ms of layers, whose host needs longer between the same operations.
. "${0%/*}/../testlib.sh"
. "${0%/*}/../comparelib.sh"
cd "${0%/*}" || exit 1

# capture NAME SEED GAP STALL [WHAT]: two devices, each driven by its thread, run layers of 4 blocks of 5 operations with GAP us between them, by
# chance a fifth more or less; one layer of three stalls for up to STALL us. The ranges of layers launch the first operation alone: they have little of
# the GPU's work. WHAT: `gemm`: that takes a tenth longer; `half`: every other `norm` is left out; `unnamed`: there are no ranges.
capture() {
	awk -v seed="$2" -v gap="$3" -v stall="$4" -v what="${5-}" 'BEGIN {
		srand(seed)
		print "device device=0"; print "device device=1"
		for (d = 0; d < 2; d++) {
			t = h = 1000000 + 1000 * d
			for (layer = 0; t < 300000000; layer++) {
				first = t
				wait = rand() < 0.33 ? int(rand() * stall * 1000) : 0
				at = int(rand() * 20)
				for (i = 0; i < 20 && t < 300000000; i++) {
					k = i % 5
					name = k == 0 ? "copy" : k == 1 ? "norm" : k == 2 ? "gemm" : k == 3 ? "attention" : "add"
					dur = int((k == 0 ? 40 : k == 1 ? 60 : k == 2 ? 600 : k == 3 ? 2500 : 80) * 1000 * (1 + (rand() - 0.5) / 500))
					if (what == "gemm" && k == 2) dur = int(dur * 1.1)
					if (what == "half" && k == 1 && int(i / 5) % 2) continue
					printf "op device=%d stream=7 name=%s start=%d dur=%d tid=%d host_start=%d host_dur=10%s\n", d, name, t, dur, d + 1, t - 500,
						i == 0 && what != "unnamed" ? " range=" (2 * layer + d + 1) : ""
					if (i == 0 && what != "unnamed")
						printf "range range=%d tid=%d device=%d name=layer~%d,~op_id~=~%d host_start=%d host_dur=20000 start=%d dur=%d\n", 2 * layer + d + 1, d + 1, d, layer, layer, t - 1000, t, dur
					t += dur + int(gap * 1000 * (0.8 + 0.4 * rand())) + (i == at ? wait : 0)
				}
			}
		}
	}' | awk -f host/stream.awk >"$T/$1"
}
# The example of the manual, 100 times or that many, the last gap missing: gemm 10 us, GAP1 until copy, copy 3, GAP2 until gemm. A stray operation on another stream has no place in NEW.
example() {
	awk -v a="$1" -v b="$2" -v stray="${3-}" -v n="${4-100}" 'BEGIN {
		print "device device=0"
		t = 1000000
		if (stray) for (i = 0; i < 9; i++) printf "op device=0 stream=9 name=stray start=%d dur=100 tid=1 host_start=%d host_dur=10\n", t + i * 1000, t - 500
		for (i = 0; i < n; i++) {
			printf "op device=0 stream=7 name=gemm start=%d dur=10000 tid=1 host_start=%d host_dur=10\n", t, t - 500
			t += 10000 + a
			printf "op device=0 stream=7 name=copy start=%d dur=3000 tid=1 host_start=%d host_dur=10\n", t, t - 500
			t += 3000 + b
		} }' | awk -f host/stream.awk
}
example 2000 5000 >"$T/manual"
example 4000 6000 1 >"$T/manual2"
run nsysx-compare --gate --by kernel "$T/manual" "$T/manual2"
equal 'the example of the manual' "$status $(grep -c 'slower: the same work takes 15.0% longer: its operations +0.0%, idle time between them +15.0%, all of it' "$T_private/err")" '1 1'
# Two streams that run in turn, each for so many ns, and then neither for 4 us: what one waits for the other is no idle time of the device.
two() {
	awk -v dur="$1" 'BEGIN {
		print "device device=0"
		for (i = 0; i < 200; i++) for (s = 7; s < 9; s++)
			printf "op device=0 stream=%d name=gemm%d start=%d dur=%d tid=1 host_start=%d host_dur=10\n", s, s, 1000000 + i * (2 * dur + 4000) + (s - 7) * dur, dur, 900000 + i * 20 + s
	}' | awk -f host/stream.awk
}
two 10000 >"$T/two"
two 12000 >"$T/two2"
# Turns of 24 us and 28 us: of each stream 10 is its own, 10 the other's, and 4 idle.
equal 'parts add up to the whole, with time in which other streams run' "$(nsysx-compare -q --table --by kernel "$T/two" "$T/two2" | grep -o 'the same work takes .*')" \
	"$(awk 'BEGIN { printf "the same work takes %.1f%% longer: its operations +%.1f%%, idle time between them +0.0%%, waiting while other streams run +%.1f%%", 400 / 24, 200 / 24, 200 / 24 }')"
gate 'which is allowed' 0 '' --by kernel --percent 16 "$T/manual" "$T/manual2"
run nsysx-compare --by kernel --table "$T/manual" "$T/manual"
equal 'of the same nothing is told' "$(grep -c 'the same work' "$T_private/out")" 0
example 1999 5000 >"$T/little"
run nsysx-compare --by kernel --table "$T/manual" "$T/little"
equal '... nor of what is written as the same' "$(grep -c 'the same work' "$T_private/out")" 0
awk -F'\t' -v OFS='\t' '$1 == "op" && !n++ { $8 = 9999 } { print }' "$T/manual" >"$T/less"
equal 'a change that rounds to zero has no sign' "$(nsysx-compare -q --by kernel --table "$T/manual" "$T/less" | grep -- '-0\.0*%' | wc -l)" 0
equal '... which it has before' "$(nsysx-compare -q --by kernel --tsv "$T/manual" "$T/less" | columns name,diff,change | awk '$1 == "gemm" { print ($2 < 0), ($3 > -0.0005 && $3 < 0) }')" '1 1'
example 2000 5000 '' 12 >"$T/short"
example 4000 6000 '' 12 >"$T/short2"
run nsysx-compare --gate --by kernel --table "$T/short" "$T/short2"
equal 'of a short run nothing is said to be chance' "$status $(grep -c 'the same work takes 1[0-9.]*% longer: .*, of too few times to judge' "$T_private/out")" '0 1'

capture base 1 60 5000
capture host 2 130 8000
capture equal 7 60 5000
steps='steps are from start to start of '\''layer #'\'', 9'

run nsysx-compare --gate --by step "$T/base" "$T/host"
cp "$T_private/err" "$T/said"
equal 'a slower host fails the gate' "$status" 1
ok 'what repeats is told' grep -qF "$steps" "$T/said"
# The command that it prints runs in a shell, whatever the name is made of.
cat >"$T/names.sed" <<'END'
s/	layer /	it's $HOME `id` "q" \\\\z*(1)[!] é|{} /
END
sed -f "$T/names.sed" "$T/base" >"$T/odd"
nsysx-compare --by step "$T/odd" "$T/odd" >"$T/null" 2>"$T/said.odd"
sed -n "s/.*as with \\(--step .*\\), which may name others.*/nsysx-steps -q --tsv --each \\1 odd/p" "$T/said.odd" >"$T/odd.sh"
equal 'the command names what repeats' "$(cd "$T" && sh odd.sh | columns period | LC_ALL=C sort | cksum)" \
	"$(nsysx-steps -q --tsv --each --step '^layer [0-9]+' "$T/base" | columns period | LC_ALL=C sort | cksum)"
ok '... of some steps' test "$(cd "$T" && sh odd.sh | wc -l)" -gt 20
named=$(sed -n "s/.*as with --step '\(.*\)', which may.*/\1/p" "$T/said")
equal 'with the option that names the same' "$(nsysx-compare -q --tsv --by step --step "$named" "$T/base" "$T/base" | columns device,base_steps,base | head -n 1)" \
	"$(nsysx-compare -q --tsv --by step "$T/base" "$T/base" | columns device,base_steps,base | head -n 1)"
ok 'the period of what repeats is slower' grep -qE 'slower: layer #: period: .* \(\+1[0-9]\.' "$T/said"
ok 'all of it idle time' grep -qE 'slower: layer #: .* of that idle \+' "$T/said"
step() { nsysx-compare -q --tsv --by step "$@" | columns class,device,statistic,verdict,witness; }
equal 'which the same work witnesses' "$(step "$T/base" "$T/host" | head -n 1)" 'layer_# - period slower work'
equal 'what a run does in a step adds up' "$(nsysx-compare -q --tsv --why "$T/base" "$T/host" | columns device,kind,diff | awk '
	$2 == "period" { p[$1] = $3 } $2 != "period" { d[$1] += $3 } $2 == "idle" { i[$1] += $3 }
	END { for (k in p) print k, p[k] == d[k], (i[k] > 0.95 * p[k]) }' | LC_ALL=C sort)" '- 1 1
0 1 1
1 1 1'
run nsysx-compare --gate --by step "$T/host" "$T/base"
equal 'the other way round it is faster' "$status $(step "$T/host" "$T/base" | head -n 1)" '0 layer_# - period faster work'

# By kernel and range: the truth is counted in the streams.
for by in kernel range; do
	run nsysx-compare --gate --by $by --tsv "$T/base" "$T/host"
	cp "$T_private/err" "$T/said"
	equal "by $by a slower host fails the gate" "$status" 1
	ok "by $by that is told once" test "$(grep -c 'slower: ' "$T/said")" -eq 1
	ok "by $by it is the same work, whose operations take as long" grep -qE 'slower: the same work takes 1[0-9]\.[0-9]% longer: its operations [+-]0\.[0-2]%, .* the host' "$T/said"
done
# Layers repeat, so it is known that each does as much.
equal 'where something repeats its calls are no slower by their rate' "$(nsysx-compare -q --tsv --by kernel "$T/base" "$T/host" | columns verdict,witness | sort -u)" 'same -'
capture unnamed 5 60 5000 unnamed
capture unnamed2 6 130 8000 unnamed
seen() { awk -F'\t' '/^op\t/ { d = $4; if (!(d in from)) from[d] = $7; to[d] = $7 + $8; n += $6 == "attention" }
	END { for (d in from) s += to[d] - from[d]; printf "%.6f\n", 1e9 * n / s }' "$T/$1"; }
equal 'the rate is calls in the time of the devices' "$(nsysx-compare -q --tsv --by kernel "$T/unnamed" "$T/unnamed2" | columns name,base_rate,new_rate,verdict,witness |
	awk '$1 == "attention" { printf "%.6f %.6f %s %s\n", $2, $3, $4, $5 }')" "$(seen unnamed) $(seen unnamed2) slower rate"
equal 'a terminal shows it before times' "$(COLUMNS=80 nsysx-compare -q --table --by kernel "$T/unnamed" "$T/unnamed2" | sed -n '1s/  */ /gp' | grep -c 'base_rate new_rate')" 1
gate 'a faster host does not' 0 '' --by kernel "$T/unnamed2" "$T/unnamed"
equal 'but calls are more often' "$(nsysx-compare -q --tsv --by kernel "$T/unnamed2" "$T/unnamed" | columns verdict,witness | sort -u)" 'faster rate'

# A slower kernel has its own name, and the work takes longer, too.
capture gemm 3 60 5000 gemm
run nsysx-compare --gate --by kernel "$T/base" "$T/gemm"
equal 'a slower kernel is told by its name' "$status $(grep -c 'slower: gemm: ' "$T_private/err") $(grep -c 'all of it' "$T_private/err")" '1 1 0'
# A training job whose matrix products in aten::mm take a tenth longer: nothing else does, though all of it comes less often in a second.
for seed in 1 4; do
	"$SYNTH" -q -o "$T/job$seed" --torch --steps 150 --seed $seed $([ $seed = 4 ] && echo --slow aten::mm:10)
	nsysx-extract -q --ops --ranges=all --calls -o "$T/job$seed.nsysx" "$T/job$seed"/*.sqlite
done
slower() { nsysx-compare -q --tsv --by "$1" "$T/job1.nsysx" "$T/job4.nsysx" | columns verdict,name,witness | grep ^slower; }
equal 'of a job with steps the slower kernel alone is slower' "$(slower kernel)" 'slower nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NNT time'
equal 'and its range' "$(slower range)" 'slower aten::mm time'
equal 'a pipe cannot be read again for its steps, and tells the same' "$(cat "$T/job4.nsysx" | nsysx-compare -q --tsv --by kernel "$T/job1.nsysx" - | cksum)" \
	"$(nsysx-compare -q --tsv --by kernel "$T/job1.nsysx" "$T/job4.nsysx" | cksum)"
equal '... as BASE' "$(cat "$T/job1.nsysx" | nsysx-compare -q --tsv --by kernel - "$T/job4.nsysx" | cksum)" \
	"$(nsysx-compare -q --tsv --by kernel "$T/job1.nsysx" "$T/job4.nsysx" | cksum)"
equal 'and no collective' "$(nsysx-compare -q --tsv --by collective "$T/job1.nsysx" "$T/job4.nsysx" | columns verdict)" same
equal 'and its phases' "$(nsysx-compare -q --tsv --by phase "$T/job1.nsysx" "$T/job4.nsysx" | columns verdict,phase | sort)" 'same forward
same optimizer
slower backward'
run nsysx-compare --by kernel --table "$T/job1.nsysx" "$T/job4.nsysx"
equal 'and no idle time, as with --why, and parts that add up' "$(grep -o 'the same work takes .*' "$T_private/out" | tr -d '%,' |
	awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^[+-]/) { sum += $i; if ($(i - 1) == "them") idle = $i } print $5, idle, ($5 - sum < 0.15 && sum - $5 < 0.15) }')" '3.5 +0.0 1'

# What occurs half as often is not slower where the rest is not.
capture half 4 60 5000 half
gate 'work that is left out is no slower' 0 '' --by kernel "$T/base" "$T/half"
equal 'though it comes half as often' "$(nsysx-compare -q --tsv --by kernel "$T/base" "$T/half" | columns name,base_rate,new_rate,verdict |
	awk '$1 == "norm" { print ($3 < 0.6 * $2), $4 == "slower" }')" '1 0'

# Without any range there are no steps, which is said with what there is instead.
gate 'without ranges nothing repeats by name' 3 'BASE has no steps: --step names them, --by range and --by kernel work without them' --by step "$T/unnamed" "$T/unnamed2"
gate 'but the same work does' 1 'slower: the same work takes 1' --by kernel "$T/unnamed" "$T/unnamed2"

# Without --by what the streams have is compared.
gate 'without --by steps are compared' 1 'slower: layer #: period: ' "$T/base" "$T/host"
gate 'or operations' 1 'slower: the same work takes 1' "$T/unnamed" "$T/unnamed2"
equal 'but not of standard input, which is read once' "$(nsysx-compare --gate - "$T/unnamed2" <"$T/unnamed" 2>&1 >"$T/null" | grep -c 'no thunks')" 1

# Several base runs, a history, and CI.
capture again 21 60 5000
capture again2 22 60 5000
gate 'several base runs have the class of the first' 1 'slower: layer #: period: ' "$T/base" "$T/again" "$T/again2" "$T/host"
gate 'between which an equal one is no slower' 0 '' "$T/base" "$T/again" "$T/again2" "$T/equal"
equal 'a history has it, too' "$(nsysx-compare -q --history "$T/base" "$T/again" "$T/host" | cut -d , -f 3 | awk 'NR == 1 { print } NR > 1 { n += $1 > 14e6 } END { print n }' | tr '\n' ' ')" 'layer #:period 3 '
nsysx-compare -q --by kernel --junit "$T/out.xml" -o "$T/null" "$T/base" "$T/host"
equal 'JUnit has a test of the same work, which fails' "$(grep -c 'name="the same work"><failure message="the same work takes 1' "$T/out.xml")" 1
equal 'as has the title' "$(nsysx-compare -q --by kernel --markdown "$T/base" "$T/host" | head -n 1 | grep -c '^\*\*slower\*\* by kernel: .*; the same work takes longer$')" 1

# Equal captures with other stalls.
n=0 m=0
for seed in 11 12 13 14 15 16; do capture "equal.$seed" "$seed" 60 5000; done
for a in 11 12 13 14 15 16; do for b in 11 12 13 14 15 16; do
	[ "$a" = "$b" ] && continue
	for by in step kernel; do
		nsysx-compare -q --gate --by $by -o "$T/null" "$T/equal.$a" "$T/equal.$b" 2>"$T/err"
		[ $? -eq 1 ] && n=$((n + 1))
	done
done; done
equal 'equal captures alarm in none of 60 pairs' "$n" 0
for a in 11 12 13 14 15 16; do for by in step kernel; do
	nsysx-compare -q --gate --by $by -o "$T/null" "$T/equal.$a" "$T/host" 2>"$T/err"
	[ $? -eq 1 ] && m=$((m + 1))
done; done
equal 'a slower host is found beside each of them' "$m" 12
done_testing
