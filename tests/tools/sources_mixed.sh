#!/bin/sh
# One job whose ranks were recorded by several profilers: the same answers as of exports of all ranks.
. "${0%/*}/../testlib.sh"

# stream FILE INPUT...
stream() {
	nsysx-extract -q -a -o "$@"
}
# tables CLAIM BASE MIXED COMMAND...: each command prints the same of both.
tables() {
	claim=$1 base=$2 mixed=$3
	shift 3
	for table do
		# shellcheck disable=SC2086  # a tool and options
		{
			nsysx-$table -q --tsv "$base" >"$T/a"
			nsysx-$table -q --tsv "$mixed" >"$T/b"
		}
		same "$claim: $table" "$T/a" "$T/b"
	done
}
aligned() {
	nsysx-merge -q "$@" | nsysx-align -q | nsysx-overlap -q
}

# ---- JAX: an export of one rank, XSpaces of all others

make_job jax --titles 2026 --no-warmup --steps 4 --processes 3 --offset 2000000 --sessions 40000000 --xspace
for r in 0 1 2; do
	stream "$T/n$r" -x "$T/jax/dump$r" "$T/jax/r$r.sqlite"
	stream "$T/x$r" "$T/jax/r$r.xplane.pb"
done
aligned "$T/n0" "$T/n1" "$T/n2" >"$T/all"
aligned "$T/x0" "$T/n1" "$T/x2" >"$T/mixed"
tables 'an export and XSpaces' "$T/all" "$T/mixed" 'summary --by kernel' 'summary --by thunk' 'summary --by device' 'summary --by module' steps \
	'steps --explain' 'collectives --summary' stragglers 'stragglers --waits' 'view -t clock' 'view -t program'
equal 'clocks by instances are those of the job' "$(nsysx-view -q -t clock "$T/mixed" | awk -F'\t' '{ print $7 }' | sort -u | tr '\n' ' ')" '0 component '
nsysx-merge -q "$T/x0" "$T/n1" "$T/x2" >"$T/merged"
nsysx-merge -q "$T/n0" "$T/n1" "$T/n2" >"$T/merged.n"
tables 'before they are aligned' "$T/merged.n" "$T/merged" 'summary --by kernel' 'summary --by device'
fails 'a device in an export and in an XSpace is refused' 1 'device 1 is in report r1 of' nsysx-merge -q -o "$T/no" "$T/x0" "$T/x1" "$T/x2" "$T/n1"
fails '... also of one command' 1 'both have device 1 of the job' nsysx-extract -q -o "$T/no" "$T/jax/r1.xplane.pb" "$T/jax/r1.sqlite"
ok 'nothing is written' test ! -e "$T/no"
nsysx-prepare -q -o "$T/one" -x "$T/jax/dump1" "$T/jax/r1.sqlite" "$T/jax/r0.xplane.pb" "$T/jax/r2.xplane.pb"
nsysx-prepare -q -o "$T/base" -x "$T/jax/dump0" "$T/jax/r0.sqlite" -x "$T/jax/dump1" "$T/jax/r1.sqlite" -x "$T/jax/dump2" "$T/jax/r2.sqlite"
tables 'prepared in one command' "$T/base" "$T/one" 'summary --by kernel' 'summary --by thunk' steps 'diagnose --where'
equal 'compared, nothing has changed' "$(nsysx-compare -q --tsv --by kernel "$T/base" "$T/one" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "delta") c = i; next } $c + 0 != 0' | wc -l | tr -d ' ')" 0

# ---- PyTorch: an export of one rank, traces of the others

make_job torch --torch --plant straggler --schema 3.24.14 --processes 3 --steps 4 --kineto --sessions 40000000
for r in 0 1 2; do
	stream "$T/n$r" "$T/torch/r$r.sqlite"
	stream "$T/k$r" "$T/torch/r$r.pt.trace.json"
done
nsysx-merge -q -o "$T/all" "$T/n0" "$T/n1" "$T/n2"
nsysx-merge -q -o "$T/mixed" "$T/k0" "$T/n1" "$T/k2"
tables 'an export and traces' "$T/all" "$T/mixed" 'summary --by kernel' 'copies'
by_name() {
	nsysx-summary -q --tsv --by device "$1" | cut -f 2- | sort
}
nsysx-overlap -q -o "$T/all.o" "$T/all"
nsysx-overlap -q -o "$T/mixed.o" "$T/mixed"
alike 'an export and traces: what each device does' "$(by_name "$T/mixed.o")" "$(by_name "$T/all.o")"
# Starts are UTC: the first operations of two profiles are as far apart as in the exports, but for rounding.
first() {
	nsysx-align -q "$1" | nsysx-view -q -t op | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } !($at["profile"] in t) { t[$at["profile"]] = $at["start"] } END { for (p in t) print p, t[p] }'
}
nsysx-merge -q -o "$T/kn" "$T/k0" "$T/n1"
apart=$(first "$T/kn" | sort | awk '{ t[NR] = $2 } END { print t[2] - t[1] }')
want=$(nsysx-merge -q "$T/n0" "$T/n1" | nsysx-view -q -t op | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } !($at["profile"] in t) { t[$at["profile"]] = $at["start"] } END { print t[1] - t[0] }')
utc=$(nsysx-merge -q "$T/n0" "$T/n1" | nsysx-view -q -t profile | cut -f 6 | tail -n 2 | tr '\n' ' ')
late=$((apart - want + ${utc% * } - ${utc#* }))
ok "clocks by the starts that profiles record: $late ns off" test "$late" -ge -1 -a "$late" -le 1
says 'communicators of two profilers are told apart' 'has another number in each' nsysx-merge -o "$T/mixed" "$T/k0" "$T/n1" "$T/k2"
says '... also of one command' 'has another number in each' nsysx-extract --ops -o "$T/mixed" "$T/torch/r0.pt.trace.json" "$T/torch/r1.sqlite"
says 'a device that two profilers have is told of' 'seems to be device' nsysx-merge -o "$T/twice" "$T/k0" "$T/k1" "$T/k2" "$T/n1"
says '... also of one command' 'seems to have as well' nsysx-extract --ops -o "$T/twice" "$T/torch/r1.sqlite" "$T/torch/r1.pt.trace.json"
run nsysx-merge -o "$T/mixed" "$T/k0" "$T/n1" "$T/k2"
ok 'devices of several ranks are not' sh -c '! grep -q "seems to be" "$1"' sh "$T_private/err"
nsysx-prepare -q -o "$T/one" "$T/torch/r0.pt.trace.json" "$T/torch/r1.sqlite" "$T/torch/r2.pt.trace.json"
nsysx-prepare -q -o "$T/base" "$T/torch/r0.sqlite" "$T/torch/r1.sqlite" "$T/torch/r2.sqlite"
tables 'prepared in one command' "$T/base" "$T/one" 'summary --by kernel'
done_testing
