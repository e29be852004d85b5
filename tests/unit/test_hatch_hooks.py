"""What a build takes from the release workflow, and what it makes of the README."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
PROJECT = {"CIGUARD_PROJECT": f"owner/ciguard@{COMMIT}"}
RELEASE = {"repository": "owner/ciguard", "commit": COMMIT, "tag": "v0.2.0"}

_spec = importlib.util.spec_from_file_location("hatch_hooks", ROOT / "setup" / "hatch_hooks.py")
assert _spec is not None
assert _spec.loader is not None
hooks = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(hooks)


def test_build_is_a_release_only_with_a_tag() -> None:
    tagged = PROJECT | {"CIGUARD_RELEASE_TAG": "v0.2.0"}

    assert hooks.release_of(tagged, version="0.2.0") == RELEASE
    assert hooks.release_of(PROJECT, version="0.2.0") is None
    assert hooks.release_of({"CIGUARD_PROJECT": "owner/ciguard"}, version="0.2.0") is None


@pytest.mark.parametrize(
    ("project", "tag", "message"),
    [
        (PROJECT["CIGUARD_PROJECT"], "v0.2.1", "so its tag is 'v0.2.0'"),
        ("", "v0.2.0", "a release needs OWNER/NAME@COMMIT"),
        ("owner/ciguard", "v0.2.0", "a release needs OWNER/NAME@COMMIT"),
        ("owner/ciguard@main", "v0.2.0", "a release needs OWNER/NAME@COMMIT"),
        (f"owner/ciguard@{COMMIT}\n", "v0.2.0", "a release needs OWNER/NAME@COMMIT"),
    ],
)
def test_malformed_release_variables_raise(project: str, tag: str, message: str) -> None:
    variables = {"CIGUARD_PROJECT": project, "CIGUARD_RELEASE_TAG": tag}

    with pytest.raises(ValueError, match=re.escape(message)):
        hooks.release_of(variables, version="0.2.0")


def test_readme_links_lead_to_the_release_and_other_links_are_unchanged() -> None:
    readme = "[a](docs/a.md#b) [c](https://c.example/d) [e](#f)\n- uses: OWNER/ciguard@COMMIT\n"

    text = hooks.described(readme, RELEASE)

    home = "https://github.com/owner/ciguard"
    assert text == (
        f"[a]({home}/blob/v0.2.0/docs/a.md#b) [c](https://c.example/d) [e](#f)\n"
        f"- uses: owner/ciguard@{COMMIT} # v0.2.0\n"
    )
    assert hooks.described(readme, None) == readme


def test_readme_pictures_link_to_raw_files() -> None:
    readme = "![a b](docs/images/a.png) [![c](d.png)](docs/e.md) ![f](https://g.example/h.png)"

    text = hooks.described(readme, RELEASE)

    home = "https://github.com/owner/ciguard"
    assert text == (
        f"![a b]({home}/raw/v0.2.0/docs/images/a.png) "
        f"[![c]({home}/raw/v0.2.0/d.png)]({home}/blob/v0.2.0/docs/e.md) "
        "![f](https://g.example/h.png)"
    )


def test_reusable_workflows_are_pinned_like_the_action() -> None:
    line = "uses: OWNER/ciguard/.github/workflows/guard.yml@COMMIT"

    pinned = f"uses: owner/ciguard/.github/workflows/guard.yml@{COMMIT} # v0.2.0"
    assert hooks.described(line, RELEASE) == pinned
