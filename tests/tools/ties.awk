# ties.awk -- whether the work of a stream, as text, is in the whole order of docs/format.md: also what starts at one time. Prints each
# record that comes too late, and `few` if fewer than MIN [1] were told apart by their last columns alone.
BEGIN {
	FS = "\t"
	for (n = split("overhead call module range thunk op collective", kinds, " "); n > 0; n--) rank[kinds[n]] = n
	split("profile device pid tid range name", by, " ")
	if (min == "") min = 1
}
function value(column, none) { return ($1, column) in at && $at[$1, column] != "" ? $at[$1, column] : none }
/^#/ { for (i = 2; i <= NF; i++) { name = $i; sub(/:.*/, "", name); at[substr($1, 2), name] = i }; next }
!($1 in rank) { next }
{
	for (c = 1; c <= 10; c++) last[c] = now[c]
	host = value("host_start", "")
	now[1] = value("start", host)
	if ($1 == "range" && host != "" && host < now[1] + 0) now[1] = host
	now[2] = rank[$1]
	now[3] = -value($1 == "range" && host != "" ? "host_dur" : "dur", 2 ^ 62)
	for (c = 1; c <= 6; c++) now[c + 3] = value(by[c], c == 6 ? "" : -2 ^ 62)
	now[10] = value(rank[$1] > 5 ? "op" : "call", -2 ^ 62)
	if (!seen++) next
	for (c = 1; c <= 10; c++) {
		x = c == 9 ? now[c] "" : now[c] + 0
		y = c == 9 ? last[c] "" : last[c] + 0
		if (x < y) print NR ": " $0
		if (x != y) break
	}
	ties += c > 3
}
END { if (ties < min) print "few" }
