#!/bin/sh
# page.sh OUT -- print the page of the report in OUT, made from its tables, pictures and logs. TITLE, ALIGN, WARMUP,
# DETAIL and DUMPS are as in report.mk. There are no sections for what the profile cannot answer.
set -u
LC_ALL=C
export LC_ALL
unset CDPATH
here=$(cd "${0%/*}" && pwd) || exit 1
cd "$1" || exit 1

escaped() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g'; }
# Whether table $1 has a row.
rows() { [ -s "tables/$1.tsv" ] && { read -r line && read -r line; } <"tables/$1.tsv"; }
# Whether the stream can answer $1.
can() { while read -r line; do [ "$line" = "$1" ] && return; done <.state/asks; return 1; }
# Set $text to $1 with spaces for underscores.
spaced() { text=$1; while case $text in *_*) ;; *) false ;; esac; do text="${text%%_*} ${text#*_}"; done; }
# If a part of the page fails, the whole page fails.
rm -f .state/page-failed
awk() { command awk "$@" || : >.state/page-failed; }
why() { printf '<p class="why">%s</p>\n' "$1"; }
# What sections print goes through one table.awk, which makes a table where a line begins with this byte.
mark=$(printf '\001')
# Table $1 with columns $2 and at most $3 shown rows; if it has no rows, the reason $4.
table() {
	if rows "$1"; then
		case $1 in device | step-each | idle | record-clock | waits) first=1 ;; *) first= ;; esac
		# Who compares steps wants all of them: their rows are numbers, and short.
		case $1 in step-each) most=1000 ;; *) most= ;; esac
		printf '%s\t%s\t%s\t%s\t\t%s\n' "$mark$2" "$3" "tables/$1.tsv" "$first" "$most"
	elif [ "$4" ]; then
		why "$4"
	fi
}
# Plot $1 under the caption $2.
plot() {
	if [ -s "plots/$1.svg" ]; then
		printf '<figure><figcaption>%s</figcaption><div class="scroll" tabindex="0"><img src="plots/%s.svg" alt="%s" width="600" height="380"></div></figure>\n' "$2" "$1" "$2"
	elif [ -s "plots/$1.dat" ] && ! [ -s .state/gnuplot ]; then
		printf '<p class="note">%s: not drawn: gnuplot is not installed. Its data: <a href="plots/%s.dat">plots/%s.dat</a></p>\n' "$2" "$1" "$1"
	fi
}
plots() { echo '<div class="plots">'; while [ $# -gt 1 ]; do plot "$1" "$2"; shift 2; done; echo '</div>'; }
# The lines of the logs $1..., each once.
said() { cat "$@" 2>/dev/null | sed 's/; nsysx-view -t diag shows .*//' | sort -u; }

# A line each, by one process: relevant devices; what is said of those of a finding; the number of devices; names of
# the profiles.
facts=$(awk -F'\t' '
	FNR == 1 { split("", c); for (i = 1; i <= NF; i++) c[$i] = i; next }
	FILENAME ~ /relevant/ {
		if (!had[$1]++) { relevant = relevant s $1; s = "," }
		if ($2 == "finding") { n[$4]++; if ($4 + 0 > of) of = $4 + 0 }
		next
	}
	FILENAME ~ /device/ { devices++; next }
	{ if (FNR <= 5) names = names (names == "" ? "" : ", ") $c["name"]; profiles++ }
	END {
		print relevant
		if (n[of] < of) printf "%d of the %d devices of a finding\n", n[of], of; else print (of > 1 ? "the devices of a finding" : "the device of a finding")
		print devices + 0
		print names (profiles > 4 ? ", ... (" profiles " profiles)" : "")
	}' tables/relevant.tsv tables/record-device.tsv tables/record-profile.tsv)
{ IFS= read -r relevant && IFS= read -r late && IFS= read -r devices && IFS= read -r names; } <<END || exit 1
$facts
END
TITLE=${TITLE:-GPU profile of ${names:-nothing}}
dumps=${DUMPS:-}
no_comm='The programs executed no communication.'
one_device='One device: there is none to compare it with.'
no_dump='No HLO dumps were given (DUMPS).'
no_detail='NVTX ranges, GPU operations and CUDA calls were left out of the streams (DETAIL=no).'
unaligned='The clocks of several profiles were left as they are (ALIGN=no), so devices cannot be compared.'
xla= comm= compared=1 detail=1
can xla && xla=1
can comm && comm=1
[ "${DETAIL:-}" = no ] && detail=
if [ "$devices" -lt 2 ]; then
	alone=$one_device
elif [ "$xla" ] && ! [ -s tables/stragglers.tsv ]; then
	alone=$unaligned compared=
else
	alone=$no_comm
fi

# ---- the contents of sections

summary() {
	# The list includes parts of sections that exist.
	awk -v sections="$sections$([ "$xla" ] && echo ' instructions')$([ "$compared" ] && rows waits && echo ' waits')$(rows roofline && echo ' roofline')" -f "$here/html.awk" -f "$here/head.awk" tables/where.tsv tables/findings.tsv tables/record-device.tsv tables/record-profile.tsv summary.md
	[ "$xla" ] && rows total && total
	[ "$xla" ] || [ "$detail" ] || why "$no_detail"
}
# The time of all devices in all executions, in addition to that of a step.
total() {
	echo '<details><summary>All executions of all devices</summary>'
	echo '<p class="note">Sums over all devices, and over all executions of programs, whether or not they are complete steps.</p>'
	table total 'quantity:quantity:s,total:total:ns,share:share:share' 20 ''
	echo '</details>'
}
step() {
	if rows lanes; then
		# Of several classes of steps the pictures are of the one of the summary, as lanes.tsv is, and say so.
		class=$(awk -F'\t' 'FNR == 1 { file++; split("", col); for (i = 1; i <= NF; i++) col[$i] = i; next }
			file == 1 { if ($col["class"] != "") top = $col["class"]; next }
			$col["period"] > 0 && !had[$col["class"]]++ { n++ }
			END { if (n > 1) print top }' .state/steps.tsv tables/step-each.tsv) \
			awk -v relevant="$relevant" -v late="$late" -f "$here/html.awk" -f "$here/lanes.awk" tables/lanes.tsv
	elif [ "$detail" ]; then
		why 'No operation has a length: there is nothing to draw.'
	else
		why "$no_detail"
	fi
}
steps() {
	awk -f "$here/html.awk" -f "$here/heat.awk" tables/relevant.tsv .state/steps.tsv
	plots steps 'Steps in order, by their length' percentiles 'How many steps take how long'
	table step-each 'class:class:s,device:device:n,step:step:n,period:period:ns,compute:compute:ns,exposed:exposed:ns,copy:copies:ns,idle:idle:ns,between:between:ns,ops:operations:n,kept:counts:n' 8 ''
	phases
	[ "$xla" ] || return
	echo '<h3>Instructions that vary</h3>'
	table variable 'name:instruction:s,program:program:s,count:count:n,mean:mean:ns,std:deviation:ns,relstd:varies by:share,op_name:operation:s' 10 'No computation varies by more than a tenth of its mean.'
	plots variability "Mean time and variability of instructions$(rows variable && echo '; the numbers are rows of the table above')"
}
# What steps of a server do, or the passes of training, if a tenth of the time is of one that is known.
phases() {
	if rows step-phase; then
		echo '<h3 id="phases">By phase</h3>'
		echo '<p class="note">Means of a step on a device. The summary is of the steps of one class.</p>'
		table step-phase 'phase:phase:s,count:steps:n,share:share:share,period_mean:mean period:ns,period_p50:p50:ns,period_p99:p99:ns,requests_mean:requests:x,tokens_mean:tokens:x,tokens_rate:tokens/s:whole,compute:compute:ns,exposed:exposed:ns,idle:idle:ns' 8 ''
	elif rows phase && [ "$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { all += $c["total"] } $c["phase"] !~ /^(other|unknown)$/ { known += $c["total"] } END { print (10 * known >= all) }' tables/phase.tsv)" = 1 ]; then
		echo '<h3 id="phases">By phase</h3>'
		echo '<p class="note">Sums over the operations of all devices.</p>'
		table phase 'phase:phase:s,count:operations:n,total:total:ns,share:share:share,compute:computing:ns,comm:communication:ns,exposed:exposed:ns,copy:copies:ns' 8 ''
	fi
}
programs() {
	echo '<h3>By program</h3>'
	table module 'name:program:s,id:id:n,execs:executions:n,total:total:ns,share:share:share,mean:mean:ns,std:deviation:ns,wait_mean:mean wait:ns' 12 ''
	echo '<h3>By kind of operation</h3>'
	table opcode 'opcode:opcode:s,total:total:ns,share:share:share' 12 ''
	echo '<h3 id="instructions">By instruction</h3>'
	table thunk 'name:instruction:s,opcode:opcode:s,count:count:n,total:total:ns,share:share:share,mean:mean:ns,relstd:varies by:share,op_name:operation:s' 15 ''
}
ranges() {
	table range 'name:range:s,domain:domain:s,count:count:n,total:span of GPU work:ns,mean:mean span:ns,ops:GPU operations:n,host_total:host time:ns' 12 'No NVTX range has GPU work.'
}
kernels() {
	if [ "$detail" ]; then
		awk -F'\t' -f "$here/html.awk" -f "$here/kernels.awk" tables/kernel.tsv
		table kernel 'name:kernel or copy:s,type:type:s,count:count:n,total:total:ns,share:share:share,mean:mean:ns,min:least:ns,max:greatest:ns' 12 'The profile holds no GPU operations.'
		rows roofline && echo '<h3 id="roofline">How far from what the hardware can do</h3>'
		plots roofline 'Instructions below the roofs of memory and of math'
		table roofline 'name:instruction:s,opcode:opcode:s,math:math:s,bound:bound by:s,count:count:n,total:total:ns,headroom:headroom:ns,tflops:TFLOP/s:x,gbps:GB/s:x' 12 ''
	else
		why "$no_detail"
	fi
}
flame() {
	# The first graph that has stacks is shown, the others are linked.
	shown=
	links=
	for f in source kernel nvtx op-name module; do
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
		printf '<iframe class="flame" src="flame/%s.svg" title="Flame graph %s" style="--picture:%dpx" loading="lazy"></iframe>\n' "$shown" "$shown_text" "${height:-600}"
		printf '<p class="more">Each in a window of its own: %s</p>\n' "$links"
	else
		why 'There is no GPU work to draw.'
	fi
}
communication() {
	! rows collective || awk -f "$here/html.awk" -f "$here/split.awk" tables/where.tsv tables/device.tsv tables/collective.tsv
	table collective 'collective:collective:s,count:count:n,total:total:ns,exposed:exposed:ns,hidden:hidden:ns,hidden_share:share hidden:share' 12 "${xla:+$no_comm}"
	[ -z "$xla" ] || rows collective || return
	[ "$xla" ] && echo '<h3>Bandwidth and waiting</h3>'
	table bandwidth 'collective:collective:s,bytes:size:B,group:devices:n,instances:instances:n,busbw_mean:bus bandwidth:bw,algbw_mean:algorithm bandwidth:bw,wait_mean:mean wait:ns,wait_max:longest wait:ns' 20 'No collective could be put together.'
	rows bandwidth && { command awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["bytes"] != "" { found = 1 } END { exit found }' tables/bandwidth.tsv &&
		why "No message size is known, so there are no bandwidths: $([ "$xla" ] && echo 'sizes come from HLO dumps (DUMPS).' || echo 'sizes come with the NVTX payloads of NCCL, which nsys exports with --include-blobs=true, and with what PyTorch records of process groups.')"; }
	[ "$xla" ] || groups
	[ "$xla" ] || ! rows record-clock || clocks
	plots bandwidth 'Bus bandwidth by message size' waits 'Waiting for the last device, by collective'
}
several() { [ "$(awk 'NR > 2 { print 1; exit }' "tables/$1.tsv" 2>/dev/null)" ]; }
# Devices by rack and by machine, where there are several.
groups() {
	if several rack; then
		echo '<h3 id="racks">By rack</h3>'
		echo "<p class=\"note\">$(if rows waits-rack; then echo 'The rack for which others wait most first, with the sum of that over all collectives. Other times'; else echo 'The rack whose devices wait least for others first: they communicate least. Times'; fi) are means over its devices.</p>"
		printf '%s\t12\ttables/rack.tsv\t\t1\n' "${mark}rack:rack:s,members:devices:n,devices:their numbers:s,compute:computing:ns,exposed:exposed communication:ns,idle:idle:ns$(rows waits-rack && printf %s ',caused:others waited for it:ns')"
		awk -F'\t' -v OFS='\t' 'FNR == 1 { split("", c); for (i = 1; i <= NF; i++) c[$i] = i; if (FILENAME ~ /\/rack/) print "rack", "members", "devices", "compute", "exposed", "idle", "caused"; next }
			FILENAME !~ /\/rack/ { caused[$c["rack"]] += $c["caused"]; next }
			{ m = $c["members"]; printf "%.0f\t%.0f\t%s\t%s\t%s\t%.0f\t%.0f\t%.0f\t%.0f\n", caused[$c["rack"]], $c["exposed"] / m, $c["rack"], m, $c["devices"], $c["compute"] / m, $c["exposed"] / m, $c["idle"] / m, caused[$c["rack"]] | "sort -k 1,1nr -k 2,2n -s | cut -f 3-" }' tables/waits-rack.tsv tables/rack.tsv
		echo "$mark"
	fi
	if several node; then
		echo '<h3 id="nodes">By machine</h3>'
		echo '<p class="note">The machine whose devices wait least for others first. Times are sums over its devices, and of computing the mean over them, and the longest with its device.</p>'
		printf '%s\t12\ttables/node.tsv\t\t1\n' "${mark}node:machine:s,members:devices:n,compute:computing:ns,exposed:exposed communication:ns,idle:idle:ns,compute_mean:computing on each:ns,compute_max:longest:ns,worst:by device:n"
		awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; print; next } { printf "%.0f\t%s\n", $c["exposed"] / $c["members"], $0 | "sort -k 1,1n -s | cut -f 2-" }' tables/node.tsv
		echo "$mark"
	fi
}
devices() {
	echo '<p class="note">Shares are of the window of each device: from the start of its first operation to the end of its last, without what warm-up removed; those of the summary are of the period of a step.</p>'
	table device 'device:device:s,profile:profile:s,window:window:ns,compute_share:computing:share,exposed_share:exposed communication:share,idle_share:idle:share' 16 ''
	groups
	echo '<h3>Who is late</h3>'
	if [ "$devices" -ge 2 ]; then
		! rows stragglers || echo '<p class="note">The latest device of a program first; below 0 it is early. Whom the others wait for in collectives need not be the latest on average.</p>'
		table stragglers 'program:program:s,device:device:n,executions:executions:n,bias_mean:late on average:ns,bias_max:furthest from the mean:ns,bias_sum:sum of the furthest:ns' 12 "$alone"
		[ "$compared" ] && rows waits && echo '<h3 id="waits">Who waits for whom</h3>'
		[ "$compared" ] && table waits 'collective:collective:s,device:device:n,count:count:n,wait:waits:ns,wait_max:longest:ns,last:times last:n,caused:others waited for it:ns,transfer_mean:mean transfer:ns' 12 ''
	else
		why "$one_device"
	fi
	plots lockstep 'Lockstep of the devices in the program with most time' skew 'Clock skew by device'
	[ "$devices" -ge 2 ] || return
	clocks
}
clocks() {
	echo '<h3 id="clocks">Clocks</h3>'
	table record-clock 'device:device:s,offset:offset taken away:ns,rate:rate:x,collectives:collectives compared:n,component:component:n' 16 "$(
		if [ "${ALIGN:-}" = no ]; then echo "$unaligned"; else echo "No clocks were compared: ${alone}"; fi)"
}
idle() {
	# State the time that the table covers, which its rows add up to, with operations that were removed; those of
	# the summary add up to the time of steps, without.
	awk -F'\t' 'FNR == 1 { file++; split("", col); for (i = 1; i <= NF; i++) col[$i] = i; next }
		file == 1 { if ($col["part"] == "step") steps = 1 * $col["ns"]; next }
		$col["part"] != "removed" { all += $col["ns"] }
		END { if (steps) print "<p class=\"note\">" (all == steps ? "Within the steps of the summary: on each device from the start of its first step to the start of its last." : \
			"Of the whole recording, including the time before, between and after the steps; the summary is of steps only.") "</p>" }' tables/where.tsv tables/idle.tsv
	table idle 'device:device:n,part:part:s,group:group:s,cause:cause:s,ns:time:ns,share:share:share,count:gaps:n,longest:longest:ns,drained:of drained queues:ns' 14 ''
	if rows host; then
		echo '<h3 id="host">What the host did meanwhile</h3>'
		echo '<p class="note">The thread that should have launched, in the launch-starved time above. Lines are estimates from samples: the relative error is about one over the square root of their number.</p>'
		table host 'device:device:n,cause:cause:s,state:state:s,what:what:s,line:line of Python:s,ns:time:ns,share:share:share,off:off the CPU:ns,count:gaps:n,longest:longest:ns,samples:samples:n' 12 ''
		if [ -s flame/host.svg ]; then
			height=$(sed -n '/^<svg /{s/.* height="\([0-9]*\)".*/\1/p;q;}' flame/host.svg)
			printf '<iframe class="flame" src="flame/host.svg" title="Flame graph of the host while the GPU was idle" style="--picture:%dpx" loading="lazy"></iframe>\n' "${height:-600}"
			echo '<p class="more">In a window of its own: <a href="flame/host.svg">flame graph</a> (<a href="flame/host.folded">stacks</a>)</p>'
		fi
	fi
	if rows gaps; then
		echo '<h3>The longest gaps</h3>'
		table gaps 'device:device:n,start:start:at,dur:length:ns,cause:cause:s,prev:after:s,next:before:s,stack:stack:path' 8 ''
	fi
}
copies() {
	table copies 'name:copy:s,src:from:s,dst:to:s,mode:mode:s,count:count:n,bytes:bytes:B,time:time:ns,gbps:speed:bw,hidden_share:hidden:share' 10 ''
}
compilation() {
	table compile-process 'name:process of:s,pid:pid:n,compilations:compilations:n,compile:compiling:ns,wall:in the capture:ns,share:share:share' 8 ''
	echo '<h3>By phase</h3>'
	table compile-phase 'name:phase:s,self:self:ns,child:child:ns,share:share:share' 10 ''
	echo '<h3>By program</h3>'
	table compile-module 'name:program:s,compilations:compilations:n,total:total:ns,max:longest:ns,share:share:share' 8 ''
	printf '<p class="more">Also <a href="tables/compile-pass.tsv">by pass</a>, <a href="tables/compile-range.tsv">by range</a></p>\n'
}
memory() {
	if [ -z "$dumps" ] || [ "$dumps" = - ]; then
		why "$no_dump They contain XLA's heap allocation; a profile does not."
		return
	fi
	[ "${dumps#* }" = "$dumps" ] || printf '<p class="note">Of the first dump; processes of one job have the same programs as a rule.</p>\n'
	table heap-peak 'name:program:s,id:id:n,trace:heap:n,peak:peak:B' 10 'The dump holds no heap of an optimized program.'
	plots heap 'Heap over program order, the largest'
	if rows heap-at-peak; then
		echo '<h3>Alive at the peak</h3>'
		# The live buffers of the first row of the table above.
		printf '%s\t10\ttables/heap-at-peak.tsv\t\t1\n' "${mark}instruction:instruction:s,size:size:B,share:share:share,op_name:operation:s,source:source:s"
		awk -F'\t' 'FNR == 1 { file++; split("", c); for (i = 1; i <= NF; i++) c[$i] = i; if (file == 2) print; next }
			{ heap = $c["id"] FS $c["name"] FS $c["trace"] }
			file == 1 && !known++ { first = heap }
			file == 2 && heap == first' tables/heap-peak.tsv tables/heap-at-peak.tsv
		echo "$mark"
	fi
}
diags() {
	tables=
	for t in thunk compile-process residual record-diag; do [ -s "tables/$t.tsv" ] && tables="$tables tables/$t.tsv"; done
	# shellcheck disable=SC2086  # a list of words
	awk -f "$here/html.awk" -f "$here/../root.awk" -f "$here/rules.awk" $tables flame/source.folded
	table record-diag 'severity:severity:s,source:from:s,text:what:s,count:count:n' 1000 'The streams hold none.'
	# Without GPU work the page reports that; hints on how to extract it would be misleading.
	notes=$(said logs/tables/*.log logs/flame/*.log logs/summary.log | if [ "$work" ]; then cat; else sed '/ extract /d'; fi)
	if [ "$notes" ]; then
		echo '<h3>Said while tables were made</h3><ul class="quiet">'
		printf '%s\n' "$notes" | escaped | sed 's,.*,<li>&</li>,'
		echo '</ul>'
	fi
	[ -s .state/gnuplot ] || why 'gnuplot is not here, so there are no plots; their data are in plots/.'
}
files() {
	echo '<p>Streams are binary; <code>nsysx-view</code> reads them. Tables are tab-separated, times in ns. <a href="summary.md">summary.md</a> is the first screen as text.</p><ul class="files">'
	for f in *.pftrace streams/*.nsysx tables/*.tsv flame/*.svg flame/*.folded plots/*.svg plots/*.dat; do
		case $f in *'*'*) continue ;; streams/profile-[0-9]*) continue ;; esac
		[ -s "$f" ] && printf '<li><a href="%s">%s</a></li>\n' "$f" "$f"
	done
	echo '</ul>'
}

# ---- the sections of this page

sections='summary:Summary'
work=1
[ -z "$xla" ] && [ "$detail" ] && ! rows kernel && work=
if rows step-each; then sections="$sections step:Step steps:Steps"; elif [ "$work" ]; then sections="$sections step:Recording"; fi
[ "$xla" ] && sections="$sections programs:Programs"
[ "$work" ] && sections="$sections flame:Flame_graph"
{ rows collective || rows bandwidth; } && sections="$sections communication:Communication"
[ "$xla" ] && sections="$sections devices:Devices"
rows idle && sections="$sections idle:Idle"
[ "$detail" ] && rows range && sections="$sections ranges:Ranges"
[ "$work" ] && sections="$sections kernels:Kernels"
rows copies && sections="$sections copies:Copies"
rows compile-process && sections="$sections compilation:Compilation"
{ [ "$xla" ] || rows heap-peak; } && sections="$sections memory:Memory"
sections="$sections diags:Warnings files:Files"
# Set $text to the heading of a section.
long() {
	case $1 in
	step) rows step-each && text='A step' || text='The recording' ;;
	steps) text='Steps' ;;
	programs) text='Where the time of programs goes' ;;
	idle) text='Why devices were idle' ;;
	ranges) text='By NVTX range' ;;
	diags) text='Warnings and notes' ;;
	*) spaced "$2" ;;
	esac
}

title=$(printf '%s\n' "$TITLE" | escaped)
cat <<END
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<link rel="icon" href="data:,">
<style>
END
cat "$here/page.css"
cat <<END
</style>
</head>
<body>
<header>
<h1>$title</h1>
END
if [ "$xla" ]; then
	{
		if grep -q '^[*][*]nothing is steady' summary.md; then printf 'Nothing is steady, first executions only'
		elif [ "${WARMUP:-}" = no ]; then printf 'All executions'
		else printf 'Steady state, first executions left out'; fi
		if [ "$devices" -ge 2 ]; then [ "${ALIGN:-}" = no ] && printf ', clocks left as they are' || printf ', clocks aligned'; fi
		[ "$dumps" ] && printf ', with HLO dumps' || printf ', without HLO dumps'
		printf '.\n'
	} | escaped | sed 's,.*,<p class="lead">&</p>,'
fi
echo '</header>'
printf '<nav aria-label="Sections"><ul>\n'
for s in $sections; do spaced "${s#*:}"; printf '<li><a href="#%s">%s</a></li>' "${s%%:*}" "$text"; done
printf '\n</ul></nav>\n<main>\n'
for s in $sections; do
	long "${s%%:*}" "${s#*:}"
	printf '<section id="%s">\n<h2>%s</h2>\n' "${s%%:*}" "$text"
	"${s%%:*}"
	echo '</section>'
done | awk -v relevant="$relevant" -f "$here/html.awk" -f "$here/table.awk"
echo '</main>'
echo '<footer>Made by nsysx.</footer>'
echo '<script>'
cat "$here/page.js"
cat <<END
</script>
</body>
</html>
END
[ ! -e .state/page-failed ]
