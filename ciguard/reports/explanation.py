"""Text of `ciguard api explain`: the parameters of one API, their constraints and evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ciguard.domain.records import ParameterKind
from ciguard.domain.text import visible
from ciguard.values import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from ciguard.domain.records import ParameterRecord
    from ciguard.knowledge import Api, ConstraintEvidence, Parameter, Refinement

_TEXT_LIMIT = 160
_DOC_LIMIT = 400
_HIDDEN_TEXT = "\nsome documentation text is not stored with ciguard: --target shows it"
_STARS = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}
_UNKNOWN_WIDTH = 10_000
"""Width of a stream that is not a terminal: nothing is wrapped, so that lines can be searched."""


def write_explanation(
    stream: TextIO, api: Api, *, origin: str, learned: Sequence[Refinement] | None = None
) -> None:
    """Write what is known about an API, on a terminal in colours, and otherwise as plain lines.

    Args:
        stream: the stream to write to.
        api: the API to explain.
        origin: the source of the knowledge, for the first line.
        learned: changes that campaigns made to its constraints; None omits their section.
    """
    console = Console(file=stream, highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        console = Console(
            file=stream, highlight=False, emoji=False, markup=False, width=_UNKNOWN_WIDTH
        )
    for block in (*_blocks(api, origin), *_refinements(learned)):
        # rich pads the cells of a table with spaces, which are removed from lines for a pipe.
        if console.is_terminal:
            console.print(block)
        else:
            with console.capture() as captured:
                console.print(block)
            lines = captured.get().split("\n")
            stream.write("\n".join(line.rstrip() for line in lines))


def _blocks(api: Api, origin: str) -> Iterator[RenderableType]:
    """Yield the parts of the text about an API, from its name to its parameters."""
    record = api.record
    facts = [record.kind.value, visible(record.operator), origin]
    heading = Text(visible(record.api), style="bold")
    heading.append(f"   {' · '.join(filter(None, facts))}", style="dim")
    yield heading
    if record.aliases:
        yield Text(f"also {', '.join(map(visible, record.aliases))}", style="dim")
    if record.doc:
        yield Text(visible(record.doc, limit=_DOC_LIMIT))
    if record.tags:
        yield Text(f"tags: {', '.join(sorted(record.tags))}", style="yellow")
    parameter_records = {item.name: item for item in record.parameters}
    for parameter in api.parameters:
        yield from _parameter(parameter, parameter_records.get(parameter.name))
    if not api.parameters:
        yield Text("\nno known parameters: it is called without arguments", style="yellow")
    if api.inputs:
        yield Text("\nparameters of calls of the constructed object", style="bold")
        for parameter in api.inputs:
            yield from _parameter(parameter, None)
    if any(item.digest for p in api.parameters for item in p.evidence):
        yield Text(_HIDDEN_TEXT, style="dim")


def _refinements(learned: Sequence[Refinement] | None) -> Iterator[RenderableType]:
    """Yield the changes that campaigns made to the constraints of the API."""
    if learned is None:
        return
    yield Text(
        "\nlearned from observed calls" if learned else "\nnothing learned from observed calls"
    )
    for refinement in learned:
        name = visible(refinement.parameter.removeprefix("input:"))
        yield Text(f"  {name}: {visible(refinement.change, limit=_TEXT_LIMIT)}", style="cyan")
        evidence = visible(refinement.evidence, limit=_TEXT_LIMIT)
        yield Text(f"    {refinement.aspect}: {evidence}", style="dim")


def _parameter(parameter: Parameter, record: ParameterRecord | None) -> Iterator[RenderableType]:
    """Yield name, constraint and evidence of one parameter."""
    name = parameter.name.removeprefix("input:")
    line = Text("\n")
    line.append(f"{_STARS.get(parameter.kind, '')}{visible(name)}", style="bold cyan")
    line.append(f"  {_requirement(parameter, record)}", style="dim")
    yield line
    words = visible(in_words(parameter.constraint), limit=2_000)
    if not parameter.is_generated:
        words = "never passed: ciguard cannot generate a value for it"
    yield Padding(Text(words, style="green"), (0, 0, 0, 4))
    if parameter.evidence:
        yield Padding(_evidence_table(parameter), (0, 0, 0, 4))


def _requirement(parameter: Parameter, record: ParameterRecord | None) -> str:
    """Return whether a parameter is required, and its default value, as text."""
    kind = ", keyword-only" if parameter.kind is ParameterKind.KEYWORD_ONLY else ""
    if parameter.required:
        return f"required{kind}"
    default = "" if record is None or record.default is None else str(record.default)
    return f"optional{kind}" + (f", default {visible(default)}" if default else "")


def _evidence_table(parameter: Parameter) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for item in parameter.evidence:
        grid.add_row(
            Text(item.aspect, style="dim"),
            Text(item.source.name.lower().replace("_", " "), style="magenta"),
            _evidence_text(item),
        )
    return grid


def _evidence_text(item: ConstraintEvidence) -> Text:
    text = Text(f"“{visible(item.text, limit=_TEXT_LIMIT)}”" if item.text else "")
    if item.digest:
        text.append(f"text {visible(item.digest, limit=_TEXT_LIMIT)}")
    if item.rule:
        text.append(f"  by rule {visible(item.rule, limit=_TEXT_LIMIT)}", style="dim")
    return text
