# machine.sh -- the machine on which the numbers were measured.
of_cpu() { sed -n "s/^$1[[:space:]]*: //p" /proc/cpuinfo 2>/dev/null | head -n 1; }

rm -f "$work/machine.tsv"
row machine what is
row machine nsysx "$("$bin/nsysx" --version | awk 'NR == 1 { print $NF }')"
row machine processors "$(getconf _NPROCESSORS_ONLN)"
row machine 'CPU model' "$(of_cpu 'model name')"
row machine 'clock MHz' "$(of_cpu 'cpu MHz')"
row machine 'memory MiB' "$(awk '/^MemTotal/ { printf "%.0f", $2 / 1024 }' /proc/meminfo 2>/dev/null)"
row machine 'load at start' "$(cut -d' ' -f1 /proc/loadavg 2>/dev/null)"
row machine kernel "$(uname -sr)"
row machine libsqlite3 "$("$tools/floor" -V)"
row machine 'runs of each command' "$TIMES"
about 'Measured on:'
show machine
