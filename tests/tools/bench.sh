#!/bin/sh
# make bench, with sizes that take seconds: every part prints rows, and their numbers are consistent.
. "${0%/*}/../testlib.sh"

bench() { env -u SCALE -u LIMIT T= WORK="$T/work" TIMES=1 RANGES=2000 STEPS=2 LAYERS=2 COPIES=0 DUMP_MIB=1 JOINS='32 8 1' "$@" sh ../bench/run.sh; }
turns=$B/tests/bench/turns
tab=$(printf '\t')

# Print errors of the table $1, whose first $2 columns name what a row measures, followed by the command. A ratio refers
# to the first row with the same $2 columns: of one run each it is the quotient of the printed values.
wrong() {
	awk -F'\t' -v keys="$2" '
		function bad(why) { print "row " NR ": " why }
		function positive(name) { if (!($(at[name]) > 0)) bad(name " is " $(at[name])) }
		function quotient(name, ratio,   want) {
			want = $(at[name]) / (first[key, name] > 1e-6 ? first[key, name] : 1e-6)
			if ($(at[ratio]) - want > want / 100 + 1e-4 || want - $(at[ratio]) > want / 100 + 1e-4) bad(ratio " is " $(at[ratio]) ", want " want)
		}
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; columns = NF; next }
		{
			key = ""
			for (i = 1; i <= keys; i++) key = key $i FS
			if (!(key in seen)) { first[key, "wall_s"] = $(at["wall_s"]); first[key, "cpu_s"] = $(at["cpu_s"]) }
			seen[key] = 1
			if (NF != columns) bad(NF " columns, the header has " columns)
			positive("wall_s"); positive("wall_least_s"); positive("cpu_s"); positive("peak_kib"); positive("wall_ratio")
			if ($(at["over"]) != 0) bad("over")
			quotient("wall_s", "wall_ratio"); quotient("cpu_s", "cpu_ratio")
		}
		END { if (NR < 3) print NR " rows" }' "$T/work/$1.tsv" 2>&1
}

# Values of a column in rows with the given first columns: cells TABLE COLUMN VALUE...
cells() {
	file=$T/work/$1.tsv column=$2
	shift 2
	printf '%s\t' "$@" >"$T/head"
	awk -F'\t' -v column="$column" -v head="$(cat "$T/head")" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i; next }
		index($0, head) == 1 { print at ? $at : "no column " column }' "$file"
}

total() { awk -F'\t' -v name="$1" '$1 == name { print $2 }' "$T/work/scale-2000/answers/totals.tsv"; }

if ! command -v sqlite3 >/dev/null 2>&1; then
	skip_all 'there is no sqlite3'
fi
ok 'every part runs' bench
[ -s "$T/work/dump.tsv" ] || done_testing
equal 'the machine is described' "$(cut -f 1 "$T/work/machine.tsv" | grep -cE '^(processors|CPU model|clock MHz|load at start|libsqlite3)$')" 5
equal 'extraction: numbers are consistent' "$(wrong extract 1)" ''
equal 'other profilers: numbers are consistent' "$(wrong sources 1)" ''
equal 'filters: numbers are consistent' "$(wrong filters 2)" ''
equal 'kept streams: numbers are consistent' "$(wrong kept 1)" ''
equal 'reports: numbers are consistent' "$(wrong report 1)" ''
equal 'pipeline: numbers are consistent' "$(wrong pipeline 0)" ''
equal 'joins: numbers are consistent' "$(wrong sql 1)" ''
equal 'growth: numbers are consistent' "$(wrong growth 1)" ''
equal 'dump: numbers are consistent' "$(wrong dump 0)" ''
equal 'joins in SQL give the same results as nsysx' "$(cut -f 2,11 "$T/work/sql.tsv" | grep -c "^sqlite3.*${tab}same$")" 6
if [ -x "$B/tests/bench/codec" ]; then
	equal 'codecs: numbers hold' "$(awk -F'\t' 'NR > 1 { for (i = 2; i <= NF; i++) if (!($i > 0)) print; n++ } END { if (!n) print "none" }' "$T/work/codec.tsv")" ''
fi

# Compared with the generator's counts and the sizes of files.
equal 'bytes read are the size of the export' "$(cells extract read_bytes ranges binary)" "$(wc -c <"$T/work/scale-2000/r0.sqlite" | tr -d ' ')"
nsysx-extract -q -b --ranges -o "$T/ranges.b" "$T/work/scale-2000/r0.sqlite"
equal 'bytes written are the size of the stream' "$(cells extract written_bytes ranges binary)" "$(wc -c <"$T/ranges.b" | tr -d ' ')"
equal 'records are those of the stream' "$(cells extract records ranges text)" "$(nsysx-view --text "$T/ranges.b" | grep -cv -e '^#' -e '^end')"
equal 'events are ranges, calls and kernels' "$(cells growth events floor 16x)" "$(($(total ranges) + $(total calls) + $(total kernels)))"
equal 'rates are records divided by time' "$(awk -F'\t' 'NR > 1 { r = $12 / $6 / $14; n++; if (r < 0.98 || r > 1.02) print } END { if (!n) print "none" }' "$T/work/filters.tsv")" ''

# Timing of commands.
run "$turns" 1 small 'cat /dev/null' large 'head -c 64000000 /dev/zero | tail -c 64000000'
equal 'memory is that of the largest process of a pipeline' "$(awk -F'\t' '{ print $1, ($5 > 62500) }' "$T_private/out" | tr '\n' ' ')" 'small 0 large 1 '
run "$turns" 1 mapped 'cat /dev/null' held 'x=$(head -c 64000000 /dev/zero | tr "\\0" x); sleep 0.1; echo "${#x}"'
equal 'anonymous memory is measured by process' "$(awk -F'\t' '{ print $1, ($6 > 60000), ($6 <= $5) }' "$T_private/out" | tr '\n' ' ')" 'mapped 0 1 held 1 1 '
run "$turns" -l 0.5 3 quick : slow 'echo x >>"$T/slow"; exec sleep 60'
equal 'a command that exceeds its time is ended and reported' "$(awk -F'\t' '{ print $1, $NF, ($2 >= 0.5 && $2 < 30) }' "$T_private/out" | tr '\n' ' ')" 'quick 0 0 slow 1 1 '
equal 'a command that exceeded its time is not run again' "$(wc -l <"$T/slow" | tr -d ' ')" 1
run "$turns" 2 a 'echo a >>"$T/order"' b 'echo b >>"$T/order"'
equal 'commands alternate, after one warm-up run each' "$(tr -d '\n' <"$T/order")" ababab
fails 'a command that fails ends the measurement' 1 'nsx-turns: failed: exit 3' "$turns" 1 a : b 'exit 3'

# Tools that fail, or give other results.
fails 'an unknown part is named' 2 'run.sh: no part of the name filter' bench T=filter
mkdir "$T/broken" "$T/broken/bin" "$T/broken/tests"
ln -s "$B"/bin/* "$T/broken/bin"
ln -s "$B"/tests/bench "$B"/tests/synth "$T/broken/tests"
rm "$T/broken/bin/nsysx-fold"
printf '#!/bin/sh\n"%s/bin/nsysx-fold" "$@" | sed "1s/[0-9]*$/7/"\n' "$B" >"$T/broken/bin/nsysx-fold"
chmod +x "$T/broken/bin/nsysx-fold"
run bench T=sql B="$T/broken"
equal 'a result that differs from SQL fails' "$status $(grep -c 'differ' "$T_private/err")" '1 1'
printf '#!/bin/sh\nexit 1\n' >"$T/broken/bin/nsysx-fold"
run bench T=pipeline B="$T/broken"
equal 'a tool that fails fails the bench' "$status $(grep -c 'nsx-turns: failed: .*nsysx-fold' "$T_private/err")" '1 1'

# Comparison with other programs.
ok 'programs of another build are measured in turn with these' bench T=pipeline OLD="$B/bin"
equal 'programs of another build have their own rows' "$(cut -f 1 "$T/work/pipeline.tsv" | tr '\n' ' ')" \
	'command floor extract extract, before extract -b extract -b, before pipeline, text pipeline, text, before pipeline, binary pipeline, binary, before '

# Tables in docs/performance.md.
printf 'Before.\n<!-- bench: dump -->\nold\n<!-- end -->\nAfter.\n' >"$T/page.md"
ok 'tables are inserted into a page' env WORK="$T/work" sh ../bench/table.sh "$T/page.md"
equal 'tables are inserted between their marks' "$(sed -n '1,2p; /^| cat/s/|.*/row/p; /^| read/s/|.*/row/p; /old/p; $p' "$T/page.md" | tr '\n' ' ')" \
	'Before. <!-- bench: dump --> row row After. '
printf '<!-- bench: none -->\n<!-- end -->\n' >"$T/page.md"
fails 'a missing table is an error' 1 'no such table' env WORK="$T/work" sh ../bench/table.sh "$T/page.md"
done_testing
