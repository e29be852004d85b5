"""A library is one folder: elsewhere few files name one, each for the reason that it has here."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from ciguard.libraries import LIBRARIES

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ciguard"
FOLDERS = PACKAGE / "libraries"
OWN = sorted(
    library.module
    for library in LIBRARIES.items().values()
    if library.has_api and library.adapter.is_relative_to(FOLDERS)
)
NAME = re.compile(rf"(?:{'|'.join(OWN)})(?:\.[\w.]*)?")
"""A library, or something in it, by its qualified name."""

ONE_LIBRARY_S_TWIN = "a relation that one library alone has: its twin is made of these functions"
ONE_LIBRARY_S_NOTION = "a notion that one library alone has, with the names that it has there"
KERAS_GRAPHS = "level `model` is Keras's: graphs of its layers run on other libraries"
KERAS_TWICE = "two names of the same layers in programs: Keras, and what TensorFlow brings"
WRITTEN_SO = "a spelling in documentation or in programs, which are read and never imported"

NAMED = {
    "domain/models.py": KERAS_GRAPHS,
    "functions/checking/annotations.py": "names that conditions in annotations may use unimported",
    "functions/in_target/calling/judging.py": "the dtype that numpy lacks, by its text",
    "functions/in_target/describing/locations.py": "layers of Keras are called, not their `call`",
    "functions/solving/expressions.py": WRITTEN_SO,
    "knowledge/compose.py": ONE_LIBRARY_S_NOTION,
    "knowledge/families.py": "the rules of families name APIs; methods share those of functions",
    "knowledge/family_rules/tensorflow_codecs.py": "rules of a family of APIs, by their names",
    "knowledge/family_rules/tensorflow_handles.py": "rules of a family of APIs, by their names",
    "announcements/release_notes.py": "modules that release notes abbreviate",
    "knowledge/layers.py": "rules of layers' inputs, by the names of the layers",
    "knowledge/mining/files.py": "projects whose documentation rules were learned from",
    "knowledge/mining/keywords.py": WRITTEN_SO,
    "knowledge/refinement/objects.py": "APIs that make objects which arguments may be",
    "levels/code/knowledge.py": KERAS_TWICE,
    "levels/code/syntax.py": KERAS_TWICE,
    "levels/model/arguments.py": KERAS_GRAPHS,
    "levels/model/battery.py": KERAS_GRAPHS,
    "levels/model/edits.py": KERAS_GRAPHS,
    "levels/model/isolation.py": KERAS_GRAPHS,
    "levels/model/layers.py": KERAS_GRAPHS,
    "levels/model/level.py": KERAS_GRAPHS,
    "levels/model/seed_sources.py": KERAS_GRAPHS,
    "levels/model/seeding.py": KERAS_GRAPHS,
    "oracles/preconditions.py": "documented preconditions of functions that backends compute",
    "oracles/specifications/sentences.py": WRITTEN_SO,
    "oracles/relations/batches.py": ONE_LIBRARY_S_TWIN,
    "oracles/relations/binary_functions.py": "functions that are none, in spite of their names",
    "oracles/relations/devices.py": ONE_LIBRARY_S_TWIN,
    "oracles/relations/entry_points.py": ONE_LIBRARY_S_TWIN,
    "oracles/relations/gradients.py": ONE_LIBRARY_S_TWIN,
    "oracles/relations/modes.py": ONE_LIBRARY_S_TWIN,
    "oracles/relations/promotion.py": ONE_LIBRARY_S_TWIN,
    "oracles/relations/scalars.py": "the relation is a promise of this library's documentation",
    "oracles/relations/reductions.py": ONE_LIBRARY_S_TWIN,
    "oracles/relations/strided_memory.py": ONE_LIBRARY_S_TWIN,
    "suggesting/suggest.py": "where programs import it, what looks like an array is a tensor",
    "suggesting/body.py": "where programs import it, what looks like an array is a tensor",
    "suggesting/conditions.py": WRITTEN_SO,
    "suggesting/library.py": "bounds of arguments that documentation leaves open, by API",
    "suggesting/literals.py": WRITTEN_SO,
}
"""Files outside of `ciguard/libraries` that name a library, each with the reason why it may."""


def names_in(path: Path) -> set[str]:
    """Return the names of libraries among a file's texts; what stands in prose is none."""
    tree = ast.parse(path.read_text("utf-8"))
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {text for text in texts if isinstance(text, str) and NAME.fullmatch(text)}


def found() -> dict[str, set[str]]:
    files = sorted(path for path in PACKAGE.rglob("*.py") if FOLDERS not in path.parents)
    named = {path.relative_to(PACKAGE).as_posix(): names_in(path) for path in files}
    return {file: names for file, names in named.items() if names}


def test_libraries_are_named_only_in_their_folder_or_listed_files() -> None:
    new = {file: sorted(names) for file, names in found().items() if file not in NAMED}

    assert not new, f"say it in the library's description (docs/extending.md): {new}"


def test_listed_files_name_a_library() -> None:
    gone = sorted(set(NAMED) - set(found()))

    assert not gone, f"take them off the list: {gone}"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ('LIBRARY = "keras"', {"keras"}),
        ('call("torch.nn.Linear")', {"torch.nn.Linear"}),
        ('name.startswith("jax.")', {"jax."}),
        ('"""What torch does."""', set()),
        ("import torch", set()),
        ('"torchvision"', set()),
    ],
)
def test_names_are_detected_in_strings_only(tmp_path: Path, source: str, names: set[str]) -> None:
    path = tmp_path / "some.py"
    path.write_text(source, "utf-8")

    assert names_in(path) == names
