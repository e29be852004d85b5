from __future__ import annotations

import pytest

from ciguard.domain.api_calls import CallKind
from ciguard.domain.documentation import (
    DocumentationCheck,
    DocumentationFinding,
    documentation_to_json,
)
from ciguard.domain.findings import Severity
from ciguard.domain.records import ApiRecord, ParameterKind, ParameterRecord
from ciguard.oracles import documentation_findings


def record(*parameters: ParameterRecord, **changes: object) -> ApiRecord:
    said: dict[str, object] = {
        "api": "lib.f",
        "kind": CallKind.FUNCTION,
        "source": "signature",
        "parameters": parameters,
        **changes,
    }
    return ApiRecord(**said)  # type: ignore[arg-type]


def findings(*records: ApiRecord) -> list[DocumentationFinding]:
    return documentation_findings(records, "lib")


def described(text: str, **changes: object) -> list[DocumentationFinding]:
    """Return what is wrong with one description, the second parameter's."""
    said: dict[str, object] = {"name": "x", "doc": text, **changes}
    other = ParameterRecord(name="other", doc="Something.")
    return findings(record(ParameterRecord(**said), other))  # type: ignore[arg-type]


# --- formatting ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Same shape as `tags. Values for the summary.", "a backquote"),
        ("mapped to `[0, 1] in coordinates. The `y` too", "a backquote"),
        ("the precision of ``lhs``` and ``rhs``", "a backquote"),
        ("is U+FFFD or U+65533.) Note that", "a bracket ')'"),
        ("one of (a, b or c.", "a bracket '('"),
    ],
)
def test_what_lacks_its_other_half_is_found(text: str, what: str) -> None:
    (found,) = described(text)

    assert found.check is DocumentationCheck.FORMATTING
    assert found.message == f"'x': {what} has no counterpart"
    assert found.evidence in text


@pytest.mark.parametrize(
    "text",
    [
        "A `Tensor` of shape `[batch, n]`, or ``None``.",
        "in [0, 1), or (0, 1], or within :math:`(0, \\infty`",
        "a) the first, b) the second, ii) the third",
        "text such as `'('` or \"[\" or ':)'",
        "(see f(x)[0]) and {k: (v,)}",
        "half of it was cut: `" + "x" * 2000,
    ],
)
def test_what_is_well_formed_is_left_alone(text: str) -> None:
    assert described(text) == []


def test_an_item_without_its_colon_is_found() -> None:
    (found,) = findings(
        record(
            ParameterRecord(name="x", doc="Given."),
            ParameterRecord(name="boxes"),
            unread=("boxes Can be `Tensors` or others",),
        )
    )

    assert (found.check, found.parameter) == (DocumentationCheck.FORMATTING, "boxes")


# --- signature and section ----------------------------------------------------------------------


def test_a_described_name_that_is_no_parameter_is_a_stranger() -> None:
    (found,) = findings(record(ParameterRecord(name="x", doc="A."), strangers=("alpha",)))

    assert (found.check, found.parameter) == (DocumentationCheck.STRANGER, "alpha")
    assert found.message == "describes 'alpha', which is no parameter"


def test_a_stranger_beside_one_undescribed_parameter_is_that_parameter() -> None:
    parameters = (ParameterRecord(name="sp_weights"), ParameterRecord(name="x", doc="A."))

    (found,) = findings(record(*parameters, strangers=("sparse_weights",)))

    assert found.message == "describes 'sparse_weights'; the parameter is called 'sp_weights'"


@pytest.mark.parametrize(
    "harmless",
    [
        record(ParameterRecord(name="x", doc="A."), strangers=("Notes", "Returns", "out")),
        record(
            ParameterRecord(name="x", doc="A."),
            ParameterRecord(name="more", kind=ParameterKind.VAR_KEYWORD),
            strangers=("alpha",),
        ),
        record(ParameterRecord(name="x", doc="A."), strangers=("a",), source="schema"),
        record(ParameterRecord(name="x", doc="A."), strangers=("a",), kind=CallKind.METHOD),
    ],
)
def test_a_name_that_may_be_meant_otherwise_is_no_stranger(harmless: ApiRecord) -> None:
    assert findings(harmless) == []


def test_a_parameter_that_the_section_leaves_out_is_found() -> None:
    (found,) = findings(record(ParameterRecord(name="x", doc="A."), ParameterRecord(name="value")))

    assert (found.check, found.parameter) == (DocumentationCheck.UNDESCRIBED, "value")


@pytest.mark.parametrize(
    "harmless",
    [
        record(ParameterRecord(name="x"), ParameterRecord(name="value")),
        record(
            ParameterRecord(name="x", doc_type="int"),
            ParameterRecord(name="_private"),
            ParameterRecord(name="out"),
            ParameterRecord(name="more", kind=ParameterKind.VAR_POSITIONAL),
        ),
        record(ParameterRecord(name="x", doc="A."), ParameterRecord(name="y"), source="schema"),
    ],
)
def test_without_a_section_or_a_signature_nothing_is_left_out(harmless: ApiRecord) -> None:
    assert findings(harmless) == []


def test_what_a_module_describes_nowhere_is_its_custom() -> None:
    parameters = (ParameterRecord(name="x", doc="A."), ParameterRecord(name="device"))
    layers = [record(*parameters, api=f"lib.nn.Layer{number}") for number in range(5)]
    elsewhere = record(*parameters, api="lib.zeros")

    found = findings(*layers, elsewhere)

    assert [finding.api for finding in found] == ["lib.zeros"]


# --- references ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["multiplier for :attr:`mat`", "Has the same shape as `mat`.", "same dtype as ``mat``"]
)
def test_a_reference_to_no_parameter_dangles(text: str) -> None:
    (found,) = described(text)

    assert found.check is DocumentationCheck.DANGLING
    assert found.message == "'x' refers to 'mat', which is no parameter"


def test_a_reference_to_a_parameter_holds() -> None:
    assert described("multiplier for :attr:`other`, same shape as `other`") == []


def test_a_layer_may_refer_to_its_attributes() -> None:
    layer = record(ParameterRecord(name="x", doc="of :attr:`running_mean`"), kind=CallKind.LAYER)

    assert findings(layer) == []


# --- contradictions -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "default", "clause"),
    [
        ("apply it. Default: ``True``", "False", "the description says default True"),
        ('Defaults to "SAME".', "'VALID'", 'the description says default "SAME"'),
        ("small (default: 1e-12)", "1e-30", "the description says default 1e-12"),
    ],
)
def test_two_defaults_contradict_each_other(text: str, default: str, clause: str) -> None:
    (found,) = described(text, default=default)

    assert found.check is DocumentationCheck.CONTRADICTION
    assert clause in found.message
    assert default.strip("'") in found.message


@pytest.mark.parametrize(
    ("text", "default"),
    [
        ("Default: ``True``", "True"),
        ("Default: 1", "1.0"),
        ("Defaults to 'False'", "False"),
        ("default 0.5, where None is given", "None"),
        ("by default True, in graph mode default False", "False"),
        ("Defaults to `tf.float32`", "<dtype: 'float32'>"),
        ("default 2D layout", "1"),
        ('Default is `"density`"', "'density'"),
        ("default: 3", "(3, 3)"),
    ],
)
def test_defaults_that_may_agree_do_not_contradict(text: str, default: str) -> None:
    assert described(text, default=default) == []


def test_a_documented_type_that_no_signature_takes_contradicts_it() -> None:
    (found,) = described("Some.", doc_type="bool", schema_type="Tensor[]")

    assert found.message == "'x': the description says bool, the signature Tensor[]"


@pytest.mark.parametrize(
    ("documented", "formal"), [("int", "Scalar"), ("int or tuple", "int[2]"), ("dtype", "int")]
)
def test_types_that_share_a_value_agree(documented: str, formal: str) -> None:
    assert described("Some.", doc_type=documented, schema_type=formal) == []


def test_a_documented_dtype_that_the_operator_refuses_contradicts_it() -> None:
    (found,) = described("A `Tensor` of type `int32`.", dtypes=("float32", "float64"))

    assert found.message == "'x': the description says int32, the operator takes float32"


def test_dtypes_that_overlap_agree() -> None:
    assert described("Of type `int32`, `half`.", dtypes=("int32",)) == []


def test_a_rank_and_a_shape_contradict_each_other() -> None:
    (found,) = described("A 3-D tensor of shape `[rows, columns]`.")

    assert found.message == "'x': the description says 3-D, yet of shape [rows, columns]"


@pytest.mark.parametrize(
    "text",
    [
        "A 2-D tensor of shape `[rows, columns]`.",
        "A 3-D tensor of shape `[..., columns]`.",
        "0-D. Valid range is `[0, input.shape[-1])`",
        "3-D or 4-D of shape [a, b, c]",
    ],
)
def test_ranks_that_may_fit_do_not_contradict(text: str) -> None:
    assert described(text) == []


# --- findings -----------------------------------------------------------------------------------


def test_a_finding_is_of_low_severity_and_keeps_its_name() -> None:
    (found,) = described("Default: ``True``", default="False")
    (reworded,) = described("Default: True", default="False")

    assert found.severity is Severity.LOW
    assert found.fingerprint == reworded.fingerprint
    assert found.fingerprint.startswith("d1:")
    assert documentation_to_json(found)["kind"] == "documentation"
