"""Nodes of NATS JetStream on loopback, as Debian's nats-server runs them: three keep a stream together."""
import json
import shutil
import signal
import socket
import subprocess
import time
import urllib.request


def free_ports(count):
    """Of this moment; another program may take one before it is used."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def why_not():
    """Why there can be no nodes here; "" where there can."""
    return "" if shutil.which("nats-server") else "no nats-server here; ./setup installs it"


class Node:
    def __init__(self, folder, name, ports, routes):
        self.port, self.route, self.monitor = ports
        self.log, self.process = folder / f"{name}.log", None
        self.settings = folder / f"{name}.conf"
        self.settings.write_text(
            f"server_name: {name}\nlisten: 127.0.0.1:{self.port}\nhttp: 127.0.0.1:{self.monitor}\n"
            f"jetstream {{ store_dir: \"{folder / name}\", max_file: 1G, max_mem: 64M }}\n"
            f"cluster {{ name: edits, listen: 127.0.0.1:{self.route}, routes: [{routes}] }}\n")

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(["nats-server", "-c", self.settings], stdout=log, stderr=log)

    def stop(self, kind=signal.SIGKILL):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(kind)
            self.process.wait(30)

    def ready(self):
        """Whether it sees a leader of all nodes."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.monitor}/jsz", timeout=1) as answer:
                return bool(json.load(answer).get("meta_cluster", {}).get("leader"))
        except OSError:
            return False


class Nodes:
    def __init__(self, folder, count=3):
        folder.mkdir()
        ports = free_ports(3 * count)
        routes = ", ".join(f"nats://127.0.0.1:{ports[3 * i + 1]}" for i in range(count))
        self.all = [Node(folder, f"n{i + 1}", ports[3 * i:3 * i + 3], routes) for i in range(count)]
        self.urls = ",".join(f"nats://127.0.0.1:{node.port}" for node in self.all)

    def start(self):
        for node in self.all:
            node.start()
        self.wait()

    def wait(self, limit=60):
        end = time.time() + limit
        while not all(node.ready() for node in self.all if node.process.poll() is None):
            if time.time() > end:
                raise AssertionError(self.all[0].log.read_text()[-2000:])
            time.sleep(0.05)

    def stop(self):
        for node in self.all:
            node.stop()
