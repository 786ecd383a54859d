#!/bin/sh
# No output of any tool has what an export contains about the machine, its user and the profiled command; what the program itself
# says may be there. Every text that extraction does not need gets a secret, which is searched for in all outputs.
. "${0%/*}/../testlib.sh"

# An export without a table that others have gets it: `TABLE column ...`, of real exports; one row with a secret in each column.
tables='ProcessStreams filename content
ANALYSIS_FILE filename content
DIAGNOSTIC_EVENT text
GENERIC_EVENTS rawTimestamp jsonText
GENERIC_EVENT_TYPES hwId data
GENERIC_EVENT_SOURCES data
TARGET_INFO_NIC_INFO stateName name GUID
TARGET_INFO_SYSTEM_ENV devStateName name value
TARGET_INFO_COMPONENT component name
META_DATA_CAPTURE name value
META_DATA_EXPORT name value
OSRT_API name
OSRT_CALLCHAINS symbol module
SAMPLING_CALLCHAINS symbol module
SYSCALL name
NET_NIC_METRIC name
PROCESSES name
UnresolvedSymbols name
somebody_elses_table note'

# plant EXPORT: secrets into it. They are numbered by table and column, those of rows that are added are above 1000.
plant() {
	chmod u+w "$1"
	sqlite3 "$1" <privacy/plant.sql | sqlite3 "$1"
	n=1000
	echo "$tables" | while read -r table columns; do
		have=$(sqlite3 "$1" "SELECT 1 FROM sqlite_master WHERE name = '$table'")
		[ "$have" ] || sqlite3 "$1" "CREATE TABLE \"$table\" ($(echo "$columns" | sed 's/ /, /g'))"
		values=
		for column in $columns; do
			n=$((n + 1))
			[ "$(sqlite3 "$1" "SELECT 1 FROM pragma_table_info('$table') WHERE name = '$column'")" ] && values="${values:+$values, }$column" || :
		done
		[ "$values" ] && sqlite3 "$1" "INSERT OR IGNORE INTO \"$table\" ($values) VALUES ($(echo "$values" | sed "s/[A-Za-z]*/'hush-$n-hush'/g"))" 2>/dev/null
	done
	# Names of devices and threads that are not XLA's, an unused name, a category, a mark, the name of a thread.
	sqlite3 "$1" "
		INSERT INTO TARGET_INFO_NVTX_CUDA_DEVICE (name, hwId, vmId, deviceId) VALUES ('hush-2001-hush', 1, 1, 0), ('hush-2002-hush', 1, 1, 99);
		INSERT INTO StringIds (id, value) VALUES (900001, 'hush-2003-hush'), (900002, 'hush-2004-hush'), (900003, 'hush-2005-hush');
		INSERT INTO ThreadNames (nameId, priority, globalTid) SELECT 900002, 20, globalTid + 77 FROM ThreadNames LIMIT 3;
		INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId, category) SELECT start, 33, 'hush-2006-hush', globalTid, 0, 1 FROM NVTX_EVENTS LIMIT 1;
		INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) SELECT start, 39, 'hush-2007-hush', globalTid, 0 FROM NVTX_EVENTS LIMIT 1;"
}

# keep NAME CMD...: its output and errors, in $T/out/NAME.
keep() {
	into=$T/out/$1
	shift
	"$@" >"$into" 2>"$into.err" </dev/null
}
# The secrets in $1's files, each with its number.
secrets() { grep -a -o -r 'hush[-0-9]*' "$1" | sed 's,[^ ]*/,,' | sort | uniq -c; }

# quiet CLAIM: no secret is in any file of $T/out.
quiet() {
	ok "$1: something was written" test "$(cat "$T/out"/* | wc -c)" -gt 10000
	equal "$1: no secret" "$(secrets "$T/out" | head -n 5)" ''
}

# everything STREAM: the output of every tool for it, in every form.
everything() {
	s=$1
	keep steady nsysx-warmup -v "$s"
	keep overlap nsysx-overlap -v "$s"
	keep align nsysx-align -v "$s"
	keep estimate nsysx-align -v -e "$s"
	keep merge nsysx-merge -v "$s"
	keep collectives nsysx-collectives -v "$T/out/overlap"
	for form in --tsv --table --json; do
		for by in module thunk opcode collective device total range kernel; do keep "summary-$by$form" nsysx-summary -v --by $by $form "$T/out/overlap"; done
		for by in range pass phase module process; do keep "compile-$by$form" nsysx-compile -v --by $by $form "$s"; done
		keep "collectives$form" nsysx-collectives -v --summary $form "$T/out/overlap"
		for by in opcode op-name program; do keep "roofline-$by$form" nsysx-roofline -v --by $by $form "$s"; done
		keep "roofline$form" nsysx-roofline -v $form "$s"
		keep "diagnose$form" nsysx-diagnose -v --min 0 --top 0 $form "$s"
		keep "where$form" nsysx-diagnose -v --where $form "$s"
		keep "stragglers$form" nsysx-stragglers -v $form "$s"
		keep "curve$form" nsysx-stragglers -v --curve $form "$s"
		keep "waits$form" nsysx-stragglers -v --waits $form "$T/out/overlap"
		keep "measure$form" nsysx-measure -v --module jit_train_step $form "$s"
		keep "list$form" nsysx-measure -v --list --module jit_train_step $form "$s"
	done
	for by in source op-name opcode module nvtx kernel; do keep "fold-$by" nsysx-fold -v --by $by "$T/out/overlap"; done
	keep compile-summary nsysx-compile -v --summary --full "$s"
	for kind in profile device program alias groups stack inst loc compile overhead call module range thunk op diag; do keep "view-$kind" nsysx-view -v -t $kind "$s"; done
	keep perfetto nsysx-perfetto -v --chrome "$s"
	mkdir -p "$T/pgle"
	keep pgle nsysx-pgle -v -d "$T/pgle" "$s"
	cat "$T/pgle"/* >"$T/out/pgle.files"
}

# held NAME OPTION...: a generated job with secrets, through every tool.
held() {
	job=$1
	shift
	rm -rf "$T/out"
	mkdir "$T/out"
	"$SYNTH" -o "$T/$job" --secret hush-0-hush "$@" || exit 1
	args=
	for export in "$T/$job"/r*.sqlite; do
		plant "$export"
		i=${export##*/r}
		if [ -d "$T/$job/dump${i%.sqlite}" ]; then args="$args -x $T/$job/dump${i%.sqlite}"; fi
		args="$args $export"
	done
	equal "$job: secrets were planted" "$(sqlite3 "$T/$job/r0.sqlite" .dump | grep -o 'hush-[0-9]*-hush' | sort -u | wc -l | awk '{ print ($1 > 20) }')" 1
	# shellcheck disable=SC2086  # no blanks in these names
	{
		keep text nsysx-extract -v -a --autotune $args
		keep binary nsysx-extract -v -b -a --autotune $args
		keep plain nsysx-extract -v $args
		keep stripped nsysx-extract -v --strip-paths -a $args
	}
	keep decoded nsysx-view -v "$T/out/binary"
	same "$job: binary has the same records as text" "$T/out/text" "$T/out/decoded"
	everything "$T/out/text"
	# Messages of exports that cannot be read.
	head -c 30000 "$T/$job/r0.sqlite" >"$T/cut.sqlite"
	keep cut nsysx-extract -v "$T/cut.sqlite"
	keep twice nsysx-extract -v "$T/$job/r0.sqlite" "$T/$job/r0.sqlite"
	cp "$T/$job/r0.sqlite" "$T/lacks.sqlite"
	sqlite3 "$T/lacks.sqlite" 'ALTER TABLE NVTX_EVENTS RENAME COLUMN globalTid TO tid'
	keep lacks nsysx-extract -v "$T/lacks.sqlite"
	quiet "$job"
	equal "$job: messages have no folder of the export" "$(cat "$T/out/text" "$T/out/stripped" | grep -c "$T")" 0
	# What the program itself says is there.
	equal "$job: ranges, operations, calls, devices have names" "$(awk -F'\t' '
		/^#/ { for (i = 2; i <= NF; i++) { split($i, c, ":"); at[substr($1, 2), c[1]] = i } next }
		function named(kind) { return $1 == kind && length($at[kind, "name"]) > 1 }
		named("range") && $at["range", "ops"] > 0 { range = 1 } named("op") { op = 1 } named("call") && $at["call", "ops"] > 0 { call = 1 }
		named("device") && /H300/ { device = 1 } END { print range op call device }' "$T/out/text")" 1111
}

held old --schema 3.0.0 --full
held middle --schema 3.13.1 --full --titles early
held new --schema 3.25.0 --titles 2026 --payloads=detailed --autotune --graphs
held torch --torch --schema 3.24.14 --full

# A secret in a name that is read is found: the search works.
cp "$T/middle/r0.sqlite" "$T/told.sqlite"
sqlite3 "$T/told.sqlite" "UPDATE StringIds SET value = 'hush-3000-hush' WHERE id = (SELECT shortName FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1);
	UPDATE StringIds SET value = 'hush-3001-hush' WHERE id = (SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1)"
for form in '' -b; do
	rm -rf "$T/out"
	mkdir "$T/out"
	keep told nsysx-extract $form --ops "$T/told.sqlite"
	equal "a secret in a kernel's name is found $form" "$(secrets "$T/out" | awk '{ print ($1 > 0) }' | sort -u)" 1
done

# The host's name, if it is requested, and nothing else.
host=$(sqlite3 "$T/middle/r0.sqlite" "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'")
nsysx-extract -q --host "$T/middle/r0.sqlite" | nsysx-view -t profile >"$T/profile"
equal '--host names the host' "$(awk -F'\t' 'NR == 2 { print $3 }' "$T/profile")" "$host"
equal '--no-host leaves it out, in any order' "$(for o in "--host --no-host" "--no-host --host"; do nsysx-extract -q $o "$T/middle/r0.sqlite" | nsysx-view -t profile | awk -F'\t' 'NR == 2 { printf "%s;", $3 }'; done)" ';;'
ok '... which is a secret otherwise' test "${host#*hush-0-hush}" != "$host"
nsysx-extract -q --host --ranges=all --ops "$T/middle/r0.sqlite" | grep -v '^profile	' >"$T/rest"
equal '... only in its profile record' "$(grep -c hush "$T/rest")" 0
nsysx-extract -q "$T/middle/r0.sqlite" "$T/middle/r1.sqlite" | nsysx-view -t profile >"$T/profile"
equal 'without --host it is nowhere' "$(awk -F'\t' 'NR == 1 && $3 != "host" { print } NR > 1 && $3 != "" { print }' "$T/profile")" ''

# Paths of sources: complete unless --strip-paths.
args="-x $T/new/dump0 $T/new/r0.sqlite -x $T/new/dump1 $T/new/r1.sqlite"
for how in '-x dumps' payloads; do
	[ "$how" = payloads ] && args="$T/new/r0.sqlite $T/new/r1.sqlite"
	# shellcheck disable=SC2086
	nsysx-extract -q --ranges=all --ops $args >"$T/whole"
	# shellcheck disable=SC2086
	nsysx-extract -q --ranges=all --ops --strip-paths $args >"$T/stripped"
	ok "sources of $how have folders" grep -q '^stack	.*/opt/example/' "$T/whole"
	equal "--strip-paths leaves none of $how" "$(awk -F'\t' '$1 == "stack" || $1 == "inst" || $1 == "loc"' "$T/stripped" | grep -c '/opt/')" 0
	equal "... nor elsewhere in the stream of $how" "$(grep -c '/opt/example' "$T/stripped")" 0
	ok "... except names of files of $how" grep -q '^stack	.*transformer.py:' "$T/stripped"
	nsysx-overlap -q "$T/stripped" | nsysx-fold -q --cover 1 >"$T/folded"
	equal "... nor in stacks of $how" "$(grep -c '/opt/' "$T/folded") $(grep -c 'transformer.py' "$T/folded" | awk '{ print ($1 > 0) }')" '0 1'
done

# The same with real exports, if available.
if [ -d "$SHARED/data" ]; then
	for export in "$SHARED"/data/torch/mfu_2gpu_before.sqlite.zst "$SHARED"/data/nvtx/*.sqlite.zst "$SHARED"/data/pax/p0.sqlite.zst; do
		name=$(basename "$export" .sqlite.zst)
		zstd -dqc "$export" >"$T/real.sqlite"
		plant "$T/real.sqlite" 2>"$T/planting"
		rm -rf "$T/out"
		mkdir "$T/out"
		keep text nsysx-extract -v -a --autotune "$T/real.sqlite"
		everything "$T/out/text"
		equal "$name: secrets were planted" "$(sqlite3 "$T/real.sqlite" .dump | grep -o 'hush-[0-9]*-hush' | sort -u | wc -l | awk '{ print ($1 > 20) }')" 1
		quiet "$name"
	done
else
	skip 'secrets in real exports' 'the reference data are not here'
fi
done_testing
