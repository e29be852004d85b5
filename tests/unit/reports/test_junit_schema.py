"""The JUnit file satisfies the schema of Jenkins' plug-in, which dashboards follow."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import xmlschema
from finding_examples import crash
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.events import RunFinished
from ciguard.domain.findings import Bucket, Comparison, Confirmation, TargetSummary, Verdict
from ciguard.reports import REPORTERS, Destination

if TYPE_CHECKING:
    from ciguard.domain.events import Event

SCHEMA = xmlschema.XMLSchema(
    str(Path(__file__).parents[2] / "examples" / "schemas" / "junit-10.xsd")
)


def written(events: list[Event], folder: Path) -> str:
    reporter = REPORTERS.get("junit")(Destination(folder=folder, stream=io.StringIO()))
    for event in events:
        reporter.receive(event)
    reporter.close()
    return (folder / "junit.xml").read_text("utf-8")


def test_a_whole_run_is_valid(planned: list[Event], tmp_path: Path) -> None:
    text = written(planned, tmp_path)

    SCHEMA.validate(text)
    assert text.count("<testcase ") == 4 + 1 + 16


def test_schema_rejects_an_unknown_element(planned: list[Event], tmp_path: Path) -> None:
    text = written(planned, tmp_path).replace("<skipped", "<ignored").replace("</skipped", "</ign")

    assert not SCHEMA.is_valid(text.replace("</ign>", "</ignored>"))


TEXTS = st.text(max_size=60) | st.sampled_from(
    ["]]>", "<![CDATA[", "&x;", "<!--", "\x00\x08", "\ufffe\uffff", "\ud800", '"', "\u2028"]
)


def bucket(text: str, comparison: Comparison) -> Bucket:
    """Return a bucket whose texts are all `text`."""
    return Bucket(
        fingerprint="v1:0123456789abcdef",
        grouping=(),
        finding=replace(crash(text), api=text, message=text, kind=text, oracle=text, library=text),
        confirmation=Confirmation.CONFIRMED,
        comparison=comparison,
        issue=text,
        reproducer=text,
    )


def ended(*texts: str) -> RunFinished:
    target = TargetSummary(
        name=texts[0],
        library="torch",
        version="",
        python="",
        device="",
        packages={},
        confined_by=(),
        apis=0,
        not_run=texts[-1],
    )
    return RunFinished(
        verdict=Verdict.NEW_FINDINGS,
        exit_code=1,
        summary="",
        targets=(target,),
        buckets=tuple(bucket(text, one) for text in texts for one in Comparison),
        stages={},
    )


@given(texts=st.lists(TEXTS, min_size=1, max_size=3))
def test_junit_is_valid_for_any_text_of_a_library(texts: list[str]) -> None:
    with TemporaryDirectory() as folder:
        assert SCHEMA.is_valid(written([ended(*texts)], Path(folder)))


def test_ten_megabytes_of_message_make_a_small_file(tmp_path: Path) -> None:
    text = written([ended("x\n" * 5_000_000)], tmp_path)

    SCHEMA.validate(text)
    assert len(text) < 50_000
