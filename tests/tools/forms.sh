#!/bin/sh
# CSV and OpenMetrics: the same cells as TSV, read by other programs.
. "${0%/*}/../testlib.sh"
command -v python3 >/dev/null 2>&1 || skip_all 'there is no python3'

make_job job --processes 2 --steps 5
nsysx-extract -q -a -b -x "$T/job/dump0" "$T/job/r0.sqlite" -x "$T/job/dump1" "$T/job/r1.sqlite" | nsysx-align -q -b | nsysx-overlap -q -b -o "$T/s"
while read -r _ table; do
	for form in tsv csv openmetrics; do
		# shellcheck disable=SC2086 # words
		nsysx-$table -q --$form "$T/s" >"$T/$form" || fail "nsysx-$table --$form" 'it ends with a status above 0'
	done
	equal "nsysx-$table: CSV and metrics say what TSV says" "$(python3 forms.py "$T/tsv" "$T/csv" "$T/openmetrics")" ''
done <<END
$(listed forms)
END
# Names with what CSV and labels must escape.
printf '#nsysx\t2\n#device\tdevice:i\ndevice\t0\n#op\ttype:s\tdevice:i\tname:s\tstart:i\tdur:i\nop\tkernel\t0\ta,"b"\\\\c\\nd\t1\t5\nop\tkernel\t0\t\\t;{x="y"}\t9\t7\n#end\trecords:i\nend\t3\n' >"$T/s"
for form in tsv csv openmetrics; do nsysx-summary -q --by kernel --$form "$T/s" >"$T/$form"; done
equal 'commas, quotation marks and line feeds are escaped' "$(python3 forms.py "$T/tsv" "$T/csv" "$T/openmetrics") $(wc -l <"$T/tsv" | tr -d ' ')" ' 3'
fails 'forms exclude each other' 2 'exclude each other' nsysx-summary --csv --tsv "$T/s"
fails 'where there is no table there is no form' 2 '--mark writes a stream' nsysx-idle --mark --csv "$T/s"
done_testing
