#!/bin/sh
# lib/report/nsysx.sbatch without Slurm: its steps called directly, and its arguments for sbatch. tests/slow/slurm.sh uses Slurm.
. "${0%/*}/../testlib.sh"

script=$(cd "$tests_dir/.." && pwd)/lib/report/nsysx.sbatch
NSYSX_REPORT=no
export NSYSX_REPORT
NSYSX_EXTRACT=
export NSYSX_EXTRACT
unset NSYSX_PARTIAL NSYSX_TASKS NSYSX_AT_ONCE NSYSX_BIN
"$SYNTH" -q -o "$T/a" --processes 3 --offset 100000 || exit 1
cd "$T" || exit 1
printf '# three\na/r0.sqlite\ta/dump0\n\na/r1.sqlite\ta/dump1\n%s/a/r2.sqlite\n' "$T" >list
nsysx() { sh "$script" "$@"; }
inode() { ls -i "$1" | cut -d ' ' -f 1; }

fails 'misuse' 2 'usage: nsysx.sbatch' nsysx list
fails 'no list' 1 'none: want a file that lists reports' nsysx --list none out
: >empty
fails 'an empty list' 1 'want a report a line, got none' nsysx --list empty out2
equal 'profiles are counted' "$(nsysx --list list out)" 3
fails 'a number beyond the list' 1 'out/list:4: there is no such line' nsysx --rank out 4
ok 'streams of profiles' nsysx --rank out 1 3
printf 'a/r2.sqlite\ta/dump9\n' >list9
nsysx --list list9 out9 >/dev/null
fails 'a folder of dumps that does not exist' 1 "$T/a/dump9: no such folder of HLO dumps; a job without them, as of PyTorch, has no second column" nsysx --rank out9 1
equal '... is all that is said of it' "$(nsysx --rank out9 1 2>&1 | grep -c dump9)" 1
fails 'what is missing is named' 1 "out/list:2: $T/a/r1.sqlite: no stream" nsysx --join out
ok 'nothing is merged' test ! -e out/merged.nsysx
NSYSX_PARTIAL=yes sh "$script" --join out >/dev/null 2>&1
equal 'missing profiles are allowed on request' "$? $(nsysx-view -t diag out/merged.nsysx | grep -c 'nsysx.sbatch	report 2, r1.sqlite, is missing: it has no stream	1$')" '0 1'
printf 'a/r0.sqlite\ta/dump0\nback\\slash.sqlite\n' >list5
nsysx --list list5 out5 >/dev/null && nsysx --rank out5 1 >/dev/null 2>&1
POSIXLY_CORRECT=1 NSYSX_PARTIAL=yes sh "$script" --join out5 >/dev/null 2>&1
equal '... whatever their names' "$? $(nsysx-view -t diag out5/merged.nsysx | grep -c 'report 2, back\\\\slash.sqlite, is missing')" '0 1'
ok 'the remaining profiles' nsysx --rank out 2
ok 'joins' nsysx --join out
for n in 0 1; do nsysx-extract -q --host -x a/dump$n -o d$n a/r$n.sqlite; done
nsysx-extract -q --host -o d2 a/r2.sqlite
nsysx-merge -q -b -z -o want d2 d1 d0
same 'streams equal direct extractions' want out/merged.nsysx
nsysx-align -q want | nsysx-warmup -q | nsysx-overlap -q | nsysx-collectives -q | nsysx-steps -q --mark -o steady
nsysx-view out/steady.nsysx >got
same 'the steady state equals that of a direct extraction' steady got
nsysx-summary -q --tsv --by module -o module.tsv steady
equal 'streams have the names of hosts' "$(nsysx-view -t profile out/steady.nsysx | cut -f 3 | sort -u | tr '\n' ' ')" 'host node '
same 'tables equal those of a direct extraction' module.tsv out/tables/module.tsv

merged=$(inode out/merged.nsysx) made=$(inode out/steady.nsysx)
ok 'joining again' nsysx --join out
equal '... makes no stream again' "$(inode out/merged.nsysx) $(inode out/steady.nsysx)" "$merged $made"
before=$(inode out/streams/1.nsysx)
nsysx --rank out 1 >/dev/null 2>&1
equal 'completed steps are not repeated' "$(inode out/streams/1.nsysx)" "$before"
cp a/r0.sqlite a/r0.new && touch -d '2001-02-03' a/r0.new && mv a/r0.new a/r0.sqlite
: >out/streams/.1.nsysx.AbCdEf
nsysx --rank out 1 >/dev/null 2>&1
equal 'a changed profile is extracted again' "$([ "$(inode out/streams/1.nsysx)" != "$before" ]; echo $?)" 0
equal '... and files of an aborted run are removed' "$(ls -A out/streams | grep -c '^\.')" 0
# A join that begins before the streams are made again, as the second Job of Kubernetes does.
cp a/r1.sqlite a/r1.new && touch -d '2001-02-04' a/r1.new && mv a/r1.new a/r1.sqlite
fails 'a stream of an earlier report is not joined' 1 "list:2: $T/a/r1.sqlite: has changed since its stream was made" nsysx --join out
NSYSX_PARTIAL=yes sh "$script" --join out >/dev/null 2>&1
equal '... but left out on request' "$? $(nsysx-view -t diag out/merged.nsysx | grep -c 'report 2, r1.sqlite, is missing: its stream is not of it as it is now	1$')" '0 1'
fails 'nor one of other options' 1 "list:1: $T/a/r0.sqlite: its stream was made by $(nsysx-extract --version) , not by $(nsysx-extract --version) --ops" env NSYSX_EXTRACT=--ops sh "$script" --join out
ok 'made again' nsysx --rank out 2
ok '... they join' nsysx --join out
mv a a.away
ok '... where reports are not seen, too' nsysx --join out
mv a.away a
printf 'a/r1.sqlite\ta/dump1\n' >list2
nsysx --list list2 out >/dev/null
fails 'another list does not use the streams of the first' 1 'list:1: ' nsysx --join out
nsysx --list list out >/dev/null
rm out/streams/1.nsysx
fails 'a mark without its stream does not count as completed' 1 'list:1: ' nsysx --join out
ln -s r9.sqlite a/broken.sqlite
echo a/broken.sqlite >list3
nsysx --list list3 out3 >/dev/null
fails 'a missing profile' 1 'broken.sqlite' nsysx --rank out3 1

# ---- everything is extracted unless it is told otherwise: PyTorch jobs get their tables, too.
unset NSYSX_EXTRACT
"$SYNTH" -q --torch -o torch || exit 1
echo torch/r0.sqlite >list4
nsysx --list list4 out4 >/dev/null
ok 'a job of PyTorch' nsysx --rank out4 1
ok '... joins' nsysx --join out4
nsysx-prepare -q -o torch.nsysx torch/r0.sqlite
nsysx-view out4/steady.nsysx | grep -v '^profile' >got
nsysx-view torch.nsysx | grep -v '^profile' >want
same '... to what nsysx-prepare makes of it' want got
for by in range kernel; do
	nsysx-summary -q --tsv --by $by -o want torch.nsysx
	same "... with its table by $by" want out4/tables/$by.tsv
done
nsysx-idle -q --tsv -o want torch.nsysx
same '... of idle time' want out4/tables/idle.tsv
nsysx-steps -q --tsv -o want torch.nsysx
same '... of steps' want out4/tables/steps.tsv
equal '... without those of programs' "$(ls out4/tables | tr '\n' ' ')" 'bandwidth.tsv collective.tsv diagnosis.md idle.tsv kernel.tsv nvtx.folded range.tsv steps.tsv '

# ---- clocks by samples of the ranks
"$SYNTH" -q -o b --processes 4 --steps 12 --offset 1000000 --jitter 200 || exit 1
for n in 0 1 2 3; do printf 'b/r%d.sqlite\tb/dump%d\n' $n $n; done >list6
NSYSX_EXTRACT= NSYSX_SAMPLE=4
export NSYSX_EXTRACT NSYSX_SAMPLE
nsysx --list list6 out6 >/dev/null
ok 'streams with samples' nsysx --rank out6 1 2 4
equal '... one each' "$(ls out6/streams | tr '\n' ' ')" '1.done 1.nsysx 1.sample 2.done 2.nsysx 2.sample 4.done 4.nsysx 4.sample '
NSYSX_SAMPLE=5 sh "$script" --rank out6 3 >/dev/null 2>&1
equal 'of fewer reports none' "$? $(ls out6/streams | grep -c '3\.')" '0 2'
ok '... joins; the stream without one gets it' nsysx --join out6
nsysx-merge -q -b out6/streams/*.sample | nsysx-align -q -e -b -o clocks
nsysx-merge -q -b out6/streams/*.nsysx | nsysx-align -q --apply clocks | nsysx-warmup -q | nsysx-overlap -q | nsysx-collectives -q | nsysx-steps -q --mark -o steady
nsysx-view -q out6/steady.nsysx >got
same 'the steady state is on the clocks of the samples' steady got
equal '... which are within 100 ns of the true ones' "$(nsysx-view -q -t clock out6/steady.nsysx | cut -f 1,3 | awk -F'\t' 'NR == FNR { if (FNR > 1) truth[$1] = $3; next }
	FNR > 1 { e[$1] = $2 - truth[$1]; sum += e[$1]; n++ } END { for (d in e) { x = e[d] - sum / n; if (x < 0) x = -x; if (x > worst) worst = x } print n, (worst < 100) }' b/answers/clocks.tsv -)" '4 1'
clocks=$(inode out6/clocks.nsysx) made=$(inode out6/steady.nsysx)
ok 'joining again' nsysx --join out6
equal '... estimates nothing again' "$(inode out6/clocks.nsysx) $(inode out6/steady.nsysx)" "$clocks $made"
rm out6/streams/2.*
fails '... a stream is missing' 1 'list:2: ' nsysx --join out6
ok 'a rank that failed and is resumed' nsysx --rank out6 2
ok '... joins' nsysx --join out6
equal '... with clocks of its new sample' "$([ "$(inode out6/clocks.nsysx)" = "$clocks" ]; echo $?) $(nsysx-view -q out6/steady.nsysx | cmp - steady)" '1 '
NSYSX_CLOCKS=$PWD/clocks sh "$script" --join out6 >/dev/null 2>&1
nsysx-view -q out6/steady.nsysx >got
same 'with clocks of before' steady got
unset NSYSX_EXTRACT NSYSX_SAMPLE

# ---- many streams are merged in groups of 64
mkdir many many/streams
n=0
while [ $n -lt 130 ]; do
	n=$((n + 1))
	printf 'elsewhere/r%d.sqlite\n' $n
	printf '#nsysx\t2\n#profile\tprofile:i\tname:s\n#device\tdevice:i\tprofile:i\tlocal:i\tknown:i\n#op\tprofile:i\top:i\ttype:s\tdevice:i\tname:s\tstart:i\tdur:i\n#end\trecords:i\nprofile\t0\tr%d\ndevice\t%d\t0\t0\t1\nop\t0\t0\tkernel\t%d\tk\t%d\t10\nend\t3\n' \
		$n $n $n $((n * 7 % 50)) | nsysx-view -b -z -o many/streams/$n.nsysx
done >many.list
nsysx --list many.list many >/dev/null
n=0
while read -r line; do
	n=$((n + 1))
	printf '%s\n%s\n' "$line" "$(nsysx-extract --version) -a" >many/streams/$n.done
done <many/list
ok 'many streams join' nsysx --join many
equal '... in groups' "$(ls many/groups | tr '\n' ' ')" '0000.done 0000.nsysx 0001.done 0001.nsysx 0002.done 0002.nsysx '
nsysx-merge -q -b -z -o want many/streams/*.nsysx
same '... to what one merge makes' want many/merged.nsysx
before=$(inode many/groups/0000.nsysx) second=$(inode many/groups/0001.nsysx) merged=$(inode many/merged.nsysx)
cp many/streams/70.nsysx new && mv new many/streams/70.nsysx
ok 'with one stream new' nsysx --join many
equal '... its group is merged again, and all' "$([ "$(inode many/groups/0001.nsysx)" = "$second" ]; echo $?) $([ "$(inode many/merged.nsysx)" = "$merged" ]; echo $?)" '1 1'
equal '... and no other' "$(inode many/groups/0000.nsysx)" "$before"
# A merge of a group, during which stream 3 of it becomes another.
mkdir late && printf '#!/bin/sh\nPATH=%s\nexport PATH\nnsysx-merge "$@" || exit 1\ncase $* in *0000.nsysx*) cp "%s" new && mv new "%s" ;; esac\n' \
	"'$PATH'" "$PWD/many/streams/3.nsysx" "$PWD/many/streams/3.nsysx" >late/nsysx-merge && chmod +x late/nsysx-merge
cp many/streams/2.nsysx new && mv new many/streams/2.nsysx
PATH=$PWD/late:$PATH sh "$script" --join many >/dev/null 2>&1
before=$(inode many/groups/0000.nsysx)
ok 'a stream became another while its group was merged: joining again' nsysx --join many
equal '... merges the group again' "$([ "$(inode many/groups/0000.nsysx)" = "$before" ]; echo $?)" 1
NSYSX_EXTRACT=
export NSYSX_EXTRACT

# A stand-in for sbatch that records its arguments.
mkdir fake
printf '#!/bin/sh\nprintf "%%s " "$@" >>%s/submitted; echo >>%s/submitted\nn=$(wc -l <%s/submitted); echo $((40 + n))\n' "$T" "$T" "$T" >fake/sbatch
printf '#!/bin/sh\necho "MaxArraySize = 3"\n' >fake/scontrol
chmod +x fake/*
equal 'submitting prints the jobs' "$(PATH=$T/fake:$PATH sh "$script" list out)" "3 reports in 2 tasks of job 41; job 42 makes $T/out/steady.nsysx of them"
equal 'the array has at most the allowed size' "$(sed -n '1s/.*\(--array=[^ ]*\) .*--array \(.*\)/\1 \2/p' submitted)" "--array=1-2 $T/out 2 "
equal 'the merge comes after it, with any result' "$(sed -n '2s/.*\(--dependency=[^ ]*\) .*\(--join.*\)/\1 \2/p' submitted)" "--dependency=afterany:41 --join $T/out "
rm out/streams/[12].*
SLURM_ARRAY_TASK_ID=1 sh "$script" --array out 2 >/dev/null 2>&1
equal 'a task extracts its part' "$? $(ls out/streams/[0-9]*.nsysx | tr '\n' ' ')" '0 out/streams/1.nsysx out/streams/3.nsysx '
done_testing
