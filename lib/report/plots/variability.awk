# variability.dat: instructions that vary (block 0), computation (1) and communication (2): mean in us, deviation in
# percent, and for those that vary the position in their table, unless it would overlap that of an earlier one.
file == "variable" {
	named[$col["id"], $col["name"]] = ++place
	next
}
$col["relstd"] != "" && $col["mean"] > 0 && $col["relstd"] > 0 {
	x = $col["mean"] / 1e3
	y = $col["relstd"] * 100
	left = !any || ln(x) < left ? ln(x) : left
	right = !any || ln(x) > right ? ln(x) : right
	low = !any || ln(y) < low ? ln(y) : low
	high = !any || ln(y) > high ? ln(y) : high
	b = (($col["id"], $col["name"]) in named) ? 0 : $col["comm"] == 1 ? 2 : 1
	if (b == 0) {
		k = named[$col["id"], $col["name"]]
		if (k > last)
			last = k
		at_x[k] = x
		at_y[k] = y
	} else
		rows[b] = rows[b] x OFS y OFS "\n"
	any = 1
}
# The natural logarithm of x > 0, accurate enough for a picture: some awks have no log().
function ln(x,   k, y, power, sum, i) {
	for (k = 0; x >= 2; k++)
		x /= 2
	for (; x < 1; k--)
		x *= 2
	power = y = (x - 1) / (x + 1)
	for (i = 1; i < 16; i += 2) {
		sum += power / i
		power *= y * y
	}
	return k * 0.6931471805599453 + 2 * sum
}
# Whether the number at position k would overlap an earlier one, in a picture of about 480 by 270.
function hidden(k,   i, dx, dy) {
	for (i = 1; i < k; i++)
		if (i in told) {
			dx = right > left ? (ln(at_x[k]) - ln(at_x[i])) / (right - left) * 480 : 0
			dy = high > low ? (ln(at_y[k]) - ln(at_y[i])) / (high - low) * 270 : 0
			if (dx * dx < 400 && dy * dy < 200)
				return 1
		}
	return 0
}
END {
	for (k = 1; k <= last; k++)
		if (k in at_x) {
			# There is no space for more than these.
			if (k <= 200 && !hidden(k))
				told[k] = 1
			rows[0] = rows[0] at_x[k] OFS at_y[k] OFS (k in told ? k : " ") "\n"
		}
	if (any)
		for (b = 0; b < 3; b++)
			printf "%s\"%s\"\n%s", (b ? "\n\n" : ""), (b == 0 ? "varies" : b == 1 ? "computation" : "communication"), (rows[b] ? rows[b] : "nan\tnan\t\n")
}
