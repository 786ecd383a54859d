#!/bin/sh
# Properties of all tools: letters of options, pages and the README agree, no binary on a terminal, no quadratic step.
. "${0%/*}/../testlib.sh"

root=$tests_dir/..

# "LETTER LONG" of every option of every tool: a letter with two meanings shows twice.
for tool in "$B"/bin/nsysx*; do
	"$tool" --help | sed -n 's/^  -\([A-Za-z0-9]\), --\([a-z0-9-]*\).*/\1 \2/p'
done | sort -u >"$T/letters"
ok 'tools have options with letters' test -s "$T/letters"
equal 'a letter means one thing in every tool' "$(cut -d' ' -f1 "$T/letters" | uniq -d)" ''

cat "$root"/docs/man/*.[1-8] | awk '$1 == ".Xr" || ($1 == ".Pq" && $2 == "see" && $3 == "Xr") { if ($1 == ".Pq") { $2 = $4; $3 = $5 } if ($2 ~ /^nsysx/) print $2 "." $3 }' |
	sort -u >"$T/pages"
while read -r page; do
	ok "pages refer to $page, which exists" test -s "$root/docs/man/$page"
done <"$T/pages"

# A terminal as standard output: the characters printed there except text and white space.
printf '#nsysx\t2\n#diag\tseverity:s\ttext:s\ndiag\tinfo\thello\n#end\trecords:i\nend\t1\n' >"$T/s.nsysx"
on_terminal() {
	python3 -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@" </dev/null >"$T/seen" 2>"$T/wrong"
}
if python3 -c 'import pty; pty.openpty()' 2>"$T/wrong"; then
	on_terminal nsysx-view "$T/s.nsysx"
	equal 'a terminal gets text' "$? $(grep -c hello "$T/seen")" '0 1'
	on_terminal nsysx-view -b "$T/s.nsysx"
	equal 'a terminal gets no binary' "$? $(grep -c 'want -o FILE or a pipe' "$T/seen") $(grep -c hello "$T/seen")" '2 1 0'
	on_terminal nsysx-view -z "$T/s.nsysx"
	equal '... nor compressed data' "$? $(grep -c 'want -o FILE or a pipe' "$T/seen")" '2 1'
	on_terminal env NSYSX_FORMAT=binary nsysx-view "$T/s.nsysx"
	equal 'NSYSX_FORMAT does not apply to terminals' "$? $(grep -c hello "$T/seen")" '0 1'
	on_terminal nsysx-view -b -o "$T/s.b" "$T/s.nsysx"
	equal 'a file gets the requested form' "$? $(nsysx-view "$T/s.b" | cmp - "$T/s.nsysx" && echo same)" '0 same'
else
	skip 'output on a terminal' 'no pseudo-terminals here'
fi

# Exports for which a quadratic step takes minutes. $1 rows N described by SQL $2.
export_of() {
	rm -f "$T/q.sqlite"
	sqlite3 "$T/q.sqlite" "
		CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
		INSERT INTO StringIds VALUES (1, 'kernel');
		CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
		CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, demangledName INTEGER, shortName INTEGER, correlationId INTEGER, globalPid INTEGER);
		CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, nameId INTEGER, returnValue INTEGER, globalTid INTEGER, correlationId INTEGER);
		CREATE TABLE n AS WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < $1 - 1) SELECT i FROM c;
		$2"
}
pid=$((281474976710656 + 111 * 16777216))   # of process 111 of machine 1
# 150000 ranges, each begun in the one before without an end, and a launch in each.
export_of 150000 "
	INSERT INTO NVTX_EVENTS SELECT i * 100, 1000000000, 59, 'step', $pid + 1, NULL, NULL, 0 FROM n;
	INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i * 100 + 10, i * 100 + 20, 0, 1, 0, $pid + 1, i FROM n;
	INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 100 + 50, i * 100 + 90, 0, 1, 7, 1, 1, i, $pid FROM n;"
ok 'nested ranges without an end take linear time' timeout 30 nsysx-extract -q --ranges -o "$T/q.nsysx" "$T/q.sqlite"
equal '... each is a level deeper' "$(nsysx-view -t range "$T/q.nsysx" | cut -f 4 | sed 1d | sort -n | sed -n '1p;$p' | tr '\n' ' ')" '0 149999 '
# 300000 compilations on one thread, and as many thunks outside any module on another.
export_of 300000 "
	INSERT INTO NVTX_EVENTS VALUES (0, 0, 75, 'TSL', $pid + 1, NULL, NULL, 1);
	INSERT INTO NVTX_EVENTS SELECT i * 100 + 10, i * 100 + 90, 59, 'XlaCompile:#module=m,program_id=7#', $pid + 1, NULL, NULL, 1 FROM n;
	INSERT INTO NVTX_EVENTS VALUES (0, 5, 59, 'XlaModule:#hlo_module=m,program_id=7#', $pid + 2, NULL, NULL, 1), (1, 4, 59, 'Thunk:#hlo_op=a.1#', $pid + 2, NULL, NULL, 1);
	INSERT INTO NVTX_EVENTS SELECT i * 100 + 93, i * 100 + 99, 59, 'Thunk:#hlo_op=b.1#', $pid + 2, NULL, NULL, 1 FROM n;
	INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (2, 3, 0, 1, 0, $pid + 2, 1000000);
	INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2, 3, 0, 1, 7, 1, 1, 1000000, $pid);
	INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i * 100 + 94, i * 100 + 95, 0, 1, 0, $pid + 2, i FROM n;
	INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 100 + 96, i * 100 + 99, 0, 1, 7, 1, 1, i, $pid FROM n;"
ok 'many compilations beside many thunks take linear time' timeout 30 nsysx-extract -q -o "$T/q.nsysx" "$T/q.sqlite"
equal '... no thunk belongs to a compilation' "$(nsysx-view -t compile "$T/q.nsysx" | sed 1d | wc -l | tr -d ' ') $(nsysx-view -t thunk "$T/q.nsysx" | sed 1d | wc -l | tr -d ' ')" '300000 300001'
done_testing
