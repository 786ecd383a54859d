# lanes.awk -- the table of lanes as pictures, a step each, with a choice of which is shown. Hovering tells names and times.
# Reads lanes.tsv.
FNR == 1 {
	for (i = 1; i <= NF; i++)
		col[$i] = i
	next
}
function v(name) { return $col[name] }
{
	k = v("pick")
	if (!(k in step)) {
		pick[++picks] = k
		step[k] = v("step")
		on[k] = v("on")
		period[k] = v("period")
	}
	d = v("device")
	if (!((k, d) in row)) {
		# By number: the order in the table is that of who began first.
		for (i = ++devices[k]; i > 1 && device[k, i - 1] + 0 > d + 0; i--)
			row[k, device[k, i] = device[k, i - 1]] = i
		device[k, i] = d
		row[k, d] = i
	}
	end = v("start") + v("dur")
	if (period[k] != "")
		length_of[k] = 1 * period[k]
	else if (end > length_of[k])
		length_of[k] = end
	i = ++pieces[k]
	at[k, i] = d
	lane[k, i] = v("lane")
	what[k, i] = v("what")
	start[k, i] = v("start")
	dur[k, i] = v("dur")
	count[k, i] = v("count")
	name[k, i] = v("name")
	if (v("lane") == "copy")
		copies[k] = 1
}
BEGIN { WIDE = 1000; HIGH = 9; split("compute comm copy idle", lanes, " ") }
function class(k, i) {
	return lane[k, i] == "comm" ? what[k, i] : lane[k, i] != "idle" ? lane[k, i] : what[k, i] ~ /^(latency|dependency|unresolved|graph|no-call)$/ ? "idle" : "starved"
}
function cut(x) {
	if (length(x) <= 70)
		return x
	x = substr(x, 1, 70)
	sub(/[\300-\377][\200-\277]*$/, "", x)
	return x "…"
}
function told(k, i,   c) {
	c = count[k, i] > 1 ? count[k, i] " operations, longest " : ""
	return (lane[k, i] == "idle" ? "idle, " what[k, i] ": " : lane[k, i] == "comm" ? what[k, i] " communication: " : "") c cut(name[k, i]) ", " ns(dur[k, i]) " at " ns(start[k, i])
}
function draw(k,   i, y, x, w, scale, per, high) {
	per = 4 * (HIGH + 2) + 8
	high = devices[k] * per + 18
	scale = WIDE / length_of[k]
	printf "<svg class=\"lanes\" viewBox=\"-64 0 %d %d\" role=\"img\" aria-label=\"lanes of every device, %s\">\n", WIDE + 66, high, k
	for (i = 1; i <= devices[k]; i++) {
		y = (i - 1) * per
		printf "<text x=\"-64\" y=\"%d\">device %s</text>", y + 10, esc(device[k, i])
		for (j = 1; j <= 4; j++)
			printf "<path class=\"rail\" d=\"M0 %dh%d\"/>", y + (j - 1) * (HIGH + 2) + HIGH, WIDE
		print ""
	}
	for (i = 1; i <= pieces[k]; i++) {
		for (j = 1; lanes[j] != lane[k, i]; j++)
			;
		x = start[k, i] * scale
		w = dur[k, i] * scale
		printf "<rect class=\"%s\" x=\"%.4g\" y=\"%d\" width=\"%.3g\" height=\"%d\"><title>%s</title></rect>\n", class(k, i), x, (row[k, at[k, i]] - 1) * per + (j - 1) * (HIGH + 2), (w < 0.6 ? 0.6 : w), HIGH, esc(told(k, i))
	}
	for (i = 0; i <= 5; i++)
		printf "<text class=\"tick\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>", i * WIDE / 5, high - 3, (i == 0 ? "start" : i == 5 ? "end" : "middle"), ns(int(i * length_of[k] / 5 + 0.5))
	print "\n</svg>"
}
function label(k) {
	if (k == "recording")
		return "the whole recording: " ns(length_of[k])
	return k " step, number " step[k] ": " ns(period[k]) (devices[k] > 1 ? " on device " esc(on[k]) : "")
}
END {
	if (!picks)
		exit
	print "<div class=\"choice\">"
	for (i = picks; i >= 1; i--)
		printf "<input type=\"radio\" name=\"lanes\" id=\"lanes-%s\"%s><label for=\"lanes-%s\">%s</label>\n", pick[i], (i == picks ? " checked" : ""), pick[i], label(pick[i])
	for (i = picks; i >= 1; i--) {
		printf "<div class=\"scroll lanes-%s\" tabindex=\"0\">", pick[i]
		draw(pick[i])
		print "</div>"
	}
	print "</div>\n<ul class=\"key\"><li><i class=\"compute\"></i>compute</li><li><i class=\"exposed\"></i>exposed communication</li><li><i class=\"hidden\"></i>hidden communication</li><li><i class=\"copy\"></i>copies</li><li><i class=\"starved\"></i>idle, the host is late</li><li><i class=\"idle\"></i>idle, launched already</li></ul>"
	if (pick[1] != "recording")
		print "<p class=\"note\">A step lasts from its start on a device to the start of the next one there" (devices[pick[1]] > 1 ? "; other devices are drawn over the same time" : "") ".</p>"
	print "<p class=\"note\">Each device has a lane for what computes, communicates, copies, and for why it was idle. Operations closer than the picture shows are one piece, and gaps too short for it are left out; point at one for its name. <a href=\"tables/lanes.tsv\">tables/lanes.tsv</a></p>"
}
