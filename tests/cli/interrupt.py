"""Sends signals to a resmem at work and looks at what is left."""
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np

ROWS, DIM = 400_000, 64
TRIES = 5  # a run may be done before the signal comes


def write_large():
    np.save("large_keys.npy", np.zeros((ROWS, DIM), np.float32))
    np.save("large_logits.npy", np.zeros((ROWS, 4), np.float32))
    np.save("large_labels.npy", np.zeros(ROWS, np.int32))
    return ["--keys", "large_keys.npy", "--logits", "large_logits.npy", "--labels", "large_labels.npy"]


def content(folder):
    return sorted(str(p) for p in pathlib.Path(folder).rglob("*"))


def interrupt_when_something_is_written(command, folder, number, suffix=""):
    """The exit code of a run that the signal reached while it wrote, after a new name that ends so."""
    for _ in range(TRIES):
        before = content(folder)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not any(
                name.endswith(suffix) for name in set(content(folder)) - set(before)):
            time.sleep(0.001)
        process.send_signal(number)
        if process.wait() != 0:
            return process.returncode
        subprocess.run("rm -rf out/*", shell=True, check=True)
    return 0


def memorize(number):
    pathlib.Path("out").mkdir(exist_ok=True)
    code = interrupt_when_something_is_written(
        ["resmem", "memorize", *write_large(), "-o", "out/big.resmem"], "out", number)
    left = content("out")
    print(f"{code}; {'nothing left' if not left else left}")


def append():
    random = np.random.default_rng(1)
    np.savez("wide_train.npz", keys=random.standard_normal((240, DIM)).astype(np.float32),
             logits=np.zeros((240, 4), np.float32), labels=np.zeros(240, np.int32))
    subprocess.run(["resmem", "memorize", "--data", "wide_train.npz", "-o", "a.resmem", "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    before = content("a.resmem")
    code = interrupt_when_something_is_written(
        ["resmem", "append", "a.resmem", *write_large()], "a.resmem", signal.SIGINT)
    info = subprocess.run(["resmem", "verify", "a.resmem"], check=True, capture_output=True, text=True)
    same = "as before" if content("a.resmem") == before and "240 rows" in info.stdout else info.stdout
    print(f"{code}; 240 rows {same}")


def index(command):
    """Once the segment is complete, the rest of the time goes into the index."""
    random = np.random.default_rng(1)
    for name, rows in ("few", 240), ("many", 60_000):
        np.savez(f"{name}.npz", keys=random.standard_normal((rows, DIM)).astype(np.float32),
                 logits=np.zeros((rows, 4), np.float32), labels=np.zeros(rows, np.int32))
    folder = pathlib.Path(f"{command}_indexed")
    folder.mkdir()
    memory = f"{folder}/m.resmem"
    create = ["resmem", "memorize", "-o", memory, "--recall", "0.9", "--data"]
    if command == "append":
        subprocess.run([*create, "few.npz"], check=True, capture_output=True)
    before = content(folder)
    code = interrupt_when_something_is_written(
        [*create, "many.npz"] if command == "memorize" else ["resmem", "append", memory, "--data", "many.npz"],
        folder, signal.SIGINT, "segment-000001.resmem" if command == "memorize" else "segment-000002.resmem")
    print(f"{code}; {'as before' if content(folder) == before else content(folder)}")


def twice():
    """Opening a pipe that nobody reads waits for ever: the first signal is a request, kept."""
    subprocess.run(["resmem", "memorize", "--data", "train.npz", "-o", "t.resmem", "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    os.mkfifo("pipe")
    process = subprocess.Popen(["resmem", "predict", "t.resmem", "--data", "test.npz", "-o", "pipe"])
    waiting = 0
    while waiting < 20 and process.poll() is None:  # asleep for a while: in open()
        state = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        waiting = waiting + 1 if state == "S" else 0
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    if process.poll() is not None:
        print("ended by the first signal")
        return
    process.send_signal(signal.SIGINT)
    process.wait()
    print("killed by SIGINT" if process.returncode == -signal.SIGINT else process.returncode)


if __name__ == "__main__":
    {"memorize": lambda: memorize(signal.SIGINT), "terminate": lambda: memorize(signal.SIGTERM),
     "hang-up": lambda: memorize(signal.SIGHUP), "append": append, "twice": twice,
     "append-index": lambda: index("append"), "memorize-index": lambda: index("memorize")}[sys.argv[1]]()
