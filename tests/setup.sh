#!/bin/sh
# setup.sh -- see that what nsysx is built and tested with is here, by trying each thing, and install what
# is not where the machine is a Debian that lets us. Silent when nothing is missing.
#
#   tests/setup.sh           everything that `make check` and `make demo` need, and small programs that more is tried with
#   tests/setup.sh --build   requirements of `make`; installs nothing, names missing ones
#   tests/setup.sh --slow    optional requirements of `make check-slow`; never fails
#
# What is not needed is skipped by name by the tests where it cannot be had.
set -u
cd "${0%/*}/.." || exit 1
B=${B:-build} CC=${CC:-gcc}
# Daemons are installed, as others are, but found there only.
PATH=$PATH:/usr/sbin:/sbin
mode=${1-}

stamp=$B/.setup${mode#-}
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
		compiles zlib1g-dev zlib.h z
		compiles libprotobuf-c-dev protobuf-c/protobuf-c.h protobuf-c
	else
		# Nothing can be tried without a compiler.
		echo "${CC%% *}" libc6-dev libsqlite3-dev libzstd-dev liblzma-dev zlib1g-dev libprotobuf-c-dev
	fi
	runs protobuf-c-compiler protoc-c --version
	[ "$mode" = --build ] && return
	runs protobuf-compiler protoc --version
	runs sqlite3 sqlite3 -version
	runs zstd zstd --version
	runs xz-utils xz --version
	runs python3 python3 -c 'import csv, json'
	runs mandoc mandoc -T ascii
	runs gnuplot-nox gnuplot --version
}

# Small, for commands in the documentation.
# shellcheck disable=SC2317  # more() calls it
small() {
	runs datamash datamash --version
	runs mawk mawk -W version
	runs gawk gawk --version
	runs busybox busybox true
	runs jq jq --version
	runs parallel parallel --version
	runs pkgconf pkg-config --version
	python_modules protobuf google.protobuf
}

# Large: hundreds of megabytes, most of them the browser.
# shellcheck disable=SC2317
large() {
	runs chromium chromium --version
	runs chromium-driver chromedriver --version
	runs slurm-wlm sh -c 'slurmctld -V && slurmd -V && command -v sbatch'
	runs munge munged --version
	runs debootstrap debootstrap --version
	runs dpkg-dev sh -c 'dpkg-shlibdeps --version && dpkg-buildflags --version'
	runs git git --version
	runs zsh zsh --version
	runs fish fish --version
	runs g++ g++ --version
	python_modules pandas pandas
}

# Python's package $1 with module $2, if neither the first python3 nor Debian's has it.
# shellcheck disable=SC2317
python_modules() {
	python3 -c "import $2" >/dev/null 2>&1 || runs "python3-$1" /usr/bin/python3 -c "import $2"
}

done_here() {
	mkdir -p "$B" && : >"$stamp"
	exit
}

# Whether packages can be installed without a password: 0, with $as_root before the command, or the reason in $why.
may_install() {
	as_root='' why=''
	if ! command -v apt-get >/dev/null 2>&1; then
		why="there is no apt-get here; the Debian packages' names are"
	elif [ "$(id -u)" -eq 0 ]; then
		return 0
	elif sudo -n true >/dev/null 2>&1; then
		as_root='sudo -n'
		return 0
	else
		why="installing them needs root; as root"
	fi
	return 1
}

# shellcheck disable=SC2086  # lists of words
install() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $1; }

# Lists of packages may be absent or old: they are updated if the first try fails. Messages are in $work/log.
fetch_and_install() {
	install "$1" >"$work/log" 2>&1 </dev/null ||
	{ $as_root apt-get update -q && install "$1"; } >"$work/log" 2>&1 </dev/null
}

# Install missing optional requirements listed by function $1; if they cannot be installed together, one by one.
more() {
	packages=$("$1" | tr '\n' ' ')
	[ "$packages" ] || return 0
	if may_install; then
		echo "nsysx: installing Debian packages that more is tested with: $packages" >&2
		fetch_and_install "$packages" || for p in $packages; do
			install "$p" >>"$work/log" 2>&1 </dev/null
		done
		packages=$("$1" | tr '\n' ' ')
	fi
	[ -z "$packages" ]
}

if [ "$mode" = --slow ]; then
	more small
	more large && done_here
	echo "nsysx: not here, and tests are skipped for it: $packages" >&2
	exit 0
fi

packages=$(missing | tr '\n' ' ')
if [ -z "$packages" ]; then
	[ "$mode" = --build ] || more small
	done_here
fi

paste="apt-get update && apt-get install -y --no-install-recommends $packages"
if [ "$mode" = --build ]; then
	echo "nsysx: missing: $packages" >&2
	echo "nsysx: 'make check' installs them on a Debian machine, or as root: $paste" >&2
	exit 1
fi
if ! may_install; then
	echo "nsysx: missing: $packages" >&2
	echo "nsysx: $why: $paste" >&2
	exit 1
fi

echo "nsysx: installing missing Debian packages: $packages" >&2
if ! fetch_and_install "$packages"; then
	tail -n 20 "$work/log" >&2
	echo "nsysx: apt-get failed; as root: $paste" >&2
	exit 1
fi
packages=$(missing | tr '\n' ' ')
if [ -z "$packages" ]; then
	more small
	done_here
fi
echo "nsysx: installed, but still not usable: $packages" >&2
exit 1
