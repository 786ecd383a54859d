# lanes.awk -- a step as lanes: what every device did in the median and in the slowest step. Reads step-each.tsv, a list of gaps (nsysx-idle --list)
# and a table of op records, in that order. A row a piece: pick step device lane what start dur count name; times in ns, start from where the step
# begins on the first device. What lies closer together than a picture shows is one piece, with the name of its longest operation; gaps are not joined. Without steps
# the op table comes twice, and the whole recording is the one step.
# With spans set it tells the times of the steps instead, from the first two.
BEGIN {
	FS = OFS = "\t"
	OFMT = CONVFMT = "%.16g"
	DEVICES = 16
	PIECES = 3200
	if (!spans)
		print "pick", "step", "device", "lane", "what", "start", "dur", "count", "name"
}
FNR == 1 {
	file++
	split("", col)
	for (i = 1; i <= NF; i++)
		col[$i] = i
	if (file == 2) {
		choose()
		set_near()
		if (spans)
			exit
	}
	next
}
function v(name) { return $col[name] }
# Of the class with most time the median and the slowest step of its first device, of those that end with another one.
file == 1 && v("period") > 0 {
	n++
	class[n] = v("class")
	device[n] = v("device")
	number[n] = v("step")
	from[n] = 1 * v("start")
	period[n] = 1 * v("period")
	all[class[n]] += period[n]
	if (!(class[n] in first))
		first[class[n]] = device[n]
}
function choose(   i, j, m, x, top) {
	for (i = 1; i <= n; i++)
		if (top == "" || all[class[i]] > all[top])
			top = class[i]
	for (i = 1; i <= n; i++)
		if (class[i] == top && device[i] == first[top])
			at[++m] = i
	if (!m) {
		whole = 1
		return
	}
	sort(m)
	pick(1, "median", at[int((m + 1) / 2)], top)
	if (m > 1)
		pick(2, "slowest", at[m], top)
}
# at[1..m] by period, equal ones in order of time: a heap sort.
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
function pick(k, name, i, top,   j) {
	picked[k] = name
	step_of[k] = number[i]
	zero[k] = from[i]
	picks = k
	for (j = 1; j <= n; j++)
		if (class[j] == top && number[j] == step_of[k] && windows[k] < DEVICES) {
			w = ++windows[k]
			of[k, w] = device[j]
			begin[k, w] = from[j]
			finish[k, w] = from[j] + period[j]
			if (finish[k, w] - zero[k] > length_of[k])
				length_of[k] = finish[k, w] - zero[k]
			total++
		}
}
# Without steps: the first operation's start to the last one's end, of every device.
function widen(d, a, b,   w) {
	if (!(d in window_of)) {
		if (windows[1] == DEVICES)
			return
		w = window_of[d] = ++windows[1]
		of[1, w] = d
		total++
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
	for (w = 1; w <= windows[1]; w++) {
		begin[1, w] = zero[1]
		finish[1, w] = finish_all
	}
	length_of[1] = finish_all - zero[1]
}
# How close pieces are that a picture shows as one: lanes share out what it may hold.
function set_near(   k) {
	for (k = 1; k <= picks; k++) {
		near_of[k] = length_of[k] * 2 * total / PIECES
		if (near_of[k] < length_of[k] / 2000)
			near_of[k] = length_of[k] / 2000
	}
}
# Keep what lies in a picked step: lane, start, end, name. It joins the piece before where that is near.
function keep(lane, what, a, b, d, name,   k, w, i, x, y) {
	for (k = 1; k <= picks; k++)
		for (w = 1; w <= windows[k]; w++)
			if (of[k, w] == d && a < finish[k, w] && b > begin[k, w]) {
				x = a > begin[k, w] ? a : begin[k, w]
				y = b < finish[k, w] ? b : finish[k, w]
				i = held[k, w, lane]
				if (lane == "idle" || !i || x - hi[k, w, lane, i] > near_of[k]) {
					i = ++held[k, w, lane]
					lo[k, w, lane, i] = x
					hi[k, w, lane, i] = y
					kind[k, w, lane, i] = what
				} else if (y > hi[k, w, lane, i])
					hi[k, w, lane, i] = y
				ops_in[k, w, lane, i]++
				if (y - x > longest[k, w, lane, i]) {
					longest[k, w, lane, i] = y - x
					label[k, w, lane, i] = name
				}
			}
}
file == 2 { gaps++; gap_start[gaps] = 1 * v("start"); gap_end[gaps] = v("start") + v("dur"); gap_device[gaps] = v("device"); gap_cause[gaps] = v("cause"); gap_next[gaps] = v("next") }
file == 3 && $1 == "profile" { again = 1; widened(); set_near(); next }
file == 3 {
	a = 1 * $col["start"]
	b = a + $col["dur"]
	if (b <= a)
		next
	if (whole && !again)
		widen(v("device"), a, b)
	else
		keep(v("comm") == 1 ? "comm" : v("type") ~ /^mem/ ? "copy" : "compute", "", a, b, v("device"), v("name"))
}
# Gaps come by length: those of a step in order of time.
function put_gaps(   i, j, k, w, m) {
	for (i = 1; i <= gaps; i++)
		keep("idle", gap_cause[i], gap_start[i], gap_end[i], gap_device[i], "before " gap_next[i])
	for (k = 1; k <= picks; k++)
		for (w = 1; w <= windows[k]; w++)
			order(k, w, held[k, w, "idle"])
}
# The m gaps of a lane by their start, equal ones as they came: merged from runs of one, since there are thousands of them.
function order(k, w, m,   i, size) {
	for (i = 1; i <= m; i++)
		by[i] = i
	for (size = 1; size < m; size *= 2) {
		for (i = 1; i <= m; i += 2 * size)
			join(k, w, i, i + size, i + 2 * size, m + 1)
		for (i = 1; i <= m; i++)
			by[i] = joined[i]
	}
	for (i = 1; i <= m; i++) {
		s_lo[i] = lo[k, w, "idle", i]; s_hi[i] = hi[k, w, "idle", i]
		s_kind[i] = kind[k, w, "idle", i]; s_label[i] = label[k, w, "idle", i]
	}
	for (i = 1; i <= m; i++) {
		lo[k, w, "idle", i] = s_lo[by[i]]; hi[k, w, "idle", i] = s_hi[by[i]]
		kind[k, w, "idle", i] = s_kind[by[i]]; label[k, w, "idle", i] = s_label[by[i]]
	}
}
# by[a..b-1] and by[b..c-1], both in order and none beyond `end`, into joined[a..c-1].
function join(k, w, a, b, c, end,   i, j, n) {
	if (b > end)
		b = end
	if (c > end)
		c = end
	i = a
	j = b
	for (n = a; n < c; n++)
		joined[n] = i < b && (j >= c || lo[k, w, "idle", by[i]] <= lo[k, w, "idle", by[j]]) ? by[i++] : by[j++]
}
# A piece under way, and what comes next to it.
function flush() {
	if (p_end > p_start)
		print picked[k], step_of[k], of[k, w], p_lane, p_what, p_start - zero[k], p_end - p_start, p_count, p_name
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
# Communication in pieces: hidden beside what computes, exposed elsewhere. u: the union of what computes, from place q.
function split_comm(a, b, name, ops,   i) {
	while (q <= u && union_end[q] <= a)
		q++
	for (i = q; i <= u && union_start[i] < b; i++) {
		if (union_start[i] > a)
			add("comm", "exposed", a, union_start[i], name, ops)
		add("comm", "hidden", union_start[i] > a ? union_start[i] : a, union_end[i] < b ? union_end[i] : b, name, ops)
		a = union_end[i]
	}
	if (a < b)
		add("comm", "exposed", a, b, name, ops)
}
# The times of the steps that are picked, as nsysx-view --time has them.
function put_spans(   k, w, last) {
	for (k = 1; k <= picks; k++) {
		for (w = 1; w <= windows[k]; w++) {
			if (begin[k, w] < first_of[k] || w == 1)
				first_of[k] = begin[k, w]
			if (finish[k, w] > last_of[k])
				last_of[k] = finish[k, w]
		}
		printf "%s%s:%s", (k > 1 ? "," : ""), first_of[k], last_of[k]
	}
}
END {
	if (spans) {
		put_spans()
		exit
	}
	put_gaps()
	for (k = 1; k <= picks; k++) {
		for (w = 1; w <= windows[k]; w++) {
			near = near_of[k]
			u = 0
			for (i = 1; i <= held[k, w, "compute"]; i++) {
				a = lo[k, w, "compute", i]
				b = hi[k, w, "compute", i]
				if (u && a <= union_end[u]) {
					if (b > union_end[u])
						union_end[u] = b
				} else {
					union_start[++u] = a
					union_end[u] = b
				}
				add("compute", "", a, b, label[k, w, "compute", i], ops_in[k, w, "compute", i])
			}
			flush()
			q = 1
			for (i = 1; i <= held[k, w, "comm"]; i++)
				split_comm(lo[k, w, "comm", i], hi[k, w, "comm", i], label[k, w, "comm", i], ops_in[k, w, "comm", i])
			flush()
			for (i = 1; i <= held[k, w, "copy"]; i++)
				add("copy", "", lo[k, w, "copy", i], hi[k, w, "copy", i], label[k, w, "copy", i], ops_in[k, w, "copy", i])
			flush()
			# Gaps are as long as they are: those that are too short to be seen would make up a long one.
			near = 0
			for (i = 1; i <= held[k, w, "idle"]; i++)
				if (hi[k, w, "idle", i] - lo[k, w, "idle", i] >= length_of[k] / 4000)
					add("idle", kind[k, w, "idle", i], lo[k, w, "idle", i], hi[k, w, "idle", i], label[k, w, "idle", i], ops_in[k, w, "idle", i])
			flush()
		}
	}
}
