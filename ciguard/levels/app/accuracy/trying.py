"""How applications are tried: what a user says of it, and what is made of that."""

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
    Words,
    known_relations,
    read_taxonomy,
)
from ciguard.levels.app.virtualization.choosing import local_engines
from ciguard.levels.app.virtualization.chosen import Chosen
from ciguard.levels.app.virtualization.faces import Faces
from ciguard.levels.app.virtualization.faults import read_faults
from ciguard.levels.app.virtualization.habits import read_habits
from ciguard.levels.app.virtualization.recording import Recorded, kept_in
from ciguard.levels.app.virtualization.service import Service
from ciguard.targets import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ciguard.levels.app.exploration.surroundings import Surroundings
    from ciguard.levels.app.input_synthesis.inputs import Inverse, ServiceInput
    from ciguard.levels.app.repair.relatedness import Relatedness
    from ciguard.levels.app.virtualization.faults import Fault


_CONFUSION = 0.1
"""Of simulated answers: the recall of an application that does right is well above 0.75 then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trying:
    """What a user says of it."""

    images: Path | None = None
    """Folder with images, or texts of a topic, in a folder for each label."""
    search: str = ""
    """Search engine for images that are not there, one of `SEARCHES`; none if empty."""
    search_url: str | None = None
    """Another address that answers like it."""
    cache: Path | None = None
    """Folder for what it finds; None: in ciguard's cache folder."""
    texts: Path | None = None
    """CSV file of texts that people feel something in."""
    labels: Path | None = None
    """Labels that the service can answer."""
    relations: Path | None = None
    """Which labels are kinds of others."""
    habits: Path | None = None
    """What a simulated service says of some things."""
    replay: Path | None = None
    """A recording to answer from."""
    record: Path | None = None
    """Where to keep what was answered."""
    is_real: bool = False
    """Whether the application asks the service itself."""
    inputs: int = 100
    """Of a function, for all its sub-conditions together, as in the paper's evaluation."""
    alpha: float = ALPHA
    """Least recall that is no failure."""
    seed: int = 0
    budget_s: float = 120.0
    """Of a function."""
    surroundings: Surroundings | None = None
    """What the application has around it; None: as `Surroundings()`."""
    faults: Path | None = None
    """What goes wrong on purpose."""

    @property
    def kept(self) -> Path:
        """Folder for images that a search finds."""
        return self.cache or cache_folder() / "images"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How applications are tried: what a user says, and what is made of it."""

    trying: Trying
    inverse: Inverse
    """Makes inputs."""
    serving: Callable[[Sequence[ServiceInput]], Chosen]
    """Returns what answers in the place of the service, given all inputs of a function."""
    related: Relatedness
    """Labels that may be added to each other."""
    faults: tuple[Fault, ...] = ()
    """What goes wrong on purpose, in calls of their own."""


def settings_for(trying: Trying) -> Settings:
    """Return how applications are tried.

    Raises:
        ConfigurationError: if a file or folder does not hold what it should.
    """
    labels = read_vocabulary(trying.labels) if trying.labels else None
    habits = read_habits(trying.habits) if trying.habits else None
    replayed = Recorded(trying.replay) if trying.replay else None
    related: list[Relatedness] = [known_relations(), Words()]
    if trying.relations:
        related.append(read_taxonomy(trying.relations))

    def serving(inputs: Sequence[ServiceInput]) -> Chosen:
        if replayed is not None:
            return Chosen((replayed,))
        if trying.is_real:
            return Chosen(kept_in(trying.record, [Service()]))
        known = {one.digest: one.wanted for one in inputs}
        engines = local_engines(
            labels, known, confusion=_CONFUSION, seed=trying.seed, habits=habits
        ).engines
        # Cascades find faces and do not see what they feel.
        if any(one.wanted.task is RecognitionTask.FACES and one.wanted.key for one in inputs):
            engines = tuple(one for one in engines if not isinstance(one, Faces))
        return Chosen(kept_in(trying.record, engines))

    sources = InputSources(
        images=trying.images,
        search=search_of(trying.search, trying.search_url) if trying.search else None,
        kept=trying.kept,
        texts=trying.texts,
        is_simulated=replayed.is_simulated if replayed is not None else not trying.is_real,
    )
    return Settings(
        trying=trying,
        inverse=inverse_of(sources),
        serving=serving,
        related=CombinedRelatedness(*related),
        faults=read_faults(trying.faults) if trying.faults else (),
    )
