#!/bin/sh
# Which devices are late, as nsysx-diagnose names them: planted in jobs of 128 devices, in nodes of 8 and racks of 64.
. "${0%/*}/../testlib.sh"

# job CONDITION [GROUPS]: an aligned stream of five steps of N devices. Where the awk condition on d (and k, the step) holds, a
# device begins each step 3 us late. All devices reduce; before that they gather in GROUPS, if given.
job() {
	awk -v cond="$1" -v members="${2-}" -v n="${N:-128}" 'BEGIN {
		for (p = 0; p < n / 8; p++) printf "profile profile=%d name=r%03d host=rack%d-node%02d\n", p, p, p / 8, p
		for (d = 0; d < n; d++) printf "device device=%d profile=%d pid=%d last=60000\nclock device=%d profile=%d offset=0 rate=0 ref=0 collectives=9 component=0\n", d, d / 8, d + 1, d, d / 8
		print "program program=0 id=7 name=step key=step@7"
		all = 0
		for (d = 1; d < n; d++) all = all "," d
		print "groups groups=0 members=" all
		if (members) print "groups groups=1 members=" members
		print "inst program=0 inst=0 name=ar opcode=all-reduce comm=1 collective=all-reduce bytes=1000 groups=0"
		if (members) print "inst program=0 inst=1 name=ag opcode=all-gather comm=1 collective=all-gather bytes=1000 groups=1"
	}'
	awk -v n="${N:-128}" -v members="${2-}" 'function late(d, k) { return ('"$1"') ? 3000 : 0 }
	BEGIN {
		for (k = 0; k < 5; k++) for (d = 0; d < n; d++) {
			b = 1000 + k * 10000
			l = late(d, k)
			printf "module profile=%d program=0 execution=%d device=%d start=%d dur=6100 name=step\n", d / 8, k, d, b
			id = (k * n + d) * 4
			printf "op profile=%d device=%d name=first start=%d dur=10 program=0 execution=%d call=%d tid=1 host_start=%d host_dur=5 op=%d\n", d / 8, d, b, k, id, b - 10, id
			printf "call profile=%d call=%d pid=%d tid=1 start=%d dur=5 name=cudaLaunchKernel class=launch ops=1\n", d / 8, id, d + 1, b - 10
			printf "call profile=%d call=%d pid=%d tid=1 start=%d dur=5 name=cudaLaunchKernel class=launch ops=1\n", d / 8, id + 1, d + 1, b + l
			printf "op profile=%d device=%d name=dot start=%d dur=1000 program=0 execution=%d call=%d tid=1 host_start=%d host_dur=5 op=%d\n", d / 8, d, b + 10 + l, k, id + 1, b + l, id + 1
			s = b + 1010 + l
			if (members) printf "thunk profile=%d program=0 execution=%d device=%d inst=1 occurrence=0 name=ag start=%d dur=10 hidden=0 comm=1\n", d / 8, k, d, s
			printf "thunk profile=%d program=0 execution=%d device=%d inst=0 occurrence=0 name=ar start=%d dur=%d hidden=0 comm=1\n", d / 8, k, d, s + 10, b + 5000 - s - 10
			printf "op profile=%d device=%d name=ncclDevKernel_AllReduce start=%d dur=%d program=0 execution=%d inst=0 comm=1 hidden=0 call=%d tid=1 host_start=%d host_dur=5 op=%d\n", d / 8, d, s + 10, b + 5000 - s - 10, k, id + 1, b + l, id + 2
		}
	}'
}
# The finding about late devices and its subject, without what the host did.
named() { nsysx-diagnose -q --tsv --min 0 "$T/job" | awk -F'\t' '$2 ~ /^late-|straggler/ { sub(/, in .*/, "", $7); sub(/ arrives? last at .*/, "", $5); print $5; exit }'; }
also() { nsysx-diagnose -q --tsv --min 0 "$T/job" | awk -F'\t' '$2 ~ /^late-|straggler/ { if (match($5, /these devices are also [^;]*/)) print substr($5, RSTART, RLENGTH); exit }'; }
planted() {
	claim=$1 want=$2
	shift 2
	job "$@" | awk -f host/stream.awk >"$T/job"
	equal "$claim" "$(named)" "$want"
}
planted 'one device' 'device 77' 'd == 77'
planted 'a node of 8' 'host or process rack0-node05' 'd >= 40 && d < 48'
planted 'a rack of 64' 'the 64 devices of hosts rack1-node08 to rack1-node15' 'd >= 64'
planted 'two nodes that are neighbours' 'the 16 devices of hosts rack0-node03 to rack0-node04' 'd >= 24 && d < 40'
# Groups over the stages of a pipeline of 4: 32 devices each, a stride of 32.
stages=$(awk 'BEGIN { for (d = 0; d < 32; d++) printf "%s%d,%d,%d,%d", d ? ";" : "", d, d + 32, d + 64, d + 96 }')
planted 'a stage of a pipeline' 'the 32 devices at place 2 of axis0/4, 64-95' 'd >= 64 && d < 96' "$stages"
# Groups of 4 neighbours: place 1 of each is a quarter of all devices, no two of which are neighbours.
neighbours=$(awk 'BEGIN { for (d = 0; d < 128; d += 4) printf "%s%d,%d,%d,%d", d ? ";" : "", d, d + 1, d + 2, d + 3 }')
planted 'one place of an axis' 'the 32 devices at place 1 of axis1/4, 1-125/4' 'd % 4 == 1' "$neighbours"
planted 'one replica group of it' 'the replica group of devices 20, 21, 22, 23' 'd >= 20 && d < 24' "$neighbours"
# Of sets with the same devices the one that can be walked to comes first.
nodes=$(awk 'BEGIN { for (d = 0; d < 128; d += 8) { printf "%s", d ? ";" : ""; for (i = 0; i < 8; i++) printf "%s%d", i ? "," : "", d + i } }')
planted 'a node that is a replica group is named as a node' 'host or process rack0-node05' 'd >= 40 && d < 48' "$nodes"
equal '... and the evidence says that it is a group' "$(also)" 'these devices are also the replica group of devices 40, 41, 42, 43, 44, 45, 46, 47'
# Ties: two nodes that are late alike are not explained by one of them.
planted 'two nodes far apart are not one node' '' '(d >= 8 && d < 16) || (d >= 96 && d < 104)'
# Device by device in turns: nobody.
planted 'devices that are late in turns are no set' '' 'd % 5 == k % 5'
done_testing
