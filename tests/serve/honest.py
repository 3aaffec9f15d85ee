"""What honest clients notice of an attack: their p50 and p99 alone, and while others send slowly, nonsense, too much
and too often.  Both take turns, so that what else the machine does hits both alike.

    honest.py RESMEM [--rounds 6] [--seconds 5] [--held 1000]
"""
import argparse
import json
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

ARGUMENTS, sys.argv = sys.argv[2:], sys.argv[:2]
import harness  # noqa: E402
from attack_test import Malformed, head, read_all  # noqa: E402
from harness import rows, triton_request  # noqa: E402

CLIENTS, EVERY = 4, 0.01  # honest ones, and seconds between two requests of one


class Attack:
    """Slow clients that send a byte a second, 100 malformed requests and 50 empty connections a second, and bodies of
    a gigabyte."""

    def __init__(self, port, held):
        self.port, self.stop, self.sent = port, threading.Event(), 0
        works = [lambda: self.hold(held), self.malformed, self.flood, self.gigabytes]
        self.threads = [threading.Thread(target=work) for work in works]
        for thread in self.threads:
            thread.start()

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def hold(self, count):
        held = [self.open(head(1000)) for _ in range(count)]
        while not self.stop.wait(1):
            for i, raw in enumerate(held):
                try:
                    raw.send(b"x")
                except OSError:
                    raw.close()
                    held[i] = self.open(head(1000))
        for raw in held:
            raw.close()

    def socket(self, timeout=30):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def open(self, first):
        raw = self.socket()
        raw.sendall(first)
        raw.settimeout(1)
        return raw

    def malformed(self):
        dice, maker = random.Random(1), Malformed()
        seeds = list(maker.seeds())
        while not self.stop.wait(0.01):
            try:
                with self.socket(5) as raw:
                    raw.sendall(maker.mutate(dice, dice.choice(seeds)))
                    raw.shutdown(socket.SHUT_WR)
                    read_all(raw)
            except OSError:
                pass
            self.sent += 1

    def flood(self):
        while not self.stop.wait(0.02):
            self.socket().close()

    def gigabytes(self):
        chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        while not self.stop.wait(0.1):
            try:
                with self.socket() as raw:
                    raw.sendall(head(more="Transfer-Encoding: chunked\r\n"))
                    for _ in range(10 ** 9 // 65536):
                        raw.sendall(chunk)
            except OSError:
                pass  # it was refused, as it should be


class Elsewhere:
    """An attack by a process of its own, so that it takes nothing from the threads that measure."""

    def __init__(self, server, held):
        words = [sys.executable, __file__, sys.argv[1], "--attack", str(server.port), "--held", str(held)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def end(self):
        return int(self.process.communicate()[0])


def attack(port, held):
    attack = Attack(port, held)
    sys.stdin.read()
    attack.end()
    print(attack.sent)


def ask_honestly(server, seconds):
    """-> the latencies of all honest clients, sorted"""
    test, all_of_them, lock = rows(200, 3), [], threading.Lock()

    def client(number):
        connection, mine, end = server.connect(), [], time.perf_counter() + seconds
        due = time.perf_counter() + number * EVERY / CLIENTS
        while due < end:
            time.sleep(max(0, due - time.perf_counter()))
            i = random.randrange(200)
            body, headers = triton_request({"keys": test["keys"][i:i + 1], "logits": test["logits"][i:i + 1]}, ["scores"])
            begin = time.perf_counter()
            status, answer, _ = server.ask("POST", "/v2/models/m/infer", body, headers, connection)
            mine.append(time.perf_counter() - begin)
            assert status == 200, answer
            due = max(due + EVERY, begin)
        with lock:
            all_of_them.extend(mine)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return all_of_them


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("--rounds", 6), ("--seconds", 5), ("--held", 1000)):
        parser.add_argument(name, type=int, default=value)
    parser.add_argument("--attack", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args(ARGUMENTS)
    if arguments.attack:
        return attack(arguments.attack, arguments.held)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_honest_"))
    alone, attacked, malformed = [], [], 0
    try:
        harness.make_memory(folder, 5000)
        server = harness.Server(folder, "--header-seconds", "5", "--body-seconds", "5", "--max-body", "1")
        ask_honestly(server, 1)
        for _ in range(arguments.rounds):
            alone += ask_honestly(server, arguments.seconds)
            others = Elsewhere(server, arguments.held)
            time.sleep(2)
            attacked += ask_honestly(server, arguments.seconds)
            malformed += others.end()
        resident, code = server.resident_mb(), server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    place = lambda times, share: round(1e6 * sorted(times)[int(len(times) * share)])  # noqa: E731
    print(json.dumps({
        "requests": [len(alone), len(attacked)], "malformed": malformed, "resident_mb": round(resident), "exit_code": code,
        "alone_us": {"p50": place(alone, 0.5), "p99": place(alone, 0.99)},
        "attacked_us": {"p50": place(attacked, 0.5), "p99": place(attacked, 0.99)},
        "p99_ratio": round(place(attacked, 0.99) / place(alone, 0.99), 2)}))
    return code


if __name__ == "__main__":
    sys.exit(main())
