# stream.awk -- a text stream from lines `KIND COLUMN=VALUE ...`, one a record, in any order; '~' is a space. Records of work are sorted as in
# a stream: by time, kind, the longer first. Not given: profile 0, process and thread 1, kernels on device 0.
function columns(k, list,    i, m, part) {
	kinds[++nkinds] = k
	m = split(list, part, " ")
	for (i = 1; i <= m; i++) {
		name[k, ++n[k]] = substr(part[i], 1, length(part[i]) - 2)
		head[k] = head[k] "\t" part[i]
	}
}
BEGIN {
	columns("profile", "profile:i name:s host:s start_utc:i from:i to:i")
	columns("device", "device:i profile:i pid:i uuid:s last:i name:s sms:i clock:i mem_bandwidth:i cc:i")
	columns("clock", "device:i profile:i offset:f rate:f ref:i collectives:i component:i")
	columns("program", "program:i id:i name:s key:s")
	columns("groups", "groups:i members:s")
	columns("inst", "program:i inst:i name:s opcode:s comm:i collective:s bytes:i groups:i flops:i math:s vector:i mem_bytes:i")
	columns("overhead", "profile:i pid:i tid:i start:i dur:i class:s")
	columns("call", "profile:i call:i pid:i tid:i start:i dur:i name:s class:s ops:i range:i blocking:i stalled:i loading:i waited:s")
	columns("module", "profile:i program:i execution:i device:i start:i dur:i name:s")
	columns("range", "profile:i range:i parent:i pid:i tid:i device:i domain:s name:s start:i dur:i host_start:i host_dur:i unended:i")
	columns("thunk", "profile:i program:i execution:i device:i inst:i occurrence:i name:s start:i dur:i hidden:i comm:i")
	columns("op", "profile:i type:s device:i stream:i name:s start:i dur:i range:i bytes:i graph_node:i program:i execution:i call:i tid:i host_start:i host_dur:i waits:i src:s dst:s comm:i collective:s comm_id:s group:i hidden:i op:i inst:i after:s")
	print "#nsysx\t2"
	for (i = 1; i <= nkinds; i++) print "#" kinds[i] head[kinds[i]]
	for (i = 1; i <= nkinds; i++) rank[kinds[i]] = i
}
NF && $1 !~ /^#/ {
	split("", v)
	v["profile"] = 0
	if ($1 != "module" && $1 != "thunk" && $1 != "op") v["pid"] = 1
	if ($1 == "call" || $1 == "overhead" || $1 == "range") v["tid"] = 1
	if ($1 == "op") { v["type"] = "kernel"; v["device"] = 0 }
	for (i = 2; i <= NF; i++) { at = index($i, "="); v[substr($i, 1, at - 1)] = substr($i, at + 1) }
	time = "start" in v ? v["start"] + 0 : -1
	length_ = v["dur"] + 0
	if ($1 == "range") { length_ = v["host_dur"] + 0; if (!("start" in v) || v["host_start"] + 0 < time) time = v["host_start"] + 0 }
	if (rank[$1] <= rank["inst"]) time = -1
	line = $1
	for (i = 1; i <= n[$1]; i++) line = line "\t" v[name[$1, i]]
	gsub(/~/, " ", line)
	r++
	text[r] = line
	key[r] = sprintf("%015d %02d %015d", time + 1, rank[$1], 999999999 - length_)
}
END {
	for (i = 2; i <= r; i++) {
		t = text[i]; k = key[i]
		for (j = i - 1; j && key[j] > k; j--) { text[j + 1] = text[j]; key[j + 1] = key[j] }
		text[j + 1] = t; key[j + 1] = k
	}
	for (i = 1; i <= r; i++) print text[i]
	printf "#end\trecords:i\nend\t%d\n", r
}
