"""Settings of the assessment of applications, from the options of the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.dead_conditions.vocabulary import read_vocabulary
from ciguard.levels.app.input_synthesis.choosing import InputSources, inverse_of
from ciguard.levels.app.input_synthesis.searches import search_of
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.repair.measures import ALPHA
from ciguard.levels.app.repair.relatedness import (
    CombinedRelatedness,
    SharedWords,
    known_relations,
    read_taxonomy,
)
from ciguard.levels.app.virtualization.choosing import local_engines
from ciguard.levels.app.virtualization.confusion_matrix import read_confusion_matrix
from ciguard.levels.app.virtualization.engine_chain import EngineChain
from ciguard.levels.app.virtualization.faces import Faces
from ciguard.levels.app.virtualization.faults import read_faults
from ciguard.levels.app.virtualization.recording import Recorded, with_recording
from ciguard.levels.app.virtualization.service import Service
from ciguard.targets import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ciguard.levels.app.exploration.process_environment import ProcessEnvironment
    from ciguard.levels.app.input_synthesis.inputs import Inverse, ServiceInput
    from ciguard.levels.app.repair.relatedness import Relatedness
    from ciguard.levels.app.virtualization.faults import Fault


_CONFUSION = 0.1
"""Error rate of simulated answers: a correct application's recall stays well above 0.75."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyOptions:
    """Options of the user for the assessment of applications."""

    images: Path | None = None
    """Folder with images, or texts of a topic, in a folder for each label."""
    search: str = ""
    """Search engine for missing images, one of `SEARCHES`; empty: none."""
    search_url: str | None = None
    """Address of another server with the same interface; None: the engine's own."""
    cache: Path | None = None
    """Folder for images from the search; None: in ciguard's cache folder."""
    texts: Path | None = None
    """CSV file of texts with a sentiment."""
    labels: Path | None = None
    """File of the labels that the service can answer."""
    relations: Path | None = None
    """File of relations between labels, such as kinds of a thing."""
    confusion_matrix: Path | None = None
    """File of the confusion matrix of a simulated service."""
    replay: Path | None = None
    """Recording that answers in place of the service."""
    record: Path | None = None
    """File to record answers in."""
    is_real: bool = False
    """True if the application calls the real service."""
    inputs: int = 100
    """Number of inputs for all sub-conditions of a function, as in Keeper's evaluation."""
    alpha: float = ALPHA
    """Minimum recall that is no failure."""
    seed: int = 0
    budget_s: float = 120.0
    """Time budget of one function, in seconds."""
    process_environment: ProcessEnvironment | None = None
    """Environment of the application's process; if None, `ProcessEnvironment()`."""
    faults: Path | None = None
    """File of the faults to inject."""

    @property
    def image_folder(self) -> Path:
        """Folder for images that a search finds."""
        return self.cache or cache_folder() / "images"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracySettings:
    """Settings of the assessment: the user's options, and what they select."""

    options: AccuracyOptions
    inverse: Inverse
    """Input synthesis."""
    engines_for: Callable[[Sequence[ServiceInput]], EngineChain]
    """Returns the engines that answer in place of the service, for all inputs of a function."""
    relatedness: Relatedness
    """Relatedness of labels, which limits the labels that a repair may add."""
    faults: tuple[Fault, ...] = ()
    """Faults to inject, in separate calls."""


def settings_for(options: AccuracyOptions) -> AccuracySettings:
    """Return the settings of the assessment.

    Raises:
        ConfigurationError: if the content of a file or folder is invalid.
    """
    labels = read_vocabulary(options.labels) if options.labels else None
    confusion_matrix = (
        read_confusion_matrix(options.confusion_matrix) if options.confusion_matrix else None
    )
    recorded = Recorded(options.replay) if options.replay else None
    relatedness: list[Relatedness] = [known_relations(), SharedWords()]
    if options.relations:
        relatedness.append(read_taxonomy(options.relations))

    def engines_for(inputs: Sequence[ServiceInput]) -> EngineChain:
        if recorded is not None:
            return EngineChain((recorded,))
        if options.is_real:
            return EngineChain(with_recording(options.record, [Service()]))
        known = {item.digest: item.wanted for item in inputs}
        engines = local_engines(
            labels,
            known,
            confusion=_CONFUSION,
            seed=options.seed,
            confusion_matrix=confusion_matrix,
        ).engines
        # Cascades detect faces but not their emotions.
        if any(item.wanted.task is RecognitionTask.FACES and item.wanted.key for item in inputs):
            engines = tuple(engine for engine in engines if not isinstance(engine, Faces))
        return EngineChain(with_recording(options.record, engines))

    sources = InputSources(
        images=options.images,
        search=search_of(options.search, options.search_url) if options.search else None,
        image_folder=options.image_folder,
        texts=options.texts,
        is_simulated=recorded.is_simulated if recorded is not None else not options.is_real,
    )
    return AccuracySettings(
        options=options,
        inverse=inverse_of(sources),
        engines_for=engines_for,
        relatedness=CombinedRelatedness(*relatedness),
        faults=read_faults(options.faults) if options.faults else (),
    )
