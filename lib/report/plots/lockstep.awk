# lockstep.dat: for the program with the most time, block 0 has the starts of collectives, then there is a block for
# each device: time since the program's start and distance from the mean, in us; if there are many devices, those that
# deviate most, after a block with the minimum and maximum of all.
file == "module" {
	if (!top)
		top = $col["id"]
	next
}
file == "curve" && FNR == 2 {
	for (c in col)
		if (c ~ /^bias_/)
			devices++
	first = col["std"] + 1
	for (i = first; i < first + devices; i++)
		device[i] = head[i]
}
file == "curve" && $col["id"] == top {
	edges++
	x[edges] = $col["time"] / 1e3
	low[edges] = $col["min"] / 1e3
	high[edges] = $col["max"] / 1e3
	for (i = first; i < first + devices; i++) {
		y[edges, i] = $i
		if ($i != "" && ($i < 0 ? -$i : $i) > far[i])
			far[i] = $i < 0 ? -$i : $i
	}
}
file == "marks" && $col["program"] == top { marks = marks $col["time"] / 1e3 OFS "0\n" }
END {
	if (!edges || devices < 2)
		exit
	printf "\"collective starts\"\n%s\n\n\"least to greatest\"\n", (marks ? marks : "nan\tnan\n")
	for (e = 1; e <= edges; e++)
		print x[e], low[e], high[e]
	for (shown = 0; shown < 8 && shown < devices; shown++) {
		best = 0
		for (i = first; i < first + devices; i++)
			if (!(i in done) && (!best || far[i] > far[best]))
				best = i
		done[best] = 1
	}
	for (i = first; i < first + devices; i++)
		if (i in done) {
			printf "\n\n\"device %s\"\n", substr(device[i], 6)
			for (e = 1; e <= edges; e++)
				if (y[e, i] != "")
					print x[e], y[e, i] / 1e3
		}
}
