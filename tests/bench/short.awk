# short.awk -- a few rows of the tables extract, pipeline and sql: the cost of nsysx, and that of its yardstick.
function row(what, ours, beside, other, ratio) { print what, ours, beside, sprintf("%.2f s", other), ratio }
BEGIN {
	FS = OFS = "\t"
	print "what", "nsysx_s", "beside", "takes", "relative"
}
FNR == 1 {
	file++
	split("", at)
	for (i = 1; i <= NF; i++)
		at[$i] = i
	next
}
function col(name) { return $(at[name]) }
file == 1 && col("command") == "floor" { floor = col("wall_s") }
file == 1 && (col("command") == "text" || col("command") == "binary") {
	row("nsysx-extract of " col("export") ", " sprintf("%.0f MB", col("read_bytes") / 1e6) ", to " col("command"), col("wall_s"), "the floor", floor, \
	    sprintf("%.2fx", col("wall_ratio")))
}
file == 2 && col("command") == "floor" { floor = col("wall_s") }
file == 2 && col("command") == "pipeline, binary" {
	row("extract, align, warmup, overlap, fold of the XLA job", col("wall_s"), "the floor", floor, sprintf("%.2fx", col("wall_ratio")))
}
file == 3 && col("command") == "nsysx" { ours = col("wall_s") }
file == 3 && col("command") == "sqlite3, indexed" {
	# A command that was ended takes at least that long.
	row("GPU time under each of " col("ranges") " NVTX ranges", ours, "a join in sqlite3, with indices" (col("over") == 1 ? ", ended before it was done" : ""), \
	    col("wall_s"), (col("over") == 1 ? "below " : "") sprintf("%.3fx", 1 / col("wall_ratio")))
}
