"""Hand-written examples of the records that workers return, modelled on real records."""

from __future__ import annotations

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ApiRecord, ParameterKind, ParameterRecord

KEYWORD = ParameterKind.KEYWORD_ONLY

CONV2D_OP = ApiRecord(
    api="tensorflow.raw_ops.Conv2D",
    kind=CallKind.FUNCTION,
    source="opdef",
    operator="Conv2D",
    parameters=(
        ParameterRecord(
            name="input",
            kind=KEYWORD,
            schema_type="Tensor",
            dtypes=("float16", "float32", "float64", "int32"),
            doc="A `Tensor`. A 4-D tensor.",
        ),
        ParameterRecord(
            name="filter",
            kind=KEYWORD,
            schema_type="Tensor",
            dtypes=("float16", "float32", "float64", "int32"),
            same_dtype_as="input",
            doc="A `Tensor`. Must have the same type as `input`.",
        ),
        ParameterRecord(name="strides", kind=KEYWORD, schema_type="list(int)"),
        ParameterRecord(
            name="padding",
            kind=KEYWORD,
            schema_type="string",
            allowed=("SAME", "VALID", "EXPLICIT"),
        ),
        ParameterRecord(
            name="name", kind=KEYWORD, required=False, default="None", schema_type="string"
        ),
    ),
)

SUM = ApiRecord(
    api="torch.sum",
    kind=CallKind.FUNCTION,
    source="docstring",
    operator="aten::sum",
    parameters=(
        ParameterRecord(name="input", annotation="Tensor", schema_type="Tensor", doc_type="Tensor"),
        ParameterRecord(
            name="dim",
            required=False,
            default="None",
            schema_type="int[1]?",
            doc="the dimension or dimensions to reduce.",
        ),
        ParameterRecord(
            name="keepdim",
            required=False,
            default="False",
            annotation="_bool",
            schema_type="bool",
        ),
        ParameterRecord(
            name="dtype",
            kind=KEYWORD,
            required=False,
            default="None",
            schema_type="ScalarType?",
        ),
    ),
)

CONV1D_LAYER = ApiRecord(
    api="torch.nn.Conv1d",
    kind=CallKind.LAYER,
    source="signature",
    parameters=(
        ParameterRecord(name="in_channels", annotation="int", doc_type="int"),
        ParameterRecord(name="out_channels", annotation="int", doc_type="int"),
        ParameterRecord(name="kernel_size", annotation="Union[int, tuple[int]]"),
        ParameterRecord(name="stride", required=False, default="1", annotation="int"),
        ParameterRecord(
            name="padding_mode",
            required=False,
            default="'zeros'",
            annotation="Literal['zeros', 'reflect', 'replicate', 'circular']",
        ),
    ),
    inputs=(ParameterRecord(name="input", annotation="Tensor"),),
)

ADD_METHOD = ApiRecord(
    api="torch.Tensor.add_",
    kind=CallKind.METHOD,
    source="stub",
    tags=frozenset({"unstable"}),
    parameters=(
        ParameterRecord(name="self", kind=ParameterKind.POSITIONAL_ONLY, schema_type="Tensor(a!)"),
        ParameterRecord(name="other", annotation="Tensor | Number"),
        ParameterRecord(
            name="alpha", kind=KEYWORD, required=False, default="1", schema_type="Scalar"
        ),
    ),
)

SPREAD = ApiRecord(
    api="torch.zeros",
    kind=CallKind.FUNCTION,
    parameters=(
        ParameterRecord(
            name="size", kind=ParameterKind.VAR_POSITIONAL, required=False, doc_type="int..."
        ),
        ParameterRecord(
            name="dtype", kind=KEYWORD, required=False, default="None", annotation="_dtype | None"
        ),
    ),
)

DELETE_FILE = ApiRecord(
    api="tensorflow.io.gfile.rmtree",
    kind=CallKind.FUNCTION,
    tags=frozenset({"files"}),
    parameters=(ParameterRecord(name="path", annotation="str"),),
)

ALL = (CONV2D_OP, SUM, CONV1D_LAYER, ADD_METHOD, SPREAD, DELETE_FILE)
