"""Two archives of one image that were made in different containers are the same bytes afterwards, and still say how
the image is run; another image gives others."""
import io
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def archive(path, container, layer):
    run = {"Hostname": container[:12], "User": "10001:10001", "Healthcheck": {"Test": ["CMD", "true"]}}
    config = {"container": container, "config": run, "container_config": run, "os": "linux"}
    files = {f"{container}.json": json.dumps(config).encode(), "layer.tar": layer, f"{container}/old": b"",
             "manifest.json": json.dumps([{"Config": f"{container}.json", "RepoTags": ["a:1"], "Layers": ["layer.tar"]}]).encode()}
    with tarfile.open(path, "w") as file:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(content), len(container)
            file.addfile(member, io.BytesIO(content))
    identity = subprocess.run([sys.executable, ROOT / "packaging" / "plain_archive.py", path], capture_output=True, text=True,
                              check=True).stdout.strip()
    return identity, path.read_bytes()


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        first, second = archive(folder / "a.tar", "a" * 64, b"files"), archive(folder / "b.tar", "b" * 60, b"files")
        assert first == second, (first[0], second[0])
        assert archive(folder / "c.tar", "a" * 64, b"other")[1] != first[1]
        with tarfile.open(folder / "a.tar") as file:
            manifest, = json.load(file.extractfile("manifest.json"))
            config = json.load(file.extractfile(manifest["Config"]))
            assert file.extractfile(manifest["Layers"][0]).read() == b"files"
        assert manifest["Config"] == first[0] + ".json" and manifest["RepoTags"] == ["a:1"], manifest
        assert config["config"] == {"User": "10001:10001", "Healthcheck": {"Test": ["CMD", "true"]}}, config


if __name__ == "__main__":
    main()
