# gen.awk -- the stream of one profile of a generated job, with numbers as irregular as the format allows.
#   awk -v p=REPORT -v seed=N [-v disagree=1] [-v unknown=1] [-v aligned=1] [-v local=1] [-v phase=1] [-v late=N] [-v known=0] -f gen.awk
# disagree: program ids differ between reports. unknown: kinds and columns that nobody knows. local: two devices.
# phase: one more column of thunks. late: so many modules come before the first thunk. known=0: no report tells device numbers.
# Every third report has no dump. Times are coarse, so that they collide between reports.

function out(kind, n,    i, line) {
	line = kind
	for (i = 1; i <= n; i++)
		line = line "\t" v[i]
	print line
	records += kind !~ /^#/
}
function rnd(n) { return int(rand() * n) }
function head(line) { gsub(/ /, "\t", line); print line }
function device(k) { return known == "0" ? 90 - k : (local ? 2 * p + k : p) }

BEGIN {
	OFS = "\t"
	if (known == "") known = 1
	srand(seed * 1000 + p)
	devices = local ? 2 : 1
	dump = p % 3 != 2
	shift = disagree ? p % 4 : 0

	nprog = 6
	split("step psum psum tune eval mix", base, " ")
	split("10 20 25 -1 30 40", id, " ")
	for (k = 1; k <= nprog; k++) {
		number[k] = (k * 5 + p) % 11      # distinct: 11 is prime
		name[k] = "jit_" base[k]
		if (id[k] >= 0) id[k] += shift
		same = base[k] == "mix" ? p % 2 : 0
		mark[k] = base[k] == "eval" || base[k] == "tune" ? "" : (dump ? "d:" : "x:") base[k] same
		ninst[k] = mark[k] == "" ? 0 : 8
	}

	print "#nsysx\t2"
	head("#profile profile:i name:s product:s start_utc:i" (unknown ? " mood:s" : ""))
	v[1] = 7; v[2] = "r" p; v[3] = "generator"; v[4] = 1000 + p % 3; v[5] = "mood" p; out("profile", unknown ? 5 : 4)
	head("#device device:i profile:i process:i local:i cuda:i pid:i uuid:s known:i")
	for (k = devices - 1; k >= 0; k--) {
		v[1] = device(k); v[2] = 7; v[3] = p; v[4] = k; v[5] = k; v[6] = 100 + p; v[7] = "GPU-" p "-" k; v[8] = known; out("device", 8)
	}
	if (aligned) {
		head("#clock device:i profile:i offset:f rate:f ref:i collectives:i component:i")
		for (k = 0; k < devices; k++) {
			v[1] = device(k); v[2] = 7; v[3] = p / 4; v[4] = 0; v[5] = 0; v[6] = 3; v[7] = 0; out("clock", 7)
		}
	}
	head("#program program:i id:i name:s fingerprint:s key:s")
	for (k = nprog; k >= 1; k--) {
		v[1] = number[k]; v[2] = id[k] < 0 ? "" : id[k]; v[3] = name[k]; v[4] = dump ? "fp" k : ""; v[5] = "any"; out("program", 5)
	}
	head("#alias profile:i program:i id:i fingerprint:s digest:s")
	for (k = 1; k <= nprog; k++) {
		v[1] = 7; v[2] = number[k]; v[3] = id[k] < 0 ? "" : id[k]; v[4] = dump ? "fp" k : ""; v[5] = mark[k]; out("alias", 5)
	}
	if (unknown && p % 2) {
		head("#zebra stripes:i colour:s")
		v[1] = 5; v[2] = "black"; out("zebra", 2)
		v[1] = 3; v[2] = "white" p; out("zebra", 2)
		v[1] = 9; v[2] = "grey"; out("zebra", 2)
	}
	if (dump) {
		head("#groups groups:i members:s")
		v[1] = 4; v[2] = "0,1;2,3"; out("groups", 2)
		v[1] = 2; v[2] = "0,2;1,3"; out("groups", 2)
		head("#stack stack:i frames:s" (unknown ? " lang:s" : ""))
		for (k = 0; k < 5; k++) { v[1] = 50 - k; v[2] = "main.py:" 1 + k "[main];lib.py:" 10 + k "[f]"; v[3] = "py"; out("stack", unknown ? 3 : 2) }
		head("#inst program:i inst:i name:s opcode:s comm:i collective:s bytes:i groups:i op_name:s stack:i")
	} else
		head("#inst program:i inst:i name:s comm:i")
	for (k = 1; k <= nprog; k++)
		for (i = 0; i < ninst[k]; i++) {
			v[1] = number[k]; v[2] = inst[k, i] = (i * 3 + p) % 17; v[3] = "inst." i
			comm = i == 3 || (i == 5 && dump)       # without a dump inst.5 is not seen to communicate
			if (dump) {
				v[4] = comm ? "all-reduce" : "fusion"; v[5] = comm; v[6] = comm ? "all-reduce" : ""; v[7] = comm ? 64 * i : ""
				v[8] = comm ? (i == 3 ? 2 : 4) : ""; v[9] = "jit/" base[k] "/" i; v[10] = i % 2 ? 50 - i % 5 : ""
				out("inst", 10)
			} else {
				v[4] = comm; out("inst", 4)
			}
		}
	if (dump) {
		head("#loc program:i inst:i op_name:s stack:i")
		for (k = 1; k <= nprog; k++)
			for (i = 0; i < ninst[k]; i += 4)
				for (j = 0; j < 2; j++) { v[1] = number[k]; v[2] = inst[k, i]; v[3] = "also/" j; v[4] = 50 - (i + j) % 5; out("loc", 4) }
	}
	head("#diag severity:s source:s text:s count:i")
	v[1] = "warning"; v[2] = "maker"; v[3] = "something of all"; v[4] = p + 1; out("diag", 4)

	head("#compile profile:i range:i start:i dur:i program:i name:s")
	t = 0
	for (k = 1; k <= 5; k++) {
		t += rnd(3) * 5; v[1] = 7; v[2] = 900 + k; v[3] = t; v[4] = 5; v[5] = number[k]; v[6] = "XlaCompile"; out("compile", 6)
	}

	head("#range profile:i range:i level:i device:i name:s start:i dur:i host_start:i host_dur:i")
	h = 0
	for (i = 0; i < 6; i++) {
		h += rnd(3); v[1] = 7; v[2] = 100 + i; v[3] = 0; v[4] = ""; v[5] = "host only"; v[6] = ""; v[7] = ""; v[8] = h; v[9] = 4; out("range", 9)
	}
	head("#module profile:i program:i execution:i device:i start:i dur:i thunks:i name:s range:i")
	if (unknown && p % 2 == 0) head("#zoo animal:s n:i" (p % 4 ? " keeper:s" : ""))
	t = 1000 + rnd(4) * 100
	for (e = 0; e < late; e++) {
		v[1] = 7; v[2] = number[1]; v[3] = e; v[4] = device(0); v[5] = t++; v[6] = 1; v[7] = 0; v[8] = name[1]; v[9] = 5000 + e; out("module", 9)
	}
	thunk_head = 0
	for (e = late; e < late + 4; e++) {
		n = 0
		for (k = 1; k <= nprog; k++) {
			if (ninst[k] == 0) continue
			for (d = 0; d < devices; d++) {
				v[1] = 7; v[2] = number[k]; v[3] = e; v[4] = device(d); v[5] = t; v[6] = 100; v[7] = ninst[k]; v[8] = name[k]; v[9] = 5000 + 10 * e + d
				out("module", 9)
			}
			for (i = 0; i < ninst[k]; i++)
				for (d = 0; d < devices; d++) {
					if (!thunk_head++) head("#thunk profile:i program:i execution:i device:i inst:i occurrence:i name:s start:i dur:i comm:i range:i" (phase ? " phase:s" : ""))
					v[1] = 7; v[2] = number[k]; v[3] = e; v[4] = device(d); v[5] = inst[k, i]; v[6] = 0; v[7] = "inst." i; v[8] = t + 10 * i
					v[9] = 1 + rnd(9); v[10] = i == 3 || (i == 5 && dump); v[11] = 9000 + 100 * e + i; v[12] = "steady"
					out("thunk", phase ? 12 : 11)
					if (unknown && p % 2 == 0 && i == 2) { v[1] = "ape" p; v[2] = e; v[3] = "joe"; out("zoo", p % 4 ? 3 : 2) }
				}
			t += 100 + rnd(2) * 10
		}
	}
	if (aligned) {
		head("#skew device:i program:i execution:i inst:i occurrence:i name:s skew:f")
		for (d = 0; d < devices; d++) { v[1] = device(d); v[2] = number[1]; v[3] = 0; v[4] = inst[1, 3]; v[5] = 0; v[6] = "inst.3"; v[7] = p - 0.5; out("skew", 7) }
	}
	v[1] = "info"; v[2] = "maker: r" p; v[3] = "something of this one"; v[4] = 1; out("diag", 4)
	head("#end records:i")
	print "end", records
}
