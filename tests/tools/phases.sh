#!/bin/sh
# nsysx-summary --by phase, --by scope, nsysx-fold --by scope: passes of a training step, and the tree of its modules.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"

is() {
	claim=$1
	shift
	table_is "$claim" nsysx-summary --tsv "$@"
}

# The column NAME of a table on standard input, with its heading.
col() {
	awk -F'\t' -v want="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) c = i } { print $c }'
}

# An H100 does 256 f32 operations a clock on each of its 10 multiprocessors: at 1 GHz 2560 a ns. Two executions of a step, each with a
# product of 512000 operations (200 ns at the peak) forward, another one backward, and the first one again.
cat >"$T/head" <<'END'
#profile profile:i name:s
profile 0 r0
#device device:i profile:i name:s sms:i clock:i mem_bandwidth:i cc:i
device 0 0 X 10 1000000000 1000000000000 90
#program program:i id:i name:s key:s
program 0 7 step step@7
program 1 9 eval eval@9
#inst program:i inst:i name:s opcode:s comm:i op_name:s flops:i math:s vector:i mem_bytes:i
inst 0 0 dot.1 dot 0 jit(step)/jit(main)/jvp(Model)/layer_0/mlp/dot_general 512000 f32 0 0
inst 0 1 dot.2 dot 0 jit(step)/jit(main)/transpose(jvp(Model))/layer_0/mlp/dot_general 512000 f32 0 0
inst 0 2 dot.3 dot 0 jit(step)/jit(main)/transpose(jvp(Model))/checkpoint/rematted_computation/layer_0/mlp/dot_general 512000 f32 0 0
inst 0 3 ar all-reduce 1 jit(step)/jit(main)/transpose(jvp(Model))/psum - - - -
inst 0 4 fusion.1 fusion 0 jit(step)/jit(main)/adam/add 0 - 10 0
inst 0 5 copy copy 0 - - - - -
inst 0 7 mask fusion 0 jit(step)/jit(main)/Model/layer_0/mlp/jit(tril)/iota - - - -
inst 0 6 fusion.2.remat fusion 0 jit(step)/jit(main)/jvp(Model)/layer_1/add 0 - 10 0
inst 1 0 dot.1 dot 0 jit(eval)/jit(main)/Model/layer_0/mlp/dot_general 512000 f32 0 0
#module profile:i program:i execution:i device:i start:i dur:i thunks:i
#thunk profile:i program:i execution:i device:i inst:i occurrence:i name:s start:i dur:i hidden:i comm:i
#op profile:i op:i type:s device:i name:s start:i dur:i program:i execution:i inst:i comm:i hidden:i
END
# The kernels of a thunk take less than it: 10 ns pass before they begin.
{
	cat "$T/head"
	n=0 t=1000
	for e in 0 1; do
		echo "module 0 0 $e 0 $t 1700 8"
		for i in 0:400 1:500 2:250 3:100 4:60 5:30 6:20 7:15; do
			ns=${i#*:} k=${i%:*} comm=0 hidden=-
			[ "$k" != 3 ] || comm=1 hidden=40
			echo "thunk 0 0 $e 0 $k 0 x $t $((ns + 10)) $hidden $comm"
			echo "op 0 $n kernel 0 k$k $((t + 10)) $ns 0 $e $k $comm $hidden"
			n=$((n + 1)) t=$((t + ns + 20))
		done
	done
	echo "module 0 1 0 0 $t 400 1"
	echo "thunk 0 1 0 0 0 0 x $t 400 - 0"
	echo "op 0 $n kernel 0 k0 $t 400 1 0 0 0 -"
	echo "op 0 $((n + 1)) memcpy 0 copy $((t + 500)) 8 - - - 0 -"
} >"$T/records"
stream <"$T/records" >"$T/xla"
# Twice 1375 ns of step, 400 of eval, 8 of a copy: 3158. hfu: 400 of 830 ns, 400 of 1200 (backward has the all-reduce), 400 of 540. The mask
# is not differentiated, but in a module that is.
is 'phases by op_name' --by phase "$T/xla" <<'END'
phase count total share compute comm exposed copy flops hfu
forward 4 830 0.262824572514 830 0 0 0 1024000 0.481927710843
backward 4 1200 0.379987333756 1000 200 120 0 1024000 0.333333333333
recompute 4 540 0.17099430019 540 0 0 0 1024000 0.740740740741
optimizer 2 120 0.0379987333756 120 0 0 0 - -
other 1 400 0.126662444585 400 0 0 0 512000 0.5
unknown 3 68 0.0215326155795 60 0 0 8 - -
END
is 'scopes: the passes of a module meet' --by scope "$T/xla" <<'END'
scope depth count total self share forward backward recompute optimizer comm exposed copy flops hfu mfu
step 1 14 2690 0 0.851804939835 830 1200 540 120 200 120 0 3072000 0.446096654275 0.297397769517
step/Model 2 12 2570 200 0.81380620646 830 1200 540 0 200 120 0 3072000 0.466926070039 0.311284046693
step/Model/layer_0 3 8 2330 0 0.737808739709 830 1000 500 0 0 0 0 3072000 0.515021459227 0.343347639485
step/Model/layer_0/mlp 4 8 2330 2300 0.737808739709 830 1000 500 0 0 0 0 3072000 0.515021459227 0.343347639485
eval 1 1 400 0 0.126662444585 0 0 0 0 0 0 0 512000 0.5 0.5
eval/Model 2 1 400 0 0.126662444585 0 0 0 0 0 0 0 512000 0.5 0.5
eval/Model/layer_0 3 1 400 0 0.126662444585 0 0 0 0 0 0 0 512000 0.5 0.5
eval/Model/layer_0/mlp 4 1 400 400 0.126662444585 0 0 0 0 0 0 0 512000 0.5 0.5
step/adam 2 2 120 120 0.0379987333756 0 0 0 120 0 0 0 - - -
[no_scope] 1 3 68 68 0.0215326155795 0 0 0 0 0 0 8 - - -
step/Model/layer_1 3 2 40 40 0.0126662444585 0 0 40 0 0 0 0 - - -
step/Model/layer_0/mlp/tril 5 2 30 30 0.00949968334389 30 0 0 0 0 0 0 - - -
END
equal 'a line names what hfu is of' "$(nsysx-summary -q --table --by scope "$T/xla" | grep '^hfu')" \
	'hfu and mfu are of total, the time of the operations, and not of the period of a step, of which idle time is a part; the HFU of nsysx-roofline is of the time of executions'
equal '... and its heading' "$(nsysx-summary -q --table --by phase "$T/xla" | sed -n '1s/.* //p')" hfu_of_total
equal 'sums of operations are not headed as the compute and copy of devices, which count each moment once' \
	"$(nsysx-summary -q --table --by phase --wide "$T/xla" | head -n 1 | grep -oE '(compute|copy)[a-z_]*' | paste -sd' ')" 'compute_total copy_total'
is '--names=digits joins layers' --by scope --names digits --only 'scope~^step/Model/l' "$T/xla" <<'END'
scope depth count total self share forward backward recompute optimizer comm exposed copy flops hfu mfu
step/Model/layer_# 3 10 2370 40 0.750474984167 830 1000 540 0 0 0 0 3072000 0.506329113924 0.337552742616
step/Model/layer_#/mlp 4 8 2330 2300 0.737808739709 830 1000 500 0 0 0 0 3072000 0.515021459227 0.343347639485
step/Model/layer_#/mlp/tril 5 2 30 30 0.00949968334389 30 0 0 0 0 0 0 - - -
END
# Thunks take 10 ns more; of the all-reduce 40 ns are hidden; modules take 3800 ns.
equal 'columns by source' "$(nsysx-summary -q --tsv --by source "$T/xla" | tr '\t' ' ')" "$(cat <<'END'
source count total share forward backward recompute optimizer
dot_general 7 2760 0.7263157894736842 820 1020 520 0
add 4 200 0.05263157894736842 0 0 60 140
psum 2 140 0.03684210526315789 0 140 0 0
[Unknown] 2 80 0.021052631578947368 0 0 0 0
iota 2 50 0.013157894736842105 50 0 0 0
END
)"
sed -e '/^op/d' -e '/^#op/d' "$T/records" | stream >"$T/thunks"
equal 'without operations: of thunks' "$(nsysx-summary -q --tsv --by phase "$T/thunks" | cut -f 1-3 | tr '\t\n' '  ')" \
	'phase count total forward 4 870 backward 4 1240 recompute 4 580 optimizer 2 140 other 1 400 unknown 2 80 '
# What mul and copy of the optimizer have in common is the function's name: the fusion may be of any pass. An evaluation is none.
sed -e 's,adam/add,,; s,jit(main)/ ,jit(main) ,' "$T/records" | stream >"$T/cut"
equal 'a cut op_name is no optimizer' "$(nsysx-summary -q --tsv --by phase "$T/cut" | cut -f 1-3 | tr '\t\n' '  ')" \
	'phase count total forward 4 830 backward 4 1200 recompute 4 540 other 1 400 unknown 5 188 '
ok '... and a diag says how much' sh -c 'nsysx-summary --by phase "$1" 2>&1 >/dev/null | grep -q "3\.8% of the time .* op_name is cut.*-x DIR"' sh "$T/cut"
equal '... nor a source line' "$(nsysx-summary -q --tsv --by source "$T/cut" | cut -f 1-3 | grep -e main -e Unk | tr '\t' ' ')" '[Unknown] 4 220'
ok 'ends of op_names are said to be no lines' sh -c 'nsysx-summary -v --by source "$1" 2>&1 >/dev/null | grep -q "not source lines; extract with -x"' sh "$T/xla"
sed -e 's,^inst 1 0 .*,inst 1 0 dot.1 dot 0 jit(eval)/jit(main) 512000 f32 0 0,' "$T/records" | stream >"$T/cut"
equal '... of a program without a backward pass it is other, all the same' "$(nsysx-summary --tsv --by phase "$T/cut" 2>&1 | grep -e cut -e other | cut -f 1-3 | tr '\t' ' ')" 'other 1 400'
# Of the backward pass nothing ran: whether what is not differentiated is the optimizer is not known.
stream <<'END' >"$T/half"
#device device:i profile:i
device 0 0
#program program:i id:i name:s key:s
program 0 1 step step
#inst program:i inst:i name:s opcode:s op_name:s
inst 0 0 a add jit(step)/jvp(Model)/a/add
inst 0 1 b add jit(step)/transpose(jvp(Model))/a/add
inst 0 2 c add jit(step)/adam/add
#thunk profile:i program:i execution:i device:i inst:i occurrence:i name:s start:i dur:i
thunk 0 0 0 0 0 0 a 0 10
thunk 0 0 0 0 2 0 c 20 5
END
equal '... of those that ran' "$(nsysx-summary -q --tsv --by phase "$T/half" | cut -f 1-3 | tr '\t\n' '  ')" 'phase count total forward 1 10 other 1 5 '
nsysx-summary -v --by phase "$T/thunks" 2>&1 >"$T/null" | grep -q 'no op records: times are those of thunks'
equal '... which is said' $? 0
nsysx-summary -v --by phase --tsv "$T/xla" 2>&1 | grep -q 'exposed communication is not known'
equal 'hidden time is known' $? 1
awk '$1 == "inst" { $7 = "-" } { print }' "$T/records" | stream >"$T/nameless"
nsysx-summary --by phase "$T/nameless" 2>&1 >"$T/null" | grep -q 'no instruction has an op_name: extract with -x DIR'
equal 'a stream without op_names says so' $? 0
sed 's/ 40$/ -/' "$T/records" | stream >"$T/plain"
equal 'exposed time without nsysx-overlap is not known' "$(nsysx-summary -q --tsv --by phase "$T/plain" | col exposed | tr '\n' ,)" 'exposed,,,,,,,'
nsysx-summary -v --by phase "$T/plain" 2>&1 >"$T/null" | grep -q 'run nsysx-overlap'
equal '... which is said' $? 0
nsysx-fold -q --by scope "$T/xla" >"$T/got"
cat >"$T/want" <<'END'
[no scope] 68
eval;Model;layer_0;mlp 400
step;Model 200
step;Model;layer_0;mlp 2300
step;Model;layer_0;mlp;tril 30
step;Model;layer_1 40
step;adam 120
END
same 'nsysx-fold --by scope' "$T/want" "$T/got"
nsysx-fold -q --by scope --mark-comm --names digits "$T/xla" >"$T/got"
cat >"$T/want" <<'END'
[no scope] 68
eval;Model;layer_#;mlp 400
step;Model;[communication] 200
step;Model;layer_# 40
step;Model;layer_#;mlp 2300
step;Model;layer_#;mlp;tril 30
step;adam 120
END
same '... with communication marked, and digits' "$T/want" "$T/got"
fails '--names without a table that has names' 2 '--names goes with --by range and scope' nsysx-summary --by phase --names digits "$T/xla"

# ---- ranges of PyTorch ----

# A checkpoint that is reentrant, modules with dotted names, a backward pass of a function's, an operator without GPU work.
stream '~' >"$T/torch" <<'END'
#profile profile:i name:s
profile 0 r0
#device device:i profile:i
device 0 0
#range profile:i range:i parent:i pid:i tid:i name:s start:i dur:i host_start:i host_dur:i
#op profile:i op:i type:s device:i name:s start:i dur:i range:i comm:i hidden:i
range 0 1 - 1 1 {'Module':~'model',~'TrainableParams':~4} 100 90 1 40
range 0 2 1 1 1 {'Module':~'model.layers.0',~'TrainableParams':~4} 100 90 2 30
range 0 3 2 1 1 CheckpointFunction,~seq~=~7,~op_id~=~1 100 20 3 10
range 0 4 3 1 1 aten::linear,~op_id~=~2 100 20 4 5
range 0 5 2 1 1 aten::expand,~seq~=~8,~op_id~=~3 - - 14 2
range 0 6 2 1 1 nn.Module:~mine,~op_id~=~4 130 5 17 3
range 0 7 6 1 1 aten::mul,~op_id~=~5 130 5 18 2
op 0 0 kernel 0 k 100 20 4 0 -
op 0 1 kernel 0 k 130 5 7 0 -
range 0 10 - 1 2 autograd::engine::evaluate_function:~ExpandBackward0,~op_id~=~10 200 7 50 9
range 0 11 10 1 2 ExpandBackward0,~seq~=~8,~op_id~=~11 200 7 51 6
op 0 2 kernel 0 k 200 7 11 0 -
range 0 12 - 1 2 autograd::engine::evaluate_function:~CheckpointFunctionBackward,~op_id~=~12 300 90 60 50
range 0 13 12 1 2 CheckpointFunctionBackward,~seq~=~7,~op_id~=~13 300 90 61 48
range 0 14 13 1 2 {'Module':~'model.layers.0',~'TrainableParams':~4} 300 11 62 9
range 0 15 14 1 2 aten::linear,~seq~=~20,~op_id~=~14 300 11 63 5
op 0 3 kernel 0 k 300 11 15 0 -
range 0 16 13 1 2 autograd::engine::evaluate_function:~AddmmBackward0,~op_id~=~15 320 13 75 9
range 0 17 16 1 2 AddmmBackward0,~seq~=~20,~op_id~=~16 320 13 76 6
op 0 4 kernel 0 k 320 13 17 0 -
range 0 18 - 1 2 autograd::engine::evaluate_function:~torch::autograd::AccumulateGrad,~op_id~=~17 400 3 120 6
op 0 5 kernel 0 k 400 3 18 0 -
range 0 19 - 1 1 Optimizer.step#SGD.step 500 2 150 6
op 0 6 kernel 0 k 500 2 19 0 -
range 0 20 - 1 1 execute_6_context_0(sq0sk0sqsq0sqsk0)_generation_6(sq6sk9sqsq6sqsk9) 600 1 160 9
range 0 21 20 1 1 loading 600 1 160 6
op 0 7 memcpy 0 c 600 1 21 0 -
op 0 8 memcpy 0 c 700 1 - 0 -
END
nsysx-view -q --text "$T/torch" | awk -F'\t' '$1 != "range"' | nsysx-summary --partial --by scope --tsv >"$T/got" 2>"$T/err"
equal 'operations whose range is not there are in no scope, and are counted' "$(cut -f 1 "$T/got" | tr '\n' ,) $(grep -c 'operations whose range is not in the stream: in no scope' "$T/err")" 'scope,[no scope], 1'
equal 'phases by ranges' "$(nsysx-summary -q --tsv --by phase "$T/torch" | cut -f 1-3 | tr '\t\n' ' ,')" \
	'phase count total,forward 3 26,backward 3 23,recompute 1 11,optimizer 1 2,unknown 1 1,'
equal 'scopes by ranges' "$(nsysx-summary -q --tsv --by scope "$T/torch" | cut -f 1,4,5,7-10 | tr '\t\n' ' ,')" \
	'scope total self forward backward recompute optimizer,model 56 0 25 20 11 0,model/layers.0 56 51 25 20 11 0,model/layers.0/mine 5 5 5 0 0 0,[no scope] 4 4 0 3 0 0,Optimizer.step#SGD.step 2 2 0 0 0 2,loading 1 1 1 0 0 0,'
# A program that names its passes, whose backward pass thread 2 launches, as that of autograd does, while thread 1 waits in its range. The GPU is two
# steps behind: ranges come at their host times, before what was launched in earlier ones. Of each step: 10 forward, 3 + 40 + 5 backward, 7 of a forward
# pass that is run again, 20 of the optimizer. In no pass: 2, which thread 3 copies to the device meanwhile, and 1 of thread 2 between steps. Other processes have their own: 100.
{
	cat <<'END'
#device device:i profile:i name:s pid:i
device 0 0 X 1
device 1 0 X 9
#range profile:i range:i parent:i pid:i tid:i name:s start:i dur:i host_start:i host_dur:i
#op profile:i op:i type:s device:i name:s start:i dur:i range:i tid:i host_start:i
END
	for k in 0 1 2 3; do
		h=$((k * 100)) g=$((k * 100 + 250)) r=$((k * 10))
		cat <<END
range 0 $((r + 1)) - 1 1 step~$k $g 90 $h 98
range 0 $((r + 2)) $((r + 1)) 1 1 Forward $g 10 $((h + 1)) 9
op 0 ${k}0 kernel 0 k $g 10 $((r + 2)) 1 $((h + 2))
range 0 $((r + 3)) $((r + 1)) 1 1 backward $((g + 10)) 3 $((h + 20)) 40
op 0 ${k}1 kernel 0 k $((g + 10)) 3 $((r + 3)) 1 $((h + 21))
op 0 ${k}2 kernel 0 k $((g + 13)) 40 - 2 $((h + 22))
op 0 ${k}3 memcpy 0 [CUDA~memcpy~Device-to-Device] $((g + 53)) 5 - 2 $((h + 24))
op 0 ${k}4 memcpy 0 [CUDA~memcpy~Host-to-Device] $((g + 58)) 2 - 3 $((h + 30))
range 0 $((r + 4)) $((r + 3)) 1 1 forward $((g + 60)) 7 $((h + 50)) 9
op 0 ${k}5 kernel 0 k $((g + 60)) 7 $((r + 4)) 1 $((h + 51))
range 0 $((r + 5)) $((r + 1)) 1 1 optimizer~step $((g + 67)) 20 $((h + 70)) 20
op 0 ${k}6 kernel 0 k $((g + 67)) 20 $((r + 5)) 1 $((h + 71))
op 0 ${k}7 kernel 0 k $((g + 87)) 1 - 2 $((h + 99))
op 0 ${k}8 kernel 1 k $((g + 13)) 100 - 2 $((h + 22))
END
	done
} | stream '~' >"$T/named"
equal 'passes that a program names, launched by whichever thread' "$(nsysx-summary -q --tsv --by phase "$T/named" | cut -f 1-3 | tr '\t\n' ' ,')" \
	"phase count total,forward 4 40,backward 12 $((4 * 48)),recompute 4 28,optimizer 4 80,unknown 12 $((4 * 103)),"
sed 's/	backward	/	loss	/' "$T/named" >"$T/unnamed"
equal '... if they are named' "$(nsysx-summary -q --tsv --by phase "$T/unnamed" | cut -f 1-3 | grep -c backward)" 0
# The thread that waits in the range launches nothing in it: one of the forward pass, then 40 and 100 of thread 2, which has ranges of 70 nodes before these.
{
	cat <<'END'
#device device:i profile:i name:s pid:i
device 0 0 X 1
#range profile:i range:i parent:i pid:i tid:i name:s start:i dur:i host_start:i host_dur:i
#op profile:i op:i type:s device:i name:s start:i dur:i range:i tid:i host_start:i
range 0 1 - 1 1 step~0 250 300 0 898
range 0 2 1 1 1 forward 250 10 1 9
range 0 3 1 1 1 backward - - 20 800
END
	i=0
	while [ $i -lt 70 ]; do
		echo "range 0 $((i + 10)) - 1 2 autograd::engine::evaluate_function:~MulBackward0 263 1 $((22 + i)) 1"
		i=$((i + 1))
	done
	echo 'op 0 1 kernel 0 k 250 10 2 1 2'
	echo 'op 0 2 kernel 0 k 263 40 - 2 22'
	echo 'op 0 3 kernel 0 k 303 100 - 2 500'
} | stream '~' >"$T/waits"
equal 'a backward pass whose own thread launches nothing' "$(nsysx-summary -q --tsv --by phase "$T/waits" | cut -f 1-3 | tr '\t\n' ' ,')" \
	'phase count total,forward 1 10,backward 2 140,'
equal '... in a range of a framework' "$(sed 's/	backward	/	DeepSpeedEngine.backward	/' "$T/waits" | nsysx-summary -q --tsv --by phase | cut -f 1-3 | tr '\t\n' ' ,')" \
	'phase count total,forward 1 10,backward 2 140,'
# Work by the sizes of inputs: 2 x 4 x 16 x 8 of a product in bf16, counted once however many kernels it has; attention; a product in f32 whose sizes
# the source has apart from the name; what has no sizes is not known, nor is then the share of a peak. 264 multiprocessors at 1 GHz: peaks are given.
stream '~' >"$T/sized" <<'END'
#device device:i profile:i name:s
device 0 0 NVIDIA~H100~80GB~HBM3
#range profile:i range:i parent:i pid:i tid:i name:s start:i dur:i host_start:i host_dur:i sizes:s kind:s
#op profile:i op:i type:s device:i name:s start:i dur:i range:i
range 0 1 - 1 1 A 100 90 1 10 - -
range 0 2 1 1 1 aten::linear,~op_id~=~1,~sizes~=~[[4,~16],~[8,~16],~[8]] 100 90 2 5 - -
range 0 3 2 1 1 aten::addmm,~seq~=~7,~op_id~=~2,~sizes~=~[[8],~[4,~16],~[16,~8],~[],~[]] 100 90 3 4 - -
op 0 0 kernel 0 void~at::native::vectorized_elementwise_kernel<4> 100 20 3
op 0 1 kernel 0 sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn 120 50 3
op 0 2 kernel 0 sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn 170 20 3
range 0 4 - 1 1 B 300 30 20 20 - -
range 0 5 4 1 1 aten::_flash_attention_forward,~op_id~=~4,~sizes~=~[[1,~8,~2,~4],~[1,~8,~2,~4],~[1,~8,~2,~4]] 300 30 21 4 - -
op 0 3 kernel 0 void~flash::flash_fwd_kernel<Traits<cutlass::bfloat16_t>> 300 30 5
range 0 6 - 1 1 C 400 10 50 9 - annotation
range 0 7 6 1 1 aten::mm 400 10 51 3 [[2,~3],~[3,~5]] op
op 0 4 kernel 0 sm80_xmma_gemm_f32f32_f32f32_f32_nn 400 10 7
range 0 8 - 1 1 D 500 20 70 9 - annotation
range 0 9 8 1 1 aten::mm 500 10 71 3 [[2,~3],~[3,~5]] op
op 0 5 kernel 0 sm80_xmma_gemm_f32f32_f32f32_f32_nn 500 10 9
range 0 10 8 1 1 aten::cudnn_convolution 510 10 75 3 [[1,~3,~8,~8],~[4,~3,~3,~3]] op
op 0 6 kernel 0 sm80_xmma_gemm_f32f32_f32f32_f32_nn 510 10 10
range 0 11 - 1 1 E 530 50 80 9 - annotation
range 0 12 11 1 1 aten::convolution_backward 530 50 81 3 [[1,~4,~6,~6],~[1,~3,~8,~8],~[4,~3,~3,~3],~[4]] op
op 0 7 kernel 0 sm80_xmma_dgrad_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nhwc 530 20 12
op 0 8 kernel 0 sm80_xmma_wgrad_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nhwc 550 30 12
END
nsysx-summary -q --tsv --by scope "$T/sized" >"$T/got"
equal 'work of operators by the sizes of their inputs' "$(awk -F'\t' 'NR > 1 { print $1, $14 }' "$T/got" | LC_ALL=C sort | tr '\n' ,)" \
	"A $((2 * 4 * 16 * 8)),B $((2 * 2 * 2 * 8 * 8 * 4)),C 60,D 60,E $((2 * 2 * 36 * 4 * 27)),"
nsysx-roofline -q --peaks --tsv "$T/sized" >"$T/peaks"
peak_of() { awk -F'\t' -v m="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["math"] == m { print $at["tflops"]; exit }' "$T/peaks"; }
equal '... as shares of the peaks of their types; not known where a product is not' "$(awk -F'\t' 'NR > 1 { printf "%s %.6g %.6g\n", $1, $15, $16 }' "$T/got" | LC_ALL=C sort | tr '\n' ,)" \
	"$(awk -v b="$(peak_of bf16)" -v f="$(peak_of f32)" 'BEGIN { x = 1024 / b / 1e3 / 90; y = 2048 / b / 1e3 / 30; z = 60 / f / 1e3 / 10; e = 15552 / f / 1e3 / 50; printf "A %.6g %.6g,B %.6g %.6g,C %.6g %.6g,D 0 0,E %.6g %.6g,", x, x, y, y, z, z, e, e }')"
# 50 of 250 ns in no range: of them no work is known, which shares of the peaks count as time.
nsysx-view -q --text "$T/sized" | awk -F'\t' -v OFS='\t' '
	$1 == "#op" { for (i = 2; i <= NF; i++) { c = $i; sub(/:.*/, "", c); at[c] = i } }
	$1 == "end" { $0 = last; $at["op"] = 99; $at["name"] = "alone"; $at["start"] = 600; $at["dur"] = 50; $at["range"] = ""; print; exit }
	{ print } $1 == "op" { last = $0 }' | nsysx-view -q --partial >"$T/unseen"
shows_line() { nsysx-summary -q --table --by scope "$1" | grep -c "^flops are known of $2% of the GPU's time at most: $3% is of work that no operator is known to have launched"; }
equal 'time of which no work can be known is told' "$(shows_line "$T/unseen" 80 20)" 1
equal '... where there is any' "$(nsysx-summary -q --table --by scope "$T/sized" | grep -c '^flops are known')" 0
# A job that only runs forward.
nsysx-view -q --text "$T/torch" | awk -F'\t' '$1 == "range" && $3 > 9 { next } $1 == "op" && $3 > 1 { next } $1 == "end" { next } { print }' | nsysx-view -q --partial >"$T/eval"
equal 'a job without a backward pass' "$(nsysx-summary -q --tsv --by phase "$T/eval" | cut -f 1-3 | tr '\t\n' ' ,')" 'phase count total,forward 1 20,other 1 5,'

# ---- generated jobs ----

[ -x "$SYNTH" ] && [ -x "$B/bin/nsysx-extract" ] || { done_testing; exit; }
for options in '' '--seed 5 --layers 7 --devices 2' '--steps 9 --schema 3.24.14 --offset 2000000 --drift 40' '--shuffle --full'; do
	"$SYNTH" -o "$T/job" --torch=checkpoints $options
	for ranges in --ranges --ranges=all; do
		nsysx-extract -q $ranges --ops "$T/job"/r?.sqlite >"$T/s"
		nsysx-summary -q --tsv --by phase "$T/s" | cut -f 1-3 >"$T/got"
		same "phases are those planned: checkpoints $options $ranges" "$T/job/answers/phases.tsv" "$T/got"
		nsysx-summary -q --tsv --by scope "$T/s" | cut -f 1,3,4,5,7-10 | LC_ALL=C sort >"$T/got"
		LC_ALL=C sort "$T/job/answers/scopes.tsv" >"$T/want"
		same "scopes are those planned: checkpoints $options $ranges" "$T/want" "$T/got"
	done
	rm -r "$T/job"
done
# Traces of PyTorch's profiler have the numbers beside the names.
"$SYNTH" -o "$T/job" --torch=checkpoints --kineto
for ranges in --ranges --ranges=all; do
	nsysx-extract -q $ranges --ops "$T/job"/r?.pt.trace.json >"$T/s"
	nsysx-summary -q --tsv --by phase "$T/s" | cut -f 1-3 >"$T/got"
	same "phases are those planned: traces $ranges" "$T/job/answers/phases.tsv" "$T/got"
	nsysx-summary -q --tsv --by scope "$T/s" | cut -f 1,3,4,5,7-10 | LC_ALL=C sort >"$T/got"
	LC_ALL=C sort "$T/job/answers/scopes.tsv" >"$T/want"
	same "scopes are those planned: traces $ranges" "$T/want" "$T/got"
done
rm -r "$T/job"
# Whatever the job, every operation counts once.
for options in '--torch=checkpoints' '--ops-without-call 40' '--graphs' '--xla26' '--torch' '--torch=vllm' '--pipeline --offload' '--autotune --disagree'; do
	"$SYNTH" -o "$T/job" $options
	case $options in
	--torch*) nsysx-extract -q --ranges --ops "$T/job"/r?.sqlite ;;
	*) nsysx-extract -q --ranges --ops -x "$T/job/dump0" "$T/job/r0.sqlite" -x "$T/job/dump1" "$T/job/r1.sqlite" ;;
	esac >"$T/s"
	ok "there is a job: $options" test -s "$T/s"
	all=$(nsysx-summary -q --tsv --by kernel "$T/s" | col total | awk 'NR > 1 { s += $1 } END { printf "%.0f", s }')
	equal "phases add up to all operations: $options" "$(nsysx-summary -q --tsv --by phase "$T/s" | col total | awk 'NR > 1 { s += $1 } END { printf "%.0f", s }')" "$all"
	equal "scopes, by self: $options" "$(nsysx-summary -q --tsv --by scope "$T/s" | col self | awk 'NR > 1 { s += $1 } END { printf "%.0f", s }')" "$all"
	equal "stacks: $options" "$(nsysx-fold -q --by scope "$T/s" | awk '{ s += $NF } END { printf "%.0f", s }')" "$all"
	rm -r "$T/job"
done
done_testing
