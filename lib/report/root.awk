# root.awk -- the square root: busybox as Debian builds it has no sqrt(). From above each step comes nearer, until rounding ends it.
function root(v,   x, next_x) {
	for (x = v > 1 ? v : 1; v > 0; x = next_x) {
		next_x = (x + v / x) / 2
		if (next_x >= x)
			return x
	}
	return 0
}
