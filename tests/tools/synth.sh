#!/bin/sh
# nsysx-synth: what its options plant is in the exports as its answers say, and nsysx-extract finds there what the plan has.
. "${0%/*}/../testlib.sh"
. "$tests_dir/answers.sh"

# A job of the generator as a stream with its dumps, in $T/NAME/raw.
job() {
	name=$1
	shift
	make_job "$name" "$@"
	set --
	for export in "$T/$name"/r*.sqlite; do
		dump=${export%.sqlite} dump=$T/$name/dump${dump##*/r}
		[ -d "$dump" ] && set -- "$@" -x "$dump"
		set -- "$@" "$export"
	done
	nsysx-extract -q --ranges --ops -o "$T/$name/raw" "$@" || exit 1
}

# Lines `device step ns`: time of computing kernels in the steps of a device, its warm-up left out; steps count from 0.
computing() {
	awk -F'\t' -v program="$2" '
		/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); col[substr($1, 2), c[1]] = i } next }
		function get(name) { return col[$1, name] ? $(col[$1, name]) : "" }
		$1 == "program" && get("name") == program { want = get("program") }
		$1 == "op" && get("program") == want && want != "" && get("type") == "kernel" && get("comm") != 1 && get("execution") > 0 {
			ns[get("device") " " get("execution")] += get("dur")
		}
		END { for (k in ns) print k, ns[k] }' "$1/raw" | sort -n -k1,1 -k2,2
}

while read -r name options; do
	# shellcheck disable=SC2086 # options are words
	job "$name" $options
	for kind in modules thunks ranges ops; do
		[ "$name $kind" = 'offload thunks' ] && continue
		agrees "$name: $kind as the plan has them" "$kind" "$T/$name/raw" "$T/$name"
	done
	# shellcheck disable=SC2086
	make_job again $options
	equal "$name: the same options, the same bytes" "$(cd "$T/again" && cat r*.sqlite answers/*.tsv | cksum)" \
		"$(cd "$T/$name" && cat r*.sqlite answers/*.tsv | cksum)"
	rm -rf "$T/again"
done <<'END'
slow --slow-device 2:10 --processes 4 --steps 6
rack --racks 2 --late-rack 1:300000 --processes 4 --steps 6
vary --vary 5 --vary-seed 3 --steps 10
alternate --alternate 3:40 --steps 9
evaluate --evaluate 3 --steps 9
checkpoint --checkpoint 3 --steps 9
offload --offload --processes 3
pipeline --pipeline --processes 5
END

# Kernels scatter by 2 % each, so their sum by less.
computing "$T/slow" jit_train_step | awk '{ ns[$1] += $3 } END { for (d = 0; d < 4; d++) printf "%d %.0f\n", d, 100 * (ns[d] / ns[0] - 1) }' >"$T/got"
awk 'NR > 1 { print $1, $2 }' "$T/slow/answers/slow_device.tsv" >"$T/want"
same 'a slow device computes longer by its percentage, the others equally long' "$T/want" "$T/got"

for name in vary alternate; do
	computing "$T/$name" jit_train_step | awk -v steps="$T/$name/answers/steps.tsv" '
		BEGIN { while ((getline line < steps) > 0) { split(line, f, "\t"); factor[f[1]] = f[3] } }
		$1 == 0 { x = $3 / factor[$2]; if (!min || x < min) min = x; if (x > max) max = x }
		END { print (max / min < 1.02) }' >"$T/got"
	equal "$name: steps compute as long as their factors say" "$(cat "$T/got")" 1
done
factors() {
	awk -F'\t' 'NR > 1 { print $3 }' "$T/$1/answers/steps.tsv"
}
make_job vary2 --vary 5 --vary-seed 4 --steps 400
factors vary2 | awk '{ x = $1 / 1e6 - 1; s += x; q += x * x; if (NR > 1) c += x * last; last = x }
	END { print (q / NR > 0.03 ^ 2 && q / NR < 0.07 ^ 2), (c / q > 0.75 && c / q < 1), (s / NR < 0.03 && s / NR > -0.03) }' >"$T/got"
equal 'drifting steps have the standard deviation asked for, depend on the step before, and have no trend' "$(cat "$T/got")" '1 1 1'
make_job vary3 --vary 5 --vary-seed 5 --steps 400
equal 'another seed of the drift is another drift, of the same job' \
	"$(factors vary2 | cmp -s - "$T/vary3/answers/steps.tsv"; echo $?) $(awk 'END { print NR }' "$T/vary3/answers/ops.tsv")" \
	"1 $(awk 'END { print NR }' "$T/vary2/answers/ops.tsv")"

# In each collective of all devices the rack begins late only once a step: the largest wait is that of the first collective.
awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ if ($at["execution"] > 0 && $at["wait"] > max[$at["device"]]) max[$at["device"]] = $at["wait"] }
	END { for (d = 0; d < 4; d++) print d, (max[d] > 250000) }' "$T/rack/answers/collectives.tsv" >"$T/got"
awk -F'\t' 'NR > 1 { print $1, ($4 == 0) }' "$T/rack/answers/racks.tsv" >"$T/want"
same 'devices of other racks wait for those of a late rack' "$T/want" "$T/got"
equal 'exports have the names of hosts' "$(for r in 0 1 2 3; do
	sqlite3 "$T/rack/r$r.sqlite" "select value from TARGET_INFO_SYSTEM_ENV where name = 'Hostname'"; done)" \
	"$(awk -F'\t' 'NR > 1 { print $2 }' "$T/rack/answers/racks.tsv")"

equal 'an evaluation takes the place of every third step' "$(awk -F'\t' '$3 == "jit_eval_step" && $5 == 0' "$T/evaluate/answers/modules.tsv" | wc -l) $(
	awk -F'\t' '$2 == "evaluation" { printf "%d ", $1 }' "$T/evaluate/answers/steps.tsv")" '5 2 5 8 '
equal 'a checkpoint follows every third step, on each device' "$(grep -c 'save_checkpoint' "$T/checkpoint/answers/ranges.tsv")" 6

equal 'offloaded layers are copied to the host and back' "$(awk -F'\t' '/^op\t/ && /Host-to-Device/ { h++ } /^op\t/ && /Device-to-Host/ { d++ } END { print h, (d > h) }' "$T/offload/raw")" '60 1'
equal 'stages: instructions of some devices only' "$(awk -F'\t' 'NR > 1 && $3 ~ /gather_fusion|softmax_fusion/ { print $3, $6 }' "$T/pipeline/answers/thunks.tsv" | sort -u | tr '\n' ' ')" \
	'gather_fusion 0 softmax_fusion 4 '
equal 'stages: pairs of neighbours' "$(awk -F'\t' 'NR > 1 && $2 == "jit_train_step" && $3 ~ /permute-start\.5/ { print $3, $8 }' "$T/pipeline/answers/insts.tsv" | sort | tr '\n' ' ')" \
	'collective-permute-start.50 0,1;2,3 collective-permute-start.51 1,2;3,4 collective-permute-start.52 0,1;2,3 collective-permute-start.53 1,2;3,4 '

# --torch: --slow and --plant.
for slow in '' --slow=aten::addmm:50; do
	# shellcheck disable=SC2086
	make_job torch --torch --steps 3 $slow
	nsysx-extract -q --ranges --ops -o "$T/torch/raw" "$T"/torch/r*.sqlite
	nsysx-summary -q --by range --tsv "$T/torch/raw" 2>/dev/null | awk -F'\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["range"] ~ /addmm|matmul/ { print $at["range"], $at["gpu_time"] }' >"$T/ranges${slow:+.slow}"
done
agrees 'torch: kernels of ranges that are slower' ranges "$T/torch/raw" "$T/torch"
fails 'torch: a range of --slow that has no kernels' 1 'no such range launches a kernel' "$SYNTH" -o "$T/none" --torch --slow=nothing:5
for plant in slow-collective late-host blocking straggler layout; do
	make_job "torch-$plant" --torch --plant "$plant" --processes 3 --steps 6 --schema 3.24.14
	nsysx-extract -q --ranges --ops -o "$T/torch-$plant/raw" "$T/torch-$plant"/r*.sqlite
	agrees "torch, $plant: operations" ops "$T/torch-$plant/raw" "$T/torch-$plant"
done
done_testing
