# codec.sh -- the encodings alone, in memory; a program of its own measures them.
row codec codec records encoded_bytes cpu_s records_per_s mb_per_s
# It holds them in memory; more of them tell nothing new.
n=$((RANGES < 400000 ? RANGES : 400000))
[ ! -x "$tools/codec" ] || "$tools/codec" "$n" >"$work/codec.rows"
# A header of its own would be a second one.
[ ! -x "$tools/codec" ] || awk '$1 != "codec"' "$work/codec.rows" >>"$work/codec.tsv"

about 'Encoding and decoding records in memory:'
show codec
