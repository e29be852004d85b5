"""What a library says of itself, extracted by the real command, however broken that is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from ciguard.campaign import run
from ciguard.config import Config
from ciguard.domain.events import DocumentationChecked, RunFinished, Warned
from ciguard.knowledge import knowledge_version, read_constraints
from ciguard.knowledge.references import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TARGET = "current[planted]"
DESCRIBED = "planted.odd.unbalanced"
WORDS = "Same shape as `y`"
"""What it says of an argument, as a rule reads it."""


@pytest.fixture
def ciguard(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the real command where the planted library is active."""

    def command(*words: str) -> subprocess.CompletedProcess[str]:
        variables = {"VIRTUAL_ENV": sys.prefix, "CIGUARD_CACHE": str(tmp_path / "cache")}
        return subprocess.run(
            [sys.executable, "-m", "ciguard", *words],
            cwd=tmp_path,
            env={**os.environ, **variables, "COLUMNS": "100", "NO_COLOR": "1"},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return command


@pytest.fixture
def extracted(
    ciguard: Callable[..., subprocess.CompletedProcess[str]],
) -> subprocess.CompletedProcess[str]:
    return ciguard(
        "extract", "--target", TARGET, "--out", "planted.jsonl", "--documentation", "doc.jsonl"
    )


def test_malformed_documentation_does_not_stop_the_extraction(
    extracted: subprocess.CompletedProcess[str], tmp_path: Path
) -> None:
    assert extracted.returncode == 0, extracted.stderr
    with (tmp_path / "planted.jsonl").open(encoding="utf-8") as lines:
        known = read_constraints(lines, name="planted.jsonl")
    assert known.provenance.library == "planted"
    assert known.provenance.knowledge == knowledge_version()
    assert {"planted.odd.unbalanced", "planted.odd.endless", "planted.odd.nested"} <= set(
        known.records
    )
    foreign = known.api("planted.odd.foreign")
    assert [p.name for p in foreign.parameters] == ["größe", "名前"]


def test_indescribable_parts_are_skipped_with_a_reason(
    extracted: subprocess.CompletedProcess[str],
) -> None:
    said = extracted.stdout

    assert "skipped: planted.absent: ImportError: libplanted.so.3: cannot open" in said
    assert "skipped: planted.odd.hostile: RuntimeError: documentation is loaded" in said
    assert "APIs without a signature, called without arguments (1): planted.odd.without_sig" in said


def test_documentation_findings_are_written(
    extracted: subprocess.CompletedProcess[str], tmp_path: Path
) -> None:
    found: list[dict[str, Any]] = [
        json.loads(line) for line in (tmp_path / "doc.jsonl").read_text("utf-8").splitlines()
    ]

    assert "documentation: " in extracted.stdout
    assert {item["check"] for item in found} >= {"formatting", "contradiction", "dangling"}
    assert {item["severity"] for item in found} == {"low"}
    assert all(item["kind"] == "documentation" for item in found)


def test_explain_reads_an_extracted_file(
    extracted: subprocess.CompletedProcess[str],
    ciguard: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    assert extracted.returncode == 0

    answer = ciguard("explain", "planted.tail", "--file", "planted.jsonl")

    assert answer.returncode == 0
    assert "planted.tail   function · planted" in answer.stdout
    assert "count  optional, default 1\n    int from 1 to 4\n" in answer.stdout
    assert "structures  annotation  “int”\n" in answer.stdout


def test_extracted_file_does_not_quote_documentation(
    extracted: subprocess.CompletedProcess[str],
    ciguard: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
) -> None:
    assert extracted.returncode == 0
    refers = ciguard("explain", DESCRIBED, "--file", "planted.jsonl")
    quotes = ciguard("explain", DESCRIBED, "--target", TARGET)

    assert WORDS not in (tmp_path / "planted.jsonl").read_text("utf-8")
    assert f"text {digest_of(WORDS)}" in refers.stdout
    assert f"“{WORDS}”" in quotes.stdout


def test_explain_of_an_unknown_api_suggests_similar_names(
    extracted: subprocess.CompletedProcess[str],
    ciguard: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    assert extracted.returncode == 0

    answer = ciguard("explain", "planted.tial", "--file", "planted.jsonl")

    assert answer.returncode == 2
    assert "'planted.tail'" in answer.stderr


def test_damaged_constraint_file_is_an_error_with_its_line(
    ciguard: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "bad.jsonl").write_text('{"schema": 99}\n', "utf-8")

    answer = ciguard("explain", "planted.tail", "--file", "bad.jsonl")

    assert answer.returncode == 2
    assert "ciguard: error: bad.jsonl:1: schema = 99" in answer.stderr


def test_explain_needs_no_environment_of_the_library(
    ciguard: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    answer = ciguard("explain", "torch.nn.functional.conv2d")

    assert answer.returncode == 0
    assert answer.stdout.startswith("torch.conv2d   function · aten::conv2d · torch 2.")
    assert not (tmp_path / "cache" / "environments").exists()


def test_campaign_continues_without_indescribable_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))
    config = Config(
        targets=(TARGET,),
        api=("planted.double", "planted.odd.*"),
        allow=("debug",),
        max_cases=160,
        out=tmp_path / "run",
        baseline=tmp_path / "baseline",
    )

    events = list(run(config))

    warnings = [event.message for event in events if isinstance(event, Warned)]
    assert any("planted.absent (ImportError: libplanted.so.3" in text for text in warnings)
    (documentation,) = [event for event in events if isinstance(event, DocumentationChecked)]
    assert documentation.findings
    last = events[-1]
    assert isinstance(last, RunFinished)
    # Batches of calls at limits are as long as there are limits, so that fewer than 160 calls run.
    assert last.targets[0].tally.total > 100
