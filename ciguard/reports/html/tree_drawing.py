"""Derivation trees as inline SVG: one row per block, and one sign per program.

The shape of a sign shows the outcome of its program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from ciguard.domain.lineage import NodeOutcome
from ciguard.reports.html.charts import add_title, markup_of
from ciguard.reports.wording import publishable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from markupsafe import Markup

    from ciguard.reports.html.tree_layout import Sign, TreeLayout

WORDS = {
    NodeOutcome.RAN: "ran, as expected",
    NodeOutcome.REFUSED: "was rejected, as expected",
    NodeOutcome.FAILED: "failed, although it is legal",
    NodeOutcome.ACCEPTED: "was accepted, although it is forbidden",
}
"""Outcome of a program → its description."""
_SLOT = 24
"""Distance between neighbouring signs of a row."""
_ROW = 48
"""Distance between rows."""
_EDGE = 18
"""Distance between the outermost signs and the edge of the drawing."""
_SIZE = 6.5
"""Distance from the centre of a sign to its corners."""
_RING = 11.0
"""Radius of the ring around a finding."""
_GUTTER = 96
"""Width of the column with the names of blocks."""
_MAX_NAME = 14
"""Maximum number of characters of a block's name in this column."""
_TIMES = "\N{MULTIPLICATION SIGN}"
_MAX_STEP = 160


def drawing(tree_layout: TreeLayout, linked_nodes: Collection[str], *, label: str) -> Markup:
    """Return the drawing of a tree.

    Args:
        tree_layout: the layout of the tree.
        linked_nodes: the names of the nodes with a diff on the page; their signs link to it.
        label: the text alternative of the drawing.
    """
    # The role `img` would hide the links in the drawing from screen readers.
    svg = _svg(_width(tree_layout), _height(tree_layout), {"role": "group", "aria-label": label})
    for style, path in _edges(tree_layout).items():
        ET.SubElement(svg, "path", {"d": path, "class": style})
    for sign in tree_layout.root.walk():
        _draw(svg, sign, linked_nodes)
    return markup_of(svg)


def gutter(tree_layout: TreeLayout, blocks: Mapping[int, str]) -> Markup:
    """Return a drawing of the column with the name of each row's block.

    Args:
        tree_layout: the layout of the tree.
        blocks: number of a row, from 1 on → name of its block.
    """
    svg = _svg(_GUTTER, _height(tree_layout), {"aria-hidden": "true"})
    for row in range(tree_layout.depth + 1):
        name = publishable(blocks.get(row, "") if row else "template", limit=60)
        cut = name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"
        attributes = {"x": "0", "y": f"{_y(row) + 4:g}", "class": "tick"}
        element = ET.SubElement(svg, "text", attributes)
        element.text = cut
        add_title(element, name)
    return markup_of(svg)


def single_sign(outcome: NodeOutcome | None, *, is_finding: bool = False) -> Markup:
    """Return a drawing of one sign, for a legend or a list.

    Args:
        outcome: outcome of the program; None for the template.
        is_finding: True to draw the ring of a finding.
    """
    middle = _RING + 1.5
    svg = _svg(2 * middle, 2 * middle, {"aria-hidden": "true"})
    group = ET.SubElement(svg, "g", {"class": _style(outcome, is_finding=is_finding)})
    _shape(group, (middle, middle), outcome, is_finding=is_finding)
    return markup_of(svg)


def _svg(width: float, height: float, more: Mapping[str, str]) -> ET.Element:
    size = {"width": f"{width:g}", "height": f"{height:g}"}
    box = {"viewBox": f"0 0 {width:g} {height:g}", "class": "tree-drawing"}
    return ET.Element("svg", size | box | dict(more))


def _width(tree_layout: TreeLayout) -> float:
    return 2 * _EDGE + _SLOT * (tree_layout.width - 1)


def _height(tree_layout: TreeLayout) -> float:
    return _y(tree_layout.depth) + _EDGE + 8


def _x(sign: Sign) -> float:
    return _EDGE + _SLOT * sign.x


def _y(row: int) -> float:
    return _EDGE + _ROW * row


def _edges(tree_layout: TreeLayout) -> dict[str, str]:
    """Return the SVG path of all edges of each class that occurs.

    The classes are plain edges, edges that lead to a finding, and edges with a gap, where nodes in
    between are unknown.
    """
    paths: dict[str, list[str]] = {"edge": [], "edge cut-off": [], "edge marked": []}
    on_path = _signs_on_path(tree_layout.root)
    for sign in tree_layout.root.walk():
        for child in sign.children:
            left, right, top, bottom = _x(sign), _x(child), _y(sign.depth), _y(child.depth)
            middle = bottom - _ROW / 2
            curve = (
                f"M{left:g} {top:g}V{top + 10:g}"
                f"C{left:g} {middle:g} {right:g} {middle:g} {right:g} {bottom:g}"
            )
            style = "edge marked" if id(child) in on_path else "edge"
            paths["edge cut-off" if child.is_cut_off else style].append(curve)
    return {style: "".join(curves) for style, curves in paths.items() if curves}


def _signs_on_path(root: Sign) -> set[int]:
    """Return the `id()` of each sign that is a finding or leads to one."""
    on_path: set[int] = set()

    def visit(sign: Sign) -> bool:
        leads = [visit(child) for child in sign.children]
        if any(leads) or (sign.node is not None and sign.node.bucket is not None):
            on_path.add(id(sign))
            return True
        return False

    visit(root)
    return on_path


def _draw(svg: ET.Element, sign: Sign, linked_nodes: Collection[str]) -> None:
    """Draw a sign, which is a link if its node has a diff on the page."""
    node = sign.node
    is_finding = node is not None and node.bucket is not None
    outcome = node.outcome if node is not None else sign.outcome
    attributes = {"class": _style(outcome, is_finding=is_finding)}
    is_link = node is not None and node.node in linked_nodes
    if node is not None and is_link:
        label = f"{_title(sign)} Show its difference from its parent."
        attributes |= {"href": f"#derived-{node.node}", "aria-label": label}
    group = ET.SubElement(svg, "a" if is_link else "g", attributes)
    add_title(group, _title(sign))
    centre = (_x(sign), _y(sign.depth))
    x, y = centre
    if is_link:
        # For touch screens, the area that links has to be larger than the sign.
        circle = {"cx": f"{x:g}", "cy": f"{y:g}", "r": f"{_SLOT / 2:g}", "class": "hit"}
        ET.SubElement(group, "circle", circle)
    if sign.depth and sign.node is None and outcome is None:
        _dots(group, centre)
    else:
        _shape(group, centre, outcome, is_finding=is_finding)
    if sign.count > 1:
        text = {"x": f"{x:g}", "y": f"{y + 19:g}", "class": "many"}
        ET.SubElement(group, "text", text).text = f"{_TIMES}{sign.count:,}"


def _title(sign: Sign) -> str:
    """Return the tooltip of a sign."""
    if sign.depth == 0:
        return "The template: the seed without hidden layers."
    if sign.node is None:
        outcome = WORDS[sign.outcome] if sign.outcome else "none leads to a marked program"
        return f"{sign.count:,} programs: {outcome}."
    step = publishable(sign.node.step, limit=_MAX_STEP)
    finding = " A finding." if sign.node.bucket is not None else ""
    return f"{step}: {WORDS[sign.node.outcome]}.{finding}"


def _style(outcome: NodeOutcome | None, *, is_finding: bool) -> str:
    """Return the classes of a sign in the style sheet."""
    return f"sign {outcome.value if outcome else 'rest'}{' finding' if is_finding else ''}"


def _shape(
    group: ET.Element, centre: tuple[float, float], outcome: NodeOutcome | None, *, is_finding: bool
) -> None:
    """Draw a sign whose shape shows the outcome, for readers who cannot distinguish colours."""
    x, y = centre
    size = _SIZE
    match outcome:
        case NodeOutcome.RAN | NodeOutcome.REFUSED:
            _circle(group, centre, size - 0.5)
        case NodeOutcome.FAILED:
            far = size + 1
            _polygon(group, (x, y - far), (x + far, y), (x, y + far), (x - far, y))
        case NodeOutcome.ACCEPTED:
            _polygon(group, (x, y - size), (x + size, y + size - 1), (x - size, y + size - 1))
        case None:
            _polygon(group, (x - 6, y - 6), (x + 6, y - 6), (x + 6, y + 6), (x - 6, y + 6))
    if is_finding:
        _circle(group, centre, _RING, "ring")


def _dots(group: ET.Element, centre: tuple[float, float]) -> None:
    """Draw three dots, the sign for several nodes with different outcomes."""
    x, y = centre
    for shift in (-6.0, 0.0, 6.0):
        _circle(group, (x + shift, y), 2)


def _circle(group: ET.Element, centre: tuple[float, float], radius: float, style: str = "") -> None:
    x, y = centre
    attributes = {"cx": f"{x:g}", "cy": f"{y:g}", "r": f"{radius:g}"}
    ET.SubElement(group, "circle", attributes | ({"class": style} if style else {}))


def _polygon(group: ET.Element, *corners: tuple[float, float]) -> None:
    points = " ".join(f"{x:g},{y:g}" for x, y in corners)
    ET.SubElement(group, "polygon", {"points": points})
