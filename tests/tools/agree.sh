#!/bin/sh
# One question, one answer: for every option of the generator, numbers that several tools print of one thing are equal, and are
# those of the operations or of the plan. agree/agree.py has the claims, agree/held.list the names of those that are tried.
. "${0%/*}/../testlib.sh"
command -v python3 >/dev/null 2>&1 || skip_all 'there is no python3'

# The job with these options as a steady stream, in $T/job/s.
prepare() {
	rm -rf "$T/job"
	make_job job "$@"
	with_exports job nsysx-extract -q -a -b | nsysx-align -q -b | nsysx-warmup -q -b | nsysx-overlap -q -b -o "$T/job/s"
}

while read -r options; do
	# shellcheck disable=SC2086 # options are words
	prepare $options </dev/null
	# shellcheck disable=SC2086
	if ! python3 agree/agree.py "$T/job" "$T/job/s" $options >"$T/claims" 2>"$T/trouble" </dev/null; then
		fail "${options:-no option}: claims can be tried" "$(tail -n 1 "$T/trouble")"
		continue
	fi
	while IFS='	' read -r verdict claim why; do
		case $verdict in
		ok) pass "${options:-no option}: $claim" ;;
		*)  fail "${options:-no option}: $claim" "$why" ;;
		esac
	done <"$T/claims"
done <<'END'

--processes 2 --devices 2 --steps 8
--processes 2 --devices 2 --steps 8 --late 1
--processes 3 --offset 2000000 --drift 20 --sessions 1000000 --jitter 500
--processes 4 --groups 2 --shuffle --full
--processes 4 --slow-device 2:10 --steps 8
--processes 4 --racks 2 --late-rack 1:300000 --steps 8
--processes 4 --racks 2 --late-rack 1:3000000 --late 1 --steps 8
--vary 5 --steps 12
--alternate 3:40 --steps 12
--evaluate 4 --steps 14
--checkpoint 4 --steps 12
--offload
--offload --titles 2026 --devices 2
--pipeline --processes 5
--disagree
--autotune --titles early
--graphs --processes 3
--graphs=whole --schema 3.24.14
--unfinished --steps 8
--unfinished=null
--slow gemm_fusion_dot:40
--plant slow-collective --processes 4 --steps 8
--plant late-host --processes 4 --steps 8
--plant blocking --processes 4 --steps 8
--plant straggler --processes 4 --steps 8
--plant layout --processes 4 --steps 8
--no-comm
--no-warmup
--outside --details
--ops-without-call 9
--one-export --processes 3
--hosts 2 --processes 4
--titles 2026 --schema 3.24.14 --payloads
--schema 3.28.1 --graphs
--torch --processes 2 --steps 10
--torch --processes 2 --steps 10 --offset 2000000
--torch --racks 2 --late-rack 1:300000 --processes 4 --steps 8 --schema 3.24.14
--torch --racks 2 --late-rack 1:3000000 --processes 4 --steps 8 --schema 3.24.14
--torch=vllm --steps 24
--torch=vllm-sums --steps 24
--torch=sglang --steps 24
--torch=sglang --steps 12 --seed 2
--torch=tensorrt-llm --steps 24
--torch=tensorrt-llm --steps 12 --seed 2 --processes 1
--torch=checkpoints --steps 8
--torch --slow aten::addmm:50
--torch --plant slow-collective --processes 3 --steps 8 --schema 3.24.14
--torch --plant late-host --processes 3 --steps 8 --schema 3.24.14
--torch --plant blocking --processes 3 --steps 8 --schema 3.24.14
--torch --plant straggler --processes 3 --steps 8 --schema 3.24.14
--torch --plant layout --processes 3 --steps 8 --schema 3.24.14
--torch --evaluate 3 --checkpoint 5 --vary 3 --steps 14
--nccl --schema 3.24.14 --processes 4
--nccl=none --schema 3.24.14
--xla26 --processes 2
--xla26 --lists none --no-uid --dumps none
--xla26=warm --late 1
--dumps none
--scale 300
--gaps 8
--work 40
END
done_testing
