#!/bin/sh
# nsysx-compare of servers of language models: phases of which a run has few steps, and batches, which differ more than steps do.
. "${0%/*}/../testlib.sh"
. "${0%/*}/../comparelib.sh"

# A stream of a server's steps on standard output, each a line of standard input: prompts, their tokens, running requests, its period, ns.
serve() {
	awk 'BEGIN { OFS = "\t"; print "#nsysx", 2; print "#profile", "profile:i", "name:s"; print "#device", "device:i", "profile:i", "pid:i"
		print "#range", "profile:i", "range:i", "pid:i", "tid:i", "name:s", "start:i", "dur:i", "host_start:i", "host_dur:i"
		print "#op", "profile:i", "op:i", "type:s", "device:i", "name:s", "start:i", "dur:i", "tid:i", "host_start:i", "host_dur:i"
		print "profile", 0, "r0"; print "device", 0, 0, 7; t = 1000 }
		{ print "range", 0, NR, 7, 7, "execute_context_" $1 "(" $2 ")_generation_" $3 "(" $3 ")", t, $4, t, 20
		  print "op", 0, NR, "kernel", 0, "work", t, $4 - 1000, 7, t + 1, 5; t += $4 }
		END { print "#end", "records:i"; print "end", 2 + 2 * NR }'
}
# steps PREFILLS DECODES: these, a prompt of 100 us before the first of them, 50 us each.
steps() { awk -v p="$1" -v d="$2" 'BEGIN { for (i = 0; i < p; i++) print 1, 512, 0, 100000; for (i = 0; i <= d; i++) print 0, 0, 4, 50000 + i % 3 }'; }

# ---- a phase that is rare says nothing of the others

steps 2 40 | serve >"$T/rare"
part=$(awk 'BEGIN { all = 200000; for (i = 0; i < 40; i++) all += 50000 + i % 3; printf "%.1f", 100 * 200000 / all }')
gate 'a phase of two steps is told, and the other one judged' 0 "warning: not judged, $part% of the time: execute_context_*: prefill: 2 steps of BASE tell too little, want 5: " --by step "$T/rare" "$T/rare"
equal '... its rows alone are unknown' "$(nsysx-compare -q --tsv --by step "$T/rare" "$T/rare" | columns class,statistic,verdict | grep period)" \
	"$(printf 'execute_context_*:_decode period same\nexecute_context_*:_prefill period unknown')"
equal '... which a line below the table says' "$(nsysx-compare -q --table --by step "$T/rare" "$T/rare" | grep -c "^not judged, $part% of the time: execute_context_\*: prefill: 2 steps of BASE")" 1
equal '... as Markdown, whose answer is that of the others' "$(nsysx-compare -q --markdown --by step "$T/rare" "$T/rare" | sed -n '1s/ by step.*//p')" '**same**'
gate '... no share of the time may be' 3 "not comparable: execute_context_*: prefill: 2 steps of BASE tell too little, want 5: record more steps, or several base runs; $part% of the time is not judged, --unjudged allows 0%" --unjudged 0 --by step "$T/rare" "$T/rare"
steps 4 24 | serve >"$T/often"
gate '... as much as a quarter may not' 3 '; 25.0% of the time is not judged, --unjudged allows 10%' --by step "$T/often" "$T/often"
gate '... unless that is asked for' 0 'warning: not judged, 25.0% of the time' --unjudged 0.26 --by step "$T/often" "$T/often"
gate '... up to that share' 3 'tell too little' --unjudged 0.24 --by step "$T/often" "$T/often"
steps 2 3 | serve >"$T/short"
gate 'if all are few nothing is judged' 3 'not comparable: execute_context_*: prefill: 2 steps of BASE tell too little, want 5: record more steps, or several base runs' --by step "$T/short" "$T/short"
steps 2 40 | awk '$1 == 0 { $4 = int($4 * 1.05) } { print }' | serve >"$T/slower"
gate 'what is judged is slower' 1 'slower: execute_context_*: decode: period' --by step "$T/rare" "$T/slower"
fails 'the share is one' 2 '--unjudged: want a number from 0 to 1' nsysx-compare --unjudged 2 "$T/rare" "$T/rare"

# ---- steps of the same batches are compared

# mixed SEED LARGE PERCENT: 40 steps of both kinds, of 512 tokens of prompts (500 us) or, with the probability LARGE, 1024 (1 ms), and each followed
# by three of decoding (60 us); with chance of 2 %, and prompts so much longer.
mixed() {
	awk -v seed="$1" -v large="$2" -v percent="$3" '
	function chance(    i, sum) { for (i = 0; i < 12; i++) sum += rand(); return 1 + (sum - 6) * 0.02 }
	BEGIN { srand(seed); for (i = 0; i < 40; i++) { n = i < 2 ? i + 1 : rand() < large ? 2 : 1
		print n, 512 * n, 6, int(n * 500000 * chance() * (1 + percent / 100)); for (k = 0; k < 3; k++) print 0, 0, 6 + n, int(60000 * chance()) } }'
}
row() { nsysx-compare -q --tsv --by step "$@" | columns class,statistic,base,new,change,noise,verdict | grep 'mixed period'; }
mixed 1 0.3 0 | serve >"$T/base"
mixed 2 0.7 0 | serve >"$T/large"
mixed 2 0.7 5 | serve >"$T/more"
gate 'another mix of batches is not slower' 0 '' --by step "$T/base" "$T/large"
gate '... and does not hide what is' 1 'slower: execute_context_*: mixed: period' --by step "$T/base" "$T/more"
nsysx-steps -q --tsv --each -o "$T/base.tsv" "$T/base"
equal '... whose change is that of the same batches' "$(row "$T/base" "$T/more" | awk '{ print ($5 > 0.045 && $5 < 0.055), $7 }')" '1 slower'
# BASE's batches, each with the mean that NEW has of it, as often as BASE has it; the last step has no period.
means() { awk -F'\t' '$1 == "range" { n = $6 ~ /_1\(/ ? 1 : $6 ~ /_2\(/ ? 2 : 0; k[n]++; sum[n] += $8 } END { printf "%d %d %.6f %.6f\n", k[1], k[2], sum[1] / k[1], sum[2] / k[2] }' "$1"; }
equal '... and the mean is that of BASE'"'"'s' "$(row "$T/base" "$T/more" | awk '{ printf "%.3f", $4 }')" \
	"$({ means "$T/base"; means "$T/more"; } | awk 'NR == 1 { a = $1; b = $2; x = $3; y = $4 } NR == 2 { printf "%.3f", (a * x + b * y) / (a + b) + (a * ($3 - x) + b * ($4 - y)) / (a + b) }')"
equal '... which a line below the table says' "$(nsysx-compare -q --table --by step "$T/base" "$T/more" | grep -c '^NEW has other batches of execute_context_\*: mixed than BASE: its times are as of those of BASE; of its own the period is ')" 1
equal '... not of the same ones' "$(nsysx-compare -q --table --by step "$T/base" "$T/base" | grep -c 'other batches')" 0
# A table of steps does not tell batches.
equal 'noise is that of a batch' "$(row "$T/base" "$T/base" | awk '{ print ($6 / $3 < 0.03) }') $(row "$T/base.tsv" "$T/base.tsv" | awk '{ print ($6 / $3 > 0.2) }')" '1 1'
nsysx-steps -q --mark -o "$T/base.marked" "$T/base"
nsysx-steps -q --mark -o "$T/more.marked" "$T/more"
equal 'of marked steps too' "$(row "$T/base.marked" "$T/more.marked")" "$(row "$T/base" "$T/more")"
equal '... and of named ones' "$(nsysx-compare -q --tsv --by step --step '^execute_context_[12]' "$T/base" "$T/more" | columns statistic,verdict | sed -n 1p)" 'period slower'
equal 'parts still add up to the period' "$(nsysx-compare -q --tsv --by step "$T/base" "$T/more" | columns class,statistic,new | awk '$1 ~ /mixed/ && $2 ~ /^(compute|exposed|copy|idle)$/ { sum += $3 } $1 ~ /mixed/ && $2 == "period" { all = $3 }
	END { d = sum - all; print (d < 1e-3 && d > -1e-3) }')" 1
# Prompts of other lengths in each step: those between near powers of two are compared.
any() { awk -v seed="$1" -v percent="$2" 'BEGIN { srand(seed); for (i = 0; i < 120; i++) { n = int(256 * exp(rand() * log(8))); print 1, n, 6, int(n * 1000 * (1 + (rand() - 0.5) / 100) * (1 + percent / 100)) } }'; }
any 3 0 | serve >"$T/any"
any 4 0 | serve >"$T/any.equal"
any 4 5 | serve >"$T/any.more"
gate 'prompts of any length' 0 '' --by step "$T/any" "$T/any.equal"
gate '... of which a slower one is found' 1 'slower: execute_context_*: mixed: period' --by step "$T/any" "$T/any.more"
awk 'BEGIN { for (i = 0; i < 30; i++) print 1, 512, 6, 500000 + i % 3 }' | serve >"$T/of512"
awk 'BEGIN { for (i = 0; i < 30; i++) print 1, 2048, 6, 2000000 + i % 3 }' | serve >"$T/of2048"
equal 'batches that have no counterpart are compared as they are' "$(row "$T/of512" "$T/of2048" | awk '{ printf "%.6f %s", $4, $7 }')" "$(awk 'BEGIN { for (i = 0; i < 29; i++) n += 2000000 + i % 3; printf "%.6f", n / 29 }') slower"

# Few steps of other batches are not judged, for no difference of theirs tells how long a batch takes.
few() { awk -v n="$1" 'BEGIN { for (i = 0; i < 7; i++) { large = i < n; print 1, large ? 1024 : 512, 6, (large ? 1000000 : 500000) + (i * 7919 % 13 < 6) * 20000 } }' | serve; }
few 2 >"$T/few.base"; few 5 >"$T/few.new"
equal 'few steps of other batches are not slower' "$(row "$T/few.base" "$T/few.new" | awk '{ print $7 == "slower" }')" 0

# Chance: equal pairs are silent, and what is 5 % longer is found, whatever the mix.
silent=0 found=0 hidden=0
for seed in $(seq 101 140); do
	mixed "$seed" 0.5 0 | serve >"$T/a"
	mixed "$((seed + 100))" "0.$((2 + seed % 7))" 0 | serve >"$T/b"
	mixed "$((seed + 100))" "0.$((2 + seed % 7))" 5 | serve >"$T/c"
	nsysx-compare -q --gate --by step -o "$T/table" "$T/a" "$T/b" 2>"$T/err" && silent=$((silent + 1))
	nsysx-compare -q --gate --by step -o "$T/table" "$T/a" "$T/c" 2>"$T/err"
	[ $? -eq 1 ] && grep -q 'slower: execute_context_\*: mixed: period' "$T/err" && found=$((found + 1))
done
equal 'equal pairs of 40 seeds that are silent, and slower ones that are found' "$silent $found" '40 40'

# ---- what BASE has next to nothing of

# of IDLE...: 24 steps of 100 us of work and as much idle time, ns, as the arguments say in turn.
of() { awk -v list="$*" 'BEGIN { OFS = "\t"; n = split(list, idle, " "); print "#nsysx", 2; print "#profile", "profile:i", "name:s"; print "#device", "device:i", "profile:i", "pid:i"
	print "#range", "profile:i", "range:i", "pid:i", "tid:i", "name:s", "start:i", "dur:i", "host_start:i", "host_dur:i"
	print "#op", "profile:i", "op:i", "type:s", "device:i", "name:s", "start:i", "dur:i", "tid:i", "host_start:i", "host_dur:i"
	print "profile", 0, "r0"; print "device", 0, 0, 7; t = 1000
	for (i = 0; i < 24; i++) { print "range", 0, i, 7, 7, "train step", t, 100000, t, 20; print "op", 0, i, "kernel", 0, "work", t, 100000, 7, t + 1, 5; t += 100000 + idle[i % n + 1] }
	print "#end", "records:i"; print "end", 50 }'; }
idle_row() { nsysx-compare -q --tsv --by step --step '^train step' "$T/idle.base" "$T/idle.new" | columns statistic,base,new,change,delta_share,verdict | grep '^idle '; }
of 100 101 >"$T/idle.base"; of 30100 30101 >"$T/idle.new"
equal 'idle time of next to nothing: its change is told in shares of the step' "$(idle_row | awk '{ printf "%s %.5f %s", $4, $5, $6 }')" "- $(awk 'BEGIN { printf "%.5f", 30000 / 100100.48 }') slower"
equal '... also in the table' "$(nsysx-compare -q --table --by step --step '^train step' "$T/idle.base" "$T/idle.new" | grep -c '300[0-9][0-9]\.[0-9]*%')" 0
of 150 151 >"$T/idle.new"
equal '... unless it has not doubled' "$(idle_row | awk '{ printf "%.2f", $4 }')" 0.50
of 0 4000 0 0 0 0 0 1000 >"$T/idle.base"; of 0 4000 0 0 0 0 0 1500 500 >"$T/idle.new"
equal '... or is noise' "$(idle_row | cut -d' ' -f 4)" '-'
of 10000 10001 >"$T/idle.base"; of 30000 30001 >"$T/idle.new"
equal 'of more than --percent of the step it is told' "$(idle_row | awk '{ printf "%.2f %.3f", $4, $5 }')" "2.00 $(awk 'BEGIN { printf "%.3f", 20 / 110 }')"
equal '... and of what it is below a larger one' "$(nsysx-compare -q --tsv --by step --percent 15 --step '^train step' "$T/idle.base" "$T/idle.new" | columns statistic,change | grep '^idle ')" 'idle -'

# ---- which steps have no period

# train and eval, each letter a step of 100 us: of five of train the last one has no period, and that of the second one holds eval.
printf '%s\n' t t e t t t | awk 'BEGIN { OFS = "\t"; print "#nsysx", 2; print "#profile", "profile:i", "name:s"; print "#device", "device:i", "profile:i", "pid:i"
	print "#range", "profile:i", "range:i", "pid:i", "tid:i", "name:s", "start:i", "dur:i", "host_start:i", "host_dur:i"
	print "#op", "profile:i", "op:i", "type:s", "device:i", "name:s", "start:i", "dur:i", "tid:i", "host_start:i", "host_dur:i"
	print "profile", 0, "r0"; print "device", 0, 0, 7; t = 1000 }
	{ print "range", 0, NR, 7, 7, ($1 == "t" ? "train" : "eval"), t, 100000, t, 20; print "op", 0, NR, "kernel", 0, "work", t, 90000, 7, t + 1, 5; t += 100000 }
	END { print "#end", "records:i"; print "end", 2 + 2 * NR }' >"$T/both"
equal 'steps without a period that counts are told by their number' "$(nsysx-compare -q --table --by step --step '^(train|eval)' "$T/both" "$T/both" | grep '^BASE has')" \
	'BASE has 1 steps of eval on 1 device; the last of each has no period
BASE has 5 steps of train on 1 device; 2 have no period that counts'

# ---- generated servers

[ -x "$SYNTH" ] && [ -x "$B/bin/nsysx-extract" ] || { done_testing; exit; }
made() { "$SYNTH" -o "$T/j" --torch="$1" --steps "$2" --seed "$3" ${4:-} && nsysx-extract -q -a "$T"/j/r?.sqlite >"$T/made" && rm -r "$T/j"; }
for server in vllm vllm-sums sglang tensorrt-llm; do
	bad=
	for steps in 26 33 80; do
		for seed in 1 2 3; do
			made "$server" "$steps" "$seed"
			nsysx-compare -q --gate --by step -o "$T/table" "$T/made" "$T/made" 2>"$T/err" || bad="$bad $steps/$seed:$(cat "$T/err")"
		done
	done
	equal "a job against itself: $server" "$bad" ''
done
for seed in 1 2 3; do
	made vllm 160 "$seed" && mv "$T/made" "$T/a"
	made vllm 160 "$((seed + 10))" && mv "$T/made" "$T/b"
	made vllm 160 "$((seed + 10))" '--slow mixed:5' && mv "$T/made" "$T/c"
	gate "equal servers of seed $seed" 0 '' -q --by step "$T/a" "$T/b"
	gate '... one that is slower in one phase' 1 'slower: execute_context_*: mixed: period' -q --by step "$T/a" "$T/c"
done

# ---- what is said of a server

said() { nsysx-compare --table --by "$1" "$2" "$3" 2>&1; }
made vllm 60 1 && mv "$T/made" "$T/a"
made vllm 60 3 '--slow decode:15' && mv "$T/made" "$T/b"
said step "$T/a" "$T/b" >"$T/said"
# Of each class and device all steps have a period but that which ends the run.
lack() { nsysx-steps -q --tsv "$T/a" | columns class,count,periods | awk '$1 ~ /:_'"$1"'$/ { n += $2; p += $3 } END { print n, n - p }'; }
equal 'a class whose steps all have a period lacks none' "$(lack mixed) $(grep -c '^BASE has 28 steps of execute_context_\*: mixed on 2 devices$' "$T/said")" '28 0 1'
equal '... one of those that lack it, the last of each device, says so' "$(lack decode) $(grep -c '^BASE has 90 steps of execute_context_\*: decode on 2 devices; the last of each has no period$' "$T/said")" '90 2 1'
equal 'a step of a server prepares while the one before runs: its period is what it costs' "$(grep -c 'compare spans' "$T/said")" 0
equal '... also of nsysx-steps' "$(nsysx-steps "$T/a" 2>&1 | grep -c 'compare spans')" 0
nsysx-steps -q --mark -o "$T/a.marked" "$T/a"
equal '... and of marked steps' "$(nsysx-steps "$T/a.marked" 2>&1 | grep -c 'compare spans')" 0
# Decoding takes 15 % more, prompts do not, which take longer: the mean of both is uncertain, ranks are not.
said kernel "$T/a" "$T/b" >"$T/said"
nsysx-compare -q --tsv --by kernel "$T/a" "$T/b" | columns name,verdict,diff,noise | grep 'nvjet.* slower' >"$T/row"
equal 'a kernel that is slower by less than the noise of its mean' "$(awk '{ print ($3 < $4) }' "$T/row")" 1
ok '... of which the message says what decided' eval 'nsysx-compare --gate --by kernel "$T/a" "$T/b" 2>&1 | grep -q "slower: nvjet.*noise [^:]*: ranks of the samples decide, their median is 7[.0-9]* us longer"'
equal 'what is slower by more than the noise does not' "$(nsysx-compare --by step "$T/a" "$T/b" 2>&1 | grep -c ' decide')" 0

# Each of 14 steps has tokens of another power of two: their batches are the same in both runs, and each is its own.
awk 'BEGIN { for (i = 0; i < 15; i++) print 1, 2 ^ (i + 1), 6, 100000 * (1 + i * 7 % 15) }' | serve >"$T/unlike"
counts='14 of 14 of BASE, 14 of 14 of NEW, of 14 batches'
said step "$T/unlike" "$T/unlike" >"$T/said"
ok 'that noise is of unlike batches is said, with how many match' grep -qx "the noise of the period of execute_context_\*: mixed is [0-9]*% of it: an increase of less is not seen: batches differ, and too few steps match by batch to be judged by it: $counts; record more steps" "$T/said"
ok '... as a warning, too' grep -q "warning: execute_context_\*: mixed: the noise of the period is .*: $counts; record more steps" "$T/said"
gate '... which does not change the status' 0 'too few steps match by batch' --by step "$T/unlike" "$T/unlike"
# Of 6 batches there are 2 or 3 steps each: too few to judge them by equal ones, but enough by those whose tokens differ by little.
equal 'few steps of each batch are judged with those of similar ones' "$(nsysx-compare -q --tsv --by step "$T/a" "$T/a" | columns class,statistic,base,noise | awk '/mixed period/ { print ($4 < 0.1 * $3) }' | sort -u)" 1
awk 'BEGIN { for (i = 0; i < 60; i++) print 1, 512, 6, 500000 + i * 7919 % 400000 }' | serve >"$T/alike"
equal 'not where all are of one batch, and only vary' "$(nsysx-compare --by step --percent 1 "$T/alike" "$T/alike" 2>&1 | grep -c 'match by batch')" 0
equal 'nor where steps are judged by batch' "$(nsysx-compare --by step "$T/base" "$T/base" 2>&1 | grep -c 'match by batch')" 0
awk 'BEGIN { for (i = 0; i < 30; i++) print 1, 512 * (1 + i % 2), 6, (1 + i % 2) * 500000 + i }' | serve >"$T/two"
awk 'BEGIN { for (i = 0; i < 30; i++) print 1, 4096 * (1 + i % 2), 6, (1 + i % 2) * 500000 + i }' | serve >"$T/others"
equal '... and of none that match' "$(nsysx-compare --by step "$T/two" "$T/others" 2>&1 | grep -c 'warning: .*: 0 of 29 of BASE, 0 of 29 of NEW, of 0 batches; record more steps')" 1

# The largest of the rows that are not shown.
hides() { awk '$4 == "hidden" { c = $5 < 0 ? -$5 : $5; if (c > most) { most = c; v = $5; row = $1 ($2 == "-" ? "" : " on device " $2) ": " $3 } n++ } END { gsub("_:", ":", row); printf "%d rows that noise hides are not shown, the most: %s: %+.1f%%\n", n, row, 100 * v }'; }
nsysx-compare -q --tsv --by step "$T/a" "$T/b" | columns class,device,statistic,verdict,change | hides | sed 's/_\*:_/_*: /' >"$T/want"
nsysx-compare -q --table --changed --by step "$T/a" "$T/b" | grep 'noise hides' >"$T/got"
same '--changed names the largest hidden row with its class and device' "$T/got" "$T/want"
done_testing
