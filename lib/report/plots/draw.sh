#!/bin/sh
# draw.sh GNUPLOT PLOTS OUT NAME... -- draw each OUT/plots/NAME.dat as OUT/plots/NAME.svg, all in one gnuplot. Without
# data or gnuplot there is no picture, and an earlier one is removed. OUT/.state/gnuplot is empty if gnuplot is not
# available, and is emptied if gnuplot does not run.
set -u
gnuplot=$1 plots=$2 out=$3
shift 3
LC_ALL=C
export LC_ALL
new=$out/.state/plots
rm -rf "$new"
for name; do
	set -- "$@" "$out/plots/$name.svg"
	shift
done
rm -f "$@"
[ -s "$out/.state/gnuplot" ] || exit 0
drawn=
for picture; do
	name=${picture##*/}
	name=${name%.svg}
	shift
	[ -s "$out/plots/$name.dat" ] || continue
	# Settings of a plot do not apply to the next.
	set -- "$@" -e reset -e "data='$out/plots/$name.dat'; picture='$new/$name.raw'" "$plots/style.gp" "$plots/$name.gp"
	drawn="$drawn $name"
done
[ "$drawn" ] || exit 0
mkdir -p "$new/dressed" || exit 1
trap 'rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM
# -d: the user's own settings for gnuplot are ignored. gnuplot does not check whether its output could be written.
# shellcheck disable=SC2086  # a command and its options
if ! $gnuplot -d "$@" -e 'set output' >"$new/said" 2>&1 </dev/null; then
	if ! $gnuplot --version </dev/null >"$new/version" 2>/dev/null; then
		: >"$out/.state/gnuplot"
		exit 0
	fi
	cat "$new/said" >&2
	for name in $drawn; do
		grep -q '^</svg>' "$new/$name.raw" 2>/dev/null || break
	done
	echo "nsysx-report: $name: gnuplot cannot draw it" >&2
	exit 1
fi
set --
for name in $drawn; do
	set -- "$@" "$new/$name.raw"
done
if ! awk -v to="$new/dressed/" -f "$plots/dress.awk" "$@"; then
	cat "$new/said" >&2
	exit 1
fi
mv -f "$new/dressed/"* "$out/plots/"
