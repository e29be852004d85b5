"""Settings of level `code`."""

from __future__ import annotations

from ciguard.config import LevelSettings, Setting, level_setting
from ciguard.config.kinds import name, string_list, whole

PROGRAMS: Setting[tuple[str, ...]] = level_setting(
    "programs",
    string_list("PROGRAM", required=True),
    ("*",),
    "Seed program of level `code`: a glob over the names of the shipped programs, or your own "
    "Python file that builds, trains and evaluates one model.",
    flag="--program",
)
MUTATIONS: Setting[int] = level_setting(
    "mutations", whole(1, 64), 4, "Number of mutations of each block of a program, at level `code`."
)
BREADTH: Setting[int] = level_setting(
    "breadth",
    whole(1, 500),
    8,
    "Maximum number of programs per generation that have children, at level `code`.",
)
ENCODER: Setting[str] = level_setting(
    "encoder",
    name(),
    "tf-idf",
    "Encoder of API descriptions, with which level `code` finds similar APIs: tf-idf, or "
    "sentence-embeddings (needs the extra ciguard[embeddings]).",
)

SETTINGS = LevelSettings(
    summary="programs, on targets of torch, tensorflow and jittor",
    settings=(PROGRAMS, MUTATIONS, BREADTH, ENCODER),
)
