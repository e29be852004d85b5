from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.planning.pins import more_specific_pin, range_pin
from ciguard.planning.requirement_files import project_name, read_pins, reader_of

NAMES = (
    "requirements.txt",
    "requirements-dev.txt",
    "requirements/cpu.txt",
    "requirements.in",
    "constraints.txt",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "Pipfile",
    "Pipfile.lock",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "pylock.toml",
    "pylock.ci.toml",
    "environment.yml",
    "environment-dev.yaml",
    "conda-lock.yml",
    "recipe/meta.yaml",
)
UV_LOCK = """\
[[package]]
name = "a"
version = "1"
dependencies = [{ name = "torch" }]
[[package]]
name = "torch"
version = "2.12.0"
"""


def _read(path: str, text: str) -> list[tuple[str, str, int]]:
    return [(pin.package, str(pin), pin.line) for pin in read_pins(path, text.encode())]


def test_requirements_are_read_with_their_lines() -> None:
    text = (
        "# torch==1.0\n"
        "-r base.txt\n"
        "--index-url https://example.invalid/simple\n"
        "torch==2.12.0 ; python_version > '3.9'  # why\n"
        "tensorflow-cpu==2.12.0 \\\n"
        "    --hash=sha256:0123 \\\n"
        "    --hash=sha256:4567\n"
        "Keras[torch]>=3,<4\n"
        "jax\n"
        "-e git+https://example.invalid/x.git#egg=x\n"
        "./local.whl\n"
    )

    assert _read("requirements.txt", text) == [
        ("torch", "2.12.0", 4),
        ("tensorflow-cpu", "2.12.0", 5),
        ("keras", "<4,>=3", 8),
        ("jax", "any version", 9),
    ]


def test_requirements_for_other_machines_and_urls_are_ignored() -> None:
    text = (
        "torch==2.13.0; sys_platform == 'win32'\n"
        "torch==2.12.0; sys_platform == 'linux'\n"
        "jax==0.4.3; extra == 'x'\n"
        "keras @ https://example.invalid/keras-3.0-py3-none-any.whl\n"
    )

    assert _read("requirements.txt", text) == [("torch", "2.12.0", 2)]


def test_all_tables_of_a_pyproject_file_are_read() -> None:
    text = """\
[project]
name = "mine"
dependencies = [
  "numpy",
  "torch>=2.1",
]
[project.optional-dependencies]
tf = ["tensorflow==2.12.0"]
[dependency-groups]
dev = ["jax==0.4.3", {include-group = "x"}]
[tool.poetry.dependencies]
python = "^3.9"
keras = "^3.1"
[tool.poetry.group.extra.dependencies]
jittor = {version = "1.3.8.5", extras = ["x"]}
[tool.uv]
dev-dependencies = ["torch-nightly"]
"""

    assert sorted(_read("a/pyproject.toml", text)) == [
        ("jax", "0.4.3", 10),
        ("jittor", "1.3.8.5", 15),
        ("keras", "<4,>=3.1", 13),
        ("numpy", "any version", 4),
        ("tensorflow", "2.12.0", 8),
        ("torch", ">=2.1", 5),
        ("torch-nightly", "any version", 17),
    ]
    assert project_name(text.encode()) == "mine"


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        (
            "setup.cfg",
            "[metadata]\nname=a\n[options]\ninstall_requires =\n  numpy\n  torch==2.12.0\n",
            6,
        ),
        ("setup.py", "from setuptools import setup\nsetup(install_requires=['torch==2.12.0'])", 2),
        ("Pipfile", '[packages]\ntorch = "==2.12.0"\n', 2),
        ("poetry.lock", '[[package]]\nname = "torch"\nversion = "2.12.0"\n', 2),
        ("pylock.toml", '[[packages]]\nname = "torch"\nversion = "2.12.0"\n', 2),
        (
            "uv.lock",
            UV_LOCK,
            6,
        ),
        ("environment.yml", "dependencies:\n  - python=3.11\n  - pytorch=2.12.0=py311_0\n", 3),
        ("environment.yml", "dependencies:\n  - pip:\n    - torch==2.12.0 # x\n", 3),
        ("conda-lock.yml", "package:\n- name: pytorch\n  version: 2.12.0\n", 2),
        ("meta.yaml", "requirements:\n  run:\n    - pytorch 2.12.0\n", 3),
    ],
)
def test_each_kind_of_file_is_read_with_the_exact_version_and_its_line(
    path: str, text: str, line: int
) -> None:
    assert ("torch", "2.12.0", line) in _read(path, text)


def test_the_lock_file_of_pipenv_is_read() -> None:
    locked = {"default": {"torch": {"version": "==2.12.0"}}, "develop": {"x": 3}}

    assert _read("Pipfile.lock", json.dumps(locked, indent=1)) == [("torch", "2.12.0", 3)]


@pytest.mark.parametrize(
    ("written", "range_"),
    [
        ("^2.12", "<3,>=2.12"),
        ("^0.4.3", "<0.5,>=0.4.3"),
        ("^0.0.3", "<0.0.4,>=0.0.3"),
        ("~2.12.1", "~=2.12.1"),
        ("~2", "==2.*"),
        ("2.12", "2.12"),
        ("=2.12=build_0", "2.12"),
        ("2.*", "==2.*"),
        ("*", "any version"),
        (">=2,<3", "<3,>=2"),
    ],
)
def test_ranges_in_the_syntax_of_other_tools_are_read(written: str, range_: str) -> None:
    assert str(range_pin("torch", written, 1)) == range_


def test_an_exact_version_is_preferred_to_a_range_and_a_newer_one_to_an_older() -> None:
    exact, newer, wide = (range_pin("torch", text, 1) for text in ("2.1", "2.2", ">=2.9"))
    assert exact
    assert newer
    assert wide

    assert more_specific_pin(None, wide) is wide
    assert more_specific_pin(wide, exact) is exact
    assert more_specific_pin(newer, exact) is newer


@pytest.mark.parametrize("path", ["README.md", "a.txt", "torch.py", "package.json", "docs/conf.py"])
def test_other_files_have_no_requirements(path: str) -> None:
    assert reader_of(path) is None
    assert read_pins(path, b"torch==1.0") == []


@pytest.mark.parametrize("path", NAMES)
def test_every_kind_of_file_is_recognised(path: str) -> None:
    assert reader_of(path) is not None


@given(path=st.sampled_from(NAMES), content=st.binary() | st.text().map(str.encode))
def test_any_content_is_read_or_rejected_with_a_reason(path: str, content: bytes) -> None:
    try:
        pins = read_pins(path, content)
    except ValueError as error:
        assert "invalid format" in str(error)  # noqa: PT017 - both results are valid
    else:
        assert all(pin.line >= 1 for pin in pins)


@given(
    st.sampled_from(NAMES),
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    ),
)
def test_any_structure_is_read_or_rejected(path: str, structure: object) -> None:
    text = json.dumps({"package": structure, "default": structure, "project": structure})
    try:
        pins = read_pins(path, text.encode())
    except ValueError as error:
        assert "invalid format" in str(error)  # noqa: PT017 - both results are valid
    else:
        assert isinstance(pins, list)


@pytest.mark.parametrize("content", [b"\xff", b"[", b"[project]\nname = 3", b"[tool]\npoetry = 1"])
def test_the_name_of_a_project_without_a_name_is_empty(content: bytes) -> None:
    assert project_name(content) == ""
