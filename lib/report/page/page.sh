#!/bin/sh
# page.sh OUT -- the page of the report in OUT, on standard output, of its tables, pictures and logs. TITLE, ALIGN, WARMUP, DETAIL and DUMPS
# are as in report.mk.
set -u
LC_ALL=C
export LC_ALL
unset CDPATH
here=$(cd "${0%/*}" && pwd) || exit 1
cd "$1" || exit 1

escaped() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g'; }
# Whether table $1 has a row.
rows() { [ -s "tables/$1.tsv" ] && [ "$(head -n 2 "tables/$1.tsv" | wc -l)" -gt 1 ]; }
why() { printf '<p class="why">%s</p>\n' "$1"; }
# Table $1: its columns $2, rows shown $3, and, where it has none, why $4.
table() {
	if rows "$1"; then
		awk -v spec="$2" -v limit="$3" -v link="tables/$1.tsv" -f "$here/html.awk" -f "$here/table.awk" "tables/$1.tsv"
	elif [ "$4" ]; then
		why "$4"
	fi
}
# Plot $1 under the caption $2, or why there is none: $3, if nothing above has said so.
plot() {
	if [ -s "plots/$1.svg" ]; then
		printf '<figure><figcaption>%s</figcaption><div class="scroll" tabindex="0"><img src="plots/%s.svg" alt="%s" width="600" height="380"></div></figure>\n' "$2" "$1" "$2"
	elif [ -s "plots/$1.dat" ] && ! [ -s .state/gnuplot ]; then
		printf '<p class="note">%s: not drawn, gnuplot is not here. Its data: <a href="plots/%s.dat">plots/%s.dat</a></p>\n' "$2" "$1" "$1"
	elif [ "$3" ]; then
		why "$2: $3"
	fi
}
ranges() {
	if [ "${DETAIL:-}" = no ]; then
		why "By range: $no_detail"
	else
		echo '<h3>By NVTX range</h3>'
		table range 'name:range:s,domain:domain:s,count:count:n,total:GPU time:ns,mean:mean:ns,ops:GPU operations:n,host_total:host time:ns' 12 'No NVTX range has GPU work.'
	fi
}
section() { printf '</section>\n<section id="%s">\n<h2>%s</h2>\n' "$1" "$2"; }
# What the logs of $1... say, a line once.
said() { cat "$@" 2>/dev/null | sed 's/; nsysx-view -t diag shows .*//' | sort -u; }

devices=$(awk 'NR > 1' tables/record-device.tsv | wc -l)
names=$(awk -F'\t' 'NR > 1 { if (NR <= 5) s = s (s == "" ? "" : ", ") $2; n++ } END { print s (n > 4 ? ", ... (" n " profiles)" : "") }' tables/record-profile.tsv)
TITLE=${TITLE:-GPU profile of ${names:-nothing}}
dumps=${DUMPS:-}
no_xla='The profile holds no work of XLA programs: XLA writes NVTX ranges for what it launches, and there are none with GPU work (another framework, or a trace without nvtx).'
no_comm='The programs executed no communication.'
one_device='One device: there is none to compare it with.'
no_dump='No HLO dumps were given (DUMPS).'
no_detail='NVTX ranges and GPU operations were left out of the streams (DETAIL=no).'
unaligned='The clocks of several profiles were left as they are (ALIGN=no), so devices cannot be compared.'
no_program='No work of XLA programs is in the profile.'
xla= comm= compared=1
rows module && xla=1
rows collective && comm=1
no_work=${xla:+$no_comm}
no_work=${no_work:-$no_program}
if [ -z "$xla" ]; then
	alone=$no_program
elif [ "$devices" -lt 2 ]; then
	alone=$one_device
elif ! [ -s tables/stragglers.tsv ]; then
	alone=$unaligned compared=
else
	alone=$no_comm
fi

title=$(printf '%s\n' "$TITLE" | escaped)
cat <<END
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
</head>
<body>
<header>
<h1>$title</h1>
END
{
	printf '%s' "$names: "
	[ "${WARMUP:-}" = no ] && printf 'all executions' || printf 'the steady state, without first executions'
	[ "${ALIGN:-}" = no ] && printf ', clocks left as they are' || printf ', clocks aligned'
	[ "$dumps" ] && printf ', with HLO dumps' || printf ', without HLO dumps'
	printf '.\n'
} | escaped | sed 's,.*,<p class="lead">&</p>,'
cat <<END
</header>
<nav aria-label="Sections"><ul>
<li><a href="#summary">Summary</a></li><li><a href="#next">Next</a></li><li><a href="#time">Time</a></li><li><a href="#flame">Flame graph</a></li><li><a href="#communication">Communication</a></li><li><a href="#devices">Devices</a></li><li><a href="#variability">Variability</a></li><li><a href="#kernels">Kernels</a></li><li><a href="#compilation">Compilation</a></li><li><a href="#memory">Memory</a></li><li><a href="#diags">Warnings</a></li><li><a href="#files">Files</a></li>
</ul></nav>
<main>
<section id="summary">
<h2>Summary</h2>
END
tables=
for t in total record-device record-profile module bandwidth kernel range; do [ -s "tables/$t.tsv" ] && tables="$tables tables/$t.tsv"; done
# shellcheck disable=SC2086  # a list of words
awk -f "$here/html.awk" -f "$here/first.awk" $tables
[ "$xla" ] || why "$no_xla What follows rests on kernels and NVTX ranges."

section next 'What to look at next'
tables=
for t in total collective device waits thunk variable compile-process residual kernel record-diag; do [ -s "tables/$t.tsv" ] && tables="$tables tables/$t.tsv"; done
# shellcheck disable=SC2086
awk -f "$here/html.awk" -f "$here/../root.awk" -f "$here/rules.awk" $tables flame/source.folded

section time 'Where GPU time goes'
if [ "$xla" ]; then
	echo '<h3>By program</h3>'
	table module 'name:program:s,id:id:n,execs:executions:n,total:total:ns,percent:share:%,mean:mean:ns,std:deviation:ns,wait_mean:mean wait:ns' 12 ''
	echo '<h3>By kind of operation</h3>'
	table opcode 'opcode:opcode:s,total:total:ns,percent:share:%' 12 ''
	echo '<h3 id="instructions">By instruction</h3>'
	table thunk 'name:instruction:s,opcode:opcode:s,count:count:n,total:total:ns,percent:share:%,mean:mean:ns,relstd:varies by:share,op_name:operation:s' 15 ''
else
	echo '<h3 id="instructions">Programs, kinds of operations, instructions</h3>'
	why "$no_program"
fi
[ "$xla" ] || ranges

section flame 'Flame graph'
# The first with stacks is shown, the others linked.
shown=
links=
for f in source nvtx op-name module kernel; do
	[ -s "flame/$f.svg" ] && [ -s "flame/$f.folded" ] || continue
	case $f in
	source) text='by source line' ;;
	op-name) text='by operation' ;;
	module) text='by program and instruction' ;;
	nvtx) text='by NVTX range' ;;
	kernel) text='by NVTX range and kernel' ;;
	esac
	links="$links${links:+, }<a href=\"flame/$f.svg\">$text</a> (<a href=\"flame/$f.folded\">stacks</a>)"
	[ "$shown" ] || shown=$f shown_text=$text
done
if [ "$shown" ]; then
	height=$(sed -n '/^<svg /{s/.* height="\([0-9]*\)".*/\1/p;q;}' "flame/$shown.svg")
	printf '<p>GPU time %s. Click a frame to zoom; the search counts what matches.</p>\n' "$shown_text"
	printf '<iframe class="flame" src="flame/%s.svg" title="Flame graph %s" height="%d" loading="lazy"></iframe>\n' "$shown" "$shown_text" "$((${height:-600} + 120))"
	printf '<p class="more">Each in a window of its own: %s</p>\n' "$links"
	[ -s flame/source.folded ] || why "By source line, operation and program: none. $no_program"
else
	why 'There is no GPU work to draw.'
fi

section communication 'Communication'
table collective 'collective:collective:s,count:count:n,total:total:ns,exposed:exposed:ns,hidden:hidden:ns,hidden_share:share hidden:share' 12 "$no_work"
if [ "$comm" ]; then
	echo '<h3>Bandwidth and waiting</h3>'
	table bandwidth 'collective:collective:s,bytes:size:B,group:devices:n,instances:instances:n,busbw_mean:bus bandwidth:bw,algbw_mean:algorithm bandwidth:bw,wait_mean:mean wait:ns,wait_max:longest wait:ns' 20 'No collective could be put together.'
	rows bandwidth && { awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["bytes"] != "" { found = 1 } END { exit found }' tables/bandwidth.tsv &&
		why 'No message size is known, so there are no bandwidths: sizes come from HLO dumps (DUMPS).'; }
	echo '<div class="plots">'
	plot bandwidth 'Bus bandwidth by message size' ''
	plot waits 'Waiting for the last device, by collective' ''
	echo '</div>'
fi

section devices 'Devices'
table device 'device:device:s,profile:profile:s,span:span:ns,compute_percent:computing:%,exposed_percent:exposed communication:%,idle_percent:idle:%' 16 "$no_program"
echo '<h3>Who is late</h3>'
if [ "$devices" -ge 2 ] || [ -z "$xla" ]; then
	table stragglers 'program:program:s,device:device:n,executions:executions:n,bias_mean:late on average:ns,bias_max:furthest from the mean:ns,rank:rank:n' 12 "$alone"
	[ "$compared" ] && [ "$comm" ] && echo '<h3>Who waits for whom</h3>'
	[ "$compared" ] && table waits 'collective:collective:s,device:device:n,count:count:n,wait:waits:ns,wait_max:longest:ns,last:times last:n,caused:others waited for it:ns,transfer_mean:mean transfer:ns' 12 ''
else
	why "$one_device"
fi
echo '<div class="plots">'
plot lockstep 'Lockstep of the devices in the program with most time' ''
plot skew 'Clock skew by device' ''
echo '</div>'
echo '<h3 id="clocks">Clocks</h3>'
table record-clock 'device:device:s,offset:offset taken away:ns,rate:rate:x,collectives:collectives compared:n,component:component:n' 16 "$(
	if [ "${ALIGN:-}" = no ]; then echo "$unaligned"; elif [ -z "$xla" ]; then echo "$no_program"; else echo "No clocks were compared: ${alone}"; fi)"

section variability 'Variability'
table variable 'name:instruction:s,program:program:s,count:count:n,mean:mean:ns,std:deviation:ns,relstd:varies by:share,op_name:operation:s' 10 "$([ "$xla" ] && echo 'No computation varies by more than a tenth of its mean.' || echo "$no_program")"
echo '<div class="plots">'
plot variability 'Mean time and variability of instructions; the numbers are rows of the table above' ''
echo '</div>'

section kernels 'Kernels and ranges'
if [ "${DETAIL:-}" = no ]; then
	why "$no_detail"
else
	awk -F'\t' -f "$here/html.awk" -f "$here/kernels.awk" tables/kernel.tsv
	table kernel 'name:kernel or copy:s,type:type:s,count:count:n,total:total:ns,percent:share:%,mean:mean:ns,min:least:ns,max:greatest:ns' 12 'The profile holds no GPU operations.'
	[ "$xla" ] && ranges
fi

section compilation 'Compilation'
compiles=$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { n += $c["compilations"] } END { print n + 0 }' tables/compile-process.tsv)
if [ "$compiles" -gt 0 ]; then
	table compile-process 'name:process of:s,pid:pid:n,compilations:compilations:n,compile:compiling:ns,wall:in the capture:ns,share:share:share' 8 ''
	echo '<h3>By phase</h3>'
	table compile-phase 'name:phase:s,self:self:ns,child:child:ns,percent:share:%' 10 ''
	echo '<h3>By program</h3>'
	table compile-module 'name:program:s,compilations:compilations:n,total:total:ns,max:longest:ns,percent:share:%' 8 ''
	printf '<p class="more">Also <a href="tables/compile-pass.tsv">by pass</a>, <a href="tables/compile-range.tsv">by range</a></p>\n'
elif [ "$xla" ]; then
	why 'The capture holds no compilation.'
else
	why "$no_program"
fi

section memory 'Memory'
if [ -z "$dumps" ] || [ "$dumps" = - ]; then
	why "$no_dump They hold XLA's plan of its heap; a profile does not."
else
	[ "${dumps#* }" = "$dumps" ] || printf '<p class="note">Of the first dump; processes of one job have the same programs as a rule.</p>\n'
	table heap-peak 'name:program:s,id:id:n,trace:heap:n,peak:peak:B' 10 'The dump holds no heap of an optimized program.'
	plot heap 'Heap over program order, the largest' ''
	if rows heap-at-peak; then
		echo '<h3>Alive at the peak</h3>'
		{ head -n 1 tables/heap-at-peak.tsv
		  id=$(awk -F'\t' 'NR == 2 { print $1 "\t" $2 "\t" $3; exit }' tables/heap-peak.tsv)
		  awk -v id="$id" -F'\t' 'NR > 1 && $1 "\t" $2 "\t" $3 == id' tables/heap-at-peak.tsv; } |
			awk -v spec='instruction:instruction:s,size:size:B,share:share:share,op_name:operation:s,source:source:s' -v limit=10 -v link=tables/heap-at-peak.tsv -f "$here/html.awk" -f "$here/table.awk"
	fi
fi

section diags 'Warnings and notes'
table record-diag 'severity:severity:s,source:from:s,text:what:s,count:count:n' 1000 'The streams hold none.'
notes=$(said logs/tables/*.log logs/flame/*.log)
if [ "$notes" ]; then
	echo '<h3>Said while tables were made</h3><ul class="quiet">'
	printf '%s\n' "$notes" | escaped | sed 's,.*,<li>&</li>,'
	echo '</ul>'
fi
[ -s .state/gnuplot ] || why 'gnuplot is not here, so there are no plots; their data are in plots/.'

section files 'Files'
echo '<p>Streams are binary, compressed; <code>nsysx-view</code> reads them. Tables are tab-separated, times in ns.</p><ul class="files">'
for f in streams/*.nsysx tables/*.tsv flame/*.svg flame/*.folded plots/*.svg plots/*.dat; do
	case $f in *'*'*) continue ;; streams/profile-[0-9]*) continue ;; esac
	printf '<li><a href="%s">%s</a></li>\n' "$f" "$f"
done
cat <<END
</ul>
</section>
</main>
<footer>Made by nsysx.</footer>
</body>
</html>
END
