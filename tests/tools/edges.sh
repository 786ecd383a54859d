#!/bin/sh
# Rare inputs, options and conditions, with their expected results.
. "${0%/*}/../testlib.sh"

"$SYNTH" -q -o "$T/job" --steps=2 --layers=1 || exit 1
export=$T/job/r0.sqlite

# A copy of the export, changed by an SQL script.
changed() {
	cp "$export" "$T/$1.sqlite"
	sqlite3 "$T/$1.sqlite" "PRAGMA journal_mode = delete; $2" >/dev/null
	rm -f "$T/$1.sqlite-journal"
}

# The value in column $2 of the first record of kind $1 on standard input.
column() {
	nsysx-view -q -t "$1" | awk -F'\t' -v want="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) c = i } NR == 2 { print $c }'
}

# The count of the diag whose text begins with $1 on standard input.
diag() {
	awk -F'\t' -v text="$1" '$1 == "diag" && index($4, text) == 1 { n += $5 } END { print n + 0 }'
}

# ---- contents of exports

host=$(sqlite3 "$export" "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'")
if [ -z "$host" ]; then
	changed named "INSERT INTO TARGET_INFO_SYSTEM_ENV (name, value) VALUES ('Hostname', 'node-7')"
	host=node-7
else
	cp "$export" "$T/named.sqlite"
fi
equal '--host names the host' "$(nsysx-extract -q --host "$T/named.sqlite" | column profile host)" "$host"
equal 'without --host the name is nowhere' "$(nsysx-extract -q "$T/named.sqlite" | grep -c -F -e "$host")" 0

calls=$(sqlite3 "$export" "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k USING (correlationId)")
changed backward "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = start - 1 WHERE correlationId IN (SELECT correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL)"
equal 'calls that end before they start are counted' "$(nsysx-extract -q "$T/backward.sqlite" | diag 'CUDA calls ignored: they end')" "$calls"
changed words "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = 'soon' WHERE correlationId IN (SELECT correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL)"
equal 'calls whose start is no number are counted' "$(nsysx-extract -q "$T/words.sqlite" | diag 'CUPTI_ACTIVITY_KIND_RUNTIME: rows ignored:')" "$calls"

# Two operations with the same device, stream and time.
changed twins "CREATE TEMP TABLE k AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1;
	INSERT INTO StringIds (id, value) SELECT max(id) + 1, 'a_twin' FROM StringIds; INSERT INTO StringIds (id, value) SELECT max(id) + 1, 'z_twin' FROM StringIds;
	UPDATE k SET demangledName = (SELECT id FROM StringIds WHERE value = 'z_twin'), shortName = demangledName; INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM k;
	UPDATE k SET demangledName = (SELECT id FROM StringIds WHERE value = 'a_twin'); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM k"
equal 'operations of one time are sorted by name' \
	"$(nsysx-extract -q --ops "$T/twins.sqlite" | nsysx-view -q -t op | grep -o '[az]_twin' | tr '\n' ' ')" 'a_twin z_twin '

# ---- damage

# The bytes $3 (octal escapes) into the file $1 from byte $2 on.
poke() {
	# shellcheck disable=SC2059  # escapes
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
size=$(wc -c <"$export")
head -c $((size / 8 * 5)) "$export" >"$T/short.sqlite"
fails 'an export cut short is reported as such' 1 'cut short' nsysx-extract "$T/short.sqlite"
# Before version 3.7.0 SQLite leaves no valid number of pages in the header.
poke "$T/short.sqlite" 92 '\0\0\0\0'
fails 'without a size in the header the message names the file' 1 'short.sqlite:' nsysx-extract --ranges=all --ops "$T/short.sqlite"
page=$(sqlite3 "$export" 'PRAGMA page_size')
root=$(sqlite3 "$export" "SELECT rootpage FROM sqlite_master WHERE name = 'NVTX_EVENTS'")
cp "$export" "$T/damaged.sqlite"
poke "$T/damaged.sqlite" $(((root - 1) * page)) '\377\377\377\377\377\377\377\377'
fails 'a damaged page names its table' 1 'damaged.sqlite: damaged: NVTX_EVENTS, page 2' nsysx-extract "$T/damaged.sqlite"

# ---- reports

mkdir "$T/bin" "$T/tmp"
printf report >"$T/run.nsys-rep"
# Run nsysx-extract on the report with an nsys that is a shell script of these lines.
with_nsys() {
	claim=$1 text=$2
	{ echo '#!/bin/sh'; cat; } >"$T/bin/nsys"
	chmod +x "$T/bin/nsys"
	fails "$claim" 1 "$text" env TMPDIR="${3-$T/tmp}" PATH="$T/bin:$PATH" nsysx-extract "$T/run.nsys-rep"
}
with_nsys 'nsys that dies' 'nsys export: ended by signal 9' <<'X'
kill -KILL $$
X
with_nsys 'nsys that leaves nothing' 'nsys export left no file' <<'X'
exit 0
X
with_nsys 'nsys that fails on the way' 'nsys export: exit status 3' <<'X'
for arg; do case $arg in --output=*) : >"${arg#--output=}-journal"; esac; done
exit 3
X
with_nsys 'the temporary folder does not exist' "temporary folder $T/nowhere" "$T/nowhere" <<'X'
exit 0
X
equal 'no temporary file is left' "$(ls -A "$T/tmp")" ''

# ---- streams

nsysx-extract -q --ops -o "$T/a.nsysx" "$export"
fails 'standard output that is closed' 1 'standard output: not open for writing' sh -c 'nsysx-view "$0" >&-' "$T/a.nsysx"
fails 'standard output that is for reading' 1 'standard output: not open for writing' sh -c 'nsysx-view "$0" 1</dev/null' "$T/a.nsysx"

# Unknown columns of metadata, of each type.
awk -F'\t' -v OFS='\t' '$1 == "#program" { print $0, "note:s", "weight:f", "rank:i"; next }
	$1 == "program" { print $0, "n" ++k, k + 0.25, -k; next } { print }' "$T/a.nsysx" >"$T/more.nsysx"
nsysx-merge -q --text "$T/more.nsysx" >"$T/merged"
notes() {
	nsysx-view -q -t program "$1" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["note"], $at["weight"], $at["rank"] }' | sort
}
equal 'unknown columns of programs pass through a merge' "$(notes "$T/merged")" "$(notes "$T/more.nsysx")"
equal '... of every type' "$(notes "$T/merged" | sed -n 2p)" 'n2 2.25 -2'
awk '{ print } /^profile/ { print }' "$T/a.nsysx" >"$T/twice.nsysx"
fails 'a second record of a profile' 1 'second record of profile 0' nsysx-merge "$T/twice.nsysx"
awk -F'\t' -v OFS='\t' '$1 == "profile" { $2 = "" } { print }' "$T/a.nsysx" >"$T/none.nsysx"
fails 'a profile without its number' 1 'profile without profile' nsysx-merge "$T/none.nsysx"

# Operations without a duration.
ops=$(grep -c '^op' "$T/a.nsysx")
column=$(awk -F'\t' '$1 == "#op" { for (i = 1; i <= NF; i++) if ($i == "dur:i") print i }' "$T/a.nsysx")
awk -F'\t' -v OFS='\t' -v c="$column" '$1 == "op" && ++n <= 3 { $c = "" } { print }' "$T/a.nsysx" >"$T/timeless.nsysx"
equal 'operations without a duration count in no row' \
	"$(nsysx-summary -q --tsv --by=kernel "$T/timeless.nsysx" | awk -F'\t' 'NR > 1 { n += $3 } END { print n + 0 }')" $((ops - 3))
run nsysx-summary --tsv --by=kernel "$T/timeless.nsysx"
equal '... and are counted in a warning' "$(grep -c '(3)$' "$T_private/err")" 1

# ---- dumps

# An xz file whose header asks for a dictionary of 4 GiB.
dump=$(ls "$T/job/dump0"/module_0001*after*)
xz -c "$dump" >"$T/greedy.hlo.pb.xz"
python3 - "$T/greedy.hlo.pb.xz" <<'PY'
import struct, sys, zlib
path = sys.argv[1]
data = bytearray(open(path, "rb").read())
size = (data[12] + 1) * 4                     # of the block's header, which follows 12 bytes of the stream's
at = data.index(b"\x21\x01", 12, 12 + size)   # LZMA2, one byte of properties
data[at + 2] = 40
data[12 + size - 4:12 + size] = struct.pack("<I", zlib.crc32(bytes(data[12:12 + size - 4])))
open(path, "wb").write(data)
PY
fails 'a dump that requires too much memory' 1 'xz: needs more than 512 MB' nsysx-heap "$T/greedy.hlo.pb.xz"
dump=$(ls "$T/job/dump0"/module_0040*after*)
nsysx-heap -q --peak "$dump" >"$T/heap"
# shellcheck disable=SC2002  # for it to be a pipe
cat "$dump" | nsysx-heap -q --peak /dev/stdin >"$T/heap.pipe"
same 'a dump through a pipe' "$T/heap" "$T/heap.pipe"
equal 'it has a trace' "$(awk 'NR == 2 { print ($4 > 0) }' "$T/heap")" 1
# A kernel that ends 7 ns after the second one that follows on its stream: the overrun is 7 ns and the time from the start of the first one that follows.
if command -v sqlite3 >/dev/null && [ -x "$SYNTH" ]; then
	ok 'a job is generated' "$SYNTH" -q -o "$T/overrun" --steps 3 --dumps none --processes 1
	db=$T/overrun/r0.sqlite
	ok '... without overruns' sh -c '! nsysx-extract --ops "$1" 2>&1 >/dev/null | grep "a GPU does not do"' sh "$db"
	row=$(sqlite3 "$db" "SELECT rowid, streamId, start FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start LIMIT 1 OFFSET 9" | tr '|' ' ')
	# shellcheck disable=SC2086  # three words
	set -- $row
	behind="SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE streamId = $2 AND start > $3 ORDER BY start LIMIT 1 OFFSET"
	sqlite3 "$db" "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = (SELECT end + 7 FROM ($behind 1)) WHERE rowid = $1"
	ns=$(sqlite3 "$db" "SELECT end - (SELECT start FROM ($behind 0)) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid = $1")
	ns=$(awk -v ns="$ns" 'function four(v) { return sprintf(v < 9.9995 ? "%.3f" : v < 99.995 ? "%.2f" : "%.1f", v) }
		BEGIN { print ns < 1e3 ? ns " ns" : ns < 1e6 ? four(ns / 1e3) " us" : four(ns / 1e6) " ms" }')
	ok 'an overrun is reported with its time' sh -c 'nsysx-extract --ops "$1" 2>&1 >/dev/null | grep -q "which a GPU does not do, for $2 in all, the longest is .* with $2: "' sh "$db" "$ns"
	equal '... and in the stream' "$(nsysx-extract -q --ops "$db" | nsysx-view -t diag | grep -c 'which a GPU does not do')" 1
fi
done_testing
