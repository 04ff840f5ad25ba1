"""Predicts by ONNX graphs of steps and one node of ai.onnx.ml, for modelonnx_test.go.

Written from the text of the operators SVMClassifier, SVMRegressor, LinearClassifier
and LinearRegressor, Scaler and Imputer (ai.onnx.ml version 1), Add and MatMul in numpy; graphs are parsed and checked by
the onnx package. In: a list of {Model: base64, X}; out: a list of {Op, Y, Scores}.
"""
import base64
import json
import sys

import numpy as np
import onnx
import onnx.numpy_helper


def kernel(a, x):
    """The m x n kernel values of the rows of x with the support vectors."""
    gamma, coef0, degree = a["kernel_params"]
    sv = np.array(a["support_vectors"], np.float64).reshape(-1, x.shape[1])
    dots = x @ sv.T
    name = a["kernel_type"]
    if name == "LINEAR":
        return dots
    if name == "POLY":
        return (gamma * dots + coef0) ** degree
    if name == "SIGMOID":
        return np.tanh(gamma * dots + coef0)
    assert name == "RBF", name
    return np.exp(-gamma * ((x[:, None, :] - sv[None, :, :]) ** 2).sum(-1))


def couple(r):
    """Class probabilities from those of pairs: the p of sum 1 that minimises
    sum_ij (r_ji p_i - r_ij p_j)^2, by its linear system."""
    k = len(r)
    q = np.zeros((k + 1, k + 1))
    for i in range(k):
        for j in range(k):
            if i != j:
                q[i, i] += r[j, i] ** 2
                q[i, j] = -r[j, i] * r[i, j]
    q[k, :k] = q[:k, k] = 1
    return np.linalg.solve(q, np.append(np.zeros(k), 1))[:k]


def svm_classifier(a, labels, x):
    counts = a["vectors_per_class"]
    k, n = len(counts), sum(counts)
    starts = np.cumsum([0] + counts)
    coef = np.array(a["coefficients"], np.float64).reshape(k - 1, n)
    values = kernel(a, x)
    votes, scores = np.zeros((len(x), k)), []
    pair = 0
    r = np.zeros((len(x), k, k))
    for i in range(k):
        for j in range(i + 1, k):
            of_i, of_j = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
            s = values[:, of_i] @ coef[j - 1, of_i] + values[:, of_j] @ coef[i, of_j] + a["rho"][pair]
            votes[:, i] += s > 0
            votes[:, j] += s <= 0
            scores.append(s)
            if "prob_a" in a:
                p = np.clip(1 / (1 + np.exp(a["prob_a"][pair] * s + a["prob_b"][pair])), 1e-7, 1 - 1e-7)
                r[:, i, j], r[:, j, i] = p, 1 - p
            pair += 1
    scores = np.array(scores).T
    if "prob_a" in a:
        scores = np.array([couple(one) for one in r])
    return [labels[v] for v in votes.argmax(1)], scores


def linear_classifier(a, labels, x):
    scores = x @ np.array(a["coefficients"], np.float64).reshape(len(labels), -1).T + np.array(a["intercepts"])
    return [labels[v] for v in scores.argmax(1)], scores


def svm_regressor(a, _, x):
    assert a["n_supports"] * x.shape[1] == len(a["support_vectors"])
    s = kernel(a, x) @ np.array(a["coefficients"], np.float64) + a["rho"][0]
    if a.get("one_class"):
        s = np.where(s > 0, 1.0, -1.0)
    return None, s[:, None]


def linear_regressor(a, _, x):
    return None, (x @ np.array(a["coefficients"], np.float64) + a["intercepts"][0])[:, None]


def plain(v):
    if isinstance(v, bytes):
        return v.decode()
    return [plain(e) for e in v] if isinstance(v, list) else v


def attributes(node):
    a = {p.name: plain(onnx.helper.get_attribute_value(p)) for p in node.attribute}
    return {key: list(v) if not isinstance(v, (str, int, float)) else v for key, v in a.items()}


def do_step(node, a, x, tensors):
    assert (node.domain == "ai.onnx.ml") == (node.op_type in ("Scaler", "Imputer")), node
    if node.op_type == "Scaler":
        return (x - np.array(a["offset"])) * np.array(a["scale"])
    if node.op_type == "Imputer":
        assert np.isnan(a["replaced_value_float"])
        return np.where(np.isnan(x), np.array(a["imputed_value_floats"]), x)
    if node.op_type == "Add":
        return x + tensors[node.input[1]]
    assert node.op_type == "MatMul", node
    return x @ tensors[node.input[1]]


out = []
for case in json.load(sys.stdin):
    model = onnx.load_from_string(base64.b64decode(case["Model"]))
    onnx.checker.check_model(model, full_check=True)
    *steps, node = model.graph.node
    assert node.domain == "ai.onnx.ml" and model.opset_import[0].domain == "ai.onnx.ml"
    a = attributes(node)
    labels = a.get("classlabels_ints") or a.get("classlabels_strings")
    by = {"SVMClassifier": svm_classifier, "LinearClassifier": linear_classifier,
          "SVMRegressor": svm_regressor, "LinearRegressor": linear_regressor}[node.op_type]
    x = np.array([[np.nan if v is None else v for v in row] for row in case["X"]], np.float32).astype(np.float64)
    tensors = {t.name: onnx.numpy_helper.to_array(t).astype(np.float64) for t in model.graph.initializer}
    known = {"X": x}
    for step in steps:
        known[step.output[0]] = do_step(step, attributes(step), known[step.input[0]], tensors)
    x = known[node.input[0]]
    names, scores = by(a, labels, x)
    out.append({"Op": node.op_type, "Y": None if names is None else [str(v) for v in names],
                "Scores": scores.tolist(), "Outputs": [v.name for v in model.graph.output]})
json.dump(out, sys.stdout)
