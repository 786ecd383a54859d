#!/bin/sh
# The host in the stream: calls, overheads, and columns of operations about the calls that issued them. The contents of the export
# calls/hand.sql are known; streams of generated exports are compared with SQL queries on them.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"

sqlite3 "$T/hand.sqlite" <calls/hand.sql
run nsysx-extract -q -a -o "$T/hand.nsx" "$T/hand.sqlite"
equal 'a hand-written export is read' "$status" 0


columns call call tid start dur name class ops range blocking stalled loading <"$T/hand.nsx" | sort -n >"$T/calls"
cat >"$T/want" <<'EOF'
1 100 1000 100 cudaLaunchKernel launch 1 2 - 0 40
3 100 1200 100 cudaGraphLaunch graph-launch 2 1 - 0 0
4 101 1400 100 cuLaunchKernelEx launch 1 3 - 0 0
5 101 1410 80 cudaLaunchKernel launch 0 3 - 0 0
6 100 1600 100 cudaMemcpyAsync_ptsz copy 1 1 1 0 0
7 100 1800 100 cuMemcpyHtoDAsync_v2 copy 1 1 - 0 0
8 100 2000 100 cudaMemcpy copy 1 1 1 0 0
9 100 2200 100 cudaMemsetAsync set 1 1 - 0 0
10 100 2400 100 cuCtxSynchronize sync 0 1 1 0 0
11 100 2600 100 cudaStreamSynchronize_ptsz sync 0 1 1 0 0
12 100 2800 10 cudaEventQuery event 0 1 - 0 0
13 100 2900 10 cudaStreamWaitEvent event 0 1 - 0 0
14 100 3000 10 cudaStreamWaitEvent event 0 1 - 0 0
15 100 3100 100 cudaMalloc alloc 0 - - 0 0
16 100 3300 100 cuModuleLoadData module 0 - - 0 0
17 100 3500 100 cudaStreamIsCapturing other 0 - - 0 0
18 100 3700 100 cudaLaunchHostFunc other 0 - - 0 0
19 100 4000 1000 cudaLaunchKernel launch 1 - - 400 300
20 200 1000 100 cudaLaunchKernel launch 1 - - 0 0
21 100 6000 10 cuMemFree_v2 alloc 0 - - 0 0
22 100 6100 10 cuLibraryGetKernel module 0 - - 0 0
23 100 6200 10 cuGraphLaunch_ptsz graph-launch 0 - - 0 0
24 100 6300 10 cuMemsetD8Async set 0 - - 0 0
EOF
same 'calls: class, name, operations, range, blocking, lost time' "$T/calls" "$T/want"

columns op type start call tid host_start host_dur waits src dst <"$T/hand.nsx" >"$T/ops"
cat >"$T/want" <<'EOF'
kernel 1500 1 100 1000 100 0 - -
kernel 1500 20 200 1000 100 0 - -
kernel 1700 3 100 1200 100 0 - -
kernel 1800 3 100 1200 100 0 - -
kernel 1900 4 101 1400 100 0 - -
memcpy 2000 6 100 1600 100 0 device pageable
memcpy 2100 7 100 1800 100 0 pinned device
memcpy 2200 8 100 2000 100 0 - -
memset 2400 9 100 2200 100 0 - managed
kernel 5100 19 100 4000 1000 1 - -
kernel 5300 - - - - - - -
EOF
same 'operations: call, waits, memory' "$T/ops" "$T/want"

columns overhead call start dur class name <"$T/hand.nsx" | sort -k2n >"$T/overheads"
cat >"$T/want" <<'EOF'
- 500 100 profiler CUDA profiling data flush overhead
- 1010 40 loading Unknown
- 4010 10 - Unknown
19 4100 200 queue-full Command Buffer Full
19 4200 300 queue-full Command Buffer Full
19 4400 300 loading Lazy Function Loading
19 4900 400 loading Lazy Function Loading
19 4950 10 profiler Flush
- 6150 5 - Unknown
- 7000 10 - Flush
EOF
same 'overheads' "$T/overheads" "$T/want"
equal 'ignored rows are counted in diags' "$(columns diag text count <"$T/hand.nsx" | grep -e overheads -e 'CUDA calls' | sort)" "$(cat <<'EOF'
CUDA calls ignored: without a thread 1
overheads ignored: they end before they start 1
overheads ignored: without a thread 1
overheads of an unknown type within the first launch of a kernel: they count as loading its code 1
overheads of an unknown type: without a class 3
EOF
)"
equal 'device: the start of its last operation' "$(columns device pid last <"$T/hand.nsx")" "$(printf '100 5300\n200 1500')"
equal 'a range without an end' "$(columns range name unended <"$T/hand.nsx" | sort)" "$(printf 'inner -\nopen 1\nouter -')"

# ---- waits for the queue whose kind Nsight Systems did not know

# queued DEPTH: kernels of 100 us, one after the other from 1 ms on. DEPTH launches, 1 us apart, fill the queue. Each of 20 more waits, with an overhead
# of unknown kind, until the next kernel begins: 349.9 us, then 99.3. One more of these is in a launch in the middle of the others.
queued() {
	rm -f "$T/queued.sqlite"
	sqlite3 "$T/queued.sqlite" <<END
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1,'cudaLaunchKernel_v7000'),(2,'k'),(3,'Unknown');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, eventClass INT, globalTid INT, correlationId INT, nameId INT, returnValue INT, callchainId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, demangledName INT, shortName INT, graphNodeId INT);
CREATE TABLE PROFILER_OVERHEAD(start INT, end INT, globalTid INT, nameId INT, returnValue INT);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < $1 + 19)
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT CASE WHEN i < $1 THEN i * 1000 WHEN i = $1 THEN 650000 ELSE 900600 + (i - $1) * 100000 END,
	CASE WHEN i < $1 THEN i * 1000 + 500 ELSE 1000500 + (i - $1) * 100000 END, 0, 281474976710656+1677721600+100, i, 1, 0, NULL FROM n;
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 1000000 + correlationId * 100000, 1100000 + correlationId * 100000, 0, 1, 7, correlationId, 281474976710656+1677721600, 2, 2, NULL
	FROM CUPTI_ACTIVITY_KIND_RUNTIME;
INSERT INTO PROFILER_OVERHEAD SELECT start + 100, end - 500, globalTid, 3, 0 FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId >= $1
	UNION ALL SELECT start + 100, end - 100, globalTid, 3, 0 FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId = $1 / 2;
END
	nsysx-extract -q -a "$T/queued.sqlite" >"$T/queued"
	columns overhead class <"$T/queued" | sort | uniq -c | awk '{ print $2, $1 }'
}
equal 'an overhead within a launch that finds the queue full is a wait for it' "$(queued 600)" "$(printf -- '- 1\nqueue-full 20')"
equal '... by which calls have stalled' "$(columns call stalled <"$T/queued" | awk '$1 { s += $1; n++ } END { print n, s }')" "20 $((349900 + 19 * 99300))"
equal '... and a diag tells' "$(columns diag text count <"$T/queued" | grep -e overheads)" "$(cat <<'END'
overheads of an unknown type within launches that found the queue full: they count as waits for a place in it 20
overheads of an unknown type: without a class 1
END
)"
sqlite3 "$T/queued.sqlite" 'UPDATE PROFILER_OVERHEAD SET end = start + (end - start) / 2'
equal 'overheads that end where no operation begins or ends are no waits' \
	"$(nsysx-extract -q -a "$T/queued.sqlite" | columns overhead class | sort | uniq -c | awk '{ print $2, $1 }')" '- 21'
# 12 steps of 700 launches, each 2 us after the one before; kernels of 9.9 us begin 10 us apart, so 559 wait before the last launch of each step, which
# has an overhead. The next step begins when all have ended.
sqlite3 "$T/queued.sqlite" <<'END'
DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM PROFILER_OVERHEAD;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 12 * 700 - 1)
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i / 700 * 10000000 + i % 700 * 2000, i / 700 * 10000000 + i % 700 * 2000 + 1500, 0, 281474976710656+1677721600+100, i, 1, 0, NULL FROM n;
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT correlationId / 700 * 10000000 + 3000 + correlationId % 700 * 10000,
	correlationId / 700 * 10000000 + 12900 + correlationId % 700 * 10000, 0, 1, 7, correlationId, 281474976710656+1677721600, 2, 2, NULL FROM CUPTI_ACTIVITY_KIND_RUNTIME;
INSERT INTO PROFILER_OVERHEAD SELECT start + 100, start + 1400, globalTid, 3, 0 FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId % 700 = 699;
END
nsysx-extract -q -a "$T/queued.sqlite" >"$T/queued"
equal 'the last launches of steps that end with a synchronization found no full queue' "$(columns overhead class <"$T/queued" | sort | uniq -c | awk '{ print $2, $1 }')" '- 12'
equal '... and how long calls have stalled is not known' "$(columns call stalled <"$T/queued" | sort -u)" -
equal 'what holds less is no queue' "$(queued 450)" '- 21'
equal '... and how long calls have stalled is not known' "$(columns call stalled <"$T/queued" | sort -u)" -

# ---- what nsys warns of, in our own words: its own hold names
cp "$T/hand.sqlite" "$T/warned.sqlite"
sqlite3 "$T/warned.sqlite" <<'END'
CREATE TABLE DIAGNOSTIC_EVENT(timestamp INT, timestampType INT, source INT, severity INT, text TEXT, globalPid INT);
INSERT INTO DIAGNOSTIC_EVENT VALUES (-1,1,3,2,'Not all NVTX events might have been collected.',1),(-1,1,3,2,'Not all NVTX events might have been collected.',1),
(-1,1,3,2,'Installed CUDA driver version (13.4) is not supported by this build of SECRET',1),(-1,1,3,2,'7 events of SECRET were dropped.',1),(-1,1,3,3,'No space left for SECRET',1),
(-1,1,3,1,'Process was launched by the profiler, see SECRET',1),(-1,1,3,4,'SECRET: 3 dropped',1),(-1,1,3,2,'No OpenGL events collected. SECRET',1),(-1,1,3,2,NULL,1),(-1,1,3,'x','lost',1);
END
nsysx-extract -q -a "$T/warned.sqlite" >"$T/warned"
equal 'warnings of nsys that something is missing are diags of it' "$(nsysx-view -t diag "$T/warned" | awk -F'\t' '$2 == "nsys" { print $1, substr($3, 1, 60), $4 }' | sort)" \
	"$(printf '%s\n' 'warning errors or losses of the recording that nsysx does not know:  2' \
	'warning not all NVTX events may have been recorded: ranges may be mi 2' 'warning the CUDA driver is not supported by this nsys: operations ma 1')"
equal '... without what they say of the machine' "$(grep -c SECRET "$T/warned")" 0
equal '... and on the screen of nsysx-diagnose' "$(nsysx-diagnose -q --table "$T/warned" | grep -c '^nsys warns: ')" 3
equal '... also through a filter, once' "$(nsysx-overlap -q "$T/warned" | nsysx-view -t diag | awk -F'\t' '$2 == "nsys"' | wc -l)" 3
sqlite3 "$T/warned.sqlite" 'ALTER TABLE NVTX_EVENTS DROP COLUMN text'
fails 'ranges without a column for their names' 1 'NVTX_EVENTS: no column text' nsysx-extract -q -a -o "$T/none" "$T/warned.sqlite"

# ---- options
fails '--calls needs --ops' 2 '--calls needs --ops' nsysx-extract --calls "$T/hand.sqlite"
nsysx-extract -q --ops --calls --ranges=all "$T/hand.sqlite" >"$T/long"
same '-a is --ops --calls --ranges=all' "$T/hand.nsx" "$T/long"
nsysx-extract -q --ops "$T/hand.sqlite" | columns op type start call tid host_start host_dur waits src dst >"$T/plain"
same 'operations are the same without --calls' "$T/plain" "$T/ops"
equal 'without --calls there are no call records' "$(nsysx-extract -q --ops "$T/hand.sqlite" | grep -c -e '^call' -e '^overhead')" 0
nsysx-extract -q -b -a "$T/hand.sqlite" | nsysx-view >"$T/decoded"
same 'binary holds what text holds' "$T/decoded" "$T/hand.nsx"
for jobs in 1 2 5; do
	nsysx-extract -q -a -j $jobs "$T/hand.sqlite" >"$T/jobs"
	same "the same with $jobs threads" "$T/jobs" "$T/hand.nsx"
done
equal '--time keeps whole calls that overlap' "$(nsysx-extract -q --ops --calls --time 1050ns:1250ns "$T/hand.sqlite" | columns call call dur ops | sort -n)" "$(printf '1 100 1\n3 100 2\n20 100 1')"
equal '--time keeps overheads that overlap' "$(nsysx-extract -q --ops --calls --time 4450ns:4600ns "$T/hand.sqlite" | columns overhead start)" "$(printf '4200\n4400')"
equal '--time does not change the start of the last operation' "$(nsysx-extract -q --ops --time 1050ns:1250ns "$T/hand.sqlite" | columns device last | head -n 1)" 5300
equal '--device keeps the calls of its process' "$(nsysx-extract -q --ops --calls --device 1 "$T/hand.sqlite" | columns call call)" 20

# ---- what exports lack
# without TABLE COLUMN-OR-NOTHING: hand.sqlite without it, in $T/less.nsx.
without() {
	cp "$T/hand.sqlite" "$T/less.sqlite"
	if [ "${2-}" ]; then
		sqlite3 "$T/less.sqlite" "ALTER TABLE $1 DROP COLUMN $2" 2>/dev/null || sqlite3 "$T/less.sqlite" "ALTER TABLE $1 RENAME COLUMN $2 TO was"
	else
		sqlite3 "$T/less.sqlite" "DROP TABLE $1"
	fi
	nsysx-extract -q -a "$T/less.sqlite" >"$T/less.nsx"
}
ok 'no table of overheads' without CUPTI_ACTIVITY_KIND_OVERHEAD
equal 'without overheads the stalled time of calls is absent' "$(columns call stalled loading <"$T/less.nsx" | sort -u)" '- -'
sqlite3 "$T/less.sqlite" 'CREATE TABLE ENUM_CUPTI_OVERHEAD_TYPE(id INTEGER PRIMARY KEY, name TEXT, label TEXT)'
equal 'with the enumeration of overheads it is 0, but for code of a kernel that is first launched' \
	"$(nsysx-extract -q -a "$T/less.sqlite" | columns call stalled loading | sort -u)" "$(printf '0 0\n0 40')"
ok 'no table of synchronisation' without CUPTI_ACTIVITY_KIND_SYNCHRONIZATION
equal 'without synchronisation no operation waits' "$(columns op waits <"$T/less.nsx" | sort -u)" "$(printf -- '-\n0')"
ok 'no table of calls' without CUPTI_ACTIVITY_KIND_RUNTIME
equal 'without calls the call of operations is absent' "$(columns op call tid host_start waits <"$T/less.nsx" | sort -u)" '- - - -'
ok 'no class of rows' without CUPTI_ACTIVITY_KIND_RUNTIME eventClass
equal 'without a class of rows every row is a call' "$(columns call call <"$T/less.nsx" | wc -l | awk '{ print $1 }')" 24
ok 'no kinds of memory' without CUPTI_ACTIVITY_KIND_MEMCPY dstKind
equal 'without kinds of memory the name alone decides whether a copy blocks' "$(columns call call blocking <"$T/less.nsx" | grep '^[678] ' | sort)" "$(printf '6 -\n7 -\n8 1')"
ok 'no names of calls' without CUPTI_ACTIVITY_KIND_RUNTIME nameId
equal 'without names calls have class other' "$(columns call name class <"$T/less.nsx" | sort -u)" '- other'

# ---- filters
nsysx-extract -q -a "$T/hand.sqlite" | nsysx-merge -q >"$T/merged"
same 'merge of one changes no call' "$T/merged" "$T/hand.nsx"
ok 'a merge of two streams is sorted' sh -c 'cp "$T/hand.sqlite" "$T/other.sqlite" && nsysx-extract -q -a "$T/hand.sqlite" "$T/other.sqlite" >"$T/two"'
nsysx-extract -q -a "$T/other.sqlite" >"$T/other.nsx"
nsysx-merge -q "$T/other.nsx" "$T/hand.nsx" >"$T/merged"
same 'a merge of two streams equals extracting both exports' "$T/merged" "$T/two"
# Host times of a profile move by its lowest device's clock, GPU times by their own.
grep '^#nsysx' "$T/hand.nsx" >"$T/clocks"
printf '#profile\tprofile:i\tname:s\nprofile\t0\thand\n#device\tdevice:i\tprofile:i\ndevice\t0\t0\ndevice\t1\t0\n#clock\tdevice:i\tprofile:i\toffset:f\trate:f\tref:i\nclock\t0\t0\t100\t0\t0\nclock\t1\t0\t-50\t0\t0\n#end\trecords:i\nend\t5\n' >>"$T/clocks"
ok 'clocks of two devices' sh -c 'nsysx-align -q --apply "$T/clocks" "$T/hand.nsx" >"$T/aligned"'
equal 'calls move by the clock of the lowest device' "$(columns call call start <"$T/aligned" | sort -n | sed -n '1p;$p')" "$(printf '1 900\n24 6200')"
equal 'overheads move by the clock of the lowest device' "$(columns overhead start <"$T/aligned" | head -n 1)" 400
equal 'operations move by their device, their host times by the lowest one' "$(columns op device start host_start <"$T/aligned" | grep '^1 ')" '1 1550 900'
equal 'the start of the last operation moves by its device' "$(columns device last <"$T/aligned")" "$(printf '5200\n1550')"
ok 'the aligned stream is sorted' sh -c 'nsysx-overlap -q "$T/aligned" >/dev/null'
equal 'a device whose clock differs from its host has a diag' "$(columns diag text count <"$T/aligned" | grep -c 'offset than their host')" 1

# ---- a trace
nsysx-perfetto -q --chrome "$T/hand.nsx" >"$T/trace"
equal 'calls are slices' "$(grep -c '"cat":"call"' "$T/trace")" 23
equal 'overheads are slices' "$(grep -c '"cat":"overhead"' "$T/trace")" 10
equal 'an arrow from each call that issued something to its first operation' "$(grep -c '"ph":"s"' "$T/trace") $(grep -c '"ph":"f"' "$T/trace")" '9 9'
nsysx-perfetto -q --chrome --no-flows "$T/hand.nsx" >"$T/trace"
equal 'no arrows with --no-flows' "$(grep -c -e '"ph":"s"' -e '"ph":"f"' "$T/trace")" 0

# ---- generated jobs: compared with SQL queries on their exports
for options in '' '--torch' '--graphs' '--schema 3.0.0 --shuffle' '--schema 3.28.1 --shuffle' '--schema 3.28.1 --torch' '--processes 2 --devices 2 --one-export'; do
	rm -rf "$T/job"
	# shellcheck disable=SC2086
	"$SYNTH" -q -o "$T/job" $options || exit 1
	set -- "$T/job"/*.sqlite
	nsysx-extract -q -a "$1" >"$T/job.nsx"
	sqlite3 -separator ' ' "$1" 'SELECT rowid, globalTid & 0xffffff, start, end - start FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass <> 67 ORDER BY rowid' >"$T/want"
	columns call call tid start dur <"$T/job.nsx" | sort -n >"$T/calls"
	same "calls of a generated job ${options:-without options}" "$T/calls" "$T/want"
	sqlite3 -separator ' ' "$1" "
		CREATE TEMP TABLE calls AS SELECT rowid AS id, start, end, correlationId AS corr, globalTid & ~0xffffff AS pid FROM CUPTI_ACTIVITY_KIND_RUNTIME;
		CREATE INDEX temp.by_id ON calls (corr, pid);
		SELECT start, end - start, (SELECT id FROM calls c WHERE corr = k.correlationId AND pid = k.globalPid ORDER BY start, id LIMIT 1) FROM CUPTI_ACTIVITY_KIND_KERNEL k" |
		awk '{ print $1, $2, $3 == "" ? "-" : $3 }' | sort >"$T/want"
	awk -F'\t' '/^#op\t/ || ($1 == "op" && $4 == "kernel")' "$T/job.nsx" | columns op start dur call | sort >"$T/ops"
	same 'calls of kernels, by SQL' "$T/ops" "$T/want"
	case $options in
	*3.28.1*)
		sqlite3 -separator ' ' "$1" "
			SELECT 'memcpy', k.start, k.end - k.start, sourceBytes, streamId, r.rowid, r.start, 'cuMemBatchDecompressAsync', 'other', 1
			FROM CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r
			ON r.correlationId = k.correlationId AND r.globalTid & ~0xffffff = k.globalPid" | sort >"$T/want"
		awk -F'\t' '/^#op\t/ || ($1 == "op" && $7 == "[CUDA mem decompress]")' "$T/job.nsx" |
			columns op call type start dur bytes stream call host_start | sort >"$T/ops"
		columns call call name class ops <"$T/job.nsx" | sort >"$T/calls"
		join -o 1.2,1.3,1.4,1.5,1.6,1.7,1.8,2.2,2.3,2.4 "$T/ops" "$T/calls" | sort >"$T/got"
		same 'calls of decompressions, by SQL' "$T/got" "$T/want"
		equal 'there are decompressions' "$([ -s "$T/want" ] && echo yes)" yes
		;;
	esac
	columns op call <"$T/job.nsx" | grep -v '^-' | sort -n | uniq -c | awk '{ print $2, $1 }' | sort >"$T/want"
	columns call call ops <"$T/job.nsx" | grep -v ' 0$' | sort >"$T/calls"
	same 'ops is the number of operations that name the call' "$T/calls" "$T/want"
	ok 'the stream is sorted' sh -c 'nsysx-overlap -q "$T/job.nsx" >/dev/null'
done
done_testing
