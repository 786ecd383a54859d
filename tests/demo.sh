#!/bin/sh
# demo.sh -- nsysx on a generated training job of two processes; prints every command before it runs it.
set -eu
here=$(cd "${0%/*}" && pwd)
B=$(cd "${B:-build}" && pwd)
PATH=$B/bin:$B/tests/synth:$PATH
LC_ALL=C
export PATH LC_ALL
unset NSYSX_FORMAT

rm -rf "$B/demo"
mkdir -p "$B/demo"
cd "$B/demo"

say() {
	printf '\n%s\n' "$*"
}

# Show a command, then run it and show what it prints. A pipeline's status is its last command's, which is
# enough: a filter refuses a stream that was cut short.
show() {
	printf '  $ %s\n' "$1"
	if ! sh -c "$1" >.printed; then
		echo "demo: that failed" >&2
		exit 1
	fi
	sed 's/^/    /' .printed
}

echo "nsysx: what a GPU did, from Nsight Systems profiles of JAX programs"

say "1. A profile to look at: two processes, one GPU each, a few training steps, and the HLO dumps of each
   process. (Yours come from 'nsys profile', 'nsys export --type=sqlite' and
   XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_as_proto'.)"
show 'nsysx-synth -o .'
show 'ls -s --block-size=K *.sqlite dump0/*after_opt*'

say "2. What ran on the GPUs, as a stream of text lines, without the first, slow executions,
   and with what of communication is hidden behind computation:"
show 'nsysx-extract -q -x dump0 r0.sqlite -x dump1 r1.sqlite | nsysx-warmup | nsysx-overlap > steady.nsysx'
show "grep -m 3 '^thunk' steady.nsysx"

say "3. Its columns have names; here are those of a thunk, one executed instruction of a program:"
show "grep '^#thunk' steady.nsysx | tr '\\t' ' '"

say "4. GPU time by module, in ms. One line of awk over the stream is enough:"
show "awk -F'\\t' '\$1 == \"module\" { n[\$11]++; t[\$11] += \$7 } END { for (m in t) printf \"%10.3f ms %5d times  %s\\n\", t[m] / 1e6, n[m], m }' steady.nsysx | sort -rn"

say "5. The operations that take longest, over both GPUs:"
show "awk -F'\\t' '\$1 == \"thunk\" { n[\$8]++; t[\$8] += \$10 } END { for (o in t) printf \"%10.3f ms %5d times  %s\\n\", t[o] / 1e6, n[o], o }' steady.nsysx | sort -rn | head"

say "6. The same by the lines of source that they come from, which the dumps tell: folded stacks, ready for a
   flame graph. Here those with the most time, of each its innermost line and its operation:"
show 'nsysx-fold -q -o source.folded steady.nsysx'
show "awk -F';' '/:[0-9]+\\[/ { n = \$0; sub(/.* /, \"\", n); sub(/ [0-9]*\$/, \"\"); print n, \$(NF - 1), \$NF }' source.folded | sort -rn | head -n 5"
show 'nsysx-fold -q --by opcode steady.nsysx'
show "nsysx-flame --title 'By source line' -o source.svg source.folded && ls source.svg"

say "7. One kind as a plain table, for sort, join, a spreadsheet or a database:"
show 'nsysx-view -t device steady.nsysx'

say "8. All of this and more as a page, which 'make' keeps up to date:"
shared=$here/../../shared/data/pax
if [ -e "$shared/p0.sqlite.zst" ]; then
	# Four processes of a real job, where they are at hand.
	set -- -o report
	for n in 0 1 2 3; do set -- "$@" -x "$shared/dump$n" "$shared/p$n.sqlite.zst"; done
	nsysx-report -q "$@"
	echo '    a report of four processes of a training job'
else
	show 'nsysx-report -q -o report -x dump0 r0.sqlite -x dump1 r1.sqlite'
fi

say "The files are in ${B}/demo. 'nsysx --help' lists the tools, docs/man has a page for each.
The report: $B/demo/report/index.html"
