#!/bin/sh
# Where a later definition contradicts a reference result (tests/checks.list, at its end): the figures of the reference are still had,
# by the option or the rows that the older definition meant.
. "${0%/*}/../testlib.sh"

oracle=$SHARED/oracle
[ -d "$oracle/frameworks/mfu_steps" ] || skip_all 'no reference data beside the project'

# fields TABLE NAME...: these columns of a table with a header, without it.
fields() {
	table=$1
	shift
	awk -F'\t' -v want="$*" '
		NR == 1 { sub(/^#/, ""); n = split(want, name, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ for (k = 1; k <= n; k++) printf "%s%s", $(at[name[k]]), k < n ? "\t" : "\n" }' "$table"
}

# GPU time by opcode was of the programs with 99 % of the time.
zstd -dqf "$SHARED/data/pax/p0.sqlite.zst" -o "$T/p0.sqlite"
nsysx-extract -q -x "$SHARED/data/pax/dump0" "$T/p0.sqlite" | nsysx-warmup -q | nsysx-overlap -q >"$T/p0"
nsysx-summary -q --tsv --by opcode --cover 0.99 "$T/p0" >"$T/opcodes"
fields "$T/opcodes" opcode total | grep -v '^\[' | sort >"$T/got"
zstd -dqc "$oracle/p0/op_runtime.tsv.zst" >"$T/reference"
fields "$T/reference" Opcode Ms | awk -F'\t' '!/^_/ && !/^GPU idle/ { printf "%s\t%.0f\n", $1, $2 * 1e6 }' | sort >"$T/want"
same 'GPU time by opcode of the programs with 99 % of it' "$T/want" "$T/got"
equal '... which are not all' "$(nsysx-summary -q --tsv --by opcode "$T/p0" | cmp -s - "$T/opcodes"; echo $?)" 1

# Means of steps were over all periods.
zstd -dqf "$SHARED/data/torch/mfu_steps.sqlite.zst" -o "$T/steps.sqlite"
nsysx-extract -q --ops --ranges "$T/steps.sqlite" >"$T/steps"
# means ORACLE OPTION...: of the periods of --each, by class and device, against the reference's; and the rows themselves.
means() {
	name=$1
	shift
	nsysx-steps -q --each --tsv "$@" "$T/steps" >"$T/each"
	fields "$T/each" class device period | awk -F'\t' '
		$3 != "" { sum[$1 "\t" $2] += $3; n[$1 "\t" $2]++ }
		END { for (k in n) printf "%s\t%.3f\n", k, sum[k] / n[k] }' | sort >"$T/got"
	zstd -dqc "$oracle/frameworks/mfu_steps/$name.tsv.zst" >"$T/reference"
	fields "$T/reference" class device period_mean | awk -F'\t' '$3 != "" { printf "%s\t%s\t%.3f\n", $1, $2, $3 }' | sort >"$T/want"
	same "$name: means over all periods" "$T/want" "$T/got"
}
means steps_default
means steps_groups --step '^train step ([0-9])[0-9]*, phase (.)'
zstd -dqc "$oracle/frameworks/mfu_steps/steps_groups_each.tsv.zst" >"$T/reference"
for table in each reference; do
	fields "$T/$table" class device step range host_start host_dur start span period ops helper | sort >"$T/$table.rows"
done
same 'the steps themselves' "$T/reference.rows" "$T/each.rows"
nsysx-steps -q --tsv --step '^train step ([0-9])[0-9]*, phase (.)' "$T/steps" >"$T/pure"
equal '... of which not all count' "$(fields "$T/pure" class device period_mean | awk -F'\t' '$3 != "" { printf "%s\t%s\t%.3f\n", $1, $2, $3 }' | sort | cmp -s - "$T/want"; echo $?)" 1

# A collective cost its longest record in a profile for XLA.
for r in 0 1; do
	zstd -dqf "$SHARED/data/xla26/fsdp/r$r.sqlite.zst" -o "$T/r$r.sqlite"
done
nsysx-extract -q -x "$SHARED/data/xla26/fsdp/dump" "$T/r0.sqlite" "$T/r1.sqlite" | nsysx-warmup -q >"$T/fsdp"
nsysx-view -q -t inst "$T/fsdp" >"$T/inst"
nsysx-view -q -t thunk "$T/fsdp" >"$T/thunk"
fields "$T/inst" name scheduling_name comm | awk -F'\t' '$3 == 1 { print $1 "\t" ($2 == "" ? $1 : $2) }' >"$T/names"
fields "$T/thunk" name dur | awk -F'\t' 'NR == FNR { name[$1] = $2; next } $1 in name { k = name[$1]; if ($2 + 0 > most[k]) most[k] = $2 + 0 }
	END { for (k in most) printf "%s\t%.3f\n", k, most[k] / 1000 }' "$T/names" - | sort >"$T/want"
# costs NAME OPTION...: of collectives, as a profile of these options has them.
costs() {
	name=$1
	shift
	nsysx-pgle -q "$@" -d "$T/$name.pgle" "$T/fsdp"
	cat "$T/$name.pgle"/*.pbtxt | tr -d '\n' | sed 's/costs/\n&/g' | sed -n 's/.*name: *"\([^"]*\)" *cost_us: *\([0-9.e+-]*\).*/\1\t\2/p' |
		awk -F'\t' 'NR == FNR { is[$2]; next } $1 in is { printf "%s\t%.3f\n", $1, $2 }' "$T/names" - | sort
}
costs most --max >"$T/got"
ok 'there are collectives' test -s "$T/want"
same 'costs of collectives with --max' "$T/want" "$T/got"
equal '... which are longer than transfers' "$(costs median | cmp -s - "$T/want"; echo $?)" 1
done_testing
