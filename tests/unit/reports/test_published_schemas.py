"""The files of reports satisfy the schemas in docs/schemas."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from published_schemas import FOLDER, published_schema, schema_violations

from ciguard.domain.documentation import (
    DocumentationCheck,
    DocumentationFinding,
    documentation_to_json,
)
from ciguard.domain.findings import Comparison, Confirmation, Severity, Verdict
from ciguard.reports import REPORTERS, Destination

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.events import Event


@pytest.fixture
def written(events: list[Event], tmp_path: Path) -> Path:
    reporter = REPORTERS.get("json")(Destination(folder=tmp_path, stream=io.StringIO()))
    for event in events:
        reporter.receive(event)
    reporter.close()
    return tmp_path


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_published_schema_is_a_valid_schema(path: Path) -> None:
    Draft202012Validator.check_schema(json.loads(path.read_text("utf-8")))


def test_run_json_satisfies_its_schema(written: Path) -> None:
    assert schema_violations("run", json.loads((written / "run.json").read_text("utf-8"))) == []


@pytest.mark.parametrize("name", ["buckets.jsonl", "findings.jsonl"])
def test_buckets_satisfy_their_schema(name: str, written: Path) -> None:
    buckets = lines(written / name)

    assert len(buckets) > 1
    assert [schema_violations("bucket", bucket) for bucket in buckets] == [[]] * len(buckets)


@pytest.mark.parametrize("check", DocumentationCheck)
def test_documentation_finding_satisfies_its_schema(check: DocumentationCheck) -> None:
    finding = DocumentationFinding(
        check=check, library="torch", api="torch.add", parameter="x", message="m", evidence="e"
    )

    assert schema_violations("documentation", documentation_to_json(finding)) == []


def test_schema_rejects_an_unknown_verdict_and_a_field_that_it_lacks(written: Path) -> None:
    run = json.loads((written / "run.json").read_text("utf-8"))

    violations = schema_violations("run", run | {"verdict": "FINE", "extra": 1})

    assert sorted(violation.partition(":")[0] for violation in violations) == ["", "verdict"]


@pytest.mark.parametrize(
    ("schema", "field", "values"),
    [
        ("run", "verdict", [verdict.value for verdict in Verdict]),
        ("bucket", "severity", [severity.label for severity in Severity]),
        ("bucket", "comparison", [comparison.value for comparison in Comparison]),
        ("bucket", "confirmation", [confirmation.value for confirmation in Confirmation]),
        ("documentation", "check", [check.value for check in DocumentationCheck]),
    ],
)
def test_schema_lists_exactly_the_values_of_the_code(
    schema: str, field: str, values: list[str]
) -> None:
    assert sorted(published_schema(schema)["properties"][field]["enum"]) == sorted(values)
