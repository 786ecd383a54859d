#!/bin/sh
# CUDA graphs of XLA of 2026, traced by node, and ranges within ranges: nsysx-extract compared with the generator's answers. The owner of a node follows
# from an execution of the same command buffer that ran op by op, from XLA's list of thunks, or from a name that only one instruction can have.
. "${0%/*}/../testlib.sh"
. "$tests_dir/answers.sh"
. "$tests_dir/comparelib.sh"

# dumped NAME: the job's stream, each export with its dumps, in $T/NAME.nsx; diags in $T/NAME.err.
dumped() {
	job=$1
	shift
	for export in "$T/$job"/r*.sqlite; do
		i=${export##*/r}
		i=${i%.sqlite}
		set -- "$@" -x "$T/$job/dump${i:-0}" "$export"
	done
	nsysx-extract -v "$@" >"$T/$job.nsx" 2>"$T/$job.err"
	nsysx-extract -v "$T/$job"/r*.sqlite >"$T/$job-nodump.nsx" 2>"$T/$job-nodump.err"
}

# Count and ns of operations in the diags of stream NAME: of those that no source identifies ($2 is `command buffer`), the only diag with a time
# that names command buffers; of those in no thunk (`no thunk`).
said_ns() {
	grep -F "$2" "$T/$1.err" | grep -E ' [0-9]+ ns( |$)' | awk '
		{
			for (i = 2; i <= NF; i++)
				if ($i == "ns") ns += $(i - 1)
			if (match($NF, /^\([0-9]+\)$/)) n += substr($NF, 2)
		}
		END { printf "%d %d\n", n, ns }'
}

# The same from answers FILE, of rows that contain $2.
known_ns() {
	awk -F'\t' -v what="$2" 'NR > 1 && (what == "" || $2 == what) { n += $(NF - 1); ns += $NF } END { printf "%d %d\n", n, ns }' "$1"
}

# Instructions of a stream that have thunks, in the form of answers/insts.tsv, sorted.
said_insts() {
	awk -F'\t' -v OFS='\t' '
		/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); col[substr($1, 2), c[1]] = i } next }
		function get(name) { return col[$1, name] ? $(col[$1, name]) : "" }
		$1 == "program" { id[get("program")] = get("id"); name[get("program")] = get("name") }
		$1 == "inst" {
			p = get("program")
			row[p, get("inst")] = id[p] OFS name[p] OFS get("name") OFS get("opcode") OFS get("comm") OFS get("collective") OFS get("bytes") OFS get("op_name") OFS get("scheduling_name")
		}
		$1 == "thunk" && !seen[get("program"), get("inst")]++ { print row[get("program"), get("inst")] }' "$1" | sort
}

# job NAME OPTION...: everything about a job with those options equals its answers.
job() {
	job=$1
	shift
	"$SYNTH" -o "$T/$job" --xla26 "$@" || exit 1
	dumped "$job"
	agrees "$job: thunks" thunks_dump "$T/$job.nsx" "$T/$job"
	agrees "$job: modules" modules_dump "$T/$job.nsx" "$T/$job"
	agrees "$job: thunks without a dump" thunks "$T/$job-nodump.nsx" "$T/$job"
	agrees "$job: modules without a dump" modules "$T/$job-nodump.nsx" "$T/$job"
	said_insts "$T/$job.nsx" >"$T/said"
	cut -f 1-7,9- "$T/$job/answers/insts.tsv" | sed 1d | sort >"$T/answered"
	same "$job: instructions" "$T/answered" "$T/said"
	# For unassigned communication only the kind is known.
	nsysx-overlap -q "$T/$job.nsx" | nsysx-collectives -q | grep -v -e '^collective.*command_buffer' >"$T/$job.coll"
	agrees "$job: collectives" collectives "$T/$job.coll" "$T/$job"
	equal "$job: unidentified nodes are reported" "$(said_ns "$job" 'command buffer')" "$(known_ns "$T/$job/answers/graphs_dump.tsv" left)"
	equal "$job: ... without a dump" "$(said_ns "$job-nodump" 'command buffer')" "$(known_ns "$T/$job/answers/graphs.tsv" left)"
	equal "$job: operations in no thunk are reported" "$(said_ns "$job" 'no thunk')" "$(known_ns "$T/$job/answers/direct.tsv" '')"
	equal "$job: ... without a dump" "$(said_ns "$job-nodump" 'no thunk')" "$(known_ns "$T/$job/answers/direct.tsv" '')"
	equal "$job: no diag about the dumps" "$(grep -c -e 'another run' -e 'warning.*op_name' "$T/$job.err")" 0
}

job first --devices 2
job no-uid --no-uid --seed 2
job late --late 1 --dumps zst
# One process ran command buffers op by op: that identifies nodes of the other, in the same export.
job one --one-export --late 1
job warm --xla26=warm --dumps xz
job bare --xla26=warm --lists none
job short --xla26=warm --lists short
job other --xla26=warm --lists other
job many --processes 3 --devices 2 --late 2 --steps 7 --layers 1 --seed 9 --offset 1000000
job shuffled --late 1 --shuffle --full --schema 3.25.0 --titles 2026

# The jobs serve their purpose: each source identifies some nodes, and leaves some to the next.
for want in 'first execution' 'late execution' 'late list' 'late left' 'warm list' 'warm left' 'bare name' 'bare left' 'short name' 'other list' 'other name' 'other left'; do
	equal "by ${want#* } in ${want% *}" "$(awk -F'\t' -v by="${want#* }" '$2 == by { n += $3 } END { print (n > 0) }' "$T/${want% *}/answers/graphs_dump.tsv")" 1
done
"$SYNTH" -o "$T/broken" --xla26 --devices 2 --break thunks_dump || exit 1
said thunks_dump "$T/first.nsx" >"$T/said"
answered thunks_dump "$T/broken" >"$T/answered"
answered thunks_dump "$T/first" >"$T/right"
equal 'a falsified answer is detected' "$(comm -13 "$T/said" "$T/answered" | wc -l | tr -d ' ')" "$(($(comm -13 "$T/said" "$T/right" | wc -l) + 1))"

# ---- memsets of libraries, which XLA's list does not have: cuBLAS clears some bytes before some of its kernels

"$SYNTH" -o "$T/sets" --xla26=warm --lists good || exit 1
# cleared NAME NODE: the job with a memset before each kernel of the library in the graph that has memsets of XLA's own, too,
# as node NODE of the graph, where nodes of the others are even numbers.
cleared() {
	cp "$T/sets/r0.sqlite" "$T/$1.sqlite"
	for kind in KERNEL MEMCPY MEMSET; do
		echo "UPDATE CUPTI_ACTIVITY_KIND_$kind SET graphNodeId = graphNodeId + (graphNodeId & 0xffffffff);"
	done >"$T/sql"
	echo "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId, correlationId, globalPid, value, bytes, graphNodeId)
		SELECT start - 90, start - 10, deviceId, contextId, streamId, correlationId, globalPid, 0, 20, $2
		FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName WHERE s.value LIKE 'nvjet%'
		AND graphNodeId IS NOT NULL AND correlationId IN (SELECT correlationId FROM CUPTI_ACTIVITY_KIND_MEMSET);" >>"$T/sql"
	sqlite3 "$T/$1.sqlite" <"$T/sql"
	nsysx-extract -q --ops -x "$T/sets/dump0" "$T/$1.sqlite" >"$T/$1.nsx"
}
# The number of planted memsets, and of those that belong to no instruction of a library.
sets_of() {
	nsysx-summary -q --tsv --by thunk "$T/$1.nsx" | columns name,opcode | awk '$2 == "custom-call" { print $1 }' >"$T/calls"
	nsysx-view "$T/$1.nsx" | awk -F'\t' -v calls="$T/calls" 'BEGIN { while ((getline line <calls) > 0) call[line] = 1 }
		/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); col[substr($1, 2), c[1]] = i } next }
		function get(name) { return $(col[$1, name]) }
		$1 == "inst" { name[get("program"), get("inst")] = get("name") }
		$1 == "op" && get("type") == "memset" && get("bytes") == 20 && get("graph_node") != "" { n++; other += !(name[get("program"), get("inst")] in call) }
		END { print n + 0, other + 0 }'
}
counts_of() { nsysx-summary -q --tsv --by thunk "$T/$1.nsx" | columns id,name,count | sort; }
cleared before 'graphNodeId - 1'
n=$(sqlite3 "$T/before.sqlite" 'SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_MEMSET WHERE bytes = 20')
equal 'memsets are planted' "$((n > 1))" 1
equal 'a memset before a kernel of a library belongs to its instruction' "$(sets_of before)" "$n 0"
nsysx-extract -q --ops -x "$T/sets/dump0" "$T/sets/r0.sqlite" >"$T/sets.nsx"
counts_of sets >"$T/want"
counts_of before >"$T/got"
same '... in one thunk' "$T/want" "$T/got"
cleared behind 'graphNodeId + 1'
equal '... if it is the node before' "$(sets_of behind)" "$n $n"

# ---- a large job

"$SYNTH" -o "$T/large" --xla26 --nodes 30000 || exit 1
dumped large
awk -F'\t' -v OFS='\t' '
	/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); col[substr($1, 2), c[1]] = i } next }
	function get(name) { return $(col[$1, name]) }
	$1 == "program" { id[get("program")] = get("id") }
	$1 == "thunk" { k = id[get("program")] OFS get("name"); n[k]++; ns[k] += get("dur") }
	END { for (k in n) print k, n[k], ns[k] }' "$T/large.nsx" | sort >"$T/said"
sed 1d "$T/large/answers/sums_dump.tsv" | sort >"$T/answered"
same 'large: thunks and time of every instruction' "$T/answered" "$T/said"

# ---- extracted together, apart, in any order

for j in late many; do
	set --
	for i in 0 1 2; do
		[ -e "$T/$j/r$i.sqlite" ] || continue
		set -- -x "$T/$j/dump$i" "$T/$j/r$i.sqlite" "$@"
		nsysx-extract -q -b --ops -x "$T/$j/dump$i" "$T/$j/r$i.sqlite" >"$T/part$i"
	done
	nsysx-extract -q --ops "$@" >"$T/together"
	nsysx-extract -q --ops -j 1 "$@" >"$T/other.nsx"
	same "$j: the number of threads does not matter" "$T/together" "$T/other.nsx"
	nsysx-extract -q --ops --spool "$@" >"$T/other.nsx"
	same "$j: extracted one at a time" "$T/together" "$T/other.nsx"
	nsysx-merge -q "$T"/part? >"$T/other.nsx"
	same "$j: extracted separately and merged" "$T/together" "$T/other.nsx"
	rm -f "$T"/part?
done
# Each operation of a graph belongs to the instruction whose thunk contains its time.
awk -F'\t' '
	/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); col[substr($1, 2), c[1]] = i } next }
	function get(name) { return $(col[$1, name]) }
	function place() { return get("profile") SUBSEP get("program") SUBSEP get("execution") SUBSEP get("inst") SUBSEP get("device") }
	$1 == "thunk" { k = place(); i = m[k]++; start[k, i] = get("start"); end[k, i] = get("start") + get("dur") }
	$1 == "op" && get("graph_node") != "" { n++; op[n] = place(); from[n] = get("start"); to[n] = get("start") + get("dur") }
	END {
		for (i = 1; i <= n; i++) {
			found = 0
			for (k = 0; k < m[op[i]] && !found; k++)
				found = start[op[i], k] <= from[i] && to[i] <= end[op[i], k]
			lost += !found
		}
		print (n > 0), lost + 0
	}' "$T/together" >"$T/lost"
equal 'every operation of a graph belongs to its thunk' "$(cat "$T/lost")" '1 0'
done_testing
