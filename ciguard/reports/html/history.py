"""Files that are stored with a baseline: a page with its history, and a badge for a README.

The page shows only the numbers of buckets, since the baseline's branch may be public.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import ciguard
from ciguard.baseline import State
from ciguard.domain.findings import Severity, Verdict
from ciguard.reports.html.charts import Series, line_chart
from ciguard.reports.html.pictures import Picture, time_axis
from ciguard.reports.html.templates import file_markup, style_hash, template_named
from ciguard.reports.html.trend import reduce_points
from ciguard.reports.wording import publishable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.baseline import Records, RunSummary

_POLICY = (
    "default-src 'none'; style-src {style}; img-src data:; base-uri 'none'; form-action 'none'"
)
_SHOWN = {
    State.OPEN: ("known", "open"),
    State.ACCEPTED: ("accepted", "accepted"),
    State.FLAKY: ("flaky", "flaky"),
    State.FIXED: ("fixed", "fixed"),
}
"""State → its class in the style sheet and its name, in the order of charts and tables."""
_MEANINGS = {
    State.OPEN: "reproduces every time",
    State.ACCEPTED: "accepted with a reason",
    State.FLAKY: "does not reproduce every time",
    State.FIXED: "did not reproduce in three runs in a row",
}
_MAX_ROWS = 30
_MAX_TARGETS = 40


def history_files(runs: Sequence[RunSummary], records: Records) -> dict[str, str]:
    """Return the file name and the text of the page and of the badge.

    Args:
        runs: the runs that wrote the baseline, at least one, the oldest first.
        records: the records of the baseline after the last run.
    """
    return {"index.html": history_page(runs, records), "badge.json": badge(runs[-1])}


def badge(run: RunSummary) -> str:
    """Return the JSON for an endpoint badge of shields.io.

    Source: https://shields.io/badges/endpoint-badge
    """
    count = run.count(State.OPEN)
    if run.verdict is Verdict.NEW_FINDINGS:
        message, color = f"{run.new:,} new, {count:,} open", "red"
    elif run.verdict is Verdict.ESTABLISHED:
        message, color = f"baseline of {count:,}", "blue"
    elif run.new:  # by the policy, none of the new buckets fails the run
        message, color = f"{run.new:,} new, {count:,} open", "yellow"
    else:
        message, color = f"nothing new, {count:,} open", "green" if count else "brightgreen"
    fields = {"schemaVersion": 1, "label": "ciguard", "message": message, "color": color}
    return json.dumps(fields) + "\n"


def history_page(runs: Sequence[RunSummary], records: Records) -> str:
    """Return the history page as one self-contained HTML file.

    Args:
        runs: the runs that wrote the baseline, at least one, the oldest first.
        records: the records of the baseline after the last run.
    """
    template = template_named("history.html.j2")
    style = file_markup("page.css") + file_markup("history.css")
    last = runs[-1]
    return template.render(
        policy=_POLICY.format(style=style_hash(style)),
        style=style,
        tone={Verdict.NEW_FINDINGS: "bad", Verdict.CLEAN: "good"}.get(last.verdict, "calm"),
        verdict=last.verdict.value,
        title=_title(last),
        page=last.page,
        facts=_facts(runs),
        pictures=[_buckets_over_time(runs), _cases_over_time(runs), *_noticed_over_time(runs)],
        states=_states(last),
        severities=_severities(records),
        versions=[_printable_pair(pair) for pair in last.versions[:_MAX_TARGETS]],
        more_versions=max(0, len(last.versions) - _MAX_TARGETS),
        rows=[_row(run) for run in runs[: -_MAX_ROWS - 1 : -1]],
        runs=len(runs),
        words=[word for _, word in _SHOWN.values()],
    )


def _title(run: RunSummary) -> str:
    """Return the verdict of the last run as a sentence."""
    count = run.count(State.OPEN)
    open_text = f"{count:,} known {'defect is' if count == 1 else 'defects are'} open"
    if run.verdict is Verdict.ESTABLISHED:
        return f"The baseline is established: {open_text}"
    if not run.new:
        return f"Nothing new; {open_text}"
    return f"{run.new:,} new {'defect' if run.new == 1 else 'defects'}; {open_text}"


def _facts(runs: Sequence[RunSummary]) -> list[tuple[str, str]]:
    last = runs[-1]
    return [
        ("last run", _clock(last.time)),
        ("cases", f"{last.cases:,}"),
        ("targets", f"{len(last.versions):,}"),
        ("new", f"{last.new:,}"),
        ("runs shown", f"{len(runs):,} since {runs[0].time[:10]}"),
        ("ciguard", ciguard.__version__),
    ]


def _states(run: RunSummary) -> list[dict[str, str]]:
    return [
        {"slug": slug, "word": word, "count": f"{run.count(state):,}", "means": _MEANINGS[state]}
        for state, (slug, word) in _SHOWN.items()
    ]


def _severities(records: Records) -> list[dict[str, str]]:
    """Return the number of open buckets, and of those with an issue, by severity."""
    open_records = [record for record in records.values() if record.state is State.OPEN]
    rows = []
    for severity in reversed(Severity):
        members = [record for record in open_records if record.representative.severity is severity]
        filed = sum(bool(record.issue) for record in members)
        if members:
            count = f"{len(members):,}"
            rows.append({"word": severity.label, "count": count, "filed": f"{filed:,}"})
    return rows


def _printable_pair(pair: tuple[str, str]) -> tuple[str, str]:
    name, version = pair
    return publishable(name, limit=100), publishable(version, limit=60)


def _row(run: RunSummary) -> dict[str, Any]:
    return {
        "time": _clock(run.time),
        "verdict": run.verdict.value,
        "is_bad": run.verdict is Verdict.NEW_FINDINGS,
        "cases": f"{run.cases:,}",
        "new": f"{run.new:,}",
        "noticed": f"{run.caught}/{run.planted}" if run.planted else "",
        "counts": [f"{run.count(state):,}" for state in _SHOWN],
        "page": run.page,
    }


def _buckets_over_time(runs: Sequence[RunSummary]) -> Picture:
    shown = {
        state: texts for state, texts in _SHOWN.items() if any(run.count(state) for run in runs)
    }
    series = [
        Series(name=word, colour=slug, points=_points(runs, [run.count(state) for run in runs]))
        for state, (slug, word) in (shown or {State.OPEN: _SHOWN[State.OPEN]}).items()
    ]
    values = ", ".join(f"{line.points[-1][1]:,.0f} {line.name}" for line in series)
    return Picture(
        heading="Buckets by state",
        drawing=line_chart(series, label=f"Buckets by state: {values}.", x_text=time_axis(series)),
        note="Counted after each run that wrote the baseline.",
        legend=tuple((line.colour, line.name) for line in series),
    )


def _cases_over_time(runs: Sequence[RunSummary]) -> Picture:
    series = [Series(name="cases", colour="k0", points=_points(runs, [r.cases for r in runs]))]
    label = f"Cases of each run, in the last {runs[-1].cases:,}."
    return Picture(
        heading="Cases per run",
        drawing=line_chart(series, label=label, x_text=time_axis(series)),
        note="Executed on all targets together. Fewer cases find fewer defects.",
    )


def _noticed_over_time(runs: Sequence[RunSummary]) -> Iterator[Picture]:
    """Yield the chart of noticed planted defects, if a run planted some."""
    measured = [run for run in runs if run.planted]
    if not measured:
        return
    shares = [100 * run.caught / run.planted for run in measured]
    series = [Series(name="noticed, in per cent", colour="k0", points=_points(measured, shares))]
    last = measured[-1]
    label = f"Planted defects that each run noticed, in the last {last.caught} of {last.planted}."
    yield Picture(
        heading="Planted defects noticed, in per cent",
        drawing=line_chart(series, label=label, x_text=time_axis(series)),
        note="Share of known defects that the run noticed: what a green run is worth.",
    )


def _points(runs: Sequence[RunSummary], counts: Sequence[float]) -> list[tuple[float, float]]:
    pairs = zip(runs, counts, strict=True)
    return reduce_points([(_moment(run.time).timestamp(), float(count)) for run, count in pairs])


def _moment(time: str) -> datetime:
    return datetime.fromisoformat(time).astimezone(UTC)


def _clock(time: str) -> str:
    return f"{_moment(time):%Y-%m-%d %H:%M} UTC"
