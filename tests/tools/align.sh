#!/bin/sh
# nsysx-align on hand-written streams with expected results, and on generated jobs with known clocks.
. "${0%/*}/../testlib.sh"

table() { nsysx-view -t "$1" "$2"; }
# Columns of the clock records, a line a device: offset rate collectives component
clocks() { table clock "$1" | sed 1d | cut -f 3,4,6,7 | tr '\t' ' '; }
tail_of() { printf '#end\trecords:i\nend\t0\n'; }
warnings() { awk -F'\t' '$1 == "diag" && $3 ~ /^nsysx-align/ { print $2 "|" $3 "|" $4 "|" $5 }' "$1"; }

# A stream of profiles $1 (one device each), a lines `start` of profile records in $2 (may be empty), groups records in $3.
meta() {
	printf '#nsysx\t2\n#profile\tprofile:i\tname:s\tstart_utc:i\n'
	for p in $1; do printf 'profile\t%s\tr%s\t%s\n' "$p" "$p" "$(echo "$2" | cut -d, -f $((p + 1)))"; done
	printf '#device\tdevice:i\tprofile:i\n'
	for p in $1; do printf 'device\t%s\t%s\n' "$p" "$p"; done
	printf '#program\tprogram:i\tid:i\tname:s\nprogram\t0\t7\tstep\n#groups\tgroups:i\tmembers:s\n%b' "${3-}"
	printf '#inst\tprogram:i\tinst:i\tname:s\tcomm:i\tcollective:s\tbytes:i\tgroups:i\n'
	printf 'inst\t0\t0\tadd\t\t\t\t\ninst\t0\t1\tar\t1\tall-reduce\t4\t%s\ninst\t0\t2\trs\t1\treduce-scatter\t4\t%s\n' "${4-}" "${5-}"
	printf 'inst\t0\t3\tcp\t1\tcollective-permute\t4\t%s\n' "${6-}"
}
# Lines `device inst execution end` as thunks of 10 ns in order.
thunks() {
	printf '#thunk\tprofile:i\tdevice:i\tprogram:i\tinst:i\texecution:i\toccurrence:i\tname:s\tstart:i\tdur:i\thost_start:i\tcomm:i\n'
	awk -v OFS='\t' '{ print "thunk", $1, $1, 0, $2, $3, 0, "i" $2, $4 - 10, 10, $4 - 1000, ($2 > 0) }' | sort -t "$(printf '\t')" -s -n -k 9
}

# ---- three devices, one collective per execution
# Ends of three collectives of all three devices; mean; skews:
#   100  200  600   300   -200 -100  300
#  1100 1203 1600  1301   -201  -98  299
#  2106 2203 2600  2303   -197 -100  297        medians -200 -100 299
{ meta '0 1 2' ''; thunks <<'END'; tail_of; } >"$T/plain"
0 1 0 100
1 1 0 200
2 1 0 600
0 1 1 1100
1 1 1 1203
2 1 1 1600
0 1 2 2106
1 1 2 2203
2 1 2 2600
2 0 2 2700
END
nsysx-align -q "$T/plain" >"$T/out"
equal 'offsets are median skews' "$(clocks "$T/out" | tr '\n' ,)" '-200 0 3 0,-100 0 3 0,299 0 3 0,'
# All means are integers here.
equal 'skews are end minus mean end' "$(table skew "$T/out" | sed 1d | cut -f 1,3,7 | tr '\t\n' ' ,')" \
	'0 0 -200,1 0 -100,2 0 300,0 1 -201,1 1 -98,2 1 299,0 2 -197,1 2 -100,2 2 297,'
# Starts 90 190 590 1090 1193 1590 2096 2193 2590 2690 minus offsets, in order of time.
equal 'starts and host starts are corrected, and records sorted again' \
	"$(table thunk "$T/out" | sed 1d | awk '{ printf "%s@%s/%s ", $2, $8, $8 - $10 }')" \
	'0@290/990 1@290/990 2@291/990 0@1290/990 2@1291/990 1@1293/990 2@2291/990 1@2293/990 0@2296/990 2@2391/990 '
equal 'clock records come after device records and before program records' "$(grep -v '^#' "$T/out" | cut -f 1 | uniq | head -n 5 | tr '\n' ' ')" 'profile device clock program inst '
equal 'no diagnostics' "$(warnings "$T/out")" ''

# An even number of skews: the mean of the two in the middle, to the nearest ns, halves away from zero.
# Skews of 0: -2 -3 (mean -2.5), of 1: 2 3 (2.5).
{ meta '0 1' ''; printf '0 1 0 100\n1 1 0 104\n0 1 1 200\n1 1 1 206\n' | thunks; tail_of; } >"$T/even"
nsysx-align -q "$T/even" >"$T/out"
equal 'halves are rounded away from zero' "$(clocks "$T/out" | cut -d ' ' -f 1 | tr '\n' ' ')" '-3 3 '
# Times of 1e18: a double would lose 100 ns.
{ meta '0 1' ''; printf '0 1 0 1000000000000000101\n1 1 0 1000000000000000304\n' | sed 's/ \([0-9]*\)$/ \1/' >"$T/lines"; thunks </dev/null
	printf 'thunk\t0\t0\t0\t1\t0\t0\tar\t1000000000000000101\t10\t\t1\nthunk\t1\t1\t0\t1\t0\t0\tar\t1000000000000000304\t9\t\t1\n'; tail_of; } >"$T/late"
nsysx-align -q "$T/late" >"$T/out"
equal 'long times are exact' "$(clocks "$T/out" | cut -d ' ' -f 1 | tr '\n' ' ') $(table thunk "$T/out" | sed 1d | cut -f 8 | tr '\n' ' ')" \
	'-101 101  1000000000000000202 1000000000000000203 '

# ---- session starts
# The pairs share no collective; sessions began at 1000 1000 5000 5000: mean 3000, so the pairs are 2000 before and after it.
{ meta '0 1 2 3' 1000,1000,5000,5000 'groups\t0\t0,1;2,3\n' 0; printf '0 1 0 9100\n1 1 0 9140\n2 1 0 5200\n3 1 0 5100\n' | thunks; tail_of; } >"$T/pairs"
nsysx-align "$T/pairs" >"$T/out" 2>"$T/err"
equal 'each pair is aligned, and pairs are placed by the starts of their sessions' "$(clocks "$T/out" | tr '\n' ,)" \
	'1980 0 1 0,2020 0 1 0,-1950 0 1 1,-2050 0 1 1,'
equal 'a warning counts the groups' "$(cat "$T/err")" 'nsysx-align: warning: groups of devices share no collectives: each group is aligned only within itself (2)'
sed 's/^\(profile	.	r.\)	.*/\1	/' "$T/pairs" >"$T/no-start"
nsysx-align -q "$T/no-start" >"$T/out"
equal 'without session starts each pair keeps its place' "$(clocks "$T/out" | tr '\n' ,)" '-20 0 1 0,20 0 1 0,50 0 1 1,-50 0 1 1,'

# ---- graphs
# True offsets 0 30 100 -50 minus their mean 20; pairs {0,1} {2,3} and {0,2} {1,3}; all ends are exact except one outlier.
{ meta '0 1 2 3' '' 'groups\t0\t0,1;2,3\ngroups\t1\t0,2;1,3\n' 0 1; for e in 0 1 2; do
	b=$((e * 10000 + 1000)); w=0; [ $e = 1 ] && w=3000
	printf '0 1 %s %s\n1 1 %s %s\n2 1 %s %s\n3 1 %s %s\n' $e $((b + w)) $e $((b + 30)) $e $((b + 207)) $e $((b + 57))
	printf '0 2 %s %s\n1 2 %s %s\n2 2 %s %s\n3 2 %s %s\n' $e $((b + 500)) $e $((b + 630)) $e $((b + 600)) $e $((b + 550))
done | thunks; tail_of; } >"$T/graph"
nsysx-align -q "$T/graph" >"$T/out"
equal 'groups that overlap are solved together' "$(clocks "$T/out" | tr '\n' ,)" '-20 0 6 0,10 0 6 0,80 0 6 0,-70 0 6 0,'
equal 'no diagnostics with overlapping groups' "$(warnings "$T/out")" ''

# Pairwise exchanges end when their pair is done: they are used only where nothing else connects devices. ar: offsets -10 10 (0 and 1); cp disagrees.
{ meta '0 1 2' '' 'groups\t0\t0,1\ngroups\t1\t0,1;1,2;2,0\n' 0 '' 1; printf '0 1 0 1000\n1 1 0 1020\n0 3 0 2000\n1 3 0 2500\n2 3 0 2600\n' | thunks; tail_of; } >"$T/pairwise"
nsysx-align -q "$T/pairwise" >"$T/out"
equal 'exchanges connect devices that no other collective connects' "$(clocks "$T/out" | awk '{ print $4 }' | uniq)" 0
sed '/^thunk	[0-9]*	2	/d; /^thunk.*i3/d; /^device	2/d; /^profile	2/d' "$T/pairwise" >"$T/two"
nsysx-align -q "$T/two" >"$T/out"
equal 'other devices are aligned by collectives only' "$(clocks "$T/out" | cut -d ' ' -f 1 | tr '\n' ' ')" '-10 10 '

# ---- what cannot be aligned
{ meta '0' ''; printf '0 1 0 100\n0 0 0 200\n' | thunks; tail_of; } >"$T/one"
nsysx-align "$T/one" >"$T/out" 2>"$T/err"
equal 'the only device is not moved' "$(table thunk "$T/out" | cut -f 8 | sed 1d | tr '\n' ' ')$(clocks "$T/out")" '90 190 0 0 0 0'
equal 'the only device: an info diag, no warning' "$(warnings "$T/out")$(cat "$T/err")" 'info|nsysx-align|nothing to align: all GPU work is on one clock|1'
{ meta '0 1' ''; printf '0 0 0 100\n1 0 0 200\n' | thunks; tail_of; } >"$T/mute"
nsysx-align "$T/mute" >"$T/out" 2>"$T/err"
equal 'no communication: nothing is moved, with a warning' "$?:$(table thunk "$T/out" | cut -f 8 | sed 1d | tr '\n' ' ')$(cat "$T/err")" \
	'0:90 190 nsysx-align: warning: clocks not compared: no collective is known to involve devices of different clocks; their times cannot be compared'
{ meta '0 1 2' '' 'groups\t0\t0,1\n' 0; printf '0 1 0 100\n1 1 0 120\n2 0 0 130\n' | thunks; tail_of; } >"$T/left"
nsysx-align "$T/left" >"$T/out" 2>"$T/err"
equal 'a device without common collectives keeps its clock' "$(clocks "$T/out" | tr '\n' ,)$(cat "$T/err")" \
	'-10 0 1 0,10 0 1 0,0 0 0 1,nsysx-align: warning: devices share no collective with others and could not be aligned'
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
ok 'an empty stream is accepted' nsysx-align -o "$T/out" "$T/empty"

awk -F'\t' -v OFS='\t' '$1 == "thunk" && $5 == 1 { $6 = "" } { print }' "$T/plain" >"$T/unnumbered"
equal 'collectives without an execution are counted' "$(nsysx-align "$T/unnumbered" 2>&1 >"$T/out" | grep -c 'without a device, execution or occurrence: not used (9)$')" 1

# ---- captures that began apart
# Device 1's capture began one execution late; its clock is 700000 ahead. Intervals differ by tens of microseconds.
{ meta '0 1' ''; t=0; e=0; for d in 500000 520000 470000 555000 490000 530000; do
	t=$((t + d)); echo "0 1 $e $t"; [ $e -gt 0 ] && echo "1 1 $((e - 1)) $((t + 700000))"; e=$((e + 1)); done | thunks; tail_of; } >"$T/apart"
nsysx-align -q "$T/apart" >"$T/out"
equal 'a late capture is paired by its intervals' "$(clocks "$T/out" | tr '\n' ,)" '-350000 0 5 0,350000 0 5 0,'
equal 'one number is one execution on both devices' "$(table thunk "$T/out" | sed 1d | cut -f 2,5,8 | tail -n 2 | tr '\t\n' ' ,')" '0 5 3414990,1 5 3414990,'
equal 'the clock has what was added' "$(table clock "$T/out" | cut -f 8 | tr '\n' ,)" 'executions,,step@7:1,'
equal 'and a warning counts the shifted capture' "$(warnings "$T/out" | cut -d '|' -f 1,4)" 'warning|1'
# The same with equal intervals: these do not identify the shift, so execution numbers are used unchanged.
{ meta '0 1' ''; for e in 0 1 2 3 4; do echo "0 1 $e $((e * 500000 + 1000))"; echo "1 1 $e $((e * 500000 + 1100))"; done | thunks; tail_of; } >"$T/regular"
nsysx-align -q "$T/regular" >"$T/out"
equal 'equal intervals leave execution numbers unchanged' "$(clocks "$T/out" | tr '\n' ,)$(warnings "$T/out")" '-50 0 5 0,50 0 5 0,'


# Two programs: of step device 1's capture lacks the first execution, of eval device 0's lacks the first three; add, which no device
# shares a collective of, keeps its numbers, and so does an operation of no execution.
two_programs() {
	meta '0 1' '' | sed 's/^\(program	\)0	7	step$/&\n\11	8	eval;x\n\12	9	add/'
	printf 'inst\t1\t1\tar\t1\tall-reduce\t4\t\ninst\t2\t0\tadd\t\t\t\t\n#module\tprofile:i\tprogram:i\texecution:i\tdevice:i\tstart:i\tdur:i\n'
	printf '#thunk\tprofile:i\tdevice:i\tprogram:i\tinst:i\texecution:i\toccurrence:i\tname:s\tstart:i\tdur:i\tcomm:i\n'
	printf '#op\tprofile:i\tdevice:i\tprogram:i\texecution:i\tname:s\tstart:i\tdur:i\n'
	t=0 e=0
	for d in 500000 520000 470000 555000 490000 530000 610000; do
		t=$((t + d)) f=$((t + 200000 + d / 7))
		for device in 0 1; do
			own=$e at=$t
			[ $device = 1 ] && own=$((e - 1)) at=$((t + 700000))
			[ $own -ge 0 ] && printf 'module\t%s\t0\t%s\t%s\t%s\t10\n' $device $own $device $((at - 10)) &&
				printf 'thunk\t%s\t%s\t0\t1\t%s\t0\tar\t%s\t10\t1\nop\t%s\t%s\t0\t%s\tk\t%s\t10\n' $device $device $own $((at - 10)) $device $device $own $((at - 10))
			own=$e at=$f
			[ $device = 0 ] && own=$((e - 3)) || at=$((f + 700000))
			[ $own -ge 0 ] && printf 'thunk\t%s\t%s\t1\t1\t%s\t0\tar\t%s\t10\t1\n' $device $device $own $((at - 10))
			printf 'thunk\t%s\t%s\t2\t0\t%s\t0\tadd\t%s\t10\t\nop\t%s\t%s\t\t\tk\t%s\t10\n' $device $device $e $((at + 90)) $device $device $((at + 95))
		done
		e=$((e + 1))
	done >"$T/lines"
	awk -F'\t' '{ print ($1 == "module" ? $6 : $1 == "op" ? $7 : $9) "\t" ($1 == "op" ? 2 : $1 == "thunk") "\t" $0 }' "$T/lines" | sort -s -n -t "$(printf '\t')" -k 1,1 -k 2,2 | cut -f 3-
	tail_of
}
two_programs >"$T/programs"
nsysx-align -q "$T/programs" >"$T/out"
# Of each program, execution and kind the latest start less the earliest, and what each device has.
numbers() { nsysx-view "$1" | awk -F'\t' '
	/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); at[substr($1, 2), c[1]] = i } next }
	$1 ~ /^(module|thunk|op)$/ && $at[$1, "execution"] != "" { p = $at[$1, "program"]; k = $1 " " p; n = $at[$1, "execution"]; s = $at[$1, "start"]; d = $at[$1, "device"]
		if (!((k, d) in lo)) lo[k, d] = n; hi[k, d] = n; keys[k]
		if ((k, n, 1 - d) in start) { x = s - start[k, n, 1 - d]; if (x < 0) x = -x; if (x > far[k]) far[k] = x } start[k, n, d] = s }
	END { for (k in keys) printf "%s: %d-%d %d-%d, %d apart\n", k, lo[k, 0], hi[k, 0], lo[k, 1], hi[k, 1], far[k] }' | sort; }
numbers "$T/out" >"$T/got"
cat >"$T/want" <<'END'
module 0: 0-6 1-6, 0 apart
op 0: 0-6 1-6, 0 apart
thunk 0: 0-6 1-6, 0 apart
thunk 1: 3-6 0-6, 0 apart
thunk 2: 0-6 0-6, 0 apart
END
same 'two programs with shifts of their own: each number is one execution, in every kind' "$T/want" "$T/got"
equal 'the clocks have both shifts' "$(table clock "$T/out" | cut -f 1,8 | sed 1d | tr '\t\n' ' ,')" '0 eval:x@8:3,1 step@7:1,'
equal 'skews have the numbers of the job' "$(table skew "$T/out" | sed 1d | awk -F'\t' '$2 == 1 { n[$3]++ } END { for (e = 0; e < 9; e++) printf "%d", n[e] }')" 000222200

# The same from streams of one report each, in which programs have other numbers: the clocks say what to add, and they can be merged.
nsysx-align -q --estimate "$T/programs" >"$T/estimate"
for p in 0 1; do
	awk -F'\t' -v OFS='\t' -v p=$p '/^#/ || $1 == "groups" { print; next } $1 ~ /^(profile|device|module|thunk|op)$/ && $2 != p { next }
		$1 ~ /^(program|inst)$/ { $2 = 9 - $2 } $1 == "module" || $1 == "thunk" || $1 == "op" { i = $1 == "module" ? 3 : 4; if ($i != "") $i = 9 - $i } { print }' "$T/programs" >"$T/part$p"
	nsysx-align -q --apply "$T/estimate" "$T/part$p" >"$T/aligned$p"
done
equal 'clocks applied to a stream of one report, whose programs have other numbers' \
	"$(numbers "$T/aligned0" | cut -d ' ' -f 1-3 | tr '\n' ,)$(numbers "$T/aligned1" | cut -d ' ' -f 1,2,4 | tr '\n' ' ')" \
	'module 9: 0-6,op 9: 0-6,thunk 7: 0-6,thunk 8: 3-6,thunk 9: 0-6,module 9: 1-6, op 9: 1-6, thunk 7: 0-6, thunk 8: 0-6, thunk 9: 1-6, '

# A third device whose intervals fit several shifts, none clearly: it keeps its numbers, is not used, and a warning counts it.
{ meta '0 1 2' ''; { t=0; e=0; for d in 500000 520000 470000 555000 490000 530000; do
	t=$((t + d)); echo "0 1 $e $t"; [ $e -gt 0 ] && echo "1 1 $((e - 1)) $((t + 700000))"; e=$((e + 1)); done; cat <<'END'; } | thunks; tail_of; } >"$T/lost"
2 1 0 858000
2 1 1 1357000
2 1 2 1904000
2 1 3 2407000
2 1 4 2862000
END
nsysx-align -q "$T/lost" >"$T/out"
equal 'executions that cannot be matched keep their numbers, those of others are numbered alike' \
	"$(table thunk "$T/out" | sed 1d | awk -F'\t' '{ n[$2] = n[$2] $5 } END { print n[0], n[1], n[2] }')" '012345 12345 01234'
equal 'and a warning says so' "$(warnings "$T/out" | grep -c '|nsysx-align: r2|.*cannot be matched.*keep their numbers|1$')" 1

# ---- aligning twice, and other encodings
# Metadata of every kind, and kinds and columns of other versions.
{ sed -n '1,/^inst	0	3/p' "$T/plain"; cat <<'END' | tr ' ' '\t'; } >"$T/rich"
#compile profile:i range:i start:i dur:i program:i
compile 1 5 40 7 0
compile 2 9 30 7 0
#range profile:i range:i device:i name:s start:i dur:i host_start:i
#op profile:i device:i name:s start:i dur:i note:s
range 1 8 1 r 150 3 50
range 2 8  both 150 3 50
END
{ grep '^#thunk' "$T/plain"; grep '^thunk' "$T/plain" | sed 1q; cat <<'END' | tr ' ' '\t'; grep '^thunk' "$T/plain" | sed 1d; cat <<'END2' | tr ' ' '\t'; } >>"$T/rich"
op 0 0 k 90 3 hello
#mystery n:i
mystery 4
END
range 1 9  host   3000
#skew device:i old:i
skew 2 5
#diag severity:s text:s count:i
diag info before 1
#unused a:s
#end records:i
end 0
END2
nsysx-align -q "$T/rich" >"$T/out"
# Profile 1 moves by 100, profile 2 by -299.
equal 'compile records move with their profile' "$(table compile "$T/out" | sed 1d | cut -f 1,3 | tr '\t\n' ' ,')" '1 140,2 -269,'
equal 'ranges move with their device, else with their profile' "$(table range "$T/out" | sed 1d | cut -f 3-7 | tr '\t\n' ' ,')" ' both -149 3 -249,1 r 250 3 150, host   3100,'
equal 'columns of other versions pass through' "$(table op "$T/out" | sed 1d | cut -f 4,6 | tr '\t' ' ')" '290 hello'
equal 'kinds of other versions pass through, also without a record' "$(grep -c -e '^mystery' -e '^#unused' "$T/out")" 2
equal 'diags pass through' "$(grep -c '^diag	info	before' "$T/out")" 1
equal 'old skews are replaced' "$(table skew "$T/out" | head -n 1 | cut -f 1,2 | tr '\t' ' ') $(table skew "$T/out" | sed 1d | cut -f 2 | tr -d '\n') $(grep -c '^skew' "$T/out")" 'device old  9'
nsysx-view "$T/out" >"$T/got" && same 'what comes out is canonical' "$T/out" "$T/got"

# Two devices of one profile with different corrections: host times, and times of a range without a device, use that of the lowest device.
{
	printf '#nsysx\t2\n#profile\tprofile:i\n#device\tdevice:i\tprofile:i\nprofile\t0\ndevice\t0\t0\ndevice\t1\t0\n'
	printf '#clock\tdevice:i\tprofile:i\toffset:f\trate:f\tref:i\n'
} >"$T/two"
{ cat "$T/two"; printf 'clock\t1\t0\t100\t0\t0\nclock\t0\t0\t10\t0\t0\n'; tail_of; } >"$T/apart.clocks"
{ cat "$T/two"; cat <<'END' | tr ' ' '\t'; tail_of; } >"$T/hosts"
#call profile:i start:i name:s
#overhead profile:i start:i name:s
#range profile:i device:i start:i host_start:i name:s
#thunk profile:i device:i start:i host_start:i name:s
#op profile:i device:i start:i host_start:i name:s
overhead 0 290 o
call 0 295 c
range 0 1 510 300 one
range 0  510 310 both
thunk 0 1 520 320 t
op 0 1 520 320 k
END
nsysx-align -q --apply "$T/apart.clocks" "$T/hosts" | awk -F'\t' '/^#/ { next } $1 ~ /^(call|overhead)$/ { print $1, $3 } $1 ~ /^(range|thunk|op)$/ { print $1, $4, $5 }' >"$T/got"
printf 'overhead 280\ncall 285\nrange 410 290\nrange 500 300\nthunk 420 310\nop 420 310\n' >"$T/want"
same 'host times use the clock of the lowest device of the profile, GPU times that of their device' "$T/want" "$T/got"

for name in plain pairs graph apart programs lost rich mute; do
	for opt in '' --drift --per-device; do
		nsysx-align -q $opt "$T/$name" >"$T/want"
		nsysx-align -q $opt --estimate "$T/$name" >"$T/estimate"
		nsysx-align -q --apply "$T/estimate" "$T/$name" >"$T/got"
		same "$name $opt: estimate, then apply" "$T/want" "$T/got"
		nsysx-align -q --apply "$T/want" "$T/$name" >"$T/got"
		same "$name $opt: apply an aligned stream" "$T/want" "$T/got"
		cat "$T/$name" | nsysx-align -q $opt >"$T/got"
		same "$name $opt: from a pipe" "$T/want" "$T/got"
		nsysx-align -q $opt <"$T/$name" >"$T/got"
		same "$name $opt: from standard input" "$T/want" "$T/got"
		nsysx-view -b -z "$T/$name" | nsysx-align -q -b $opt | nsysx-view >"$T/got"
		same "$name $opt: binary" "$T/want" "$T/got"
	done
done
equal 'an estimate has clocks, skews and the metadata that these refer to' "$(nsysx-align -q -e "$T/graph" | grep -v '^#' | cut -f 1 | uniq | tr '\n' ' ')" \
	'profile device clock program groups inst skew end '
equal 'an estimate has no other instructions' "$(nsysx-align -q -e "$T/plain" | nsysx-view -t inst | sed 1d | cut -f 3)" ar

# A second align finds the small remaining error, and adds it.
nsysx-align -q "$T/plain" | nsysx-align -q >"$T/again"
equal 'aligning twice changes nothing' "$(clocks "$T/again" | tr '\n' ,)" '-200 0 3 0,-100 0 3 0,299 0 3 0,'
# Device 1 is moved 50 ahead after the first: mean ends grow by 50/3, so 0 and 2 get another -16.67, 1 gets 33.33.
nsysx-align -q "$T/plain" | awk -F'\t' -v OFS='\t' '$1 == "thunk" && $2 == 1 { $9 += 50 } { print }' | sort -s -t "$(printf '\t')" -k 1,1 >"$T/x"
{ nsysx-align -q "$T/plain" | sed '/^#skew/,$d;/^thunk/d'; grep '^thunk' "$T/x" | sort -s -n -t "$(printf '\t')" -k 9; tail_of; } >"$T/moved"
nsysx-align -q "$T/moved" >"$T/again"
equal 'a second align adds its correction to the first' "$(clocks "$T/again" | tr '\n' ,)" '-217 0 3 0,-67 0 3 0,282 0 3 0,'

# Each clock ends 2 ns early once and 1 ns late otherwise: all medians are 1 for any clocks. And half a nanosecond is rounded away from zero.
{ meta '0 1 2' ''; for e in 0 1 2; do for d in 0 1 2; do echo "$d 1 $e $((e * 1000 + 100 - (d == e ? 2 : -1)))"; done; done | thunks; tail_of; } >"$T/turns"
{ meta '0 1' ''; printf '0 1 0 100\n1 1 0 101\n' | thunks; tail_of; } >"$T/halves"
# comes_to_rest CLAIM STREAM OPTIONS...: from the second pass on nothing changes. If the second pass still moved a clock, skews, which are
# measured before the correction of their pass, differ once more.
comes_to_rest() {
	nsysx-align -q ${3-} "$2" >"$T/first"
	nsysx-align -q ${3-} "$T/first" >"$T/second"
	nsysx-align -q ${3-} "$T/second" >"$T/third"
	if [ "$(table clock "$T/first")" != "$(table clock "$T/second")" ]; then
		nsysx-align -q ${3-} "$T/third" >"$T/fourth"
		same "$1: a fourth pass changes nothing" "$T/third" "$T/fourth"
		for s in second third; do grep -v '^skew' "$T/$s" >"$T/x" && mv "$T/x" "$T/$s"; done
	fi
	same "$1: a third pass changes nothing" "$T/second" "$T/third"
}
for name in plain pairs graph apart programs lost rich mute even turns halves moved; do
	for opt in '' --drift --per-device; do
		comes_to_rest "$name $opt" "$T/$name" $opt
	done
done
nsysx-align -q "$T/turns" >"$T/out"
nsysx-align -q "$T/out" >"$T/again"
equal 'clocks that agree with each other are not moved' "$(clocks "$T/out" | tr '\n' ,) $(clocks "$T/again" | tr '\n' ,)" '1 0 3 0,1 0 3 0,1 0 3 0, 1 0 3 0,1 0 3 0,1 0 3 0,'

# ---- refusals
fails '--apply requires clocks' 1 'no clock record' nsysx-align -o "$T/none" --apply "$T/plain" "$T/plain"
nsysx-align -q -e "$T/plain" >"$T/estimate"
sed 's/^\(profile	1	\)r1/\1other/' "$T/estimate" >"$T/other"
fails 'clocks of another profile are refused' 1 'belongs to report r1' nsysx-align -o "$T/none" --apply "$T/other" "$T/plain"
sed 's/^\(clock	0	0	[^	]*\)	0/\1	0.5/' "$T/estimate" >"$T/fast"
fails 'an impossible rate is refused' 1 'want a rate' nsysx-align -o "$T/none" --apply "$T/fast" "$T/plain"
sed '/^clock	2/d; s/^end.*/end	0/' "$T/estimate" >"$T/fewer"
nsysx-align --apply "$T/fewer" "$T/plain" 2>&1 >"$T/out" | grep -v info >"$T/err"
equal 'a device that the clock file lacks is not moved' "$(cat "$T/err"):$(clocks "$T/out" | tail -n 1 | tr ' ' -)" \
	'nsysx-align: warning: devices without a clock in the applied file: not corrected:0-0--'
fails '--apply excludes options of the estimate' 2 'estimates nothing' nsysx-align --apply "$T/estimate" --drift "$T/plain"
fails 'standard input cannot be read twice' 2 'read only once' nsysx-align --apply -
head -c 700 "$T/plain" >"$T/cut"
fails 'a stream cut short' 1 'cut short' nsysx-align -o "$T/none" "$T/cut"
fails 'an estimate cut short' 1 'cut short' nsysx-align -o "$T/none" --apply "$T/cut" "$T/plain"
fails 'a full disk' 1 '/dev/full' nsysx-align -q -o /dev/full "$T/plain"
fails 'a stream out of order' 1 'out of order' nsysx-align -o "$T/none" warmup/bad-order.tsv
fails '--require' 1 'no skew record' nsysx-align -q -o "$T/none" --require skew "$T/mute"
equal 'a refusal leaves no output' "$(ls "$T" | grep -c none)" 0

# ---- generated jobs
[ -x "$SYNTH" ] && [ -x "$B/bin/nsysx-extract" ] || { skip 'generated jobs' 'no generator here'; done_testing; }

# The largest error of a clock relative to the others, in ns: the corrected time of the true times 2.005 s and 2.015 s against their mean.
worst() {
	table clock "$2" | sed 1d | awk -F'\t' '
		NR == FNR { if (FNR > 1) { off[$1] = $3; ppm[$1] = $4; ref[$1] = $5 } next }
		{ d[$1]; for (T = 2005000000; T <= 2015000000; T += 10000000) {
			# Relative to ref, doubles are exact enough.
			shown = off[$1] + ppm[$1] * 1e-6 * (T - ref[$1])
			e[$1, T] = shown - ($3 + $4 * (T + shown - $5)); sum[T] += e[$1, T] }
		  n++ }
		END { for (T in sum) for (i in d) { x = e[i, T] - sum[T] / n; if (x < 0) x = -x; if (x > w) w = x }
			printf "%d\n", n ? w : 1e9 }' "$1/answers/clocks.tsv" -
}
# A job of these options, aligned with $2 (may be empty), has clocks within $3 ns: recovered CLAIM ALIGN-OPTIONS NS SYNTH-OPTIONS...
recovered() {
	claim=$1 how=$2 limit=$3
	shift 3
	rm -rf "$T/job"
	"$SYNTH" -o "$T/job" "$@" || return
	if [ "${dumps-}" ]; then
		set --
		for export in "$T"/job/r*.sqlite; do set -- "$@" -x "$T/job/dump0" "$export"; done
		nsysx-extract -q "$@" >"$T/job/s"
	else
		nsysx-extract -q "$T"/job/r*.sqlite >"$T/job/s"
	fi
	nsysx-align -q $how "$T/job/s" >"$T/job/a"
	w=$(worst "$T/job" "$T/job/a")
	if [ "$w" -le "$limit" ]; then pass "$claim: $w ns"; else fail "$claim" "a clock is off by $w ns, want $limit"; fi
	comes_to_rest "$claim" "$T/job/s" $how
	ok "$claim: the result is sorted" nsysx-align -q --apply "$T/job/a" -o /dev/null "$T/job/a"
}
recovered 'eight devices, offsets of 5 ms' '' 200 --processes 8 --offset 5000000 --jitter 500 --steps 20
cp "$T/job/s" "$T/s" && cp "$T/job/a" "$T/a"
# All times of one profile are 123456 later: its offset grows by 7/8 of that, the others' shrink by 1/8, so all aligned times grow by 15432.
awk -F'\t' -v OFS='\t' -v by=123456 '
	$1 ~ /^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); at[substr($1, 2), c[1]] = i } print; next }
	$1 ~ /^(compile|module|thunk)$/ && $at[$1, "profile"] == 3 { $at[$1, "start"] += by; if ($1 != "compile") $at[$1, "host_start"] += by }
	{ print }' "$T/s" >"$T/x"
{ grep -v -e '^module' -e '^thunk' -e '^diag' -e '^end' "$T/x" | grep -v '^#end'
	grep -e '^module' -e '^thunk' "$T/x" | awk -F'\t' -v OFS='\t' '{ print ($1 == "module" ? $6 OFS 0 : $9 OFS 1) OFS $0 }' |
		sort -s -n -t "$(printf '\t')" -k 1,1 -k 2,2 | cut -f 3-; grep '^#diag' "$T/x"; grep '^diag' "$T/x"; tail_of; } | awk '!/^#/ || !seen[$1]++' >"$T/shifted"
nsysx-align -q "$T/shifted" >"$T/b"
for s in a b; do table thunk "$T/$s" | sed 1d | cut -f 1-8 | sort >"$T/$s.thunks"; done
equal 'a shifted profile is aligned as before' \
	"$(paste "$T/a.thunks" "$T/b.thunks" | awk -F'\t' '$16 - $8 < 15431 || $16 - $8 > 15433' | wc -l) $(wc -l <"$T/a.thunks" | tr -d ' ')" "0 $(grep -c '^thunk' "$T/s")"
recovered 'drift of 20 ppm' --drift 500 --processes 8 --offset 5000000 --drift 20 --jitter 500 --steps 60
recovered 'a capture one step late' '' 500 --processes 8 --offset 5000000 --jitter 500 --steps 12 --late 3
# one_number CLAIM STREAM: executions of one number of programs that communicate overlap on all devices.
one_number() {
	nsysx-view "$2" | awk -F'\t' '
		/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); at[substr($1, 2), c[1]] = i } next }
		$1 == "inst" && $at["inst", "comm"] == 1 { comm[$at["inst", "program"]] }
		$1 == "module" && ($at[$1, "program"] in comm) { k = $at[$1, "program"] " " $at[$1, "execution"]; s = $at[$1, "start"]; e = s + $at[$1, "dur"]; n[k]++
			if (!(k in last) || s > last[k]) last[k] = s; if (!(k in first) || e < first[k]) first[k] = e }
		END { for (k in n) { many += n[k] > 1; if (last[k] >= first[k]) bad++ } print (many > 2 ? "some" : "none"), bad + 0 }' >"$T/got"
	equal "$1: executions of one number overlap" "$(cat "$T/got")" 'some 0'
}
# later N: the stream's devices 2 and 3 without their first N executions of each program, numbered from 0 as a capture of its own would.
later() {
	awk -F'\t' -v OFS='\t' -v n="$1" '
		/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); at[substr($1, 2), c[1]] = i } }
		$1 ~ /^(module|thunk|op)$/ && $at[$1, "device"] ~ /^[23]$/ && $at[$1, "execution"] != "" { if ($at[$1, "execution"] < n) next; $at[$1, "execution"] -= n }
		$1 == "end" { $2 = "" } { print }' | sed 's/^end	$/end	0/'
}
for late in 0 1 2; do
	rm -rf "$T/job"
	"$SYNTH" -o "$T/job" --processes 3 --devices 2 --offset 5000000 --jitter 500 --steps 12 --late $late
	nsysx-extract -q --ops "$T"/job/r*.sqlite >"$T/job/s"
	nsysx-align -q "$T/job/s" >"$T/job/a"
	one_number "report $late late by one" "$T/job/a"
	comes_to_rest "report $late late by one, numbers" "$T/job/s"
done
rm -rf "$T/job"
"$SYNTH" -o "$T/job" --processes 3 --devices 2 --offset 5000000 --jitter 500 --steps 12
nsysx-extract -q "$T"/job/r*.sqlite >"$T/job/whole"
later 3 <"$T/job/whole" >"$T/job/s"
nsysx-align -q "$T/job/s" >"$T/job/a"
one_number 'a report late by three' "$T/job/a"
comes_to_rest 'a report late by three, numbers' "$T/job/s"
# Its records have the numbers that they have in the whole stream.
for f in whole s; do
	nsysx-align -q "$T/job/$f" | nsysx-view -t thunk | awk -F'\t' 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["device"], $at["program"], $at["inst"], $at["occurrence"], $at["execution"] }' | sort >"$T/job/$f.numbers"
done
nsysx-view -t inst "$T/job/s" | awk -F'\t' 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["comm"] == 1 { print $at["program"] }' | sort -u >"$T/job/comm"
equal 'numbers of a late capture are those of the whole one' "$(awk 'FILENAME ~ /comm$/ { comm[$1] } FILENAME ~ /whole/ { all[$0] } FILENAME ~ /s.numbers$/ && FILENAME !~ /whole/ && $2 in comm { n++; bad += !($0 in all) }
	END { print (n > 100), bad + 0 }' "$T/job/comm" "$T/job/whole.numbers" "$T/job/s.numbers")" '1 0'
# Merging aligned streams of one report each gives the records of the aligned stream of all.
nsysx-align -q --estimate "$T/job/s" >"$T/job/estimate"
for p in 0 1 2; do
	nsysx-extract -q "$T/job/r$p.sqlite" | if [ $p = 1 ]; then later 3; else cat; fi | nsysx-align -q --apply "$T/job/estimate" | grep -v '^skew' | sed 's/^end	.*/end	0/' >"$T/job/part$p"
done
nsysx-merge -q "$T"/job/part[012] | nsysx-view -t thunk >"$T/got"
nsysx-view -t thunk "$T/job/a" >"$T/want"
same 'aligned streams of one report each, merged: one number is one execution' "$T/want" "$T/got"
recovered 'the first capture late, and drift' --drift 1000 --processes 4 --offset 5000000 --jitter 500 --drift 20 --steps 20 --late 0
recovered 'groups without a dump' '' 1000 --processes 8 --offset 5000000 --jitter 500 --steps 20 --groups 4
recovered 'sessions with different starts' '' 200 --processes 4 --sessions 1000000000 --offset 5000000 --jitter 500 --steps 20
recovered 'devices of one profile share a clock' '' 100 --processes 2 --devices 4 --offset 5000000 --jitter 500 --steps 10
equal 'clock records of one profile are equal' "$(clocks "$T/job/a" | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" '4 4 '
recovered '--per-device: a clock for each device' --per-device 500 --processes 2 --devices 4 --offset 5000000 --jitter 500 --steps 10
equal 'clocks per device differ by noise' "$(clocks "$T/job/a" | uniq | wc -l | tr -d ' ')" 8
dumps=1
recovered 'captures of whole nodes, groups across them' --per-device 500 --processes 8 --hosts 2 --offset 5000000 --jitter 500 --steps 20 --groups 2
dumps=
recovered 'a few steps, late' '' 1000 --processes 4 --offset 5000000 --jitter 500 --steps 4 --late 2
recovered 'the same with noise above the differences of intervals' '' 1000 --seed 1 --processes 4 --offset 5000000 --jitter 1000 --steps 6 --late 1 --groups 2
recovered 'offsets, drift and a late capture' --drift 1000 --seed 1 --processes 8 --offset 5000000 --drift 20 --jitter 1000 --steps 40 --late 1 --groups 4
rm "$T"/job/r[0257].sqlite
nsysx-extract -q "$T"/job/r*.sqlite | nsysx-align -q --drift >"$T/some"
w=$(worst "$T/job" "$T/some")
if [ "$w" -le 1000 ]; then pass "a subset of the reports: $w ns"; else fail 'a subset of the reports' "a clock is off by $w ns"; fi

# ---- PyTorch without NCCL's payloads

# bare CLAIM NS SYNTH-OPTIONS...: NCCL's kernels of one order and kind are paired as with payloads
bare() {
	claim=$1 limit=$2
	shift 2
	rm -rf "$T/job"
	"$SYNTH" -o "$T/job" --schema 3.24.14 --nccl=none "$@" || return
	nsysx-extract -q --ops "$T"/job/r*.sqlite >"$T/job/s"
	nsysx-align -q "$T/job/s" >"$T/job/a"
	w=$(worst "$T/job" "$T/job/a")
	if [ "$w" -le "$limit" ]; then pass "$claim: $w ns"; else fail "$claim" "a clock is off by $w ns, want $limit"; fi
	equal "$claim: one component" "$(clocks "$T/job/a" | cut -d ' ' -f 4 | sort -u)" 0
	comes_to_rest "$claim" "$T/job/s"
}
bare 'NCCL without payloads' 10 --processes 4 --offset 2000000 --steps 10
bare 'NCCL without payloads, ends that scatter' 2000 --processes 4 --offset 2000000 --steps 10 --jitter 1000
bare 'NCCL without payloads, a late capture' 2000 --processes 4 --offset 2000000 --steps 10 --jitter 1000 --late 1
bare 'NCCL without payloads, sessions with different starts' 2000 --processes 3 --offset 2000000 --sessions 1000000000 --steps 10 --jitter 1000
# The capture of report 1 lacks three steps: its operations before a time are removed.
rm -rf "$T/job"
"$SYNTH" -o "$T/job" --schema 3.24.14 --nccl=none --processes 3 --offset 2000000 --steps 12 --jitter 1000
nsysx-extract -q --ops "$T"/job/r*.sqlite >"$T/job/s"
from=$(nsysx-view -t op "$T/job/s" | awk -F'\t' 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["device"] == 1 && $at["name"] ~ /^nccl/ { s[n++] = $at["start"] } END { print s[int(n / 4)] - 1 }')
awk -F'\t' -v OFS='\t' -v from="$from" '/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); at[substr($1, 2), c[1]] = i } }
	$1 == "op" && $at["op", "device"] == 1 && $at["op", "start"] < from { next } $1 == "end" { $2 = 0 } { print }' "$T/job/s" >"$T/job/late"
nsysx-align -q "$T/job/late" >"$T/job/a"
w=$(worst "$T/job" "$T/job/a")
if [ "$w" -le 2000 ]; then pass "NCCL without payloads, a capture late by a quarter: $w ns"; else fail 'NCCL without payloads, a capture late by a quarter' "a clock is off by $w ns"; fi

# Kernels that do not end together: nothing is known of the clocks, and nobody waits.
rm -rf "$T/job"
"$SYNTH" -o "$T/job" --torch --processes 2 --steps 10 --offset 2000000
nsysx-extract -q --ops "$T"/job/r*.sqlite >"$T/job/s"
nsysx-align "$T/job/s" 2>"$T/err" >"$T/job/a"
equal 'kernels of unknown communicators that end at different times: clocks are not compared' \
	"$(clocks "$T/job/a" | tr '\n' ,)$(grep -c 'clocks not compared: NCCL' "$T/err")$(grep -c 'one clock' "$T/err")" '0 0 0 0,0 0 0 1,10'
equal '... and nobody waits for others' "$(nsysx-stragglers -q --waits "$T/job/a" | sed 1d | wc -l | tr -d ' ')$(nsysx-collectives -q --each "$T/job/a" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "wait") at = i; next } at && $at > 0' | wc -l | tr -d ' ')" 00
nsysx-extract -q "$T"/job/r*.sqlite >"$T/job/ranges"
equal '... also in a stream without operations' "$(nsysx-align "$T/job/ranges" 2>&1 >"$T/job/a" | cut -d ';' -f 1)" \
	'nsysx-align: warning: clocks not compared: no collective is known to involve devices of different clocks'
sed '/^op.*nccl/d; s/^end.*/end	0/' "$T/job/s" >"$T/job/none"
equal 'GPU work on two clocks without any collective: the clocks are not compared, and not called one' \
	"$(nsysx-align "$T/job/none" 2>&1 >"$T/job/a" | cut -d ';' -f 1),$(clocks "$T/job/a" | cut -d ' ' -f 4 | tr '\n' ,)" \
	'nsysx-align: warning: clocks not compared: no collective is known to involve devices of different clocks,0,1,'

# ---- captures that began hundreds of executions apart

# apart N LATE START0 START1: N executions on each of two devices, intervals of 100 to 120 us; the capture of the second one
# began LATE executions later, its clock is 0.7 s ahead
apart() {
	{	meta '0 1' "${3-},${4-}"
		awk -v N="$1" -v LATE="$2" 'BEGIN { x = 7; t = 1e8
			for (i = 0; i < N + LATE; i++) {
				x = (x * 16807) % 2147483647
				t += 100000 + x % 20000
				if (i < N) printf "0 1 %d %.0f\n", i, t
				if (i >= LATE) printf "1 1 %d %.0f\n", i - LATE, t + 7e8 + x % 300
			} }' | thunks
		tail_of
	} >"$T/apart"
	nsysx-align "$T/apart" >"$T/apart.out" 2>"$T/apart.err"
	clocks "$T/apart.out" | awk '{ s[NR] = $1; n = $3 } END { printf "%d %d\n", (s[2] - s[1]) / 1000 + 0.5, n }'
}
for late in 40 300 700; do
	equal "captures that began $late executions apart" "$(apart 1000 $late)" "700000 $((1000 - late))"
done
apart 40 10500 1790000000700000000 1790000000000000000 >"$T/x"
ok 'captures without a common execution: a warning' grep -q 'more than a second' "$T/apart.err"
apart 40 7 1790000000700000000 1790000000000000000 >"$T/x"
ok '... not for others' test -z "$(grep 'more than a second' "$T/apart.err")"
# The error of an offset: where ends of collectives scatter, the true distance of two clocks is within five of them.
for ns in 0 2000 20000; do
	rm -rf "$T/job"
	"$SYNTH" -o "$T/job" --processes 3 --steps 12 --offset 5000000 --jitter $ns
	nsysx-extract -q -x "$T/job/dump0" "$T/job/r0.sqlite" -x "$T/job/dump1" "$T/job/r1.sqlite" -x "$T/job/dump2" "$T/job/r2.sqlite" |
		nsysx-align -q >"$T/jittered.$ns"
	nsysx-view -t clock "$T/jittered.$ns" >"$T/clocks"
	equal "ends that scatter by $ns ns: the distances of clocks are true within five standard errors" \
		"$(awk -F'\t' -v ns=$ns 'NR == FNR { if (FNR > 1) is[$1] = $3; next }
			FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			{ offset[$1] = $at["offset"]; error[$1] = $at["error"]; n++ }
			END { for (a in offset) for (b in offset) {
				off = offset[a] - offset[b] - (is[a] - is[b])
				off = off < 0 ? -off : off
				if (error[a] < 0.5 || off > 5 * (error[a] + error[b]) + 1 || error[a] > ns / 10 + 0.5) print a, b, off, error[a] }
				print n }' "$T/job/answers/clocks.tsv" "$T/clocks")" 3
done
says 'waits within that error are counted' ' ns, which is within the error of the clocks' nsysx-stragglers -v --waits "$T/jittered.2000"
equal 'no error with drift' "$(nsysx-align -q --drift --estimate "$T/jittered.2000" | nsysx-view -t clock | cut -f9 | sort -u | tr -d '\n')" error
done_testing
