"""Reports show the origin of a finding about a layer that was isolated from a mutant."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from github_markdown import live_parts
from layer_findings import layer_case, layer_difference
from report_examples import HOSTILE, bucket, run_of

from ciguard.domain.models import GraphOrigin
from ciguard.reports import REPORTERS, Destination, bucket_lines

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.findings import Finding


def summary_of(finding: Finding, folder: Path) -> str:
    reporter = REPORTERS.get("summary")(Destination(folder=folder, stream=io.StringIO()))
    for event in run_of([bucket(1, finding)]):
        reporter.receive(event)
    reporter.close()
    return (folder / "summary.md").read_text("utf-8")


def test_show_prints_origin_and_comparison_of_a_layer_case() -> None:
    lines = list(bucket_lines(bucket(1, layer_difference()), ""))

    assert (
        "Found in:  a mutant of lenet5-mnist (LA conv2d_1: keras.layers.PReLU; GF dense_2), "
        "isolated from 17 layers; R_a 3.2e4 at layer conv_3"
    ) in lines
    assert "Compared:  the outputs (predict)" in lines


def test_summary_shows_the_origin_of_a_layer_case(tmp_path: Path) -> None:
    text = summary_of(layer_difference(), tmp_path)

    assert "- Found in: a mutant of `lenet5-mnist` (`LA conv2d_1: keras.layers.PReLU`;" in text
    assert "- Compared: the outputs (predict)" in text


def test_names_of_an_origin_are_inert_in_show_and_in_the_summary(tmp_path: Path) -> None:
    origin = GraphOrigin(
        model=HOSTILE, mutations=(HOSTILE,), deviations=((HOSTILE, 1.0),), suspect=HOSTILE
    )
    finding = layer_difference(layer_case(origin))

    shown = "\n".join(bucket_lines(bucket(1, finding), ""))
    summary = summary_of(finding, tmp_path)

    assert not [c for c in shown + summary if not c.isprintable() and c != "\n"]
    assert "<script" not in live_parts(summary)
    assert "@everyone" not in live_parts(summary)
    assert not [line for line in summary.split("\n") if line.startswith("::")]
