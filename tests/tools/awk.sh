#!/bin/sh
# Recipes with awk in documentation and in the report, in mawk, gawk and busybox: on a job of hours, whose sums exceed 32 bits and
# 2^53 / 1000 ns, every recipe prints the same with all digits.
. "${0%/*}/../testlib.sh"
. "$tests_dir/pagelib.sh"

[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'

# slow_down EXPORT: multiplies all its times by 2000000.
slow_down() {
	sql=$(sqlite3 "$1" "SELECT 'UPDATE \"' || t.name || '\" SET \"' || c.name || '\" = \"' || c.name || '\" * 2000000;'
		FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table' AND c.name IN ('start', 'end', 'timestamp')") &&
	sqlite3 -bail "$1" "BEGIN; $sql COMMIT;"
}
# A generator under the name that the pages use; its jobs are slowed down.
mkdir "$T/stand-in" "$T/awk" "$T/modules"
{
	printf '#!/bin/sh\n'
	printf 'slow_down() {\n%s\n}\n' "$(sed -n '/^slow_down() {/,/^}/p' awk.sh | sed '1d;$d')"
	printf 'for arg; do [ "$was" = -o ] && out=$arg; was=$arg; done\n"%s" "$@" && for r in "$out"/r*.sqlite; do slow_down "$r" || exit 1; done\n' "$SYNTH"
} >"$T/stand-in/nsysx-synth"
chmod +x "$T/stand-in/nsysx-synth"
have() { [ "$1" != pandas ] && [ "$1" != protobuf ] && command -v "$1" >/dev/null; }
NSYSX=$root
unset MAKEFLAGS MAKELEVEL MFLAGS
export NSYSX
tools=$PATH

# The job under the names that examples of manual pages use. Then the commands of pages; those of manual pages that use awk, with the commands before them.
PATH=$T/stand-in:$tools nsysx-synth -o "$T/samples" && rm -rf "$T/samples/answers"
ok 'a job of hours is extracted' nsysx-extract -o "$T/samples/s.nsysx" -x "$T/samples/dump0" "$T/samples/r0.sqlite" -x "$T/samples/dump1" "$T/samples/r1.sqlite"
mkdir "$T/pages" "$T/files"
for page in docs/cookbook.md docs/guide.md docs/tour.md; do
	mkdir "$T/pages/${page##*/}"
	commands "$root/$page" "$T/pages/${page##*/}" "$T/files"
done
for page in "$root"/docs/man/*; do
	examples "$page" | grep -qw awk || continue
	mkdir "$T/pages/${page##*/}"
	examples "$page" | split_examples "$T/pages/${page##*/}"
done

# Run command $1, a path without .sh, in this folder; its output, or the file named at its end, goes to file $2.
record() {
	[ "$(lacking "$1")" ] && return
	case $(cat "$1.sh") in
	'export '*) . "$1.sh"; return ;;
	esac
	run sh "$1.sh"
	cat "$T_private/out" $(grep -o '>[a-z.-]*$' "$1.sh" | tr -d '>') >"$2"
	grep -qw awk "$1.sh" || return
	recipes="$recipes $2"
	if [ "$status" -ne 0 ] || [ "$(grep -vE '^nsysx-[a-z]+: (warning|info|next): ' "$T_private/err")" ]; then
		fail "$awk: $command runs" "status $status" "$(cat "$1.sh")"
	fi
}
# All pages with the awk of that name as `awk`: outputs in $T/AWK.
record_all() {
	recipes=
	mkdir -p "$T/$awk" "$T/work"
	cp "$T/files"/* "$T/work"
	# One folder for all pages: some commands read what the cookbook makes.
	for page in cookbook.md guide.md tour.md; do
		for command in "$T/pages/$page"/*.sh; do
			[ "$page" = cookbook.md ] || grep -qw awk "$command" || continue
			cd "$T/work" && record "${command%.sh}" "$T/$awk/$page.$(basename "$command" .sh)"
		done
	done
	for page in "$T"/pages/*.[1-9]; do
		rm -rf "$T/work" && cp -r "$T/samples" "$T/work" && cd "$T/work" || exit 1
		n=1
		while [ -e "$page/$n.sh" ]; do
			record "$page/$n" "$T/$awk/${page##*/}.$n"
			n=$((n + 1))
		done
	done
	rm -rf "$T/work" && cp -r "$T/samples" "$T/work" && cd "$T/work" || exit 1
	nsysx-report -q -o "$T/$awk/report" -x dump0 r0.sqlite -x dump1 r1.sqlite >"$T/log" 2>&1
	equal "$awk: a report is made" "$? $(cat "$T/log")" '0 '
	rm -rf "$T/work"
	cd "$tests_dir/tools" || exit 1
	ok "$awk: there are recipes" test "$(echo "$recipes" | wc -w)" -ge 20
	equal "$awk: no number has lost digits" "$(cat $recipes "$T/$awk/report/index.html" "$T/$awk"/report/plots/*.dat | grep -nE '[0-9]e\+[0-9]|2147483647|-2147483648')" ''
}

first=
for awk in gawk mawk busybox; do
	if ! command -v "$awk" >/dev/null; then
		skip "recipes in $awk" "there is no $awk"
		continue
	fi
	mkdir "$T/awk/$awk"
	printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v "$awk")$([ "$awk" != busybox ] || echo ' awk')" >"$T/awk/$awk/awk"
	chmod +x "$T/awk/$awk/awk"
	PATH=$T/awk/$awk:$T/stand-in:$tools
	record_all
	PATH=$tools
	if [ "$first" ]; then
		for out in "$T/$first"/*; do
			name=${out##*/}
			if [ -d "$out" ]; then
				equal "$awk makes the report that $first makes" "$(diff -r -x .state "$out" "$T/$awk/$name" | head -n 5)" ''
			elif [ -s "$out" ] || [ -s "$T/$awk/$name" ]; then   # others write into files only
				same "$awk prints what $first prints: $name" "$out" "$T/$awk/$name"
			fi
		done
	else
		first=$awk
	fi
done
[ "$first" ] || { skip 'recipes' 'there is no awk that is known'; done_testing; }

# Sums that two of the recipes print, computed by Python.
summed() {
	nsysx-view "$T/samples/s.nsysx" | python3 -c '
import sys
sums = {}
for line in sys.stdin:
    f = line.rstrip("\n").split("\t")
    if f[0] == "module":
        sums[f[10]] = sums.get(f[10], 0) + int(f[6])
for m in sorted(sums):
    print(sums[m], m)'
}
summed | sort >"$T/want"
sort "$T/$first/nsysx-format.5.1" >"$T/got"
same 'printed sums equal those of Python' "$T/got" "$T/want"
ok 'the sums exceed 2^53 / 1000' test "$(cut -d ' ' -f 1 "$T/want" | sort -n | tail -n 1)" -gt 9007199254740
done_testing
