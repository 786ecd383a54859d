#!/bin/sh
# nsysx-compile: compilation time, with parallel compilation scaled to elapsed time, from streams and from CSV.
. "${0%/*}/../testlib.sh"

tab=$(printf '\t')
head_of() {
	printf '#nsysx\t2\n#profile\tprofile:i\tname:s\nprofile\t0\tr0\nprofile\t1\tr1\n'
	printf '#program\tprogram:i\tid:i\tname:s\tkey:s\nprogram\t0\t7\tjit_f\tjit_f@7\nprogram\t1\t9\tjit_g\tjit_g@9\n'
	printf '#compile\tprofile:i\trange:i\tparent:i\tpid:i\ttid:i\tstart:i\tdur:i\tchild:i\tself:i\tchildren:i\tprogram:i\tname:s\n'
}
tail_of() { printf '#end\trecords:i\nend\t0\n'; }
# Lines `profile range parent tid start dur child children program name` (`-`: absent; pid is 5) as a stream in file $1.
stream() {
	{
		head_of
		awk -v OFS='\t' '{ for (i = 1; i <= NF; i++) if ($i == "-") $i = ""
			print "compile", $1, $2, $3, 5, $4, $5, $6, $7, sprintf("%.0f", $6 - $7), $8, $9, $10 }'
		tail_of
	} >"$1"
}
# name self child of a table, a line each with spaces made underscores.
sums() { nsysx-compile --tsv "$@" | awk -F'\t' 'NR > 1 { gsub(" ", "_", $1); print $1, $2, $3 }'; }

# ---- sharing ----
# One compilation of 1000 ns. In its backend (900 ns) are two parallel regions:
#   [200,500] of threads 2 and 3, exclusive 100 + 50 + 150 and 200: 300 ns shared among 500, a factor of 0.6;
#   [600,800], exclusive 100 and 150, while the main thread schedules for 40 ns: 160 ns among 250, a factor of 0.64.
# Backend: 900 - (100 + 40 + 50) of its own children - 300 - 160 = 250, and 190 + 460 = 650 of children.
cat >"$T/regions.txt" <<'EOF'
0 1 - 1 0 1000 900 1 0 XlaCompile
0 2 1 1 50 900 190 3 0 XlaCompileBackend
0 3 2 1 50 100 0 0 0 XlaEmitLlvmIr
0 4 2 2 200 100 0 0 0 XlaOptimizeLlvmIr
0 7 2 3 210 200 0 0 0 XlaOptimizeLlvmIr
0 5 2 2 300 200 150 1 0 XlaEmitGpuAsm
0 6 5 2 320 150 0 0 0 XlaCompileGpuAsm
0 8 2 2 600 100 0 0 0 XlaOptimizeLlvmIr
0 9 2 3 650 150 0 0 0 XlaEmitGpuAsm
0 11 2 1 680 40 0 0 0 XlaMemoryScheduler
0 10 2 1 900 50 0 0 0 XlaCreateGpuExecutable
EOF
stream "$T/regions" <"$T/regions.txt"
equal 'regions of parallel compilation are scaled one by one, main-thread work in them counts once' "$(sums "$T/regions")" \
	'XlaCompileBackend 250 650
XlaOptimizeLlvmIr 244 0
XlaEmitGpuAsm 126 90
XlaCompile 100 900
XlaEmitLlvmIr 100 0
XlaCompileGpuAsm 90 0
XlaCreateGpuExecutable 50 0
XlaMemoryScheduler 40 0'
# Work: 100 + 710 + 100 + 40 + 50 of the main thread, 500 + 250 of the others.
equal 'by module: total is elapsed time, work is time of threads' \
	"$(nsysx-compile --by module "$T/regions" | sed 1d)" "$(printf '7\tjit_f\tjit_f@7\t1\t1000\t1000\t1000\t1750\t1')"

# Three ranges share 100 ns: 33 1/3 each, and the remaining nanosecond goes to the first by name.
thirds() {
	printf '0 %d1 - 1 %d 100 0 0 0 XlaCompile\n' "$1" "$2"
	printf "0 $1%d ${1}1 %d $2 100 0 0 0 %s\n" 2 2 c 3 3 b 4 4 a
}
thirds 1 0 | stream "$T/thirds"
equal 'shares are rounded so that they add up' "$(sums "$T/thirds")" 'a 34 0
b 33 0
c 33 0
XlaCompile 0 100'
{ thirds 1 0; thirds 2 200; thirds 3 400; } | stream "$T/thrice"
equal 'fractions of several compilations are added before rounding' "$(sums "$T/thrice")" 'a 100 0
b 100 0
c 100 0
XlaCompile 0 300'
# A range launched by a worker of a worker belongs to the same region, which is clipped to its owner: 50 ns among 400.
stream "$T/deep" <<'EOF'
0 1 - 1 100 100 0 0 0 XlaCompile
0 2 1 2 150 100 0 0 0 b
0 3 2 3 160 300 0 0 0 a
EOF
equal 'ranges of other threads are limited to the range around them' "$(sums "$T/deep")" 'XlaCompile 50 50
a 38 0
b 12 0'

# Two ranges of the main thread that overlap cover the region [150,350) of a worker: it gets no time, and they count once.
stream "$T/overlap" <<'EOF'
0 1 - 1 0 1000 400 3 0 XlaCompile
0 2 1 1 100 200 0 0 0 XlaA
0 3 1 2 150 200 0 0 0 XlaWorker
0 4 1 1 200 200 0 0 0 XlaB
EOF
equal 'overlapping ranges of the main thread are subtracted once' "$(sums "$T/overlap")" 'XlaCompile 600 400
XlaA 200 0
XlaB 200 0
XlaWorker 0 0'

# ---- rows ----
stream "$T/job" <<'EOF'
0 1 - 1 0 1000 700 2 0 XlaCompile
0 2 1 1 100 400 150 2 0 XlaPassPipeline:#name=opt#
0 3 2 1 100 100 0 0 0 XlaPass:#name=dce#
0 4 2 1 200 50 0 0 0 XlaPass:#name=cse#
0 5 1 1 500 300 0 0 0 XlaEmitLlvmIr
0 6 - 1 2000 500 200 1 1 XlaCompile
0 7 6 1 2100 200 0 0 1 XlaPass:#name=dce#
1 1 - 1 0 300 100 1 0 XlaCompile
1 2 1 1 0 100 0 0 - XlaPass:#name=cse#
EOF
equal 'by range, over all profiles; the largest first, equal ones by name' "$(sums "$T/job")" 'XlaCompile 800 1000
XlaEmitLlvmIr 300 0
XlaPass:#name=dce# 300 0
XlaPassPipeline:#name=opt# 250 150
XlaPass:#name=cse# 150 0'
equal 'by pass: only XlaPass' "$(sums --by pass "$T/job")" 'XlaPass:#name=dce# 300 0
XlaPass:#name=cse# 150 0'
equal 'shares of passes add up to 1' "$(nsysx-compile --by pass "$T/job" | cut -f 4 | sed 1d | cut -c 1-6 | xargs)" '0.6666 0.3333'
equal 'by phase: the label before the keys' "$(sums --by phase "$T/job")" 'XlaCompile 800 1000
XlaPass 450 0
XlaEmitLlvmIr 300 0
XlaPassPipeline 250 150'
equal 'by module: compilations, their total, mean and longest' "$(nsysx-compile --by module "$T/job" | cut -f 1-7)" \
	"$(printf 'id\tname\tkey\tcompilations\ttotal\tmean\tmax\n7\tjit_f\tjit_f@7\t2\t1200\t600\t1000\n9\tjit_g\tjit_g@9\t1\t500\t500\t500\n\t[unknown program]\t\t0\t100\t\t')"
# Profile 0: compilations of 1000 and 500 ns in [0,2500]; profile 1: 300 ns of 300.
equal 'by process: compilation and the time of all records' "$(nsysx-compile --by process "$T/job")" \
	"$(printf 'profile\tname\tpid\tcompilations\tcompile\twall\tshare\n0\tr0\t5\t2\t1500\t2500\t0.6\n1\tr1\t5\t1\t300\t300\t1')"
{ sed '/^#end/,$d' "$T/job"; printf '#module\tprofile:i\tstart:i\tdur:i\nmodule\t1\t1000\t500\n'; tail_of; } >"$T/ran"
equal 'GPU work extends that time' "$(nsysx-compile --by process "$T/ran" | tail -n 1 | cut -f 5-7)" "$(printf '300\t1500\t0.2')"
run nsysx-compile --table "$T/job"
equal 'an aligned table ends with the share of compilation' "$(tail -n 2 "$T_private/out" | head -n 1)" '2 processes: 1.8e-06 s of 2.8e-06 s compiling (64.3%)'
# The first compilation of each profile's process: XlaCompile 300 and its pipeline 250; XlaCompile 200.
equal '--loading: loading of libraries has a row' "$(sums --loading "$T/job")" '[non-leaf_time_in_0th_XlaCompile_range] 750 0
XlaCompile 300 1000
XlaEmitLlvmIr 300 0
XlaPass:#name=dce# 300 0
XlaPass:#name=cse# 150 0
XlaPassPipeline:#name=opt# 0 150'
# Two concurrent compilations of one process, on two threads.
stream "$T/two" <<'EOF'
0 1 - 1 0 100 0 0 0 XlaCompile
0 2 - 2 50 100 0 0 1 XlaCompile
EOF
equal 'overlapping compilations count once in the busy time of a process' "$(nsysx-compile --by process "$T/two" | sed 1d | cut -f 4-7)" "$(printf '2\t150\t150\t1')"
equal '... and both in the total of modules' "$(sums "$T/two")" 'XlaCompile 200 0'
# A short compilation within a long one; another one that is longer than the first.
stream "$T/within" <<'EOF'
0 1 - 1 0 100 0 0 0 XlaCompile
0 2 - 2 50 20 0 0 0 XlaCompile
0 3 - 1 200 300 0 0 0 XlaCompile
EOF
equal 'a compilation within another does not shorten the busy time' "$(nsysx-compile --by process "$T/within" | sed 1d | cut -f 4-6)" "$(printf '3\t400\t500')"
equal 'max is the longest compilation' "$(nsysx-compile --by module "$T/within" | sed 1d | cut -f 4-7)" "$(printf '3\t420\t140\t300')"

nsysx-view -b "$T/job" >"$T/job.b"
nsysx-compile --by process,module,range,phase,pass -o "$T/at-once-%" "$T/job"
for by in range pass phase module process; do
	nsysx-compile --by $by "$T/job" >"$T/text" && nsysx-compile --by $by "$T/job.b" >"$T/binary"
	same "text and binary give the same, by $by" "$T/text" "$T/binary"
	same "by $by: the same table among others" "$T/text" "$T/at-once-$by"
done
nsysx-compile --json "$T/job" >"$T/json"
alike 'JSON has the same rows' "$(python3 -c 'import json, sys
for r in json.load(open(sys.argv[1])): print(r["name"], r["self"], r["child"])' "$T/json")" "$(nsysx-compile "$T/job" | awk -F'\t' 'NR > 1 { print $1, $2, $3 }')"
nsysx-compile -o "$T/out" "$T/job"
nsysx-compile "$T/job" >"$T/text"
same '-o writes the same to a file' "$T/out" "$T/text"

# ---- malformed streams
stream "$T/empty" </dev/null
run nsysx-compile "$T/empty"
equal 'no compilation: a table without rows and a diag' "$status:$(cat "$T_private/out" "$T_private/err")" \
	"0:$(printf 'name\tself\tchild\tshare\nnsysx-compile: warning: no compile records, which come from XLA'"'"'s ranges in exports: profile a run that compiles with nsys, --trace=cuda,nvtx')"
fails '--require: no compilation' 1 'no compile record' nsysx-compile --require compile "$T/empty"
ok '--require: there is a compilation' nsysx-compile --require compile "$T/job"
head -n 12 "$T/job" >"$T/cut"
fails 'a stream that is cut short' 1 'cut short' nsysx-compile "$T/cut"
fails 'a stream cut short, with --summary' 1 'cut short' nsysx-compile --summary "$T/cut"
fails 'an empty input' 1 'empty' nsysx-compile /dev/null
stream "$T/orphan" <<'EOF'
0 2 1 1 100 400 100 1 0 XlaPassPipeline:#name=opt#
0 3 2 1 100 100 0 0 0 XlaPass:#name=dce#
EOF
equal 'ranges whose parent is missing count' "$(sums "$T/orphan" 2>/dev/null)" 'XlaPassPipeline:#name=opt# 300 100
XlaPass:#name=dce# 100 0'
run nsysx-compile --by module "$T/orphan"
equal '... but not as a compilation' "$(sed 1d "$T_private/out" | cut -f 4,5)" "$(printf '0\t400')"
equal '... with a warning' "$(grep -c 'parent is not in the stream' "$T_private/err")" 1
stream "$T/late" <<'EOF'
0 2 1 1 100 400 0 0 0 XlaPassPipeline
0 1 - 1 100 100 0 0 0 XlaCompile
EOF
fails 'a parent after its child' 1 'range 1 comes after one of its children' nsysx-compile "$T/late"
printf '0 1 - 1 100 100 0 0 0 %s\n' a b | stream "$T/twice"
fails 'a range twice' 1 'range 1 comes twice' nsysx-compile "$T/twice"
echo '0 1 - 1 100 -5 0 0 0 XlaCompile' | stream "$T/negative"
fails 'a negative duration' 1 'compile: a time that is negative' nsysx-compile "$T/negative"
echo '0 1 - 1 0 4000000000000000000 0 0 0 XlaCompile' | stream "$T/huge"
fails 'a time out of range' 1 'compile: a time that is negative or beyond' nsysx-compile "$T/huge"
fails 'a full disk' 1 '/dev/full:' nsysx-compile -o /dev/full "$T/job"
fails 'a full disk, with --summary' 1 '/dev/full:' nsysx-compile -q --summary -o /dev/full compile/quirks.csv
fails '--full without --summary' 2 'goes with --summary' nsysx-compile --full "$T/job"
fails '--by with --summary' 2 'do not go with --summary' nsysx-compile --summary --by pass "$T/job"
fails '--tsv with --summary' 2 'do not go with --summary' nsysx-compile --summary --tsv "$T/job"
fails '--loading by process' 2 '--loading goes with' nsysx-compile --loading --by process "$T/job"
fails '--require of another kind' 2 'uses compile records only' nsysx-compile --require thunk "$T/job"

# ---- CSV ----
# quirks.csv: lines before the header, a name with commas and quotes, one with a line break, one that breaks its row, a compilation below a
# user range, one without time, one in which one kind takes 99 %.
golden 'the summary of unusual CSV' compile/quirks.out nsysx-compile --summary compile/quirks.csv
golden '... with full names' compile/quirks.full.out nsysx-compile --summary --full compile/quirks.csv
nsysx-compile -q --summary compile/quirks.csv >"$T/lf"
sed 's/$/\r/' compile/quirks.csv | nsysx-compile -q --summary | tr -d '\r' >"$T/crlf"
same 'lines may end with CR LF' "$T/lf" "$T/crlf"
zstd -qc compile/quirks.csv | nsysx-compile -q --summary >"$T/zst"
same 'CSV may be compressed' "$T/lf" "$T/zst"
seed=1
while [ $seed -le 6 ]; do
	python3 compile/summary.py random $seed 300 >"$T/random.csv"
	for mode in agg full; do
		python3 compile/summary.py $mode "$T/random.csv" >"$T/want"
		# shellcheck disable=SC2046  # one word or none
		nsysx-compile --summary $([ $mode = full ] && echo --full) "$T/random.csv" >"$T/got"
		same "random ranges $seed, $mode: the summary equals one computed by its definition" "$T/want" "$T/got"
	done
	seed=$((seed + 1))
done
ok 'random ranges have compilations with rows' test "$(wc -l <"$T/got")" -gt 50
head -c "$(($(wc -c <"$T/random.csv") - 20))" "$T/random.csv" >"$T/cut.csv"
fails 'CSV that is cut short' 1 'cut short' nsysx-compile --summary "$T/cut.csv"
fails '... for a table' 1 'cut short' nsysx-compile "$T/cut.csv"
printf 'a,b\n1,2\n' >"$T/foreign.csv"
fails 'CSV with other columns' 1 'no column "Name"' nsysx-compile --summary "$T/foreign.csv"
fails '... for a table' 1 'no column "Start (ns)"' nsysx-compile "$T/foreign.csv"
sed 's/(ns)/(ms)/g' compile/quirks.csv >"$T/ms.csv"
fails 'CSV in other units' 1 'no column "DurNonChild (ns)"' nsysx-compile --summary "$T/ms.csv"
printf 'Processing [r.sqlite] with [nvtx_pushpop_trace.py]... \nSKIPPED: r.sqlite\n' >"$T/none.csv"
fails 'empty CSV' 1 'no line of column names' nsysx-compile --summary "$T/none.csv"

# The regions above as CSV: workers are assigned by time.
{
	echo 'Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID,Lvl,NumChild,RangeId,ParentId,RangeStack,NameTree'
	awk '{ name = "TSL:" $10 ":#module=jit_f,program_id=7#"; up = $3 == 2 && $4 > 1 || $3 == "-" ? "" : $3
		printf "%d,%d,%d,%d,%d,\"%s\",5,%d,0,%d,%d,%s,:%d,\n", $5, $5 + $6, $6, $7, $6 - $7, name, $4, $8, $2, up, $2 }' "$T/regions.txt"
} >"$T/regions.csv"
for by in range phase module; do
	nsysx-compile --by $by "$T/regions" >"$T/stream" && nsysx-compile --by $by "$T/regions.csv" >"$T/csv"
	same "CSV gives the same table, by $by" "$T/stream" "$T/csv"
done

# ---- the summary of a stream ----
# A compilation of 1000 ns: a pass of 300 that contains 200 of another library, code generation for 100. The user range around it does not belong to it.
# Exclusive: 200, 100, 100 of 400.
{
	printf '#nsysx\t2\n#range\tprofile:i\trange:i\tparent:i\tdomain:s\tname:s\tstart:i\thost_start:i\thost_dur:i\n'
	printf 'range\t0\t3\t2\tTSL\tXlaPass:#name=dce,module=m#\t50\t20\t300\n'
	printf 'range\t0\t1\t\t\tuser\t\t0\t2000\n'
	printf 'range\t0\t2\t1\tTSL\tXlaCompile:#module=m#\t\t10\t1000\n'
	printf 'range\t0\t4\t3\tNCCL\tncclGroupEnd\t\t30\t200\n'
	printf 'range\t0\t5\t2\tTSL\tXlaEmitLlvmIr:#module=m#\t\t400\t100\n'
	tail_of
} >"$T/ranges"
equal 'exclusive times are computed from the ranges of a stream' "$(nsysx-compile --summary "$T/ranges" 2>&1)" \
	'Compilation: TSL:XlaCompile:#module=m#: 4e-07
 ncclGroupEnd 50.00% 2e-07
 XlaEmitLlvmIr 25.00% 1e-07'
sed "s/^range${tab}0${tab}1${tab}${tab}/range${tab}0${tab}1${tab}2${tab}/" "$T/ranges" >"$T/circle"
fails 'a range that is its own ancestor' 1 'a range that is its own ancestor' nsysx-compile --summary "$T/circle"
run nsysx-compile --summary "$T/job"
equal 'a stream without host ranges: a warning' "$status:$(cat "$T_private/out"):$(grep -c -e '--ranges=all' "$T_private/err")" 0::1
fails '... with --require: an error' 1 'no compilation' nsysx-compile -q --summary --require compile "$T/job"

# ---- expected results of a definition
# Ranges of other threads are in XlaCompileBackend: their time, while any is open, by their exclusive times.
if [ -x "$SYNTH" ] && [ -x "$B/bin/nsysx-extract" ]; then
	"$SYNTH" -o "$T/synth" || exit 1
	nsysx-extract -q -o "$T/s.nsysx" "$T"/synth/r*.sqlite
	sed 1d "$T/synth/answers/compile.tsv" | sort -t "$tab" -k 1,2 -k 6,6n | awk -F'\t' '
		{ key = $1 FS $2 }
		$3 == "XlaCompile" { main[key] = $5; total += $7 }
		{ n++; k[n] = key; name[n] = $3; tid[n] = $5; from[n] = $6; to[n] = $6 + $7; own[n] = $9 }
		END {
			for (i = 1; i <= n; i++) if (tid[i] != main[k[i]]) {
				if (!(k[i] in last) || from[i] > until[last[k[i]]]) {
					last[k[i]] = ++regions
					begin[regions] = from[i]
				}
				at[i] = last[k[i]]
				if (to[i] > until[at[i]]) until[at[i]] = to[i]
				weight[at[i]] += own[i]
			}
			for (i = 1; i <= n; i++) sum[name[i]] += at[i] ? own[i] * (until[at[i]] - begin[at[i]]) / weight[at[i]] : own[i]
			for (r = 1; r <= regions; r++) sum["XlaCompileBackend"] -= until[r] - begin[r]
			for (x in sum) printf "%s\t%.3f\n", x, sum[x]
			printf "total\t%d\nregions\t%d\n", total, regions
		}' | sort >"$T/want"
	nsysx-compile "$T/s.nsysx" | awk -F'\t' 'NR > 1 { print $1 FS $2; total += $2 } END { print "total" FS total }' | sort >"$T/got"
	ok 'the samples have parallel compilation' awk -F'\t' '$1 == "regions" && $2 > 0 { good = 1 } END { exit !good }' "$T/want"
	equal 'every range of the samples has its expected time' "$(join -t "$tab" -a 1 -a 2 -e none -o 0,1.2,2.2 "$T/want" "$T/got" |
		awk -F'\t' '$1 != "regions" && ($2 == "none" || $3 == "none" || $2 - $3 > 1 || $3 - $2 > 1)')" ''
	equal 'these times add up to the compilations' "$(grep '^total' "$T/got")" "$(grep '^total' "$T/want")"
else
	skip 'every range of the samples has its expected time' 'there is no nsysx-synth or nsysx-extract'
fi

# ---- reference results
# Names and times of the reference table $2 against those of our table $3, within 1 ns each and in order.
reference() {
	zstd -qdc "$SHARED/oracle/$2.tsv.zst" | awk -F'\t' 'NR > 1 { printf "%s\t%.0f\n", $1, $2 * 1e6 }' >"$T/want"
	sed 1d "$3" | cut -f 1,2 | paste "$T/want" - |
		awk -F'\t' '$1 != $3 || $2 - $4 > 1 || $4 - $2 > 1 { wrong++ } END { print (NR > 100), wrong + 0 }' >"$T/got"
	equal "$1" "$(cat "$T/got")" '1 0'
}
if [ -e "$SHARED/data/compile/p0.csv.zst" ] && [ -e "$SHARED/data/pax/p0.sqlite.zst" ]; then
	pax=$SHARED/data/pax
	nsysx-extract -q -b "$pax"/p?.sqlite.zst | nsysx-compile >"$T/table"
	reference 'the ranges of four profiles' combined/compilation_stats_stripped "$T/table"
	nsysx-extract -q -b --autotune "$pax"/p?.sqlite.zst >"$T/raw"
	nsysx-compile "$T/raw" >"$T/table"
	reference 'with autotuning separate' combined/compilation_stats_raw_stripped "$T/table"
	nsysx-extract -q -b -o "$T/p0" "$pax/p0.sqlite.zst"
	nsysx-compile --by pass "$T/p0" >"$T/table"
	reference 'passes only' p0/compilation_passes_stripped "$T/table"
	nsysx-compile "$T/p0" >"$T/table"
	zstd -qdc "$SHARED/data/compile/p0.csv.zst" | nsysx-compile >"$T/csv"
	same 'the same table from CSV' "$T/table" "$T/csv"
	nsysx-extract -q -b --ranges=all -o "$T/all" "$pax/p0.sqlite.zst"
	nsysx-compile --summary "$T/all" >"$T/got"
	same 'the reference summary' "$T/got" "$SHARED/data/compile/p0.agg.txt"
	zstd -qdc "$SHARED/data/compile/p0.full.txt.zst" >"$T/want"
	nsysx-compile --summary --full "$T/all" >"$T/got"
	same '... with full names' "$T/got" "$T/want"
else
	skip 'the reference tables' 'the reference data are not here'
fi

# ---- why again ----

# again ID NAME BATCH TYPE RESULT CONSTANT DEVICES [MORE]: a dump in $T/again; MORE: text of a further instruction; inner: not the ID in what is computed.
again() {
	protoc -I compile/again --encode=Dump compile/again/dump.proto >"$T/again/module_000$1.$2.sm_9.0_gpu_after_optimizations.hlo.pb" <<END
hlo_module {
  name: "$2" id: $1 entry_computation_id: 2 device_assignment { replica_count: $7 }
  host_program_shape { result { element_type: 13 tuple_shapes { element_type: 11 dimensions: $5 } tuple_shapes { element_type: 11 } } }
  computations { id: 1 instructions { name: "p" opcode: "parameter" shape { element_type: 11 dimensions: ${inner-$1} } } }
  computations {
    id: 2
    instructions { name: "p.2" opcode: "parameter" parameter_number: 1 shape { element_type: $4 } metadata { op_name: "lr" } }
    instructions { name: "p.1" opcode: "parameter" shape { element_type: 11 dimensions: [$3, 128] } metadata { op_name: "batch['x']" } }
    instructions { name: "c.3" opcode: "constant" shape { element_type: 11 } literal { f32s: $6 } }
    ${8-}
  }
}
END
}
mkdir "$T/again"
again 1 jit_step 8 11 4 1 1
again 2 jit_other 8 11 4 1 1
again 3 jit_step 16 11 4 1 1
again 4 jit_step 16 16 4 1 1
again 5 jit_step 16 16 6 1 1
again 6 jit_step 16 16 6 1 1 'instructions { name: "p.4" opcode: "parameter" parameter_number: 2 shape { element_type: 1 } }'
again 7 jit_step 8 11 4 1 1 'instructions { name: "a.4" opcode: "add" shape { element_type: 11 } }'
# The parameter of a computation that is not the entry has another shape in each: it is no argument, but a part of what is computed.
# rows_again CLAIM WANT DUMP...
rows_again() {
	claim=$1 want=$2
	shift 2
	equal "$claim" "$(nsysx-compile --again "$@" | tail -n +2 | tr ' \t' '_ ')" "$want"
}
rows_again '--again: what differs from the one that is most like it' "3 jit_step 1 shape batch['x'] [8,128] [16,128]
4 jit_step 3 dtype lr f32 bf16
5 jit_step 4 static  f32[4]_f32[] f32[6]_f32[]
6 jit_step 5 arguments  2_arguments 3_arguments
7 jit_step 1 static  4_instructions 5_instructions" "$T/again"
rows_again '... of dumps that are named' "3 jit_step 1 shape batch['x'] [8,128] [16,128]" \
	"$T/again/module_0001.jit_step.sm_9.0_gpu_after_optimizations.hlo.pb" "$T/again/module_0003.jit_step.sm_9.0_gpu_after_optimizations.hlo.pb"
# Instructions of the same opcodes and shapes. dot PRECISION [ALGORITHM]; gemm PRECISION ALGORITHM-OF-CUBLAS; compare DIRECTION.
dot() { echo "instructions { name: \"d\" opcode: \"dot\" shape { element_type: 11 } precision_config { operand_precision: [$1, 0] algorithm: ${2-0} } }"; }
gemm() { echo "instructions { name: \"g\" opcode: \"custom-call\" custom_call_target: \"__cublas\$gemm\" shape { element_type: 11 } backend_config: '{\"gemm_backend_config\":{\"selected_algorithm\":\"$2\",\"precision_config\":{\"operand_precision\":[\"DEFAULT\",\"$1\"],\"algorithm\":\"ALG_UNSET\"},\"epilogue\":\"DEFAULT\"}}' }"; }
compares() { echo "instructions { name: \"l\" opcode: \"compare\" shape { element_type: 1 } comparison_direction: \"$1\" }"; }
calls() { echo "instructions { name: \"f\" opcode: \"custom-call\" custom_call_target: \"$1\" shape { element_type: 11 } }"; }
pair() {
	mkdir "$T/again.$1"
	for i in 1 2; do
		(T=$T/again.$1 inner=1 && mkdir "$T/again" && again "$i" jit_step 8 11 4 1 1 "$(cat)" && mv "$T/again"/* "$T" && rmdir "$T/again") <<END
$(eval "echo \"\$$((i + 1))\"")
END
	done
}
pair precision "$(dot 2)$(dot 2)$(gemm HIGHEST 1)" "$(dot 0)$(dot 2)$(gemm DEFAULT 1)"
rows_again 'products of another precision' '2 jit_step 1 precision  3_highest 2_default,_1_highest' "$T/again.precision"
pair cublas "$(gemm HIGHEST 1)" "$(gemm DEFAULT 1)"
rows_again '... of cuBLAS alone' '2 jit_step 1 precision  1_highest 1_default' "$T/again.cublas"
pair tuned "$(gemm HIGH 1)" "$(gemm HIGH 4)"
rows_again 'what the autotuner chose is no difference' '2 jit_step 1 same   ' "$T/again.tuned"
pair algorithm "$(dot 0 1)" "$(dot 0 3)"
rows_again 'another algorithm of products' '2 jit_step 1 precision  1_default 1_default' "$T/again.algorithm"
pair more "$(dot 2)" "$(dot 2)$(dot 2)"
rows_again 'one more product is no other precision' '2 jit_step 1 static  5_instructions 6_instructions' "$T/again.more"
pair another "$(dot)" "$(dot)$(dot 2)"
rows_again '... of which precision it may be' '2 jit_step 1 static  4_instructions 5_instructions' "$T/again.another"
pair direction "$(compares LT)" "$(compares GT)"
rows_again 'an attribute that decides what is computed' '2 jit_step 1 static  5_instructions 5_instructions' "$T/again.direction"
pair target "$(calls mine)" "$(calls yours)"
rows_again '... and a call of another function' '2 jit_step 1 static  5_instructions 5_instructions' "$T/again.target"
mkdir "$T/again.2"
cp "$T/again"/*0001* "$T/again"/*0002* "$T/again.2"
cp -R "$T/again" "$T/again.3"
equal 'rows of several folders have theirs' "$(nsysx-compile --again "$T/again" "$T/again.2" "$T/again.3" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c = $i == "folder" ? i : c; next } { print $c }' | uniq -c | awk '{ print $1, $2 }')" \
	"5 $T/again
5 $T/again.3"
rows_again 'programs of different folders are not compared' '' "$T/again.2" "$T/again.2"
equal '... a message' "$(nsysx-compile -v --again "$T/again.2" 2>&1 >"$T/null" | grep -c 'no function was compiled twice')" 1
# The same but for one thing.
for n in 1 2; do again 1 jit_step 8 11 4 $n 1; mv "$T/again"/*0001* "$T/again.constant.$n"; done
for n in 1 2; do again 1 jit_step 8 11 4 1 $n; mv "$T/again"/*0001* "$T/again.devices.$n"; done
rows_again 'another value of a constant' '1 jit_step 1 constant   ' "$T/again.constant.1" "$T/again.constant.2"
rows_again 'other devices' '1 jit_step 1 devices   ' "$T/again.devices.1" "$T/again.devices.2"
rows_again 'nothing that a dump shows' '1 jit_step 1 same   ' "$T/again.constant.1" "$T/again.devices.1"
# What the module says of its arguments: a dump made anew, with that beside its instructions.
more() {
	xtra=$2
	again 1 jit_step 8 11 4 1 1
	protoc -I compile/again --decode=Dump compile/again/dump.proto <"$T/again/module_0001.jit_step.sm_9.0_gpu_after_optimizations.hlo.pb" |
		sed "1s/.*/& $xtra/" | protoc -I compile/again --encode=Dump compile/again/dump.proto >"$T/again.$1"
	rm "$T/again"/*0001*
}
more plain ''
more alias 'input_output_alias { entries { parameter_number: 1 } }'
more donor 'buffer_donor { entries { parameter_number: 0 } }'
more tiles 'spmd_parameters_shardings { type: 3 tile_assignment_dimensions: [4, 1] } spmd_parameters_shardings { }'
more whole 'spmd_parameters_shardings { } spmd_parameters_shardings { }'
rows_again 'an argument whose memory the result reuses' '1 jit_step 1 donation lr kept donated' "$T/again.plain" "$T/again.alias"
rows_again '... or may reuse; and no more' "1 jit_step 1 donation batch['x'] kept donated
1 jit_step 1 donation lr donated kept" "$T/again.alias" "$T/again.donor"
rows_again 'an argument that is sharded otherwise' "1 jit_step 1 sharding batch['x'] [4,1] replicated" "$T/again.tiles" "$T/again.whole"
rows_again '... both ways of saying nothing' '1 jit_step 1 same   ' "$T/again.plain" "$T/again.plain"
# Options of the compiler, beside the dumps: of one only, of both, in several places, in brackets; where dumps go does not count.
mkdir "$T/options" "$T/options.1"
for n in 1 2; do again $n jit_step 8 11 4 1 1; mv "$T/again"/*000$n* "$T/options"; done
printf '%s\n' 'xla_dump_to: "a"' 'xla_a: 1' 'xla_list: X' 'xla_list: Y' 'xla_b: true' 'xla_map {' '  key: "k"' '  value: "1"' '}' >"$T/options/module_0001.jit_step.debug_options"
printf '%s\n' 'xla_dump_to: "b"' 'xla_b: true' 'xla_list: X' 'xla_a: 2' 'xla_map {' '  key: "k"' '  value: "2"' '}' 'xla_new: false' >"$T/options/module_0002.jit_step.debug_options"
rows_again 'options of the compiler that differ' '2 jit_step 1 option xla_a 1 2
2 jit_step 1 option xla_list X_Y X
2 jit_step 1 option xla_map {_key:_"k"_value:_"1"_} {_key:_"k"_value:_"2"_}
2 jit_step 1 option xla_new default false' "$T/options"
rm "$T/options/module_0001.jit_step.debug_options"
# The programs differ in a computation that is not the entry's.
rows_again '... are not known of one of them' '2 jit_step 1 static  4_instructions 4_instructions' "$T/options"
: >"$T/options/module_0001.jit_step.debug_options"
equal '... are all the defaults' "$(nsysx-compile --again "$T/options" | awk -F'\t' '$4 == "option" { print $5, $6 }' | head -n 1)" 'xla_b default'
# 70000 of them, one with as many values; what is in brackets is of the option before, also of one that was there already.
for n in 1 2; do
	awk -v n=$n 'BEGIN { for (i = 1; i <= 70000; i++) print "xla_" i ": 1\nxla_list: " i; print "xla_1 {\n  of: " n "\n}\nxla_last: " n }' >"$T/options/module_000$n.jit_step.debug_options"
done
rows_again '... all of many' '2 jit_step 1 option xla_1 1_{_of:_1_} 1_{_of:_2_}
2 jit_step 1 option xla_last 1 2' "$T/options"
rm "$T/options/module_0001.jit_step.debug_options"
mkdir "$T/options/module_0001.jit_step.debug_options"
fails '... cannot be read' 1 'module_0001.jit_step.debug_options: ' nsysx-compile --again "$T/options"
fails 'a dump that is cut' 1 "$T/again.cut" nsysx-compile --again "$T/again.cut"
fails 'a dump that is not there' 1 "$T/absent" nsysx-compile --again "$T/absent"
fails '--again with a table' 2 'goes without --by' nsysx-compile --again --by pass "$T/again"
# The programs in a profile of JAX.
if [ -e "$SHARED/data/sources/xplane/jax_train.xplane.pb" ]; then
	equal 'programs of a profile of JAX' "$(nsysx-compile --again "$SHARED/data/sources/xplane/jax_train.xplane.pb" 2>&1 | head -n 1)" "$(nsysx-compile --again "$T/again" | head -n 1)"
	equal '... of several it says which' "$(nsysx-compile --again "$SHARED/data/sources/xplane/jax_train.xplane.pb" "$SHARED/data/sources/xplane/jax_fsdp4.xplane.pb" 2>&1 | head -n 1 | awk '{ print $NF }')" folder
fi
if [ -e "$SHARED/data/pax/dump0" ]; then
	# The same from what protoc decodes: shapes of the entry's parameters, in order of their numbers, and of the result.
	for dump in "$SHARED/data/pax/dump0"/*after_optimizations.hlo.pb.xz; do
		xz -dc "$dump" | protoc -I compile/again --decode=Dump compile/again/dump.proto >"$T/text" || continue
		python3 - "$T/text" <<'END'
import re, sys
text = re.sub(r'"(\\.|[^"\\])*"', lambda m: m.group(0).replace("{", "(").replace("}", ")"), open(sys.argv[1]).read())
def parse(lines):
    out = []
    for l in lines:
        l = l.strip()
        if l == "}":
            return out
        if l.endswith("{"):
            out.append((l[:-1].strip(), parse(lines)))
        elif ":" in l:
            k, v = l.split(":", 1)
            out.append((k.strip(), v.strip()))
    return out
get = lambda m, k: [v for x, v in m if x == k]
one = lambda m, k, d: (get(m, k) or [d])[0]
def shape(m):
    return [(one(m, "element_type", "0"), tuple(get(m, "dimensions")))] + [x for t in get(m, "tuple_shapes") for x in shape(t)]
module = get(parse(iter(text.split("\n"))), "hlo_module")[0]
entry = [c for c in get(module, "computations") if one(c, "id", "0") == one(module, "entry_computation_id", "0")][0]
arguments = sorted((int(one(i, "parameter_number", 0)), shape(one(i, "shape", []))) for i in get(entry, "instructions") if one(i, "opcode", "") == '"parameter"')
print(int(one(module, "id", 0)), one(module, "name", ""), [s for _, s in arguments], shape(one(one(module, "host_program_shape", []), "result", [])), sep="\t")
END
	done >"$T/signatures"
	python3 - "$T/signatures" >"$T/want" <<'END'
import sys
seen = []
for l in sorted((l.rstrip("\n").split("\t") for l in open(sys.argv[1])), key=lambda l: int(l[0])):
    arguments, like = eval(l[2]), [p for p in seen if p[1] == l[1]]
    if like:
        differ = lambda p: abs(len(eval(p[2])) - len(arguments)) * 1000 + sum(a != b for a, b in zip(eval(p[2]), arguments))
        p = min(reversed(like), key=differ)
        if differ(p):
            why = "arguments" if len(eval(p[2])) != len(arguments) else "shape" if all(a[0][0] == b[0][0] for a, b in zip(eval(p[2]), arguments)) else "dtype"
        else:
            why = "static" if p[3] != l[3] else "equal"
        print(l[0], p[0], why, sep=":")
    seen.append(l)
END
	# What is equal so far may still have other instructions or constants.
	nsysx-compile --again "$SHARED/data/pax/dump0" | awk -F'\t' 'NR > 1 && !seen[$1]++ { print $1 ":" $3 ":" ($4 == "same" || $4 == "constant" ? "equal" : $4) }' >"$T/got"
	same 'a real job' "$T/got" "$T/want"
fi
done_testing
