#!/bin/sh
# nsysx-prepare -- from reports to the stream that every question can be put to: extraction and the filters that apply, as one
# pipeline.
set -u
unset CDPATH NSYSX_FORMAT
tool=nsysx-prepare

usage='usage: nsysx-prepare [OPTION]... -o FILE [-x DIR] REPORT...'
help() {
	cat <<END
$usage
Extract reports, compare their clocks, leave out first executions, and mark what communication hides, waits, steps and idle time.

  -x, --dump=DIR            folder of the HLO dumps of the reports that follow, - for none
      --files-from=FILE     also the files named in FILE, separated by NUL or newlines; - for standard input
  -o, --output=FILE         the stream to write [standard output]
  -n, --dry-run             print the pipeline, and run nothing but what decides it
      --step=REGEX          NVTX ranges whose DOMAIN:NAME matches are the steps
      --module=NAME         executions of the program of that name or key are the steps
      --no-align            leave the clocks of the reports as they are
      --no-warmup           keep the first executions
      --no-detail           leave out NVTX ranges, GPU operations and CUDA calls, and so idle time and steps of ranges
      --no-marks            leave out the records of steps and of idle time
      --metrics             also the samples of GPU metrics, for nsysx-summary --metrics
      --memory              also what CUDA allocated and freed, for nsysx-summary --memory
      --python              also the functions of Python that a profiler of PyTorch or JAX recorded, as ranges
      --autotune            keep autotuner runs and what runs within their compilation
      --time=A:B            keep only that time, as nsysx-extract does
      --device=N,...        keep only these devices of the job
      --no-host             leave out the names of hosts, by which late ones are named
      --extract-flags=TEXT  further options of nsysx-extract, as the shell reads them
      --align-flags=TEXT    further options of nsysx-align, likewise
      --logs=DIR            write what each tool says into DIR/TOOL.log instead of standard error
      --can=FILE            write what the stream can answer, a word on each line: xla, compile, comm, devices, host
  -j, --jobs=N              threads of the extraction [one for each processor]
  -z, --compress            compress the stream with zstd
  -q, --quiet               print only errors, and that a stream is hardly the one that is meant
  -h, --help                show this help and exit
  -V, --version             show the version and exit
END
}
die() { printf '%s: %s\n' "$tool" "$1" >&2; exit 1; }
misuse() { printf '%s: %s\n%s\n' "$tool" "$1" "$usage" >&2; exit 2; }

# The tools are next to the real file of this script.
self=$0
case $self in */*) ;; *) self=$(command -v -- "$self") ;; esac
self=$(readlink -f -- "$self") || die "$0: cannot be found"
bin=${self%/*}/
[ -x "${bin}nsysx-extract" ] || bin=

# Set $word to a text as the shell reads it: without a process for each of thousands of names.
quote() {
	case $1 in
	''|*[!A-Za-z0-9_./,:=@%+-]*) word=$(quoted "$1") ;;
	*) word=$1 ;;
	esac
}
# A word as the shell reads it.
quoted() {
	case $1 in
	''|*[!A-Za-z0-9_./,:=@%+-]*) printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")" ;;
	*) printf '%s' "$1" ;;
	esac
}

output='' dry='' step='' module='' align=1 warmup=1 detail=-a marks=1 host=--host metrics='' memory='' chosen='' flags='' align_flags='' can='' logs='' jobs='' zip='' quiet=
counted=0 simple=1
# counted: operands so far. simple: all of them name files as they are, so that a list can be passed on.
# operands: of nsysx-extract, quoted; streams: those that are streams already, quoted. dump: of the reports that follow.
operands='' streams='' nreports=0 nstreams=0 dump='' waiting='' given=''
meant='want -x DIR REPORT, such as -x dump0 r0.sqlite -x dump1 r1.sqlite'
add_report() {
	[ "$dump" = "$given" ] || operands="$operands -x $(quoted "${dump:--}")"
	given=$dump nreports=$((nreports + 1))
	quote "$1"
	operands="$operands $word"
}
# What a folder of reports holds, as advice: nothing, the names of a few, or a pattern of one kind.
reports_in() {
	for ending in sqlite sqlite.zst sqlite.xz nsys-rep; do
		n=0 names='' dir=$(quoted "${1%/}")
		for f in "${1%/}"/*."$ending"; do
			[ -f "$f" ] && n=$((n + 1)) names="$names $(quoted "$f")"
		done
		case $n in 0) continue ;; [1-4]) ;; *) names=" $dir/*.$ending" ;; esac
		printf '; give the reports that are in it:%s' "$names"
		return
	done
}
operand() {
	file=$1 counted=$((counted + 1))
	case $file in -?*) file=./$file ;; esac
	waiting=
	if [ -d "$file" ]; then
		# What nsysx-record leaves.
		simple= report=
		for f in "$file/report.sqlite" "$file/report.sqlite.zst" "$file/report.sqlite.xz" "$file/report.nsys-rep"; do
			[ -e "$f" ] && report=$f && break
		done
		[ "$report" ] || die "$1: want a report, or a folder of nsysx-record, with report.sqlite or report.nsys-rep in it$(reports_in "$file")"
		before=$dump
		[ "$dump" ] || ! [ -d "$file/dump" ] || dump=$file/dump
		add_report "$report"
		dump=$before
		return
	fi
	[ -e "$file" ] || die "$1: No such file or directory"
	[ -r "$file" ] || die "$1: want a file that can be read"
	# The name tells of most; a stream may have another one.
	case $file in
	*.nsysx|*.nsysx.zst) add_stream "$file" ;;
	*.sqlite|*.sqlite.zst|*.sqlite.xz|*.nsys-rep|*.json|*.json.gz|*.pb|*.pb.gz) add_report "$file" ;;
	*) if [ -f "$file" ] && is_stream "$file"; then add_stream "$file"; else add_report "$file"; fi ;;
	esac
}
# By its first bytes: of a stream they are the beginning of one, whatever is wrong with the rest.
is_stream() {
	said=$(head -c 65536 -- "$1" | "${bin}nsysx-view" -q -t profile 2>&1 >/dev/null) && return
	case $said in 'nsysx-view: standard input: cut short'*) return 0 ;; *) return 1 ;; esac
}
add_stream() {
	quote "$1"
	streams="$streams $word" nstreams=$((nstreams + 1))
}
@FILES_FROM@
# The names in list $1 as operands.
list() {
	listed=$given had_operands=$operands had_streams=$streams simple=1
	take_list "$1"
	# A list that is a file is passed on: thousands of names would not fit into a command. A pipe has been read.
	[ "$simple" ] && [ "$1" != - ] && [ -f "$1" ] || return 0
	quote "$1"
	[ "$operands" = "$had_operands" ] || { [ "$dump" = "$listed" ] || had_operands="$had_operands -x $(quoted "${dump:--}")"; operands="$had_operands --files-from $word"; }
	[ "$streams" = "$had_streams" ] || streams="$had_streams --files-from $word"
}
while [ $# -gt 0 ]; do
	arg=$1 value='' has=
	shift
	case $arg in
	--) break ;;
	--*=*) value=${arg#*=} arg=${arg%%=*} has=1 ;;
	-[xjo]?*) value=${arg#-?} arg=${arg%"$value"} has=1 ;;
	-[nzqhV]?*) set -- "-${arg#-?}" "$@"; arg=${arg%"${arg#-?}"} ;;
	esac
	case $arg in
	-x|--dump|--files-from|-o|--output|--step|--module|--time|--device|--extract-flags|--align-flags|--can|--logs|-j|--jobs)
		if [ -z "$has" ]; then
			[ $# -gt 0 ] || misuse "$arg: want a value"
			value=$1
			shift
		fi ;;
	--*) [ -z "$has" ] || misuse "$arg takes no value" ;;
	esac
	case $arg in
	-x|--dump)
		[ "$value" ] || misuse '-x: want a folder, or - for none'
		[ -z "$waiting" ] || misuse "-x $waiting: -x $value replaces it before any report: $meant"
		[ "$value" = - ] || [ -d "$value" ] || die "$value: want a folder of dumps"
		waiting=$value dump=$value
		[ "$value" != - ] || dump= ;;
	--files-from) list "$value" ;;
	-o|--output) output=$value ;;
	-n|--dry-run) dry=1 ;;
	--step) step=$value ;;
	--module) module=$value ;;
	--no-align) align= ;;
	--no-warmup) warmup= ;;
	--no-detail) detail= ;;
	--no-marks) marks= ;;
	--metrics) metrics=--metrics ;;
	--memory) memory=--memory ;;
	--no-host) host= ;;
	--python|--autotune) chosen="$chosen $arg" ;;
	--time|--device) chosen="$chosen $arg $(quoted "$value")" ;;
	--extract-flags) flags=$value ;;
	--align-flags) align_flags=$value ;;
	--can) can=$value ;;
	--logs) logs=$value ;;
	-j|--jobs) jobs=$value ;;
	-z|--compress) zip=-z ;;
	-q|--quiet) quiet=-q ;;
	-h|--help) help; exit 0 ;;
	-V|--version) version=$("${bin}nsysx-extract" --version) || die "nsysx-extract: cannot be run"; printf '%s %s\n' "$tool" "${version##* }"; exit 0 ;;
	-?*) misuse "unknown option $arg" ;;
	*) operand "$arg" ;;
	esac
done
for arg; do operand "$arg"; done
[ "$nreports" -gt 0 ] || [ "$nstreams" -gt 0 ] || misuse 'which REPORT?'
[ "$nreports" -eq 0 ] || [ "$nstreams" -eq 0 ] || misuse 'reports and streams (.nsysx) cannot be mixed: extract the reports first'
[ -z "$waiting" ] || misuse "-x $waiting: no report follows it: $meant"
# Options of the extraction alone; what streams have is known.
of_reports="$chosen $metrics $memory ${flags:+--extract-flags}"
set -- $of_reports
[ $# -eq 0 ] || [ "$nstreams" -eq 0 ] || misuse "$1 is of the extraction, and streams were extracted before: want reports"
flags="${chosen# }${flags:+${chosen:+ }$flags}"
[ -z "$step" ] || [ -z "$module" ] || misuse '--step and --module exclude each other'
case $jobs in *[!0-9]*|0) misuse "--jobs: want a number from 1, got \"$jobs\"" ;; esac
[ "$output" ] || [ "$dry" ] || ! [ -t 1 ] || misuse 'want -o FILE: a stream does not go to a terminal'

work=$(mktemp -d "${TMPDIR:-/tmp}/nsysx-prepare.XXXXXX") || die 'cannot make a temporary folder'
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
[ -t 2 ] && [ -z "$quiet" ] && line=1 || line=
# One line that shows what goes on.
tell() { [ -z "$line" ] || printf '\r\033[K%s: %s' "$tool" "$1" >&2; }
clear() { [ -z "$line" ] || printf '\r\033[K' >&2; }

[ -z "$logs" ] || [ -d "$logs" ] || die "$logs: want a folder"
# Of an earlier call.
[ -z "$logs" ] || (cd -- "$logs" && exec rm -f align.log warmup.log overlap.log collectives.log steps.log idle.log view.log) || die "$logs: cannot be cleared"

# ---- the stream of the reports

extract="nsysx-extract -b${detail:+ $detail}${host:+ $host}${metrics:+ $metrics}${memory:+ $memory}${jobs:+ -j $jobs}${flags:+ $flags}"
# Run the command that makes the stream. On a terminal it shows its progress there; else what it says is kept: of what ends
# badly only the error is shown.
make_stream() {
	if [ "$line" ]; then
		clear
		eval "$1" || exit 1
		return
	fi
	eval "{ $1; } 2>\"\$work/log-first\"" && return
	errors_of first "the first tool ended with status $?"
	exit 1
}
# What the tool of log $1 said but warnings; $2 if that is nothing, as where it was killed.
errors_of() { grep -v '^nsysx-[a-z]*: \(warning\|info\): ' "$work/log-$1" >&2 || printf '%s: %s\n' "$tool" "$2" >&2; }
: >"$work/log-first"
if [ "$nstreams" = 1 ]; then
	case $streams in
	' --files-from '*) from=$work/extracted.nsysx; make_stream "\"\${bin}nsysx-merge\" $quiet -b -o \"\$from\" $streams" ;;
	*) eval "from=${streams# }" ;;
	esac
elif [ "$nstreams" -gt 1 ]; then
	from=$work/extracted.nsysx
	make_stream "\"\${bin}nsysx-merge\" $quiet -b -o \"\$from\" $streams"
elif [ "$dry" ]; then
	# What decides is in smaller extractions, too.
	from=$work/extracted.nsysx
	tell "reading $nreports reports"
	eval "\"\${bin}nsysx-extract\" -q -b -o \"\$from\" $flags $operands" || exit 1
	"${bin}nsysx-view" -q -t module -o "$work/xla" "$from" || exit 1
	[ -n "$(sed -n 2p "$work/xla")" ] || eval "\"\${bin}nsysx-extract\" -q -b --ops -o \"\$from\" $flags $operands" || exit 1
else
	from=$work/extracted.nsysx
	make_stream "\"\${bin}\"$extract $quiet -o \"\$from\" $operands"
fi

# ---- what is in it, that -q does not hide

warn() { clear; printf '%s: warning: %s\n' "$tool" "$1" >&2; }

# What the extraction calls errors, for -q: the stream is hardly the one that is meant.
warn_of_diags() {
	[ "$quiet" ] && [ -e "$work/diag.tsv" ] || return 0
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["severity"] == "error" && $at["source"] ~ /^nsysx-extract/ && ++n <= 3 { s = $at["source"]; sub(/^nsysx-extract:? */, "", s); print s (s == "" ? "" : ": ") $at["text"] }
		END { if (n > 3) print "and " n - 3 " more such warnings: without -q" }' "$work/diag.tsv" >"$work/warnings"
	while read -r said; do warn "$said"; done <"$work/warnings"
}

# ---- what applies

newline='
'

# Whether the temporary table $1 has at least $2 rows.
held() {
	[ -e "$work/$1.tsv" ] || return 1
	n=$2
	{ while read -r row; do [ "$n" -gt 0 ] || return 0; n=$((n - 1)); done; } <"$work/$1.tsv"
	return 1
}
# The number of its rows.
rows() { [ -e "$work/$1.tsv" ] && echo $(($(wc -l <"$work/$1.tsv") - 1)) || echo 0; }
tell 'reading what there is'
"${bin}nsysx-view" -q -t module,compile,device,profile,thread,diag -o "$work/%.tsv" "$from" || exit 1
xla='' comm='' devices=
held module 1 && xla=1 comm=1
held device 2 && devices=1
warn_of_diags
held device 1 || warn 'no GPU work in what was given: was CUDA traced (nsys profile --trace=cuda,nvtx; ProfilerActivity.CUDA of torch.profiler), and while the program ran?'
if ! [ "$xla" ]; then
	"${bin}nsysx-collectives" -q --tsv --summary -o "$work/comm.tsv" "$from" || exit 1
	held comm 1 && comm=1
fi
if [ "$can" ]; then
	held compile 1 && compiles=1 || compiles=
	held thread 1 && host_threads=1 || host_threads=
	printf '%s' "${xla:+xla$newline}${comm:+comm$newline}${devices:+devices$newline}${compiles:+compile$newline}${host_threads:+host$newline}" >"$can" || exit 1
fi

# stages: names of the tools; each has its command in cmd_NAME and a reason in why_NAME. Tools that do not apply have a reason only.
stages=
stage() { stages="$stages $1"; eval "cmd_$1=\$2 why_$1=\$3"; }
leave() { left="${left:-}  without nsysx-$1: $2$newline"; }
left=
if ! held device 1; then
	leave align 'no GPU work'
elif [ -z "$align" ]; then
	leave align '--no-align'
elif ! [ "$devices" ]; then
	leave align 'one device'
elif [ "$xla" ] || { [ "$comm" ] && held profile 2; }; then
	stage align "nsysx-align -b${align_flags:+ $align_flags}" "$(rows device) devices, of reports: $(rows profile)"
elif [ "$comm" ]; then
	leave align 'one report, so its devices are on one clock'
else
	leave align 'no communication by which clocks could be compared'
fi
# Whether the recording begins warm: nothing was compiled in it, and the first executions of all programs that ran again took
# the devices and the host no longer than the second ones, so that devices were connected and code loaded before. nsysx-warmup
# counts executions, and cannot see that.
warm() {
	! held compile 1 && awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["execution"] <= 1 { k = $at["profile"] FS $at["program"] FS $at["device"]; e = 1 * $at["execution"]; gpu[k, e] = $at["dur"]; host[k, e] = $at["host_dur"]; seen[k] += 1 + e }
		END {
			for (k in seen)
				for (e = 0; e < 2 && seen[k] == 3; e++) { g[e] += gpu[k, e]; h[e] += host[k, e] }
			exit !(g[1] > 0 && g[0] <= 1.1 * g[1] && h[0] <= 1.1 * h[1])
		}' "$work/module.tsv"
}
if [ -z "$warmup" ]; then
	leave warmup '--no-warmup'
elif [ "$xla" ] && warm; then
	leave warmup 'nothing is compiled, and first executions take no longer than the next'
elif [ "$xla" ]; then
	stage warmup 'nsysx-warmup -b' 'there are programs of XLA'
else
	leave warmup 'no program of XLA'
fi
if [ "$comm" ]; then
	# Of programs of XLA it was not looked for.
	there="there is communication"
	[ -z "$xla" ] || there="programs of XLA may communicate"
	stage overlap 'nsysx-overlap -b' "$there: what of it is hidden"
	stage collectives 'nsysx-collectives -b' "$there: its instances, and who waits"
else
	leave overlap 'no communication'
fi
if [ -z "$marks" ]; then
	leave steps '--no-marks'
elif ! held device 1; then
	leave steps 'no GPU work'
elif [ "$detail" ] || [ "$xla" ]; then
	stage steps "nsysx-steps -b --mark${step:+ --step $(quoted "$step")}${module:+ --module $(quoted "$module")}" 'steps, named or found'
else
	leave steps 'neither operations nor programs'
fi
if [ -z "$marks" ]; then
	leave idle '--no-marks'
elif ! held device 1; then
	leave idle 'no GPU work'
elif [ "$detail" ]; then
	stage idle 'nsysx-idle -b --mark' 'operations and calls'
else
	leave idle '--no-detail'
fi
set -- $stages
[ $# -gt 0 ] || stage view 'nsysx-view -b' 'nothing else applies'
for last in $stages; do :; done
eval "cmd_$last=\"\$cmd_$last\${zip:+ \$zip}\${output:+ -o \$(quoted \"\$output\")}\""

# ---- the pipeline, and what it says

pipeline() {
	if [ "$nreports" -gt 0 ]; then
		printf '%s%s' "$extract" "$operands"
	elif [ "$nstreams" -gt 1 ] || [ "$streams" != "${streams# --files-from }" ]; then
		printf 'nsysx-merge -b%s' "$streams"
	else
		printf 'nsysx-view -b%s' "$streams"
	fi
	for s in $stages; do eval "printf ' | %s' \"\$cmd_$s\""; done
	echo
}
if [ "$dry" ]; then
	clear
	pipeline
	exit 0
fi
set -- $stages
[ -z "$line" ] || tell "$(printf '%s, ' "$@" | sed 's/, $//')"
# The filters that one process can run, without encoding records between them: the first ones, as they are without options.
together=
for s in $stages; do
	case $s in
	align) [ -z "$align_flags" ] || break ;;
	warmup|overlap|collectives) ;;
	*) break ;;
	esac
	together="$together $s"
done
case $together in *' '*' '*) ;; *) together= ;; esac
# A tool that fails passes on a stream without its end, which the next one refuses: the first that fails says why.
run='cat -- "$from"' first=1
if [ "$together" ]; then
	through=
	for s in $together; do through=${through:+$through,}$s; done
	# What the last one of all is told of the output.
	eval "end=\${cmd_$s#nsysx-$s -b}"
	run="{ \"\${bin}\"nsysx-view -b --through=$through$end $quiet -- \"\$from\" 2>\"\$work/log-view\" || echo \$? >\"\$work/failed-view\"; }" first=
fi
for s in $stages; do
	case " $together " in *" $s "*) continue ;; esac
	eval "cmd=\$cmd_$s"
	if [ "$first" ]; then
		run="{ \"\${bin}\"$cmd $quiet -- \"\$from\" 2>\"\$work/log-$s\" || echo \$? >\"\$work/failed-$s\"; }" first=
	else
		run="$run | { \"\${bin}\"$cmd $quiet 2>\"\$work/log-$s\" || echo \$? >\"\$work/failed-$s\"; }"
	fi
done
eval "$run"
clear
failed=
for s in ${together:+view} $stages; do
	[ -e "$work/failed-$s" ] || continue
	failed=1
	# 141: ended by the pipe, as a tool behind it failed.
	[ "$(cat "$work/failed-$s")" = 141 ] || { errors_of "$s" "nsysx-$s ended with status $(cat "$work/failed-$s")"; break; }
done
[ -z "$failed" ] || exit 1
# Each of the filters that ran together says what it has to say under its own name.
for s in $together; do : >"$work/log-$s"; done
if [ "$together" ]; then
	while IFS= read -r said; do
		s=${said#nsysx-}
		s=${s%%:*}
		case " $together " in *" $s "*) ;; *) s=${together##* } ;; esac
		printf '%s\n' "$said" >>"$work/log-$s"
	done <"$work/log-view"
fi
if [ "$logs" ]; then
	for s in $stages; do
		if [ -s "$work/log-$s" ]; then cp "$work/log-$s" "$logs/$s.log"; else : >"$logs/$s.log"; fi || exit 1
	done
else
	for s in first $stages; do cat "$work/log-$s" >&2; done
fi
[ "$quiet" ] && exit 0
[ "$output" ] || exec >&2
pipeline
for s in $stages; do eval "printf '  %-18s %s\n' \"nsysx-$s\" \"\$why_$s\""; done
printf '%s' "$left"
[ -z "$output" ] || ! held device 1 || printf 'next: nsysx-diagnose %s\n' "$(quoted "$output")"
