"""Runs one .test file of this folder; README.md explains the lines.

    run_test.py PROGRAM FILE.test
"""
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import fixtures

TIME_LIMIT_SECONDS = 120
SKIPPED = 77
NEEDS_RUNTIME = "needs onnxruntime"
STREAM_LINE = re.compile(r"(stdout|stderr)(-not|-empty)?(?: (.*))?$")


@dataclasses.dataclass
class Step:
    line: int
    command: str
    exit_code: int = 0
    checks: list = dataclasses.field(default_factory=list)  # (line number, text)


def parse(path):
    steps, continued = [], False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if continued:
            steps[-1].command += "\n" + line
        elif not line.strip() or line.startswith("#"):
            continue
        elif line == NEEDS_RUNTIME and not steps:
            continue
        elif line.startswith("$ "):
            steps.append(Step(number, line[2:]))
        elif not steps:
            raise ValueError(f"{path.name}:{number}: a check before the first command")
        elif line.startswith("exit "):
            steps[-1].exit_code = int(line[5:])
        elif STREAM_LINE.match(line) or line.startswith(("exists ", "absent ")):
            steps[-1].checks.append((number, line))
        else:
            raise ValueError(f"{path.name}:{number}: not a line of a test: {line}")
        continued = bool(steps) and steps[-1].command.endswith("\\") and (continued or line.startswith("$ "))
    if not steps:
        raise ValueError(f"{path.name}: no command")
    return steps


def matches(pattern, line):
    expression = ".*".join(re.escape(part) for part in pattern.strip().split("*"))
    return re.fullmatch(expression, line.strip()) is not None


def check_holds(check, outputs, folder):
    if check.startswith(("exists ", "absent ")):
        found = bool(list(folder.glob(check[7:])))
        return found == check.startswith("exists ")
    stream, kind, pattern = STREAM_LINE.match(check).groups()
    if kind == "-empty":
        return outputs[stream] == ""
    found = any(matches(pattern or "", line) for line in outputs[stream].splitlines())
    return found != (kind == "-not")


def problems_of(step, folder, environment):
    result = subprocess.run(["bash", "-c", step.command], cwd=folder, env=environment, text=True,
                            errors="replace", stdin=subprocess.DEVNULL, capture_output=True,
                            timeout=TIME_LIMIT_SECONDS)
    outputs = {"stdout": result.stdout, "stderr": result.stderr}
    problems = []
    if result.returncode != step.exit_code:
        problems.append(f"line {step.line}: exit {result.returncode}, expected {step.exit_code}")
    if step.exit_code != 0 and not any(text.startswith("stderr") for _, text in step.checks):
        problems.append(f"line {step.line}: a failure without a stderr line in the test")
    problems += [f"line {number}: does not hold: {text}" for number, text in step.checks
                 if not check_holds(text, outputs, folder)]
    if problems:
        problems.append(f"$ {step.command}\n--- stdout\n{result.stdout[:3000]}--- stderr\n{result.stderr[:3000]}")
    return problems


def runtime_is_missing(program, folder, environment):
    result = subprocess.run([program, "model", "prepare", "table.onnx", "-o", "probe.onnx"],
                            cwd=folder, env=environment, text=True, capture_output=True)
    return "running a model needs ONNX Runtime" in result.stderr


def main():
    program, test = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    environment = {**os.environ, "PATH": f"{program.parent}:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
                   "TESTS": str(pathlib.Path(__file__).resolve().parent)}
    with tempfile.TemporaryDirectory(prefix="resmem_cli_") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        fixtures.write(folder)
        if NEEDS_RUNTIME in test.read_text().splitlines() and "CI" not in os.environ \
                and runtime_is_missing(program, folder, environment):
            print("skipped: ONNX Runtime is not here, ./setup installs it")
            return SKIPPED
        for step in parse(test):
            problems = problems_of(step, folder, environment)
            if problems:
                print(f"{test.name}:", *problems, sep="\n")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
