# roofline.dat: a block for each kind of math: operations per byte and TFLOP/s of the instructions with the most time;
# then a block for each roof: the same for the peaks of the devices.
$col["intensity"] > 0 && $col["tflops"] > 0 && points < 1500 {
	m = $col["math"]
	if (!(m in rows))
		order[++n] = m
	points++
	rows[m] = rows[m] $col["intensity"] OFS $col["tflops"] "\n"
	if ($col["peak"] > peak[m]) peak[m] = $col["peak"]
	if ($col["bandwidth"] > bandwidth) bandwidth = $col["bandwidth"]
	if (least == "" || $col["intensity"] + 0 < least) least = 1 * $col["intensity"]
	if ($col["intensity"] + 0 > most) most = 1 * $col["intensity"]
}
END {
	for (i = 1; i <= n; i++)
		printf "%s\"%s\"\n%s", (i > 1 ? "\n\n" : ""), (order[i] == "" ? "no math" : order[i]), rows[order[i]]
	for (i = 1; i <= n; i++) {
		p = peak[order[i]]
		if (!(p > 0 && bandwidth > 0))
			continue
		ridge = 1000 * p / bandwidth
		printf "\n\n\"%s: %.4g TFLOP/s, %.4g GB/s\"\n", (order[i] == "" ? "no math" : order[i]), p, bandwidth
		if (least < ridge)
			print least, least * bandwidth / 1000
		print (least < ridge ? ridge : least), p
		print (most > ridge ? most : ridge * 10), p
	}
}
