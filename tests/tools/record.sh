#!/bin/sh
# nsysx-record with a stand-in for nsys that records its arguments.
. "${0%/*}/../testlib.sh"

"$SYNTH" -o "$T/job" || exit 1
mkdir "$T/bin"
cat >"$T/bin/nsys" <<'END'
#!/bin/sh
# Writes its arguments, a line each, to $SAW; runs the program of `profile` and gives its status.
for arg; do printf '%s\n' "$arg"; done >>"$SAW"
case $1 in
profile)
	shift
	while case ${1-} in -t|-c|-d) shift 2 ;; -*) case $1 in --output=*) out=${1#--output=} ;; esac; shift ;; *) false ;; esac; do :; done
	[ -n "${NO_REPORT-}" ] || echo report >"$out.nsys-rep"
	"$@"
	status=$?
	exit "${KILLED:-$status}" ;;
export)
	for arg; do case $arg in --output=*) out=${arg#--output=} ;; --include-blobs=*) [ -z "${OLD-}" ] || { echo usage >&2; exit 1; } ;; esac; done
	cp "$DONOR" "$out" && chmod u+w "$out" ;;
esac
END
chmod +x "$T/bin/nsys"
cat >"$T/program" <<'END'
#!/bin/sh
printf '%s\n' "${XLA_FLAGS-unset}" "${JAX_TRACEBACK_IN_LOCATIONS_LIMIT-unset}" "$#" "$@" >"$PROGRAM_SAW"
printf '%s\n' "${JAX_ENABLE_COMPILATION_CACHE-unset}" >>"$PROGRAM_SAW"
exit "${STATUS:-0}"
END
chmod +x "$T/program"
PATH=$T/bin:$PATH SAW=$T/saw DONOR=$T/job/r0.sqlite PROGRAM_SAW=$T/program.saw
export PATH SAW DONOR PROGRAM_SAW
unset JAX_ENABLE_COMPILATION_CACHE XLA_FLAGS JAX_TRACEBACK_IN_LOCATIONS_LIMIT
cd "$T" || exit 1

# said LINE: the stand-in got this argument.
said() {
	if grep -qxF -e "$1" saw; then echo yes; else echo no; fi
}

ok 'records into a folder' nsysx-record -o out -- "$T/program" 'an argument' ''
equal 'report, export and dump exist' "$(ls out | tr '\n' ' ')" 'dump report.nsys-rep report.sqlite '
equal 'the program gets its arguments' "$(sed -n '3,5p' program.saw | tr '\n' '|')" '2|an argument||'
equal 'dumps go into the folder' "$(sed -n 1p program.saw)" "--xla_dump_to=$(pwd -P)/out/dump --xla_dump_hlo_as_proto=true"
equal 'source locations have all frames' "$(sed -n 2p program.saw)" -1
equal 'compilation caches are off' "$(tail -n 1 program.saw)" false
for arg in profile --trace=cuda,nvtx --sample=none --cpuctxsw=none --cuda-graph-trace=node "--output=$(pwd -P)/out/report" export --include-blobs=true; do
	equal "nsys is given $arg" "$(said "$arg")" yes
done
ok 'the results can be extracted' nsysx-extract -q -x out/dump -o out.nsx out/report.sqlite
equal '... with the name of the folder' "$(nsysx-view -t profile out.nsx | cut -f2 | tail -n 1)" out
fails 'an existing report is not overwritten' 1 'a report is already there' nsysx-record -o out -- "$T/program"
ok '... except with --force' nsysx-record --force -o out -- "$T/program"
equal '... which nsys gets too' "$(said --force-overwrite=true)" yes

rm -f saw
ok '--cpu asks for what host threads do' nsysx-record --cpu -o cpu -- "$T/program"
for arg in --trace=cuda,nvtx,osrt,python-gil --sample=process-tree --cpuctxsw=process-tree --samples-per-backtrace=1 --python-sampling=true --cuda-graph-trace=node; do
	equal "--cpu: nsys is given $arg" "$(said "$arg")" yes
done
equal '... and the option itself stays here' "$(said --cpu)" no
rm -f saw
ok "... but for what the user sets" nsysx-record --cpu --python-sampling=false --sample=none -o cpu2 -- "$T/program"
equal '... which is passed' "$(said --python-sampling=false)$(said --python-sampling=true)$(said --sample=process-tree)$(said --sample=none)$(said --trace=cuda,nvtx,osrt,python-gil)" yesnonoyesyes

rm -f saw
ok 'options of nsys are passed' nsysx-record -t nvtx --sample=process-tree --cuda-graph-trace=graph -o own --nvtx-domain-include=TSL -- "$T/program"
equal '... unchanged' "$(said -t)$(said nvtx)$(said --sample=process-tree)$(said --cuda-graph-trace=graph)$(said --nvtx-domain-include=TSL)" yesyesyesyesyes
equal '... replacing defaults' "$(said --trace=cuda,nvtx)$(said --sample=none)$(said --cuda-graph-trace=node)" nonono

JAX_ENABLE_COMPILATION_CACHE=true XLA_FLAGS="--xla_gpu_x=1 --xla_dump_to=$T/mine --xla_dump_hlo_as_proto=false" JAX_TRACEBACK_IN_LOCATIONS_LIMIT=7 nsysx-record -o set -- "$T/program"
equal 'XLA_FLAGS are kept' "$(sed -n 1p program.saw)" "--xla_gpu_x=1 --xla_dump_to=$T/mine --xla_dump_hlo_as_proto=false"
equal '... and the limit of tracebacks' "$(sed -n 2p program.saw)" 7
equal '... and the cache' "$(tail -n 1 program.saw)" true
equal 'dumps in another folder are linked' "$(cd -P set/dump && pwd)" "$(cd -P mine && pwd)"

RANK=3 nsysx-record -o 'all/%q{RANK}-100%%' -- "$T/program"
equal 'variables in names are expanded' "$(ls all)" '3-100%'
fails 'an unset variable' 1 'no NOT_SET' nsysx-record -o 'x%q{NOT_SET}' -- "$T/program"

rm -f saw program.saw
RANK=1 nsysx-record --condition '[ "$RANK" = 0 ]' -o rank1 -- "$T/program" a
equal '--if false: the program runs' "$(sed -n 4p program.saw)" a
equal '... without nsys, and without files' "$(ls -d saw rank1 2>/dev/null)" ''
RANK=0 nsysx-record --condition '[ "$RANK" = 0 ]' -o rank0 -- "$T/program" a
equal '--if true: it is profiled' "$(ls rank0 | wc -l)" 3

STATUS=5 nsysx-record -o five -- "$T/program"
equal 'the exit status of the program is passed' "$?" 5
RANK=1 STATUS=6 nsysx-record --condition false -o six -- "$T/program"
equal '... also without profiling' "$?" 6
KILLED=143 nsysx-record -c cudaProfilerApi -o cut -- "$T/program"
equal 'a program ended by nsys at the end of collection is no failure' "$?" 0
KILLED=143 nsysx-record -o nocut -- "$T/program"
equal '... but it is without a kill option' "$?" 143
KILLED=143 nsysx-record -c cudaProfilerApi --kill=none -o nokill -- "$T/program"
equal '... or with --kill=none' "$?" 143
OLD=1 nsysx-record -o old -- "$T/program" 2>err
equal 'an nsys without payloads' "$? $(ls old | wc -l) $(wc -c <err)" '0 3 0'
fails 'no report is an error' 1 'left no report' env NO_REPORT=1 nsysx-record -o none -- "$T/program"
fails 'an export that fails is an error' 1 'nsys export' env DONOR="$T/nowhere" nsysx-record -o bad -- "$T/program"
fails 'no nsys' 1 'nsys: No such file' env PATH=/nowhere "$B/bin/nsysx-record" -o nonsys -- "$T/program"
fails 'no program' 2 'no program' nsysx-record -o x --
fails 'no folder' 2 '-o DIR' nsysx-record -- "$T/program"
fails 'a program without --' 2 'no program after --' nsysx-record -o x "$T/program"
# The next command can be copied, whatever the folder is called.
nsysx-record -v -o "my run's; \$HOME" -- "$T/program" 2>next.err
eval "set -- $(sed -n 's/.*next: //p' next.err)"
equal 'the next command has the folder as one word' "$#|$1|$2|$3|$4" "4|nsysx-prepare|-o|job.nsysx|$(pwd -P)/my run's; \$HOME"
nsysx-record -v -o plain -- "$T/program" 2>next.err
equal '... as it is if it needs no quotes' "$(sed -n 's/.*next: //p' next.err)" "nsysx-prepare -o job.nsysx $(pwd -P)/plain"

done_testing
