#!/usr/bin/env python3
"""Where the time of a build went:  cmake/build_time.py build/release [build/debug ...]

Sums the jobs in .ninja_log, the last run of each, by folder or program.  They are seconds on the
clock: on a quiet machine, with no more jobs than cores, also those of the processor."""
import collections
import pathlib
import re
import sys


def jobs(log):
    seconds = {}
    for line in log.read_text().splitlines()[1:]:
        begin, end, _, output, _ = line.split("\t")
        seconds[output] = (int(end) - int(begin)) / 1000
    return seconds


def group(output):
    if not output.endswith((".o", ".gch")):
        return "link and generate"
    joined = re.search(r"(\w+)\.dir/Unity/unity_(\w+?)_\d+_cxx", output)
    if joined:
        return f"{joined[1]}: {joined[2]}"
    program, path = re.search(r"(\w+)\.dir/(.*)", output).groups()
    return f"{program}: {pathlib.PurePath(path).parent}"


for build in sys.argv[1:]:
    seconds = jobs(pathlib.Path(build) / ".ninja_log")
    print(f"{build}: {sum(seconds.values()):.0f} s in {len(seconds)} jobs")
    groups = collections.defaultdict(list)
    for output, spent in seconds.items():
        groups[group(output)].append(spent)
    for name, spent in sorted(groups.items(), key=lambda item: -sum(item[1]))[:25]:
        print(f"{sum(spent):8.1f}  {len(spent):4d}  {name}")
    print("the longest:")
    for output, spent in sorted(seconds.items(), key=lambda item: -item[1])[:10]:
        print(f"{spent:8.1f}        {output}")
