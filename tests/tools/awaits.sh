#!/bin/sh
# What operations and calls awaited: calls/awaits.sql is an export of which it is known, of events and of XLA without calls that record any.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"

# after FILE: the operations that awaited others, with those.
after() {
	columns op profile op after <"$1" | grep -v -e '-$'
}

sqlite3 "$T/hand.sqlite" <calls/awaits.sql
run nsysx-extract -q -a -o "$T/hand.nsx" "$T/hand.sqlite"
equal 'a hand-written export is read' "$status" 0
cat >"$T/want" <<'WANT'
0 2 0
0 5 3
0 6 5
0 7 4
0 8 7
WANT
after "$T/hand.nsx" | sort >"$T/got"
same 'operations behind an event, starts, and what follows a -done' "$T/got" "$T/want"
equal 'calls name the operations whose ends they awaited' "$(columns call call waited <"$T/hand.nsx" | grep -v -e '-$')" '6 2
7 1,2'

# Some versions of Nsight Systems write no row for cudaDeviceSynchronize.
waited() {
	nsysx-extract -q -a "$T/other.sqlite" | columns call call waited | grep -v -e '-$'
}
cp "$T/hand.sqlite" "$T/other.sqlite"
sqlite3 "$T/other.sqlite" 'DELETE FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION WHERE correlationId = 7'
equal 'a device synchronization without a row waits for the device of the process' "$(waited)" '6 2
7 1,2'
sqlite3 "$T/other.sqlite" 'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1, contextId = 3 WHERE demangledName = 11'
equal '... of several it is not known for which' "$(waited)" '6 2'

# Copies of pageable memory: a large one is staged piece by piece and returns with the last, 8 us before it is on the
# device; a small one begins after the call has returned; that of pinned memory, and of one that ends much later, is not
# waited for.
for copy in '9420000 9950000 0 kept' '9420000 9991000 0 none' '9960000 9965000 0 none' '9420000 9950000 1 none'; do
	cp "$T/hand.sqlite" "$T/other.sqlite"
	set -- $copy
	sqlite3 "$T/other.sqlite" "INSERT INTO StringIds VALUES (6,'cudaMemcpyAsync_v3020');
		INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (9400000,9942000,0,281474976710656+1677721600+100,8,6,0,NULL);
		CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT, dstKind INT);
		INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES ($1,$2,0,1,7,8,281474976710656+1677721600,1048576,1,$3,2)"
	equal "a copy to the device of $1 to $2, from memory of kind $3, in a call until 9942000" \
		"$(waited | sed -n 's/^14 [0-9]*$/kept/p' | grep . || echo none)" "$4"
done

nsysx-extract -q --ops --calls "$T/hand.sqlite" >"$T/few.nsx"
after "$T/few.nsx" | sort >"$T/got"
same 'without ranges too' "$T/got" "$T/want"
equal 'not without calls' "$(nsysx-extract -q --ops "$T/hand.sqlite" | columns op after | sort -u)" -

# Once its process records an event, nothing is known of XLA's starts.
sqlite3 "$T/hand.sqlite" 'INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1740,1745,0,281474976710656+3355443200+200,9,2,0,NULL)'
nsysx-extract -q -a "$T/hand.sqlite" >"$T/records.nsx"
equal 'XLA that records events is not guessed at' "$(after "$T/records.nsx")" '0 2 0'
equal 'an operation that ended late was not awaited' "$(sqlite3 "$T/hand.sqlite" 'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 5700, end = 5800 WHERE demangledName = 10'
	nsysx-extract -q -a -o "$T/late.nsx" "$T/hand.sqlite"
	after "$T/late.nsx"
	columns diag text count <"$T/late.nsx" | grep awaited)" 'operations that began before what they seem to have awaited: not taken for that 1'

# Numbers are those of the profile.
cp "$T/hand.nsx" "$T/other.nsx"
nsysx-merge -q --force "$T/hand.nsx" "$T/other.nsx" >"$T/merged.nsx"
after "$T/merged.nsx" | sort >"$T/got"
sed 's/^0/1/' "$T/want" | cat "$T/want" - >"$T/both"
same 'merging keeps the numbers' "$T/got" "$T/both"
nsysx-align -q "$T/merged.nsx" >"$T/aligned.nsx"
after "$T/aligned.nsx" | sort >"$T/got"
same 'and so does aligning' "$T/got" "$T/both"
equal 'calls too' "$(columns call profile call waited <"$T/aligned.nsx" | grep -v -e '-$' | sort)" '0 6 2
0 7 1,2
1 6 2
1 7 1,2'
done_testing
