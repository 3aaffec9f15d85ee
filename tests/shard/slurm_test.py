"""Shards on a real Slurm: a controller and four slurmd on this host, a process and a node killed.

    slurm_test.py RESMEM

Needs Debian's slurmctld, slurmd and munge, and root. Not part of ./test: Slurm takes minutes to give
up a lost node. Prints what happened; exits with 1 unless the answer is that of one memory.
"""
import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import shard_files

NODES, SHARDS = 4, 12
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/shard"
LIMIT_SECONDS = 15 * 60
CONFIG = """
ClusterName=shards
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort={port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/linear
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=1,sched_interval=2
SlurmdParameters=config_overrides
SlurmdTimeout=10
KillWait=2
ReturnToService=2
MinJobAge=900
NodeName=node[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=1 RealMemory=1000
PartitionName=all Nodes=node[1-{nodes}] Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    """Consecutive ones that nobody listens on."""
    for first in range(20000 + os.getpid() % 10000, 60000, count):
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
                return first
            except OSError:
                continue
    raise RuntimeError("no free ports")


class Cluster:
    """Daemons that this process starts and, whatever happens, ends."""

    def __init__(self, folder):
        self.folder, self.daemons = folder, {}
        first = free_ports(NODES + 1)
        for name in ("munge", "state"):
            (folder / name).mkdir(mode=0o755)
        for node in range(1, NODES + 1):
            (folder / f"spool.node{node}").mkdir()
        config = folder / "slurm.conf"
        config.write_text(CONFIG.format(folder=folder, host=socket.gethostname().split(".")[0], port=first, nodes=NODES,
                                        first=first + 1, last=first + NODES))
        self.environment = {**os.environ, "SLURM_CONF": str(config)}
        key = folder / "munge/key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        self.start("munged", ["munged", "--foreground", "--force", f"--socket={folder}/munge/socket", f"--key-file={key}",
                              f"--log-file={folder}/munge/log", f"--pid-file={folder}/munge/pid",
                              f"--seed-file={folder}/munge/seed"])
        self.wait_for("munge", lambda: (folder / "munge/socket").exists())
        self.start("slurmctld", ["slurmctld", "-D"])
        for node in range(1, NODES + 1):
            self.start_node(f"node{node}")
        self.wait_for("the nodes", lambda: self.run("sinfo", "-h", "-o", "%T").split() == ["idle"])

    def start(self, name, command):
        self.daemons[name] = subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL,
                                              stderr=open(self.folder / f"{name}.err", "w"), start_new_session=True)

    def start_node(self, name):
        self.start(name, ["slurmd", "-D", "-N", name])

    def run(self, *command, check=True):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return done.stdout

    def wait_for(self, what, ready, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(RuntimeError):
                if ready():
                    return
            time.sleep(0.3)
        raise RuntimeError(f"waited {seconds} s for {what}; see {self.folder}")

    def processes(self, wanted):
        """Process ids whose command line has all the words, of this cluster alone."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                words = path.read_bytes().split(b"\0")
                environment = (path.parent / "environ").read_bytes()
                if str(self.folder).encode() in environment and all(w.encode() in words for w in wanted):
                    found.append(int(path.parent.name))
        return found

    def lose_node(self, name):
        """The daemon and all that runs there at once, as a machine that loses its power."""
        marked = f"SLURMD_NODENAME={name}".encode()
        tasks, keepers = [], set()
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError, ValueError):
                environment = path.read_bytes()
                if str(self.folder).encode() in environment and marked in environment.split(b"\0"):
                    tasks.append(int(path.parent.name))
                    parent = int((path.parent / "stat").read_text().rpartition(")")[2].split()[1])
                    if pathlib.Path(f"/proc/{parent}/comm").read_text().startswith("slurmstepd"):
                        keepers.add(parent)
        # Those who would report an end go first.
        for process in [self.daemons[name].pid, *keepers, *tasks]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.daemons[name].wait()

    def close(self):
        for name, process in reversed(self.daemons.items()):
            process.terminate()
        for process in self.daemons.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()


def states(cluster):
    """{job of an array or of its own: state}"""
    lines = cluster.run("squeue", "-h", "-a", "-r", "-t", "all", "-o", "%i %j %T").splitlines()
    return {words[0]: (words[1], words[2]) for words in map(str.split, lines)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("resmem")
    options = parser.parse_args()
    program = str(pathlib.Path(options.resmem).resolve())
    if os.geteuid() != 0 or not all(map(shutil.which, ("slurmctld", "slurmd", "munged", "sbatch"))):
        print("skipped: needs root, slurmctld, slurmd and munge")
        return 77
    with tempfile.TemporaryDirectory(prefix="resmem-slurm-") as scratch:
        os.chmod(scratch, 0o755)
        work = pathlib.Path(scratch) / "work"
        work.mkdir()
        place = shard_files.Place(work, program)
        one = place.one_memory()
        place.plan("shards", SHARDS)
        # Slow enough to be met at work: each step waits a little before it begins.
        slow = work / "slow-resmem"
        slow.write_text(f"#!/bin/bash\n[ \"$2\" = merge ] || sleep 3\nexec {program} \"$@\"\n")
        slow.chmod(0o755)
        (pathlib.Path(scratch) / "slurm").mkdir()
        cluster = Cluster(pathlib.Path(scratch) / "slurm")
        try:
            return watch(cluster, place, one, slow)
        finally:
            cluster.close()


def watch(cluster, place, one, slow):
    cluster.environment["RESMEM"] = str(slow)
    begin = time.monotonic()
    last = subprocess.run([EXAMPLES / "slurm.sh", "shards", str(SHARDS)], cwd=place.folder, env=cluster.environment,
                          capture_output=True, text=True, check=True).stdout.strip()
    say = lambda words: print(f"{time.monotonic() - begin:6.1f} s  {words}", flush=True)
    say(f"{SHARDS} shards on {NODES} nodes submitted; the last job is {last}")
    killed = lost = False
    while time.monotonic() - begin < LIMIT_SECONDS:
        now = states(cluster)
        running = [job for job, (name, state) in now.items() if state == "RUNNING"]
        if not killed and len(running) >= 2:
            at_work = cluster.processes(["shard", "memorize"])
            if at_work:
                os.kill(at_work[0], signal.SIGKILL)
                killed = True
                say("a process of shard memorize killed with SIGKILL")
        if killed and not lost and "shard-index" in {now[job][0] for job in running}:
            cluster.lose_node("node3")
            lost = True
            say("node3 lost: its slurmd and all its processes killed at once")
        bad = {state for _, state in now.values()} & {"FAILED", "CANCELLED", "TIMEOUT", "DEPENDENCY"}
        if bad:
            say(f"jobs ended as {bad}")
            return 1
        if now.get(last, ("", ""))[1] == "COMPLETED":
            break
        time.sleep(0.5)
    seconds = time.monotonic() - begin
    saved = place.folder / "shards/evaluation.json"
    if not saved.exists():
        say("no evaluation")
        return 1
    same = shard_files.judged(saved.read_text()) == one
    place.resmem("shard", "merge", "shards", "-o", "shards.npz")
    same_bytes = (place.folder / "shards.npz").read_bytes() == (place.folder / "one.npz").read_bytes()
    say(f"done; evaluation as one memory's: {same}; neighbors the same bytes: {same_bytes}; "
        f"killed a process: {killed}; lost a node: {lost}")
    return 0 if same and same_bytes and killed and lost else 1


if __name__ == "__main__":
    sys.exit(main())
