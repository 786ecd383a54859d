#!/bin/sh
# nsysx-report and lib/report/report.mk against nsysx-report(1): contents of a report, reproducibility, and which files are rebuilt.
. "${0%/*}/../testlib.sh"
# What page.sh is given by report.mk.
NSYSX_CAUSES=$(nsysx-idle --known)
export NSYSX_CAUSES

[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'
command -v make >/dev/null 2>&1 || skip_all 'there is no make'
root=$(cd "$tests_dir/.." && pwd) || exit 1
checker=$tests_dir/tools/report/page.py
mk=$root/lib/report/report.mk
unset MAKEFLAGS MFLAGS MAKELEVEL PROFILES DUMPS OUT TITLE ALIGN WARMUP DETAIL NSYSX V
plots=1
gnuplot --version >/dev/null 2>&1 </dev/null || plots=
cd "$T" || exit 1

# A report by make, with these variables.
build() { make --no-print-directory -f "$mk" "$@"; }
# Files of report $1 with size and time, and their contents.
listing() { (cd "$1" && find . -type f -printf '%p %s %T@\n' | sort); }
contents() { (cd "$1" && find . -type f ! -path './.state/*' -exec cksum {} + | sort -k 3); }
# Files of the report r that changed since $T/before, without folder and state.
changed() { listing r | diff "$T/before" - | sed -n 's,^> \./\([^ ]*\) .*,\1,p' | grep -v '^\.state/'; }
# The page of report $1 is well-formed.
sound() { run python3 "$checker" "$1"; equal "$2" "$status $(cat "$T_private/out" "$T_private/err")" '0 '; }
# The page of $1 has text $2 within section $3.
says() { sed -n "/<section id=\"$3\"/,/<\/section>/p" "$1/index.html" | grep -qF -e "$2"; }
shows() { ok "$4" says "$1" "$2" "$3"; }

"$SYNTH" -o s --offset=300000 >/dev/null || exit 1

# Two processes with dumps.
run nsysx-report -j 2 -o r -x s/dump0 s/r0.sqlite -x s/dump1 s/r1.sqlite
equal 'it prints only the path of the page' "$status $(cat "$T_private/out" "$T_private/err")" '0 r/index.html'
sound r 'the page is well formed, its links lead somewhere, its numbers are the data'"'"'s'
(cd s && nsysx-extract -q --ranges --ops -x dump0 r0.sqlite -x dump1 r1.sqlite | nsysx-align -q | nsysx-warmup -q | nsysx-overlap -q -o ../steady.nsysx)
for by in module opcode thunk collective device range kernel; do
	flag=
	case $by in range) flag='--no-compile --names=steps' ;; kernel) flag=--no-compile ;; device) flag=--cover=1 ;; esac
	nsysx-summary -q --tsv --by "$by" $flag -o want.tsv steady.nsysx
	run python3 "$checker" r "$by" want.tsv
	equal "the page has the table of nsysx-summary --by $by" "$status $(cat "$T_private/out" "$T_private/err")" '0 '
	same "... and so has the file of the table $by" want.tsv "r/tables/$by.tsv"
done
nsysx-collectives -q --summary --tsv -o want.tsv steady.nsysx
run python3 "$checker" r bandwidth want.tsv
equal 'bandwidths equal those of nsysx-collectives' "$status $(cat "$T_private/out")" '0 '
nsysx-stragglers -q --tsv --waits -o want.tsv steady.nsysx
same 'waits equal those of nsysx-stragglers' want.tsv r/tables/waits.tsv
nsysx-extract -q -x s/dump0 s/r0.sqlite -x s/dump1 s/r1.sqlite | nsysx-compile -q --tsv --by phase -o want.tsv
same 'compilation is that of the whole profile' want.tsv r/tables/compile-phase.tsv
nsysx-heap --tsv --peak -o want.tsv s/dump0
run python3 "$checker" r heap-peak want.tsv
equal 'heaps equal those of nsysx-heap' "$status $(cat "$T_private/out")" '0 '
for f in source op-name module; do
	nsysx-fold -q --mark-comm --by $f -o want.folded steady.nsysx
	same "the flame graph by $f is of the steady state" want.folded r/flame/$f.folded
done
(cd r && nsysx-diagnose -q --tsv -o ../want.tsv streams/collectives.nsysx && nsysx-diagnose -q --where --tsv -o ../where.tsv streams/collectives.nsysx &&
	nsysx-diagnose -q --markdown -o ../want.md streams/collectives.nsysx)
same 'findings equal those of nsysx-diagnose' want.tsv r/tables/findings.tsv
same 'times of a step equal those of nsysx-diagnose' where.tsv r/tables/where.tsv
same 'the first screen has the text of its Markdown' want.md r/summary.md
equal 'the first screen has the gains of all findings, in order' \
	"$(sed -n '/<section id="summary"/,/<details><summary>All/p' r/index.html | sed -n 's/^<li>.*figure"><data value="\([^"]*\)".*/\1/p')" "$(awk -F'\t' 'NR > 1 { print $3 }' want.tsv)"
equal 'its cards have mean, p50 and p99 of the step' "$(sed -n '/<dl class="cards">/,/<\/dl>/p' r/index.html | sed -n 's/.*<data value="\([^"]*\)".*/\1/p' | paste -sd ' ')" \
	"$(awk -F'\t' 'NR == 2 { print $6, $7, $8 }' where.tsv)"
equal 'they have the number of steps and devices' "$(grep -o 'mean of [0-9]* steps on [0-9]* devices' r/index.html)" \
	"mean of $(awk -F'\t' 'NR > 1 && $9 > 0' r/tables/step-each.tsv | wc -l | tr -d ' ') steps on 2 devices"
equal 'the gain in the first line has the digits of its card' "$(sed -n 's,^<p class="first">.* up to \([0-9.]* [mun]*s\) of.*,\1,p' r/index.html)" \
	"$(sed -n '/<ol class="findings top">/,/<\/ol>/s,.*figure"><data value="[^"]*">\([^<]*\)<.*,\1,p' r/index.html | head -n 1)"
equal 'causes of idle time have the same names and colours in the bar and the picture of a step' "$(grep -o '<li><i class="[a-z0-9 ]*"></i>idle: [a-z-]*' r/index.html | sort -u | sed 's/.*: //' | uniq -d)" ''
equal 'longest gaps start at times that differ' "$(sed -n '/The longest gaps/,/<\/table>/s,^<td class="n"><data value="[0-9]*">\([0-9.]* s\)</data></td>,\1,p' r/index.html | sort | uniq -d)" ''
equal 'streams have the names of hosts' "$(nsysx-view -t profile r/streams/collectives.nsysx | cut -f 3 | sort -u | tr '\n' ' ')" 'host node '
equal 'ticks of the picture have one unit and a round distance' "$(awk '/^<svg class="lanes"/ { unit = ""; n = 0 }
	/class="tick"/ { k = split($0, part, /<text class="tick"[^>]*>/); for (i = 2; i <= k; i++) { sub(/<.*/, "", part[i]); split(part[i], x, " "); if (n++ == 1) step = x[1]
		if (unit != "" && x[2] != unit || n > 2 && x[1] - was - step > step / 1e6 || step * 1e6 !~ /^[125]0*$/ && n > 1) print part[i]; unit = x[2]; was = x[1] } if (k < 3 || k > 7) print k }' r/index.html)" ''
equal 'the parts of its bar add up to the whole' "$(sed -n '/<div class="bar"/,/<\/div>/p' r/index.html | grep -o 'width:[0-9.]*' | awk -F: '{ s += $2 } END { printf "%.0f", s }')" 100
ok 'the verdict equals that of nsysx-idle' sh -c "grep '^<p class=\"verdict\">' r/index.html | grep -qiF \"\$(sed -n '3s/^\*\*\(.*\)\*\* *\$/\1/p' r/summary.md)\""
mkdir -p split
printf '**Compute bound.**\n\nlooked at: steps  \nnot sure: how much computes: 3 operations  \n' >split/summary.md
equal 'what is uncertain is on the page, never folded away' "$(awk -f "$root/lib/report/page/html.awk" -f "$root/lib/report/page/head.awk" split/summary.md | grep -c '^<p class="note unsure">Not sure: how much computes: 3 operations\.')" 1
printf '**none of the findings would shorten the step by itself: see nsysx-whatif --table for what would; first among them: exposed-communication, 6.000 us of a step, 6.2%%, forecast 0.0%%**\n\n**Compute bound.**\n' >split/summary.md
printf 'finding\tgain\nexposed-communication\t6000\n' >split/findings.tsv
equal 'where nothing is forecast of all findings the first line says it' "$(awk -F'\t' -f "$root/lib/report/page/html.awk" -f "$root/lib/report/page/head.awk" split/summary.md split/findings.tsv | sed -n 's,^<p class="first">\(.*\)</p>,\1,p')" \
	'None of the findings would shorten the step by itself: see nsysx-whatif --table for what would; first among them: exposed communication, 6.000 us of a step, 6.2%, forecast 0.0%.'
# The class of a step, and all that is said of it, stand beside its length.
printf 'step: 2.000 us mean, 1.500 us p50, 3.000 us p99 (the largest), from start to start, of 28 on 2 devices; class a\\_\\*: mixed, 2 kinds of it take turns, p50 1.000 us, 3.000 us; of the time of all steps 48.3%% is of a\\_\\*: decode\n' >split/summary.md
printf 'part\tcause\tcount\tmean\tshare\tp50\tp99\nstep\t\t28\t2000\t1\t1500\t3000\n' >split/where.tsv
equal 'the step is told with its class and the kinds that take turns' "$(awk -F'\t' -f "$root/lib/report/page/html.awk" -f "$root/lib/report/page/head.awk" split/summary.md split/where.tsv | sed -n 's,^<div><dt>\(a step [^<]*\)<.*,\1,p')" \
	'a step from start to start, mean of 28 steps on 2 devices: class a_*: mixed, 2 kinds of it take turns, p50 1.000 us, 3.000 us; of the time of all steps 48.3% is of a_*: decode'
printf 'the step is set by device 3 (98%% of the critical path): 88%% compute; see `nsysx-whatif --critical x`\n' >split/summary.md
equal 'what sets the step is said, with its command' "$(awk -f "$root/lib/report/page/html.awk" -f "$root/lib/report/page/head.awk" split/summary.md | grep '^<p>')" \
	'<p>The step is set by device 3 (98% of the critical path): 88% compute. <code>nsysx-whatif --critical x</code></p>'
printf 'finding\tgain\tshare\tsaved\tlow\thigh\nblocking\t10000\t0.1\t20000\t19000\t20000\nidle:host\t9000\t0.09\t30000\t\t31000\nlayout\t9000\t0.09\t\t1000\t8000\ncopies\t8500\t0.09\t8000\t8000\t8000\nvariability\t8000\t0.08\t\t\t\n' >split/findings.tsv
equal 'forecasts are beside gains' "$(awk -F'\t' -f "$root/lib/report/page/html.awk" -f "$root/lib/report/page/head.awk" split/findings.tsv | grep -o '; forecast [^<]*')" '; forecast 19.0 us to 20.0 us
; forecast at most 31.0 us
; forecast 1.0 us to 8.0 us
; forecast 8.0 us'
equal 'the first line names the finding with rank 1, and its subject' "$(sed -n 's,^<p class="first">Look first at \(.*\)\.</p>$,\1,p' r/index.html | grep -F "$(awk -F'\t' 'NR == 2 { sub(/:/, ": ", $2); gsub(/-/, " ", $2); print $2 }' want.tsv)" |
	grep -cF "$(awk -F'\t' 'NR == 2 { print $7 }' want.tsv)")" 1
# Of findings with a subject, those whose gain is not the subject's alone call it the largest part.
equal 'a gain of several things is not said to be that of one' "$(grep -c '; the largest part: <span class="subject">' r/index.html)" \
	"$(awk -F'\t' 'NR > 1 && $7 != "" && $2 !~ /^(slow-collective|late-host|straggler|late-device|blocking)$/' want.tsv | wc -l | tr -d ' ')"
equal 'each finding has the action of nsysx-diagnose' "$(sed -n 's,.*<p class="action"><b>Do first:</b> \([^<]*\)\.</p>.*,\1,p' r/index.html | sed 's/&gt;/>/g; s/&lt;/</g; s/&quot;/"/g; s/&amp;/\&/g')" "$(awk -F'\t' 'NR > 1 { print $8 }' want.tsv)"
equal 'commands have no escapes of tables, which quote a backslash' "$(grep -c -F "awk -F'\\t' " r/index.html) $(grep -c -F "awk -F'\\\\t' " r/index.html)" "$(grep -c -F "awk -F'\\t' " r/summary.md) 0"
equal 'p99 is marked as the largest value if it is' "$(grep -o '<dt>p99[^<]*' r/index.html)" "<dt>p99$(grep -o ' (the largest)' r/summary.md | head -n 1)"
equal 'sums of exposed communication are side by side: of collectives, of devices, of a step' "$(sed -n '/<section id="communication"/,/<table>/p' r/index.html | grep -o '<data value="[^"]*"' | cut -d '"' -f 2 | sed -n '3p;5,6p' | paste -sd ' ')" \
	"$(awk -F'\t' 'NR > 1 { s += $4 } END { printf "%d", s }' r/tables/collective.tsv) $(awk -F'\t' 'NR > 1 { s += $7 } END { printf "%d", s }' r/tables/device.tsv) $(awk -F'\t' '$1 == "comm" { print $6 }' r/tables/where.tsv)"
# Of three collectives on two devices; without the first table, and with one whose exposed time is that of the collectives.
mkdir -p split
printf 'collective\tcount\ttotal\texposed\thidden\nall-reduce\t1\t300\t300\t0\nall-gather\t2\t600\t200\t400\n' >split/collective.tsv
for union in '' 500 440; do
	printf 'part\tmean\nstep\t1000\ncomm\t60\n' >split/where.tsv
	{ printf 'device\texposed\n'; [ -z "$union" ] || printf '0\t400\n1\t%d\n' $((union - 400)); } >split/device.tsv
	awk -f "$root/lib/report/page/html.awk" -f "$root/lib/report/page/split.awk" split/where.tsv split/device.tsv split/collective.tsv | sed 's/<[^>]*>//g' >split/said
	case $union in '') want='Each is counted in full' ;; 500) want='nothing counts twice' ;; 440) want='counted more than once, by 60 ns' ;; esac
	equal "exposed ${union:-unknown} of devices, 500 of collectives: why they differ" "$(grep -c "$want" split/said)" 1
done
equal 'the table of idle time names its window' "$(grep -cE 'Within the steps of the summary|Of the whole recording' r/index.html)" 1
cp -R r removed
awk -F'\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } { print } NR == 2 { $c["part"] = "removed"; $c["ns"] = 1024; print }' r/tables/idle.tsv >removed/tables/idle.tsv
sed -n '/^step/q;p' r/tables/where.tsv >removed/tables/where.tsv
awk -F'\t' -v OFS='\t' -v all="$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { s += $c["ns"] } END { printf "%d", s }' r/tables/idle.tsv)" \
	'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } $1 == "step" { $c["ns"] = all } NR > 1 { print }' r/tables/where.tsv >>removed/tables/where.tsv
equal '... the same with operations that were removed from steps' "$(sh "$root/lib/report/page/page.sh" removed 2>/dev/null | grep -oE 'Within the steps of the summary|Of the whole recording')" 'Within the steps of the summary'
shows r 'Shares are of the window of each device' devices 'shares of devices are said to be of the window'
equal '... which is shown, and which they are of' "$(sed -n '/<section id="devices"/,/<\/table>/p' r/index.html | grep -c '>window') $(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { x = $c["compute"] / $c["window"] - $c["compute_share"]; if (x > 1e-9 || x < -1e-9) n++ } END { print n + 0 }' r/tables/device.tsv)" '1 0'
equal 'no page says that all work of compilation is omitted' "$(grep -c 'such as autotuning, is omitted' r/index.html)" 0
nsysx-steps -q --each --tsv -o want.tsv r/streams/collectives.nsysx
run python3 "$checker" r step-each want.tsv
equal 'steps equal those of nsysx-steps' "$status $(cat "$T_private/out")" '0 '
equal 'a step is drawn for every device, the median one and the slowest' "$(awk -F'\t' 'NR > 1 { print $1, $3 }' r/tables/lanes.tsv | sort -u | paste -sd ,)" 'median 0,median 1,slowest 0,slowest 1'
equal 'the slowest step is that of all devices, and so is the median' "$(awk -F'\t' '$1 != was && NR > 1 { was = $1; print $1, $11 }' r/tables/lanes.tsv | paste -sd ,)" \
	"$(awk -F'\t' 'NR > 1 && $9 > 0 { print $9 }' r/tables/step-each.tsv | sort -n | awk '{ p[NR] = $1 } END { print "median " p[int((NR + 1) / 2)] ",slowest " p[NR] }')"
nsysx-idle -q --tsv --list 1000000 r/streams/collectives.nsysx >gaps.all
equal 'pieces lie within the step of their device, and sum to its parts' "$(awk -f "$tests_dir/tools/report/lanes.awk" r/tables/step-each.tsv gaps.all r/tables/lanes.tsv)" 4
# Devices that are not drawn: all have operations, device 2 only after the slowest step; a picture holds 16 of 18.
mkdir -p few/tables && (
	cd few/tables && printf 'class\tdevice\tstep\tstart\tperiod\nc\t0\t3\t1000\t100\nc\t0\t4\t1100\t\nc\t5\t3\t1000\t90\n' >step-each.tsv && echo device >record-device.tsv &&
	seq 0 17 >>record-device.tsv && printf 'device\tstart\tdur\tcause\tnext\n' >gaps.tsv && printf 'step\tdevice\ton\tpart\tstart\tdur\n3\t0\t5\tcompute\t1000\t60\n3\t0\t0\thost\t1060\t40\n4\t0\t0\thost\t1100\t40\n' >path.tsv && printf 'device\ttype\tname\tstart\tdur\tcomm\n' >op.tsv &&
	for d in $(seq 0 16) ; do [ "$d" = 2 ] || printf '%d\tkernel\tk\t1010\t20\t0\n' "$d"; done >>op.tsv && printf '2\tkernel\tk\t3000\t20\t0\n' >>op.tsv &&
	awk -v view="sh -c 'cat op.tsv' --" -f "$root/lib/report/lanes.awk" step-each.tsv record-device.tsv gaps.tsv path.tsv >lanes.tsv
	awk -f "$root/lib/report/page/html.awk" -f "$root/lib/report/page/lanes.awk" lanes.tsv >../page
)
equal 'devices that are not in the picture of a step have a row with the reason' \
	"$(awk -F'\t' '$1 == "slowest" && $4 == "none" { print $3, $5 }' few/tables/lanes.tsv | paste -sd ,)" '2 outside,16 limit,17 limit'
equal 'the critical path is on the devices that it leads through' "$(awk -F'\t' '$1 == "slowest" && $4 == "path" { print $3, $5, $6, $7 }' few/tables/lanes.tsv | paste -sd ,)" '0 host 60 40,5 compute 0 60'
equal '... and is drawn' "$(sed -n '/lanes-slowest" tab/,/lanes-median" tab/s/.*<title>\(critical path: .*\)<\/title>.*/\1/p' few/page | sort | paste -sd ,)" \
	'critical path: computation, 60 ns at 0 ns,critical path: work of the host, 40 ns at 60 ns'
equal '... and a sentence on the page' "$(sed -n '/lanes-slowest" tab/,/lanes-median" tab/s/^<p class="note">\(.*\)<\/p>$/\1/p' few/page | paste -sd '|')" \
	'Nothing of device 2 lies within this time.|For want of room 2 devices are not drawn: 16, 17.'
# Devices 2 and 3 are on a clock of their own, on which it is 9000 where it is 1000 on that of 0 and 1. The step of 3 begins 10 later than that of 2.
# Device 4, on a third one, has no such step, but two others; device 5, on the second, has none.
mkdir -p apart/tables && (
	cd apart/tables && printf 'class\tdevice\tstep\tstart\tperiod\nc\t0\t3\t1000\t100\nc\t1\t3\t1005\t90\nc\t2\t2\t8900\t99\nc\t2\t3\t9000\t80\nc\t3\t3\t9010\t70\nc\t4\t0\t1000\t50\nc\t4\t1\t5000\t60\n' >step-each.tsv &&
	{ echo device; seq 0 5; } >record-device.tsv && printf 'device\tprofile\tcomponent\n0\t0\t0\n1\t0\t0\n2\t1\t1\n3\t1\t1\n4\t2\t2\n5\t1\t1\n' >record-clock.tsv &&
	printf 'device\tstart\tdur\tcause\tnext\n2\t9025\t30\thost\tk\n' >gaps.tsv && printf 'step\tdevice\ton\tpart\tstart\tdur\n3\t0\t0\tcompute\t1000\t60\n3\t0\t2\thost\t1060\t40\n' >path.tsv &&
	printf 'device\ttype\tname\tstart\tdur\tcomm\n0\tkernel\tk\t1010\t20\t0\n1\tkernel\tk\t1030\t20\t0\n4\tkernel\tk\t1040\t10\t0\n5\tkernel\tk\t1040\t10\t0\n4\tkernel\tk\t5040\t10\t0\n2\tkernel\tk\t9005\t20\t0\n3\tkernel\tk\t9030\t20\t0\n' >op.tsv
	drawn() { awk -v view="sh -c 'echo \"\$*\" >asked; cat op.tsv' --" -f "$root/lib/report/lanes.awk" "$@" step-each.tsv record-device.tsv gaps.tsv path.tsv; }
	drawn -v clock=record-clock.tsv >lanes.tsv
	cp asked ../asked
	awk -f "$root/lib/report/page/html.awk" -f "$root/lib/report/page/lanes.awk" lanes.tsv >../page
	cut -f 1-2 record-clock.tsv >record-device.tsv
	drawn >../unaligned
)
equal 'devices whose clocks were not compared are each drawn from the start of their step' "$(awk -F'\t' '$1 == "slowest" && $4 != "none" { print $3, $2, $4, $6, $7, $13 }' apart/tables/lanes.tsv | sort | paste -sd ,)" \
	'0 3 compute 10 20 1,0 3 path 0 60 1,1 3 compute 30 20 1,2 3 compute 5 20 2,2 3 idle 25 30 2,3 3 compute 30 20 2,4 1 compute 40 10 3'
equal '... of the operations of those times, of the median step and the slowest' "$(cat apart/asked)" '--time 9000:9080,1000:1100,5000:5060,1000:1100,9000:9080,5000:5060'
equal '... and one without a step not at a time of another clock' "$(awk -F'\t' '$1 == "slowest" && $4 == "none" { print $3, $5 }' apart/tables/lanes.tsv)" '5 outside'
equal '... so the picture says' "$(sed -n '/lanes-slowest" tab/,/lanes-median" tab/p' apart/page | grep -o '<text[^>]*>[CD]*[^<]*' | sed 's/.*>//; /s$/d; s/ with those.*//' | paste -sd ,)" \
	'device 0,device 1,Clocks not compared,device 2,device 3,Clocks not compared,device 4'
equal '... and a sentence' "$(grep -c 'need not have been at the same time as what is above it' apart/page) $(grep -c 'need not have been' few/page)" '1 0'
equal 'without a table of clocks those of several profiles are not the same' "$(cut -f 1-7,13 apart/unaligned | grep -v none)" "$(cut -f 1-7,13 apart/tables/lanes.tsv | grep -v none)"
causes=$(nsysx-idle --known | awk -F'\t' 'NR > 1 && $4 > 0 { print $1 }' | paste -sd ' ')
echo 'END { n = split(drawn, c, " "); for (i = 1; i <= n; i++) print tinted(c[i]) }' >each.awk
equal 'every cause of idle time has its own tint or stripes' "$(awk -v drawn="$causes" -f "$root/lib/report/page/html.awk" -f each.awk /dev/null | sort | uniq -d)" ''
equal '... and all causes of nsysx-idle(1) are there' "$(printf '%s\n' $causes | sort | paste -sd ' ')" \
	"$({ sed -n '/^\.Ss Causes/,/^\.Ss Table/s/^\.It Li //p' "$root/docs/man/nsysx-idle.1" | tr ',' '\n'; printf 'before\nafter\n'; } | tr -d ' ' | sort | paste -sd ' ')"
# Four that vary: the second close to the first, the third close to the second only, the fourth far from all.
printf 'id\tname\n1\ta\n1\tb\n1\tc\n1\td\n' >variable.tsv
printf 'id\tname\tmean\trelstd\tcomm\n1\ta\t100000\t0.5\t0\n1\tb\t103000\t0.5\t0\n1\tc\t120000\t0.5\t0\n1\td\t900000\t0.01\t0\n' >thunk.tsv
equal 'numbers in the plot of variability do not overlap' \
	"$(awk -f "$root/lib/report/plots/columns.awk" -f "$root/lib/report/plots/variability.awk" variable.tsv thunk.tsv | awk -F'\t' 'NF == 3 && $1 != "nan" { print $1 ":" $3 }' | paste -sd ' ')" '100:1 103:  120:3 900:4'
plot_data() { name=$1; shift; LC_ALL=C awk -f "$root/lib/report/plots/columns.awk" -f "$root/lib/report/plots/$name.awk" "$@"; }
printf 'collective\tbytes\tgroup\tinstances\twait_mean\twait_max\nall-gather\t2000\t4\t1\t3000\t4000\nnccl\t\t\t1\t1000\t1000\n' >waiting.tsv
equal 'groups of unknown size are not named in the plot of waits' "$(plot_data waits waiting.tsv | cut -f 1)" '"all-gather, 2 kB of 4"
"nccl"'
# Peaks of 100 TFLOP/s at 1000 GB/s: the roof is flat from 100 operations a byte on.
printf 'math\tintensity\ttflops\tpeak\tbandwidth\nbf16\t200\t50\t100\t1000\nbf16\t400\t60\t100\t1000\n' >points.tsv
equal 'a roof is never above its peak' "$(plot_data roofline points.tsv | sed -n '/: /,$p' | tr '\t' ':' | tail -n +2)" '200:100
400:100'
printf 'math\tintensity\ttflops\tpeak\tbandwidth\nbf16\t50\t25\t100\t1000\n' >points.tsv
equal '... and rises with the bandwidth before it' "$(plot_data roofline points.tsv | sed -n '/: /,$p' | tr '\t' ':' | tail -n +2)" '50:50
100:100
1000:100'
printf 'id\tname\ttrace\tpeak\n1\tx\t0\t5\n' >heap-peak.tsv
printf 'id\tname\ttrace\tstep\tbytes\n1\tjit_%s_end\t0\t0\t5\n' "$(i=0; while [ $((i += 1)) -le 40 ]; do printf '\303\251'; done)" >heaps.tsv
equal 'long names in the key of the plot of heaps are shortened, in whole characters' "$(plot_data heap heap-peak.tsv heaps.tsv | sed 1q)" \
	"\"jit_$(printf '\303\251%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)...$(printf '\303\251%.0s' 1 2 3 4 5 6 7 8)_end\""
warnings=$(nsysx-view -t diag r/streams/collectives.nsysx | awk -F'\t' 'NR > 1' | wc -l)
equal 'every diag is on the page' "$(sed -n '/<section id="diags"/,/<\/table>/p' r/index.html | grep -c '^<tr>.*<td')" "$warnings"
for f in bandwidth waits skew variability lockstep heap; do
	ok "the plot $f has data" test -s r/plots/$f.dat
	if [ "$plots" ]; then
		run python3 -c 'import sys, xml.dom.minidom as m; d = m.parse(sys.argv[1]); sys.exit(len(d.getElementsByTagName("path")) < 5)' "r/plots/$f.svg"
		equal "the plot $f is drawn" "$status" 0
	else
		skip "the plot $f is drawn" 'gnuplot is not here'
	fi
done
if [ "$plots" ]; then
	rm r/plots/waits.svg && cp r/plots/lockstep.svg lockstep.was && touch -d '1 hour ago' r/plots/lockstep.svg
	ok 'a report without one of its pictures' build PROFILES='s/r0.sqlite s/r1.sqlite' DUMPS='s/dump0 s/dump1' OUT=r
	ok '... draws that again' test -s r/plots/waits.svg
	equal '... and no other' "$(find r/plots -name lockstep.svg -mmin -50)" ''
fi
equal 'a point per size and collective of bandwidth' "$(grep -c '^[0-9]' r/plots/bandwidth.dat)" "$(awk -F'\t' 'NR > 1 && $5 != ""' r/tables/bandwidth.tsv | wc -l)"
equal 'a lockstep curve per device' "$(grep -c '^"device' r/plots/lockstep.dat)" 2

# ---- reproducibility
ok 'the same by make, one command at a time, in another folder' build PROFILES='s/r0.sqlite s/r1.sqlite' DUMPS='s/dump0 s/dump1' OUT=deep/er
contents r >"$T/a"
contents deep/er >"$T/b"
same 'it has the same bytes' "$T/a" "$T/b"
ok 'it has no path of this machine' sh -c "! grep -rlF '$T' r --exclude-dir=.state"
for awk in gawk mawk; do
	if ! command -v $awk >/dev/null 2>&1; then skip "$awk makes the same page" "$awk is not here"; continue; fi
	mkdir -p awk-$awk
	ln -sf "$(command -v $awk)" awk-$awk/awk
	(PATH=$T/awk-$awk:$PATH; build PROFILES='s/r0.sqlite s/r1.sqlite' DUMPS='s/dump0 s/dump1' OUT=by-$awk) >/dev/null
	contents by-$awk >"$T/b"
	same "$awk makes the same page" "$T/a" "$T/b"
done

# ---- which files are rebuilt
again() { nsysx-report -j 2 -o r -x s/dump0 s/r0.sqlite -x s/dump1 s/r1.sqlite "$@"; }
listing r >before
ok 'again' again
listing r >after
same 'a second run rebuilds nothing' before after
touch s/r1.sqlite
ok 'a touched profile' again
changed >what
equal '... is extracted again, the other is not' "$(grep -c 'streams/profile-2.nsysx' what) $(grep -c 'streams/profile-1.nsysx' what)" '1 0'
ok '... with all files that depend on it' sh -c 'grep -q streams/extracted.nsysx what && grep -q tables/module.tsv what && grep -q index.html what'
equal '... except the heap, which depends on dumps' "$(grep -c heap what)" 0
contents r >"$T/b"
same '... with the same contents' "$T/a" "$T/b"
listing r >before
touch s/dump0/*jit_train_step*after*
ok 'a touched dump' again
changed >what
equal '... rebuilds its profile and the heap' "$(grep -c 'streams/profile-1.nsysx' what) $(grep -c 'streams/profile-2.nsysx' what) $(grep -c 'tables/heap.tsv' what)" '1 0 1'
listing r >before
ok 'another title' again --title 'Tom & <script>"x"</script>'
changed >what
equal '... changes only the page' "$(cat what)" index.html
sound r 'and is only text'
ok 'other steps' again --no-warmup
ok '... are in the page' sh -c "sed -n '/<header>/,/<nav/p' r/index.html | grep -qF 'All executions, clocks aligned'"
nsysx-extract -q --ranges --ops -x s/dump0 s/r0.sqlite -x s/dump1 s/r1.sqlite | nsysx-align -q | nsysx-overlap -q | nsysx-summary -q --tsv --by module -o want.tsv
same 'tables then include all executions' want.tsv r/tables/module.tsv
count() { nsysx-view -q -t module "$1" | wc -l; }
ok '... and the stream has first executions' test "$(count r/streams/collectives.nsysx)" -gt "$(count steady.nsysx)"
sound r 'nor a link to it'
ok 'an option of extraction' again --extract-flags '--time 0:1h'
ok 'back' again
contents r >"$T/b"
same '... the original is restored' "$T/a" "$T/b"
# What make takes to be up to date is read while the command that makes the removed one makes it, too.
for f in tables/device.tsv tables/device.tsv flame/source.folded flame/source.folded; do
	rm "r/$f" && again >/dev/null
done
contents r >"$T/b"
same 'tables and stacks that were removed, twice, are made again, and nothing else changes' "$T/a" "$T/b"
ok 'fewer profiles' build PROFILES=s/r0.sqlite DUMPS=s/dump0 OUT=r
ok '... files of removed profiles are removed' test ! -e r/streams/profile-2.nsysx
equal '... and their devices' "$(awk 'NR > 1' r/tables/record-device.tsv | wc -l)" 1
cp s/r0.sqlite good && head -c 5000 good >s/r0.sqlite
fails 'a broken profile ends it, with the tool' 1 'nsysx-extract: s/r0.sqlite' nsysx-report -q -o r -x s/dump0 s/r0.sqlite
ok '... leaves no partial files' sh -c '! find r -name "*.new" -o -name "*.tmp*" | grep -q . && ! test -e r/streams/profile-1.nsysx.new'
cp good s/r0.sqlite
ok 'it continues after repair' nsysx-report -q -o r -x s/dump0 s/r0.sqlite
sound r 'one device: the page is sound'
shows r 'One device' devices 'and says why nobody is late'
: >r/mine
ok 'clean' nsysx-report -o r --clean
equal '... keeps other files' "$(ls -A r)" mine

# ---- folders, environment and names
mkdir -p work/tables work/logs cdpath/rc && echo 1 | tee work/tables/mine.tsv work/logs/mine >cdpath/rc/index.html
cp -r work untouched
ok 'clean where no report is' nsysx-report -o work --clean
ok '... removes nothing' diff -r work untouched
ok 'a report beside files of the same folders' nsysx-report -q -o work --no-detail -x s/dump0 s/r0.sqlite
ok '... keeps them' test -e work/tables/mine.tsv -a -e work/logs/mine
fails 'a folder that cd takes for another' 2 'does not begin with -' env OLDPWD="$T/work" make --no-print-directory -f "$mk" OUT=- clean
ok '... does not lead to cd -' test -e work/tables/module.tsv
ok 'CDPATH is ignored' env CDPATH="$T/cdpath" nsysx-report -q -o rc -x s/dump0 s/r0.sqlite
equal 'the page is in its folder' "$(cat cdpath/rc/index.html) $(sed -n 1p rc/index.html)" '1 <!DOCTYPE html>'
ok 'CDPATH and clean' env CDPATH="$T/cdpath" nsysx-report -o rc --clean
ok '... also by clean' test -e cdpath/rc/index.html -a ! -e rc
fails 'a title of two lines' 2 '--title: want one line' nsysx-report -o r8 --title "$(printf 'a\nb')" s/r0.sqlite
ok 'invalid dumps' build PROFILES='s/r0.sqlite s/r1.sqlite' DUMPS='- -' OUT=rd
ok '... are reported' grep -q 'clocks aligned, without HLO dumps' rd/index.html
cp -p s/r0.sqlite older && python3 - s/r0.sqlite <<'END'
import os, sqlite3, sys
when = os.stat(sys.argv[1])
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE StringIds SET value = 'loop_added_fusion' || substr(value, 16) WHERE value LIKE 'loop_add_fusion%'")
db.commit()
db.close()
os.utime(sys.argv[1], ns=(when.st_atime_ns, when.st_mtime_ns - 5000000000))
END
touch marker
ok 'a profile replaced by an older one' nsysx-report -q -o work --no-detail -x s/dump0 s/r0.sqlite
ok 'is extracted again' test work/streams/profile-1.nsysx -nt marker
mv older s/r0.sqlite

# A failing step leaves no page.
ok 'a report' nsysx-report -q -o rf -x s/dump0 s/r0.sqlite
cp s/r1.sqlite torn && head -c 70000 s/r1.sqlite >s/r1.sqlite.new && mv s/r1.sqlite.new s/r1.sqlite
fails '... with a truncated profile' 1 'r1.sqlite' nsysx-report -q -o rf -x s/dump0 s/r0.sqlite s/r1.sqlite
ok 'no page remains' test ! -e rf/index.html
mv torn s/r1.sqlite
ok 'other options' nsysx-report -q -o rf --no-detail -x s/dump0 s/r0.sqlite
ok 'the same in another folder' nsysx-report -q -o rg --no-detail -x s/dump0 s/r0.sqlite
contents rf >"$T/a"
contents rg >"$T/b"
same '... remove earlier files, also messages' "$T/b" "$T/a"
if [ "$plots" ]; then
	mkdir -p gp && printf 'set title "mine"\nset border 31\n' >gp/.gnuplot
	ok 'settings of gnuplot' env HOME="$T/gp" nsysx-report -q -o rh --no-detail -x s/dump0 s/r0.sqlite
	contents rh >"$T/b"
	same '... do not change pictures' "$T/a" "$T/b"
	cat >half <<'END'
#!/bin/sh
case $* in --version) echo gnuplot 6.0 patchlevel 0; exit ;; esac
for a; do case $a in data=*) echo '<svg>' >"$(printf '%s' "$a" | sed "s/.*picture='//; s/'.*//")" ;; esac; done
END
	chmod +x half
	fails 'a truncated picture' 2 'gnuplot left an unfinished picture' build PROFILES=s/r0.sqlite DUMPS=s/dump0 OUT=ri GNUPLOT=./half
fi

# Names of a megabyte: complete in tables, shortened in the page.
mkdir -p big && cp s/r0.sqlite big/r0.sqlite && python3 - big/r0.sqlite <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE StringIds SET value = 'k\u00e9<script>\"&%\\' || replace(hex(zeroblob(500000)), '0', char(233)) WHERE id = (SELECT shortName FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1 ORDER BY sum(end - start) DESC LIMIT 1)")
db.commit()
END
ok 'a kernel with a name of a megabyte' nsysx-report -q -o rb big/r0.sqlite
sound rb 'its page is sound'
ok '... is complete in the table' sh -c 'test "$(wc -c <rb/tables/kernel.tsv)" -gt 2000000'
ok '... and shortened in the page' sh -c 'test "$(wc -c <rb/index.html)" -lt 1000000 && iconv -f utf-8 -t utf-8 rb/index.html >/dev/null'

# ---- jobs of other shapes
"$SYNTH" -o one --processes=1 --no-comm >/dev/null
ok 'one device without communication' nsysx-report -q -o r1 -x one/dump0 one/r0.sqlite
sound r1 'its page is sound'
ok 'it has no section of communication' sh -c '! grep -q "id=\"communication\"" r1/index.html'
shows r1 'One device' devices 'and that there is one device'
ok 'what is unknown has its reason' grep -q 'Not known: ' r1/index.html
ok 'no dump' nsysx-report -q -o r2 s/r0.sqlite s/r1.sqlite
sound r2 'its page is sound'
shows r2 'No HLO dumps were given' memory 'it says why there is no heap'
shows r2 'No message size is known' communication 'and why no bandwidth'
"$SYNTH" -o t --torch >/dev/null
ok 'NVTX alone' nsysx-report -q -o r3 t/r0.sqlite t/r1.sqlite
sound r3 'its page is sound'
equal 'it has the sections for its records' "$(sed -n 's/^<section id="\([a-z]*\)">$/\1/p' r3/index.html | paste -sd ' ')" "$(echo summary step steps flame communication idle ranges kernels copies diags files | tr ' ' '\n' |
	while read -r x; do grep -q "id=\"$x\"" r3/index.html && echo "$x"; done | paste -sd ' ')"
for none in programs devices compilation memory; do ok "it has no section $none" sh -c "! grep -q 'id=\"$none\"' r3/index.html"; done
nsysx-extract -q --ranges --ops t/r0.sqlite t/r1.sqlite | nsysx-summary -q --by kernel --tsv -o want.tsv
run python3 "$checker" r3 kernel want.tsv
equal 'it has kernels' "$status $(cat "$T_private/out")" '0 '
shows r3 'src="flame/kernel.svg"' flame 'and a flame graph by range and kernel, where copies and NCCL are seen'
equal 'the ranges of all steps are one row' "$(cut -f 2 r3/tables/range.tsv | grep ProfilerStep)" 'ProfilerStep##'
shows r3 'span of GPU work' ranges 'the extent of a range is called that'
shows r3 'aten::linear ›' idle 'the longest gaps have their stacks'
equal 'communication is split by kind' "$(awk -F'\t' 'NR > 1 { n += $2; t += $3; e += $4; h += $5 } END { printf "%d %d %d %d\n", n, t, e, h }' r3/tables/collective.tsv)" \
	"$(sed -n '/id="communication"/,/<\/section>/s/.*note">\(.*\)hidden behind.*/\1/p' r3/index.html | grep -o 'value="[0-9]*"' | tr -dc '0-9\n' | paste -sd ' ')"
nsysx-extract -q -a t/r0.sqlite t/r1.sqlite | nsysx-overlap -q | nsysx-summary -q --by collective --tsv -o want.tsv
same '... equal to nsysx-summary --by collective' want.tsv r3/tables/collective.tsv
# Both clocks are true in this job, whose kernels of NCCL end within 20 us of each other.
equal 'clocks are compared by kernels of NCCL, and found to agree' "$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	{ print $c["component"], ($c["offset"] < 0 ? -$c["offset"] : $c["offset"]) < 20000 }' r3/tables/record-clock.tsv | sort -u | tr '\n' ,)" '0 1,'
"$SYNTH" -q -o n --nccl --schema=3.24.14 --offset=300000 >/dev/null
ok 'NCCL with payloads' nsysx-report -q -o rn n/r0.sqlite n/r1.sqlite
sound rn 'its page is sound'
equal 'clocks are aligned by NCCL' "$(awk -F'\t' 'NR > 1 && $6 > 0 { n++ } END { print n }' rn/tables/record-clock.tsv)" 2
nsysx-extract -q -a n/r0.sqlite n/r1.sqlite | nsysx-align -q | nsysx-view -q -t clock -o want.tsv
same '... equal to nsysx-align' want.tsv rn/tables/record-clock.tsv
equal '... and waits are known' "$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["wait_mean"] != "" { n++ } END { print (n > 0) }' rn/tables/bandwidth.tsv)" 1
shows rn 'id="clocks"' communication 'the page has them'
ok 'unless alignment is off' nsysx-report -q -o rn --no-align n/r0.sqlite n/r1.sqlite
ok '... then times are unchanged' sh -c '! grep -q "^[0-9]" rn/tables/record-clock.tsv'
ok 'without detail' nsysx-report -q -o r3 --no-detail t/r0.sqlite t/r1.sqlite
sound r3 'nothing links to what is gone'
shows r3 'DETAIL=no' kernels 'and it says why'
ok 'clocks left as they are' nsysx-report -q -o r4 --no-align -x s/dump0 s/r0.sqlite -x s/dump1 s/r1.sqlite
sound r4 'its page is sound'
shows r4 'ALIGN=no' devices 'devices are not compared, and it says why'
ok 'without gnuplot' build PROFILES='s/r0.sqlite s/r1.sqlite' OUT=r5 GNUPLOT=no-gnuplot
sound r5 'its page is sound'
shows r5 'gnuplot is not here' diags 'it says why there are no plots'
ok '... there are no plots' sh -c '! ls r5/plots/*.svg 2>/dev/null'

# No GPU work: ranges of the host alone, of PyTorch, and of XLA with a dump.
cpu() { python3 - "$1" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for (t,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND (name LIKE 'CUPTI%' OR name LIKE 'ENUM_CUDA%' OR name = 'TARGET_INFO_GPU')").fetchall():
    db.execute("DROP TABLE " + t)
db.commit()
END
}
cp t/r0.sqlite cpu.sqlite && cpu cpu.sqlite && cp s/r0.sqlite cpux.sqlite && cpu cpux.sqlite
ok 'ranges of the host alone' nsysx-report -q -o ra cpu.sqlite
equal 'the page says that there is no GPU work and how to record it, and nothing that is not so' "$(sed -n 's,^<p class="verdict">\(.*\)</p>$,\1,p' ra/index.html) $(grep -c 'Looked at: slow\|0 devices\|extract with --ops' ra/index.html)" \
	'No GPU work in the stream: record CUDA (nsys profile --trace=cuda,nvtx) and extract with -a; with --time, a time in which a GPU worked. 0'
ok 'of XLA, with a dump' nsysx-report -q -o rax -x s/dump0 cpux.sqlite
sound rax 'its page is sound'
shows rax 'jit_train_step' memory 'what the dump tells is there'
shows rax 'XlaCompile' compilation 'and compilation'

# Names.
mkdir -p 'odd' 'x/a' 'x/b'
odd="odd/r'0#%:\$&;(x)=~.sqlite"
cp s/r0.sqlite "$odd"
zstd -q -o x/a/r.sqlite.zst s/r0.sqlite && cp s/r1.sqlite x/b/r.sqlite
ok 'a profile of an odd name' nsysx-report -q -o r6 -x s/dump0 "$odd"
sound r6 'its page is sound'
ok 'two profiles of one name, one of them compressed; a dump for one' nsysx-report -q -o r7 x/a/r.sqlite.zst -x s/dump1 x/b/r.sqlite
equal '... are distinct' "$(awk 'NR > 1' r7/tables/record-device.tsv | wc -l)" 2
cp s/r0.sqlite 'x/a b.sqlite'
fails 'a space in a name is refused' 1 'nsysx-report: x/a b.sqlite: want a name without spaces' nsysx-report 'x/a b.sqlite'
fails 'a space in the name of the folder' 2 'OUT: want one folder, without spaces' build PROFILES=s/r0.sqlite OUT='a b'
fails 'characters with a meaning in make' 2 'OUT: want a name of letters' build PROFILES=s/r0.sqlite OUT='a:b'
fails 'no profile' 2 'PROFILES: want' build OUT=r8
fails 'a missing profile' 2 'none.sqlite: No such file' build PROFILES=none.sqlite OUT=r8
for j in 1 2; do
	run nsysx-report -j $j -o r8 -x nosuch s/r0.sqlite
	equal "a missing folder of dumps, $j at a time: one line" "$status $(cat "$T_private/err")" '1 nsysx-report: nosuch: No such folder of dumps'
done
fails '-x behind the exports' 2 '-x s/dump0: no export follows it' nsysx-report -o r8 s/r0.sqlite -x s/dump0
fails '-x before another' 2 '-x s/dump0: -x s/dump1 replaces it before any export: want -x DIR EXPORT, such as' nsysx-report -o r8 -x s/dump0 --dump=s/dump1 s/r0.sqlite
fails '-x before another, both behind the exports' 2 'replaces it' nsysx-report -o r8 s/r0.sqlite s/r1.sqlite -x s/dump0 -x s/dump1
fails 'different numbers of dumps and profiles' 2 'DUMPS: want none, one, or one for each of the 3' build PROFILES='a b c' DUMPS='a b' OUT=r8
fails 'no argument' 2 'which EXPORT?' nsysx-report
fails 'an unknown option' 2 'unknown option --frob' nsysx-report --frob s/r0.sqlite
nsysx-report -v -j 3 -o shared s/r0.sqlite >shown 2>&1
equal 'commands that run side by side share the processors' "$(grep -c 'NSYSX_THREADS=[1-9][0-9]* [^ ]*nsysx-extract' shown)" 1
NSYSX_THREADS=1 nsysx-report -v -o shared2 s/r0.sqlite >shown 2>&1
equal '... unless it is told how many threads there are' "$(grep -c 'NSYSX_THREADS=[1-9]' shown)" 0
same '... with the same results' shared/tables/findings.tsv shared2/tables/findings.tsv
fails 'an invalid number of jobs' 2 '--jobs: want a number from 1' nsysx-report -j x s/r0.sqlite

# ---- within another makefile, and installed
printf 'PROFILES = s/r0.sqlite\nOUT = in\nall: nsysx-report\n\techo done\ninclude %s\nclean:\n\techo mine\n' "$mk" >Makefile
run make -s
equal 'a makefile that includes it has its target' "$status $(tail -n 1 "$T_private/out")" '0 done'
run make -s clean
equal '... and keeps its clean' "$(cat "$T_private/out" "$T_private/err")" mine
run make -s -C "$root" B="$B" install DESTDIR="$T/inst" PREFIX=/usr
equal 'make install' "$status" 0
run env PATH="$T/inst/usr/bin:/usr/bin:/bin" nsysx-report -o r9 -x s/dump0 s/r0.sqlite
equal 'the installed tool finds its files' "$status $(cat "$T_private/out" "$T_private/err")" '0 r9/index.html'
ok '... and none of the source' sh -c "! grep -rF '$root/' inst/usr/bin/nsysx-report inst/usr/share"

# ---- more files, and messages during the run
ok 'a trace and a page in one file' nsysx-report -q --trace --single -o rt -x s/dump0 s/r0.sqlite
nsysx-perfetto -q -o want.pftrace rt/streams/collectives.nsysx
same 'the trace equals that of nsysx-perfetto' want.pftrace rt/job.pftrace
ok 'the page links to it' grep -q '<a href="job.pftrace">' rt/index.html
ok 'the one file has no other references' sh -c '! grep -Eo "(href|src)=\"[^\"]*\"" rt/single.html | grep -Ev "=\"(#|data:)"'
ok 'without --trace and --single' nsysx-report -q -o rt -x s/dump0 s/r0.sqlite
ok '... they are removed' test ! -e rt/job.pftrace -a ! -e rt/single.html
head -c 9000 s/r0.sqlite >torn.sqlite
run nsysx-report -o ru torn.sqlite
equal 'an error is a message of the tool, not of make' "$status $(grep -c '^make' "$T_private/err") $(grep -c '^nsysx-extract: torn.sqlite' "$T_private/err")" '1 0 1'
NSYSX_TELL=1 build PROFILES=s/r0.sqlite OUT=ru 2>said >/dev/null
ok 'commands can be printed while they run' grep -q '^nsysx-report: extracting r0.sqlite$' said

# Names of layers: a common beginning is shown once, and differences are visible.
mkdir -p layers/tables && cd layers && {
	printf 'name\ttotal\n'
	for l in 1 2 3; do printf 'jit(step)/transformer/layers/layer_%d/%s/attention/query\t%d\n' $l "$(printf 'x%.0s' $(seq 90))" $((4 - l)); done
} >tables/t.tsv
printf 'before\n\001name:operation:s,total:total:ns\t5\ttables/t.tsv\t\t\nbehind\n' | awk -f "$root/lib/report/page/html.awk" -f "$root/lib/report/page/table.awk" >page
cd ..
equal 'what is around a table stays' "$(sed -n '1p;$p' layers/page | paste -sd ,)" before,behind
ok 'the common beginning is above' grep -qF '<code>jit(step)/transformer/layers/</code>' layers/page
equal 'rows show the differences, at both ends' "$(sed -n 's/.*<td class="s[^>]*>\(…layer_[0-9]\).*\(query\)<.*/\1 \2/p' layers/page | paste -sd ,)" '…layer_1 query,…layer_2 query,…layer_3 query'
awk -F'\t' -v OFS='\t' 'NR > 1 { $1 = "nsysx-extract: a.2" } { print }' layers/tables/t.tsv >same.tsv
{ printf '\001name:from:s,total:total:ns\t5\ttables/t.tsv\t\t1\n'; cat same.tsv; printf '\001\nbehind\n'; } | awk -f "$root/lib/report/page/html.awk" -f "$root/lib/report/page/table.awk" >page
equal 'rows can come with the page' "$(tail -n 1 page)" behind
equal 'equal names are complete' "$(grep -c begins page) $(grep -c '<td class="s">nsysx-extract: a.2<' page)" '0 3'

# ---- two reports in one folder
if command -v flock >/dev/null 2>&1; then
	rm -rf both
	nsysx-report -q -o both s/r0.sqlite >"$T/null" 2>&1 &
	first=$!
	# Until the first one has its folder.
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -d both/streams ] && break; sleep 0.1; done
	run nsysx-report -o both s/r1.sqlite
	wait $first
	equal 'the second waits, and says so' "$status $(grep -c 'both: another report is being made there: waiting' "$T_private/err")" '0 1'
	nsysx-report -q -o alone s/r1.sqlite >"$T/null" 2>&1
	same '... its tables are of its own profile' both/tables/device.tsv alone/tables/device.tsv
	equal '... and no other' "$(cut -f 2 both/tables/record-profile.tsv | tr '\n' ' ')" 'name r1 '
else
	skip 'two reports in one folder' 'no flock'
fi
# An export that changed under the same time.
cp -p s/r0.sqlite changed.sqlite
nsysx-report -q -o again changed.sqlite >"$T/null" 2>&1
cp again/tables/record-profile.tsv first.tsv
cp again/streams/extracted.nsysx first.nsysx
touch -r changed.sqlite stamp
cat s/r1.sqlite >changed.sqlite
touch -r stamp changed.sqlite
nsysx-report -q -o again changed.sqlite >"$T/null" 2>&1
ok 'an export that changed under the same time stamp is read again' sh -c '! cmp -s "$1" "$2"' sh first.nsysx again/streams/extracted.nsysx

# What hosts did, where it was recorded.
"$SYNTH" -q -o late --late-host 120
nsysx-report -q -o rl late/r0.sqlite
sound rl 'the page is sound with what the host did'
nsysx-extract -q -a late/r0.sqlite | nsysx-idle -q --tsv --by host --lines -o want.tsv
same 'what the host did equals nsysx-idle --by host --lines' want.tsv rl/tables/host.tsv
run python3 "$checker" rl host want.tsv
equal '... and the page has it' "$status $(cat "$T_private/out" "$T_private/err")" '0 '
shows rl 'src="flame/host.svg"' idle '... and a flame graph of it'
equal '... of the same time' "$(awk '{ n += $NF } END { printf "%.0f", n }' rl/flame/host.folded)" "$(awk -F'\t' 'NR > 1 { n += $6 } END { printf "%.0f", n }' want.tsv)"
equal '... which calls nothing computation of a GPU' "$(grep -c '>computation ' rl/flame/host.svg)" 0
nsysx-report -q -o rl --no-detail late/r0.sqlite
equal '... and all of it goes with --no-detail' "$(ls rl/tables/host.tsv rl/flame/host.* 2>/dev/null)$(grep -c 'id="host"' rl/index.html)" 0
equal 'a report without records of the host has no such table' "$(grep -c 'id="host"' rn/index.html)" 0

# Lists of names.
printf 's/r1.sqlite\n' >list
nsysx-report -q -o by-names s/r0.sqlite s/r1.sqlite >/dev/null
nsysx-report -q -o by-list s/r0.sqlite --files-from list >/dev/null
same 'a list of exports is as its names' by-names/streams/collectives.nsysx by-list/streams/collectives.nsysx
seq 3000 | sed 's,.*,/a/folder/with/a/name/of/some/length/as/jobs/have/them/rank-&/report.sqlite,' >list
ok 'thousands of names fit' nsysx-report --clean -o by-list -x s/dump0 --files-from list
equal 'and clean removes what there was' "$(ls -d by-list 2>/dev/null)" ''
# A stream instead of exports: the same answers, without extraction.
nsysx-prepare -q -o job.nsysx -x s/dump0 s/r0.sqlite -x s/dump1 s/r1.sqlite
run nsysx-report -o of-stream -x s/dump0 job.nsysx
equal 'a page of a stream' "$status $(cat "$T_private/out" "$T_private/err")" '0 of-stream/index.html'
nsysx-report -q -o of-exports -x s/dump0 s/r0.sqlite -x s/dump1 s/r1.sqlite >/dev/null
for t in where findings step-each thunk kernel idle gaps lanes waits bandwidth heap-peak; do
	same "... with the same table $t" of-exports/tables/$t.tsv of-stream/tables/$t.tsv
done
nsysx-view job.nsysx >"$T/text.nsysx"
nsysx-report -q -o of-text text.nsysx
same '... of one in text as well' of-stream/tables/where.tsv of-text/tables/where.tsv
cp s/r0.sqlite s/r0.nsysx
fails 'a file of that name that is no stream' 1 's/r0.nsysx: an SQLite file: nsysx-prepare makes a stream of such an export' nsysx-report -o of-none s/r0.nsysx
# A server's steps are of several classes, of which those of both take the most time here.
"$SYNTH" -q -o v --torch=vllm --steps 40
nsysx-report -q -o v.report v/r0.sqlite v/r1.sqlite
top='execute_context_*: mixed'
ok 'of several classes the slowest step names its own' grep -qF "slowest step of $top, number" v.report/index.html
# Fewer than a hundred periods count, so p99 of the first screen is the slowest, and p50 the median, of the pictures.
equal '... the median and the slowest are of the periods of the first screen' \
	"$(awk -F'\t' 'NR > 1 { p[$1] = $11 } END { print p["median"], p["slowest"] }' v.report/tables/lanes.tsv)" \
	"$(awk -F'\t' '$1 == "step" && $10 == "execute_context_*: mixed" { print $7, $8 }' v.report/tables/where.tsv)"
equal '... as are those of the plots' "$(sort -n v.report/plots/percentiles.dat | awk '{ p[NR] = $1 } END { print NR, p[NR] }')" "$(awk -F'\t' '$1 == "step" { print $4, $8 }' v.report/tables/where.tsv)"
equal '... in the words of nsysx-diagnose' "$(sed -n 's|^<div><dt>a step from start to start, mean of .* devices: \(class .*\)</dt>.*|\1|p' v.report/index.html)" "$(sed -n '/^step: /s/\\//g; s/^step: .*; \(class \)/\1/p' v.report/summary.md)"
# Its phases: steps as the server plans them; of training the passes, which the generator knows by operation.
equal 'a server has a table of phases' "$(awk -F'\t' 'NR > 1 { n += $4; s = s " " $1 } END { print n s }' v.report/tables/step-phase.tsv)" '80 mixed decode prefill'
shows v.report '<h3 id="phases">By phase</h3>' steps '... on the page'
shows v.report '<td class="s">decode</td>' steps '... with a row for each'
"$SYNTH" -q -o train --torch --steps 6
nsysx-report -q -o train.report train/r0.sqlite train/r1.sqlite
shows train.report '<td class="s">backward</td>' steps 'training has one, too'
equal '... which is that of nsysx-summary' "$(cat train.report/tables/phase.tsv)" "$(nsysx-summary -q --tsv --by phase train.report/streams/collectives.nsysx)"
done_testing
