# waits.dat: collective and size, mean and longest wait in us, for those with the most waiting in total. The size of the
# group is named if it is known and differs.
$col["wait_mean"] != "" {
	group = $col["group"]
	groups += !(group in seen)
	seen[group] = 1
	all = $col["wait"] + 0
	at = ++n
	while (at > 1 && sum[at - 1] < all) {
		sum[at] = sum[at - 1]
		label[at] = label[at - 1]
		of[at] = of[at - 1]
		row[at] = row[at - 1]
		at--
	}
	sum[at] = all
	label[at] = plain($col["collective"]) ($col["bytes"] != "" ? ", " bytes($col["bytes"]) : "")
	of[at] = group != "" ? " of " group : ""
	row[at] = $col["wait_mean"] / 1e3 OFS $col["wait_max"] / 1e3
}
END {
	for (i = 1; i <= n && i <= 14; i++)
		print "\"" label[i] (groups > 1 ? of[i] : "") "\"", row[i]
}
