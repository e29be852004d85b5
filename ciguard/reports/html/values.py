"""The table of drawn values, as the page shows it: a heat map of parameters by values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ciguard.domain.value_table import PARAMETER_KINDS, VALUE_KINDS
from ciguard.reports.html.charts import short_number

if TYPE_CHECKING:
    from ciguard.domain.value_table import ValueTable

_TONES = 5
"""Number of colour classes for the share of calls that passed, `share0` to `share4`."""
_MAX_GAPS = 12


def values_view(table: ValueTable | None) -> dict[str, Any] | None:
    """Return the template's variables about drawn values; None without any."""
    if table is None:
        return None
    present = {row for row, _ in (*table.drawn, *table.crashed)}
    rows = [row for row in PARAMETER_KINDS if row in present]
    gaps = [f"{column} for {row}" for row, column in table.gaps()]
    return {
        "calls": f"{table.calls:,}",
        "columns": [*VALUE_KINDS],
        "rows": [(row, [_cell(table, row, column) for column in VALUE_KINDS]) for row in rows],
        "gaps": gaps[:_MAX_GAPS],
        "more_gaps": max(0, len(gaps) - _MAX_GAPS),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """A cell of the heat map."""

    tone: str
    """Class in the style sheet: `share0` to `share4`, `gap` or `none`."""
    title: str
    """Description of the cell."""
    text: str = ""
    """Share of the calls that passed; `never` for a gap, and empty for an impossible value."""
    number: str = ""
    """Number of arguments."""
    marks: str = ""
    """Number of crashes."""


def _cell(table: ValueTable, row: str, column: str) -> _Cell:
    drawn, crashed = table.drawn[row, column], table.crashed[row, column]
    place = f"{column} for {row}"
    if row not in VALUE_KINDS[column]:
        return _Cell(tone="none", title=f"{place}: cannot stand there")
    crashes = f", {crashed:,} calls crashed" if crashed else ""
    marks = f"{short_number(crashed)} ✕" if crashed else ""
    if not drawn:
        title = f"{place}: never drawn in the sample{crashes}"
        return _Cell(tone="gap", text="never", marks=marks, title=title)
    share = table.passed[row, column] / drawn
    return _Cell(
        tone=f"share{min(_TONES - 1, int(share * _TONES))}",
        text=f"{share:.0%}",
        number=short_number(drawn),
        marks=marks,
        title=f"{place}: {drawn:,} drawn, {share:.0%} of the calls passed{crashes}",
    )
