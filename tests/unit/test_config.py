from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.config import (
    DEFAULT_TARGETS,
    SETTINGS,
    Config,
    EffectiveSettings,
    SourceKind,
    duration_text,
    load_config,
    parse_duration,
    parse_size,
    size_text,
)
from ciguard.config.settings import TAGS
from ciguard.domain.findings import Severity
from ciguard.errors import ConfigurationError
from ciguard.levels import EXCLUDED_TAGS


def _repository(root: Path, **files: str) -> Path:
    (root / ".git").mkdir()
    for name, text in files.items():
        (root / f"{name}.toml").write_text(text, encoding="utf-8")
    return root


def _load(folder: Path, **flags: str) -> EffectiveSettings:
    return load_config(flags, {}, folder=folder)


def _error(folder: Path, **flags: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        _load(folder, **flags)
    return str(caught.value)


def test_load_config_without_sources_returns_defaults(tmp_path: Path) -> None:
    effective = _load(tmp_path)

    assert effective.config == Config()
    assert effective.config.targets == DEFAULT_TARGETS
    assert {source.kind for source in effective.sources.values()} == {SourceKind.DEFAULT}


def test_settings_describe_all_fields_of_config() -> None:
    of_run = [setting.field for setting in SETTINGS.values() if not setting.is_of_level]
    assert of_run == [item.name for item in fields(Config) if item.name != "level_values"]
    assert all(setting.help.endswith(".") for setting in SETTINGS.values())


def test_default_of_each_setting_is_valid() -> None:
    for setting in SETTINGS.values():
        shown = setting.kind.show(setting.default)

        assert setting.default == (
            setting.kind.from_text(shown) if shown else type(setting.default)()
        )


def test_load_config_prefers_flags_over_environment_over_file(tmp_path: Path) -> None:
    root = _repository(tmp_path, ciguard='budget = "1m"\nseed = 1\njobs = 1\nmax-cases = 1\n')
    environment = {"CIGUARD_BUDGET": "2m", "CIGUARD_SEED": "2", "PATH": "/bin"}

    effective = load_config({"budget": "3m"}, environment, folder=root)

    assert (effective.config.budget_s, effective.config.seed, effective.config.jobs) == (180, 2, 1)
    assert {key: str(effective.sources[key]) for key in ("budget", "seed", "jobs", "out")} == {
        "budget": "--budget",
        "seed": "CIGUARD_SEED",
        "jobs": "ciguard.toml",
        "out": "default",
    }


def test_list_of_a_higher_source_replaces_the_lower_one(tmp_path: Path) -> None:
    root = _repository(tmp_path, ciguard='targets = ["torch==2.12.0", "current"]')

    effective = load_config({"targets": ("jax==0.7.0",)}, {}, folder=root)

    assert effective.config.targets == ("jax==0.7.0",)


def test_load_config_reads_pyproject_of_a_parent_folder_in_the_repository(tmp_path: Path) -> None:
    root = _repository(tmp_path, pyproject='[tool.ciguard]\nfail-on = "high"\nmemory = "2GiB"')
    inner = root / "a" / "b"
    inner.mkdir(parents=True)

    effective = _load(inner)

    assert effective.config.fail_on is Severity.HIGH
    assert effective.config.memory_mib == 2048
    assert effective.file == root / "pyproject.toml"
    assert str(effective.sources["memory"]) == "../../pyproject.toml"


def test_load_config_skips_a_pyproject_without_its_table(tmp_path: Path) -> None:
    root = _repository(tmp_path, ciguard="seed = 5")
    inner = root / "package"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[tool.other]\nx = 1", encoding="utf-8")

    assert _load(inner).config.seed == 5


def test_load_config_reads_nothing_above_the_repository(tmp_path: Path) -> None:
    (tmp_path / "ciguard.toml").write_text("seed = 9", encoding="utf-8")
    inner = tmp_path / "project"
    inner.mkdir()
    root = _repository(inner)

    assert _load(root).config.seed == 0


def test_load_config_outside_a_repository_reads_only_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "ciguard.toml").write_text("seed = 9", encoding="utf-8")
    inner = tmp_path / "elsewhere"
    inner.mkdir()

    assert _load(inner).config.seed == 0
    assert _load(tmp_path).config.seed == 9


def test_relative_paths_start_at_the_file_or_for_flags_at_the_working_folder(
    tmp_path: Path,
) -> None:
    root = _repository(tmp_path, ciguard='baseline = "base"')
    inner = root / "sub"
    inner.mkdir()

    config = load_config({"tracker": "mine"}, {}, folder=inner).config

    assert config.baseline == Path("../base")
    assert config.out == Path("../.ciguard/run")
    assert config.tracker == Path("mine")


def test_load_config_with_both_kinds_of_file_raises(tmp_path: Path) -> None:
    root = _repository(tmp_path, ciguard="seed = 1", pyproject="[tool.ciguard]\nseed = 2")

    assert "both ciguard.toml and [tool.ciguard] in pyproject.toml" in _error(root)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("buget = 3", "ciguard.toml: buget: no such setting. Did you mean 'budget'?"),
        ("fail_on = 'low'", "ciguard.toml: fail_on: no such setting. Did you mean 'fail-on'?"),
        ("seed = true", "ciguard.toml: seed = True: a boolean is not valid here. Write a whole"),
        ("seed = -1", "ciguard.toml: seed = -1: out of range. Write a whole number from 0 to"),
        ("targets = 'torch'", "targets = 'torch': a string is not valid here. Write a list of"),
        ("targets = []", "targets = []: the list is empty."),
        ("targets = [1]", "an item is empty or not a string"),
        ("allow = ['file']", "'file' is unknown. Did you mean 'files'?"),
        ("budget = nan", "budget = nan: out of range. Write a duration from 1s to 30d"),
        ("budget = '1m1m'", "a unit occurs twice"),
        ("budget = 1979-05-27", "a date or time is not valid here"),
        ("fail-on = 'hgih'", "not a severity. Did you mean 'high'? Write one of info, low"),
        ("out = ''", "out = '': not a path. Write the path of a folder."),
        ('out = "a\\n::error::x"', "not a path. Write the path of a folder."),
        (
            "resume = true",
            "resume: this setting applies to a single run, so files cannot set it. Use --resume",
        ),
        ("seed = ", "ciguard.toml: not valid TOML"),
        (
            "[policy]\nhagn = 'fail'",
            "'hagn' is neither a class of findings nor a glob. Did you mean 'hang'? Write",
        ),
        ("[policy]\nhang = 'fails'", "hang = 'fails': no such action. Did you mean 'fail'? Write"),
        ("[policy]\nhang = 3", "policy = {'hang': 3}: hang = 3: no such action. Write a table"),
        (
            "[policy]\ndocumentation = 'file'",
            "documentation findings allow only `report` and `off`",
        ),
        (
            "policy = 'hang'",
            "policy = 'hang': a string is not valid here. Write a table [policy]",
        ),
        ("[run]\nseed = 1", "ciguard.toml: run: no such setting."),
        ("confine = 'off'", "because a tested pull request can edit them. Use --confine"),
    ],
)
def test_error_in_a_file_names_place_key_value_and_remedy(
    tmp_path: Path, text: str, message: str
) -> None:
    root = _repository(tmp_path, ciguard=text)

    assert message in _error(root)


def test_policy_table_keeps_its_order(tmp_path: Path) -> None:
    table = '[policy]\nperformance = "fail"\n"torch.nn.*" = "off"\n"metamorphic/*" = "file"'
    root = _repository(tmp_path, ciguard=table)

    effective = _load(root)

    assert [str(rule) for rule in effective.config.rules] == [
        "performance=fail",
        "torch.nn.*=off",
        "metamorphic/*=file",
    ]
    assert ("policy", "performance=fail, torch.nn.*=off, metamorphic/*=file") in {
        (key, value) for key, value, _ in effective.shown()
    }


def test_policy_can_be_set_by_flags(tmp_path: Path) -> None:
    flags = {"policy": ("hang = report", "crash=file")}

    config = load_config(flags, {}, folder=tmp_path).config

    assert [str(rule) for rule in config.rules] == ["hang=report", "crash=file"]
    assert config.policy.rules == config.rules
    assert _error(tmp_path, policy="hang").startswith(
        "--policy hang: 'hang' is not SELECTOR=ACTION"
    )


def test_load_config_with_a_value_instead_of_the_table_raises(tmp_path: Path) -> None:
    root = _repository(tmp_path, pyproject="[tool]\nciguard = 3")

    assert "pyproject.toml: [tool.ciguard] = 3: not a table" in _error(root)


def test_load_config_of_invalid_utf8_raises(tmp_path: Path) -> None:
    root = _repository(tmp_path)
    (root / "ciguard.toml").write_bytes(b"\xff\xfe")

    assert "cannot be read" in _error(root)


def test_error_in_a_flag_names_the_flag(tmp_path: Path) -> None:
    assert _error(tmp_path, budget="3 parsecs").startswith("--budget '3 parsecs': not a duration.")


def test_misspelt_variable_raises_with_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"CIGUARD_BUGET: no such.*'CIGUARD_BUDGET'"):
        load_config({}, {"CIGUARD_BUGET": "3m"}, folder=tmp_path)


def test_empty_variable_is_ignored(tmp_path: Path) -> None:
    assert load_config({}, {"CIGUARD_SEED": ""}, folder=tmp_path).config.seed == 0


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("torch==2.13.0,current", ("torch==2.13.0", "current")),
        ("torch==2.13.0\ncurrent\n", ("torch==2.13.0", "current")),
        ("torch==2.3.0 + numpy>=1,<2, current", ("torch==2.3.0 + numpy>=1,<2", "current")),
        ("keras==3.15.1[jax,torch],current", ("keras==3.15.1[jax,torch]", "current")),
    ],
)
def test_list_variable_is_split_at_newlines_or_commas(
    tmp_path: Path, text: str, targets: tuple[str, ...]
) -> None:
    config = load_config({}, {"CIGUARD_TARGETS": text}, folder=tmp_path).config

    assert config.targets == targets


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("3m", 180), ("1h30m", 5400), ("1.5h", 5400), ("45", 45), ("250ms", 0.25)],
)
def test_parse_duration_returns_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "3 parsecs", "-3", "m3", "1e3", "inf", "1h1h", "\u0663m"])
def test_parse_duration_of_malformed_text_raises(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a duration|twice"):
        parse_duration(text)


@given(st.integers(min_value=0, max_value=10**10))
def test_duration_round_trips_through_text(milliseconds: int) -> None:
    seconds = milliseconds / 1000

    assert math.isclose(parse_duration(duration_text(seconds)), seconds, abs_tol=1e-6)


@given(st.integers(min_value=0, max_value=10**7))
def test_size_round_trips_through_text(mebibytes: int) -> None:
    assert parse_size(size_text(mebibytes)) == mebibytes


@pytest.mark.parametrize("text", ["", "4 potatoes", "-1", "1KiB", "1.5"])
def test_parse_size_of_malformed_text_raises(text: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        parse_size(text)


@given(st.text(max_size=20))
def test_any_text_of_a_variable_is_parsed_or_raises_with_its_name(text: str) -> None:
    for setting in SETTINGS.values():
        try:
            load_config({}, {setting.variable: text}, folder=Path("/nonexistent"))
        except ConfigurationError as error:
            assert setting.variable in str(error)  # noqa: PT017 - either way is right


def test_allowed_tags_equal_the_excluded_tags() -> None:
    assert set(TAGS) == EXCLUDED_TAGS


@pytest.mark.parametrize("text", ["withhold", "public", "advisory", "github:owner/name"])
def test_disclosure_accepts_its_destinations(text: str) -> None:
    assert SETTINGS["issues-security"].kind.from_text(text) == text


@pytest.mark.parametrize("text", ["", "private", "gitlab:a/b", "github:", "github:a b"])
def test_disclosure_of_malformed_text_raises(text: str) -> None:
    with pytest.raises(ValueError, match="not a "):
        SETTINGS["issues-security"].kind.from_text(text)


@pytest.mark.parametrize("text", ["", "a,b", "x" * 51, "a\nb"])
def test_label_of_malformed_text_raises(text: str) -> None:
    with pytest.raises(ValueError, match="not a label"):
        SETTINGS["issue-marker"].kind.from_text(text)


@pytest.mark.parametrize("key", ["seed", "targets", "mutations", "budget-s"])
def test_level_that_declares_an_existing_setting_raises(key: str) -> None:
    script = f"""
from ciguard.config import LEVEL_SETTINGS, SETTINGS, LevelSettings, level_setting
from ciguard.config.kinds import whole

taken = level_setting({key!r}, whole(0, 9), 0, "Taken.")
LEVEL_SETTINGS.register("mine", LevelSettings(summary="mine", settings=(taken,)))
list(SETTINGS)
"""

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=False
    )

    assert f"level 'mine' declares the setting {key!r} (--{key}), which" in done.stderr
