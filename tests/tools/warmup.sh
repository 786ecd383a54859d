#!/bin/sh
# nsysx-warmup against its manual page. In the streams of warmup/ an additional column, `want`, has the phase of each
# record; it is unknown to nsysx-warmup.
. "${0%/*}/../testlib.sh"

# A stream without the column `removed`, which nsysx-warmup adds to operations.
bare() {
	awk -F'\t' -v OFS='\t' '$1 == "#op" { at = 0; for (i = 2; i <= NF; i++) if ($i == "removed:i") at = i }
		$1 == "op" && at { line = $1; for (i = 2; i <= NF; i++) if (i != at) line = line OFS $i; print line; next } { print }' "$1"
}
# The records of a stream except the tool's diags and the end, sorted.
records() { bare "$1" | grep -v '^#' | grep -v -e '^end	' -e '^diag	[a-z]*	nsysx-warmup' | sort; }
# Those whose phase is not $2.
without() { records "$1" | grep -v "	$2\$"; }
# Records whose phase (last field) differs from the expected one (the field before).
wrong_phase() { awk -F'\t' '$1 ~ /^(module|thunk|op|range|collective|call|overhead)$/ && (NF < 3 || $NF != $(NF-1))' "$1"; }

for name in job quiet short torch calm late tuning retuned; do
	in=warmup/$name.tsv
	nsysx-warmup -q $in >"$T/steady"
	equal "$name: runs" $? 0
	records "$T/steady" >"$T/got"
	without $in init >"$T/want"
	same "$name: keeps the steady state, with unknown columns and kinds" "$T/want" "$T/got"

	# Device, start and `removed` of operations, from the phases: of the first one after others were left out, the time since their latest end.
	awk -F'\t' '$1 == "#op" { for (i = 2; i <= NF; i++) { split($i, part, ":"); at[part[1]] = i } }
		$1 == "op" && $at["device"] != "" { d = $at["device"]; end = $at["start"] + $at["dur"]
			if ($at["want"] == "init") { if (!(d in gone) || end > gone[d]) gone[d] = end; open_[d] = 1 }
			else { print d, $at["start"], (open_[d] ? $at["start"] - gone[d] : "-"); open_[d] = 0 } }' $in >"$T/want"
	nsysx-view -t op "$T/steady" 2>/dev/null | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR > 1 && $at["device"] != "" { print $at["device"], $at["start"], (at["removed"] && $at["removed"] != "" ? $at["removed"] : "-") }' >"$T/got"
	awk '!($1 in met) { met[$1]; $3 = "-" } { print }' "$T/want" >"$T/want2"
	awk '!($1 in met) { met[$1]; $3 = "-" } { print }' "$T/got" >"$T/got2"
	if [ -s "$T/want2" ] || [ $name != quiet ]; then
		same "$name: operations tell the time since the end of those removed, but the first of a device" "$T/want2" "$T/got2"
	else
		equal "$name: no operations" "$(wc -c <"$T/got2")" 0
	fi

	nsysx-warmup -q --init $in >"$T/init"
	equal "$name: --init runs" $? 0
	records "$T/init" >"$T/got"
	without $in steady >"$T/want"
	same "$name: --init keeps initialisation" "$T/want" "$T/got"

	nsysx-warmup -q --mark $in >"$T/mark"
	equal "$name: --mark runs" $? 0
	equal "$name: --mark gives each record its phase" "$(wrong_phase "$T/mark")" ''
	records "$T/mark" | sed '/^\(module\|thunk\|op\|range\|collective\|call\|overhead\)	/s/	[a-z]*$//' >"$T/got"
	records $in >"$T/want"
	same "$name: --mark drops nothing" "$T/want" "$T/got"

	for what in steady init mark; do
		nsysx-warmup -q --mark "$T/$what" >"$T/again"
		equal "$name: $what is a sorted stream" $? 0
	done
	nsysx-warmup -q --mark "$T/mark" | grep -v '^end	\|^diag' >"$T/again"
	grep -v '^end	\|^diag' "$T/mark" >"$T/want"
	same "$name: running --mark twice changes nothing" "$T/want" "$T/again"
	nsysx-warmup -q "$T/steady" >"$T/again"
	records "$T/again" >"$T/got"
	records "$T/steady" >"$T/want"
	same "$name: a second run drops nothing" "$T/want" "$T/got"

	for opt in '' --init --mark; do
		nsysx-warmup -q $opt $in >"$T/text"
		nsysx-view -b -z $in | nsysx-warmup -q -b $opt | nsysx-view >"$T/binary"
		same "$name: warmup $opt of a binary stream" "$T/text" "$T/binary"
	done
done

equal 'dropped executions are counted' \
	"$(nsysx-warmup warmup/job.tsv | awk -F'\t' '$1 == "diag" && $3 == "nsysx-warmup" { print $2, $4, $5 }')" \
	'info module executions of initialisation removed 5'
# 2 + 2 + 3 + 2 ns of kernels 3, 5, 6 and 9.
equal 'what later compilations ran is counted' \
	"$(nsysx-warmup warmup/tuning.tsv | awk -F'\t' '$1 == "diag" && $3 == "nsysx-warmup" && $4 ~ /autotuning/ { print $2, $4, $5 }')" \
	'info operations launched by compilations after the first steady execution, such as those of autotuning, removed: 9 ns 4'
for name in 'short:no execution after initialisation' 'torch:no execution of a program of XLA'; do
	why=${name#*:} name=${name%%:*}
	equal "$name: a stream without steady state: a warning" "$(nsysx-warmup warmup/$name.tsv 2>&1 >/dev/null)" \
		"nsysx-warmup: warning: $why: everything counts as steady state"
	equal "$name: ... the stream is unchanged" "$(nsysx-warmup -q --mark warmup/$name.tsv | grep -c '^diag	warning	nsysx-warmup	')" 1
done
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
equal 'an empty stream: a warning' "$(nsysx-warmup "$T/empty" 2>&1 >/dev/null)" \
	'nsysx-warmup: warning: no GPU work: nothing to divide into initialisation and steady state'
equal '... and a valid stream' "$(nsysx-warmup -q "$T/empty" | grep -v '^#' | tr '\t' '|')" \
	'diag|warning|nsysx-warmup|no GPU work: nothing to divide into initialisation and steady state|1
end|1'

# A skew record has only its device; without other work it is classified by its execution.
printf '#nsysx\t2\n#device\tdevice:i\tprofile:i\ndevice\t4\t0\n#inst\tprogram:i\tinst:i\tcomm:i\ninst\t0\t0\t1\n#compile\tprofile:i\tstart:i\tprogram:i\ncompile\t0\t1\t0\n#skew\tdevice:i\tprogram:i\texecution:i\nskew\t4\t0\t1\nskew\t4\t0\t2\nskew\t9\t0\t1\n#end\trecords:i\nend\t6\n' >"$T/skew"
equal 'skew goes by execution' "$(nsysx-warmup -q "$T/skew" | grep '^skew' | tr '\t' ' ' | tr '\n' ,)" 'skew 4 0 2,skew 9 0 1,'

# After steady executions of program 0 comes the first of program 1: an operation that ends with it is initialisation, one that ends later is not.
{
	printf '#nsysx\t2\n#compile\tprofile:i\tstart:i\tprogram:i\ncompile\t0\t1\t0\ncompile\t0\t1\t1\n'
	printf '#module\tprofile:i\tprogram:i\texecution:i\tdevice:i\tstart:i\tdur:i\n#op\tprofile:i\tdevice:i\tname:s\tstart:i\tdur:i\n'
	printf 'module\t0\t0\t0\t0\t0\t100\nmodule\t0\t0\t1\t0\t100\t100\nmodule\t0\t1\t0\t0\t300\t100\n'
	printf 'op\t0\t0\twithin\t350\t50\nop\t0\t0\tbeyond\t360\t50\n#end\trecords:i\nend\t0\n'
} >"$T/ends"
equal 'an operation within an execution has its phase' "$(nsysx-warmup -q "$T/ends" | awk -F'\t' '$1 == "op" { print $4 }')" beyond
equal 'executions of initialisation are counted' "$(nsysx-warmup -v "$T/ends" 2>&1 >/dev/null | grep -c 'executions of initialisation removed (2)$')" 1

# 30000 executions wait for the first steady one, which is the last.
awk 'BEGIN {
	OFS = "\t"
	print "#nsysx", 2
	print "#module", "profile:i", "program:i", "execution:i", "device:i", "start:i", "dur:i"
	print "#compile", "profile:i", "program:i", "start:i"
	for (i = 0; i < 30000; i++) print "compile", 0, i, i
	for (i = 0; i < 30000; i++) print "module", 0, i, 0, 0, i * 10, 10
	print "module", 0, 29999, 1, 0, 300000, 10
	print "#end", "records:i"
	print "end", 60001
}' >"$T/long"
equal 'a long initialisation is dropped' "$(nsysx-warmup -q "$T/long" | grep -c '^module')" 1
equal '... and counted' "$(nsysx-warmup -v "$T/long" 2>&1 >/dev/null | grep -c 'executions of initialisation removed (30000)$')" 1
equal '... or kept with --init' "$(nsysx-warmup -q --init "$T/long" | grep -c '^module')" 30000
sed 's/^end.*/end	60000/; /^module	0	29999	1/d' "$T/long" >"$T/longer"
equal '... or marked' "$(nsysx-warmup -q "$T/longer" | grep -c '^module')" 30000

head -c 900 warmup/job.tsv >"$T/cut"
for opt in '' --init --mark; do
	fails "warmup $opt of a stream cut short fails" 1 'cut short' nsysx-warmup $opt -o "$T/none" "$T/cut"
	equal "warmup $opt leaves no output" "$(find "$T" -name '*none*')" ''
	fails "warmup $opt of an unsorted stream fails" 1 'out of order' nsysx-warmup -o "$T/none" $opt warmup/bad-order.tsv
done
fails '--init and --mark exclude each other' 2 'exclude each other' nsysx-warmup --init --mark warmup/job.tsv
fails '--require counts records that are written' 1 'no module record' nsysx-warmup -q -o "$T/none" --init --require module warmup/short.tsv
fails 'a full disk is an error' 1 '/dev/full' nsysx-warmup -q -o /dev/full warmup/job.tsv
# Jobs whose steady state is known from the generator.
if [ -x "$SYNTH" ] && [ -x "$B/bin/nsysx-extract" ]; then
	. "$tests_dir/answers.sh"
	"$SYNTH" -o "$T/job" && nsysx-extract -q -o "$T/job.nsysx" "$T/job/r0.sqlite" "$T/job/r1.sqlite"
	for phase in 0:--init 1:; do
		mkdir -p "$T/truth${phase#*:}/answers"
		for kind in modules thunks; do
			awk -F'\t' -v steady="${phase%%:*}" 'NR == 1 || $NF == steady' "$T/job/answers/$kind.tsv" >"$T/truth${phase#*:}/answers/$kind.tsv"
		done
		# shellcheck disable=SC2086  # an option or none
		nsysx-warmup -q ${phase#*:} "$T/job.nsysx" >"$T/phase"
		agrees "warmup ${phase#*:}: modules equal those of the generator" modules "$T/phase" "$T/truth${phase#*:}"
		agrees "warmup ${phase#*:}: thunks equal those of the generator" thunks "$T/phase" "$T/truth${phase#*:}"
	done
else
	skip 'phases equal those of the generator' 'there is no nsysx-synth or nsysx-extract'
fi

TMPDIR=/nowhere nsysx-warmup warmup/job.tsv >/dev/null 2>"$T/err"
equal 'no space for held records is an error' "$?:$(grep -c '^nsysx-warmup: ' "$T/err")" 1:1

# ---- where nothing is steady every screen says so before its first number, and no gain is given
# Two executions of a program that was compiled and communicates: both are initialisation.
{
	printf '#nsysx\t2\n#profile\tprofile:i\tname:s\n#device\tdevice:i\tprofile:i\n#program\tprogram:i\tid:i\tname:s\tkey:s\n'
	printf '#inst\tprogram:i\tinst:i\tname:s\tcomm:i\tcollective:s\n#compile\tprofile:i\trange:i\tstart:i\tdur:i\tprogram:i\n'
	printf '#module\tprofile:i\tprogram:i\texecution:i\tdevice:i\tstart:i\tdur:i\thost_start:i\thost_dur:i\n'
	printf '#thunk\tprofile:i\tprogram:i\texecution:i\tdevice:i\tinst:i\toccurrence:i\tname:s\tstart:i\tdur:i\thidden:i\tcomm:i\n'
	printf '#op\tprofile:i\top:i\ttype:s\tdevice:i\tstream:i\tname:s\tstart:i\tdur:i\tprogram:i\texecution:i\tcomm:i\tcollective:s\n'
	printf 'profile\t0\tr\ndevice\t0\t0\nprogram\t0\t7\tstep\tstep@7\ninst\t0\t0\tar\t1\tall-reduce\ncompile\t0\t0\t10\t20\t0\n'
	for e in 0 1; do
		t=$((e * 100000 + 1000))
		printf 'module\t0\t0\t%d\t0\t%d\t90000\t%d\t50\nthunk\t0\t0\t%d\t0\t0\t0\tar\t%d\t80000\t0\t1\n' $e $t $((t - 100)) $e $t
		printf 'op\t0\t%d\tkernel\t0\t7\tncclDevKernel_AllReduce\t%d\t80000\t0\t%d\t1\tall-reduce\n' $e $t $e
	done
	printf '#end\trecords:i\nend\t11\n'
} >"$T/firsts"
nsysx-warmup -q "$T/firsts" >"$T/unsteady"
for form in 'diagnose --table' 'diagnose --markdown' 'steps --table' 'idle --table' 'idle --verdict --table' 'summary --table' 'summary --totals --table' 'collectives --summary --table' \
	"compare --by step --table $T/unsteady" "compare --by thunk --markdown $T/unsteady"; do
	# shellcheck disable=SC2086
	nsysx-$form "$T/unsteady" 2>"$T/err" | head -n 1 >"$T/said"
	equal "nothing is steady: the first line of nsysx-${form%% "$T"*} says so" "$(tr -d '*' <"$T/said" | cut -c 1-80)" 'nothing is steady: the stream has no execution after initialisation, so all numb'
done
for form in summary steps 'idle' 'diagnose --where'; do
	# shellcheck disable=SC2086
	equal "... nsysx-$form as TSV on standard error" "$(nsysx-$form --tsv "$T/unsteady" 2>&1 >"$T/null" | grep -c 'warning: nothing is steady: ')" 1
done
# The diag behind another one, in one run of a block.
nsysx-view "$T/unsteady" | awk -F'\t' -v OFS='\t' '$1 == "diag" { print $1, "info", "nsysx-extract", "another", 1; more++ } $1 == "end" { $2 += more } 1' >"$T/second"
for form in '' -b; do
	# shellcheck disable=SC2086
	equal "... behind another diag, nsysx-view $form" "$(nsysx-view $form "$T/second" | nsysx-summary --table 2>&1 | grep -c '^nothing is steady: ')" 1
done
equal '... there are no findings' "$(nsysx-diagnose -q --tsv --min 0 "$T/unsteady" | wc -l)" 1
equal '... where there were some' "$(nsysx-diagnose -q --tsv --min 0 "$T/firsts" | awk 'END { print (NR > 1) }')" 1
equal '... and what to record instead is said' "$(nsysx-diagnose --table "$T/unsteady" | grep -c '^no gains: first executions contain what later ones do not have')" 1
equal 'a stream that was not filtered is not called so' "$(nsysx-summary --table "$T/firsts" 2>&1 | grep -c 'nothing is steady')" 0
equal 'nor is one with a steady state' "$(nsysx-warmup -q warmup/job.tsv | nsysx-summary --table --by kernel 2>&1 | grep -c 'nothing is steady')" 0
done_testing
