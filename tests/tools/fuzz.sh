#!/bin/sh
# Replay of fuzzing corpora: every target has a corpus, and an empty one fails.
. "${0%/*}/../testlib.sh"

mkdir "$T/empty" "$T/one"
printf 1 >"$T/one/file"

# The status and the last line of a replay of folders.
replay() {
	run "$B/tests/fuzz/num-replay" "$@"
	echo "$status $(tail -n 1 "$T_private/out") $(grep -c '^not ok' "$T_private/out")"
}
equal 'a file is one claim' "$(replay "$T/one")" '0 1..1 0'
equal 'an empty corpus fails' "$(replay "$T/empty")" '1 1..1 1'
equal 'a corpus that is not there fails' "$(replay "$T/none")" '1 1..1 1'
equal 'no corpus at all fails' "$(replay)" '1 1..1 1'
equal 'a file that cannot be read fails' "$(ln -s nowhere "$T/one/link" && replay "$T/one")" '1 1..2 1'

for target in "$tests_dir/fuzz"/*.c; do
	target=$(basename "$target" .c)
	[ "$target" = replay ] || ok "$target has a corpus" test -n "$(ls "$tests_dir/fuzz/corpus/$target")"
done
done_testing
