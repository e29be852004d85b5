"""Derivation trees as inline SVG: one row per block, one sign per program, told apart by shape."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from ciguard.domain.lineage import NodeOutcome
from ciguard.reports.html.charts import markup_of, titled
from ciguard.reports.wording import publishable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from markupsafe import Markup

    from ciguard.reports.html.tree_layout import Sign, TreeLayout

WORDS = {
    NodeOutcome.RAN: "ran, as it should",
    NodeOutcome.REFUSED: "refused, as it should be",
    NodeOutcome.FAILED: "failed, though it should run",
    NodeOutcome.ACCEPTED: "accepted, though it is forbidden",
}
_SLOT = 24
_ROW = 48
_EDGE = 18
"""Between the outermost signs and the edge of the drawing."""
_SIZE = 6.5
_RING = 11.0
_GUTTER = 96
_MAX_NAME = 14
_TIMES = "\N{MULTIPLICATION SIGN}"
_MAX_STEP = 160


def drawing(shown: TreeLayout, opens: Collection[str], *, label: str) -> Markup:
    """Return a tree.

    Args:
        shown: the tree, laid out.
        opens: nodes that have a diff on the page, which their signs lead to.
        label: what the drawing says, for who cannot see it.
    """
    # A picture hides what is in it, and links must not be hidden.
    svg = _svg(_width(shown), _height(shown), {"role": "group", "aria-label": label})
    for style, path in _edges(shown).items():
        ET.SubElement(svg, "path", {"d": path, "class": style})
    for sign in shown.root.every():
        _draw(svg, sign, opens)
    return markup_of(svg)


def gutter(shown: TreeLayout, blocks: Mapping[int, str]) -> Markup:
    """Return the names of the blocks, each beside its row.

    Args:
        shown: the tree, laid out.
        blocks: name by row, from 1.
    """
    svg = _svg(_GUTTER, _height(shown), {"aria-hidden": "true"})
    for row in range(shown.depth + 1):
        name = publishable(blocks.get(row, "") if row else "template", limit=60)
        cut = name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"
        place = {"x": "0", "y": f"{_y(row) + 4:g}", "class": "tick"}
        element = ET.SubElement(svg, "text", place)
        element.text = cut
        titled(element, name)
    return markup_of(svg)


def sample(ended: NodeOutcome | None, *, is_finding: bool = False) -> Markup:
    """Return one sign alone, for a legend or a list; of the template where nothing ended."""
    middle = _RING + 1.5
    svg = _svg(2 * middle, 2 * middle, {"aria-hidden": "true"})
    group = ET.SubElement(svg, "g", {"class": _style(ended, is_finding=is_finding)})
    _shape(group, (middle, middle), ended, is_finding=is_finding)
    return markup_of(svg)


def _svg(width: float, height: float, more: Mapping[str, str]) -> ET.Element:
    size = {"width": f"{width:g}", "height": f"{height:g}"}
    box = {"viewBox": f"0 0 {width:g} {height:g}", "class": "tree-drawing"}
    return ET.Element("svg", size | box | dict(more))


def _width(shown: TreeLayout) -> float:
    return 2 * _EDGE + _SLOT * (shown.width - 1)


def _height(shown: TreeLayout) -> float:
    return _y(shown.depth) + _EDGE + 8


def _x(sign: Sign) -> float:
    return _EDGE + _SLOT * sign.x


def _y(row: int) -> float:
    return _EDGE + _ROW * row


def _edges(shown: TreeLayout) -> dict[str, str]:
    """Return three paths: to what ended well, to what is marked, over what is unknown."""
    paths: dict[str, list[str]] = {"edge": [], "edge cut-off": [], "edge marked": []}
    leads = _leading(shown.root)
    for sign in shown.root.every():
        for child in sign.children:
            left, right, top, below = _x(sign), _x(child), _y(sign.depth), _y(child.depth)
            middle = below - _ROW / 2
            drawn = (
                f"M{left:g} {top:g}V{top + 10:g}"
                f"C{left:g} {middle:g} {right:g} {middle:g} {right:g} {below:g}"
            )
            marked = "edge marked" if id(child) in leads else "edge"
            paths["edge cut-off" if child.is_cut_off else marked].append(drawn)
    return {style: "".join(drawn) for style, drawn in paths.items() if drawn}


def _leading(root: Sign) -> set[int]:
    """Return the signs that are findings or lead to one."""
    found: set[int] = set()

    def leads(sign: Sign) -> bool:
        below = [leads(child) for child in sign.children]
        if any(below) or (sign.node is not None and sign.node.bucket is not None):
            found.add(id(sign))
            return True
        return False

    leads(root)
    return found


def _draw(svg: ET.Element, sign: Sign, opens: Collection[str]) -> None:
    node = sign.node
    is_finding = node is not None and node.bucket is not None
    ended = node.ended if node is not None else sign.ended
    attributes = {"class": _style(ended, is_finding=is_finding)}
    is_link = node is not None and node.node in opens
    if node is not None and is_link:
        says = f"{_says(sign)} Show what it has otherwise than its parent."
        attributes |= {"href": f"#derived-{node.node}", "aria-label": says}
    group = ET.SubElement(svg, "a" if is_link else "g", attributes)
    titled(group, _says(sign))
    at = (_x(sign), _y(sign.depth))
    if is_link:
        # A finger needs more room than the sign has.
        circle = {"cx": f"{at[0]:g}", "cy": f"{at[1]:g}", "r": f"{_SLOT / 2:g}", "class": "hit"}
        ET.SubElement(group, "circle", circle)
    if sign.depth and sign.node is None and ended is None:
        _pill(group, at)
    else:
        _shape(group, at, ended, is_finding=is_finding)
    if sign.count > 1:
        text = {"x": f"{at[0]:g}", "y": f"{at[1] + 19:g}", "class": "many"}
        ET.SubElement(group, "text", text).text = f"{_TIMES}{sign.count:,}"


def _says(sign: Sign) -> str:
    if sign.depth == 0:
        return "The template: the seed without hidden layers."
    if sign.node is None:
        ended = WORDS[sign.ended] if sign.ended else "and nothing that is shown comes of them"
        return f"{sign.count:,} programs: {ended}."
    step = publishable(sign.node.step, limit=_MAX_STEP)
    finding = " A finding." if sign.node.bucket is not None else ""
    return f"{step}: {WORDS[sign.node.ended]}.{finding}"


def _style(ended: NodeOutcome | None, *, is_finding: bool) -> str:
    return f"sign {ended.value if ended else 'rest'}{' finding' if is_finding else ''}"


def _shape(
    group: ET.Element, at: tuple[float, float], ended: NodeOutcome | None, *, is_finding: bool
) -> None:
    """Draw a sign. Whoever sees no colours tells them apart by their forms."""
    x, y = at
    size = _SIZE
    match ended:
        case NodeOutcome.RAN | NodeOutcome.REFUSED:
            _circle(group, at, size - 0.5)
        case NodeOutcome.FAILED:
            far = size + 1
            _polygon(group, (x, y - far), (x + far, y), (x, y + far), (x - far, y))
        case NodeOutcome.ACCEPTED:
            _polygon(group, (x, y - size), (x + size, y + size - 1), (x - size, y + size - 1))
        case None:
            _polygon(group, (x - 6, y - 6), (x + 6, y - 6), (x + 6, y + 6), (x - 6, y + 6))
    if is_finding:
        _circle(group, at, _RING, "ring")


def _pill(group: ET.Element, at: tuple[float, float]) -> None:
    """Draw many nodes that ended differently: three dots."""
    for shift in (-6.0, 0.0, 6.0):
        _circle(group, (at[0] + shift, at[1]), 2)


def _circle(group: ET.Element, at: tuple[float, float], radius: float, style: str = "") -> None:
    place = {"cx": f"{at[0]:g}", "cy": f"{at[1]:g}", "r": f"{radius:g}"}
    ET.SubElement(group, "circle", place | ({"class": style} if style else {}))


def _polygon(group: ET.Element, *tips: tuple[float, float]) -> None:
    points = " ".join(f"{x:g},{y:g}" for x, y in tips)
    ET.SubElement(group, "polygon", {"points": points})
