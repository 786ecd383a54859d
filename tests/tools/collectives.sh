#!/bin/sh
# nsysx-collectives: records of collectives with size, group and bandwidth, and their summary.
. "${0%/*}/../testlib.sh"

# Metadata of four devices in two reports, whose clocks agree unless CLOCKS is given as other lines.
meta() {
	printf '#nsysx\t2\n#profile\tprofile:i\tname:s\nprofile\t0\tr0\nprofile\t1\tr1\n'
	printf '#device\tdevice:i\tprofile:i\ndevice\t0\t0\ndevice\t1\t0\ndevice\t2\t1\ndevice\t3\t1\n'
	printf '#clock\tdevice:i\tprofile:i\tcomponent:i\n%b' "${CLOCKS-clock\t0\t0\t0\nclock\t1\t0\t0\nclock\t2\t1\t0\nclock\t3\t1\t0\n}"
	printf '#groups\tgroups:i\tmembers:s\ngroups\t0\t0,1;2,3\ngroups\t1\t0,1,2;3\ngroups\t2\t0,1;1,0;2,3\ngroups\t3\t0,1,2,3,4,5,6,7\n'
	printf '#inst\tprogram:i\tinst:i\tname:s\tcomm:i\tcollective:s\tbytes:i\tgroups:i\n'
	printf 'inst\t0\t0\tadd\t\t\t\t\n'
	printf 'inst\t0\t1\tag\t1\tall-gather\t1000\t\n'
	printf 'inst\t0\t2\tar\t1\tall-reduce\t1000\t0\n'
	printf 'inst\t0\t3\trs\t1\treduce-scatter\t600\t1\n'
	printf 'inst\t0\t4\tcp\t1\tcollective-permute\t1000\t2\n'
	printf 'inst\t0\t5\thd\t1\thost-to-device\t8000\t\n'
	printf 'inst\t0\t6\taa\t1\tall-to-all\t1000\t\n'
	printf 'inst\t0\t7\tbc\t1\tcollective-broadcast\t1000\t0\n'
	printf 'inst\t0\t8\tnodump\t1\tall-reduce\t\t\n'
	printf 'inst\t0\t9\twide\t1\tall-reduce\t800\t3\n'
}
tail_of() { printf '#end\trecords:i\nend\t0\n'; }

# Lines `profile device inst execution name start dur hidden comm` (`-`: absent) as thunks, in the order given.
thunks() {
	printf '#thunk\tprofile:i\tdevice:i\tprogram:i\tinst:i\texecution:i\toccurrence:i\tname:s\tstart:i\tdur:i\thidden:i\tcomm:i\n'
	awk -v OFS='\t' '{ for (i = 1; i <= NF; i++) if ($i == "-") $i = ""
		print "thunk", $1, $2, 0, $3, $4, 0, $5, $6, $7, $8, $9 }'
}
table() { nsysx-view -t "$1" "$2"; }

# ---- records ----
# Group and bandwidths (GB/s are bytes per nanosecond):
#   ag  no groups: all 4 devices; 1000 B x 4 / 1000 ns = 4, x 3/4 = 3
#   ar  group {0,1}: 1000 / 500 = 2, x 2 x 1/2 = 2
#   rs  group {0,1,2} of sizes 3 and 1: 600 x 3 / 900 = 2, x 2/3 = 1.333...; on device 3 alone: 600 / 600 = 1, x 0 = 0
#   cp  2 by definition: 1000 / 500 = 2, 2;  hd  1: 8000 / 1000 = 8, 8;  aa  4: 1000 / 250 = 4, x 3/4 = 3
#   bc  {2,3}: 1000 / 100 = 10, 10;  nodump  neither size nor opcode: only the kind is known, from its name;  a duration of 0: no bandwidth
{ meta; thunks <<'END'; tail_of; } >"$T/all"
0 0 0 0 add 0 5 0 0
0 0 1 0 ag 10 1000 3 1
0 1 2 0 ar 20 500 0 1
1 2 3 0 rs 30 900 0 1
1 3 3 0 rs 31 600 0 1
0 0 4 0 cp 40 500 0 1
0 0 5 0 hd 50 1000 - 1
1 3 6 0 aa 60 250 250 1
1 3 7 0 bc 70 100 0 1
0 0 8 0 nodump 80 10 0 1
0 0 2 1 ar 90 0 0 1
END
nsysx-collectives -q "$T/all" >"$T/out"
table collective "$T/out" | cut -f 1-15 | awk -F'\t' -v OFS=' ' 'NR > 1 { for (i = 1; i <= NF; i++) if ($i == "") $i = "-"; $1 = $1; print }' >"$T/got"
# profile program execution device inst occurrence name start dur hidden collective bytes group algbw busbw
cat >"$T/want" <<'END'
0 0 0 0 1 0 ag 10 1000 3 all-gather 1000 4 4 3
0 0 0 1 2 0 ar 20 500 0 all-reduce 1000 2 2 2
1 0 0 2 3 0 rs 30 900 0 reduce-scatter 600 3 2 1.3333333333333333
1 0 0 3 3 0 rs 31 600 0 reduce-scatter 600 1 1 0
0 0 0 0 4 0 cp 40 500 0 collective-permute 1000 2 2 2
0 0 0 0 5 0 hd 50 1000 - host-to-device 8000 1 8 8
1 0 0 3 6 0 aa 60 250 250 all-to-all 1000 4 4 3
1 0 0 3 7 0 bc 70 100 0 collective-broadcast 1000 2 10 10
0 0 0 0 8 0 nodump 80 10 0 all-reduce - - - -
0 0 1 0 2 0 ar 90 0 0 all-reduce 1000 2 - -
END
same 'kind, size, group and bandwidths' "$T/got" "$T/want"
awk -F'\t' '$1 == "diag"' "$T/out" | cut -f 2,3,5 >"$T/got"
printf 'warning\tnsysx-collectives\t1\ninfo\tnsysx-collectives\t1\n' >"$T/want"
same 'records without a size or a duration are counted' "$T/got" "$T/want"
run nsysx-collectives "$T/all"
equal 'a warning says how to get sizes' "$(cat "$T_private/err")" 'nsysx-collectives: warning: communication thunks of unknown message size: no bandwidth; nsysx-extract -x DIR reads sizes from the HLO dump'
awk -F'\t' '$1 != "collective" && $1 != "#collective" && $1 != "diag" && $1 != "#diag"' "$T/out" | sed 's/^end.*/end	0/' >"$T/rest"
same 'all other records pass through' "$T/rest" "$T/all"

# ---- order ----
# With equal starts: module, range, thunk, op, then collectives: the longer first, then profile, device, range, name.
{ meta; printf '#module\tstart:i\n#op\tstart:i\tname:s\n#mystery\tx:i\n'; cat <<'END' | tr ' ' '\t'; tail_of; } >"$T/ties"
#thunk profile:i device:i program:i inst:i name:s start:i dur:i comm:i range:i
module 5
thunk 1 2 0 1 b 5 50 1 9
thunk 1 2 0 1 a 5 50 1 9
thunk 0 1 0 1 d 5 50 1 7
thunk 0 0 0 1 e 5 50 1 8
thunk 0 0 0 1 f 5 50 1 2
thunk 0 0 0 1 g 5 60 1 9
mystery 1
op 5 k
mystery 2
module 6
thunk 0 0 0 1 h 6 1 1 1
op 6 k2
#skew skew:i
END
sed 's/^#skew	skew:i/#skew	skew:f/' "$T/ties" >"$T/ties.in"
{ sed '/^#end/,$d' "$T/ties.in"; printf 'skew\t1\n'; tail_of; } >"$T/ties"
nsysx-collectives "$T/ties" >"$T/once"
equal 'collectives come after other records with the same start' "$(awk -F'\t' '
	$1 == "collective" { printf "%s ", $8 } $1 == "thunk" { printf "(%s) ", $6 } $1 ~ /^(module|op|mystery|skew)$/ { printf "%s ", $1 }' "$T/once")" \
	'module (b) (a) (d) (e) (f) (g) mystery op mystery g e f d a b module (h) op h skew '
ok 'the output is sorted' nsysx-collectives -o "$T/twice" "$T/once"
same 'running it twice changes nothing' "$T/once" "$T/twice"
nsysx-view -b "$T/ties" | nsysx-collectives -b -z | nsysx-view >"$T/binary"
same 'binary gives the same as text' "$T/once" "$T/binary"
# Collectives of a version with fewer and with other columns are replaced.
{ sed '/^#end/,$d; /^skew/,$d' "$T/ties"; printf '#collective\tbusbw:f\tphase:s\tstart:i\ncollective\t-1\tinit\t6\n'; tail_of; } >"$T/old"
nsysx-collectives "$T/old" >"$T/new"
equal 'old collective records are replaced' "$(table collective "$T/new" | sed 1d | wc -l) $(grep -c -w -e init -e '-1' "$T/new")" '7 0'
{ printf '#nsysx\t2\n#collective\tbusbw:f\tphase:s\tstart:i\n'; sed '1d' "$T/ties"; } >"$T/old"
equal 'an old header of collectives gets the missing columns' "$(nsysx-collectives "$T/old" | nsysx-view -t collective | awk -F'\t' '{ print $1 "," $2 "," $3 }' | head -n 2 | tr '\n' ' ')" \
	'busbw,phase,start 50,,5 '

# ---- summary ----
# Two executions of ag on four devices, aligned:
#   0: starts 0 10 20 30, ends 1030 1030 1030 1030: durations 1030 1020 1010 1000; the last, 1000, is the fastest:
#      algbw 4, busbw 3; waits until the last start, at 30: 30 20 10 0
#   1: starts 2000 2000 2000 2000, durations 500 each, one of 520: algbw 8, busbw 6; no waits, although one ends later
#   busbw mean 4.5, std (n-1) = sqrt(1.5^2 x 2 / 1) = 2.1213.., standard error = that / sqrt 2 = 1.5; algbw mean 6; wait 60 / 8 = 7.5, max 30
#   hidden 100 of 4060 + 2020 = 6080
# One of ar by each of {0,1} and {2,3}: durations 1000 and 500, bandwidths 1 and 2; mean 1.5, error sqrt(0.5)/sqrt 2 = 0.5.
#   Waits: starts 3000, 3400: 400 0; 3000, 3000: 0 0; 400 / 4 = 100.
#   {0,1}: durations 1000 and 600: the fastest is 600: busbw 1000/600 = 1.6666..; so the mean is (5/3 + 2)/2 = 11/6, error 1/6.
# hd: two, of one device each, no groups shared: 8 and 4 -> mean 6, error 2.
# Rows are ordered by the time of all devices: 6080, 3000, 2600.
{ meta; thunks <<'END'; tail_of; } >"$T/sum"
0 0 1 0 ag 0 1030 100 1
0 1 1 0 ag 10 1020 0 1
1 2 1 0 ag 20 1010 0 1
1 3 1 0 ag 30 1000 0 1
0 0 1 1 ag 2000 500 0 1
0 1 1 1 ag 2000 500 0 1
1 2 1 1 ag 2000 520 0 1
1 3 1 1 ag 2000 500 0 1
0 0 2 0 ar 3000 1000 0 1
1 2 2 0 ar 3000 500 0 1
1 3 2 0 ar 3000 500 0 1
0 1 2 0 ar 3400 600 0 1
0 0 5 0 hd 5000 1000 1000 1
0 1 5 0 hd 5000 2000 1000 1
END
nsysx-collectives --summary --tsv "$T/sum" >"$T/got"
# Numbers that no double holds exactly are compared to 12 digits.
awk -F'\t' -v OFS='\t' 'NR > 1 { for (i = 5; i <= 10; i++) if ($i != "") $i = sprintf("%.12g", $i) } { print }' "$T/got" >"$T/rounded"
{
	printf 'collective\tbytes\tgroup\tinstances\tbusbw_mean\tbusbw_stderr\talgbw_mean\twait_mean\twait_max\thidden_share\ttotal\twait\n'
	printf 'all-gather\t1000\t4\t2\t4.5\t1.5\t6\t7.5\t30\t0.0164473684211\t6080\t60\n'
	printf 'host-to-device\t8000\t1\t2\t6\t2\t6\t0\t0\t0.666666666667\t3000\t0\n'
	printf 'all-reduce\t1000\t2\t2\t1.83333333333\t0.166666666667\t1.83333333333\t100\t400\t0\t2600\t400\n'
} >"$T/want"
same 'the summary' "$T/rounded" "$T/want"
equal 'waiting is the same as in nsysx-stragglers --waits' \
	"$(nsysx-stragglers -q --waits --tsv "$T/sum" | awk -F'\t' 'NR > 1 { w[$1] += $4; if ($6 > m[$1]) m[$1] = $6 } END { for (k in w) print k, w[k], m[k] }' | sort)" 'all-gather 60 30
all-reduce 400 400'
equal 'by instruction' "$(nsysx-collectives -q --summary --by instruction --tsv "$T/sum" | cut -f 2-6,11,13,14 | tr '\t' ' ')" 'name collective bytes group instances wait_max total wait
ar all-reduce 1000 2 2 400 2600 400
ag all-gather 1000 4 2 30 6080 60
hd host-to-device 8000 1 2 0 3000 0'
nsysx-collectives "$T/sum" | nsysx-collectives --summary >"$T/again"
same 'collective records in the input change nothing' "$T/got" "$T/again"
nsysx-view -bz "$T/sum" | nsysx-collectives --summary -o "$T/again"
same 'binary and -o give the same' "$T/got" "$T/again"

nsysx-collectives --summary --json "$T/sum" >"$T/json"
python3 -c '
import csv, json, sys
rows = json.load(open(sys.argv[1]))
want = list(csv.DictReader(open(sys.argv[2]), delimiter="\t"))
same = [list(r) for r in rows] == [list(w) for w in want] and all(
    (r[k] is None and w[k] == "") or (r[k] == w[k] if isinstance(r[k], str) else float(w[k]) == r[k]) for r, w in zip(rows, want) for k in w)
print(len(rows), same)' "$T/json" "$T/got" >"$T/same"
equal 'JSON has the same rows, keys and values' "$(cat "$T/same")" '3 True'
nsysx-collectives --summary --table "$T/sum" >"$T/aligned"
{
	printf 'collective         bytes  group  instances  busbw_mean  busbw_stderr  algbw_mean  wait_mean  wait_max  hidden_share     total    wait\n'
	printf 'all-gather      1.000 kB      4          2  4.500 GB/s    1.500 GB/s  6.000 GB/s   7.500 ns     30 ns          1.6%%  6.080 us   60 ns\n'
	printf 'host-to-device  8.000 kB      1          2  6.000 GB/s    2.000 GB/s  6.000 GB/s       0 ns      0 ns         66.7%%  3.000 us    0 ns\n'
	printf 'all-reduce      1.000 kB      2          2  1.833 GB/s   0.1667 GB/s  1.833 GB/s   100.0 ns    400 ns          0.0%%  2.600 us  400 ns\n'
	printf '[all]: 6 instances, total 11.68 us, wait 460 ns\n'
	printf 'the stream holds no diags\n'
} >"$T/want"
same 'aligned columns with units' "$T/aligned" "$T/want"

# Clocks that cannot be compared: ag and ar run on both reports or on one; hd and ar need one report's clock only.
{ CLOCKS=''; meta; sed -n '/^#thunk/,$p' "$T/sum"; } >"$T/unaligned"; unset CLOCKS
nsysx-collectives -q --summary "$T/unaligned" | cut -f 1,8,9 | sed 1d | tr '\n' ' ' >"$T/got"
equal 'no waits between clocks that are not aligned' "$(cat "$T/got")" 'all-gather		 host-to-device	0	0 all-reduce	100	400 '
run nsysx-collectives --summary "$T/unaligned"
equal 'their number is in a warning' "$(grep -c 'clocks cannot be compared.* (2)$' "$T_private/err")" 1
{ CLOCKS='clock\t0\t0\t0\nclock\t1\t0\t0\nclock\t2\t1\t1\nclock\t3\t1\t1\n'; meta; sed -n '/^#thunk/,$p' "$T/sum"; } >"$T/components"
unset CLOCKS
nsysx-collectives -q --summary "$T/components" | cut -f 1,8,9 | sed 1d | tr '\n' ' ' >"$T/got2"
same 'no waits between components of clocks' "$T/got2" "$T/got"

# A group of eight, of which the stream has four devices; hidden is missing on one of them.
{ meta; thunks <<'END'; tail_of; } >"$T/part"
0 0 9 0 wide 0 700 0 1
0 1 9 0 wide 0 700 0 1
1 2 9 0 wide 0 700 - 1
1 3 9 0 wide 0 700 0 1
END
run nsysx-collectives --summary "$T/part"
# 800 / 700, x 2 x 7/8 = 2
equal 'an incomplete group counts with its full size' "$(sed 1d "$T_private/out" | cut -f 1-5)" 'all-reduce	800	8	1	2'
equal 'incomplete groups and missing hidden times are counted' "$(grep -c -e 'devices that are not in the stream' -e 'not pass nsysx-overlap' "$T_private/err")" 2
equal 'without hidden the share is absent' "$(awk -F'\t' 'NR > 1 { print (NF >= 10), $10 }' "$T_private/out")" '1 '

# For instances with a record of one device only, waiting is unknown: 0 would mean that no device waited. If the kind of an
# instruction is unknown, so is its group.
{ meta | sed 's/^inst	0	8	.*/inst	0	8	nodump	1			/'; thunks <<'END'; tail_of; } >"$T/alone"
0 0 9 0 wide 0 700 0 1
0 0 5 0 hd 800 700 0 1
1 2 8 0 nodump 900 100 0 1
END
run nsysx-collectives --summary -v "$T/alone"
equal 'with a record of one device the wait is absent' "$(sed 1d "$T_private/out" | cut -f 1,3,4,8,9 | tr '\t\n' ', ')" 'all-reduce,8,1,, host-to-device,1,1,0,0 ,,1,, '
equal 'instances of one device and unknown groups are counted' "$(grep -c -e 'recorded on one device only: no wait (2)' -e 'unknown replica groups: assumed to be of all devices' "$T_private/err")" 2
equal 'a record of unknown kind has no group' "$(nsysx-collectives -q "$T/alone" | nsysx-view -t collective | awk -F'\t' 'NR > 1 { print $7 "," $13 }' | tr '\n' ' ')" 'wide,8 hd,1 nodump, '

# The pairs of a permutation are one instance: 0 and 1, then 2 and 3, are connected.
{ meta; thunks <<'END'; tail_of; } >"$T/permute"
0 0 4 0 cp 0 100 0 1
0 1 4 0 cp 0 50 0 1
1 2 4 0 cp 0 200 0 1
1 3 4 0 cp 0 200 0 1
END
# 1000/50 = 20 and 1000/200 = 5: mean 12.5
equal 'devices connected by pairs share an instance' "$(nsysx-collectives --summary "$T/permute" | sed 1d | cut -f 1-5)" \
	'collective-permute	1000	2	2	12.5'

# 128 devices in 16 groups of 8, of which the last in each is late: as a list, as ranges, as copies of one group.
long_groups() {
	printf '#nsysx\t2\n#profile\tprofile:i\nprofile\t0\n#device\tdevice:i\tprofile:i\n'
	seq 0 127 | sed 's/.*/device	&	0/'
	printf '#program\tprogram:i\tid:i\tname:s\nprogram\t0\t7\tstep\n#groups\tgroups:i\tmembers:s\ngroups\t0\t%s\n' "$1"
	printf '#inst\tprogram:i\tinst:i\tname:s\tcomm:i\tcollective:s\tbytes:i\tgroups:i\ninst\t0\t0\tar\t1\tall-reduce\t1000\t0\n'
	awk 'BEGIN { for (e = 0; e < 3; e++) for (d = 0; d < 128; d++) { late = d % 8 == 7; print 0, d, 0, e, "ar", e * 10000 + late * 40, 100 - late * 40, 0, 1 } }' |
		sort -s -n -k 6,6 | thunks
	tail_of
}
long_groups "$(seq 0 127 | paste -s -d ',,,,,,,;' -)" >"$T/listed"
long_groups '0-7;8-15;16-23;24-31;32-39;40-47;48-55;56-63;64-71;72-79;80-87;88-95;96-103;104-111;112-119;120-127' >"$T/ranges"
long_groups '0-7*16+8' >"$T/copies"
for form in listed ranges copies; do
	equal "16 groups of 8, $form" "$(nsysx-collectives -q --summary --tsv "$T/$form" | sed 1d | cut -f 1-4,8,9)" 'all-reduce	1000	8	48	35	40'
	nsysx-merge -q "$T/$form" | sed -n 's/^groups	[0-9]*	//p' >"$T/merged-groups"
	equal "a merge writes them shortest ($form)" "$(cat "$T/merged-groups")" '0-7*16+8'
done

# Hidden time longer than the duration, or negative: 1000 of 1000 and 0 of 1000, and 250 of 2000: 1250 of 4000.
{ meta; thunks <<'END'; tail_of; } >"$T/over"
0 0 5 0 hd 0 1000 1500 1
0 0 5 1 hd 2000 1000 -100 1
0 0 5 2 hd 4000 2000 250 1
END
equal 'hidden time is at most the duration' "$(nsysx-collectives -q --summary --tsv "$T/over" | sed 1d | cut -f 10)" 0.3125
equal 'hidden times that are cut are counted' "$(nsysx-collectives --summary "$T/over" 2>&1 >"$T/x")" \
	'nsysx-collectives: warning: communication thunks and operations whose hidden time exceeds their duration: cut to it (2)'

# Rows do not depend on the order of records with equal starts, nor sums of doubles on the order of instances.
awk 'BEGIN { srand(7); for (e = 0; e < 500; e++) { d = int(rand() * 1e6) + 1; for (i = 0; i < 4; i++) print (i > 1), i, 1, e, "ag", 5, d + i * 3, 0, 1 } }' >"$T/many"
{ meta; thunks <"$T/many"; tail_of; } | nsysx-collectives --summary >"$T/a"
{ meta; sort -t' ' -k 7,7r "$T/many" | thunks; tail_of; } | nsysx-collectives --summary >"$T/b"
same 'the order of instances does not matter' "$T/a" "$T/b"
equal 'all instances are counted' "$(sed 1d "$T/a" | cut -f 4)" 500

# ---- no results
{ meta; printf '0 0 0 0 add 0 5 0 0\n' | thunks; tail_of; } >"$T/quiet"
ok 'no communication is no error' nsysx-collectives -o "$T/quiet.out" "$T/quiet"
equal '... a diag is written' "$(grep -c '^diag	info	nsysx-collectives	no communication	1$' "$T/quiet.out")" 1
equal 'the table has only its header' "$(nsysx-collectives --summary "$T/quiet" | wc -l)" 1
equal '... JSON is an empty list' "$(nsysx-collectives --summary --json "$T/quiet")" '[]'
fails '--require: no collective' 1 'no collective record' nsysx-collectives --require collective -o "$T/none" "$T/quiet"
fails '--require with --summary: no collective' 1 'no collective record' nsysx-collectives --summary --require collective "$T/quiet"
ok '--require: there is a collective' nsysx-collectives --summary --require collective "$T/sum"

# ---- refusals ----
sed '$d' "$T/sum" >"$T/cut"
fails 'a stream that was cut short' 1 'cut short' nsysx-collectives -o "$T/none" "$T/cut"
fails 'a summary of a stream that was cut short' 1 'cut short' nsysx-collectives --summary -o "$T/none" "$T/cut"
equal 'a refusal leaves no output' "$(ls "$T" | grep -c none)" 0
awk '$1 == "thunk" && !late { late = $0; next } $1 == "#end" { print late } { print }' "$T/sum" >"$T/disorder"
fails 'a stream out of order' 1 'out of order' nsysx-collectives -o "$T/none" "$T/disorder"
sed 's/^groups	1	.*/groups	1	0,x;3/' "$T/sum" >"$T/badgroups"
fails 'malformed groups' 1 'groups 1: want devices such as 0,1;2,3 or 0-7;8-15, at most 4194304 of all sets, got "0,x;3"' nsysx-collectives -o "$T/none" "$T/badgroups"
fails 'table forms without --summary' 2 'go with --summary' nsysx-collectives --tsv "$T/sum"
fails 'two table forms' 2 'exclude each other' nsysx-collectives --summary --tsv --json "$T/sum"
fails 'a binary summary' 2 'do not go with a table' nsysx-collectives --summary -b "$T/sum"
fails 'a full disk' 1 '/dev/full' nsysx-collectives --summary -o /dev/full "$T/sum"
done_testing
