"""Ten lines: a forest on scikit-learn's digits, and the same forest with a memory."""
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from resmem import ResMemClassifier

X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
model = ResMemClassifier(RandomForestClassifier(50, random_state=0)).fit(X, y)
print(f"forest {model.base_.score(X_test, y_test):.4f}, with memory {model.score(X_test, y_test):.4f}")
print(model.explain(X_test[:1])[0])
