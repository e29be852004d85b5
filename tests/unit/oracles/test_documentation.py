"""Documentation oracle."""

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
    fields: dict[str, object] = {
        "api": "lib.f",
        "kind": CallKind.FUNCTION,
        "source": "signature",
        "parameters": parameters,
        **changes,
    }
    return ApiRecord(**fields)  # type: ignore[arg-type]


def findings(*records: ApiRecord) -> list[DocumentationFinding]:
    return documentation_findings(records, "lib")


def findings_in_description(text: str, **changes: object) -> list[DocumentationFinding]:
    """Return what is wrong with one description, the second parameter's."""
    fields: dict[str, object] = {"name": "x", "doc": text, **changes}
    other = ParameterRecord(name="other", doc="Something.")
    return findings(record(ParameterRecord(**fields), other))  # type: ignore[arg-type]


# --- formatting ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("Same shape as `tags. Values for the summary.", "backquote"),
        ("mapped to `[0, 1] in coordinates. The `y` too", "backquote"),
        ("the precision of ``lhs``` and ``rhs``", "backquote"),
        ("is U+FFFD or U+65533.) Note that", "bracket ')'"),
        ("one of (a, b or c.", "bracket '('"),
    ],
)
def test_an_unmatched_bracket_or_backquote_is_found(text: str, symbol: str) -> None:
    (finding,) = findings_in_description(text)

    assert finding.check is DocumentationCheck.FORMATTING
    assert finding.message == f"'x': unmatched {symbol}"
    assert finding.evidence in text


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
def test_a_well_formed_description_is_not_a_finding(text: str) -> None:
    assert findings_in_description(text) == []


def test_an_item_without_a_colon_is_found() -> None:
    (finding,) = findings(
        record(
            ParameterRecord(name="x", doc="Given."),
            ParameterRecord(name="boxes"),
            unread=("boxes Can be `Tensors` or others",),
        )
    )

    assert (finding.check, finding.parameter) == (DocumentationCheck.FORMATTING, "boxes")


# --- signature and section ----------------------------------------------------------------------


def test_a_described_name_that_is_not_a_parameter_is_found() -> None:
    (finding,) = findings(
        record(ParameterRecord(name="x", doc="A."), undeclared_parameters=("alpha",))
    )

    assert (finding.check, finding.parameter) == (DocumentationCheck.UNDECLARED, "alpha")
    assert finding.message == "describes 'alpha', which is not a parameter"


def test_an_undeclared_name_and_a_single_undescribed_parameter_are_a_misspelling() -> None:
    parameters = (ParameterRecord(name="sp_weights"), ParameterRecord(name="x", doc="A."))

    (finding,) = findings(record(*parameters, undeclared_parameters=("sparse_weights",)))

    assert finding.message == "describes 'sparse_weights'; the parameter is called 'sp_weights'"


@pytest.mark.parametrize(
    "harmless",
    [
        record(
            ParameterRecord(name="x", doc="A."), undeclared_parameters=("Notes", "Returns", "out")
        ),
        record(
            ParameterRecord(name="x", doc="A."),
            ParameterRecord(name="more", kind=ParameterKind.VAR_KEYWORD),
            undeclared_parameters=("alpha",),
        ),
        record(ParameterRecord(name="x", doc="A."), undeclared_parameters=("a",), source="schema"),
        record(
            ParameterRecord(name="x", doc="A."), undeclared_parameters=("a",), kind=CallKind.METHOD
        ),
    ],
)
def test_a_harmless_undeclared_name_is_not_a_finding(harmless: ApiRecord) -> None:
    assert findings(harmless) == []


def test_an_undescribed_parameter_is_found() -> None:
    (finding,) = findings(
        record(ParameterRecord(name="x", doc="A."), ParameterRecord(name="value"))
    )

    assert (finding.check, finding.parameter) == (DocumentationCheck.UNDESCRIBED, "value")


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
def test_a_record_without_section_or_signature_has_no_undescribed_parameter(
    harmless: ApiRecord,
) -> None:
    assert findings(harmless) == []


def test_a_name_that_a_module_never_describes_is_not_a_finding() -> None:
    parameters = (ParameterRecord(name="x", doc="A."), ParameterRecord(name="device"))
    layers = [record(*parameters, api=f"lib.nn.Layer{number}") for number in range(5)]
    elsewhere = record(*parameters, api="lib.zeros")

    finding = findings(*layers, elsewhere)

    assert [finding.api for finding in finding] == ["lib.zeros"]


# --- references ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["multiplier for :attr:`mat`", "Has the same shape as `mat`.", "same dtype as ``mat``"]
)
def test_a_reference_to_an_unknown_parameter_is_found(text: str) -> None:
    (finding,) = findings_in_description(text)

    assert finding.check is DocumentationCheck.DANGLING
    assert finding.message == "'x' refers to 'mat', which is not a parameter"


def test_a_reference_to_a_parameter_is_not_a_finding() -> None:
    assert findings_in_description("multiplier for :attr:`other`, same shape as `other`") == []


def test_a_reference_to_a_layers_attribute_is_not_a_finding() -> None:
    layer = record(ParameterRecord(name="x", doc="of :attr:`running_mean`"), kind=CallKind.LAYER)

    assert findings(layer) == []


# --- contradictions -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "default", "clause"),
    [
        ("apply it. Default: ``True``", "False", "the description has default True"),
        ('Defaults to "SAME".', "'VALID'", 'the description has default "SAME"'),
        ("small (default: 1e-12)", "1e-30", "the description has default 1e-12"),
    ],
)
def test_two_defaults_contradict_each_other(text: str, default: str, clause: str) -> None:
    (finding,) = findings_in_description(text, default=default)

    assert finding.check is DocumentationCheck.CONTRADICTION
    assert clause in finding.message
    assert default.strip("'") in finding.message


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
    assert findings_in_description(text, default=default) == []


def test_a_documented_type_that_the_signature_excludes_contradicts_it() -> None:
    (finding,) = findings_in_description("Some.", doc_type="bool", schema_type="Tensor[]")

    assert finding.message == "'x': the description has bool, but the signature has Tensor[]"


@pytest.mark.parametrize(
    ("documented", "formal"), [("int", "Scalar"), ("int or tuple", "int[2]"), ("dtype", "int")]
)
def test_types_that_share_a_value_agree(documented: str, formal: str) -> None:
    assert findings_in_description("Some.", doc_type=documented, schema_type=formal) == []


def test_a_documented_dtype_that_the_operator_rejects_contradicts_it() -> None:
    (finding,) = findings_in_description(
        "A `Tensor` of type `int32`.", dtypes=("float32", "float64")
    )

    assert finding.message == "'x': the description has int32, but the operator accepts float32"


def test_dtypes_that_overlap_agree() -> None:
    assert findings_in_description("Of type `int32`, `half`.", dtypes=("int32",)) == []


def test_a_rank_and_a_shape_contradict_each_other() -> None:
    (finding,) = findings_in_description("A 3-D tensor of shape `[rows, columns]`.")

    assert finding.message == "'x': the description has 3-D, but also the shape [rows, columns]"


@pytest.mark.parametrize(
    "text",
    [
        "A 2-D tensor of shape `[rows, columns]`.",
        "A 3-D tensor of shape `[..., columns]`.",
        "0-D. Valid range is `[0, input.shape[-1])`",
        "3-D or 4-D of shape [a, b, c]",
    ],
)
def test_compatible_ranks_do_not_contradict(text: str) -> None:
    assert findings_in_description(text) == []


# --- findings -----------------------------------------------------------------------------------


def test_a_documentation_finding_has_low_severity_and_a_stable_name() -> None:
    (finding,) = findings_in_description("Default: ``True``", default="False")
    (reworded,) = findings_in_description("Default: True", default="False")

    assert finding.severity is Severity.LOW
    assert finding.fingerprint == reworded.fingerprint
    assert finding.fingerprint.startswith("d1:")
    assert documentation_to_json(finding)["kind"] == "documentation"
