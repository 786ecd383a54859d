#!/bin/sh
# An output that is an input is refused by every tool, by its name, through a link and from standard input: it would be lost.
. "${0%/*}/../testlib.sh"

[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'
"$SYNTH" -q -o "$T/job"
cp "$T/job/r0.sqlite" "$T/r.sqlite"
nsysx-extract -q -a -x "$T/job/dump0" -o "$T/s" "$T/r.sqlite"
nsysx-fold -q "$T/s" >"$T/folded"
ln -s s "$T/link"
ln "$T/s" "$T/hard"
sum() { cksum <"$1"; }

stream=$(sum "$T/s") export=$(sum "$T/r.sqlite") folded=$(sum "$T/folded")
for out in r.sqlite export.link; do
	ln -sf r.sqlite "$T/export.link"
	fails "nsysx-extract -o $out" 1 'is an input, too' nsysx-extract -q -a -o "$T/$out" "$T/r.sqlite"
done
equal '... leaves the export as it was' "$(sum "$T/r.sqlite")" "$export"
"$SYNTH" -q -o "$T/other"
fails 'nsysx-extract -o the second of two exports' 1 'is an input, too' nsysx-extract -q -o "$T/other/r1.sqlite" "$T/r.sqlite" "$T/other/r1.sqlite"
dump=$(find "$T/job/dump0" -name '*after_optimizations.hlo.pb*' | head -n 1)
if [ "$dump" ]; then
	fails 'nsysx-extract -o a file of the dump' 1 'is an input, too' nsysx-extract -q -x "$T/job/dump0" -o "$dump" "$T/r.sqlite"
fi
for tool in align collectives compile copies diagnose fold idle launch 'measure --module jit_train_step' overlap perfetto roofline steps stragglers summary 'view' warmup whatif 'steps --cut' 'compare'; do
	case $tool in
	view) continue ;;   # it has no -o
	compare) more=$T/s ;;
	*) more= ;;
	esac
	for out in s link hard; do
		# shellcheck disable=SC2086
		fails "nsysx-$tool -o $out" 1 'is an input, too' nsysx-$tool -q -o "$T/$out" "$T/s" $more
	done
	# shellcheck disable=SC2086
	run sh -c 'tool=$1 out=$2; shift 2; exec nsysx-$tool -q -o "$out" <"$out"' sh "$tool" "$T/s"
	[ "$tool" = compare ] || equal "nsysx-$tool -o of its standard input" "$status $(grep -c 'is an input, too' "$T_private/err")" '1 1'
done
fails 'nsysx-merge -o an input' 1 'is an input, too' nsysx-merge -q --force -o "$T/s" "$T/s" "$T/hard"
nsysx-align -q --estimate -o "$T/clocks" "$T/s"
fails 'nsysx-align -o the clocks that it applies' 1 'is an input, too' nsysx-align -q -o "$T/clocks" --apply "$T/clocks" "$T/s"
if [ "$dump" ]; then
	fails 'nsysx-heap -o its dump' 1 'is an input, too' nsysx-heap -q -o "$dump" "$dump"
fi
fails 'nsysx-flame -o its input' 1 'is an input, too' nsysx-flame -q -o "$T/folded" "$T/folded"
equal 'no stream was changed' "$(sum "$T/s") $(sum "$T/folded")" "$stream $folded"
equal 'nothing is left behind' "$(find "$T" -maxdepth 1 -name '.*' -type f -o -maxdepth 1 -name '*.tmp*' | wc -l)" 0
ok 'an output of another name is written' nsysx-warmup -q -o "$T/new" "$T/s"
ok '... and again over itself' nsysx-warmup -q -o "$T/new" "$T/s"
done_testing
