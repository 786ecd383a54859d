#!/bin/sh
# The recipes of docs/cookbook.md run, in one folder and in order, and print what the page shows.
. "${0%/*}/../testlib.sh"
. "$tests_dir/pagelib.sh"

# Choose as python3 one that can run Python text $1: Debian's modules are not available to every python3 on the PATH.
python_that() {
	for python in $pythons; do
		(cd "$T/modules" && "$python" -c "$1") >"$T/python.out" 2>&1 || continue
		printf '#!/bin/sh\nexec %s "$@"\n' "$python" >"$T/stand-in/python3"
		chmod +x "$T/stand-in/python3"
		return
	done
	return 1
}

# Requirements of recipes: programs, and modules of Python.
have() {
	case $1 in
	pandas)   python_that 'import pandas' ;;
	protobuf) protoc -I "$root/protos" --python_out="$T/modules" nsysx.proto 2>"$T/python.out" && python_that 'import nsysx_pb2' ;;
	parallel) parallel --version 2>"$T/python.out" | grep -q '^GNU' ;;
	*)        command -v "$1" >"$T/command" ;;
	esac
}

[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'
mkdir "$T/stand-in" "$T/modules"
pythons="$(command -v python3) /usr/bin/python3"
PATH=$T/stand-in:$B/tests/synth:$PATH NSYSX=$root
# Variables of GNU make and parallel would change what they print.
unset MAKEFLAGS MAKELEVEL MFLAGS
export PATH NSYSX
page docs/cookbook.md cookbook
done_testing
