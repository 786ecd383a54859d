#!/bin/sh
# draw.sh GNUPLOT PLOTS OUT NAME -- draw OUT/plots/NAME.dat as OUT/plots/NAME.svg. Without data or gnuplot there is none, nor an earlier one.
set -u
gnuplot=$1 plots=$2 out=$3 name=$4
LC_ALL=C
export LC_ALL
picture=$out/plots/$name.svg
rm -f "$picture"
[ -s "$out/plots/$name.dat" ] && [ -s "$out/.state/gnuplot" ] || exit 0
trap 'rm -f "$picture.new" "$picture.raw" "$picture.err"' EXIT
trap 'exit 1' HUP INT TERM
# -d: what the user has set for plots of their own is not for these. gnuplot does not look whether its output could be written.
# shellcheck disable=SC2086  # a command and its options
if ! $gnuplot -d -e "data='$out/plots/$name.dat'; picture='$picture.raw'" "$plots/style.gp" "$plots/$name.gp" >"$picture.err" 2>&1 </dev/null; then
	cat "$picture.err" >&2
	echo "nsysx-report: $name: gnuplot cannot draw it" >&2
	exit 1
fi
if ! grep -q '^</svg>' "$picture.raw"; then
	cat "$picture.err" >&2
	echo "nsysx-report: $name: gnuplot left an unfinished picture" >&2
	exit 1
fi
awk -v title="$name" -f "$plots/dress.awk" "$picture.raw" >"$picture.new" && mv -f "$picture.new" "$picture"
