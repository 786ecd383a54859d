#!/bin/sh
# nsysx-whatif: does a host wait where no call says so? Small streams of which it is known, with jitter.
. "${0%/*}/../testlib.sh"

# what CHANGE STREAM: what it saves: one number, or LOW..HIGH, in ms
what() {
	nsysx-whatif -q --tsv --step '^step' --what "$1" "$2" | awk -F'\t' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["what"] != "none" { printf($at["predicted"] == "" || $at["low"] != $at["high"] ? "%.1f..%.1f\n" : "%.1f\n", $at["low"] / 1e6, $at["high"] / 1e6) }'
}

# Of each step a kernel of 10 ms and, when it is done, a copy to the host that another thread has issued. reads=1: the host goes on 2.6 ms after the copy;
# 0: it has a pace of its own, 20 ms. Both vary.
reads() {
	awk -v "seed=$1" -v "reads=$2" '
		function chance() { return sqrt(-2 * log(rand() + 1e-12)) * cos(6.2831853 * rand()) }
		BEGIN {
			srand(seed); t = 0; print "device device=0 pid=1"
			for (i = 0; i < 14; i++) {
				k = int(10000000 + chance() * 300000)
				next_step = reads ? t + 10000 + k + int(2600000 + chance() * 60000) : t + int(20000000 + chance() * 200000)
				print "range range=" i " host_start=" t " host_dur=" next_step - t - 1000 " start=" t + 6000 " dur=" k " name=step"
				print "call call=" 2 * i " tid=1 start=" t " dur=5000 name=cuLaunchKernel class=launch ops=1"
				print "op op=" 2 * i " stream=7 name=main_k start=" t + 6000 " dur=" k " call=" 2 * i " tid=1 host_start=" t " host_dur=5000 range=" i
				print "call call=" 2 * i + 1 " tid=2 start=" t + 400000 " dur=5000 name=cuMemcpyDtoHAsync_v2 class=copy ops=1"
				print "op op=" 2 * i + 1 " type=memcpy stream=7 name=[CUDA~memcpy~Device-to-Host] start=" t + 7000 + k " dur=3000 call=" 2 * i + 1 \
					" tid=2 host_start=" t + 400000 " host_dur=5000"
				t = next_step
			}
		}' | awk -f host/stream.awk
}
for seed in 1 2 3 4 5 6 7 8; do
	reads $seed 1 >"$T/reads"
	reads $seed 0 >"$T/paced"
	echo "$(what faster:main_k=2 "$T/reads") $(what faster:main_k=2 "$T/paced")"
done >"$T/got"
equal 'a host that reads what another thread copies waits for it' "$(awk '$1 > 4.5 && $1 < 5.5 { n++ } END { print n + 0 }' "$T/got")" 8
equal '... one with a pace of its own is not said to' "$(awk '$2 + 0 > 0.1 { n++ } END { print n + 0 }' "$T/got")" 0

# A kernel of 10 ms in each step of 12, while the host makes no call, or asks whether it is done; other: a kernel of another name before it.
works() {
	awk -v "name=$1" -v "asks=$2" -v "xla=$3" -v "tid=${4-1}" '
		BEGIN {
			srand(1); t = p = 0; print "device device=0 pid=1"
			if (xla) { print "program program=0 id=7 name=f key=f@7"; print "inst program=0 inst=0 name=fusion.1" }
			for (i = 0; i < 14; i++) {
				next_step = t + 12000000 + int(rand() * 100000)
				print "range range=" i " host_start=" t " host_dur=" next_step - t - 1000 " start=" t + 6000 " dur=" 10010000 " name=step"
				print "call call=" ++c " tid=1 start=" t " dur=5000 name=cudaLaunchKernel class=launch ops=1"
				print "op op=" 2 * i " stream=7 name=" name " start=" t + 6000 " dur=10000000 call=" c " tid=1 host_start=" t " host_dur=5000 range=" i
				print "call call=" ++c " tid=1 start=" t + 6000 " dur=5000 name=cudaLaunchKernel class=launch ops=1"
				print "op op=" 2 * i + 1 " stream=7 name=small start=" t + 10007000 " dur=3000 call=" c " tid=1 host_start=" t + 6000 " host_dur=5000 range=" i \
					(xla ? " program=0 inst=0" : "")
				if (tid == 1)
					p = t + 100000
				for (; asks && p < t + (tid == 1 ? 10050000 : 12000000); p += 2030000)
					print "call call=" ++c " tid=" tid " start=" p " dur=1500 name=cudaEventQuery class=event ops=0"
				t = next_step
			}
		}' | awk -f host/stream.awk
}
alone() { case $(what faster:.=2 "$1") in *..*) echo range ;; *) echo number ;; esac; }
works mine 0 '' >"$T/mine"
works 'void~at::native::k' 0 '' >"$T/torch"
works 'void~at::native::k' 0 1 >"$T/both"
works 'void~at::native::k' 1 '' >"$T/asks"
works 'void~at::native::k' 1 '' 2 >"$T/watchdog"
equal 'in no call a host may wait, but not that of PyTorch' "$(alone "$T/mine") $(alone "$T/torch")" 'range number'
equal '... that of XLA beside it may, and one that asks again whether the device is done' "$(alone "$T/both") $(alone "$T/asks")" 'range range'

waits() { nsysx-whatif --step '^step' --what faster:.=2 "$1" 2>&1 >"$T/null" | grep -c 'may be waits for the device'; }
equal '... but not a thread that does nothing else, as a watchdog' "$(alone "$T/watchdog") $(waits "$T/watchdog")" 'number 0'

# A copy of pageable memory that its call waits for: no call waits any more.
staged() {
	awk 'BEGIN {
		print "device device=0 pid=1"
		for (i = 0; i < 8; i++) {
			t = i * 10000000
			print "range range=" i " host_start=" t " host_dur=9999000 start=" t + 6000 " dur=9000000 name=step"
			print "call call=" 2 * i " tid=1 start=" t " dur=8000000 name=cudaMemcpyAsync class=copy ops=1 waited=" 2 * i
			print "op op=" 2 * i " type=memcpy stream=7 name=[CUDA~memcpy~Host-to-Device] src=pageable dst=device start=" t + 6000 " dur=8000000 call=" 2 * i " tid=1 host_start=" t " host_dur=8000000 range=" i
			print "call call=" 2 * i + 1 " tid=1 start=" t + 8010000 " dur=5000 name=cudaLaunchKernel class=launch ops=1"
			print "op op=" 2 * i + 1 " stream=7 name=k start=" t + 8016000 " dur=10000 call=" 2 * i + 1 " tid=1 host_start=" t + 8010000 " host_dur=5000 range=" i
		}
	}' | awk -f host/stream.awk
}
staged >"$T/staged"
equal 'a copy that keeps its call: what it takes, and that the call waits' "$(what copies=inf "$T/staged" | awk '{ print ($1 > 7.9) }') $(what sync=0 "$T/staged" | awk '{ print ($1 > 1.5) }')" '1 1'
done_testing
