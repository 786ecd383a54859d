# startup.sh -- every filter on an empty stream, compared with an empty shell.
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$work/empty.nsysx"
set -- nothing :
for tool in view warmup align overlap collectives fold merge summary stragglers compile perfetto; do
	[ ! -x "$bin/nsysx-$tool" ] || set -- "$@" "$tool" "exec $bin/nsysx-$tool -q $work/empty.nsysx"
done
turns "$@"
row startup command "$cost"
cat "$rows" >>"$work/startup.tsv"

about 'Tools on a stream without a record; each time holds that of starting a shell, the first row.'
show startup
