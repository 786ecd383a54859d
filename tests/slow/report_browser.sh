#!/bin/sh
# The page of nsysx-report in a browser: it opens without complaint, its pictures load, and it fits windows of 1280 and 390 px, light and dark.
# Screenshots are left in $B/shots.
. "${0%/*}/../testlib.sh"

chromium --version >/dev/null 2>&1 || skip_all 'there is no chromium that runs'
command -v chromedriver >/dev/null 2>&1 || skip_all 'there is no chromedriver (chromium-driver)'
getent hosts localhost >/dev/null || skip_all 'localhost has no address, and chromedriver finds the browser by it'
[ -x "$SYNTH" ] || skip_all 'there is no nsysx-synth'
unset MAKEFLAGS MFLAGS MAKELEVEL

# Export $1 without GPU work: ranges of the host alone.
cpu() { python3 - "$1" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for (t,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND (name LIKE 'CUPTI%' OR name LIKE 'ENUM_CUDA%' OR name = 'TARGET_INFO_GPU')").fetchall():
    db.execute("DROP TABLE " + t)
db.commit()
END
}
made() {
	"$SYNTH" -o "$T/s" --offset=300000 --jitter=4000 >/dev/null && "$SYNTH" -o "$T/t" --torch >/dev/null && "$SYNTH" -o "$T/o" --processes=1 --no-comm >/dev/null &&
	nsysx-report -q -o "$T/job" -x "$T/s/dump0" "$T/s/r0.sqlite" -x "$T/s/dump1" "$T/s/r1.sqlite" &&
	nsysx-report -q -o "$T/torch" --title '<b>"x"</b>' "$T/t/r0.sqlite" &&
	cp "$T/t/r0.sqlite" "$T/c.sqlite" && cpu "$T/c.sqlite" && nsysx-report -q -o "$T/cpu" "$T/c.sqlite" &&
	cp "$T/s/r0.sqlite" "$T/x.sqlite" && cpu "$T/x.sqlite" && nsysx-report -q -o "$T/cpux" -x "$T/s/dump0" "$T/x.sqlite" &&
	"$SYNTH" -q -o "$T/l" --steps 1000 >/dev/null && nsysx-report -q -o "$T/long" -x "$T/l/dump0" "$T/l/r0.sqlite" -x "$T/l/dump1" "$T/l/r1.sqlite" &&
	"$SYNTH" -q -o "$T/w" --processes 4 --offset 2000000 --steps 8 --plant late-host &&
	nsysx-report -q -o "$T/late" -x "$T/w/dump0" "$T/w/r0.sqlite" -x "$T/w/dump1" "$T/w/r1.sqlite" -x "$T/w/dump2" "$T/w/r2.sqlite" -x "$T/w/dump3" "$T/w/r3.sqlite" &&
	nsysx-report -q --single -o "$T/one" -x "$T/o/dump0" "$T/o/r0.sqlite"
}
made || { echo 'report_browser.sh: the reports could not be made' >&2; exit 1; }
mkdir -p "$B/shots"
TMPDIR=$T python3 report_browser.py "$T" "$B/shots"
exit
