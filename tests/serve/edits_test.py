"""Learn, forget, undo, preview: what was acknowledged is in the next answer and survives SIGKILL.

    edits_test.py RESMEM                        the tests
    edits_test.py RESMEM --rounds 1000          only the SIGKILL rounds, so many of them
"""
import http.client
import json
import random
import signal
import sys
import threading
import time
import unittest

import numpy as np

import harness
from harness import infer_json, output, rows

ROUNDS = int(sys.argv.pop(sys.argv.index("--rounds") + 1)) if "--rounds" in sys.argv else 6
ONLY_KILL = "--rounds" in sys.argv
if ONLY_KILL:
    sys.argv.remove("--rounds")


def lesson(count, seed, **more):
    arrays = rows(count, seed)
    return {"keys": arrays["keys"].tolist(), "logits": arrays["logits"].tolist(),
            "labels": arrays["labels"].tolist(), **more}


@unittest.skipIf(ONLY_KILL, "only the SIGKILL rounds")
class Edits(harness.ServerTest):
    words = ("--edit-rest", "0")

    def post(self, what, body, status=200):
        got, answer, _ = self.server.ask("POST", f"/v1/memories/m/{what}", body)
        self.assertEqual(got, status, answer)
        return answer

    def predict(self, arrays, **parameters):
        body = infer_json(arrays, 0, len(arrays["keys"]), **parameters)
        return output(self.server.ask("POST", "/v2/models/m/infer", body)[1], "prediction").tolist()

    def remember(self, arrays):
        """By the nearest row alone, which is the lesson itself where there is one."""
        return self.predict(arrays, method="resmem", k=1)

    def far(self, place):
        """A query far from all others."""
        return {"keys": np.full((1, harness.DIM), 50 + 10 * place, np.float32),
                "logits": np.array([[4, 0, 0, 0]], np.float32)}

    def test_a_correction_is_in_the_next_answer_and_undo_takes_it_back(self):
        query = {"keys": rows(1, seed=77)["keys"], "logits": np.array([[0, 0, 0, 0.5]], np.float32)}
        before = self.remember(query)
        wanted = (before[0] + 1) % 4
        body = {"keys": query["keys"].tolist(), "logits": query["logits"].tolist(), "label": wanted}
        done = self.post("correct", body)
        self.assertEqual(self.remember(query), [wanted])
        undone = self.post("undo", {"edit": done["edit"]["edit"]})
        self.assertEqual(undone["edit"]["undoes"], done["edit"]["edit"])
        self.assertEqual(self.remember(query), before)
        self.post("undo", {"edit": done["edit"]["edit"]}, 409)
        self.post("undo", {"edit": undone["edit"]["edit"]})  # the undo itself is undone
        self.assertEqual(self.remember(query), [wanted])

    def test_a_correction_may_name_an_answer(self):
        query = rows(1, seed=78)
        _, answer, headers = self.server.ask("POST", "/v2/models/m/infer", infer_json(query, method="resmem", k=1))
        wanted = (output(answer, "prediction").tolist()[0] + 2) % 4
        self.post("correct", {"request": headers["X-Request-Id"], "row": 0, "label": wanted})
        self.assertEqual(self.remember(query), [wanted])
        self.post("correct", {"request": "0123", "label": 1}, 404)

    def test_forget_and_undo_restore_the_same_answers(self):
        test = rows(50, seed=3)
        ask = lambda: self.server.ask("POST", "/v2/models/m/infer", infer_json(test, 0, 50, ["scores"]))[1]  # noqa: E731
        before = ask()
        done = self.post("forget", {"ids": [1000, 1001, 1002]})
        self.assertNotEqual(before, ask())
        self.post("forget", {"ids": [1000]}, 404)
        self.post("undo", {"edit": done["edit"]["edit"]})
        self.assertEqual(output(before, "scores").tolist(), output(ask(), "scores").tolist())

    def test_what_is_erased_cannot_be_undone_and_its_bytes_are_gone(self):
        learned = self.post("learn", {**self.lists(self.far(3)), "labels": [1], "ids": [424242]})
        done = self.post("forget", {"ids": [424242], "keep_for_undo": False})
        self.assertFalse(done["edit"]["undoable"])
        self.post("undo", {"edit": done["edit"]["edit"]}, 409)
        self.post("undo", {"edit": learned["edit"]["edit"]}, 404)
        needle = np.float32(80).tobytes() * harness.DIM
        deadline = time.time() + 20
        while any(needle in path.read_bytes() for path in (self.folder / "m.resmem").iterdir()):
            self.assertLess(time.time(), deadline, "the bytes are still there")
            time.sleep(0.05)
        self.assertEqual([p for p in (self.folder / "m.resmem.edits").iterdir() if b"80,80" in p.read_bytes()], [])

    def lists(self, query):
        return {name: array.tolist() for name, array in query.items()}

    def test_preview_tells_what_the_edit_then_does(self):
        queries = rows(30, seed=11)
        for i in range(30):
            self.server.ask("POST", "/v2/models/m/infer", infer_json(queries, i, i + 1),
                            {"X-Request-Id": f"preview-{i}"})
        before = self.predict(queries)
        lessons = {"keys": queries["keys"][:4].tolist(), "logits": queries["logits"][:4].tolist(),
                   "labels": [(label + 1) % 4 for label in before[:4]]}
        preview = self.post("preview", {"learn": lessons, "forget": [1010]})
        told = {int(change["request"].split("-")[1]): (change["before"], change["after"])
                for change in preview["changed"] if change["request"].startswith("preview-")}
        self.assertGreater(len(told), 0)
        self.post("learn", lessons)
        self.post("forget", {"ids": [1010]})
        after = self.predict(queries)
        self.assertEqual(told, {i: (a, b) for i, (a, b) in enumerate(zip(before, after)) if a != b})

    def test_a_repeated_token_changes_nothing(self):
        first = self.post("learn", lesson(2, 21, token="week47"))
        again = self.post("learn", lesson(2, 21, token="week47"))
        self.assertTrue(again["repeated"])
        self.assertEqual(first["edit"]["ids"], again["edit"]["ids"])
        self.assertEqual(first["rows"], again["rows"])

    def test_many_at_once_share_commits_and_all_are_there(self):
        commits, before = self.server.metric("resmem_commits_total"), self.server.metric("resmem_memory_rows")
        results = []
        threads = [threading.Thread(target=lambda i=i: results.append(self.post("learn", lesson(1, 100 + i))))
                   for i in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ids = [answer["edit"]["ids"][0] for answer in results]
        self.assertEqual(len(set(ids)), 40)
        self.assertEqual(self.server.metric("resmem_memory_rows"), before + 40)
        self.assertLess(self.server.metric("resmem_commits_total") - commits, 40)

    def test_rows_that_another_program_appends_are_no_obstacle(self):
        largest = self.post("learn", lesson(1, 71))["edit"]["ids"][0]
        np.savez(self.folder / "more.npz", ids=np.arange(largest + 1, largest + 4), **rows(3, 72))
        harness.resmem("append", self.folder / "m.resmem", "--data", self.folder / "more.npz", "--quiet")
        done = self.post("learn", lesson(1, 73))  # the id that it would have got is taken
        self.assertGreater(done["edit"]["ids"][0], largest + 3)
        self.post("forget", {"ids": [largest + 1, largest + 2, largest + 3]})

    def test_mistakes_change_nothing(self):
        before = self.server.metric("resmem_memory_rows")
        good = lesson(2, 31)
        for change in ({"labels": [0]}, {"labels": [0, 4]}, {"labels": [0, -1]}, {"labels": ["a", "b"]}, {"ids": [1, 1]},
                       {"ids": [1]}, {"keys": [[1, 2]]}, {"keys": "x"}, {"logits": []}, {"sources": [1, 2]},
                       {"token": ""}, {"keys": [[1e39] * harness.DIM] * 2}):
            self.post("learn", {**good, **change}, 400)
        self.post("learn", {**good, "ids": [1000, 9999]}, 409)
        for ids in ([], [1.5], "x", [-1], None, [1000, 1000]):
            self.post("forget", {"ids": ids}, 400)
        for edit in (None, "x", 1.5):
            self.post("undo", {"edit": edit}, 400)
        self.post("undo", {"edit": 10 ** 6}, 404)
        self.post("preview", {}, 400)
        self.assertEqual(self.server.metric("resmem_memory_rows"), before)

    def test_history_tells_who_and_when(self):
        self.post("learn", lesson(1, 41))
        status, answer, _ = self.server.ask("GET", "/v1/memories/m/history?limit=1")
        edit = answer["edits"][0]
        self.assertEqual((status, edit["who"], edit["kind"], edit["done"]), (200, "local", "learn", True))
        self.assertRegex(edit["time"], r"^\d{4}-\d\d-\d\dT")
        older = self.server.ask("GET", f"/v1/memories/m/history?before={edit['edit']}")[1]["edits"]
        self.assertTrue(all(each["edit"] < edit["edit"] for each in older))
        for query in ("limit=0", "limit=x", "before=0"):
            self.assertEqual(self.server.ask("GET", "/v1/memories/m/history?" + query)[0], 400)

    def test_explain_neighbors_doctor_and_tune(self):
        query = rows(1, seed=51)
        one = {"keys": query["keys"][0].tolist(), "logits": query["logits"][0].tolist()}
        ledger = self.post("explain", one)
        self.assertEqual(ledger["schema"], "resmem.explanation.v1")
        near = self.post("neighbors", {**one, "k": 3})["neighbors"][0]
        self.assertEqual(len(near), 3)
        self.assertLessEqual(near[0]["distance"], near[1]["distance"])
        self.assertEqual(self.post("doctor", {})["schema"], "resmem.diagnosis.v1")
        held_out = lesson(150, 61)
        dry = self.post("tune", {**held_out, "apply": False})
        self.assertEqual(dry["schema"], "resmem.tuning.v1")
        state = self.server.ask("GET", "/v2/models/m")[1]["parameters"]["state"]
        self.post("tune", held_out)
        self.assertGreater(self.server.ask("GET", "/v2/models/m")[1]["parameters"]["state"], state)


@unittest.skipIf(ONLY_KILL, "only the SIGKILL rounds")
class OtherMemories(unittest.TestCase):
    """Frozen and whitened memories: learned rows are previewed and answered alike."""

    def check(self, *options):
        import pathlib
        import shutil
        import tempfile
        folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_serve_other_"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        np.savez(folder / "train.npz", **rows(200))
        harness.resmem("memorize", "--data", folder / "train.npz", "-o", folder / "m.resmem", *options, "--quiet")
        server = harness.Server(folder, "--edit-rest", "0")
        self.addCleanup(server.stop)
        queries = rows(20, seed=12)

        def ask():
            return output(server.ask("POST", "/v2/models/m/infer", infer_json(queries, 0, 20),
                                     {"X-Request-Id": "q"})[1], "prediction").tolist()

        before = ask()
        body = {"keys": np.repeat(queries["keys"][:1], 60, 0).tolist(),
                "logits": np.repeat(queries["logits"][:1], 60, 0).tolist(), "labels": [(before[0] + 1) % 4] * 60}
        status, preview, _ = server.ask("POST", "/v1/memories/m/preview", {"learn": body})
        self.assertEqual(status, 200, preview)
        status, done, _ = server.ask("POST", "/v1/memories/m/learn", body)
        self.assertEqual(status, 200, done)
        after = ask()
        self.assertNotEqual(before, after)
        self.assertEqual({c["row"]: (c["before"], c["after"]) for c in preview["changed"]},
                         {i: pair for i, pair in enumerate(zip(before, after)) if pair[0] != pair[1]})
        status, undone, _ = server.ask("POST", "/v1/memories/m/undo", {"edit": done["edit"]["edit"]})
        self.assertEqual(status, 200, undone)
        self.assertEqual(ask(), before)

    def test_frozen(self):
        self.check("--form", "dense")

    def test_whitened(self):
        self.check("--key-transform", "whiten")

    def test_unit_length(self):
        self.check("--key-transform", "unit")


class Killed(unittest.TestCase):
    """SIGKILL while several clients learn and forget: nothing acknowledged is lost, nothing half-made."""

    def test_no_acknowledged_edit_is_lost(self):
        import pathlib
        import shutil
        import tempfile
        folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_serve_kill_"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        harness.make_memory(folder, 100, tuned=False)
        living = set(range(1000, 1100))  # acknowledged
        unsure = set()                   # asked for, no answer came
        lock, dice, acknowledged = threading.Lock(), random.Random(7), 0

        def client(server, seed, stop):
            nonlocal acknowledged
            mine, chooser, count = [], random.Random(seed), 0
            connection = server.connect(10)
            while not stop.is_set():
                count += 1
                forget = mine and chooser.random() < 0.4
                if forget:
                    ids = [mine.pop(chooser.randrange(len(mine)))]
                    path, body = "forget", {"ids": ids}
                else:
                    first = 10 ** 7 * seed + 10 * count
                    ids = list(range(first, first + chooser.randint(1, 3)))
                    path, body = "learn", lesson(len(ids), seed, ids=ids)
                with lock:
                    unsure.update(ids)
                try:
                    connection.request("POST", f"/v1/memories/m/{path}", json.dumps(body))
                    response = connection.getresponse()
                    response.read()
                except (OSError, http.client.HTTPException):
                    return
                if response.status != 200:
                    return
                with lock:
                    acknowledged += 1
                    unsure.difference_update(ids)
                    (living.difference_update if forget else living.update)(ids)
                if not forget:
                    mine.extend(ids)

        for number in range(ROUNDS):
            server = harness.Server(folder, "--edit-rest", "0")
            self.addCleanup(server.stop, signal.SIGKILL)
            found = self.ids_of(server, living | unsure)
            self.assertEqual(living - unsure - found, set(), f"round {number}: acknowledged rows are lost")
            self.assertEqual(found - living - unsure, set(), f"round {number}: forgotten rows are back")
            history = server.ask("GET", "/v1/memories/m/history?limit=1000")[1]["edits"]
            self.check_history(history, found)
            living, unsure = found, set()
            stop = threading.Event()
            threads = [threading.Thread(target=client, args=(server, 1 + 4 * number + i, stop)) for i in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(dice.uniform(0.05, 0.5))
            server.stop(signal.SIGKILL)
            stop.set()
            for thread in threads:
                thread.join()
        harness.resmem("verify", folder / "m.resmem")
        self.assertGreater(acknowledged, ROUNDS, "hardly an edit was made")
        print(f"{ROUNDS} rounds, {acknowledged} acknowledged edits", file=sys.stderr)

    def ids_of(self, server, wanted):
        """Which of these ids are living rows: as the nearest neighbors of anything, all of them."""
        count = int(server.metric("resmem_memory_rows"))
        answer = server.ask("POST", "/v1/memories/m/neighbors", {
            "keys": [0.0] * harness.DIM, "logits": [0.0] * harness.CLASSES, "k": 1000})[1]
        found = {row["id"] for row in answer["neighbors"][0]}
        if count <= 1000:
            self.assertEqual(len(found), count)
            return found
        done = set()  # more than k allows: ask for each by forgetting none of it
        for each in sorted(wanted):
            status, _, _ = server.ask("POST", "/v1/memories/m/preview", {"forget": [each]})
            if status == 200:
                done.add(each)
        return done

    def check_history(self, history, found):
        """An edit that is told as made is in the memory, unless a later one took it back."""
        seen = set()
        for edit in history:  # newest first
            ids = set(edit["ids"]) - seen
            if edit["done"]:
                self.assertTrue(ids <= found if edit["kind"] == "learn" else not ids & found, edit)
                seen |= set(edit["ids"])


if __name__ == "__main__":
    harness.main()
