"""What `ciguard reproduce` says of findings that one outcome alone decides."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from finding_examples import call, finding
from program_examples import positive, ran

from ciguard.cli.reproduce import is_still_broken, refuse_incomplete
from ciguard.domain.findings import Bucket, Finding
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.domain.values import TensorValue, Uniform
from ciguard.errors import ConfigurationError

RELU = call(TensorValue("float32", (1,), Uniform(1, 0.5, 2.0)), api="torch.relu")


def seen(first: float, twin: float) -> Passed:
    """Return the outcome of a call and its twin, as a worker writes it."""
    one, other = (
        ["T", "float32", [1], base64.b64encode(np.float32(number).tobytes()).decode()]
        for number in (first, twin)
    )
    ended = ["L", "list", [["s", "returned"], other], 2]
    return Passed(json.dumps(["L", "list", [one, ended], 2]).encode(), 0.1)


def bucket(kind: str, *, oracle: str = "metamorphic", relation: str = "") -> Bucket:
    found: Finding = finding(seen(1.0, 2.0), case=replace(RELU, relation=relation))
    found = replace(found, oracle=oracle, kind=kind, detail="values")
    return Bucket(fingerprint="v1:" + "0" * 16, grouping=(), finding=found)


@pytest.mark.parametrize(("twin", "is_broken"), [(2.0, True), (1.0, False)])
def test_relation_finding_is_decided_by_the_new_outcome(twin: float, *, is_broken: bool) -> None:
    known = bucket("same call twice", relation="same call twice")

    assert is_still_broken(known, seen(1.0, twin)) is is_broken
    assert is_still_broken(known, Rejected("ValueError", "no")) is False


def test_accepted_illegal_finding_is_decided_by_the_new_outcome() -> None:
    known = bucket("accepted-illegal", oracle="boundary")

    assert is_still_broken(known, Passed(b"null", 0.1)) is True
    assert is_still_broken(known, Rejected("ValueError", "no")) is False


def test_program_finding_is_decided_by_the_new_outcome() -> None:
    fails = Rejected("RuntimeError", "line 8: could not create a primitive")
    found = replace(
        finding(fails),
        case=positive(),
        oracle="derivation",
        kind="positive-failed",
        detail="stride",
    )
    known = Bucket(fingerprint="v1:" + "0" * 16, grouping=(), finding=found)

    assert is_still_broken(known, fails) is True
    assert is_still_broken(known, ran()) is False


def test_other_findings_are_compared_with_the_recorded_outcome() -> None:
    assert is_still_broken(bucket("signal", oracle="crash"), Passed(b"null", 0.1)) is None


def test_missing_relation_is_reported_with_a_remedy() -> None:
    with pytest.raises(ConfigurationError, match="'of another package' is not installed"):
        refuse_incomplete(bucket("of another package", relation="of another package"))

    refuse_incomplete(bucket("same call twice", relation="same call twice"))
