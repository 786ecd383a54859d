# streamlib.sh -- text streams from short lines, and records and tables as such lines. Sourced by tests after testlib.sh.
#
#   stream [CHAR]               lines `kind value ...` on standard input as a text stream; `-` is an absent value, headers are lines
#                               `#kind column ...`; CHAR in values is a space
#   columns KIND NAME...        of the stream on standard input these columns of every record of the kind, `-` where absent
#   rounded [FILE]              a TSV table with numbers of at most 12 digits, `-` for absent values, `_` for spaces
#   table_is CLAIM CMD...       CMD prints a table that is, rounded, what standard input has

stream() {
	printf '#nsysx\t2\n'
	awk -v OFS='\t' -v space="${1-}" '
		{ header = /^#/; for (i = 2; i <= NF; i++) { if ($i == "-") $i = ""; if (space != "" && !header) gsub(space, " ", $i) } $1 = $1; print; n += !header }
		END { print "#end", "records:i"; print "end", n + 0 }'
}

columns() {
	kind=$1
	shift
	nsysx-view -q --partial -t "$kind" | awk -F'\t' -v want="$*" 'BEGIN { n = split(want, w, " ") }
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ s = ""; for (i = 1; i <= n; i++) s = s (i > 1 ? " " : "") (at[w[i]] && $at[w[i]] != "" ? $at[w[i]] : "-"); print s }'
}

rounded() {
	awk -F'\t' -v OFS=' ' '{ for (i = 1; i <= NF; i++) { if ($i == "") $i = "-"; else if ($i ~ /^-?[0-9.e+-]+$/ && length($i) > 13) $i = sprintf("%.12g", $i)
		gsub(" ", "_", $i) } $1 = $1; print }' "$@"
}

table_is() {
	claim=$1
	shift
	cat >"$T/want"
	run "$@"
	rounded "$T_private/out" >"$T/got"
	same "$claim" "$T/want" "$T/got"
}

# A stream that was cut: two periods that are 200 apart, what was between them cut away. Each has a module of 60, of the second 10 more were removed.
cut_periods() {
	stream <<'END'
#step device:i class:s step:i start:i dur:i period:i removed:i cut:i
#module program:i execution:i device:i start:i dur:i name:s
#thunk program:i execution:i device:i inst:i name:s start:i dur:i hidden:i
step 0 m 0 0 60 100 0 1
module 0 0 0 0 60 m
thunk 0 0 0 0 f 0 50 0
step 0 m 2 300 60 100 10 1
module 0 2 0 300 60 m
thunk 0 2 0 0 f 300 50 0
END
}
