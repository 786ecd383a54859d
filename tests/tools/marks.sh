#!/bin/sh
# Marks in the stream: instances and waits of collectives (nsysx-collectives), steps (nsysx-steps --mark), idle time (nsysx-idle
# --mark). What they say is held by agree.sh; here: that they go through every encoding and tool, replace marks that come in, and are
# removed where they would be wrong.
. "${0%/*}/../testlib.sh"
. "${0%/*}/../comparelib.sh"

mark() { nsysx-collectives -q -b "$1" | nsysx-steps -q -b --mark | nsysx-idle -q -b --mark; }
records() { nsysx-view -q "$1" | grep -v '^#*end\|^#*diag' ; }
kinds() { nsysx-view -q "$1" | awk -F'\t' '$1 == "step" || $1 == "idle" { n[$1]++ } $1 == "collective" && $21 != "" { n[$1]++ } END { print n["collective"] + 0, n["step"] + 0, n["idle"] + 0 }'; }

for options in '--processes 2 --devices 2 --steps 6' '--torch --processes 2 --steps 8' '--nccl --schema 3.24.14 --processes 3 --steps 5' '--graphs --processes 2'; do
	rm -rf "$T/job"
	# shellcheck disable=SC2086 # options are words
	make_job job $options
	with_exports job nsysx-extract -q -a -b | nsysx-align -q -b | nsysx-overlap -q -b -o "$T/s"
	mark "$T/s" >"$T/m"
	mark "$T/m" >"$T/mm"
	records "$T/m" >"$T/m.text"
	records "$T/mm" >"$T/mm.text"
	same "$options: marks that come in are replaced by the same" "$T/m.text" "$T/mm.text"
	nsysx-view -q "$T/m" >"$T/text"
	nsysx-view -q -b "$T/text" >"$T/back"
	nsysx-view -q "$T/back" >"$T/text2"
	same "$options: text and binary have the same marks" "$T/text" "$T/text2"
	nsysx-view -q "$T/s" | nsysx-collectives -q | nsysx-steps -q --mark | nsysx-idle -q --mark | grep -v '^#*end\|^#*diag' >"$T/piped"
	nsysx-view -q "$T/m" | grep -v '^#*end\|^#*diag' >"$T/want"
	same "$options: marks of text are those of binary" "$T/piped" "$T/want"
	nsysx-merge -q -b -o "$T/one" "$T/m"
	equal "$options: a merge of one stream keeps marks" "$(kinds "$T/one")" "$(kinds "$T/m")"
	nsysx-align -q -b -o "$T/still" "$T/m"
	equal "$options: an alignment that changes nothing keeps marks" "$(kinds "$T/still")" "$(kinds "$T/m")"
	for table in 'steps' 'steps --each' 'idle --steps' 'idle' 'idle --by step' 'idle --by module' 'idle --by execution' 'idle --by every:1ms' \
		'idle --by range:.' 'idle --all --zeros' 'idle --cause launch-starved' 'idle --drained --steps' 'idle --latency 1us' 'idle --list 9' \
		'idle --verdict' 'diagnose --where' 'summary --by module' 'collectives --summary' 'stragglers --waits'; do
		# shellcheck disable=SC2086 # words
		run sh -c "nsysx-$table -q --tsv $T/s >$T/without; nsysx-$table -q --tsv $T/m >$T/with"
		same "$options: nsysx-$table says the same with marks" "$T/with" "$T/without"
	done
done

# Marks of lengths below 0 or beyond 73 years, which no tool writes.
nsysx-view -q "$T/m" | awk -F'\t' -v OFS='\t' '/^#step/ { for (i = 2; i <= NF; i++) if ($i == "period:i") p = i } $1 == "step" && $p != "" && !n++ { $p = -1000 } 1' >"$T/negative"
nsysx-steps --each --tsv "$T/negative" >"$T/got" 2>"$T/err"
nsysx-steps -q --each --tsv "$T/m" >"$T/want"
equal 'a mark of a step whose period is below 0 is none, and is counted' "$(grep -c -- '-1000' "$T/got") $(($(wc -l <"$T/want") - $(wc -l <"$T/got"))) $(grep -c 'period below 0 or beyond 73 years: ignored$' "$T/err")" '0 1 1'
sed 's/-1000/9000000000000000000/' "$T/negative" | nsysx-steps --each --tsv >"$T/got2" 2>"$T/err"
same '... as is one of centuries' "$T/got" "$T/got2"

# Two processes, each marked alone: together their waits are others, and the numbers of instances would mean two things.
make_job two --processes 2 --steps 4 --offset 2000000
for p in 0 1; do
	nsysx-extract -q -a -b -x "$T/two/dump$p" "$T/two/r$p.sqlite" | nsysx-overlap -q -b >"$T/p$p"
	mark "$T/p$p" >"$T/m$p"
done
says 'a merge of several streams says that it removes marks' 'marks of steps and of idle time are removed' \
	nsysx-merge -v -b -o "$T/merged" "$T/m0" "$T/m1"
equal 'and does' "$(kinds "$T/merged")" '0 0 0'
nsysx-merge -q -b -o "$T/plain" "$T/p0" "$T/p1"
mark "$T/merged" >"$T/a"
mark "$T/plain" >"$T/b"
records "$T/a" >"$T/a.text"
records "$T/b" >"$T/b.text"
same 'marks that are made again are those of streams never marked' "$T/a.text" "$T/b.text"
says 'so does an alignment that moves times' 'records of collectives, with their waits, are removed' nsysx-align -v -b -o "$T/moved" "$T/b"
equal 'of all kinds' "$(kinds "$T/moved")" '0 0 0'

# Without marks what was cut away looks like idle time.
lost='warning: marks of steps of a stream that nsysx-steps --cut made are removed'
for p in 0 1; do nsysx-steps -q --cut -b -o "$T/c$p" "$T/p$p"; done
says 'a merge of several streams warns of the marks of one that was cut' "$lost" nsysx-merge -b -o "$T/merged" "$T/c0" "$T/c1"
equal '... and the stream does' "$(nsysx-view -q --partial -t diag "$T/merged" | grep -c 'warning.*nsysx-merge.*cut last')" 1
ok 'of one stream it keeps them' sh -c '! nsysx-merge -b -o "$1/one" "$1/c0" 2>&1 | grep "cut last"' sh "$T"
nsysx-steps -q --cut -b -o "$T/c" "$T/plain"
says 'so does an alignment that moves times' "$lost" nsysx-align -b -o "$T/moved" "$T/c"
says 'and warm-up' "$lost" nsysx-warmup -b -o "$T/steady" "$T/c"
ok 'cut last: no warning' sh -c 'nsysx-align -q -b "$1/plain" | nsysx-warmup -q -b | nsysx-steps --cut -b -o "$1/last" 2>"$1/err"; ! grep "cut last" "$1/err"' sh "$T"
# It counts them all, also in blocks of which it decodes only what it looks at.
{
	printf '#nsysx\t2\n#device\tdevice:i\tprofile:i\n#program\tprogram:i\tid:i\tname:s\tkey:s\n#module\tdevice:i\tprogram:i\texecution:i\tstart:i\tdur:i\n'
	printf '#op\tdevice:i\tstream:i\ttype:s\tname:s\tstart:i\tdur:i\tprogram:i\texecution:i\n'
	printf 'device\t0\t0\nprogram\t0\t7\tm\tm@7\n'
	awk 'BEGIN { for (i = 0; i < 12001; i++) printf "module\t0\t0\t%d\t%d\t90\nop\t0\t1\tkernel\tk\t%d\t50\t0\t%d\n", i, 1000 * i, 1000 * i, i }'
	printf '#end\trecords:i\nend\t24004\n'
} >"$T/long"
for form in --text -b; do
	nsysx-steps -q --cut $form -o "$T/c" "$T/long"
	equal "as many as there are, nsysx-steps $form" "$(nsysx-warmup -q -b "$T/c" | nsysx-view -q | awk -F'\t' '$1 == "diag" && /cut last/ { print $NF }')" 12000
done

# Marks that were made with first executions are wrong without them: steps of before would be counted.
make_job first --processes 2 --steps 5
nsysx-extract -q -a -b -x "$T/first/dump0" "$T/first/r0.sqlite" -x "$T/first/dump1" "$T/first/r1.sqlite" | nsysx-align -q -b | nsysx-overlap -q -b >"$T/raw"
mark "$T/raw" >"$T/early"
says 'warm-up says that it removes marks' 'marks of steps and of idle time are removed' nsysx-warmup -v -b -o "$T/steady" "$T/early"
nsysx-warmup -q -b -o "$T/plain" "$T/raw"
for kind in module thunk op call; do
	ok "a stream without its warm-up has records of the kind $kind, wherever in a block they begin" nsysx-steps -q --require $kind -o "$T/none" "$T/plain"
done
for table in 'steps --each' 'idle --steps' 'diagnose --where'; do
	# shellcheck disable=SC2086 # words
	run sh -c "nsysx-$table -q --tsv $T/plain >$T/without; nsysx-$table -q --tsv $T/steady >$T/with"
	same "after warm-up nsysx-$table says the same of a stream that was marked before" "$T/with" "$T/without"
done
equal 'waits stay' "$(kinds "$T/steady" | cut -d ' ' -f 2,3) $([ "$(kinds "$T/steady" | cut -d ' ' -f 1)" -gt 0 ] && echo waits)" '0 0 waits'

# Tables of idle time are sums of the marks: of others they say others. Where marks do not fit the operations, they are not used.
make_job host --torch --processes 2 --steps 8 --plant blocking
with_exports host nsysx-extract -q -a -b | nsysx-align -q -b >"$T/s"
mark "$T/s" >"$T/b"
nsysx-view -q "$T/b" >"$T/b.txt"
causes() { nsysx-idle -q --tsv "$@" | columns cause,ns | awk '$1 != "-" { n[$1] += $2 } END { for (c in n) print c, n[c] }' | sort; }
idle() { awk -F'\t' -v OFS='\t' "$2" "$T/b.txt" >"$T/$1.txt"; }
idle other '$1 == "idle" && $6 == "launch" { $6 = "alloc" } { print }'
causes "$T/b" >"$T/truth"
awk '$1 == "launch" || $1 == "alloc" { n += $2; next } { print } END { if (n) print "alloc", n }' "$T/truth" | sort >"$T/want"
causes "$T/other.txt" >"$T/got"
same 'a table is the sum of the marks' "$T/got" "$T/want"
ok 'which have launches here' grep -q '^launch ' "$T/truth"
causes --by every:1ms "$T/other.txt" >"$T/got"
same 'by time, too' "$T/got" "$T/want"
causes --steps "$T/b" | awk '$1 == "launch" || $1 == "alloc" { n += $2; next } { print } END { if (n) print "alloc", n }' | sort >"$T/want"
causes --steps "$T/other.txt" >"$T/got"
same 'and of steps' "$T/got" "$T/want"
nsysx-idle -q --tsv "$T/b" >"$T/table"
idle gone '$1 == "idle" && ++n == 20 { next } { print }'
nsysx-idle -q --tsv "$T/gone.txt" >"$T/got"
same 'without one of them it is made without them' "$T/got" "$T/table"
idle moved '$1 == "idle" && ++n == 20 && $5 > 1 { $5-- } { print }'
nsysx-idle -q --tsv "$T/moved.txt" >"$T/got"
same 'and where one does not fill its gap' "$T/got" "$T/table"
# Of a binary file, too, whose records come many at once: whichever mark is missing.
for k in $(seq 1 21 440); do
	idle late '$1 == "idle" && ++n == '"$k"' { next } { print }'
	nsysx-view -q -b -o "$T/late.bin" "$T/late.txt"
	nsysx-idle -q --tsv "$T/late.bin" 2>/dev/null | cmp -s - "$T/table" || echo "$k"
done >"$T/misfits"
equal 'and in a binary file' "$(cat "$T/misfits")" ''
idle old '$1 == "#idle" || $1 == "idle" { NF -= 3 } { print }'
nsysx-idle -q --tsv "$T/old.txt" >"$T/got"
same 'and where they do not say how much of a gap is blocked' "$T/got" "$T/table"
nsysx-idle -q --tsv - <"$T/other.txt" >"$T/redirected"
nsysx-view -q "$T/other.txt" | nsysx-idle -q --tsv >"$T/got"
same 'a pipe is not read twice: its marks are not used' "$T/got" "$T/table"

# Verdicts, lists and the diagnosis take stacks from the marks, but from those that have a path each, and fit.
idle named '$1 == "idle" { if ($14 != "-") $14 = "renamed;" $14; $15 = "leaf" } { print }'
equal 'a list has the paths and the leaves of the marks' \
	"$(nsysx-idle -q --tsv --list 50 "$T/named.txt" | columns stack | sed -e 1d -e 's/^renamed;.*;leaf$/renamed/' -e 's/^leaf$/renamed/' | sort -u)" renamed
diagnosis() {
	cp "$1" "$T/diagnosed" && nsysx-diagnose -q --all --gaps 9 -o "$T/all.%" "$T/diagnosed" && cat "$T"/all.*
}
diagnosis "$T/s" >"$T/want"
diagnosis "$T/b" >"$T/got"
same 'a diagnosis is the same with marks' "$T/got" "$T/want"
ok 'and of idle time' grep -q 'idle:range' "$T/want"
diagnosis "$T/named.txt" >"$T/renamed"
ok 'whose places are those of the marks' grep -q 'renamed;' "$T/renamed"
idle pathless '$1 == "#idle" || $1 == "idle" { NF -= 2 } { print }'
idle partly '$1 == "idle" && ++n > 20 { $14 = "" } { print }'
for marks in gone moved old pathless partly; do
	diagnosis "$T/$marks.txt" >"$T/got"
	same "marks that are $marks are not used for it" "$T/got" "$T/want"
done
nsysx-idle -q --tsv --verdict "$T/s" >"$T/want"
nsysx-idle -q --tsv --verdict "$T/partly.txt" >"$T/got"
same 'nor for verdicts' "$T/got" "$T/want"

idle blocked '$1 == "idle" && $7 == 1 { d += $5; n += $13 } END { print d, n, (n > 0 && n < d) }'
equal 'marks add up to what is drained and blocked' "$(tr "\t" " " <"$T/blocked.txt")" \
	"$(columns drained,blocked <"$T/table" | awk 'NR > 1 { d += $1; b += $2 } END { print d, b, 1 }')"
nsysx-steps -q --cut --text -o "$T/cut.m" "$T/b"
nsysx-view -q "$T/cut.m" | awk -F'\t' '$1 != "idle" && $1 != "#idle"' >"$T/cut.u"
for table in idle 'idle --steps' 'idle --by step'; do
	# shellcheck disable=SC2086 # words
	run sh -c "nsysx-$table -q --tsv $T/cut.u >$T/without; nsysx-$table -q --tsv $T/cut.m >$T/with"
	same "of steps that were cut out nsysx-$table says the same with marks" "$T/with" "$T/without"
done
# The first gap is one of which a part was cut away. These marks have a cause that nothing else shows.
(. "$tests_dir/streamlib.sh"; stream) >"$T/periods" <<'END_STREAM'
#profile profile:i name:s
#device profile:i device:i process:i
#step profile:i device:i class:s step:i start:i dur:i period:i cut:i
#call profile:i call:i pid:i tid:i start:i dur:i name:s class:s ops:i
#op profile:i op:i type:s name:s device:i stream:i start:i dur:i call:i tid:i host_start:i host_dur:i
profile 7 r
device 7 0 1
op 7 1 kernel a 0 0 10 60 - - - -
step 7 0 m 0 10 60 100 1
call 7 3 1 5 2960 2 cudaLaunchKernel launch 1
step 7 0 m 2 3000 60 2000 1
op 7 2 kernel b 0 0 3020 40 3 5 2960 2
END_STREAM
nsysx-idle -q --mark "$T/periods" | awk -F'\t' -v OFS='\t' '$1 == "idle" && $6 == "latency" { $6 = "queue-full" } 1' >"$T/periods.m"
equal 'marks are found where its first gap was cut' "$(nsysx-idle -q --tsv "$T/periods.m" | columns cause,ns | awk '$1 == "queue-full" { print $2 }')" 20

# Whether a stream has marks is seen in its beginning, which is long where devices are many. These marks have a cause that nothing else shows.
make_job few --processes 2 --steps 4
with_exports few nsysx-extract -q -a -b | nsysx-overlap -q -b -o "$T/s"
mark "$T/s" | nsysx-view -q | awk -F'\t' -v OFS='\t' '
	last == "device" && $1 != "device" { for (d = 1000; d < 13000; d++) { s = "device\t" d; for (i = 3; i <= columns; i++) s = s "\t"; print s; n++ } }
	{ last = $1 }
	$1 == "device" { columns = NF }
	$1 == "#idle" { for (i = 1; i <= NF; i++) if ($i == "cause:s") cause = i }
	$1 == "idle" { $cause = "queue-full" }
	$1 == "end" { $2 = n }
	!/^#/ { n++ }
	{ print }' >"$T/many"
equal 'marks are found behind the metadata of thousands of devices' \
	"$(nsysx-idle -q --tsv "$T/many" | columns cause | sed 1d | grep -v '^-' | sort -u)" queue-full

fails 'marks go with no option of the tables' 2 '--mark marks all idle time' nsysx-idle --mark --by module "$T/b"
fails '--require holds for marks, too' 1 'no module record' sh -c "nsysx-view -q -k profile,device,op,call $T/b | nsysx-idle -q --mark --require module -o $T/none"
# Two classes of steps that alternate, of which one is long and has a step of the other in most periods: which class is meant, and what is said of
# the other, is in the marks, too.
awk 'BEGIN {
	OFS = "\t"
	print "#nsysx", 2
	print "#device", "device:i", "profile:i", "pid:i"
	print "#range", "profile:i", "range:i", "pid:i", "tid:i", "device:i", "name:s", "start:i", "dur:i", "host_start:i", "host_dur:i", "ops:i"
	print "#call", "profile:i", "call:i", "pid:i", "tid:i", "start:i", "dur:i", "name:s", "class:s", "ops:i", "range:i"
	print "#op", "profile:i", "op:i", "type:s", "device:i", "stream:i", "name:s", "start:i", "dur:i", "range:i", "call:i", "tid:i", "host_start:i", "host_dur:i"
	print "device", 0, 0, 1
	for (i = 1; i <= 60; i++) {
		long = i <= 14 && i % 2; t = 10000 * i; dur = long ? 3000 : 100
		print "range", 0, i, 1, 1, 0, long ? "alpha" : "beta", t + 5, dur, t, 10, 1
		print "call", 0, i, 1, 1, t + 1, 2, "cudaLaunchKernel", "launch", 1, i
		print "op", 0, i, "kernel", 0, 7, "k", t + 5, dur, i, i, 1, t + 1, 2
	}
	print "#end", "records:i"
	print "end", 181
}' >"$T/classes"
nsysx-steps -q --mark --step '(alpha|beta)' "$T/classes" | nsysx-idle -q --mark -o "$T/classes.m"
for table in 'idle --steps' 'diagnose --where' 'steps' 'whatif'; do
	# shellcheck disable=SC2086 # words
	for side in without with; do
		if [ $side = with ]; then cp "$T/classes.m" "$T/seen"; else cp "$T/classes" "$T/seen"; fi
		nsysx-$table --tsv --step '(alpha|beta)' "$T/seen" >"$T/$side" 2>&1
	done
	same "two classes: nsysx-$table says the same with marks" "$T/with" "$T/without"
done
equal 'the marks name the class of the step between' "$(nsysx-view -q -t step --tsv "$T/classes.m" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["other"] != "" { n[$at["class"] "<" $at["other"]]++ } END { for (k in n) print k }' | sort | tr '\n' ' ')" 'alpha<beta beta<alpha '

# Marks of another latency have no stacks: who takes these reads all again.
nsysx-idle -q --mark --latency 100 -o "$T/soon" "$T/s"
equal 'marks of another latency have no stacks' "$(nsysx-view -q -t idle --tsv "$T/soon" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "path") at = i; next } at && $at != "" { n++ } END { print n + 0 }')" 0
diagnosis "$T/s" >"$T/want"
diagnosis "$T/soon" >"$T/got"
same '... and the diagnosis is that of the usual one' "$T/want" "$T/got"

# Steps are taken from marks; that operations are in order is still looked at.
nsysx-view -q "$T/m" | awk '$1 == "op" && ++n == 20 { held = $0; next } { print } n == 60 && held != "" { print held; held = "" }' >"$T/late"
fails 'operations out of order, with marks' 1 'out of order' nsysx-diagnose "$T/late"
# Ranges come as columns, of which only the times are looked at.
nsysx-view -q "$T/m" | awk '$1 == "range" && ++n == 20 { held = $0; next } { print } n == 60 && held != "" { print held; held = "" }' >"$T/late"
nsysx-view -q -b -o "$T/late.b" "$T/late"
fails 'ranges out of order, with marks' 1 'out of order' nsysx-diagnose "$T/late"
fails '... and in columns' 1 'out of order: range at' nsysx-diagnose "$T/late.b"
equal '... at the same record as one by one' "$(nsysx-diagnose "$T/late.b" 2>&1 | sed 's/^.*: record [0-9]*: //')" "$(nsysx-diagnose "$T/late" 2>&1 | sed 's/^[^:]*: [^:]*:[0-9]*: //')"
nsysx-view -q "$T/m" | awk -F'\t' -v OFS='\t' '$1 == "#range" { for (i = 2; i <= NF; i++) if ($i ~ /^host_dur:/) at = i } $1 == "range" && ++n <= 3 { $at = "9000000000000000000" } 1' >"$T/far"
nsysx-view -q -b -o "$T/far.b" "$T/far"
for f in far far.b; do
	equal "ranges beyond reach are told of, $f" "$(nsysx-diagnose "$T/$f" 2>&1 >"$T/null" | grep -c 'beyond 73 years.*(3)')" 1
done

# What the host's nesting hid is told again by who reads the marks.
awk 'BEGIN {
	OFS = "\t"
	print "#nsysx", 2
	print "#device", "device:i", "profile:i", "pid:i"
	print "#range", "profile:i", "range:i", "pid:i", "tid:i", "device:i", "name:s", "start:i", "dur:i", "host_start:i", "host_dur:i", "ops:i"
	print "#call", "profile:i", "call:i", "pid:i", "tid:i", "start:i", "dur:i", "name:s", "class:s", "ops:i"
	print "#op", "profile:i", "op:i", "type:s", "device:i", "stream:i", "name:s", "start:i", "dur:i", "call:i", "tid:i", "host_start:i", "host_dur:i"
	print "device", 0, 0, 1
	print "call", 0, 1, 1, 1, 50, 10, "cudaLaunchKernel", "launch", 1
	print "op", 0, 1, "kernel", 0, 7, "k", 100, 100, 1, 1, 50, 10
	for (i = 1; i <= 5000; i++)
		print "range", 0, i, 1, 1, "", "r" i, "", "", 1000 + i, 20000 - 2 * i, 0
	print "call", 0, 2, 1, 1, 30200, 5, "cudaLaunchKernel", "launch", 1
	print "op", 0, 2, "kernel", 0, 7, "k", 30210, 100, 2, 1, 30200, 5
	print "#end", "records:i"
	print "end", 5005
}' >"$T/deep"
nsysx-idle -q --mark -o "$T/deep.m" "$T/deep"
nsysx-idle -q --mark -o "$T/deep.mm" "$T/deep.m"
for tool in idle diagnose; do
	for f in deep deep.m deep.mm; do
		equal "nsysx-$tool says how many were nested too deep, $f" "$(nsysx-$tool "$T/$f" 2>&1 >"$T/null" | grep -c 'nested thousands deep.*(904)')" 1
	done
done

done_testing
