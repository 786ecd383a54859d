# steps.dat: of the steps that count a block for each device: number of the step, period in ns. If there are many steps,
# only some are kept; of many devices the relevant ones. Reads them, and relevant.tsv.
file == "relevant" { wanted[++wants] = $1; next }
$col["period"] > 0 {
	n++
	device[n] = $col["device"]
	number[n] = $col["step"]
	period[n] = $col["period"]
}
function put(d) {
	if (!(d in rows) || (d in had) || drawn == 8)
		return
	printf "%s\"device %s\"\n%s", (drawn++ ? "\n\n" : ""), d, rows[d]
	had[d] = 1
}
END {
	every = int(n / 6000) + 1
	for (i = 1; i <= n; i++) {
		if (number[i] % every)
			continue
		if (!(device[i] in rows))
			order[++m] = device[i]
		rows[device[i]] = rows[device[i]] number[i] OFS period[i] "\n"
	}
	for (i = 1; i <= wants; i++)
		put(wanted[i])
	for (i = 1; i <= m; i++)
		put(order[i])
}
