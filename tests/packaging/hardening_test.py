"""Every program and shared library that is built is hardened, by what readelf finds in it; and everything that is
compiled into them got the flags (docs/decisions/hardening.md).

    hardening_test.py BUILD_FOLDER
"""
import json
import pathlib
import platform
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = None
PROGRAMS = ("cli/resmem", "cli/resmem-serve", "cli/resmem-lab", "cli/resmem-train")
LIBRARIES = ("capi/libresmem_c.so", "shared/libresmem.so", "shared/libresmem_report.so", "shared/libresmem_data.so",
             "shared/libresmem_models.so", "shared/libresmem_lm.so")
ARCHIVES = ("libresmem.a", "libresmem_report.a", "libresmem_data.a", "libresmem_models.a", "libresmem_lm.a")
FLAGS = ["-fstack-protector-strong", "-D_FORTIFY_SOURCE=2",
         "-fcf-protection=full" if platform.machine() == "x86_64" else "-mbranch-protection=standard"]
OURS = re.compile(r"(src|cli|server|capi|lab)/")


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], capture_output=True, text=True, check=True).stdout


def built(names):
    return [BUILD / name for name in names if (BUILD / name).exists()]


class Hardening(unittest.TestCase):
    def test_programs_lie_at_addresses_that_change(self):
        self.assertTrue(built(PROGRAMS), f"no program in {BUILD}")
        for path in built(PROGRAMS):
            self.assertRegex(readelf("-h", path), r"Type:\s+DYN", f"{path} is not position independent")
            self.assertRegex(readelf("-d", path), r"FLAGS_1\).*\bPIE\b", path)

    def test_addresses_of_functions_are_bound_before_main_and_read_only(self):
        for path in built(PROGRAMS + LIBRARIES):
            self.assertIn("GNU_RELRO", readelf("-l", path), path)
            self.assertRegex(readelf("-d", path), r"BIND_NOW|FLAGS_1\).*\bNOW\b", f"{path}: RELRO is partial")

    def test_nothing_is_writable_and_runs(self):
        for path in built(PROGRAMS + LIBRARIES):
            segments = re.findall(r"^\s+(LOAD|GNU_STACK)\s+\S+ \S+ \S+ \S+ \S+ ([RWE ]{3})", readelf("-l", path), re.M)
            self.assertGreater(len(segments), 2, path)
            for kind, flags in segments:
                self.assertFalse("W" in flags and "E" in flags, f"{path}: {kind} is {flags}")

    def test_stacks_are_watched_and_copies_checked(self):
        for path in built(PROGRAMS + ("capi/libresmem_c.so", "shared/libresmem.so")):
            wanted = set(re.findall(r"UND (\w+)@", readelf("--dyn-syms", path)))
            self.assertIn("__stack_chk_fail", wanted, f"{path}: no function has a canary")
            self.assertTrue([name for name in wanted if name.endswith("_chk")], f"{path}: no call is checked (_FORTIFY_SOURCE)")

    def test_every_object_may_be_linked_with_control_flow_protection(self):
        if platform.machine() != "x86_64":
            self.skipTest("told by another note on this processor")
        self.assertTrue(built(ARCHIVES))
        for path in built(ARCHIVES):
            objects = re.split(r"^File: ", readelf("-n", path), flags=re.M)[1:]
            bare = [text.split("\n")[0] for text in objects if "IBT" not in text or "SHSTK" not in text]
            self.assertEqual(bare, [], f"{path}: without IBT and SHSTK")

    def test_everything_of_ours_is_compiled_with_the_flags(self):
        commands = json.loads((BUILD / "compile_commands.json").read_text())
        seen = 0
        for entry in commands:
            output = re.search(r" -o (\S+)", entry["command"]).group(1)
            if not OURS.match(output) and not output.startswith("CMakeFiles/resmem"):
                continue
            if re.search(r"_test\.dir|fake_|test_", output) or " -O1 -Wno-maybe-uninitialized" in entry["command"]:
                continue
            if not entry["file"].startswith((str(ROOT), str(BUILD))):
                continue
            seen += 1
            for flag in FLAGS:
                self.assertIn(flag, entry["command"], output)
        self.assertGreater(seen, 30)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
