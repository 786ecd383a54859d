# codec.sh -- the encodings alone, in memory.
about 'Encoding and decoding records in memory:'
if [ -x "$tools/codec" ]; then
	{ printf 'codec\trecords\tread_bytes\twall_s\trecords_per_s\tmb_per_s\n'; "$tools/codec" "$RANGES" | grep -v '^codec'; } >"$work/codec.tsv"
	show codec
else
	echo "not built: $tools/codec"
fi
