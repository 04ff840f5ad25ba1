# Solves what it is sent, one problem a line, by scikit-learn: duals on a given kernel
# matrix with LIBSVM, primals on given features with LIBLINEAR.
import json
import sys
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVR, OneClassSVM


def linear(q):
    common = dict(C=q["c"], tol=1e-8, max_iter=20000, fit_intercept=False, dual=True, random_state=0)
    model = {
        0: lambda: LinearSVC(loss="hinge", **common),
        1: lambda: LinearSVC(loss="squared_hinge", **common),
        5: lambda: LinearSVR(loss="epsilon_insensitive", epsilon=q["epsilon"], **common),
        6: lambda: LinearSVR(loss="squared_epsilon_insensitive", epsilon=q["epsilon"], **common),
        13: lambda: LinearSVC(multi_class="crammer_singer", **common),
    }[q["form"]]()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(np.array(q["x"]), np.array(q["y"]), sample_weight=q["weights"])
    early = any(issubclass(w.category, ConvergenceWarning) for w in said)
    return {"W": np.atleast_2d(model.coef_).tolist(), "Early": early}


warnings.filterwarnings("ignore")
for line in sys.stdin:
    try:
        q = json.loads(line)
        if "x" in q:
            print(json.dumps(linear(q)), flush=True)
            continue
        k, y = np.array(q["k"]), np.array(q["y"])
        common = dict(kernel="precomputed", tol=1e-6, shrinking=False, max_iter=200000)
        model = {
            0: lambda: SVC(C=q["c"], **common),
            4: lambda: OneClassSVM(nu=q["nu"], **common),
            5: lambda: SVR(C=q["c"], epsilon=q["epsilon"], **common),
            8: lambda: NuSVR(C=q["c"], nu=q["nu"], **common),
        }[q["form"]]()
        model.fit(k, y, sample_weight=q["weights"])
        coef = np.zeros(len(y))
        coef[model.support_] = model.dual_coef_[0]
        print(json.dumps({"Coef": coef.tolist(), "B": float(model.intercept_[0])}), flush=True)
    except Exception as e:
        print(json.dumps({"Fail": str(e)}), flush=True)
