#!/bin/sh
# nsysx-summary --by family, and what nsysx-diagnose finds about families of kernels. Names of kernels: tests/unit/family.c.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"

# A step of 1000 ns on a GPU that does 14.8 times as much in bf16 as in f32, three times: attention 100, two products of 60 and 40 in f32,
# casts of 30 and 40, and two chains: 50 20 [cast 30] 10, of which 80 - 50 can be saved, and 40 60, of which 40 can. On stream 8 an
# elementwise kernel of 5 is alone. 20 MB come from the host in 50 ns: 400 GB/s.
step() {
	at=$1
	while read -r stream ns name; do
		comm=0 collective=-
		case $name in nccl*) comm=1 collective=all-reduce ;; esac
		echo "op 0 $n kernel 0 $stream $name $at $ns - $comm $collective - -"
		n=$((n + 1)) at=$((at + ns))
	done <<'END'
7 100 void~flash::flash_fwd_kernel<x>(P)
7 60 ampere_sgemm_32x32_sliced1x4_tn
7 50 at::elementwise_kernel<4,mul>(int)
8 5 at::elementwise_kernel<4,alone>(int)
8 1 mine
7 20 at::elementwise_kernel<4,add>(int)
7 30 at::bfloat16_copy_kernel_cuda(int)
7 10 at::elementwise_kernel<4,mul>(int)
7 40 ampere_sgemm_64x32_tn
7 40 at::elementwise_kernel<4,add>(int)
7 60 at::elementwise_kernel<4,mul>(int)
7 40 wrapped_convert
7 20 ncclDevKernel_AllReduce_Sum_f32
END
	echo "op 0 $n memcpy 0 7 [CUDA~memcpy~Host-to-Device] $at 50 20000000 0 - pinned device"
	n=$((n + 1))
}
job() {
	n=0
	cat <<END
#profile profile:i name:s
profile 0 r0
#device device:i profile:i name:s cc:i
device 0 0 $1 $2
#op profile:i op:i type:s device:i stream:i name:s start:i dur:i bytes:i comm:i collective:s src:s dst:s
END
	for k in 0 1 2 3; do step $((k * 1000)); done
}
# There are no steps: the whole stream is looked at.
job NVIDIA~H100~80GB~HBM3 90 | stream '~' >"$T/job"
equal 'families' "$(nsysx-summary -q --tsv --by family "$T/job" | cut -f 1-4,6,7 | tr '\t' ' ')" "$(cat <<'END'
family kind count total share names
elementwise  24 740 0.3517110266159696 3
attention flash 2 4 400 0.19011406844106463 1
gemm f32 8 400 0.19011406844106463 2
cast  8 280 0.13307984790874525 2
copy host to device 4 200 0.09505703422053231 1
communication all-reduce 4 80 0.03802281368821293 1
other  4 4 0.0019011406844106464 1
END
)"
equal 'the name that takes most' "$(nsysx-summary -q --tsv --by family --only family=gemm "$T/job" | cut -f 8 | tail -n 1)" ampere_sgemm_32x32_sliced1x4_tn

# findings FILE: the finding and its gain, of all four steps, which are one window.
findings() { nsysx-diagnose -q --tsv --min 0 "$@" | awk -F'\t' '$2 ~ /^(flash|f32|casts|elementwise|slow-link)/ { printf "%s %.4g\n", $2, $3 }'; }
# 400 ns of attention, half of it; 400 of products, 1 - 256/3788 of it (the peaks of an H100: 66.9 and 989.4 TFLOP/s); casts 280;
# chains (80 - 50 + 40) times four.
equal 'what is found: the gains' "$(findings "$T/job")" 'f32-products 373
elementwise 280
casts 280
flash-attention-2 200'
evidence() { nsysx-diagnose -q --tsv --min 0 "$T/$1" | awk -F'\t' -v f="$2" '$2 == f { print $5 }'; }
equal 'evidence: attention' "$(evidence job flash-attention-2)" \
	'4 kernels a device of FlashAttention 2, on GPUs that have newer ones, take 400 ns; most: void flash::flash_fwd_kernel<x>(P) 400 ns; the gain is of being 2 times as fast, the most that FlashAttention 3 is said to be'
equal 'evidence: products' "$(evidence job f32-products)" \
	'8 kernels a device that multiply matrices in f32 take 400 ns; most: ampere_sgemm_32x32_sliced1x4_tn 240 ns; in TF32 (peak 7.4 times as high) they would take up to 346 ns less, in bf16 (14.8 times) up to 373 ns less, which is the gain'
equal 'evidence: elementwise kernels' "$(evidence job elementwise)" \
	'24 kernels a device that work element by element take 740 ns; most: at::elementwise_kernel<4,mul>(int) 480 ns; 12 follow another at once, and the gain is of what runs in a row being as long as its longest'
equal 'the command of a finding' "$(nsysx-diagnose -q --tsv --min 0 "$T/job" | awk -F'\t' '$2 == "casts" { print $6 }' | sh | cut -f 1,4 | tail -n 1)" 'cast	280'
# Instructions, whose kernels may be in several findings. The copy takes 30 us by a kernel whose name says that it works element by element: it is
# of the layout finding alone, and no row of elementwise kernels. The cast takes 50 us for 20 MB, which the device moves in 20: roofline has what is
# beyond 20 / 0.8.
awk 'BEGIN {
	print "device device=0 mem_bandwidth=1000000000000"
	print "program program=1 name=step"
	print "inst program=1 inst=1 name=convert.1 opcode=convert flops=0 vector=0 mem_bytes=20000000"
	print "inst program=1 inst=2 name=copy.2 opcode=copy"
	print "inst program=1 inst=3 name=add.3 opcode=add"
	split("wrapped_convert wrapped_add wrapped_add", kernel, " ")
	split("convert.1 copy.2 add.3", name, " ")
	split("0 50000 80000 110000", at, " ")
	for (i = 0; i < 4; i++)
		for (k = 1; k <= 3; k++) {
			when = " start=" i * 110000 + at[k] " dur=" at[k + 1] - at[k] " program=1 inst=" k " execution=" i
			print "thunk occurrence=0 device=0 name=" name[k] when
			print "op op=" 3 * i + k " type=kernel device=0 stream=7 name=" kernel[k] when
		}
}' | awk -f host/stream.awk >"$T/insts"
equal 'what only copies is in one finding' "$(nsysx-diagnose -q --tsv --min 0 "$T/insts" | awk -F'\t' '$2 ~ /^(layout|casts|elementwise|roofline)/ { print $2, $3 }')" 'casts 200000
layout 120000
roofline 100000'
equal 'a gain that is of two findings is told' "$(evidence insts casts | grep -o '; up to .*')" '; up to 100.0 us of the gain is that of roofline, too, and counts once'
# On an A100 FlashAttention 2 is what there is, and products in bf16 are 16 times as fast; an RTX 3090 does four times as much.
job NVIDIA~A100-SXM4-40GB 80 | stream '~' >"$T/a100"
equal 'FlashAttention 2 on an A100 is fine' "$(findings "$T/a100" | grep -v -e casts -e elem)" 'f32-products 375'
job NVIDIA~RTX~3090 86 | stream '~' >"$T/rtx"
equal 'and f32 on a GPU whose other peaks are not ten times as high' "$(findings "$T/rtx" | grep -v -e casts -e elem)" ''
# An H100 and an A100: products of 400 ns each take 400 * 66.9 / 989.4 + 400 / 16 = 52.05 ns in bf16, 400 * 66.9 / 494.7 + 400 / 8 = 104.1 in TF32.
job NVIDIA~H100~80GB~HBM3 90 >"$T/lines"
{
	sed -n '/^#device/,/^device/p; /^#profile/,/^profile/p' "$T/lines"
	sed -n 's/^device 0/device 1/p' "$T/lines" | sed 's/NVIDIA~[^ ]*/NVIDIA~A100-SXM4-40GB/; s/ 90 / 80 /; s/ 90$/ 80/'
	grep -v '^#*device\|^#*profile' "$T/lines" | awk '{ print } $1 == "op" { $5 = 1; $3 += 1000; print }'
} | stream '~' >"$T/kinds"
equal 'the factor of several kinds of GPUs is that of all their time' "$(evidence kinds f32-products | grep -o '[0-9.]* times')" \
	'7.7 times
15.4 times'
equal '... as in the forecast' "$(nsysx-diagnose -q --tsv --min 0 "$T/kinds" | awk -F'\t' '$2 == "f32-products" { print $9 }' | grep -o '15[.][0-9]*')" 15.37
# A GPU of unknown model that runs kernels of Hopper is one.
job - - | sed 's/wrapped_convert/sm90_convert/' | stream '~' >"$T/unknown"
equal 'kernels tell what GPU it is' "$(findings "$T/unknown" | grep flash)" 'flash-attention-2 200'
job - - | stream '~' >"$T/none"
equal '... if there are any' "$(findings "$T/none" | grep -e flash -e f32)" ''
# Below 5 % casts and chains are not worth a finding: 10 of 2000 ns.
{
	job NVIDIA~A100-SXM4-40GB 80 | sed -n '/^#/p; /^device/p; /^profile/p'
	echo 'op 0 0 kernel 0 7 mine 0 1940 - 0 - - -'
	echo 'op 0 1 kernel 0 7 wrapped_convert 1940 20 - 0 - - -'
	echo 'op 0 2 kernel 0 7 at::elementwise_kernel<4,mul>(int) 1960 20 - 0 - - -'
	echo 'op 0 3 kernel 0 7 at::elementwise_kernel<4,mul>(int) 1980 20 - 0 - - -'
} | stream '~' >"$T/few"
equal 'few casts and short chains are no finding' "$(findings "$T/few")" ''
equal '... which are there' "$(nsysx-summary -q --tsv --by family "$T/few" | cut -f 1,3 | tr '\t\n' ' ,')" 'family count,other 1,elementwise 2,cast 1,'
# Two processes in turn on one device, whose streams have one number: no kernel follows another of its own at once.
for column in profile tid; do
	{
		job NVIDIA~A100-SXM4-40GB 80 | sed -n '/^#[^o]/p; /^device/p; /^profile/p'
		echo 'profile 1 r1'
		echo '#op profile:i type:s device:i stream:i name:s start:i dur:i tid:i'
		for i in 0 1 2 3; do
			[ $column = profile ] && a='0 -' b='1 -' || a='0 1' b='0 2'
			echo "op ${a% *} kernel 0 7 at::elementwise_kernel<4,mul>(int) $((i * 200)) 50 ${a#* }"
			echo "op ${b% *} kernel 0 7 at::elementwise_kernel<4,mul>(int) $((i * 200 + 50)) 50 ${b#* }"
			echo "op ${a% *} kernel 0 7 mine $((i * 200 + 100)) 50 ${a#* }"
			echo "op ${b% *} kernel 0 7 mine $((i * 200 + 150)) 50 ${b#* }"
		done
	} | stream '~' >"$T/turns"
	equal "processes in turn are no chain: by $column" "$(findings "$T/turns")" ''
done

# Attention kernel by kernel, four times: between two products 50 + 40 + 60 + 80 + 20, and 10 of a kernel of no family that is not counted. A softmax
# that chooses experts, which are sorted, and that of the loss are between products, too, and are not attention.
between() {
	while read -r ns name; do
		type=kernel
		case $name in *memcpy*) type=memcpy ;; *memset*) type=memset ;; esac
		echo "op 0 $n $type 0 7 $name $at $ns - 0 - - -"
		n=$((n + 1)) at=$((at + ns))
	done
}
attention() {
	n=0 at=0
	job NVIDIA~A100-SXM4-40GB 80 | sed -n '/^#/p; /^device/p; /^profile/p'
	for i in 0 1 2 3; do
		between <<END
100 ampere_bf16_gemm
50 at::elementwise_kernel<4,mul>(int)
10 triu_tril_kernel
40 [CUDA~memcpy~Device-to-Device]
60 at::elementwise_kernel<4,masked_fill>(int)
5 [CUDA~memset]
80 softmax_warp_forward
20 at::native::elementwise_kernel<4,gpu_kernel_impl_nocast<direct_copy_kernel_cuda>>(int)
${1:-100 ampere_bf16_gemm}
30 softmax_router
20 radix_sort
100 ampere_bf16_gemm
50 at::elementwise_kernel<4,gelu>(int)
100 ampere_bf16_gemm
40 cunn_SoftMaxForward<LogSoftMaxForwardEpilogue>
5 nll_loss_forward
100 ampere_bf16_gemm
END
	done
}
attention | stream '~' >"$T/attention"
unfused() { nsysx-diagnose -q --tsv --min 0 "$1" | awk -F'\t' '$2 == "unfused-attention" { print $3, $7 }'; }
equal 'attention kernel by kernel: all between the products' "$(unfused "$T/attention")" '1000 softmax_warp_forward'
equal '... its evidence' "$(evidence attention unfused-attention)" \
	'4 kernels of softmax a device between products of matrices, with all other kernels and copies between these, take 1.000 us; most: softmax_warp_forward, with these 1.000 us'
# The same with a norm, or a copy to the host, where the second product would follow: nothing is counted.
attention '20 ampere_layer_norm' | stream '~' >"$T/normed"
equal '... nothing where another follows than a product' "$(unfused "$T/normed")" ''
attention '20 [CUDA~memcpy~Device-to-Host]' | stream '~' >"$T/taken"
equal '... or what softmax made goes to the host' "$(unfused "$T/taken")" ''
# The same with a kernel that draws tokens, one that chooses experts and one that nobody knows, before the product.
for name in 'at::native::(anonymous)::sampleMultinomialOnce<float>(int)' 'vllm::moe::moe_align_block_size_kernel' mamba_custom_scan; do
	attention "40 $name
100 ampere_bf16_gemm" | stream '~' >"$T/drawn"
	equal "... or $name runs between" "$(unfused "$T/drawn")" ''
done
# What chooses experts is named for a softmax and ends with no sort of its own.
attention | sed 's/softmax_warp_forward/vllm::moe::topkGatingSoftmax<8,64>(float)/' | stream '~' >"$T/gating"
equal 'a softmax that chooses experts is no attention' "$(unfused "$T/gating")" ''
# 250 of 465 + 4000 are a finding, of 465 + 5000 less than 5 %.
for rest in 4000 5000; do
	{
		attention | head -n 14
		echo "op 0 99 kernel 0 7 mine 465 $rest - 0 - - -"
	} | stream '~' >"$T/rest$rest"
done
equal '... more than a twentieth of a step is worth telling' "$(unfused "$T/rest4000")" '250 softmax_warp_forward'
equal '... less is not' "$(unfused "$T/rest5000")" ''

# 32 MiB from pinned memory in 8 ms, 4.2 GB/s, where PCIe 5 carries 63: at 85 % of that it would take 0.63 ms. Small copies, pageable memory and
# fast ones are not compared with the link.
link() {
	job "$1" "$2" | sed -n '/^#/p; /^device/p; /^profile/p'
	echo "op 0 0 memcpy 0 7 [CUDA~memcpy~Host-to-Device] 0 ${3:-8000000} ${4:-33554432} 0 - ${5:-pinned} device"
	echo 'op 0 1 kernel 0 7 mine 9000000 1000000 - 0 - - -'
}
link NVIDIA~H100~80GB~HBM3 90 | stream '~' >"$T/link"
equal 'a slow link' "$(findings "$T/link")" 'slow-link 7.373e+06'
equal '... its evidence' "$(evidence link slow-link)" \
	"[CUDA memcpy Host-to-Device] of pinned memory reaches 4.2 GB/s, 7% of what a link of the GPU's generation carries (PCIe, 16 lanes: 63.0 GB/s); together 33.6 MB in 8.000 ms a device"
link NVIDIA~H100~80GB~HBM3 90 1000000 | stream '~' >"$T/fast"
equal 'a copy at half of the rate of its link' "$(findings "$T/fast")" ''
link NVIDIA~H100~80GB~HBM3 90 8000000 1000 | stream '~' >"$T/small"
equal 'a small copy' "$(findings "$T/small")" ''
link NVIDIA~H100~80GB~HBM3 90 8000000 33554432 pageable | stream '~' >"$T/pageable"
equal 'pageable memory, which has a reason of its own' "$(findings "$T/pageable")" ''
link NVIDIA~GH200~480GB 90 | stream '~' >"$T/module"
equal 'a GPU whose link is not PCIe' "$(findings "$T/module")" ''
for s in fast small pageable module; do
	equal "the copy is there: $s" "$(nsysx-copies -q --tsv "$T/$s" | wc -l | tr -d ' ')" 2
done

[ -x "$SYNTH" ] && [ -x "$B/bin/nsysx-extract" ] || { done_testing; exit; }
# Whatever the job, every operation is of one family.
for options in '' '--graphs=whole' '--torch' '--torch=vllm' '--offload'; do
	"$SYNTH" -o "$T/j" $options
	nsysx-extract -q --ops "$T/j"/r?.sqlite >"$T/s"
	equal "families add up to all operations: $options" "$(nsysx-summary -q --tsv --by family "$T/s" | awk -F'\t' 'NR > 1 { s += $4; n += $3 } END { printf "%.0f %d", s, n }')" \
		"$(nsysx-summary -q --tsv --by kernel "$T/s" | awk -F'\t' 'NR > 1 { s += $4; n += $3 } END { printf "%.0f %d", s, n }')"
	rm -r "$T/j"
done
# In a step of PyTorch's job the products of the forward and backward pass are of nvjet in bf16.
"$SYNTH" -o "$T/j" --torch
nsysx-extract -q --ops "$T/j"/r?.sqlite >"$T/s"
equal 'products of the generated job' "$(nsysx-summary -q --tsv --by family --only family=gemm "$T/s" | cut -f 1-4 | tail -n 1)" \
	"$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["name"] ~ /^nvjet/ { n++; s += $c["dur"] } END { printf "gemm\tbf16\t%d\t%.0f", n, s }' "$T/j/answers/ops.tsv")"
done_testing
