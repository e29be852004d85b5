"""Seed models of a run, and errors before anything is built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ciguard.campaign.levels import check_levels
from ciguard.config import Config
from ciguard.errors import CiguardError
from ciguard.levels.model.seeding import refuse_without_keras, seed_sources
from ciguard.levels.model.settings import MODELS, WIDTH

if TYPE_CHECKING:
    from pathlib import Path

KERAS = "keras==3.15.1 + torch==2.13.0"
ALL = 12


def on_keras(*models: str) -> Config:
    plain = Config(levels=("model",), targets=(KERAS,))
    return plain.with_value(MODELS, models) if models else plain


def names(*models: str) -> list[str]:
    return [source.name for source in seed_sources(on_keras(*models))]


def test_small_seed_models_are_the_default() -> None:
    small = ["alexnet-cifar10", "lenet5-fashion-mnist", "lenet5-mnist", "lstm-price", "lstm-sine"]

    assert sorted(names()) == small


def test_globs_match_shipped_models_and_files_are_named_by_path(tmp_path: Path) -> None:
    file = tmp_path / "tower.keras"
    file.touch()

    assert len(names("*")) == ALL
    assert names("vgg1?", str(file)) == ["vgg16", "vgg19", str(file)]


def test_a_run_without_the_level_reads_no_models() -> None:
    assert seed_sources(Config().with_value(MODELS, ("no such model",))) == ()


def test_the_width_is_in_per_cent() -> None:
    (source,) = seed_sources(
        Config(levels=("model",)).with_value(MODELS, ("lenet5-mnist",)).with_value(WIDTH, 50)
    )

    assert source.request["width"] == 0.5


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (Config(levels=("modle",)), "no such level.*Did you mean 'model'|Known: api, model"),
        (Config(levels=("model",), targets=("torch==2.13.0",)), "needs targets of Keras 3"),
        (
            on_keras("lenet"),
            "no such seed model",
        ),
        (
            on_keras("zz*"),
            "no such seed model",
        ),
        (
            on_keras("a.keras"),
            "there is no file",
        ),
    ],
)
def test_an_impossible_configuration_is_an_early_error(config: Config, why: str) -> None:
    with pytest.raises(CiguardError, match=why):
        check_levels(config)


def test_target_current_is_checked_later() -> None:
    check_levels(Config(levels=("model",), targets=("current",)))
    with pytest.raises(CiguardError, match="but all targets are of torch"):
        refuse_without_keras(["torch"])


def test_level_api_needs_no_keras() -> None:
    check_levels(Config(targets=("torch==2.13.0",)))
    check_levels(Config(levels=("api", "model"), targets=("torch==2.13.0", KERAS)))
