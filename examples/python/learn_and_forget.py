"""A deployed model learns a row in milliseconds, and forgets it: no training, no GPU."""
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from resmem import ResMemClassifier

X, y = load_digits(return_X_y=True)
X /= 16
model = ResMemClassifier(LogisticRegression(max_iter=1000), cv=3, adopt="always").fit(X[:1000], y[:1000])

wrong = np.flatnonzero(model.predict(X[1000:]) != y[1000:])[0] + 1000
row = X[wrong:wrong + 1]
print(f"row {wrong} is a {y[wrong]}, the model says {model.predict(row)[0]}")

# What the memory holds of a row counts as much as its neighbors let it: ten copies settle it.
model.partial_fit(np.repeat(row, 10, axis=0), np.repeat(y[wrong:wrong + 1], 10))
print(f"after learning it: {model.predict(row)[0]}")
assert model.predict(row)[0] == y[wrong]

model.forget(model.learned_ids_)
print(f"after forgetting it: {model.predict(row)[0]}")
assert model.predict(row)[0] != y[wrong]

try:
    model.forget([123456])
except KeyError as error:
    print(f"KeyError: {error}")
