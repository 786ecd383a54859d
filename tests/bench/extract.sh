# extract.sh -- nsysx-extract beside its floor: libsqlite3 stepping once, on one thread, through the columns used.
shared=../shared/data/torch/mfu_2gpu_before.sqlite.zst

# extract_of NAME FLOOR-COMMAND EXPORTS INPUTS OPTIONS: a command a form of output.
extract_of() {
	name=$1 floor=$2 from=$3 with="$bin/nsysx-extract -q $5 $4"
	in=0
	for f in $from; do in=$((in + $(bytes "$f"))); done
	turns floor "$floor" cat "cat $from" text "$with" binary "$with -b" 'binary -z' "$with -bz" 'binary -j1' "$with -b -j1"
	$with -o "$work/out.nsysx"
	n=$(records "$work/out.nsysx")
	while IFS=$tab read -r form numbers; do
		case $form in
		floor | cat | *', before') out= count= ;;
		text) out=$(bytes "$work/out.nsysx") count=$n ;;
		*)
			# The reader of its output uses the same options.
			$with -b ${form#binary} -o "$work/out.nsysx"
			out=$(bytes "$work/out.nsysx") count=$n
			;;
		esac
		row extract "$name" "$form" "$numbers" "$in" "$out" "$count"
	done <"$rows"
	rm -f "$work/out.nsysx"
}

row extract export command "$cost" read_bytes written_bytes records
scale "$RANGES"
extract_of 'ranges' "$tools/floor $export" "$export" "$export" --ranges
extract_of 'ranges, all and operations' "$tools/floor $export" "$export" "$export" '--ops --ranges=all'
extract_of 'ranges, all, operations, calls' "$tools/floor $export" "$export" "$export" '--ops --ranges=all --calls'
job "$STEPS"
# shellcheck disable=SC2086  # two names
set -- $exports
extract_of 'XLA job' "$tools/floor $1 && $tools/floor $2" "$exports" "$inputs" ''
if [ -e "$shared" ] && [ "$COPIES" -gt 0 ]; then
	copies=$work/copies-$COPIES.sqlite
	if [ ! -e "$copies" ]; then
		zstd -dqf "$shared" -o "$work/one.sqlite"
		sh tests/bench/copies.sh "$work/one.sqlite" "$COPIES" "$copies"
	fi
	extract_of 'PyTorch, 2 GPUs' "$tools/floor $copies" "$copies" "$copies" --ranges
fi

about "nsysx-extract beside one thread of libsqlite3 that steps through the columns used (floor); ratios are to it." \
	"'ranges': $RANGES NVTX ranges as PyTorch nests them, --ranges; '... calls': -a, beside the same without --calls. 'XLA job': two exports and their dumps." \
	"'PyTorch, 2 GPUs', where it is at hand: a real export $COPIES times over, --ranges."
show extract
