#!/bin/sh
# lint.sh -- the shape of lib/ (rooms.sh), compilers with more warnings, cppcheck and clang-tidy over the sources: they say nothing, or this
# fails. Those that are not installed are skipped by name. What is off and why: tests/rooms.except, .clang-tidy, tests/cppcheck.suppress.
# B is a build's directory.
set -u
cd "${0%/*}/.." || exit 1
B=${B:-build}
FLAGS="-std=c11 -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -pthread -Ilib -I$B"
WARN='-Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes -Wstrict-prototypes -Wpointer-arith -Wundef -Werror'
jobs=$(getconf _NPROCESSORS_ONLN)
failed=0

sources() {
	find lib cmd tests -name '*.c' | sort
}

# Run the linter $1, whose command follows; its output is shown if it fails.
lint() {
	name=$1
	shift
	if said=$("$@" 2>&1); then
		echo "lint: $name: clean"
	else
		printf '%s\n' "$said"
		echo "lint: $name: FAIL"
		failed=1
	fi
}

have() {
	command -v "$1" >/dev/null 2>&1 || { echo "lint: $1: skipped: not installed"; false; }
}

compile() {
	# shellcheck disable=SC2086  # lists of words
	sources | xargs -P "$jobs" -n 8 "$1" $FLAGS $WARN -O2 -fsyntax-only
}
check_tidy() {
	# shellcheck disable=SC2086
	find lib cmd -name '*.c' | sort | xargs -P "$jobs" -I {} clang-tidy --quiet {} -- $FLAGS
}
check_cpp() {
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --error-exitcode=1 --suppressions-list=tests/cppcheck.suppress \
		-j "$jobs" -Ilib -I"$B" lib cmd
}

make -s B="$B" all "$B/tests/fuzz/listed.h" || exit 1   # headers that are made
lint rooms env B="$B" sh tests/rooms.sh
have gcc && lint gcc compile gcc
have clang && lint clang compile clang
have cppcheck && lint cppcheck check_cpp
have clang-tidy && lint clang-tidy check_tidy
exit "$failed"
