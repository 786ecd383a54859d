# filters.sh -- each filter over one stream, in text and in binary, beside cat of that stream. Rates are by CPU time: a filter has
# one thread, and what it waits for is not its own.

# filters_of STREAM FORM: the commands of tests/tools.list for a stream, which read $work/STREAM.FORM.
filters_of() {
	stream=$1 form=$2 file=$work/$1.$2
	n=$(records "$file")
	size=$(bytes "$file")
	# @ becomes the file, + the options that write its form.
	plus=
	[ "$form" = text ] || plus=-b
	set --
	while IFS=$tab read -r name command; do
		set -- "$@" "$name" "$bin/nsysx-$(printf '%s' "$command" | sed "s,@,$file,g; s,+,$plus,g; s,\\\$work,$work,g; s,\\\$form,$form,g")"
	done <<END
$(sed -n "s/^bench	$stream //p" tests/tools.list)
END
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

	for stream in job steady ranges host; do filters_of $stream $form; done
	rm -rf "$work/job.$form" "$work/r0.$form" "$work/r1.$form" "$work/steady.$form" "$work/ranges.$form" "$work/host.$form" "$work/pgle"
done

about 'Filters over a stream, written as it was read; ratios are to cat of the same file.' \
	"'job': an XLA job as extracted. 'steady': aligned, without warm-up, overlapped. 'ranges': NVTX ranges and GPU operations;" \
	"'host': these with CUDA calls, and ranges without GPU work."
show filters
