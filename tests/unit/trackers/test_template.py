from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from finding_examples import call, crash

from ciguard.errors import ConfigurationError
from ciguard.trackers import IssueTemplate
from ciguard.trackers.body import MAX_BODY, report
from ciguard.trackers.context import Context
from ciguard.trackers.contract import marker
from ciguard.triage import Buckets

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.findings import Bucket

HOSTILE = "@octocat <img src=x> [a](javascript:b) ${{ secrets.X }} {{ footer }}"


def template(folder: Path, text: str) -> IssueTemplate:
    path = folder / "issue.md.j2"
    path.write_text(text, encoding="utf-8")
    return IssueTemplate(path)


def bucket() -> Bucket:
    made = Buckets().add(crash(HOSTILE, case=call(api="torch.fold")))
    return replace(made, finding=replace(made.finding, message=HOSTILE))


def test_custom_template_is_filled_after_the_marker(tmp_path: Path) -> None:
    own = template(tmp_path, "{{ severity }} in {{ api }}\n{% if script %}{{ script }}{% endif %}")

    issue = report(bucket(), Context(), template=own)

    assert issue.body == f"{marker(issue.fingerprint)}\n\n`critical` in `torch.fold`"


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("a\n{{ summary", "line 2: unexpected end of template"),
        ("{{ sumary }}", "'sumary' is undefined"),
        ("{% include '/etc/passwd' %}", "no loader"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ range(10**9) }}", "Range too big"),
    ],
)
def test_broken_template_is_an_error_before_the_run(
    tmp_path: Path, text: str, mistake: str
) -> None:
    with pytest.raises(ConfigurationError, match=mistake) as caught:
        template(tmp_path, text)

    assert "issue.md.j2" in str(caught.value)


def test_missing_template_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="issue-template = "):
        IssueTemplate(tmp_path)


def test_value_is_never_interpreted_as_a_template(tmp_path: Path) -> None:
    own = template(tmp_path, "{{ evidence }}")

    body = report(bucket(), Context(), template=own).body

    assert "{{ footer }}" in body


def test_text_stays_within_the_limit_for_any_template(tmp_path: Path) -> None:
    own = template(tmp_path, "{% for n in range(40) %}{{ footer }}{{ script }}{% endfor %}")

    issue = report(bucket(), Context(script="#" * 19_000), template=own)

    assert len(issue.body) <= MAX_BODY + 100
    assert issue.body.startswith(marker(issue.fingerprint))
