#!/bin/sh
# nsysx-extract with HLO dumps, and tools on its stream, compared with the generator's answers.
. "${0%/*}/../testlib.sh"
. "$tests_dir/answers.sh"


# dumped NAME OPTION...: the job's stream, each export with its dumps, in $T/NAME.nsx; diags in $T/NAME.err.
dumped() {
	job=$1
	shift
	if [ -e "$T/$job/r.sqlite" ]; then
		set -- "$@" -x "$T/$job/dump0" "$T/$job/r.sqlite"
	else
		for export in "$T/$job"/r*.sqlite; do
			i=${export##*/r}
			set -- "$@" -x "$T/$job/dump${i%.sqlite}" "$export"
		done
	fi
	nsysx-extract "$@" >"$T/$job.nsx" 2>"$T/$job.err"
}

# Instructions of a stream in the form of answers/insts.tsv, sorted.
said_insts() {
	awk -F'\t' -v OFS='\t' '
		/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); col[substr($1, 2), c[1]] = i } next }
		function get(name) { return col[$1, name] ? $(col[$1, name]) : "" }
		$1 == "program" { id[get("program")] = get("id"); name[get("program")] = get("name") }
		$1 == "groups" { members[get("groups")] = get("members") }
		$1 == "inst" {
			p = get("program"); g = get("groups")
			print id[p], name[p], get("name"), get("opcode"), get("comm"), get("collective"), get("bytes"), g == "" ? "" : members[g], get("op_name"), get("scheduling_name")
		}' "$1" | sort
}

# Answers of folder $2 and the stream of job $1, sorted, in $T_private/answered and said; false if they differ.
insts_equal() {
	said_insts "$T/$1.nsx" >"$T_private/said"
	sed 1d "$2/answers/insts.tsv" | sort >"$T_private/answered"
	cmp -s "$T_private/answered" "$T_private/said"
}

# The same for folded stacks of the steady state by $3. Programs of one name count together, as in the answers.
fold_equal() {
	nsysx-fold -q --cover 1 --by "$3" "$T/$1.steady" |
		awk -v by="$3" '{ ns = $NF; sub(/ [0-9]*$/, ""); if (by == "module") sub(/@[^;]*;/, ";"); sum[$0] += ns } END { for (s in sum) print s "\t" sum[s] }' |
		sort >"$T_private/said"
	sed 1d "$2/answers/fold_$(echo "$3" | tr - _).tsv" | sort >"$T_private/answered"
	cmp -s "$T_private/answered" "$T_private/said"
}

# claim CLAIM: after one of the above
claim() {
	if [ -s "$T_private/answered" ]; then same "$1" "$T_private/answered" "$T_private/said"; else fail "$1" 'the answers are empty'; fi
}

# steady NAME: the steady state with hidden times; the whole with collectives.
steady() {
	nsysx-warmup -q "$T/$1.nsx" | nsysx-overlap -q >"$T/$1.steady"
	# Of work that is assigned to a command buffer only the kind is known.
	nsysx-overlap -q "$T/$1.nsx" | nsysx-collectives -q | grep -v -e '^collective.*command_buffer' >"$T/$1.coll"
}

# all_agree NAME: everything that uses dumps equals the answers.
all_agree() {
	dump=
	[ -e "$T/$1/answers/thunks_dump.tsv" ] && dump=_dump
	insts_equal "$1" "$T/$1"
	claim "$1: instructions"
	agrees "$1: modules" modules$dump "$T/$1.nsx" "$T/$1"
	agrees "$1: thunks" thunks$dump "$T/$1.nsx" "$T/$1"
	steady "$1"
	for by in source op-name opcode module; do
		fold_equal "$1" "$T/$1" $by
		claim "$1: time by $by"
	done
	[ "$(sed 1d "$T/$1/answers/collectives.tsv" | wc -l)" -eq 0 ] || agrees "$1: collectives" collectives "$T/$1.coll" "$T/$1"
}

# warned NAME TEXT: the number of lines on standard error that contain the text.
warned() { grep -cF -e "$2" "$T/$1.err"; }

# Opcodes of program NAME in a stream, each once.
opcodes() {
	awk -F'\t' -v name="$2" '
		/^#inst/ { for (i = 2; i <= NF; i++) if ($i ~ /^opcode:/) at = i }
		$1 == "program" && $4 == name { program = $2 }
		$1 == "inst" && $2 == program { print $at }' "$1" | sort -u | tr '\n' ' '
}

# ---- dumps of every generation and form

make_job plain
dumped plain -v
all_agree plain
equal 'valid dumps: no diags' "$(grep -c -i -e dump -e instruction "$T/plain.err")" 0
equal 'fingerprints are those of the dumps' "$(awk -F'\t' '$1 == "alias" && $6 != "" { print $3, $4, $5 }' "$T/plain.nsx" | cut -d' ' -f 2,3 | sort -u)" \
	"$(sed 1d "$T/plain/answers/programs.tsv" | awk -F'\t' '{ print $2, $7 }' | sort -u)"

rm -rf "$T/broken"
for what in insts fold_source fold_op_name fold_opcode fold_module collectives; do
	make_job broken --break $what
	case $what in
	insts) insts_equal plain "$T/broken" ;;
	collectives) said $what "$T/plain.coll" >"$T/said"; answered $what "$T/broken" >"$T/answered"; cmp -s "$T/said" "$T/answered" ;;
	*) fold_equal plain "$T/broken" "$(echo "${what#fold_}" | tr _ -)" ;;
	esac
	equal "a falsified answer is detected: $what" $? 1
	rm -r "$T/broken"
done

job() {
	make_job "$@"
	dumped "$1"
	all_agree "$1"
}
job early --titles early
job recent --titles 2026
job local-ids --titles 2026 --seed 2
job xz --dumps xz
job zst --dumps zst --titles 2026
job disagree --disagree
job nocomm --no-comm
job devices --devices 4 --groups 2
job mesh --devices 4 --groups 2 --titles 2026 --seed 7
job uneven --processes 4 --groups 3 --titles 2026
job one --one-export --devices 2
job hosts --hosts 2 --processes 4 --groups 2 --offset 5000000
equal 'an ordinal of several GPUs identifies none' "$(nsysx-view -t device "$T/hosts.nsx" | sed 1d | cut -f 9 | sort | uniq -c | tr -s ' \n' ' ')" ' 4 '
job host --hosts 1 --processes 3 --titles 2026
job late --late 1
job cut --unfinished --details
job autotune --autotune
job outside --outside --titles 2026
job deep --layers 9 --processes 1 --devices 2

# A program with different ids and fingerprints in each process is one program.
equal 'programs with different ids and fingerprints are matched' "$(grep -c '^program' "$T/disagree.nsx") $(cut -f 3 "$T/disagree/answers/programs.tsv" | sed 1d | sort -u | wc -l | tr -d ' ')" '6 6'

# ---- command buffers

job graphs --graphs
job graphs-recent --graphs --titles 2026 --seed 4
job graphs-quiet --graphs --no-comm
job whole --graphs=whole
dumped graphs -v --ops
# Without an execution op by op and without a list, only kernels of fusions are assigned, by names. The rest remains with its buffer, which is reported.
left=$(awk -F'\t' '$1 == "r0" && $3 ~ /^command_buffer/ { n++; ns += $8 } END { printf "%d ns (%d)", ns, n }' "$T/graphs/answers/thunks_dump.tsv")
equal 'time that remains with command buffers is reported' "$(grep 'r0: .*command buffers' "$T/graphs.err" | grep -o '[0-9]* ns.*')" "$left"
# Each operation of a graph belongs to the instruction of the thunk with its time.
awk -F'\t' '
	/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); col[substr($1, 2), c[1]] = i } next }
	function get(name) { return $(col[$1, name]) }
	$1 == "thunk" { thunk[get("profile"), get("program"), get("execution"), get("inst"), get("start"), get("dur")] = 1 }
	$1 == "op" && get("graph_node") != "" && get("type") == "kernel" { n++; op[n] = get("profile") SUBSEP get("program") SUBSEP get("execution") SUBSEP get("inst") SUBSEP get("start") SUBSEP get("dur") }
	END { for (i = 1; i <= n; i++) lost += !(op[i] in thunk); print (n > 0), lost + 0 }' "$T/graphs.nsx" >"$T/lost"
equal 'every kernel of a command buffer belongs to its thunk' "$(cat "$T/lost")" '1 0'

# ---- extracted together, apart, in any order

for j in plain disagree graphs; do
	nsysx-extract -q --ranges --ops -x "$T/$j/dump0" "$T/$j/r0.sqlite" -x "$T/$j/dump1" "$T/$j/r1.sqlite" >"$T/together"
	nsysx-extract -q --ranges --ops -x "$T/$j/dump1" "$T/$j/r1.sqlite" -x "$T/$j/dump0" "$T/$j/r0.sqlite" >"$T/other"
	same "$j: order of files does not matter" "$T/together" "$T/other"
	nsysx-extract -q --ranges --ops -j 1 -x "$T/$j/dump0" "$T/$j/r0.sqlite" -x "$T/$j/dump1" "$T/$j/r1.sqlite" >"$T/other"
	same "$j: nor does the number of threads" "$T/together" "$T/other"
	nsysx-extract -q --spool --ranges --ops -x "$T/$j/dump0" "$T/$j/r0.sqlite" -x "$T/$j/dump1" "$T/$j/r1.sqlite" >"$T/other"
	same "$j: one at a time" "$T/together" "$T/other"
	for i in 0 1; do
		nsysx-extract -q -b --ranges --ops -x "$T/$j/dump$i" "$T/$j/r$i.sqlite" >"$T/part$i"
	done
	nsysx-merge -q "$T/part1" "$T/part0" >"$T/other"
	same "$j: extracted separately and merged" "$T/together" "$T/other"
done
make_job four --processes 4 --groups 2 --titles 2026 --disagree
for i in 0 1 2 3; do
	nsysx-extract -q -x "$T/four/dump$i" "$T/four/r$i.sqlite" >"$T/part$i"
done
nsysx-merge -q "$T/part3" "$T/part0" >"$T/a"
nsysx-merge -q "$T/part1" "$T/part2" >"$T/b"
nsysx-merge -q "$T/a" "$T/b" >"$T/four.merged"
dumped four -q
same 'four processes, merged two and two' "$T/four.merged" "$T/four.nsx"
cp "$T/four.merged" "$T/four.nsx"
all_agree four

# If an instruction lists no groups, the participants are those of the dump's device assignment, including devices that were not profiled.
nsysx-extract -q -x "$T/early/dump0" "$T/early/r0.sqlite" | nsysx-collectives -q >"$T/alone"
awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 && $at["device"] == 0 { print $at["name"], $at["execution"], $at["occurrence"], $at["group"] }' \
	"$T/early/answers/collectives.tsv" | sort >"$T/want"
nsysx-view -t collective "$T/alone" |
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 { print $at["name"], $at["execution"], $at["occurrence"], $at["group"] }' | sort >"$T/got"
same 'groups include devices of profiles that are not in the stream' "$T/want" "$T/got"
equal 'a summary warns that waits for those are not known' "$(nsysx-summary "$T/alone" 2>&1 >"$T/none" | grep -c 'waits for those are not known')" 1

# ---- paths

dumped plain --strip-paths
steady plain
fold_equal plain "$T/plain" source
sed 's,;/opt/example/model\(\[v2\]\)\{0\,1\}/,;,g' "$T_private/answered" | sort >"$T/want"
same '--strip-paths keeps the last component of source paths' "$T_private/said" "$T/want"
equal '... other components are nowhere in the stream' "$(grep -c /opt/ "$T/plain.nsx")" 0

# ---- invalid dumps

# Job NAME with dumps DIR0 and DIR1 instead of its own.
with_dumps() {
	nsysx-extract -x "$2" "$T/$1/r0.sqlite" -x "$3" "$T/$1/r1.sqlite" >"$T/$1.nsx" 2>"$T/$1.err"
}
# named_only CLAIM JOB PROGRAM: its instructions have only names, and all times are right.
named_only() {
	equal "$1: instructions are known by name only" "$(opcodes "$T/$2.nsx" "$3")" ' '
	agrees "$1: all thunks are extracted" thunks "$T/$2.nsx" "$T/$2"
}

make_job stranger --seed 5
with_dumps plain "$T/stranger/dump0" "$T/stranger/dump1"
equal 'dumps of another run are reported' "$(warned plain 'jit_train_step@40: the dump is from another run') $(warned plain 'jit_init_params@19: the dump is from another run')" '2 2'
named_only 'dumps of another run' plain jit_train_step
equal 'programs that both runs have in common have opcodes' "$(opcodes "$T/plain.nsx" jit__psum)" 'all-reduce-start fusion '
# The same names for different instructions: op_names in titles decide.
make_job larger --layers 8
with_dumps plain "$T/larger/dump0" "$T/larger/dump1"
equal 'dumps of another run with the same names are reported' "$(warned plain 'of them with another op_name): not used')" 2
named_only 'dumps of another run with the same names' plain jit_train_step
# The same ids for different names: any two dumps have ids in common, so names decide.
cp -r "$T/recent/dump0" "$T/renamed"
for file in "$T"/renamed/*; do
	sed 's/fusion/fusjon/g; s/gemm/gexm/g; s/wrapped/wrxpped/g' "$file" >"$T/renamed.pb" && mv "$T/renamed.pb" "$file"
done
with_dumps recent "$T/renamed" "$T/renamed"
equal 'dumps that have the ids but not the names are of another run' "$(warned recent 'jit_train_step@40: the dump is from another run (it has')" 2
named_only 'dumps with other names' recent jit_train_step
# Of one process, another one's dumps: the same programs with other ids.
nsysx-extract -x "$T/disagree/dump1" "$T/disagree/r0.sqlite" >"$T/swapped.nsx" 2>"$T/swapped.err"
equal 'dumps of another process are not used' "$(warned swapped 'executed programs without a dump')" 1

cp -r "$T/plain/dump0" "$T/less"
rm "$T/less"/module_0040.*
with_dumps plain "$T/less" "$T/less"
equal 'a missing dump is reported' "$(warned plain 'executed programs without a dump')" 2
named_only 'a missing dump' plain jit_train_step
equal 'other dumps are used' "$(opcodes "$T/plain.nsx" jit_init_params)" 'fusion '

step=module_0040.jit_train_step.sm_9.0_gpu_after_optimizations.hlo.pb
size=$(wc -c <"$T/plain/dump0/$step")
for part in 1 7 100 $((size / 3)) $((size / 2)) $((size - 3)); do
	head -c "$part" "$T/plain/dump0/$step" >"$T/less/$step"
	with_dumps plain "$T/less" "$T/plain/dump1"
	equal "a dump of $part bytes: status" $? 0
	equal "a dump of $part bytes is reported" "$(warned plain 'r0: program jit_train_step@40: dump not used')" 1
done
equal 'instructions of the other process are used' "$(opcodes "$T/plain.nsx" jit_train_step)" \
	"$(awk -F'\t' '$2 == "jit_train_step" { print $4 }' "$T/plain/answers/insts.tsv" | sort -u | tr '\n' ' ')"
with_dumps plain "$T/less" "$T/less"
named_only 'truncated dumps' plain jit_train_step
echo 'this is no protobuf, but a line of text of some length' >"$T/less/$step"
with_dumps plain "$T/less" "$T/less"
equal 'garbage is reported' "$(warned plain 'jit_train_step@40: dump not used')" 2
named_only garbage plain jit_train_step
: >"$T/less/$step"
with_dumps plain "$T/less" "$T/less"
equal 'an empty dump is reported' "$(warned plain 'jit_train_step@40: dump not used')" 2
rm "$T/less/$step"
head -c 4000 "$T/xz/dump0/$step.xz" >"$T/less/$step.xz"
with_dumps plain "$T/less" "$T/less"
equal 'a truncated .xz is reported' "$(warned plain 'jit_train_step@40: dump not used')" 2
cp "$T/plain/dump0/module_0019.jit_init_params.sm_9.0_gpu_after_optimizations.hlo.pb" "$T/less/$step"
rm "$T/less/$step.xz"
with_dumps plain "$T/less" "$T/less"
equal 'a dump with the name of another is reported' "$(warned plain 'jit_train_step@40: the dump is from another run')" 2

cp "$T/plain/dump0/$step" "$T/less/$step"
cp "$T/plain/dump0/$step" "$T/less/module_0040.jit_train_step.sm_8.0_gpu_after_optimizations.hlo.pb"
with_dumps plain "$T/less" "$T/less"
equal 'two dumps of one program: neither is used' "$(warned plain 'jit_train_step@40: several dumps in')" 2
named_only 'two dumps of one program' plain jit_train_step

fails 'a folder that is not there' 1 "$T/nowhere" nsysx-extract -x "$T/nowhere" "$T/plain/r0.sqlite"
# A place of -x in which it would name nothing's dump.
for misplaced in "$T/plain/r0.sqlite -x $T/plain/dump0" "-x $T/plain/dump0 $T/plain/r0.sqlite --dump=$T/plain/dump1"; do
	# shellcheck disable=SC2086  # words
	fails '-x behind the exports' 2 'no export follows it: want -x DIR EXPORT, such as -x dump0 r0.sqlite -x dump1 r1.sqlite' nsysx-extract $misplaced
done
fails '-x before another' 2 "-x $T/plain/dump0: -x $T/plain/dump1 replaces it before any export" \
	nsysx-extract -x "$T/plain/dump0" -x "$T/plain/dump1" "$T/plain/r0.sqlite" "$T/plain/r1.sqlite"
mkdir "$T/nothing"
with_dumps plain "$T/nothing" "$T/nothing"
equal 'an empty folder: all dumps are reported as missing' "$(warned plain 'executed programs without a dump in')" 2
named_only 'an empty folder' plain jit_init_params
done_testing
