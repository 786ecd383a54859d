#!/bin/sh
# Traces and XSpaces through pipes, plain and compressed: the same stream as of the file. Exports are refused there.
. "${0%/*}/../testlib.sh"

make_job torch --torch --processes 1 --steps 2 --kineto
make_job jax --processes 1 --steps 2 --xspace --no-warmup
mkfifo "$T/fifo"
# stream: of the profile at standard input, without what depends on its name: how it is called, and the order of diags.
stream() {
	sed -e "s/^\\(profile	0	\\)[^	]*/\\1NAME/" -e 's/^\(diag	[^	]*	nsysx-extract: \)[a-z0-9]*	/\1NAME	/' | sort | cksum
}
# through FORM FILE COMMAND: COMMAND writes the bytes of FILE, in some form.
through() {
	equal "$1 at standard input" "$(eval "$3" | nsysx-extract -q -a - 2>&1 | stream)" "$want"
	equal "$1 through /dev/stdin" "$(eval "$3" | nsysx-extract -q -a -j1 /dev/stdin 2>&1 | stream)" "$want"
	(sleep 0.2; eval "$3" >"$T/fifo") &
	equal "$1 through a FIFO whose writer comes later" "$(timeout 20 nsysx-extract -q -a "$T/fifo" 2>&1 | stream)" "$want"
	wait
}
for file in "$T/torch/r0.pt.trace.json" "$T/jax/r0.xplane.pb"; do
	name=${file##*/}
	nsysx-extract -q -a "$file" >"$T/want"
	ok "$name has operations" grep -q '^op	' "$T/want"
	want=$(stream <"$T/want")
	equal "$name as a file at standard input" "$(nsysx-extract -q -a - <"$file" 2>&1 | stream)" "$want"
	through "$name" "$file" "cat $file"
	through "$name in gzip" "$file" "gzip -c $file"
	if command -v zstd >/dev/null 2>&1; then
		through "$name in zstd" "$file" "zstd -qc $file"
		zstd -qf "$file" -o "$T/$name.zst"
		equal "$name in zstd, as a file" "$(nsysx-extract -q -a "$T/$name.zst" 2>&1 | stream)" "$want"
		head -c $(($(wc -c <"$T/$name.zst") - 9)) "$T/$name.zst" >"$T/cut.zst"
		fails "$name in zstd, cut" 1 'the zstd frame is not complete' nsysx-extract -q "$T/cut.zst"
	fi
	head -c $(($(wc -c <"$file") / 2)) "$file" >"$T/cut"
	# shellcheck disable=SC2016  # expanded by the inner shell
	fails "half of $name through a pipe names the byte" 1 'nsysx-extract: stdin: byte ' sh -c 'cat "$1" | nsysx-extract -q -a -' sh "$T/cut"
done
# shellcheck disable=SC2016
fails 'an export at standard input' 1 'nsysx-extract: stdin: an export is read in several places at once and cannot come through a pipe' \
	sh -c 'cat "$1" | nsysx-extract -' sh "$T/torch/r0.sqlite"
fails 'nothing at standard input' 1 'nsysx-extract: stdin: empty: want a profile (an SQLite export of nsys, a trace of PyTorch'"'"'s profiler or an xplane.pb): record or export it again' sh -c ': | nsysx-extract -'
fails 'text at standard input' 1 'nsysx-extract: stdin: not a profile that nsysx reads' sh -c 'echo text | nsysx-extract -'
done_testing
