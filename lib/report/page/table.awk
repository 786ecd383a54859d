# table.awk -- the first rows of a table as HTML. spec: column:label:form, a comma apart; limit: rows shown; link: where all are.
BEGIN { n = split(spec, want, ",") }
NR == 1 {
	for (i = 1; i <= NF; i++)
		col[$i] = i
	for (i = 1; i <= n; i++) {
		split(want[i], part, ":")
		if (part[1] in col) {
			at[++m] = col[part[1]]
			label[m] = part[2]
			form[m] = part[3]
		}
	}
	next
}
# A name. A long one is shown in four lines and whole when pointed at, but for a name beyond what anyone reads; the table has all of it.
function put_name(x,   whole) {
	whole = x
	if (length(x) > 1000) {
		x = substr(x, 1, 1000)
		sub(/[\300-\377][\200-\277]*$/, "", x)
		whole = x = x "…"
	}
	if (length(whole) > 60)
		print "<td class=\"s long\"><div title=\"" esc(whole) "\">" esc(x) "</div></td>"
	else
		print "<td class=\"s\">" esc(x) "</td>"
}
{ rows++ }
rows == 1 {
	print "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>"
	for (i = 1; i <= m; i++)
		printf "<th scope=\"col\"%s>%s</th>", form[i] == "s" ? "" : " class=\"n\"", esc(label[i])
	print "</tr></thead>\n<tbody>"
}
rows <= limit {
	printf "<tr>"
	for (i = 1; i <= m; i++) {
		x = $at[i]
		if (x == "")
			printf "<td class=\"%s none\">–</td>", form[i] == "s" ? "s" : "n"
		else if (form[i] == "s")
			put_name(x)
		else
			printf "<td class=\"n\">%s</td>", data(x, form[i])
	}
	print "</tr>"
}
END {
	if (!rows)
		exit
	print "</tbody></table></div>"
	printf "<p class=\"more\"><a href=\"%s\">%s</a>%s</p>\n", link, link, (rows > limit ? ", the first " limit " of " rows " rows shown" : ", " rows (rows == 1 ? " row" : " rows"))
}
