"""Allocations of one run: where the process would allocate, it stops, and two copies of it go on, which find no
memory there.  A copy costs a millisecond or two, where a new process has to come to that place
first.  Whatever a copy does to the files is undone before the process goes on.
"""
import array
import os
import select
import signal
import struct
import subprocess

REPORT = struct.Struct("qqq")
NO_CHILD = -1
SECONDS = 120


class Kept:
    """Files by their names, inodes and bytes, so that they can be as they were, also for who has them open."""

    def __init__(self, paths, side):
        self.paths, self.side = paths, side  # paths() gives all that are there now
        side.mkdir()
        self.files, self.seen = {}, None

    def signature(self):
        return sorted((str(path), *(getattr(path.stat(), field) for field in ("st_ino", "st_size", "st_mtime_ns")))
                      for path in self.paths())

    def keep(self):
        if self.signature() == self.seen:
            return
        for link, _ in self.files.values():
            link.unlink()
        self.files = {}
        for number, path in enumerate(self.paths()):
            link = self.side / str(number)
            os.link(path, link)
            self.files[path] = (link, path.read_bytes())
        self.seen = self.signature()

    def restore(self):
        if self.signature() == self.seen:
            return
        for path in self.paths():
            if path not in self.files or not path.samefile(self.files[path][0]):
                path.unlink()
        for path, (link, data) in self.files.items():
            if not path.exists():
                os.link(link, path)
            if path.read_bytes() != data:
                path.write_bytes(data)  # the same inode
        self.seen = self.signature()


def run(command, folder, environment, points, kept, judge):
    """Calls judge(point, onward, exit code or minus the signal, what it said on standard error)."""
    to_child, from_here = os.pipe()
    to_here, from_child = os.pipe()
    words = folder / "words"
    (folder / "points").write_bytes(array.array("q", points).tobytes())
    with open(words, "ab") as said, open(os.devnull, "wb") as nothing:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=nothing, stderr=said, pass_fds=(to_child, from_child),
            env={**environment, "FORK_FDS": f"{to_child},{from_child}", "FORK_POINTS": str(folder / "points")})
    os.close(to_child)
    os.close(from_child)
    try:
        while select.select([to_here], [], [], SECONDS)[0]:
            report = os.read(to_here, REPORT.size)
            if not report:
                break
            point, onward, status = REPORT.unpack(report)
            if status == NO_CHILD:
                kept.keep()
                os.truncate(words, 0)
            else:
                code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
                judge(point, bool(onward), code, words.read_text(errors="replace"))
                kept.restore()
            os.write(from_here, b"g")
        else:
            process.send_signal(signal.SIGKILL)
            raise AssertionError("stands still")
    finally:
        os.close(from_here)
        os.close(to_here)
        process.wait()
