#!/bin/sh
# lib/report/nsysx.sbatch without Slurm: its steps called directly, and its arguments for sbatch. tests/slow/slurm.sh uses Slurm.
. "${0%/*}/../testlib.sh"

script=$(cd "$tests_dir/.." && pwd)/lib/report/nsysx.sbatch
NSYSX_REPORT=no
export NSYSX_REPORT
unset NSYSX_PARTIAL NSYSX_EXTRACT NSYSX_TASKS NSYSX_AT_ONCE NSYSX_BIN
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
fails 'what is missing is named' 1 "out/list:2: $T/a/r1.sqlite: no stream" nsysx --join out
ok 'nothing is merged' test ! -e out/merged.nsysx
NSYSX_PARTIAL=yes sh "$script" --join out >/dev/null 2>&1
equal 'missing profiles are allowed on request' "$? $(nsysx-view -t diag out/merged.nsysx | grep -c 'nsysx.sbatch	report 2, r1.sqlite, is missing: it has no stream	1$')" '0 1'
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

before=$(inode out/streams/1.nsysx)
nsysx --rank out 1 >/dev/null 2>&1
equal 'completed steps are not repeated' "$(inode out/streams/1.nsysx)" "$before"
cp a/r0.sqlite a/r0.new && touch -d '2001-02-03' a/r0.new && mv a/r0.new a/r0.sqlite
: >out/streams/.1.nsysx.AbCdEf
nsysx --rank out 1 >/dev/null 2>&1
equal 'a changed profile is extracted again' "$([ "$(inode out/streams/1.nsysx)" != "$before" ]; echo $?)" 0
equal '... and files of an aborted run are removed' "$(ls -A out/streams | grep -c '^\.')" 0
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
