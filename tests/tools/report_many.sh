#!/bin/sh
# A report of more devices than its pictures have room for: which are shown, and what tables say about the others.
. "${0%/*}/../testlib.sh"

here=$tests_dir/../lib/report
# ---- relevant.awk: of 20 devices and three steps; device d takes 1000 + d at work of its own, device 7 takes 5000.
{ printf 'rank\tfinding\tgain\tsubject\n1\tidle:latency\t9\tdevice 4\n2\tstraggler\t5\tdevice 13\n'; } >"$T/findings.tsv"
{ echo "device"; seq 0 19; } >"$T/record-device.tsv"
awk 'BEGIN { print "class\tdevice\tstep\tperiod\texposed"
	for (s = 0; s < 3; s++) for (d = 0; d < 20; d++) { own = d == 7 ? 5000 : 1000 + d; printf "train\t%d\t%d\t%d\t%d\n", d, s, 9000, 9000 - own }
	print "train\t0\t3\t\t" }' >"$T/step-each.tsv"
of() { awk -f "$here/relevant.awk" "$T/findings.tsv" "$T/step-each.tsv" "$T/record-device.tsv"; }
equal 'the device of a finding, the ten longest, the median, the 99th percentile, the shortest' "$(of | sed 1d | awk -F'\t' '{ printf "%s %s %s|", $1, $2, $3 }')" \
	'13 finding 1013|7 longest 5000|19 longest 1019|18 longest 1018|17 longest 1017|16 longest 1016|15 longest 1015|14 longest 1014|12 longest 1012|11 longest 1011|10 median 1010|7 p99 5000|0 shortest 1000|'
# A set of devices, as the change that would remove the finding names them: 0 to 11, the longest of which are 7 and then 11 to 5.
{ printf 'rank\tfinding\tsubject\tchange\n1\tlate-host\tthe 12 devices of hosts a to c, in read\tnowait:0,1,2,3,4,5,6,7,8,9,10,11\n2\texposed-communication\tall-reduce\tnowait\n'; } >"$T/findings.tsv"
set_of() { of | awk -F'\t' '$2 == "finding" { printf "%s:%s ", $1, $4 }'; }
equal 'eight devices of a late set of twelve, and how many it has' "$(set_of)" '7:12 11:12 10:12 9:12 8:12 6:12 5:12 4:12 '
equal '... and no more than a picture holds, the percentiles among them' "$(of | sed 1d | cut -f 1 | sort -u | wc -l | tr -d ' ') $(of | cut -f 2 | grep -cx 'median\|p99\|shortest')" '14 3'
sed -i 's/nowait:.*11$/nowait:0-2,8-11\/3,99/' "$T/findings.tsv"
equal 'ranges name them, too; of one without steps there is a row' "$(set_of)" '11:6 8:6 2:6 1:6 0:6 99:6 '
sed 18q "$T/record-device.tsv" >"$T/few" && sed 17q "$T/few" >"$T/record-device.tsv"
equal 'of 16 devices none is left out' "$(of | wc -l)" 1

# ---- heat.awk: its size is bounded, a cell has what is furthest
awk 'BEGIN { print "class\tdevice\tstep\tperiod\texposed"
	for (s = 0; s < 700; s++) for (d = 0; d < 300; d++) printf "train\t%d\t%d\t%d\t%d\n", d, s, 9000, 8000 - (d == 211 && s == 555 ? 900 : 0) }' >"$T/many.tsv"
printf 'device\twhy\town\n' >"$T/none.tsv"
awk -f "$here/page/html.awk" -f "$here/page/heat.awk" "$T/none.tsv" "$T/many.tsv" >"$T/heat"
ok 'one device in one step of 210,000 is named' grep -q 'Furthest above the others: <b>device 211</b>, .* longer than the mean of step 555 ' "$T/heat"
ok '... and drawn' grep -q '<path class="l4" d="M[0-9. ]*h[0-9.]*v4h-[0-9.]*z"/>' "$T/heat"
ok '... in a picture of bounded size' sh -c 'test "$(wc -c <"$1")" -lt 60000' sh "$T/heat"
awk -f "$here/page/html.awk" -f "$here/page/heat.awk" "$T/none.tsv" "$T/step-each.tsv" >"$T/heat"
ok 'the longest of 20 devices' grep -q '<b>device 7</b>' "$T/heat"
awk 'NR == 1 || $2 < 8' "$T/step-each.tsv" >"$T/eight.tsv"
equal 'up to eight devices have no such picture' "$(awk -f "$here/page/html.awk" -f "$here/page/heat.awk" "$T/none.tsv" "$T/eight.tsv")" ''

# ---- table.awk: rows on the page
{ printf 'device\tx\n'; seq 0 499 | awk '{ printf "%d\t%d\n", $1, 2 * $1 }'; } >"$T/long.tsv"
# rows_of FIRST OPTION...: the page with that table.
rows_of() {
	first=$1
	shift
	(cd "$T" && printf '\001device:device:n,x:x:n\t5\tlong.tsv\t%s\t\n' "$first" | awk "$@" -f "$here/page/html.awk" -f "$here/page/table.awk")
}
rows_of 1 -v relevant=450,17 >"$T/page"
equal 'rows of relevant devices come first' "$(grep -o '<data value="[0-9]*">' "$T/page" | grep -o '[0-9]*' | awk 'NR % 2' | head -n 4 | tr '\n' ' ')" '450 17 0 1 '
equal '... and there are as many as a page has' "$(grep -c '^<tr' "$T/page")" 200
ok 'what sorting sees is said' grep -q '200 of 500 rows here, those of the devices that stand out and the first of the others: sorting and the filter see only these' "$T/page"
rows_of '' -v relevant=450,17 >"$T/page"
equal 'without `first` they are among the others in their order' "$(grep -o '<data value="[0-9]*">' "$T/page" | grep -o '[0-9]*' | awk 'NR % 2' | tail -n 2 | tr '\n' ' ')" '198 450 '
rows_of '' >"$T/page"
ok 'without relevant devices the first rows' grep -q '200 of 500 rows here, the first: sorting and the filter see only these' "$T/page"

# A table that may have more, of which the rows of relevant devices come first all the same.
(cd "$T" && printf '\001device:device:n,x:x:n\t5\tlong.tsv\t1\t\t1000\n' | awk -v relevant=450,17 -f "$here/page/html.awk" -f "$here/page/table.awk") >"$T/page"
equal 'a table with room for all rows' "$(grep -c '^<tr' "$T/page") $(grep -c ', 500 rows<' "$T/page")" '500 1'
equal '... relevant ones first' "$(grep -o '<data value="[0-9]*">' "$T/page" | grep -o '[0-9]*' | awk 'NR % 2' | head -n 3 | tr '\n' ' ')" '450 17 0 '

# ---- a report
SYNTH=${SYNTH:-$B/tests/synth/nsysx-synth}
if ! [ -x "$SYNTH" ] || ! command -v make >/dev/null 2>&1; then
	skip 'a report of 24 devices' 'no generator or no make'
	done_testing
fi
"$SYNTH" -q -o "$T/job" --processes 6 --devices 4 --racks 3 --slow-device 21:15 --steps 12 --layers 2
set --
for n in 0 1 2 3 4 5; do
	set -- "$@" -x "$T/job/dump$n" "$T/job/r$n.sqlite"
done
ok 'a report of 24 devices' nsysx-report -q -o "$T/report" "$@"
equal 'the slow one is of a finding' "$(awk -F'\t' 'NR == 2 { print $1, $2 }' "$T/report/tables/relevant.tsv")" '21 finding'
equal '... and has lanes' "$(awk -F'\t' '$3 == 21 && $4 == "compute"' "$T/report/tables/lanes.tsv" | wc -l | awk '{ print ($1 > 0) }')" 1
equal 'sixteen devices are drawn' "$(awk -F'\t' 'NR > 1 && $1 == "slowest" && $4 != "none" { print $3 }' "$T/report/tables/lanes.tsv" | sort -u | wc -l | tr -d ' ')" 16
# A late rack of 16 of 48.
"$SYNTH" -q -o "$T/late" --processes 48 --racks 3 --late-rack 1:300000 --steps 8 --layers 1
set --
for n in $(seq 0 47); do
	set -- "$@" -x "$T/late/dump$n" "$T/late/r$n.sqlite"
done
ok 'a report of 48 devices, of which a rack is late' nsysx-report -q -o "$T/late.report" "$@"
equal 'eight of it are shown' "$(awk -F'\t' '$2 == "finding" && $1 >= 16 && $1 < 32 && $4 == 16' "$T/late.report/tables/relevant.tsv" | wc -l | tr -d ' ')" 8
equal '... and drawn' "$(awk -F'\t' 'NR == FNR { if ($2 == "finding" && $4 == 16) f[$1]; next } $1 == "slowest" && $4 == "compute" && $3 in f { print $3 }' "$T/late.report/tables/relevant.tsv" "$T/late.report/tables/lanes.tsv" | sort -u | wc -l | tr -d ' ')" 8
lanes=$(awk -F'\t' '$1 == "slowest" && $4 != "none" { print $3 }' "$T/late.report/tables/lanes.tsv" | sort -u | wc -l | tr -d ' ')
ok '... which the page says, with the number of all that are drawn' grep -q "Drawn are $lanes: 8 of the 16 devices of a finding, those that" "$T/late.report/index.html"
ok 'racks have rows, the one for which others wait first' sh -c 'sed -n "/id=.racks/,/<.table>/p" "$1/index.html" | grep -o ">rack[0-9]<" | paste -sd " " | grep -q "^>rack1< >rack[02]< >rack[02]<$"' sh "$T/late.report"
equal '... with how long, as the tables have it' "$(sed -n '/id="racks"/,/<\/table>/p' "$T/late.report/index.html" | grep -A 2 '>rack1<' | grep -o 'value="[0-9]*"' | tail -n 1)" \
	"value=\"$(nsysx-stragglers -q --tsv --waits --by rack "$T/late.report/streams/collectives.nsysx" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["rack"] == "rack1" { s += $c["caused"] } END { printf "%.0f", s }')\""
ok 'what is to be looked at first is that rack' grep -q '<p class="first">Look first at the 16 devices of hosts rack1-' "$T/late.report/index.html"
ok 'the picture of devices by steps names it' grep -q 'Furthest above the others: <b>device 21</b>' "$T/report/index.html"
ok 'machines have rows' grep -q '<h3 id="nodes">By machine</h3>' "$T/report/index.html"
equal '... the machine with it first' "$(sed -n '/id="nodes"/,/<\/table>/p' "$T/report/index.html" | grep -o 'rack[0-9]-node[0-9]*' | head -n 1)" \
	"$(awk -F'\t' '$3 == "20-23" { print $1 }' "$T/report/tables/node.tsv")"
equal 'the first row of steps is its' "$(sed -n '/<h2>Steps/,/<\/table>/p' "$T/report/index.html" | grep -A 2 '<tbody>' | grep -o '<data value="[0-9]*">' | head -n 1)" '<data value="21">'
# ---- lanes: gaps come longest first, not in their order
{ printf 'class\tdevice\tstep\tstart\tperiod\n'; printf 'c\t0\t0\t1000\t10000\nc\t0\t1\t11000\t\n'; } >"$T/step-each.tsv"
printf 'device\n0\n' >"$T/record-device.tsv"
printf 'device\tstart\tdur\tcause\tnext\n0\t7000\t3000\thost\tc\n0\t2000\t1500\thost\ta\n0\t4000\t1000\thost\tb\n' >"$T/gaps.tsv"
printf 'step\tdevice\ton\tpart\tstart\tdur\n' >"$T/path.tsv"
{ printf 'device\ttype\tname\tstart\tdur\tcomm\n'; printf '0\tkernel\tk\t%d\t%d\t0\n' 1000 1000 3500 500 5000 2000 10000 1000; } >"$T/op.tsv"
equal 'each gap is a piece' "$(awk -v view="sh -c 'cat \"$T/op.tsv\"' --" -f "$here/lanes.awk" "$T/step-each.tsv" "$T/record-device.tsv" "$T/gaps.tsv" "$T/path.tsv" |
	awk -F'\t' '$4 == "idle" { print $6, $7, $12 }' | paste -sd ,)" '1000 1500 1500,3000 1000 1000,6000 3000 3000'
# Report $1: pieces sum to the parts of $2 steps.
sums() {
	nsysx-idle -q --tsv --list 10000000 "$1/streams/collectives.nsysx" >"$T/gaps.all" 2>/dev/null
	equal "pieces of $1 lie in their steps and sum to their parts" \
		"$(awk -f "$tests_dir/tools/report/lanes.awk" "$1/tables/step-each.tsv" "$T/gaps.all" "$1/tables/lanes.tsv")" "$2"
}
cd "$T" || exit 1
sums late.report 32
"$SYNTH" -q -o host --processes 2 --steps 6 --layers 3
nsysx-report -q -o host.report -x host/dump0 host/r0.sqlite -x host/dump1 host/r1.sqlite
sums host.report 4
if [ -e "$SHARED/data/sources/xplane" ] && [ -e "$SHARED/data/pax/p0.sqlite.zst" ]; then
	while read -r f n; do
		nsysx-report -q -o "$f.report" "$SHARED/data/sources/xplane/$f.xplane.pb"
		sums "$f.report" "$n"
	done <<-'E'
		jax_train 2
		jax_fsdp4 8
		mi300_conv 16
	E
	set --
	for n in 0 1 2 3; do
		zstd -qdo "p$n.sqlite" "$SHARED/data/pax/p$n.sqlite.zst"
		set -- "$@" -x "$SHARED/data/pax/dump$n" "p$n.sqlite"
	done
	nsysx-report -q -o pax.report "$@"
	sums pax.report 8
else
	skip 'pieces of real profiles' 'no reference data'
fi
done_testing
