"""Environment of uv: pip's settings, but no secrets of the job; secrets in errors are masked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.targets.uv_command import index_arguments, mask_secrets, uv_environment

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("pip_name", "uv_name"),
    [("PIP_INDEX_URL", "UV_DEFAULT_INDEX"), ("PIP_EXTRA_INDEX_URL", "UV_EXTRA_INDEX_URL")],
)
def test_settings_of_pip_apply_to_uv_unless_uv_has_its_own(pip_name: str, uv_name: str) -> None:
    pip = "https://pip.example/simple"
    own = "https://uv.example/simple"

    assert uv_environment({pip_name: pip})[uv_name] == pip
    assert uv_environment({pip_name: pip, uv_name: own})[uv_name] == own


def test_the_index_is_disabled_for_uv_if_it_is_disabled_for_pip() -> None:
    assert index_arguments({"PIP_NO_INDEX": "1"}) == ("--no-index",)
    assert index_arguments({"PIP_NO_INDEX": "false"}) == ()
    assert index_arguments({}) == ()


def test_extra_indexes_are_searched_with_the_strategy_of_pip() -> None:
    environment = uv_environment({"PIP_EXTRA_INDEX_URL": "https://pip.example/simple"})

    assert environment["UV_INDEX_STRATEGY"] == "unsafe-best-match"


def test_relative_folders_of_wheels_become_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    environment = uv_environment({"PIP_FIND_LINKS": "wheels https://example.org/wheels"})

    assert environment["UV_FIND_LINKS"] == f"{tmp_path}/wheels,https://example.org/wheels"


def test_secrets_of_the_job_are_removed_from_the_environment_of_uv() -> None:
    outer = {
        "GITHUB_TOKEN": "1",
        "ACTIONS_RUNTIME_URL": "2",
        "AWS_SECRET_ACCESS_KEY": "3",
        "UV_INDEX_MAIN_PASSWORD": "4",
        "HTTPS_PROXY": "5",
        "VIRTUAL_ENV": "6",
    }

    assert set(uv_environment(outer)) == {"UV_INDEX_MAIN_PASSWORD", "HTTPS_PROXY"}


user_information = st.text(
    st.characters(exclude_categories=["Cs", "Z", "Cc"], exclude_characters="/"), min_size=1
)


@given(user_information)
def test_user_and_password_in_a_url_are_masked(secret: str) -> None:
    masked = mask_secrets(f"error: failed to fetch https://{secret}@index.example/simple/torch/")

    assert masked == "error: failed to fetch https://***@index.example/simple/torch/"


def test_tokens_in_a_query_are_masked() -> None:
    masked = mask_secrets("https://index.example/simple?sub_token=abc&page=2")

    assert masked == "https://index.example/simple?sub_token=***&page=2"
