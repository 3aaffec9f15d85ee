#!/usr/bin/env python3
"""Does the joined build compile?  For those who build single files with ccache, before they push.

  cmake/check_joined.py [JOBS]

The test joined_sources knows names that clash; only the compiler knows all the rest, for example
that a type of an anonymous namespace is a field of one that is not.  Every joined file is checked
without making code: some minutes, instead of a whole build.  Exit code 1 where one does not compile.
"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys
import tempfile


def joined_commands(folder):
    """The compilations of joined files, as CMake would make them in an empty build folder."""
    environment = {k: v for k, v in os.environ.items() if k != "CMAKE_CXX_COMPILER_LAUNCHER"}
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    subprocess.run(
        ["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
         "-DRESMEM_JOIN_SOURCES=ON", "-DRESMEM_WARNINGS_AS_ERRORS=ON"],
        env=environment, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder, "resmem_commit"], check=True, stdout=subprocess.DEVNULL)
    output = subprocess.run(["ninja", "-C", folder, "-t", "compdb"], check=True, capture_output=True)
    database = json.loads(output.stdout[output.stdout.index(b"["):])
    return [e for e in database if "/Unity/" in e["file"] and " -c " in e["command"]]


def check(entry):
    """What the compiler says against one file; empty where it compiles."""
    command = shlex.split(entry["command"])
    output = command.index("-o")
    del command[output:output + 2]
    run = subprocess.run(command + ["-O0", "-fsyntax-only"], cwd=entry["directory"],
                         capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else run.stderr


def main():
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count()
    with tempfile.TemporaryDirectory() as folder:
        commands = joined_commands(folder)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            complaints = [said for said in pool.map(check, commands) if said]
    for said in complaints:
        print(said, file=sys.stderr)
    print(f"{len(commands)} joined files, {len(complaints)} do not compile")
    return 1 if complaints or not commands else 0


sys.exit(main())
