#!/bin/sh
# A table without rows always has its reason on standard error: for every tool, and every kind of record that a stream may lack.
. "${0%/*}/../testlib.sh"

printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >"$T/empty"
printf '#nsysx\t2\n#profile\tprofile:i\tname:s\n#device\tdevice:i\tprofile:i\n#range\tprofile:i\trange:i\tdomain:s\tname:s\thost_start:i\thost_dur:i\n#end\trecords:i\nprofile\t0\tr0\ndevice\t0\t0\nrange\t0\t1\t\tinit\t5\t10\nend\t3\n' \
	>"$T/host"
cd "$T" || exit 1

# Each command with a stream that gives its table no rows.
for stream in empty host; do
	while read -r _ command; do
		run sh -c "nsysx-$command $stream"
		rows=$(tail -n +2 "$T_private/out" | wc -l)
		equal "nsysx-$command, $stream: a table without rows, and the reason" \
			"$status:$rows:$(grep -c '^nsysx-[a-z]*: warning: ' "$T_private/err" | sed 's/[1-9][0-9]*/some/')" 0:0:some
		equal "nsysx-$command, $stream: -q suppresses the reason" "$(sh -c "nsysx-$command -q $stream" 2>&1 >/dev/null)" ''
	done <<END
$(listed empty)
END
done
equal 'an unknown kind: the most similar is suggested' "$(nsysx-view -t thunks host 2>&1 >/dev/null | grep -c 'did you mean thunk?')" 1

# ---- one reason is enough ----
printf '#nsysx\t2\n#end\trecords:i\nend\t0\n' >nothing
equal 'a diagnosis of no GPU work: one warning, and no advice about options' "$(nsysx-diagnose nothing 2>&1 >/dev/null | sed 's/: record.*//')" \
	'nsysx-diagnose: warning: no GPU work in the stream'
"$SYNTH" -q -o part --steps 2
equal '... of a part of the recording' "$(nsysx-extract -q -a --time 0:1us part/r0.sqlite | nsysx-diagnose 2>&1 >/dev/null)" \
	'nsysx-diagnose: warning: no GPU work in the stream: the time that --time selected has none, or CUDA was not recorded'
equal '... that begins with it, which is not known of it' "$(nsysx-extract -q -a --time :1us part/r0.sqlite | nsysx-diagnose 2>&1 >/dev/null | grep -c -e 'record CUDA.*--time, a time in which')" 1
equal 'no waits: one warning' "$(nsysx-stragglers --waits nothing 2>&1 >/dev/null)" 'nsysx-stragglers: warning: no communication between devices: nothing waits'

# ---- a window of time without a unit ----
"$SYNTH" -q -o "$T/job" || exit 1
said() { nsysx-extract "$@" job/r0.sqlite 2>&1 >/dev/null | grep -e --time; }
equal 'an empty result of times without a unit: units are suggested' "$(said --time 10:20)" \
	'nsysx-extract: warning: --time selects nothing: 10:20 are nanoseconds; 10s:20s?'
equal '... with one of two units' "$(said --time 3000:9us)" 'nsysx-extract: warning: --time selects nothing: 3000:9us are nanoseconds; 3000s:9us?'
equal '... with an open window' "$(said --time :20)" 'nsysx-extract: warning: --time selects nothing: :20 are nanoseconds; :20s?'
equal '... with units nothing is suggested' "$(said --time 5h:)" \
	'nsysx-extract: warning: --time selects nothing: no GPU work and no range overlaps 5h: of a session'
equal 'a result that is not empty: no suggestion' "$(said --time 0:9000000000000)" ''
# The stream has the window, too.
nsysx-extract -q --time 0:9000000000000 job/r0.sqlite | sed '/^profile/s/	0	9000000000000$/		/' >window
nsysx-extract -q job/r0.sqlite >whole
same 'times without a unit are nanoseconds' window whole
fails '--require fails as before' 1 'no module record' nsysx-extract -q --time 10:20 --require module job/r0.sqlite
done_testing
