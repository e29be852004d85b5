"""Scripts that show a difference between two libraries.

A script imports the library under test only: it contains the output of the other library."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from finding_examples import call, finding

from ciguard.domain.api_calls import as_call
from ciguard.domain.findings import Finding, PairKind
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import Constant, LiteralValue, TensorValue
from ciguard.triage import EnvironmentHint, fingerprint, script

HINT = EnvironmentHint(install=("jax==0.10.2",), other_library="torch")
X = TensorValue("float32", (2,), Constant(1.0))
TENSOR = b'["T","float32",[2],"AACAPwAAAEA="]'


def difference(api: str = "jax.numpy.sort", *, outputs: bytes = TENSOR) -> Finding:
    case = call(X, api=api)
    return replace(
        finding(Passed(TENSOR, 0.1), case=case),
        oracle="differential",
        kind="values",
        library="jax",
        pair=PairKind.LIBRARY,
        targets=("torch==2.13.0", "jax==0.10.2"),
        outcomes={"torch==2.13.0": Passed(outputs, 0.1), "jax==0.10.2": Passed(TENSOR, 0.1)},
    )


def test_the_script_shows_both_calls_and_imports_one_library() -> None:
    text = script(difference("jax.numpy.cos"), environment_hint=HINT)

    tree = ast.parse(text)
    imported = [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    assert imported == ["jax", "jax.numpy"]
    assert "# result = torch.cos(" in text
    assert "\nresult = jax.numpy.cos(" in text


def test_the_script_contains_the_other_librarys_call_and_numbers() -> None:
    sort = b'["L","sort",[' + TENSOR + b',["T","int64",[0],""]],2]'

    text = script(difference(outputs=sort), environment_hint=HINT)

    assert "# result = torch.sort(" in text
    assert "('rounded', (2,), [1.0, 2.0])" in text


def test_only_the_compared_part_is_read() -> None:
    finding = difference("torch.sort")
    finding = replace(finding, library="torch", targets=tuple(reversed(finding.targets)))
    hint = replace(HINT, install=("torch==2.13.0",), other_library="jax")

    text = script(finding, environment_hint=hint)

    assert "leaves(result[0])" in text


def test_integers_must_be_equal() -> None:
    finding = difference("jax.numpy.cumsum", outputs=b'["T","int64",[1],"AQAAAAAAAAA="]')
    whole = TensorValue("int32", (1,), Constant(1))
    axis = ("axis", LiteralValue(0))
    finding = replace(
        finding, case=replace(as_call(finding.case), arguments=(whole,), keywords=(axis,))
    )

    text = script(finding, environment_hint=HINT)

    assert "RTOL = {}" in text
    assert "('exact', (1,), [1])" in text


def test_a_call_without_an_equivalent_has_no_script() -> None:
    with pytest.raises(ValueError, match="torch has no equivalent"):
        script(difference("jax.numpy.linalg.inv"), environment_hint=HINT)


def test_the_fingerprint_names_neither_the_other_library_nor_a_version() -> None:
    finding = difference()
    other = replace(finding, targets=("tensorflow==2.21.0", "jax==0.9.0"), outcomes={})

    assert fingerprint(finding).key == fingerprint(other).key
    assert ("pair", "library") in fingerprint(finding).grouping
