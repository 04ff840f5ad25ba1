"""Predicts by ONNX graphs of steps and one node of ai.onnx.ml, for onnx_test.go.

Written in numpy from the text of the operators: of ai.onnx.ml versions 1 and 2, of ai.onnx
versions 7 and 10, and Tokenizer of com.microsoft. The onnx package parses and checks the
graphs. In: a list of {Model: base64, X: rows} or {Model, Inputs: columns by their names};
out: a list of {Op, Y, Scores, Outputs}.
"""
import base64
import json
import re
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


def label_encoder(a, x):
    kind = next(k for k in ("keys_strings", "keys_floats") if k in a)
    values, default = (a[k] for k in (("values_int64s", "default_int64") if "values_int64s" in a else ("values_floats", "default_float")))
    keys = [np.float64(np.float32(k)) if kind == "keys_floats" else k for k in a[kind]]
    assert len(keys) == len(set(keys)) == len(values)
    known = dict(zip(keys, values))
    return np.array([known.get(v, default) for v in x.ravel()], np.float64).reshape(x.shape)


def one_hot(x, depth, values):
    assert x.ndim == 1
    return np.where(x[:, None] == np.arange(depth[0]), values[1], values[0])


def tokenizer(a, x):
    assert x.ndim == 1 and a["mark"] == 0
    exp = a["tokenexp"].replace(r"\p{L}\p{Nd}", r"^\W_")  # of which re knows no other name
    words = [[w for w in re.findall(exp, text) if len(w) >= a["mincharnum"]] for text in x]
    most = max(map(len, words))
    return np.array([w + [a["pad_value"]] * (most - len(w)) for w in words], object).reshape(len(x), most)


def tf_vectorizer(a, x):
    assert a["mode"] == "TF" and a["max_skip_count"] == 0 and a["min_gram_length"] == 1
    starts = a["ngram_counts"] + [len(a["pool_strings"])]
    assert len(starts) == a["max_gram_length"] + 1
    grams = []
    for n in range(1, len(starts)):
        pool = a["pool_strings"][starts[n - 1]:starts[n]]
        grams += [tuple(pool[i:i + n]) for i in range(0, len(pool), n)]
    place = dict(zip(grams, a["ngram_indexes"]))
    assert len(place) == len(grams) == len(a["ngram_indexes"])
    out = np.zeros((len(x), max(a["ngram_indexes"]) + 1))
    for i, row in enumerate(x):
        for n in range(1, len(starts)):
            for j in range(len(row) - n + 1):
                k = place.get(tuple(row[j:j + n]))
                if k is not None:
                    out[i, k] += 1
    return out


def normalized(a, x):
    assert a["norm"] == "L2"
    length = np.sqrt((x ** 2).sum(1, keepdims=True))
    return np.where(length > 0, x / np.where(length > 0, length, 1), x)


ml_steps = {
    "Scaler": lambda a, x: (x - np.array(a["offset"])) * np.array(a["scale"]),
    "Imputer": lambda a, x: np.where(np.isnan(x), np.array(a["imputed_value_floats"]), x),
    "LabelEncoder": label_encoder,
    "Normalizer": normalized,
}
steps = {
    "Add": lambda a, x, y: x + y,
    "Sub": lambda a, x, y: x - y,
    "Mul": lambda a, x, y: x * y,
    "Div": lambda a, x, y: x / y,
    "MatMul": lambda a, x, y: x @ y,
    "Floor": lambda a, x: np.floor(x),
    "Sin": lambda a, x: np.sin(x),
    "Cos": lambda a, x: np.cos(x),
    "Exp": lambda a, x: np.exp(x),
    "IsNaN": lambda a, x: np.isnan(x),
    "Where": lambda a, c, x, y: np.where(c, x, y),
    "Cast": lambda a, x: x.astype(bool) if a["to"] == onnx.TensorProto.BOOL else x.astype(np.float64),
    "Squeeze": lambda a, x: np.squeeze(x, tuple(a["axes"])),
    "ReduceSum": lambda a, x: x.sum(tuple(a["axes"]), keepdims=True),
    "Gather": lambda a, x, at: np.take(x, at, a["axis"]),
    "Concat": lambda a, *x: np.concatenate(x, a["axis"]),
    "OneHot": lambda a, *x: one_hot(*x),
    "StringNormalizer": lambda a, x: np.array([v.lower() for v in x], object),
    "TfIdfVectorizer": tf_vectorizer,
}


def do_step(node, inputs):
    by = {"ai.onnx.ml": ml_steps, "": steps, "com.microsoft": {"Tokenizer": tokenizer}}[node.domain]
    return by[node.op_type](attributes(node), *inputs)


def array(t):
    v = onnx.numpy_helper.to_array(t)
    if v.dtype == np.float32:
        return v.astype(np.float64)
    return np.array([plain(e) for e in v], object) if v.dtype == object else v


def column(value, values):
    """An input of one column, in the precision of its type."""
    kind = value.type.tensor_type.elem_type
    if kind == onnx.TensorProto.STRING:
        return np.array([v or "" for v in values], object)[:, None]
    v = np.array([np.nan if v is None else v for v in values], np.float64)[:, None]
    assert kind in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
    return v.astype(np.float32).astype(np.float64) if kind == onnx.TensorProto.FLOAT else v


out = []
for case in json.load(sys.stdin):
    model = onnx.load_from_string(base64.b64decode(case["Model"]))
    onnx.checker.check_model(model, full_check=True)
    predictors = {"SVMClassifier": svm_classifier, "LinearClassifier": linear_classifier,
                  "SVMRegressor": svm_regressor, "LinearRegressor": linear_regressor}
    nodes = list(model.graph.node)
    [at] = [i for i, n in enumerate(nodes) if n.op_type in predictors]
    before, node, after = nodes[:at], nodes[at], nodes[at + 1:]
    assert node.domain == "ai.onnx.ml" and model.opset_import[0].domain == "ai.onnx.ml"
    a = attributes(node)
    labels = a.get("classlabels_ints") or a.get("classlabels_strings")
    by = predictors[node.op_type]
    known = {t.name: array(t) for t in model.graph.initializer}
    if case["Inputs"]:
        known.update({v.name: column(v, case["Inputs"][v.name]) for v in model.graph.input})
    else:
        known["X"] = np.array([[np.nan if v is None else v for v in row] for row in case["X"]], np.float32).astype(np.float64)
    for step in before:
        assert step.output[0] not in known
        known[step.output[0]] = do_step(step, [known[name] for name in step.input])
    names, scores = by(a, labels, known[node.input[0]])
    for step in after:  # from the logarithm of a target to the value
        known[step.input[0]] = scores
        scores = do_step(step, [known[name] for name in step.input])
    out.append({"Op": node.op_type, "Y": None if names is None else [str(v) for v in names],
                "Scores": [[None if np.isnan(v) else v for v in row] for row in scores.tolist()],
                "Outputs": [v.name for v in model.graph.output]})
json.dump(out, sys.stdout)
