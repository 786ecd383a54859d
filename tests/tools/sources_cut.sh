#!/bin/sh
# Every cut of a trace or XSpace is refused: one line that names the file, what came and what was wanted; nothing is written.
. "${0%/*}/../testlib.sh"

# refused FILE BYTES: the first BYTES bytes of FILE are; adds to $wrong what is not as it should be.
refused() {
	head -c "$2" "$1" >"$T/cut"
	nsysx-extract -q -a -o "$T/got" "$T/cut" >"$T/out" 2>"$T/err"
	status=$?
	tried=$((tried + 1))
	[ "$status" -eq 1 ] && [ ! -s "$T/out" ] && [ ! -e "$T/got" ] && [ "$(wc -l <"$T/err")" -eq 1 ] &&
		grep -qE "^nsysx-extract: $T/cut: (empty: want|byte [0-9]+: (the JSON text ends|not an XSpace, or cut off)|the gzip data end early|not a profile that nsysx reads: want)" "$T/err" && return
	wrong="$wrong $2:$status:$(head -c 100 "$T/err")"
	rm -f "$T/got"
}
# cuts CLAIM FILE STEP [EXCEPT]: after each STEPth byte, but for those of the pattern EXCEPT.
cuts() {
	wrong= tried=0 size=$(wc -c <"$2") at=0
	while [ "$at" -lt "$size" ]; do
		case " ${4-} " in *" $at "*) ;; *) refused "$2" "$at" ;; esac
		at=$((at + $3))
	done
	equal "$1" "$wrong" ''
	ok "... $tried times" test "$tried" -gt 50
}
# ends FILE: where a field of an XSpace ends: what is before is an XSpace, too.
ends() {
	od -An -v -tu1 -w1 "$1" | awk '
		{ b[n++] = $1 }
		function varint(   v, f) { f = 1; do { v += (b[i] % 128) * f; f *= 128 } while (b[i++] >= 128); return v }
		END { while (i < n) { varint(); i += varint(); if (i < n) printf "%d ", i } }'
}

cat >"$T/trace.json" <<'END'
{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "G", "numSms": 8}],
"baseTimeNanoseconds": 5, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm \"]}", "pid": 4, "tid": 4, "ts": 10.5, "dur": 9},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4, "tid": 4, "ts": 12, "dur": 2.25, "args": {"correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 1e1, "args": {"device": 0, "stream": 7, "correlation": 7}}
], "distributedInfo": {"rank": 0, "pg_config": []}, "traceName": "x"}
END
# The last byte is a line feed: without it the trace is whole.
printf %s "$(cat "$T/trace.json")" >"$T/small.json"
ok 'the whole trace is read' nsysx-extract -q "$T/small.json"
cuts 'a trace cut at any byte' "$T/small.json" 1
gzip -nc "$T/small.json" >"$T/small.gz"
ok 'the whole trace in gzip is read' nsysx-extract -q "$T/small.gz"
cuts 'a trace in gzip cut at any byte' "$T/small.gz" 1
make_job job --torch --processes 1 --steps 2 --kineto
cuts 'a larger trace' "$T/job/r0.pt.trace.json" 499
gzip -nc "$T/job/r0.pt.trace.json" >"$T/large.gz"
cuts 'a larger trace in gzip' "$T/large.gz" 53
make_job jax --processes 1 --steps 2 --xspace --no-warmup
planes=$(ends "$T/jax/r0.xplane.pb")
cuts 'an XSpace, but for where a plane ends' "$T/jax/r0.xplane.pb" 311 "$planes"
gzip -nc "$T/jax/r0.xplane.pb" >"$T/xspace.gz"
cuts 'an XSpace in gzip' "$T/xspace.gz" 101
if command -v python3 >/dev/null 2>&1; then
	python3 xplane/space.py "$T/small.pb" cpu || exit 1
	cuts 'a small XSpace cut at any byte, but for where a plane ends' "$T/small.pb" 1 "$(ends "$T/small.pb")"
fi
wrong=
for at in $planes; do
	head -c "$at" "$T/jax/r0.xplane.pb" >"$T/cut.pb"
	says=$(nsysx-extract -q -a "$T/cut.pb" | nsysx-view -q -t diag | grep -c 'cut off between two planes')
	[ "$says" -eq 1 ] || wrong="$wrong $at"
done
# The last field is the name of the host.
planes=${planes% }
equal 'cut where a plane ends it is warned of' "$wrong" " ${planes##* }"
done_testing
