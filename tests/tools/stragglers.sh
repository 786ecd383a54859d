#!/bin/sh
# nsysx-stragglers: late devices, in lockstep and in collectives. Expected results are derived beside the streams.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"

# The table of nsysx-stragglers ARGS equals standard input.
is() {
	claim=$1
	shift
	table_is "$claim" nsysx-stragglers --tsv "$@"
}

# Three devices in two profiles, on one clock unless CLOCKS is set.
head_of() {
	cat <<'END'
#profile profile:i name:s
profile 0 r0
profile 1 r1
#device device:i profile:i
device 0 0
device 1 0
device 2 1
#clock device:i profile:i component:i
END
	printf '%b' "${CLOCKS-clock 0 0 0\nclock 1 0 0\nclock 2 1 0\n}"
	cat <<'END'
#program program:i id:i name:s key:s
program 0 7 step step@7
program 1 9 tiny tiny@9
#inst program:i inst:i name:s opcode:s comm:i collective:s
inst 0 0 a - - -
inst 0 1 b - - -
inst 0 2 ar all-reduce 1 all-reduce
inst 0 3 h2d fusion 1 host-to-device
inst 1 0 c - - -
#module profile:i program:i execution:i device:i start:i dur:i
#thunk profile:i program:i execution:i device:i inst:i occurrence:i name:s start:i dur:i comm:i
END
}
# Biases of a, relative to the mean of three devices:
#   execution 0: starts 1000 1003 1006: -3 0 3;  ends 1100 1100 1130: -10 -10 20
#   execution 1: starts 2010 2004 2010: 2 -4 2;  ends 2110 2104 2116: 0 -6 6
# of b, which devices 0 and 1 executed once: starts 1200 1210: -5 5;  ends 1300 1302: -1 1
# Mean start of the modules 990, then 2002. c ran on one device. ar communicates.
records() {
	cat <<'END'
module 0 1 0 0 100 20
thunk 0 1 0 0 0 0 c 100 20 0
module 0 0 0 0 990 600
module 0 0 0 1 990 600
module 1 0 0 2 990 600
thunk 0 0 0 0 0 0 a 1000 100 0
thunk 0 0 0 1 0 0 a 1003 97 0
thunk 1 0 0 2 0 0 a 1006 124 0
thunk 0 0 0 0 1 0 b 1200 100 0
thunk 0 0 0 1 1 0 b 1210 92 0
thunk 0 0 0 0 2 0 ar 1400 100 1
thunk 1 0 0 2 2 0 ar 1405 97 1
thunk 0 0 0 1 2 0 ar 1410 90 1
thunk 0 0 0 0 3 0 h2d 1510 10 1
thunk 0 0 0 1 3 0 h2d 1540 10 1
module 0 0 1 0 2000 500
module 0 0 1 1 2000 500
thunk 0 0 1 1 0 0 a 2004 100 0
module 1 0 1 2 2006 500
thunk 1 0 1 2 0 0 a 2010 106 0
thunk 0 0 1 0 0 0 a 2010 100 0
thunk 1 0 1 2 2 0 ar 2400 50 1
thunk 0 0 1 1 2 0 ar 2400 50 1
thunk 0 0 1 0 2 0 ar 2400 50 1
END
}
{ head_of; records; } | stream >"$T/step.tsv"

# ---- lockstep ----
# Maximum per edge: device 0: 3 10 5 1; device 1: 4 10 5 1; device 2: 3 20. Means: -17/6, -14/6, 31/4.
is 'a row per program and device, the latest first' "$T/step.tsv" <<'END'
program id device executions bias_mean bias_max bias_sum rank
step 7 2 2 7.75 20 23 1
step 7 1 2 -2.33333333333 10 20 2
step 7 0 2 -2.83333333333 10 19 3
END
is 'a row per edge, in order of time' --curve "$T/step.tsv" <<'END'
program id name occurrence edge time min max std bias_0 bias_1 bias_2
step 7 a 0 start 9.5 -4 3 2.64575131106 -0.5 -2 2.5
step 7 a 0 end 114 -10 20 10.5830052443 -5 -8 13
step 7 b 0 start 215 -5 5 5 -5 5 -
step 7 b 0 end 311 -1 1 1 -1 1 -
END
for p in step@7 step 7; do
	is "--program $p" --program $p "$T/step.tsv" <<'END'
program id device executions bias_mean bias_max bias_sum rank
step 7 2 2 7.75 20 23 1
step 7 1 2 -2.33333333333 10 20 2
step 7 0 2 -2.83333333333 10 19 3
END
done
# a: 0, 20, 30 are -16.67, 3.33, 13.33 from their mean at either edge.
{ head_of
	cat <<'END'
module 0 0 0 0 0 500
module 0 0 0 1 0 500
module 0 0 0 2 0 500
thunk 0 0 0 0 0 0 a 0 10 0
thunk 0 0 0 1 0 0 a 20 10 0
thunk 0 0 0 2 0 0 a 30 10 0
END
} | stream >"$T/early"
equal 'the latest device comes first, also where one that is early deviates more' \
	"$(nsysx-stragglers -q --program step "$T/early" | cut -f 3,8 | sed 1d | tr '\n\t' ' :')" '2:2 1:3 0:1 '
equal 'a program that ran on one device has no rows' "$(nsysx-stragglers -q --program tiny "$T/step.tsv" | wc -l)" 1
equal '... a warning' "$(nsysx-stragglers --program tiny "$T/step.tsv" 2>&1 | grep -c 'on one device only')" 1
name=$(nsysx-view -q -t program "$T/step.tsv" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "name") at = i; next } { print $at; exit }')
fails 'an unknown program: a similar one is suggested' 1 "id ${name}x; did you mean $name?" nsysx-stragglers --program "${name}x" "$T/step.tsv"
fails 'an unknown program' 1 'no program with the key, name or id other' nsysx-stragglers --program other -o "$T/none" "$T/step.tsv"

# Two programs, the one with more time first; occurrences of a name are separate edges.
{ head_of
	cat <<'END'
module 0 1 0 0 0 50
module 0 1 0 1 0 50
thunk 0 1 0 0 0 0 c 0 10 0
thunk 0 1 0 1 0 0 c 2 10 0
thunk 0 1 0 0 0 1 c 20 10 0
thunk 0 1 0 1 0 1 c 26 12 0
module 0 0 0 0 100 500
module 0 0 0 1 100 500
thunk 0 0 0 0 0 0 a 100 8 0
thunk 0 0 0 1 0 0 a 100 8 0
END
} | stream >"$T/two"
# c: 1 + 1, 3 + 4 on either device, device 1 being late; of equal ones the lower first.
is 'programs by time, edges by occurrence' "$T/two" <<'END'
program id device executions bias_mean bias_max bias_sum rank
step 7 0 1 0 0 0 1
step 7 1 1 0 0 0 2
tiny 9 1 1 2.25 4 9 1
tiny 9 0 1 -2.25 4 9 2
END
equal '... also in the curve' "$(nsysx-stragglers -q --curve --program tiny "$T/two" | cut -f 3-6,11 | sed 1d | tr '\n\t' '| ')" \
	'c 0 start 1 1|c 0 end 11 1|c 1 start 23 3|c 1 end 34 4|'

# ---- waits ----
# ar, execution 0: starts 1400 1410 1405: 10, 0 and 5 for device 1; the last end is 1502, transfer 92. Execution 1: no waits, the
# lowest device counts as the last; transfer 50. h2d concerns one device each.
is 'a row per kind and device, the device that others wait for most first' --waits "$T/step.tsv" <<'END'
collective device count wait wait_mean wait_max last caused transfer_mean
all-reduce 1 2 0 0 0 1 15 71
all-reduce 0 2 10 5 10 1 0 71
all-reduce 2 2 5 2.5 5 0 0 71
END
nsysx-stragglers --waits=device --tsv "$T/step.tsv" | rounded >"$T/got"
same '--waits=device is the same' "$T/want" "$T/got"
is 'a row per pair' --waits=pairs "$T/step.tsv" <<'END'
collective device waited_for count wait wait_mean wait_max
all-reduce 0 1 1 10 10 10
all-reduce 2 1 1 5 5 5
all-reduce 1 0 1 0 0 0
all-reduce 2 0 1 0 0 0
END
is 'a row per instruction' --waits --by instruction "$T/step.tsv" <<'END'
program name collective instances wait wait_share wait_mean wait_max waited_for caused last transfer_mean op_name
step@7 ar all-reduce 2 15 1 2.5 10 1 15 1 71 -
END
is '... of a program' --waits --by instruction --program tiny "$T/step.tsv" <<'END'
program name collective instances wait wait_share wait_mean wait_max waited_for caused last transfer_mean op_name
END
# Clocks are off by 7 ns: means of 5 and 2.5 are of two devices, that of their instruction is 2.5.
awk -F'\t' -v OFS='\t' '/^#clock/ { $0 = $0 OFS "error:f" } /^clock/ { $0 = $0 OFS 3.5 } { print }' "$T/step.tsv" >"$T/near.tsv"
equal 'rows within the error of the clocks are those of the table' \
	"$(for of in '' '--by instruction'; do nsysx-stragglers -v --waits $of --tsv "$T/near.tsv" 2>&1 | grep -o 'mean wait of at most 7 ns.*' | sed 's/,.*clock//'; done | tr '\n' ';')" 'mean wait of at most 7 ns (2);mean wait of at most 7 ns;'
fails '... is of waits' 2 '--by instruction goes with --waits' nsysx-stragglers --by instruction "$T/step.tsv"
fails '... not of pairs' 2 '--by instruction goes with --waits' nsysx-stragglers --waits=pairs --by instruction "$T/step.tsv"
nsysx-stragglers --all --tsv -o "$T/all-%" "$T/step.tsv" 2>"$T/all-said"
for part in stragglers: curve:--curve waits:--waits pairs:--waits=pairs; do
	nsysx-stragglers --tsv ${part#*:} "$T/step.tsv" >"$T/want" 2>>"$T/one-by-one"
	same "--all: ${part%%:*}" "$T/want" "$T/all-${part%%:*}"
done
sort -u "$T/all-said" >"$T/got"
sort -u "$T/one-by-one" >"$T/want"
same '... and what is said' "$T/want" "$T/got"
# If the kind is known from names only, groups are unknown: all devices are assumed to participate.
sed 's/	all-reduce	1	all-reduce$/		1	all-reduce/' "$T/step.tsv" >"$T/guess"
for tool in 'stragglers --waits' summary; do
	equal "nsysx-$tool: assumed groups are reported" "$(nsysx-$tool -o "$T/none" "$T/guess" 2>&1 | grep -c 'unknown replica groups: assumed to be of all devices.* (6)$') $(
		nsysx-$tool -o "$T/none" "$T/step.tsv" 2>&1 | grep -c 'unknown replica')" '1 0'
done
rm -f "$T/none"
equal '--waits of a program without collectives' "$(nsysx-stragglers -q --waits --program tiny "$T/step.tsv" | wc -l)" 1

# ---- clocks ----
CLOCKS='clock 0 0 0\nclock 1 0 0\nclock 2 1 1\n'
{ head_of; records; } | stream >"$T/parts"
# Device 2 cannot be compared. Of the others: a start -1.5 1.5, end 0 0; 3 -3, 3 -3; b as before.
# Maximum: 3 3 5 1 on both; means (-1.5 + 0 + 3 + 3 - 5 - 1) / 6.
is 'devices on different clocks are not compared' "$T/parts" <<'END'
program id device executions bias_mean bias_max bias_sum rank
step 7 1 2 0.25 5 12 1
step 7 0 2 -0.25 5 12 2
END
equal '... have no waits' "$(nsysx-stragglers -q --waits "$T/parts" | wc -l)" 1
equal '... a warning' "$(nsysx-stragglers --waits "$T/parts" 2>&1 | grep -c 'clocks cannot be compared: ignored (2)')" 1
CLOCKS=
{ head_of; records; } | stream >"$T/unaligned"
for option in --tsv --curve --waits --waits=pairs; do
	fails "$option refuses profiles that are not aligned" 1 'work of several reports whose clocks are not aligned: run nsysx-align first' \
		nsysx-stragglers $option -o "$T/none" "$T/unaligned"
done
fails '--all does' 1 'not aligned: run nsysx-align first' nsysx-stragglers --all -o "$T/none-%" "$T/unaligned"
unset CLOCKS
sed 's/^\(device	2	\)1/\10/; /^clock/d; s/^\([mt][a-z]*	\)1	/\10	/' "$T/unaligned" >"$T/single"
nsysx-stragglers -q "$T/single" >"$T/got"
nsysx-stragglers -q "$T/step.tsv" >"$T/want"
same 'a single profile needs no alignment' "$T/want" "$T/got"

# ---- order and encoding
for option in --tsv --curve --waits --waits=pairs; do
	nsysx-stragglers -q $option "$T/step.tsv" >"$T/a"
	nsysx-view -bz "$T/step.tsv" | nsysx-stragglers -q $option -o "$T/b"
	same "$option of a binary stream, and -o" "$T/a" "$T/b"
done
awk -F'\t' -v OFS='\t' '$1 == "module" || $1 == "thunk" { n++; k = $1 == "module" ? 6 : 9; r[n] = $0; s[n] = $k + 0; next }
	/^#end/ { for (i = 1; i <= n; i = j) { for (j = i; j <= n && s[j] == s[i] && substr(r[j], 1, 3) == substr(r[i], 1, 3); j++); for (k = j - 1; k >= i; k--) print r[k] } } { print }' "$T/step.tsv" >"$T/ties"
ok 'ties in another order' sh -c '! cmp -s "$T/step.tsv" "$T/ties"'
for option in --tsv --curve --waits --waits=pairs; do
	nsysx-stragglers -q $option "$T/step.tsv" >"$T/a"
	nsysx-stragglers -q $option "$T/ties" >"$T/b"
	same "$option does not depend on the order of records with equal starts" "$T/a" "$T/b"
done
nsysx-stragglers -q --json --curve "$T/step.tsv" >"$T/json"
equal 'JSON' "$(python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
print(len(r), r[0]["bias_2"], r[3]["bias_2"], r[1]["name"])' "$T/json")" '4 2.5 None a'
nsysx-stragglers -q --table --waits "$T/step.tsv" >"$T/got"
{
	printf 'collective  device  count   wait  wait_mean  wait_max  last  caused  transfer_mean\n'
	printf 'all-reduce       1      2   0 ns       0 ns      0 ns     1   15 ns       71.00 ns\n'
	printf 'all-reduce       0      2  10 ns   5.000 ns     10 ns     1    0 ns       71.00 ns\n'
	printf 'all-reduce       2      2   5 ns   2.500 ns      5 ns     0    0 ns       71.00 ns\n'
	printf '[all]: 6 records of 2 instances, waited 15 ns\n'
	printf 'the stream holds no diags\n'
} >"$T/want"
same 'aligned columns with units' "$T/want" "$T/got"

# ---- generated jobs ----
# Time waited by each device in true time, according to the generator, in collectives of more than one device.
waited() {
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["group"] > 1 { n[$c["device"]]++; t[$c["device"]] += $c["wait"] } END { for (d in n) print d "\t" n[d] "\t" t[d] }' "$1/answers/collectives.tsv" | sort
}
if [ -x "$SYNTH" ] && [ -x "$B/bin/nsysx-extract" ]; then
	# Lines below the table: the sums of its rows, of each device and of all, to the digits that they have.
	cat >"$T/totals.py" <<'END'
import re, sys
rows = [l.rstrip("\n").split("\t") for l in open(sys.argv[1])]
at = {n: i for i, n in enumerate(rows[0])}
unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
devices = {}
for r in rows[1:]:
    d = devices.setdefault(int(r[at["device"]]), [0, 0, 0, 0])
    for i, n in enumerate(("count", "wait", "last", "caused")): d[i] += int(r[at[n]])
order = sorted(devices, key=lambda d: (-devices[d][3], d))
def near(text, number): v, u = text.split(" "); return abs(float(v) * unit[u] - number) <= 0.0006 * number
t = r"([0-9.]+ [num]?s)"
told, rest, all = [], None, None
for l in open(sys.argv[2]):
    m = re.match(r"\[all\] of device (\d+): (\d+) records?, waited %s, last (\d+) times?, the others waited %s for it$" % (t, t), l)
    if m:
        d = devices[int(m[1])]
        told.append(int(m[1]))
        if not (int(m[2]) == d[0] and near(m[3], d[1]) and int(m[4]) == d[2] and near(m[5], d[3])): print("wrong:", l, d)
    rest = re.match(r"\[all\] of (\d+) further devices?: (\d+) records, waited %s$" % t, l) or rest
    all = re.match(r"\[all\]: (\d+) records of (\d+) instances?, waited %s$" % t, l) or all
total = [sum(d[i] for d in devices.values()) for i in range(4)]
more = [sum(devices[d][i] for d in order[16:]) for i in range(4)]
print(told == order[:16], len(told), bool(rest) == (len(order) > 16), not rest or (int(rest[1]) == len(order) - 16 and int(rest[2]) == more[0] and near(rest[3], more[1])),
      int(all[1]) == total[0] and int(all[2]) == total[2] and near(all[3], total[1]))
END
	for devices in 4 18; do
		"$SYNTH" --one-export --processes 2 --devices "$((devices / 2))" --steps 3 -o "$T/many"
		nsysx-extract -q -x "$T/many/dump0" "$T/many/r.sqlite" | nsysx-collectives -q -o "$T/many.nsysx"
		nsysx-stragglers -q --tsv --waits -o "$T/many.tsv" "$T/many.nsysx"
		nsysx-stragglers -q --table --top 2 --waits -o "$T/many.txt" "$T/many.nsysx"
		equal "sums of $devices devices over kinds" "$(python3 "$T/totals.py" "$T/many.tsv" "$T/many.txt")" "True $((devices < 16 ? devices : 16)) True True True"
		# Groups have such lines, too: their sums in order of what others waited for them, and the same of all.
		nsysx-stragglers -q --tsv --waits --by block:2 -o "$T/many.tsv" "$T/many.nsysx"
		nsysx-stragglers -q --table --top 2 --waits --by block:2 "$T/many.nsysx" | grep '^\[all\]' >"$T/groups.txt"
		awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
			{ b = $c["block"]; n[b] += $c["count"]; l[b] += $c["last"]; w[b] += $c["caused"] }
			END { for (b in n) printf "%.0f [all] of block %s: %d records, last %d time%s\n", w[b], b, n[b], l[b], l[b] == 1 ? "" : "s" }' "$T/many.tsv" |
			sort -k 1,1nr | cut -d ' ' -f 2- >"$T/want"
		sed '$d; s/, waited [^,]*,/,/; s/, others waited .* for its devices$//' "$T/groups.txt" >"$T/got"
		same "sums of blocks of $devices devices over kinds" "$T/want" "$T/got"
		equal '... and of all of them' "$(sed -n '$p' "$T/groups.txt")" "$(grep '^\[all\]: ' "$T/many.txt")"
		if script -qec true /dev/null </dev/null >"$T/typed" 2>&1; then
			for block in 1 2; do
				script -qec "stty cols 300; nsysx-stragglers -q --waits --by block:$block '$T/many.nsysx'" /dev/null </dev/null | grep -c caused_p50
			done | tr '\n' ' ' >"$T/got"
			equal 'a terminal has percentiles, but not of groups of one device' "$(cat "$T/got")" '0 1 '
		else
			skip 'a terminal has percentiles, but not of groups of one device' 'no terminal can be made here'
		fi
		rm -r "$T/many"
	done
	"$SYNTH" --processes 1 --devices 4 -o "$T/one"
	nsysx-extract -q -b -o "$T/one/s" "$T/one/r0.sqlite"
	nsysx-stragglers -q --waits --tsv "$T/one/s" | awk -F'\t' 'NR > 1 { n[$2] += $3; t[$2] += $4 } END { for (d in n) print d "\t" n[d] "\t" t[d] }' | sort >"$T/got"
	waited "$T/one" >"$T/want"
	ok 'devices waited' test -s "$T/want"
	same 'waits of one profile equal those of the generator' "$T/want" "$T/got"
	nsysx-stragglers -q --waits=pairs --tsv "$T/one/s" | awk -F'\t' 'NR > 1 { t += $5 } END { print t }' >"$T/got"
	awk -F'\t' '{ t += $3 } END { print t }' "$T/want" >"$T/sum"
	same 'pairs add up to waits' "$T/sum" "$T/got"
	nsysx-stragglers -q --waits --by instruction --tsv "$T/one/s" | awk -F'\t' 'NR > 1 && $5 { print $2, $5 }' | LC_ALL=C sort >"$T/got"
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["group"] > 1 { t[$c["name"]] += $c["wait"] } END { for (d in t) if (t[d]) print d, t[d] }' "$T/one/answers/collectives.tsv" | LC_ALL=C sort >"$T/want"
	ok 'instructions waited' test -s "$T/want"
	same 'waits of instructions equal those of the generator' "$T/want" "$T/got"
	nsysx-collectives -q --summary --by instruction --tsv "$T/one/s" | awk -F'\t' 'NR > 1 && $14 { t[$2] += $14 } END { for (n in t) print n, t[n] }' | LC_ALL=C sort >"$T/got"
	same '... and so do those of nsysx-collectives' "$T/want" "$T/got"
	if [ -x "$B/bin/nsysx-align" ]; then
		"$SYNTH" --processes 3 --offset 5000000 -o "$T/three"
		nsysx-extract -q -b "$T/three/r0.sqlite" "$T/three/r1.sqlite" "$T/three/r2.sqlite" | nsysx-align -q -b -o "$T/three/s"
		nsysx-stragglers -q --waits --tsv "$T/three/s" | awk -F'\t' 'NR > 1 { n[$2] += $3; t[$2] += $4 } END { for (d in n) print d "\t" n[d] "\t" t[d] }' | sort >"$T/got"
		waited "$T/three" >"$T/want"
		same 'waits of aligned profiles equal those of the generator' "$T/want" "$T/got"
	else
		skip 'waits of aligned profiles' 'there is no nsysx-align'
	fi
else
	skip 'waits equal those of the generator' 'there is no nsysx-synth or nsysx-extract'
fi

# ---- reference results ----
if [ -d "$SHARED/oracle" ] && [ -x "$B/bin/nsysx-extract" ] && [ -x "$B/bin/nsysx-align" ]; then
	d=$SHARED/data/pax
	nsysx-extract -q -b -x "$d/dump0" "$d/p0.sqlite.zst" -x "$d/dump1" "$d/p1.sqlite.zst" -x "$d/dump2" "$d/p2.sqlite.zst" \
		-x "$d/dump3" "$d/p3.sqlite.zst" | nsysx-align -q | nsysx-warmup -q -b >"$T/combined"
	nsysx-stragglers -q --program 40 --tsv "$T/combined" >"$T/got"
	edges=$(nsysx-stragglers -q --program 40 --curve --tsv "$T/combined" | sed 1d | wc -l)
	zstd -dcq "$SHARED/oracle/combined/lockstep_40_outlier.tsv.zst" >"$T/want"
	# Clocks are corrected by whole nanoseconds here and by fractions in the reference: up to 1 ns difference per edge.
	equal 'lockstep equals the reference, with the same device' "$(python3 -c '
import csv, sys
g = list(csv.DictReader(open(sys.argv[1]), delimiter="\t"))
w = {r["Device"]: float(r["SumMaxAbsBias"]) * 1e6 for r in csv.DictReader(open(sys.argv[2]), delimiter="\t")}
edges = int(sys.argv[3])
print(len(w) == len(g) and edges > 5000 and all(abs(float(r["bias_sum"]) - w[r["device"]]) <= edges for r in g)
      and [r["device"] for r in sorted(g, key=lambda r: int(r["rank"]))] == sorted(w, key=lambda d: -w[d]))' "$T/got" "$T/want" "$edges")" True
else
	skip 'lockstep equals the reference' 'they, nsysx-extract or nsysx-align are not here'
fi

# ---- empty results, and refusals ----
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
head -c 900 "$T/step.tsv" >"$T/cut"
for option in --tsv --curve --waits --waits=pairs; do
	ok "$option of a stream without records" nsysx-stragglers $option "$T/empty"
	equal "... $option: only a header" "$(nsysx-stragglers -q $option "$T/empty" | wc -l)" 1
	equal "... $option: a warning" "$(nsysx-stragglers $option "$T/empty" 2>&1 | grep -c -e 'no thunk records' -e 'no communication')" 1
	fails "$option refuses a stream cut short" 1 'cut short' nsysx-stragglers $option -o "$T/none" "$T/cut"
done
printf '#nsysx\t2\n#op\tdevice:i\tcomm:i\tstart:i\tdur:i\tname:s\nop\t0\t1\t5\t9\tncclKernel\n#end\trecords:i\nend\t1\n' >"$T/torch"
for option in --waits --waits=pairs; do
	says "$option of kernels that communicate: a warning with what would tell" 'nsys export --include-blobs=true' nsysx-stragglers $option "$T/torch"
done
printf '#nsysx\t2\n#device\tdevice:i\ndevice\t0\ndevice\t1\n#op\tdevice:i\tcomm:i\tstart:i\tdur:i\tname:s\nop\t0\t1\t5\t9\tncclKernel\nop\t1\t1\t5\t9\tncclKernel\n#end\trecords:i\nend\t4\n' >"$T/torch2"
for by in node rack block:2; do
	says "... and what tells without, of several devices: $by" "who is late is told by nsysx-idle --steps --by $by" nsysx-stragglers --waits --by $by "$T/torch2"
	ok '... which is an option of it' nsysx-idle -q --steps --by $by "$T/torch2"
done
equal '... by axes that they would tell it names none' "$(nsysx-stragglers --waits --by axis "$T/torch2" 2>&1 | grep -c 'nsysx-idle --steps --by')" 0
equal '... of one, or of instructions, by none' "$(for of in '' '--by instruction'; do nsysx-stragglers --waits $of "$T/torch2" 2>&1; nsysx-stragglers --waits --by node "$T/torch" 2>&1; done | grep -c -e '--steps (' -e 'blobs=true)$' -e 'blobs=true) (')|$(nsysx-stragglers --waits --by instruction "$T/torch2" 2>&1 | grep -c -e '--by')" '4|0'
for option in --table --curve; do
	says "$option of them: the same" 'nsysx-collectives --instances --sort skew' nsysx-stragglers $option "$T/torch"
done
sed 's/^\(thunk	0	0	0	1	0	0	a	\)1003/\11/' "$T/step.tsv" >"$T/disorder"
fails 'an unsorted stream' 1 'out of order' nsysx-stragglers -o "$T/none" "$T/disorder"
{ head_of; echo 'thunk 0 0 0 0 0 0 a 5 - 0'; } | stream >"$T/timeless"
equal 'thunks without a duration are reported' "$(nsysx-stragglers "$T/timeless" 2>&1 | grep -c 'thunks without start or duration: ignored')" 1
# Times at both limits of 64 bits.
{ head_of; echo 'module 0 0 0 0 -9223372036854775807 1'; echo 'module 0 0 0 1 -9223372036854775807 1'
	echo 'thunk 0 0 0 0 0 0 a -9223372036854775807 1 0'; echo 'thunk 0 0 0 0 2 0 ar -9223372036854775807 1 1'
	echo 'thunk 0 0 0 1 0 0 a 9223372036854775807 1 0'; echo 'thunk 0 0 0 1 2 0 ar 9223372036854775807 1 1'
	echo 'thunk 1 0 0 2 2 0 ar 9223372036854775807 1 1'; } | stream >"$T/far"
for option in --tsv --curve; do
	ok "$option of times at both limits" nsysx-stragglers $option "$T/far"
done
fails 'waits beyond 64 bits' 1 'exceeds 64 bits' nsysx-stragglers --waits "$T/far"
equal 'no output after a failure' "$(find "$T" -name '*none*')" ''
fails '--require without such a record' 1 'no op record' nsysx-stragglers --require op "$T/step.tsv"
ok '--require: there is such a record' nsysx-stragglers -q --require thunk "$T/step.tsv"
fails 'a full disk is an error' 1 '/dev/full' nsysx-stragglers -q -o /dev/full "$T/step.tsv"
fails '--curve and --waits' 2 'exclude each other' nsysx-stragglers --curve --waits "$T/step.tsv"
fails '--all and --curve' 2 'excludes' nsysx-stragglers --all --curve -o "$T/none-%" "$T/step.tsv"
fails '--all without a % in -o' 2 'want -o FILE with a %' nsysx-stragglers --all -o "$T/none" "$T/step.tsv"
fails 'an invalid --waits' 2 'want device or pairs' nsysx-stragglers --waits=all "$T/step.tsv"
fails 'two forms' 2 'exclude each other' nsysx-stragglers --table --json "$T/step.tsv"
done_testing
