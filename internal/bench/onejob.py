"""Does one job of the benchmark with scikit-learn: JSON in, JSON out."""

import json
import sys
import time

import numpy as np
from sklearn.datasets import load_svmlight_file

job = json.load(sys.stdin)
points, y = load_svmlight_file(job["File"])
points = points.toarray()
kind = job["Kind"]
how = ""
if kind in ("classify", "one-vs-one", "regress"):
    from sklearn.svm import SVC, SVR

    words = dict(C=job["C"], gamma=job["Gamma"], tol=1e-3, cache_size=1000)
    machine = SVR(epsilon=job["Epsilon"], **words) if kind == "regress" else SVC(**words)
    began = time.perf_counter()
    machine.fit(points, y)
    seconds = time.perf_counter() - began
    objective = 0.0
    if kind != "one-vs-one":
        coef, support = machine.dual_coef_[0], machine.support_
        values = machine.predict(points[support]) if kind == "regress" else machine.decision_function(points[support])
        size = np.abs(coef).sum()
        objective = coef @ (values - machine.intercept_[0]) / 2
        objective += job["Epsilon"] * size - coef @ y[support] if kind == "regress" else -size
else:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel, alpha = RBF([job["Length"]] * points.shape[1] if job["ARD"] else job["Length"]), job["Noise"]
    if kind == "evidence":
        kernel, alpha = ConstantKernel(1.0) * kernel + WhiteKernel(job["Noise"]), 1e-10
    machine = GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None)
    began = time.perf_counter()
    machine.fit(points, y)
    seconds = time.perf_counter() - began
    objective = float(y @ machine.alpha_)
    if kind == "evidence":
        began = time.perf_counter()
        value, _ = machine.log_marginal_likelihood(machine.kernel_.theta, eval_gradient=True)
        seconds = time.perf_counter() - began
        objective = -value
json.dump(dict(Seconds=seconds, Objective=float(objective), How=how), sys.stdout)
