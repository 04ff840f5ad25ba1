# Solves the duals that it is sent, one a line, by scikit-learn on a given kernel matrix.
import json
import sys
import warnings

import numpy as np
from sklearn.svm import SVC, SVR, NuSVR, OneClassSVM

warnings.filterwarnings("ignore")
for line in sys.stdin:
    try:
        q = json.loads(line)
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
