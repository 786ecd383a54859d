#!/bin/sh
# Tables of device time with thousands of concurrent items: quadratic time would take minutes, or all memory. And times out of range.
. "${0%/*}/../testlib.sh"

make() { python3 crowds/make.py "$@" >"$T/$1" || exit 1; }
# Within a minute, a hundred times the time on an idle machine, and with 320 MB: 100,000 devices take 240. quick CLAIM COMMAND...
quick() {
	claim=$1
	shift
	case $B in
	*san*) ok "$claim" timeout 300 "$@" ;;
	*) ok "$claim" timeout 60 "$@" --max-memory=320M ;;
	esac
}

make ranges 20000
quick 'ranges of a thread that do not nest: idle' nsysx-idle -o "$T/out" "$T/ranges"
quick 'ranges of a thread that do not nest: verdicts' nsysx-idle --verdict -o "$T/out" "$T/ranges"
quick 'ranges of a thread that do not nest: stacks' nsysx-idle --folded -o "$T/out" "$T/ranges"
nsysx-idle --verdict "$T/ranges" 2>"$T/err" >"$T/out"
equal 'ignored ranges are counted' "$(grep -c 'nested thousands deep in others of their thread: causes ignore them (15904)' "$T/err") $(grep -c 'stacks of the latter keep naming them' "$T/err")" '1 1'
make ranges 4000
nsysx-idle --tsv "$T/ranges" 2>"$T/err" | awk -F'\t' 'NR > 1 { print $4 }' | sort | tr '\n' ' ' >"$T/got"
equal 'fewer ranges are all used' "$(cat "$T/got")$(grep -c thousands "$T/err")" ' latency launch range 0'
make coming 200000
quick 'ranges that wait for their host start' nsysx-idle --verdict -o "$T/out" "$T/coming"
make devices 100000
quick 'devices' nsysx-idle --tsv -o "$T/out" "$T/devices"
make devices 180000
ok 'windows of devices' timeout 60 nsysx-idle --steps --tsv -o "$T/out" "$T/devices"
make threads 10000
quick 'threads and devices' nsysx-idle --tsv -o "$T/out" "$T/threads"
make kernels 200000
quick 'kernels of one call' nsysx-launch -o "$T/out" "$T/kernels"
equal 'each kernel has the count and time of its call' "$(awk -F'\t' 'NR > 1 { calls += $3; api += $5 } END { print NR - 1, calls, api }' "$T/out")" '200000 200000 600000'
make modules 200000
quick 'executions within one that lasts' nsysx-idle --by module -o "$T/out" "$T/modules"
make samples 400000
quick 'many kernels within a sample' nsysx-summary --metrics --tsv -o "$T/out" "$T/samples"
equal 'none runs for half of it: each name has a row without samples' "$(awk -F'\t' 'NR > 1 && $3 == 0 { n++ } END { print NR - 1, n }' "$T/out")" '40 40'
make classes 50000
quick 'classes of steps' nsysx-steps --step '(.*)' -o "$T/out" "$T/classes"
equal 'each class has its step' "$(awk -F'\t' 'NR > 1 { steps += $3 } END { print NR - 1, steps }' "$T/out")" '50000 50000'

make copies 200000
quick 'concurrent copies' nsysx-copies -o "$T/out" "$T/copies"
equal 'each copy is hidden by each kernel' "$(awk -F'\t' 'NR == 2 { printf "%d %.9f", $5, $9 }' "$T/out")" "$(python3 -c 'n = 200000; print(n, "%.9f" % (3 * sum(min(n - i, n * 10) for i in range(n)) / (n * 100 * n)))')"

make threads 10000
quick 'diagnose' nsysx-diagnose --min 0 -o "$T/out" "$T/threads"
make kernels 200000
quick 'kernels without steps' nsysx-diagnose --min 0 -o "$T/out" "$T/kernels"

# With an edge from each member to each other one, these are 40 million.
make meetings 1024
quick 'collectives of a thousand devices: forecasts' nsysx-whatif -q --step '^r' -o "$T/out" "$T/meetings"
equal 'nobody waits where the host is late' "$(nsysx-whatif -q --step '^r' --what nowait "$T/meetings" | awk 'END { print $2, $3, $4 }')" '2048 50000 50000'
quick 'collectives of a thousand devices: slack' nsysx-whatif -q --step '^r' --slack -o "$T/out" "$T/meetings"
equal 'each device has its steps' "$(sed 1d "$T/out" | wc -l | tr -d ' ')" 2048

make beyond 1
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/none"
while read -r input tool; do
	# A stream without records.
	# shellcheck disable=SC2086
	[ $input = beyond ] || { ok "an empty stream: $tool" nsysx-$tool -q "$T/none"; continue; }
	# shellcheck disable=SC2086
	nsysx-$tool "$T/beyond" >"$T/out" 2>"$T/err"
	equal "times out of range are counted: $tool" "$? $(grep -c 'times beyond 73 years: ignored (4)' "$T/err")" '0 1'
done <<END
$(listed crowds)
END
equal 'times out of range count nowhere: launch' "$(nsysx-launch -q "$T/beyond" | awk -F'\t' 'NR == 2 { print $2, $3, $7 }')" '2 2 6'
equal 'times out of range count nowhere: idle' "$(nsysx-idle -q --tsv "$T/beyond" | awk -F'\t' 'NR > 1 { sum += $5 } END { print sum }')" 103
make sums 3
equal 'a sum that fits 64 bits' "$(nsysx-launch -q "$T/sums" | awk -F'\t' 'NR == 2 { print $7 }')" 6917529027641081856
make sums 4
fails 'a sum beyond 64 bits: launch' 1 'the sum of times exceeds 64 bits' nsysx-launch -q "$T/sums"
fails 'a sum beyond 64 bits: copies' 1 'exceeds 64 bits' nsysx-copies -q "$T/sums"

# An export of many devices, which have no names.
if [ -x "$SYNTH" ] && command -v sqlite3 >/dev/null 2>&1; then
	"$SYNTH" -o "$T/job" --torch --processes 1 --steps 2
	sqlite3 "$T/job/r0.sqlite" "CREATE TABLE many AS SELECT k.*, n.i AS n FROM (SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1) AS k,
		(WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 60000) SELECT i FROM c) AS n;
		UPDATE many SET deviceId = n, start = start + n * 1000, end = end + n * 1000;
		ALTER TABLE many DROP COLUMN n; INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM many; DROP TABLE many"
	ok 'devices of an export' timeout 30 nsysx-extract -q -b -o "$T/out" "$T/job/r0.sqlite"
	equal 'each has a record' "$(nsysx-view -t device "$T/out" | sed 1d | wc -l | tr -d ' ')" 60001
else
	skip 'devices of an export' 'no generator or no sqlite3 here'
fi
done_testing
