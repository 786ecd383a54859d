# filters.sh -- each filter over one stream, in text and in binary, beside cat of that stream. Rates are by CPU time: a filter has
# one thread, and what it waits for is not its own.

# filters_of STREAM FORM [NAME COMMAND]...: commands that read $work/STREAM.FORM, @ in them.
filters_of() {
	stream=$1 form=$2 file=$work/$1.$2
	shift 2
	n=$(records "$file")
	size=$(bytes "$file")
	# @ becomes the file, + the options that write its form.
	plus=
	[ "$form" = text ] || plus=-b
	count=$#
	while [ "$count" -gt 0 ]; do
		set -- "$@" "$1" "$(printf '%s' "$2" | sed "s,@,$file,g; s,+,$plus,g; s,nsysx-,$bin/nsysx-,g")"
		shift 2
		count=$((count - 2))
	done
	turns cat "cat $file" "$@"
	while IFS=$tab read -r name numbers; do
		printf '%s\n' "$numbers" | awk -F'\t' -v n="$n" -v size="$size" -v head="$stream$tab$form$tab$name" \
			'{ printf "%s\t%s\t%d\t%.1f\t%.0f\t%.1f\n", head, $0, n, size / n, n / $3, size / $3 / 1e6 }'
	done <"$rows" >>"$work/filters.tsv"
}

row filters stream form filter "$cost" records bytes_per_record records_per_cpu_s mb_per_cpu_s

# Inputs of filters: the job as extracted, aligned, without warm-up and with hidden times; PyTorch's ranges, operations and calls.
job "$STEPS"
set -- $exports
for form in text binary; do
	[ $form = text ] && o=--text || o=-b
	"$bin/nsysx-extract" -q $o $inputs -o "$work/job.$form"
	"$bin/nsysx-extract" -q $o -x "$dir/dump0" "$1" -o "$work/r0.$form"
	"$bin/nsysx-extract" -q $o -x "$dir/dump1" "$2" -o "$work/r1.$form"
	"$bin/nsysx-align" -q "$work/job.$form" | "$bin/nsysx-warmup" -q | "$bin/nsysx-overlap" -q $o -o "$work/steady.$form"
	scale "$RANGES"
	"$bin/nsysx-extract" -q --ranges --ops $o "$export" -o "$work/ranges.$form"
	"$bin/nsysx-extract" -q -a $o "$export" -o "$work/host.$form"
	mkdir -p "$work/pgle"

	filters_of job $form view 'nsysx-view -q + @' 'view to text' 'nsysx-view -q --text @' 'view to binary' 'nsysx-view -q -b @' \
		'view to binary -z' 'nsysx-view -q -bz @' 'view -k module' 'nsysx-view -q -k module + @' \
		align 'nsysx-align -q + @' warmup 'nsysx-warmup -q + @' overlap 'nsysx-overlap -q + @' \
		collectives 'nsysx-collectives -q + @' merge "nsysx-merge -q + $work/r0.$form $work/r1.$form" \
		compile 'nsysx-compile -q @' pgle "nsysx-pgle -q -d $work/pgle @"
	filters_of steady $form fold 'nsysx-fold -q @' 'fold --by opcode' 'nsysx-fold -q --by opcode @' \
		summary 'nsysx-summary -q @' 'summary --by thunk' 'nsysx-summary -q --by thunk @' \
		roofline 'nsysx-roofline -q @' 'roofline --by program' 'nsysx-roofline -q --by program @' \
		'collectives --summary' 'nsysx-collectives -q --summary @' stragglers 'nsysx-stragglers -q @'
	filters_of ranges $form view 'nsysx-view -q + @' measure "nsysx-measure -q --range 'ProfilerStep#0' @" \
		'summary --by range' 'nsysx-summary -q --by range @' 'summary --by kernel' 'nsysx-summary -q --by kernel @' \
		'fold --by nvtx' 'nsysx-fold -q --by nvtx @'
	filters_of host $form idle 'nsysx-idle -q @' 'idle --verdict' 'nsysx-idle -q --verdict @' 'idle --folded' 'nsysx-idle -q --folded @' \
		'idle --by step' "nsysx-idle -q --by step --step 'ProfilerStep#' @" launch 'nsysx-launch -q @' \
		'launch --by range' 'nsysx-launch -q --by range @' copies 'nsysx-copies -q @' steps "nsysx-steps -q --step 'ProfilerStep#' @" \
		'steps, looked for' 'nsysx-steps -q @' diagnose 'nsysx-diagnose -q @'
	rm -rf "$work/job.$form" "$work/r0.$form" "$work/r1.$form" "$work/steady.$form" "$work/ranges.$form" "$work/host.$form" "$work/pgle"
done

about 'Filters over a stream, written as it was read; ratios are to cat of the same file.' \
	"'job': an XLA job as extracted. 'steady': aligned, without warm-up, overlapped. 'ranges': NVTX ranges and GPU operations;" \
	"'host': these with CUDA calls, and ranges without GPU work."
show filters
