# bandwidth.dat: a block for each collective: message size, mean bus bandwidth, its standard error; by name and size.
$col["busbw_mean"] != "" && $col["bytes"] > 0 {
	is = plain($col["collective"] " of " $col["group"])
	size = $col["bytes"] + 0
	at = ++n
	while (at > 1 && (name[at - 1] > is || (name[at - 1] == is && sizes[at - 1] > size))) {
		name[at] = name[at - 1]
		sizes[at] = sizes[at - 1]
		row[at] = row[at - 1]
		at--
	}
	name[at] = is
	sizes[at] = size
	row[at] = $col["bytes"] OFS $col["busbw_mean"] OFS $col["busbw_stderr"] + 0
}
END {
	for (i = 1; i <= n; i++) {
		if (i == 1 || name[i] != name[i - 1])
			printf "%s\"%s\"\n", (i > 1 ? "\n\n" : ""), name[i]
		print row[i]
	}
}
