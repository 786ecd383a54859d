# answers.sh -- records of a stream, in the form of the generator's answers. Sourced by tests after testlib.sh.
#
#   said KIND STREAM           rows of the answers' KIND (modules, thunks, ranges, compile, ops, collectives) in a text stream, sorted
#   answered KIND DIR          the same rows from DIR/answers/KIND.tsv, sorted
#   agrees CLAIM KIND STREAM DIR   both are equal, and there are some
#   modules_dump and thunks_dump: of a stream that was extracted with dumps, which take command buffers apart.

# Columns of the answers that a stream must hold, in order.
answer_columns() {
	case $1 in
	modules | modules_dump) echo profile program_id name execution device start dur host_start host_dur thunks ;;
	thunks | thunks_dump)  echo profile program_id name execution occurrence device start dur host_start host_dur comm ops ;;
	ranges)  echo profile range parent level domain name pid tid start dur host_start host_dur ops ;;
	compile) echo profile program_id name pid tid start dur self ;;
	collectives) echo profile program_id name execution occurrence device collective bytes group start dur hidden ;;
	ops)     echo profile type device stream name start dur ;;
	esac
}

# profile and program_id replace the numbers of a stream: the profile's name and the program's id.
said() {
	awk -F'\t' -v kind="$1" -v want="$(answer_columns "$1")" '
		BEGIN { n = split(want, w, " "); k = kind; sub(/_dump$/, "", k); if (k != "compile") sub(/s$/, "", k) }
		/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); col[substr($1, 2), c[1]] = i } next }
		function get(name) { return col[$1, name] ? $(col[$1, name]) : "" }
		$1 == "profile" { profile[get("profile")] = get("name") }
		$1 == "alias" { id[get("profile"), get("program")] = get("id") }
		$1 == k {
			line = ""
			for (i = 1; i <= n; i++) {
				if (w[i] == "profile") v = profile[get("profile")]
				else if (w[i] == "program_id") v = id[get("profile"), get("program")]
				else v = get(w[i])
				line = line (i > 1 ? "\t" : "") v
			}
			print line
		}' "$2" | sort
}

answered() {
	awk -F'\t' -v want="$(answer_columns "$1")" '
		NR == 1 { n = split(want, w, " "); for (i = 1; i <= NF; i++) col[$i] = i; next }
		{ line = ""; for (i = 1; i <= n; i++) line = line (i > 1 ? "\t" : "") $(col[w[i]]); print line }' "$2/answers/$1.tsv" | sort
}

agrees() {
	said "$2" "$3" >"$T_private/said"
	answered "$2" "$4" >"$T_private/answered"
	if [ ! -s "$T_private/answered" ]; then
		fail "$1" "the answers hold no $2"
	elif cmp -s "$T_private/said" "$T_private/answered"; then
		pass "$1"
	else
		fail "$1" "$(comm -23 "$T_private/said" "$T_private/answered" | wc -l) $2 too many, $(comm -13 "$T_private/said" "$T_private/answered" | wc -l) missing of $(wc -l <"$T_private/answered")"
		show_diff "$T_private/answered" "$T_private/said"
	fi
}
