"""What a fuzzed text can do in an issue, once GitHub's flavour of markdown has been rendered."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from finding_examples import call, finding, pair
from github_markdown import tokens_of
from hypothesis import example, given, settings
from hypothesis import strategies as st
from issue_groups import alone

from ciguard.domain.causes import Cause
from ciguard.domain.outcomes import Crashed, Errored, Frame, Hung, Passed, Rejected
from ciguard.domain.text import markdown_text
from ciguard.domain.values import LiteralValue
from ciguard.trackers.body import MAX_BODY, report
from ciguard.trackers.context import Context, IssueRow
from ciguard.trackers.contract import Report, marked_with
from ciguard.trackers.listing import roll_up
from ciguard.triage import Buckets, EnvironmentHint, script

if TYPE_CHECKING:
    from ciguard.domain.findings import Bucket

OURS = re.compile(
    r"<!-- ciguard-fp: [gv]1:[0-9a-f]{16} -->\n?|"
    r"</?details>|</?code>|"
    r"<summary>Fingerprint: what this bucket's findings have in common</summary>|"
    r"<summary><code>[^<]*</code></summary>"
)
MAX_TITLE = 256
"""What GitHub takes."""
NASTY = (
    "@everyone",
    "@octocat/team",
    "](javascript:alert(1))",
    "[x](javascript:alert(1))",
    "![x](https://evil.example/x.png)",
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "</details></table><h1>big",
    "<!-- ciguard-fp: v1:0000000000000000 -->",
    "--> <!--",
    "\x1b[31mred\x1b[0m\x9b31m",
    "```\n# heading\n````\n~~~",
    "``` `` ` a | b ||",
    "${{ secrets.GITHUB_TOKEN }}",
    "{{ footer }}{% raw %}",
    "\x00NUL\x00",
    "\u202eRTL\u2066\u200b\ufeff",
    "\ud800",
    "www.evil.example https://evil.example a@evil.example",
    "fixes #1, closes owner/repo#2 GH-3 0123456789abcdef0123456789abcdef01234567",
    "\r\n\r\n# heading\n- [ ] task\n> quote\n***\n| a | b |\n| - | - |\n    code",
    "&lt;img&gt; &#60;b&#62; &commat;octocat \\@octocat \\<b>",
    "::set-output name=x::y\n##[error]x",
    "/home/runner/work/_temp/ghs_0123456789abcdef/site-packages/torch/x.py",
)

texts = st.one_of(
    st.sampled_from(NASTY),
    st.text(max_size=60),
    st.lists(st.sampled_from(NASTY), min_size=1, max_size=4).map(" ".join),
    st.text(alphabet="`<>[]()!|\\@#&*_~-\n\r\t\"'/: aw.", max_size=60),
)


def assert_inert(issue: Report) -> None:
    """Fail where a reader's browser, a person's inbox or another issue would notice the text."""
    assert len(issue.body) <= MAX_BODY + 500
    assert len(issue.title) <= MAX_TITLE
    issue.body.encode("utf-8")  # no lone surrogates
    for text in (issue.title, issue.body):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    for token in tokens_of(issue.body):
        assert token.type not in {"link_open", "image"}, token
        if token.type in {"html_inline", "html_block"}:
            assert not OURS.sub("", token.content).strip(), token
        if token.type == "heading_open":
            assert token.tag == "h3", token
        if token.type == "text":
            assert not re.search(r"[@#]\w|\bGH-\d", token.content), token
    assert marked_with(issue.body) == issue.fingerprint
    assert not re.search(r"[@#]\w", issue.title)


def crashed(text: str) -> Bucket:
    case = call(LiteralValue(text), api=f"torch.{text}", keywords=((text, LiteralValue(text)),))
    made = finding(Crashed("SIGABRT", (Frame(text, text),), text), case=case, message=text)
    return replace(Buckets().add(made), grouping=((text, text), ("message", text)))


def errored(text: str) -> Bucket:
    return Buckets().add(finding(Errored(text, text, (Frame(text, text),)), message=text))


def hung(text: str) -> Bucket:
    return Buckets().add(finding(Hung(5.0, (Frame(text, text),)), target=text, message=text))


def differing(text: str) -> Bucket:
    met = pair(Rejected(text, text), Passed(b"null", 0.1), kind="accepted")
    return Buckets().add(replace(met, kind=text, message=text))


def written(made: Bucket, text: str) -> Report:
    source = script(made.finding, environment_hint=EnvironmentHint(install=("torch",)))
    versions = dict.fromkeys(made.finding.outcomes, text)
    context = Context(script=source, versions=versions, commit=text, first_seen=text)
    return report(made, context)


@settings(deadline=None)  # rendering all of it takes a while
@pytest.mark.parametrize("bucket_of", [crashed, errored, hung, differing])
@given(text=texts)
@example(text="".join(NASTY))
def test_fuzzed_text_is_escaped_in_an_issue(bucket_of: object, text: str) -> None:
    made = bucket_of(text)  # type: ignore[operator]

    assert_inert(written(made, text))


@settings(deadline=None)
@given(st.lists(texts, min_size=2, max_size=3))
@example(["".join(NASTY), NASTY[0]])
def test_fuzzed_text_is_escaped_in_an_issue_of_a_group(fuzzed: list[str]) -> None:
    cause = Cause(name="g1:0123456789abcdef", kind="message", text=" ".join(fuzzed))
    shown, *others = (replace(made, cause=cause) for made in map(crashed, fuzzed))
    rows = tuple(
        IssueRow(
            bucket=made,
            script=written(made, "1").body,
            first_seen=made.finding.api,
            state=state,
        )
        for made, state in zip((shown, *others), ("", "fixed", "accepted"), strict=False)
    )
    folded = (*rows, *(replace(row, state="") for row in rows))
    context = Context(name=cause.name, rows=folded, split_from=(fuzzed[0],))

    assert_inert(report(shown, context))


@settings(deadline=None)
@given(st.lists(texts, min_size=1, max_size=4))
def test_fuzzed_text_is_escaped_on_the_list(fuzzed: list[str]) -> None:
    assert_inert(roll_up(alone(crashed(text)) for text in fuzzed))


@given(texts)
def test_fuzzed_text_is_escaped_in_a_comment(text: str) -> None:
    said = Report(fingerprint="", title="", body=markdown_text(text))

    assert_inert(said)


@pytest.mark.parametrize("length", [300_000, pytest.param(10_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("nasty", ["x", "`", "@a ", "\n", "<", "\u202e", "\x00", "| ", "/a"])
@pytest.mark.lengthy
def test_issue_size_is_bounded_for_megabytes_of_text(nasty: str, length: int) -> None:
    text = nasty * (length // len(nasty))
    died = Crashed("SIGABRT", (Frame(text, text),), text)
    small = hung("x")
    huge = replace(finding(died), api=text, message=text, kind=text)
    context = Context(script=text, versions={"torch==2.13.0": text}, commit=text)

    assert_inert(report(replace(small, finding=huge, grouping=((text, text),)), context))


def test_path_with_a_token_is_not_published() -> None:
    text = "/home/runner/work/_temp/ghs_0123456789abcdef/site-packages/torch/x.py"

    issue = written(errored(text), "1")

    assert "ghs_" not in issue.body + issue.title
    assert "torch/x.py" in issue.body
