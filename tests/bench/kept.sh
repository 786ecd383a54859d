# kept.sh -- questions about a stored stream, compared with reading its bytes: records that a tool does not need cost little.
kept_of() {
	file=$work/kept.$1
	n=$(records "$file")
	size=$(bytes "$file")
	turns cat "cat $file" 'summary --by kernel' "$bin/nsysx-summary -q --by kernel $file" 'summary --by range' "$bin/nsysx-summary -q --by range $file" \
		copies "$bin/nsysx-copies -q $file" launch "$bin/nsysx-launch -q $file" measure "$bin/nsysx-measure -q --range 'ProfilerStep#0' $file" \
		steps "$bin/nsysx-steps -q --step 'ProfilerStep#' $file" view "$bin/nsysx-view -q -b $file"
	while IFS=$tab read -r name numbers; do
		row kept "$1" "$name" "$numbers" "$n" "$size"
	done <"$rows"
	rm -f "$file"
}

row kept form question "$cost" records read_bytes
scale "$RANGES"
"$bin/nsysx-extract" -q -a -b "$export" -o "$work/kept.binary"
"$bin/nsysx-view" -q -bz -o "$work/kept.zstd" "$work/kept.binary"
kept_of binary
kept_of zstd

about "Questions to a kept stream of all that nsysx-extract -a finds in an export of $RANGES NVTX ranges; ratios are to cat of it."
show kept
