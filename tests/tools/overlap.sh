#!/bin/sh
# nsysx-overlap: hidden is the length of the union of the device's computing intervals within communication.
. "${0%/*}/../testlib.sh"

# Lines `device name start dur comm` become a stream of thunks; the stream has neither all columns nor their order.
thunks() {
	printf '#nsysx\t2\n#device\tdevice:i\ndevice\t0\n#thunk\tname:s\tstart:i\tdur:i\tcomm:i\tdevice:i\n'
	sort -s -n -k 3,3 | awk -v OFS='\t' '{ print "thunk", $2, $3, $4, $5, $1 }'
	printf '#end\trecords:i\nend\t0\n'
}

# name=hidden of the thunks of a stream.
hidden() {
	nsysx-overlap "$1" | nsysx-view -t thunk | awk -F'\t' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print $at["name"] "=" $at["hidden"] }' | sort | tr '\n' ' '
}

# One device per case; times of computation (c) and communication (the other names).
thunks >"$T/cases" <<'END'
0 c 50 70 0
0 a 100 100 1
0 c 110 20 0
0 c 150 10 0
0 c 190 60 0
1 c 0 1000 0
1 b 100 100 1
2 d 100 100 1
2 c 100 50 0
3 c 50 100 0
3 e 100 0 1
4 c 0 100 0
4 f 100 100 1
4 c 200 100 0
5 g 100 300 1
5 h 150 50 1
5 c 160 10 0
5 c 300 200 0
6 c 0 1000 0
7 i 100 100 1
8 j 100 100 1
8 k 120 60 1
9 l 100 -5 1
9 c 100 -5 0
9 m 100 100 1
9 c 110 0 0
END
# a: [100,120) of c that began before, [120,130), [150,160), [190,200): 20 + 10 + 10 + 10.
# b: inside a longer c: all of it. d: an equal start, c later in the stream: 50. e: no duration: 0.
# f: c touches both ends: 0. g: [160,170) and [300,400): 110; h, within g: 10.
# i: only another device computes: 0. j, k: communication hides nothing: 0. l, m: nor do negative and no durations.
equal 'hidden is the union of computing intervals within communication' \
	"$(hidden "$T/cases" | sed 's/c=0 //g')" \
	'a=50 b=100 d=50 e=0 f=0 g=110 h=10 i=0 j=0 k=0 l=0 m=0 '
equal 'computation is never hidden' "$(hidden "$T/cases" | tr ' ' '\n' | grep '^c' | sort -u)" 'c=0'

# Times at the ends of 64 bits: c fills [0, 2^63-1); n begins 10 before that and would end after it.
thunks >"$T/ends" <<'END'
0 c 0 9223372036854775807 0
0 n 9223372036854775797 100 1
0 o -9223372036854775808 9223372036854775807 1
0 c -9223372036854775808 8 0
END
equal 'times at the limits of 64 bits' "$(hidden "$T/ends")" 'c=0 c=0 n=10 o=8 '

# Communication that ends after everything else, among records of other kinds, known and unknown, with unknown columns.
{
	printf '#nsysx\t2\n#device\tdevice:i\tcolour:s\ndevice\t0\tred\n'
	printf '#thunk\tprogram:i\tname:s\tstart:i\tdur:i\tcomm:i\tdevice:i\tweight:f\thost_start:i\n'
	printf 'thunk\t0\tlong\t0\t1000\t1\t0\t0.5\t7\n'
	printf '#module\tname:s\tstart:i\tdur:i\tdevice:i\nmodule\tm\t5\t10\t0\n'
	printf 'thunk\t0\tc\t10\t5\t0\t0\t\t8\n'
	printf '#mystery\tx:s\ty:f\ty2:i\nmystery\ta\\tb\t1e+300\t-3\n'
	printf 'thunk\t0\tshort\t12\t2\t1\t0\t1.5\t\n'
	printf '#op\ttype:s\tdevice:i\tname:s\tstart:i\tdur:i\nop\tkernel\t0\tk\t12\t5\n'
	printf '#diag\tseverity:s\tsource:s\ttext:s\tcount:i\ndiag\tinfo\tnsysx-other\tx\t2\n'
	printf '#empty\tz:i\n'
	printf '#range\tprofile:i\thost_start:i\tstart:i\nrange\t0\t15\t\n'
	printf '#skew\tdevice:i\tskew:f\nskew\t0\t-0.25\n'
	printf '#end\trecords:i\nend\t10\n'
} >"$T/mixed"
ok 'other kinds pass through' nsysx-overlap -o "$T/mixed.out" "$T/mixed"
# hidden is the last column of thunks and operations, since the headers lacked it.
awk -F'\t' -v OFS='\t' '$1 ~ /^#?(thunk|op)$/ { NF-- } { print }' "$T/mixed.out" >"$T/mixed.back"
same 'without hidden, the output is the input byte for byte' "$T/mixed.back" "$T/mixed"
equal 'communication that is open at the end' "$(awk -F'\t' '$1 == "thunk" { printf "%s=%s ", $3, $NF }' "$T/mixed.out")" \
	'long=5 c=0 short=2 '

for f in cases mixed ends; do
	nsysx-overlap "$T/$f" >"$T/once"
	nsysx-overlap "$T/once" >"$T/twice"
	same "running it twice changes nothing: $f" "$T/once" "$T/twice"
	nsysx-overlap --hold 0 "$T/$f" >"$T/held"
	same "records held in temporary files are unchanged: $f" "$T/once" "$T/held"
	nsysx-view -b "$T/$f" | nsysx-overlap -b -z | nsysx-view >"$T/binary"
	same "binary gives the same as text: $f" "$T/once" "$T/binary"
done

# Earlier values of `hidden` are ignored.
awk -F'\t' -v OFS='\t' '$1 == "thunk" { $NF = 77 } { print }' "$T/mixed.out" >"$T/wrong"
nsysx-overlap "$T/wrong" >"$T/right"
same 'an old value of hidden is replaced' "$T/right" "$T/mixed.out"

# ---- streams without communication ----
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
ok 'a stream without thunks' nsysx-overlap -o "$T/empty.out" "$T/empty"
equal '... an info diag' "$(grep -c '^diag	info	nsysx-overlap	no thunks	1$' "$T/empty.out")" 1
printf '0 c 0 5 0\n' | thunks >"$T/quiet"
ok 'a stream without communication' nsysx-overlap -o "$T/quiet.out" "$T/quiet"
equal '... an info diag, and hidden' "$(grep -c -e '^diag	info	nsysx-overlap	no communication' -e '^thunk	c	0	5	0	0	0$' "$T/quiet.out")" 2
nsysx-overlap "$T/quiet.out" >"$T/quiet.twice"
same 'running it twice gives one diag' "$T/quiet.out" "$T/quiet.twice"
fails '--require: a missing kind' 1 'no module record' nsysx-overlap --require module -o "$T/none" "$T/quiet"
ok '--require a kind that is there' nsysx-overlap --require thunk -o "$T/some" "$T/quiet"

# ---- refusals ----
sed '$d' "$T/cases" >"$T/cut"
fails 'a stream that was cut short' 1 'cut short' nsysx-overlap -o "$T/none" "$T/cut"
equal '... leaves no output' "$(ls "$T" | grep -c none)" 0
ok '... is accepted with --partial' nsysx-overlap --partial -o "$T/some" "$T/cut"
awk '$1 == "thunk" && !late { late = $0; next } $1 == "#end" { print late } { print }' "$T/cases" >"$T/disorder"
fails 'an unsorted stream' 1 'out of order' nsysx-overlap -o "$T/none" "$T/disorder"
fails 'a missing file' 1 "$T/absent" nsysx-overlap "$T/absent"
fails 'two files' 2 'one FILE at most' nsysx-overlap "$T/cases" "$T/cases"
fails 'a full disk' 1 '/dev/full' nsysx-overlap -o /dev/full "$T/cases"
fails 'a negative --hold' 2 '--hold' nsysx-overlap --hold -1 "$T/cases"
done_testing
