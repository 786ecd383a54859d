#!/bin/sh
# nsysx-extract without HLO dumps: NVTX payloads have the source of instructions, otherwise titles have part of it.
. "${0%/*}/../testlib.sh"
. "$tests_dir/answers.sh"

# Of a text stream: program, instruction, op_name, frames, a line for each place with frames, and one for each instruction without any.
places() {
	awk -F'\t' '
		/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); col[substr($1, 2), c[1]] = i } next }
		function get(name) { return col[$1, name] ? $(col[$1, name]) : "" }
		function place(key, op, stack) { if (stack != "") { print key "\t" op "\t" frames[stack]; n[key]++ } }
		$1 == "program" { name[get("program")] = get("name") }
		$1 == "stack" { frames[get("stack")] = get("frames") }
		$1 == "inst" {
			key = name[get("program")] "\t" get("name")
			of[get("program"), get("inst")] = key
			own[key] = get("op_name")
			place(key, get("op_name"), get("stack"))
		}
		$1 == "loc" { place(of[get("program"), get("inst")], get("op_name"), get("stack")) }
		END { for (key in own) if (!n[key]) print key "\t" own[key] "\t" }' "$1" | sort
}

# Those of the answers that were executed as thunks.
true_places() {
	awk -F'\t' 'NR == FNR { if (FNR == 1) for (i = 1; i <= NF; i++) c[$i] = i; else ran[$c["name"]] = 1; next }
		FNR > 1 && ran[$2] { print $1 "\t" $2 "\t" $3 "\t" $4 }' "$1/answers/thunks.tsv" "$1/answers/places.tsv" | sort -u
}

make_job() {
	job=$1
	shift
	"$SYNTH" -o "$T/$job" --titles 2026 --schema 3.24.14 "$@" || exit 1
}

for how in basic detailed hex; do
	make_job $how --payloads=$how
	nsysx-extract "$T/$how"/r*.sqlite >"$T/$how.nsx" 2>"$T/$how.err"
	places "$T/$how.nsx" >"$T/said"
	true_places "$T/$how" >"$T/true"
	ok "$how: the answers have places" test -s "$T/true"
	same "$how: places equal the plan" "$T/true" "$T/said"
	agrees "$how: modules" modules "$T/$how.nsx" "$T/$how"
	agrees "$how: thunks" thunks "$T/$how.nsx" "$T/$how"
	equal "$how: a diag reports the use of payloads" "$(grep -c '^diag.*without a dump: source locations are from NVTX payloads, communication is recognised by .*	4$' "$T/$how.nsx")" 2
	equal "$how: no payloads are ignored" "$(grep -c '^diag.*payloads left out' "$T/$how.nsx")" 0
done
make_job newest --payloads --schema 3.25.0 --shuffle --processes 2 --devices 2
nsysx-extract -q "$T/newest"/r*.sqlite >"$T/newest.nsx"
places "$T/newest.nsx" >"$T/said"
true_places "$T/newest" >"$T/true"
same 'schemas numbered from 2^32 on, shuffled rows, two devices' "$T/true" "$T/said"
make_job one --payloads --processes 2 --one-export
nsysx-extract -q "$T/one"/r*.sqlite >"$T/one.nsx"
places "$T/one.nsx" >"$T/said"
true_places "$T/one" >"$T/true"
same 'two processes in one export' "$T/true" "$T/said"

# ---- against dumps

nsysx-extract -q -x "$T/basic/dump0" "$T/basic/r0.sqlite" >"$T/dump.nsx"
nsysx-extract -q "$T/basic/r0.sqlite" >"$T/payload.nsx"
column() { awk -F'\t' -v want="$2" '$1 == "#inst" { for (i = 2; i <= NF; i++) { split($i, c, ":"); col[c[1]] = i } } $1 == "inst" { print $col["program"], $col["name"], $col[want] }' "$1"; }
column "$T/dump.nsx" opcode >"$T/want"
column "$T/payload.nsx" opcode >"$T/got"
same 'opcodes equal those of the dump' "$T/want" "$T/got"
column "$T/dump.nsx" op_name >"$T/want"
column "$T/payload.nsx" op_name >"$T/got"
same 'op_names of instructions equal those of the dump' "$T/want" "$T/got"

# Payloads lack places whose frames are the outer part of another's, and op_names without frames: without those records a
# stream from a dump folds to the same.
awk -F'\t' '
	/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); col[substr($1, 2), c[1]] = i } }
	NR == FNR {
		if ($1 == "stack") frames[$col["stack", "stack"]] = $col["stack", "frames"]
		if ($1 == "inst" && $col["inst", "stack"] != "") { k = $col["inst", "program"] "," $col["inst", "inst"]; list[k] = list[k] " " $col["inst", "stack"] }
		if ($1 == "loc" && $col["loc", "stack"] != "") { k = $col["loc", "program"] "," $col["loc", "inst"]; list[k] = list[k] " " $col["loc", "stack"] }
		next
	}
	$1 == "loc" {
		s = $col["loc", "stack"]
		if (s == "") next
		m = split(list[$col["loc", "program"] "," $col["loc", "inst"]], other, " ")
		outer = 0
		for (i = 1; i <= m; i++) outer = outer || index(frames[other[i]], frames[s] ";") == 1
		if (outer) next
	}
	{ print }' "$T/dump.nsx" "$T/dump.nsx" >"$T/trimmed.nsx"
fold() { nsysx-overlap -q "$1" | nsysx-fold -q --cover 1 --by source; }
fold "$T/trimmed.nsx" >"$T/want"
fold "$T/payload.nsx" >"$T/got"
ok 'there are stacks with frames' grep -q 'Transformer.__call__' "$T/got"
same 'folded by source: stacks and times equal those from a dump' "$T/want" "$T/got"
nsysx-extract -q -x "$T/basic/dump0" "$T/basic/r0.sqlite" >"$T/again.nsx"
rm "$T"/basic/dump0/*jit_train_step*
nsysx-extract -x "$T/basic/dump0" "$T/basic/r0.sqlite" >"$T/partly.nsx" 2>"$T/err"
ok 'a missing dump is reported' grep -q 'executed programs without a dump in ' "$T/err"
places "$T/partly.nsx" | grep ^jit_train_step >"$T/got"
true_places "$T/basic" | grep ^jit_train_step >"$T/want"
same 'payloads are used for the program without a dump' "$T/want" "$T/got"

# ---- several exports

nsysx-extract -q "$T/basic/r1.sqlite" >"$T/r1.nsx"
nsysx-merge -q "$T/payload.nsx" "$T/r1.nsx" >"$T/merged"
nsysx-extract -q "$T/basic/r1.sqlite" "$T/basic/r0.sqlite" >"$T/joint"
same 'extracted one by one and merged: the same stream' "$T/joint" "$T/merged"

# ---- privacy

make_job secret --payloads=detailed --secret Xyzzy7
nsysx-extract -q "$T/secret"/r*.sqlite >"$T/secret.nsx"
equal 'entries that were not requested are not in the stream' "$(grep -c Xyzzy7 "$T/secret.nsx")" 0
nsysx-extract -q --strip-paths "$T/secret"/r*.sqlite >"$T/secret.nsx"
equal '--strip-paths applies to payloads' "$(grep -c '^stack.*/opt/' "$T/secret.nsx")" 0
ok '... and keeps the last component' grep -q '^stack.*;transformer.py:' "$T/secret.nsx"

# ---- damaged payloads

make_job broken --payloads=broken
nsysx-extract "$T/broken"/r*.sqlite >"$T/broken.nsx" 2>"$T/err"
equal 'damaged payloads are no error' $? 0
agrees 'damaged payloads: modules' modules "$T/broken.nsx" "$T/broken"
for what in 'shorter than their own size' 'their schema is not in the export' 'their strings are not in StringIds' 'executed names without an NVTX payload'; do
	ok "counted: $what" grep -q "^diag.*$what" "$T/broken.nsx"
done
# Valid payloads are used; otherwise the title's op_name is.
places "$T/broken.nsx" | awk -F'\t' '$4 != ""' >"$T/said"
ok 'damaged payloads: some places are known' test -s "$T/said"
true_places "$T/broken" | comm -13 - "$T/said" >"$T/wrong"
equal 'damaged payloads: no place is wrong' "$(cat "$T/wrong")" ''

# ---- titles alone

make_job titles --dumps none
nsysx-extract -q "$T/titles"/r*.sqlite >"$T/titles.nsx"
nsysx-overlap -q "$T/titles.nsx" | nsysx-fold -q --cover 1 --by op-name | grep '^\[GPU active' >"$T/got"
# By op_name of the instruction in the plan: a slash separates frames, a semicolon becomes a comma.
awk -F'\t' 'FILENAME ~ /insts.tsv/ { if (FNR == 1) for (i = 1; i <= NF; i++) a[$i] = i; else op[$a["name"], $a["instruction"]] = $a["op_name"]; next }
	FILENAME ~ /modules.tsv/ { if (FNR == 1) for (i = 1; i <= NF; i++) m[$i] = i; else name[$m["profile"], $m["program_id"]] = $m["name"]; next }
	FNR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	{ t[op[name[$c["profile"], $c["program_id"]], $c["name"]]] += $c["dur"] - $c["hidden"] }
	END { for (o in t) if (t[o]) { s = o == "" ? "[Unknown]" : o; gsub(";", ",", s); gsub("/", ";", s); print "[GPU active];" s " " t[o] } }' \
	"$T/titles/answers/insts.tsv" "$T/titles/answers/modules.tsv" "$T/titles/answers/thunks.tsv" | sort >"$T/want"
same 'folded by op-name from titles' "$T/want" "$T/got"
nsysx-extract -q "$T/titles/r0.sqlite" >"$T/r0.nsx"
nsysx-extract -q "$T/titles/r1.sqlite" >"$T/r1.nsx"
nsysx-merge -q "$T/r1.nsx" "$T/r0.nsx" >"$T/merged"
same 'titles: extracted one by one and merged' "$T/titles.nsx" "$T/merged"
done_testing
