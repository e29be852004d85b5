from __future__ import annotations

from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_examples import HOSTILE

from ciguard.domain.events import BucketHistory
from ciguard.reports.html.charts import WIDTH, Bar, Series, bar_chart, line_chart, short_number
from ciguard.reports.html.observed import CasesOverTime
from ciguard.reports.html.trend import trend

NOW = datetime(2026, 3, 1, tzinfo=UTC)
COUNTS = st.floats(0, 1e9, allow_nan=False)


def _drawn(markup: str) -> ET.Element:
    return ET.fromstring(markup)


@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=20))
def test_every_point_of_a_line_is_inside_the_drawing(points: list[tuple[float, float]]) -> None:
    series = Series(name="x", colour="k0", points=sorted(points))

    svg = _drawn(line_chart([series], label="l", x_text=short_number))

    _, _, width, height = map(float, svg.attrib["viewBox"].split())
    path = svg.findall("polyline")[0].attrib["points"].split()
    places = [tuple(map(float, point.split(","))) for point in path]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in places)


@given(st.lists(st.lists(COUNTS, max_size=6), min_size=1, max_size=6))
def test_no_bar_is_longer_than_the_drawing(lengths: list[list[float]]) -> None:
    rows = [Bar(name="n", value="1", parts=[("k0", size) for size in row]) for row in lengths]

    svg = _drawn(bar_chart(rows, label="l"))

    ends = [float(r.attrib["x"]) + float(r.attrib["width"]) for r in svg.findall("rect")]
    assert all(end <= WIDTH + 1.6 for end in ends)


def test_texts_of_a_chart_are_escaped() -> None:
    name = HOSTILE.replace("\ud800", "").replace("\x00", "").replace("\x1b", "")

    svg = _drawn(bar_chart([Bar(name=name, value="1", parts=[("k0", 1.0)])], label=name))

    assert {element.tag for element in svg.iter()} == {"svg", "text", "title", "rect"}


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (950, "950"), (1_200, "1.2k"), (3e6, "3M"), (2.5e9, "2.5G")]
)
def test_axis_numbers_are_abbreviated(value: float, text: str) -> None:
    assert short_number(value) == text


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 99), st.floats(0, 1e5))))
def test_cases_over_time_are_complete_and_bounded(batches: list[tuple[str, int, float]]) -> None:
    cases = CasesOverTime()
    for target, count, elapsed_s in batches:
        cases.add(target, count, elapsed_s)

    totals = cases.totals()

    for target, points in totals.items():
        assert points[-1][1] == sum(count for name, count, _ in batches if name == target)
        assert len(points) <= 121
        assert points == sorted(points)
    assert set(totals) == {name for name, _, _ in batches}


def _history(*states: tuple[int, str]) -> BucketHistory:
    times = [(f"2026-02-{day:02}T00:00:00Z", state) for day, state in states]
    return BucketHistory(first_seen=times[0][0], last_seen=times[-1][0], states=tuple(times))


def test_the_trend_follows_every_bucket_from_first_seen_to_fixed_and_back() -> None:
    shown_trend = trend(
        [
            _history((1, "open"), (3, "accepted")),
            _history((2, "open"), (4, "fixed"), (6, "open")),
            _history((2, "flaky")),
        ],
        now=NOW,
    )

    assert shown_trend is not None
    day = 86_400.0
    start = datetime(2026, 2, 1, tzinfo=UTC).timestamp()
    known = {(when - start) // day: count for when, count in shown_trend.known}
    fixed = {(when - start) // day: count for when, count in shown_trend.fixed}
    assert (known[0], known[1], known[3], known[5], known[28]) == (1, 2, 1, 2, 2)
    assert (fixed[0], fixed[3], fixed[5], fixed[28]) == (0, 1, 0, 0)


@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(1, 28), st.sampled_from(["open", "fixed", "accepted", "flaky"])),
            min_size=1,
            max_size=5,
        ),
        min_size=1,
        max_size=60,
    )
)
def test_trend_ends_with_the_current_numbers(states: list[list[tuple[int, str]]]) -> None:
    histories = [_history(*sorted(one)) for one in states]

    shown_trend = trend(histories, now=NOW)

    assert shown_trend is not None
    last = [history.states[-1][1] for history in histories]
    assert shown_trend.known[-1][1] == sum(state in {"open", "accepted"} for state in last)
    assert shown_trend.fixed[-1][1] == last.count("fixed")
    assert all(count >= 0 for _, count in (*shown_trend.known, *shown_trend.fixed))
    assert len(shown_trend.known) <= 162


def test_there_is_no_trend_without_a_baseline() -> None:
    assert trend([], now=NOW) is None


def test_record_with_an_invalid_time_is_counted_and_omitted() -> None:
    shown_trend = trend([_history((1, "open")), _history((77, "open"))], now=NOW)

    assert shown_trend is not None
    assert (shown_trend.known[-1][1], shown_trend.invalid_records) == (1, 1)
