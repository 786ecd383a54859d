#!/bin/sh
# nsysx-compare for CI servers: XML of JUnit, which Python's parser reads, and GitHub's annotations.
. "${0%/*}/../testlib.sh"
. "${0%/*}/../comparelib.sh"

# A table of nsysx-steps --each: for each CLASS=PERIOD 20 steps of a class around that period, ns.
steps() {
	printf 'class\tdevice\tstep\tspan\tperiod\tcompute\texposed\tcopy\tidle\tkept\n'
	for of; do
		of=$of awk 'BEGIN {
			of = ENVIRON["of"]
			at = index(of, "="); class = substr(of, 1, at - 1); period = substr(of, at + 1)
			for (i = 0; i < 20; i++) { p = period + i % 3; printf "%s\t0\t%d\t%d\t%d\t%d\t0\t0\t%d\t1\n", class, i, p - 500, p, p - 1000, 1000 }
		}'
	done
}
cat >"$T/junit.py" <<'END_PYTHON'
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == "testsuites" and len(root) == 1
suite = root[0]
kinds = [case[0].tag if len(case) else "pass" for case in suite]
for name, kind in ("failures", "failure"), ("errors", "error"), ("skipped", "skipped"):
    assert int(suite.get(name)) == kinds.count(kind), name
assert int(suite.get("tests")) == len(kinds)
want = sys.argv[2:]
if not want: print(*(f"{kind} {kinds.count(kind)}" for kind in ("pass", "failure", "error", "skipped")))
for case, kind in zip(suite, kinds):
    if kind in want: print(case.get("classname"), case.get("name"), case[0].get("message") if len(case) else "", sep="|")
END_PYTHON
junit() { python3 "$T/junit.py" "$T/out.xml" "$@" 2>&1; }

steps train=100000 eval=50000 >"$T/a"
steps train=112000 eval=50001 >"$T/b"
steps train=100001 other=50000 >"$T/c"
gate 'a gate writes XML, too' 1 'slower: train: period' --junit="$T/out.xml" "$T/a" "$T/b"
equal 'a test for each row: the period and compute are slower' "$(junit)" 'pass 9 failure 3 error 0 skipped 0'
equal 'their message is the sentence of the gate' "$(junit failure | head -n 1)" "train|period|$(sed -n 's/.*slower: //p' "$T_private/err")"
equal 'rows are named' "$(junit failure | cut -d '|' -f 1,2)" 'train|period
train|compute
train|span'
nsysx-compare -q --changed --junit="$T/out.xml" -o "$T/null" "$T/a" "$T/b"
equal 'those that the table omits, too, and without --gate' "$(junit)" 'pass 9 failure 3 error 0 skipped 0'
gate 'rows of one side' 0 '' --junit="$T/out.xml" "$T/a" "$T/c"
equal 'are skipped' "$(junit)" 'pass 6 failure 0 error 0 skipped 12'
equal 'with the reason' "$(junit skipped | sed -n '1p;$p')" 'eval|period|gone
other|span|new'
steps other=1000000 >"$T/d"
gate 'runs that cannot be compared' 3 'not comparable: ' --junit="$T/out.xml" "$T/a" "$T/d"
equal 'are an error' "$(junit)" 'pass 0 failure 0 error 1 skipped 0'
equal 'that says why' "$(junit error)" "nsysx-compare|comparable|$(sed -n 's/.*not comparable: //p' "$T_private/err")"
nsysx-compare -q --junit="$T/out.xml" -o "$T/null" "$T/a" "$T/b"
gate 'a run that is not there' 3 'missing: No such file or directory' --junit="$T/out.xml" "$T/a" "$T/missing"
equal 'is an error, and the XML is not the last one' "$(junit error)" "nsysx-compare|comparable|$T/missing: No such file or directory"
fails 'without --gate, too' 1 'missing: No such file' nsysx-compare --junit="$T/out.xml" "$T/missing" "$T/a"
equal '... with the same XML' "$(junit)" 'pass 0 failure 0 error 1 skipped 0'
gate 'XML that cannot be written is no success' 3 '/nowhere/x.xml: ' --junit=/nowhere/x.xml "$T/a" "$T/a"
fails 'the table has standard output' 2 '--junit: want a file' nsysx-compare --junit=- "$T/a" "$T/b"
# What XML reserves, or does not have: control characters, bytes that are no character, U+FFFE.
odd=$(printf 'f<int>(a && "b") \\x01 \303\244 \377 \357\277\276 end')
steps "$odd=100000" >"$T/a.odd"
steps "$odd=120000" >"$T/b.odd"
gate 'names of every kind' 1 'slower: ' --junit="$T/out.xml" "$T/a.odd" "$T/b.odd"
equal 'are text' "$(junit failure | head -n 1 | cut -d '|' -f 1)" 'f<int>(a && "b") ? ä ? ? end'
nsysx-compare -q --junit="$T/out.xml" -o "$T/null" "$T/a" "$T/a" "$T/a" "$T/b"
equal 'several base runs have the same tests' "$(junit)" 'pass 9 failure 3 error 0 skipped 0'

# GitHub.
annotations() { grep '^::' "$T_private/err"; }
gate 'a gate annotates' 1 '::error title=nsysx-compare::slower: train: period: 112.0 us per step, was 100.0 us (+12.0%25)' --github "$T/a" "$T/b"
equal 'each slower row of the gate once' "$(annotations | grep -c .)" 1
run nsysx-compare --github "$T/a" "$T/b"
equal 'without --gate nothing fails, and it is a warning' "$status $(annotations | cut -d : -f 1-5)" '0 ::warning title=nsysx-compare::slower'
gate 'not comparable is an error' 3 '::error title=nsysx-compare::not comparable: ' --github "$T/a" "$T/d"
gate 'a run that is not there, too' 3 "::error title=nsysx-compare::$T/missing: No such file or directory" --github "$T/a" "$T/missing"
gate 'warnings are annotations' 1 '::warning title=nsysx-compare::two base runs hardly tell how runs differ' --github "$T/a" "$T/a" "$T/b"
run nsysx-compare -q --gate --github "$T/a" "$T/a" "$T/b"
equal 'but for --quiet' "$(annotations | cut -d ' ' -f 1)" '::error'
odd=$(printf '50%% done\\r\\n::error::x')
steps "$odd=100000" >"$T/a.odd"
steps "$odd=120000" >"$T/b.odd"
gate 'text is escaped: no name begins a line' 1 '::error title=nsysx-compare::slower: 50%25 done%0D%0A::error::x: period: ' --github "$T/a.odd" "$T/b.odd"
equal '... of its own' "$(annotations | grep -c '^::error::')" 0
gate 'nothing slower, nothing to annotate' 0 '' --github "$T/a" "$T/a"
equal '... indeed' "$(annotations)" ''
equal 'the table is as without' "$(nsysx-compare -q --tsv --github "$T/a" "$T/b" 2>"$T/null")" "$(nsysx-compare -q --tsv "$T/a" "$T/b")"
done_testing
