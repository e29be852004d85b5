"""Level `code` as campaigns use it."""

from __future__ import annotations

import ast
import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from ciguard.campaign import LevelDefaults, digest_of_apis
from ciguard.domain.intent import Intent
from ciguard.domain.lineage import NodeOutcome
from ciguard.domain.programs import ProgramCase, locate_message
from ciguard.errors import ConfigurationError
from ciguard.levels import select_layers
from ciguard.levels.code.derivation import ACCEPTED, DERIVATION, DerivationOracle
from ciguard.levels.code.dialects import libraries_with_programs
from ciguard.levels.code.growing import programs_of
from ciguard.levels.code.growth import GROWTH, GrowthOracle
from ciguard.levels.code.origin import origin_rows
from ciguard.levels.code.program_runs import compare_programs, has_large_number, program_evidence
from ciguard.levels.code.script import program_script
from ciguard.levels.code.seeding import (
    MIN_TREES,
    check_programs,
    code_level,
    programs_of_other_libraries,
    refuse_without_library,
    seed_programs,
)
from ciguard.levels.code.settings import BREADTH, ENCODER, MUTATIONS
from ciguard.levels.code.simplifying import simpler_programs
from ciguard.oracles import ORACLES
from ciguard.triage import PresentationDefaults, TreeOrigin, program_diff

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from ciguard.campaign import ExecutedBatch, Stream, StreamFactory
    from ciguard.config import Config
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Evidence, Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.comparing import Difference, InputPrecision
    from ciguard.triage import DiffLine, EnvironmentHint


class CodeSpec(LevelDefaults, PresentationDefaults[ProgramCase]):
    """Level `code`: model programs, split into blocks and rebuilt with mutated blocks (MoCo)."""

    name: ClassVar[str] = "code"
    needs_eager_target: ClassVar[bool] = True
    termination_invariant: ClassVar[str] = (
        "A program that trains a small model on a few samples terminates"
    )

    def check(self, config: Config) -> None:
        """Raise an error if no target's library has seed programs, or a seed program is unknown."""
        check_programs(config)

    def streams(self, factory: StreamFactory) -> Generator[Event, None, list[Stream]]:
        """Return a stream for each library with seed programs.

        Each shard grows derivation trees for its own part of the seed programs.

        Raises:
            ConfigurationError: if no target has seed programs, or no seed program can be split
                into blocks.
        """
        config = factory.config
        refuse_without_library(factory.groups)
        yield from programs_of_other_libraries(config, factory.groups)
        streams = []
        for group in factory.groups.values():
            if group.library not in libraries_with_programs() or not group.running_eagerly:
                continue
            shard_programs = config.shard.part((yield from seed_programs(config, group.library)))
            if not shard_programs:
                continue
            texts = "\n".join(program.source for program in shard_programs)
            kind = (
                f"{self.name}, {config[MUTATIONS]} mutations, breadth {config[BREADTH]}, "
                f"{config[ENCODER]}, {MIN_TREES} trees"  # feedback identifies trees by number
            )
            digest = hashlib.sha256(texts.encode()).hexdigest()
            selected = select_layers(group.records(), config.api, config.exclude)
            stream = factory.stream(
                code_level(group, config, shard_programs),
                group,
                kind=f"{kind}: {digest}",
                chosen=digest_of_apis(selected),
            )
            stream.is_whole = stream.batches.avoids_crashes = True
            streams.append(stream)
        if not streams and factory.is_any_running:
            msg = "programs: no seed program could be split into blocks; see the warnings above."
            raise ConfigurationError(msg)
        return streams

    def events_of(self, executed: ExecutedBatch) -> Iterator[Event]:
        """Yield an event with the result of each whole program, a node of a derivation tree."""
        return programs_of(executed)

    def script(self, finding: Finding, hint: EnvironmentHint) -> str:
        """Return the standalone script that shows the finding of a program."""
        return program_script(finding, hint)

    def mark(self, finding: Finding) -> str:
        """Return the text that the script prints for the defect.

        It is `ACCEPTED` for an accepted argument, and the exception of a program that one target
        rejects. For other findings it is empty.
        """
        if finding.kind == ACCEPTED:
            return "ACCEPTED"
        return finding.detail if finding.kind == "refused" else ""

    def variants(self, case: ProgramCase) -> Iterator[ProgramCase]:
        """Yield simpler cases: the block alone, the program alone, programs with less training."""
        return simpler_programs(case)

    def subject(self, case: ProgramCase, api: str) -> str:
        """Return the subject of a title, such as `One program with torch.nn.ReLU`."""
        return f"One {case.noun} with {api}"

    def origin_rows(self, case: ProgramCase, named: Callable[[str], str]) -> list[tuple[str, str]]:
        """Return rows of a table: the block, the mutation, and the seed with earlier mutations."""
        return origin_rows(case, named)

    def derivation(self, case: ProgramCase, *, context: int, most: int) -> list[DiffLine]:
        """Return the lines of a diff from the parent program to this one; empty for a seed."""
        ancestry = case.ancestry
        if not ancestry.parent:
            return []
        line = ancestry.path[-1].line if ancestry.path else 0
        after = ancestry.derived or case.source
        return program_diff(ancestry.parent, after, line=line, context=context, max_lines=most)

    def tree_origin(self, case: ProgramCase) -> TreeOrigin | None:
        """Return the program's node of a derivation tree; None for a seed."""
        ancestry = case.ancestry
        if not ancestry.path:
            return None
        return TreeOrigin(
            ancestry=ancestry,
            text=ancestry.derived or case.source,
            ended=NodeOutcome.ACCEPTED if case.intent is Intent.VIOLATING else NodeOutcome.FAILED,
            is_alone=case.cycles > 1 or not (case.block or ancestry.parent),
        )

    def texts_of(self, case: ProgramCase) -> tuple[str, ...]:
        """Return the texts that mutations chose as parameter values, without names of APIs."""
        values = [step.after for step in case.ancestry.path if step.parameter]
        return tuple(dict.fromkeys(text for value in values if (text := _string_of(value))))

    def compare(
        self, case: ProgramCase, reference: Outcome, other: Outcome, inputs: InputPrecision
    ) -> Difference | None:
        """Return how outcomes, shapes or types differ; None if they agree.

        Values are not compared, since training amplifies small differences.
        """
        del case, inputs
        return compare_programs(reference, other)

    def evidence(
        self, case: ProgramCase, difference: Difference, sides: Mapping[str, Outcome]
    ) -> Evidence:
        """Return the outcomes of the program on two targets, or the results that differ."""
        return program_evidence(case, difference, sides)

    def is_forbidden(self, case: ProgramCase) -> bool:
        """Return whether the program deliberately violates the library's documentation."""
        return case.intent is Intent.VIOLATING

    def is_large_request(self, case: ProgramCase) -> bool:
        """Return whether a mutation inserted a large number."""
        return has_large_number(case)

    def is_repeated(self, case: ProgramCase) -> bool:
        """Return whether the case builds and trains the program more than once."""
        return case.cycles > 1

    def without_place(self, message: str) -> str:
        """Return an exception's message without the line number of the program."""
        return locate_message(message).message

    def readable(self, case: ProgramCase) -> ProgramCase:
        """Return the case without the stored programs of its ancestry."""
        return replace(case, ancestry=replace(case.ancestry, parent="", derived=""))


def _string_of(value: str) -> str:
    """Return the string that a literal denotes; empty for any other expression."""
    try:
        literal = ast.literal_eval(value)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return literal if isinstance(literal, str) else ""


LEVEL = CodeSpec()
ORACLES.register(DERIVATION, DerivationOracle())
ORACLES.register(GROWTH, GrowthOracle())
