# table.awk -- a table of `make bench` for people: the end of a column's name is its unit, and is moved into its cells.
# With -v markdown=1 as Markdown. Columns that $hide names are left out.
function human(v, unit) {
	if (v == "")
		return ""
	if (unit == "s")
		return (v < 0.9995 ? sprintf("%.0f ms", v * 1000) : sprintf("%.2f s", v))
	if (unit == "ns")
		return (v < 9.5 ? sprintf("%.1f ns", v) : sprintf("%.0f ns", v))
	if (unit == "kib")
		return (v < 10240 ? sprintf("%.1f MiB", v / 1024) : sprintf("%.0f MiB", v / 1024))
	if (unit == "bytes")
		return (v < 1e5 ? sprintf("%.1f kB", v / 1e3) : sprintf("%.1f MB", v / 1e6))
	if (unit == "ratio")
		return sprintf("%.2fx", v)
	if (unit == "per_s" || unit == "events" || unit == "records")
		return (v < 1e4 ? sprintf("%.0f", v) : v < 1e6 ? sprintf("%.0f k", v / 1e3) : sprintf("%.1f M", v / 1e6))
	return v
}
function unit_of(name) {
	if (name ~ /_per_(cpu_)?s$/)
		return "per_s"
	sub(/.*_/, "", name)
	return name
}
BEGIN {
	FS = "\t"
	n = split("wall_least_s over " hide, names, " ")
	for (i = 1; i <= n; i++)
		hidden[names[i]] = 1
}
NR == 1 {
	for (i = 1; i <= NF; i++) {
		name[i] = $i
		unit[i] = unit_of($i)
		if ($i == "over")
			over = i
		if (!($i in hidden))
			column[++columns] = i
	}
}
{
	for (c = 1; c <= columns; c++) {
		i = column[c]
		v = NR == 1 ? $i : human($i, unit[i])
		if (NR == 1) {
			if (unit[i] != "per_s")
				sub(/_(s|kib|bytes|ratio|ns)$/, "", v)
			else
				sub(/_per_/, "/", v)
			if (unit[i] == "ratio")
				v = v " ratio"
			gsub(/_/, " ", v)
		} else if (over && $over == 1 && name[i] ~ /_s$|_ratio$/)
			v = "over " v
		else if (NR > 1 && v != "" && $i !~ /^[0-9.]+$/)
			words[c] = 1
		cell[NR, c] = v
		if (length(v) > width[c])
			width[c] = length(v)
	}
}
END {
	for (r = 1; r <= NR; r++) {
		line = markdown ? "|" : ""
		rule = "|"
		for (c = 1; c <= columns; c++) {
			v = cell[r, c]
			pad = sprintf("%" (width[c] - length(v)) "s", "")
			if (markdown)
				line = line " " v " |"
			else
				line = line (c > 1 ? "  " : "") (words[c] ? v pad : pad v)
			rule = rule (words[c] ? "---|" : "--:|")
		}
		sub(/ +$/, "", line)
		print line
		if (markdown && r == 1)
			print rule
	}
}
