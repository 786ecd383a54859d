# lanes.awk -- a step as lanes: what every device did in the median and in the slowest step. Reads step-each.tsv,
# record-device.tsv, a list of gaps (nsysx-idle --list) and path.tsv, in that order, then the table of op records that
# the command `view` prints, of only the times of these steps with --time. Writes a row for each piece: pick step device
# lane what start dur count name on period length; times in ns. A step is picked on one device (column on), where it
# lasts for period; every other device is drawn over its own step of that number, or that overlaps it most, so that the
# pieces of a device sum to the parts of a step, and waiting devices are above the late one. start is relative to the
# first start of these steps. What is closer together than a picture can show is one piece, with the name of the longest
# operation: dur is the time in it, length that from its start to its end. `what` of communication is exposed, or hidden
# beside computation; of copies empty, or hidden beside anything else. Gaps are not joined. The lane path has the
# critical path of the picked step, on the devices that it leads through; `what` is its part. A device without pieces
# has one row, in the lane none: what is `outside` if it did nothing in that time, `limit` if the picture has too many
# devices: then those of the list `relevant`, numbers with commas between them, come first. A device without steps is
# drawn over the picked one, without a number. Without steps the op table is read twice, and the whole recording is the
# only step: step, on and period are empty. Devices whose clocks were not compared with that of the picked one, by the
# table `clock` (record-clock.tsv) or, of several profiles without one, by their profiles, are drawn over their step of
# that number, or the nearest one, from its own start: start is relative to the first start of the devices on their
# clock, which the column clock numbers, 1 being that of the picked one. If `view` fails, it makes the file `failed`, if one is named.
BEGIN {
	FS = OFS = "\t"
	OFMT = CONVFMT = "%.16g"
	DEVICES = 16
	PIECES = 3200
	print "pick", "step", "device", "lane", "what", "start", "dur", "count", "name", "on", "period", "length", "clock"
	while (clock != "" && (getline < clock) > 0) {
		if (!("component" in col)) {
			for (i = 1; i <= NF; i++)
				col[$i] = i
			continue
		}
		clock_of[v("device")] = v("component")
	}
	for (split("", col); ARGV[2] != "" && (getline < ARGV[2]) > 0;) {
		if (!("device" in col)) {
			for (i = 1; i <= NF; i++)
				col[$i] = i
			continue
		}
		if (clock_of[v("device")] == "" && ("profile" in col))
			clock_of[v("device")] = "profile " v("profile")
	}
	close(ARGV[2])
}
FNR == 1 {
	file++
	split("", col)
	for (i = 1; i <= NF; i++)
		col[$i] = i
	if (file == 2)
		choose()
	else if (file == 3) {
		for (i = 1; i <= picks; i++)
			open_rest(i)
		set_near()
	}
	next
}
function v(name) { return $col[name] }
# The median and the slowest step of all devices, among steps that another one follows; all are of one class.
file == 1 && v("period") > 0 {
	n++
	device[n] = v("device")
	number[n] = v("step")
	from[n] = 1 * v("start")
	period[n] = 1 * v("period")
}
function choose(   m) {
	for (m = 1; m <= n; m++)
		at[m] = m
	if (!(m = n)) {
		whole = 1
		return
	}
	sort(m)
	pick(1, "median", at[int((m + 1) / 2)])
	if (m == 1)
		return
	# Among equal ones the first.
	while (m > 1 && period[at[m - 1]] == period[at[m]])
		m--
	pick(2, "slowest", at[m])
}
# Sort at[1..m] by period, equal ones in order of time: a heap sort.
function after(a, b) { return period[a] != period[b] ? period[a] > period[b] : a > b }
function sift(i, m,   c, x) {
	x = at[i]
	while ((c = 2 * i) <= m) {
		if (c < m && after(at[c + 1], at[c]))
			c++
		if (!after(at[c], x))
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
# Create a window for pick k of device d: it is drawn from a to b, its step of that number.
function open_window(k, d, a, b, number) {
	total++
	of[total] = d
	step_at[total] = number
	begin[total] = settled[total] = a
	finish[total] = b
	window[k, ++windows[k]] = window_of[k, d] = total
	reach(k, d, a, b)
}
# The picture k of the devices on the clock of d is from a to b, too.
function reach(k, d, a, b,   c) {
	c = k SUBSEP clock_of[d]
	if (!(c in clock_at)) {
		clock_at[c] = ++clocks[k]
		zero[k, clocks[k]] = a
		stop[k, clocks[k]] = b
	}
	c = k SUBSEP clock_at[c]
	if (a < zero[c])
		zero[c] = a
	if (b > stop[c])
		stop[c] = b
}
# The number of the clock of d in picture k; 0: nothing on it is drawn.
function on_clock(k, d) { return ((k, clock_of[d]) in clock_at) ? clock_at[k, clock_of[d]] : 0 }
# Pick step i: open windows over it, and on each other device over its step of that number if it overlaps this one, else
# that which overlaps it most; on another clock that of the nearest number.
function pick(k, name, i,   j, d, m, x, most, best, others, wanted) {
	picked[k] = name
	on[k] = device[i]
	length_of[k] = period[i]
	picks = k
	open_window(k, device[i], from[i], from[i] + period[i], number[i])
	for (j = 1; j <= n; j++) {
		d = device[j]
		if (d == device[i])
			continue
		x = (from[j] + period[j] < from[i] + period[i] ? from[j] + period[j] : from[i] + period[i]) - (from[j] > from[i] ? from[j] : from[i])
		if (clock_of[d] != clock_of[device[i]])
			x = 1e200 / (1 + (number[j] < number[i] ? number[i] - number[j] : number[j] - number[i]))
		if (x <= 0)
			continue
		if (number[j] == number[i])
			x = 1e300
		if (!(d in most))
			others[++m] = d
		if (x > most[d]) {
			most[d] = x
			best[d] = j
		}
	}
	x = split(relevant, wanted, ",")
	for (j = 1; j <= x; j++)
		open_over(k, wanted[j], best)
	for (j = 1; j <= m; j++)
		open_over(k, others[j], best)
	base[k] = from[i]
}
# Open a window over a device's best step, if it has one, and none yet, and there is room.
function open_over(k, d, best,   x) {
	if (!(d in best) || ((k, d) in window_of) || windows[k] >= DEVICES)
		return
	x = best[d]
	open_window(k, d, from[x], from[x] + period[x], number[x])
}
# Open windows for devices without such a step.
function open_rest(k,   i) {
	for (i = 1; i <= devices && windows[k] < DEVICES; i++)
		if (!((k, listed[i]) in window_of)) {
			if (on_clock(k, listed[i]) == 1)
				open_window(k, listed[i], base[k], base[k] + length_of[k], "")
			else
				no_time[k, listed[i]] = 1
		}
}
# Without steps, the window is from the first operation's start to the last operation's end, on all devices.
function widen(d, a, b) {
	if (!((1, d) in window_of)) {
		if (windows[1] == DEVICES)
			return
		open_window(1, d, a, b, "")
	}
	reach(1, d, a, b)
}
function widened(   w, i) {
	picked[1] = "recording"
	picks = 1
	base[1] = zero[1, 1]
	for (i = 1; i <= clocks[1]; i++)
		if (stop[1, i] - zero[1, i] > length_of[1])
			length_of[1] = stop[1, i] - zero[1, i]
	for (w = 1; w <= windows[1]; w++) {
		i = on_clock(1, of[window[1, w]])
		begin[window[1, w]] = settled[window[1, w]] = zero[1, i]
		finish[window[1, w]] = stop[1, i]
	}
	open_rest(1)
}
# Set the distance below which pieces are joined: the maximum of pieces in a picture is divided among the lanes.
function set_near(   k) {
	for (k = 1; k <= picks; k++) {
		near_of[k] = length_of[k] * 2 * total / PIECES
		if (near_of[k] < length_of[k] / 2000)
			near_of[k] = length_of[k] / 2000
	}
}
# Add to the lane of window w what is from a to b: a piece of its own, or part of the one before if that is near; near
# below 0: never part of another, in any order. ops operations began since the piece before, the longest of `long` ns
# and that name; 0: one goes on.
function extend(w, lane, what, a, b, near, ops, long, name,   q, i) {
	q = w SUBSEP lane SUBSEP what
	i = last[q]
	if (!i || near < 0 || a - hi[i] > near) {
		i = last[q] = piece[w, ++held[w]] = ++pieces
		lo[i] = a
		lane_of[i] = lane
		kind[i] = what
		if (!ops)
			ops = 1
	}
	hi[i] = b
	spent[i] += b - a
	ops_in[i] += ops
	if (long > longest[i] || label[i] == "") {
		longest[i] = long
		label[i] = name
	}
}
# Add what a lane did from a to b with the operations that began in it.
function take_lane(w, lane, what, a, b, near,   q) {
	q = w SUBSEP lane
	extend(w, lane, what, a, b, near, begun[q], begun[q] ? begun_long[q] : 0, begun[q] ? begun_name[q] : latest_name[q])
	begun[q] = begun_long[q] = 0
}
# The operations of window w that began before t are known: add what its device did until then. The latest ends of those
# that compute, communicate and copy determine it.
function settle(w, t, near,   a, b, c, m, y) {
	for (a = settled[w]; a < t; a = b) {
		c = ends[w, "compute"]
		m = ends[w, "comm"]
		y = ends[w, "copy"]
		b = t
		if (c > a && c < b)
			b = c
		if (m > a && m < b)
			b = m
		if (y > a && y < b)
			b = y
		if (c > a)
			take_lane(w, "compute", "", a, b, near)
		if (m > a)
			take_lane(w, "comm", c > a ? "hidden" : "exposed", a, b, near)
		if (y > a)
			take_lane(w, "copy", c > a || m > a ? "hidden" : "", a, b, near)
	}
	if (t > settled[w])
		settled[w] = t
}
# An operation: in each picture of its device it is cut to the step.
function work(lane, a, b, d, name,   k, w, q, x, y) {
	for (k = 1; k <= picks; k++) {
		if (!((k, d) in window_of))
			continue
		w = window_of[k, d]
		if (!(a < finish[w] && b > begin[w]))
			continue
		x = a > begin[w] ? a : begin[w]
		y = b < finish[w] ? b : finish[w]
		settle(w, x, near_of[k])
		q = w SUBSEP lane
		begun[q]++
		if (y - x > begun_long[q] || begun[q] == 1) {
			begun_long[q] = y - x
			begun_name[q] = name
		}
		if (!(q in ends) || y > ends[q]) {
			ends[q] = y
			latest_name[q] = name
		}
	}
}
# A gap: one that is too short to be drawn is left out.
function gap(cause, a, b, d, name,   k, w, x, y) {
	for (k = 1; k <= picks; k++) {
		if (!((k, d) in window_of))
			continue
		w = window_of[k, d]
		x = a > begin[w] ? a : begin[w]
		y = b < finish[w] ? b : finish[w]
		if (y - x >= length_of[k] / 4000 && y > x)
			extend(w, "idle", cause, x, y, -1, 1, y - x, name)
	}
}
file == 2 { listed[++devices] = v("device") }
file == 3 { gaps++; gap_start[gaps] = 1 * v("start"); gap_end[gaps] = v("start") + v("dur"); gap_device[gaps] = v("device"); gap_cause[gaps] = v("cause"); gap_next[gaps] = v("next") }
# The critical path, where it is on a device that is drawn.
file == 4 {
	for (k = 1; k <= picks; k++) {
		d = v("on")
		if (!(on[k] == v("device") && step_at[window_of[k, on[k]]] == v("step") && (k, d) in window_of))
			continue
		a = 1 * v("start")
		b = a + v("dur")
		if (b > a && on_clock(k, d) == 1 && a >= zero[k, 1] && b <= stop[k, 1])
			extend(window_of[k, d], "path", v("part"), a, b, near_of[k], 1, b - a, v("part"))
	}
}
# The operations in the times of the picked steps; all of them without steps, read twice: first for the time of the recording.
function read_ops(   command, a, b, i) {
	command = view (whole || !picks ? "" : " --time " spans()) (failed == "" ? "" : " || : >" failed)
	for (split("", col); (command | getline) > 0;) {
		if (!("start" in col)) {
			for (i = 1; i <= NF; i++)
				col[$i] = i
			continue
		}
		a = 1 * v("start")
		b = a + v("dur")
		if (b <= a)
			continue
		if (whole && !picks)
			widen(v("device"), a, b)
		else
			work(v("comm") == 1 ? "comm" : v("type") ~ /^mem/ ? "copy" : "compute", a, b, v("device"), v("name"))
	}
	close(command)
}
# Sort the pieces of window w by lane and start, equal ones in the order of input: a merge sort, since there are thousands.
function order(w,   i, m, size) {
	m = held[w]
	for (i = 1; i <= m; i++)
		by[i] = piece[w, i]
	for (size = 1; size < m; size *= 2) {
		for (i = 1; i <= m; i += 2 * size)
			join(i, i + size, i + 2 * size, m + 1)
		for (i = 1; i <= m; i++)
			by[i] = joined[i]
	}
}
function place(i) { return index("compute comm copy idle path", lane_of[i]) }
function before(i, j) { return place(i) != place(j) ? place(i) < place(j) : lo[i] <= lo[j] }
# Merge by[a..b-1] and by[b..c-1], both sorted and limited to `end`, into joined[a..c-1].
function join(a, b, c, end,   i, j, n) {
	if (b > end)
		b = end
	if (c > end)
		c = end
	i = a
	j = b
	for (n = a; n < c; n++)
		joined[n] = i < b && (j >= c || before(by[i], by[j])) ? by[i++] : by[j++]
}
# Print the pieces of window w of pick k.
function put_window(k, w,   i, j, c) {
	c = on_clock(k, of[w])
	order(w)
	for (i = 1; i <= held[w]; i++) {
		j = by[i]
		print picked[k], step_at[w], of[w], lane_of[j], kind[j], lo[j] - zero[k, c], spent[j], ops_in[j], label[j], on[k], (on[k] == "" ? "" : length_of[k]), hi[j] - lo[j], c
		any = 1
	}
}
# Print rows for devices of pick k without pieces, if other devices have some.
function put_none(k,   i, w) {
	for (i = 1; i <= devices; i++) {
		w = (k, listed[i]) in window_of ? window_of[k, listed[i]] : 0
		if (!w || !held[w])
			print picked[k], (w ? step_at[w] : ""), listed[i], "none", (w || ((k, listed[i]) in no_time) ? "outside" : "limit"), "", "", "", "", on[k], (on[k] == "" ? "" : length_of[k]), "", ""
	}
}
# The times of the picked steps in the form of nsysx-view --time.
function spans(   k, i, list) {
	for (k = 1; k <= picks; k++)
		for (i = 1; i <= clocks[k]; i++)
			list = list (list == "" ? "" : ",") zero[k, i] ":" stop[k, i]
	return list
}
END {
	if (whole) {
		read_ops()
		widened()
		set_near()
	}
	read_ops()
	for (k = 1; k <= picks; k++)
		for (w = 1; w <= windows[k]; w++)
			settle(window[k, w], finish[window[k, w]], near_of[k])
	for (i = 1; i <= gaps; i++)
		gap(gap_cause[i], gap_start[i], gap_end[i], gap_device[i], "before " gap_next[i])
	for (k = 1; k <= picks; k++)
		for (w = 1; w <= windows[k]; w++)
			put_window(k, window[k, w])
	for (k = 1; any && k <= picks; k++)
		put_none(k)
}
