# comparelib.sh -- what the tests of nsysx-compare share. Read by them after testlib.sh.

# Columns by name, comma-separated, of the table on standard input, without its heading; absent values as -.
columns() {
	awk -F'\t' -v want="$1" 'NR == 1 { n = split(want, w, ","); for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ for (i = 1; i <= n; i++) { v = $at[w[i]]; gsub(" ", "_", v); printf "%s%s", v == "" ? "-" : v, i < n ? " " : "\n" } }'
}
# nsysx-compare --gate ARGS ends with status WANT and has TEXT on standard error.
gate() {
	claim=$1 want=$2 text=$3
	shift 3
	run nsysx-compare --gate "$@"
	if [ "$status" -ne "$want" ]; then fail "$claim" "status $status, want $want" "$@"
	elif [ -n "$text" ] && ! grep -qF -e "$text" "$T_private/err"; then fail "$claim" "standard error lacks: $text" "$@"
	else pass "$claim"; fi
}
