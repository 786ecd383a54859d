# heat.awk -- a picture of what every device did in every step: a row for a device, a column for a step, its colour how
# much longer or shorter than the mean of the step the device was at work of its own, which is all but exposed
# communication. The size is bounded: of many devices or steps several are one cell, which has the one furthest from that
# mean, so that a single one shows. Reads relevant.tsv and step-each.tsv; nothing for up to `least` devices.
BEGIN {
	ROWS = 128
	COLUMNS = 160
	LEVELS = 4
	HIGH = 400
	least = 8
}
FNR == 1 {
	file++
	split("", col)
	for (i = 1; i <= NF; i++)
		col[$i] = i
	next
}
function v(name) { return name in col ? $col[name] : "" }
file == 1 {
	if (v("own") != "") {
		if (v("why") == "median" || v("why") == "p99" || v("why") == "shortest")
			mean_at[v("why")] = v("own")
		mean_of[v("device")] = v("own")
	}
	next
}
v("period") > 0 {
	n++
	device[n] = v("device")
	step[n] = v("step")
	own[n] = v("period") - v("exposed")
}
# at[1..m] in ascending order: a heap sort.
function sift(i, m,   c, x) {
	x = at[i]
	while ((c = 2 * i) <= m) {
		if (c < m && at[c + 1] > at[c])
			c++
		if (at[c] <= x)
			break
		at[i] = at[c]
		i = c
	}
	at[i] = x
}
function sort(m,   i, x) {
	for (i = int(m / 2); i >= 1; i--)
		sift(i, m)
	for (i = m; i > 1; i--) {
		x = at[1]
		at[1] = at[i]
		at[i] = x
		sift(1, i - 1)
	}
}
function size_of(x) { return x < 0 ? -x : x }
# Of what is further from the mean the class: l4, the longest, to l1, then s1 to s4; empty for what is near.
function class_of(x,   k) {
	if (size_of(x) < floor || size_of(x) * 8 < most)
		return ""
	k = int(size_of(x) * LEVELS / most + 0.5)
	return (x > 0 ? "l" : "s") (k < 1 ? 1 : k > LEVELS ? LEVELS : k)
}
function run(name, x, y, w) {
	if (name != "")
		path[name] = path[name] sprintf("M%.6g %.6gh%.6gv%.6gh-%.6gz", x, y, w, tall, w)
}
# The devices of a row, in words.
function devices_of(r,   a, b) {
	a = device_at[(r - 1) * per_row + 1]
	b = (r * per_row in device_at) ? device_at[r * per_row] : device_at[devices]
	return a == b ? "device " a : "devices " a " to " b
}
function put_labels(   i, r, y, low, made) {
	# Of the rows that are labelled, the furthest first: none over another.
	for (i = 1; i <= rows; i++)
		left[i] = 1
	for (made = 0; made < 4; made++) {
		r = 0
		for (i = 1; i <= rows; i++)
			if (left[i] && cell_class[i] != "" && (!r || furthest[i] > furthest[r]))
				r = i
		if (!r)
			break
		put_label(r, who[r])
	}
	put_label(1, device_at[1])
	put_label(rows, device_at[devices])
}
function put_label(r, name,   i, y) {
	y = (r - 0.5) * tall + 4
	for (i = 1; i <= labels; i++)
		if (size_of(label_at[i] - y) < 12)
			return
	label_at[++labels] = y
	left[r] = 0
	printf "<text x=\"0\" y=\"%.4g\">%s</text>", (y < 10 ? 10 : y), esc(name)
}
END {
	for (i = 1; i <= n; i++) {
		if (!(device[i] in row)) {
			row[device[i]] = 1
			at[++devices] = device[i] + 0
		}
		sum[step[i]] += own[i]
		if (!count[step[i]]++)
			number[++steps] = step[i] + 0
	}
	if (devices <= least || !steps)
		exit
	sort(devices)
	for (i = 1; i <= devices; i++) {
		device_at[i] = at[i]
		row[at[i]] = i
	}
	for (i = 1; i <= steps; i++)
		at[i] = number[i]
	sort(steps)
	for (i = 1; i <= steps; i++) {
		step_at[i] = at[i]
		column[at[i]] = i
		floor += sum[at[i]] / count[at[i]] / steps / 100
	}
	per_row = int((devices + ROWS - 1) / ROWS)
	per_column = int((steps + COLUMNS - 1) / COLUMNS)
	rows = int((devices + per_row - 1) / per_row)
	columns = int((steps + per_column - 1) / per_column)
	tall = HIGH / rows > 12 ? 12 : HIGH / rows < 3 ? 3 : int(HIGH / rows)
	wide = 1000 / columns
	for (i = 1; i <= n; i++) {
		r = int((row[device[i]] - 1) / per_row) + 1
		c = int((column[step[i]] - 1) / per_column) + 1
		d = own[i] - sum[step[i]] / count[step[i]]
		if (!(device[i] in above) || d > above[device[i]])
			above[device[i]] = d
		if (!((r, c) in cell) || size_of(d) > size_of(cell[r, c]))
			cell[r, c] = d
		if (size_of(d) > most)
			most = size_of(d)
		if (!(r in far) || size_of(d) > furthest[r]) {
			furthest[r] = size_of(d)
			far[r] = d
			who[r] = device[i]
			when[r] = step[i]
		}
	}
	for (r = 1; r <= rows; r++) {
		cell_class[r] = r in far ? class_of(far[r]) : ""
		begun = 0
		for (c = 1; c <= columns + 1; c++) {
			x = c <= columns && ((r, c) in cell) ? class_of(cell[r, c]) : ""
			if (c > 1 && x == last)
				continue
			if (c > 1)
				run(last, begun * wide, (r - 1) * tall, (c - 1 - begun) * wide)
			begun = c - 1
			last = x
		}
		if (begun < columns && last != "")
			run(last, begun * wide, (r - 1) * tall, (columns - begun) * wide)
	}
	tell()
}
# How many other devices are above their steps by at least x at some time, if any.
function beside(x,   d, k) {
	for (d in above)
		k += above[d] >= x
	return k > 1 ? "; " k - 1 " other device" (k > 2 ? "s are" : " is") " at least half as far above" : ""
}
function tell(   i, r, best, high, k) {
	for (r = 1; r <= rows; r++)
		if ((r in far) && far[r] > 0 && (!best || far[r] > far[best]))
			best = r
	high = rows * tall + 18
	print "<h3 id=\"heat\">Every device in every step</h3>"
	if (best && cell_class[best] != "")
		print "<p>Furthest above the others: <b>device " esc(who[best]) "</b>, " ns(far[best]) " longer than the mean of step " esc(when[best]) " at work of its own, which is all but exposed communication" beside(far[best] / 2) ".</p>"
	else
		print "<p>No device is one percent longer at work of its own than the mean of a step.</p>"
	if ("median" in mean_at) {
		for (x in mean_of)
			if (longest == "" || mean_of[x] + 0 > mean_of[longest] + 0 || (mean_of[x] + 0 == mean_of[longest] + 0 && x + 0 < longest + 0))
				longest = x
		print "<p class=\"note\">Over " devices " devices, their mean of it in a step: shortest " ns(mean_at["shortest"] != "" ? mean_at["shortest"] : mean_at["median"]) ", p50 " ns(mean_at["median"]) ", p99 " ns(mean_at["p99"]) ", longest " ns(mean_of[longest]) " (device " esc(longest) ").</p>"
	}
	printf "<svg class=\"lanes heat\" height=\"%d\" role=\"img\" aria-label=\"own time of %d devices in %d steps\">\n", high, devices, steps
	printf "<svg x=\"6%%\" width=\"94%%\" height=\"%d\" viewBox=\"0 0 1000 %d\" preserveAspectRatio=\"none\">\n", rows * tall, rows * tall
	printf "<path class=\"plain\" d=\"M0 0h1000v%dh-1000z\"/>", rows * tall
	for (k = LEVELS; k >= 1; k--) {
		if (path["l" k] != "")
			printf "<path class=\"l%d\" d=\"%s\"/>", k, path["l" k]
		if (path["s" k] != "")
			printf "<path class=\"s%d\" d=\"%s\"/>", k, path["s" k]
	}
	print ""
	for (r = 1; r <= rows; r++)
		printf "<path class=\"over\" d=\"M0 %.6gh1000v%.6gh-1000z\"><title>%s%s</title></path>\n", (r - 1) * tall, tall, devices_of(r), ((r in far) ? ": furthest from the mean of a step " (per_row > 1 ? "is device " who[r] ", " : "") (far[r] < 0 ? "by " ns(-far[r]) " shorter" : "by " ns(far[r]) " longer") ", in step " when[r] : "")
	print "</svg>"
	put_labels()
	printf "<text class=\"tick\" x=\"6%%\" y=\"%d\">step %s</text><text class=\"tick\" x=\"100%%\" y=\"%d\" text-anchor=\"end\">step %s</text>\n</svg>\n", high - 3, step_at[1], high - 3, step_at[steps]
	print "<ul class=\"key\"><li><i class=\"heat-l4\"></i>longer than the mean of its step, by up to " ns(most) "</li><li><i class=\"heat-plain\"></i>within a percent, or an eighth of that</li><li><i class=\"heat-s4\"></i>shorter</li></ul>"
	print "<p class=\"note\">A row is " (per_row > 1 ? per_row " devices with neighbouring numbers" : "a device") ", a column " (per_column > 1 ? per_column " steps" : "a step") (per_row > 1 || per_column > 1 ? "; a cell has the one furthest from the mean" : "") ". Point at a row for its name. <a href=\"tables/step-each.tsv\">tables/step-each.tsv</a></p>"
}
