# steps.awk -- lines for stream.awk: `steps` steps of two devices and two threads of the host. Ranges in ranges, launches, copies that block, graphs of four nodes,
# loading, and a device that the second thread feeds, with gaps of many causes.
BEGIN {
	print "device device=0\ndevice device=1"
	for (s = 0; s < steps; s++) {
		t = s * 100000
		print "range range=" ++range " host_start=" t " host_dur=90000 start=" t + 3000 " dur=85000 name=step"
		step = range
		for (i = 0; i < 20; i++) {
			h = t + 1000 + i * 4000; gpu = h + 2500
			print "range range=" ++range " parent=" step " device=0 host_start=" h " host_dur=3000 start=" gpu " dur=2000 name=layer_" i
			print "call call=" ++call " start=" h + 100 " dur=300 class=other name=cudaGetDevice"
			print "call call=" ++call " start=" h + 500 " dur=1500 class=launch ops=1 name=cudaLaunchKernel"
			print "op name=k" i " stream=" i % 3 " start=" gpu " dur=" 500 + i * 70 " range=" range " call=" call " tid=1 host_start=" h + 500 " host_dur=1500 waits=" i % 2
			print "call call=" ++call " tid=2 start=" h + 50 " dur=900 class=graph-launch ops=4 name=cudaGraphLaunch"
			for (n = 0; n < 4; n++)
				print "op device=1 name=n" n " graph_node=" n + 1 " start=" gpu + n * 300 " dur=200 call=" call " tid=2 host_start=" h + 50 " host_dur=900"
		}
		print "call call=" ++call " start=" t + 82000 " dur=4000 class=copy ops=1 blocking=1 name=cudaMemcpy"
		print "op type=memcpy name=copy start=" t + 83000 " dur=1500 bytes=64 call=" call " tid=1 host_start=" t + 82000 " host_dur=4000"
		print "overhead start=" t + 87000 " dur=500 class=" (s % 2 ? "profiler" : "loading")
	}
}
