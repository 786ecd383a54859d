# skew.dat: a device, the mean of its remaining skews after alignment, their deviation, minimum and maximum, in us.
!device {
	device = col["device"]
	skew = col["skew"]
}
{
	d = $device
	x = $skew / 1e3
	if (!(d in n)) {
		order[++devices] = d
		low[d] = high[d] = x
	}
	n[d]++
	sum[d] += x
	square[d] += x * x
	if (x < low[d])
		low[d] = x
	else if (x > high[d])
		high[d] = x
}
END {
	for (i = 1; i <= devices; i++) {
		d = order[i]
		m = sum[d] / n[d]
		v = square[d] / n[d] - m * m
		print d, m, root(v), low[d], high[d]
	}
}
