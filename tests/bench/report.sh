# report.sh -- a whole report, beside the extraction that it begins with.
report_of() {
	name=$1 given=$2
	turns extract "$bin/nsysx-extract -q -a -b $given" report "rm -rf $work/report; $bin/nsysx-report -q -o $work/report $given"
	while IFS=$tab read -r command numbers; do
		row report "$name" "$command" "$numbers"
	done <"$rows"
	rm -rf "$work/report"
}

# What another build's report needs besides its programs is not in their folder.
before=$OLD OLD=
row report profile command "$cost"
scale "$RANGES"
report_of ranges "$export"
job "$STEPS"
report_of 'XLA job' "$inputs"

OLD=$before
about 'nsysx-report beside nsysx-extract -a of the same exports. CPU is of all processes together, memory of the largest.'
show report
