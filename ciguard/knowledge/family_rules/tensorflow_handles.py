"""Rules for handles of TensorFlow's runtime objects: variables, tensor lists, datasets and others.

A handle is not a constant: each is the output of an operation that creates it. A few handles of a
wrong kind are included, since kernels that accept a variant must check its contents.
"""

from __future__ import annotations

from ciguard.domain.values import (
    CallValue,
    Constant,
    DtypeValue,
    Explicit,
    ListValue,
    LiteralValue,
    TensorValue,
    Uniform,
    Value,
)
from ciguard.knowledge.family_rules.fields import Fields, Table, between, scalar, shaped
from ciguard.values import Between

_ANONYMOUS = LiteralValue("cd2c89b7-88b7-44c8-ad83-06c2a9158347")
"""TensorFlow's name for a resource that is not shared, and is freed with its handle."""
_RIGHT_KIND_FREQUENCY = 6
"""Frequency of handles of the right kind, relative to a handle of a wrong kind."""


def _output_of(operator: str, **arguments: Value) -> CallValue:
    return CallValue(f"tensorflow.raw_ops.{operator}", (), tuple(arguments.items()))


def _numbers(*numbers: int, dtype: str = "int64") -> TensorValue:
    return TensorValue(dtype, (len(numbers),), Explicit(numbers))


def _scalar(number: int) -> TensorValue:
    return TensorValue("int64", (), Constant(number))


def _floats(*shape: int) -> TensorValue:
    return TensorValue("float32", shape, Uniform(1, -1.0, 1.0))


def _attribute(call: CallValue, name: str) -> CallValue:
    return CallValue("builtins.getattr", (call, LiteralValue(name)))


def _variable(initial_value: TensorValue) -> CallValue:
    return _attribute(CallValue("tensorflow.Variable", (initial_value,)), "handle")


def _shapes(*shapes: tuple[int, ...]) -> ListValue:
    return ListValue(tuple(ListValue(tuple(map(LiteralValue, shape))) for shape in shapes))


_FLOAT32, _INT64 = DtypeValue("float32"), DtypeValue("int64")

VARIABLES: tuple[Value, ...] = (
    _variable(_floats(4, 4)),
    _variable(_floats(4, 4)),
    _variable(_floats(4, 4)),
    _variable(_floats(4)),
    _variable(TensorValue("float64", (4, 4), Uniform(2, 0.0, 1.0))),
    _output_of(
        "VarHandleOp",
        dtype=_FLOAT32,
        shape=_shapes((4, 4)).items[0],
        shared_name=_ANONYMOUS,
    ),
)
GENERATOR_STATES: tuple[Value, ...] = (
    _variable(_numbers(1, 2, 3)),
    _variable(_numbers(1, 2, 3)),
    _variable(_numbers(1)),
)
TENSOR_LISTS: tuple[Value, ...] = (
    _output_of("TensorListFromTensor", tensor=_floats(3, 2), element_shape=_numbers(2)),
    _output_of(
        "TensorListReserve",
        element_shape=_numbers(2),
        num_elements=TensorValue("int32", (), Constant(3)),
        element_dtype=_FLOAT32,
    ),
    _output_of(
        "EmptyTensorList",
        element_shape=_numbers(2),
        max_num_elements=TensorValue("int32", (), Constant(3)),
        element_dtype=_FLOAT32,
    ),
)
DATASETS: tuple[Value, ...] = (
    _output_of(
        "RangeDataset",
        start=_scalar(0),
        stop=_scalar(5),
        step=_scalar(1),
        output_types=ListValue((_INT64,)),
        output_shapes=_shapes(()),
    ),
    _output_of(
        "TensorSliceDataset",
        components=ListValue((_floats(3, 2),)),
        output_shapes=_shapes((2,)),
    ),
)
RAGGED: tuple[Value, ...] = (
    _output_of(
        "RaggedTensorToVariant",
        rt_nested_splits=ListValue((_numbers(0, 1, 3),)),
        rt_dense_values=_floats(3),
        batched_input=LiteralValue(value=True),
    ),
    _output_of(
        "RaggedTensorToVariant",
        rt_nested_splits=ListValue((_numbers(0, 1, 3),)),
        rt_dense_values=_floats(3),
        batched_input=LiteralValue(value=False),
    ),
)
SPARSE_MATRICES: tuple[Value, ...] = (
    _output_of(
        "SparseTensorToCSRSparseMatrix",
        indices=TensorValue("int64", (2, 2), Explicit((0, 0, 1, 1))),
        values=_floats(2),
        dense_shape=_numbers(2, 2),
    ),
    _output_of(
        "DenseToCSRSparseMatrix",
        dense_input=_floats(2, 2, 2),
        indices=TensorValue("int64", (2, 3), Explicit((0, 0, 1, 1, 1, 0))),
    ),
)
OPTIONALS: tuple[Value, ...] = (
    _output_of("OptionalFromValue", components=ListValue((_floats(2),))),
    _output_of("OptionalNone"),
)
COMPRESSED: tuple[Value, ...] = (
    _output_of("CompressElement", components=ListValue((_floats(2),))),
)
_TABLES: tuple[Value, ...] = (
    _output_of("AnonymousMutableHashTable", key_dtype=_INT64, value_dtype=_FLOAT32),
    _output_of("AnonymousHashTable", key_dtype=_INT64, value_dtype=_FLOAT32),
)
_ACCUMULATORS: tuple[Value, ...] = (
    _output_of(
        "ResourceConditionalAccumulator",
        dtype=_FLOAT32,
        shape=_shapes((4, 4)).items[0],
        shared_name=_ANONYMOUS,
    ),
)
_TENSOR_ARRAYS: tuple[Value, ...] = (
    _attribute(_output_of("TensorArrayV3", size=LiteralValue(3), dtype=_FLOAT32), "handle"),
)
_SEED_GENERATORS: tuple[Value, ...] = (_output_of("DummySeedGenerator"),)

_UNUSUAL_VARIABLES: tuple[Value, ...] = (
    *(
        _variable(TensorValue(dtype, (4, 4), Uniform(3, 0.0, 3.0)))
        for dtype in ("int32", "int64", "bool", "complex64", "bfloat16", "string")
    ),
    *(_variable(_floats(*shape)) for shape in ((), (0, 4), (4, 0), (1, 4, 4), (5, 3))),
)
"""Variables whose dtype or shape hardly any operation on variables expects."""
_UNUSUAL_LISTS: tuple[Value, ...] = (
    _output_of("TensorListFromTensor", tensor=_floats(0, 2), element_shape=_numbers(2)),
    _output_of(
        "TensorListFromTensor",
        tensor=TensorValue("string", (3,), Uniform(1, 0, 9)),
        element_shape=TensorValue("int64", (0,), Constant(0)),
    ),
    _output_of(
        "EmptyTensorList",
        element_shape=TensorValue("int64", (), Constant(-1)),
        max_num_elements=TensorValue("int32", (), Constant(0)),
        element_dtype=DtypeValue("int32"),
    ),
)
"""Tensor lists without elements, with another dtype, or of unknown shape."""
_ANY_VARIANT: tuple[Value, ...] = (
    TENSOR_LISTS[0],
    *_UNUSUAL_LISTS,
    DATASETS[0],
    RAGGED[0],
    SPARSE_MATRICES[0],
    OPTIONALS[0],
    COMPRESSED[0],
)
_ANY_RESOURCE: tuple[Value, ...] = (
    VARIABLES[0],
    *_UNUSUAL_VARIABLES,
    _TABLES[0],
    _ACCUMULATORS[0],
)


def _reshaped(handle: Value) -> tuple[Value, ...]:
    """Return handles in tensors that are not scalars: a vector of two, of one, and of none."""
    vector = CallValue("tensorflow.expand_dims", (handle, LiteralValue(0)))
    zero = ListValue((LiteralValue(0),))
    return (
        CallValue("tensorflow.stack", (ListValue((handle, handle)),)),
        vector,
        CallValue("tensorflow.slice", (vector, zero, zero)),
    )


def _of_kind(right_handles: tuple[Value, ...], other_handles: tuple[Value, ...]) -> Fields:
    """Return the fields of a handle: mostly of the right kind, sometimes one of the others."""
    repeated_handles = right_handles * -(
        -_RIGHT_KIND_FREQUENCY * len(other_handles) // len(right_handles) // 2
    )
    return {"allowed": (*repeated_handles, *other_handles)}


def _variants(right_handles: tuple[Value, ...]) -> Fields:
    return _of_kind(right_handles, (*_ANY_VARIANT, *_reshaped(right_handles[0])))


def _resources(right_handles: tuple[Value, ...]) -> Fields:
    return _of_kind(right_handles, (*_ANY_RESOURCE, *_reshaped(right_handles[0])))


def _lists(right_handles: tuple[Value, ...]) -> Fields:
    first, last = right_handles[0], right_handles[-1]
    wrong_handles = (*_ANY_VARIANT, *_reshaped(first))
    return _of_kind(
        (ListValue((first, first)), ListValue((first, last))),
        (*(ListValue((first, wrong_handle)) for wrong_handle in wrong_handles), ListValue(())),
    )


HANDLE_RULES: Table = (
    (
        r"raw_ops\.TensorList",
        {
            "input_handle|input_[ab]": _variants(TENSOR_LISTS),
            "input_handles": _lists(TENSOR_LISTS),
            "element_shape|leading_dims": shaped((1,), 2, 2),
            "index": scalar(0, 2),
            "indices": shaped(("n",), 0, 2),
            "item": {"shape": (2,), "dtypes": ("float32",)},
            "tensor": {"shape": ("n", 2), "dtypes": ("float32",)},
            "size|num_elements": scalar(0, 4),
            "num_elements": between(3, 3),
        },
    ),
    (
        r"raw_ops\.\w*(?:Dataset|GetElementAtIndex|ComputeBatchSize|GetOptions)",
        {
            "\\w*dataset": _variants(DATASETS),
            "\\w*datasets": _lists(DATASETS),
            "input_handle": _variants(DATASETS),
            "seed_generator": _resources(_SEED_GENERATORS),
            "table_handle": _resources(_TABLES),
            "output_types": {"allowed": (ListValue((_INT64,)), ListValue((_FLOAT32,)))},
            "output_shapes": {"allowed": (_shapes(()), _shapes((2,)))},
        },
    ),
    (r"raw_ops\.Ragged\w*Variant", {"encoded_ragged\\w*": _variants(RAGGED)}),
    (
        r"raw_ops\.(?:CSR)?Sparse\w*Matrix|raw_ops\.CSRSparse",
        {
            "(?:csr_)?sparse_(?:matrix|input)|input|[ab]": _variants(SPARSE_MATRICES),
            "permutation": shaped((2,), 0, 1),
            "index": scalar(0, 0),
        },
    ),
    (r"raw_ops\.Optional", {"optional": _variants(OPTIONALS)}),
    (r"raw_ops\.UncompressElement", {"compressed": _variants(COMPRESSED)}),
    (r"raw_ops\.CompositeTensorVariantToComponents", {"encoded": _variants(RAGGED)}),
    (
        r"raw_ops\.(?:Stateful\w+|RngSkip|RngReadAndSkip)$",
        {"resource": _resources(GENERATOR_STATES), "algorithm|alg": scalar(1, 2)},
    ),
    (
        r"raw_ops\.TensorArray",
        {"handle": _resources(_TENSOR_ARRAYS), "dtype": {"dtypes": ("float32",)}},
    ),
    (r"raw_ops\.ResourceAccumulator", {"handle": _resources(_ACCUMULATORS)}),
    (r"raw_ops\.InitializeTable", {"table_handle": _resources(_TABLES)}),
    (
        r"raw_ops\.ResourceApply",
        {"grad|delta": {"shape": (4, 4), "dtype_of": "var"}},
    ),
    (
        r"raw_ops\.Resource(?:Sparse)?Apply",
        {
            "var|accum|accum_update|linear|m|v|vhat|m[gs]|mom|gradient\\w*accumulator": _resources(
                VARIABLES
            ),
            "grad|delta": {"shape": ("n", 4), "dtype_of": "var"},
            "indices": shaped(("n",), 0, 3),
            "global_step": scalar(1, 3),
            "\\w+": {"ndim": (0, 0), "dtype_of": "var"},
        },
    ),
    (
        r"raw_ops\.Resource(?:Scatter|Gather|Strided)",
        {
            "resource|ref": _resources(VARIABLES),
            "indices": shaped(("n", Between(1, 1)), 0, 3),
            "updates": {"shape": ("n", 4), "dtype_of": "resource"},
            "value|dtype": {"dtype_of": "resource"},
            "begin|end|strides": shaped((1,), 0, 2),
        },
    ),
    (
        r"raw_ops\.(?!ResourceAcc)\w*(?:Variable|Resource|DisableCopyOnRead|VarIsInit)",
        {
            "resource|input": _resources(VARIABLES),
            "value": {"shape": (4, 4), "dtype_of": "resource"},
            "dtype": {"dtype_of": "resource"},
        },
    ),
)
"""Rules for operations on handles; the allowed values are calls that create handles."""
