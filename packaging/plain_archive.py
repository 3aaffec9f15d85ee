"""Removes from a docker archive what only names the container that it was made in:  plain_archive.py FILE

Prints the image's identity, which is then the same for the same files and settings."""
import hashlib
import io
import json
import sys
import tarfile


def main():
    path = sys.argv[1]
    with tarfile.open(path) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
    manifest, = json.loads(files["manifest.json"])
    config = json.loads(files[manifest["Config"]])
    config.pop("container", None)
    for part in ("config", "container_config"):
        config.get(part, {}).pop("Hostname", None)
    text = json.dumps(config, sort_keys=True).encode()
    identity = hashlib.sha256(text).hexdigest()
    manifest["Config"] = identity + ".json"
    kept = {manifest["Config"]: text, "manifest.json": json.dumps([manifest]).encode()}
    kept |= {layer: files[layer] for layer in manifest["Layers"]}
    with tarfile.open(path, "w") as archive:
        for name, content in sorted(kept.items()):
            member = tarfile.TarInfo(name)  # of nobody, of 1970
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    print(identity)


if __name__ == "__main__":
    main()
