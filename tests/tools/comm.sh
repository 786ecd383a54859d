#!/bin/sh
# Which records are communication: extraction decides, all tools use the column of the instruction where records contradict it, and operations that
# communicate count like thunks. Expected results are derived beside the streams.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"


# ---- thunks and operations that contradict their instruction
{
	cat <<'END'
#profile profile:i name:s
profile 0 r0
profile 1 r1
#device device:i profile:i
device 0 0
device 1 1
#program program:i id:i name:s key:s fingerprint:s
program 0 7 step step@7 0123456789abcdef0123456789abcdef
#alias profile:i program:i id:i fingerprint:s
alias 0 0 7 0123456789abcdef0123456789abcdef
alias 1 0 7 0123456789abcdef0123456789abcdef
#inst program:i inst:i name:s opcode:s comm:i collective:s bytes:i op_name:s
inst 0 0 dot fusion 0 - - jit/dot
inst 0 1 ar all-reduce 1 all-reduce 1000 jit/ar
inst 0 2 ffi custom-call 0 - - jit/ffi
#module profile:i program:i execution:i device:i start:i dur:i host_start:i host_dur:i thunks:i name:s
#thunk profile:i program:i execution:i device:i inst:i occurrence:i name:s start:i dur:i comm:i host_start:i host_dur:i
#op profile:i op:i type:s device:i stream:i name:s start:i dur:i program:i execution:i inst:i comm:i collective:s comm_id:s
END
	awk 'BEGIN {
		for (e = 0; e < 4; e++)
			for (d = 0; d < 2; d++) {
				t = 1000 * e + 7 * d; o = 20 * e + 10 * d
				print "module", d, 0, e, d, t, 400, t - 50, 9, 4, "step"
				print "thunk", d, 0, e, d, 0, 0, "dot", t, 100, 0, t - 50, 3
				print "op", d, o, "kernel", d, 7, "k", t, 100, 0, e, 0, 0, "-", "-"
				print "thunk", d, 0, e, d, 1, 0, "ar", t + 50 + e, 150, 1, t - 45, 3
				print "op", d, o + 1, "kernel", d, 8, "ncclKernel", t + 50 + e, 150, 0, e, 1, 1, "all-reduce", "00000000c0ffee00"
				print "thunk", d, 0, e, d, 2, 0, "ffi", t + 300, 100, 0, t - 42, 1
				print "op", d, o + 2, "kernel", d, 7, "deep_ep", t + 300, 40, 0, e, 2, 1, "all-to-all", "-"
				print "op", d, o + 3, "kernel", d, 9, "k", t + 320, 80, 0, e, 2, 0, "-", "-"
			}
	}' | sort -s -n -k 6,6 | awk '{ print ($1 == "op" ? $8 : $1 == "module" ? $6 : $9), NR, $0 }' | sort -n -k 1,1 -k 2,2 | cut -d' ' -f3-
} >"$T/lines"
# Records with equal starts are sorted by kind, then the longer first.
{
	grep -v -e '^module' -e '^thunk' -e '^op' "$T/lines"
	grep -e '^module' -e '^thunk' -e '^op' "$T/lines" | awk '{
		s = $1 == "op" ? $8 : $1 == "module" ? $6 : $9; d = $1 == "op" ? $9 : $1 == "module" ? $7 : $10
		print s, ($1 == "module" ? 0 : $1 == "thunk" ? 2 : 3), -d, NR, $0 }' | sort -n -k 1,1 -k 2,2 -k 3,3 -k 4,4 | cut -d' ' -f5-
} | stream >"$T/plain"
nsysx-overlap -q "$T/plain" >"$T/true"
equal 'hidden of thunks: the remaining 50 + e ns are exposed' "$(columns thunk name execution hidden <"$T/true" | grep ^ar | sort -u | paste -sd,)" 'ar 0 50,ar 1 49,ar 2 48,ar 3 47'
equal 'hidden of operations: one communicates, its instruction does not' "$(columns op name execution hidden <"$T/true" | sort -u | paste -sd,)" \
	'deep_ep 0 20,deep_ep 1 20,deep_ep 2 20,deep_ep 3 20,k 0 -,k 1 -,k 2 -,k 3 -,ncclKernel 0 50,ncclKernel 1 49,ncclKernel 2 48,ncclKernel 3 47'

# Instruction 1 has comm 1, its records none or 0; instruction 0 has comm 0, its records 1. `once` contradicts in the first execution only.
twist() {
	awk -F'\t' -v OFS='\t' -v what="$1" '
		/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); at[substr($1, 2), c[1]] = i } }
		$1 == "thunk" || $1 == "op" { inst = $at[$1, "inst"]; e = $at[$1, "execution"]; comm = at[$1, "comm"]
			if (inst == 1 && (what == "absent" || (what == "once" && e == 0))) $comm = ""
			if (inst == 1 && what == "zero") $comm = 0
			if (inst == 0 && (what == "one" || (what == "once" && e == 0))) $comm = 1 }
		{ print }' "$2"
}
# Output of TOOL ARGS for a stream, without the records that it passes through.
answer() {
	case $1 in
	overlap) nsysx-overlap "$2" 2>"$T/err" | { columns thunk name execution device hidden; } ;;
	overlap-ops) nsysx-overlap "$2" 2>"$T/err" | { columns op op device hidden; } ;;
	records) nsysx-collectives "$2" 2>"$T/err" | { columns collective name execution device start dur hidden collective bytes op; } ;;
	align) nsysx-align --estimate "$2" 2>"$T/err" | { columns clock device offset collectives; } ;;
	compare) nsysx-compare --by opcode --tsv "$T/true" "$2" 2>"$T/err" | tail -n +2 ;;
	stragglers*)
		awk -F'\t' -v OFS='\t' '$1 == "program" && !done++ { print "#clock", "device:i", "profile:i", "component:i"; print "clock", 0, 0, 0; print "clock", 1, 1, 0 }
			$1 == "end" { $2 += 2 } { print }' "$2" >"$T/clocks"
		eval "nsysx-$1" '"$T/clocks"' 2>"$T/err" ;;
	# With clock records in the stream, so that devices can be compared.
	*--instances* | *--each*) nsysx-align -q "$T/true" | awk -F'\t' -v OFS='\t' '$1 == "#clock" || $1 == "clock"' >"$T/clock"
		awk -F'\t' -v OFS='\t' -v n="$(grep -c ^clock "$T/clock")" 'NR == FNR { clock = clock $0 "\n"; next }
			$1 == "#program" { printf "%s", clock } $1 == "end" { $2 += n } { print }' "$T/clock" "$2" >"$T/clocks"
		eval "nsysx-$1" '"$T/clocks"' 2>"$T/err" ;;
	pgle)
		rm -rf "$T/profiles"
		nsysx-pgle -d "$T/profiles" "$2" 2>"$T/err"
		cat "$T/profiles"/* ;;
	*) eval "nsysx-$1" '"$2"' 2>"$T/err" ;;
	esac
}
for tool in overlap overlap-ops records align compare 'collectives --summary --tsv' 'summary --by module --tsv' 'summary --by thunk --tsv' \
	'summary --by opcode --tsv' 'summary --by collective --tsv' 'summary --by device --tsv' 'summary --by total --tsv' 'fold --by opcode' \
	'fold --by kernel --exposed' 'fold --by kernel --mark-comm' 'collectives --instances --tsv' 'collectives --each --tsv' \
	'stragglers --tsv' 'stragglers --waits --tsv' 'perfetto -o -' 'pgle'; do
	answer "$tool" "$T/true" >"$T/want"
	equal "$tool: no diag where nothing contradicts" "$(grep -c 'say otherwise' "$T/err")" 0
	[ "$tool" = compare ] || equal "$tool: there is an answer" "$([ -s "$T/want" ] && echo yes)" yes
	for what in absent zero one once; do
		twist $what "$T/true" >"$T/contrary"
		answer "$tool" "$T/contrary" >"$T/got"
		same "$tool: the instruction is used: $what" "$T/want" "$T/got"
		# 8 thunks, or 4 of two instructions in the first executions; tools that also read operations count these too.
		n=8
		[ $what = once ] && n=4
		case $tool in
		overlap* | records | 'perfetto -o -' | 'collectives --summary --tsv' | 'collectives --instances --tsv' | 'collectives --each --tsv' | 'stragglers --waits --tsv' | 'summary --by collective --tsv' | 'summary --by device --tsv' | 'summary --by total --tsv') n=$((2 * n)) ;;
		esac
		equal "$tool: contradictions are counted: $what" "$(sed -n 's/.*that contradict their instruction .*(\([0-9]*\))$/\1/p' "$T/err")" "$n"
	done
done

# ---- operations without modules
#   device 0   k [0,100)  n1 [50,200) and n2 [150,250), communication at once  c1 [90,120), a copy  p [240,300), between devices
#              g [280,290), a whole graph  c2 [295,330)  m [335,340)  z at 340, of no length
#   computes [0,100) and [280,290); communicates [50,300): 60 of it hidden; copies [300,330) and [335,340) beside these: 35 of 70; idle [330,335)
cat >"$T/ops.txt" <<'END'
#profile profile:i name:s
profile 0 r0
#device device:i profile:i
device 0 0
device 1 0
#op profile:i op:i type:s device:i stream:i name:s start:i dur:i bytes:i comm:i collective:s
op 0 0 kernel 0 7 k 0 100 - 0 -
op 0 1 kernel 0 8 n1 50 150 - 1 all-reduce
op 0 2 memcpy 0 7 c1 90 30 64 0 -
op 0 3 kernel 0 9 n2 150 100 - 1 all-gather
op 0 4 memcpy 0 7 p 240 60 128 1 p2p-copy
op 0 5 graph 0 7 g 280 10 - 0 -
op 0 6 memcpy 0 7 c2 295 35 64 0 -
op 0 7 memset 0 7 m 335 5 64 0 -
op 0 8 kernel 0 8 z 340 0 - 1 all-reduce
op 0 9 kernel 1 8 n1 1000 10 - 1 all-reduce
END
stream <"$T/ops.txt" >"$T/ops"
nsysx-overlap "$T/ops" >"$T/hidden" 2>"$T/err"
equal 'operations are hidden by kernels and graphs of their device' "$(columns op name hidden <"$T/hidden" | paste -sd,)" \
	'k -,n1 50,c1 -,n2 0,p 10,g -,c2 -,m -,z 0,n1 0'
equal 'a stream of operations has communication' "$(cat "$T/err")" ''
nsysx-overlap "$T/hidden" >"$T/again"
same 'nsysx-overlap twice is once' "$T/hidden" "$T/again"
nsysx-overlap --hold 0 "$T/ops" >"$T/again"
same '... with temporary files' "$T/hidden" "$T/again"
sed 's/	k	0	100		0		$/	k	0	100		0		33/' "$T/hidden" | nsysx-overlap >"$T/again"
same 'old hidden times of computation are removed' "$T/hidden" "$T/again"
nsysx-summary -q --by device --tsv "$T/ops" >"$T/got"
cat >"$T/want" <<'END'
#device	profile	execs	span	modules	compute	exposed	hidden	idle	compute_share	exposed_share	idle_share	window	copy	copy_hidden
0	r0				110	190	60	5	0.3235294117647059	0.5588235294117647	0.014705882352941176	340	35	35
1	r0				0	10	0	0	0	1	0	10	0	0
END
sed 's/^#//' "$T/want" >"$T/want.plain"
sed 's/^#//' "$T/got" >"$T/got.plain"
same 'activities of a device add up to its window' "$T/want.plain" "$T/got.plain"
nsysx-summary -q --by collective --tsv "$T/hidden" | cut -f 1-6 >"$T/got"
cat >"$T/want" <<'END'
collective	count	total	exposed	hidden	hidden_share
all-reduce	3	160	110	50	0.3125
all-gather	1	100	100	0	0
p2p-copy	1	60	50	10	0.16666666666666666
END
same 'sums by kind of collective; concurrent ones count in full' "$T/want" "$T/got"
nsysx-collectives "$T/hidden" >"$T/records"
equal 'a record for each operation that communicates' "$(columns collective op program inst name start dur hidden collective bytes device <"$T/records" | paste -sd,)" \
	'1 - - n1 50 150 50 all-reduce - 0,3 - - n2 150 100 0 all-gather - 0,4 - - p 240 60 10 p2p-copy 128 0,8 - - z 340 0 0 all-reduce - 0,9 - - n1 1000 10 0 all-reduce - 1'
nsysx-collectives "$T/records" >"$T/again"
same 'nsysx-collectives twice is once' "$T/records" "$T/again"
equal 'the records are sorted' "$(nsysx-overlap -q "$T/records" | columns collective op | paste -sd,)" '1,3,4,8,9'
nsysx-warmup -q "$T/records" >"$T/warm"
equal 'operations without modules are not initialisation' "$(columns collective op <"$T/warm" | paste -sd,)" '1,3,4,8,9'

# Beside thunks only operations of instructions that do not communicate count.
equal 'thunks count, and operations in other instructions' "$(nsysx-summary -q --by collective --tsv "$T/true" | sed 1d | cut -f1-5 | paste -sd, | tr '\t' ' ')" \
	'all-reduce 8 1200 812 388,all-to-all 8 320 160 160'
equal 'a record for each of them' "$(nsysx-collectives -q "$T/true" | columns collective name collective inst | sort | uniq -c | awk '{ print $1, $2, $3, $4 }' | paste -sd,)" \
	'8 ar all-reduce 1,8 deep_ep all-to-all -'
equal 'activities are those of operations, also of those in other instructions' "$(nsysx-summary -q --by device --tsv "$T/true" | sed 1d | cut -f6-9,13-15 | tr '\t' ' ' | paste -sd,)" \
	'720 486 274 2194 3400 0 0,720 486 274 2194 3400 0 0'

# Hidden time of random operations compared with a sum over nanoseconds.
awk 'BEGIN { srand(5)
	print "#device device:i"; print "device 0"; print "device 1"
	print "#op op:i type:s device:i name:s start:i dur:i comm:i collective:s"
	for (t = 0; t < 400; t++) for (d = 0; d < 2; d++)
		if (rand() < 0.3) { c = rand() < 0.4; y = rand(); type = y < 0.6 ? "kernel" : y < 0.7 ? "graph" : y < 0.9 ? "memcpy" : "memset"
			print "op", n++, type, d, "x", t, int(rand() * rand() * 40), c, c ? "nccl" : "-" } }' >"$T/random.txt"
{ grep -v '^op' "$T/random.txt"; grep '^op' "$T/random.txt" | sort -k 6,6n -k 7,7nr -k 4,4n -k 2,2n | awk '{ $2 = n++; print }'; } | stream >"$T/random"
awk '$1 == "op" { n++; type[n] = $3; dev[n] = $4; at[n] = $6; dur[n] = $7; comm[n] = $8
		if (!(dev[n] in first)) first[dev[n]] = at[n]
		if (at[n] + dur[n] > last[dev[n]]) last[dev[n]] = at[n] + dur[n]
		what = comm[n] ? "C" : type[n] ~ /kernel|graph/ ? "K" : "M"
		for (t = at[n]; t < at[n] + dur[n]; t++) is[what, dev[n], t] = 1 }
	END { for (i = 1; i <= n; i++) { h = 0; for (t = at[i]; t < at[i] + dur[i]; t++) h += (("K", dev[i], t) in is); print comm[i] ? h : "-" }
		for (d = 0; d < 2; d++) { k = e = hid = idle = c = ch = 0
			for (t = first[d]; t < last[d]; t++) { K = ("K", d, t) in is; C = ("C", d, t) in is; M = ("M", d, t) in is
				k += K; e += C && !K; hid += C && K; c += M && !K && !C; ch += M && (K || C); idle += !K && !C && !M }
			print k, e, hid, idle, last[d] - first[d], c, ch } }' "$T/random" >"$T/want"
{ nsysx-overlap -q "$T/random" | columns op hidden; nsysx-summary -q --by device --tsv "$T/random" | sed 1d | cut -f6-9,13-15 | tr '\t' ' '; } >"$T/got"
same 'random operations: hidden time and activities, by counting nanoseconds' "$T/want" "$T/got"

# ---- extraction
p=281474976710656
pid=$((p + 16777216)) a=$((p + 16777216 + 11))
# new NAME SQL: an export of a program without a dump; the functions below add rows.
new() {
	rm -f "$T/$1.sqlite"
	sqlite3 -bail "$T/$1.sqlite" "
		CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
		CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
		CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
			globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
		CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER);
		CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
			streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL);
		CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
			streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL,
			srcDeviceId INTEGER, dstDeviceId INTEGER);
		CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
			streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER);
		INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.13.1');
		INSERT INTO StringIds VALUES (1, 'void (anonymous namespace)::multimem_all_reduce_kernel<float, (int)16>(float *)'),
			(2, 'loop_add_fusion'), (3, 'ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)'),
			(4, 'triton_poi_fused_all_gather_1'), (5, 'void mine::shuffle<=>(int)'), (6, 'ncclDevKernel_AllGather_RING_LL(x)');
		INSERT INTO NVTX_EVENTS VALUES (0, 0, 75, 'TSL', $pid + 1, NULL, NULL, 1);
		$2" || exit 1
}
# thunk AT NAME: a thunk from AT to AT + 9; launch AT ID: a call at AT; kernel AT NAME and copy AT KIND FROM TO: what it launched.
thunk() { echo "INSERT INTO NVTX_EVENTS VALUES ($1, $1 + 9, 59, 'Thunk:#hlo_op=$2#', $a, NULL, NULL, 1);"; }
call() { echo "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ($1, $1 + 1, $a, $1);"; }
kernel() { echo "$(call $1) INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000 + $1, 1001 + $1, 0, 7, $1, $pid, $2);"; }
copy() { echo "$(call $1) INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1000 + $1, 1001 + $1, 0, 7, $1, $pid, 64, $2, $3, $4);"; }
graph() { echo "$(call $1) INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1000 + $1, 1001 + $1, 0, 7, $1, $pid);"; }

# Without NVTX: by names, and copies between devices: kind 10, or two different devices.
new names "$(kernel 1 1) $(kernel 2 2) $(kernel 3 3) $(kernel 4 4) $(kernel 5 5) $(copy 6 1 NULL NULL) $(copy 7 10 NULL NULL) $(copy 8 8 0 1)
	$(copy 9 8 1 1) $(copy 10 8 0 NULL) $(graph 11)"
equal 'operations by name and by the devices of a copy' "$(nsysx-extract -q --ops "$T/names.sqlite" | columns op start comm collective | paste -sd,)" \
	'1001 1 all-reduce,1002 0 -,1003 1 send-recv,1004 0 -,1005 0 -,1006 0 -,1007 1 p2p-copy,1008 1 p2p-copy,1009 0 -,1010 0 -,1011 0 -'
nsysx-extract -v --ops "$T/names.sqlite" >"$T/null" 2>"$T/err"
equal 'an operation that is a whole graph computes' "$(grep -c 'graphs recorded as a whole count as computation' "$T/err")" 1
equal '--comm: the first matching rule wins, before built-in ones; the kind follows the last =' \
	"$(nsysx-extract -q --ops --comm '^mine::sh|=x=my kind' --comm 'mine=other' --comm 'SendRecv$=' "$T/names.sqlite" | columns op start comm collective | sed -n '1,5p' | paste -sd,)" \
	'1001 1 all-reduce,1002 0 -,1003 0 -,1004 0 -,1005 1 my kind'
equal '--comm with a misspelled kind: a suggestion' "$(nsysx-extract --ops --comm 'mine=allreduce' "$T/names.sqlite" 2>&1 >/dev/null | grep -c -e '--comm: allreduce is not a known kind .*; did you mean all-reduce?')$(nsysx-extract --ops --comm 'mine=all-reduce' --comm 'a=my kind' "$T/names.sqlite" 2>&1 >/dev/null | grep -c -e --comm:)" 10
fails 'a rule without a kind' 2 'want REGEX=KIND' nsysx-extract --comm nothing "$T/names.sqlite"
fails 'a rule with an invalid expression' 2 'no extended regular expression' nsysx-extract --comm 'a(=b' "$T/names.sqlite"

# Ranges of PyTorch name the collective if a kernel's name does not: the nearest one around the launch that names one.
pytorch() { echo "INSERT INTO NVTX_EVENTS VALUES ($1, $2, 59, '$3', $a, NULL, NULL, 0);"; }
new torch "INSERT INTO StringIds VALUES (7, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)'), (8, 'ncclDevKernel_Generic(x)'), (9, 'ncclDevKernel_Broadcast_RING_LL(x)');
	INSERT INTO NVTX_EVENTS VALUES (0, 0, 75, 'NCCL', $pid + 1, NULL, NULL, 2);
	$(pytorch 10 19 'c10d::alltoall_base_, op_id = 1') $(pytorch 11 18 'nccl:all_to_all, op_id = 2') $(pytorch 12 17 'aten::empty, op_id = 3') $(kernel 13 3)
	$(pytorch 20 29 'nccl:all_to_all, op_id = 4') $(kernel 21 7)
	$(pytorch 30 39 'nccl:_reduce_scatter_base') $(kernel 31 8)
	$(pytorch 40 49 'nccl:all_gather') $(pytorch 41 45 'nccl:coalesced') $(kernel 42 3) $(kernel 47 9)
	$(pytorch 50 59 'nccl:send 0->1') $(kernel 51 3)
	$(pytorch 60 69 'my step') $(kernel 61 3)
	$(pytorch 70 79 'nccl:all_to_all') $(kernel 71 2) $(kernel 72 5)
	$(pytorch 80 89 'nccl:scatter') INSERT INTO NVTX_EVENTS VALUES (81, 82, 59, 'ncclGroupStart', $a, NULL, NULL, 2), (83, 84, 59, 'ncclSend', $a, NULL, NULL, 2),
		(85, 88, 59, 'ncclGroupEnd', $a, NULL, NULL, 2); $(kernel 86 3)
	INSERT INTO NVTX_EVENTS VALUES (90, 91, 59, 'ncclGroupStart', $a, NULL, NULL, 2), (92, 93, 59, 'ncclSend', $a, NULL, NULL, 2),
		(94, 99, 59, 'ncclGroupEnd', $a, NULL, NULL, 2); $(kernel 96 3)"
for ranges in gpu all; do
	nsysx-extract -v --ops --ranges=$ranges "$T/torch.sqlite" >"$T/x" 2>"$T/err"
	equal "ranges of PyTorch name the collective: $ranges" "$(columns op start comm collective calls <"$T/x" | paste -sd,)" \
		'1013 1 all-to-all -,1021 1 all-reduce -,1031 1 reduce-scatter -,1042 1 send-recv -,1047 1 all-gather -,1051 1 send-recv -,1061 1 send-recv -,1071 0 - -,1072 0 - -,1086 1 scatter 1,1096 1 send-recv 1'
	equal "a kernel that contradicts its range: $ranges" \
		"$(sed -n "s/.*name different collectives.* is '\(.*\)' in '\([^']*\)'.*$/\1 \2/p" "$T/err")" \
		'ncclDevKernel_AllReduce_Sum_f32_RING_LL(x) nccl:all_to_all, op_id = 4'
	equal "kernels whose collective is unknown: $ranges" "$(sed -n 's/.*do not say which.*emit_nvtx.*(\([0-9]*\))$/\1/p' "$T/err")" 2
done
nsysx-extract -v --ops "$T/torch.sqlite" >"$T/x" 2>"$T/err"
equal 'without ranges the name of the kernel is used' "$(columns op collective <"$T/x" | sort | uniq -c | awk '{ print $1 " " $2 }' | paste -sd,)" '2 -,1 all-reduce,1 broadcast,1 nccl,6 send-recv'
equal '... a warning names the option that reads ranges' "$(sed -n 's/.*do not say which.*--ranges reads.*(\([0-9]*\))$/\1/p' "$T/err")" 7
equal "a user's rule comes before ranges" "$(nsysx-extract -q --ops --ranges --comm 'SendRecv=mine' "$T/torch.sqlite" | columns op start collective | grep mine | paste -sd,)" \
	'1013 mine,1042 mine,1051 mine,1061 mine'

# Without a dump: names with '_', then kernels, all of which must communicate; all operations of an instruction that communicates do so.
new inst "INSERT INTO NVTX_EVENTS VALUES (9, 90, 59, 'XlaModule:#hlo_module=m,program_id=7#', $a, NULL, NULL, 1);
	$(thunk 10 all_to_all.9.1) $(kernel 11 2) $(copy 12 8 0 0)
	$(thunk 20 psum.3) $(kernel 21 6) $(copy 22 8 0 0) $(kernel 23 6)
	$(thunk 30 custom.1) $(kernel 31 2) $(kernel 32 3)
	$(thunk 40 loop_add_fusion) $(kernel 41 2)
	$(thunk 50 copy.1) $(copy 51 8 0 1)"
for ops in '' --ops; do
	equal "instructions by name, then by all kernels that ran: '$ops'" "$(nsysx-extract -q $ops "$T/inst.sqlite" | columns inst name comm collective | paste -sd,)" \
		'all_to_all.9.1 1 all-to-all,copy.1 0 -,custom.1 0 -,loop_add_fusion 0 -,psum.3 1 all-gather'
	equal "thunks have the value of their instruction: '$ops'" "$(nsysx-extract -q $ops "$T/inst.sqlite" | columns thunk name comm | paste -sd,)" \
		'all_to_all.9.1 1,psum.3 1,custom.1 0,loop_add_fusion 0,copy.1 0'
done
equal 'operations have the value of their instruction, else of their own name' "$(nsysx-extract -q --ops "$T/inst.sqlite" | columns op start comm collective | paste -sd,)" \
	'1011 1 all-to-all,1012 1 all-to-all,1021 1 all-gather,1022 1 all-gather,1023 1 all-gather,1031 0 -,1032 1 send-recv,1041 0 -,1051 1 p2p-copy'
equal '--comm applies to instructions' "$(nsysx-extract -q --comm 'loop=mine' --comm 'AllGather=' "$T/inst.sqlite" | columns inst name comm collective | paste -sd,)" \
	'all_to_all.9.1 1 all-to-all,copy.1 0 -,custom.1 1 mine,loop_add_fusion 1 mine,psum.3 0 -'

# With dumps for all profiles, for one, for none: operations have the value of the instruction of the job, whether exports are extracted together or merged.
"$SYNTH" -o "$T/job" --processes 2 || exit 1
for how in "-x $T/job/dump0 $T/job/r0.sqlite $T/job/r1.sqlite" "$T/job/r1.sqlite -x $T/job/dump0 $T/job/r0.sqlite" "$T/job/r0.sqlite $T/job/r1.sqlite"; do
	nsysx-extract -q --ops $how >"$T/direct"
	nsysx-extract -q --ops --spool -j1 $how >"$T/spooled"
	same "merged reports say the same: $(basename -- "${how%% *}")" "$T/direct" "$T/spooled"
	equal "no record contradicts its instruction: $(basename -- "${how%% *}")" "$(nsysx-overlap "$T/direct" 2>&1 >"$T/null" | grep -c otherwise)" 0
	equal "every operation is decided: $(basename -- "${how%% *}")" "$(columns op comm <"$T/direct" | sort -u | paste -sd,)" '0,1'
done

done_testing
