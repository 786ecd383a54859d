#!/bin/sh
# Manual pages of tools: well-formed, with the options of --help, and with examples that run. Other pages: well-formed, examples run.
. "${0%/*}/../testlib.sh"
. "$tests_dir/pagelib.sh"

man=$tests_dir/../docs/man
sections='NAME
SYNOPSIS
DESCRIPTION
OPTIONS
EXIT STATUS
EXAMPLES
MEMORY'

# The page $1 as plain text.
rendered() {
	mandoc -T ascii "$1" | sed "s/.$(printf '\b')//g"
}

# "-c --long =" for the option of each line that starts with one, behind spaces: '=' when it takes an argument, '[='
# when it may, '.' when it has none or no short form.
options() {
	awk '
		match($0, /--[a-z0-9][a-z0-9-]*/) {
			name = substr($0, RSTART, RLENGTH)
			rest = substr($0, RSTART + RLENGTH)
			ch = match($0, /^ *-[A-Za-z0-9]/) ? substr($0, RLENGTH - 1, 2) : "."
			print ch, name, rest ~ /^\[=/ ? "[=" : rest ~ /^=/ ? "=" : "."
		}' | sort
}

# The options in --help of tool $1; the options with an entry in page $1.
help_options() {
	"$1" --help | grep -E '^  (-[A-Za-z0-9], |    )--' | options
}
page_options() {
	rendered "$1" | awk '/^[A-Z]/ { on = $0 == "OPTIONS" } on && /^     -/' | options
}

# Claim that example $2 of page $1 runs as the page describes. Runs in the folder of samples.
example() {
	claim="$1: $(head -n 1 "$T/examples/$2.sh" | cut -c1-60)"
	want=$T/examples/$2.want
	listing >"$T/before"
	run sh "$T/examples/$2.sh"
	listing >"$T/after"
	cp "$T_private/out" "$T/got"
	if [ -e "$want" ] && [ "$(tail -n 1 "$want")" = ... ]; then
		sed -i '$d' "$want"
		head -n "$(wc -l <"$want")" "$T_private/out" >"$T/got"
	fi
	if [ "$status" -ne 0 ]; then
		fail "$claim" "status $status, want 0" "$(cat "$T/examples/$2.sh")"
	elif [ ! -s "$T_private/out" ] && cmp -s "$T/before" "$T/after"; then
		fail "$claim" "it prints nothing and makes no file" "$(cat "$T/examples/$2.sh")"
	elif [ -e "$want" ] && ! cmp -s "$want" "$T/got"; then
		fail "$claim" "it prints something else" "$(cat "$T/examples/$2.sh")"
		show_diff "$want" "$T/got"
	else
		pass "$claim"
	fi
}

# Claim that page $1 has examples and that they run as described.
run_examples() {
	name=$(basename "$1")
	rm -rf "$T/examples" "$T/work"
	mkdir "$T/examples"
	examples "$1" | split_examples "$T/examples"
	ok "$name has examples" test -e "$T/examples/1.sh"
	if [ -z "$samples" ]; then
		skip "$name's examples run" 'there is no nsysx-synth or nsysx-extract'
		return
	fi
	cp -r "$T/samples" "$T/work"
	n=1
	while [ -e "$T/examples/$n.sh" ]; do
		cd "$T/work" || exit 1
		example "$name" "$n"
		cd "$tests_dir/tools" || exit 1
		n=$((n + 1))
	done
}

# Two exports, their dumps, and their stream, under the names of examples.
samples=
if [ -x "$SYNTH" ] && [ -x "$B/bin/nsysx-extract" ]; then
	ok 'the samples are made' "$SYNTH" -o "$T/samples"
	rm -rf "$T/samples/answers"
	ok 'and extracted' nsysx-extract -o "$T/samples/s.nsysx" -x "$T/samples/dump0" "$T/samples/r0.sqlite" -x "$T/samples/dump1" "$T/samples/r1.sqlite"
	[ -s "$T/samples/s.nsysx" ] && samples=1
fi

for tool in "$B"/bin/nsysx*; do
	tool=$(basename "$tool")
	page=$man/$tool.1
	ok "$tool has a page" test -s "$page"
	[ -s "$page" ] || continue
	if command -v mandoc >/dev/null 2>&1; then
		run mandoc -T lint -W warning "$page"
		equal "$tool.1 is well-formed" "$(cat "$T_private/out")" ''
		equal "$tool.1 has its sections" "$(rendered "$page" | grep -xF "$sections" | sort)" "$(echo "$sections" | sort)"
		help_options "$tool" >"$T/help"
		page_options "$page" >"$T/page"
		ok "$tool --help lists options" test -s "$T/help"
		same "$tool.1 lists the options of $tool --help" "$T/help" "$T/page"
	else
		skip "$tool.1 is well-formed" 'mandoc is not here'
	fi

	run_examples "$page"
done

# Pages that are not of tools.
for page in "$man"/*.[2-8]; do
	name=$(basename "$page")
	run_examples "$page"
	if command -v mandoc >/dev/null 2>&1; then
		run mandoc -T lint -W warning "$page"
		equal "$name is well-formed" "$(cat "$T_private/out")" ''
	else
		skip "$name is well-formed" 'mandoc is not here'
	fi
done
# The overview and the tour list every tool.
mkdir "$T/index"
sh "$tests_dir/index.sh" "$T/index"
same 'the tools of nsysx.7 are those that have pages: make index' "$T/index/nsysx.7" "$man/nsysx.7"
same 'the tools of the tour are those that have pages: make index' "$T/index/tour.md" "$man/../tour.md"
for tool in "$B"/bin/nsysx*; do
	tool=$(basename "$tool")
	ok "nsysx.7 lists $tool" grep -qxF ".It Xr $tool 1" "$man/nsysx.7"
	ok "the tour lists $tool" grep -q "^| \`$tool\` |" "$man/../tour.md"
done
for page in "$man"/*; do
	equal "the pages that $(basename "$page") names are there" \
		"$(sed -n 's/^\.Xr \(nsysx[^ ]*\) \([0-9]\).*/\1.\2/p' "$page" | sort -u | while read -r name; do [ -e "$man/$name" ] || echo "$name"; done)" ''
done

# Every page of section 1 belongs to a tool.
for page in "$man"/*.1; do
	tool=$(basename "$page" .1)
	ok "$tool.1 belongs to a tool" test -x "$B/bin/$tool"
done
done_testing
