#!/bin/sh
# table.sh -- put the tables of the last `make bench` into a page, as Markdown: `make bench-doc`.
# usage: table.sh PAGE
# In PAGE what stands between `<!-- bench: NAME -->` and `<!-- end -->` becomes the table $B/bench/NAME.tsv. What has no
# table fails, and leaves PAGE as it is.
set -eu
[ $# = 1 ] || { echo "usage: table.sh PAGE" >&2; exit 2; }
here=$(cd "${0%/*}" && pwd)
work=${WORK:-${B:-build}/bench}
page=$1
trap 'rm -f "$page.new"' EXIT

# The table `short`: a row per question, nsysx compared with its yardstick, of the existing tables.
if [ -s "$work/extract.tsv" ] && [ -s "$work/pipeline.tsv" ] && [ -s "$work/sql.tsv" ]; then
	awk -f "$here/short.awk" "$work/extract.tsv" "$work/pipeline.tsv" "$work/sql.tsv" >"$work/short.tsv"
fi

inside=
while IFS= read -r line; do
	case $line in
	'<!-- bench: '*' -->')
		name=${line#<!-- bench: }
		name=${name% -->}
		inside=$name
		printf '%s\n\n' "$line"
		[ -s "$work/$name.tsv" ] || { echo "table.sh: $work/$name.tsv: no such table; make bench makes it" >&2; exit 1; }
		hide=
		[ "$name" != growth ] || hide='cpu_ratio wall_ratio'
		awk -v markdown=1 -v hide="$hide" -f "$here/table.awk" "$work/$name.tsv"
		echo
		;;
	'<!-- end -->')
		inside=
		printf '%s\n' "$line"
		;;
	*) [ -n "$inside" ] || printf '%s\n' "$line" ;;
	esac
done <"$page" >"$page.new"
[ -z "$inside" ] || { echo "table.sh: $page: no end of the table $inside" >&2; exit 1; }
mv "$page.new" "$page"
