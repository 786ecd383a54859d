#!/bin/sh
# nsysx-steps --by phase and --by shape: what the steps of a server do. Names: tests/unit/serving.c.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"

# Steps of vLLM on an H100 (989.4 TFLOP/s in bf16, 3352.32 GB/s): a prompt, three steps of decoding, one of both, one of decoding. Each has a
# kernel behind 10 ns, the last 20 ns communicate; steps begin when the one before is over.
{
	cat <<'END'
#profile profile:i name:s
profile 0 r0
#device device:i profile:i pid:i name:s cc:i
device 0 0 7 NVIDIA~H100~80GB~HBM3 90
#range profile:i range:i pid:i tid:i name:s start:i dur:i host_start:i host_dur:i
#op profile:i op:i type:s device:i name:s start:i dur:i tid:i host_start:i host_dur:i comm:i
END
	n=0 t=1000
	while read -r ns c C q g k; do
		r=$n
		echo "range 0 $r 7 7 execute_$((C + g))_context_$c(sq${C}sk${C}sqsq${q}sqsk${q})_generation_$g(sq${g}sk${k}sqsq${g}sqsk${k}) $((t + 10)) $((ns - 10)) $t 50"
		echo "op 0 $n kernel 0 work $((t + 10)) $((ns - 30)) 7 $((t + 1)) 5 0"
		echo "op 0 $((n + 1)) kernel 0 ncclDevKernel_AllReduce $((t + ns - 20)) 20 7 $((t + 8)) 5 1"
		n=$((n + 2)) t=$((t + ns))
	done <<'END'
1000 1 400 160000 0 0
100 0 0 0 2 900
120 0 0 0 2 902
110 0 0 0 3 1300
1200 1 500 250000 2 906
90 0 0 0 2 908
END
} | stream '~' >"$T/job"
# The last step has no period. Of the first the period begins 10 ns after the host does, and ends where the next one's work begins.
nsysx-steps -q --tsv --by phase "$T/job" >"$T/got"
sed 's/\t\t/\t-\t/g; s/\t\t/\t-\t/g; s/\t$/\t-/' "$T/got" | tr '\t' ' ' >"$T/rows"
cat >"$T/want" <<'END'
phase requests_mean tokens_mean count share period_mean period_p50 period_p99 span_p50 span_p99 tokens_rate compute exposed copy idle host pairs attention
mixed 3 502 1 0.4743083003952569 1200 1200 1200 1190 1190 418333333.3333333 1170 20 0 10 50 126156 -
prefill 1 400 1 0.3952569169960474 1000 1000 1000 990 990 400000000 970 20 0 10 50 80200 -
decode 2.25 2.25 4 0.13043478260869565 110 110 120 90 110 21212121.212121215 80 20 0 10 50 1002.5 -
END
same 'phases' "$T/want" "$T/rows"
# A phase whose only step is the last has no period, and so no share that is known; the others' last 1000 + 100 + 120 + 110 and 1200 ns.
awk -F'\t' '$1 != "range" || $3 == 0 || $3 == 8 || $3 == 10' "$T/job" |
	nsysx-steps -q --partial --tsv --by phase | awk -F'\t' 'NR > 1 { print $1, $4, $5 == "" ? "" : sprintf("%.6f", $5) }' >"$T/rows"
equal 'no share without a period' "$(tr '\n' ';' <"$T/rows")" "prefill 1 $(awk 'BEGIN { printf "%.6f;mixed 1 %.6f", 1330 / 2530, 1200 / 2530 }');decode 1 ;"
equal 'shapes' "$(nsysx-steps -q --tsv --by shape "$T/job" | cut -f 1-4,7,8,11 | tr '\t' ' ')" "$(cat <<'END'
phase requests tokens count period_p50 period_p99 tokens_rate
mixed 3 502 1 1200 1200 418333333.3333333
prefill 1 400 1 1000 1000 400000000
decode 2 2 3 100 120 18181818.18181818
decode 3 3 1 110 110 27272727.27272727
END
)"
equal 'the classes by default' "$(nsysx-steps -q --tsv "$T/job" | cut -f 1-3 | tr '\t\n' ' ,')" \
	'class device count,execute_*: decode 0 4,execute_*: mixed 0 1,execute_*: prefill 0 1,'
# A model of 10 layers, 8 heads, 2 heads of keys, of 100 each. Prefill: 4 * 80200 * 8 * 1000 / 989.4e3 ns; decode reads keys and values:
# 4 * (900 + 902 + 1300 + 908) / 4 * 2 * 1000 / 3352.32.
nsysx-diagnose -q --table "$T/job" | tr '\n' ' ' | sed -E 's/.*; of the time of all steps//; s/where the period.*//; s/([0-9.]+)% is of [^:]*: ([a-z]+),? */\2 \1\n/g' | awk 'NF == 2 { print $1, $2 }' | sort >"$T/others"
nsysx-steps -q --tsv --by phase "$T/job" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { printf "%s %.1f\n", $1, 100 * $at["share"] }' | sort >"$T/shares"
equal 'the first screen has the shares of the other phases' "$(comm -23 "$T/others" "$T/shares") $(wc -l <"$T/others")" " $(($(wc -l <"$T/shares") - 1))"
equal 'the limit of attention' "$(nsysx-steps -q --tsv --by phase --attention 10,8,2,100 "$T/job" | awk -F'\t' '{ if (NR > 1) printf "%s %.0f ", $1, $18 }')" 'mixed 4080 prefill 2594 decode 2392 '
nsysx-steps -q --table --by phase "$T/job" | grep -q 'times to the first token and per token of requests are not known'
equal 'what is not known is said' $? 0
note_of() { nsysx-steps -q --table --by phase --attention 10,8,2,100 "$@" | grep '^attention is'; }
sed 's/H100/H999/' "$T/job" >"$T/unknown"
equal '... why it is not known' "$(note_of "$T/unknown")" \
	'attention is not known: the peak in bf16 and the bandwidth of device NVIDIA H999 80GB HBM3 are not known; --peak bf16=TFLOPS and --bandwidth GBPS give them'
equal '... one of them' "$(note_of --peak bf16=989.4 "$T/unknown")" \
	'attention is not known: the bandwidth of device NVIDIA H999 80GB HBM3 is not known; --bandwidth GBPS gives it'
equal '... with peaks that are given' "$(nsysx-steps -q --tsv --by phase --attention 10,8,2,100 --peak bf16=989.4 --bandwidth 3352.32 "$T/unknown" |
	awk -F'\t' '{ if (NR > 1) printf "%s %.0f ", $1, $18 }')" 'mixed 4080 prefill 2594 decode 2392 '
sed 's/execute_[0-9]*_/execute_/; s/(sq\([0-9]*\)[^)]*)/(\1)/g' "$T/job" >"$T/nosums"
equal '... of names without sums' "$(note_of "$T/nosums")" 'attention is not known: names of steps carry no sums of lengths'
fails '... peaks without it' 2 '--peak and --bandwidth go with --attention' nsysx-steps --by phase --bandwidth 3000 "$T/job"
fails 'the options of --attention' 2 'want LAYERS,HEADS,KV_HEADS,DIM' nsysx-steps --by phase --attention 1,2,3 "$T/job"
fails '... all four and no more' 2 'want LAYERS,HEADS,KV_HEADS,DIM' nsysx-steps --by phase --attention 1,2,3,4,5 "$T/job"
fails '... with phases only' 2 '--attention goes with --by phase and shape' nsysx-steps --attention 1,2,3,4 "$T/job"
fails '--by phase is a table of its own' 2 '--by does not go with --each' nsysx-steps --by phase --each "$T/job"
# A regular expression names other ranges, whose names may tell nothing.
equal '--step with ranges of another name' "$(sed 's/execute_4_context/mine_4_context/' "$T/job" | nsysx-steps -q --tsv --by phase --step '^(execute|mine)_' | cut -f 1,4 | tr '\t\n' ' ,')" \
	'phase count,mixed 1,prefill 1,decode 4,'
equal '... and of a name that is no server'"'"'s' "$(sed 's/execute_2_context/mine_2_context/' "$T/job" | nsysx-steps -q --tsv --by phase --step '^(execute|mine)_' | cut -f 1,4 | tr '\t\n' ' ,')" \
	'phase count,mixed 1,prefill 1,other 3,decode 1,'
# Marks of steps are those of classes: they do not hide the names.
nsysx-steps -q --mark "$T/job" >"$T/marked"
equal 'a marked stream' "$(nsysx-steps -q --tsv --by phase "$T/marked" | md5sum)" "$(md5sum <"$T/got")"

# ---- generated servers ----

[ -x "$SYNTH" ] && [ -x "$B/bin/nsysx-extract" ] || { done_testing; exit; }
# want FILE BY: the table that follows from the answers: periods to the next step of the device, nearest ranks.
want() {
	sed 1d "$1" | sort -t "$(printf '\t')" -k 1,1n -k 5,5n | awk -F'\t' -v by="$2" '
	function rank(list, n, p,    k) { k = int((p * n + 99) / 100); return list[k] }
	function sorted(text, list,    n, i, j, v) { n = split(text, list, " "); for (i = 2; i <= n; i++) { v = list[i] + 0; for (j = i - 1; j > 0 && list[j] + 0 > v; j--) list[j + 1] = list[j]; list[j + 1] = v } return n }
	{ key = $2; if (by == "shape") key = key " " $3 " " $4
	  if (NR > 1 && dev == $1) { periods[last] = periods[last] " " ($5 - start); tokens[last] += tok; time[last] += $5 - start }
	  dev = $1; start = $5; last = key; tok = $4
	  n[key]++; spans[key] = spans[key] " " ($6 - $5); host[key] += $7; pairs[key] = pairs[key] + $8 }
	END { for (k in n) { m = sorted(periods[k], p); c = sorted(spans[k], s)
		printf "%s %d %s %s %d %d %.6g %.10g %.10g\n", k, n[k], m ? rank(p, m, 50) : "-", m ? rank(p, m, 99) : "-", rank(s, c, 50), rank(s, c, 99), time[k] ? tokens[k] / time[k] * 1e9 : 0, host[k] / n[k], pairs[k] / n[k] } }' | LC_ALL=C sort
}
got() {
	nsysx-steps -q --tsv --by "$2" "$1" | awk -F'\t' -v by="$2" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ k = $1; if (by == "shape") k = k " " $2 " " $3
		  printf "%s %d %s %s %d %d %.6g %.10g %.10g\n", k, $c["count"], $c["period_p50"] == "" ? "-" : $c["period_p50"], $c["period_p99"] == "" ? "-" : $c["period_p99"], $c["span_p50"], $c["span_p99"], $c["tokens_rate"], $c["host"], $c["pairs"] }' | LC_ALL=C sort
}
for server in vllm vllm-sums sglang tensorrt-llm; do
	for options in '--steps 24' '--steps 33 --devices 2 --seed 4'; do
		"$SYNTH" -o "$T/j" --torch=$server $options
		nsysx-extract -q -a "$T/j"/r?.sqlite >"$T/s"
		for by in phase shape; do
			want "$T/j/answers/serving.tsv" $by >"$T/want"
			got "$T/s" $by >"$T/got"
			ok "there are rows: $server $options" test -s "$T/want"
			same "as planned, by $by: $server $options" "$T/want" "$T/got"
		done
		# Parts add up to the period, and periods to the time of all steps but the last ones.
		equal "parts add up: $server $options" "$(nsysx-steps -q --tsv --by phase "$T/s" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
			{ d = $c["compute"] + $c["exposed"] + $c["copy"] + $c["idle"] - $c["period_mean"]; if (d > 1e-6 || d < -1e-6) print $1, d }')" ''
		rm -r "$T/j"
	done
done
# ---- --explain: a step with a larger batch is no slow step of the same work

# batches SIZE...: a step of decoding for each, which takes as many times 50 ns.
batches() {
	printf '#profile profile:i name:s\nprofile 0 r0\n#device device:i profile:i pid:i\ndevice 0 0 7\n'
	printf '#range profile:i range:i pid:i tid:i name:s start:i dur:i host_start:i host_dur:i\n'
	printf '#op profile:i op:i type:s device:i name:s start:i dur:i tid:i host_start:i host_dur:i\n'
	n=0 t=1000
	for g; do
		echo "range 0 $n 7 7 execute_context_0(0)_generation_$g($g) $t $((g * 50)) $t 20"
		echo "op 0 $n kernel 0 work $t $((g * 50 - 10)) 7 $((t + 1)) 5"
		n=$((n + 1)) t=$((t + g * 50))
	done
}
batches 4 4 4 9 4 | stream '~' >"$T/larger"
explained() { nsysx-steps -q --tsv --explain "$@" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["base_step"], $at["step"], $at["base_requests"], $at["requests"], $at["base_tokens"], $at["tokens"] }' | sort -u; }
larger="execute_context_*: decode: batches differ, and with them the work: on device 0 step 3 has 9 requests and 9 tokens, the median step 1 has 4 requests and 4 tokens"
equal '--explain: batches of the two steps' "$(explained "$T/larger")" '1 3 4 9 4 9'
equal '... and a line that says so' "$(nsysx-steps -q --table --explain "$T/larger" | grep batches)" "$larger"
nsysx-steps -q --mark -o "$T/marked" "$T/larger"
equal '... of marked steps as well' "$(nsysx-steps -q --table --explain "$T/marked" | grep batches)" "$larger"
batches 4 4 4 4 4 | sed '/^op 0 3 /s/ 190 7/ 180 7/' | stream '~' >"$T/alike"
equal '... no line if they are the same' "$(explained "$T/alike") $(nsysx-steps -q --table --explain "$T/alike" | grep -c batches)" '1 3 4 4 4 4 0'
done_testing
