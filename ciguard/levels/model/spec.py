"""Level `model` as campaigns use it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ciguard.campaign import LevelDefaults, WorkerNeeds, digest_of_apis
from ciguard.domain.models import ModelCase
from ciguard.levels import select_layers
from ciguard.levels.model.battery import battery
from ciguard.levels.model.isolation import Isolator
from ciguard.levels.model.layer_runs import (
    LayerRunOracle,
    changed_by_saving,
    inputs_of,
    nudged_run,
)
from ciguard.levels.model.level import REPEATS_WHERE_COMPILED, ModelLevel
from ciguard.levels.model.origin import checked_text, layer_origin, origin_text
from ciguard.levels.model.script import model_script
from ciguard.levels.model.seed_sources import FOLDERS
from ciguard.levels.model.seeding import (
    LIBRARY,
    check_models,
    refuse_without_keras,
    seed_models,
    seed_sources,
)
from ciguard.levels.model.settings import WIDTH
from ciguard.levels.model.simplifying import simpler_models
from ciguard.levels.model.universe import Universe
from ciguard.libraries import LIBRARIES
from ciguard.oracles import ORACLES
from ciguard.targets import readable_paths
from ciguard.triage import PresentationDefaults

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from ciguard.campaign import Group, Stream, StreamFactory
    from ciguard.config import Config
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Finding
    from ciguard.execution import Dispatcher, Output
    from ciguard.libraries import Library
    from ciguard.oracles import Perturbation
    from ciguard.oracles.comparing import InputPrecision
    from ciguard.triage import EnvironmentHint, LayerOrigin

_TIMEOUT_S = 60.0
"""Timeout of one run of a model, in seconds: a backend may compile each of hundreds of layers."""


class ModelSpec(LevelDefaults, PresentationDefaults[ModelCase]):
    """Level `model`: mutants of layer graphs, run on several targets and compared (LEMON)."""

    name: ClassVar[str] = "model"
    needs_eager_target: ClassVar[bool] = True
    compares_targets: ClassVar[bool] = False
    """False, since the level's own oracle takes the majority of the targets as the reference."""

    def check(self, config: Config) -> None:
        """Raise an error if no target is of Keras, or a seed model is unknown."""
        check_models(config)

    def needs(self, config: Config, library: Library) -> WorkerNeeds:
        """Return the folders that workers need for the seed models' weight files."""
        sources = seed_sources(config) if library.name == LIBRARY else ()
        folders = {
            name: str(path) for source in sources for name, path in source.weight_folders.items()
        }
        return WorkerNeeds(
            variables={FOLDERS: json.dumps(folders)} if folders else {},
            readable=readable_paths(
                (path for source in sources for path in source.readable), home=Path.home()
            ),
            writable=tuple(path for source in sources for path in source.writable),
        )

    def streams(self, factory: StreamFactory) -> Generator[Event, None, list[Stream]]:
        """Return one stream; each shard mutates its own part of the seed models.

        Raises:
            ConfigurationError: if no target is of Keras, or no seed model can be described.
            WorkerStartError: if the server of the target that describes the models has ended.
        """
        config = factory.config
        refuse_without_keras(factory.groups)
        group = factory.groups[LIBRARY]
        if not group.running_eagerly:
            return []
        models = yield from seed_models(group, config, factory.dispatcher)
        shard_models = config.shard.part(models)
        selected = select_layers(group.records(), config.api, config.exclude)
        level = ModelLevel(
            selected,
            config.shard.seed(config.seed),
            models=shard_models,
            battery=config.shard.part(battery(Universe.of(selected), config.seed)),
            repeat_probability=REPEATS_WHERE_COMPILED if _compiles(group) else 0.0,
        )
        names = "\n".join(model.name for model in shard_models)
        kind = f"{self.name} of {config[WIDTH]} % width: {names}"
        stream = factory.stream(level, group, kind=kind, chosen=digest_of_apis(selected))
        stream.is_whole, stream.limit_s = True, _TIMEOUT_S
        stream.batches.avoids_crashes = True
        return [stream]

    def investigator(self, dispatcher: Dispatcher) -> Isolator:
        """Return the isolator, which finds the layer that causes a disagreement."""
        return Isolator(dispatcher)

    def script(self, finding: Finding, hint: EnvironmentHint) -> str:
        """Return a script that runs the graph and shows the defect."""
        return model_script(finding, hint)

    def variants(self, case: ModelCase) -> Iterator[ModelCase]:
        """Yield runs of the layer with fewer rows, simpler data or fewer constructor arguments."""
        return simpler_models(case)

    def inputs(self, case: ModelCase) -> InputPrecision:
        """Return how precise the outputs of a run can be."""
        return inputs_of(case)

    def perturb_inputs(self, case: ModelCase, seed: int, move: Perturbation) -> ModelCase:
        """Return the run with data and weights perturbed by one rounding error each."""
        del move
        return nudged_run(case, seed)

    def witnesses(self, finding: Finding) -> tuple[str, ...]:
        """Return the target that the majority elected as the reference.

        The layer's condition number is already known from double precision. The deviating target
        does not count: if it computes in half precision internally, the layer looks
        ill-conditioned there, but the target is at fault.
        """
        return finding.targets[:1]

    def is_broken(self, case: ModelCase, output: Output, inputs: InputPrecision) -> bool:
        """Return whether the layer's results changed when it was saved and loaded."""
        del case
        return changed_by_saving(output, inputs) is not None

    def origin_rows(self, case: ModelCase, named: Callable[[str], str]) -> list[tuple[str, str]]:
        """Return rows of a table: the seed model with its mutations, and what was compared."""
        rows = (("Found in", origin_text(case, named)), ("Compared", checked_text(case)))
        return [(name, text) for name, text in rows if text]

    def layer_origin(self, case: ModelCase) -> LayerOrigin:
        """Return the seed model, its mutations, and the deviations of its layers."""
        return layer_origin(case)


def _compiles(group: Group) -> bool:
    """Return whether the backend of a target compiles operations at first use."""
    libraries = LIBRARIES.items()
    environments = [member.environment for member in group.running]
    backends = [
        environment.variables.get(environment.library.backend_variable, "")
        for environment in environments
    ]
    return any(libraries[name].compiles_calls for name in backends if name in libraries)


LEVEL = ModelSpec()
ORACLES.register("layer-runs", LayerRunOracle())
