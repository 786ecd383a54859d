#!/bin/sh
# nsysx-whatif against pairs of captures of real programs (tests/real/README.md): what it forecasts from the one before a change, and what came.
. "${0%/*}/../testlib.sh"

real=$tests_dir/real

# period NAME: the mean of its steps, ns
period() {
	nsysx-steps -q --tsv "$real/$1.nsysx" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["period_mean"]; exit }'
}
# family NAME FAMILY: ns of that family of kernels in a step
family() {
	nsysx-steps -q --cut -b "$real/$1.nsysx" | nsysx-summary -q --tsv --by family | awk -F'\t' -v f="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["family"] == f { ns += $at["total"] } END { printf "%.0f\n", ns }'
}
# factor BEFORE AFTER FAMILY: how many times as fast the kernels of that family became
factor() {
	echo "$(family "$1" "$3") $(family "$2" "$3")" | awk '{ printf "%.9g\n", $1 / $2 }'
}
# forecast BEFORE AFTER CHANGE PERCENT: the forecast is one number, off by at most that much of the period before the change
forecast() {
	if nsysx-whatif -q --tsv --what "$3" "$real/$1.nsysx" | awk -F'\t' -v true="$(period "$2")" -v most="$4" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["what"] != "none" { off = 100 * ($at["predicted"] - true) / $at["period"]; printf "%.3f -> %.3f ms, forecast %.3f, off by %.2f %%\n", $at["period"] / 1e6, true / 1e6, $at["predicted"] / 1e6, off
			exit !($at["predicted"] > 0 && $at["low"] == $at["high"] && off < most && off > -most) }' >"$T/got"; then
		pass "$1 -> $2"
	else
		fail "$1 -> $2" "$(cat "$T/got")"
	fi
	sed "s/^/# $1, $3: /" "$T/got"
}

forecast gemm0 gemm1 "faster:family:gemm=$(factor gemm0 gemm1 gemm)" 2.5
forecast prec0 prec1 "faster:family:gemm=$(factor prec0 prec1 gemm)" 1
forecast jsync0 prec1 host=inf 1
forecast graph0 graph1 host=inf,api=inf 2.5

# What sets the steps of each, which is known: the device, or the host.
sets() {
	nsysx-whatif -q --tsv --critical "$real/$1.nsysx" | awk -F'\t' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ ns[$at["part"] == "host" || $at["part"] == "api" ? "host" : $at["part"] == "compute" ? "compute" : "rest"] += $at["share"] }
		END { print (ns["compute"] > 0.9 ? "compute" : ns["host"] > 0.9 ? "host" : "neither: " ns["compute"] " " ns["host"]) }'
}
equal 'what sets the steps: compute of f32, the host of small steps' "$(sets gemm0) $(sets prec0) $(sets graph0)" 'compute compute host'
equal 'TF32 is no f32' "$(nsysx-diagnose -q --tsv "$real/prec1.nsysx" | cut -f 2 | grep -c f32-products)" 0
equal '... and f32 is' "$(nsysx-diagnose -q --tsv "$real/prec0.nsysx" | cut -f 2 | head -2 | tail -1)" f32-products
done_testing
