# root.awk -- the square root: busybox as built by Debian has no sqrt(). Newton's method from above, until rounding
# stops the decrease.
function root(v,   x, next_x) {
	for (x = v > 1 ? v : 1; v > 0; x = next_x) {
		next_x = (x + v / x) / 2
		if (next_x >= x)
			return x
	}
	return 0
}
