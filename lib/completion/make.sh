#!/bin/sh
# make.sh OUT TOOL... -- completions of the shells from what the tools' --help says: OUT/nsysx.bash, OUT/_nsysx and
# OUT/fish/NAME.fish. Options are described in one place, the tables of the tools.
set -eu
here=${0%/*} out=$1
shift
mkdir -p "$out/fish"
LC_ALL=C
export LC_ALL
{
	for tool; do
		case $tool in
		*/nsysx-view) "$tool" --schema | awk -F'\t' 'NR > 1 && $2 == "" && $1 != "end" { print "kind\t" $1 }' ;;
		esac
	done
	for tool; do
		"$tool" --help | awk -v tool="${tool##*/}" -f "$here/rows.awk"
	done
} >"$out/rows.tsv"
awk -F'\t' -v body="$here/body.bash" -f "$here/bash.awk" "$out/rows.tsv" >"$out/nsysx.bash"
awk -F'\t' -f "$here/zsh.awk" "$out/rows.tsv" >"$out/_nsysx"
for tool; do
	awk -F'\t' -v tool="${tool##*/}" -f "$here/fish.awk" "$out/rows.tsv" >"$out/fish/${tool##*/}.fish"
done
