#!/bin/sh
# The test harness: false claims fail, and the runner counts files and claims.
. "${0%/*}/../testlib.sh"

# A separate tree of tests, with these files.
mkdir -p "$T/tests/tools" "$T/build/bin" "$T/build/tests/unit"
cp "$tests_dir/run.sh" "$tests_dir/testlib.sh" "$T/tests"
cat >"$T/build/bin/nsysx-toy" <<'TOY'
#!/bin/sh
case $1 in
say) echo "$2" ;;
warn) echo "$2"; echo "nsysx-toy: warning: $2" >&2 ;;
refuse) echo "nsysx-toy: $2: no" >&2; exit 1 ;;
half) echo "$2"; echo "nsysx-toy: $2: no" >&2; exit 1 ;;
mute) exit 1 ;;
crash) echo "nsysx-toy: $2: no" >&2; kill -SEGV $$ ;;
esac
TOY
chmod +x "$T/build/bin/nsysx-toy"

# Write the test file $1 from the lines on standard input.
file() {
	# shellcheck disable=SC2016  # expanded in the test file
	{ printf '. "${0%%/*}/../testlib.sh"\n'; cat; } >"$T/tests/tools/$1.sh"
}

# Run a test file of the lines on standard input: TAP in $T/tap, its status in $T/status.
try() {
	{ cat; echo done_testing; } | file it
	env -u T B="$T/build" UPDATE="${UPDATE_TOY-}" sh "$T/tests/tools/it.sh" >"$T/tap" 2>/dev/null
	echo $? >"$T/status"
}

# Claim that the one claim on standard input passes, or fails.
passes() {
	claim=$1
	try
	equal "$claim" "$(cat "$T/status"):$(grep -c '^ok' "$T/tap"):$(grep -c '^not ok' "$T/tap"):$(tail -n 1 "$T/tap")" 0:1:0:1..1
}
breaks() {
	claim=$1
	try
	equal "$claim" "$(cat "$T/status"):$(grep -c '^ok' "$T/tap"):$(grep -c '^not ok' "$T/tap"):$(tail -n 1 "$T/tap")" 1:0:1:1..1
}

echo yes >"$T/tests/tools/yes"
passes 'golden accepts the same bytes' <<'X'
golden c yes nsysx-toy say yes
X
breaks 'golden refuses other bytes' <<'X'
golden c yes nsysx-toy say no
X
breaks 'golden refuses a missing file' <<'X'
golden c none nsysx-toy say yes
X
breaks 'golden refuses unexpected standard error' <<'X'
golden c yes nsysx-toy warn yes
X
breaks 'golden refuses the right bytes with a wrong status' <<'X'
golden c yes nsysx-toy half yes
X
UPDATE_TOY=1
passes 'UPDATE=1 writes golden files' <<'X'
golden c warned nsysx-toy warn careful
X
UPDATE_TOY=
equal 'UPDATE=1: standard output in the file' "$(cat "$T/tests/tools/warned")" careful
equal 'UPDATE=1: standard error beside it' "$(cat "$T/tests/tools/warned.err")" 'nsysx-toy: warning: careful'
passes 'golden accepts the expected standard error' <<'X'
golden c warned nsysx-toy warn careful
X
breaks 'golden refuses a missing warning' <<'X'
golden c warned nsysx-toy say careful
X

passes 'fails accepts a refusal' <<'X'
fails c 1 'nsysx-toy: f.tsv: no' nsysx-toy refuse f.tsv
X
breaks 'fails refuses success' <<'X'
fails c 1 'nsysx-toy' nsysx-toy say f.tsv
X
breaks 'fails refuses another status' <<'X'
fails c 2 'nsysx-toy: f.tsv: no' nsysx-toy refuse f.tsv
X
breaks 'fails refuses another message' <<'X'
fails c 1 'nsysx-toy: g.tsv: no' nsysx-toy refuse f.tsv
X
breaks 'fails refuses no message' <<'X'
fails c 1 'nsysx-toy' nsysx-toy mute
X
breaks 'fails refuses an empty expected message' <<'X'
fails c 1 '' nsysx-toy refuse f.tsv
X
breaks 'fails refuses output before the failure' <<'X'
fails c 1 'nsysx-toy: f.tsv: no' nsysx-toy half f.tsv
X
breaks 'fails refuses a crash' <<'X'
fails c 1 'nsysx-toy: f.tsv: no' nsysx-toy crash f.tsv
X
breaks 'fails refuses a crash as the expected status' <<'X'
fails c 139 'nsysx-toy: f.tsv: no' nsysx-toy crash f.tsv
X
breaks 'fails refuses a missing command' <<'X'
fails c 1 'not found' nsysx-none
X

passes 'ok accepts status 0' <<'X'
ok c nsysx-toy warn yes
X
breaks 'ok refuses status 1' <<'X'
ok c nsysx-toy refuse yes
X
breaks 'ok refuses a crash' <<'X'
ok c nsysx-toy crash yes
X
passes 'says accepts a message' <<'X'
says c toy nsysx-toy warn yes
X
breaks 'says refuses another message' <<'X'
says c other nsysx-toy warn yes
X
breaks 'says refuses a failure' <<'X'
says c toy nsysx-toy refuse yes
X
passes 'same accepts equal files' <<'X'
same c yes yes
X
breaks 'same refuses different files' <<'X'
same c yes it.sh
X
breaks 'same refuses empty files' <<'X'
same c /dev/null /dev/null
X
breaks 'same refuses missing files' <<'X'
same c none none
X
passes 'equal accepts equal strings' <<'X'
equal c a a
X
breaks 'equal refuses different strings' <<'X'
equal c a b
X
passes 'alike accepts equal strings' <<'X'
alike c a a
X
breaks 'alike refuses different strings' <<'X'
alike c a ''
X
breaks 'alike refuses empty strings' <<'X'
alike c '' ''
X
passes 'a test has a directory' <<'X'
echo "$T" >"$B/where"; ok c test -d "$T"
X
ok 'the directory is removed' test ! -e "$(cat "$T/build/where")"

# The runner, on files that pass, fail, skip, die, lack a plan or some claims, and on a unit test.
rm -f "$T/tests/tools"/*.sh
file passing <<'X'
ok a true; ok b true; skip c 'no reason'; done_testing
X
file failing <<'X'
ok a true; equal b 1 2; done_testing
X
file dying <<'X'
ok a true; kill -KILL $$
X
file planless <<'X'
ok a true; exit 0
X
file few <<'X'
ok a true; echo 1..2; exit 0
X
file silent <<'X'
exit 0
X
file nonzero <<'X'
ok a true; echo 1..1; exit 3
X
file slow <<'X'
ok a true; sleep 20; done_testing
X
file absent <<'X'
skip_all 'not here'
X
mkdir "$T/tests/unit"
: >"$T/tests/unit/toy.c"
: >"$T/tests/unit/unbuilt.c"
printf '#!/bin/sh\necho ok 1 - a; echo ok 2 - b; echo 1..2\n' >"$T/build/tests/unit/toy"
chmod +x "$T/build/tests/unit/toy"

# The last line of the runner for these files.
sum() {
	env B="$T/build" T="$*" TEST_TIMEOUT=1 sh "$T/tests/run.sh" >"$T/said" 2>/dev/null
	echo "$? $(tail -n 1 "$T/said")"
}
equal 'passing and skipped claims' "$(sum passing)" '0 2 passed, 0 failed, 1 skipped'
equal 'a skipped claim is named' "$(grep -c 'skipped: c: no reason' "$T/said")" 1
equal 'a failing claim' "$(sum failing)" '1 1 passed, 1 failed, 0 skipped'
equal 'its claim is printed' "$(grep -c '^not ok 2 - b' "$T/said")" 1
equal 'a file that dies' "$(sum dying)" '1 1 passed, 1 failed, 0 skipped'
equal 'a file without a plan' "$(sum planless)" '1 1 passed, 1 failed, 0 skipped'
equal 'a file with fewer claims than planned' "$(sum few)" '1 1 passed, 1 failed, 0 skipped'
equal 'a file without claims' "$(sum silent)" '1 0 passed, 1 failed, 0 skipped'
equal 'a file that fails after its claims' "$(sum nonzero)" '1 1 passed, 1 failed, 0 skipped'
equal 'a file that takes too long' "$(sum slow)" '1 1 passed, 1 failed, 0 skipped'
equal 'a file that is skipped' "$(sum absent)" '0 0 passed, 0 failed, 1 skipped'
equal 'a unit test' "$(sum toy)" '0 2 passed, 0 failed, 0 skipped'
equal 'a unit test that was not built' "$(sum unbuilt)" '1 0 passed, 1 failed, 0 skipped'
equal 'several files' "$(sum passing failing unit/toy)" '1 5 passed, 1 failed, 1 skipped'
equal 'no file' "$(sum none)" '1 0 passed, 1 failed, 0 skipped'
echo overlap >"$T/tests/checks.list"
equal 'a reference check without its data is skipped' "$(sum overlap)" '0 0 passed, 0 failed, 1 skipped'
equal '... by name' "$(grep -c 'skipped: overlap: ' "$T/said")" 1

# .ci/run, with a make that prints the file named after its target and exits with the status in TARGET.status.
mkdir "$T/.ci" "$T/make"
cp "$tests_dir/../.ci/run" "$T/.ci/run"
cat >"$T/make/make" <<'X'
#!/bin/sh
cat "$T/make/$1"
exit "$(cat "$T/make/$1.status")"
X
chmod +x "$T/make/make"

# Status and last line of .ci/run if `make check` prints $1 and exits with $2, and `make check-slow` $3 and $4.
ci() {
	printf '%b' "$1" >"$T/make/check"
	echo "$2" >"$T/make/check.status"
	printf '%b' "$3" >"$T/make/check-slow"
	echo "$4" >"$T/make/check-slow.status"
	run env PATH="$T/make:$PATH" bash "$T/.ci/run"
	echo "$status $(tail -n 1 "$T_private/out")"
}
equal '.ci/run adds up' "$(ci 'x\n5 passed, 0 failed, 1 skipped\n' 0 '3 passed, 0 failed, 2 skipped\n' 0)" '0 8 passed, 0 failed, 3 skipped'
equal 'a failure of make check counts' "$(ci '5 passed, 2 failed, 1 skipped\nmake: Error 1\n' 2 '3 passed, 0 failed, 2 skipped\n' 0)" '1 8 passed, 2 failed, 3 skipped'
equal 'a failure of make check-slow counts' "$(ci '5 passed, 0 failed, 1 skipped\n' 0 '3 passed, 4 failed, 0 skipped\n' 2)" '1 8 passed, 4 failed, 1 skipped'
equal 'a build that fails is a failure' "$(ci 'cc: no\n' 2 '3 passed, 0 failed, 0 skipped\n' 0)" '1 3 passed, 1 failed, 0 skipped'
equal 'no output is a failure' "$(ci '' 0 '3 passed, 0 failed, 0 skipped\n' 0)" '1 3 passed, 1 failed, 0 skipped'
equal 'an unexplained status is a failure' "$(ci '5 passed, 0 failed, 0 skipped\n' 2 '3 passed, 0 failed, 0 skipped\n' 0)" '1 8 passed, 1 failed, 0 skipped'

# tests/tools.list has every tool. Those that print a table of a stream are tried in each form, and without records.
tried() {
	for test in "$@"; do
		listed "$test" | cut -f 2 | cut -d ' ' -f 1
	done | sort -u | grep -qx "$tool"
}
for tool in "$B"/bin/nsysx-*; do
	tool=${tool##*/nsysx-}
	case $tool in
	prepare | record | report | heap | compare) continue ;;   # scripts, and readers of other inputs
	esac
	equal "tools.list: faults of $tool" "$(tried faults && echo yes)" yes
	"nsysx-$tool" --help | grep -q -e --openmetrics || continue
	equal "tools.list: forms of $tool" "$(tried forms && echo yes)" yes
	equal "tools.list: $tool without records" "$(tried empty crowds && echo yes)" yes
done
done_testing
