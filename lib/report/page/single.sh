#!/bin/sh
# single.sh OUT -- the page of the report in OUT as one file, on standard output: pictures are embedded, and link
# targets are only named.
set -u
LC_ALL=C
export LC_ALL
unset CDPATH
cd "$1" || exit 1
# Picture $1 as a data address; a shell variable cannot hold all bytes of a file.
address() { printf 'data:image/svg+xml;base64,' && base64 <"$1" | tr -d '\n'; }
while IFS= read -r line; do
	case $line in
	*'src="plots/'*|*'src="flame/'*)
		file=${line#*'src="'}
		file=${file%%'"'*}
		printf '%s' "${line%%'src="'*}src=\""
		address "$file" || exit 1
		printf '%s\n' "${line#*"src=\"$file"}" ;;
	*) printf '%s\n' "$line" ;;
	esac
done <index.html | sed 's,<a href="\([^#"][^"]*\)">\([^<]*\)</a>,\2,g'
