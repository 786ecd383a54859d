# steps.dat: for the class of steps with the most time, a block for each device: number of the step, period in ns. If
# there are many steps, only some are kept; of many devices the relevant ones. Reads step-each.tsv and relevant.tsv.
file == "relevant" { wanted[++wants] = $1; next }
$col["period"] > 0 {
	n++
	class[n] = $col["class"]
	device[n] = $col["device"]
	number[n] = $col["step"]
	period[n] = $col["period"]
	all[class[n]] += period[n]
}
function put(d) {
	if (!(d in rows) || (d in had) || drawn == 8)
		return
	printf "%s\"device %s\"\n%s", (drawn++ ? "\n\n" : ""), d, rows[d]
	had[d] = 1
}
END {
	for (i = 1; i <= n; i++)
		if (top == "" || all[class[i]] > all[top])
			top = class[i]
	every = int(n / 6000) + 1
	for (i = 1; i <= n; i++) {
		if (class[i] != top || number[i] % every)
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
