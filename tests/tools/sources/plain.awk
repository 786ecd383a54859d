# plain.awk -- a table without what only one form of the job records, as tests/tools/sources/differences lists it. Sorted,
# it can be compared with that of the other form.
#   awk -v form=FORM -v side=export|form -v table=TABLE -v used=FILE -f plain.awk differences TABLE
# A column that is to be empty in the form and is not stays there, so that the tables differ.
BEGIN { FS = OFS = "\t" }

NR == FNR {
	if ($0 !~ /^#/ && NF == 5 && form ~ ("^(" $1 ")$") && table ~ $2) {
		if ($3 == "none") {
			print FNR >used
			exit
		}
		n++
		how[n] = $3
		pattern[n] = $4
		line[n] = FNR
	}
	next
}

function use(i) {
	print line[i] >used
}

function change(i, s,    at, from, to) {
	at = index(pattern[i], " => ")
	from = substr(pattern[i], 1, at - 1)
	to = substr(pattern[i], at + 4)
	if (gsub(from, to, s))
		use(i)
	return s
}

FNR == 1 { folded = $0 !~ /\t/ }

folded {
	at = match($0, / [0-9]+$/)
	count = substr($0, at + 1)
	$0 = substr($0, 1, at - 1)
}

# Columns: the header names them.
FNR == 1 && !folded {
	for (c = 1; c <= NF; c++)
		for (i = 1; i <= n; i++)
			if ((how[i] == "empty" || how[i] == "other") && $c ~ ("^(" pattern[i] ")$")) {
				gone[c] = how[i]
				which[c] = i
			}
}

{
	for (i = 1; i <= n; i++) {
		if ((how[i] == "text" && side == "export") || (how[i] == "form-text" && side == "form"))
			$0 = change(i, $0)
		if (how[i] == "row" && side == "export" && $0 ~ pattern[i]) {
			use(i)
			next
		}
		if (how[i] == "form-row" && side == "form" && $0 ~ pattern[i]) {
			use(i)
			next
		}
	}
	if (folded) {
		sum[$0] += count
		next
	}
	s = ""
	for (c = 1; c <= NF; c++)
		if (!(c in gone))
			s = s OFS $c
		else if (side == "export" && FNR > 1 && $c != "")
			use(which[c])
		else if (gone[c] == "empty" && side == "form" && FNR > 1 && $c != "")
			s = s OFS "not empty: " $c
	print s
}

END {
	for (s in sum)
		print s, sum[s]
}
