# variability.dat: instructions that vary (block 0), computation (1) and communication (2): mean in us, deviation in percent,
# and of those that vary the place in their table.
file == "variable" {
	named[$col["id"], $col["name"]] = ++place
	next
}
$col["relstd"] != "" && $col["mean"] > 0 && $col["relstd"] > 0 {
	b = (($col["id"], $col["name"]) in named) ? 0 : $col["comm"] == 1 ? 2 : 1
	rows[b] = rows[b] $col["mean"] / 1e3 OFS $col["relstd"] * 100 OFS named[$col["id"], $col["name"]] "\n"
	any = 1
}
END {
	if (any)
		for (b = 0; b < 3; b++)
			printf "%s\"%s\"\n%s", (b ? "\n\n" : ""), (b == 0 ? "varies" : b == 1 ? "computation" : "communication"), (rows[b] ? rows[b] : "nan\tnan\t\n")
}
