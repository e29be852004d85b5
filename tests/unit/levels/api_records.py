"""Records of one API of every kind, as a worker returns them."""

from __future__ import annotations

from ciguard.domain.records import record_from_json

CONV2D_OP = record_from_json(
    {
        "api": "tensorflow.raw_ops.Conv2D",
        "kind": "function",
        "source": "opdef",
        "parameters": [
            {"name": "input", "schema_type": "Tensor", "dtypes": ["float32", "int32"]},
            {"name": "filter", "schema_type": "Tensor", "same_dtype_as": "input"},
            {"name": "strides", "schema_type": "list(int)"},
            {"name": "padding", "schema_type": "string", "allowed": ["SAME", "VALID"]},
            {"name": "name", "schema_type": "string", "required": False, "default": "None"},
        ],
    }
)
SUM = record_from_json(
    {
        "api": "torch.sum",
        "kind": "function",
        "source": "docstring",
        "parameters": [
            {"name": "input", "schema_type": "Tensor"},
            {"name": "dim", "schema_type": "int[1]?", "required": False, "default": "None"},
            {"name": "keepdim", "schema_type": "bool", "required": False, "default": "False"},
            {
                "name": "dtype",
                "kind": "keyword_only",
                "schema_type": "ScalarType?",
                "required": False,
                "default": "None",
            },
        ],
    }
)
CONV1D_LAYER = record_from_json(
    {
        "api": "torch.nn.Conv1d",
        "kind": "layer",
        "source": "signature",
        "parameters": [
            {"name": "in_channels", "annotation": "int"},
            {"name": "out_channels", "annotation": "int"},
            {"name": "kernel_size", "annotation": "Union[int, tuple[int]]"},
            {"name": "stride", "annotation": "int", "required": False, "default": "1"},
        ],
        "inputs": [{"name": "input", "annotation": "Tensor"}],
    }
)
ADD_METHOD = record_from_json(
    {
        "api": "torch.Tensor.add_",
        "kind": "method",
        "source": "stub",
        "tags": ["unstable"],
        "parameters": [
            {"name": "self", "kind": "positional_only", "schema_type": "Tensor(a!)"},
            {"name": "other", "annotation": "Tensor | Number"},
            {"name": "alpha", "kind": "keyword_only", "required": False, "default": "1"},
        ],
    }
)
SPREAD = record_from_json(
    {
        "api": "torch.zeros",
        "kind": "function",
        "parameters": [
            {"name": "size", "kind": "var_positional", "required": False, "doc_type": "int..."},
            {"name": "dtype", "kind": "keyword_only", "required": False, "default": "None"},
        ],
    }
)
DELETE_FILE = record_from_json(
    {
        "api": "tensorflow.io.gfile.rmtree",
        "kind": "function",
        "tags": ["files"],
        "parameters": [{"name": "path", "annotation": "str"}],
    }
)
ALL = (CONV2D_OP, SUM, CONV1D_LAYER, ADD_METHOD, SPREAD, DELETE_FILE)
