# lanes.awk -- a step as lanes: what every device did in the median and in the slowest step. Reads step-each.tsv,
# record-device.tsv, a list of gaps (nsysx-idle --list) and a table of op records, in that order. Writes a row for each
# piece: pick step device lane what start dur count name on period; times in ns. A step is the step of one device
# (column on) and lasts for period: all devices are drawn over that time, whichever step they are in, so that waiting
# devices are above the late one. start is relative to the beginning of the step. Operations that are closer together
# than a picture can show are one piece, with the name of the longest; gaps are not joined. A device without pieces has
# one row, in the lane none: what is `outside` if it did nothing in that time, `limit` if the picture has too many
# devices. Without steps the op table is read twice, and the whole recording is the only step: on and period are empty.
# With spans set, the times of the steps are printed instead, from the first two tables.
BEGIN {
	FS = OFS = "\t"
	OFMT = CONVFMT = "%.16g"
	DEVICES = 16
	PIECES = 3200
	if (!spans)
		print "pick", "step", "device", "lane", "what", "start", "dur", "count", "name", "on", "period"
}
FNR == 1 {
	file++
	split("", col)
	for (i = 1; i <= NF; i++)
		col[$i] = i
	if (file == 2) {
		choose()
		if (spans)
			exit
	} else if (file == 3) {
		for (i = 1; i <= picks; i++)
			open_rest(i)
		set_near()
	}
	next
}
function v(name) { return $col[name] }
# From the class with the most time, the median and the slowest step of all devices, among steps that another one
# follows.
file == 1 && v("period") > 0 {
	n++
	class[n] = v("class")
	device[n] = v("device")
	number[n] = v("step")
	from[n] = 1 * v("start")
	period[n] = 1 * v("period")
	all[class[n]] += period[n]
}
function choose(   i, j, m, x, top) {
	for (i = 1; i <= n; i++)
		if (top == "" || all[class[i]] > all[top])
			top = class[i]
	for (i = 1; i <= n; i++)
		if (class[i] == top)
			at[++m] = i
	if (!m) {
		whole = 1
		return
	}
	sort(m)
	pick(1, "median", at[int((m + 1) / 2)], top)
	if (m == 1)
		return
	# Among equal ones the first.
	while (m > 1 && period[at[m - 1]] == period[at[m]])
		m--
	pick(2, "slowest", at[m], top)
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
# Create a window for pick k of device d, and return its number.
function open_window(k, d) {
	total++
	of[total] = d
	window[k, ++windows[k]] = window_of[k, d] = total
	return total
}
# Pick step i: open windows over its time on its device and on the others that have steps of its class.
function pick(k, name, i, top,   j) {
	picked[k] = name
	step_of[k] = number[i]
	zero[k] = from[i]
	on[k] = device[i]
	length_of[k] = period[i]
	picks = k
	over(k, device[i])
	for (j = 1; j <= n; j++)
		if (class[j] == top && windows[k] < DEVICES && !((k, device[j]) in window_of))
			over(k, device[j])
}
# Open windows for devices with other steps or none.
function open_rest(k,   i) {
	for (i = 1; i <= devices && windows[k] < DEVICES; i++)
		if (!((k, listed[i]) in window_of))
			over(k, listed[i])
}
function over(k, d,   x) {
	x = open_window(k, d)
	begin[x] = zero[k]
	finish[x] = zero[k] + length_of[k]
}
# Without steps, the window is from the first operation's start to the last operation's end, on all devices.
function widen(d, a, b) {
	if (!((1, d) in window_of)) {
		if (windows[1] == DEVICES)
			return
		open_window(1, d)
	}
	if (!began++ || a < zero[1])
		zero[1] = a
	if (b > finish_all)
		finish_all = b
}
function widened(   w) {
	picked[1] = "recording"
	picks = 1
	step_of[1] = ""
	length_of[1] = finish_all - zero[1]
	for (w = 1; w <= windows[1]; w++) {
		begin[window[1, w]] = zero[1]
		finish[window[1, w]] = finish_all
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
# Keep what is in a picked step: lane, start, end, name. It is joined with the previous piece if that is near. Pieces
# are numbered, and listed by window and lane.
function keep(lane, what, a, b, d, name,   k, w, q, i, x, y) {
	for (k = 1; k <= picks; k++) {
		if (!((k, d) in window_of))
			continue
		w = window_of[k, d]
		if (!(a < finish[w] && b > begin[w]))
			continue
		x = a > begin[w] ? a : begin[w]
		y = b < finish[w] ? b : finish[w]
		q = w SUBSEP lane
		i = last[q]
		if (lane == "idle" || !i || x - hi[i] > near_of[k]) {
			i = last[q] = piece[q, ++held[q]] = ++pieces
			lo[i] = x
			hi[i] = y
			kind[i] = what
		} else if (y > hi[i])
			hi[i] = y
		ops_in[i]++
		if (y - x > longest[i]) {
			longest[i] = y - x
			label[i] = name
		}
	}
}
file == 2 { listed[++devices] = v("device") }
file == 3 { gaps++; gap_start[gaps] = 1 * v("start"); gap_end[gaps] = v("start") + v("dur"); gap_device[gaps] = v("device"); gap_cause[gaps] = v("cause"); gap_next[gaps] = v("next") }
file == 4 && $1 == "profile" { again = 1; widened(); set_near(); next }
file == 4 {
	a = 1 * v("start")
	b = a + v("dur")
	if (b <= a)
		next
	if (whole && !again)
		widen(v("device"), a, b)
	else
		keep(v("comm") == 1 ? "comm" : v("type") ~ /^mem/ ? "copy" : "compute", "", a, b, v("device"), v("name"))
}
# Gaps are read in order of length: sort those of each step by time.
function put_gaps(   i, w) {
	for (i = 1; i <= gaps; i++)
		keep("idle", gap_cause[i], gap_start[i], gap_end[i], gap_device[i], "before " gap_next[i])
	for (w = 1; w <= total; w++)
		order(w SUBSEP "idle")
}
# Sort the gaps of lane q by start, equal ones in the order of input: a merge sort, since there are thousands of them.
function order(q,   i, m, size) {
	m = held[q]
	for (i = 1; i <= m; i++)
		by[i] = piece[q, i]
	for (size = 1; size < m; size *= 2) {
		for (i = 1; i <= m; i += 2 * size)
			join(i, i + size, i + 2 * size, m + 1)
		for (i = 1; i <= m; i++)
			by[i] = joined[i]
	}
	for (i = 1; i <= m; i++)
		piece[q, i] = by[i]
}
# Merge by[a..b-1] and by[b..c-1], both sorted and limited to `end`, into joined[a..c-1].
function join(a, b, c, end,   i, j, n) {
	if (b > end)
		b = end
	if (c > end)
		c = end
	i = a
	j = b
	for (n = a; n < c; n++)
		joined[n] = i < b && (j >= c || lo[by[i]] <= lo[by[j]]) ? by[i++] : by[j++]
}
# Print the current piece.
function flush() {
	if (p_end > p_start) {
		drawn[x]++
		any = 1
		print picked[k], step_of[k], of[x], p_lane, p_what, p_start - zero[k], p_end - p_start, p_count, p_name, on[k], (on[k] == "" ? "" : length_of[k])
	}
	p_end = p_start = 0
}
function add(lane, what, a, b, name, ops) {
	if (p_end > p_start && lane == p_lane && what == p_what && a - p_end <= near) {
		p_count += ops
		if (b > p_end)
			p_end = b
		if (b - a > p_longest) {
			p_longest = b - a
			p_name = name
		}
		return
	}
	flush()
	p_lane = lane; p_what = what; p_start = a; p_end = b; p_count = ops; p_name = name; p_longest = b - a
}
# Split communication into pieces: hidden where something computes, exposed elsewhere. The union of what computes has u
# intervals; those before next_union have ended.
function split_comm(a, b, name, ops,   i) {
	while (next_union <= u && union_end[next_union] <= a)
		next_union++
	for (i = next_union; i <= u && union_start[i] < b; i++) {
		if (union_start[i] > a)
			add("comm", "exposed", a, union_start[i], name, ops)
		add("comm", "hidden", union_start[i] > a ? union_start[i] : a, union_end[i] < b ? union_end[i] : b, name, ops)
		a = union_end[i]
	}
	if (a < b)
		add("comm", "exposed", a, b, name, ops)
}
# Print rows for devices of pick k without pieces, if other devices have some.
function put_none(k,   i, w) {
	for (i = 1; i <= devices; i++) {
		w = (k, listed[i]) in window_of ? window_of[k, listed[i]] : 0
		if (!drawn[w])
			print picked[k], step_of[k], listed[i], "none", (w ? "outside" : "limit"), "", "", "", "", on[k], (on[k] == "" ? "" : length_of[k])
	}
}
# Print the times of the picked steps in the form of nsysx-view --time.
function put_spans(   k) {
	for (k = 1; k <= picks; k++)
		printf "%s%s:%s", (k > 1 ? "," : ""), zero[k], zero[k] + length_of[k]
}
END {
	if (spans) {
		put_spans()
		exit
	}
	put_gaps()
	for (k = 1; k <= picks; k++) {
		for (w = 1; w <= windows[k]; w++) {
			x = window[k, w]
			near = near_of[k]
			u = 0
			q = x SUBSEP "compute"
			for (i = 1; i <= held[q]; i++) {
				j = piece[q, i]
				a = lo[j]
				b = hi[j]
				if (u && a <= union_end[u]) {
					if (b > union_end[u])
						union_end[u] = b
				} else {
					union_start[++u] = a
					union_end[u] = b
				}
				add("compute", "", a, b, label[j], ops_in[j])
			}
			flush()
			next_union = 1
			q = x SUBSEP "comm"
			for (i = 1; i <= held[q]; i++) {
				j = piece[q, i]
				split_comm(lo[j], hi[j], label[j], ops_in[j])
			}
			flush()
			q = x SUBSEP "copy"
			for (i = 1; i <= held[q]; i++) {
				j = piece[q, i]
				add("copy", "", lo[j], hi[j], label[j], ops_in[j])
			}
			flush()
			# Gaps are not joined: many that are too short to be seen would become a long one.
			near = 0
			q = x SUBSEP "idle"
			for (i = 1; i <= held[q]; i++) {
				j = piece[q, i]
				if (hi[j] - lo[j] >= length_of[k] / 4000)
					add("idle", kind[j], lo[j], hi[j], label[j], ops_in[j])
			}
			flush()
		}
	}
	for (k = 1; any && k <= picks; k++)
		put_none(k)
}
