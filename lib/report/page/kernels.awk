# kernels.awk -- a summary of the table of kernels, as a line above it.
NR == 1 {
	for (i = 1; i <= NF; i++)
		col[$i] = i
	next
}
{
	time += $col["total"]
	count += $col["count"]
}
END {
	if (count)
		print "<p class=\"note\">" data(count, "n") (count == 1 ? " GPU operation, of any program or none, " : " GPU operations, of any program or none, ") data(time, "ns") \
			" in all; some run concurrently. Omitted is work launched by compilation, such as autotuning, where the recording tells that it is.</p>"
}
