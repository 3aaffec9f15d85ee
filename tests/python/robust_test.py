"""Threads, fork, Ctrl-C, broken files, and memory that comes back.

RESMEM_TEST_FITS (default 300) is how often the leak test builds and deletes; 1000 is the full run."""
import gc
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np
from problems import clusters
from resmem import Cancelled, Memory


def resident_bytes():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


class Threads(unittest.TestCase):
    def test_a_hundred_threads_get_the_right_answers_while_another_changes_the_memory(self):
        keys, logits, labels = clusters(500)
        memory = Memory.build(keys[:400], logits[:400], labels[:400])
        before = memory.scores(keys[400:], logits[400:])
        memory_after = memory.copy()
        memory_after.append(keys[400:410], logits[400:410], labels[400:410])
        after = memory_after.scores(keys[400:], logits[400:])
        wrong, start = [], threading.Barrier(101)

        def ask():
            start.wait()
            for _ in range(10):
                scores = memory.scores(keys[400:], logits[400:])
                if not (np.array_equal(scores, before) or np.array_equal(scores, after)):
                    wrong.append(scores)

        threads = [threading.Thread(target=ask) for _ in range(100)]
        for thread in threads:
            thread.start()
        start.wait()
        memory.append(keys[400:410], logits[400:410], labels[400:410])
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        np.testing.assert_array_equal(memory.scores(keys[400:], logits[400:]), after)

    def test_other_python_threads_run_meanwhile(self):
        keys, logits, labels = clusters(30_000, dim=64)
        memory = Memory.build(keys, logits, labels)
        memory.neighbors(keys[:10])
        ticks, stop = [], threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(1)
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        worker = threading.Thread(target=lambda: memory.neighbors(keys, 50))  # the direct call of a thread
        worker.start()
        worker.join()
        during = len(ticks)
        stop.set()
        thread.join()
        self.assertGreater(during, 3)

    def test_a_forked_child_answers_the_same(self):
        keys, logits, labels = clusters(5000)
        memory = Memory.build(keys, logits, labels)
        expected = memory.scores(keys[:500], logits[:500])
        for _ in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                same = np.array_equal(memory.scores(keys[:500], logits[:500]), expected)
                other = Memory.build(keys[:100], logits[:100], labels[:100])
                os._exit(0 if same and len(other) == 100 else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
        code = ("import sys, os; import numpy as np, resmem\n"
                "k = np.zeros((50, 2), np.float32); k[:, 0] = range(50)\n"
                "m = resmem.Memory.build(k, k, np.arange(50) % 2)\n"
                "m.neighbors(k)\n"
                "if os.fork() == 0:\n    m.neighbors(k); sys.exit(0)\n"  # runs exit handlers
                "sys.exit(os.wait()[1])")
        self.assertEqual(subprocess.run([sys.executable, "-c", code], timeout=120).returncode, 0)


class Stopping(unittest.TestCase):
    def test_a_callback_hears_of_progress_and_can_stop(self):
        keys, logits, labels = clusters(40_000)
        heard = []
        memory = Memory.build(keys, logits, labels, progress=lambda *report: heard.append(report) and None)
        self.assertEqual(heard[-1], ("memorize", 40_000, 40_000))
        with self.assertRaises(Cancelled):
            Memory.build(keys, logits, labels, progress=lambda *_: True)

        def fail(*_):
            raise ZeroDivisionError("mine")

        with self.assertRaises(ZeroDivisionError):
            memory.evaluate(keys, logits, labels, progress=fail)

    def test_control_c_stops_long_work_soon(self):
        code = ("import numpy as np, resmem, signal, sys\n"
                # A shell's background job ignores Ctrl-C, and so would its children.
                "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                "keys = np.random.default_rng(0).standard_normal((120_000, 96)).astype(np.float32)\n"
                "logits = np.zeros((120_000, 2), np.float32)\n"
                "m = resmem.Memory.build(keys, logits, np.arange(120_000) % 2)\n"
                "print('ready', flush=True)\n"
                "try:\n    m.neighbors(keys, 100)\n"
                "except KeyboardInterrupt:\n    print('stopped', len(m)); sys.exit(7)\n")
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
            self.assertEqual(child.stdout.readline(), "ready\n")
            time.sleep(0.5)
            child.send_signal(signal.SIGINT)
            output, _ = child.communicate(timeout=120)
        self.assertEqual((child.returncode, output), (7, "stopped 120000\n"))


class Files(unittest.TestCase):
    def test_a_broken_memory_raises_wherever_it_is_broken(self):
        keys, logits, labels = clusters(50)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "m.resmem")
            Memory.build(keys, logits, labels, path=path).close()
            files = sorted(path.iterdir())
            self.assertEqual(len(files), 2)
            rng = np.random.default_rng(0)
            for file in files:
                sound = file.read_bytes()
                for place in rng.integers(0, len(sound), 40):
                    broken = bytearray(sound)
                    broken[place] ^= 1 << rng.integers(0, 8)
                    file.write_bytes(broken)
                    with self.assertRaises(OSError):
                        Memory.open(path)
                for length in (0, 1, 100, len(sound) - 1):
                    file.write_bytes(sound[:length])
                    with self.assertRaises(OSError):
                        Memory.open(path)
                file.write_bytes(sound)
            Memory.open(path).close()
            files[0].unlink()
            with self.assertRaises(FileNotFoundError):
                Memory.open(path)

    def test_broken_pickles_raise(self):
        keys, logits, labels = clusters(50)
        files = Memory.build(keys, logits, labels).__getstate__()["files"]
        from resmem.memory import _unpickle
        name = [name for name in files if name != "MANIFEST"][0]
        broken = bytearray(files[name])
        broken[len(broken) // 2] ^= 1
        for bad in ({**files, name: bytes(broken)}, {**files, name: b""}, {"MANIFEST": files["MANIFEST"]}, {},
                    {**files, "../../x": b"1"}):
            with self.assertRaises((OSError, ValueError)):
                _unpickle(bad)


class Leaks(unittest.TestCase):
    def test_fits_and_deletes_give_their_memory_back(self):
        fits = int(os.environ.get("RESMEM_TEST_FITS", "300"))
        keys, logits, labels = clusters(2000, dim=32)

        def fit():
            memory = Memory.build(keys, logits, labels)
            memory.append(keys[:5], logits[:5], labels[:5], ids=range(5000, 5005))
            memory.delete([0, 5001])
            memory.scores(keys[:20], logits[:20])
            try:
                memory.delete([0])
            except KeyError:
                pass

        for _ in range(fits // 5):
            fit()
        gc.collect()
        before = resident_bytes()
        for _ in range(fits):
            fit()
        gc.collect()
        grown = resident_bytes() - before
        # One fit holds 400 kB: were even a twentieth of them lost, this would be more.
        print(f"{fits} fits: resident memory changed by {grown:,} bytes")
        self.assertLess(grown, max(4_000_000, fits * 20_000))


if __name__ == "__main__":
    unittest.main()
