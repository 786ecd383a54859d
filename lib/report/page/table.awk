# table.awk -- a page with its tables: a line that begins with TABLE (\001) is replaced by a table as HTML, others are
# printed unchanged. Its fields are: spec, column:label:form separated by commas; limit, rows shown initially; link, the
# file with all rows; 1 if rows of relevant devices come first; 1 if the rows are the next lines, up to one that is
# TABLE only, and not those of the file; the most rows that the page has of it, 200 where that is empty. relevant: devices, numbers with commas between them, whose rows are on the page
# though the table has more rows than fit there. Forms are those of html.awk, and path for a stack. The common prefix of
# all names in a column is shown once, above the table.
BEGIN {
	TABLE = "\001"
	FEW = 200
	k = split(relevant, part, ",")
	for (i = 1; i <= k; i++)
		if (!(part[i] in place))
			place[part[i]] = ++places
}
substr($0, 1, 1) != TABLE {
	print
	next
}
{
	limit = $2
	link = $3
	first = $4
	here = $5
	most = $6 ? $6 : FEW
	# Rows of the relevant devices are read first, up to `most`, then others.
	quota = int(most / 2)
	read_table(substr($1, 2))
	if (rows > 0)
		put_table()
}
# The next line of the table is $0; 0: there is none.
function next_line() {
	return here ? (getline) > 0 && $0 != TABLE : (getline <link) > 0
}
function read_table(spec,   n, i, want, part, col) {
	split("", taken)
	split("", names)
	split("", common)
	split("", differ)
	held = m = rows = 0
	if (!next_line())
		return
	for (i = 1; i <= NF; i++)
		col[$i] = i
	n = split(spec, want, ",")
	for (i = 1; i <= n; i++) {
		split(want[i], part, ":")
		if (part[1] in col) {
			at[++m] = col[part[1]]
			label[m] = part[2]
			form[m] = part[3]
		}
	}
	who = "device" in col && !here ? col["device"] : 0
	while (next_line()) {
		rows++
		# The first rows, and behind them those of relevant devices, of each as many as there is room for.
		if (rows <= most || (who && ($who in place) && taken[$who]++ < quota / places))
			hold()
	}
	if (!here)
		close(link)
}
function hold(   i) {
	held++
	line_of[held] = rows
	rank_of[held] = who && ($who in place) ? place[$who] : 0
	for (i = 1; i <= m; i++)
		cell[held, i] = $at[i]
}
# The rows of the page, in their order, into chosen[1..on_page].
function choose(   r, p, beyond, n) {
	for (r = 1; r <= held; r++)
		beyond += line_of[r] > most
	if (rows <= FEW || !first) {
		# The last of the first rows make room for those of relevant devices.
		for (r = 1; r <= held; r++)
			if (line_of[r] > most || line_of[r] <= most - beyond)
				chosen[++n] = r
		return n
	}
	for (p = 1; p <= places; p++)
		for (r = 1; r <= held; r++)
			if (rank_of[r] == p && n < most)
				chosen[++n] = r
	for (r = 1; r <= held && n < most; r++)
		if (!rank_of[r])
			chosen[++n] = r
	return n
}
function named(i) { return form[i] == "s" || form[i] == "path" }
# common[i] is the common prefix of the names of column i so far, without absent ones.
function share(i, x,   k) {
	if (x == "")
		return
	if (!names[i]++) {
		common[i] = x
		return
	}
	if (x != common[i])
		differ[i] = 1
	k = length(common[i])
	if (length(x) < k)
		k = length(x)
	while (k && substr(x, 1, k) != substr(common[i], 1, k))
		k = k > 64 ? k - 32 : k - 1
	common[i] = substr(common[i], 1, k)
}
# The prefix up to the end of a part of a name; empty if it is too short to be worth a line.
function prefix(s) {
	sub(/[^\/.:;]*$/, "", s)
	return length(s) >= 12 ? s : ""
}
# A name without its middle part; a character of several bytes is not split.
function middle(x,   a, b) {
	if (length(x) <= 120)
		return x
	a = substr(x, 1, 56)
	b = substr(x, length(x) - 59)
	sub(/[\300-\377][\200-\277]*$/, "", a)
	sub(/^[\200-\277]+/, "", b)
	return a "…" b
}
# Very long names are cut; the table has the whole name.
function whole(x) {
	if (length(x) <= 1000)
		return x
	x = substr(x, 1, 1000)
	sub(/[\300-\377][\200-\277]*$/, "", x)
	return x "…"
}
# A stack: its first and last three frames, each cut.
function path(x,   part, k, from, s) {
	k = split(x, part, ";")
	from = k > 4 ? k - 2 : 2
	s = frame(part[1]) (from > 2 ? " › …" : "")
	for (; from <= k; from++)
		s = s " › " frame(part[from])
	return s
}
function frame(x) {
	if (length(x) <= 40)
		return x
	x = substr(x, 1, 39)
	sub(/[\300-\377][\200-\277]*$/, "", x)
	return x "…"
}
# How a long name is broken across lines: anywhere if one of its words is as long as a line, else between words.
function broken(x,   word, k) {
	if (length(x) <= 30)
		return ""
	for (k = split(x, word, " "); k; k--)
		if (length(word[k]) > 30)
			return " long run"
	return " long"
}
function put_name(x, i,   rest) {
	rest = common[i] != "" ? substr(x, length(common[i]) + 1) : x
	rest = middle(rest)
	if (rest == x)
		print "<td class=\"s" broken(x) "\">" esc(x) "</td>"
	else
		print "<td class=\"s" broken(rest) "\" title=\"" esc(whole(x)) "\">" (common[i] != "" ? "…" : "") esc(rest) "</td>"
}
function put_table(   i, r, x) {
	on_page = choose()
	for (i = 1; i <= m; i++)
		for (r = 1; r <= on_page; r++)
			if (form[i] == "s")
				share(i, cell[chosen[r], i])
	for (i = 1; i <= m; i++) {
		common[i] = form[i] == "s" && differ[i] ? prefix(common[i]) : ""
		if (common[i] != "")
			print "<p class=\"note\">Each " esc(label[i]) " begins <code>" esc(whole(common[i])) "</code></p>"
	}
	print "<div class=\"table\"><div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>"
	for (i = 1; i <= m; i++)
		printf "<th scope=\"col\"%s>%s</th>", named(i) ? "" : " class=\"n\"", esc(label[i])
	print "</tr></thead>\n<tbody>"
	for (r = 1; r <= on_page; r++) {
		printf "%s", (r > limit ? "<tr class=\"rest\">" : "<tr>")
		for (i = 1; i <= m; i++) {
			x = cell[chosen[r], i]
			if (x == "")
				printf "<td class=\"%s none\">–</td>", named(i) ? "s" : "n"
			else if (form[i] == "s")
				put_name(x, i)
			else if (form[i] == "path")
				print "<td class=\"s long\" title=\"" esc(whole(x)) "\">" esc(path(x)) "</td>"
			else
				printf "<td class=\"n\">%s</td>", data(x, form[i])
		}
		print "</tr>"
	}
	print "</tbody></table></div>"
	printf "<p class=\"more\"><a href=\"%s\">%s</a>%s</p></div>\n", link, link, (rows > on_page ? ", " on_page " of " rows " rows here" (places && who ? ", those of the devices that stand out and the first of the others" : ", the first") ": sorting and the filter see only these" : ", " rows (rows == 1 ? " row" : " rows"))
}
