"""Memory: arrays in and out, changes, errors."""
import contextlib
import fcntl
import io
import os
import pickle
import re
import tempfile
import threading
import tracemalloc
import unittest

import numpy as np
import resmem
from problems import clusters
from resmem import Memory


class Arrays(unittest.TestCase):
    def test_contiguous_float32_is_not_copied(self):
        keys, logits, labels = clusters(200_000, dim=16)
        memory = Memory.build(keys[:500], logits[:500], labels[:500], k=3)
        memory.scores(keys[:10], logits[:10])
        tracemalloc.start()
        memory.scores(keys, logits)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        answer = logits.nbytes
        self.assertLess(peak, answer + 100_000)  # the answer, and nothing of the keys' 12.8 MB
        tracemalloc.start()
        memory.scores(keys.astype(np.float64), logits)  # the count must be able to see a copy
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        self.assertGreater(peak, answer + keys.nbytes)

    def test_views_with_gaps_are_not_copied_and_answer_the_same(self):
        keys, logits, labels = clusters(400)
        wide = np.zeros((800, 20), np.float32)
        wide[::2, 3:11] = keys
        view = wide[::2, 3:11]
        self.assertTrue(np.shares_memory(resmem._arrays.matrix(view, "keys"), wide))
        memory = Memory.build(view[:300], logits[:300], labels[:300])
        plain = Memory.build(keys[:300], logits[:300], labels[:300])
        expected = plain.scores(keys[300:], logits[300:])
        for other in (view[300:], np.asfortranarray(keys[300:]), keys[300:].astype(np.float64),
                      keys[300:].astype(">f4"), keys[300:].tolist()):
            np.testing.assert_array_equal(memory.scores(other, logits[300:]), expected)

    def test_arrays_that_cannot_be_used_are_value_errors_with_the_place(self):
        keys, logits, labels = clusters(50)
        broken = keys.copy()
        broken[7, 2] = np.nan
        for arguments, word in (((broken, logits, labels), "7"), ((keys[:, :0], logits, labels), ""),
                                ((keys, logits[:49], labels), "49"), ((keys, logits, labels[:3]), "(3,)"),
                                ((keys, logits, labels + 2), ""), ((keys, logits, labels - 1), ""),
                                ((keys, logits, labels + 0.5), "whole"), ((keys[0], logits, labels), "(8,)"),
                                ((keys.astype(str), logits, labels), "numbers")):
            with self.assertRaises(ValueError) as caught:
                Memory.build(*arguments)
            self.assertIn(word, str(caught.exception))
            self.assertIsInstance(caught.exception, resmem.ResmemError)
        with self.assertRaises(ValueError):
            Memory.build(keys, logits)
        memory = Memory.build(keys, logits, labels)
        with self.assertRaises(ValueError):
            memory.scores(keys[:, :5], logits)
        with self.assertRaises(ValueError):
            memory.scores(keys, logits, method="magic")
        self.assertEqual(memory.scores(keys[:0], logits[:0]).shape, (0, 4))


class Answers(unittest.TestCase):
    def setUp(self):
        self.keys, self.logits, self.labels = clusters(600)
        self.memory = Memory.build(self.keys[:400], self.logits[:400], self.labels[:400], k=10, sigma=1.0,
                                   temperature=1.0)
        self.queries = self.keys[400:], self.logits[400:]

    def test_neighbors_are_those_of_numpy(self):
        found = self.memory.neighbors(self.keys[400:], 5)
        distances = np.sqrt(((self.keys[400:, None].astype(float) - self.keys[None, :400].astype(float)) ** 2).sum(2))
        np.testing.assert_array_equal(found.rows, np.argsort(distances, axis=1, kind="stable")[:, :5])
        np.testing.assert_allclose(found.distances, np.sort(distances, axis=1)[:, :5], rtol=1e-6)
        np.testing.assert_array_equal(found.labels, self.labels[found.rows])
        weights = np.exp(-found.distances.astype(float))
        np.testing.assert_allclose(found.weights, weights / weights.sum(1, keepdims=True), rtol=1e-5)
        few = self.memory.neighbors(self.keys[:3], 1000)
        self.assertEqual(few.rows.shape, (3, 1000))
        self.assertTrue(np.all(few.labels[:, 400:] == -1) and np.all(few.weights[:, 400:] == 0))
        excluded = self.memory.neighbors(self.keys[:400], 1, exclude=np.arange(400)).rows[:, 0]
        self.assertFalse(np.any(excluded == np.arange(400)))

    def test_scores_follow_from_neighbors_and_stored_rows(self):
        found = self.memory.neighbors(self.keys[400:])
        weights = np.exp(-found.distances.astype(float))
        weights /= weights.sum(1, keepdims=True)
        residuals = self.memory.rows(found.rows.ravel()).residuals.reshape(200, 10, 4)
        base = np.exp(self.logits[400:].astype(float))
        base /= base.sum(1, keepdims=True)
        expected = base + (weights[:, :, None] * residuals).sum(1)
        np.testing.assert_allclose(self.memory.scores(*self.queries), expected, atol=1e-5)
        np.testing.assert_allclose(self.memory.predict_proba(*self.queries).sum(1), 1, atol=1e-5)
        np.testing.assert_allclose(self.memory.predict_proba(*self.queries, method="base"), base, atol=1e-6)

    def test_export_is_what_is_stored(self):
        self.memory.delete([7])
        with tempfile.TemporaryDirectory() as folder:
            self.memory.export(os.path.join(folder, "memory.npz"))
            self.memory.export(os.path.join(folder, "parts"), ["labels"])
            with np.load(os.path.join(folder, "memory.npz")) as exported:
                stored = self.memory.rows(exported["rows"])
                self.assertFalse(stored.deleted.any())
                self.assertEqual(len(exported["rows"]), 399)
                for part in ("keys", "logits", "labels", "ids"):
                    np.testing.assert_array_equal(exported[part], getattr(stored, part))
            self.assertEqual(os.listdir(os.path.join(folder, "parts")), ["labels.npy"])
            with self.assertRaisesRegex(ValueError, "'lables' is no part of this memory"):
                self.memory.export(os.path.join(folder, "x.npz"), ["lables"])

    def test_zero_does_not_stand_for_the_memorys_own_value(self):
        for name in ("sigma", "temperature"):
            with self.subTest(name), self.assertRaisesRegex(ValueError, f"{name} 0: give a value above 0"):
                self.memory.scores(self.keys[:3], self.logits[:3], **{name: 0})

    def test_documents_say_what_the_arrays_say(self):
        evaluation = self.memory.evaluate(*self.queries, self.labels[400:])
        predicted = self.memory.predict(*self.queries)
        self.assertAlmostEqual(evaluation.accuracy, (predicted == self.labels[400:]).mean())
        self.assertGreater(evaluation.gain, 0.2)
        self.assertGreater(evaluation.metrics["auc"], 0.5)
        self.assertLessEqual(evaluation.metrics["ece_low"], evaluation.metrics["ece_high"])
        last = evaluation.pairs[-1]
        self.assertEqual(last["right"], evaluation["methods"][-1]["method"])
        self.assertIsInstance(evaluation.better_rivals, list)
        self.assertIn("<html", evaluation.html())
        self.assertIn("iframe", evaluation._repr_html_())
        explanation = self.memory.explain(self.keys[400], self.logits[400])
        self.assertEqual((explanation.distance_percentile, explanation.unknown), (None, None))  # it has no blend
        self.assertEqual(explanation.prediction, predicted[0])
        self.assertEqual([line["row"] for line in explanation.neighbors],
                         self.memory.neighbors(self.keys[400:401]).rows[0].tolist())
        tuning = self.memory.tune(*self.queries, self.labels[400:], k=[1, 5], sigma=[1.0], temperature=[1.0])
        self.assertIn(tuning.chosen["k"], (1, 5))
        self.assertTrue(self.memory.tuned)
        self.assertTrue(self.memory.doctor(*self.queries, self.labels[400:]).verdict)
        self.assertIn("400", self.memory._repr_html_())

    def test_another_models_arrays_are_refused(self):
        rng = np.random.default_rng(3)
        head = rng.standard_normal((8, 4)).astype(np.float32)
        other = rng.standard_normal((8, 4)).astype(np.float32)
        memory = Memory.build(self.keys[:400], self.keys[:400] @ head, self.labels[:400])
        memory.evaluate(self.keys[400:], self.keys[400:] @ head, self.labels[400:])
        with self.assertRaises(ValueError) as caught:
            memory.evaluate(self.keys[400:], self.keys[400:] @ other, self.labels[400:])
        self.assertEqual(caught.exception.code, "mismatch")
        memory.evaluate(self.keys[400:], self.keys[400:] @ other, self.labels[400:], any_model=True)

    def test_plots_draw(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("matplotlib is not installed")
        matplotlib.use("Agg")
        tuning = self.memory.tune(*self.queries, self.labels[400:], k=[1, 5], sigma=[0.5, 1.0], temperature=[1.0])
        self.assertTrue(tuning.plot().has_data())
        self.assertTrue(self.memory.evaluate(*self.queries, self.labels[400:]).plot().has_data())
        self.assertTrue(self.memory.explain(self.keys[400], self.logits[400]).plot().has_data())


class Changes(unittest.TestCase):
    def setUp(self):
        self.keys, self.logits, self.labels = clusters(300)
        self.memory = Memory.build(self.keys[:200], self.logits[:200], self.labels[:200], classes=list("abcd"))

    def test_learning_and_forgetting(self):
        before = self.memory.scores(self.keys, self.logits)
        ids = self.memory.append(self.keys[200:], self.logits[200:], self.labels[200:])
        self.assertEqual(ids.tolist(), list(range(200, 300)))
        self.assertTrue(np.any(self.memory.scores(self.keys, self.logits) != before))
        self.memory.delete(ids)
        np.testing.assert_array_equal(self.memory.scores(self.keys, self.logits), before)
        self.assertEqual((len(self.memory), self.memory.capacity), (200, 300))
        self.memory.compact()
        self.assertEqual(self.memory.capacity, 200)
        with self.assertRaises(KeyError) as caught:
            self.memory.delete([5, 250])
        self.assertIn("250", str(caught.exception))
        self.assertEqual(len(self.memory), 200)
        with self.assertRaises(KeyError):
            self.memory.find([250])
        self.assertEqual(self.memory.find([3, 1]).tolist(), [3, 1])

    def test_an_append_with_a_token_may_be_repeated(self):
        rows = self.keys[200:], self.logits[200:], self.labels[200:]
        self.assertEqual(len(self.memory.append(*rows, token="week47")), 100)
        self.assertEqual(len(self.memory.append(*rows, token="week47")), 0)
        self.assertEqual(len(self.memory), 300)

    def test_changes_wait_for_another_process(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.resmem")
            self.memory.save(path)
            memory = Memory.open(path)
            with open(os.path.join(path, "LOCK"), "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                with self.assertRaises(resmem.ResmemError) as caught:
                    memory.delete([1])
                self.assertIn("held by another process", str(caught.exception))
                memory.wait(0.2)
                for change in (lambda: memory.delete([1]), memory.compact, lambda: memory.set_parameters(k=3),
                               lambda: memory.append(self.keys[:1], self.logits[:1], self.labels[:1])):
                    with self.assertRaises(resmem.ResmemError) as caught:
                        change()
                    self.assertIn("(waited 0.2 s)", str(caught.exception))
                memory.wait(60)
                timer = threading.Timer(0.2, fcntl.flock, (lock, fcntl.LOCK_UN))
                timer.start()
                memory.delete([1])
                timer.join()
            self.assertEqual(len(memory), 199)

    def test_a_copy_is_as_private_as_the_memory(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second = (os.path.join(folder, name) for name in ("a", "b"))
            self.memory.save(first)
            for name in os.listdir(first):
                os.chmod(os.path.join(first, name), 0o600)
            Memory.open(first).save(second)
            self.assertEqual({os.stat(os.path.join(second, name)).st_mode & 0o777 for name in os.listdir(second)}, {0o600})

    def test_snapshots_bring_back_what_was_forgotten(self):
        with self.assertRaises(resmem.ResmemError) as caught:
            self.memory.snapshot("monday")
        self.assertEqual(caught.exception.code, "unsupported")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.resmem")
            self.memory.save(path)
            memory = Memory.open(path)
            expected = memory.scores(self.keys, self.logits)
            memory.snapshot("monday", note="before")
            with self.assertWarns(UserWarning) as warned:
                memory.delete([3, 5])
            self.assertIn("monday", str(warned.warning))
            memory.append(self.keys[200:], self.logits[200:], self.labels[200:])
            self.assertEqual(memory.find_in_snapshots([5, 3, 250]), {"monday": [3, 5]})
            difference = memory.diff("monday")
            self.assertEqual((difference["added"], difference["removed_ids"]), (100, [3, 5]))
            self.assertIn("100 added, 2 removed", repr(difference))
            self.assertTrue(np.any(memory.scores(self.keys, self.logits) != expected))
            with Memory.open(os.path.join(path, "snapshots", "monday")) as snapshot:
                np.testing.assert_array_equal(snapshot.scores(self.keys, self.logits), expected)
                with self.assertRaises(ValueError):
                    snapshot.delete([1])
            memory.rollback("monday")
            np.testing.assert_array_equal(memory.scores(self.keys, self.logits), expected)
            self.assertEqual([(one["name"], one["note"], one["rows"]) for one in memory.snapshots()],
                             [("monday", "before", 200)])
            memory.drop_snapshot("monday")
            self.assertEqual(memory.snapshots(), [])
            with self.assertRaises(resmem.MemoryNotFound):
                memory.rollback("monday")

    def test_saving_pickling_and_copying_keep_the_bits(self):
        expected = self.memory.scores(self.keys, self.logits)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.resmem")
            self.memory.save(path)
            with self.assertRaises(ValueError):
                self.memory.save(path)
            self.memory.save(path, overwrite=True)
            with Memory.open(path) as opened:
                np.testing.assert_array_equal(opened.scores(self.keys, self.logits), expected)
                self.assertFalse(opened.in_ram)
                self.assertEqual(opened.classes, list("abcd"))
            with self.assertRaises(ValueError):
                opened.scores(self.keys, self.logits)
            built = Memory.build(self.keys[:200], self.logits[:200], self.labels[:200], path=path, overwrite=True)
            np.testing.assert_array_equal(built.scores(self.keys, self.logits), expected)
        for copy in (pickle.loads(pickle.dumps(self.memory)), self.memory.copy()):
            np.testing.assert_array_equal(copy.scores(self.keys, self.logits), expected)
            copy.delete([0])
            self.assertEqual(len(self.memory), 200)

    def tunable(self):
        """A memory that a blend suits, and held-out rows: keys tell classes apart, logits hardly do."""
        rng = np.random.default_rng(5)
        labels = rng.integers(0, 3, 700)
        keys = (np.eye(3, 6)[labels] * 2 + rng.standard_normal((700, 6))).astype(np.float32)
        logits = (0.5 * np.eye(3)[labels] + rng.standard_normal((700, 3))).astype(np.float32)
        memory = Memory.build(keys[:400], logits[:400], labels[:400], k=9, sigma=1.0)
        return memory, keys[400:], logits[400:], labels[400:]

    def test_tuning_is_undone_and_tells_what_lies_far_away(self):
        memory, keys, logits, labels = self.tunable()
        before = memory.predict_proba(keys, logits)
        self.assertEqual(memory.answer, "resmem")
        with self.assertRaisesRegex(ValueError, "does not know the distances"):
            memory.unknown(keys)
        few = memory.tune(keys[:60], logits[:60], labels[:60])
        self.assertNotIn("answer", few)
        self.assertEqual(memory.answer, "resmem")
        np.testing.assert_array_equal(memory.predict_proba(keys, logits), before)
        tuning = memory.tune(keys, logits, labels, fit_memory=1)
        self.assertEqual((tuning["answer"], memory.answer), ("blend", "blend"))
        percentiles = memory.distance_percentiles(keys)
        self.assertAlmostEqual(float(percentiles.mean()), 50, delta=3)
        order = np.argsort(memory.neighbors(keys, 10).distances[:, 9], kind="stable")
        self.assertTrue(np.all(np.diff(percentiles[order]) >= 0))
        self.assertEqual(memory.distance_percentiles(keys[:2] + 100).tolist(), [100, 100])
        self.assertEqual(memory.unknown(keys[:2] + 100, rate=0).tolist(), [True, True])
        self.assertAlmostEqual(float(memory.unknown(keys, 0.1).mean()), 0.1, delta=0.02)
        with self.assertRaisesRegex(ValueError, "rate 2"):
            memory.unknown(keys, 2)
        # Explain tells the same of one row, at any rate.
        for rate in (0.01, 0.6):
            flags = memory.unknown(keys, rate)
            for row in (0, int(np.argmax(percentiles))):
                explanation = memory.explain(keys[row], logits[row], unknown_rate=rate)
                self.assertEqual(np.float32(explanation.distance_percentile), percentiles[row])
                self.assertEqual(explanation.unknown, bool(flags[row]))
                self.assertEqual("unknown" in explanation.summary(), bool(flags[row]))
                np.testing.assert_array_equal(np.float32(explanation.ledger["probability"]),
                                              memory.predict_proba(keys[row:row + 1], logits[row:row + 1])[0])
        with self.assertRaisesRegex(ValueError, "unknown rate is 2"):
            memory.explain(keys[0], logits[0], unknown_rate=2)
        with self.assertRaisesRegex(ValueError, "has no ledger"):
            memory.explain(keys[0], logits[0], method="knn")
        with self.assertRaisesRegex(ValueError, "0 MB"):
            memory.tune(keys, logits, labels, fit_memory=0)
        memory.undo_tuning()
        self.assertEqual(memory.answer, "resmem")
        np.testing.assert_array_equal(memory.predict_proba(keys, logits), before)
        with self.assertRaisesRegex(ValueError, "no earlier tuning"):
            memory.undo_tuning()

    def test_a_bar_shows_how_far_long_work_is(self):
        memory, keys, logits, labels = self.tunable()
        drawn = io.StringIO()
        with contextlib.redirect_stderr(drawn):
            memory.tune(keys, logits, labels, progress=True)
        lines = drawn.getvalue().split("\r")
        self.assertTrue(any(re.fullmatch(r"(search|grid) +\[[#.]{30}\] [ 0-9]{3} %  [0-9,]+ of [0-9,]+ *", line)
                            for line in lines), lines)
        self.assertTrue(any(re.fullmatch(r"blend +[0-9,]+ *", line) for line in lines), lines)
        self.assertEqual(lines[-1], "")  # and nothing is left of it
        with contextlib.redirect_stderr(io.StringIO()) as silent:
            memory.undo_tuning(progress=False)
        self.assertEqual(silent.getvalue(), "")

    def test_an_index_is_made_and_removed(self):
        keys, logits, labels = clusters(3000)
        memory = Memory.build(keys, logits, labels)
        exact = memory.neighbors(keys[:100], 10).rows
        memory.index(0.9, progress=lambda *_: None)
        found = memory.neighbors(keys[:100], 10).rows
        self.assertGreater((found == exact).mean(), 0.5)
        self.assertEqual(memory.info()["memory"]["index"]["recall"], 0.9)
        memory.remove_index()
        np.testing.assert_array_equal(memory.neighbors(keys[:100], 10).rows, exact)

    def test_regression(self):
        rng = np.random.default_rng(0)
        keys = rng.uniform(-3, 3, (500, 1)).astype(np.float32)
        targets = np.hstack([np.sin(keys), np.cos(keys)])
        memory = Memory.build(keys[:400], np.zeros((400, 2)), targets=targets[:400], k=5, sigma=0.05)
        self.assertLess(np.abs(memory.predict(keys[400:], np.zeros((100, 2))) - targets[400:]).max(), 0.2)
        with self.assertRaises(ValueError):
            memory.predict_proba(keys, np.zeros((500, 2)))
        evaluation = memory.evaluate(keys[400:], np.zeros((100, 2)), targets=targets[400:])
        self.assertLess(evaluation["regression"]["resmem_mse"], evaluation["regression"]["base_mse"])

    def test_keys_are_transformed_by_the_memory(self):
        keys, logits, labels = clusters(700)
        keys[:, 4:] += 40 * np.random.default_rng(1).standard_normal((700, 4)).astype(np.float32)
        train, held, test = slice(0, 350), slice(350, 600), slice(600, 700)
        unit = Memory.build(keys[train], logits[train], labels[train], key_transform="unit")
        self.assertEqual(unit.key_transform, "unit")
        directions = keys / np.linalg.norm(keys, axis=1, keepdims=True)
        by_hand = Memory.build(directions[train], logits[train], labels[train])
        np.testing.assert_allclose(unit.scores(keys[test], logits[test]),
                                   by_hand.scores(directions[test], logits[test]), atol=1e-5)
        memory = Memory.build(keys[train], logits[train], labels[train])
        tuning = memory.tune(keys[held], logits[held], labels[held])
        self.assertEqual((tuning["keys"]["chosen"], memory.key_transform), ("whiten", "whiten"))
        again = pickle.loads(pickle.dumps(memory))
        np.testing.assert_array_equal(again.scores(keys[test], logits[test]), memory.scores(keys[test], logits[test]))
        memory.tune(keys[held], logits[held], labels[held], key_transform="none")
        self.assertEqual(memory.key_transform, "none")
        for call in (lambda: Memory.build(keys, logits, labels, key_transform="white"),
                     lambda: memory.tune(keys[held], logits[held], labels[held], key_transform="white")):
            with self.assertRaisesRegex(ValueError, "whiten"):
                call()


class Tags(unittest.TestCase):
    def test_answers_come_from_matching_rows_alone(self):
        keys, logits, labels = clusters(400)
        tags = ["site=north;n=%d" % i if i % 2 else "site=south" for i in range(300)]
        memory = Memory.build(keys[:300], logits[:300], labels[:300], tags=tags, k=9)
        north = Memory.build(keys[1:300:2], logits[1:300:2], labels[1:300:2], k=9)
        for name in ("scores", "predict_proba", "predict"):
            np.testing.assert_array_equal(getattr(memory, name)(keys[300:], logits[300:], where="site=north"),
                                          getattr(north, name)(keys[300:], logits[300:]))
        found = memory.neighbors(keys[300:], 5, where="site=north")
        np.testing.assert_array_equal(found.ids, 2 * north.neighbors(keys[300:], 5).ids + 1)
        self.assertEqual(list(memory.tags([1, 2])), ["site=north;n=1", "site=south"])
        few = memory.neighbors(keys[300:], 5, where="n<5")
        self.assertEqual(sorted(few.ids[0][few.rows[0] >= 0].tolist()), [1, 3])
        np.testing.assert_array_equal(memory.scores(keys[300:], logits[300:], where="site=east"),
                                      memory.scores(keys[300:], logits[300:], k=0))

    def test_changes_are_seen_and_parts_are_not_changed(self):
        keys, logits, labels = clusters(100)
        memory = Memory.build(keys[:50], logits[:50], labels[:50], tags=["site=north"] * 50)
        part = memory.where("site=north")
        memory.append(keys[50:], logits[50:], labels[50:], tags=["site=north;time=2026-11-19"] * 50)
        self.assertEqual((len(part), len(memory.where("site=north"))), (50, 100))
        for change in (lambda: part.delete([0]), lambda: part.compact(), lambda: part.save("/tmp/never"),
                       lambda: part.append(keys[:1], logits[:1], labels[:1]), part.copy):
            with self.assertRaisesRegex(ValueError, "only the rows"):
                change()
        self.assertEqual(memory.delete(where="time>2026-01-01"), 50)
        self.assertEqual(len(memory), 50)
        self.assertEqual(memory.delete(where="time>2026-01-01"), 0)

    def test_errors_name_the_condition(self):
        keys, logits, labels = clusters(20)
        memory = Memory.build(keys, logits, labels)
        with self.assertRaisesRegex(ValueError, 'condition "age<old"'):
            memory.predict(keys, logits, where="age<old")
        with self.assertRaisesRegex(ValueError, "tags, row 1: "):
            Memory.build(keys, logits, labels, tags=["a", "b;"] + ["c"] * 18)
        with self.assertRaisesRegex(ValueError, "one of them"):
            memory.delete([1], where="a=b")


if __name__ == "__main__":
    unittest.main()
