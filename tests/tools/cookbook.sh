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
	duckdb)   python_that 'import duckdb, duckdb_extension_sqlite_scanner' ;;
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

# ---- the gate as JUnit's XML, by everything: Python's parser reads what the page's files write
cd "$T/cookbook" || exit 1
cat >"$T/junit.py" <<'END_PYTHON'
import sys, xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot()[0]
kinds = [case[0].tag if len(case) else "pass" for case in suite]
for name, kind in ("failures", "failure"), ("errors", "error"), ("skipped", "skipped"):
    assert int(suite.get(name)) == kinds.count(kind), name
assert int(suite.get("tests")) == len(kinds)
names = [(case.get("classname"), case.get("name")) for case in suite]
assert all("\t" not in text and len(text) < 300 for pair in names for text in pair)
print(*(f"{kind} {kinds.count(kind)}" for kind in ("pass", "failure", "error", "skipped")))
print(*names[0], sep="\n")
END_PYTHON
junit() { python3 "$T/junit.py" "$1" 2>&1; }
# The verdicts of tables.
verdicts() {
	awk -F'\t' 'FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "verdict") v = i; next }
		{ n[$v ~ /^(slower|gone|new|unknown)$/ ? ($v == "slower" ? $v : "skipped") : "pass"]++ }
		END { print "pass", n["pass"] + 0, "failure", n["slower"] + 0, "error 0 skipped", n["skipped"] + 0 }' "$@"
}
nsysx-compare -q --tsv --by module -o module.tsv before.nsysx slow.nsysx
for by in thunk module opcode source kernel step device collective; do
	nsysx-compare -q --gate --by "$by" --junit by.xml --tsv -o gate.tsv before.nsysx slow.nsysx 2>"$T/said"
	status=$?
	# Programs as a whole are tests, too.
	case $by in thunk|opcode|source) whole=module.tsv ;; *) whole= ;; esac
	equal "a gate by $by as XML: a test for each row" "$(junit by.xml | head -n 1) $((status > 1))" "$(verdicts gate.tsv $whole) 0"
done
nsysx-compare -q --gate --by range --junit by.xml -o gate.tsv before.nsysx slow.nsysx 2>"$T/said"
equal '... by range, of streams without: an error' "$(junit by.xml | head -n 1)" 'pass 0 failure 0 error 1 skipped 0'
done_testing
