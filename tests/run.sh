#!/bin/sh
# run.sh -- run the tests of the build in $B and count them; the last line is `N passed, M failed, K skipped`.
#
# A test file is a unit test (tests/unit/NAME.c, built), a test of tools (tests/tools/NAME.sh), the replay of a fuzz
# target's corpus (tests/fuzz/NAME.c, built), or a check named in tests/checks.list where the reference data are.
# SLOW=1 runs those of tests/slow (tests/slow/NAME.sh) instead, which need more than `make check` installs, and again those
# of tests/tools that try more with it.
# T='NAME...' runs the files of those names alone. JOBS of them run at a time.
# A file counts its claims; one that dies, prints no plan or fewer claims than planned has failed once more.
set -u

# The path of this script's directory, and of the build: jobs run elsewhere.
here=$(cd "${0%/*}" && pwd) || exit 1
B=$(cd "${B:-$here/../build}" && pwd) || exit 1
export B LC_ALL=C
results=$B/tests/results${SLOW:+-slow}
# Seconds that a file may take; slow ones fetch packages.
TEST_TIMEOUT=${TEST_TIMEOUT:-${SLOW:+1800}}
export TEST_TIMEOUT="${TEST_TIMEOUT:-600}"

# Claims in the TAP file $1 of a program that exited with $2, as "passed failed skipped"; why it failed on
# standard error, one line a reason.
count() {
	awk -v status="$2" '
		function wrong(why) { failed++; print "# " why >"/dev/stderr" }
		/^1\.\.[0-9]+/ { plan = substr($1, 4) + 0; plans++; if (!plan && /# SKIP/) { skipped++; none = 1 } next }
		/^ok [0-9]+/ { run++; if (/ # SKIP/) skipped++; else passed++; next }
		/^not ok [0-9]+/ { run++; failed++; next }
		END {
			if (status > 128) wrong("died of signal " status - 128)
			else if (status == 124) wrong("took too long")
			else if (plans != 1) wrong("printed " plans + 0 " plans (exit status " status ")")
			else if (run != plan) wrong("planned " plan " claims, made " run + 0)
			else if (status && !failed) wrong("exit status " status)
			else if (!run && !none) wrong("claims nothing")
			print passed + 0, failed + 0, skipped + 0
		}' "$1"
}

# Run one file, KIND/NAME; write its count, and print its line and the details of failures.
one() {
	kind=${1%%/*} name=${1#*/}
	out=$results/$kind-$name
	case $kind in
	unit)  set -- "$B/tests/unit/$name" ;;
	tools|slow) set -- sh "$here/$kind/$name.sh" ;;
	fuzz)  set -- "$B/tests/fuzz/$name-replay" "$here/fuzz/corpus/$name" ;;
	check) set -- reference_check "$name" ;;
	esac
	status=0
	if [ "$kind" = check ]; then
		"$@" >"$out.tap" 2>"$out.err" </dev/null || status=$?
	else
		timeout "$TEST_TIMEOUT" "$@" >"$out.tap" 2>"$out.err" </dev/null || status=$?
	fi
	count "$out.tap" "$status" >"$out.count" 2>"$out.why"
	read -r passed failed skipped <"$out.count"
	line=$(printf '%-5s %s/%s: %s passed' "$([ "$failed" -eq 0 ] && echo ok || echo FAIL)" "$kind" "$name" "$passed")
	[ "$failed" -gt 0 ] && line="$line, $failed failed"
	[ "$skipped" -gt 0 ] && line="$line, $skipped skipped"
	{
		echo "$line"
		sed -n 's/^ok [0-9]* - \(.*\) # SKIP \(.*\)/      skipped: \1: \2/p; s/^1\.\.0 # SKIP \(.*\)/      skipped: \1/p' "$out.tap"
		if [ "$failed" -gt 0 ]; then
			awk '/^not ok/ { show = 1 } /^ok|^1\.\./ { show = 0 } show' "$out.tap" | head -n 60
			cat "$out.why"
			tail -n 20 "$out.err"
		fi
	} >"$out.text"
	cat "$out.text"
}

# The reference check $1 as TAP.
reference_check() {
	reference=$here/../../shared/check/check.py
	if [ ! -e "$reference" ]; then
		printf 'ok 1 - %s # SKIP the reference data are not here\n1..1\n' "$1"
		return
	fi
	timeout "$TEST_TIMEOUT" python3 "$reference" --bin "$B/bin" "$1" >"$results/check-$1.out" ||
		[ $? -eq 1 ] || return
	awk '$1 == "ok" { print "ok " ++n " - " $0 } $1 == "SHORT" { print "not ok " ++n " - " $0 } END { print "1.." n + 0; exit !n }' \
		"$results/check-$1.out"
}

# Names of the test files, KIND/NAME, a line each.
list() {
	if [ "${SLOW-}" ]; then
		for f in "$here"/slow/*.sh; do [ -e "$f" ] && basename "$f" .sh | sed 's,^,slow/,'; done
		for f in compare_pairs completion cookbook install whatif_pairs whatif_ranges; do [ -e "$here/tools/$f.sh" ] && echo "tools/$f"; done
		return
	fi
	for f in "$here"/unit/*.c; do [ -e "$f" ] && basename "$f" .c | sed 's,^,unit/,'; done
	for f in "$here"/tools/*.sh; do [ -e "$f" ] && basename "$f" .sh | sed 's,^,tools/,'; done
	for f in "$here"/fuzz/*.c; do [ -e "$f" ] && basename "$f" .c | grep -vx replay | sed 's,^,fuzz/,'; done
	[ -e "$here/checks.list" ] && sed '/^#/d; /^$/d; s,^,check/,' "$here/checks.list"
}

if [ "${1-}" = --one ]; then
	one "$2"
	exit 0
fi

rm -rf "$results"
mkdir -p "$results" || exit 1
list | awk -v names="${T-}" '
	BEGIN { n = split(names, want, " "); for (i in want) wanted[want[i]] = 1 }
	{ name = $0; sub(/^[a-z]*\//, "", name) }
	!n || name in wanted || $0 in wanted { print; found[name]; found[$0] }
	END { for (w in wanted) if (!(w in found)) { print "run.sh: no test of the name " w >"/dev/stderr" } }' \
	>"$results/list"
if [ ! -s "$results/list" ]; then
	echo "FAIL  no test to run"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
fi
# One argument a call, so that a slow file holds up no other.
xargs -P "${JOBS:-2}" -n 1 sh "$0" --one <"$results/list"

# Every file that was to run has left its count, or counts as failed.
passed=0 failed=0 skipped=0
while read -r file; do
	p=0 f=1 s=0
	count=$results/${file%%/*}-${file#*/}.count
	[ -s "$count" ] && read -r p f s <"$count"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done <"$results/list"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
