#!/bin/sh
# Tables by axis and by group of devices: names of axes, and sums that are those by device.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"

# Columns of a table by name: `cols FILE NAME...`, without the header.
cols() {
	f=$1
	shift
	awk -F'\t' -v want="$*" '
	NR == 1 { n = split(want, w, " "); for (i = 1; i <= NF; i++) at[$i] = i; for (i = 1; i <= n; i++) if (!(w[i] in at)) { print "no column " w[i]; exit }; next }
	{ line = ""; for (i = 1; i <= n; i++) line = line (i > 1 ? " " : "") ($at[w[i]] == "" ? "-" : $at[w[i]]); print line }' "$f"
}
# Sums of columns 2 and on by column 1.
sums() { awk '{ for (i = 2; i <= NF; i++) s[$1, i] += $i; n = NF > n ? NF : n; k[$1] } END { for (x in k) { printf "%s", x; for (i = 2; i <= n; i++) printf " %.0f", s[x, i]; print "" } }' | LC_ALL=C sort; }

# ---- axes of replica groups ----
# Four devices in a 2 x 2 mesh: ag in 0,1;2,3 (axis1), ar in 0,2;1,3 (axis0), aa in all, odd in 0,1,3 and 2.
cat >"$T/head" <<'END'
#profile profile:i name:s host:s
profile 0 r0 alpha
profile 1 r1 beta
#device device:i profile:i partition:i
device 0 0 0
device 1 0 1
device 2 1 0
device 3 1 1
#clock device:i profile:i component:i
clock 0 0 0
clock 1 0 0
clock 2 1 0
clock 3 1 0
#program program:i id:i name:s key:s
program 0 7 step step@7
#groups groups:i members:s
groups 0 0,1;2,3
groups 1 0,2;1,3
groups 2 0,1,2,3
groups 3 0,1,3;2
#inst program:i inst:i name:s opcode:s comm:i collective:s bytes:i groups:i
inst 0 0 ag all-gather 1 all-gather 1000 0
inst 0 1 ar all-reduce 1 all-reduce 2000 1
inst 0 2 aa all-to-all 1 all-to-all 400 2
inst 0 3 odd all-reduce 1 all-reduce 500 3
#module profile:i program:i execution:i device:i start:i dur:i
#thunk profile:i program:i execution:i device:i inst:i occurrence:i name:s start:i dur:i hidden:i comm:i
END
# ag: 0,1 start 1000 1010 end 1100; 2,3 start 1000 1000 end 1050. ar: 0,2 1200 1230 end 1300; 1,3 1200 1200 end 1250.
cat >"$T/work" <<'END'
module 0 0 0 0 990 700
module 0 0 0 1 990 700
module 1 0 0 2 990 700
module 1 0 0 3 990 700
thunk 0 0 0 0 0 0 ag 1000 100 40 1
thunk 1 0 0 2 0 0 ag 1000 50 0 1
thunk 1 0 0 3 0 0 ag 1000 50 10 1
thunk 0 0 0 1 0 0 ag 1010 90 0 1
thunk 0 0 0 0 1 0 ar 1200 100 0 1
thunk 0 0 0 1 1 0 ar 1200 50 0 1
thunk 1 0 0 3 1 0 ar 1200 50 0 1
thunk 1 0 0 2 1 0 ar 1230 70 0 1
thunk 0 0 0 0 2 0 aa 1400 40 0 1
thunk 0 0 0 1 2 0 aa 1400 40 0 1
thunk 1 0 0 2 2 0 aa 1400 40 0 1
thunk 1 0 0 3 2 0 aa 1404 36 0 1
thunk 0 0 0 0 3 0 odd 1500 20 0 1
thunk 0 0 0 1 3 0 odd 1500 20 0 1
thunk 1 0 0 3 3 0 odd 1500 20 0 1
END
cat "$T/head" "$T/work" | stream >"$T/mesh"
by() {
	nsysx-collectives -q --summary --by "$1" --tsv "$2" >"$T/got"
	shift 2
	cols "$T/got" "$@"
}
# hidden: 50 of 290 of ag. Bandwidths of one device in a group: ag 1000 B x 2 / 90 ns and / 50 ns, busbw half of that.
equal 'a row for each axis' "$(by axis "$T/mesh" axis size stride groups instances total exposed wait wait_max | tr '\n' '|')" \
	'axis1/2 2 1 2 2 290 240 10 10|axis0/2 2 2 2 2 270 270 30 30|all 4 1 1 1 156 156 12 4|group(3) 3 - 1 1 60 60 0 0|'
nsysx-summary -q --by collective --tsv "$T/mesh" >"$T/got"
equal 'a kind of collective has the axes that it runs along, that of the longest time first' "$(cols "$T/got" collective axis | sort | tr '\n' '|')" 'all-gather axis1/2|all-reduce axis0/2,group(3)|all-to-all all|'
equal '... with the mean bandwidth of instances' "$(by axis "$T/mesh" axis busbw_mean | awk '$1 == "axis1/2" { printf "%.6f", $2 }')" \
	"$(awk 'BEGIN { printf "%.6f", (1000 / 90 + 1000 / 50) / 2 }')"
equal 'a row for each group' "$(by group "$T/mesh" axis devices instances total exposed wait | tr '\n' '|')" \
	'axis1/2 0-1 1 190 150 10|axis0/2 0,2 1 170 170 30|all 0-3 1 156 156 12|axis0/2 1,3 1 100 100 0|axis1/2 2-3 1 100 90 0|group(3) 0-1,3 1 60 60 0|'
nsysx-collectives -q <"$T/mesh" >"$T/marked"
same 'records of collectives give the same rows' "$T/got" /dev/stdin <<END
$(nsysx-collectives -q --summary --by group --tsv "$T/marked")
END
fails '--by without --summary' 2 'by goes with --summary' nsysx-collectives --by axis "$T/mesh"
fails 'an unknown --by' 2 'want collective|instruction|axis|group' nsysx-collectives --summary --by node "$T/mesh"

# ---- communicators ----
# Two of two ranks, a stride apart, and one of which two of four ranks are known.
cat >"$T/nccl" <<'END'
#profile profile:i name:s
profile 0 r0
#device device:i profile:i
device 0 0
device 1 0
device 2 0
device 3 0
#communicator comm_id:s profile:i device:i rank:i ranks:i name:s
communicator 00000000000000aa 0 0 0 2 mesh_dp
communicator 00000000000000aa 0 2 1 2 mesh_dp
communicator 00000000000000bb 0 1 0 2 mesh_dp
communicator 00000000000000bb 0 3 1 2 -
communicator 00000000000000cc 0 0 0 4 -
communicator 00000000000000cc 0 1 1 4 -
#op profile:i op:i type:s device:i stream:i name:s start:i dur:i comm:i collective:s comm_id:s calls:i bytes:i
op 0 0 kernel 0 7 ncclDevKernel 100 50 1 all-reduce 00000000000000aa 1 10
op 0 1 kernel 1 7 ncclDevKernel 100 20 1 all-reduce 00000000000000bb 1 10
op 0 2 kernel 3 7 ncclDevKernel 100 20 1 all-reduce 00000000000000bb 1 10
op 0 3 kernel 2 7 ncclDevKernel 110 40 1 all-reduce 00000000000000aa 1 10
op 0 4 kernel 0 7 ncclDevKernel 200 10 1 all-reduce 00000000000000cc 1 10
op 0 5 kernel 1 7 ncclDevKernel 200 10 1 all-reduce 00000000000000cc 1 10
op 0 6 kernel 1 7 ncclDevKernel 300 5 1 all-reduce - 1 -
END
stream <"$T/nccl" >"$T/comms"
equal 'axes have the names that the framework gives all their groups' "$(by axis "$T/comms" axis name groups instances | tr '\n' '|')" \
	'axis0/2 mesh_dp 2 2|all - 1 1|unknown - 1 1|'
equal '... and so do kinds of collectives, as far as the communicators are known' "$(nsysx-summary -q --by collective --tsv "$T/comms" | awk -F'\t' 'NR == 2 { print $1, $7 }')" 'all-reduce axis0/2,all'
equal 'communicators have axes, too' "$(by group "$T/comms" axis devices size instances total wait | tr '\n' '|')" \
	'axis0/2 0,2 2 1 90 10|axis0/2 1,3 2 1 40 0|all 0-1 4 1 20 0|unknown - - 1 5 -|'
equal 'a line says what to do about those that have none' "$(nsysx-collectives -q --summary --by axis --table "$T/comms" | grep -c '^unknown: .*--include-blobs=true')" 1
equal '... where there are some' "$(awk '!/ncclDevKernel\t300/' "$T/comms" | nsysx-collectives -q --partial --summary --by axis --table | grep -c '^unknown')" 0

# Reports in another order than ranks: devices 0 to 3 are the ranks 0, 2, 1, 3 of the communicator of all.
cat >"$T/nccl" <<'END'
#profile profile:i name:s
profile 0 r0
#device device:i profile:i
device 0 0
device 1 0
device 2 0
device 3 0
#communicator comm_id:s profile:i device:i rank:i ranks:i
communicator 00000000000000aa 0 0 0 4
communicator 00000000000000aa 0 1 2 4
communicator 00000000000000aa 0 2 1 4
communicator 00000000000000aa 0 3 3 4
communicator 00000000000000bb 0 0 0 2
communicator 00000000000000bb 0 2 1 2
#op profile:i op:i type:s device:i stream:i name:s start:i dur:i comm:i collective:s comm_id:s calls:i bytes:i
op 0 0 kernel 0 7 ncclDevKernel 100 50 1 all-reduce 00000000000000bb 1 10
op 0 1 kernel 2 7 ncclDevKernel 100 50 1 all-reduce 00000000000000bb 1 10
END
stream <"$T/nccl" >"$T/ranked"
equal 'devices have the places of their ranks' "$(by group "$T/ranked" axis devices stride)" 'axis1/2 0,2 1'
nsysx-summary -q --by axis --tsv "$T/ranked" >"$T/got"
equal '... by axis as well' "$(cols "$T/got" axis at devices | grep axis1 | tr '\n' '|')" 'axis1/2 0 0-1|axis1/2 1 2-3|'

# ---- groups of devices ----
cat "$T/head" - <<'END' | stream >"$T/devices"
module 0 0 0 0 0 100
module 0 0 0 1 0 100
module 1 0 0 2 0 100
module 1 0 0 3 0 100
thunk 0 0 0 0 9 0 a 0 10 - -
thunk 0 0 0 1 9 0 a 0 20 - -
thunk 1 0 0 2 9 0 a 0 70 - -
thunk 1 0 0 3 9 0 a 0 40 - -
END
of() {
	nsysx-summary -q --by "$1" --tsv "$T/devices" >"$T/got"
	shift
	cols "$T/got" "$@" | tr '\n' '|'
}
equal 'by node' "$(of node node members devices compute compute_mean compute_p50 compute_p99 compute_max worst)" \
	'beta 2 2-3 110 55 40 70 70 2|alpha 2 0-1 30 15 10 20 20 1|'
equal 'by partition' "$(of partition partition devices compute worst)" '0 0,2 80 2|1 1,3 60 3|'
equal 'by block' "$(of block:3 block devices compute compute_p50 worst)" '3-5 3 40 40 3|0-2 0-2 100 20 2|'
equal 'by group' "$(of group axis devices compute worst)" \
	'all 0-3 140 2|axis0/2 0,2 80 2|axis0/2 1,3 60 3|axis1/2 2-3 110 2|axis1/2 0-1 30 1|group(3) 0-1,3 70 3|group(1) 2 70 2|'
equal 'by axis: the devices at one place of it' "$(of axis axis at devices compute | cut -d '|' -f 5-)" \
	'axis0/2 1 2-3 110|axis0/2 0 0-1 30|axis1/2 0 0,2 80|axis1/2 1 1,3 60|'
# Names of machines: RACK-NODE, of Cray, with a domain; and of which nothing is a rack's.
racks() {
	sed "s/ alpha\$/ $1/; s/ beta\$/ $2/" "$T/head" | cat - "$T/work" | stream >"$T/racked"
	nsysx-summary -q --by rack --tsv "$T/racked" | cut -f 1,3 | sed 1d | sort | tr '\t\n' ' |'
}
equal 'by rack' "$(racks rack0-node000 rack1-node001)" 'rack0 0-1|rack1 2-3|'
equal '... of one rack' "$(racks rack0-node000.site.org rack0-node001.site.org)" 'rack0 0-3|'
equal '... by components' "$(racks x3c0s1b0n0 x3c0s1b0n1)" 'x3c0s1b0 0-3|'
equal '... without a name of theirs' "$(racks node17 alpha)" '[unknown] 0-3|'
equal '... of which a number is a machine alone' "$(racks node-17 node-18)" '[unknown] 0-3|'
equal '... of addresses' "$(racks 10.1.0.17 10.1.0.18)" '[unknown] 0-3|'
ok '... which is reported' sh -c 'nsysx-summary --by rack --tsv "$1" 2>&1 >/dev/null | grep -q "names are not known, or have no part that machines share"' sh "$T/racked"
sed 's/ alpha$/ -/; s/ beta$/ -/' "$T/head" | cat - "$T/work" | stream >"$T/nameless"
equal 'without names of machines' "$(nsysx-summary -q --by node --tsv "$T/nameless" | cut -f 1-3 | sed 1d)" '[unknown]	4	0-3'
ok '... which is reported' sh -c 'nsysx-summary --by node --tsv "$1" 2>&1 >/dev/null | grep -q "unknown machines: nsysx-extract --host"' sh "$T/nameless"
sed '/^groups /d; /^inst /s/ [0-9]*$/ -/' "$T/head" | cat - "$T/work" | stream >"$T/groupless"
ok 'without groups there is no row, which is reported' sh -c 'test "$(nsysx-summary --by axis --tsv "$1" 2>"$2" | wc -l)" = 1 && grep -q "no replica groups" "$2"' sh "$T/groupless" "$T/err"
ok 'several tables of one reading' sh -c 'nsysx-summary -q --by device,node,block:2 --tsv -o "$1/by-%.tsv" "$2" && nsysx-summary -q --by node --tsv "$2" | cmp - "$1/by-node.tsv" && test -s "$1/by-block:2.tsv"' sh "$T" "$T/devices"
fails 'a block of no devices' 2 'block:0' nsysx-summary --by block:0 "$T/devices"
fails 'a block of N devices' 2 'block:N' nsysx-steps --by block:N "$T/devices"
equal 'to people ns are a time' "$(nsysx-idle -q --by node --table "$T/devices" | head -n 1 | tr -s ' ' '\n' | grep '^ns\|^time' | paste -sd' ' -)" 'time time_mean time_p50 time_p99 time_max'
fails 'groups and gaps' 2 '--by node does not go with --verdict, --list' nsysx-idle --by node --list 3 "$T/devices"
fails 'groups and single steps' 2 '--by does not go with --each' nsysx-steps --by node --each "$T/devices"
fails 'groups and curves' 2 '--by does not go with --curve' nsysx-stragglers --by node --curve "$T/devices"

# ---- generated jobs ----
SYNTH=${SYNTH:-$B/tests/synth/nsysx-synth}
if ! [ -x "$SYNTH" ]; then
	skip 'sums over groups are those by device' 'no generator here'
	done_testing
fi
made() {
	rm -rf "$T/job.d"
	"$SYNTH" -q -o "$T/job.d" "$@"
	set --
	for r in "$T"/job.d/r*.sqlite; do
		n=${r##*/r}
		[ -d "$T/job.d/dump${n%.sqlite}" ] && set -- "$@" -x "$T/job.d/dump${n%.sqlite}"
		set -- "$@" "$r"
	done
	nsysx-extract -q -a --host "$@" | nsysx-align -q | nsysx-warmup -q | nsysx-overlap -q | nsysx-collectives -q >"$T/made"
}
# sums_agree NAME TOOL-AND-OPTIONS KEYS COLUMNS: the sums of columns over groups, for each key, are those over devices; for
# groups of axes within each axis.
sums_agree() {
	name=$1 tool=$2 keys=$3 columns=$4
	$tool --by device --tsv -q "$T/made" >"$T/by-device" 2>/dev/null
	for way in node partition block:3 axis; do
		$tool --by $way --tsv -q "$T/made" >"$T/by-way" || echo failed >"$T/by-way"
		cols "$T/by-device" $keys $columns | awk -v k="$(echo $keys | wc -w)" '{ x = "all"; for (i = 1; i <= k; i++) x = x "/" $i; for (i = k + 1; i <= NF; i++) x = x " " $i; print x }' | sums >"$T/want"
		axes=
		[ $way = axis ] && axes=axis
		cols "$T/by-way" $axes $keys $columns | awk -v a="$axes" -v k="$(echo $keys | wc -w)" '{ f = a != ""; x = "all"; for (i = 1 + f; i <= k + f; i++) x = x "/" $i; for (i = k + f + 1; i <= NF; i++) x = x " " $i; print (f ? $1 : "-") "\t" x }' >"$T/keyed"
		cut -f 1 "$T/keyed" | LC_ALL=C sort -u >"$T/axes"
		while read -r axis; do
			awk -F'\t' -v a="$axis" '$1 == a { print $2 }' "$T/keyed" | sums >"$T/sums"
			same "$name, $(echo "$tool" | sed 's/.*nsysx-//'): sums by $way of $axis" "$T/want" "$T/sums"
		done <"$T/axes"
		[ $way = axis ] || equal "... there are rows by $way" "$([ -s "$T/keyed" ] && echo some)" "$([ -s "$T/want" ] && echo some)"
	done
}
while read -r options; do
	[ "$options" ] || continue
	made $options
	ok "$options: a job" nsysx-view -q -t device -o "$T/got" "$T/made"
	sums_agree "$options" nsysx-summary '' 'compute exposed copy idle window'
	nsysx-summary -q --by collective --tsv "$T/made" >"$T/kinds"
	nsysx-collectives -q --summary --by axis --tsv "$T/made" >"$T/along" 2>/dev/null
	equal "$options: axes of kinds of collectives are those that have rows" \
		"$(cols "$T/kinds" axis | tr ',' '\n' | grep -v '^-*$' | LC_ALL=C sort -u)" "$(cols "$T/along" axis | grep -v '^unknown$' | LC_ALL=C sort -u)"
	sums_agree "$options" nsysx-steps class count
	sums_agree "$options" nsysx-idle 'part cause' 'ns count'
	case $options in
	*--no-comm* | *--torch* | *--nccl*) ;;
	*)
		sums_agree "$options" 'nsysx-stragglers --waits' collective 'count wait last caused'
		sums_agree "$options" nsysx-stragglers 'program id' executions
		;;
	esac
	case $options in
	*--nccl*) ;;
	*) sums_agree "$options" 'nsysx-stragglers --pace' '' 'kernels time' ;;
	esac
	case $options in
	*--no-comm*) ;;
	*)
		# The sums over axes, and over groups, are those of all collectives.
		nsysx-collectives -q --summary --tsv "$T/made" >"$T/got"
		cols "$T/got" instances total wait | sed 's/^/all /' | sums >"$T/want"
		for way in axis group; do
			nsysx-collectives -q --summary --by $way --tsv "$T/made" >"$T/got"
			cols "$T/got" instances total wait | sed 's/^/all /' | sums >"$T/sums"
			same "$options: collectives by $way are all of them" "$T/want" "$T/sums"
		done
		;;
	esac
done <<'END'
--processes 4 --devices 2 --groups 2
--processes 8 --racks 4 --late-rack 2:300000 --steps 6
--hosts 2 --processes 4 --devices 2
--torch --racks 2 --late-rack 1:300000 --processes 4 --steps 8 --schema 3.24.14
--pipeline --processes 4
--no-comm --processes 2
--nccl --processes 2 --devices 2 --schema 3.24.14
--graphs --processes 3
--evaluate 3 --processes 2 --steps 9
END

# From the plan: collectives of each instruction by its groups. Of 8 devices those of 2 are neighbours or 4 apart.
made --processes 4 --devices 2 --groups 2
set --
for n in 0 1 2 3; do
	set -- "$@" -x "$T/job.d/dump$n" "$T/job.d/r$n.sqlite"
done
nsysx-extract -q "$@" | nsysx-align -q | nsysx-overlap -q >"$T/made"
awk -F'\t' 'NR == FNR { groups[$1, $3] = $8; next } FNR > 1 { g = groups[$1, $2]; a = g ~ /^0,1;2,3/ ? "axis2/2" : g ~ /^0,4;/ ? "axis0/2" : "all"; n[a]++; t[a] += $10; h[a] += $11; id[a, $14] = 1 }
	END { for (x in id) { split(x, p, SUBSEP); i[p[1]]++ }; for (a in n) print a, i[a], t[a], t[a] - h[a] }' "$T/job.d/answers/insts.tsv" "$T/job.d/answers/collectives.tsv" | LC_ALL=C sort >"$T/want"
nsysx-collectives -q --summary --by axis --tsv "$T/made" >"$T/got"
cols "$T/got" axis instances total exposed | LC_ALL=C sort >"$T/is"
same 'time and instances of each axis as planned' "$T/want" "$T/is"
# The commands of README.md for the node that is slow, each on a job in which rack 1 of two is late.
"$SYNTH" -q -o "$T/late" --processes 4 --racks 2 --late-rack 1:300000 --steps 5 --layers 1
"$SYNTH" -q -o "$T/torch" --torch --processes 4 --racks 2 --late-rack 1:300000 --steps 5 --layers 1
nsysx-prepare -q -o "$T/late.nsysx" -x "$T/late/dump0" "$T/late/r0.sqlite" -x "$T/late/dump1" "$T/late/r1.sqlite" \
	-x "$T/late/dump2" "$T/late/r2.sqlite" -x "$T/late/dump3" "$T/late/r3.sqlite"
nsysx-prepare -q -o "$T/torch.nsysx" "$T/torch/r0.sqlite" "$T/torch/r1.sqlite" "$T/torch/r2.sqlite" "$T/torch/r3.sqlite"
slow_node() { sed -n "s/.*which node is slow.*\`\(nsysx-$1 [^\`]*--by node[^\`]*\) job.nsysx\`.*/\1/p" "$tests_dir/../README.md"; }
# shellcheck disable=SC2086  # words
{
	of_job=$(slow_node stragglers) of_torch=$(slow_node idle)
	equal 'README.md: the slow node first' "$($of_job -q --tsv "$T/late.nsysx" | sed -n '2s/-.*//p')" rack1
	equal '... of PyTorch' "$($of_torch -q --tsv "$T/torch.nsysx" | sed -n '2s/-.*//p')" rack1
}
done_testing
