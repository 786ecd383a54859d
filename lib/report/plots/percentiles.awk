# percentiles.dat: the periods of steps in ns, of the class with most time, on any device.
$col["period"] > 0 {
	all[$col["class"]] += $col["period"]
	rows[$col["class"]] = rows[$col["class"]] $col["period"] "\n"
	if (!($col["class"] in all) || top == "" || all[$col["class"]] > all[top])
		top = $col["class"]
}
END { printf "%s", rows[top] }
