"""Hosts as network namespaces on one switch: 10.77.0.1, .2, ... and the gateway's, 10.77.0.100.

Each has its own loopback and addresses, and its cable can be pulled. Needs root, or a user namespace
that may make networks.
"""
import ctypes
import os
import subprocess

CLONE_NEWNET = 0x40000000


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


class Host:
    def __init__(self, network, name, address):
        self.network, self.address, self.space = network, address, f"{network.prefix}-{name}"
        self.cable = f"to-{name}"
        run("ip", "netns", "add", self.space)
        run("ip", "-n", network.switch, "link", "add", self.cable, "type", "veth", "peer", "name", "eth0", "netns", self.space)
        run("ip", "-n", network.switch, "link", "set", self.cable, "master", "switch", "up")
        run("ip", "-n", self.space, "address", "add", f"{address}/24", "dev", "eth0")
        for link in ("lo", "eth0"):
            run("ip", "-n", self.space, "link", "set", link, "up")

    def start(self, words, **options):
        return subprocess.Popen(["ip", "netns", "exec", self.space, *map(str, words)], stdin=subprocess.DEVNULL,
                                start_new_session=True, **options)

    def pull_cable(self, out):
        run("ip", "-n", self.network.switch, "link", "set", self.cable, "down" if out else "up")

    def enter(self):
        """The calling thread's sockets are this host's from now on."""
        place = os.open(f"/run/netns/{self.space}", os.O_RDONLY)
        try:
            if ctypes.CDLL(None, use_errno=True).setns(place, CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        finally:
            os.close(place)


class Network:
    def __init__(self, hosts):
        self.prefix = f"resmem{os.getpid()}"
        self.switch = f"{self.prefix}-switch"
        self.spaces = []
        self.hosts = []
        try:
            run("ip", "netns", "add", self.switch)
            run("ip", "-n", self.switch, "link", "add", "switch", "type", "bridge")
            run("ip", "-n", self.switch, "link", "set", "switch", "up")
            for i in range(1, hosts + 1):
                self.hosts.append(Host(self, f"host{i}", f"10.77.0.{i}"))
            self.gateway = Host(self, "gateway", "10.77.0.100")
        except OSError:
            self.close()
            raise

    def close(self):
        for line in subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout.splitlines():
            space = line.split()[0]
            if space.startswith(self.prefix + "-"):
                subprocess.run(["ip", "netns", "delete", space], check=False)


def why_not():
    """Why there can be no hosts here; "" where there can."""
    try:
        Network(1).close()
    except (OSError, FileNotFoundError) as error:
        return f"no network namespaces here: {error}"
    return ""
