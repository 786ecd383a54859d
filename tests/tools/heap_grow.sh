#!/bin/sh
# nsysx-heap --grow: what of a program's memory grows with its batch.
. "${0%/*}/../testlib.sh"
. "$tests_dir/streamlib.sh"

# dump FILE NAME B [WIDTH [OTHER]]: of a batch of B rows of WIDTH numbers: a state that the result reuses; a temporary buffer of 3000 bytes a row and
# one of 500; 100 bytes of the heap that no buffer has; a result of 4, a constant of 7. OTHER: a size of another argument.
dump() {
	protoc -I heap --encode=Dump heap/dump.proto >"$1" <<END_OF
hlo_module {
  name: "$2" id: 5 entry_computation_id: 1
  computations {
    name: "main" id: 1
    instructions { name: "p.1" opcode: "parameter" shape { element_type: 11 dimensions: 1000 } metadata { op_name: "state" } id: 11 }
    instructions { name: "p.2" opcode: "parameter" shape { element_type: 11 dimensions: $3 dimensions: ${4:-250} } metadata { op_name: "batch" } parameter_number: 1 id: 12 }
    instructions { name: "p.3" opcode: "parameter" shape { element_type: 11 dimensions: ${5:-9} } metadata { op_name: "mask" } parameter_number: 2 id: 16 }
    instructions { name: "fusion.$3" opcode: "fusion" shape { element_type: 11 } id: 13 }
    instructions { name: "multiply.4" opcode: "multiply" shape { element_type: 11 } metadata { op_name: "jit(f)/mul" } id: 14 }
    instructions { name: "reduce.5" opcode: "reduce" shape { element_type: 11 } metadata { op_name: "jit(f)/loss" } id: 15 }
    instructions { name: "constant.6" opcode: "constant" shape { element_type: 11 } id: 17 }
  }
}
buffer_assignment {
  logical_buffers { id: 2 size: 4000 defined_at { instruction_id: 11 } }
  logical_buffers { id: 3 size: $((4 * $3 * ${4:-250})) defined_at { instruction_id: 12 } }
  logical_buffers { id: 4 size: $((3000 * $3)) defined_at { instruction_id: 13 } }
  logical_buffers { id: 5 size: 500 defined_at { instruction_id: 14 } }
  logical_buffers { id: 6 size: 4 defined_at { instruction_id: 15 } }
  logical_buffers { id: 7 size: 7 defined_at { instruction_id: 17 } }
  buffer_allocations { size: 4000 is_entry_computation_parameter: true maybe_live_out: true assigned { logical_buffer_id: 2 size: 4000 } }
  buffer_allocations { index: 1 size: $((4 * $3 * ${4:-250})) is_entry_computation_parameter: true assigned { logical_buffer_id: 3 size: $((4 * $3 * ${4:-250})) } }
  buffer_allocations { index: 2 size: $((3000 * $3 + 600)) assigned { logical_buffer_id: 4 size: $((3000 * $3)) } assigned { logical_buffer_id: 5 size: 500 } }
  buffer_allocations { index: 3 size: 4 maybe_live_out: true assigned { logical_buffer_id: 6 size: 4 } }
  buffer_allocations { index: 4 size: 7 is_constant: true assigned { logical_buffer_id: 7 size: 7 } }
  heap_simulator_traces { events { buffer_id: 4 } events { buffer_id: 5 } }
}
END_OF
}

dump "$T/a" jit_f 8
dump "$T/b" jit_f 16
table_is 'rows for what grows, one for what does not, one for all' nsysx-heap --grow "$T/a" "$T/b" <<'END_OF'
name kind what first second growth unit share
jit_f all - 36611 68611 32000 4000 1
jit_f temp fusion 24000 48000 24000 3000 0.75
jit_f argument batch 8000 16000 8000 1000 0.25
jit_f same - 4611 4611 0 0 0
END_OF
equal 'all is what --summary says that the program reserves' "$(nsysx-heap -q --summary "$T/a" | awk -F'\t' 'NR == 2 { print $12 }') $(nsysx-heap -q --summary "$T/b" | awk -F'\t' 'NR == 2 { print $12 }')" '36611 68611'
table_is 'the other way round it shrinks, by as much a unit' nsysx-heap --grow "$T/b" "$T/a" <<'END_OF'
name kind what first second growth unit share
jit_f all - 68611 36611 -32000 4000 1
jit_f argument batch 16000 8000 -8000 1000 0.25
jit_f temp fusion 48000 24000 -24000 3000 0.75
jit_f same - 4611 4611 0 0 0
END_OF

mkdir "$T/one" "$T/two"
for d in one:1:8 one:5:100 two:1:16 two:5:110; do
	n=${d#*:}
	dump "$T/${d%%:*}/module_000${n%:*}.jit_f.sm_9.0_gpu_after_optimizations.hlo.pb" jit_f "${n#*:}"
done
table_is 'several programs of one name have rows each' nsysx-heap --grow "$T/one" "$T/two" <<'END_OF'
name kind what first second growth unit share
jit_f all - 36611 68611 32000 4000 1
jit_f temp fusion 24000 48000 24000 3000 0.75
jit_f argument batch 8000 16000 8000 1000 0.25
jit_f same - 4611 4611 0 0 0
jit_f all - 404611 444611 40000 4000 1
jit_f temp fusion 300000 330000 30000 3000 0.75
jit_f argument batch 100000 110000 10000 1000 0.25
jit_f same - 4611 4611 0 0 0
END_OF

# ---- what fits ----
devices() { printf '#nsysx\t2\n#device\tdevice:i\tprofile:i\tmemory:i\ndevice\t0\t0\t%s\n#end\trecords:i\nend\t1\n' "$1" >"$T/devices"; }
fitted() { devices "$1"; shift; nsysx-heap --grow --job "$T/devices" "$@" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["fits"], $at["most"]; exit }'; }
# 4611 + 4000 B is to be at most C; of it 4011 + 1000 B without the heap.
equal 'the largest batch that fits, and its bound' "$(fitted 100000 "$T/a" "$T/b")" '23 95'
equal '... from either side' "$(fitted 100000 "$T/b" "$T/a")" '23 95'
equal '... to the byte' "$(fitted 84611 "$T/a" "$T/b") $(fitted 84610 "$T/a" "$T/b")" '20 80 19 80'
equal '... smaller than both, or nothing' "$(fitted 12611 "$T/a" "$T/b") $(fitted 3000 "$T/a" "$T/b")" '2 8 0 0'
for b in 20 21; do dump "$T/$b" jit_f $b; done
equal 'a program of that size does fit, and of the next does not' "$(nsysx-heap -q --summary "$T/20" | awk -F'\t' 'NR == 2 { print ($12 <= 84611) }') $(nsysx-heap -q --summary "$T/21" | awk -F'\t' 'NR == 2 { print ($12 <= 84611) }')" '1 0'

# ---- which sizes ----
unit() { nsysx-heap -q --grow "$@" | awk -F'\t' 'NR == 2 { print $7 }'; }
dump "$T/wide" jit_f 16 500
equal 'sizes in one proportion: the smallest is the batch' "$(unit "$T/a" "$T/wide")" "$(((16 * 500 * 4 - 8000 + 24000) / 8))"
dump "$T/odd" jit_f 16 250 10
equal 'sizes of several proportions: not known' "$(unit "$T/a" "$T/odd")" ''
equal '... with a warning' "$(nsysx-heap --grow "$T/a" "$T/odd" 2>&1 >"$T/null" | grep -c 'do not say how large a batch is')" 1
equal '... unless they are told' "$(unit --batch 8,16 "$T/a" "$T/odd")" 4000
equal 'the same size: not known' "$(nsysx-heap --grow "$T/a" "$T/a" 2>"$T/null" | tail -n +2 | tr '\t' ' ')" 'jit_f all  36611 36611 0  
jit_f same  36611 36611 0  '

# ---- folders ----
mkdir "$T/x" "$T/y"
for m in 1:jit_f:8:8 2:jit_g:8:16 3:jit_h:4:4; do
	IFS=: read -r n name x y <<END_OF
$m
END_OF
	dump "$T/x/module_000$n.$name.sm_9.0_gpu_after_optimizations.hlo.pb" "$name" "$x"
	[ "$name" = jit_h ] || dump "$T/y/module_000$n.$name.sm_9.0_gpu_after_optimizations.hlo.pb" "$name" "$y"
done
equal 'programs of folders are compared by name' "$(nsysx-heap -q --grow "$T/x" "$T/y" | awk -F'\t' '$2 == "all" { print $1, $6 }' | tr '\n' ';')" 'jit_f 0;jit_g 32000;'
equal '... what one side alone has is counted' "$(nsysx-heap --grow "$T/x" "$T/y" 2>&1 >"$T/null" | grep -c 'of one side alone: not compared')" 1

fails '--grow of one dump' 2 'want two DUMPs' nsysx-heap --grow "$T/a"
fails '--grow with --summary' 2 'exclude each other' nsysx-heap --grow --summary "$T/a" "$T/b"
fails '--batch alone' 2 '--batch goes with --grow' nsysx-heap --batch 1,2 "$T/a"
fails '--batch of one number' 2 'want two numbers above 0 that differ' nsysx-heap --grow --batch 8 "$T/a" "$T/b"
fails '... of the same' 2 'want two numbers above 0 that differ' nsysx-heap --grow --batch 8,8 "$T/a" "$T/b"
fails 'a dump that is not there' 1 "$T/absent" nsysx-heap --grow "$T/a" "$T/absent"
fails 'something else' 1 'not a dump' nsysx-heap --grow "$T/a" "$0"
done_testing
