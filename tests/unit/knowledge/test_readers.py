from __future__ import annotations

import pytest

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.domain.values import LiteralValue
from ciguard.knowledge import (
    READERS,
    Clue,
    ClueSource,
    Structure,
    classes,
    defaults,
    doc_phrases,
    doc_types,
    type_hints,
    type_texts,
)
from ciguard.knowledge import names as name_reader
from ciguard.values import Between, Named

RECORD = ApiRecord(api="lib.f", kind=CallKind.FUNCTION, parameters=())


def _phrases(doc: str) -> list[Clue]:
    return doc_phrases.read(RECORD, ParameterRecord(name="p", doc=doc))


def _value(clues: list[Clue], field: str) -> object:
    default = getattr(Clue(source=ClueSource.NAME, evidence=""), field)
    return next((v for clue in clues if (v := getattr(clue, field)) != default), None)


@pytest.mark.parametrize(
    ("text", "structures", "nullable", "length"),
    [
        ("Tensor", (Structure.TENSOR,), False, None),
        ("Tensor(a!)", (Structure.TENSOR,), False, None),
        ("Tensor?", (Structure.TENSOR,), True, None),
        ("Tensor[]", (Structure.TENSORS,), False, None),
        ("int[2]", (Structure.INTS, Structure.INT), False, 2),
        ("SymInt[]", (Structure.INTS,), False, None),
        ("Scalar", (Structure.NUMBER,), False, None),
        ("ScalarType?", (Structure.DTYPE,), True, None),
        ("float?", (Structure.FLOAT,), True, None),
        ("list(int)", (Structure.INTS,), False, None),
        ("list(shape)", (Structure.SHAPES,), False, None),
        ("list(type)", (Structure.DTYPES,), False, None),
        ("func", (Structure.OPAQUE,), False, None),
    ],
)
def test_a_schema_type_is_parsed(
    text: str,
    structures: tuple[Structure, ...],
    *,
    nullable: bool,
    length: int | None,
) -> None:
    parsed = type_texts.parse_type(text)

    assert parsed == type_texts.TypeText(structures, nullable, length)


def test_an_unknown_schema_type_is_not_parsed() -> None:
    assert type_texts.parse_type("__torch__.Foo") is None


@pytest.mark.parametrize(
    ("hint", "structures"),
    [
        ("torch.Tensor", (Structure.TENSOR,)),
        ("Optional[Tensor]", (Structure.TENSOR,)),
        ("Union[int, Tuple[int, int]]", (Structure.INT, Structure.INTS)),
        ("int | None", (Structure.INT,)),
        ("list[torch.Tensor]", (Structure.TENSORS,)),
        ("BroadcastingList2[int]", (Structure.INTS, Structure.INT)),
        ("_size_2_t", (Structure.INTS, Structure.INT)),
        ("'Tensor'", (Structure.TENSOR,)),
        ("Callable[[int], int]", (Structure.OPAQUE,)),
    ],
)
def test_a_type_hint_becomes_a_clue(hint: str, structures: tuple[Structure, ...]) -> None:
    (clue,) = type_hints.read(RECORD, ParameterRecord(name="p", annotation=hint))

    assert clue.structures == structures
    assert clue.nullable is (True if "None" in hint or "Optional" in hint else None)


def test_a_literal_hint_states_the_allowed_values() -> None:
    (clue,) = type_hints.read(RECORD, ParameterRecord(name="p", annotation="Literal['a', 'b']"))

    assert clue.allowed == (LiteralValue("a"), LiteralValue("b"))


@pytest.mark.parametrize("hint", ["", "???", "Foo", "x if"])
def test_an_invalid_hint_yields_no_clue(hint: str) -> None:
    assert type_hints.read(RECORD, ParameterRecord(name="p", annotation=hint)) == []


@pytest.mark.parametrize(
    ("default", "structure", "low", "high"),
    [
        ("1", Structure.INT, 1, 4),
        ("-100", Structure.INT, -100, 0),
        ("0.5", Structure.FLOAT, 0.0, 1.0),
        ("1e-05", Structure.FLOAT, 0.0, 1.0),
        ("True", Structure.BOOL, None, None),
        ("[1, 1, 1, 1]", Structure.INTS, 1, 2),
        ("<dtype: 'int32'>", Structure.DTYPE, None, None),
        ("torch.float32", Structure.DTYPE, None, None),
    ],
)
def test_a_default_states_the_structure_and_a_range(
    default: str, structure: Structure, low: float | None, high: float | None
) -> None:
    (clue,) = defaults.read(RECORD, ParameterRecord(name="p", default=default))

    assert (clue.structures, clue.low, clue.high) == ((structure,), low, high)


def test_a_default_of_none_means_that_none_is_accepted() -> None:
    (clue,) = defaults.read(RECORD, ParameterRecord(name="p", default="None"))

    assert clue.nullable is True


@pytest.mark.parametrize("default", [None, "<object>", "inf", "{1: 2}"])
def test_any_other_default_yields_no_clue(default: str | None) -> None:
    assert defaults.read(RECORD, ParameterRecord(name="p", default=default)) == []


@pytest.mark.parametrize(
    ("doc_type", "structures"),
    [
        ("Tensor", (Structure.TENSOR,)),
        ("int or tuple, optional", (Structure.INT, Structure.INTS)),
        ("LongTensor", (Structure.TENSOR,)),
        ("tuple of ints", (Structure.INTS,)),
        ("sequence of Tensors", (Structure.TENSORS,)),
        ("float", (Structure.FLOAT,)),
        ("bool, optional", (Structure.BOOL,)),
        ("str", (Structure.STRING,)),
        (":class:`torch.dtype`, optional", (Structure.DTYPE,)),
        ("Number", (Structure.NUMBER,)),
    ],
)
def test_a_documented_type_becomes_a_clue(doc_type: str, structures: tuple[Structure, ...]) -> None:
    (clue,) = doc_types.read(RECORD, ParameterRecord(name="p", doc_type=doc_type))

    assert clue.structures == structures


def test_a_documented_long_tensor_has_its_dtype() -> None:
    (clue,) = doc_types.read(RECORD, ParameterRecord(name="p", doc_type="LongTensor"))

    assert clue.dtypes == ("int64",)


@pytest.mark.parametrize(
    ("doc", "field", "value"),
    [
        ("A 4-D tensor.", "ndim", (4, 4)),
        ("Must be 2-D or 3-D.", "ndim", (2, 3)),
        ("A `Tensor`. Must have rank 1 or higher.", "ndim", (1, 5)),
        ("2-D or higher rank. Image data to convert.", "ndim", (2, 5)),
        ("an at least 2-dimensional tensor", "ndim", (2, 5)),
        ("A tensor of at least 2 dimensions.", "ndim", (2, 5)),
        ("Typically 2-D, but may have any dimensions.", "ndim", None),
        ("The tensor to reduce. Should have numeric type.", "dtypes", doc_phrases.NUMERIC),
        ("A scalar.", "ndim", (0, 0)),
        ("0-D. The axis.", "ndim", (0, 0)),
        ("A vector of length n", "ndim", (1, 1)),
        ("Must be non-negative.", "low", 0),
        ("must be positive", "low", 1),
        ("a value in the range [0, 1]", "high", 1.0),
        ("an index in [0, 10)", "high", 9.0),
        ("must have the same shape as `x`", "shape_of", "x"),
        (
            'A `string` from: `"SAME", "VALID"`.',
            "allowed",
            (LiteralValue("SAME"), LiteralValue("VALID")),
        ),
        (
            "one of 'mean', 'sum' or 'none'",
            "allowed",
            (LiteralValue("mean"), LiteralValue("sum"), LiteralValue("none")),
        ),
        ("A list of `ints`.", "structures", (Structure.INTS,)),
        ("An optional `bool`. Defaults to `False`.", "structures", (Structure.BOOL,)),
        (
            "Shape `[batch, in_height, 3]`.",
            "shape",
            ("batch", Named("in_height", 4, 8), 3),
        ),
        (
            r"input tensor of shape :math:`(\text{minibatch} , \text{in\_channels} , iW)`",
            "shape",
            ("minibatch", "in_channels", Named("iW", 4, 8)),
        ),
        (
            r"of shape :math:`(\text{out} , \frac{\text{in\_channels}}{\text{groups}} , kH)`",
            "shape",
            ("out", "in_channels", Named("kH", 1, 3)),
        ),
        ("shape `[2 * n, m]`", "shape", (Between(1, 4), "m")),
        ("a tensor of shape `[..., n, m]`", "ndim", (2, 4)),
        ("must be sorted", "increasing", True),
    ],
)
def test_an_explicit_phrase_becomes_a_clue(doc: str, field: str, value: object) -> None:
    assert _value(_phrases(doc), field) == value


def test_a_clue_from_a_phrase_quotes_the_phrase_as_evidence() -> None:
    (clue,) = [
        clue for clue in _phrases("The rate. Must be non-negative, please.") if clue.low == 0
    ]

    assert clue.evidence == "non-negative"
    assert clue.source is ClueSource.DOC_PHRASE


@pytest.mark.parametrize(
    "doc", ["", "The input.", "See `tf.nn.relu` or `tf.nn.elu`", "If `True`, or `False`, …"]
)
def test_plain_prose_states_no_range_and_no_shape(doc: str) -> None:
    clues = _phrases(doc)

    assert all(clue.shape is None and clue.low is None for clue in clues)


def test_a_parameter_name_implies_a_structure_and_a_range() -> None:
    (clue,) = name_reader.read(RECORD, ParameterRecord(name="kernel_size"))

    assert clue.structures == (Structure.INT,)
    assert (clue.low, clue.high) == (1, 3)


def test_no_reader_has_a_clue_about_an_undocumented_parameter() -> None:
    parameter = ParameterRecord(name="zzz_unheard_of")

    assert [clue for reader in READERS for clue in reader(RECORD, parameter)] == []


@pytest.mark.parametrize(
    ("api", "parameter", "structures", "high"),
    [
        ("keras.layers.GaussianDropout", "rate", (), 1.0),
        ("tensorflow.nn.atrous_conv2d", "rate", (Structure.INT,), 2),
        ("tensorflow.image.extract_patches", "rates", (Structure.INT,), 2),
        ("keras.layers.Dropout", "seed", (Structure.INT,), 8),
        ("tensorflow.nn.experimental.stateless_dropout", "seed", (Structure.TENSOR,), None),
    ],
)
def test_the_meaning_of_some_names_depends_on_the_api(
    api: str, parameter: str, structures: tuple[Structure, ...], high: float | None
) -> None:
    record = ApiRecord(
        api=api,
        kind=CallKind.FUNCTION,
        source="signature",
        parameters=(ParameterRecord(name=parameter),),
    )

    (clue,) = name_reader.read(record, record.parameters[0])

    assert (clue.structures, clue.high) == (structures, high)


@pytest.mark.parametrize(
    ("doc", "field", "value"),
    [
        ("input tensor of shape :math:`N \\times M`.", "ndim", (2, 2)),
        ("an n-dimensional `torch.Tensor`, where :math:`n \\geq 2`", "ndim", (2, 5)),
        ("must be at least 1-dimensional.", "low", None),
        ("must be at least 1-D.", "low", None),
        ("A list of at least 1 `Tensor` objects.", "low", None),
        ("at least 1", "low", 1),
    ],
)
def test_a_number_of_dimensions_or_items_is_no_range(doc: str, field: str, value: object) -> None:
    assert _value(_phrases(doc), field) == value


@pytest.mark.parametrize("text", ["integer tensor, all its values", "An `int32` `Tensor`."])
def test_a_tensor_with_its_dtype_is_a_tensor(text: str) -> None:
    assert doc_types.leading_type(text) == (Structure.TENSOR,)


@pytest.mark.parametrize(
    "parameter",
    [
        ParameterRecord(name="p", annotation="Distribution"),
        ParameterRecord(name="p", annotation="torch.nn.Module | None"),
        ParameterRecord(name="p", doc_type="TransformerDecoderLayer, optional"),
        ParameterRecord(name="p", doc="A `TensorShape`"),
        ParameterRecord(name="p", doc="An `IndexedSlices` instance."),
        ParameterRecord(name="p", doc="A `tf.data.Dataset` to determine its size."),
    ],
)
def test_an_instance_of_a_class_cannot_be_generated(parameter: ParameterRecord) -> None:
    assert _value(classes.read(RECORD, parameter), "structures") == (Structure.OPAQUE,)


@pytest.mark.parametrize(
    "parameter",
    [
        ParameterRecord(name="p", annotation="Tensor"),
        ParameterRecord(name="p", annotation="Optional[Tensor]"),
        ParameterRecord(name="p", annotation="~T_module"),
        ParameterRecord(name="p", annotation="Any"),
        ParameterRecord(name="p", annotation="TensorLike"),
        ParameterRecord(name="p", doc_type="LongTensor"),
        ParameterRecord(name="p", doc="A `SparseTensor`."),
        ParameterRecord(name="p", doc="A `tf.Tensor` of values."),
        ParameterRecord(name="p", doc="The ReLU that is applied"),
    ],
)
def test_tensors_and_general_types_are_no_classes(parameter: ParameterRecord) -> None:
    assert classes.read(RECORD, parameter) == []
