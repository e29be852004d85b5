"""Charts as inline SVG: plain drawings whose colours are the page's.

The standard library's XML writer draws them and escapes every text. No style stands in them: the
page's security policy forbids that, and its style sheet knows their classes.
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
"""Units of every drawing; on the page about as many pixels."""
_HEIGHT = 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 8, 8, 20
_BAR = 12
_ROW = 32
COLOURS = 8
"""Classes `k0` … that tell series apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line of a chart."""

    name: str
    colour: str
    """Class of the style sheet."""
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One row of a bar chart: parts side by side."""

    name: str
    value: str
    """What stands at the end of the row."""
    parts: Sequence[tuple[str, float]]
    """(class, length); lengths of all rows have one scale."""


def lines(series: Sequence[Series], *, label: str, x_text: Callable[[float], str]) -> Markup:
    """Return a line chart from zero upwards.

    Args:
        series: at least one, each with at least one point.
        label: what the chart says, for who cannot see it.
        x_text: how a place on the horizontal axis is written.
    """
    every = [point for one in series for point in one.points]
    first, last = min(x for x, _ in every), max(x for x, _ in every)
    most = _rounded_up(max(y for _, y in every))
    wide, high = WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - first) / (last - first) if last > first else 1.0
        return _LEFT + wide * across, _TOP + high * (1 - y / most)

    svg = _svg(_HEIGHT, label)
    for part in range(3):
        y = most * part / 2
        _, at = place(first, y)
        _line(svg, (_LEFT, at), (WIDTH - _RIGHT, at), "axis" if part == 0 else "rule")
        _write(svg, (_LEFT - 5, at + 3.5), short_number(y), "tick end")
    _write(svg, (_LEFT, _HEIGHT - 6), x_text(first), "tick")
    if last > first:
        _write(svg, (WIDTH - _RIGHT, _HEIGHT - 6), x_text(last), "tick end")
    for one in series:
        path = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in one.points)
        ET.SubElement(svg, "polyline", {"points": path, "class": f"curve {one.colour}"})
        x, y = place(*one.points[-1])
        dot = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "3", "class": f"dot {one.colour}"}
        titled(ET.SubElement(svg, "circle", dot), f"{one.name}: {one.points[-1][1]:,.0f}")
    return markup_of(svg)


def bars(rows: Sequence[Bar], *, label: str, full: float = 0.0) -> Markup:
    """Return horizontal bars, each under its name.

    Args:
        rows: at least one.
        label: what the chart says, for who cannot see it.
        full: length that takes the whole width, drawn as a track; 0 for the longest bar's.
    """
    scale = full or max(sum(length for _, length in row.parts) for row in rows) or 1.0
    svg = _svg(_ROW * len(rows), label)
    for number, row in enumerate(rows):
        top = _ROW * number
        # A name and a value share a line of about 48 characters.
        room = 44 - len(row.value)
        name = row.name if len(row.name) <= room else row.name[: room - 1] + "…"
        titled(_write(svg, (0, top + 11), name, "name"), row.name)
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
    """Return the next number whose half is easily read too."""
    if value <= 2:  # noqa: PLR2004 - counts: half of two is one
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


def _write(svg: ET.Element, at: tuple[float, float], text: str, style: str) -> ET.Element:
    place = {"x": f"{at[0]:.1f}", "y": f"{at[1]:.1f}", "class": style}
    element = ET.SubElement(svg, "text", place)
    element.text = text
    return element


def titled(element: ET.Element, text: str) -> None:
    """Let an element say something to who points at it, or hears it."""
    ET.SubElement(element, "title").text = text


def markup_of(svg: ET.Element) -> Markup:
    """Return a drawing as markup."""
    return Markup(ET.tostring(svg, encoding="unicode"))  # noqa: S704 - the writer has escaped it
