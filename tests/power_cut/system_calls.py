"""What a program asked of the file system, in order, read from strace.

Only what changes files below one folder is kept, and the moments at which the program told somebody
that it was done.  A call that changes files in a way that this page does not know is an error: a
silent gap would make every test that stands on it say less than it seems to."""
import os
import re
import subprocess
from typing import NamedTuple

CALLS = ("open,openat,creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,fsync,fdatasync,"
         "sync,syncfs,sync_file_range,msync,rename,renameat,renameat2,unlink,unlinkat,rmdir,link,linkat,symlink,"
         "symlinkat,mkdir,mkdirat,lseek,copy_file_range,sendfile,splice,io_uring_setup,mmap,sendmsg,sendto,chdir,"
         "fchdir,mknod,mknodat,ioctl,dup,dup2,dup3")
LINE = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\d+|\?)(?:<((?:\\x..)*)>)?(?: .*)?$", re.S)
FIRST = re.compile(r"^(\d+) +(.*) <unfinished \.\.\.>$", re.S)
REST = re.compile(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$", re.S)
WORD = re.compile(r'"(?P<text>(?:\\x..)*)"(?P<cut>\.\.\.)?|(?P<number>-?\w+)<(?P<path>(?:\\x..)*)>')
AT_END = -1
UNKNOWN = {"creat", "truncate", "fallocate", "link", "linkat", "symlink", "symlinkat", "copy_file_range", "sendfile",
           "splice", "io_uring_setup", "mknod", "mknodat", "pwritev", "pwritev2", "writev", "sync", "syncfs"}


class Event(NamedTuple):
    """kind: create, mkdir, write, truncate, rename, remove, sync, told."""
    kind: str
    path: str = ""
    to: str = ""
    offset: int = 0
    data: bytes = b""


def _bytes(text):
    return bytes.fromhex(text.replace("\\x", ""))


def _lines(text):
    """Whole calls: strace cuts one in two where another thread speaks in between."""
    waiting = {}
    for line in text.split("\n"):
        if first := FIRST.match(line):
            waiting[first[1]] = first[2]
        elif (rest := REST.match(line)) and rest[1] in waiting:
            yield f"{rest[1]} {waiting.pop(rest[1])}{rest[2]}"
        else:
            yield line


class _Reader:
    def __init__(self, root):
        self.root, self.offsets, self.at_end, self.events = os.path.realpath(root), {}, set(), []
        self.folders = {}  # where a process is

    def inside(self, path):
        return path == self.root or path.startswith(self.root + "/")

    def add(self, kind, path, **more):
        if self.inside(path):
            self.events.append(Event(kind, path, **more))

    def paths(self, process, arguments):
        """Absolute paths of the names in a call; descriptors before a name are its folder."""
        found, folder = [], self.folders.get(process, os.getcwd())
        for word in WORD.finditer(arguments):
            if word["path"] is not None:
                folder = os.fsdecode(_bytes(word["path"]))
            else:
                found.append(os.path.normpath(os.path.join(folder, os.fsdecode(_bytes(word["text"])))))
        return found

    def copied(self, source, path, arguments, count):
        """The trace does not hold what was copied; the source must still be as it was."""
        if arguments.count(">, NULL") != 2:
            raise ValueError(f"not modeled: copy_file_range {arguments[-200:]}")
        begin, offset = self.offsets.get(source, 0), self.offsets.get(path, 0)
        with open(source, "rb") as file:
            data = os.pread(file.fileno(), count, begin)
        self.offsets[source], self.offsets[path] = begin + count, offset + count
        if data:
            self.add("write", path, offset=offset, data=data)

    def call(self, process, name, arguments, result, result_path):
        words = list(WORD.finditer(arguments))
        descriptor = os.fsdecode(_bytes(words[0]["path"])) if words and words[0]["path"] is not None else ""
        if name in ("sendmsg", "sendto", "write") and not self.inside(descriptor):
            said = next((_bytes(word["text"]) for word in words if word["text"] is not None), b"")
            if said:
                self.events.append(Event("told", descriptor, to=words[0]["number"], data=said))
        elif name in ("open", "openat"):
            path = os.fsdecode(_bytes(result_path))
            if self.inside(path):
                self.offsets[path] = 0
                (self.at_end.add if "O_APPEND" in arguments else self.at_end.discard)(path)
                if "O_TMPFILE" in arguments:
                    raise ValueError(f"not modeled: {name} {path} {arguments[-80:]}")
                if "O_CREAT" in arguments:
                    self.add("create", path)
                if "O_TRUNC" in arguments:
                    self.add("truncate", path)
        elif name in ("write", "pwrite64"):
            text = words[1]
            if text["cut"]:
                raise ValueError("strace has cut what was written")
            data = _bytes(text["text"])[:result]
            if name == "write" and descriptor in self.at_end:
                offset = AT_END
            elif name == "write":
                offset = self.offsets.get(descriptor, 0)
                self.offsets[descriptor] = offset + result
            else:
                offset = int(arguments.rsplit(",", 1)[1])
            self.add("write", descriptor, offset=offset, data=data)
        elif name == "lseek" and self.inside(descriptor):
            self.offsets[descriptor] = result
        elif name == "ftruncate":
            self.add("truncate", descriptor, offset=int(arguments.rsplit(",", 1)[1]))
        elif name in ("fsync", "fdatasync"):
            self.add("sync", descriptor)
        elif name in ("rename", "renameat", "renameat2"):
            old, new = self.paths(process, arguments)
            if self.inside(old) != self.inside(new) or "RENAME_" in arguments.replace("RENAME_NOREPLACE", ""):
                raise ValueError(f"not modeled: {name} {old} {new}")
            self.add("rename", old, to=new)
        elif name in ("unlink", "unlinkat", "rmdir"):
            self.add("remove", self.paths(process, arguments)[0])
        elif name in ("mkdir", "mkdirat"):
            self.add("mkdir", self.paths(process, arguments)[0])
        elif name == "chdir":
            self.folders[process] = self.paths(process, arguments)[0]
        elif name == "fchdir":
            self.folders[process] = descriptor
        elif name == "copy_file_range" and self.inside(os.fsdecode(_bytes(words[1]["path"]))):
            self.copied(descriptor, os.fsdecode(_bytes(words[1]["path"])), arguments, result)
        elif name == "mmap" and "MAP_SHARED" in arguments and "PROT_WRITE" in arguments and self.inside(
                next((os.fsdecode(_bytes(word["path"])) for word in words if word["path"] is not None), "")):
            raise ValueError("not modeled: a file written through a mapping")
        elif name == "ioctl" and "FICLONE" in arguments:
            raise ValueError("not modeled: FICLONE")
        elif name in UNKNOWN and any(self.inside(path) for path in [descriptor, *self.paths(process, arguments)]):
            raise ValueError(f"not modeled: {name} {arguments[-200:]}")


def events(text, root):
    reader = _Reader(root)
    for line in _lines(text):
        found = LINE.match(line)
        if found and found[4] != "?" and int(found[4]) >= 0:
            reader.call(found[1], found[2], found[3], int(found[4]), found[5] or "")
    return reader.events


def command(words, trace):
    """The words that run `words` under strace."""
    return ["strace", "-f", "-y", "-xx", "-s", "50000000", "-o", str(trace), "-e", f"trace={CALLS}", *map(str, words)]


def run(words, root, trace, cwd):
    done = subprocess.run(command(words, trace), cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.returncode} {done.stderr}")
    here = os.getcwd()
    os.chdir(cwd)  # names in the trace are relative to it
    try:
        return events(open(trace, encoding="latin-1").read(), root)
    finally:
        os.chdir(here)
