from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from finding_examples import TARGET, crash, pair
from report_examples import bucket

from ciguard.domain.events import BucketHistory
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.reports.html.buckets import CHUNK, BucketEncoder
from ciguard.reports.wording import publishable

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.findings import Bucket

HISTORY = BucketHistory(
    first_seen="2026-01-01T00:00:00Z",
    last_seen="2026-03-01T12:30:00Z",
    states=(
        ("2026-01-01T00:00:00Z", "open"),
        ("2026-02-01T00:00:00Z", "fixed"),
        ("2026-03-01T00:00:00Z", "open"),
    ),
)


def make_encoder(folder: Path, **history: BucketHistory) -> BucketEncoder:
    return BucketEncoder(folder=folder, history=history, issues="github:owner/name")


def with_script(name: str) -> Bucket:
    return bucket(1, crash(), reproducer=name, reproduced=True)


def test_a_difference_has_its_reference_and_its_deviating_target(tmp_path: Path) -> None:
    finding = pair(Passed(b"[1]", 0.1), Rejected("ValueError", "no"))
    encoder = make_encoder(tmp_path)

    row, details = encoder.row(bucket(1, finding)), encoder.details(bucket(1, finding))

    assert list(encoder.targets) == ["torch==2.12.0", TARGET]
    assert row["grid"] == [[0, "passed"], [1, "rejected"]]
    assert [outcome["role"] for outcome in details["outcomes"]] == ["reference", "shows the defect"]
    assert ["Between", "targets that differ in version"] in json.loads(json.dumps(details["facts"]))


def test_long_script_is_replaced_by_a_note(tmp_path: Path) -> None:
    script = "import torch\n\ntorch.fold()\n"
    (tmp_path / "short.py").write_text(script, encoding="utf-8")
    (tmp_path / "long.py").write_text(script * 2_000, encoding="utf-8")
    encoder = make_encoder(tmp_path)

    short, long = (encoder.details(with_script(name)) for name in ("short.py", "long.py"))

    assert short["script"] == script
    assert short["script_note"] == "Verified: run on its own, it failed in the same way."
    assert long["script"] == ""
    note = "The script has 54,000 characters, too many for this page: see long.py."
    assert long["script_note"] == note


@pytest.mark.parametrize(
    "name", ["/etc/hostname", "../secret.py", "a/../../secret.py", "link.py", "up/secret.py"]
)
def test_no_file_outside_the_folder_of_the_run_is_shown(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("secret", encoding="utf-8")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "link.py").symlink_to(tmp_path / "secret.py")
    (folder / "up").symlink_to(tmp_path)

    details = make_encoder(folder).details(with_script(name))

    assert details["script"] == ""
    assert details["script_note"] == f"{publishable(name)} is not readable."


def test_missing_script_is_reported_in_the_note(tmp_path: Path) -> None:
    details = make_encoder(tmp_path).details(with_script("reproducers/gone.py"))

    assert details["script_note"] == "reproducers/gone.py is not readable."


def test_history_of_a_bucket_is_found_by_an_alias(tmp_path: Path) -> None:
    met = bucket(1, crash(), aliases=("v0:old",))
    encoder = make_encoder(tmp_path, **{"v0:old": HISTORY})

    details = encoder.details(met)

    assert details["past"] == [
        ["2026-01-01 00:00:00", "first seen"],
        ["2026-02-01 00:00:00", "fixed"],
        ["2026-03-01 00:00:00", "open"],
        ["2026-03-01 12:30:00", "last seen before this run"],
    ]


def test_only_an_issue_on_github_has_an_address(tmp_path: Path) -> None:
    encoder = make_encoder(tmp_path)
    met, local = (bucket(1, crash(), issue=issue) for issue in ("12", "v1-abc-torch.fold.md"))

    assert (encoder.row(met)["issue"], encoder.row(local)["issue"]) == (
        "#12",
        "v1-abc-torch.fold.md",
    )
    assert encoder.details(met)["issue_address"] == "https://github.com/owner/name/issues/12"
    assert encoder.details(local)["issue_address"] == ""


def test_rows_continue_after_the_limit_of_details(tmp_path: Path) -> None:
    heavy = replace(bucket(1, crash()), grouping=tuple((str(n), "<" * 400) for n in range(24)))

    rows, chunks = make_encoder(tmp_path).rows_and_details([heavy] * 2_000)

    lengths = [len(json.loads(chunk)) for chunk in chunks]
    assert len(rows) == 2_000
    assert lengths[:-1] == [CHUNK] * (len(lengths) - 1)
    assert 0 < sum(lengths) < 2_000
