"""Reachability: defects that public APIs cannot reach have low severity."""

from __future__ import annotations

from dataclasses import replace

import pytest
from finding_examples import call, finding

from ciguard.domain.causes import Cause
from ciguard.domain.findings import Bucket, Severity, bucket_from_json, bucket_to_json
from ciguard.domain.outcomes import Crashed, Errored, Outcome
from ciguard.domain.policy import FindingClass, class_of
from ciguard.domain.values import CallValue, ListValue, LiteralValue, Value
from ciguard.triage import Buckets, apply_reachability

CAUSE = Cause(name="g1:" + "0" * 16, kind="failed check", text="tensor.cc: dtype() == expected")
RAW = "tensorflow.raw_ops.ResourceApplyAdagrad"
TABLE = CallValue("tensorflow.raw_ops.AnonymousMutableHashTable")
VARIABLE = CallValue(
    "builtins.getattr",
    (CallValue("tensorflow.Variable", (LiteralValue(1.0),)), LiteralValue("handle")),
)
CRASH = Crashed("SIGABRT")


def bucket(api: str, *arguments: Value, outcome: Outcome = CRASH) -> Bucket:
    occurrence = finding(outcome, case=call(*arguments, api=api))
    oracle = "crash" if isinstance(outcome, Crashed) else "internal-error"
    severity = Severity.CRITICAL if oracle == "crash" else Severity.HIGH
    return replace(
        Buckets().add(replace(occurrence, oracle=oracle, severity=severity)), cause=CAUSE
    )


@pytest.mark.parametrize("handle", [TABLE, VARIABLE, ListValue((LiteralValue(1), TABLE))])
@pytest.mark.parametrize("outcome", [CRASH, Crashed("SIGSEGV"), Errored("InternalError", "bad")])
def test_raw_entry_point_with_a_handle_is_unreachable(handle: Value, outcome: Outcome) -> None:
    (bucket_with_reach,) = apply_reachability([bucket(RAW, handle, outcome=outcome)])

    assert bucket_with_reach.finding.severity is Severity.LOW
    assert class_of(bucket_with_reach.finding) is FindingClass.UNREACHABLE
    assert "which public APIs never pass to it" in bucket_with_reach.finding.evidence.unreachable


def test_raw_operator_with_none_for_a_tensor_is_unreachable() -> None:
    original = bucket("torch.ops.aten.mish_backward", LiteralValue(None))
    evidence = replace(original.finding.evidence, undefined="grad_output")

    (bucket_with_reach,) = apply_reachability(
        [replace(original, finding=replace(original.finding, evidence=evidence))]
    )

    assert bucket_with_reach.finding.severity is Severity.LOW
    assert class_of(bucket_with_reach.finding) is FindingClass.UNREACHABLE
    assert "None for a tensor (grad_output)" in bucket_with_reach.finding.evidence.unreachable
    assert apply_reachability([original]) == [original]


@pytest.mark.parametrize(
    "reachable",
    [
        bucket("tensorflow.nn.relu", LiteralValue(1)),
        bucket("tensorflow.keras.layers.Embedding", TABLE),
        bucket("tensorflow.raw_ops.Relu", LiteralValue(1)),
    ],
)
def test_reachable_bucket_raises_the_severity_of_its_group(reachable: Bucket) -> None:
    unreachable = bucket(RAW, TABLE)

    buckets = apply_reachability([unreachable, reachable])

    assert [b.finding.severity for b in buckets] == [Severity.CRITICAL, Severity.CRITICAL]
    assert apply_reachability([unreachable])[0].finding.severity is Severity.LOW


def test_stored_unreachable_bucket_with_a_reachable_one_regains_its_severity() -> None:
    (unreachable,) = apply_reachability([bucket(RAW, TABLE)])
    stored = bucket_from_json(bucket_to_json(unreachable))

    updated, _ = apply_reachability([stored, bucket("tensorflow.nn.relu", LiteralValue(1))])

    assert stored.finding.evidence.unreachable
    assert updated.finding.severity is Severity.CRITICAL
    assert updated.finding.evidence.unreachable == ""


def test_reachable_bucket_of_another_cause_does_not_raise_severity() -> None:
    other = replace(
        bucket("tensorflow.nn.relu", LiteralValue(1)), cause=replace(CAUSE, name="g1:1")
    )

    unreachable, _ = apply_reachability([bucket(RAW, TABLE), other])

    assert unreachable.finding.severity is Severity.LOW


def test_differences_keep_their_severity() -> None:
    original = bucket(RAW, TABLE)
    difference = replace(original, finding=replace(original.finding, oracle="differential"))

    assert apply_reachability([difference]) == [difference]
