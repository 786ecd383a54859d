# growth.sh -- time and memory for each event of inputs of 1, 4 and 16 times a size: linear costs are constant per event.

# growth_of TOOL INPUT-WORD EVENTS-COMMAND COMMAND: commands that read @, an input that is 1, 4 and 16 times as large.
growth_of() {
	tool=$1 kind=$2 command=$3
	set --
	for times in 1 4 16; do
		set -- "$@" "${times}x" "$(printf '%s' "$command" | sed "s,@,$work/grow-$kind-$times,g; s,nsysx-,$bin/nsysx-,g")"
	done
	turns "$@"
	while IFS=$tab read -r name numbers; do
		printf '%s\n' "$numbers" | awk -F'\t' -v n="$(cat "$work/grow-$kind-${name%x}.events")" -v head="$tool$tab$name" \
			-v first="$(cat "$work/grow-$kind-1.events")" '{ each = $1 / n * 1e9; cpu = $3 / n * 1e9
				printf "%s\t%s\t%d\t%.2f\t%.2f\t%.4f\t%.1f\n", head, $0, n, each, cpu, $7 / (n / first), $4 * 1024 / n }'
	done <"$rows" >>"$work/growth.tsv"
}

before=$OLD OLD=   # its rows are counted by size
row growth command size "$cost" events wall_per_event_ns cpu_per_event_ns cpu_per_event_ratio peak_bytes_per_event

for times in 1 4 16; do
	# Extraction's events are rows; a filter's are records.
	scale $((RANGES * times / 16))
	ln -sf "scale-$((RANGES * times / 16))/r0.sqlite" "$work/grow-export-$times"
	"$tools/floor" "$export" | awk -F'\t' '{ n += $2 } END { print n }' >"$work/grow-export-$times.events"
	"$bin/nsysx-extract" -q -b --ranges --ops "$export" -o "$work/grow-ranges-$times"
	records "$work/grow-ranges-$times" >"$work/grow-ranges-$times.events"
	job $((STEPS * times / 16 > 2 ? STEPS * times / 16 : 2))
	ln -sf "${dir##*/}" "$work/grow-job-$times"
	# shellcheck disable=SC2086
	set -- $exports
	{ "$tools/floor" "$1"; "$tools/floor" "$2"; } | awk -F'\t' '{ n += $2 } END { print n }' >"$work/grow-job-$times.events"
	"$bin/nsysx-extract" -q -b $inputs -o "$work/grow-xla-$times"
	records "$work/grow-xla-$times" >"$work/grow-xla-$times.events"
	"$bin/nsysx-align" -q -b "$work/grow-xla-$times" | "$bin/nsysx-warmup" -q -b | "$bin/nsysx-overlap" -q -b -o "$work/grow-steady-$times"
	records "$work/grow-steady-$times" >"$work/grow-steady-$times.events"
done
growth_of floor export "$tools/floor @"
growth_of 'extract --ranges' export 'nsysx-extract -q -b --ranges @'
growth_of 'extract -x' job 'nsysx-extract -q -b -x @/dump0 @/r0.sqlite -x @/dump1 @/r1.sqlite'
for filter in view align warmup overlap collectives; do
	growth_of $filter xla "nsysx-$filter -q -b @"
done
growth_of stragglers steady 'nsysx-stragglers -q @'
growth_of fold steady 'nsysx-fold -q @'
growth_of summary steady 'nsysx-summary -q @'
growth_of 'summary --by kernel' ranges 'nsysx-summary -q --by kernel @'
growth_of 'summary --by range' ranges 'nsysx-summary -q --by range @'
growth_of 'fold --by nvtx' ranges 'nsysx-fold -q --by nvtx @'
rm -f "$work"/grow-*
OLD=$before

about 'Growth: rows read (floor, extract) or records read (filters, binary) 1, 4 and 16 times; ratios of time are to 1x,' \
	"'cpu per event ratio' has the same number of events on both sides: 1 is linear, less is what starting costs."
awk -v hide='cpu_ratio wall_ratio' -f tests/bench/table.awk "$work/growth.tsv"
