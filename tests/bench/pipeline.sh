# pipeline.sh -- from exports to a flame graph's input, beside extraction alone and beside the floor.
pipe() { printf '%s' "$bin/nsysx-extract -q $inputs | $bin/nsysx-align -q | $bin/nsysx-warmup -q | $bin/nsysx-overlap -q | $bin/nsysx-fold -q"; }

job "$STEPS"
set -- $exports
turns floor "$tools/floor $1 && $tools/floor $2" \
	extract "$bin/nsysx-extract -q $inputs" 'extract -b' "$bin/nsysx-extract -q -b $inputs" \
	'pipeline, text' "$(pipe)" 'pipeline, binary' "NSYSX_FORMAT=binary; export NSYSX_FORMAT; $(pipe)"
row pipeline command "$cost"
cat "$rows" >>"$work/pipeline.tsv"

about 'extract | align | warmup | overlap | fold of an XLA job of two processes; ratios are to the floor of both exports.' \
	'CPU is of all processes together, memory of the largest.'
show pipeline
