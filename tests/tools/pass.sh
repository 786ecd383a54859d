#!/bin/sh
# Filters that copy blocks of a binary stream without decoding them write the same as for text, for input in text or binary,
# from a file or a pipe, compressed or merged.
. "${0%/*}/../testlib.sh"

# as_text FILE: its records.
as_text() { nsysx-view -q --text "$1"; }

# filters NAME STREAM: STREAM, text, through each filter in every form.
filters() {
	name=$1
	nsysx-view -q -b "$2" >"$T/in.b"
	nsysx-view -q -bz "$2" >"$T/in.z"
	while read -r what; do
		# shellcheck disable=SC2086  # a tool and its options
		$what -q --text "$2" >"$T/want" || fail "$name: $what" "fails"
		for form in b z; do
			# shellcheck disable=SC2086
			{
				$what -q -b "$T/in.$form" >"$T/file.b"
				$what -q -b <"$T/in.$form" >"$T/stdin.b"
				cat "$T/in.$form" | $what -q -bz >"$T/pipe.z"
				cat "$T/in.$form" | $what -q --text >"$T/pipe.text"
			}
			for got in file.b stdin.b pipe.z; do
				as_text "$T/$got" >"$T/got"
				same "$name: $what, $form to $got" "$T/want" "$T/got"
			done
			same "$name: $what, $form to text" "$T/want" "$T/pipe.text"
		done
	done <<-'EOF'
		nsysx-warmup
		nsysx-warmup --init
		nsysx-warmup --mark
		nsysx-align
		nsysx-align --estimate
		nsysx-overlap
		nsysx-overlap --hold 0
		nsysx-collectives
	EOF
	for format in text binary; do
		NSYSX_FORMAT=$format sh -c 'nsysx-align -q <"$1" | nsysx-warmup -q | nsysx-overlap -q | nsysx-warmup -q | nsysx-view -q --text' - "$2" >"$T/$format"
	done
	same "$name: one filter after the other" "$T/text" "$T/binary"
}

"$SYNTH" -q -o "$T/job" --seed 3 --steps 120 --layers 6 --offset 50000000 || exit 1
nsysx-extract -q --ops --calls -x "$T/job/dump0" "$T/job/r0.sqlite" >"$T/r0.tsv"
nsysx-extract -q -x "$T/job/dump1" "$T/job/r1.sqlite" >"$T/r1.tsv"
filters 'one process' "$T/r0.tsv"
nsysx-merge -q "$T/r0.tsv" "$T/r1.tsv" >"$T/both.tsv"
filters 'two merged' "$T/both.tsv"
"$SYNTH" -q -o "$T/late" --seed 4 --steps 60 --processes 2 --late 1 --offset 5000000 --drift 20 || exit 1
nsysx-extract -q "$T/late/r0.sqlite" "$T/late/r1.sqlite" >"$T/late.tsv"
filters 'a late capture' "$T/late.tsv"
"$SYNTH" -q -o "$T/torch" --torch --steps 8 || exit 1
nsysx-extract -q -a "$T/torch/r0.sqlite" >"$T/torch.tsv"
filters 'ranges, operations and calls' "$T/torch.tsv"
for profile in warmup/job.tsv warmup/torch.tsv warmup/late.tsv; do
	[ -e $profile ] && filters "${profile%.tsv}" $profile
done
done_testing
