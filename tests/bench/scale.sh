# scale.sh -- CPU time and memory of each tool by the number of devices, and the exponent with which they grow: 1 is linear.
#
# Jobs of 64, 256 and 1,024 processes with a GPU each are generated; larger ones are the streams of 1,024 with copies of their reports
# and devices (widen.c). Every device does the same work, so that records grow with devices.
: "${DEVICES:=64 256 1024}"
case ${SCALE:-small} in
large) : "${WIDE:=4096 10240}" ;;
*) : "${WIDE:=4096}" ;;
esac

# The last process is the slowest. Sets $dir, and $inputs, the arguments of nsysx-extract.
ranks() {
	generate "$work/ranks-$1" --processes "$1" --steps 5 --layers 4 --offset 1000000 --jitter 500 --slow-device "$(($1 - 1)):10"
	dir=$work/ranks-$1
	inputs=$(awk -v n="$1" -v dir="$dir" 'BEGIN { for (i = 0; i < n; i++) printf " -x %s/dump%d %s/r%d.sqlite", dir, i, dir, i }')
}

# measure DEVICES [NAME COMMAND]...: each once, after one to warm up.
measure() {
	n=$1
	shift
	"$tools/turns" 1 "$@" >"$work/turns.rows"
	while IFS=$tab read -r name _ _ cpu peak _; do
		row scale "$name" "$n" "$cpu" "$peak"
	done <"$work/turns.rows"
}

# The streams in $dir/streams, merged as in a tree: in groups of 64, one merge each, of which $dir/groups lists the results.
of_groups() { echo "for list in $dir/group.????; do $bin/nsysx-merge -q -b -z -o \$list.nsysx --files-from \$list || exit; done"; }

# The filters, one after the other, and tables and pictures of what they make.
filters_and_tables() {
	at=$work/scale-job
	set -- "$1" \
		'align --estimate' "$bin/nsysx-align -q -e -b -o $at.clocks $at.nsysx" \
		'align --sample' "$bin/nsysx-align -q --sample -b -o $at.sample $at.nsysx" \
		align "$bin/nsysx-align -q -b -z -o $at.aligned $at.nsysx" \
		warmup "$bin/nsysx-warmup -q -b -z -o $at.steady $at.aligned" \
		overlap "$bin/nsysx-overlap -q -b -z -o $at.hidden $at.steady" \
		collectives "$bin/nsysx-collectives -q -b -z -o $at.waits $at.hidden" \
		'steps --mark' "$bin/nsysx-steps -q --mark -b -z -o $at.steps $at.waits" \
		'idle --mark' "$bin/nsysx-idle -q --mark -b -z -o $at.marked $at.steps"
	measure "$@"
	n=$1
	set --
	for command in 'view -b' 'view -t thunk' summary 'summary --by device' 'summary --by thunk' 'summary --by kernel' 'summary --by range' \
		'collectives --summary' 'collectives --instances' stragglers 'stragglers --waits' steps 'steps --each' 'steps --explain' idle 'idle --steps' \
		'idle --by step' diagnose 'diagnose --where' copies launch roofline fold perfetto whatif; do
		set -- "$@" "$command" "$bin/nsysx-$command -q $at.marked"
	done
	measure "$n" "$@"
	rm -f "$at".*
}

row scale command devices cpu_s peak_kib
for n in $DEVICES; do
	ranks "$n"
	mkdir -p "$dir/streams"
	i=0
	while [ "$i" -lt "$n" ]; do
		[ -e "$dir/streams/$i" ] || "$bin/nsysx-extract" -q -a -b -z -x "$dir/dump$i" -o "$dir/streams/$i" "$dir/r$i.sqlite"
		i=$((i + 1))
	done
	rm -f "$dir"/group.*
	find "$dir/streams" -type f >"$dir/list" && split -a 4 -d -l 64 "$dir/list" "$dir/group."
	find "$dir" -name 'group.*' | sed 's/$/.nsysx/' >"$dir/groups"
	measure "$n" extract "$bin/nsysx-extract -q -a -b -z -o $work/scale-job.nsysx$inputs" \
		merge "$bin/nsysx-merge -q -b -z -o $work/scale-job.merged --files-from $dir/list" \
		'merge, groups of 64' "$(of_groups)" \
		'merge, the groups' "$bin/nsysx-merge -q -b -z -o $work/scale-job.merged --files-from $dir/groups"
	cp "$work/scale-job.nsysx" "$work/ranks-last.nsysx"
	filters_and_tables "$n"
	last=$n
done
for n in $WIDE; do
	"$tools/widen" $((n / last)) <"$work/ranks-last.nsysx" >"$work/scale-job.nsysx"
	filters_and_tables "$n"
done

awk -f tests/bench/scale.awk "$work/scale.tsv" >"$work/scale-table.tsv"
about "CPU time and peak memory of each tool by devices, each of about 1,870 records, extracted with -a; exponents are slopes from 256 devices on" \
	'(1 is linear), of CPU times above 20 ms. Above 1,024 devices are copies. Inputs are binary, compressed where a filter wrote them.'
show scale-table
