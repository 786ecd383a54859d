#!/bin/sh
# nsysx-perfetto: its output is decoded by protoc, laid out as by a viewer (perfetto/trace.py) and compared with the stream.
. "${0%/*}/../testlib.sh"
protos=$tests_dir/../protos
command -v protoc >/dev/null 2>&1 || skip_all 'protoc is not here'

# The trace of a stream as lines; the same of the JSON: lines STREAM OUT [OPTION...].
lines() {
	from=$1 to=$2
	shift 2
	nsysx-perfetto -q "$@" -o "$T/trace" "$from" && protoc --decode=perfetto.protos.Trace -I "$protos" perfetto.proto <"$T/trace" >"$T/decoded" &&
		python3 perfetto/trace.py <"$T/decoded" >"$to"
}
chrome() {
	from=$1 to=$2
	shift 2
	nsysx-perfetto -q --chrome "$@" -o "$T/json" "$from" && python3 perfetto/trace.py --chrome <"$T/json" >"$to"
}
# Records of a kind by the names of columns: fields_of STREAM KIND COLUMN...
fields_of() {
	from=$1 kind=$2
	shift 2
	nsysx-view -t "$kind" "$from" | awk -F'\t' -v OFS='\t' -v want="$*" '
		NR == 1 { n = split(want, name, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ line = $at[name[1]]; for (i = 2; i <= n; i++) line = line OFS $at[name[i]]; print line }'
}
stream() { printf '#nsysx\t2\n'; cat; printf '#end\trecords:i\nend\t0\n'; }

# ---- a job of two processes, all columns that a trace shows ----
"$SYNTH" -q -o "$T/job" --offset 2000000
nsysx-extract -q --ranges=all --ops -x "$T/job/dump0" "$T/job/r0.sqlite" -x "$T/job/dump1" "$T/job/r1.sqlite" | nsysx-overlap -q -o "$T/s"
ok 'a trace is decoded, and slices nest' lines "$T/s" "$T/got"

# Slices of category $1 as GPU or thread, name, start, duration.
category() { awk -F'\t' -v OFS='\t' -v c="$1" '$4 == c { print $1, $5, $6, $7 }' "$T/got" | sed 's/^GPU \([0-9]*\) (host process [0-9]*)/\1/' | sort; }
# The same of tracks whose name matches $1: the track, then the rest.
on() { awk -F'\t' -v OFS='\t' -v p="$1" '$2 ~ p { print $2, $5, $6, $7 }' "$T/got" | sort; }

fields_of "$T/s" module device name start dur | sort >"$T/want"
category module >"$T/is"
same 'every module is a slice' "$T/is" "$T/want"
for comm in 0 1; do
	fields_of "$T/s" thunk device name start dur comm | awk -F'\t' -v OFS='\t' -v c=$comm '$5 + 0 == c { print $1, $2, $3, $4 }' | sort >"$T/want"
	category "$([ $comm = 1 ] && echo communication || echo computation)" >"$T/is"
	same "every thunk with comm $comm is a slice" "$T/is" "$T/want"
done
fields_of "$T/s" op stream name start dur | sed 's/^/stream /' | sort >"$T/want"
on '^stream ' >"$T/is"
same 'every operation is a slice of its CUDA stream' "$T/is" "$T/want"
fields_of "$T/s" range device name start dur | awk -F'\t' '$3 != ""' | sort >"$T/want"
awk -F'\t' -v OFS='\t' '$2 ~ /^ranges/ { print $1, $5, $6, $7 }' "$T/got" | sed 's/^GPU \([0-9]*\) (host process [0-9]*)/\1/' | sort >"$T/is"
same 'every range with GPU work is a slice of its GPU' "$T/is" "$T/want"
fields_of "$T/s" range tid name host_start host_dur start | awk -F'\t' -v OFS='\t' '{ print "thread " $1 ($5 == "" ? ", no GPU work" : ""), $2, $3, $4 }' | sort >"$T/want"
on '^thread [0-9]*(, no GPU work)?$' >"$T/is"
same 'every range is a slice of its thread' "$T/is" "$T/want"
fields_of "$T/s" compile tid name start dur | sed 's/\t/, compilation\t/; s/^/thread /' | sort >"$T/want"
on 'compilation$' >"$T/is"
same 'every compilation is a slice' "$T/is" "$T/want"
{ fields_of "$T/s" module device name host_start host_dur; fields_of "$T/s" thunk device name host_start host_dur; } | sort >"$T/want"
category launch >"$T/is"
same 'every launch is a slice' "$T/is" "$T/want"
equal 'launches of thunks lie within those of modules' "$(awk -F'\t' '$2 == "launches" && $3 == 0' "$T/got" | wc -l)" "$(fields_of "$T/s" module device | wc -l)"
equal 'there are no other slices' "$(wc -l <"$T/got")" \
	"$(($(nsysx-view -k module,thunk,op,range,compile "$T/s" | grep -vc '^#\|^end') + $(fields_of "$T/s" range start | grep -c .) + $(nsysx-view -k module,thunk "$T/s" | grep -vc '^#\|^end')))"

# Arguments of thunks: joined with the metadata by awk.
{ nsysx-view -t program "$T/s"; echo; nsysx-view -t inst "$T/s"; echo; nsysx-view -t thunk "$T/s"; } | awk -F'\t' -v OFS='\t' '
	!head { for (i = 1; i <= NF; i++) at[$i] = i; head = 1; part++; next }
	/^$/ { head = 0; delete at; next }
	part == 1 { key[$at["program"]] = $at["key"] }
	part == 2 { op[$at["program"], $at["inst"]] = $at["opcode"] OFS $at["op_name"] }
	part == 3 { p = $at["program"]; print $at["name"], $at["start"], key[p], $at["execution"], $at["occurrence"], op[p, $at["inst"]] }' | sort >"$T/want"
python3 - "$T/got" >"$T/is" <<'END'
import json, sys
for line in open(sys.argv[1]):
    f = line.rstrip("\n").split("\t")
    if f[3] in ("computation", "communication"):
        a = json.loads(f[7])
        print(f[4], f[5], a["program"], a["execution"], a["occurrence"], a.get("opcode", ""), a.get("op_name", ""), sep="\t")
END
sort -o "$T/is" "$T/is"
same 'thunks have their program, execution, opcode and op_name' "$T/is" "$T/want"

# ---- arrows ----
awk -F'\t' '$9 != ""' "$T/got" >"$T/flows"
equal 'an arrow for every launch' "$(cut -f9 "$T/flows" | grep -c ^s)" "$(awk -F'\t' '$4 == "launch"' "$T/got" | wc -l)"
awk -F'\t' -v OFS='\t' '{ print substr($9, 2), substr($9, 1, 1), $1, $5, $6 }' "$T/flows" | sort -t"$(printf '\t')" -k1,1n -k2,2r |
	awk -F'\t' -v OFS='\t' 'NR % 2 { n = $1; gpu = $3; name = $4; t = $5; if ($2 != "s") bad++; next } { if ($2 != "f" || $1 != n || $3 != gpu || $4 != name || $5 <= t) bad++; print gpu, name, t, $5 } END { if (bad) print bad " bad" }' |
	sed 's/^GPU \([0-9]*\) (host process [0-9]*)/\1/' | sort >"$T/is"
{ fields_of "$T/s" module device name host_start start; fields_of "$T/s" thunk device name host_start start; } | sort >"$T/want"
same 'arrows lead from the launch to its execution' "$T/is" "$T/want"
# (program, execution, instruction, occurrence) -> times on the devices; one arrow joins them, and nothing else.
fields_of "$T/s" thunk program execution inst occurrence start comm | awk -F'\t' '$6 == 1 { k = $1 " " $2 " " $3 " " $4; t[k] = t[k] " " $5; n[k]++ } END { for (k in t) if (n[k] > 1) print t[k] }' |
	python3 -c 'import sys; print(*sorted(" ".join(sorted(l.split())) for l in sys.stdin), sep="\n")' >"$T/want"
awk -F'\t' '$10 != "" { t[$10] = t[$10] " " $6 } END { for (k in t) print t[k] }' "$T/got" |
	python3 -c 'import sys; print(*sorted(" ".join(sorted(l.split())) for l in sys.stdin), sep="\n")' >"$T/is"
same 'arrows join the records of a collective on its devices' "$T/is" "$T/want"
equal 'some collectives have two devices' "$(($(wc -l <"$T/want") > 30))" 1
# Two groups of an instruction are two collectives.
{
	printf '#device\tdevice:i\tprofile:i\n'
	for d in 0 1 2 3; do printf 'device\t%d\t0\n' $d; done
	printf '#groups\tgroups:i\tmembers:s\ngroups\t0\t0,1;2,3\n#inst\tprogram:i\tinst:i\tname:s\tcomm:i\tcollective:s\tgroups:i\ninst\t0\t0\tar\t1\tall-reduce\t0\n'
	printf '#thunk\tprofile:i\tprogram:i\texecution:i\tdevice:i\tinst:i\toccurrence:i\tname:s\tstart:i\tdur:i\tcomm:i\n'
	for e in 0 1; do for d in 0 1 2 3; do printf 'thunk\t0\t0\t%d\t%d\t0\t0\tar\t%d\t5\t1\n' $e $d $((10 * e + d)); done; done
} | stream >"$T/groups"
lines "$T/groups" "$T/is"
equal 'each group of devices has its arrows' "$(awk -F'\t' '{ t[$10] = t[$10] $1 $6 } END { for (k in t) print t[k] }' "$T/is" | sort | tr '\n' ';')" 'GPU 00GPU 11;GPU 010GPU 111;GPU 212GPU 313;GPU 22GPU 33;'
lines "$T/s" "$T/plain" --no-flows
cut -f1-8 "$T/got" | sed 's/$/\t\t/' >"$T/want"
same '--no-flows: the same without arrows' "$T/plain" "$T/want"

# ---- Chrome's JSON ----
ok 'JSON is decoded, and slices nest' chrome "$T/s" "$T/got.json"
same '... with the same content' "$T/got.json" "$T/got"
chrome "$T/s" "$T/plain.json" --no-flows
same '... without arrows' "$T/plain.json" "$T/plain"

# ---- heap memory ----
# Values as protoc decodes them, by GPU: heap STREAM OUT [OPTION...].
heap() {
	from=$1 to=$2
	shift 2
	nsysx-perfetto "$@" -o "$T/trace" "$from" 2>"$T/err" && protoc --decode=perfetto.protos.Trace -I "$protos" perfetto.proto <"$T/trace" >"$T/decoded" &&
		python3 perfetto/trace.py --counters <"$T/decoded" | sed 's/^GPU \([0-9]*\) (host process [0-9]*)/\1/' >"$to"
}
for kind in program inst thunk; do nsysx-view -q -t $kind "$T/s" >"$T/table.$kind"; done
for f in "$T"/job/dump0/*after_optimizations*.pb; do protoc -I heap --decode=Dump heap/dump.proto <"$f" >"$T/dump.$(basename "$f").text"; done
python3 perfetto/heap.py "$T/table.program" "$T/table.inst" "$T/table.thunk" "$T"/dump.*.text | LC_ALL=C sort >"$T/want"
heap "$T/s" "$T/is" -x "$T/job/dump0"
LC_ALL=C sort -o "$T/is" "$T/is"
same 'heap memory changes at thunks as in the dumps' "$T/is" "$T/want"
equal '... on every GPU, for every program' "$(cut -f1,2 "$T/is" | sort -u | wc -l)" "$(awk -F'\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ print $at["device"], $at["program"] }' "$T/table.thunk" | sort -u | sed 's/\t3$/\t3\n+/' | wc -l)"
equal '... without diags' "$(cat "$T/err")" ''
python3 perfetto/heap.py --full "$T/table.program" "$T/table.inst" "$T/table.thunk" "$T"/dump.*.text | sort >"$T/full"
nsysx-heap --peak "$T/job/dump0" | awk -F'\t' 'NR > 1 { print $1 "\t" $3 "\t" $4 }' | sort >"$T/peaks"
# PROGRAM@ID [trace N] -> id, trace, the largest value.
awk -F'\t' -v OFS='\t' '{ t = $2 ~ / trace / ? $2 : $2 " trace 0"; sub(/.*@/, "", t); sub(/ trace /, OFS, t); if ($4 + 0 > most[t]) most[t] = $4 } END { for (t in most) print t, most[t] }' "$T/is" | sort >"$T/most"
equal 'some programs have a thunk for all allocations' "$(($(wc -l <"$T/full") > 0))" 1
same '... their maximum is the peak of nsysx-heap' "$T/full" "$(comm -12 "$T/most" "$T/peaks" >"$T/both"; comm -12 "$T/both" "$T/full" >"$T/three"; echo "$T/three")"
equal 'no value exceeds the peak' "$(join -t"$(printf '\t')" -o 1.2,2.2 "$(sed 's/\t/ /' "$T/most" >"$T/most1"; echo "$T/most1")" "$(sed 's/\t/ /' "$T/peaks" >"$T/peaks1"; echo "$T/peaks1")" | awk -F'\t' '$1 > $2 + 0 || NF < 2' | wc -l)" 0
nsysx-perfetto -q --chrome -x "$T/job/dump0" "$T/s" | python3 perfetto/trace.py --chrome --counters | sed 's/^GPU \([0-9]*\) (host process [0-9]*)/\1/' | LC_ALL=C sort >"$T/is.json"
same '... in JSON' "$T/is.json" "$T/is"
lines "$T/s" "$T/plain" -x "$T/job/dump0"
same 'slices are unchanged' "$T/plain" "$T/got"
mkdir "$T/none" "$T/some"
cp "$T"/job/dump0/*jit_init_params*after_optimizations*.pb "$T/some"
heap "$T/s" "$T/few" -x "$T/none" -x "$T/some"
equal 'of several folders the one with the program is used' "$(cut -f2 "$T/few" | sort -u)" 'heap jit_init_params@19'
equal 'programs without a dump are counted' "$(cat "$T/err")" 'nsysx-perfetto: warning: executed programs without a dump: no counter of heap memory (3)'
rm "$T"/some/*
for f in "$T"/job/dump0/*jit_train_step*after_optimizations*.pb; do
	# The same with other names of instructions: another digest, no executed name.
	sed 's/fusion/fusiom/g; s/all-/alm-/g; s/gemm/gelm/g; s/reduce/redume/g' "$f" >"$T/some/$(basename "$f")"
done
heap "$T/s" "$T/few" -x "$T/some"
equal 'a dump of another run is not used' "$(cat "$T/few")" ''
equal '... with a warning' "$(head -n 1 "$T/err")" 'nsysx-perfetto: warning: executed programs without a dump: no counter of heap memory (3)'
equal '... for each program' "$(tail -n 1 "$T/err")" 'nsysx-perfetto: warning: dumps are of another run of a program: not used'
for f in "$T"/job/dump0/*jit_train_step*after_optimizations*.pb; do
	cp "$f" "$T/some/$(basename "$f" | sed 's/sm_[0-9.]*/sm_1.0/')"
	cp "$f" "$T/some/$(basename "$f")"
done
heap "$T/s" "$T/few" -x "$T/some"
equal 'several dumps of a program are reported' "$(cat "$T/few")$(grep -c 'programs with several dumps in a folder: none of them is used' "$T/err")" 1
rm "$T"/some/*sm_1.0*
head -c 300 "$(ls "$T"/job/dump0/*jit_train_step*after_optimizations*.pb)" >"$(ls "$T"/some/*train_step*)"
fails 'a damaged dump' 1 "$T/some/" nsysx-perfetto -x "$T/some" -o "$T/out" "$T/s"
fails 'a folder that is not there' 1 "$T/absent: No such file" nsysx-perfetto -x "$T/absent" -o "$T/out" "$T/s"
# Hand-written: add.2 allocates 3000 bytes, dot.1 5000 more, and all are freed after it.
mkdir "$T/late.dumps" "$T/silent.dumps"
late=$T/late.dumps/module_0012.jit_step.after_optimizations.hlo.pb
protoc -I heap --encode=Dump heap/dump.proto >"$late" <<'END'
hlo_module {
  name: "jit_step" id: 12 entry_computation_id: 1
  computations {
    name: "main" id: 1
    instructions { name: "add.2" opcode: "add" id: 1 }
    instructions { name: "dot.1" opcode: "dot" id: 2 }
  }
}
buffer_assignment {
  logical_buffers { id: 1 size: 3000 defined_at { instruction_id: 1 } }
  logical_buffers { id: 2 size: 5000 defined_at { instruction_id: 2 } }
  heap_simulator_traces {
    events { buffer_id: 1 instruction_name: "add.2" }
    events { buffer_id: 2 instruction_name: "dot.1" }
    events { kind: 1 buffer_id: 1 instruction_name: "dot.1" }
    events { kind: 1 buffer_id: 2 instruction_name: "dot.1" }
  }
}
END
# step [RECORDS]: two executions, RECORDS during the second.
step() {
	sed '/^$/d' <<-END | stream
		#program	program:i	id:i	name:s
		program	1	12	jit_step
		#inst	inst:i	program:i	name:s
		inst	1	1	add.2
		inst	2	1	dot.1
		#thunk	profile:i	device:i	program:i	execution:i	inst:i	name:s	start:i	dur:i
		thunk	0	3	1	0	1	add.2	100	50
		thunk	0	3	1	0	2	dot.1	200	10
		thunk	0	3	1	1	1	add.2	300	10
		$1
		thunk	0	3	1	1	2	dot.1	400	10
	END
}
step '' >"$T/step"
heap "$T/step" "$T/is" -x "$T/late.dumps"
equal 'the memory of two executions' "$(cut -f3,4 "$T/is" | tr '\t\n' ': ')$(cat "$T/err")" \
	'100:3000 200:8000 210:0 300:3000 400:8000 410:0 '
cp "$T/is" "$T/want"
step 'thunk	0	3	1	0	2	dot.1	350	10
thunk	0	3	1	0	2	dot.1	360	10' >"$T/step.late"
heap "$T/step.late" "$T/is" -v -x "$T/late.dumps"
same 'thunks that start after the next execution do not change counters' "$T/is" "$T/want"
equal '... and are counted' "$(cat "$T/err")" \
	'nsysx-perfetto: info: thunks that start after the next execution of their program: not in counters of heap memory (2)'
protoc -I heap --decode=Dump heap/dump.proto <"$late" | sed '/^buffer_assignment/,$d' |
	protoc -I heap --encode=Dump heap/dump.proto >"$T/silent.dumps/${late##*/}"
heap "$T/step" "$T/is" -v -x "$T/silent.dumps"
equal 'a program without a heap trace in its dump is counted' "$(cat "$T/is" "$T/err")" \
	'nsysx-perfetto: info: executed programs without a heap trace in their dump'

# ---- encodings; alignment ----
nsysx-perfetto -q "$T/s" >"$T/one"
nsysx-view -b -z "$T/s" | nsysx-perfetto -q >"$T/two"
same 'text and binary give the same bytes' "$T/one" "$T/two"
nsysx-perfetto -q -o "$T/two" "$T/s"
same '-o' "$T/one" "$T/two"
nsysx-align -q "$T/s" -o "$T/aligned"
equal 'aligned times may be negative' "$(fields_of "$T/aligned" compile start | grep -c ^-)$(fields_of "$T/aligned" range host_start | grep -c ^-)" 00
# Negative aligned times: 3.2 s earlier, as in the record.
awk -F'\t' -v OFS='\t' '$1 == "#clock" || $1 == "#module" || $1 == "#thunk" { for (i = 2; i <= NF; i++) { sub(/:.*/, "", $i); at[$1, $i] = i } }
	/^#/ { next }
	$1 == "clock" { $at["#clock", "offset"] += 3200000000 }
	$1 == "module" || $1 == "thunk" { k = "#" $1; $at[k, "start"] -= 3200000000; $at[k, "host_start"] -= 3200000000 }
	$1 == "clock" || $1 == "module" || $1 == "thunk" || $1 == "device" || $1 == "program"' "$T/aligned" >"$T/shifted"
equal 'the offset of the clock' "$(awk -F'\t' '$1 == "thunk" && $9 < 0' "$T/shifted" | wc -l | sed 's/[1-9].*/some/')" some
lines "$T/shifted" "$T/is.s" --partial
fields_of "$T/aligned" thunk device name start dur | awk -F'\t' -v OFS='\t' '{ print $1, $2, sprintf("%.0f", $3 - 3200000000 + 4000000000), $4 }' | sort >"$T/want"
awk -F'\t' -v OFS='\t' '$4 == "computation" || $4 == "communication" { print $1, $5, $6, $7 }' "$T/is.s" | sed 's/^GPU \([0-9]*\) (host process [0-9]*)/\1/' | sort >"$T/is"
same 'the trace begins a number of whole seconds earlier' "$T/is" "$T/want"

# ---- tracks ----
thunks() { printf '#thunk\tprofile:i\tdevice:i\tname:s\tstart:i\tdur:i\tcomm:i\n'; cat; }
tracks() { awk -F'\t' '{ print $2 "/" $3, $5, $6, $7 }' "$1" | tr '\n' ';'; }
stream <<'END' >"$T/lanes"
#thunk	profile:i	device:i	name:s	start:i	dur:i	comm:i
thunk	0	3	outer	100	100	0
thunk	0	3	a	100	100	1
thunk	0	3	inner	110	20	0
thunk	0	3	late	120	50	0
thunk	0	3	b	150	100	1
thunk	0	3	within	160	10	1
thunk	0	3	zero	200	0	0
thunk	0	3	zero	200	0	0
thunk	0	3	c	200	5	1
END
lines "$T/lanes" "$T/is"
equal 'computation nests or gets another track, communication never nests' "$(tracks "$T/is")" \
	'communication/0 a 100 100;communication/0 c 200 5;communication 2/0 b 150 100;communication 3/0 within 160 10;computation/0 outer 100 100;computation/1 inner 110 20;computation/0 zero 200 0;computation/0 zero 200 0;computation 2/0 late 120 50;'
chrome "$T/lanes" "$T/is.json"
same '... in JSON' "$T/is.json" "$T/is"
equal 'a device without a record' "$(cut -f1 "$T/is" | uniq)" 'GPU 3'
i=0
while [ $i -lt 70 ]; do printf 'thunk\t0\t0\tx\t%d\t100\t1\n' $i; i=$((i + 1)); done | thunks | stream >"$T/crowd"
nsysx-perfetto "$T/crowd" 2>"$T/err" >"$T/out"
equal 'of 70 overlapping thunks 64 are drawn, with a warning' "$(cat "$T/err")" 'nsysx-perfetto: warning: slices not drawn where more than 64 overlap (6)'
lines "$T/crowd" "$T/is"
equal 'those' "$(wc -l <"$T/is") $(cut -f2 "$T/is" | sort -u | wc -l)" '64 64'

# Launches are sorted, though the GPU executes them in another order.
python3 - >"$T/disorder.in" <<'END'
import random
random.seed(1)
hosts = [(k * 10, 7) for k in range(9000)]
order = sorted(range(9000), key=lambda k: k + random.randrange(2000))
for i, k in enumerate(order):
    print("thunk", 0, 0, f"t{k}", 1000000 + i * 5, 5, hosts[k][0], hosts[k][1], sep="\t")
END
{ printf '#thunk\tprofile:i\tdevice:i\tname:s\tstart:i\tdur:i\thost_start:i\thost_dur:i\n'; cat "$T/disorder.in"; } | stream >"$T/disorder"
lines "$T/disorder" "$T/is"
awk -F'\t' '$4 == "launch" { print $2 "\t" $5 "\t" $6 }' "$T/is" >"$T/launches"
awk -F'\t' '{ print "launches\t" $4 "\t" $7 }' "$T/disorder.in" | sort -t"$(printf '\t')" -k3,3n >"$T/want"
same 'launches are on one track, sorted' "$T/launches" "$T/want"
# One that comes 9000 records late has a separate track.
{ printf '#thunk\tprofile:i\tdevice:i\tname:s\tstart:i\tdur:i\thost_start:i\thost_dur:i\n'; cat "$T/disorder.in"
	printf 'thunk\t0\t0\tlast\t2000000\t5\t3\t1\n'; } | stream >"$T/late"
lines "$T/late" "$T/is"
equal 'a launch that comes very late is drawn' "$(awk -F'\t' '$5 == "last" && $4 == "launch" { print $2, $6, $7 }' "$T/is")" 'launches 2 3 1'

# ---- names ----
printf 'thunk\t0\t0\ta\\tb "q" \\\\ \303\251\t1\t1\t0\nthunk\t0\t0\tno\\xFF utf\\x01\t2\t1\t0\nthunk\t0\t0\t\t3\t1\t0\n' | thunks | stream >"$T/names"
lines "$T/names" "$T/is"
equal 'names of any bytes' "$(cut -f5- "$T/is" | cut -c1-30 | head -c 70 | od -An -c | tr -d ' \n')" "$(printf 'a\tb "q" \\ \303\251\t1\t1\t{}\t\t\nno\\xFF utf\\x01\t2\t1\t{}\t\t\n[unnamed]\t3\t1\t{}\t\t\n' | head -c 70 | od -An -c | tr -d ' \n')"
ok '... valid JSON' chrome "$T/names" "$T/is.json"
equal '... with the same names' "$(tail -n 2 "$T/is.json" | cut -f5)" "$(printf 'no\\xFF utf\001\n[unnamed]')"
# More distinct names than are kept: numbers start again, and names remain correct.
awk 'BEGIN { for (i = 0; i < 70000; i++) printf "thunk\t0\t0\tn%d\t%d\t1\t0\n", i, i }' | thunks | stream >"$T/many"
lines "$T/many" "$T/is"
awk -F'\t' '$5 != "n" $6 { bad++ } END { print NR, bad + 0 }' "$T/is" >"$T/out"
equal '70000 names' "$(cat "$T/out")" '70000 0'
equal 'in two rounds of numbers' "$(python3 perfetto/trace.py --restarts <"$T/decoded")" 2

# ---- jobs without XLA: operations that communicate are drawn like thunks ----
# Columns of the generator's answers about NCCL: told FILE COLUMN...; the same of communication in $T/got: said COLUMN...
told() {
	from=$1
	shift
	awk -F'\t' -v want="$*" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(want, name, " "); next }
		{ line = $at[name[1]]; for (i = 2; i <= n; i++) line = line "\t" $at[name[i]]; print line }' "$from" | sort
}
said() {
	python3 - "$T/got" "$@" <<'END' | sort
import json, re, sys
for line in open(sys.argv[1]):
    f = line.rstrip("\n").split("\t")
    if f[3] == "communication":
        a = dict(json.loads(f[7]), device=re.match(r"GPU (\d+)", f[0])[1], start=f[5], dur=f[6], flow=f[9])
        print(*(a.get(c, "") for c in sys.argv[2:]), sep="\t")
END
}
"$SYNTH" -q -o "$T/nccl" --nccl --titles 2026 --schema 3.24.14 --steps 4 --processes 3 --one-export
nsysx-extract -q --ops "$T/nccl/r.sqlite" | nsysx-overlap -q -o "$T/n"
ok 'a job without XLA is drawn' lines "$T/n" "$T/got"
what='device start dur collective comm_id bytes group calls pair seq'
# shellcheck disable=SC2086
told "$T/nccl/answers/nccl.tsv" $what >"$T/want"
# shellcheck disable=SC2086
said $what >"$T/is"
same 'operations that communicate are communication, with their arguments and instances' "$T/is" "$T/want"
equal 'some have an instance, others do not' "$(awk -F'\t' '{ n[$10 != ""]++ } END { print (n[0] > 0), (n[1] > 30) }' "$T/is")" '1 1'
fields_of "$T/n" op stream name start dur | sed 's/^/stream /' | sort >"$T/want"
on '^stream ' >"$T/is"
same 'all operations remain slices of their streams' "$T/is" "$T/want"
fields_of "$T/n" op device start dur hidden comm | awk -F'\t' -v OFS='\t' '$5 == 1 { print $1, $2, $3, $4 }' | sort >"$T/want"
said device start dur hidden >"$T/is"
same 'arguments have the hidden time' "$T/is" "$T/want"
said comm_id collective pair seq flow device | awk -F'\t' '$5 != "" { k = $1 FS $2 FS $3 FS $4; if ((k in flow && flow[k] != $5) || ($5 in of && of[$5] != k)) bad++
	flow[k] = $5; of[$5] = k; n[k]++ } END { for (k in n) print k FS n[k]; if (bad) print bad " bad" }' | sort >"$T/is"
told "$T/nccl/answers/nccl.tsv" comm_id collective pair seq | awk -F'\t' '$4 != "" { n[$0]++ } END { for (k in n) if (n[k] > 1) print k FS n[k] }' | sort >"$T/want"
same 'arrows join only the devices of an instance' "$T/is" "$T/want"
fields_of "$T/n" op device name host_start host_dur comm graph_node | awk -F'\t' -v OFS='\t' '$5 == 1 && $6 == "" && $3 != "" { print $1, $2, $3, $4 }' | sort >"$T/want"
category launch >"$T/is"
same 'each separate launch is drawn' "$T/is" "$T/want"
equal '... with an arrow' "$(awk -F'\t' '$4 == "communication" && $9 ~ /^f/' "$T/got" | wc -l)" "$(wc -l <"$T/want")"
ok 'in JSON' chrome "$T/n" "$T/got.json"
same '... the same slices and arrows' "$T/got.json" "$T/got"
cut -f1-8 "$T/got" | sed 's/$/\t\t/' >"$T/want"
lines "$T/n" "$T/is" --no-flows
same '--no-flows: no arrows' "$T/is" "$T/want"
# Three profiles whose clocks cannot be compared: no instances.
"$SYNTH" -q -o "$T/apart" --nccl --titles 2026 --schema 3.24.14 --steps 3 --processes 3 --offset 5000000
nsysx-extract -q --ops "$T/apart"/r?.sqlite >"$T/a"
nsysx-perfetto -v -o "$T/trace" "$T/a" 2>"$T/err"
equal 'different clocks are reported' "$(grep -c 'cannot be compared: no seq and no arrows' "$T/err")" 1
lines "$T/a" "$T/got"
equal 'communication is drawn, without seq' "$(said seq flow | sort -u | wc -c) $(($(said device | wc -l) > 30))" '2 1'
nsysx-align -q "$T/a" >"$T/b"
lines "$T/b" "$T/got"
told "$T/apart/answers/nccl.tsv" device dur collective comm_id pair seq >"$T/want"
said device dur collective comm_id pair seq >"$T/is"
same 'after alignment there are instances' "$T/is" "$T/want"
# Only names of kernels are known.
"$SYNTH" -q -o "$T/torch" --torch --steps 3
nsysx-extract -q --ops "$T/torch"/r?.sqlite >"$T/t"
lines "$T/t" "$T/got"
fields_of "$T/t" op device start dur collective comm | awk -F'\t' -v OFS='\t' '$5 == 1 { print $1, $2, $3, $4 }' | sort >"$T/want"
said device start dur collective >"$T/is"
same 'PyTorch without payloads: communication by kind' "$T/is" "$T/want"
equal 'there is communication' "$(($(wc -l <"$T/want") > 5))" 1
# Where a thunk communicates its operations are not drawn again.
equal 'operations in thunks are not communication' "$(lines "$T/s" "$T/got"; said device | wc -l)" "$(fields_of "$T/s" thunk comm | grep -c 1)"

# ---- refusals, and empty traces ----
printf '' | stream >"$T/empty"
lines "$T/empty" "$T/is"
equal 'an empty stream gives an empty trace' "$(wc -c <"$T/is")$(grep -c ^packet "$T/decoded")" 01
chrome "$T/empty" "$T/is"
equal '... in JSON' "$(cat "$T/json")" "$(printf '{"displayTimeUnit":"ns","traceEvents":[\n]}')"
printf 'thunk\t0\t0\tx\t\t5\t0\n' | thunks | stream >"$T/timeless"
fails 'a record without a time for the order' 1 'start' nsysx-perfetto -o "$T/out" "$T/timeless"
printf 'thunk\t0\t0\tx\t5\t\t0\nthunk\t0\t0\ty\t-9\t5\t0\n' | sort -t"$(printf '\t')" -k5,5n | thunks | stream >"$T/timeless"
nsysx-perfetto --chrome "$T/timeless" 2>"$T/err" | grep -c '"X"' >"$T/out"
equal 'one without a duration is ignored, one before 0 clipped, both are reported' "$(cat "$T/out" "$T/err")" \
	"$(printf '1\nnsysx-perfetto: warning: records without a time: ignored\nnsysx-perfetto: warning: times before the start of the trace: cut')"
head -c 3000 "$T/s" >"$T/cut"
rm -f "$T/out"
fails 'a stream cut short' 1 'cut short' nsysx-perfetto -o "$T/out" "$T/cut"
ok '... leaves no trace' test ! -e "$T/out"
fails '--require: a missing kind' 1 'no op record' nsysx-perfetto --require op -o "$T/out" "$T/lanes"
fails 'a full disk' 1 '/dev/full' nsysx-perfetto -o /dev/full "$T/s"
fails 'two streams' 2 'one FILE at most' nsysx-perfetto "$T/s" "$T/s"

# ---- no arrow without both ends: the operations of call 1, and device 1's part of a collective, were removed
awk -f host/stream.awk >"$T/ends" <<'END_STREAM'
device device=0 last=100
call call=1 start=10 dur=5 name=cudaLaunchKernel class=launch ops=1
call call=2 start=20 dur=5 name=cudaLaunchKernel class=launch ops=1
op name=k start=50 dur=50 call=2 tid=1 host_start=20 host_dur=5
END_STREAM
equal 'a call whose operations were removed begins no arrow' "$(nsysx-perfetto -q --chrome "$T/ends" |
	python3 -c 'import json, sys
for e in json.load(sys.stdin)["traceEvents"]:
    if e["ph"] in "stf": print(e["ph"], round(e["ts"] * 1000))' | sort | tr '\n' ' ')" 'f 50 s 20 '
# More calls than may wait, then their operations: every call has an arrow with both ends, or is counted.
awk 'BEGIN { print "device device=0 last=100000"; for (i = 1; i <= 22000; i++) print "call call=" i, "start=" i, "dur=1 name=cudaLaunchKernel class=launch ops=1"
	for (i = 1; i <= 22000; i++) print "op name=k start=" 30000 + 2 * i, "dur=1 call=" i, "tid=1 host_start=" i, "host_dur=1" }' |
	awk -f host/stream.awk >"$T/far"
nsysx-perfetto -v --chrome "$T/far" >"$T/far.json" 2>"$T/far.err"
apart=$(sed -n 's/.*calls without an arrow.*(\([0-9]*\)).*/\1/p' "$T/far.err")
equal 'calls too far before their operations are counted' "$((${apart:-0} > 0))" 1
equal '... and no others have no arrow' "$(python3 -c 'import json, sys
flows = [e for e in json.load(sys.stdin)["traceEvents"] if e["ph"] in "sf"]
starts, ends = ({e["id"] for e in flows if e["ph"] == p} for p in "sf")
print(len(flows) // 2 + int(sys.argv[1]), starts == ends)' "${apart:-0}" <"$T/far.json")" '22000 True'
# Of a hundred devices 90 computes slower, and 77 is last in every collective.
{ printf '#nsysx\t2\n#profile\tprofile:i\n'; seq 0 99 | sed 's/^/profile\t/'
	printf '#device\tdevice:i\tprofile:i\tpid:i\n'; seq 0 99 | awk '{ print "device\t" $1 "\t" $1 "\t" 500 + $1 }'
	printf '#call\tprofile:i\tcall:i\tpid:i\ttid:i\tname:s\tstart:i\tdur:i\n'
	printf '#op\tprofile:i\top:i\ttype:s\tdevice:i\tstream:i\tname:s\tstart:i\tdur:i\n#collective\tprofile:i\tdevice:i\tstart:i\tdur:i\tinstance:i\twait:i\tlate:i\n'
	for t in 1 2 3; do
		seq 0 99 | awk -v t=$t '{ print "call\t" $1 "\t" t "\t" 500 + $1 "\t9\tlaunch\t" t * 1000 "\t5" }'
		seq 0 99 | awk -v t=$t '{ print "op\t" $1 "\t" t "\tkernel\t" $1 "\t7\tgemm\t" t * 1000 + 100 "\t" ($1 == 90 ? 300 : 200) }'
		seq 0 99 | awk -v t=$t '{ print "collective\t" $1 "\t" $1 "\t" t * 1000 + 500 "\t10\t" t "\t" ($1 != 77) "\t" ($1 == 77) }'
	done
	printf '#end\trecords:i\nend\t1100\n'; } >"$T/hundred"
drawn() { nsysx-perfetto -q --chrome "$@" | grep -o '"GPU [0-9]*' | tr -d '"GPU ' | sort -n -u | tr '\n' ' '; }
hosts() { nsysx-perfetto -q --chrome "$@" | grep -o '"host[^"]*pid [0-9]*' | grep -o '[0-9]*$' | sort -n -u | tr '\n' ' '; }
equal 'of many devices the latest, the slowest and the first ones are drawn' "$(drawn "$T/hundred" | tr ' ' '\n' | grep -c .) $(drawn "$T/hundred" | grep -o ' 77 90 $')" '32  77 90 '
says 'a warning names them' 'slowest and the first ones are (0-29,77,90); --devices chooses others (68)' nsysx-perfetto --chrome -o "$T/drawn" "$T/hundred"
equal '--devices chooses others' "$(drawn --devices 5,40-42 "$T/hundred")" '5 40 41 42 '
equal 'with their host processes' "$(hosts --devices 5,40-42 "$T/hundred")" '505 540 541 542 '
equal 'from a pipe the first ones are drawn' "$(drawn <"$T/hundred" | wc -w | tr -d ' ')" 64
equal '64 are all drawn' "$(awk -F'\t' -v OFS='\t' '$1 == "end" { $2 = n } ($1 == "device" || $1 == "call" || $1 == "op" || $1 == "profile" || $1 == "collective") && $2 >= 64 { next } !/^#/ { n++ } 1' "$T/hundred" >"$T/64"; drawn "$T/64" | wc -w | tr -d ' ')" 64
fails 'a list of devices is numbers and ranges' 2 'want numbers of devices and ranges' nsysx-perfetto --chrome --devices 7-3 "$T/hundred"
rm -f "$T/undrawn"
fails 'none of them is in the stream: an error' 1 'no device of --devices is in the stream' nsysx-perfetto --chrome --devices 200 -o "$T/undrawn" "$T/hundred"
ok '... and no trace' test ! -e "$T/undrawn"
# 60 to 75 are late by as much but for a few ns, and 75 is the last of them each time.
awk -F'\t' -v OFS='\t' '$1 == "collective" { $7 = $3 < 60 || $3 > 75 ? 100 : 75 - $3; $8 = $3 == 75 ? 1 : 0 } 1' "$T/hundred" >"$T/rack"
equal 'of many late devices eight are drawn' "$(drawn "$T/rack" | tr ' ' '\n' | awk '$1 >= 60 && $1 <= 75' | tr '\n' ' ')" '68 69 70 71 72 73 74 75 '
done_testing
