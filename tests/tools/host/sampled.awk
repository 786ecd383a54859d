# sampled.awk -- a text stream with samples of Python put in where they belong: awk -f sampled.awk DEVICES MOMENTS STREAM. DEVICES: what
# nsysx-view -t device prints; MOMENTS: lines "time device tid" in order of time. A sample is of 100 us around its moment, in line 80 of data.py.
BEGIN { FS = OFS = "\t" }
FNR == 1 { file++ }
file == 1 && FNR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
file == 1 { profile[$c["device"]] = $c["profile"]; pid[$c["device"]] = $c["pid"]; next }
file == 2 {
	at[++n] = $1 - 50000
	sample[n] = "sample\t" profile[$2] "\t" pid[$2] "\t" $3 "\t" at[n] "\t100000\t" $1 "\t0\tpython"
	if (!had[$2 "\t" $3]++) threads[++nthreads] = "thread\t" profile[$2] "\t" pid[$2] "\t" $3 "\t1\t1"
	next
}
/^#nsysx/ { print; print "#thread\tprofile:i\tpid:i\ttid:i\tscheduled:i\tpython:i"; print "#stack\tstack:i\tframes:s"; print "#sample\tprofile:i\tpid:i\ttid:i\tstart:i\tdur:i\tat:i\tstack:i\tlang:s"; next }
/^#/ { for (i = 2; i <= NF; i++) { name = $i; sub(/:.*/, "", name); col[substr($1, 2), name] = i } print; next }
$1 != "profile" && $1 != "device" && !threaded++ { for (i = 1; i <= nthreads; i++) print threads[i] }
$1 !~ /^(profile|device|communicator|clock|program|alias|groups)$/ && !stacked++ { print "stack\t0\t/app/train.py:9[<module>];/app/data.py:80[load_batch]" }
$1 ~ /^(call|range|op|end)$/ {
	time = $1 == "end" ? 1e18 : (i = col[$1, "start"]) ? $i : ""
	if ($1 == "range" && (i = col[$1, "host_start"]) && $i != "" && (time == "" || $i < time)) time = $i
	while (m < n && at[m + 1] < time + 0) { print sample[++m]; more++ }
}
$1 == "end" { $2 += more + nthreads + 1 }
{ print }
