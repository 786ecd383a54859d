# percentiles.dat: the periods of steps in ns, for the class with the most time, on all devices.
$col["period"] > 0 {
	all[$col["class"]] += $col["period"]
	rows[$col["class"]] = rows[$col["class"]] $col["period"] "\n"
	if (!($col["class"] in all) || top == "" || all[$col["class"]] > all[top])
		top = $col["class"]
}
END { printf "%s", rows[top] }
