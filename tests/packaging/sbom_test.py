"""The bill of materials of the C library names what is loaded with it and what was compiled into it, nothing else,
and every part that it relates is described:  sbom_test.py BUILD"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    build = pathlib.Path(sys.argv[1])
    library, = (build / "capi").glob("libresmem_c.so.*.*.*")
    document = json.loads(subprocess.run([ROOT / "packaging" / "sbom", "--build", build, library], capture_output=True, text=True,
                                         check=True).stdout)
    described = {each["SPDXID"]: each["name"] for each in document["packages"]}
    related = {(each["relationshipType"], described.get(each["spdxElementId"], each["spdxElementId"]),
                described[each["relatedSpdxElement"]]) for each in document["relationships"]}
    loads = {to for kind, _, to in related if kind == "DYNAMIC_LINK"}
    compiled_in = {one for kind, one, _ in related if kind == "BUILD_DEPENDENCY_OF"}
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    assert {"libc6", "libstdc++6", "libxxhash0"} <= loads, loads
    assert ("libhwy1" in loads) == ("libhwy.so" in needed), loads
    assert {"nlohmann-json3-dev", "libhwy-dev", "libeigen3-dev"} <= compiled_in, compiled_in
    assert not {"libboost1.74-dev", "libtorch-dev", "libgtest-dev", "libssl-dev"} & compiled_in, compiled_in
    assert loads.isdisjoint(compiled_in) and len(described) == 1 + len(loads) + len(compiled_in), described
    for each in document["packages"]:
        assert each["versionInfo"] and each["name"], each


if __name__ == "__main__":
    main()
