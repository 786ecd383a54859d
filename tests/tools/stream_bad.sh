#!/bin/sh
# Incomplete and malformed streams: each is refused with status 1 and a message with place and reason.
. "${0%/*}/../testlib.sh"

# A text stream of the lines given (printf formats) in $T/in.
text() {
	printf '#nsysx\t2\n#end\trecords:i\n' >"$T/in"
	for line in "$@"; do printf "$line\\n" >>"$T/in"; done
}
# The lines of text are refused with the message.
bad() {
	claim=$1 message=$2
	shift 2
	text "$@"
	fails "$claim" 1 "nsysx-view: $T/in$message" nsysx-view -k none "$T/in"
}
# Bytes are refused with the message.
bytes() {
	printf "$3" >"$T/in"
	fails "$1" 1 "nsysx-view: $T/in$2" nsysx-view -k none "$T/in"
}

# ---- other inputs
bytes 'nothing is no stream' ': empty: not an nsysx stream (did the command before it fail?)' ''
bytes 'other text' ': not an nsysx stream' 'hello\n'
# Each says what to do.
bytes '... says which tools make one' ': not an nsysx stream: want one that nsysx-prepare or nsysx-extract made' 'hello\n'
bytes 'JSON' ": JSON, such as a trace of PyTorch's profiler: nsysx-prepare makes a stream of such a profile" ' \n{"traceEvents": []}'
bytes 'a list in JSON' ": JSON, such as a trace of PyTorch's profiler: nsysx-prepare makes a stream of such a profile" '[]'
bytes 'gzip' ": gzip data, such as a trace of PyTorch's profiler (JSON): nsysx-prepare makes a stream of such a profile" '\037\213\010\000abc'
bytes 'an XSpace' ': an XSpace: nsysx-prepare makes a stream of such a profile' '\012\017\010\001\022\006plane1abc'
text
fails 'a cut stream says what to do' 1 'cut short after 0 records: no end record; did the command that wrote it fail, or is it still at work? write it again' nsysx-view "$T/in"
fails 'a folder as well' 1 "$T: Is a directory: want a stream, such as nsysx-prepare writes" nsysx-view "$T"
bytes 'text like a stream' ': not an nsysx stream' '#nsys\t1\n'
bytes 'version 1' ': stream version 1, this nsysx reads 2: extract again with this nsysx-extract' '#nsysx\t1\n#end\trecords:i\nend\t0\n'
bytes 'a newer version' ': stream version 3, this nsysx reads 2: a newer nsysx reads it' '#nsysx\t3\n#end\trecords:i\nend\t0\n'
bytes 'no version' ':1: want #nsysx, a tab and a version' '#nsysx\tone\n'
bytes 'binary of version 1' ': stream version 1, this nsysx reads 2: extract again with this nsysx-extract' '\012\011\012\005nsysx\020\001'
bytes 'a newer binary version' ': stream version 3, this nsysx reads 2' '\012\011\012\005nsysx\020\003'
bytes 'a binary version of two bytes' ': stream version 300, this nsysx reads 2' '\012\012\012\005nsysx\020\254\002'
printf 'SQLite format 3\000and so on' >"$T/in"
fails 'an SQLite file' 1 "$T/in: an SQLite file: nsysx-prepare makes a stream of such an export" nsysx-view "$T/in"
zstd -q "$T/in" -o "$T/in.zst"
fails 'a compressed SQLite file' 1 "$T/in.zst: an SQLite file: nsysx-prepare makes a stream of such an export" nsysx-view "$T/in.zst"
fails 'a folder' 1 "nsysx-view: $T: Is a directory" nsysx-view "$T"
fails 'a file that is not there' 1 "nsysx-view: $T/none: No such file or directory" nsysx-view "$T/none"

# Headers.
bad 'a record before its header' ':3: record of kind thunk before its header' 'thunk\t1'
bad 'a record of no kind' ':3: want a kind, got an empty field' '\t1'
bad 'an empty line' ':3: want a kind, got an empty field' ''
bad 'a kind that is no word' ':3: want a kind (a lower-case word), got "Thunk"' '#Thunk\tx:i'
bad 'a record whose kind is no word' ':3: want a kind (a lower-case word), got "a b"' 'a b\t1'
bad 'a column that is no word' ':3: want a column (a lower-case word), got "2nd"' '#k\t2nd:i'
bad 'a column without type' ':3: want column:type, got "x"' '#k\tx'
bad 'a column with too much type' ':3: want column:type, got "x:ii"' '#k\tx:ii'
bad 'an unknown type' ':3: column x of k: want type i, f or s, got u: from a newer nsysx?' '#k\tx:u'
bad 'a known column of another type' ':3: column start of thunk: want type i, got f' '#thunk\tstart:f'
bad 'a column twice' ':3: column x of k twice' '#k\tx:i\ty:i\tx:i'
bad 'a second header of a kind' ':5: second header of k' '#k\tx:i' 'k\t1' '#k\tx:i'
bad 'too many columns' ':3: kind k has more than 64 columns' "$(awk 'BEGIN { printf "#k"; for (i = 0; i < 65; i++) printf "\\tc%d:i", i }')"
bad 'too many columns with the known ones' ':3: kind thunk has more than 64 columns, known ones counted' \
	"$(awk 'BEGIN { printf "#thunk"; for (i = 0; i < 60; i++) printf "\\tc%d:i", i }')"

# Records.
bad 'too few values' ':4: k: want 2 values, got 1' '#k\tx:i\ty:s' 'k\t1'
bad 'no values' ':4: k: want 2 values, got 0' '#k\tx:i\ty:s' 'k'
bad 'too many values' ':4: k: want 2 values, got 4' '#k\tx:i\ty:s' 'k\t1\ta\tb\tc'
bad 'no integer' ':4: k.x: want an integer of 64 bits, got "1e3"' '#k\tx:i' 'k\t1e3'
bad 'no number' ':4: k.x: want a number, got "fast"' '#k\tx:f' 'k\tfast'
bad 'a line with a carriage return' ':4: k.x: want an integer of 64 bits, got "1?"' '#k\tx:i' 'k\t1\r'
bad 'an unknown escape' ':4: k.x: a backslash that does not begin any of' '#k\tx:s' 'k\ta\\qb'
bad 'an escape cut off' ':4: k.x: a backslash that does not begin any of' '#k\tx:s' 'k\ta\\'
bad 'half a byte' ':4: k.x: a backslash that does not begin any of' '#k\tx:s' 'k\t\\x4'

# The end.
bad 'no end' ': cut short after 2 records: no end record' '#k\tx:i' 'k\t1' 'k\t2'
bad 'a record after the end' ':5: data after the end record: "k?1"' '#k\tx:i' 'end\t0' 'k\t1'
bad 'two streams' ':4: two streams one after the other: use nsysx-merge' 'end\t0' '#nsysx\t2'
bad 'two first lines' ':3: two streams one after the other: use nsysx-merge' '#nsysx\t2'
text 'end\t7'
ok 'the count of a text stream is not checked, so that lines may be removed' nsysx-view "$T/in"

# Every proper prefix of a stream is incomplete, in every encoding.
text '#thunk\tname:s\tstart:i\thidden:i' 'thunk\ta\t1\t' 'thunk\tb\t2\t5' '#zebra\tx:f' 'zebra\t0.1' 'thunk\tab\t2\t' 'end\t4'
cp "$T/in" "$T/text"
cut_everywhere() {
	size=$(wc -c <"$T/$1")
	n=0 worst=
	while [ "$n" -lt "$size" ]; do
		head -c "$n" "$T/$1" >"$T/cut"
		nsysx-view "$T/cut" >"$T/out" 2>"$T/err"
		status=$?
		[ "$status" -eq 1 ] && [ -s "$T/err" ] || worst="$worst $n:$status"
		n=$((n + 1))
	done
	equal "$1 cut after each of its $size bytes is refused" "$worst" ''
}
nsysx-view -b "$T/text" >"$T/binary"
nsysx-view -z "$T/text" >"$T/text.zst"
nsysx-view -b -z "$T/text" >"$T/binary.zst"
for form in text binary text.zst binary.zst; do
	nsysx-view "$T/$form" >"$T/back"
	same "$form is complete" "$T/back" "$T/text"
	cut_everywhere "$form"
done
head -c 60 "$T/binary.zst" >"$T/cut"
fails 'a cut frame says so' 1 "$T/cut: cut short: the zstd frame is not complete" nsysx-view "$T/cut"

# Damaged binary causes no crash, and gives only the records that it contains or an error.
size=$(wc -c <"$T/binary")
n=0 worst=
while [ "$n" -lt "$size" ]; do
	for byte in '\000' '\001' '\177' '\377'; do
		{ head -c "$n" "$T/binary"; printf "$byte"; tail -c +$((n + 2)) "$T/binary"; } >"$T/damaged"
		nsysx-view "$T/damaged" >"$T/out" 2>"$T/err"
		status=$?
		[ "$status" -le 1 ] || worst="$worst $n:$status"
	done
	n=$((n + 1))
done
equal "changing any byte of binary gives records or an error" "$worst" ''
# A change to one byte of a frame with a checksum is detected.
size=$(wc -c <"$T/binary.zst")
n=5 worst=
while [ "$n" -lt "$size" ]; do
	old=$(tail -c +$((n + 1)) "$T/binary.zst" | head -c 1 | od -An -tu1)
	{ head -c "$n" "$T/binary.zst"; printf "\\$(printf %03o $((255 - old)))"; tail -c +$((n + 2)) "$T/binary.zst"; } >"$T/damaged"
	nsysx-view "$T/damaged" >"$T/out" 2>"$T/err"
	status=$?
	[ "$status" -eq 1 ] || worst="$worst $n:$status"
	n=$((n + 1))
done
equal 'damage to a compressed stream is detected' "$worst" ''

# Two binary streams, and a wrong count.
cat "$T/binary" "$T/binary" >"$T/two"
fails 'two binary streams' 1 "$T/two: two streams one after the other: use nsysx-merge" nsysx-view -k none "$T/two"
cat "$T/binary.zst" "$T/binary.zst" >"$T/two"
fails 'two compressed streams' 1 "$T/two: two streams one after the other: use nsysx-merge" nsysx-view -k none "$T/two"
cat "$T/text.zst" "$T/text.zst" >"$T/two"
fails 'two compressed text streams' 1 "$T/two:10: two streams one after the other: use nsysx-merge" nsysx-view -k none "$T/two"
{ cat "$T/binary"; printf 'x'; } >"$T/more"
fails 'a byte after a binary stream' 1 "$T/more: data after the end record" nsysx-view -k none "$T/more"
{ head -c -1 "$T/binary"; printf '\005'; } >"$T/count"
fails 'the count of a binary stream is checked' 1 "$T/count: 4 records, but its end counts 5" nsysx-view -k none "$T/count"

# Errors of the output.
fails 'a full disk' 1 'nsysx-view: /dev/full: No space left on device' nsysx-view -o /dev/full "$T/text"
nsysx-view -o "$T/kept" "$T/text"
head -n 4 "$T/text" >"$T/cut"
fails 'a cut stream' 1 'cut short after 1 record: no end record' nsysx-view -o "$T/kept" "$T/cut"
same '... leaves the output file unchanged' "$T/kept" "$T/text"
equal '... and no file beside it' "$(ls -A "$T" | grep -c '^\.')" 0
done_testing
