# sources.sh -- nsysx-extract of traces of PyTorch's profiler and of XSpaces, beside the floors: reading the bytes,
# decompressing them, and for JSON what Python's json needs to load them. Twice as many steps show how memory grows.

# source_of NAME FILE EVENTS FLOORS...: a row a floor and a row a form of the command; FLOORS are names and commands.
source_of() {
	name=$1 file=$2 events=$3
	shift 3
	with="$bin/nsysx-extract -q -a $file -o /dev/null"
	turns "$@" binary "$with -b" 'binary -j1' "$with -b -j1"
	while IFS=$tab read -r form numbers; do
		case $form in binary*) n=$events ;; *) n= ;; esac
		row sources "$name" "$form" "$numbers" "$text" "$n"
	done <"$rows"
}
# traces STEPS: a PyTorch job, as JSON and in gzip.
traces() {
	generate "$work/kineto-$1" --torch --processes 1 --layers 24 --kineto --steps "$1"
	trace=$work/kineto-$1/r0.pt.trace.json
	[ -e "$trace.gz" ] || gzip -nkc "$trace" >"$trace.gz"
	text=$(bytes "$trace") n=$(grep -c '"ph"' "$trace")
	if command -v python3 >/dev/null 2>&1; then
		source_of "trace, $1 steps" "$trace" "$n" cat "cat $trace" "python's json" "python3 -c 'import json,sys; json.load(open(sys.argv[1]))' $trace"
	else
		source_of "trace, $1 steps" "$trace" "$n" cat "cat $trace"
	fi
	source_of "trace in gzip, $1 steps" "$trace.gz" "$n" 'gzip -dc' "gzip -dc $trace.gz"
	export=$work/kineto-$1/r0.sqlite
	source_of "the export of the trace, $1 steps" "$export" "$n" cat "cat $export"
}
# spaces STEPS: a JAX job.
spaces() {
	generate "$work/xspace-$1" --processes 1 --devices 2 --layers 12 --no-warmup --xspace --steps "$1"
	space=$work/xspace-$1/r0.xplane.pb
	$bin/nsysx-extract -q -a "$space" -o "$work/out.nsysx"
	text=$(bytes "$space") n=$("$bin/nsysx-view" -q --text "$work/out.nsysx" | grep -cE '^(op|call)	')
	rm -f "$work/out.nsysx"
	source_of "XSpace, $1 steps" "$space" "$n" cat "cat $space"
	export=$work/xspace-$1/r0.sqlite
	source_of "the export of the XSpace, $1 steps" "$export" "$n" cat "cat $export"
}

row sources profile command "$cost" text_bytes events
for steps in $STEPS $((2 * STEPS)); do
	traces "$steps"
done
for steps in $STEPS $((2 * STEPS)); do
	spaces "$steps"
done
# By what a second of processor time reads.
awk -F'\t' -v OFS='\t' '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print $0, "text_mb_per_cpu_s", "events_per_cpu_s"; next }
	{ cpu = $at["cpu_s"]; print $0, rate($at["text_bytes"] / 1e6, cpu), rate($at["events"], cpu) }
	function rate(n, seconds) { return n + 0 && seconds + 0 ? sprintf("%.0f", n / seconds) : "" }' "$work/sources.tsv" >"$work/sources.part"
mv "$work/sources.part" "$work/sources.tsv"

about 'nsysx-extract -a of other profilers'"'"' files beside the floors: reading the bytes, decompressing them, loading them as JSON; ratios are to the first.' \
	'MB are those of the text (of gzip: unpacked), a second of processor time; the whole command, up to the written stream. Events are those of the file' \
	'(XSpace: operations and calls). The exports are of the same jobs. Memory grows with the events, not with the file.'
show sources
