#!/bin/sh
# Tables on a terminal: every one fits, reports hidden rows, and is unchanged elsewhere.
. "${0%/*}/../testlib.sh"

python3 -c 'import os, pty; os.waitstatus_to_exitcode' 2>/dev/null || skip_all 'no python3 of 3.9 or later, which makes terminals'
python3 -c 'import pty; pty.openpty()' 2>/dev/null || skip_all 'no terminal can be made here (/dev/pts)'
TERM=xterm NSYSX_PROGRESS=0
export TERM NSYSX_PROGRESS

"$SYNTH" -q -o "$T/job" || exit 1
"$SYNTH" -q --torch -o "$T/torch" || exit 1
extract() {
	nsysx-extract -q --ops --ranges=all --calls "$@" | nsysx-align -q | nsysx-overlap -q
}
extract -x "$T/job/dump0" "$T/job/r0.sqlite" -x "$T/job/dump1" "$T/job/r1.sqlite" >"$T/jax.nsysx" || exit 1
extract "$T/torch/r0.sqlite" "$T/torch/r1.sqlite" >"$T/torch.nsysx" || exit 1
# Names with wide characters, combining marks, and long ones.
sed 's/fusion/融合した計算/g; s/reduce/réduction-e\xcc\x81e\xcc\x81/g; s/train/列車/g; s/step_fn/the_step_function_of_a_model_with_a_very_long_name_indeed/g' \
	"$T/jax.nsysx" >"$T/wide.nsysx"
cd "$T" || exit 1

tables() {
	for by in module thunk opcode collective device total range kernel; do echo "nsysx-summary --by $by $1"; done
	echo "nsysx-summary --variable $1"
	for what in '' --each --explain; do echo "nsysx-steps $what $1"; done
	for by in device module execution every:10ms 'range:.*'; do echo "nsysx-idle --by '$by' $1"; done
	echo "nsysx-idle --verdict $1"
	echo "nsysx-idle --by 'range:.*' --verdict $1"
	echo "nsysx-diagnose --where $1"
	echo "nsysx-idle --list 30 $1"
	for what in kernel range; do echo "nsysx-launch --by $what $1"; done
	for what in '' '--by size' --findings; do echo "nsysx-copies $what $1"; done
	for what in '' --curve --waits --waits=pairs; do echo "nsysx-stragglers $what $1"; done
	for what in '' --critical --critical=op --critical=edge --slack '--slack --each'; do echo "nsysx-whatif $what $1"; done
	for by in range pass phase module process; do echo "nsysx-compile --by $by $1"; done
	for what in --summary --instances --each; do echo "nsysx-collectives $what $1"; done
	for what in '' '--by opcode' '--by op-name' '--by program' --points --peaks; do echo "nsysx-roofline $what $1"; done
	for kind in thunk op range diag device; do echo "nsysx-view -t $kind $1"; done
	for what in '' --stats --list; do echo "nsysx-measure --range 'no such' $what $1"; done
}
{
	for s in jax torch wide; do tables $s.nsysx; done
	for by in thunk module opcode source phase range kernel step device collective axis; do echo "nsysx-compare --by $by jax.nsysx wide.nsysx"; done
	for what in '' --peak --summary --at-peak; do echo "nsysx-heap $what job/dump0"; done
} >commands
python3 "$tests_dir/tools/terminal/fit.py" 20 80 120 200 <commands >told 2>fit.err || cat fit.err
for width in 20 80 120 200; do
	claim="every table at $width columns: no line is wider, what is left out is counted, names keep both ends"
	if [ "$(grep -c " at $width: ok\$" told)" -eq "$(wc -l <commands)" ]; then
		pass "$claim"
	else
		fail "$claim" "$(grep " at $width: " told | grep -v ': ok$' | head -n 5)$(tail -n 1 fit.err)"
	fi
done

on() {
	python3 - "$@" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import fit
sys.stdout.write(fit.on_terminal(sys.argv[4], int(sys.argv[2]), sys.argv[3] or None))
END
}
here=$tests_dir/tools/terminal
make_job late --late-host 60
nsysx-extract -q -a -o late.nsysx "$T/late/r0.sqlite"
equal 'as many gaps as were asked for, of the host too' "$(on "$here" 120 '' 'nsysx-idle -q --by host --list 30 late.nsysx' | grep -c '^ *0 .* 4242$')" 30
t='nsysx-summary -q --by thunk jax.nsysx'
$t --table >piped
on "$here" 80 '' "$t --wide --top 0" >shown
same '--wide and --top 0 print the whole table on a terminal' shown piped
rows=$($t --tsv | tail -n +2 | wc -l)
equal '20 rows without messages, and the number of others' "$(on "$here" 80 '' "$t --wide" | grep -c '^[0-9]') $(on "$here" 80 '' "$t" | grep -c "^\.\.\. and $((rows - 20)) more ([0-9.]*% of module time): --top 0\$")" '20 1'
header() { on "$here" 80 '' "$1" | sed -n 1p | tr -s ' ' '\n'; }
equal 'launch keeps the column of its order' "$(header 'nsysx-launch torch.nsysx' | grep -cx starved)" 1
equal 'steps keep medians, computation and communication' "$(header 'nsysx-steps torch.nsysx' | grep -cx -e period_p50 -e compute_mean -e exposed_mean)" 3
equal 'and p99, also beside a long name' "$(header "nsysx-steps --step 'ProfilerStep#[0-9]' torch.nsysx" | grep -cx -e period_p50 -e period_p99 -e exposed_mean)" 3
equal 'what made a step longer keeps both times' "$(header 'nsysx-steps --explain torch.nsysx' | grep -cx -e name -e base -e new -e delta)" 4
equal 'each step keeps the time between' "$(header 'nsysx-steps --each torch.nsysx' | grep -cx between)" 1
equal 'kernels keep their type, to which shares refer' "$(header 'nsysx-summary --by kernel torch.nsysx' | grep -cx type)" 1
equal 'copies keep their mode and how much is hidden' "$(header 'nsysx-copies torch.nsysx' | grep -cx -e mode -e hidden_share)" 2
equal 'of size too their count' "$(header 'nsysx-copies --by size torch.nsysx' | grep -cx -e bucket -e mode -e count)" 3
equal 'findings about copies keep their start' "$(header 'nsysx-copies --findings torch.nsysx' | grep -cx -e device -e start)" 2
equal 'memory keeps the program' "$(header 'nsysx-heap --summary job/dump0' | grep -cx id) $(header 'nsysx-heap --at-peak job/dump0' | grep -cx id)" '1 1'
equal 'compiled programs keep their key, longest and mean' "$(header 'nsysx-compile --by module jax.nsysx' | grep -cx -e key -e mean -e max)" 3
equal 'times of operations keep all digits' "$(on "$here" 80 '' 'nsysx-measure --module jit_train_step --list jax.nsysx' | awk 'NR == 2 { print $(NF - 3), $(NF - 2) }')" \
	"$(nsysx-measure --module jit_train_step --list --tsv jax.nsysx | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "start") c = i } NR == 2 { printf "%d.%09d s", $c / 1e9, $c % 1e9 }')"
equal 'gaps keep the stack' "$(header 'nsysx-idle --list 9 torch.nsysx' | grep -cx stack)" 1
equal '--top 3' "$(on "$here" 80 '' "$t --wide --top 3" | grep -c '^[0-9]')" 3
equal 'a terminal of unknown width uses COLUMNS' "$(on "$here" 0 100 "$t")" "$(on "$here" 100 '' "$t")"
equal '... or 80 columns' "$(on "$here" 0 '' "$t")" "$(on "$here" 80 '' "$t")"
equal 'COLUMNS does not override the width of a terminal' "$(on "$here" 80 200 "$t")" "$(on "$here" 80 '' "$t")"
on "$here" 80 '' "$t --table -o file" >shown
same 'a file gets the whole table, also with a terminal' file piped
equal 'a pipe gets all rows' "$(COLUMNS=40 $t --table | cmp - piped && echo same)" same
equal '--top cuts TSV' "$($t --tsv --top 3)" "$($t --tsv | head -n 4)"
equal 'and JSON' "$($t --json --top 2 | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')" 2
equal '... aligned tables, with a note' "$($t --table --top 2 | sed -n '4p')" "... and $((rows - 2)) more ($($t --tsv | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "share") c = i; next }
	NR <= 3 { shown += $c } END { printf "%.1f%%", 100 * (1 - shown) }') of module time): --top 0"
equal '--top 0: all rows' "$($t --tsv --top 0 | cksum)" "$($t --tsv | cksum)"
alike 'records of a kind: the first rows' "$(nsysx-view -t thunk --top 3 jax.nsysx)" "$(nsysx-view -t thunk jax.nsysx | head -n 4)"
# Other texts fit too. Words and commands are not broken.
widest() { python3 "$here/narrow.py" "$@"; }
for width in 20 40 51 80; do
	equal "the first screen of nsysx-diagnose at $width columns" "$(widest $width 'nsysx-diagnose -q jax.nsysx')" ''
	equal "nsysx-compile --summary at $width columns" "$(widest $width 'nsysx-compile -q --summary jax.nsysx')" ''
	equal "--help at $width columns" "$(widest $width 'nsysx-idle --help' | grep -v '^ *[^ ]*$')" ''
done
on "$here" 40 '' 'nsysx-diagnose -q jax.nsysx' | sed -n -e ':a' -e '/ \\$/{N;s/ \\\n */ /;ba' -e '}' -e 's/^ *\$ //p' >folded
nsysx-diagnose -q --table jax.nsysx | sed -n 's/^ *\$ //p' >whole
same 'folded commands are unchanged otherwise' folded whole
equal 'names shortened by nsysx-compile --summary keep both ends' "$(on "$here" 40 '' 'nsysx-compile -q --summary jax.nsysx' | grep -c '^Compilation: TSL:.*\.\..*#: [0-9.]*$')" "$(nsysx-compile -q --summary jax.nsysx | grep -c ^Compilation)"
on "$here" 40 '' 'nsysx-compile -q --summary --wide jax.nsysx' >shown
nsysx-compile -q --summary jax.nsysx >whole
same '... --wide prints them completely' shown whole

# Messages are folded between words on a terminal, and are one line elsewhere.
message='nsysx-steps -qq --module no_such_module --step "one two three four" jax.nsysx'
sh -c "$message" 2>whole
on "$here" 50 '' "$message 2>&1 || true" >folded
equal 'messages fit the terminal' "$(awk 'length > 50' folded)" ''
equal '... unchanged except line ends' "$(tr -s ' \n' ' ' <folded)" "$(tr -s ' \n' ' ' <whole)"
equal '... with indented continuation lines' "$(grep -c -v -e '^nsysx-steps: ' -e '^usage: ' -e '^    [^ ]' folded)" 0
equal 'in a pipe each message is a line' "$(wc -l <whole)" 2
fails '--top with a stream' 2 '--top and --wide go with --table' nsysx-view --top 3 jax.nsysx
fails '--top -1' 2 '--top: want a whole number' nsysx-summary --top=-1 jax.nsysx

# The line about hidden rows has their share of the column that adds up, counted again from TSV; where shares of a whole
# are known, what is left of it.
"$SYNTH" -o calls --nccl --schema=3.24.14 && nsysx-extract -q --ops calls/r0.sqlite >calls.nsysx
while read -r column command; do
	want=$($command --tsv 2>null | awk -F'\t' -v column="$column" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) c = i; next }
		{ all += $c; if (NR > 2) rest += $c }
		END { if (NR > 2) printf "... and %d more (%.1f%% of %s)", NR - 2, 100 * (column == "share" ? 1 - (all - rest) : rest / all), column == "share" ? "module time" : column }')
	[ "$column" = ns ] && want=$(printf '%s' "$want" | sed 's/of ns)$/of time)/')   # as it is headed
	equal "the share of hidden rows, of $column: $command" "$($command --table --top 1 2>null | grep -o '^[.][.][.] and .* more (.*)' | tr -d ,)" "$want"
	[ -n "$want" ] || fail "$command has rows to leave out" '' ''
done <<'END'
total nsysx-summary -q --by collective jax.nsysx
share nsysx-summary -q --by source jax.nsysx
share nsysx-summary -q --by thunk jax.nsysx
transfer nsysx-collectives -q --instances calls.nsysx
dur nsysx-collectives -q --each calls.nsysx
ns nsysx-idle -q jax.nsysx
kernels nsysx-measure -q --module jit_train_step jax.nsysx
dur nsysx-measure -q --module jit_train_step --list jax.nsysx
END
# A dump is not typed: without an operand a terminal is no input.
python3 -c 'import pty; pty.spawn(["timeout", "10", "sh", "-c", "nsysx-heap --summary; echo status $?"])' </dev/null >typed 2>&1
equal 'nsysx-heap does not wait for a dump from a terminal' "$(grep -c 'which DUMP' typed) $(tr -d '\r' <typed | grep '^status')" '1 status 2'
# ---- many devices: their rows are summed for people, and their verdicts counted

"$SYNTH" -q --torch -o "$T/many" --processes 24 --racks 3 --late-rack 1:2000000 --steps 5 --layers 1
nsysx-prepare -q -o many.nsysx "$T"/many/r*.sqlite
nsysx-idle -q --tsv many.nsysx >each.tsv
on "$here" 200 '' 'nsysx-idle -q many.nsysx' >shown
equal '24 devices: a screen, not a row for each' "$(grep -c '^0-23 ' shown) $(grep -c '^ *0 ' shown) $([ "$(wc -l <shown)" -lt 25 ]; echo $?)" "$(cut -f 2,4 each.tsv | tail -n +2 | sort -u | wc -l | tr -d ' ') 0 0"
# Sums are those of the rows of all devices: of each part, in us.
awk -F'\t' 'NR > 1 { k = $2 " " ($4 == "" ? "-" : $4); if (!(k in ns)) order[++n] = k; ns[k] += $5 } END { for (i = 1; i <= n; i++) printf "%s %.0f\n", order[i], ns[order[i]] / 1000 }' each.tsv | sort >want
awk '$2 == 24 { printf "%s %s %.0f\n", $4, $6, $7 * ($8 == "s" ? 1e6 : $8 == "ms" ? 1000 : $8 == "ns" ? 0.001 : 1) }' shown | sort >got
equal '... with the sum of each part over devices' "$(awk 'NR == FNR { want[$1 " " $2] = $3; n++; next } { d = want[$1 " " $2] - $3; if (d * d > 1 + (0.002 * $3) ^ 2) print; m++ } END { print (n > 4 && n == m) }' want got)" 1
equal '... the devices of each verdict, 8 being late' "$(grep -c '^8 of 24 devices are \(host-bound\|compute-bound and losing most to the host\); ' shown) $(grep -c '^16 of 24 devices are ' shown) $(grep -c ' idle time in which the host had not launched' shown)" '1 1 1'
ok '... and how to get all' grep -q -e '--top 0 prints the rows of each' shown
on "$here" 120 '' 'nsysx-idle -q --top 0 many.nsysx' >all
equal '... which it does' "$(grep -c '^ *[0-9]* *compute ' all)" 24
equal 'a pipe gets all in any case' "$(nsysx-idle -q many.nsysx | cut -f 1 | sort -u | wc -l | tr -d ' ') $(nsysx-idle -q --table many.nsysx | grep -c '^ *[0-9]* *compute ')" '25 24'
on "$here" 120 '' 'nsysx-idle -q torch.nsysx' >few
equal 'rows of a few devices are as they were' "$(grep -c '^device [01] is ' few) $(grep -c 'all devices' few)" '2 0'
done_testing
