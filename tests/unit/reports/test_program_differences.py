"""Reports show the difference of a program from its parent program."""

from __future__ import annotations

from dataclasses import replace

from finding_examples import crash
from github_markdown import tokens_of
from report_examples import HOSTILE, bucket
from tree_examples import found, program, step

from ciguard.reports import bucket_lines
from ciguard.trackers.body import report
from ciguard.trackers.context import Context

HEADING = "Difference from the parent program"
HOSTILE_CASE = program(step("act1", HOSTILE), source=f"x = 1\n{HOSTILE}\n", api="torch.nn.ReLU")


def test_show_prints_the_diff_and_marks_the_mutated_call() -> None:
    lines = list(bucket_lines(found(program(step("act1"))), ""))

    at = lines.index(HEADING)
    assert lines[at + 1] == "   @@ -4,4 +4,6 @@"
    assert [line for line in lines[at:] if line.startswith(" > ")] == [
        " > +    nn.Hardswish(inplace=True),"
    ]


def test_issue_contains_the_diff_as_a_code_block() -> None:
    body = report(found(program(step("act1"))), Context()).body

    block = body.partition(f"### {HEADING}\n\n```diff\n")[2].partition("\n```\n")[0]
    assert block.startswith("@@ -4,4 +4,6 @@\n")
    assert "\n+    nn.Hardswish(inplace=True),\n" in block


def test_case_without_parent_has_no_diff() -> None:
    case = program(step("act1"))
    orphan = found(replace(case, ancestry=replace(case.ancestry, parent="")))

    for shown_bucket in (orphan, bucket(1, crash())):
        assert HEADING not in list(bucket_lines(shown_bucket, ""))
        assert HEADING not in report(shown_bucket, Context()).body


def test_long_differences_are_cut() -> None:
    source = "\n".join(f"value_{number} = {number}" for number in range(900))
    long = found(program(step("act1"), source=source))

    shown = list(bucket_lines(long, ""))
    body = report(long, Context()).body

    assert "   … 868 more lines" in shown
    assert "\n… 878 more lines\n" in body


def test_hostile_programs_are_inert() -> None:
    met = found(HOSTILE_CASE)

    shown = "\n".join(bucket_lines(met, ""))
    tokens = list(tokens_of(report(met, Context()).body))

    assert not [c for c in shown if not c.isprintable() and c != "\n"]
    assert not [token for token in tokens if token.type in {"link_open", "image"}]
    live = [token.content for token in tokens if token.type.startswith("html")]
    assert not [html for html in live if "script" in html or "img" in html]
    (block,) = [token.content for token in tokens if token.info == "diff"]
    assert "</script><script>alert(" in block
