"""Which charts a page shows, and of what."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ciguard.domain.findings import Comparison
from ciguard.domain.policy import class_of
from ciguard.reports.html.charts import COLOURS, Bar, Series, bars, lines
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
_NAME = 80
_FEW_DAYS_S = 3 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A chart with its heading."""

    heading: str
    drawing: Markup | None
    """None where there is nothing to draw."""
    note: str = ""
    """A sentence below it, or in its place."""
    legend: tuple[tuple[str, str], ...] = ()
    """(class, text)."""


def slug(name: str) -> str:
    """Return the class of the style sheet for a state."""
    return name.replace(" ", "-")


def pictures(event: RunFinished, observed: RunObservations, *, now: datetime) -> Iterator[Picture]:
    """Return the charts of a run."""
    yield _kinds(event)
    yield from _cases(observed)
    yield _outcomes(event)
    yield _coverage(event)
    yield _trend(event, now)


def _kinds(event: RunFinished) -> Picture:
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
    said = "; ".join(f"{row.name}: {row.value}" for row in rows)
    met = [name for name in STATES if any(by_state[name] for _, by_state in kinds)]
    return Picture(
        heading="Buckets by kind",
        drawing=bars(rows, label=f"Buckets by kind of defect. {said}") if rows else None,
        note="" if rows else "No bucket was met.",
        legend=tuple((slug(name), name) for name in met),
    )


def _cases(observed: RunObservations) -> Iterator[Picture]:
    """Yield how the cases came in; a merge has not seen that."""
    totals = list(observed.cases.totals().items())[:_MAX_TARGETS]
    series = [
        Series(name=publishable(name, limit=_NAME), colour=f"k{number % COLOURS}", points=points)
        for number, (name, points) in enumerate(totals)
    ]
    if not series:
        return
    said = "; ".join(f"{one.name}: {one.points[-1][1]:,.0f}" for one in series)
    yield Picture(
        heading="Cases over time",
        drawing=lines(series, label=f"Cases so far by target. {said}", x_text=clock_text),
        legend=tuple((one.colour, one.name) for one in series),
    )


def _outcomes(event: RunFinished) -> Picture:
    targets = [target for target in event.targets[:_MAX_TARGETS] if target.tally.total]
    rows = [
        Bar(
            name=publishable(target.name, limit=_NAME),
            value=f"{target.tally.total:,}",
            parts=[(name, count / target.tally.total) for name, count in _counted(target)],
        )
        for target in targets
    ]
    said = "; ".join(
        f"{publishable(target.name, limit=_NAME)}: {tally_text(dict(_counted(target)))}"
        for target in targets
    )
    met = {name: None for target in targets for name, _ in _counted(target)}
    return Picture(
        heading="Outcomes of the cases",
        drawing=bars(rows, label=f"Outcomes by target. {said}", full=1.0) if rows else None,
        note="" if rows else "No case was run.",
        legend=tuple((name, name) for name in met),
    )


def _counted(target: TargetSummary) -> list[tuple[str, int]]:
    return [(name, count) for name, count in target.tally.as_dict().items() if count]


def _coverage(event: RunFinished) -> Picture:
    rows = []
    for number, target in enumerate(event.targets[:_MAX_TARGETS]):
        called = event.apis_exercised.get(target.name, 0)
        share = called / target.apis if target.apis else 0.0
        rows.append(
            Bar(
                name=publishable(target.name, limit=_NAME),
                value=f"{called:,} of {target.apis:,}" if not target.not_run else "not run",
                parts=[(f"k{number % COLOURS}", min(1.0, share))],
            )
        )
    said = "; ".join(f"{row.name}: {row.value}" for row in rows)
    return Picture(
        heading="APIs exercised",
        drawing=bars(rows, label=f"APIs exercised of the catalogue. {said}", full=1.0)
        if rows
        else None,
        note="Called at least once, of each target's catalogue." if rows else "No target.",
    )


def _trend(event: RunFinished, now: datetime) -> Picture:
    heading = "Known buckets over time"
    told = trend(event.history.values(), now=now)
    if told is None:
        note = "There was no baseline before this run: nothing is known over time yet."
        return Picture(heading=heading, drawing=None, note=note)
    series = [
        Series(name="known", colour="known", points=told.known),
        Series(name="fixed", colour="fixed", points=told.fixed),
    ]
    says = f"The baseline before this run: {_counts(series)}."
    legend = [("known", "known"), ("fixed", "fixed since")]
    new = sum(state(bucket) == Comparison.NEW.value for bucket in event.buckets)
    if new:
        when, known = told.known[-1]
        points = [(when, known), (when, known + new)]
        series.append(Series(name="with what is new", colour="new", points=points))
        legend.append(("new", f"{new:,} new"))
    return Picture(
        heading=heading,
        drawing=lines(series, label=says, x_text=time_axis(series)),
        note=f"{says} {told.unread:,} of its records have no time." if told.unread else says,
        legend=tuple(legend),
    )


def _counts(series: Iterable[Series]) -> str:
    return ", ".join(f"{one.points[-1][1]:,.0f} {one.name}" for one in series)


def time_axis(series: Sequence[Series]) -> Callable[[float], str]:
    """Return how places on a time axis are written: days, or minutes where these are few."""
    places = [x for one in series for x, _ in one.points]
    return _day if max(places) - min(places) > _FEW_DAYS_S else _minute


def _day(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"


def _minute(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%m-%d %H:%M}"
