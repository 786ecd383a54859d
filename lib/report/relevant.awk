# relevant.awk -- the devices that a page shows where there is no room for all: of the findings about late devices, of a
# set of them the eight that take longest for their own work, then the ten of all that do, the median, the 99th percentile
# and the shortest. Reads findings.tsv, step-each.tsv and record-device.tsv, in that order. Writes a row for each: device
# why own of. own is the mean time of a step that is not exposed communication, in ns: who waits least for others makes
# them wait. of: how many devices the finding is about. A page with up to 16 devices shows them all: no rows.
BEGIN {
	FS = OFS = "\t"
	OFMT = CONVFMT = "%.16g"
	DEVICES = 16
	WORST = 10
	SHOWN = 8
	print "device", "why", "own", "of"
}
FNR == 1 {
	file++
	split("", col)
	for (i = 1; i <= NF; i++)
		col[$i] = i
	next
}
function v(name) { return name in col ? $col[name] : "" }
# Add the devices of a list such as 0,1 or 0-62/2.
function add_late(list,   n, part, i, d, end, by) {
	n = split(list, part, ",")
	for (i = 1; i <= n; i++) {
		split(part[i], by, "/")
		split(by[1], end, "-")
		for (d = end[1] + 0; d <= (2 in end ? end[2] : end[1]) + 0; d += (by[2] > 0 ? by[2] : 1))
			if (!((lates, d) in is_late)) {
				is_late[lates, d]
				late[lates, ++many[lates]] = d
			}
	}
}
# The change that would remove it names the devices of a set.
file == 1 && v("finding") ~ /^(straggler|late-host|late-device)$/ {
	d = v("subject")
	if (d ~ /^device [0-9]/) {
		sub(/^device /, "", d)
		sub(/[^0-9].*/, "", d)
		lates++
		add_late(d)
	} else if ((d = v("change")) ~ /^nowait:[0-9]/) {
		lates++
		add_late(substr(d, 8))
	}
}
# Steps that another one follows, of one class.
file == 2 && v("period") > 0 {
	d = v("device")
	if (!(d in n))
		has[++m] = d
	n[d]++
	own[d] += v("period") - v("exposed")
}
file == 3 { devices++ }
# By own time, the longest first, equal ones by number: a heap sort.
function after(a, b) { return mean[a] != mean[b] ? mean[a] < mean[b] : a > b }
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
# A device has one row, for the first reason, but the percentiles, which are numbers of their own.
function put(d, why, of) {
	if (!(d in met) || why ~ /^(median|p99)$/) {
		print d, why, (d in mean ? mean[d] : ""), of
		rows++
	}
	met[d] = 1
}
# Of a set, the longest first; then those without steps.
function put_set(k, steps,   i, n) {
	for (i = 1; i <= steps && n < SHOWN; i++)
		if ((k, at[i]) in is_late) {
			put(at[i], "finding", many[k])
			n++
		}
	for (i = 1; i <= many[k] && n < SHOWN; i++)
		if (!(late[k, i] in mean)) {
			put(late[k, i], "finding", many[k])
			n++
		}
}
END {
	if (devices <= DEVICES)
		exit
	for (i = 1; i <= m; i++) {
		d = at[i] = has[i] + 0
		mean[d] = own[has[i]] / n[has[i]]
	}
	sort(m)
	for (i = 1; i <= lates && rows < WORST; i++)
		put_set(i, m)
	# The percentiles have room, too.
	for (i = 1; i <= m && i <= WORST && rows < DEVICES - 3; i++)
		put(at[i], "longest")
	if (m) {
		# Ranks from the shortest: the ceil(p n / 100)-th.
		put(at[m - int((m + 1) / 2) + 1], "median")
		put(at[m - int((99 * m + 99) / 100) + 1], "p99")
		put(at[m], "shortest")
	}
}
