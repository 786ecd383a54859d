# bandwidth.dat: a block for each collective: message size, mean bus bandwidth, its standard error.
$col["busbw_mean"] != "" && $col["bytes"] > 0 {
	name = plain($col["collective"] " of " $col["group"])
	if (!(name in rows))
		order[++n] = name
	rows[name] = rows[name] $col["bytes"] OFS $col["busbw_mean"] OFS $col["busbw_stderr"] + 0 "\n"
}
END {
	for (i = 1; i <= n; i++)
		printf "%s\"%s\"\n%s", (i > 1 ? "\n\n" : ""), order[i], rows[order[i]]
}
