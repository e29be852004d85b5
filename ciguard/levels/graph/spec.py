"""Level `graph` as campaigns use it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from ciguard.campaign import LevelDefaults, digest_of_apis
from ciguard.domain import dtypes
from ciguard.domain.graphs import GraphCase
from ciguard.errors import ConfigurationError
from ciguard.levels import select
from ciguard.levels.graph.defects import output_differences
from ciguard.levels.graph.failures import without_step_number
from ciguard.levels.graph.level import GraphLevel, GraphSizes
from ciguard.levels.graph.localising import Localiser
from ciguard.levels.graph.script import graph_script
from ciguard.levels.graph.settings import CALLS, UNIT
from ciguard.levels.graph.simplifying import perturbed_graph, simpler_graphs
from ciguard.libraries import LIBRARIES
from ciguard.oracles import UNSTABLE_TAGS
from ciguard.oracles.comparing import input_precision, outcome_difference
from ciguard.oracles.relations import exemption_of
from ciguard.targets import EAGER, TF32
from ciguard.triage import PresentationDefaults
from ciguard.writing import writer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from ciguard.campaign import Group, Stream, StreamFactory
    from ciguard.config import Config
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.records import ApiRecord
    from ciguard.execution import Dispatcher
    from ciguard.libraries import Mode, Operations
    from ciguard.oracles import Perturbation
    from ciguard.oracles.comparing import Difference, InputPrecision
    from ciguard.triage import EnvironmentHint

_GRADIENT_SHARE = 0.3
"""Share of the units whose gradients are compared, too."""
_HARD_SHARE = 0.35
"""Share of the batches of probes that are single calls with hard values."""
_GROWING_SHARE = 0.25
"""Share of the batches of graphs that run with tensors of two sizes."""
_MAPPED_SHARE = 0.2
"""Share of the batches of graphs that a compiler computes for two examples at once."""
_AUTOCAST_SHARE = 0.1
"""Share of the batches of graphs that run with autocast."""
_LAYOUT_SHARE = 0.15
"""Share of the batches of graphs whose tensors are not contiguous."""
_COPY_SHARE = 0.5
"""Share of the units that return copies of their results."""
_OPTION_SHARE = 0.25
"""Share of the units that are compiled with other options than the compiler's own."""
_EXEMPTIONS = ("differential", "between modes", "refused by modes")
"""Exemptions of APIs that graphs do not call, since their results may differ."""


class GraphSpec(LevelDefaults, PresentationDefaults[GraphCase]):
    """Level `graph`: graphs of several calls, compiled and compared with eager execution."""

    name: ClassVar[str] = "graph"
    needs_eager_target: ClassVar[bool] = True
    termination_invariant: ClassVar[str] = (
        "A graph of a few calls on small tensors is compiled and returns within minutes"
    )

    def streams(self, factory: StreamFactory) -> Generator[Event, None, list[Stream]]:
        """Return a stream for each library and mode; each shard composes other graphs.

        Raises:
            ConfigurationError: if the globs match no API of any library.
        """
        yield from ()
        config = factory.config
        groups = [group for group in factory.groups.values() if group.running_eagerly]
        streams = [
            self._stream(group, mode, records, factory)
            for group in groups
            if group.has_api and (records := _usable(group, config))
            for mode in _compared_modes(group)
        ]
        if not streams and groups:
            msg = (
                f"level graph: api = {', '.join(config.api)!r} matches no API that graphs can "
                "call. Graphs need functions, layers or methods of tensors that are repeatable."
            )
            raise ConfigurationError(msg)
        return streams

    def _stream(
        self, group: Group, mode: str, records: list[ApiRecord], factory: StreamFactory
    ) -> Stream:
        config = factory.config
        writer = writer_of(group.library)
        sizes = GraphSizes(
            calls=config[CALLS],
            unit=config[UNIT],
            is_slow=_compiles_calls(group),
            gradient_share=_GRADIENT_SHARE if writer.gradients else 0.0,
            growing_share=_GROWING_SHARE if writer.larger else 0.0,
            mapped_share=_MAPPED_SHARE if writer.mapped and mode != EAGER else 0.0,
            autocast_share=_AUTOCAST_SHARE if writer.autocast else 0.0,
            layout_share=_LAYOUT_SHARE,
            layouts=tuple(writer.layouts),
            overlapping=writer.overlapping,
            copy_share=_COPY_SHARE if writer.copied else 0.0,
            option_share=_OPTION_SHARE,
            options=_options(group, mode),
            hard_share=_HARD_SHARE,
            keeps_special=_keeps_special_numbers(group, mode),
            subscripts=_operations(group).subscripts,
        )
        level = GraphLevel(records, config.shard.seed(config.seed), sizes)
        kind = f"{self.name} of {sizes.calls} calls, {sizes.unit} at once, mode {mode}"
        stream = factory.stream(level, group, kind=kind, chosen=digest_of_apis(records))
        stream.mode = mode
        stream.batches.avoids_crashes = True
        return stream

    def investigator(self, dispatcher: Dispatcher) -> Localiser:
        """Return the localiser, which finds the calls that cause a difference."""
        return Localiser(dispatcher)

    def script(self, finding: Finding, hint: EnvironmentHint) -> str:
        """Return a script that runs the graph and shows the defect."""
        return graph_script(finding, hint)

    def variants(self, case: GraphCase) -> Iterator[GraphCase]:
        """Yield graphs with fewer calls, or with simpler arguments."""
        return simpler_graphs(case)

    def perturb_inputs(self, case: GraphCase, seed: int, move: Perturbation) -> GraphCase:
        """Return the graph with perturbed numbers in its tensors."""
        del seed
        return perturbed_graph(case, move)

    def inputs(self, case: GraphCase) -> InputPrecision:
        """Return the precision of the graph's inputs, or that of autocast if it is lower."""
        inputs = input_precision(case)
        epsilon = dtypes.EPSILON.get(case.autocast, 0.0)
        return replace(inputs, epsilon=max(inputs.epsilon, epsilon))

    def compare(
        self, case: GraphCase, reference: Outcome, other: Outcome, inputs: InputPrecision
    ) -> Difference | None:
        """Return how the outcomes differ, with the stage of the compiler if it is known."""
        difference = outcome_difference(reference, other, inputs)
        if difference is None:
            differences = output_differences(case, reference, other, inputs)
            difference = next((found for _, found in differences), None)
        if difference is None or not case.stage:
            return difference
        detail = ": ".join(filter(None, [case.stage, difference.detail]))
        return replace(difference, detail=detail)

    def subject(self, case: GraphCase, api: str) -> str:
        """Return the subject of a title, such as `One graph with torch.add`."""
        return f"One {case.noun} with {api}"

    def origin_rows(self, case: GraphCase, named: Callable[[str], str]) -> list[tuple[str, str]]:
        """Return rows of a table: the calls, and the stage of the compiler at fault."""
        rows = [("calls", named(case.label))]
        rows += [("autocast", named(case.autocast))] if case.autocast else []
        rows += [("inputs in memory", named(case.layout))] if case.layout else []
        rows += [("options of the compiler", named(case.options))] if case.options else []
        rows += [("inputs", "two examples, computed at once")] if case.is_mapped else []
        return [*rows, ("stage of the compiler", named(case.stage))] if case.stage else rows

    def without_place(self, message: str) -> str:
        """Return an exception's message without the number of the step."""
        return without_step_number(message)


def _usable(group: Group, config: Config) -> list[ApiRecord]:
    """Return the selected APIs with repeatable results that every running target has."""
    selected = select(group.records(), config.api, config.exclude, allow=config.allow)
    running = group.names
    return [record for record in comparable(selected) if group.targets_with(record.api) == running]


def comparable(records: Iterable[ApiRecord]) -> list[ApiRecord]:
    """Return the APIs whose results are repeatable and must be equal in all modes."""
    return [
        record
        for record in records
        if not record.tags & UNSTABLE_TAGS
        and not any(exemption_of(record.api, name) for name in _EXEMPTIONS)
    ]


def _compiles_calls(group: Group) -> bool:
    return any(member.environment.library.compiles_calls for member in group.running)


def _operations(group: Group) -> Operations:
    return LIBRARIES.get(group.library).operations


def _described(group: Group, mode: str) -> list[Mode]:
    """Return what the libraries of a group say about a mode."""
    modes = [member.environment.library.modes.get(mode) for member in group.running]
    return [found for found in modes if found is not None]


def _keeps_special_numbers(group: Group, mode: str) -> bool:
    return any(found.keeps_special_numbers for found in _described(group, mode))


def _options(group: Group, mode: str) -> tuple[str, ...]:
    return next((found.options for found in _described(group, mode)), ())


def _compared_modes(group: Group) -> list[str]:
    """Return the modes that compile; eager execution itself if there is none."""
    return [mode for mode in group.modes if mode not in {EAGER, TF32}] or [EAGER]


LEVEL = GraphSpec()
