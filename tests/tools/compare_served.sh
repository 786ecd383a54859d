#!/bin/sh
# nsysx-compare of servers of language models: phases of which a run has few steps.
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
done_testing
