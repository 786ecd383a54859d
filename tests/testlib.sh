# testlib.sh -- claims about commands, printed as TAP. Sourced first by tests/tools/NAME.sh.
#
#   golden CLAIM FILE CMD...         CMD exits 0, prints FILE's bytes and nothing on standard error
#   fails  CLAIM STATUS TEXT CMD...  CMD exits with STATUS, has TEXT on standard error, prints nothing
#   ok     CLAIM CMD...              CMD exits 0
#   says   CLAIM TEXT CMD...         CMD exits 0 with TEXT on standard error
#   same   CLAIM FILE1 FILE2         two files hold the same bytes, at least one: of two tools that print nothing none is right
#   equal  CLAIM GOT WANT            two strings are equal
#   alike  CLAIM GOT WANT            the same where both come from tools: they are not empty either
#   skip   CLAIM WHY                 a claim that cannot be tried here
#   skip_all WHY                     none of the file's claims can be tested here
#   make_job NAME OPTION...          exports of the generator with these options, in $T/NAME
#   with_exports NAME CMD...         CMD with all exports of $T/NAME as operands, each with its dump if it has one
#   listed TEST                      the lines of tests/tools.list for a test: HOW<tab>COMMAND
#   done_testing                     last line of every test file
#
# For claims of another shape: run CMD... leaves $status, $T_private/out and $T_private/err; then pass CLAIM or
# fail CLAIM WHY [CMD...].
#
# FILE and other relative names start at tests/tools, where the test runs. golden also holds standard error to
# FILE.err where that is there. UPDATE=1 makes golden rewrite FILE: read that diff. Pipelines go through `sh -c`,
# or into a file in $T first. No claim takes death by a signal, or a sanitizer's report, for a refusal.
#
# Set: T an empty directory, gone when the test ends; B the build's directory; SYNTH the profile generator; UNIT the
# directory of unit tests and other test programs; SHARED reference data (may not exist). PATH begins with the tools.
set -u
cd "${0%/*}" || exit 1
tests_dir=$(cd "${testlib_dir:-..}" && pwd) || exit 1
B=$(cd "${B:-$tests_dir/../build}" && pwd) || exit 1
SYNTH=$B/tests/synth/nsysx-synth
UNIT=$B/tests/unit
SHARED=$tests_dir/../../shared
PATH=$B/bin:$PATH
LC_ALL=C
# A sanitizer's report must not pass for an exit status of ours.
ASAN_OPTIONS=exitcode=99${ASAN_OPTIONS:+:$ASAN_OPTIONS}
UBSAN_OPTIONS=exitcode=99:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}
TSAN_OPTIONS=exitcode=99${TSAN_OPTIONS:+:$TSAN_OPTIONS}
export B SYNTH UNIT SHARED PATH LC_ALL ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS
unset NSYSX_FORMAT NSYSX_PROGRESS
T=$(mktemp -d) || exit 1
T_private=$(mktemp -d) || exit 1
export T
trap 'rm -rf "$T" "$T_private"' EXIT
trap 'exit 1' HUP INT TERM
tests_run=0
tests_failed=0

# The claim $1 holds.
pass() {
	tests_run=$((tests_run + 1))
	printf 'ok %d - %s\n' "$tests_run" "$1"
}

# The claim $1 does not hold because $2; its command and standard error follow.
fail() {
	tests_run=$((tests_run + 1))
	tests_failed=$((tests_failed + 1))
	printf 'not ok %d - %s\n# %s\n' "$tests_run" "$1" "$2"
	shift 2
	[ $# -gt 0 ] && printf '# command: %s\n' "$*"
	if [ $# -gt 0 ] && [ -s "$T_private/err" ]; then
		head -n 20 "$T_private/err" | sed 's/^/# standard error: /'
	fi
	return 0
}

# Run a command with its output in $T_private/out and $T_private/err and its status in $status.
run() {
	status=0
	"$@" >"$T_private/out" 2>"$T_private/err" </dev/null || status=$?
}

# The first differing lines of two files, as TAP comments.
show_diff() {
	diff -u "$1" "$2" 2>&1 | head -n 20 | cut -c1-300 | sed 's/^/# /'
}

golden() {
	claim=$1 file=$2
	shift 2
	run "$@"
	if [ "$status" -ne 0 ]; then
		fail "$claim" "status $status, want 0" "$@"
		return
	fi
	if [ "${UPDATE-}" = 1 ]; then
		cp "$T_private/out" "$file"
		if [ -s "$T_private/err" ]; then cp "$T_private/err" "$file.err"; else rm -f "$file.err"; fi
	fi
	want_err=/dev/null
	[ -e "$file.err" ] && want_err=$file.err
	if [ ! -e "$file" ]; then
		fail "$claim" "$file is not there; UPDATE=1 makes it" "$@"
	elif ! cmp -s "$file" "$T_private/out"; then
		fail "$claim" "standard output differs from $file" "$@"
		show_diff "$file" "$T_private/out"
	elif ! cmp -s "$want_err" "$T_private/err"; then
		fail "$claim" "standard error differs from what is wanted" "$@"
		show_diff "$want_err" "$T_private/err"
	else
		pass "$claim"
	fi
}

fails() {
	claim=$1 want=$2 text=$3
	shift 3
	run "$@"
	if [ -z "$text" ] || [ "$want" -eq 0 ] || [ "$want" -ge 99 ]; then
		fail "$claim" "a refusal has a status and a message" "$@"
	elif [ "$status" -ne "$want" ]; then
		fail "$claim" "status $status, want $want" "$@"
	elif [ -s "$T_private/out" ]; then
		fail "$claim" "standard output is not empty" "$@"
	elif ! grep -qF -e "$text" "$T_private/err"; then
		fail "$claim" "standard error lacks: $text" "$@"
	else
		pass "$claim"
	fi
}

ok() {
	claim=$1
	shift
	run "$@"
	if [ "$status" -eq 0 ]; then
		pass "$claim"
	else
		fail "$claim" "status $status, want 0" "$@"
	fi
}

says() {
	claim=$1 text=$2
	shift 2
	run "$@"
	if [ "$status" -eq 0 ] && grep -qF -e "$text" "$T_private/err"; then
		pass "$claim"
	else
		fail "$claim" "status $status, or standard error lacks: $text" "$@"
	fi
}

same() {
	if cmp -s "$2" "$3" && [ -s "$2" ]; then
		pass "$1"
	elif [ -e "$2" ] && [ ! -s "$2" ] && [ -e "$3" ] && [ ! -s "$3" ]; then
		fail "$1" "$2 and $3 are empty"
	else
		fail "$1" "$2 and $3 differ"
		show_diff "$2" "$3"
	fi
}

equal() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "got '$(printf %s "$2" | head -c 300 | tr '\n' ' ')', want '$(printf %s "$3" | head -c 300 | tr '\n' ' ')'"
	fi
}

alike() {
	if [ "$2" ] || [ "$3" ]; then
		equal "$@"
	else
		fail "$1" 'both are empty'
	fi
}

listed() {
	sed -n "s/^$1	//p" "$tests_dir/tools.list"
}

make_job() {
	job=$1
	shift
	"$SYNTH" -o "$T/$job" "$@" || exit 1
}

# Run CMD with the exports of job $1, and -x DUMP before those that have one.
with_exports() {
	exports_dir=$T/$1
	shift
	for export in "$exports_dir"/r*.sqlite; do
		export_dump=${export##*/} export_dump=$exports_dir/dump$(echo "${export_dump%.sqlite}" | tr -d r)
		[ -d "$export_dump" ] && set -- "$@" -x "$export_dump"
		set -- "$@" "$export"
	done
	"$@"
}

skip() {
	tests_run=$((tests_run + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tests_run" "$1" "$2"
}

skip_all() {
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

done_testing() {
	printf '1..%d\n' "$tests_run"
	[ "$tests_failed" -eq 0 ]
	exit
}
