#!/bin/sh
# Failures around a tool: full disks, closed pipes, signals, invalid files, no space for temporary
# files. Each ends with a status and a message, without a file with the name of the output.
. "${0%/*}/../testlib.sh"

"$SYNTH" -o "$T/job" --steps 2 --layers 1 || exit 1
cd "$T" || exit 1
nsysx-extract -q --ranges=all --ops -x job/dump0 -o job.tsv job/r0.sqlite
nsysx-overlap -q -o over.tsv job.tsv
nsysx-view -b -z -o over.nsysx over.tsv
nsysx-align -q --estimate -o clocks.tsv job.tsv
zstd -q -k job/r1.sqlite
python3 -c 'import struct, sys
sys.stdout.buffer.write(struct.pack("<13I", 1, 0, 8, 0, 100, 1, 150, 0x80000001, 250, 0x80000000, 300, 0, 0))' >mosaic.bin
printf '0\tload\n1\tmma\n' >names

# Every tool that writes a result, with @ for its input.
cat >commands <<'END'
over.tsv nsysx-view @
over.nsysx nsysx-view -b @
over.tsv nsysx-view -z -t thunk @
over.tsv nsysx-merge @
job.tsv nsysx-align @
clocks.tsv nsysx-align --apply @ job.tsv
job.tsv nsysx-warmup @
job.tsv nsysx-overlap @
over.tsv nsysx-collectives @
over.nsysx nsysx-collectives --summary @
over.nsysx nsysx-fold @
over.tsv nsysx-fold --by nvtx @
over.nsysx nsysx-summary @
over.nsysx nsysx-roofline @
over.nsysx nsysx-stragglers @
over.nsysx nsysx-diagnose --where @
job.tsv nsysx-compile @
job.tsv nsysx-compile --summary @
over.tsv nsysx-measure --module train_step @
job/dump0 nsysx-heap @
mosaic.bin nsysx-mosaic --grid 1 --block 128 --names names @
job/r0.sqlite nsysx-extract @
job/r1.sqlite.zst nsysx-extract -b -z @
job/dump0 nsysx-extract -x @ job/r0.sqlite
END
# each FUNCTION [OTHER]: call it with every command, with OTHER as its input.
each() {
	while read -r input command; do
		# shellcheck disable=SC2086,SC2046  # words
		"$1" $(echo "$command" | sed "s|@|${2:-$input}|")
	done <commands
}
# Nothing but what was there before: leaves CLAIM
before=$(find . | sort)
remember() { before=$(find . | sort); }
leaves() { equal "$1: leaves nothing" "$(find . | sort)" "$before"; }
remember

# ---- full disks ----
full() {
	run sh -c '"$@" >/dev/full' sh "$@"
	equal "$*: standard output full" "$status $(tail -n 1 "$T_private/err")" "1 $1: standard output: No space left on device"
	run "$@" -q -o /dev/full
	equal "$*: a full device" "$status $(cat "$T_private/err")" "1 $1: /dev/full: No space left on device"
	# The limit also applies to a file of standard error, so that is a pipe. Temporary files are small enough, or reach the limit first.
	said=$( (ulimit -f 0; "$@" -q -o new 2>&1; echo "$?") | tr '\n' ' ' | sed -E 's/: .*: File too large[^1]*/: File too large /')
	equal "$*: a limit on the size of files" "$said" "$1: File too large 1 "
}
each full
leaves 'full disks'

# ---- closed pipes ----
# A pipe without a reader, SIGPIPE ($1) default or ignored: the status, -N for signal N, and standard error.
cat >pipe.py <<'END'
import os, signal, subprocess, sys
how = signal.SIG_IGN if sys.argv[1] == "ignored" else signal.SIG_DFL
r, w = os.pipe()
os.close(r)
stdout, stderr = (w, subprocess.PIPE) if sys.argv[2] == "stdout" else (subprocess.DEVNULL, w)
p = subprocess.run(sys.argv[3:], stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, restore_signals=False,
                   preexec_fn=lambda: signal.signal(signal.SIGPIPE, how))
print(p.returncode, (p.stderr or b"").decode(), end="")
END
remember
closed() {
	equal "$*: a closed pipe ends it silently" "$(python3 pipe.py default stdout "$@" -q)" '-13 '
	equal "$*: with SIGPIPE ignored it is an error" "$(python3 pipe.py ignored stdout "$@" -q)" "1 $1: standard output: Broken pipe"
}
each closed
# The last messages have no reader while the output is committed.
head -n 40 over.tsv >cut.tsv
remember
equal 'a closed standard error' "$(python3 pipe.py default stderr nsysx-view -o new cut.tsv)" '-13 '
leaves 'a closed standard error'
head -c 3000000 /dev/zero | tr '\0' 'x' | { printf '#nsysx\t2\n#x\ts:s\nx\t'; cat; printf '\n#end\trecords:i\nend\t1\n'; } >big.tsv
for stage in 'nsysx-view -b' 'nsysx-view' 'nsysx-merge' 'nsysx-view -z'; do
	run sh -c "(nsysx-view -b big.tsv; echo \$? >&2) | ($stage; echo \$? >&2) | head -c 10 >/dev/null"
	equal "head after $stage: no message" "$(grep -c '[a-z]' "$T_private/err")" 0
done

# ---- signals ----
# -o with an endless input, killed once the temporary file exists: its status.
mkfifo fifo
remember
killed() {
	signal=$1
	shift
	"$@" -o new fifo 2>/dev/null &
	pid=$!
	exec 9>fifo
	head -n 30 over.tsv >&9
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		case $(echo .new.*) in '.new.*') sleep 0.1 ;; *) break ;; esac
	done
	kill "-$signal" "$pid"
	status=0
	wait "$pid" 2>/dev/null || status=$?
	exec 9>&-
}
for tool in nsysx-view nsysx-merge nsysx-align nsysx-warmup nsysx-overlap nsysx-collectives nsysx-fold nsysx-summary nsysx-compile; do
	killed TERM "$tool"
	equal "$tool -o: SIGTERM" "$status" 143
done
for s in HUP:129 PIPE:141 XCPU:152; do
	killed "${s%:*}" nsysx-view
	equal "nsysx-view -o: SIG${s%:*}" "$status" "${s#*:}"
done
leaves 'signals'

# ---- invalid files ----
: >empty
mkdir folder odd
remember
nothing() { # INPUT TOOL...
	run "$@" -o new
	equal "$*: status 1 and a message of one line" "$status $(wc -l <"$T_private/err") $(wc -c <"$T_private/out")" '1 1 0'
}
each nothing empty
each nothing nosuch
leaves 'invalid input'
# A folder of dumps may be empty.
grep -v -e '-heap' -e '-x @' commands >streams
cp streams commands
remember
each nothing folder
leaves 'a folder'
same_from_pipe() {
	case $* in *.sqlite*) return ;; esac
	"$@" >want 2>/dev/null
	# shellcheck disable=SC2046  # words
	set -- $(echo "$*" | sed "s|$input|fifo|")
	cat "$input" >fifo &
	"$@" >got 2>/dev/null
	wait $!
	same "$*: through a FIFO" got want
}
while read -r input command; do
	# shellcheck disable=SC2046  # words
	same_from_pipe $(echo "$command" | sed "s|@|$input|")
done <commands
rm -f want got
remember
cat job/r0.sqlite >fifo 2>"$T/err" &
fails 'an export cannot come through a FIFO' 1 'nsysx-extract: fifo: an export is read in several places at once and cannot come through a pipe' timeout 20 nsysx-extract -o new fifo
mkfifo odd/module_0040.jit_train_step.sm_9.0_gpu_after_optimizations.hlo.pb
remember
fails 'a FIFO among dumps' 1 'optimizations.hlo.pb: not a regular file' timeout 20 nsysx-extract -x odd job/r0.sqlite
fails 'a FIFO among dumps, to nsysx-heap' 1 'optimizations.hlo.pb: not a regular file' timeout 20 nsysx-heap odd
rm odd/*
mkdir odd/module_0040.jit_train_step.sm_9.0_gpu_after_optimizations.hlo.pb
run nsysx-extract -x odd job/r0.sqlite
equal 'a folder that is named like a dump is no dump' "$status $(grep -c 'jit_train_step@40: dump not used.*Is a directory' "$T_private/err")" '0 1'

# As a user without permission to read them.
chmod 755 "$T"
cp over.tsv secret && chmod 000 secret
cat >nobody.py <<'END'
import os, subprocess, sys
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
sys.exit(subprocess.call(sys.argv[1:]))
END
chmod 644 nobody.py
case $(python3 nobody.py sh -c "PATH=$PATH; test -x '$B/bin/nsysx-view' && echo yes") in
yes)
	fails 'an unreadable stream' 1 'nsysx-view: secret: Permission denied' python3 nobody.py nsysx-view secret
	fails 'an unreadable export' 1 'nsysx-extract: secret: Permission denied' python3 nobody.py nsysx-extract secret
	fails 'an unreadable dump' 1 'nsysx-heap: secret: Permission denied' python3 nobody.py nsysx-heap secret
	fails 'a folder that is not writable' 1 'nsysx-view: new: Permission denied' python3 nobody.py nsysx-view -o new over.tsv
	fails 'a TMPDIR that is not writable' 1 "nsysx-warmup: temporary file in $T, which TMPDIR can change: Permission denied" \
		env TMPDIR="$T" python3 nobody.py nsysx-warmup job.tsv ;;
*)
	skip 'unreadable files' 'another user cannot run the tools' ;;
esac

# ---- temporary files ----
remember
spools() {
	fails "$*: no TMPDIR" 1 "temporary file in $T/nosuch, which TMPDIR can change: No such file" env TMPDIR="$T/nosuch" "$@" -o new
}
spools nsysx-warmup job.tsv
spools nsysx-extract job/r1.sqlite.zst
spools nsysx-extract --spool job/r0.sqlite job/r1.sqlite
mkfifo pipe && remember
cat job.tsv >pipe &
spools nsysx-align pipe
leaves 'no TMPDIR'
done_testing
