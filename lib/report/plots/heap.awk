# heap.dat: a block for each heap with the largest peaks: position in the program, in percent, and live MB.
file == "heap-peak" {
	if (FNR <= 5)
		order[++n] = $col["id"] OFS $col["trace"]
	next
}
{
	k = $col["id"] OFS $col["trace"]
	name[k] = key_name($col["name"] (1 * $col["trace"] ? ", heap " $col["trace"] : ""))
	at[k, $col["step"]] = $col["bytes"]
	if ($col["step"] > last[k])
		last[k] = $col["step"] + 0
}
END {
	for (i = 1; i <= n; i++) {
		k = order[i]
		printf "%s\"%s\"\n", (i > 1 ? "\n\n" : ""), name[k]
		for (s = 0; s <= last[k]; s++)
			if ((k, s) in at)
				print last[k] ? 100 * s / last[k] : 0, at[k, s] / 1e6
	}
}
