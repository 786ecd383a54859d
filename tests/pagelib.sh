# pagelib.sh -- the commands of a page of documentation run, in one folder and in order, and print what the page shows. Sourced after testlib.sh.
#
#   page FILE NAME   claims about every command of FILE, a path in the source, run in the folder $T/NAME
#
# What a page holds, by the line that begins a block:
#   ```sh run                  commands
#   ```console                 each line with "$ " is a command, followed by its output, up to a line "..."
#                              for the rest. UPDATE=1 rewrites the output
#   ```LANGUAGE FILE           the file of that name, there before the first command runs
# A line that ends in \ is continued. `needs WHAT...` at the end of `sh run` or `console` names requirements of the block:
# if have WHAT, which the test file defines, fails, the block's commands are skipped.

root=$(cd "$tests_dir/.." && pwd) || exit 1

# Shared by both readings of a page: the kind of block that a line begins. A block of another language is a file if it has a name.
page_blocks='
	function block_of(line) { return line ~ /^```sh run( |$)/ ? "sh" : line ~ /^```console( |$)/ ? "console" : line ~ /^```[a-z]+ [^ ]+$/ ? "file" : "other" }
	function needs_of(line) { return sub(/^.* needs /, "", line) ? line : "" }'

# The commands of page $1 as files $2/N.sh, with their output in $2/N.want if the page has it, and their requirements in $2/N.needs;
# the page's files in folder $3.
commands() {
	awk -v dir="$2" -v files="$3" "$page_blocks"'
		function begin(line) {
			close(file ".sh"); close(file ".want")
			file = sprintf("%s/%03d", dir, ++n)
			print line >(file ".sh")
			more = line ~ /\\$/
			if (needs) { print needs >(file ".needs"); close(file ".needs") }
		}
		/^```/ {
			if (in_block) { in_block = ""; next }
			in_block = block_of($0)
			needs = needs_of($0)
			named = files "/" $2
			more = 0
			next
		}
		in_block == "file" { print >named; next }
		more { print >(file ".sh"); more = /\\$/; next }
		in_block == "sh" && NF { begin($0) }
		in_block == "console" && /^\$ / { begin(substr($0, 3)); printf "" >(file ".want"); next }
		in_block == "console" { print >(file ".want") }' "$1"
}

# Page $1 with the output of its commands as in $2/N.got.
renewed() {
	awk -v dir="$2" "$page_blocks"'
		/^```/ { in_block = in_block ? "" : block_of($0); more = 0; print; next }
		in_block == "sh" && NF { if (!more) n++; more = /\\$/; print; next }
		in_block == "console" && (more || /^\$ /) {
			if (!more) n++
			more = /\\$/
			print
			if (!more) { file = sprintf("%s/%03d.got", dir, n); while ((getline line <file) > 0) print line; close(file) }
			next
		}
		in_block == "console" { next }
		{ print }' "$1"
}

# What command $1, a path without .sh, needs and is not here.
lacking() {
	[ -e "$1.needs" ] || return
	for need in $(cat "$1.needs"); do
		have "$need" || echo "$need"
	done
}

# The files of this directory, with size and time.
listing() {
	ls -lR --time-style=full-iso .
}

# Claim that command $2, a path without .sh, of page $1 works. Runs in this shell's folder, in the environment that earlier commands left.
try() {
	claim="$1: $(head -n 1 "$2.sh" | cut -c1-70)"
	lacks=$(lacking "$2" | paste -sd ' ')
	if [ "$lacks" ]; then
		skip "$claim" "no $lacks"
		if [ -e "$2.want" ]; then cp "$2.want" "$2.got"; fi
		return
	fi
	case $(cat "$2.sh") in
	'export '*) . "$2.sh"; pass "$claim"; return ;;
	esac
	listing >"$T/before"
	run sh "$2.sh"
	cp "$T_private/out" "$2.got"
	listing >"$T/after"
	if [ -e "$2.want" ] && [ "$(tail -n 1 "$2.want")" = ... ]; then
		head -n "$(($(wc -l <"$2.want") - 1))" "$T_private/out" >"$2.got"
		echo ... >>"$2.got"
	fi
	if [ "$status" -ne 0 ]; then
		fail "$claim" "status $status, want 0" "$(cat "$2.sh")"
	elif grep -vqE '^nsysx-[a-z]+: (warning|info|next): ' "$T_private/err"; then
		fail "$claim" "it complains" "$(cat "$2.sh")"
	elif [ ! -s "$T_private/out" ] && cmp -s "$T/before" "$T/after"; then
		fail "$claim" "it prints nothing and makes no file" "$(cat "$2.sh")"
	elif [ -e "$2.want" ] && [ "${UPDATE-}" != 1 ] && ! cmp -s "$2.want" "$2.got"; then
		fail "$claim" "it prints something else" "$(cat "$2.sh")"
		show_diff "$2.want" "$2.got"
	else
		pass "$claim"
	fi
}

# Claims about every command of page $1, in folder $2.
page() {
	mkdir -p "$T/$2" "$T/$2.commands"
	commands "$root/$1" "$T/$2.commands" "$T/$2"
	ok "$1 has commands" test -e "$T/$2.commands/003.sh"
	cd "$T/$2" || exit 1
	for command in "$T/$2.commands"/*.sh; do
		try "$1" "${command%.sh}"
	done
	cd "$tests_dir/tools" || exit 1
	if [ "${UPDATE-}" = 1 ] && renewed "$root/$1" "$T/$2.commands" >"$T/renewed"; then
		cat "$T/renewed" >"$root/$1"
	fi
}

# ---- manual pages

# The literal lines of the examples on page $1.
examples() {
	awk '/^\.Sh / { on = $2 == "EXAMPLES" } on && /^\.Bd -literal/ { show = 1; next } /^\.Ed/ { show = 0 } show' "$1" |
		sed 's/\\&//g; s/\\-/-/g; s/\\(ti/~/g; s/\\(ha/^/g; s/\\e/\\/g'
}

# The commands of examples on standard input, each a file $1/N.sh, with the output they should have in N.want.
split_examples() {
	awk -v dir="$1" '
		more { print >file; more = /[\\|]$/; next }
		/^\$ / { n++; file = dir "/" n ".sh"; want = dir "/" n ".want"; print substr($0, 3) >file; more = /[\\|]$/; next }
		n { print >want }'
}
