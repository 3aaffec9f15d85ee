"""scikit-learn's own checks of an estimator, all of them."""
import unittest
import warnings

from resmem import ResMemClassifier, ResMemRegressor
from sklearn.utils.estimator_checks import check_estimator


class Checks(unittest.TestCase):
    def every_check(self, estimator):
        count = 0
        for instance, check in check_estimator(estimator, generate_only=True):
            count += 1
            with self.subTest(check=str(check)), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(instance)
        self.assertGreater(count, 35)

    def test_classifier(self):
        self.every_check(ResMemClassifier())

    def test_regressor(self):
        self.every_check(ResMemRegressor())


if __name__ == "__main__":
    unittest.main()
