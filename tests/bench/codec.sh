# codec.sh -- the encodings in memory, measured by a separate program.
row codec codec records encoded_bytes cpu_s records_per_s mb_per_s
# It keeps them in memory; more records do not change the rates.
n=$((RANGES < 400000 ? RANGES : 400000))
[ ! -x "$tools/codec" ] || "$tools/codec" "$n" >"$work/codec.rows"
# A header would be the second one.
[ ! -x "$tools/codec" ] || awk '$1 != "codec"' "$work/codec.rows" >>"$work/codec.tsv"

about 'Encoding and decoding records in memory:'
show codec
