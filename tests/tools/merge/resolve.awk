# resolve.awk -- a stream with every number replaced by what it stands for, one line a record: what merging must not change.
# Programs are called by their name and by their id in the record's report; metadata lines are left out.
BEGIN { FS = OFS = "\t" }
/^#/ { sub(/^#/, ""); for (i = 2; i <= NF; i++) { c = $i; sub(/:.*/, "", c); col[$1, i] = c; at[$1, c] = i }; n[$1] = NF; next }
function f(c) { return at[$1, c] ? $(at[$1, c]) : "" }
$1 == "profile" { profile[f("profile")] = f("name"); next }
$1 == "device" { device[f("device")] = f("uuid"); of[f("device")] = f("profile"); next }
$1 == "program" { program[f("program")] = f("name"); next }
$1 == "alias" { id[f("profile"), f("program")] = f("id"); next }
$1 == "inst" { inst[f("program"), f("inst")] = f("name"); next }
$1 ~ /^(clock|groups|stack|loc|diag|end|nsysx)$/ { next }
{
	line = $1
	who = f("profile")
	if (who == "" && f("device") != "") who = of[f("device")]
	# In order of column names: merging may add columns, and absent values are not shown.
	m = 0
	for (i = 2; i <= n[$1]; i++) {
		c = col[$1, i]; x = $i
		if (x == "" || c == "comm") continue
		if (c == "profile") x = profile[x]
		else if (c == "device") x = device[x]
		else if (c == "inst") x = inst[f("program"), x]
		else if (c == "program") x = program[x] "@" id[who, x]
		s[++m] = c "=" x
		for (j = m; j > 1 && s[j - 1] > s[j]; j--) { x = s[j]; s[j] = s[j - 1]; s[j - 1] = x }
	}
	for (i = 1; i <= m; i++) line = line OFS s[i]
	print line
}
