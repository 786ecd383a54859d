#!/bin/sh
# Damaged exports, and exports that change during reading, are errors with a message, never a shorter result. DAMAGE=N tries N random
# cases instead of a few.
. "${0%/*}/../testlib.sh"

"$SYNTH" -o "$T/xla" --steps=3 --dumps=none
"$SYNTH" -o "$T/torch" --torch
"$SYNTH" -o "$T/paid" --titles=2026 --schema=3.24.14 --payloads --steps=2 --full --dumps=none
"$SYNTH" -o "$T/shuffled" --processes=1 --steps=2 --shuffle --dumps=none
plain=$T/xla/r0.sqlite

# byte FILE OFFSET: its value. put FILE OFFSET VALUE...: write bytes.
byte() { od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' '; }
two() { echo $(($(byte "$1" "$2") * 256 + $(byte "$1" $(($2 + 1))))); }
four() { echo $(($(two "$1" "$2") * 65536 + $(two "$1" $(($2 + 2))))); }
put() {
	file=$1 at=$2
	shift 2
	for v; do
		printf "\\$(printf %o "$v")" | dd of="$file" bs=1 seek="$at" conv=notrunc 2>"$T/null"
		at=$((at + 1))
	done
}
size=$(two "$plain" 16)
root=$(sqlite3 "$plain" "SELECT rootpage FROM sqlite_master WHERE name = 'NVTX_EVENTS'")
root_at=$(((root - 1) * size))
equal 'the table of ranges has several pages' "$(byte "$plain" "$root_at")" 5
leaf=$(four "$plain" $((root_at + $(two "$plain" $((root_at + 14))))))   # the second child of the root
leaf_at=$(((leaf - 1) * size))
cells=$(two "$plain" $((leaf_at + 3)))

# damaged NAME: sets $copy to a copy that can be damaged.
damaged() {
	copy=$T/$1.sqlite
	cp "$plain" "$copy"
}
refused() { fails "$1" 1 "damaged: $2" nsysx-extract -q --ranges=all --ops "$copy"; }

damaged rowid
cell=$((leaf_at + $(two "$plain" $((leaf_at + 8 + 2 * (cells / 2))))))
put "$copy" $((cell + 1)) 255
refused 'a byte of a rowid: the message names table and page' "NVTX_EVENTS, page $leaf: rowid"
fails '... and a command that recovers rows' 1 "sqlite3 $copy .recover" nsysx-extract "$copy"
damaged count
put "$copy" $((leaf_at + 3)) $(((cells - 5) / 256)) $(((cells - 5) % 256))
refused 'a page with five rows fewer than its count' "NVTX_EVENTS, page $leaf: "
damaged fragments
put "$copy" $((leaf_at + 7)) 5
refused 'a count of fragments that does not match the page' "NVTX_EVENTS, page $leaf: "
damaged twice
for i in 0 1 2 3; do put "$copy" $((root_at + $(two "$plain" $((root_at + 14))) + i)) "$(byte "$plain" $((root_at + $(two "$plain" $((root_at + 12))) + i)))"; done
refused 'a page twice in a tree' "NVTX_EVENTS, page $root: "
damaged zeros
dd if=/dev/zero of="$copy" bs="$size" seek=$((leaf - 1)) count=1 conv=notrunc 2>"$T/null"
refused 'a page of zeros' "NVTX_EVENTS, page $leaf: "
damaged schema
put "$copy" 104 $(($(byte "$plain" 104) - 1))
refused 'a missing table' 'sqlite_master, page 1: '
damaged names
strings=$(sqlite3 "$plain" "SELECT rootpage FROM sqlite_master WHERE name = 'StringIds'")
put "$copy" $(((strings - 1) * size + 4)) $(($(byte "$plain" $(((strings - 1) * size + 4))) - 1))
refused 'a page of names that are looked up' "StringIds, page $strings: "
damaged packed
put "$copy" $((cell + 1)) 255
zstd -q "$copy"
fails '... in a compressed export' 1 "packed.sqlite.zst: damaged: NVTX_EVENTS, page $leaf" nsysx-extract "$copy.zst"

p0=$SHARED/data/pax/p0.sqlite.zst
if [ -f "$p0" ]; then
	zstd -dqf "$p0" -o "$T/p0.sqlite"
	put "$T/p0.sqlite" 77948 255
	fails 'a byte of a real export: no shorter result' 1 'damaged: NVTX_EVENTS, page 20: rowid' nsysx-extract -q --ranges=all "$T/p0.sqlite"
	rm "$T/p0.sqlite"
else
	skip 'a byte of a real export' 'it is not here'
fi

# Random damage. Exports in several forms: small pages, so that trees are deep; long texts with overflow pages; deleted rows,
# which leave free blocks, fragments and free pages; texts in UTF-16, which are read through SQLite. 300 cases with a fixed seed.
copy() { { echo "PRAGMA encoding='$2'; PRAGMA page_size=$3;"; sqlite3 "$1" .dump; echo "$5"; } | sqlite3 "$4"; }
long=$(printf '%3000s' '' | sed 's/ /ab/g')
odd="UPDATE NVTX_EVENTS SET text = '$long' || rowid, textId = NULL WHERE rowid % 7 = 0;
	DELETE FROM NVTX_EVENTS WHERE rowid % 11 = 3;
	UPDATE NVTX_EVENTS SET text = 'short' WHERE rowid % 21 = 0;
	DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid % 5 = 1;"
copy "$T/torch/r0.sqlite" UTF-8 4096 "$T/odd4096.sqlite" "$odd"
copy "$T/torch/r0.sqlite" UTF-8 1024 "$T/odd1024.sqlite" "$odd"
copy "$plain" UTF-8 512 "$T/small.sqlite" ''
copy "$T/torch/r0.sqlite" UTF-16le 1024 "$T/wide.sqlite" ''
# Real exports that are available, some of them small.
mkdir "$T/real"
for f in cuda/edge-comm idle/14_xla torch/mfu_edge nvtx/demo-2024.2; do
	[ -f "$SHARED/data/$f.sqlite.zst" ] && zstd -dq "$SHARED/data/$f.sqlite.zst" -o "$T/real/${f##*/}.sqlite"
done
set -- "$T"/real/*.sqlite
[ -f "$1" ] || shift
TMPDIR=$T run "$B/tests/damage/damage" -n "${DAMAGE:-300}" -s 14 "$@" "$plain" "$T/torch/r1.sqlite" "$T/paid/r0.sqlite" "$T/shuffled/r0.sqlite" \
	"$T/odd4096.sqlite" "$T/odd1024.sqlite" "$T/small.sqlite" "$T/wide.sqlite"
[ -n "${DAMAGE-}" ] && sed 's/^/# /' "$T_private/out"
if [ "$status" -eq 0 ]; then
	pass "${DAMAGE:-300} damaged exports give the same records from pages and through SQLite, or an error in one"
else
	fail 'damaged exports give the same records from pages and through SQLite, or an error in one' "status $status" damage
	grep '^#' "$T_private/out"
fi
equal 'most of them were refused as damaged' "$(tail -n 1 "$T_private/out" | awk -F'\t' '{ print ($6 + $7 + $8 + $9 > $2 / 2 ? "yes" : $0) }')" yes
equal 'few of them gave records where SQLite refuses' "$(tail -n 1 "$T_private/out" | awk -F'\t' '{ print ($9 * 100 <= $2 ? "yes" : $0) }')" yes

# Changes during reading: before the N-th read, some after the first look at the file and some before the last.
shim=$B/tests/fault/shim.so
if grep -qa -e __asan_init -e __tsan_init "$B/bin/nsysx-extract"; then
	skip 'an export that changes during reading' 'a sanitizer brings its own allocator'
else
	for what in grow shrink; do
		for n in 10 30 60; do
			cp "$plain" "$T/changing.sqlite"
			fails "an export that changes during reading ($what, read $n)" 1 'changed while it was being read' env FAULT="$what:$n" FAULT_FILE="$T/changing.sqlite" \
				LD_PRELOAD="$shim" nsysx-extract -q -j 1 "$T/changing.sqlite"
		done
	done
	zstd -qf "$plain" -o "$T/changing.sqlite.zst"
	fails 'a compressed export that changes during unpacking' 1 'changed while it was being read' env FAULT=grow:5 FAULT_FILE="$T/changing.sqlite.zst" \
		LD_PRELOAD="$shim" nsysx-extract -q -j 1 "$T/changing.sqlite.zst"
fi

done_testing
