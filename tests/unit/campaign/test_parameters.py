from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.campaign.parameters import parameters_of, resumed
from ciguard.config import Config
from ciguard.domain.findings import Severity
from ciguard.domain.policy import Action, PolicyRule
from ciguard.errors import OutputError

texts = st.lists(st.text(min_size=1), min_size=1, max_size=3).map(tuple)
folders = st.sampled_from([Path("there"), Path("/somewhere/else"), Path()])
configs = st.builds(
    Config,
    targets=texts,
    levels=texts,
    api=texts,
    exclude=texts,
    allow=texts,
    seed=st.integers(0, 2**63 - 1),
    budget_s=st.floats(1.0, 1e6),
    max_cases=st.integers(0, 10**12),
    jobs=st.integers(0, 64),
    baseline=folders,
    tracker=folders,
    fail_on=st.sampled_from(Severity),
    rules=st.lists(
        st.builds(
            PolicyRule,
            st.sampled_from(["hang", "torch.nn.*", "metamorphic/*"]),
            st.sampled_from(Action),
        ),
        unique_by=lambda rule: rule.selector,
    ).map(tuple),
    case_limit_s=st.floats(0.1, 100.0),
    memory_mib=st.integers(256, 4096),
    confirmations=st.integers(1, 9),
)


@given(configs)
def test_a_resumed_run_has_the_settings_of_its_start(config: Config) -> None:
    stored = json.loads(json.dumps(parameters_of(config)))

    restored = resumed(Config(out=config.out, resume=True), stored)

    assert restored == replace(config, resume=True)
    assert all(
        type(getattr(restored, item.name)) is type(getattr(config, item.name))
        for item in fields(Config)
        if not isinstance(getattr(config, item.name), Path)
    )


def test_the_output_folder_is_that_of_the_command() -> None:
    stored = parameters_of(Config(out=Path("moved/away"), seed=7))

    restored = resumed(Config(out=Path("here"), resume=True), stored)

    assert (restored.out, restored.seed, restored.resume) == (Path("here"), 7, True)


def test_a_setting_missing_in_the_journal_is_that_of_the_command() -> None:
    stored = parameters_of(Config())
    del stored["confirmations"]

    assert resumed(Config(confirmations=9), stored).confirmations == 9


def test_a_run_of_another_version_is_not_resumed() -> None:
    stored = {**parameters_of(Config()), "ciguard": "99.0"}

    with pytest.raises(OutputError, match=r"started by ciguard 99\.0, this is .*Resume with"):
        resumed(Config(), stored)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", "7"),
        ("seed", True),
        ("jobs", 1.5),
        ("budget_s", "long"),
        ("budget_s", None),
        ("targets", 3),
        ("targets", [1]),
        ("baseline", 3),
        ("fail_on", "grave"),
        ("fail_on", 3),
        ("rules", ["hang=maybe"]),
        ("rules", [3]),
    ],
)
def test_malformed_settings_are_a_clear_error(name: str, value: Any) -> None:
    stored = {**parameters_of(Config()), name: value}

    with pytest.raises(OutputError, match=rf"its journal gives {name} = .*without --resume"):
        resumed(Config(), stored)
