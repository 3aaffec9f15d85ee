"""What may be on a disk after the power is cut: only what was synced is certain.

Data of a file is certain after fsync of the file, a name after fsync of its folder.  Of everything
else each change may be there or not, independent of its order; a write may be there in part, by
sectors, and where its size is there and its data is not, the bytes are zeros or anything.  That is
weaker than any file system in use, which keeps names in order and syncs the name of a synced file."""
import hashlib
import os
import pathlib

from system_calls import AT_END

SECTOR = 512


class File:
    def __init__(self, data=b""):
        self.data, self.size = data, len(data)  # at the start, and for a program that runs


class Folder:
    def __init__(self):
        self.names = {}


class Change:
    """One change of a file or of a folder; `where` is what a sync makes certain."""

    def __init__(self, where, kind, **more):
        self.where, self.kind = where, kind
        self.__dict__.update(more)


def load(path):
    """The tree below path as it is, all of it certain."""
    if path.is_file():
        return File(path.read_bytes())
    folder = Folder()
    if path.is_dir():
        folder.names = {entry.name: load(entry) for entry in sorted(path.iterdir())}
    return folder


class Disk:
    """The tree at the start, and the changes in their order; a number is a place between two events."""

    def __init__(self, root, tree):
        self.root, self.start = pathlib.Path(root), tree
        self.live = {self.root: tree}  # what a program that runs sees
        self._note(self.root, tree)
        self.changes = []      # (event, Change)
        self.certain_at = []   # beside it: the event that made it certain, or None
        self.told = []         # (event, who, what)
        self.events = 0

    def _note(self, path, node):
        self.live[path] = node
        for name, inner in (node.names.items() if isinstance(node, Folder) else ()):
            self._note(path / name, inner)

    def _change(self, where, kind, **more):
        self.changes.append((self.events, Change(where, kind, **more)))
        self.certain_at.append(None)

    def add(self, event):
        self.events += 1
        path = pathlib.Path(event.path)
        if event.kind == "told":
            self.told.append((self.events, event.to, event.data))
        elif event.kind == "sync":
            node = self.live.get(path)
            for number, (_, change) in enumerate(self.changes):
                if change.where is node and self.certain_at[number] is None:
                    self.certain_at[number] = self.events
        elif event.kind in ("create", "mkdir"):
            if path in self.live:
                return
            node = File() if event.kind == "create" else Folder()
            self.live[path] = node
            self._change(self.live[path.parent], "name", name=path.name, node=node)
        elif event.kind == "write":
            node = self.live[path]
            offset = node.size if event.offset == AT_END else event.offset
            node.size = max(node.size, offset + len(event.data))
            self._change(node, "write", offset=offset, data=event.data)
        elif event.kind == "truncate":
            self.live[path].size = event.offset
            self._change(self.live[path], "truncate", size=event.offset)
        elif event.kind == "remove":
            self._change(self.live[path.parent], "remove", name=path.name, node=self.live.pop(path))
        elif event.kind == "rename":
            node, to = self.live.pop(path), pathlib.Path(event.to)
            if isinstance(node, Folder):
                inner = [known for known in self.live if path in known.parents]
                for known in inner:
                    self.live[to / known.relative_to(path)] = self.live.pop(known)
            self.live[to] = node
            self._change(self.live[to.parent], "rename", name=to.name, node=node, former=self.live[path.parent],
                         former_name=path.name)

    def pending(self, event):
        """The numbers of the changes made until `event` that are not certain there."""
        return [number for number, (made, _) in enumerate(self.changes)
                if made <= event and (self.certain_at[number] is None or self.certain_at[number] > event)]

    def image(self, event, kept, torn=None):
        """{relative path: bytes; None: a folder} after a cut at `event`, of the pending ones only `kept` done.

        torn: what does a write of part of its sectors, a function of (old bytes, offset, data)."""
        pending = set(self.pending(event))
        data, names = {}, {}

        def of(node):
            return names.setdefault(id(node), dict(node.names))

        for number, (made, change) in enumerate(self.changes):
            if made > event or (number in pending and number not in kept):
                continue
            if change.kind == "write":
                old = data.get(id(change.where), change.where.data)
                if torn and number in pending:
                    new = torn(old, change.offset, change.data)
                else:
                    new = old.ljust(change.offset, b"\0")[:change.offset] + change.data + old[change.offset + len(change.data):]
                data[id(change.where)] = new
            elif change.kind == "truncate":
                old = data.get(id(change.where), change.where.data)
                data[id(change.where)] = old[:change.size].ljust(change.size, b"\0")
            elif change.kind == "name":
                of(change.where)[change.name] = change.node
            elif change.kind == "remove":
                if of(change.where).get(change.name) is change.node:
                    del of(change.where)[change.name]
            else:
                if of(change.former).get(change.former_name) is change.node:
                    del of(change.former)[change.former_name]
                of(change.where)[change.name] = change.node
        found = {}

        def walk(folder, path):
            for name, node in of(folder).items():
                if isinstance(node, File):
                    found[path + name] = data.get(id(node), node.data)
                else:
                    found[path + name] = None
                    walk(node, path + name + "/")

        walk(self.start, "")
        return found


def tearer(random):
    """Writes of which only some sectors reached the disk."""
    def torn(old, offset, data):
        size = random.choice((len(old), max(len(old), offset + len(data))))
        fill = random.randbytes if random.random() < 0.5 else bytes
        new = bytearray(old + fill(max(0, size - len(old))))
        style = random.choice(("first", "last", "some"))
        sectors = range(offset // SECTOR, -(-(offset + len(data)) // SECTOR))
        edge = random.choice(sectors) if sectors else 0
        for sector in sectors:
            if {"first": sector < edge, "last": sector >= edge, "some": random.random() < 0.5}[style]:
                begin, end = max(offset, sector * SECTOR), min(offset + len(data), (sector + 1) * SECTOR)
                if end > len(new):
                    new.extend(bytes(end - len(new)))
                new[begin:end] = data[begin - offset:end - offset]
        return bytes(new)
    return torn


def digest(image):
    mix = hashlib.sha1()
    for name in sorted(image):
        content = image[name]
        mix.update(f"{name}\0{-1 if content is None else len(content)}\0".encode())
        mix.update(content or b"")
    return mix.digest()


def write(image, folder):
    """The image as files of an empty folder."""
    for name in sorted(image):
        path = os.path.join(folder, name)
        if image[name] is None:
            os.makedirs(path, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(image[name])
