# scale.awk -- of rows command, devices, cpu_s, peak_kib a row for each command: its time for each number of devices, its memory for the
# smallest and the largest, and the exponents of both.
function slope(c, of, least,   i, n, x, y, sx, sy, sxx, sxy) {
	for (i = 1; i <= nsizes; i++)
		if (sizes[i] >= 256 && of[c, sizes[i]] != "" && of[c, sizes[i]] >= least) {
			x = log(sizes[i])
			y = log(of[c, sizes[i]])
			n++; sx += x; sy += y; sxx += x * x; sxy += x * y
		}
	return n > 1 ? sprintf("%.2f", (n * sxy - sx * sy) / (n * sxx - sx * sx)) : ""
}
BEGIN { FS = OFS = "\t" }
FNR == 1 { next }
{
	if (!($1 in seen)) { seen[$1]; commands[++ncommands] = $1 }
	if (!($2 in size)) { size[$2]; sizes[++nsizes] = $2 }
	cpu[$1, $2] = $3
	kib[$1, $2] = $4
}
END {
	line = "command"
	for (i = 1; i <= nsizes; i++)
		line = line OFS "cpu_" sizes[i] "_s"
	print line, "exponent", "peak_" sizes[1] "_kib", "peak_" sizes[nsizes] "_kib", "memory_exponent"
	for (k = 1; k <= ncommands; k++) {
		c = commands[k]
		line = c
		for (i = 1; i <= nsizes; i++)
			line = line OFS cpu[c, sizes[i]]
		print line, slope(c, cpu, 0.02), kib[c, sizes[1]], kib[c, sizes[nsizes]], slope(c, kib, 0)
	}
}
