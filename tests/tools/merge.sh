#!/bin/sh
# nsysx-merge against its manual page. The streams come from merge/gen.awk; merge/resolve.awk prints what their records refer to.
. "${0%/*}/../testlib.sh"

gen() { awk "$@" -f merge/gen.awk; }
meaning() { for f in "$@"; do awk -f merge/resolve.awk "$f"; done | LC_ALL=C sort; }
# Times as a filter that checks the order reads them; it exits 0 if the stream is sorted.
in_order() { nsysx-merge -q "$1" >/dev/null; }

# Claim that merging $2... neither drops nor changes records, in any order and grouping; $1 describes them.
merges() {
	what=$1
	shift
	nsysx-merge -q "$@" >"$T/all"
	equal "$what: merges" $? 0
	meaning "$@" >"$T/want"
	meaning "$T/all" >"$T/got"
	same "$what: every record refers to the same as before" "$T/want" "$T/got"
	ok "$what: the result is sorted" in_order "$T/all"
	nsysx-merge -q "$T/all" >"$T/again"
	same "$what: merging the result alone changes nothing" "$T/all" "$T/again"
	reversed=
	for f in "$@"; do reversed="$f $reversed"; done
	nsysx-merge -q $reversed >"$T/reversed"
	same "$what: the order of files is irrelevant" "$T/all" "$T/reversed"
	for try in 1 2 3 4 5 6; do
		# Random subsets are merged first, in every encoding, then those with the rest.
		rm -f "$T"/part.*
		echo "$@" | tr ' ' '\n' | awk -v seed="$try" -v t="$T" 'BEGIN { srand(seed) } NF { print > (t "/part." int(rand() * 3)) }'
		files= n=0
		for part in "$T"/part.[0-2]; do
			n=$((n + 1))
			case $((n + try)) in *[036]) enc=-b ;; *[147]) enc=-z ;; *) enc=-bz1 ;; esac
			nsysx-merge -q $enc $(cat "$part") >"$part.merged"
			files="$part.merged $files"
		done
		nsysx-merge -q $files >"$T/grouped"
		same "$what: grouping $try is irrelevant" "$T/all" "$T/grouped"
	done
}

mkdir "$T/s"
files=
for p in 0 1 2 3 4 5 6 7; do
	for how in plain disagree unknown; do
		case $how in
		plain) gen -v p=$p -v seed=1 -v local=1 ;;
		disagree) gen -v p=$p -v seed=2 -v disagree=1 ;;
		unknown) gen -v p=$p -v seed=3 -v unknown=1 -v phase=$((p % 2)) ;;
		esac >"$T/s/$how$p"
	done
	gen -v p=$p -v seed=4 -v known=0 -v local=$((p % 2)) >"$T/s/nameless$p"
	gen -v p=$p -v seed=5 -v aligned=1 -v local=1 >"$T/s/aligned$p"
done
for how in plain disagree unknown nameless aligned; do
	merges $how "$T/s/$how"[0-7]
done

# ---- programs without a dump, of which some processes did not run every instruction

if [ -x "$SYNTH" ] && command -v sqlite3 >/dev/null 2>&1; then
	for how in '' --disagree; do
		rm -rf "$T/job"
		"$SYNTH" -o "$T/job" --processes 4 --dumps none $how
		nsysx-extract -q "$T"/job/r*.sqlite | nsysx-view -t program | cut -f 1-3,5 >"$T/whole"
		# Process p lacks one instruction of the model.
		for p in 1 2 3; do
			sqlite3 "$T/job/r$p.sqlite" "CREATE TABLE gone AS SELECT DISTINCT ifnull(s.value, e.text) AS t FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId
				WHERE ifnull(s.value, e.text) LIKE 'Thunk:#name=%Transformer%hlo_op=loop%' ORDER BY t LIMIT 1 OFFSET $p;
				DELETE FROM NVTX_EVENTS WHERE rowid IN (SELECT e.rowid FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId WHERE ifnull(s.value, e.text) IN (SELECT t FROM gone));
				DROP TABLE gone"
		done
		nsysx-extract -q "$T"/job/r*.sqlite >"$T/all"
		equal "instructions that some processes did not run${how:+, }$how: programs are the same" \
			"$(nsysx-view -t alias "$T/all" | sed 1d | cut -f 5 | sort -u | wc -l | awk '{ print ($1 > 4) }') $(nsysx-view -t program "$T/all" | cut -f 1-3 | cksum)" "1 $(cut -f 1-3 "$T/whole" | cksum)"
		for p in 0 1 2 3; do nsysx-extract -q "$T/job/r$p.sqlite" >"$T/s/lacks$p"; done
		merges "instructions that some processes did not run${how:+, }$how" "$T"/s/lacks[0-3]
		same "instructions that some processes did not run${how:+, }$how: merging gives what extracting all gives" "$T/all" "$T/reversed"
	done
else
	skip 'instructions that some processes did not run' 'no generator or no sqlite3 here'
fi

# ---- numbers of the result

nsysx-merge -q "$T"/s/plain[0-7] >"$T/all"
column() { awk -F'\t' -v kind="$1" -v name="$2" '$1 == "#" kind { for (i = 2; i <= NF; i++) if (index($i, name ":") == 1) c = i } $1 == kind { print $c }' "$3"; }
equal 'profiles are in the order of their devices' "$(column profile name "$T/all" | tr '\n' ' ')" 'r0 r1 r2 r3 r4 r5 r6 r7 '
equal 'known devices keep their numbers' "$(column device device "$T/all" | tr '\n' ' ')" '0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 '
equal 'programs of a job with the same ids' "$(column program key "$T/all" | tr '\n' ' ')" \
	'jit_step@10 jit_psum@20 jit_psum@25 jit_eval@30 jit_mix@d:mix0 jit_mix@d:mix1 jit_tune '
nsysx-merge -q "$T"/s/disagree[0-7] >"$T/all"
# Profiles 2 and 5 have no dump: their programs join those with their id.
equal 'programs of a job with different ids' "$(column program key "$T/all" | tr '\n' ' ')" \
	'jit_step@fp1 jit_psum@fp2 jit_psum@fp3 jit_eval@30 jit_eval@31 jit_eval@32 jit_eval@33 jit_mix@d:mix0 jit_mix@d:mix1 jit_tune '
equal 'with --match id they are separate' "$(nsysx-merge -q --match id "$T"/s/disagree[0-7] >"$T/id"; column program key "$T/id" | grep -c jit_step)" 4
nsysx-merge -q --match id "$T/s/disagree6" "$T/s/disagree0" "$T/s/disagree3" >"$T/id"
equal '... with their ids in their keys' "$(column program key "$T/id" | grep jit_step | tr '\n' ' ')" 'jit_step@10 jit_step@12 jit_step@13 '
nsysx-merge -q --match fingerprint "$T/s/plain0" "$T/s/plain1" >"$T/fp"
equal 'with --match fingerprint programs that differ only in their digest are one' "$(column program key "$T/fp" | grep jit_mix)" 'jit_mix@40'
nsysx-merge -q "$T"/s/nameless[0-3] >"$T/all"
equal 'unknown devices are numbered by profile' "$(column device uuid "$T/all" | tr '\n' ' ')" 'GPU-0-0 GPU-1-0 GPU-1-1 GPU-2-0 GPU-3-0 GPU-3-1 '
nsysx-merge -q "$T/s/nameless0" "$T/s/plain3" >"$T/all"
equal '... after the known ones' "$(column device device "$T/all" | tr '\n' ' ')" '6 7 8 '

nsysx-merge -q "$T"/s/plain[2-5] >"$T/all"
equal 'attributes of an instruction are those of a profile with a dump' \
	"$(awk -F'\t' '$1 == "inst" && $4 == "inst.5" && $5 == "" ' "$T/all" | wc -l)" 0
equal '... and comm of its executions is that of the instruction' \
	"$(awk -F'\t' '$1 == "thunk" && $8 == "inst.5" { n[$15]++ } END { for (c in n) printf "%s ", c }' "$T/all")" '1 '
equal 'diags are added up' "$(awk -F'\t' '$1 == "diag" && $4 == "something of all" { print $5 }' "$T/all")" 18

# The dump of profile 1 contradicts others on inst.3.
sed 's/	inst\.3	all-reduce	1	all-reduce	192/	inst.3	all-reduce	1	all-reduce	191/' "$T/s/plain1" >"$T/liar"
nsysx-merge "$T/s/plain0" "$T/liar" >"$T/all" 2>"$T/err"
equal 'contradicting dumps are reported' "$(grep -c 'dumps disagree' "$T/err")" 2
equal '... and the first is used' "$(awk -F'\t' '$1 == "inst" && $4 == "inst.3" && $2 < 3 { print $8 }' "$T/all" | sort -u)" 192
nsysx-merge -q "$T/s/plain3" "$T/all" >"$T/grouped"
nsysx-merge -q "$T/liar" "$T/s/plain0" "$T/s/plain3" >"$T/all"
same '... in any order' "$T/all" "$T/grouped"
# Profile 2 has no dump. Merged with 7, which contradicts here, it does not come before 4; and jit_mix of 2, which the id joins to that of 7, belongs to 4.
sed 's/	inst\.3	all-reduce	1	all-reduce	192/	inst.3	all-reduce	1	all-reduce	191/' "$T/s/plain7" >"$T/liar"
nsysx-merge -q "$T/s/plain2" "$T/liar" | nsysx-merge -q - "$T/s/plain4" >"$T/grouped"
nsysx-merge -q "$T/s/plain2" "$T/liar" "$T/s/plain4" >"$T/all"
same 'in any grouping, where the first profile has no dump' "$T/all" "$T/grouped"

# ---- results that depend on communication

# Profiles 2 and 5 have no dump and do not know that inst.5 communicates: results computed from their thunks before are no longer valid.
for p in 0 1 2 3 4 5 6 7; do
	nsysx-overlap -q "$T/s/plain$p" | nsysx-collectives -q >"$T/s/made$p"
done
nsysx-merge "$T"/s/made[0-7] >"$T/all" 2>"$T/err"
# By device: thunks without hidden, thunks, collectives.
awk -F'\t' '/^#(thunk|collective)/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); at[substr($1, 2), c[1]] = i } }
	$1 == "thunk" { d = $at[$1, "device"]; n[d]++; gone[d] += $at[$1, "hidden"] == "" } $1 == "collective" { c[$at[$1, "device"]]++ }
	END { for (d in n) print d, gone[d], n[d], c[d] + 0 }' "$T/all" | sort -n >"$T/got"
for p in 0 1 2 3 4 5 6 7; do
	for d in $((2 * p)) $((2 * p + 1)); do
		case $p in 2 | 5) echo "$d 128 128 0" ;; *) echo "$d 0 128 0" ;; esac
	done
done >"$T/want"
same 'hidden of a device whose thunks get another comm is removed, that of others stays; collectives are, whose waits would be wrong' "$T/got" "$T/want"
for p in 2 5; do
	echo "nsysx-merge: warning: r$p: another report corrects what communicates on a device: hidden of its thunks is removed; run nsysx-overlap again (256)"
done >"$T/want"
same '... and counted' "$T/err" "$T/want"
equal '... in the stream' "$(awk -F'\t' '$1 == "diag" && $3 ~ /^nsysx-merge/ { print $3, $5 }' "$T/all" | tr '\n' ,)" \
	'nsysx-merge 448,nsysx-merge: r2 256,nsysx-merge: r5 256,'
records() { grep -v -e '^diag' -e '^end' "$1"; }
nsysx-overlap -q "$T/all" | nsysx-collectives -q >"$T/after" && records "$T/after" >"$T/got"
nsysx-merge -q "$T"/s/plain[0-7] | nsysx-overlap -q | nsysx-collectives -q >"$T/after" && records "$T/after" >"$T/want"
same 'computed again they equal those of a stream merged first' "$T/got" "$T/want"
nsysx-merge -q "$T/s/made2" "$T/s/made5" >"$T/a"
nsysx-merge -q -b "$T/a" "$T/s/made1" "$T/s/made0" >"$T/b"
nsysx-merge -q "$T/b" "$T"/s/made[3467] >"$T/grouped"
same 'in any grouping' "$T/all" "$T/grouped"
cat "$T/s/made2" | nsysx-merge -q - "$T"/s/made[0134567] >"$T/grouped"
same 'from a pipe' "$T/all" "$T/grouped"

# ---- order

tiny() { # report, records of GPU work
	printf '#nsysx\t2\n#profile\tprofile:i\tname:s\nprofile\t0\t%s\n#module\tprofile:i\tstart:i\tdur:i\n#range\tprofile:i\tstart:i\tdur:i\thost_start:i\n#op\tprofile:i\tstart:i\tdur:i\n' "$1"
	printf "$2"
	printf '#end\trecords:i\nend\t0\n'
}
tiny a 'range\t0\t\t\t3\nmodule\t0\t5\t1\nop\t0\t5\t9\nmodule\t0\t6\t1\n' >"$T/a"
tiny b 'range\t0\t5\t0\t1\nrange\t0\t\t\t2\nmodule\t0\t5\t2\nop\t0\t5\t9\nmodule\t0\t6\t1\n' >"$T/b"
nsysx-merge "$T/b" "$T/a" >"$T/all"
equal 'by time, kind, the longer first, profile; ranges by their host time' \
	"$(awk -F'\t' '$1 == "module" { print "m", $2, $6, $7 } $1 == "range" { print "r", $2, $11, $12 } $1 == "op" { print "o", $2, $8, $9 }' "$T/all" | tr '\n' ',')" \
	'r 1 5 0,r 1  ,r 0  ,m 1 5 2,m 0 5 1,o 0 5 9,o 1 5 9,m 0 6 1,m 1 6 1,'

# Records with the same time are ordered by the resulting numbers: profile 5 becomes the later of its two, device 9 the earlier.
both() {
	printf '#nsysx\t2\n#profile\tprofile:i\tname:s\nprofile\t3\tlate\nprofile\t5\tearly\n#device\tdevice:i\tprofile:i\tlocal:i\tknown:i\n'
	printf 'device\t7\t3\t1\t0\ndevice\t9\t3\t0\t0\ndevice\t1\t5\t0\t1\n#range\tprofile:i\trange:i\tname:s\thost_start:i\thost_dur:i\n#thunk\tprofile:i\tdevice:i\tname:s\tstart:i\tdur:i\n'
	printf '#op\tprofile:i\top:i\tdevice:i\tname:s\tstart:i\tdur:i\ttid:i\n#mystery\tx:s\n'
	t=0
	while [ $t -lt "$1" ]; do
		printf "range\t3\t4\tx\t$t\t1\nrange\t5\t1\tx\t$t\t1\nmystery\tof 5\nthunk\t3\t7\tb\t$t\t1\nthunk\t3\t9\ta\t$t\t1\nthunk\t5\t1\tc\t$t\t1\n"
		printf "op\t3\t1\t7\tk\t$t\t1\t5\nop\t3\t2\t9\tk\t$t\t1\t9\nop\t3\t3\t9\tk\t$t\t1\t9\nop\t5\t1\t1\tk\t$t\t1\t2\n"
		t=$((t + 1))
	done
	printf '#end\trecords:i\nend\t%d\n' $((5 + 10 * $1))
}
both 1 >"$T/a"
nsysx-merge -q "$T/a" >"$T/all"
equal 'records of the same time are ordered by resulting numbers' "$(awk -F'\t' '/^(range|thunk|op|mystery)/ { print $1, $2, $1 == "op" ? $3 "/" $5 : $1 == "thunk" ? $5 "/" $8 : "" }' "$T/all" | tr '\n' ',')" \
	'range 0 ,mystery of 5 ,range 1 ,thunk 0 1/c,thunk 1 2/a,thunk 1 3/b,op 0 1/1,op 1 2/2,op 1 3/2,op 1 1/3,'
both 2500 >"$T/a"
nsysx-merge -q "$T/a" "$T/b" >"$T/all"
equal '... everywhere in a stream' "$(LC_ALL=C awk -v min=15000 -f ties.awk "$T/all" | head -3)" ''
equal 'no record is lost' "$(grep -c '^op' "$T/all") $(grep -c '^mystery' "$T/all")" '10001 2500'
nsysx-merge -q "$T/b" "$T/a" >"$T/other"
same 'the order of files is irrelevant' "$T/all" "$T/other"
# Records without a profile: names of files do not determine an order.
tiny a 'module\t\t5\t1\nop\t0\t5\t1\n' >"$T/a"
tiny b 'module\t1\t5\t1\n' | sed 's/^profile	0/profile	1/' >"$T/b"
nsysx-merge -q "$T/b" "$T/a" >"$T/all"
equal 'records without a profile come first' "$(awk -F'\t' '/^(module|op)/ { print $1, $2 }' "$T/all" | tr '\n' ',')" 'module ,module 1,op 0,'

# ---- unknown columns and kinds

nsysx-merge -q "$T"/s/unknown[0-7] >"$T/all"
equal 'a header has the columns of all streams' "$(grep '^#thunk' "$T/all" | tr '\t' '\n' | tail -n 1)" phase:s
equal 'a column of some streams is absent in others' \
	"$(awk -F'\t' '$1 == "profile" { r[$2] = $3 } $1 == "thunk" && $18 != "" { seen[r[$2]] } END { for (k in seen) print k }' "$T/all" | sort | tr '\n' ' ')" 'r1 r3 r5 r7 '
equal 'an unknown kind stays after the record that it followed' \
	"$(awk -F'\t' '$1 == "zoo" && before !~ /^thunk\t.*\tinst\.2\t/ { bad++ } !/^#/ { before = $0 } $1 == "zoo" { n++ } END { print n, bad + 0 }' "$T/all")" "$(cat "$T"/s/unknown[0-7] | grep -c '^zoo') 0"
# The first thunk of stream 1, and with it the column phase, comes after thousands of modules.
gen -v p=0 -v seed=8 >"$T/early"
gen -v p=1 -v seed=8 -v late=9000 -v phase=1 >"$T/late"
gen -v p=2 -v seed=8 -v late=100 -v phase=1 >"$T/later"
merges 'headers that come late' "$T/early" "$T/late" "$T/later"
equal 'a late column is in the header' "$(grep '^#thunk' "$T/all" | grep -c 'phase:s$')" 1
printf '#nsysx\t2\n#thunk\tprofile:i\tphase:i\n#end\trecords:i\nend\t0\n' >"$T/typed"
fails 'columns of one name and two types are refused' 1 'column phase of thunk has type' sh -c 'nsysx-merge -q -o "$T/out" "$T/later" "$T/typed"'
printf '#nsysx\t2\n#zebra\tb:s\ta:i\n#op\tprofile:i\n#end\trecords:i\nend\t0\n' >"$T/heads"
equal 'headers without records are kept' "$(nsysx-merge "$T/heads" | cut -f1-3)" '#nsysx	2
#op	profile:i	op:i
#zebra	b:s	a:i
#end	records:i
end	0'

# ---- many inputs

mkdir "$T/many"
p=0
while [ $p -lt 300 ]; do
	gen -v p=$p -v seed=9 -v disagree=1 >"$T/many/$p"
	p=$((p + 1))
done
(ulimit -n 64 && exec nsysx-merge -q "$T"/many/*) >"$T/rounds"
equal '300 streams and 64 open files' $? 0
nsysx-merge -q -b $(ls "$T"/many/* | sort -R --random-source=/dev/zero) | nsysx-view >"$T/all"
same 'the number of rounds is irrelevant' "$T/all" "$T/rounds"
equal 'no record is lost in rounds' "$(awk -F'\t' '$1 == "thunk" { n++; t += $10 } END { print n, t }' "$T/rounds")" \
	"$(cat "$T"/many/* | awk -F'\t' '$1 == "thunk" { n++; t += $10 } END { print n, t }')"
equal 'no temporary file is left' "$(TMPDIR=$T/tmp; export TMPDIR; mkdir "$TMPDIR"; (ulimit -n 40; nsysx-merge -q "$T"/many/1* >/dev/null); ls -A "$TMPDIR")" ''

# ---- refusals

fails 'a profile twice' 1 'report r1 is in' nsysx-merge "$T/s/plain1" "$T/s/plain2" "$T/s/plain1"
fails 'a profile twice, in a merge' 1 'the same export twice' sh -c 'nsysx-merge -q "$T/s/plain1" "$T/s/plain2" | nsysx-merge - "$T/s/plain1"'
nsysx-merge --force "$T/s/plain1" "$T/s/plain2" "$T/s/plain1" >"$T/all" 2>"$T/err"
equal '--force merges it as two profiles' "$? $(column profile name "$T/all" | tr '\n' ' ')" '0 r1 r2 r1 '
equal '--force warns' "$(grep -c 'merged with the same report' "$T/err")" 1
ok 'the result is sorted' in_order "$T/all"
nsysx-merge -q --force "$T/s/plain1" "$T/s/plain2" >"$T/pair"
nsysx-merge -q --force "$T/pair" "$T/s/plain1" >"$T/grouped"
same 'the result is the same in any grouping' "$T/all" "$T/grouped"
sed 's/	r1	/	other	/' "$T/s/plain1" >"$T/other"
fails 'a device in two profiles' 1 'device 2 is in report other of' nsysx-merge "$T/s/plain1" "$T/other"
nsysx-merge -q --force "$T/other" "$T/s/plain1" "$T/s/plain3" >"$T/all"
equal '--force renumbers the devices of the second' "$(column device device "$T/all" | tr '\n' ' ') $(column device known "$T/all" | tr '\n' ' ')" '2 3 6 7 8 9  1 1 1 1 0 0 '
nsysx-merge -q --force "$T/other" "$T/s/plain3" >"$T/pair"
nsysx-merge -q --force "$T/s/plain1" "$T/pair" >"$T/grouped"
same '... in any grouping' "$T/all" "$T/grouped"
# The stream holds `other` as profile 0 until `early` takes its devices: then its profiles change places.
sed 's/	r1	/	early	/' "$T/s/plain1" >"$T/first"
nsysx-merge -q --force "$T/pair" "$T/first" >"$T/all"
ok 'a stream whose profiles change places is sorted' in_order "$T/all"
meaning "$T/pair" "$T/first" >"$T/want"
meaning "$T/all" >"$T/got"
same '... without loss' "$T/want" "$T/got"
fails 'aligned and unaligned' 1 'passed nsysx-align' nsysx-merge "$T/s/aligned1" "$T/s/plain2"
ok '--force mixes them' nsysx-merge -q --force "$T/s/aligned1" "$T/s/plain2"
nsysx-merge -q "$T"/s/aligned[0-3] >"$T/all"
equal 'streams aligned separately keep separate components' "$(column clock component "$T/all" | tr '\n' ' ')" '0 0 1 1 2 2 3 3 '

sed '$d' "$T/s/plain1" >"$T/cut"
fails 'a cut stream' 1 'cut short after' nsysx-merge -o "$T/out" "$T/s/plain0" "$T/cut"
equal '... leaves no output' "$(ls "$T" | grep -c '^out$\|^\.out')" 0
ok '--partial accepts it' nsysx-merge -q --partial -o "$T/out" "$T/s/plain0" "$T/cut"
nsysx-merge -q "$T/s/plain0" "$T/s/plain1" >"$T/want"
same '... as it is' "$T/want" "$T/out"
awk -F'\t' '/^thunk/ && !held { held = $0; next } { print } /^thunk/ && held && ++n == 50 { print held; held = "" }' "$T/s/plain1" >"$T/disorder"
fails 'an unsorted stream' 1 'out of order: thunk' sh -c 'nsysx-merge -o "$T/out2" "$T/disorder"'
for kind in profile device program inst; do
	grep -v "^$kind	" "$T/s/plain1" >"$T/without"
	fails "records that refer to a missing $kind" 1 'which has no record' sh -c 'nsysx-merge -o "$T/out2" "$T/without"'
done
awk '{ print } /^inst/' "$T/s/plain1" >"$T/twice"
fails 'an instruction twice' 1 'second record of inst' sh -c 'nsysx-merge -o "$T/out2" "$T/twice"'
fails 'a file that is not there' 1 'no such: No such file' nsysx-merge "$T/s/plain1" 'no such'
fails 'standard input twice' 2 'standard input can be read only once' nsysx-merge - -
fails 'an unknown --match' 2 '--match' nsysx-merge --match name "$T/s/plain1"
fails '--require without such a record' 1 'no op record' sh -c 'nsysx-merge -q --require op -o "$T/out2" "$T/s/plain0"'
ok '--require with one' nsysx-merge -q --require thunk "$T/s/plain0"

# A program without alias records, and empty streams.
grep -v '^#\{0,1\}alias' "$T/s/plain0" >"$T/without"
nsysx-merge -q "$T/without" >"$T/all"
equal 'a program without aliases belongs to all profiles' "$(column alias id "$T/all" | tr '\n' ' ')" '10 20 25 30 40  '
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
nsysx-merge "$T/empty" "$T/empty" >"$T/got"
same 'empty streams make an empty one' "$T/empty" "$T/got"
nsysx-merge -q "$T/empty" "$T/s/plain0" >"$T/got"
nsysx-merge -q <"$T/s/plain0" >"$T/want"
same 'an empty stream adds nothing; standard input is the default' "$T/want" "$T/got"

# Lists of names, at their place among the operands.
mkdir "$T/lists"
gen -v p=0 -v seed=1 >"$T/lists/a b" && gen -v p=1 -v seed=1 >"$T/lists/c"
nsysx-merge -q "$T/lists/a b" "$T/lists/c" >"$T/all"
printf '%s\n\n%s' "$T/lists/a b" "$T/lists/c" >"$T/lists/lines"
printf '%s\0%s\0' "$T/lists/a b" "$T/lists/c" >"$T/lists/nul"
for list in lines nul; do
	nsysx-merge -q --files-from "$T/lists/$list" >"$T/got"
	same "a list of names ($list) is as the names" "$T/all" "$T/got"
	nsysx-merge -q --files-from - <"$T/lists/$list" >"$T/got"
	same "... from standard input too" "$T/all" "$T/got"
done
printf '%s' "$T/lists/c" >"$T/lists/one"
nsysx-merge -q "$T/lists/a b" --files-from "$T/lists/one" >"$T/got"
same 'a list adds to the operands' "$T/all" "$T/got"
fails 'an empty list is refused' 1 'want the name of a file in it' nsysx-merge --files-from /dev/null
fails 'a list that is not there is refused' 1 'No such file' nsysx-merge --files-from "$T/lists/none"
fails 'two lists from standard input are refused' 2 'standard input can be read only once' nsysx-merge --files-from - --files-from -
done_testing
