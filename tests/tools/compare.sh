#!/bin/sh
# nsysx-compare: what differs between two streams. The expected results of small streams are computed by hand, those of
# the synthetic job again in Python, with Student's distribution integrated numerically.
. "${0%/*}/../testlib.sh"
. "${0%/*}/../comparelib.sh"

# Lines `kind value ...` on standard input (`-`: absent) as a text stream whose headers are lines `#kind column ...`.
stream() {
	printf '#nsysx\t2\n'
	awk -v OFS='\t' '{ for (i = 2; i <= NF; i++) { if ($i == "-") $i = ""; } $1 = $1; print } !/^#/ { n++ }
		END { print "#end", "records:i"; print "end", n + 0 }'
}
heads() {
	cat <<'END'
#device device:i profile:i name:s
#program program:i id:i name:s fingerprint:s key:s
#alias profile:i program:i id:i digest:s
#stack stack:i frames:s
#inst program:i inst:i name:s opcode:s comm:i op_name:s stack:i
#module profile:i program:i execution:i device:i start:i dur:i
#thunk profile:i program:i execution:i device:i inst:i occurrence:i name:s start:i dur:i hidden:i comm:i
#diag severity:s source:s text:s count:i
END
}
# is CLAIM WANTED ARGS: the columns WANTED of the output of nsysx-compare ARGS equal standard input.
is() {
	claim=$1 wanted=$2
	shift 2
	nsysx-compare -q --tsv "$@" | columns "$wanted" >"$T/got"
	cat >"$T/want"
	same "$claim" "$T/want" "$T/got"
}

says() {
	claim=$1 text=$2
	shift 2
	run "$@"
	if [ "$status" -eq 0 ] && grep -qF -e "$text" "$T_private/err"; then pass "$claim"; else fail "$claim" "status $status, or it does not say: $text" "$@"; fi
}

# ---- times and verdicts ----
# Program step, six executions on a device: i 90 100 110, and again; twice 2 x 20; rare 30 in one execution of three.
run_of() {
	heads
	cat <<END
device 0 0 GPU
program 0 7 step - step@7
inst 0 0 i fusion - - -
inst 0 1 twice copy - - -
inst 0 2 rare fusion - - -
inst 0 3 $1 fusion - jit/$1 -
END
	for e in 0 1 2 3 4 5; do
		echo "module 0 0 $e 0 ${e}1000 900"
		echo "thunk 0 0 $e 0 0 0 i ${e}1001 $(($2 + 10 * (e % 3))) - -"
		echo "thunk 0 0 $e 0 1 0 twice ${e}1300 20 - -"
		echo "thunk 0 0 $e 0 1 1 twice ${e}1400 $3 - -"
		[ $((e % 3)) = 1 ] && echo "thunk 0 0 $e 0 2 0 rare ${e}1500 30 - -"
		echo "thunk 0 0 $e 0 3 0 $1 ${e}1600 50 - -"
	done
}
run_of old 90 20 | stream >"$T/base"
run_of young 190 30 | stream >"$T/new"
# i: 100 and 200; twice: 40 and 50, without any noise; rare: 30 in three executions; effects in NEW's six executions.
is 'times per execution, what is new and what is gone' name,base_execs,new_execs,base,new,diff,change,effect,verdict,match --absolute 0 "$T/base" "$T/new" <<'END'
i 6 6 100 200 100 1 600 slower name
old 6 - 50 - -50 - -300 gone -
young - 6 - 50 50 - 300 new -
twice 6 6 40 50 10 0.25 60 slower name
rare 6 6 10 10 0 0 0 same name
END
# s^2 is 80 on both sides, of six independent values each: sqrt(160 / 6) times Student's t of 10 degrees at the one-sided
# probability of 3 sigma, 0.0013499, halved for two witnesses. Both tails of the density of 10 degrees, with c = 10 / (10 +
# t^2), are 1 - sqrt(1 - c) (1 + c/2 + 3/8 c^2 + 5/16 c^3 + 35/128 c^4).
equal 'noise is Student'\''s' "$(nsysx-compare -q --tsv "$T/base" "$T/new" | columns name,noise | awk '$1 == "i" {
	t = $2 / sqrt(160 / 6); c = 10 / (10 + t * t); p = 1 - sqrt(1 - c) * (1 + c / 2 + 3 / 8 * c ^ 2 + 5 / 16 * c ^ 3 + 35 / 128 * c ^ 4)
	print (p > 0.00134989 && p < 0.00134991) }')" 1
equal 'a difference below it is hidden' "$(nsysx-compare -q --tsv --sigma 9 --absolute 10 "$T/base" "$T/new" | columns name,verdict | grep '^i ')" 'i hidden'
is 'floors: 100 percent are none of --percent 100' name,verdict --percent 100 --absolute 0 --changed "$T/base" "$T/new" <<'END'
old gone
young new
END
run_of old 190 30 | stream >"$T/twofold"
equal 'what noise hides is told with --changed' "$(nsysx-compare --tsv --changed --sigma 9 --absolute 10 "$T/base" "$T/twofold" 2>&1 >/dev/null | sed '/longer by more than noise, which .* allows; the most: step: twice: 50 ns per execution, was 40 ns (+25.0%), noise 0 ns$/d')" \
	'nsysx-compare: nothing changed by more than noise and the limits: 1 row that noise hides is not shown, i: +100.0%'
equal '... below the table, too' "$(nsysx-compare -q --table --changed --sigma 9 --absolute 10 "$T/base" "$T/new" | grep hides)" '1 row that noise hides is not shown, i: +100.0%'
says 'no change is said' 'nothing changed' nsysx-compare --changed "$T/base" "$T/base"
equal 'but not without --changed, nor of changes' "$(nsysx-compare "$T/base" "$T/base" 2>&1 >/dev/null; nsysx-compare --changed "$T/base" "$T/new" 2>&1 >/dev/null | grep -v 'same, but longer')" ''
is 'nor are 100 ns of --absolute 100ns' name,verdict --absolute 100ns --changed "$T/base" "$T/new" <<'END'
old gone
young new
END
is 'the other way round' name,diff,effect,verdict --absolute 0 "$T/new" "$T/base" <<'END'
i -100 -600 faster
old 50 300 new
young -50 -300 gone
twice -10 -60 faster
rare 0 0 same
END
is 'a stream is as itself' name,diff,verdict "$T/base" "$T/base" <<'END'
i 0 same
old 0 same
rare 0 same
twice 0 same
END
is '--by module' name,key,base_execs,base,new,diff,noise,verdict,program_match --by module "$T/base" "$T/new" <<'END'
step step@7 6 900 900 0 0 same key
END
# fusion: 100 + 10 + 50, then 260; the sums of an execution are 140 180 160, then 240 280 260, twice.
is '--by opcode' opcode,base,new,diff,verdict --by opcode --absolute 0 "$T/base" "$T/new" <<'END'
fusion 160 260 100 slower
copy 40 50 10 slower
END

# ---- parts of a program ----
# Six executions of step: small has $1 ns, ar, which communicates, $2, mm $3, its modules $4 or 1000000.
parts() {
	heads
	cat <<END
device 0 0 GPU
program 0 7 step - step@7
inst 0 0 big fusion - - -
inst 0 1 small fusion - - -
inst 0 2 ar all-reduce 1 - -
inst 0 3 mm dot - - -
END
	for e in 0 1 2 3 4 5; do
		echo "module 0 0 $e 0 ${e}000000 ${4:-1000000}"
		echo "thunk 0 0 $e 0 0 0 big ${e}000001 800000 - -"
		echo "thunk 0 0 $e 0 1 0 small ${e}800001 $1 - -"
		echo "thunk 0 0 $e 0 2 0 ar ${e}900001 $2 - 1"
		echo "thunk 0 0 $e 0 3 0 mm ${e}950001 $3 - -"
	done
}
parts 1000 90000 90000 | stream >"$T/parts"
# NEW has 982500, of which 0.1 percent are 982.5 ns: a difference of 1500 ns is above that, one of 900 ns is not.
parts 2500 90000 90000 | stream >"$T/parts.more"
parts 1900 90000 90000 | stream >"$T/parts.minor"
is 'more than 0.1 percent of the program are slower' name,verdict --changed "$T/parts" "$T/parts.more" <<'END'
small slower
END
equal 'less is minor, and not a change' "$(nsysx-compare -q --tsv --changed "$T/parts" "$T/parts.minor" | wc -l)" 1
is 'a row of it has a verdict' name,effect,verdict "$T/parts" "$T/parts.minor" <<'END'
small 5400 minor
ar 0 same
big 0 same
mm 0 same
END
is '--minor sets the limit' name,verdict --changed --minor 0.09 "$T/parts" "$T/parts.minor" <<'END'
small slower
END
is 'of the opcode there is more, of a source line too' opcode,verdict --by opcode --changed --minor 0 --percent 0.1 "$T/parts" "$T/parts.minor" <<'END'
fusion slower
END
gate '--gate is not about it' 0 '' "$T/parts" "$T/parts.minor"
run nsysx-compare --minor 101 "$T/parts" "$T/parts"
equal '--minor is a percentage' "$status" 2
# Communication that is longer while the program is not: it waits there instead of computing elsewhere.
parts 1000 99000 81000 | stream >"$T/parts.waits"
is 'communication of a program that is as long as before is shifted' name,diff,verdict --changed "$T/parts" "$T/parts.waits" <<'END'
ar 9000 shifted
mm -9000 faster
END
gate 'which is no regression' 0 '' "$T/parts" "$T/parts.waits"
is 'by opcode too' opcode,verdict --by opcode --changed "$T/parts" "$T/parts.waits" <<'END'
all-reduce shifted
dot faster
END
parts 1000 120000 90000 1030000 | stream >"$T/parts.longer"
gate 'of one that is longer it is slower' 1 'slower: step: ar: ' "$T/parts" "$T/parts.longer"
parts 1000 90000 90000 | sed '/^module/d' | stream >"$T/parts.nomod"
parts 1000 120000 90000 | sed '/^module/d' | stream >"$T/parts.nomod.longer"
gate 'or if the length of its executions is not known' 1 'slower: step: ar: ' "$T/parts.nomod" "$T/parts.nomod.longer"

# ---- equal programs ----
# step@1 and step@2 have one fingerprint: the one that takes longer in BASE is the shorter one in NEW.
twins() {
	heads
	echo 'device 0 0 GPU'
	for i in 1 2; do
		echo "program $i $i step one step@$i"
		echo "inst $i 0 i fusion - - -"
	done
	for e in 0 1 2 3 4; do
		echo "module 0 1 $e 0 ${e}001000 $1"
		echo "thunk 0 1 $e 0 0 0 i ${e}001000 $1 - -"
		echo "module 0 2 $e 0 ${e}501000 $2"
		echo "thunk 0 2 $e 0 0 0 i ${e}501000 $2 - -"
	done
}
twins 20000 10000 | stream >"$T/twins"
twins 20000 30000 | stream >"$T/twins.new"
is 'programs of one fingerprint are paired in order of their ids' id,key,base_key,base,new,verdict --by module "$T/twins" "$T/twins.new" <<'END'
2 step@2 - 10000 30000 slower
1 step@1 - 20000 20000 same
END

# ---- few executions ----
awk -F'\t' '$1 == "module" && $4 > 0 || $1 == "thunk" && $4 > 0 || $1 == "end" { next } { print } END { print "end\t" }' "$T/new" >"$T/single"
nsysx-compare --tsv "$T/base" "$T/single" >"$T/got" 2>"$T/err"
equal 'a single execution has no noise, and no verdict' "$(columns name,noise,new,verdict <"$T/got" | grep '^i ')" 'i - 190 unknown'
ok 'and that is said' grep -q 'warning: rows of which a side has less than 5 independent executions: not judged (3)' "$T/err"
gate 'of which a gate reports that they do not compare' 3 'not comparable: step: 1 execution of NEW tells too little, want 5: record more executions' "$T/base" "$T/single"
gate 'unless the minimum differences are to decide' 1 'slower: step: i: ' --sigma 0 --absolute 10 "$T/base" "$T/single"

# ---- devices ----
# Device 0: 100 100, device 1: 200 240: 160; one device: 100 200.
{ heads; echo 'device 0 0 A'; echo 'device 1 0 A'; echo 'program 0 7 step - step@7'; echo 'inst 0 0 i fusion - - -'
	n=0; for d in '0 0 100' '0 1 200' '1 0 100' '1 1 240'; do set -- $d; n=$((n + 1))
	echo "module 0 0 $1 $2 ${n}000 500"; echo "thunk 0 0 $1 $2 0 0 i ${n}001 $3 - -"; done; echo 'diag info nsysx-warmup left_out 1'; } | stream >"$T/two"
{ heads; echo 'device 0 0 B'; echo 'program 0 7 step - step@7'; echo 'inst 0 0 i fusion - - -'
	for d in '0 100' '1 200'; do set -- $d; echo "module 0 0 $1 0 ${1}000 500"; echo "thunk 0 0 $1 0 0 0 i ${1}001 $2 - -"; done; } | stream >"$T/one"
nsysx-compare --tsv "$T/two" "$T/one" >"$T/got" 2>"$T/err"
equal 'means are over devices' "$(columns base_execs,new_execs,base,new <"$T/got")" '4 2 160 150'
equal 'what differs between the runs is said' "$(sed '/not judged\|not comparable/d; s/.*warning: //' "$T/err")" 'BASE ran on 2 devices, NEW on 1, times are means over devices: each may do other work then: record both on as many, or keep some of BASE, nsysx-extract --device 0
only BASE has devices of model A
only NEW has devices of model B
BASE passed nsysx-warmup; NEW did not, or had no initialisation: nsysx-warmup -o steady.nsysx '"$T/one"
# What one device takes longer the other takes shorter: in each execution their mean is 150.
{ heads; echo 'device 0 0 A'; echo 'device 1 0 A'; echo 'program 0 7 step - step@7'; echo 'inst 0 0 i fusion - - -'
	n=0; for d in '0 100' '1 110' '2 90' '3 130' '4 100'; do set -- $d; n=$((n + 1))
	echo "thunk 0 0 $1 0 0 0 i ${n}001 $2 - -"; echo "thunk 0 0 $1 1 0 0 i ${n}001 $((300 - $2)) - -"; done; } | stream >"$T/against"
is 'the mean over devices in an execution is one sample' base_execs,base,noise,verdict "$T/against" "$T/against" <<'END'
10 150 0 same
END
# Executions 0 and 1 overlap: the first thunk of 1 starts before the last one of 0.
{ heads; echo 'program 0 7 step - step@7'; echo 'inst 0 0 i fusion - - -'
	for x in '0 10' '1 20' '0 5' '1 10' '2 30' '3 30' '4 30'; do set -- $x; n=$((n + 1)); echo "thunk 0 0 $1 0 0 0 i ${n}000 $2 - -"; done; } | stream >"$T/mixed"
is 'executions that overlap' base_execs,base "$T/mixed" "$T/mixed" <<'END'
5 27
END
# Their sums are 15 and four times 30: the mean's error is 3. For 8 degrees of freedom the tails are 1 - x (1 + c/2 +
# 3/8 c^2 + 5/16 c^3).
equal 'are told apart' "$(nsysx-compare -q --tsv "$T/mixed" "$T/mixed" | columns noise | awk '{ t = $1 / (3 * sqrt(2)); x = t / sqrt(8 + t * t)
	c = 1 - x * x; p = 1 - x * (1 + c / 2 + 3 / 8 * c * c + 5 / 16 * c * c * c); print (p > 0.00134989 && p < 0.00134991) }')" 1
# One of an execution that starts after two later executions of its device have begun.
{ heads; echo 'program 0 7 step - step@7'; echo 'inst 0 0 i fusion - - -'
	for x in 0 1 2 0; do n=$((n + 1)); echo "thunk 0 0 $x 0 0 0 i ${n}000 $((10 * (x + 1))) - -"; done; } | stream >"$T/late"
is 'what comes late belongs to its execution' base_execs,base "$T/late" "$T/late" <<'END'
3 23.333333333333332
END

# ---- exposed ----
{ heads; echo 'program 0 7 step - step@7'; echo 'inst 0 0 ar all-reduce 1 - -'; echo 'thunk 0 0 0 0 0 0 ar 1 100 60 1'; } | stream >"$T/hidden"
is '--time exposed' base --time exposed "$T/hidden" "$T/hidden" <<'END'
40
END
is '--time whole' base "$T/hidden" "$T/hidden" <<'END'
100
END
sed 's/	60	1$/		1/' "$T/hidden" >"$T/plain"
equal 'exposed time of a stream that did not pass nsysx-overlap' "$(nsysx-compare --time exposed "$T/hidden" "$T/plain" 2>&1 >"$T/null" | grep -c overlap)" 2

# ---- matching of instructions ---- The numbers have moved by one: fusion.2 is another operation in NEW; line 10 is
# line 12; the loss is a fusion of another kind; nothing distinguishes the two copies, only their number is known;
# `alone` is one instruction in BASE and two in NEW.
{ heads; cat <<'END'
program 0 7 step - step@7
stack 0 a.py:10[f];b.py:3[g]
stack 1 a.py:20[f];b.py:9[h]
inst 0 0 fusion.1 fusion - jit/a 0
inst 0 1 fusion.2 fusion - jit/b 0
inst 0 2 fusion.3 fusion - jit/c 0
inst 0 3 moved.1 fusion - jit/d 1
inst 0 4 loop_loss fusion - jit/loss 0
inst 0 5 copy.1 copy - - -
inst 0 6 copy.2 copy - - -
inst 0 7 alone.9 fusion - - -
inst 0 8 same fusion - jit/e 0
END
	for i in 0 1 2 3 4 5 6 7 8; do echo "thunk 0 0 0 0 $i 0 - 1$i 1$i - -"; done; } | stream >"$T/names1"
{ heads; cat <<'END'
program 0 8 step - step@8
stack 0 a.py:10[f];b.py:3[g]
stack 1 a.py:22[f];b.py:11[h]
inst 0 0 fusion.2 fusion - jit/a 0
inst 0 1 fusion.3 fusion - jit/b 0
inst 0 2 fusion.4 fusion - jit/c 0
inst 0 3 moved.5 fusion - jit/d 1
inst 0 4 input_loss fusion - jit/loss 0
inst 0 5 copy.11 copy - - -
inst 0 6 copy.7 copy - - -
inst 0 7 alone.1 fusion - - -
inst 0 8 alone.2 fusion - - -
inst 0 9 same custom-call - jit/f 0
END
	for i in 0 1 2 3 4 5 6 7 8 9; do echo "thunk 0 0 0 0 $i 0 - 1$i 1$i - -"; done; } | stream >"$T/names2"
nsysx-compare -q --tsv "$T/names1" "$T/names2" | columns base_name,name,match,program_match | sort >"$T/got"
sort >"$T/want" <<'END'
fusion.1 fusion.2 place name
fusion.2 fusion.3 place name
fusion.3 fusion.4 place name
moved.1 moved.5 op_name name
loop_loss input_loss place name
copy.1 copy.7 place name
copy.2 copy.11 place name
- alone.9 - name
- alone.1 - name
- alone.2 - name
- same name name
END
same 'instructions whose names, lines or kinds changed are found' "$T/want" "$T/got"
nsysx-compare -q --by source --tsv "$T/names1" "$T/names2" | columns base_source,source,base,match | sort >"$T/got"
sort >"$T/want" <<'END'
- b.py:3[g] 65 name
b.py:9[h] b.py:11[h] 13 place
- [Unknown] 48 name
END
same 'and source lines that moved' "$T/want" "$T/got"

# Four programs f on either side: one is matched by its fingerprint, one by its digest, the others by time, because
# their ids differ.
programs() { heads; echo "program 0 $1 f aa f@$1"; echo "program 1 $2 f - f@$2"; echo "program 2 $3 f b$1 f@$3"; echo "program 3 $4 f - f@$4"
	echo "alias 0 1 $2 x:55"; for p in "$5" "$6" "$7" "$8"; do set -- $p; echo "inst $1 0 i fusion - - -"; done
	shift $(($# > 8 ? 0 : 0)); }
{ programs 1 2 3 4 '0 0' '1 0' '2 0' '3 0'; n=0; for d in 10 20 500 40; do echo "thunk 0 $n 0 0 0 0 i 1$n $d - -"; n=$((n + 1)); done; } | stream >"$T/p1"
{ programs 11 12 14 13 '0 0' '1 0' '2 0' '3 0'; n=0; for d in 11 21 41 501; do echo "thunk 0 $n 0 0 0 0 i 1$n $d - -"; n=$((n + 1)); done; } | stream >"$T/p2"
nsysx-compare -q --tsv "$T/p1" "$T/p2" | columns id,base,new,program_match | sort >"$T/got"
sort >"$T/want" <<'END'
11 10 11 fingerprint
12 20 21 digest
13 500 501 name
14 40 41 name
END
same 'programs of one name: by fingerprint, by digest, by time' "$T/want" "$T/got"

# Programs without a name: those with an id are matched by it, for any times; the others by their time. One run each of $1, $2, ... ns.
unnamed() {
	heads
	printf 'program %s\n' '0 7 - - -' '1 8 - - -' '2 - - - -' '3 - - - -'
	printf 'inst %s 0 i fusion - - -\n' 0 1 2 3
	for p in 0 1 2 3; do
		echo "module 0 $p 0 0 ${p}0000 $1"
		echo "thunk 0 $p 0 0 0 0 i ${p}0001 $1 - -"
		shift
	done
}
unnamed 5000 6000 7000 8000 | stream >"$T/unnamed"
unnamed 6500 5500 8100 7100 | stream >"$T/slower"
for how in module 'thunk --cover 1'; do
	by=${how%% *}
	is "programs without a name are those of the same id, then by time: by $by" id,base,new,program_match --by $by "$T/unnamed" "$T/slower" <<'END'
7 5000 6500 key
8 6000 5500 key
- 8000 8100 name
- 7000 7100 name
END
	nsysx-summary -q --tsv --by $how "$T/unnamed" >"$T/unnamed.table"
	for side in "$T/unnamed" "$T/unnamed.table"; do
		equal "the same twice has nothing new nor gone: by $by" "$(nsysx-compare -q --sigma 0 --by $by --tsv "$T/unnamed" "$side" | columns verdict | sort | uniq -c | tr -s ' ')" ' 4 same'
	done
done

# ---- gate ----
gate 'a stream passes against itself' 0 '' "$T/base" "$T/base"
equal 'in silence' "$(cat "$T_private/err")" ''
gate 'a regression is 1' 1 'nsysx-compare: slower: step: i: 200 ns per execution, was 100 ns (+100.0%), noise 23 ns' -q --absolute 10 "$T/base" "$T/new"
equal 'and the table is there' "$(grep -c '^7	step	i	' "$T_private/out")" 1
gate 'an improvement is 0' 0 '' --absolute 10 "$T/new" "$T/base"
gate 'too little is matched: 3' 3 'nsysx-compare: not comparable: 75.0% of the time of BASE is matched' -q --coverage 0.76 "$T/base" "$T/new"
gate 'nothing is too little' 0 '' --coverage 0.75 --absolute 150 "$T/base" "$T/new"
{ heads; echo 'diag info x y 1'; } | stream >"$T/empty"
gate 'a stream without work cannot be compared' 3 'not comparable: NEW has no thunks' "$T/base" "$T/empty"
sed '$d' "$T/new" >"$T/cut"
gate 'nor can one that was cut short' 3 'cut short' "$T/base" "$T/cut"
gate 'unless it is taken' 1 '' --partial --absolute 10 "$T/base" "$T/cut"
gate 'nor one that is not there' 3 'no-such' "$T/no-such" "$T/base"
fails 'which is 1 without --gate' 1 'cut short' nsysx-compare "$T/base" "$T/cut"
ok 'what cannot be compared is a table without --gate' nsysx-compare "$T/base" "$T/empty"
equal 'which is said' "$(cat "$T_private/err")" 'nsysx-compare: warning: not comparable: NEW has no thunks, which come from XLA: --by step, --by range and --by kernel work without them'
fails 'one stream' 2 'want two streams' nsysx-compare "$T/base"
fails 'standard input twice' 2 'once' nsysx-compare - -
fails 'no number' 2 '--sigma: want a number from 0 to 30, got "x"' nsysx-compare --sigma x "$T/base" "$T/new"
fails 'nan' 2 '--percent: want a number' nsysx-compare --percent nan "$T/base" "$T/new"
fails 'exposed modules' 2 'no exposed time' nsysx-compare --by module --time exposed "$T/base" "$T/new"
fails 'a table of stacks' 2 'prints no table' nsysx-compare --folded new --json "$T/base" "$T/new"

# ---- forms ----
nsysx-view -bz "$T/base" >"$T/base.bin"
for by in thunk module opcode source; do
	nsysx-compare -q --by $by "$T/base" "$T/new" >"$T/a"
	nsysx-compare -q --by $by - "$T/new" <"$T/base.bin" >"$T/b"
	same "--by $by of a binary stream" "$T/a" "$T/b"
	nsysx-compare -q --by $by --json "$T/base" "$T/new" >"$T/json"
	python3 -c '
import csv, json, sys
rows = json.load(open(sys.argv[1]))
want = list(csv.DictReader(open(sys.argv[2]), delimiter="\t"))
print(len(rows) > 0 and [list(r) for r in rows] == [list(w) for w in want] and all(
    (r[k] is None and w[k] == "") or (r[k] == w[k] if isinstance(r[k], str) else float(w[k]) == r[k]) for r, w in zip(rows, want) for k in w))' \
		"$T/json" "$T/a" >"$T/b"
	equal "--by $by in JSON" "$(cat "$T/b")" True
done
# Products of two instructions, of 100 and 60 ns, are computed in tf32 instead of f32; one, of 40, in f32 as before, one
# in none, and one is of a type in one run only.
math_of() {
	heads | sed '/^#inst/s/$/ flops:i math:s/'
	cat <<END
device 0 0 GPU
program 0 7 step - step@7
inst 0 0 a custom-call - - - 1000 $1
inst 0 1 b custom-call - - - 1000 $1
inst 0 2 c custom-call - - - 1000 f32
inst 0 3 d fusion - - - - -
inst 0 4 e fusion - - - - $2
END
	for e in 0 1 2 3 4 5; do
		echo "module 0 0 $e 0 ${e}1000 900"
		echo "thunk 0 0 $e 0 0 0 a ${e}1001 $((100 / $3)) - -"
		echo "thunk 0 0 $e 0 1 0 b ${e}1201 $((60 / $3)) - -"
		echo "thunk 0 0 $e 0 2 0 c ${e}1401 40 - -"
		echo "thunk 0 0 $e 0 3 0 d ${e}1501 150 - -"
		echo "thunk 0 0 $e 0 4 0 e ${e}1701 50 - -"
	done
}
math_of f32 - 1 | stream >"$T/f32"
math_of tf32 f32 2 | stream >"$T/tf32"
equal 'products in another type are told: 160 of 400 ns, and 80 of 320' "$(nsysx-compare -q --table "$T/f32" "$T/tf32" | grep products)" \
	'products are computed in tf32, in BASE in f32: 2 instructions, 40.0% of the time of BASE and 25.0% of that of NEW'
equal '... those of the same type are not' "$(nsysx-compare -q --table "$T/tf32" "$T/tf32" | grep products)" ''

equal 'the aligned table says what is matched' "$(nsysx-compare -q --table "$T/base" "$T/new" | tail -n 2)" "75.0% of BASE's time is matched; its stream holds 0 diags
83.9% of NEW's time is matched; its stream holds 0 diags"

# ---- folded ----
# BASE's times in as many executions as NEW has: 640 ns of 4 executions are 320 of 2; an instruction that is gone keeps
# its name.
equal 'BASE in the executions of NEW' "$(nsysx-compare -q --folded base "$T/two" "$T/one")" 'step;i 320'
nsysx-compare -q --folded base "$T/names1" "$T/names2" | sort >"$T/got"
equal 'with the names and places of NEW' "$(grep -c 'step;a.py:22\[f\];b.py:11\[h\];moved.5 13$\|step;a.py:10\[f\];b.py:3\[g\];fusion.3 11$\|step;alone.9 17$' "$T/got")" 3
equal '--folded new adds up to the stream' "$(nsysx-compare -q --folded new "$T/base" "$T/new" | awk '{ s += $NF } END { print s }')" \
	"$(nsysx-view -t thunk "$T/new" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { s += $c["dur"] } END { print s }')"

# ---- synthetic jobs ----
if [ ! -x "$SYNTH" ] || [ ! -x "$B/bin/nsysx-warmup" ]; then
	skip 'known changes are found' 'there is no nsysx-synth or nsysx-warmup'
	done_testing
fi
# job NAME ARGS: the generated job as stream $T/NAME.
job() {
	job=$T/$1
	shift
	"$SYNTH" -o "$job.d" "$@" && nsysx-extract -q -x "$job.d/dump0" "$job.d/r0.sqlite" -x "$job.d/dump1" "$job.d/r1.sqlite" |
		nsysx-warmup -q | nsysx-overlap -q -o "$job"
	rm -rf "$job.d"
}
job j1 --steps 12
job j2 --steps 12 --slow cublas-gemm.1:30,loop_add_fusion:-25
job j3 --steps 16 --seed 2 --slow cublas-gemm.1001:30,loop_add_fusion.1000:-25
job j4 --steps 12 --seed 3
rows=$(($(nsysx-compare -q --tsv "$T/j1" "$T/j2" | wc -l) - 1))
md() { nsysx-compare -q --markdown "$@" "$T/j1" "$T/j2" | awk '/^\|--|^\|---/ { inside = 1; next } inside && /^\| / { n++ } /^\.\.\./ { more = $0 } END { print n, more }'; }
equal 'Markdown has as many rows as a terminal, and the number of the others' "$(md)" "20 ... and $((rows - 20)) more: --top 0"
equal '... or all' "$(md --top 0)" "$rows "
fails 'the generator does not ignore a name of --slow' 1 'no such instruction: want one of wrapped_convert, ' "$SYNTH" -o "$T/x" --slow nosuch:50
fails '... not beside one that exists' 1 '--slow nosuch: no such instruction' "$SYNTH" -o "$T/x" --slow cublas-gemm.1:30,nosuch:50
fails '... with the names of this seed' 1 'cublas-gemm.1001, ' "$SYNTH" -o "$T/x" --seed 2 --slow cublas-gemm:10
fails '... nor of a job without instructions, which has ranges' 1 'no such range launches a kernel that computes: want one of aten::addmm, ' "$SYNTH" -o "$T/x" --torch --slow nosuch:50
fails '... nor beside --nccl, which has neither' 2 '--nccl' "$SYNTH" -o "$T/x" --nccl --schema 3.24.14 --slow nosuch:50
fails '... and wants a number' 1 'want NAME:PERCENT' "$SYNTH" -o "$T/x" --slow cublas-gemm.1:x
is 'exactly the instructions that were changed differ' base_name,name,verdict --changed "$T/j1" "$T/j2" <<'END'
- cublas-gemm.1 slower
- loop_add_fusion faster
END
is 'also where all are named and numbered differently' base_name,name,verdict --changed "$T/j1" "$T/j3" <<'END'
cublas-gemm.1 cublas-gemm.1001 slower
loop_add_fusion loop_add_fusion.1000 faster
END
# The devices of another seed have other speeds: only the time that collectives wait for each other may differ.
nsysx-compare -q --tsv "$T/j1" "$T/j4" | columns opcode,verdict >"$T/got"
equal 'and no computation between two runs of the same' "$(grep -v ' same$\| unknown$\| hidden$' "$T/got" | grep -cv '^all-\|^collective-\|^reduce-scatter')" 0
ok 'of which there is much' test "$(grep -c '^fusion same$' "$T/got")" -gt 20
gate 'a gate finds it' 1 'nsysx-compare: slower: jit_train_step: cublas-gemm.1: ' "$T/j1" "$T/j2"
equal 'and it alone' "$(grep -c 'slower:' "$T_private/err")" 1
is 'and their source lines' source,verdict --changed --by source "$T/j1" "$T/j3" <<'END'
/opt/example/model/layers.py:41[attention] slower
train.py:96[train_step] faster
END
# ---- tables instead of streams ----
for j in j1 j2 j3; do
	mkdir -p "$T/report.$j/tables" "$T/report.$j/streams"
	cp "$T/$j" "$T/report.$j/streams/collectives.nsysx"
	for by in 'thunk --cover 1' 'opcode --cover 1' module; do
		# shellcheck disable=SC2086
		nsysx-summary -q --tsv --by $by -o "$T/report.$j/tables/${by%% *}.tsv" "$T/$j"
	done
done
r1=$T/report.j1/tables r2=$T/report.j2/tables r3=$T/report.j3/tables
is 'tables of thunks tell the same changes' base_name,name,verdict --changed "$r1/thunk.tsv" "$r2/thunk.tsv" <<'END'
- cublas-gemm.1 slower
- loop_add_fusion faster
END
is 'also where all are numbered differently, in runs of other lengths' base_name,name,verdict --changed "$r1/thunk.tsv" "$r3/thunk.tsv" <<'END'
cublas-gemm.1 cublas-gemm.1001 slower
loop_add_fusion loop_add_fusion.1000 faster
END
# The columns that both have, for instructions that run once in each execution: all but one, which a table counts three
# times.
for by in thunk module; do
	what=exposed cols=id,program,name,base_execs,new_execs,base,new,diff,change,effect,match,opcode
	[ $by = module ] && what=whole cols=id,name,key,base_execs,new_execs,base,new,diff,change,effect
	nsysx-compare -q --tsv --by $by --time $what "$T/j1" "$T/j2" | columns $cols | sort >"$T/want"
	nsysx-compare -q --tsv "$r1/$by.tsv" "$r2/$by.tsv" | columns $cols | sort >"$T/got"
	equal "as many rows by $by" "$(wc -l <"$T/got")" "$(wc -l <"$T/want")"
	grep -v ' loop_dynamic_slice_fusion ' "$T/want" >"$T/want.once"
	grep -v ' loop_dynamic_slice_fusion ' "$T/got" >"$T/got.once"
	same "tables by $by say of each row what streams say" "$T/got.once" "$T/want.once"
	ok 'of several' test "$(wc -l <"$T/got.once")" -gt 2
done
nsysx-compare -q --tsv --changed "$r1/thunk.tsv" "$r2/thunk.tsv" >"$T/want"
# tells CLAIM BASE NEW: the result equals that of the two tables.
tells() {
	nsysx-compare -q --tsv --changed "$2" "$3" >"$T/got"
	same "$1" "$T/got" "$T/want"
}
tells 'a table beside a stream' "$T/j1" "$r2/thunk.tsv"
tells 'a stream beside a table' "$r1/thunk.tsv" "$T/j2"
nsysx-summary -q --tsv --by thunk --cover 0.5 -o "$T/less.tsv" "$T/j2"
nsysx-compare --tsv "$T/j1" "$T/less.tsv" 2>"$T/err" >"$T/got"
equal 'programs that a table leaves out are not gone' "$(cut -f13 "$T/got" | sort | uniq -c | tr -s ' \n' ' ')" ' 1 faster 46 same 1 slower 1 verdict '
equal 'but left out, which is said' "$(cat "$T/err")" "nsysx-compare: warning: BASE: programs that the other side's table does not have: ignored (2)"
nsysx-compare --tsv --time whole "$T/j1" "$T/less.tsv" 2>"$T/err" >"$T/same"
equal 'whole time asked of a table is said not to apply' "$(grep -c -- '--time whole does not apply' "$T/err") $(cmp "$T/got" "$T/same" && echo same)" '1 same'
tells 'folders of reports' "$T/report.j1" "$T/report.j2/"
tells 'one beside a stream' "$T/report.j1" "$T/j2"
tells 'a table as standard input' - "$r2/thunk.tsv" <"$r1/thunk.tsv"
zstd -q "$r1/thunk.tsv" -o "$T/thunk.zst"
tells 'a compressed one' "$T/thunk.zst" "$r2/thunk.tsv"
for by in source opcode; do nsysx-compare -q --tsv --by $by "$T/j1" "$T/j2" >"$T/want.$by"; done
nsysx-compare -q --tsv "$r1/module.tsv" "$r2/module.tsv" >"$T/want.module"
for by in module opcode source; do
	nsysx-compare -q --tsv --by $by "$T/report.j1" "$T/report.j2" >"$T/got"
	same "of a report's folder --by $by takes what is by that" "$T/got" "$T/want.$by"
done
awk -F'\t' -v OFS='\t' 'FNR == 1 { next } NR == FNR { old[$1] = $2; next } { print $1, old[$1], $2, $2 - old[$1] }' "$r1/opcode.tsv" "$r2/opcode.tsv" | sort >"$T/want"
nsysx-compare -q --tsv "$r1/opcode.tsv" "$r2/opcode.tsv" >"$T/opcodes"
cut -f3,6-8 "$T/opcodes" | tail -n +2 | sort >"$T/got"
same 'tables by opcode: sums of runs, and the idle time' "$T/got" "$T/want"
ok 'of several opcodes' test "$(wc -l <"$T/want")" -gt 5
equal 'which are not judged, as the runs may have other lengths' "$(columns verdict <"$T/opcodes" | sort -u)" unknown
gate 'and a gate reports that' 3 'not comparable: a table by opcode does not tell how many executions its sums are of' "$r1/opcode.tsv" "$r3/opcode.tsv"
gate 'unless --sigma 0 lets the minimum differences decide' 1 'slower: custom-call: ' --sigma 0 "$r1/opcode.tsv" "$r2/opcode.tsv"
equal 'of which is said what is not known' "$(nsysx-compare --sigma 0 "$r1/opcode.tsv" "$r2/opcode.tsv" 2>&1 >/dev/null)" \
	'nsysx-compare: warning: tables by opcode have sums over whole runs: the noise is not known, and runs of different lengths cannot be compared'
gate 'a gate finds it in tables' 1 'nsysx-compare: slower: jit_train_step: cublas-gemm.1: ' "$r1/thunk.tsv" "$r2/thunk.tsv"
gate 'and nothing in one beside itself' 0 '' "$r1/thunk.tsv" "$r1/thunk.tsv"
# Six executions each, with equal errors: then Student's t has 10 degrees of freedom, whose tails are above; of sigma 1 a
# witness has half of 0.158655, one-sided.
table() { printf 'id\tname\tkey\texecs\tthunks_mean\tthunks_std\ttotal\tmean\tstd\tpercent\n%b' "$1"; }
table '4\tf\tf@4\t6\t1\t0\t6000\t1000\t50\t100\n7\tg\\t\\xFF\tg\t1\t\t\t500\t500\t\t0\n' >"$T/a.tsv"
table '4\tf\tf@4\t6\t1\t0\t7800\t1300\t50\t100\n9\th\th\t1\t\t\t5\t5\t\t0\n' >"$T/b.tsv"
nsysx-compare -q --tsv --sigma 1 "$T/a.tsv" "$T/b.tsv" >"$T/got"
equal 'noise is of std and count' "$(awk -F'\t' '$2 == "f" { t = $11 / (50 * sqrt(2 / 6)); c = 10 / (10 + t * t)
	p = 1 - sqrt(1 - c) * (1 + c / 2 + 3 / 8 * c ^ 2 + 5 / 16 * c ^ 3 + 35 / 128 * c ^ 4); print (p > 0.158655 && p < 0.158656), $7, $8, $13 }' "$T/got")" \
	'1 1000 1300 slower'
equal 'what is on one side alone' "$(awk -F'\t' 'NR > 1 && $2 != "f" { print $2, $13 }' "$T/got" | sort | tr '\n' ';')" 'g\t\xFF gone;h new;'
sed 's/\t6\t1\t0/\t0\t1\t0/' "$T/a.tsv" >"$T/bad.tsv"
fails 'no execution' 1 "$T/bad.tsv:2: execs: want a whole number above 0, got \"0\"" nsysx-compare "$T/bad.tsv" "$T/b.tsv"
sed 's/\t50\t/\t-1\t/' "$T/a.tsv" >"$T/bad.tsv"
fails 'a deviation below 0' 1 "$T/bad.tsv:2: std: want" nsysx-compare "$T/bad.tsv" "$T/b.tsv"
sed '3s/\t0$//' "$T/a.tsv" >"$T/bad.tsv"
fails 'a row with fewer columns' 1 "$T/bad.tsv:3: want 10 columns" nsysx-compare "$T/b.tsv" "$T/bad.tsv"
head -c 120 "$T/a.tsv" >"$T/bad.tsv"
fails 'a table that is cut' 1 "$T/bad.tsv: cut short" nsysx-compare "$T/bad.tsv" "$T/b.tsv"
fails 'tables of two kinds' 1 "$T/a.tsv: a table by module: want one by thunk" nsysx-compare --by thunk "$T/a.tsv" "$r2/thunk.tsv"
fails 'tables by another' 1 'want one by source' nsysx-compare --by source "$r1/thunk.tsv" "$r2/thunk.tsv"
fails 'folded stacks of tables' 1 'want streams' nsysx-compare --folded new "$r1/thunk.tsv" "$r2/thunk.tsv"
nsysx-summary -q --tsv --by collective "$T/j1" -o "$T/collective.tsv"
fails 'a table by something else' 1 "$T/collective.tsv" nsysx-compare "$T/collective.tsv" "$r2/thunk.tsv"
fails 'a folder that is no report' 1 'no tables/thunk.tsv in this folder: want one that nsysx-report made' nsysx-compare "$T" "$r2/thunk.tsv"
head -n 1 "$r1/thunk.tsv" >"$T/header.tsv"
gate 'a table without rows does not compare' 3 'not comparable: BASE has no thunks' "$T/header.tsv" "$r2/thunk.tsv"

for by in thunk module opcode; do
	nsysx-compare -q --by $by --tsv "$T/j1" "$T/j2" >"$T/got.$by"
	for s in j1 j2; do for kind in program inst module thunk; do nsysx-view -t $kind "$T/$s" >"$T/$s.$kind"; done; done
	python3 - "$T" $by >"$T/b" <<'END'
import csv, math, sys
from collections import defaultdict
top, by = sys.argv[1:]
def rows(p): return list(csv.DictReader(open(p), delimiter="\t"))
def side(s):
    f = {k: rows(f"{top}/{s}.{k}") for k in ("program", "inst", "module", "thunk")}
    name = {p["program"]: p["name"] for p in f["program"]}
    code = {(i["program"], i["inst"]): i["opcode"] for i in f["inst"]}
    out = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
    runs = [(m["program"], m["device"], m["execution"]) for m in f["module"]]
    for t in f["module" if by == "module" else "thunk"]:
        label = "" if by == "module" else t["name"] if by == "thunk" else code[t["program"], t["inst"]]
        out[name[t["program"]], label][t["device"]][t["execution"]] += int(t["dur"])
    # every execution counts, also one without the row
    for (program, label), of in out.items():
        for p, d, e in runs:
            if name[p] == program: of[d][e] += 0
    return out
# Mean, number of executions on devices, and the mean over devices of each execution.
def time(devices):
    n = sum(map(len, devices.values()))
    numbers = sorted({int(e) for d in devices.values() for e in d})
    of = [[d[str(e)] for d in devices.values() if str(e) in d] for e in numbers]
    return sum(map(sum, of)) / n, n, [sum(x) / len(x) for x in of]
# Mean, effective number and variance: the initial monotone positive sequence.
def effective(v):
    n, mean = len(v), sum(v) / len(v)
    d = [x - mean for x in v]
    squares = sum(x * x for x in d)
    if n < 2 or squares == 0: return mean, n, 0
    rho = lambda k: sum(a * b for a, b in zip(d, d[k:])) / squares
    tau, before = -1, math.inf
    for k in range(0, n - 1, 2):
        before = min(before, rho(k) + rho(k + 1))
        if before <= 0: break
        tau += 2 * before
    tau = max(tau, 1)
    tau = min(n, 1 + (tau - 1) * (1 + 2 * tau / n))
    return mean, n / tau, squares / max(n - tau, 1)
# 1 - P(|T| <= t), by Simpson's rule on the angle that makes the density a power of a cosine
def tails(t, v):
    f = lambda x: math.cos(x) ** (v - 1)
    def simpson(b, n=400):
        h = b / n
        return h / 3 * (f(0) + f(b) + 4 * sum(f(h * i) for i in range(1, n, 2)) + 2 * sum(f(h * i) for i in range(2, n, 2)))
    return 1 - simpson(math.atan(t / math.sqrt(v))) / simpson(math.pi / 2 - 1e-12)
# A witness: the noise, and whether b's mean is larger (1), smaller (-1) or neither.
def speak(a, b):
    x, y = a[2] / a[1], b[2] / b[1]
    if x + y == 0: return 0, (b[0] > a[0]) - (b[0] < a[0])
    v = (x + y) ** 2 / (x * x / (a[1] - 1 if a[1] > 2 else 1) + y * y / (b[1] - 1 if b[1] > 2 else 1))
    p, lo, hi = math.erfc(3 / math.sqrt(2)) / 2, 0, 1e3
    for _ in range(40):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if tails(mid, v) > p else (lo, mid)
    z = lo * math.sqrt(x + y)
    return z, (b[0] - a[0] > z) - (a[0] - b[0] > z)
def ranks(a, b):
    both = sorted(a + b)
    rank = {x: (both.index(x) + 1 + len(both) - both[::-1].index(x)) / 2 for x in both}
    return [rank[x] for x in a], [rank[x] for x in b]
def verdict(a, b):
    (z, means), (_, places) = speak(effective(a[2]), effective(b[2])), speak(*map(effective, ranks(a[2], b[2])))
    median = lambda v: sorted(v)[(len(v) + 1) // 2 - 1]
    far = lambda d, of: abs(d) > max(0.02 * of, 100)
    size, middle = b[0] - a[0], median(b[2]) - median(a[2])
    said = [means if far(size, a[0]) and size * means > 0 else 0, places if far(middle, median(a[2])) and middle * places > 0 else 0]
    if min(effective(a[2])[1], effective(b[2])[1]) < 5: return z, "unknown"
    if max(said) > 0: return z, "slower"
    if min(said) < 0: return z, "faster"
    return z, "hidden" if far(size, a[0]) or far(middle, median(a[2])) else "same"
near = lambda got, want: abs(float(got) - want) <= 1e-5 * abs(want) + 1e-6
old, new, bad, n = side("j1"), side("j2"), [], 0
for r in rows(f"{top}/got.{by}"):
    k = (r["name"], "") if by == "module" else (r["program"], r["name"] if by == "thunk" else r["opcode"])
    a, b = time(old.pop(k)), time(new.pop(k))
    fine = near(r["base"], a[0]) and near(r["new"], b[0]) and int(r["base_execs"]) == a[1] and near(r["effect"], (b[0] - a[0]) * b[1])
    z, want = verdict(a, b)
    fine &= (r["noise"] == "" if min(len(a[2]), len(b[2])) < 2 else near(r["noise"], z)) and r["verdict"] == want
    if not fine: bad.append((k, r, a, b, z, want))
    n += 1
print(n > 2 and not old and not new and not bad, *bad[:2])
END
	equal "--by $by of a job is what counting again says" "$(cat "$T/b")" True
done
done_testing
