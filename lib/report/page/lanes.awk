# lanes.awk -- the table of lanes as pictures, one for each step, with a selection of the one shown. Hovering shows
# names and times. Reads lanes.tsv. Lists the devices that are not in a picture.
FNR == 1 {
	for (i = 1; i <= NF; i++)
		col[$i] = i
	next
}
function v(name) { return $col[name] }
{
	k = v("pick")
	if (!(k in on)) {
		pick[++picks] = k
		on[k] = v("on")
		period[k] = v("period")
	}
	d = v("device")
	if (d == on[k])
		step[k] = v("step")
	if (v("lane") == "none") {
		# One more than first_of prints: there may be very many.
		if (absent[k, v("what")]++ <= 16)
			missing[k, v("what")] = missing[k, v("what")] (absent[k, v("what")] > 1 ? ", " : "") d
		next
	}
	if (!((k, d) in row)) {
		# Sorted by clock and number: the table is in the order of the first pieces.
		clock[k, d] = ("clock" in col) ? v("clock") + 0 : 1
		for (i = ++devices[k]; i > 1 && is_behind(k, device[k, i - 1], d); i--)
			row[k, device[k, i] = device[k, i - 1]] = i
		device[k, i] = d
		row[k, d] = i
	}
	end = v("start") + v("length")
	if (period[k] > length_of[k])
		length_of[k] = 1 * period[k]
	if (end > length_of[k])
		length_of[k] = end
	i = ++pieces[k]
	at[k, i] = d
	lane[k, i] = v("lane")
	what[k, i] = v("what")
	start[k, i] = v("start")
	dur[k, i] = v("dur")
	spread[k, i] = v("length")
	count[k, i] = v("count")
	name[k, i] = v("name")
	if (v("lane") == "path")
		led[k] = any_path = on_path[v("what")] = 1
	if (v("lane") == "idle")
		caused[v("what")] = 1
}
function is_behind(k, a, b) { return clock[k, a] != clock[k, b] ? clock[k, a] > clock[k, b] : a + 0 > b + 0 }
BEGIN {
	WIDE = 1000
	APART = 24
	HIGH = 9
	HEAD = 15
	split("compute comm copy idle path", lanes, " ")
	# How the parts of the critical path are drawn and named.
	split("compute comm copy gap host unseen api unexplained", parts, " ")
	drawn["compute"] = "compute"; drawn["comm"] = "exposed"; drawn["copy"] = "copy"; drawn["gap"] = "idle"
	drawn["host"] = "late"; drawn["unseen"] = "sync"; drawn["api"] = "starved"; drawn["unexplained"] = "unknown"
	said["compute"] = "computation"; said["comm"] = "transfer"; said["copy"] = "copy"; said["gap"] = "latency"
	said["host"] = "work of the host"; said["unseen"] = "the host works, or waits in no call"; said["api"] = "CUDA call"; said["unexplained"] = "not explained"
	# In the order of nsysx-idle.
}
# The fill of a piece: by its class, or a gradient for stripes.
function fill(k, i,   cause) {
	cause = what[k, i]
	if (lane[k, i] == "path")
		return "class=\"" drawn[cause] "\""
	if (lane[k, i] == "idle" && stripes(cause) > 1)
		return "fill=\"url(#" tint(cause) "-" stripes(cause) ")\""
	return "class=\"" (lane[k, i] == "comm" ? cause : lane[k, i] != "idle" ? lane[k, i] : tint(cause)) "\""
}
# The stripes of the causes that are drawn: where the background replaces the tint, in percent of the height, as in
# page.css.
function gradients(   cause, n, i, j, m, part, id, made) {
	n = split("40-60 25-40,60-75 50-100 0-50 20-80 0-30,70-100 0-20,40-60,80-100", band, " ")
	printf "<svg class=\"stripes\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>"
	n = split(CAUSES, cause, " ")
	for (i = 1; i <= n; i++) {
		id = tint(cause[i]) "-" stripes(cause[i])
		if (!(cause[i] in caused) || stripes(cause[i]) == 1 || made[id]++)
			continue
		printf "<linearGradient id=\"%s\" x2=\"0\" y2=\"1\">", id
		m = split(band[stripes(cause[i]) - 1], part, /[-,]/)
		for (j = 1; j <= m; j++)
			printf "<stop class=\"%s\" offset=\"%s%%\"/><stop class=\"%s\" offset=\"%s%%\"/>", \
				(j % 2 ? tint(cause[i]) : "ground"), part[j], (j % 2 ? "ground" : tint(cause[i])), part[j]
		printf "</linearGradient>"
	}
	print "</defs></svg>"
}
function cut(x) {
	if (length(x) <= 70)
		return x
	x = substr(x, 1, 70)
	sub(/[\300-\377][\200-\277]*$/, "", x)
	return x "…"
}
function told(k, i,   c) {
	if (lane[k, i] == "path")
		return "critical path: " said[what[k, i]] ", " ns(dur[k, i]) (spread[k, i] > dur[k, i] ? " within " ns(spread[k, i]) : "") " at " ns(start[k, i])
	c = count[k, i] > 1 ? count[k, i] " operations, longest " : ""
	return (lane[k, i] == "idle" ? "idle: " what[k, i] ": " : lane[k, i] == "comm" ? what[k, i] " communication: " : lane[k, i] == "copy" && what[k, i] != "" ? "hidden copies: " : "") c cut(name[k, i]) ", " ns(dur[k, i]) (spread[k, i] > dur[k, i] ? " within " ns(spread[k, i]) : "") " at " ns(start[k, i])
}
# The step of at most six ticks over a length: 1, 2 or 5 and zeros.
function round_step(x,   s) {
	for (s = 1; s * 10 <= x; s *= 10)
		;
	# Now s <= x < 10 s.
	return x / s > 5 ? 2 * s : x / s > 3 ? s : s > 1 ? s / 2 : 1
}
# All ticks have the unit of the length. Only positions in time are scaled to the width: letters keep their size.
# Devices on other clocks are below those above, with a line of text between them.
function draw(k,   i, j, n, y, x, w, filled, scale, per, high, step_of, unit, name_of, apart, top) {
	n = (k in led) ? 5 : 4
	per = HEAD + n * (HIGH + 2) + 6
	for (i = 1; i <= devices[k]; i++) {
		apart += i > 1 && clock[k, device[k, i]] != clock[k, device[k, i - 1]]
		top[device[k, i]] = (i - 1) * per + apart * APART
	}
	clocks_apart += apart
	high = devices[k] * per + apart * APART + 18
	scale = WIDE / length_of[k]
	printf "<svg class=\"lanes\" height=\"%d\" role=\"img\" aria-label=\"lanes of every device, %s\">\n", high, k
	printf "<svg width=\"100%%\" height=\"%d\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\">\n", high, WIDE, high
	for (i = 1; i <= devices[k]; i++)
		for (j = 1; j <= n; j++)
			printf "<path class=\"rail\" d=\"M0 %dh%d\"/>", top[device[k, i]] + HEAD + (j - 1) * (HIGH + 2) + HIGH, WIDE
	print ""
	for (i = 1; i <= pieces[k]; i++) {
		for (j = 1; lanes[j] != lane[k, i]; j++)
			;
		x = start[k, i] * scale
		w = spread[k, i] * scale
		# The share of a piece that is work shows: at least a fifth, or it could not be seen.
		filled = dur[k, i] / spread[k, i]
		if (lane[k, i] == "copy" && what[k, i] != "")
			filled *= 0.4
		printf "<rect %s%s x=\"%.4g\" y=\"%d\" width=\"%.3g\" height=\"%d\"><title>%s</title></rect>\n", fill(k, i), (filled < 0.95 ? sprintf(" opacity=\"%.2g\"", filled < 0.2 ? 0.2 : filled) : ""), x, top[at[k, i]] + HEAD + (j - 1) * (HIGH + 2), (w < 0.6 ? 0.6 : w), HIGH, esc(told(k, i))
	}
	print "</svg>"
	for (i = 1; i <= devices[k]; i++) {
		if (i > 1 && clock[k, device[k, i]] != clock[k, device[k, i - 1]])
			printf "<text class=\"apart\" x=\"0\" y=\"%d\">Clocks not compared with those above: from the start of %s here</text>", top[device[k, i]] - 8, (k == "recording" ? "what was recorded" : "a step")
		printf "<text x=\"0\" y=\"%d\">device %s</text>", top[device[k, i]] + HEAD - 4, esc(device[k, i])
	}
	step_of = round_step(length_of[k])
	unit = length_of[k] >= 1e9 ? 1e9 : length_of[k] >= 1e6 ? 1e6 : length_of[k] >= 1e3 ? 1e3 : 1
	name_of = unit == 1e9 ? "s" : unit == 1e6 ? "ms" : unit == 1e3 ? "us" : "ns"
	# A tick at the right end would stick out.
	for (i = 0; i * step_of <= length_of[k] * 0.94; i++)
		printf "<text class=\"tick\" x=\"%.4g%%\" y=\"%d\" text-anchor=\"%s\">%s %s</text>", 100 * i * step_of / length_of[k], high - 3, (i == 0 ? "start" : "middle"), i * step_of / unit, name_of
	print "\n</svg>"
}
# A list of devices; a sentence contains the first ones.
function first_of(x,   n, part, i, s) {
	n = split(x, part, ", ")
	for (i = 1; i <= n && i <= 16; i++)
		s = s (i == 1 ? "" : ", ") part[i]
	return esc(s) (n > 16 ? ", …" : "")
}
function not_drawn(k,   n) {
	if (n = absent[k, "outside"])
		print "<p class=\"note\">Nothing of " (n == 1 ? "device " : "devices ") first_of(missing[k, "outside"]) " lies within this time.</p>"
	if (any_path && !(k in led))
		print "<p class=\"note\">The critical path of this step is not known: it is the first of a device, or its end is not recorded.</p>"
	if (n = absent[k, "limit"])
		print "<p class=\"note\">For want of room " n (n == 1 ? " device is" : " devices are") " not drawn: " first_of(missing[k, "limit"]) (relevant != "" ? ". Drawn are " devices[k] ": " late ", those that wait least for others, the median and the one that waits most" : "") ".</p>"
}
function label(k) {
	if (k == "recording")
		return "the whole recording: " ns(length_of[k])
	return k " step" (ENVIRON["class"] != "" ? " of " esc(ENVIRON["class"]) : "") ", number " step[k] ": " ns(period[k]) (devices[k] > 1 ? " on device " esc(on[k]) : "")
}
# The causes of idle time that are drawn.
function legend(   n, i, cause, s) {
	n = split(CAUSES, cause, " ")
	for (i = 1; i <= n; i++)
		if (cause[i] in caused)
			s = s "<li><i class=\"" tinted(cause[i]) "\"></i>idle: " cause[i] "</li>"
	return s
}
function path_legend(   i, s) {
	for (i = 1; i in parts; i++)
		if (parts[i] in on_path)
			s = s "<li><i class=\"" drawn[parts[i]] "\"></i>critical path: " said[parts[i]] "</li>"
	return s
}
END {
	if (!picks)
		exit
	gradients()
	print "<div class=\"choice\">"
	for (i = picks; i >= 1; i--)
		printf "<input type=\"radio\" name=\"lanes\" id=\"lanes-%s\"%s><label for=\"lanes-%s\">%s</label>\n", pick[i], (i == picks ? " checked" : ""), pick[i], label(pick[i])
	for (i = picks; i >= 1; i--) {
		printf "<div class=\"scroll lanes-%s\" tabindex=\"0\">", pick[i]
		draw(pick[i])
		not_drawn(pick[i])
		print "</div>"
	}
	print "</div>\n<ul class=\"key\"><li><i class=\"compute\"></i>compute</li><li><i class=\"exposed\"></i>exposed communication</li><li><i class=\"hidden\"></i>hidden communication</li><li><i class=\"copy\"></i>copies</li>" legend() "</ul>"
	if (any_path)
		print "<ul class=\"key\">" path_legend() "</ul>\n<p class=\"note\">The lowest lane of a device has its part of the critical path: what the step waited for, from its end back to its start, through the devices that were waited for. Only what is on it makes the step longer.</p>"
	if (pick[1] != "recording")
		print "<p class=\"note\">A step lasts from its start on a device to the start of the next one there" (devices[pick[1]] > 1 ? "; other devices are drawn over theirs, at the same time" (clocks_apart ? " where clocks were compared, and from its own start where they were not" : "") : "") ".</p>"
	if (clocks_apart)
		print "<p class=\"note\">What is below a line “Clocks not compared” need not have been at the same time as what is above it: lengths can be compared, times cannot.</p>"
	print "<p class=\"note\">Each device has a lane for computation, communication and copies, and for the causes of idle time. Operations too close to tell apart are drawn as one, paler where less of it is work, copies also where other work hides them, and gaps too short to draw are omitted; point at a piece for its name. <a href=\"tables/lanes.tsv\">tables/lanes.tsv</a></p>"
}
