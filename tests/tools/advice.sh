#!/bin/sh
# nsysx-diagnose says more than the cause of idle time where ranges of PyTorch show what the host does in it, and no more where they do not.
. "${0%/*}/../testlib.sh"

# A job of twelve steps of $unit * 10 ns. In each the GPU is idle in [3,9) units, until its host launches at 8.9; host N prints what the host does before that,
# in step N that begins at b.
unit=1000
at() { echo $((b + unit * $1 / 10)); }        # AT in tenths of a unit
range() { echo "range range=$((100 * k + $1)) name=$2 host_start=$(at "$3") host_dur=$((unit * $4 / 10))"; }
call() { echo "call call=$((100 * k + $1)) name=$2 class=$3 start=$(at "$4") dur=$((unit * $5 / 10)) ${6:-}"; }
job() {
	{
		echo 'device device=0'
		echo 'program program=0 id=7 name=step key=step@7'
		for k in 0 1 2 3 4 5 6 7 8 9 10 11; do
			b=$((unit * (10 * k + 10)))
			[ -n "${whole:-}" ] || echo "module program=0 execution=$k device=0 start=$b dur=$((unit * 98 / 10)) name=step"
			call 1 cudaLaunchKernel launch -5 1 ops=1
			echo "op name=dot start=$b dur=$((3 * unit)) call=$((100 * k + 1)) tid=1 host_start=$(at -5) host_dur=$((unit / 10))"
			host
			call 2 cudaLaunchKernel launch 89 1 ops=1
			echo "op name=add start=$(at 90) dur=$((unit * 8 / 10)) call=$((100 * k + 2)) tid=1 host_start=$(at 89) host_dur=$((unit / 10))"
		done
	} | awk -f host/stream.awk >"$T/job"
	nsysx-diagnose -q --tsv --min 0 "$T/job" >"$T/found"
}
action() { awk -F'\t' -v f="$1" '$2 == f { print $8 }' "$T/found"; }
evidence() { awk -F'\t' -v f="$1" '$2 == f { print $5 }' "$T/found"; }
# advises CLAIM FINDING TEXT SHARE: the action of the finding has the text, its evidence the share.
advises() {
	ok "$1: a finding $2" test -n "$(action "$2")"
	ok "$1: what to do" sh -c 'printf %s "$1" | grep -qF -e "$2"' sh "$(action "$2")" "$3"
	ok "$1: the evidence" sh -c 'printf %s "$1" | grep -qF -e "$2"' sh "$(evidence "$2")" "$4"
}
# plain CLAIM FINDING: the action is that of any such finding.
plain() {
	ok "$1: a finding $2" test -n "$(action "$2")"
	ok "$1: nothing of PyTorch" sh -c '! printf %s "$1" | grep -q -e item -e workers -e foreach -e fused= -e PYTORCH -e torch -e non_blocking' sh "$(action "$2")"
}

# ---- waits
for name in item,item nonzero,nonzero_static masked_select,mask copy_,non_blocking to,non_blocking is_nonzero,torch.where _unique2,unique; do
	host() { range 1 "aten::${name%,*},~op_id~=~$k" 10 75; range 2 aten::inner 11 74; call 3 cudaStreamSynchronize sync 12 70 blocking=1; }
	job
	advises "a wait in aten::${name%,*}" blocking "${name#*,}" "100% of all waits in aten::${name%,*}"
done
host() { range 1 aten::item_like 10 75; call 3 cudaStreamSynchronize sync 12 70 blocking=1; }
job
plain 'a wait in a range of another name' blocking
host() { call 3 cudaStreamSynchronize sync 12 70 blocking=1; }
job
plain 'a wait in no range' blocking
# Idle in the wait: [3,5) in the range, [5,8.2) not; then the other way round.
host() { range 1 aten::item 10 40; call 3 cudaStreamSynchronize sync 12 70 blocking=1; }
job
plain 'less than half of the wait in aten::item' blocking
host() { range 1 aten::item 10 60; call 3 cudaStreamSynchronize sync 12 70 blocking=1; }
job
advises 'more than half of the wait in aten::item' blocking item '77% of all waits in aten::item'

# ---- input
host() { range 1 'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__' 10 75; }
job
advises 'waiting for data' idle:range num_workers '100% of all in the DataLoader'
host() { range 1 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__' 10 75; }
job
advises 'loading data in the thread that launches' idle:range 'num_workers above 0' '100% of all in the DataLoader'
host() { range 1 'my~DataLoader' 10 75; }
job
plain 'a range of another program' idle:range

# ---- small kernels
host() { range 1 'Optimizer.step#AdamW.step' 10 78; range 2 aten::mul 20 60; }
job
advises 'an optimizer of small kernels' idle:range 'foreach=True or fused=True' '100% of all in Optimizer.step'
host() { range 1 'Optimizer.step#AdamW.step' 10 78; range 2 aten::_foreach_add_ 20 68; }
job
advises 'one that is foreach' idle:range 'fused=True, or a CUDA graph' '100% of all in Optimizer.step'
host() { range 1 'Optimizer.step#AdamW.step' 10 78; range 2 aten::_fused_adamw_ 20 68; }
job
plain 'one that is fused' idle:range
host() { range 1 aten::linear 10 78; }
job
advises 'operators that take the host long' idle:range torch.compile '100% of all in operators of PyTorch'
# On a slow host, or of a few operators together: 120 us.
unit=20000
job
advises 'operators that take the host longer' idle:range torch.compile '100% of all in operators of PyTorch'
unit=1000000
job
plain 'operators of milliseconds are no overhead' idle:range
host() { range 1 'Optimizer.step#AdamW.step' 10 78; range 2 aten::mul 20 60; }
job
plain 'gaps of milliseconds are not between small kernels' idle:range
unit=1000

# ---- memory
for name in cudaMalloc cudaFree cudaMalloc_v3020; do
	host() { range 1 aten::empty 10 78; call 3 $name alloc 20 65; }
	job
	advises "$name in steps" idle:alloc PYTORCH_CUDA_ALLOC_CONF "100% of all in PyTorch's allocator"
done
whole=1
job
plain 'without steps it is not known to be in steps' idle:alloc
whole=
for name in cudaMallocAsync cudaMallocHost; do
	host() { range 1 aten::empty 10 78; call 3 $name alloc 20 65; }
	job
	plain "$name is no call of that allocator" idle:alloc
done
host() { call 3 cudaMalloc alloc 20 65; }
job
plain 'in a program that is not known to be PyTorch' idle:alloc
done_testing
