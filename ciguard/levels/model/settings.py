"""Settings of level `model`."""

from __future__ import annotations

from ciguard.config import LevelSettings, Setting, level_setting
from ciguard.config.kinds import string_list, whole

SMALL_MODELS = ("lenet5-*", "lstm-*", "alexnet-cifar10")
"""Globs of the seed models that are used by default."""

MODELS: Setting[tuple[str, ...]] = level_setting(
    "models",
    string_list("MODEL", required=True),
    SMALL_MODELS,
    "Seed model of level `model`: a glob over the names of the shipped models, "
    "file.keras, file.py:function or pretrained:ResNet50. The default is the small models; "
    "deep models take minutes on backends that compile.",
    flag="--model",
)
WIDTH: Setting[int] = level_setting(
    "model-width",
    whole(1, 400),
    25,
    "Width of models that a function builds, in per cent of the published width: channels "
    "and units, not layers.",
)

SETTINGS = LevelSettings(
    summary="mutants of layer graphs, on targets of Keras 3", settings=(MODELS, WIDTH)
)
