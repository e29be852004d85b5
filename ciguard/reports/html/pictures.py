"""The charts of a page, with their data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ciguard.domain.findings import Comparison
from ciguard.domain.policy import class_of
from ciguard.reports.html.charts import COLOURS, Bar, Series, bar_chart, line_chart
from ciguard.reports.html.trend import trend
from ciguard.reports.wording import STATES, clock_text, publishable, state, tally_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from markupsafe import Markup

    from ciguard.domain.events import RunFinished
    from ciguard.domain.findings import TargetSummary
    from ciguard.reports.html.observed import RunObservations

_MAX_TARGETS = 16
_MAX_KINDS = 14
_MAX_NAME = 80
_FEW_DAYS_S = 3 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A chart with its heading."""

    heading: str
    drawing: Markup | None
    """The chart as SVG; None without data."""
    note: str = ""
    """Sentence below the chart, or in place of the chart."""
    legend: tuple[tuple[str, str], ...] = ()
    """Class in the style sheet and text of each entry."""


def slug(name: str) -> str:
    """Return the class in the style sheet for a state: `not run` → `not-run`."""
    return name.replace(" ", "-")


def pictures(event: RunFinished, observed: RunObservations, *, now: datetime) -> Iterator[Picture]:
    """Yield the charts of a run."""
    yield _kinds(event)
    yield from _cases(observed)
    yield _outcomes(event)
    yield _coverage(event)
    yield _trend(event, now)


def _kinds(event: RunFinished) -> Picture:
    """Return the chart of buckets by class and state."""
    counts: dict[str, Counter[str]] = {}
    for bucket in event.buckets:
        counts.setdefault(class_of(bucket.finding).words, Counter())[state(bucket)] += 1
    kinds = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))[:_MAX_KINDS]
    rows = [
        Bar(
            name=words,
            value=f"{by_state.total():,}",
            parts=[(slug(name), by_state[name]) for name in STATES],
        )
        for words, by_state in kinds
    ]
    values = "; ".join(f"{row.name}: {row.value}" for row in rows)
    seen_states = [name for name in STATES if any(by_state[name] for _, by_state in kinds)]
    return Picture(
        heading="Buckets by kind",
        drawing=bar_chart(rows, label=f"Buckets by kind of defect. {values}") if rows else None,
        note="" if rows else "There are no buckets.",
        legend=tuple((slug(name), name) for name in seen_states),
    )


def _cases(observed: RunObservations) -> Iterator[Picture]:
    """Yield the chart of cases over time; for a merge, which has no such data, yield nothing."""
    totals = list(observed.cases.totals().items())[:_MAX_TARGETS]
    series = [
        Series(
            name=publishable(name, limit=_MAX_NAME), colour=f"k{number % COLOURS}", points=points
        )
        for number, (name, points) in enumerate(totals)
    ]
    if not series:
        return
    values = "; ".join(f"{line.name}: {line.points[-1][1]:,.0f}" for line in series)
    yield Picture(
        heading="Cases over time",
        drawing=line_chart(series, label=f"Cases so far by target. {values}", x_text=clock_text),
        legend=tuple((line.colour, line.name) for line in series),
    )


def _outcomes(event: RunFinished) -> Picture:
    """Return the chart of outcomes by target."""
    targets = [target for target in event.targets[:_MAX_TARGETS] if target.tally.total]
    rows = [
        Bar(
            name=publishable(target.name, limit=_MAX_NAME),
            value=f"{target.tally.total:,}",
            parts=[(name, count / target.tally.total) for name, count in _outcome_counts(target)],
        )
        for target in targets
    ]
    values = "; ".join(
        f"{publishable(target.name, limit=_MAX_NAME)}: {tally_text(dict(_outcome_counts(target)))}"
        for target in targets
    )
    seen_outcomes = {name: None for target in targets for name, _ in _outcome_counts(target)}
    return Picture(
        heading="Outcomes of the cases",
        drawing=bar_chart(rows, label=f"Outcomes by target. {values}", full=1.0) if rows else None,
        note="" if rows else "No case ran.",
        legend=tuple((name, name) for name in seen_outcomes),
    )


def _outcome_counts(target: TargetSummary) -> list[tuple[str, int]]:
    return [(name, count) for name, count in target.tally.as_dict().items() if count]


def _coverage(event: RunFinished) -> Picture:
    """Return the chart of called APIs by target."""
    rows = []
    for number, target in enumerate(event.targets[:_MAX_TARGETS]):
        if not target.apis and not target.not_run:
            continue  # only functions or applications of the user were tested on it
        called = event.apis_exercised.get(target.name, 0)
        share = called / target.apis if target.apis else 0.0
        rows.append(
            Bar(
                name=publishable(target.name, limit=_MAX_NAME),
                value=f"{called:,} of {target.apis:,}" if not target.not_run else "not run",
                parts=[(f"k{number % COLOURS}", min(1.0, share))],
            )
        )
    values = "; ".join(f"{row.name}: {row.value}" for row in rows)
    return Picture(
        heading="APIs exercised",
        drawing=bar_chart(rows, label=f"APIs exercised of the catalogue. {values}", full=1.0)
        if rows
        else None,
        note="APIs of each target that were called at least once."
        if rows
        else "No API was tested.",
    )


def _trend(event: RunFinished, now: datetime) -> Picture:
    """Return the chart of known and fixed buckets over time."""
    heading = "Known buckets over time"
    history = trend(event.history.values(), now=now)
    if history is None:
        note = "There was no baseline before this run, so there is no history yet."
        return Picture(heading=heading, drawing=None, note=note)
    series = [
        Series(name="known", colour="known", points=history.known),
        Series(name="fixed", colour="fixed", points=history.fixed),
    ]
    summary = f"The baseline before this run: {_counts(series)}."
    invalid_records = (
        f" {history.invalid_records:,} of its records have no valid time."
        if history.invalid_records
        else ""
    )
    legend = [("known", "known"), ("fixed", "fixed since")]
    new = sum(state(bucket) == Comparison.NEW.value for bucket in event.buckets)
    if new:
        when, known = history.known[-1]
        points = [(when, known), (when, known + new)]
        series.append(Series(name="with new buckets", colour="new", points=points))
        legend.append(("new", f"{new:,} new"))
    return Picture(
        heading=heading,
        drawing=line_chart(series, label=summary, x_text=time_axis(series)),
        note=f"{summary}{invalid_records}",
        legend=tuple(legend),
    )


def _counts(series: Iterable[Series]) -> str:
    return ", ".join(f"{line.points[-1][1]:,.0f} {line.name}" for line in series)


def time_axis(series: Sequence[Series]) -> Callable[[float], str]:
    """Return a function that formats times of an axis: as days, or as minutes if it is short."""
    times = [x for line in series for x, _ in line.points]
    return _day if max(times) - min(times) > _FEW_DAYS_S else _minute


def _day(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"


def _minute(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%m-%d %H:%M}"
