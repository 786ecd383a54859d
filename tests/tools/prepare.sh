#!/bin/sh
# nsysx-prepare: its stream is that of the pipeline which it prints, for every kind of job; and what it refuses.
. "${0%/*}/../testlib.sh"
cd "$T" || exit 1
mkdir tmp
TMPDIR=$T/tmp
export TMPDIR
records() { nsysx-view -q "$1" | grep -v '^#*end\|^#*diag'; }
# Options of a job and the tools that apply to it: the printed pipeline names them, and makes the same stream.
try() {
	rm -rf job
	# shellcheck disable=SC2086 # options are words
	make_job job $1
	options=$1 tools=$2
	with_exports job run nsysx-prepare -o made
	equal "$options: it ends well" "$status" 0
	head -n 1 "$T_private/out" >printed
	equal "$options: what applies is run" "$(grep -o 'nsysx-[a-z]*' printed | sed 's/nsysx-//' | tr '\n' ' ')" "extract $tools "
	equal "$options: and nothing else" "$(sed -n 's/^  without nsysx-\([a-z]*\): .*/\1/p' "$T_private/out" | while read -r t; do case " $tools " in *" $t "*) echo "$t" ;; esac; done)" ''
	equal "$options: what comes next is said" "$(tail -n 1 "$T_private/out")" 'next: nsysx-diagnose made'
	with_exports job run nsysx-prepare -n -o made
	head -n 1 "$T_private/out" >dry
	same "$options: -n prints the same" dry printed
	records made >want
	rm made
	run sh printed
	records made >got
	same "$options: what it prints makes the same stream" got want
	equal "$options: no temporary file stays" "$(ls tmp)" ''
}
try '--processes 2 --devices 2 --steps 5' 'align warmup overlap collectives steps idle'
try '--processes 1 --steps 5' 'warmup overlap collectives steps idle'
equal '... of one device: what is run for communication does not say that there is any' "$(with_exports job nsysx-prepare -o made | grep -e '^  nsysx-overlap' -e '^  nsysx-coll')" \
	"$(printf '%s\n' '  nsysx-overlap      programs of XLA may communicate: what of it is hidden' '  nsysx-collectives  programs of XLA may communicate: its instances, and who waits')"
try '--torch --processes 2 --steps 8' 'align overlap collectives steps idle'
try '--torch --processes 1 --steps 8' 'steps idle'
try '--torch=vllm --processes 2 --steps 12' 'align overlap collectives steps idle'
try '--nccl --schema 3.24.14 --processes 3 --steps 4' 'align overlap collectives steps idle'
try '--no-comm --processes 2 --steps 4' 'align warmup overlap collectives steps idle'
# A recording that begins in the middle: its first executions are none of initialisation; those of buffers that run op by op first are.
try '--xla26=warm --processes 2' 'align overlap collectives steps idle'
equal '... the tool that is left out is named' "$(with_exports job nsysx-prepare -o made | grep nsysx-warmup)" \
	'  without nsysx-warmup: nothing is compiled, and first executions take no longer than the next'
try '--xla26 --processes 2' 'align warmup overlap collectives steps idle'

# What nsysx-record leaves.
make_job two --processes 2 --steps 4
for p in 0 1; do mkdir -p "rec/$p" && cp "two/r$p.sqlite" "rec/$p/report.sqlite" && cp -r "two/dump$p" "rec/$p/dump"; done
ok 'folders of nsysx-record are taken, with their dumps' nsysx-prepare -q -o folders rec/0 rec/1
nsysx-prepare -q -o files -x rec/0/dump rec/0/report.sqlite -x rec/1/dump rec/1/report.sqlite
same 'as their files are' folders files
nsysx-extract -q -a -b -o 0.nsysx -x two/dump0 two/r0.sqlite
nsysx-extract -q -a -b -z -o 1.nsysx -x two/dump1 two/r1.sqlite
nsysx-prepare -q -o streams 0.nsysx 1.nsysx
nsysx-prepare -q --no-host -o exports -x two/dump0 two/r0.sqlite -x two/dump1 two/r1.sqlite
records streams >a
records exports >b
same 'streams that were extracted before make the same' a b
nsysx-prepare -q -z 0.nsysx 1.nsysx >piped
records piped >b
same 'without -o the stream goes to standard output' a b
equal 'hosts are named, unless it is told not to' "$(nsysx-view -t profile files | cut -f 3 | tr '\n' ' '; nsysx-view -t profile exports | cut -f 3 | tr '\n' ' ')" 'host node node host   '
mkdir logs
nsysx-prepare -q --no-align --no-warmup --module jit_train_step --can can --logs logs -o bare 0.nsysx 1.nsysx
equal 'tools can be left out' "$(nsysx-view bare | grep -c '^clock') $(ls logs | tr '\n' ' ')" '0 collectives.log idle.log overlap.log steps.log '
equal 'marks can be left out' "$(nsysx-prepare -q --no-marks 0.nsysx 1.nsysx | nsysx-view | awk -F'\t' '$1 == "step" || $1 == "idle" { n++ } $1 == "collective" && $22 != "" { w = 1 } END { print n + 0, w }')" '0 1'
equal 'steps can be named' "$(nsysx-view -t step bare | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { print $c["by"] }' | sort -u)" 'module jit_train_step'
equal 'what the stream can answer' "$(tr '\n' ' ' <can)" 'xla comm devices compile '
equal 'small streams have no operations' "$(nsysx-prepare -q --no-detail 0.nsysx | nsysx-view | awk -F'\t' '$1 == "idle"' | wc -l | tr -d ' ')" 0

# What is refused: one line, and nothing is written.
refused() {
	claim=$1 text=$2
	shift 2
	rm -f none
	run nsysx-prepare -o none "$@"
	equal "$claim" "$status $(grep -c . "$T_private/err") $(grep -c -- "$text" "$T_private/err") $([ -e none ] && echo written)" '1 1 1 '
}
echo text >text
refused 'a file that is no report' 'not a profile that nsysx reads' text
refused 'a report that is not there' 'nowhere: No such file' nowhere
refused 'a folder without a report' 'want a report, or a folder of nsysx-record' logs
equal '... is not said to have some' "$(nsysx-prepare -o none logs 2>&1 | grep -c 'give the reports')" 0
mkdir 'its exports' lots
: >'its exports/r1.sqlite' && : >'its exports/r0.sqlite'
: >'its exports/r0.nsys-rep'
for n in 1 2 3 4 5; do : >lots/r$n.nsys-rep; done
refused 'a folder of exports: the error has their names' "in it; give the reports that are in it: 'its exports/r0.sqlite' 'its exports/r1.sqlite'\$" 'its exports/'
refused '... of many reports: a pattern' 'give the reports that are in it: lots/\*.nsys-rep$' lots
rm -r 'its exports' lots
refused 'a dump that is not there' 'nodump: want a folder' -x nodump two/r0.sqlite
head -c 3000 0.nsysx >cut.nsysx
refused 'a stream that is cut short' 'cut.nsysx' cut.nsysx
refused 'a tool that fails says why, and those behind it do not' 'no program of that name' --module nothing two/r0.sqlite
refused 'an output that cannot be written' 'nodir' -o nodir/x two/r0.sqlite
for wrong in '' '-x two/dump0' '--step a --module b 0.nsysx' '0.nsysx two/r0.sqlite' '--jobs 0 0.nsysx' '--what 0.nsysx'; do
	# shellcheck disable=SC2086 # words
	run nsysx-prepare -o none $wrong
	equal "wrong usage: $wrong" "$status $(grep -c usage: "$T_private/err")" '2 1'
done

# Lists of names.
printf '0.nsysx\n1.nsysx\n' >list
nsysx-prepare --files-from list -o listed >said
same 'a list of streams is as its names' streams listed
run sh -c "$(head -n 1 said)" && mv listed again
same 'the pipeline it prints takes the list too' streams again
nsysx-prepare -q --files-from - -o listed <list
same 'and so from standard input' streams listed
mkfifo pipe
cat list >pipe &
timeout 60 nsysx-prepare -q --files-from pipe -o listed
same 'and from a pipe, which can be read only once' streams listed
printf 'two/r0.sqlite\0' >list0
nsysx-prepare -q --no-host -o listed -x two/dump0 --files-from list0 -x two/dump1 two/r1.sqlite
records listed >b
same 'a list of reports has the dump before it' a b
mkdir many
for i in $(seq 3000); do ln -s ../0.nsysx "many/a-name-of-some-length-as-those-of-jobs-are-$i.nsysx"; done
find many -name '*.nsysx' >list
run nsysx-prepare --files-from list -o never
equal 'thousands of names reach the merge, which refuses one report twice' "$status $(grep -c '^nsysx-merge: report r0 is in ' "$T_private/err")" '1 1'
fails "a list that cannot be used: nsysx-prepare -o never --files-from /dev/null" 1 'want the name of a file in it' nsysx-prepare -o never --files-from /dev/null
fails "a list that cannot be used: nsysx-prepare -o never --files-from none" 1 'want a file that can be read' nsysx-prepare -o never --files-from none
# What a diag of the extraction advises goes to it.
options=$(nsysx-prepare --help | grep -o -e '--[a-z-]*')
for option in $(cat "$tests_dir"/../lib/kineto/*.c "$tests_dir"/../lib/xplane/*.c "$tests_dir"/../lib/extract/*.c | grep -o -e '--[a-z-]* keeps' | sed 's/ .*//' | sort -u); do
	ok "a diag advises $option, which is an option here" sh -c 'printf "%s\n" "$1" | grep -qx -e "$2"' sh "$options" "$option"
done
cat >py.json <<'END'
{"deviceProperties": [{"id": 0, "name": "X"}], "traceEvents": [
{"ph": "X", "cat": "python_function", "name": "train.py(3): step", "pid": 1, "tid": 1, "ts": 1, "dur": 50, "args": {"Python id": 1, "Python parent id": null}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 5, "dur": 2, "args": {"correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 9, "dur": 20, "args": {"correlation": 7, "device": 0, "stream": 7}}]}
END
nsysx-prepare -q --python -o py py.json
equal '--python makes ranges' "$(nsysx-view -q -t range py | grep -c 'train.py')" 1
nsysx-prepare -q -o nopy py.json
equal '... and nothing else does' "$(nsysx-view -q -t range nopy | grep -c 'train.py')" 0
nsysx-prepare -q --no-host --device 1 --time 0:1h -o chosen two/r0.sqlite two/r1.sqlite
nsysx-extract -q -a -b --device 1 --time 0:1h two/r0.sqlite two/r1.sqlite | nsysx-view -q -t device >want
nsysx-view -q -t device chosen >got
equal '--device and --time as well' "$(cut -f 1 got)" "$(cut -f 1 want)"
fails 'of streams they are refused' 2 '--python is of the extraction' nsysx-prepare --python -o never 0.nsysx
for option in --metrics --memory --extract-flags=--autotune; do
	fails "... $option, too" 2 "${option%%=*} is of the extraction" nsysx-prepare $option -o never 0.nsysx
done
# Whose report does not tell its number in the job; with one it is refused.
run nsysx-prepare -q -o twice py.json py.json
equal 'a report that is given twice is warned of, whatever -q' "$status $(grep -c '^nsysx-prepare: warning: py: the same file as py.json: its time counts twice$' "$T_private/err")" '0 1'
# rank FILE RANK WORLD: a trace of that rank.
rank() { sed 's/^{/{"distributedInfo": {"rank": '"$2"', "world_size": '"$3"'}, /; s/"pid": 1/"pid": '"$2$3"'/' py.json | sed '1!s/{"distributedInfo": {[^}]*}, /{/' >"$1"; }
rank a.json 0 2
rank b.json 1 2
run nsysx-prepare -q -o ranks a.json b.json
equal 'two ranks of one job' "$status $(grep -c warning "$T_private/err")" '0 0'
rank b.json 1 4
run nsysx-prepare -q -o ranks a.json b.json
equal 'ranks of jobs of other sizes' "$status $(grep -c '^nsysx-prepare: warning: b: a trace of a job of 4 processes, where a.json is of one of 2: they are of different jobs$' "$T_private/err")" '0 1'
rank b.json 0 2
fails 'one rank twice' 1 'both have device 0 of the job: want profiles of one job, each once' nsysx-prepare -q -o never a.json b.json
echo '{"traceEvents":[]}' >nothing.json
run nsysx-prepare -q -o nothing nothing.json
equal 'a trace without events is warned of, whatever -q' "$status $(grep -c 'nsysx-prepare: warning: no GPU work' "$T_private/err")" '0 1'
run nsysx-prepare -q -o some py.json
equal '... another one is not' "$status $(wc -c <"$T_private/err" | tr -d ' ')" '0 0'
# A stream by another name is one by its first bytes.
nsysx-extract -q -a -b -o plain.nsysx "$(ls */r0.sqlite | head -n 1)" && cp plain.nsysx renamed.stream
nsysx-prepare -q -o a.nsysx plain.nsysx
ok 'a stream by any name' nsysx-prepare -q -o b.nsysx renamed.stream
same '... is the same' a.nsysx b.nsysx
head -c $(($(wc -c <plain.nsysx) - 5)) plain.nsysx >cut.stream
run nsysx-prepare -q -o never cut.stream
equal 'one that is cut is still one: the next tool says where' "$status $(grep -c 'cut.stream: cut short' "$T_private/err")" '1 1'
awk 'BEGIN { for (i = 0; i < 9000; i++) print "module" i, "of no stream" }' >text.stream
fails 'a file that is none' 1 'not a profile that nsysx reads' nsysx-prepare -q -o never text.stream
# ---- without GPU work there is nothing to diagnose ----
printf '#nsysx\t2\n#profile\tprofile:i\tname:s\nprofile\t0\tr0\n#end\trecords:i\nend\t1\n' >idler.tsv
run nsysx-prepare -o idler idler.tsv
equal 'no command is said to come next' "$(grep -c '^next:' "$T_private/out") $(grep -c 'no GPU work in what was given' "$T_private/err")" '0 1'
done_testing
