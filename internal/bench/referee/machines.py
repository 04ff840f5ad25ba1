"""Trains machines of other libraries for internal/bench/referee.

Called with a CSV file (label first), gamma, C, and an output folder, it writes NAME.json (the
attributes of scikit-learn), NAME.model (LIBSVM's format) or NAME.onnx for each library that is
there, and prints the names, or a word why one is missing.
"""
import json
import sys

import numpy as np


def attributes(m, gamma):
    linear = not hasattr(m, "dual_coef_")
    of = {"classes_": m.classes_.tolist(), "intercept_": np.ravel(m.intercept_).tolist()}
    if linear:
        of["coef_"] = m.coef_.tolist()
    else:
        of.update(kernel="rbf", gamma=gamma, degree=3, coef0=0.0, support_vectors_=np.asarray(m.support_vectors_).tolist(), dual_coef_=np.asarray(m.dual_coef_).tolist())
    return of


def main():
    data = np.loadtxt(sys.argv[1], delimiter=",", ndmin=2)
    gamma, c, out = float(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    x, y = data[:, 1:], data[:, 0].astype(int)

    def attempt(name, train):
        try:
            train(name)
            print("made", name)
        except Exception as e:  # a library that is missing or does not load
            print("missing", name, type(e).__name__, str(e).splitlines()[0][:80] if str(e) else "")

    def sklearn(name):
        from sklearn.svm import SVC
        m = SVC(C=c, gamma=gamma).fit(x, y)
        json.dump(attributes(m, gamma), open(f"{out}/{name}.json", "w"))

    def onnx(name):
        from skl2onnx import to_onnx
        from sklearn.svm import SVC
        m = SVC(C=c, gamma=gamma).fit(x, y)
        with open(f"{out}/{name}.onnx", "wb") as f:
            f.write(to_onnx(m, x[:1].astype(np.float32)).SerializeToString())

    def intelex(name):
        from sklearnex.svm import SVC
        m = SVC(C=c, gamma=gamma).fit(x, y)
        json.dump(attributes(m, gamma), open(f"{out}/{name}.json", "w"))

    def thunder(name):
        from thundersvm import SVC
        m = SVC(C=c, gamma=gamma, kernel="rbf")
        m.fit(x, y)
        m.save_to_file(f"{out}/{name}.model")

    attempt("scikit-learn", sklearn)
    attempt("skl2onnx", onnx)
    attempt("scikit-learn-intelex", intelex)
    attempt("thundersvm", thunder)


main()
