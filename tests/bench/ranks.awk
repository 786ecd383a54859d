# ranks.awk -- a job of `ranks` processes with a device each, as a stream whose records know what they wait for: steps of
# `ops` operations one after the other, every fiftieth an all-reduce of all ranks; at the end of a step the host waits for
# the last one. Options: -v ranks=R -v ops=N -v steps=S.
function range(r, s, t) { print "range", r, s, r + 1, 1, t - 1000, long - 2000, r, t + 6000, ops * each - 1000, "step", ops }
function call(r, s, i, t) {
	if (i < ops)
		print "call", r, s * (ops + 1) + i, r + 1, 1, t, 2000, "cudaLaunchKernel", "launch", 1, 0, ""
	else
		print "call", r, s * (ops + 1) + i, r + 1, 1, t, end + 2000 - t, "cudaStreamSynchronize", "sync", 0, 1, s * ops + ops - 1
}
function op(r, s, i, t, from,   comm) {
	comm = i % 50 == 49
	print "op", r, s * ops + i, "kernel", r, 7, (comm ? "ncclDevKernel_AllReduce" : "kernel" i % 20), t, each - 1000, s, s * (ops + 1) + i, 1, from + i * 2500, 2000, \
		(comm ? "1\tall-reduce\t1\t1000000\t" ranks : "0\t\t\t\t")
}
BEGIN {
	OFS = "\t"
	print "#nsysx", 2
	print "#profile", "profile:i", "name:s"
	print "#device", "device:i", "profile:i", "ordinal:i", "pid:i"
	print "#call", "profile:i", "call:i", "pid:i", "tid:i", "start:i", "dur:i", "name:s", "class:s", "ops:i", "blocking:i", "waited:s"
	print "#range", "profile:i", "range:i", "pid:i", "tid:i", "host_start:i", "host_dur:i", "device:i", "start:i", "dur:i", "name:s", "ops:i"
	print "#op", "profile:i", "op:i", "type:s", "device:i", "stream:i", "name:s", "start:i", "dur:i", "range:i", "call:i", "tid:i", "host_start:i", "host_dur:i", \
		"comm:i", "collective:s", "comm_id:s", "bytes:i", "group:i"
	for (r = 0; r < ranks; r++)
		print "profile", r, "r" r
	for (r = 0; r < ranks; r++)
		print "device", r, r, 0, r + 1
	each = 11000
	long = ops * each + 20000
	for (s = 0; s < steps; s++) {
		t = (s + 1) * long
		end = t + 6000 + ops * each - 1000
		for (r = 0; r < ranks; r++)
			range(r, s, t)
		# What is at one time is at that time on all ranks.
		for (i = k = 0; i <= ops || k < ops;) {
			if (i <= ops && t + i * 2500 <= t + 6000 + k * each || k == ops) {
				for (r = 0; r < ranks; r++)
					call(r, s, i, t + i * 2500)
				i++
			} else {
				for (r = 0; r < ranks; r++)
					op(r, s, k, t + 6000 + k * each, t)
				k++
			}
		}
	}
	print "#end", "records:i"
	print "end", 2 * ranks + steps * ranks * (2 * ops + 2)
}
