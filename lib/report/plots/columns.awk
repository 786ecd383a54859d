# columns.awk -- a table's columns by name: read before every script here. After a file's first line, col["total"] is
# the position of that column, `$col["total"]` its value and head[i] the name of column i; `file` is the table's name
# without folder and ending.
BEGIN { FS = OFS = "\t"; OFMT = CONVFMT = "%.16g" }
FNR == 1 {
	file = FILENAME
	sub(/.*\//, "", file)
	sub(/\.[a-z]*$/, "", file)
	split("", col)
	for (i = 1; i <= NF; i++) {
		col[$i] = i
		head[i] = $i
	}
	next
}
# A name as gnuplot reads it in a field.
function plain(s) {
	gsub(/"/, "'", s)
	return s
}
# A name for a key, whose columns are as wide as its longest name: the middle of a long one is left out, in whole characters.
function key_name(s,  from, to) {
	s = plain(s)
	if (length(s) <= 60)
		return s
	from = substr(s, 1, 36)
	to = substr(s, length(s) - 20)
	sub(/[\300-\377][\200-\277]*$/, "", from)
	sub(/^[\200-\277]+/, "", to)
	return from "..." to
}
function bytes(n) {
	n += 0
	return n < 1000 ? n " B" : n < 1e6 ? sprintf("%.3g kB", n / 1e3) : n < 1e9 ? sprintf("%.3g MB", n / 1e6) : sprintf("%.3g GB", n / 1e9)
}
