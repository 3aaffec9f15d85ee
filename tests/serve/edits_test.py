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
    words = ("--edit-rest", "0", "--validation", "m=validation.npz")

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

    def test_what_a_snapshot_holds_still_is_told(self):
        self.post("learn", {**self.lists(self.far(9)), "labels": [1], "ids": [424243]})
        folder = str(self.folder / "m.resmem")
        harness.resmem("snapshot", "take", folder, "monday", "--wait", "20")
        try:
            done = self.post("forget", {"ids": [424243], "keep_for_undo": False})
            self.assertEqual(done["in_snapshots"], [{"name": "monday", "ids": [424243]}])
        finally:
            harness.resmem("snapshot", "drop", folder, "monday", "--wait", "20")
        learned = self.post("learn", {**self.lists(self.far(9)), "labels": [1], "ids": [424244]})
        done = self.post("forget", {"ids": learned["edit"]["ids"]})
        self.assertNotIn("in_snapshots", done)

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

    def test_a_preview_tells_what_becomes_of_the_validation_rows(self):
        with np.load(self.folder / "validation.npz") as file:
            validation = {name: file[name] for name in ("keys", "logits", "labels")}
        before = self.predict(validation)
        wrong = [i for i, label in enumerate(validation["labels"]) if before[i] != label]
        right = [i for i, label in enumerate(validation["labels"]) if before[i] == label]
        # Those that are wrong are learned as they are, some that are right with another label.
        chosen = wrong[:5] + right[:5]
        labels = validation["labels"][chosen].tolist()
        labels[len(wrong[:5]):] = [(label + 1) % 4 for label in labels[len(wrong[:5]):]]
        lessons = {name: np.repeat(validation[name][chosen], 20, axis=0).tolist() for name in ("keys", "logits")}
        lessons["labels"] = np.repeat(labels, 20).tolist()
        told = self.post("preview", {"learn": lessons, "forget": [1020]})["validation"]
        self.assertEqual(self.post("preview", {"learn": self.lists({**self.far(6), "labels": np.array([1])})})["validation"],
                         {"rows": 150, "changed": 0, "fixed": 0, "harmed": 0, "answers": []})
        edits = [self.post("learn", lessons)["edit"]["edit"], self.post("forget", {"ids": [1020]})["edit"]["edit"]]
        after = self.predict(validation)
        for edit in edits:
            self.post("undo", {"edit": edit})
        changed = {i: (a, b) for i, (a, b) in enumerate(zip(before, after)) if a != b}
        self.assertEqual(told["rows"], 150)
        self.assertEqual({each["row"]: (each["before"], each["after"]) for each in told["answers"]}, changed)
        self.assertEqual((told["changed"], told["fixed"], told["harmed"]),
                         (len(changed), sum(b == validation["labels"][i] for i, (_, b) in changed.items()),
                          sum(a == validation["labels"][i] for i, (a, _) in changed.items())))
        self.assertGreater(min(told["fixed"], told["harmed"]), 0)

    def test_a_repeated_token_changes_nothing(self):
        first = self.post("learn", lesson(2, 21, token="week47"))
        again = self.post("learn", lesson(2, 21, token="week47"))
        self.assertTrue(again["repeated"])
        self.assertEqual(first["edit"]["ids"], again["edit"]["ids"])
        self.assertEqual(first["rows"], again["rows"])

    def stored(self, row):
        return self.server.ask("GET", f"/v1/memories/m/rows?ids={row}")[1]["rows"][0]

    def test_relabeling_is_one_edit_and_is_undone_as_one(self):
        before, count = self.stored(1060), self.server.metric("resmem_memory_rows")
        label = (before["label"] + 1) % 4
        for body, status in (({"ids": [1060], "label": before["label"]}, 409), ({"ids": [1], "label": 1}, 404),
                             ({"ids": [1060], "label": 4}, 400), ({"ids": [1060]}, 400), ({"label": 1}, 400)):
            self.post("relabel", body, status)
        done = self.post("relabel", {"ids": [1060], "label": label, "token": "relabel"})
        self.assertEqual((done["edit"]["kind"], done["rows"]), ("relabel", count))
        self.assertTrue(self.post("relabel", {"ids": [1060], "label": label, "token": "relabel"})["repeated"])
        now = self.stored(1060)
        self.assertEqual((now["label"], now["key"], now["logits"]), (label, before["key"], before["logits"]))
        self.assertEqual(self.server.ask("GET", "/v1/memories/m/history?limit=1")[1]["edits"][0], done["edit"])
        undone = self.post("undo", {"edit": done["edit"]["edit"]})
        self.assertEqual((undone["edit"]["kind"], undone["edit"]["undoes"]), ("relabel", done["edit"]["edit"]))
        self.assertEqual(self.stored(1060), before)
        self.post("undo", {"edit": done["edit"]["edit"]}, 409)
        self.post("undo", {"edit": undone["edit"]["edit"]})
        self.assertEqual(self.stored(1060)["label"], label)

    def feedback(self, server=None):
        return (server or self.server).metric("resmem_feedback_total")

    def test_feedback_is_counted_once_when_its_edit_is_made(self):
        before, one = self.feedback(), lesson(1, 22)
        self.post("correct", {**one, "token": "once"})
        self.assertTrue(self.post("correct", {**one, "token": "once"})["repeated"])
        self.post("correct", {**one, "ids": [1050]}, 409)
        self.assertEqual(self.feedback(), before + 1)
        self.post("learn", one)
        self.assertEqual(self.feedback(), before + 1)
        edits = self.server.ask("GET", "/v1/memories/m/history?limit=2")[1]["edits"]
        self.assertNotIn("feedback", edits[0])
        self.assertEqual(sum(edits[1]["feedback"].values()), 1)
        again = harness.Server(self.folder)  # the counters begin again where they were
        self.addCleanup(again.stop)
        self.assertEqual(self.feedback(again), before + 1)

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

    def test_rows_answer_and_are_forgotten_by_their_tags(self):
        before = self.server.metric("resmem_memory_rows")
        tags = [f"site=north;time=2026-11-{1 + i:02}" for i in range(12)]
        ids = self.post("learn", {**lesson(12, 501, tags=tags), "ids": list(range(70000, 70012))})["edit"]["ids"]
        query = rows(3, seed=502)
        asked = {"keys": query["keys"].tolist(), "logits": query["logits"].tolist(), "k": 20}
        for found in self.post("neighbors", {**asked, "where": "site=north"})["neighbors"]:
            self.assertEqual(sorted(row["id"] for row in found), ids)
        found = self.post("neighbors", {**asked, "where": "time<2026-11-03"})["neighbors"][0]
        self.assertEqual(sorted(row["id"] for row in found), ids[:2])
        answer = self.server.ask("POST", "/v2/models/m/infer", infer_json(query, 0, 3, where="site=north"))[1]
        self.assertEqual(answer["parameters"], {"matching_rows": 12})
        answer = self.server.ask("POST", "/v2/models/m/infer", infer_json(query, 0, 3, where="site=none"))[1]
        self.assertEqual(answer["parameters"], {"matching_rows": 0})
        self.assertEqual(output(answer, "prediction").tolist(), query["logits"].argmax(axis=1).tolist())
        # A relabeled row and one that is brought back keep their tags.
        label = self.stored(70000)["label"]
        self.post("relabel", {"ids": [70000], "label": (label + 1) % 4})
        gone = self.post("forget", {"where": "time<2026-11-03"})
        self.assertEqual(sorted(gone["edit"]["ids"]), ids[:2])
        self.post("undo", {"edit": gone["edit"]["edit"]})
        for where, status in (("age<old", 400), (5, 400), ("", 400)):
            self.post("neighbors", {**asked, "where": where}, status)
        self.post("forget", {"where": "site=none"}, 404)
        self.post("forget", {"where": "site=north", "ids": [1]}, 400)
        self.post("learn", {**lesson(1, 503), "tags": ["a b=c"]}, 400)
        self.assertEqual(len(self.post("forget", {"where": "site=north"})["edit"]["ids"]), 12)
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

    def test_rounded_keys(self):
        self.check("--key-type", "int8")

    def test_validation_rows_of_a_regression(self):
        import pathlib
        import shutil
        import tempfile
        folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_serve_other_"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        keys = np.random.default_rng(5).standard_normal((300, 2)).astype(np.float32)
        for name, part in (("train", keys[:200]), ("validation", keys[200:])):
            np.savez(folder / f"{name}.npz", keys=part, targets=np.sin(2 * part[:, :1]), predictions=0.5 * part[:, :1])
        harness.resmem("memorize", "--data", folder / "train.npz", "-o", folder / "m.resmem", "--task", "regression",
                       "--k", 5, "--quiet")
        server = harness.Server(folder, "--edit-rest", "0", "--validation", "m=validation.npz")
        self.addCleanup(server.stop)
        rest = {"keys": keys[200:], "logits": 0.5 * keys[200:, :1]}
        ask = lambda: output(server.ask("POST", "/v2/models/m/infer", infer_json(rest, 0, 100))[1], "scores")[:, 0]  # noqa: E731
        before = ask()
        lesson = {"keys": keys[200:201].tolist(), "logits": [[0.0]], "targets": [[9.0]]}
        told = server.ask("POST", "/v1/memories/m/preview", {"learn": lesson})[1]["validation"]
        self.assertEqual(server.ask("POST", "/v1/memories/m/learn", lesson)[0], 200)
        moved = np.abs(ask() - before)
        self.assertEqual([each["row"] for each in told["answers"]], np.flatnonzero(moved).tolist())
        self.assertEqual((told["rows"], told["changed"]), (100, np.count_nonzero(moved)))
        self.assertTrue(0 < told["changed"] < 50, told)
        np.testing.assert_allclose([each["largest_change"] for each in told["answers"]], moved[moved > 0], rtol=1e-5)


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
                relabel = mine and not forget and chooser.random() < 0.4
                if relabel:  # acknowledged or not: the row is there
                    ids, path, body = [], "relabel", {"ids": [chooser.choice(mine)], "label": chooser.randrange(4)}
                elif forget:
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
                    if relabel and response.status == 409:
                        continue  # it has this label
                    return
                with lock:
                    acknowledged += 1
                    unsure.difference_update(ids)
                    (living.difference_update if forget else living.update)(ids)
                if path == "learn":
                    mine.extend(ids)

        for number in range(ROUNDS):
            server = harness.Server(folder, "--edit-rest", "0", "--max-k", "100000")
            self.addCleanup(server.stop, signal.SIGKILL)
            found = self.ids_of(server)
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

    def ids_of(self, server):
        """The ids of all living rows: those of the nearest neighbors of anything, as many as there are rows."""
        count = int(server.metric("resmem_memory_rows"))
        answer = server.ask("POST", "/v1/memories/m/neighbors", {
            "keys": [0.0] * harness.DIM, "logits": [0.0] * harness.CLASSES, "k": max(1, count)})[1]
        found = {row["id"] for row in answer["neighbors"][0]}
        self.assertEqual(len(found), count)
        return found

    def check_history(self, history, found):
        """An edit that is told as made is in the memory, unless a later one took it back."""
        seen = set()
        for edit in history:  # newest first
            ids = set(edit["ids"]) - seen
            if edit["done"]:
                self.assertTrue(not ids & found if edit["kind"] == "forget" else ids <= found, edit)
                seen |= set(edit["ids"])


if __name__ == "__main__":
    harness.main()
