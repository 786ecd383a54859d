#!/bin/sh
# Hand-written exports with unusual rows and files.
. "${0%/*}/../testlib.sh"

# new NAME SQL: an export of two threads and a GPU with these rows.
new() {
	rm -f "$T/$1.sqlite"
	sqlite3 -bail "$T/$1.sqlite" "
		CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
		CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
		CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
			globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
		CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER);
		CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
			streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL);
		INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.13.1');
		INSERT INTO StringIds VALUES (1, 'kernel'), (-7, 'negative'), (9000000000000000000, 'huge'), (5, 'five');
		$2" || exit 1
}
p=281474976710656               # process 0 of machine 1
a=$((p + 16777216 + 11)) b=$((p + 16777216 + 12)) pid=$((p + 16777216))
other=$((2 * p + 16777216))     # the same pid on machine 2

# ranges NAME: "name start dur ops parent level" of each projected range, by id.
ranges() {
	nsysx-extract -q --ranges=all "$T/$1.sqlite" >"$T/s" || return
	awk -F'\t' '$1 == "range" { print $3, ($9 != "" ? $9 ":" : "") $10, $11, $12, $15 + 0, $4, $5 }' "$T/s" | sort -n | cut -d' ' -f2- | paste -sd';' -
}
# diag NAME TEXT: the count of the diag that contains TEXT.
diag() {
	nsysx-extract -q --ranges=all "$T/$1.sqlite" | awk -F'\t' -v t="$2" '$1 == "diag" && index($4, t) { print $5 }'
}
one="INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (20, 30, $a, 77);
	INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 150, 0, 7, 77, $pid, 1);"
range() { echo "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES ($1);"; }

new simple "$(range "10, 40, 59, 'outer', $a, 0") $(range "15, 35, 59, 'inner', $a, 0") $(range "0, 99, 59, 'elsewhere', $b, 0") $one"
equal 'a kernel is projected on the ranges around its call' "$(ranges simple)" 'outer 100 50 1  0;inner 100 50 1 1 1;elsewhere   0  0'

new ends "$(range "20, 30, 59, 'exact', $a, 0") $(range "20, 29, 59, 'short', $a, 0") $(range "21, 99, 59, 'late', $a, 0") $one"
equal 'both ends of a range belong to it' "$(ranges ends)" 'exact 100 50 1  0;short   0 1 1;late   0  0'

new instant "$(range "0, 20, 59, 'before', $a, 0") $(range "20, 40, 59, 'after', $a, 0")
	INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (20, 20, $a, 77);
	INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 150, 0, 7, 77, $pid, 1);"
equal 'a call of duration 0 where two ranges touch is in both' "$(ranges instant)" 'before 100 50 1  0;after 100 50 1  0'

new overlap "$(range "0, 30, 60, 'left', $a, 0") $(range "10, 50, 60, 'right', $a, 0") $one"
equal 'overlapping ranges both contain the call, neither is a parent' "$(ranges overlap)" 'left 100 50 1  0;right 100 50 1  0'

new twins "$(range "0, 50, 59, 'x', $a, 0") $(range "0, 50, 59, 'y', $a, 0") $one"
equal 'of equal ranges the first is the parent of the second' "$(ranges twins)" 'x 100 50 1  0;y 100 50 1 1 1'

new driver "$(range "0, 50, 59, 'x', $a, 0") $(range "21, 25, 59, 'y', $a, 0") $one
	INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (22, 24, $a, 77);
	INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (160, 170, 0, 7, 77, $pid, 1);"
equal 'runtime and driver call of one launch count once, as do their kernels' "$(ranges driver)" 'x 100 70 1  0;y 100 70 1 1 1'

new pids "$(range "0, 50, 59, 'x', $a, 0")
	INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (20, 30, $a, 77);
	INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 150, 0, 7, 77, $other, 1), (200, 250, 0, 7, NULL, $pid, 1), (300, 350, 0, 7, 78, $pid, 1);"
equal 'correlation ids are separate by process and machine' "$(ranges pids)" 'x   0  0'
equal 'operations without a call are counted' "$(diag pids 'kernels whose CUDA call is not in the export')" 3

# 4294967303 is 2^32 + 7; -1 is written for no stream.
new streams "$(range "0, 50, 59, 'x', $a, 0") $one
	INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (160, 170, 0, 4294967303, 77, $pid, 1), (180, 190, 0, 9223372036854775807, 77, $pid, 1), (195, 199, 0, -1, 77, $pid, 1);"
equal 'CUDA streams keep all 64 bits of their numbers' "$(nsysx-extract -q --ops "$T/streams.sqlite" | nsysx-view -t op | cut -f 5 | paste -sd' ' -)" \
	'stream 7 4294967303 9223372036854775807 -1'

new names "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, textId, domainId) VALUES
	(0, 50, 59, NULL, $a, -7, 0), (1, 49, 59, NULL, $a, 9000000000000000000, NULL), (2, 48, 59, 'text', $a, 5, 3),
	(3, 47, 59, 'text', $a, 6, 3), (4, 46, 59, NULL, $a, NULL, 4), (5, 45, 59, NULL, $a, 6, 0),
	(60, NULL, 75, 'late name', $b, NULL, 3), (50, NULL, 75, 'DOM', $a, NULL, 3), (40, NULL, 75, 'not here', $((other + 16777216)), NULL, 3); $one"
equal 'names: string ids of any size first, then the text, with the earliest name of the domain' "$(ranges names)" \
	'negative 100 50 1  0;huge 100 50 1 1 1;DOM:five 100 50 1 2 2;DOM:text 100 50 1 3 3; 100 50 1 4 4; 100 50 1 5 5'
equal 'ranges of a domain without a name are counted' "$(diag names 'domains whose names are not in the export')" 1
equal 'missing strings are counted' "$(diag names 'not in StringIds')" 1

new unfinished "$(range "0, NULL, 59, 'open', $a, 0") $(range "10, 40, 59, 'x', $a, 0") $(range "60, 90, 59, 'y', $b, 0") $one"
equal 'a range without an end extends to the last end of any range' "$(nsysx-extract -q --ranges "$T/unfinished.sqlite" | awk -F'\t' '$10 == "open" { print $13, $14 }')" '0 90'
equal '... and is counted' "$(diag unfinished 'without an end')" 1
new endless "$(range "0, NULL, 59, 'open', $a, 0") $one"
equal 'if no range has an end there are no ranges' "$(ranges endless)" ''
equal '... with a diag' "$(diag endless 'no range of the export has an end')" 1

new odd "$(range "0, 50, 59, 'x', $a, 0") $(range "9, 5, 59, 'backward', $a, 0") $(range "'soon', 50, 59, 'y', $a, 0") $(range "1, 'later', 59, 'y', $a, 0")
	$(range "1, 50, 59, 'z', NULL, 0") $(range "1, 50, 34, 'mark', $a, 0") $(range "1.5, 50, 59, 'z', $a, 0")
	INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, endGlobalTid, domainId)
		VALUES (0, 99, 60, 'thither', $a, $b, 0), (1, 49, 60, 'stayed', $a, $a, 0);
	INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (300, 250, 0, 7, 77, $pid, 1), ('x', 250, 0, 7, 77, $pid, 1); $one"
equal 'invalid rows do not affect others' "$(ranges odd)" 'x 100 50 1  0;stayed 100 50 1 1 1'
equal 'rows without a number are counted' "$(diag odd 'NVTX_EVENTS: rows ignored:')" 4
equal 'rows of operations without a number are counted' "$(diag odd 'KERNEL: rows ignored:')" 1
equal 'ranges that end before they start are counted' "$(diag odd 'NVTX ranges ignored: they end before')" 1
equal 'operations that end before they start are counted' "$(diag odd 'kernels ignored: they end before')" 1
equal 'ranges that end on another thread are counted' "$(diag odd 'end on another thread')" 1

# Processes 1, 2 and 3 of one node, each with devices that it numbers from 0 (ordinals: 0; 0 and 3; 4 and 5): names of devices do not identify them.
# launcher PROCESS THREAD NAME: a thread with a name and no calls; used DEVICE PROCESS: a kernel there.
string=100
launcher() { string=$((string + 1)); named="$named INSERT INTO StringIds VALUES ($string, '$3'); INSERT INTO ThreadNames VALUES ($string, $((p + $1 * 16777216 + $2)));"; }
used() { echo "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 150, $1, 7, 77, $((p + $2 * 16777216)), 1);"; }
named='CREATE TABLE ThreadNames (nameId INTEGER, globalTid INTEGER); CREATE TABLE TARGET_INFO_NVTX_CUDA_DEVICE (name TEXT, deviceId INTEGER);'
for name in 6,local=0 7,local=0 2,local=0 4,local=3; do
	named="$named INSERT INTO TARGET_INFO_NVTX_CUDA_DEVICE VALUES ('Xla:#global=$name,process=0,partition=0#', ${name##*=});"
done
launcher 1 80 'XlaLauncher:#global=6,local=0,process=3,partition=0#'
for local in 3 1 0 2; do launcher 2 $((90 - local)) "XlaLauncher:#global=$((1 + local)),local=$local,process=0,partition=0#"; done
launcher 3 81 'XlaLauncher:#global=8,local=1,process=1,partition=0#'
launcher 3 82 'XlaLauncher:#global=7,local=0,process=1,partition=0#'
launcher 3 83 'XlaLauncher:#global=7,local=0,process=1,partition=0#'
launcher 4 84 'XlaLauncher:#global=9,local=1,process=9,partition=0#'
devices() { nsysx-extract -q --ops "$T/$1.sqlite" | nsysx-view -t device | sed 1d | awk -F'\t' '{ printf "%s=%s/%s ", $1, $7, $6 }'; }
new node "$named $(range "0, 99, 59, 'x', $a, 0") $one $(used 0 2) $(used 3 2) $(used 4 3) $(used 5 3)"
equal 'names of launcher threads identify devices, also without launches' "$(devices node)" '1=2/0 4=2/3 6=1/0 7=3/4 8=3/5 '
# Process 2 uses one device of its four: the one with that local number. Process 5 has no launchers, 4 none with its device's local number.
named="$named DELETE FROM TARGET_INFO_NVTX_CUDA_DEVICE WHERE deviceId = 3;"
new node "$named $(used 3 2) $(used 0 4) $(used 7 4) $(used 0 5)"
equal 'a device is identified by its local number; unidentified ones are numbered after the others' "$(devices node)" '4=2/3 5=4/0 6=4/7 7=5/0 '

# A title has the common part of the op_names of all instructions that its instruction reaches, here in a reduction called by the fusion.
mkdir "$T/deep"
protoc -I pgle --encode=Dump pgle/dump.proto >"$T/deep/module_0007.jit_f.sm_9.0_gpu_after_optimizations.hlo.pb" <<'END'
hlo_module { name: "jit_f" id: 7 entry_computation_id: 1
  computations { name: "added" id: 3 root_id: 30 instructions { name: "add.30" opcode: "add" id: 30 metadata { op_name: "jit(f)/cumsum/add" } } }
  computations { name: "fused" id: 2 root_id: 20 is_fusion_computation: true
    instructions { name: "window.20" opcode: "reduce-window" id: 20 called_computation_ids: 3 } }
  computations { name: "main" id: 1 root_id: 10 instructions { name: "fusion.1" opcode: "fusion" id: 10 called_computation_ids: 2 } }
}
END
# titled NAME: "opcode diags" of a program whose one range has that op_name in its title.
titled() {
	new deep "$(range "0, 60, 59, 'XlaModule:#hlo_module=jit_f,program_id=7#', $a, 5") $(range "5, 55, 59, 'Thunk:#name=$1,hlo_op=fusion.1#', $a, 5")
		$(range "0, NULL, 75, 'TSL', $a, 5") $one"
	nsysx-extract -x "$T/deep" "$T/deep.sqlite" 2>"$T/err" | nsysx-view -t inst | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["opcode"] }'
	grep -c -e 'another run' -e 'op_name' "$T/err"
}
equal 'a dump with op_names as deep as in titles is used' "$(titled cumsum/add | tr '\n' ' ')" 'fusion 0 '
equal 'a dump without the op_name is from another run' "$(titled cumsum/mul | tr '\n' ' ')" ' 1 '

new limits "$(range "-9223372036854775808, 9223372036854775807, 59, 'all', $a, 0") $one"
ok 'times at the limits' nsysx-extract -q --ranges=all "$T/limits.sqlite"
new minus "UPDATE StringIds SET id = 2 WHERE id = 5; $(range "-50, 50, 59, 'x', $a, 0") UPDATE NVTX_EVENTS SET rowid = -9000000000000000000;
	$(range "-40, 40, 59, 'y', $a, 0") UPDATE NVTX_EVENTS SET rowid = 9000000000000000000 WHERE text = 'y'; $one"
equal 'rowids with large differences' "$(ranges minus)" 'x 100 50 1  0;y 100 50 1 -9000000000000000000 1'

# Tables are read from SQLite's pages if these are plain, else through SQLite. A database in UTF-16 is read completely
# through SQLite, so it is compared with the same in other forms.
"$SYNTH" -o "$T/torch" --torch
whole() { mkdir -p "$T/x" && ln -sf "$1" "$T/x/x.sqlite" && nsysx-extract -q --ranges=all --ops "$T/x/x.sqlite"; }
copy() { { echo "PRAGMA encoding='$2'; PRAGMA page_size=$3; $5"; sqlite3 "$1" .dump; echo "$6"; } | sqlite3 "$4"; }
plain=$T/torch/r0.sqlite
whole "$plain" >"$T/want"
equal 'the export has records' "$([ "$(grep -c '^range' "$T/want")" -gt 100 ] && echo yes)" yes
for form in 'UTF-16le 4096' 'UTF-16be 4096' 'UTF-8 512' 'UTF-8 1024' 'UTF-8 65536'; do
	set -- $form
	copy "$plain" "$1" "$2" "$T/form-$1-$2.sqlite" '' ''
	whole "$T/form-$1-$2.sqlite" >"$T/got"
	same "the same export in $1, pages of $2 bytes" "$T/want" "$T/got"
done
long=$(printf '%3000s' '' | sed 's/ /ab/g')
odd="
	UPDATE NVTX_EVENTS SET text = '$long' || rowid, textId = NULL WHERE rowid % 7 = 0;
	UPDATE NVTX_EVENTS SET text = 'x' || rowid || '0012 007 1e3 18446744073709551616', textId = NULL WHERE rowid % 7 = 3;
	UPDATE NVTX_EVENTS SET text = char(1, 49, 50, 1), textId = NULL WHERE rowid % 7 = 4;
	UPDATE NVTX_EVENTS SET text = 12 WHERE rowid % 7 = 5;
	UPDATE NVTX_EVENTS SET text = x'3132' WHERE rowid % 29 = 5;
	UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = 'x' WHERE rowid % 31 = 5;
	UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start + 0.5 WHERE rowid % 31 = 5;
	DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE rowid % 3 = 1;
	ALTER TABLE NVTX_EVENTS ADD COLUMN extra TEXT DEFAULT 'y';"
copy "$plain" UTF-16le 4096 "$T/odd16.sqlite" '' "$odd"
whole "$T/odd16.sqlite" >"$T/want"
for page in 512 4096 65536; do
	copy "$plain" UTF-8 $page "$T/odd$page.sqlite" '' "$odd"
	whole "$T/odd$page.sqlite" >"$T/got"
	same "an export with unusual values and long texts, pages of $page bytes" "$T/want" "$T/got"
done
later="ALTER TABLE NVTX_EVENTS DROP COLUMN domainId; ALTER TABLE NVTX_EVENTS DROP COLUMN textId; ALTER TABLE NVTX_EVENTS ADD COLUMN textId INTEGER;"
for default in '' 'DEFAULT 1'; do
	copy "$plain" UTF-16le 4096 "$T/added16$default.sqlite" '' "$later ALTER TABLE NVTX_EVENTS ADD COLUMN domainId INTEGER $default;"
	copy "$plain" UTF-8 4096 "$T/added$default.sqlite" '' "$later ALTER TABLE NVTX_EVENTS ADD COLUMN domainId INTEGER $default;"
	whole "$T/added16$default.sqlite" >"$T/want"
	whole "$T/added$default.sqlite" >"$T/got"
	same "columns that were added later ${default:-without a default}" "$T/want" "$T/got"
done

# Files.
mkfifo "$T/fifo"
cat "$T/simple.sqlite" >"$T/fifo" 2>"$T/err" &
fails 'an export in a FIFO is refused' 1 'cannot come through a pipe: write it to a file' timeout 20 nsysx-extract "$T/fifo"
fails 'a device is refused without waiting' 1 'not a regular file' timeout 20 nsysx-extract /dev/null
fails 'a folder' 1 'a folder: want an export' nsysx-extract "$T"
nsysx-extract -q "$T/simple.sqlite" >"$T/stream"
fails 'a stream instead of an export' 1 'an nsysx stream' nsysx-extract "$T/stream"
nsysx-extract -q -b -z "$T/simple.sqlite" >"$T/stream"
fails 'a compressed binary stream' 1 'an nsysx stream' nsysx-extract "$T/stream"
zstd -q "$T/simple.sqlite" -o "$T/simple.sqlite.zst"
head -c 500 "$T/simple.sqlite.zst" >"$T/cut.sqlite.zst"
fails 'a compressed export that was cut' 1 'cut short' nsysx-extract "$T/cut.sqlite.zst"
fails 'no space for unpacking' 1 'temporary file' env TMPDIR="$T/nowhere" nsysx-extract "$T/simple.sqlite.zst"
# SQLite ignores the case of names of tables and columns.
cp "$T/simple.sqlite" "$T/other.sqlite"
python3 - "$T/other.sqlite" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for (t,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'").fetchall():
    for c in [r[1] for r in db.execute('PRAGMA table_info("%s")' % t)]:
        db.execute('ALTER TABLE "%s" RENAME COLUMN "%s" TO "%s"' % (t, c, c.swapcase()))
    db.execute('ALTER TABLE "%s" RENAME TO "renamed"' % t)
    db.execute('ALTER TABLE "renamed" RENAME TO "%s"' % t.swapcase())
db.commit()
END
for opt in '' --ranges=all --calls; do
	nsysx-extract -q $opt --ops "$T/simple.sqlite" | grep -v '^profile' >"$T/want"
	nsysx-extract -q $opt --ops "$T/other.sqlite" | grep -v '^profile' >"$T/got"
	same "names of tables and columns in upper case${opt:+, $opt}" "$T/want" "$T/got"
done
ln -s simple.sqlite "$T/link.sqlite"
echo x >"$T/simple.sqlite-journal"
fails 'a journal beside the target of a link' 1 '-journal beside it is not empty' nsysx-extract "$T/link.sqlite"
: >"$T/simple.sqlite-journal"
ok 'an empty journal is ignored' nsysx-extract -q "$T/simple.sqlite"
rm "$T/simple.sqlite-journal"
cp "$T/simple.sqlite" "$T/logged.sqlite"
sqlite3 "$T/logged.sqlite" 'PRAGMA journal_mode=wal' >"$T/null"
equal 'a database whose log was checkpointed' "$(ranges logged)" "$(ranges simple)"
cp "$T/simple.sqlite" "$T/100% #?&=ü.sqlite"
equal 'a file name with characters of URIs' "$(ranges '100% #?&=ü')" "$(ranges simple)"
chmod 400 "$T/simple.sqlite"
before=$(cksum <"$T/simple.sqlite"; ls -a "$T" | wc -l)
nsysx-extract -q --ranges -o "$T/null" "$T/simple.sqlite"
equal 'the input is unchanged, and no file is left beside it' "$(cksum <"$T/simple.sqlite"; ls -a "$T" | wc -l)" "$before"

# Numbers in names are stored apart, and names are restored: of ranges with work and without, by text, by id and by both.
long=$(printf 'x%.0s 4711 ' $(seq 120))$(seq -s' ' 1000 1200)
new numbered "$one $(
	n=0
	for name in 'aten::mm, seq = 12, op_id = 99' 'aten::mm, seq = 012, op_id = 0' 'n 0' 'n 00' '7' 'n -5' 'a 18446744073709551616 b' \
		'9 8 7 6 5 4 3 2 1' 'aten::mm, seq = 12, op_id = 99' '' ' 1' '1 ' 'é 1 é' "$long" 'n 999999999999999999' 'n 1000000000000000000'; do
		n=$((n + 1))
		echo "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES ($n, $((200 - n)), 59, '$name', $a, 0);"
		echo "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES ($((300 + n)), $((400 - n)), 59, '$name', $b, 0);"
	done)
	INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES (500, 600, 59, char(1) || ' 5 ' || char(1), $b, 0);
	INSERT INTO NVTX_EVENTS (start, end, eventType, text, textId, globalTid, domainId) VALUES (601, 602, 59, 'both 1', 5, $b, 0),
		(603, 604, 59, 'both 2', 6, $b, 0), (605, 606, 59, NULL, 5, $b, 0), (607, 608, 59, NULL, NULL, $b, 0);"
sqlite3 -separator '	' "$T/numbered.sqlite" "SELECT rowid, replace(coalesce((SELECT value FROM StringIds WHERE id = textId), text, ''), char(1), '\\x01')
	FROM NVTX_EVENTS ORDER BY rowid" >"$T/want"
for how in '' -b '-b -j 3' '-j 1'; do
	# shellcheck disable=SC2086
	nsysx-extract -q $how --ranges=all "$T/numbered.sqlite" | nsysx-view -q -t range |
		awk -F'\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["range"], $at["name"] }' | sort -n >"$T/is"
	same "names that contain numbers${how:+, $how}" "$T/is" "$T/want"
done

# Nsight Systems 2026.4: decompression, and host functions that streams wait for.
new inflated "$(range "0, 50, 59, 'x', $a, 0")
	INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (20, 30, $a, 77);
	CREATE TABLE CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, deviceId INTEGER NOT NULL,
		contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, ChannelID INTEGER NOT NULL,
		sourceBytes INTEGER NOT NULL, NumberOfOperations INTEGER NOT NULL);
	INSERT INTO CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS VALUES (200, 190, 3, 0, 1, 7, 77, $pid, 4, 4096, 2), (100, 150, 3, 0, 1, 7, 77, $pid, 4, 8192, 2);
	CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE_AND_HOST_LAUNCH (start, end);
	INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE_AND_HOST_LAUNCH VALUES (60, 90), (10, 22), (5, 4), ('x', 7), (7, NULL);"
equal 'decompression is GPU work' "$(ranges inflated)" 'x 100 50 1  0'
equal '... with an operation' "$(nsysx-extract -q --ops "$T/inflated.sqlite" | awk -F'\t' '$1 == "op" { print $4, $6, $7, $8, $9, $11 }')" \
	'memcpy 7 [CUDA mem decompress] 100 50 8192'
equal 'a decompression that ends before it starts is counted' "$(diag inflated 'decompressions ignored: they end before')" 1
equal 'host functions are counted, with their time' "$(diag inflated 'waited for are not GPU operations: 42 ns')" 2
equal 'a host function that ends before it starts is counted' "$(diag inflated 'functions ignored: they end before')" 1
equal 'host functions without a time are counted' "$(diag inflated 'HOST_LAUNCH: rows ignored: a number')" 2
sqlite3 "$T/inflated.sqlite" "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE_AND_HOST_LAUNCH VALUES (-9223372036854775807, 9223372036854775807)"
equal 'a time beyond 63 bits' "$(diag inflated 'operations: 9223372036.9 s, 9223372036854775807 ns')" 3

# Reports, through the nsys on PATH.
mkdir "$T/bin" "$T/tmp" "$T/none"
printf 'report' >"$T/run.nsys-rep"
cat >"$T/bin/nsys" <<'END'
#!/bin/sh
for arg; do case $arg in --output=*) out=${arg#--output=};; *.nsys-rep) in=$arg;; --include-blobs=true) [ -z "${OLD-}" ] || exit 1; blobs=1;; esac; done
[ -n "${OLD-}${blobs-}" ] || exit 4
[ "$1" = export ] && [ "$(cat "$in")" = report ] || exit 3
echo 'Processing...'
cp "$DONOR" "$out" && chmod 600 "$out"
END
chmod +x "$T/bin/nsys"
tool=$(command -v nsysx-extract)
DONOR=$T/simple.sqlite TMPDIR=$T/tmp PATH=$T/bin:$PATH "$tool" -q --ranges=all "$T/run.nsys-rep" >"$T/rep"
"$tool" -q --ranges=all "$T/simple.sqlite" | sed 's/simple/run/' >"$T/want"
same 'a report is exported by nsys' "$T/want" "$T/rep"
OLD=1 DONOR=$T/simple.sqlite TMPDIR=$T/tmp PATH=$T/bin:$PATH "$tool" -q --ranges=all "$T/run.nsys-rep" >"$T/rep"
same '... also by a version without payloads' "$T/want" "$T/rep"
fails 'nsys that fails' 1 'nsys export: exit status' env DONOR="$T/missing" TMPDIR="$T/tmp" PATH="$T/bin:$PATH" "$tool" "$T/run.nsys-rep"
fails 'nsys is missing: the message has the command to run' 1 'nsys export --type=sqlite' env TMPDIR="$T/tmp" PATH="$T/none" "$tool" "$T/run.nsys-rep"
printf '#!/bin/sh\necho $$ >"%s/pid"; exec sleep 60\n' "$T" >"$T/bin/nsys"
rm -f "$T/pid"
TMPDIR=$T/tmp PATH=$T/bin:$PATH "$tool" "$T/run.nsys-rep" >"$T/null" 2>&1 &
while [ ! -s "$T/pid" ]; do sleep 0.05; done
kill "$!"
wait "$!"
equal 'a signal ends nsys and nsysx-extract' "$? $(kill -0 "$(cat "$T/pid")" 2>"$T/null" || echo gone)" '143 gone'
equal 'no temporary folder is left' "$(ls "$T/tmp")" ''

done_testing
