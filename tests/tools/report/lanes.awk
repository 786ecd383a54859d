# lanes.awk -- check the pieces of lanes.tsv against its sources: step-each.tsv, all gaps (nsysx-idle --list) and lanes.tsv, in that
# order. Prints what is wrong, and the number of steps drawn. Each device is drawn over its own step; its pieces lie in that, are
# longer than 0, do not overlap others of their kind, and are the parts of the step to the nanosecond; gaps are clipped to it, and
# those shorter than 1/4000 of the picked one are left out. All gaps are the idle time of the step, within 1/50000 of it.
BEGIN { FS = "\t" }
FNR == 1 { f++; split("", at); for (i = 1; i <= NF; i++) at[$i] = i; next }
f == 1 && $at["period"] > 0 {
	k = $at["device"] SUBSEP $at["step"]
	start[k] = $at["start"]; period[k] = $at["period"]; compute[k] = $at["compute"]; exposed[k] = $at["exposed"]
	copy[k] = $at["copy"]; hidden[k] = $at["hidden"]; whole_idle[k] = $at["idle"]
}
f == 2 { g++; from[g] = $at["start"]; till[g] = from[g] + $at["dur"]; of[g] = $at["device"] }
f == 3 && $4 != "path" && $4 != "none" && $2 != "" {
	k = $1 SUBSEP $3
	own[k] = $3 SUBSEP $2
	if (!($1 in zero) || start[own[k]] < zero[$1]) zero[$1] = start[own[k]]
	part = $4 == "idle" || $4 == "compute" ? $4 : $4 == "copy" ? $4 $5 : $5
	sum[k, part] += $7
	if ($7 <= 0 || $12 <= 0 || $7 > $12 || $6 < 0) print "piece", $0
	row[++rows] = $0
	q = k SUBSEP $4 SUBSEP ($4 == "idle" ? "" : $5)
	if (q in last && $6 < last[q]) print "overlap", $0
	last[q] = $6 + $12
	if ($3 == $10) picked[$1] = $11
}
END {
	for (i = 1; i <= rows; i++) {
		split(row[i], c, "\t"); o = own[c[1], c[3]]
		if (zero[c[1]] + c[6] < start[o] || zero[c[1]] + c[6] + c[12] > start[o] + period[o]) print "outside", row[i]
	}
	for (k in own) {
		o = own[k]; n++
		if (sum[k, "compute"] + 0 != compute[o] + 0 || sum[k, "exposed"] + 0 != exposed[o] + 0 || sum[k, "hidden"] + 0 != hidden[o] + 0 ||
			sum[k, "copy"] + 0 != copy[o] + 0)
			print k, sum[k, "compute"], compute[o], sum[k, "exposed"], exposed[o], sum[k, "hidden"], hidden[o], sum[k, "copy"], copy[o]
		split(k, d, SUBSEP); limit = picked[d[1]] / 4000; idle = left = 0
		for (i = 1; i <= g; i++) if (of[i] == d[2]) {
			a = from[i] > start[o] ? from[i] : start[o]
			b = till[i] < start[o] + period[o] ? till[i] : start[o] + period[o]
			if (b - a >= limit) idle += b - a
			else if (b > a) left += b - a
		}
		if (idle != sum[k, "idle"] + 0) print k, "idle", idle, sum[k, "idle"]
		if (idle + left > whole_idle[o] || idle + left < whole_idle[o] - period[o] / 50000) print k, "all idle", idle, left, whole_idle[o]
	}
	print n + 0
}
