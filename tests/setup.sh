#!/bin/sh
# setup.sh -- see that what nsysx is built and tested with is here, by trying each thing, and install what
# is not where the machine is a Debian that lets us. Silent when nothing is missing.
#
#   tests/setup.sh           everything that `make check` and `make demo` need
#   tests/setup.sh --build   what `make` needs; installs nothing, names what is missing
set -u
cd "${0%/*}/.." || exit 1
B=${B:-build} CC=${CC:-gcc}
build_only=
[ "${1-}" = --build ] && build_only=1

stamp=$B/.setup${build_only:+-build}
# Tried before with this very list.
[ -n "$(find "$stamp" -newer tests/setup.sh 2>/dev/null)" ] && exit 0

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# The package when a program that includes HEADER and links -lLIB cannot be built: compiles PACKAGE HEADER LIB
compiles() {
	printf '#include <stdio.h>\n#include <%s>\nint main(void) { return 0; }\n' "$2" >"$work/t.c"
	$CC -o "$work/t" "$work/t.c" "-l$3" >/dev/null 2>&1 || echo "$1"
}

# The package when a command does not run: runs PACKAGE COMMAND...
runs() {
	package=$1
	shift
	"$@" >/dev/null 2>&1 </dev/null || echo "$package"
}

missing() {
	printf 'int main(void) { return 0; }\n' >"$work/t.c"
	if $CC -o "$work/t" "$work/t.c" >/dev/null 2>&1; then
		compiles libsqlite3-dev sqlite3.h sqlite3
		compiles libzstd-dev zstd.h zstd
		compiles liblzma-dev lzma.h lzma
		compiles libprotobuf-c-dev protobuf-c/protobuf-c.h protobuf-c
	else
		# Nothing can be tried without a compiler.
		echo "${CC%% *}" libc6-dev libsqlite3-dev libzstd-dev liblzma-dev libprotobuf-c-dev
	fi
	runs protobuf-c-compiler protoc-c --version
	[ "$build_only" ] && return
	runs protobuf-compiler protoc --version
	runs sqlite3 sqlite3 -version
	runs zstd zstd --version
	runs xz-utils xz --version
	runs python3 python3 -c 'import csv, json'
	runs mandoc mandoc -T ascii
	runs gnuplot-nox gnuplot --version
}

done_here() {
	mkdir -p "$B" && : >"$stamp"
	exit
}

packages=$(missing | tr '\n' ' ')
[ "$packages" ] || done_here

paste="apt-get update && apt-get install -y --no-install-recommends $packages"
as_root=
if [ "$build_only" ]; then
	echo "nsysx: missing: $packages" >&2
	echo "nsysx: 'make check' installs them on a Debian machine, or as root: $paste" >&2
	exit 1
fi
if ! command -v apt-get >/dev/null 2>&1; then
	why="there is no apt-get here; the Debian packages' names are"
elif [ "$(id -u)" -eq 0 ]; then
	why=''
elif sudo -n true >/dev/null 2>&1; then
	why='' as_root='sudo -n'
else
	why="installing them needs root; as root"
fi
if [ "$why" ]; then
	echo "nsysx: missing: $packages" >&2
	echo "nsysx: $why: $paste" >&2
	exit 1
fi

echo "nsysx: installing missing Debian packages: $packages" >&2
# shellcheck disable=SC2086  # lists of words
install() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $packages; }
# The lists of packages may be absent or old: fetch them when the first try fails.
if ! install >"$work/log" 2>&1 </dev/null &&
   ! { $as_root apt-get update -q && install; } >"$work/log" 2>&1 </dev/null; then
	tail -n 20 "$work/log" >&2
	echo "nsysx: apt-get failed; as root: $paste" >&2
	exit 1
fi
packages=$(missing | tr '\n' ' ')
[ "$packages" ] || done_here
echo "nsysx: installed, but still not usable: $packages" >&2
exit 1
