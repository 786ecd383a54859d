#!/bin/sh
# nsysx-idle --by host, nsysx-fold --by host and nsysx-extract --cpu: a program whose host is late for known reasons, in known lines.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"

# late SEED OPTION...: the export of 120 gaps, extracted.
late() {
	rm -rf "$T/late"
	make_job late --late-host 120 --seed "$@"
	nsysx-extract -q -a "$T/late/r0.sqlite" -o "$T/s"
}
# sorted: rows without their header, sorted.
sorted() { tail -n +2 | LC_ALL=C sort; }
# column N FILE: its sum.
column() { awk -F'\t' -v c="$1" 'NR > 1 { n += $c } END { printf "%.0f\n", n }' "$2"; }

for options in '1' '2 --schema 3.28.1' '3 --shuffle' '4 --full'; do
	# shellcheck disable=SC2086 # options are words
	late $options
	nsysx-idle -q --tsv --by host --lines "$T/s" >"$T/lines"
	cut -f1-6,8- "$T/lines" | sorted >"$T/got"
	sorted <"$T/late/answers/late.tsv" >"$T/want"
	same "seed $options: each line's time, by state and cause" "$T/want" "$T/got"
	nsysx-idle -q --tsv --by host --functions "$T/s" | cut -f1-4 | sorted >"$T/got"
	sorted <"$T/late/answers/functions.tsv" >"$T/want"
	same "seed $options: running time by function" "$T/want" "$T/got"
done

late 5
nsysx-idle -q --tsv --by host "$T/s" >"$T/states"
nsysx-idle -q --tsv --by host --lines "$T/s" >"$T/lines"
nsysx-idle -q --tsv "$T/s" | awk -F'\t' '$3 == "launch-starved" { print $4 "\t" $5 }' | LC_ALL=C sort >"$T/want"
cp "$T/want" "$T/want.starved"
for by in states lines; do
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { ns[$(at["cause"])] += $(at["ns"]) } END { for (c in ns) printf "%s\t%.0f\n", c, ns[c] }' "$T/$by" | LC_ALL=C sort >"$T/got"
	same "$by of a cause add up to it" "$T/want" "$T/got"
done
nsysx-idle -q --tsv --by host --lines=sum "$T/s" >"$T/sums"
awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { k = $(at["device"]) "\t" $(at["line"]); ns[k] += $(at["ns"]); off[k] += $(at["off"]) } END { for (k in ns) printf "%s\t%.0f\t%.0f\n", k, ns[k], off[k] }' "$T/lines" | LC_ALL=C sort >"$T/want.sums"
cut -f 1-3,5 "$T/sums" | sorted >"$T/got.sums"
same '--lines=sum has a row for each line, the sum of those by state' "$T/want.sums" "$T/got.sums"
equal '... the largest first' "$(sed 1d "$T/sums" | cut -f 3)" "$(sed 1d "$T/sums" | cut -f 3 | sort -rn)"
equal '... and a gap counts once, however many states the host is in' "$(awk -F'\t' -v gaps="$(nsysx-idle -q --tsv --by host --list 100000 "$T/s" | sed 1d | wc -l)" 'NR > 1 { bad += $6 > gaps || $6 < 1 } END { print bad + 0 }' "$T/sums")" 0
fails '... is not of gaps' 2 '--lines=sum excludes --list' nsysx-idle --by host --lines=sum --list 3 "$T/s"
fails '... and lines are of some kind' 2 '--lines: want leaf, sum or nothing' nsysx-idle --by host --lines=all "$T/s"
equal 'shares are of all launch-starved time' "$(awk -F'\t' 'NR > 1 { s += $6 } END { printf "%.6f\n", s }' "$T/states")" 1.000000

# People see which times are guesses: those of lines with fewer than 5 samples.
nsysx-idle -q --table --by host --lines "$T/s" | awk '/^ *[0-9]/ { print ($0 ~ / ~[0-9]/) == ($NF < 5) }' | sort -u >"$T/says"
equal '~ is before times of fewer than 5 samples' "$(cat "$T/says")" 1

# The diagnosis names what the host did most in a cause, and the line with most of its time, in any state, of which 5
# samples tell: the first of nsysx-idle --lines=sum.
nsysx-diagnose -q --tsv "$T/s" >"$T/diagnosis" 2>"$T/errors"
for cause in host range; do
	nsysx-idle -q --tsv --by host --lines=sum --cause $cause "$T/s" | awk -F'\t' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$(at["line"]) != "" && $(at["samples"]) >= 5 {
			line = $(at["line"]); sub(/.*\//, "", line); sub(/\]$/, "", line); split(line, part, "[")
			print part[2] " (" part[1] "): " $(at["samples"]) " samples"
			exit
		}' >"$T/named"
	awk -F'\t' -v cause="$cause" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$(at["cause"]) != cause || $(at["what"]) == "[profiler]" || $(at["state"]) == "unknown" { next }
		{ k = $(at["state"]) "\t" $(at["what"]); of[k] += $(at["ns"]); if (of[k] > of[top] || top == "") top = k }
		END { for (k in of) if (of[k] > of[top]) top = k; split(top, f, "\t"); print f[1] == "off" ? "off the CPU" : f[1] == "os" ? f[2] : f[1] }' "$T/states" >"$T/state"
	awk -F'\t' -v cause="idle:$cause" '$0 ~ cause' "$T/diagnosis" >"$T/finding"
	sed 's/.*the host there: .* in \([^ ]* ([^)]*)\): .*, \([0-9]* samples\).*/\1: \2/' "$T/finding" >"$T/says"
	same "idle:$cause names the line" "$T/named" "$T/says"
	ok '... and what the host did' grep -q "the host there: $(cat "$T/state")" "$T/finding"
	ok '... its time is in all states' test "$(grep -c 'in any state most in' "$T/finding")" = 1
done

nsysx-fold -q --by host --while idle "$T/s" >"$T/stacks"
equal 'stacks add up to it' "$(awk '{ n += $NF } END { printf "%.0f\n", n }' "$T/stacks")" "$(awk -F'\t' '{ n += $2 } END { printf "%.0f\n", n }' "$T/want")"
equal '... with what was read where' "$(grep -c ';/app/train.py:99\[<module>\];/app/train.py:[0-9]*\[[a-z_]*\].*;\[os\] read [0-9]*$' "$T/stacks")" "$(awk -F'\t' '$4 == "read" { print $2, $5 }' "$T/lines" | LC_ALL=C sort -u | wc -l | tr -d ' ')"
nsysx-fold -q --by host --while idle:range "$T/s" >"$T/got"
equal 'of one cause' "$(awk '{ n += $NF } END { printf "%.0f\n", n }' "$T/got")" "$(awk -F'\t' '$1 == "range" { print $2 }' "$T/want")"
equal '... and no other' "$(cut -d';' -f2 "$T/got" | sort -u)" range
nsysx-idle -q --tsv --by host --cause launch "$T/s" >"$T/got"
equal '--cause selects' "$(cut -f2 "$T/got" | sort -u | tr '\n' ' ')" 'cause launch '
nsysx-idle -q --tsv --by host --lines=leaf "$T/s" >"$T/got"
equal 'the innermost line may be a library'\''s' "$(grep -c '/usr/lib/python3.11/queue.py:171\[get\]' "$T/got" | awk '{ print ($1 > 0) }')" 1
equal '... and the time is the same' "$(awk -F'\t' 'NR > 1 { n += $6 } END { printf "%.0f\n", n }' "$T/got")" "$(awk -F'\t' 'NR > 1 { n += $6 } END { printf "%.0f\n", n }' "$T/lines")"

nsysx-idle -q --tsv --by host --list 100000 "$T/s" >"$T/got"
equal 'the gaps of a list add up, too' "$(column 3 "$T/got")" "$(awk -F'\t' '{ n += $2 } END { printf "%.0f\n", n }' "$T/want.starved")"
equal '... and are all gaps' "$(tail -n +2 "$T/got" | wc -l | tr -d ' ')" 120
equal '... the longest first' "$(nsysx-idle -q --tsv --by host --list 7 "$T/s" | tail -n +2 | cut -f3 | tr '\n' ' ')" "$(tail -n +2 "$T/got" | cut -f3 | sort -rn | head -n 7 | tr '\n' ' ')"

# Marks in the stream, text and binary, merged, give the same.
nsysx-idle -q --mark "$T/s" >"$T/m"
for how in 'cat' 'nsysx-view -b' 'nsysx-merge -q -' 'nsysx-overlap -q' 'nsysx-warmup -q --mark'; do
	$how <"$T/m" >"$T/via"
	nsysx-idle -q --tsv --by host --lines "$T/via" >"$T/got"
	same "$how: the same rows" "$T/lines" "$T/got"
	nsysx-idle -q --tsv --by host --lines <"$T/via" >"$T/got"
	same "$how, piped: the same rows" "$T/lines" "$T/got"
done
rm -rf "$T/other"
make_job other --late-host 60 --seed 6
mv "$T/other/r0.sqlite" "$T/other/r1.sqlite"
nsysx-extract -q -a "$T/other/r1.sqlite" -o "$T/o"
nsysx-extract -q -a "$T/late/r0.sqlite" "$T/other/r1.sqlite" >"$T/both"
nsysx-merge -q "$T/o" "$T/s" >"$T/merged"
same 'two exports: extracted together or merged' "$T/both" "$T/merged"

# What is extracted.
equal 'what nsys writes about Python is no range' "$(nsysx-view -q -k range "$T/s" | grep -c 'GIL\|Python Backtrace')" 0
nsysx-extract -q -a --no-cpu "$T/late/r0.sqlite" >"$T/bare"
equal '--no-cpu leaves everything out' "$(cut -f1 "$T/bare" | grep -c -x 'os\|off\|gil\|sample\|thread')" 0
nsysx-view -q "$T/s" | grep -v '^#\|^os	\|^off	\|^gil	\|^sample	\|^thread	\|^stack	\|^end	' >"$T/got"
grep -v '^#\|^end	' "$T/bare" >"$T/want"
same '... and changes nothing else' "$T/want" "$T/got"
equal 'samples of a helper are not written' "$(awk -F'\t' '$1 == "sample" { print $4 }' "$T/s" | sort -u)" 4242
# A thread is told by 20 samples or more.
make_job long --late-host 300 --seed 7
nsysx-extract -q --ops --calls --cpu=all "$T/long/r0.sqlite" >"$T/all"
equal '... except with --cpu=all' "$(awk -F'\t' '$1 == "sample" { print $4 }' "$T/all" | sort -u | tr '\n' ' ')" '4242 4250 '
nsysx-extract -a --os-min 500us "$T/late/r0.sqlite" 2>"$T/err" >"$T/got"
equal '--os-min leaves out short calls' "$(awk -F'\t' '$1 == "os" && $7 < 500000' "$T/got" | wc -l | tr -d ' ')" 0
equal '... and counts them' "$(nsysx-view -q -t diag "$T/got" | awk -F'\t' '/shorter than --os-min/ { print $4 }')" "$(awk -F'\t' '$1 == "os" && $7 < 500000' "$T/s" | wc -l | tr -d ' ')"
# Of several names of a thread the last row's is the thread's, whatever their order as text.
for name in 'a first' 'zz last'; do
	cp "$T/late/r0.sqlite" "$T/named.sqlite"
	sqlite3 "$T/named.sqlite" "INSERT INTO StringIds (id, value) VALUES (90001, '$name');
		INSERT INTO ThreadNames (nameId, priority, globalTid) SELECT 90001, 20, globalTid FROM ThreadNames WHERE globalTid % 16777216 = 4250;"
	nsysx-extract -q -a "$T/named.sqlite" >"$T/got"
	equal "the last name of a thread is its name: $name" \
		"$(nsysx-idle -q --tsv --by host "$T/got" | awk -F'\t' '$3 == "gil" && $4 ~ / 4250$/ { print $4 }' | sort -u)" "$name 4250"
done
fails '--cpu needs calls' 2 '--cpu needs --ops --calls' nsysx-extract --cpu "$T/late/r0.sqlite"
nsysx-idle --by host "$T/bare" >"$T/got" 2>"$T/err"
equal 'a stream without host records says so' "$(grep -c 'nsysx-record --cpu' "$T/err")" 1

# 5000 calls of the OS library, each in the one before.
{
	echo '#profile profile:i name:s'
	echo 'profile 0 r'
	echo '#device device:i profile:i pid:i'
	echo 'device 0 0 1'
	echo '#thread profile:i pid:i tid:i scheduled:i'
	echo 'thread 0 1 1 1'
	echo '#op profile:i op:i device:i type:s name:s start:i dur:i stream:i tid:i host_start:i host_dur:i'
	echo 'op 0 0 0 kernel k 100 100 7 1 50 10'
	echo '#idle profile:i device:i start:i dur:i cause:s op:i tid:i'
	echo 'idle 0 0 200 30000 host 1 1'
	echo '#os profile:i os:i pid:i tid:i start:i dur:i name:s'
	seq 5000 | awk '{ print "os", 0, $1, 1, 1, 1000 + $1, 20000 - 2 * $1, "read" }'
	echo 'op 0 1 0 kernel k 30210 100 7 1 30200 5'
} | stream >"$T/deep"
for tool in 'idle --by host' 'fold --by host' diagnose; do
	# shellcheck disable=SC2086 # tools with their options
	nsysx-$tool "$T/deep" >"$T/got" 2>"$T/err"
	equal "$tool tells what it ignored" "$? $(grep -c 'nested thousands deep.*(904)' "$T/err")" '0 1'
done

late 6
nsysx-diagnose -q --tsv "$T/s" >"$T/got"
n=$(grep -c 'the host there: .*(train.py:[0-9]*)' "$T/got")
line=$(awk -F'\t' '$2 == "idle:host" { print $5 }' "$T/got" | sed 's/.*(\(train.py:[0-9]*\)).*/\1/')
equal 'where lines are known nobody is asked to annotate' "$(awk -F'\t' '$2 == "idle:host" { print ($8 ~ /annotate/), $6 }' "$T/got")" "0 nsysx-idle --by host --lines=sum --cause host $T/s"
ok '... and the command has the line' sh -c '$1 | grep -q "$2"' sh "$(awk -F'\t' '$2 == "idle:host" { print $6 }' "$T/got")" "$line"
equal '... one device is not the largest part' "$(nsysx-diagnose -q --table "$T/s" | head -n 1 | grep -c 'largest part')" 0
equal '... and all the time' "$(nsysx-idle -q --tsv --by host --lines=sum --cause host "$T/s" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { s += $c["ns"] } END { printf "%.0f", s }')" "$(awk -F'\t' '$2 == "idle:host" { print $3 }' "$T/got")"
rm -rf "$T/few"
make_job few --late-host 4 --seed 6
nsysx-extract -q -a "$T/few/r0.sqlite" -o "$T/few/s"
nsysx-idle -q --tsv --by host --lines "$T/few/s" | awk -F'\t' 'NR > 1 && $11 >= 5' >"$T/enough"
equal 'with few gaps no line has 5 samples' "$(wc -l <"$T/enough" | tr -d ' ')" 0
equal '... and the diagnosis names none' "$n $(nsysx-diagnose -q --tsv "$T/few/s" | grep -c 'the host there: .*(train.py:[0-9]*)')" '2 0'
equal '... so annotating it is advised' "$(nsysx-diagnose -q --tsv "$T/few/s" | awk -F'\t' '$2 == "idle:host" { print ($8 ~ /annotate/), ($6 ~ /--list/) }')" '1 1'
equal '... but what the host did' "$(nsysx-diagnose -q --tsv "$T/few/s" | awk '/the host there: / { n++ } END { print (n > 0) }')" 1

fails '--lines goes with --by host' 2 '--lines goes with --by host' nsysx-idle --lines "$T/s"
fails '--by host prints a table' 2 'go with --mark' nsysx-idle --by host -b "$T/s"
fails '... with launches that take some time' 2 'want 0 or more' nsysx-idle --by host --latency=-1 "$T/s"
fails 'what --by can be names it' 2 'every:TIME, host, node, rack, partition, group, axis or block:N; did you mean host?' nsysx-idle --by hosts "$T/s"
fails '--while goes with --by host' 2 '--while goes with --by host' nsysx-fold --while idle "$T/s"
fails 'a cause in which the host had launched' 2 'want a launch-starved cause' nsysx-idle --by host --cause latency,unresolved "$T/s"
fails '... of stacks' 2 'want a launch-starved cause' nsysx-fold --by host --while idle:issued "$T/s"
fails 'no such cause' 2 '--while idle:rang: rang is no cause; range?' nsysx-fold --by host --while idle:rang "$T/s"
done_testing
