#!/bin/sh
# docs/format.md: its tables of kinds, its examples, and binary as decoded by protoc and by an independent decoder.
. "${0%/*}/../testlib.sh"

doc=$tests_dir/../docs/format.md
proto=$tests_dir/../protos

# The tables of the section Kinds, as --schema prints them.
awk '
	/^## / { on = $0 == "## Kinds"; next }
	!on { next }
	/^### / { kind = $2; meaning = ""; next }
	/^\| column \|/ || /^\|---/ { next }
	/^\| / {
		n = split($0, f, /\|/)
		for (i = 2; i < n; i++) gsub(/^ +| +$/, "", f[i])
		print kind "\t" f[2] "\t" f[3] "\t" f[4] "\t" f[5]
		next
	}
	/./ && kind { sub(/\.$/, ""); print kind "\t\t\t\t" tolower(substr($0, 1, 1)) substr($0, 2) }' "$doc" >"$T/doc"
# The page begins the meaning of a kind with a capital.
nsysx-view --schema | awk -F'\t' -v OFS='\t' 'NR > 1 { if ($2 == "") $5 = tolower(substr($5, 1, 1)) substr($5, 2); print }' >"$T/schema"
same 'the tables of kinds equal the schema' "$T/doc" "$T/schema"
equal 'every kind is in a table' "$(awk -F'\t' '$2 == ""' "$T/doc" | wc -l)" "$(nsysx-view --schema | awk -F'\t' 'NR > 1 && $2 == ""' | wc -l)"

if command -v protoc >/dev/null; then
	ok 'the declarations are sound' protoc -I "$proto" --descriptor_set_out="$T/set" "$proto/nsysx.proto"
else
	skip 'the declarations are sound' 'no protoc'
fi

# Examples.
golden 'the text example is canonical' format/example.txt nsysx-view format/example.txt
nsysx-view -b format/example.txt | od -An -v -tx1 | sed 's/^ //' >"$T/hex"
same 'the binary example is its binary form' "$T/hex" format/example.hex
for byte in $(cat format/example.hex); do printf "\\$(printf %03o "0x$byte")"; done >"$T/binary"
golden '... and decodes to it' format/example.txt nsysx-view "$T/binary"

# A text form that protoc encodes is a stream; a stream that another program decodes has the same records.
decode() {
	protoc --decode=nsysx.Stream -I "$proto" "$proto/nsysx.proto" <"$1" >"$T/decoded" && python3 format/decode.py <"$T/decoded"
}
encode() {
	protoc --encode=nsysx.Stream -I "$proto" "$proto/nsysx.proto"
}
# refused CLAIM MESSAGE SED-SCRIPT: the bases, edited, are damaged.
refused() {
	sed "$3" format/bases.textproto | encode >"$T/bad" 2>"$T/err"
	if cmp -s "$T/bad" "$T/bases" || [ ! -s "$T/bad" ]; then
		equal "$1: the edit is one" "$(cat "$T/err")" ''
	else
		fails "$1" 1 "$T/bad: $2" nsysx-view -k none "$T/bad"
	fi
}
if ! command -v protoc >/dev/null || ! command -v python3 >/dev/null; then
	skip 'binary as protoc sees it' 'no protoc, or no python3'
	done_testing
fi
encode <format/bases.textproto >"$T/bases"
golden 'every base decodes as the page describes' format/bases.txt nsysx-view "$T/bases"
golden '... also in the other decoder' format/bases.txt decode "$T/bases"
golden '... also the example' format/example.txt decode "$T/binary"
# Fields of a later version.
{ head -c 11 "$T/binary"; printf '\172\003new'; tail -c +12 "$T/binary"; } >"$T/later"
golden 'unknown fields are skipped' format/example.txt nsysx-view "$T/later"

refused 'fewer values than records' 'block 1 is damaged: values that do not match their records' 's/\[5, 5, 7, 5, 7\]/[5, 5, 7, 5]/'
refused 'more values than records' 'block 1 is damaged: values that do not match their records' 's/\[5, 5, 7, 5, 7\]/[5, 5, 7, 5, 7, 7]/'
refused 'runs too short' 'block 1 is damaged: runs that do not match their records' 's/run_counts: \[1, 4\]/run_counts: [1, 3]/'
refused 'runs too long' 'block 1 is damaged: runs that do not match their records' 's/run_counts: \[1, 4\]/run_counts: [1, 5]/'
refused 'runs without end' 'block 1 is damaged: runs that do not match their records' 's/run_counts: \[1, 4\]/run_counts: [1, 4000000000]/'
refused 'presence too short' 'block 1 is damaged: presence that does not match the records' 's/presence: \[3, 2\]/presence: [3, 1]/'
refused 'presence too long' 'block 1 is damaged: presence that does not match the records' 's/presence: \[3, 2\]/presence: [3, 3]/'
refused 'doubles too few' 'block 1 is damaged: doubles that do not match their records' 's/doubles: \[0.5, /doubles: [/'
refused 'doubles in a column of integers' 'block 1 is damaged: doubles in a column of another type' 's/differences: \[5, 5, 7, 5, 7\]/doubles: [5, 5, 7, 5, 7]/'
refused 'a base of a later time' 'block 1 is damaged: a column stored in a way that this version does not know' 's/column: 2 run_d/column: 2 base: 5 run_d/'
refused 'a column relative to a later one' 'block 1 is damaged: a column relative to a missing column' 's/base: SAME of: 1/base: SAME of: 9/'
refused 'a column relative to itself' 'block 1 is damaged: a column relative to a missing column' 's/base: SAME of: 1/base: SAME of: 3/'
refused 'a sum with a column that is not there' 'block 1 is damaged: a column relative to a missing column' 's/of: 1 plus: 1/of: 1 plus: 13/'
refused 'a missing key column there' 'block 1 is damaged: a column with a missing key column' 's/key: 1 first: 1 /key: 2 first: 1 /'
refused 'a key of columns that are not there' 'block 1 is damaged: a damaged key' 's/columns: \[0\]/columns: [0, 12]/'
refused 'a column twice' 'block 1 is damaged: a column twice' 's/column: 2 run_d/column: 1 run_d/'
refused 'a column too many' 'block 1 is damaged: a column that its kind does not have' 's/column: 11 /column: 13 /'
refused 'a missing string' 'block 1 is damaged: a missing string' 's/differences: \[2, 0, 1\]/differences: [2, 0, 3]/'
refused 'a string before the first' 'block 1 is damaged: a missing string' 's/differences: \[2, 0, 1\]/differences: [2, 0, -1]/'
refused 'a string longer than its text' 'block 1 is damaged: strings' 's/length: \[4, 1, 2\]/length: [4, 1, 3]/'
refused 'text that no string has' 'block 1 is damaged: strings' 's/length: \[4, 1, 2\]/length: [4, 1, 1]/'
refused 'a string without bytes' 'block 1 is damaged: strings' 's/shared: \[0, 2, 3\] length: \[4, 1, 2\]/shared: [0, 0, 3] length: [5, 0, 2]/'
refused 'more shared than there is' 'block 1 is damaged: strings' 's/shared: \[0, 2, 3\]/shared: [0, 5, 3]/'
refused 'shared with a string before the first' 'block 1 is damaged: strings' 's/back: \[0, 0, 1\]/back: [0, 0, 2]/'
refused 'lists of unequal length' 'block 1 is damaged: strings' 's/back: \[0, 0, 1\]/back: [0, 0]/'
refused 'strings beyond all memory' 'block 1 is damaged: strings' 's/length: \[4, 1, 2\]/length: [4, 1, 4294967295]/'
refused 'a run of a kind that has no header' 'block 1 is damaged: the order' 's/order_kinds: \[0, 1\]/order_kinds: [0, 2]/'
refused 'kinds out of turn' 'block 1 is damaged: the order' 's/order_kinds: \[0, 1\]/order_kinds: [1, 0]/'
refused 'a header that never comes' 'block 1 is damaged: a kind without a place' 's/order_kinds: \[0, 1\] order_counts: \[5, 0\]/order_kinds: [0] order_counts: [5]/'
refused 'a second header' 'block 1 is damaged: the order' 's/order_kinds: \[0, 1\] order_counts: \[5, 0\]/order_kinds: [0, 1, 0] order_counts: [5, 0, 0]/'
refused 'a header twice' 'record 5: second header of k' 's/name: "end"/name: "k"/'
refused 'a kind that is no word' 'record 0: want a kind (a lower-case word), got "K"' 's/name: "k"/name: "K"/'
refused 'runs of unequal number' 'block 1 is damaged: the order' 's/order_counts: \[5, 0\]/order_counts: [5]/'
refused 'more records than a block may have' 'block 1 is damaged: too many records' 's/order_counts: \[5, 0\]/order_counts: [65537, 0]/'
refused 'records of a kind without records' 'block 1 is damaged: records' 's/order_counts: \[5, 0\]/order_counts: [0, 0]/'
refused 'end records among the others' 'block 1 is damaged: an end record among the others' 's/order_counts: \[5, 0\]/order_counts: [5, 1]/'
refused 'a type of a later time' 'record 0: column s of k: want type i, f or s, got ?: from a newer nsysx?' 's/type: STRING/type: 3/'
refused 'a count that is not so' '5 records, but its end counts 6' 's/end { records: 5 }/end { records: 6 }/'

# A stream with all features, long enough for several blocks.
awk 'BEGIN {
	OFS = "\t"; srand(1)
	print "#nsysx", 2; print "#inst", "program:i", "inst:i", "name:s", "stack:i"; print "#thunk", "device:i", "program:i", "inst:i", "name:s", "start:i", "dur:i", "hidden:i", "busbw:f"
	for (i = 0; i < 300; i++) print "inst", 1, i, "fusion." i, i % 9 ? int(i / 3) : ""
	for (i = 0; i < 20000; i++) {
		t += int(rand() * 1000)
		print "thunk", i % 3, 1, i % 300, "fusion." i % 300, t, i % 17 * 100 + i % 3, i % 5 ? i : "", rand() < .01 ? rand() : ""
		if (i % 997 == 0) { if (!n++) print "#diag", "text:s"; print "diag", "caf\303\251 \\xFF\\t" i }
		if (i == 12345) { print "#late", "x:i"; }
	}
	print "#end", "records:i"; print "end", 300 + 20000 + n
}' >"$T/long"
nsysx-view -b "$T/long" >"$T/long.binary"
nsysx-view "$T/long.binary" >"$T/long.back"
same 'a long stream is unchanged through binary' "$T/long.back" "$T/long"
decode "$T/long.binary" >"$T/long.decoded"
same '... with the same values in the other decoder' "$T/long.decoded" "$T/long"
ok 'binary is less than a quarter of it' test "$(wc -c <"$T/long.binary")" -lt $(($(wc -c <"$T/long") / 4))
done_testing
