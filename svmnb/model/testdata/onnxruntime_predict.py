"""Predicts by ONNX graphs with onnxruntime, for onnx_test.go; in and out as onnx_predict.py."""
import base64
import json
import sys

import numpy as np
import onnxruntime

onnxruntime.set_default_logger_severity(3)
kinds = {"tensor(float)": np.float32, "tensor(double)": np.float64}


def column(kind, values):
    if kind == "tensor(string)":
        return np.array([v or "" for v in values], object)[:, None]
    return np.array([np.nan if v is None else v for v in values], kinds[kind])[:, None]


out = []
for case in json.load(sys.stdin):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(base64.b64decode(case["Model"]), options, providers=["CPUExecutionProvider"])
    if case["Inputs"]:
        given = {v.name: column(v.type, case["Inputs"][v.name]) for v in session.get_inputs()}
    else:
        given = {"X": np.array([[np.nan if v is None else v for v in row] for row in case["X"]], np.float32)}
    answers = dict(zip((v.name for v in session.get_outputs()), session.run(None, given)))
    scores = answers.get("scores", answers.get("value"))
    out.append({"Y": [str(v) for v in answers["label"]] if "label" in answers else None,
                "Scores": [[None if np.isnan(v) else float(v) for v in row] for row in scores],
                "Outputs": list(answers)})
json.dump(out, sys.stdout)
