"""ResMemClassifier and ResMemRegressor as the ecosystem uses them."""
import io
import pickle
import unittest
import warnings
from unittest import mock

import joblib
import numpy as np
from resmem import InvalidValue, ResMemClassifier, ResMemRegressor
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC


def bases():
    return {
        "forest": RandomForestClassifier(30, random_state=0),
        "logistic": LogisticRegression(max_iter=2000, C=0.01),
        "boosted": HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=8, random_state=0),
        "network": make_pipeline(StandardScaler(), MLPClassifier((16,), max_iter=30, random_state=0)),
    }


def loss(model, X, y):
    """Of the probabilities as given, zeros counting as the floor."""
    p = np.maximum(model.predict_proba(X), 1e-4)
    return log_loss(y, p / p.sum(axis=1, keepdims=True), labels=np.arange(p.shape[1]))


class Tables(unittest.TestCase):
    def judge(self, load, must_adopt):
        X, y = load(return_X_y=True)
        X, X_test, y, y_test = train_test_split(X, y, train_size=min(600, int(0.7 * len(y))), random_state=0,
                                                stratify=y)
        adopted = []
        for name, base in bases().items():
            with self.subTest(base=name):
                model = ResMemClassifier(base, cv=2).fit(X, y)
                if model.adopted_:
                    adopted.append(name)
                    # 1e-6: our probabilities are float32, the base's may be float64.
                    self.assertLessEqual(loss(model, X_test, y_test), loss(model.base_, X_test, y_test) + 1e-6)
                else:
                    np.testing.assert_array_equal(model.predict_proba(X_test), model.base_.predict_proba(X_test))
        self.assertTrue(set(must_adopt) <= set(adopted), adopted)

    def test_digits(self):
        self.judge(load_digits, ["forest", "boosted"])

    def test_breast_cancer(self):
        self.judge(load_breast_cancer, [])

    def test_wine(self):
        self.judge(load_wine, [])

    def test_iris(self):
        self.judge(load_iris, [])

    def test_diabetes(self):
        X, y = load_diabetes(return_X_y=True)
        X, X_test, y, y_test = train_test_split(X, y, random_state=0)
        for base in (LinearRegression(), RandomForestRegressor(30, random_state=0)):
            model = ResMemRegressor(base).fit(X, y)
            errors = [((m.predict(X_test) - y_test) ** 2).mean() for m in (model, model.base_)]
            self.assertLessEqual(errors[0], errors[1])


class Ecosystem(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.X, cls.y = load_digits(return_X_y=True)
        cls.X, cls.y = cls.X[:240], cls.y[:240]
        cls.forest = RandomForestClassifier(20, random_state=0)

    def test_key_transform_is_chosen_or_given(self):
        X, y = load_wine(return_X_y=True)
        for given, found in (("unit", ("unit",)), ("auto", ("none", "unit", "whiten"))):
            model = ResMemClassifier(LogisticRegression(C=0.01), key_transform=given).fit(X, y)
            self.assertIn(model.memory_.key_transform, found)
        with self.assertRaises(ValueError):
            ResMemClassifier(key_transform="white").fit(X, y)

    def test_grid_search_with_two_jobs_and_clone(self):
        search = GridSearchCV(ResMemClassifier(self.forest, cv=2), {"base__max_depth": [3, None], "k": [None, 5]},
                              n_jobs=2, cv=2).fit(self.X, self.y)
        self.assertGreater(search.best_score_, 0.8)
        copy = clone(search.best_estimator_)
        self.assertFalse(hasattr(copy, "memory_"))

    def test_pickle_and_joblib_keep_every_answer(self):
        model = ResMemClassifier(self.forest, cv=2).fit(self.X, self.y)
        expected = model.predict_proba(self.X)
        file = io.BytesIO()
        joblib.dump(model, file)
        file.seek(0)
        for copy in (pickle.loads(pickle.dumps(model)), joblib.load(file)):
            np.testing.assert_array_equal(copy.predict_proba(self.X), expected)

    def test_inside_and_around_a_pipeline(self):
        outer = make_pipeline(StandardScaler(), ResMemClassifier(self.forest, cv=2)).fit(self.X, self.y)
        inner = ResMemClassifier(make_pipeline(PCA(10), self.forest), cv=2).fit(self.X, self.y)
        self.assertGreater(outer.score(self.X, self.y), 0.9)
        self.assertEqual(inner.memory_.dim, 10)

    def test_labels_of_any_type(self):
        names = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
        for labels in (names[self.y], names[self.y].astype(object), self.y - 5, self.y == 3, self.y.astype(float)):
            model = ResMemClassifier(self.forest, cv=2).fit(self.X, labels)
            self.assertEqual(model.predict(self.X[:5]).dtype, model.classes_.dtype)
            self.assertGreater((model.predict(self.X) == labels).mean(), 0.9)

    def test_tables_of_pandas_with_texts_and_column_names(self):
        pandas = __import__("pandas")
        from sklearn.compose import make_column_transformer
        from sklearn.preprocessing import OneHotEncoder
        rng = np.random.default_rng(0)
        table = pandas.DataFrame({"size": rng.uniform(0, 1, 200), "color": rng.choice(["red", "blue"], 200)})
        label = np.where((table["size"] > 0.5) ^ (table["color"] == "red"), "yes", "no")
        base = make_pipeline(make_column_transformer((OneHotEncoder(), ["color"]), remainder="passthrough"),
                             LogisticRegression())
        model = ResMemClassifier(base).fit(table, label)
        self.assertEqual(model.feature_names_in_.tolist(), ["size", "color"])
        self.assertTrue(model.adopted_)
        self.assertGreater(model.score(table, label), 0.9)
        numbers = pandas.DataFrame(self.X[:200, 10:20], columns=[f"c{i}" for i in range(10)])
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a base fitted with names is asked with names
            model = ResMemClassifier(self.forest, cv=2).fit(numbers, self.y[:200] % 2)
            model.predict(numbers)
        with self.assertRaises(ValueError):
            model.predict(numbers.rename(columns={"c0": "other"}))

    def test_zeros_of_trees_become_the_floor(self):
        from resmem._bases import logits_of
        forest = clone(self.forest).fit(self.X, self.y)
        logits = logits_of(forest, self.X, forest.classes_, 1e-4)
        self.assertTrue(np.any(forest.predict_proba(self.X) == 0))
        self.assertAlmostEqual(float(logits.min()), np.log(1e-4), places=5)

    def test_bases_without_probabilities_and_default_bases(self):
        model = ResMemClassifier(LinearSVC(dual=False, max_iter=100), cv=2).fit(self.X, self.y)
        np.testing.assert_allclose(model.predict_proba(self.X).sum(axis=1), 1)
        self.assertGreater(ResMemClassifier(cv=2).fit(self.X, self.y > 4).score(self.X, self.y > 4), 0.85)

    def test_keys_of_every_kind(self):
        network = make_pipeline(StandardScaler(), MLPClassifier((12, 7), max_iter=20, random_state=0))
        for base, keys, dim in ((network, "auto", 7), (network, "hidden", 7), (self.forest, "auto", 64),
                                (self.forest, "input", 64), (self.forest, PCA(5), 5),
                                (self.forest, lambda X: X[:, :3], 3)):
            model = ResMemClassifier(base, keys=keys, cv=2).fit(self.X, self.y)
            self.assertEqual(model.memory_.dim, dim)
        hidden = ResMemClassifier(network, cv=2).fit(self.X, self.y)
        last = hidden.base_[-1]
        scores = hidden.keys_.transform(self.X) @ last.coefs_[-1] + last.intercepts_[-1]
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        np.testing.assert_allclose(p / p.sum(axis=1, keepdims=True), hidden.base_.predict_proba(self.X), atol=1e-6)
        for keys in ("hidden", "other", 3):
            with self.assertRaises(InvalidValue):
                ResMemClassifier(self.forest, keys=keys, cv=2).fit(self.X, self.y)

    def test_a_fitted_base_stays_as_it_is(self):
        base = clone(self.forest).fit(self.X[:80], self.y[:80])
        model = ResMemClassifier(base, prefit=True).fit(self.X[80:], self.y[80:])
        self.assertIs(model.base_, base)
        self.assertEqual(len(model.memory_), 160)

    def test_rows_split_off_are_not_remembered(self):
        model = ResMemClassifier(self.forest, held_out=0.25).fit(self.X, self.y)
        self.assertEqual((len(model.memory_), model.tuning_["rows"]), (180, 60))


class Questions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        X, y = load_digits(return_X_y=True)
        cls.X, cls.y, cls.new, cls.new_y = X[:200], y[:200], X[500:520], y[500:520]
        cls.model = ResMemClassifier(RandomForestClassifier(15, random_state=0), cv=2, adopt="always")

    def test_learning_and_forgetting(self):
        model = clone(self.model).fit(self.X, self.y)
        before = model.predict_proba(self.new)
        model.partial_fit(self.new, self.new_y)
        self.assertEqual(model.learned_ids_.tolist(), list(range(200, 220)))
        self.assertTrue(np.any(model.predict_proba(self.new) != before))
        model.forget(model.learned_ids_)
        np.testing.assert_array_equal(model.predict_proba(self.new), before)
        with self.assertRaises(KeyError):
            model.forget([200])
        with self.assertRaises(ValueError):
            model.partial_fit(self.new, self.new_y + 100)

    def test_neighbors_explanations_and_the_doctor(self):
        model = clone(self.model).fit(self.X, self.y)
        distances, rows = model.kneighbors(self.X[:4], 3)
        self.assertEqual(rows[:, 0].tolist(), [0, 1, 2, 3])
        self.assertEqual(float(distances[:, 0].max()), 0)
        self.assertNotIn(0, model.kneighbors(n_neighbors=2, return_distance=False)[0])
        explanations = model.explain(self.new[:3])
        self.assertEqual([model.classes_[e.prediction] for e in explanations], model.predict(self.new[:3]).tolist())
        self.assertEqual(model.memory_.answer, "blend")
        flags = model.unknown(self.new, 0.5)
        self.assertEqual([e.unknown for e in model.explain(self.new, 0.5)], flags.tolist())
        self.assertTrue(0 < flags.sum() < len(flags))
        self.assertIn("resmem.diagnosis", model.doctor()["schema"])
        self.assertTrue(model.doctor(self.new, self.new_y).verdict)

    def test_a_memory_that_was_not_adopted_warns_when_it_learns(self):
        model = clone(self.model).set_params(adopt="never").fit(self.X, self.y)
        with self.assertWarns(UserWarning):
            model.partial_fit(self.new, self.new_y)

    def test_a_memory_that_answers_as_the_base_is_not_called_adopted(self):
        # Halves that seemed to gain, and on all rows a choice that cross-validation does not support.
        rng = np.random.default_rng(1)
        X = rng.standard_normal((400, 3))
        y = (2 * X + rng.gumbel(size=(400, 3))).argmax(axis=1)  # all there is to know is what the base says
        with mock.patch.object(ResMemClassifier, "_judge_folds", lambda *_: np.ones(400)):
            model = ResMemClassifier(LogisticRegression(), key_transform="none").fit(X, y)
        self.assertEqual(model.memory_.answer, "base")
        self.assertFalse(model.adopted_)
        with self.assertWarnsRegex(UserWarning, "was not adopted"):
            model.partial_fit(X[:3], y[:3])
        model = ResMemClassifier(LogisticRegression(), adopt="always", key_transform="none").fit(X, y)
        self.assertEqual((model.adopted_, model.memory_.answer), (True, "base"))
        with self.assertWarnsRegex(UserWarning, "answers as the base"):
            model.partial_fit(X[:3], y[:3])

    def test_several_outputs(self):
        X = np.linspace(-3, 3, 200).reshape(-1, 1)
        Y = np.hstack([np.sin(2 * X), np.cos(2 * X)])
        model = ResMemRegressor().fit(X, Y)
        self.assertTrue(model.adopted_)
        self.assertEqual(model.predict(X).shape, (200, 2))
        self.assertGreater(model.score(X, Y), 0.95)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
