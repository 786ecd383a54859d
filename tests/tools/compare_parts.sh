#!/bin/sh
# nsysx-compare by device and by collective: synthetic jobs in which one collective, or one device, is slower; sums are
# computed again by awk from the records.
. "${0%/*}/../testlib.sh"
. "${0%/*}/../comparelib.sh"
SYNTH=$B/tests/synth/nsysx-synth
[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'

# job NAME ARGS: the stream $T/NAME of a job of two processes.
job() {
	name=$1
	shift
	mkdir "$T/$name.d"
	"$SYNTH" -q -o "$T/$name.d" --seed=1 --steps=12 --no-warmup "$@" >"$T/null" || fail "the job $name" 'nsysx-synth failed' "$*"
	for p in 0 1; do nsysx-extract -q --ops -x "$T/$name.d/dump$p" "$T/$name.d/r$p.sqlite" >"$T/$name.$p"; done
	nsysx-merge -q "$T/$name.0" "$T/$name.1" | nsysx-overlap -q >"$T/$name"
}

job base
job slow --slow=all-to-all:50,all-to-all.1:50
job straggler --plant=straggler

# ---- by collective ----
# Of a device alone nobody knows how long it waits for the others, and a slower one is no regression of collectives.
nsysx-overlap -q "$T/base.0" >"$T/base.one"
nsysx-overlap -q "$T/slow.0" >"$T/slow.one"
gate 'collectives of one device alone have no verdict' 0 '' --by collective "$T/base.one" "$T/slow.one"
equal 'which is unknown where they differ' "$(nsysx-compare -q --tsv --by collective "$T/base.one" "$T/slow.one" | columns collective,verdict | grep -c '^all-to-all unknown$')" 1
gate 'a job has no slower collective than itself' 0 '' --by collective "$T/base" "$T/base"
gate 'a slower one is named, with size and group' 1 'slower: all-to-all of 2580480 bytes by 2 devices: ' --by collective "$T/base" "$T/slow"
equal 'it is the only row that changed' "$(nsysx-compare -q --tsv --changed --by collective "$T/base" "$T/slow" | columns collective,bytes,group,verdict)" \
	'all-to-all 2580480 2 slower'
equal 'its bandwidth fell as it grew' "$(nsysx-compare -q --tsv --changed --by collective "$T/base" "$T/slow" | columns base_busbw,new_busbw |
	awk '{ print ($1 / $2 > 1.49 && $1 / $2 < 1.51) }')" 1
equal 'it is faster the other way round' "$(nsysx-compare -q --tsv --changed --by collective "$T/slow" "$T/base" | columns collective,verdict)" 'all-to-all faster'
equal 'what waits for a slow device has the bandwidth that it had' "$(nsysx-compare -q --tsv --by collective "$T/base" "$T/straggler" |
	columns collective,verdict,base_busbw,new_busbw | awk '$3 != $4 { print "not", $1 } $1 == "all-to-all" { print $2 }')" shifted
gate 'which is waiting, no slower collective' 0 '' --by collective "$T/base" "$T/straggler"
equal 'the transfer takes as long as before' "$(nsysx-compare -q --tsv --by collective "$T/base" "$T/straggler" |
	columns collective,base,new,base_transfer,new_transfer | awk '$1 == "all-to-all" { print ($3 > 1.02 * $2), ($4 == $5), ($4 <= $2) }')" '1 1 1'


# Means over the records of a kind, size and group, whole and exposed.
nsysx-view "$T/base" >"$T/text"
means() {
	awk -F'\t' -v exposed="$1" '
		/^#inst\t/ { for (i = 2; i <= NF; i++) { split($i, f, ":"); ic[f[1]] = i } }
		/^inst\t/ { k = $ic["program"] "/" $ic["inst"]; kind[k] = $ic["collective"]; bytes[k] = $ic["bytes"]; comm[k] = $ic["comm"] }
		/^#thunk\t/ { for (i = 2; i <= NF; i++) { split($i, f, ":"); tc[f[1]] = i } }
		/^thunk\t/ { k = $tc["program"] "/" $tc["inst"]
			if (comm[k] != 1) next
			r = kind[k] " " bytes[k]; n[r]++; sum[r] += $tc["dur"] - (exposed ? $tc["hidden"] : 0) }
		END { for (r in n) printf "%s %d %.6g\n", r, n[r], sum[r] / n[r] }' "$T/text" | LC_ALL=C sort
}
for time in whole exposed; do
	means "$([ $time = exposed ] && echo 1)" >"$T/want"
	nsysx-compare -q --tsv --by collective --time $time "$T/base" "$T/base" | columns collective,bytes,new_count,new |
		awk '{ printf "%s %s %s %.6g\n", $1, $2, $3, $4 }' | LC_ALL=C sort >"$T/got"
	same "times are means over the records of devices: $time" "$T/want" "$T/got"
done
nsysx-collectives -q --tsv --summary "$T/base" | columns collective,bytes,group,instances,busbw_mean | LC_ALL=C sort >"$T/want"
nsysx-compare -q --tsv --by collective "$T/base" "$T/slow" | columns collective,bytes,group,base_instances,base_busbw | LC_ALL=C sort >"$T/got"
same 'rows and bandwidths are those of nsysx-collectives --summary' "$T/want" "$T/got"

# A message whose size grew within a power of two is matched; a size of another power of two is not.
sed 's/	2580480	/	2580484	/' "$T/text" >"$T/grown"
equal 'a size that changed a little is matched' "$(nsysx-compare -q --tsv --by collective "$T/text" "$T/grown" |
	columns collective,bytes,base_bytes,verdict | grep all-to-all)" 'all-to-all 2580484 2580480 same'
sed 's/	2580480	/	9580480	/' "$T/text" >"$T/other"
gate 'sizes of another power of two are others' 3 'not comparable: ' --by collective "$T/text" "$T/other"
equal 'which are gone and new' "$(nsysx-compare -q --tsv --by collective "$T/text" "$T/other" | columns collective,bytes,verdict | grep all-to-all | sort)" \
	"$(printf 'all-to-all 2580480 gone\nall-to-all 9580480 new\n')"

# Jobs that call NCCL directly.
for seed in 1 2; do
	mkdir "$T/nccl$seed"
	"$SYNTH" -q -o "$T/nccl$seed" --nccl --schema=3.24.14 --seed=$seed >"$T/null"
	for p in 0 1; do nsysx-extract -q --ops "$T/nccl$seed/r$p.sqlite" >"$T/nccl$seed.$p"; done
	nsysx-merge -q "$T/nccl$seed.0" "$T/nccl$seed.1" >"$T/n$seed" 2>"$T/null"
done
nsysx-collectives -q --tsv --summary "$T/n1" | columns collective,bytes,group,instances,busbw_mean | LC_ALL=C sort >"$T/want"
nsysx-compare -q --tsv --by collective "$T/n1" "$T/n1" | columns collective,bytes,group,base_instances,base_busbw | sed 's/^\[unknown\]/-/' | LC_ALL=C sort >"$T/got"
same 'operations of NCCL are collectives too' "$T/want" "$T/got"
ok 'which compare between runs' nsysx-compare --by collective "$T/n1" "$T/n2"

# ---- by device ----
gate 'no device is slower than itself' 0 '' --by device "$T/base" "$T/base"
gate 'one is named that computes slower' 1 'slower: device 1: compute: ' --by device "$T/base" "$T/straggler"
equal 'and only it computes slower; the other one waits, and what it no longer waits is no gain' "$(nsysx-compare -q --tsv --changed --by device "$T/base" "$T/straggler" |
	columns device,statistic,verdict | grep 'compute\|exposed' | tr '\n' ';')" '0 exposed slower;1 compute slower;1 exposed shifted;'
# The means of nsysx-steps.
nsysx-steps -q --tsv "$T/base" | columns device,period_mean,compute_mean,exposed_mean,copy_mean,idle_mean | awk '{ split("period compute exposed copy idle", s, " ")
	for (i = 1; i <= 5; i++) printf "%s %s %.6g\n", $1, s[i], $(i + 1) }' >"$T/want"
nsysx-compare -q --tsv --by device "$T/base" "$T/slow" | columns device,statistic,base | grep -v hidden | awk '{ printf "%s %s %.6g\n", $1, $2, $3 }' >"$T/got"
same 'times are those of nsysx-steps' "$T/want" "$T/got"
# Of tables the sums of nsysx-summary, per execution.
nsysx-summary -q --tsv --by device "$T/base" >"$T/table"
nsysx-summary -q --tsv --by device "$T/slow" >"$T/table.slow"
columns device,execs,window,modules,compute,exposed,copy,idle,hidden,copy_hidden <"$T/table" | awk '{ split("window modules compute exposed copy idle hidden copy_hidden", s, " ")
	for (i = 1; i <= 8; i++) printf "%s %s %.6g\n", $1, s[i], $(i + 2) / $2 }' >"$T/want"
nsysx-compare -q --tsv --by device "$T/table" "$T/table.slow" | columns device,statistic,base | awk '{ printf "%s %s %.6g\n", $1, $2, $3 }' >"$T/got"
same 'times of tables are those of nsysx-summary, per execution' "$T/want" "$T/got"
nsysx-compare -q --tsv --by device "$T/table" "$T/table.slow" >"$T/want"
nsysx-compare -q --tsv "$T/table" "$T/slow" >"$T/got"
same 'a table stands for its stream' "$T/want" "$T/got"
# A table of other programs has times of other executions: no verdict, on either side.
awk -F'\t' 'NR == 1 || $1 != 1' "$T/table" >"$T/table.one"
equal 'a device that one side has is one row with --changed, as by step' \
	"$(nsysx-compare -q --tsv --changed --by device "$T/table.one" "$T/table" | columns device,statistic,verdict) $(
		nsysx-compare -q --tsv --by device "$T/table.one" "$T/table" | columns device,verdict | grep -c '^1 new')" '1 window new 8'
awk -F'\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 && $1 == 1 { $at["modules"] = "" } { print }' "$T/table" >"$T/table.lacks"
equal 'but of a device of both a statistic that one lacks is told' \
	"$(nsysx-compare -q --tsv --changed --by device "$T/table" "$T/table.lacks" | columns device,statistic,verdict)" '1 modules gone'
nsysx-summary -q --tsv --by device --cover 0.99 "$T/base" >"$T/most"
equal 'that of the largest programs lacks executions' "$(columns execs <"$T/most" | sort -u)/$(columns execs <"$T/table" | sort -u)" '20/24'
gate 'it is not held against a stream' 3 'not comparable: device 0 has 24 executions in BASE, 20 in NEW' "$T/base" "$T/most"
equal 'its rows are shown, not judged' "$(nsysx-compare -q --tsv "$T/base" "$T/most" | columns verdict | sort -u)" unknown
gate 'nor on the other side' 3 'not comparable: device 0 has 20 executions in BASE, 24 in NEW' "$T/most" "$T/base"
gate 'nor against the default table' 3 'not comparable: ' "$T/most" "$T/table"
gate 'the default table is' 0 '' "$T/table" "$T/base"
gate 'two tables of one kind are' 0 '' "$T/most" "$T/most"
# Each process of the job by itself: device 0 against device 1.
awk -F'\t' -v d=1 'NR == 1 || $1 == d' "$T/table" >"$T/one"
awk -F'\t' -v d=0 'NR == 1 || $1 == d' "$T/table" >"$T/zero"
nsysx-compare --tsv "$T/zero" "$T/one" >"$T/got" 2>"$T/err"
equal 'devices of other numbers are matched in order' "$(columns device,statistic,base <"$T/got" | awk '$3 != "-"' | wc -l)/$(wc -l <"$T/got")" "$(($(wc -l <"$T/got") - 1))/9"
equal 'which is said' "$(grep -c 'devices are matched in order of their numbers' "$T/err")" 1
nsysx-compare --tsv "$T/table" "$T/one" >"$T/got" 2>"$T/err"
equal 'not where a number is on both sides' "$(columns device,verdict <"$T/got" | sort -u | tr '\n' ';') $(grep -c 'in order of' "$T/err")" '0 gone;1 same;1 unknown; 0'
printf 'device\tprofile\texecs\tspan\tmodules\tcompute\texposed\thidden\tidle\tcompute_share\texposed_share\tidle_share\twindow\tcopy\tcopy_hidden\n0\tp\t3\tx\t\t\t\t\t\t\t\t\t\t\t\n' >"$T/wrong"
fails 'what is no number in one' 1 '"x"' nsysx-compare "$T/wrong" "$T/slow"
# Without programs the times of whole runs are compared, and a message reports this.
mkdir "$T/torch"
"$SYNTH" -q -o "$T/torch" --torch >"$T/null"
nsysx-extract -q --ops "$T/torch/r0.sqlite" >"$T/t"
gate 'a job without programs is no slower than itself' 0 'times are of whole runs' --by device "$T/t" "$T/t"
equal 'and its parts add up' "$(nsysx-compare -q --tsv --by device "$T/t" "$T/t" | columns statistic,new | awk '{ t[$1] = $2 }
	END { print (t["window"] > 0 && t["window"] == t["compute"] + t["exposed"] + t["copy"] + t["idle"]) }')" 1
fails 'there is no exposed time to choose' 2 'prints exposed time beside the whole already' nsysx-compare --by device --time exposed "$T/t" "$T/t"

# ---- by phase ----
# The time of a phase in an execution, by the op_name of its instructions.
phases() {
	nsysx-view "$1" | awk -F'\t' '
		/^#inst\t/ { for (i = 2; i <= NF; i++) { split($i, f, ":"); ic[f[1]] = i } }
		/^inst\t/ { op[$ic["program"], $ic["inst"]] = $ic["op_name"] }
		/^#loc\t/ { for (i = 2; i <= NF; i++) { split($i, f, ":"); lc[f[1]] = i } }
		# What is fused has the places of what it is made of.
		/^loc\t/ { k = $lc["program"] SUBSEP $lc["inst"]; if (op[k] == "") op[k] = $lc["op_name"] }
		function phase(o) { return o ~ /rematted_computation/ ? "recompute" : o ~ /transpose\(/ ? "backward" : o ~ /jvp\(/ ? "forward" : o == "" ? "unknown" : "outside" }
		/^#program\t/ { for (i = 2; i <= NF; i++) { split($i, f, ":"); pc[f[1]] = i } }
		/^program\t/ { name[$pc["program"]] = $pc["name"] }
		/^#thunk\t/ { for (i = 2; i <= NF; i++) { split($i, f, ":"); tc[f[1]] = i } }
		/^thunk\t/ { p = phase(op[$tc["program"], $tc["inst"]])
			if (p == "outside") p = name[$tc["program"]] ~ /train/ ? "optimizer" : "other"
			sum[name[$tc["program"]] " " p] += $tc["dur"]; runs[name[$tc["program"]], $tc["execution"], $tc["device"]] }
		END { for (r in runs) { split(r, f, SUBSEP); n[f[1]]++ }
			for (r in sum) { split(r, f, " "); printf "%s %.3f\n", r, sum[r] / n[f[1]] } }' | LC_ALL=C sort
}
nsysx-compare -q --tsv --by phase "$T/base" "$T/base" | columns program,phase,base | awk '{ printf "%s %s %.3f\n", $1, $2, $3 }' | LC_ALL=C sort >"$T/got"
phases "$T/base" >"$T/want"
same 'by phase times are sums of its instructions' "$T/want" "$T/got"
dot=$(nsysx-view -t inst "$T/base" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["op_name"] ~ /transpose\(jvp/ && $at["name"] ~ /gemm/ { print $at["name"]; exit }')
job backward "--slow=$dot:100"
equal 'an instruction of the backward pass makes that slower, and no other phase' "$(nsysx-compare -q --tsv --changed --by phase "$T/base" "$T/backward" | columns program,phase,verdict)" 'jit_train_step backward slower'

# Without thunks the ranges around launches tell phases, of operations in each step. 13 steps of 1 ms, the last of which has no period; each has a kernel
# of 100 + j us in the forward pass, one of BACK + j in the backward pass, and one of 50 in the optimizer, but the fifth, and one of 7 in no range.
steps() {
	awk -v back="$1" 'function range(name, at, dur) { printf "range range=%d parent=%d tid=1 device=0 name=%s host_start=%d host_dur=%d start=%d dur=%d\n", ++r, step, name, at, 1000 * dur, at + 500, 1000 * dur }
		function op(name, at, dur, of) { printf "op device=0 stream=7 type=kernel name=%s start=%d dur=%d tid=1 host_start=%d host_dur=10%s\n", name, at + 500, 1000 * dur, at, of ? " range=" of : "" }
		BEGIN {
			print "device device=0"
			for (i = 0; i < 13; i++) {
				t = 1000000 * (i + 1); j = i * 7 % 5; step = -1
				range("ProfilerStep#" i, t, 900); step = r
				range("aten::mm,~seq~=~" i, t + 10000, 150); op("gemm", t + 10000, 100 + j, r)
				range("autograd::engine::evaluate_function:~MmBackward0,~seq~=~" i, t + 200000, 400); op("gemm", t + 200000, back + j, r)
				if (i != 4) { range("Optimizer.step#SGD.step", t + 700000, 90); op("adam", t + 700000, 50, r) }
				op("stray", t + 910000, 7, 0)
			} }' | sed 's/ parent=-1//' | awk -f host/stream.awk
}
(cd "${0%/*}" && steps 200) >"$T/steps200"
(cd "${0%/*}" && steps 210) >"$T/steps210"
nsysx-compare -q --by phase --junit="$T/phases.xml" -o "$T/null" "$T/steps200" "$T/steps200"
equal 'of steps the XML has a test for the period, and none for modules' "$(grep -c 'name="period"' "$T/phases.xml") $(grep -c 'name="modules"' "$T/phases.xml")" '1 0'
nsysx-compare -q --by phase --junit="$T/phases.xml" -o "$T/null" "$T/base" "$T/base"
equal '... of programs one for the modules' "$(grep -c 'name="period"' "$T/phases.xml") $(grep -c 'name="modules"' "$T/phases.xml" | sed 's/[1-9][0-9]*/some/')" '0 some'
run nsysx-compare --gate --tsv --by phase "$T/steps200" "$T/steps210"
equal 'by phase without thunks the backward pass alone is slower' "$status $(columns program,phase,base_execs,new_execs,base,new,verdict <"$T_private/out" |
	awk '{ printf "%s %s %s %s %.6f %.6f %s\n", $1, $2, $3, $4, $5, $6, $7 }' | LC_ALL=C sort | tr '\n' ';')" \
	"1 $(awk 'BEGIN { for (i = 0; i < 12; i++) { j = i * 7 % 5; f += 100 + j; b += 200 + j; s += 210 + j; o += i == 4 ? 0 : 50; u += 7 }
		n = "ProfilerStep##"; form = "%s %s 12 12 %.6f %.6f %s;"
		printf form form form form, n, "backward", b / 12 * 1000, s / 12 * 1000, "slower", n, "forward", f / 12 * 1000, f / 12 * 1000, "same",
			n, "optimizer", o / 12 * 1000, o / 12 * 1000, "same", n, "unknown", u / 12 * 1000, u / 12 * 1000, "same" }')"
equal '... of a step' "$(grep -c '^nsysx-compare: slower: ProfilerStep##: backward: 211\.8 us per step' "$T_private/err")" 1
# Eleven periods, of which the one without an optimizer has another step in it, of the class that is found.
# One side passed a filter that the other did not.
nsysx-view -q --text "$T/steps200" | awk -F'\t' -v OFS='\t' '
	$1 == "end" { $2++ } { print }
	NR == 1 { print "#diag", "level:s", "source:s", "text:s", "count:i"; print "diag", "info", "nsysx-warmup", "left out", 1 }' >"$T/warmed"
for by in step phase device; do
	says "by $by, too: one side passed nsysx-warmup" 'NEW passed nsysx-warmup; BASE did not' nsysx-compare --by $by "$T/steps200" "$T/warmed"
done
make_job server --torch=vllm --processes 1 --steps 20
nsysx-extract -q -a -o "$T/served" "$T/server/r0.sqlite"
fails 'a server has phases of another kind, which its steps are by' 1 'steps of a server, whose phases are their classes: --by step' \
	nsysx-compare --by phase "$T/served" "$T/served"
equal 'steps can be named' "$(nsysx-compare -q --tsv --by phase --step 'Optimizer\.step' "$T/steps200" "$T/steps200" | columns phase,base_execs | head -n 1)" 'backward 10'
fails 'a pipe cannot be read again for them' 1 'the streams have no thunks, which come from XLA: for phases of operations in each step want files' \
	sh -c 'nsysx-compare --by phase - "$2" <"$1"' sh "$T/steps200" "$T/steps210"

# ---- ranges within each other ----
# In each of 12 calls, work holds other, which holds work: kernels of 100, 20 and 10 us are launched in the outer work, other and the inner work.
calls() {
	awk 'function range(name, at, up) { printf "range range=%d tid=1 device=0 name=%s host_start=%d host_dur=%d start=%d dur=%d%s\n", ++r, name, at, 400000 - 20 * (at % 1000000) / 10, at + 500, 300000 - (at % 1000000), up ? " parent=" up : "" }
		function op(at, dur, of) { printf "op device=0 stream=7 type=kernel name=k start=%d dur=%d tid=1 host_start=%d host_dur=10 range=%d\n", at + 500, 1000 * dur, at, of }
		BEGIN {
			print "device device=0"
			for (i = 0; i < 12; i++) {
				t = 1000000 * (i + 1)
				range("work", t, 0); a = r; op(t, 100, a)
				range("other", t + 110000, a); b = r; op(t + 110000, 20, b)
				range("work", t + 150000, b); op(t + 150000, 10, r)
			} }' | awk -f host/stream.awk
}
(cd "${0%/*}" && calls) >"$T/calls"
equal 'by range an operation counts once in ranges of one name' "$(nsysx-summary -q --tsv --by range "$T/calls" | columns name,count,gpu_time,gpu_self,gpu_mean | tr '\n' ';')" \
	'work 24 1560000 1320000 130000;other 12 360000 240000 30000;'
equal 'and in what is compared' "$(nsysx-compare -q --tsv --by range "$T/calls" "$T/calls" | columns name,base_count,new_count,base,new | LC_ALL=C sort | tr '\n' ';')" \
	'other 12 12 30000 30000;work 12 12 130000 130000;'
equal 'also by spans' "$(nsysx-compare -q --tsv --by range --time span "$T/calls" "$T/calls" | columns name,base_count,base | LC_ALL=C sort | tr '\n' ';')" \
	'other 12 190000;work 12 300000;'

# ---- by axis of the mesh ----
# Four devices, 2 x 2: groups of neighbours and of every second one.
mesh() {
	name=$1
	shift
	"$SYNTH" -q -o "$T/$name.d" --steps=12 --processes=4 --groups=2 --no-warmup "$@" >"$T/null" || fail "the job $name" 'nsysx-synth failed' "$*"
	set --
	for p in 0 1 2 3; do set -- "$@" -x "$T/$name.d/dump$p" "$T/$name.d/r$p.sqlite"; done
	nsysx-extract -q --ops "$@" -o "$T/$name"
}
mesh mesh
mesh mesh-slow --slow=all-to-all:60,all-to-all.1:60
nsysx-collectives -q --tsv --summary --by axis "$T/mesh" | columns axis,total | LC_ALL=C sort >"$T/want"
nsysx-compare -q --tsv --by axis "$T/mesh" "$T/mesh" | columns axis,base_count,base | awk '{ sum[$1] += $2 * $3 } END { for (a in sum) printf "%s %.0f\n", a, sum[a] }' | LC_ALL=C sort >"$T/got"
same 'by axis times are those of the collectives along it' "$T/want" "$T/got"
nsysx-compare -q --tsv --by collective "$T/mesh" "$T/mesh" | columns collective,bytes,group,base_instances,base_busbw | LC_ALL=C sort >"$T/want"
nsysx-compare -q --tsv --by axis "$T/mesh" "$T/mesh" | columns collective,bytes,group,base_instances,base_busbw | LC_ALL=C sort >"$T/got"
equal '... with the instances and bandwidths by collective, where an axis has all of a kind and size' \
	"$(awk '{ printf "%s %s %s %s %.6g\n", $1, $2, $3, $4, $5 }' "$T/got" | cksum)" "$(awk '{ printf "%s %s %s %s %.6g\n", $1, $2, $3, $4, $5 }' "$T/want" | cksum)"
gate 'a slower collective is named with its axis' 1 'slower: axis0/2: all-to-all of 1290240 bytes by 2 devices: ' --by axis "$T/mesh" "$T/mesh-slow"
equal 'and is the only row that changed' "$(nsysx-compare -q --tsv --changed --by axis "$T/mesh" "$T/mesh-slow" | columns axis,collective,verdict)" 'axis0/2 all-to-all slower'
done_testing
