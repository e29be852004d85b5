from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.config import GitBranch, location_text, parse_location
from ciguard.domain.text import without_userinfo


@pytest.mark.parametrize(
    ("text", "remote", "branch"),
    [
        ("git+origin", "origin", "ciguard-baseline"),
        ("git+origin#bots/baseline", "origin", "bots/baseline"),
        ("git+https://host/o/r.git#b", "https://host/o/r.git", "b"),
        ("git+ssh://git@host:22/o/r", "ssh://git@host:22/o/r", "ciguard-baseline"),
        ("git+git@github.com:o/r.git", "git@github.com:o/r.git", "ciguard-baseline"),
        ("git+/srv/with space/r.git", "/srv/with space/r.git", "ciguard-baseline"),
    ],
)
def test_git_location_round_trips_through_text(text: str, remote: str, branch: str) -> None:
    location = parse_location(text)

    assert location == GitBranch(remote, branch)
    assert parse_location(location_text(location)) == location


def test_other_text_is_a_folder() -> None:
    assert parse_location(" .ciguard/baseline ") == Path(".ciguard/baseline")
    assert location_text(Path("a/b")) == "a/b"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "git+",
        "git+--upload-pack=touch x",
        "git+-o",
        "git+ext::sh -c touch",
        "git+../relative",
        "git+https://host/a b",
        "git+host:-oProxyCommand=x",
        "git+origin#-f",
        "git+origin#a..b",
        "git+origin#a b",
        "git+origin#refs/heads/x.lock",
        "git+origin#x:y",
        "git+origin#+x",
        "git+origin#a\nb",
        "git+origin#.hidden",
        "git+origin#a/.b",
        "git+origin#a/",
    ],
)
def test_parse_location_of_ambiguous_text_raises(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_location(text)


def test_parse_location_with_a_password_raises_without_repeating_it() -> None:
    with pytest.raises(ValueError, match="credential helper") as caught:
        parse_location("git+https://me:s3cret@host/x")

    assert "s3cret" not in str(caught.value)
    assert without_userinfo("at https://me:s3cret@host/x, http://t@h") == (
        "at https://***@host/x, http://***@h"
    )


@given(st.text())
def test_parse_location_with_an_unsafe_branch_raises(name: str) -> None:
    try:
        location = parse_location(f"git+origin#{name}")
    except ValueError:
        return

    assert isinstance(location, GitBranch)
    assert not location.branch.startswith(("-", "/", "."))
    assert ".." not in location.branch
    assert not set(location.branch) & set(" ~^:?*[\\\n\0")
