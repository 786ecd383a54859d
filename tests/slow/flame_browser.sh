#!/bin/sh
# The pictures of nsysx-flame in a browser: they open without complaint, search, zoom, take keys and fit any window. Screenshots are
# left in $B/shots.
. "${0%/*}/../testlib.sh"

chromium --version >/dev/null 2>&1 || skip_all 'there is no chromium that runs'
command -v chromedriver >/dev/null 2>&1 || skip_all 'there is no chromedriver (chromium-driver)'
getent hosts localhost >/dev/null || skip_all 'localhost has no address, and chromedriver finds the browser by it'
[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'

made() {
	"$SYNTH" -o "$T/s" >/dev/null &&
	nsysx-extract -q -x "$T/s/dump0" "$T/s/r0.sqlite" -x "$T/s/dump1" "$T/s/r1.sqlite" | nsysx-align -q | nsysx-warmup -q | nsysx-overlap -q -o "$T/s.nsysx" &&
	nsysx-fold -q -o "$T/source.folded" "$T/s.nsysx" &&
	nsysx-fold -q --by module -o "$T/module.folded" "$T/s.nsysx" &&
	awk '{ n = $NF; sub(/ [0-9]*$/, ""); if (NR % 5) print $0, NR % 3 ? n : NR % 2 ? 2 * n : int(n / 2); else if (NR % 2) print $0 ";gone", n }' \
		"$T/source.folded" >"$T/base.folded" &&
	printf '%s\n' '<script>window.hacked=1</script>;"onload="hacked=1;]]><g onclick=1> 10' "a;'b&amp;c 20" 'a 5' >"$T/hostile.folded" &&
	nsysx-flame -q --min-width 0 --title 'Training step by source line' -o "$T/source.svg" "$T/source.folded" &&
	nsysx-flame -q --min-width 0.02 -o "$T/narrow.svg" "$T/source.folded" &&
	nsysx-flame -q --icicle --sort size --title 'By instruction' -o "$T/module.svg" "$T/module.folded" &&
	nsysx-flame -q --diff "$T/base.folded" --title 'What changed' -o "$T/diff.svg" "$T/source.folded" &&
	nsysx-flame -q -o "$T/hostile.svg" "$T/hostile.folded" &&
	nsysx-fold -q --mark-comm -o "$T/rows.folded" "$T/s.nsysx" &&
	nsysx-flame -q --min-width 0 --collapse --title 'Rows of one width' -o "$T/rows.svg" "$T/rows.folded" &&
	nsysx-flame -q -o "$T/empty.svg" /dev/null
}
made || { echo 'flame_browser.sh: the pictures could not be made' >&2; exit 1; }
mkdir -p "$B/shots"
TMPDIR=$T python3 flame_browser.py "$T" "$B/shots"
exit
