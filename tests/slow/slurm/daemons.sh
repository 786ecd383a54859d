# daemons.sh -- a Slurm of this machine alone, in a folder; sourced by slurm.sh.
#
#   slurm_up DIR     start it: 0 when it takes jobs, else a word on standard output why not
#   slurm_down DIR   end it
#
# No file outside DIR is written and no daemon of the system is talked to. Ports come from the process's number.

slurm_conf() {
	# Below those that the system gives to clients.
	port=$((12000 + $$ % 20000))
	host=$(hostname | cut -d . -f 1)
	cat <<-END
	ClusterName=nsysx
	SlurmctldHost=$host(127.0.0.1)
	SlurmctldPort=$port
	SlurmdPort=$((port + 1))
	AuthType=auth/munge
	AuthInfo=socket=$1/munge/socket
	CredType=cred/munge
	SlurmUser=root
	SlurmdUser=root
	StateSaveLocation=$1/state
	SlurmdSpoolDir=$1/spool
	SlurmctldPidFile=$1/slurmctld.pid
	SlurmdPidFile=$1/slurmd.pid
	SlurmctldLogFile=$1/slurmctld.log
	SlurmdLogFile=$1/slurmd.log
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	SwitchType=switch/none
	MpiDefault=none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core
	SchedulerParameters=sched_min_interval=0,bf_interval=1
	JobAcctGatherType=jobacct_gather/none
	AccountingStorageType=accounting_storage/none
	ReturnToService=2
	KillWait=2
	MaxArraySize=1001
	SlurmdParameters=config_overrides
	NodeName=$host NodeAddr=127.0.0.1 CPUs=12 State=UNKNOWN
	PartitionName=all Nodes=ALL Default=YES State=UP
	END
}

# Why a daemon ended that has log $1.
last_error() { sed -n 's/^\[[^]]*\] error: //p' "$1" 2>/dev/null | tail -n 2 | paste -sd ' '; }

slurm_up() {
	mkdir -p "$1/munge" "$1/state" "$1/spool" && chmod 700 "$1/munge"
	(umask 077 && head -c 128 /dev/urandom >"$1/munge/key")
	slurm_conf "$1" >"$1/slurm.conf"
	# Containers may have no control groups that can be written, and nothing here uses them. Versions before 23 know no other word
	# for that than the plugin that makes none by itself.
	case $(slurmd -V) in
	*\ 2[0-2].*) echo 'CgroupPlugin=cgroup/v1' ;;
	*)           echo 'CgroupPlugin=disabled' ;;
	esac >"$1/cgroup.conf"
	SLURM_CONF=$1/slurm.conf
	export SLURM_CONF
	munged --force --key-file="$1/munge/key" --socket="$1/munge/socket" --pid-file="$1/munge/pid" --log-file="$1/munge/log" \
		--seed-file="$1/munge/seed" >"$1/up.log" 2>&1 || { echo 'munged does not start'; return 1; }
	slurmctld >>"$1/up.log" 2>&1 || { echo "slurmctld does not start: $(last_error "$1/slurmctld.log")"; return 1; }
	slurmd -N "$host" >>"$1/up.log" 2>&1 || { echo "slurmd does not start: $(last_error "$1/slurmd.log")"; return 1; }
	tries=0
	until [ "$(timeout 5 sinfo -h -o %t 2>/dev/null)" = idle ]; do
		tries=$((tries + 1))
		[ "$tries" -lt 40 ] || { echo 'the node of slurmd never is idle'; return 1; }
		sleep 0.5
	done
}

slurm_down() {
	for pid in "$1/slurmd.pid" "$1/slurmctld.pid" "$1/munge/pid"; do
		[ -s "$pid" ] && kill "$(cat "$pid")" 2>/dev/null
	done
	tries=0
	while [ -e "$1/slurmd.pid" ] || [ -e "$1/slurmctld.pid" ] || [ -e "$1/munge/pid" ]; do
		tries=$((tries + 1))
		[ "$tries" -lt 40 ] || break
		sleep 0.25
	done
}
