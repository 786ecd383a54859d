#!/bin/sh
# seeds.sh -- the first corpus for exports, streams and XSpaces: small generated ones, in tests/fuzz/corpus, overwritten.
# B names the build that has nsysx-synth and nsysx-extract.
set -eu
cd "${0%/*}"
B=$(cd "${B:-../../build}" && pwd)
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT

# $1.sqlite without most of compilation and unused rows, with the smallest pages.
trim() {
	sqlite3 "$1" >"$T/log" <<-'SQL'
		PRAGMA journal_mode = delete;
		CREATE TEMP TABLE title AS SELECT n.rowid AS id, coalesce(n.text, s.value) AS text
			FROM NVTX_EVENTS AS n LEFT JOIN StringIds AS s ON s.id = n.textId;
		DELETE FROM NVTX_EVENTS WHERE rowid IN (SELECT id FROM title WHERE (text LIKE 'XlaPass%' AND id % 24 > 0)
			OR text LIKE 'nccl%' OR text LIKE 'Xla%Llvm%' OR text LIKE 'Xla%Asm%' OR (text LIKE 'Thunk%' AND id % 2 > 0));
		DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId % 2 > 0;
		DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId % 2 > 0;
		DELETE FROM StringIds WHERE id NOT IN (SELECT textId FROM NVTX_EVENTS WHERE textId > 0
			UNION SELECT nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME UNION SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL
			UNION SELECT shortName FROM CUPTI_ACTIVITY_KIND_KERNEL);
		DROP TABLE temp.title;
		DELETE FROM TARGET_INFO_SYSTEM_ENV;
		PRAGMA page_size = 512;
		VACUUM;
	SQL
	rm -f "$1-journal"
}

# Seeds named $1, of exports generated with the following options.
seed() {
	name=$1
	shift
	"$B/tests/synth/nsysx-synth" -q -o "$T/$name" --steps=2 --layers=1 "$@"
	for f in "$T/$name"/*.sqlite; do
		trim "$f"
	done
	cp "$f" "corpus/export/$name.sqlite"
	python3 rows.py "$f" 1000 "$T/$name/dump0"/module_0001*after* >"corpus/rows/$name.rows"
	for f in "$T/$name"/r*.sqlite; do
		set -- "${f%.sqlite}"
		"$B/bin/nsysx-extract" -q --ranges --ops -o "$1.nsysx" -x "$T/$name/dump0" "$f"
	done
	# Few records of each kind, but work of all devices.
	"$B/bin/nsysx-merge" -q --text "$T/$name"/r*.nsysx | awk -F'\t' '
		$1 == "thunk" && n[$2, $3, $4]++ >= 5 { next }
		($1 == "op" || $1 == "range" || $1 == "compile") && n[$1, $2]++ >= 12 { next }
		$1 == "inst" && n[$1, $2]++ >= 9 || $1 == "loc" && n[$1]++ >= 5 { next }
		{ print }' >"corpus/pipeline/$name.txt"
}

mkdir -p corpus/export corpus/rows corpus/pipeline
seed plain
seed early --titles=early --schema=3.0.0
seed payloads --titles=2026 --schema=3.24.14 --payloads=detailed --full
seed hex --titles=2026 --schema=3.25.0 --payloads=hex
seed broken --titles=2026 --schema=3.25.0 --payloads=broken
seed graphs --graphs
seed whole-graphs --graphs=whole --titles=2026 --schema=3.25.0
seed cut --unfinished --shuffle --late=1
seed autotune --autotune --details --outside
seed one --one-export --ops-without-call=3
seed groups --groups=2 --processes=4 --offset=1000000 --drift=20 --jitter=100

# XSpaces: the planted ones of the tests.
mkdir -p corpus/xspace
python3 ../tools/xplane/space.py corpus/xspace/gpu
for mode in cross cpu alone trouble; do
	python3 ../tools/xplane/space.py "corpus/xspace/$mode" "$mode"
done
