#!/bin/sh
# nsysx-compare --history: a row for each of many runs, in the order of time, whose values are computed again here.
. "${0%/*}/../testlib.sh"
. "${0%/*}/../comparelib.sh"

# A table of nsysx-steps --each: for each CLASS=PERIODS, ns, a step of each period and a last one without.
steps() {
	printf 'class\tdevice\tstep\tspan\tperiod\tcompute\texposed\tcopy\tidle\tkept\n'
	for of; do
		echo "$of" | awk -v OFS='\t' '{
			class = $1; sub(/=.*/, "", class); sub(/^[^=]*=/, "")
			for (i = 1; i <= NF; i++) print class, 0, i - 1, 40, $i, 30, 20, 10, $i - 60, 1
			print class, 0, NF, 40, "", "", "", "", "", 0
		}'
	done
}
history() { (cd "$T" && nsysx-compare --history "$@" 2>"$T/said" | tr -d '\r'); }
mkdir "$T/in"
steps 'train@7=100 110 120 190' >"$T/2026-03-02.tsv"
steps 'train@9=200 200 230' >"$T/2026-03-01.tsv"
head='time,run,train:period,train:period_p50,train:period_p99,train:compute,train:exposed,train:copy,train:idle,train:span'
equal 'means, median and p99 of the runs, in the order of time' "$(history 2026-03-02.tsv 2026-03-01.tsv)" "$head
2026-03-01T00:00:00Z,2026-03-01.tsv,210,200,230,30,20,10,150,40
2026-03-02T00:00:00Z,2026-03-02.tsv,130,110,190,30,20,10,70,40"
equal 'without anything to report' "$(cat "$T/said")" ''
equal 'a single run is a history' "$(history 2026-03-02.tsv | wc -l | tr -d ' ')" 2
equal 'other forms' "$(history --tsv 2026-03-02.tsv | cut -f 1-3 | tail -n 1)" '2026-03-02T00:00:00Z	2026-03-02.tsv	130'

# The date and time in a name.
date_of() {
	cp "$T/2026-03-02.tsv" "$T/in/$1"
	equal "the time of $1" "$(history "in/$1" | tail -n 1 | cut -d , -f 1)" "$2"
}
date_of run-2026-11-27.tsv 2026-11-27T00:00:00Z
date_of 20261127.tsv 2026-11-27T00:00:00Z
date_of run-20261127T023015Z.tsv 2026-11-27T02:30:15Z
date_of 2026-11-27_0230.tsv 2026-11-27T02:30:00Z
date_of 2026-11-27T02:30:15+a.tsv 2026-11-27T02:30:15Z
date_of v12.2026-11-27-3.tsv 2026-11-27T00:00:00Z
date_of 1999-13-01-2024-02-29.tsv 2024-02-29T00:00:00Z
date_of job123456789-2024-03-01.tsv 2024-03-01T00:00:00Z
cp "$T/2026-03-02.tsv" "$T/in/nightly.tsv"
TZ=UTC touch -t 202601020304.05 "$T/in/nightly.tsv"
equal 'without a date that of the last change' "$(history in/nightly.tsv | tail -n 1 | cut -d , -f 1)" 2026-01-02T03:04:05Z
# 1700000000 seconds are 2023-11-14 22:13:20 UTC; a later process of the job does not count.
cat >"$T/2026-05-05.nsysx" <<'END'
#nsysx	2
#profile	profile:i	name:s	start_utc:i
#device	device:i	profile:i	name:s
#program	program:i	id:i	name:s	key:s
#module	profile:i	program:i	execution:i	device:i	start:i	dur:i
profile	0	p	1700000001500000000
profile	1	q	1700000000500000000
device	0	0	GPU
program	0	7	train	train@7
module	0	0	0	0	1000	50
module	0	0	1	0	1300	50
module	0	0	2	0	1600	50
#end	records:i
end	7
END
equal 'a stream tells when it was' "$(history -q 2026-05-05.nsysx | tail -n 1 | cut -d , -f 1-3)" '2023-11-14T22:13:20Z,2026-05-05.nsysx,300'
equal 'streams and tables are mixed' "$(history -q 2026-03-02.tsv 2026-05-05.nsysx 2026-03-01.tsv | sed 1d | cut -d , -f 2,3)" '2026-05-05.nsysx,300
2026-03-01.tsv,210
2026-03-02.tsv,130'

mkdir -p "$T/folder/streams"
cp "$T/2026-05-05.nsysx" "$T/folder/streams/collectives.nsysx"
equal 'of a folder of nsysx-report the stream is read' "$(history -q folder | tail -n 1 | cut -d , -f 1-3)" '2023-11-14T22:13:20Z,folder,300'
equal '... also as one of several base runs, and for --why' "$(cd "$T" && nsysx-compare -q --tsv folder folder folder | cksum; nsysx-compare -q --tsv --why folder folder | cksum)" \
	"$(cd "$T" && f=2026-05-05.nsysx && nsysx-compare -q --tsv --by step $f $f $f | cksum; nsysx-compare -q --tsv --why $f $f | cksum)"

# Runs that lack something.
steps 'train=100 100' 'eval,"x"=150 170' >"$T/2026-03-03.tsv"
equal 'a class of some runs has empty cells in others' "$(history 2026-03-01.tsv 2026-03-03.tsv | cut -d , -f 3,11-13)" 'train:period,"eval,""x"":period","eval
210,,,
100,160,150,170'
ok 'with a warning' grep -q 'values that a run does not have and others do: empty cells' "$T/said"
steps >"$T/2026-03-04.tsv"
equal 'a run without steps has no row' "$(history 2026-03-01.tsv 2026-03-04.tsv | sed 1d | cut -d , -f 2)" 2026-03-01.tsv
ok '... with a warning' grep -q '2026-03-04.tsv: no steps: the run has no row' "$T/said"

steps 'train@7=100 100' 'train@9=300' 'eval=80' >"$T/2026-03-05.tsv"
equal 'of two classes of one name the first counts' "$(history 2026-03-05.tsv | cut -d , -f 3,11)" 'train:period,eval:period
100,80'
ok '... with a warning' grep -q '2026-03-05.tsv: values of a class whose name another class of the run has: those of the first are taken (8)' "$T/said"

fails 'nothing is compared' 2 '--history compares nothing: drop --gate' nsysx-compare --history --gate "$T/2026-03-01.tsv"
fails '... by anything else' 2 '--history: want --by step' nsysx-compare --history --by kernel "$T/2026-03-01.tsv"
fails 'a run that is not there' 1 'missing: No such file' nsysx-compare --history "$T/2026-03-01.tsv" "$T/missing"
fails 'no run' 2 'want streams or tables of steps' nsysx-compare --history
nsysx-summary -q --tsv --by module "$T/2026-05-05.nsysx" >"$T/module.tsv"
fails 'a table of something else' 1 'module.tsv: a table by module: want one by step' nsysx-compare --history "$T/module.tsv"

# Thousands of runs: files are open one at a time.
for i in 1 2 3 4 5 6 7 8 9; do cp "$T/2026-03-02.tsv" "$T/in/2026-04-0$i.tsv"; done
equal 'files are open one at a time' "$(cd "$T/in" && ulimit -n 12 && nsysx-compare --history 2026-04-*.tsv 2026-04-*.tsv | wc -l | tr -d ' ')" 19
done_testing
