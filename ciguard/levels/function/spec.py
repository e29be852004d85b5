"""Level `function` for campaigns: its checks, batches, oracle and scripts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from ciguard.campaign import CalledFunctions, LevelDefaults, WorkerNeeds
from ciguard.domain.case import as_kind
from ciguard.domain.function_calls import FunctionCase, locate_failure
from ciguard.domain.outcomes import Errored
from ciguard.errors import ConfigurationError
from ciguard.levels import focused_level
from ciguard.levels.function.files import LEVEL as NAME
from ciguard.levels.function.files import check_functions, needs_of, programs_in
from ciguard.levels.function.level import FunctionLevel
from ciguard.levels.function.oracle import FUNCTION, FunctionOracle
from ciguard.levels.function.script import function_script, mark_of
from ciguard.levels.function.seeding import collected_functions, digest_of
from ciguard.levels.function.settings import FUNCTIONS, HOME, PATH
from ciguard.levels.function.simpler import moved_call, simpler_calls
from ciguard.oracles import ORACLES
from ciguard.triage import PresentationDefaults

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from ciguard.campaign import Stream, StreamFactory
    from ciguard.config import Config
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Finding
    from ciguard.libraries import Library
    from ciguard.oracles import Perturbation
    from ciguard.triage import EnvironmentHint


class FunctionLevelSpec(LevelDefaults, PresentationDefaults[FunctionCase]):
    """Level that calls the user's annotated functions (aNNoTest)."""

    name: ClassVar[str] = NAME
    needs_eager_target: ClassVar[bool] = True
    uses_catalogue: ClassVar[bool] = False

    def check(self, config: Config) -> None:
        """Check that the configured files exist and have annotated functions."""
        check_functions(config)

    def needs(self, config: Config, library: Library) -> WorkerNeeds:
        """Return the folders and settings that workers need to import the programs."""
        del library
        programs = programs_in(config)
        return needs_of(programs, config[PATH], config[HOME]) if programs else WorkerNeeds()

    def streams(self, factory: StreamFactory) -> Generator[Event, None, list[Stream]]:
        """Return a stream per library; shards call disjoint functions.

        Raises:
            ConfigurationError: if annotations are invalid, or no function can be tested.
            WorkerStartError: if the server of a target has stopped.
        """
        config = factory.config
        streams = []
        for group in factory.groups.values():
            if not group.running_eagerly:
                continue
            collected = yield from collected_functions(group, config, factory.dispatcher)
            shard_functions = config.shard.part(collected.functions)
            if not shard_functions:
                continue
            seed = config.shard.seed(config.seed)
            level, turns = focused_level(FunctionLevel, shard_functions, seed, focus=config.focus)
            stream = factory.stream(
                level, group, kind=f"{self.name}: {digest_of(shard_functions)}", apis=turns
            )
            stream.is_whole = True
            names = tuple(function.api for function in shard_functions)
            stream.called = CalledFunctions(names, collected.left_out)
            streams.append(stream)
        if not streams and factory.is_any_running:
            msg = "functions: no function can be tested on these targets; see the warnings above."
            raise ConfigurationError(msg)
        return streams

    def settings_for(self, finding: Finding, config: Config) -> Config:
        """Return settings that include the finding's program."""
        case = finding.case
        config = replace(config, levels=(self.name,))
        return (
            config.with_value(FUNCTIONS, (case.file,)) if isinstance(case, FunctionCase) else config
        )

    def script(self, finding: Finding, hint: EnvironmentHint) -> str:
        """Return a script that imports the program, makes the call and shows the failure."""
        return function_script(finding, hint)

    def mark(self, finding: Finding) -> str:
        """Return the text that the finding's script prints if the defect shows; else empty."""
        return mark_of(finding)

    def claim(self, finding: Finding) -> tuple[str, str] | None:
        """Return a sentence on the failure, without its subject, and the observed failure.

        The result is None for a difference of targets, and for a crash or a hang.
        """
        outcomes = [finding.outcomes[name] for name in finding.targets if name in finding.outcomes]
        if not outcomes or not isinstance(outcomes[-1], Errored):
            return None
        is_called = as_kind(finding.case, FunctionCase).call
        claim = "fails on what its annotations allow" if is_called else "is not imported"
        return claim, finding.evidence.observed

    def tested_part(self, library: str) -> str:
        """Return `annotated functions`, whichever library they use."""
        del library
        return "annotated functions"

    def variants(self, case: FunctionCase) -> Iterator[FunctionCase]:
        """Yield variants of a call with simpler arguments that conform to the annotations."""
        return simpler_calls(case)

    def perturb_inputs(self, case: FunctionCase, seed: int, move: Perturbation) -> FunctionCase:
        """Return a call in which `move` has slightly changed the numbers in the arguments."""
        del seed
        return moved_call(case, move)

    def without_place(self, message: str) -> str:
        """Return a message without the file and line of its error."""
        return locate_failure(message).message


LEVEL = FunctionLevelSpec()
ORACLES.register(FUNCTION, FunctionOracle())
