# steps.dat: for the class of steps with the most time, a block for each device: number of the step, period in ns. If
# there are many steps, only some are kept.
$col["period"] > 0 {
	n++
	class[n] = $col["class"]
	device[n] = $col["device"]
	number[n] = $col["step"]
	period[n] = $col["period"]
	all[class[n]] += period[n]
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
	for (i = 1; i <= m && i <= 8; i++)
		printf "%s\"device %s\"\n%s", (i > 1 ? "\n\n" : ""), order[i], rows[order[i]]
}
