"""Levels: each turns knowledge and seeds into cases, deterministically from seed and index.

One package per level. `select` decides which APIs of a catalogue take part. No I/O.
"""

from ciguard.levels.api import ApiLevel
from ciguard.levels.code.boundary import LawReader
from ciguard.levels.code.dialects import LIBRARIES as CODE_LIBRARIES
from ciguard.levels.code.encoders import ENCODERS
from ciguard.levels.code.level import CodeLevel, Effort
from ciguard.levels.code.operators import Operators, operators_of
from ciguard.levels.code.pruning import equivalence_class
from ciguard.levels.code.seed_sources import (
    ProgramSource,
    read_program,
    shipped_program,
    shipped_programs,
)
from ciguard.levels.code.seeds import SeedProgram
from ciguard.levels.code.syntax import Imports, imports_of
from ciguard.levels.contract import (
    LEVELS,
    Batch,
    GuidedLevel,
    IndexedLevel,
    LearningLevel,
    Level,
    LevelFactory,
    cost_of,
)
from ciguard.levels.focus import focused, unmatched
from ciguard.levels.function.level import AnnotatedFunction, FunctionLevel
from ciguard.levels.function.programs import find_programs
from ciguard.levels.model.inconsistency import (
    EPSILON,
    accumulated,
    change_rates,
    d_mad,
    layer_deviation,
)
from ciguard.levels.model.lessons import ModelLesson
from ciguard.levels.model.level import REPEATS_WHERE_COMPILED, ModelLevel
from ciguard.levels.model.seed_sources import FOLDERS as MODEL_FOLDERS
from ciguard.levels.model.seed_sources import Source as SeedSource
from ciguard.levels.model.seed_sources import parse_source, shipped_scripts
from ciguard.levels.model.seeds import SeedModel, read_seed_model
from ciguard.levels.selection import LEFT_OUT, select, select_layers

LEVELS.register("api", ApiLevel)

__all__ = [
    "CODE_LIBRARIES",
    "ENCODERS",
    "EPSILON",
    "LEFT_OUT",
    "LEVELS",
    "MODEL_FOLDERS",
    "REPEATS_WHERE_COMPILED",
    "AnnotatedFunction",
    "ApiLevel",
    "Batch",
    "CodeLevel",
    "Effort",
    "FunctionLevel",
    "GuidedLevel",
    "Imports",
    "IndexedLevel",
    "LawReader",
    "LearningLevel",
    "Level",
    "LevelFactory",
    "ModelLesson",
    "ModelLevel",
    "Operators",
    "ProgramSource",
    "SeedModel",
    "SeedProgram",
    "SeedSource",
    "accumulated",
    "change_rates",
    "cost_of",
    "d_mad",
    "equivalence_class",
    "find_programs",
    "focused",
    "imports_of",
    "layer_deviation",
    "operators_of",
    "parse_source",
    "read_program",
    "read_seed_model",
    "select",
    "select_layers",
    "shipped_program",
    "shipped_programs",
    "shipped_scripts",
    "unmatched",
]
