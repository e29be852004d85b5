"""Charts as inline SVG, which the page's style sheet colours.

The XML writer of the standard library escapes every text. Drawings have classes instead of inline
styles, which the page's content security policy forbids.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WIDTH = 320
"""Width of every drawing, in units of about one pixel."""
_HEIGHT = 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 8, 8, 20
_BAR = 12
"""Height of a bar."""
_ROW = 32
"""Height of a bar with its name above it."""
COLOURS = 8
"""Number of colour classes for series, `k0` to `k7`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line of a chart."""

    name: str
    colour: str
    """Class in the style sheet, such as `k0`."""
    points: Sequence[tuple[float, float]]
    """Pairs of x and y, in ascending order of x."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One row of a bar chart, whose parts are drawn side by side."""

    name: str
    value: str
    """Text at the end of the row."""
    parts: Sequence[tuple[str, float]]
    """Class in the style sheet and length of each part; all rows have the same scale."""


def line_chart(series: Sequence[Series], *, label: str, x_text: Callable[[float], str]) -> Markup:
    """Return a line chart whose vertical axis starts at zero.

    Args:
        series: the lines: at least one, each with at least one point.
        label: the text alternative of the chart.
        x_text: a function that formats values of the horizontal axis.
    """
    points = [point for line in series for point in line.points]
    first, last = min(x for x, _ in points), max(x for x, _ in points)
    top_value = _rounded_up(max(y for _, y in points))
    width, height = WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def position(x: float, y: float) -> tuple[float, float]:
        fraction = (x - first) / (last - first) if last > first else 1.0
        return _LEFT + width * fraction, _TOP + height * (1 - y / top_value)

    svg = _svg(_HEIGHT, label)
    for part in range(3):
        y = top_value * part / 2
        _, y_position = position(first, y)
        start, end = (_LEFT, y_position), (WIDTH - _RIGHT, y_position)
        _line(svg, start, end, "axis" if part == 0 else "rule")
        _write(svg, (_LEFT - 5, y_position + 3.5), short_number(y), "tick end")
    _write(svg, (_LEFT, _HEIGHT - 6), x_text(first), "tick")
    if last > first:
        _write(svg, (WIDTH - _RIGHT, _HEIGHT - 6), x_text(last), "tick end")
    for line in series:
        path = " ".join("{:.1f},{:.1f}".format(*position(x, y)) for x, y in line.points)
        ET.SubElement(svg, "polyline", {"points": path, "class": f"curve {line.colour}"})
        x, y = position(*line.points[-1])
        dot = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "3", "class": f"dot {line.colour}"}
        add_title(ET.SubElement(svg, "circle", dot), f"{line.name}: {line.points[-1][1]:,.0f}")
    return markup_of(svg)


def bar_chart(rows: Sequence[Bar], *, label: str, full: float = 0.0) -> Markup:
    """Return a chart of horizontal bars, each below its name.

    Args:
        rows: the bars, at least one.
        label: the text alternative of the chart.
        full: the length that fills the width of the chart and is drawn as a track; 0 to scale the
            chart to the longest bar, without a track.
    """
    scale = full or max(sum(length for _, length in row.parts) for row in rows) or 1.0
    svg = _svg(_ROW * len(rows), label)
    for number, row in enumerate(rows):
        top = _ROW * number
        # The name and the value are on one line, which has room for about 48 characters.
        max_name = 44 - len(row.value)
        name = row.name if len(row.name) <= max_name else row.name[: max_name - 1] + "…"
        add_title(_write(svg, (0, top + 11), name, "name"), row.name)
        _write(svg, (WIDTH, top + 11), row.value, "value end")
        if full:
            _rectangle(svg, 0, top, WIDTH, "track")
        left = 0.0
        for colour, length in row.parts:
            width = WIDTH * length / scale
            if width > 0:
                _rectangle(svg, left, top, max(width, 1.5), f"bar {colour}")
            left += width
    return markup_of(svg)


def short_number(value: float) -> str:
    """Return a number for an axis: `950`, `1.2k`, `3M`."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:.3g}{name}"
    return f"{value:.3g}"


def _rounded_up(value: float) -> float:
    """Return the smallest round number that is not smaller and whose half is round too."""
    if value <= 2:  # noqa: PLR2004 - the smallest count whose half is a count
        return 2.0
    unit: float = 10 ** floor(log10(value))
    return next(unit * step for step in (1, 2, 4, 6, 8, 10) if ceil(value) <= unit * step)


def _svg(height: float, label: str) -> ET.Element:
    box = f"0 0 {WIDTH} {height:g}"
    return ET.Element("svg", {"viewBox": box, "role": "img", "aria-label": label})


def _line(
    svg: ET.Element, start: tuple[float, float], end: tuple[float, float], style: str
) -> None:
    (x1, y1), (x2, y2) = start, end
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    ET.SubElement(svg, "line", ends | {"class": style})


def _rectangle(svg: ET.Element, x: float, top: float, width: float, style: str) -> None:
    size = {"x": f"{x:.1f}", "y": f"{top + 15:g}", "width": f"{width:.1f}", "height": f"{_BAR}"}
    ET.SubElement(svg, "rect", size | {"class": style, "rx": "2"})


def _write(svg: ET.Element, position: tuple[float, float], text: str, style: str) -> ET.Element:
    x, y = position
    element = ET.SubElement(svg, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "class": style})
    element.text = text
    return element


def add_title(element: ET.Element, text: str) -> None:
    """Add a title to an element: browsers show it as a tooltip, and screen readers read it."""
    ET.SubElement(element, "title").text = text


def markup_of(svg: ET.Element) -> Markup:
    """Return a drawing as markup that templates do not escape again."""
    return Markup(ET.tostring(svg, encoding="unicode"))  # noqa: S704 - the writer has escaped it
