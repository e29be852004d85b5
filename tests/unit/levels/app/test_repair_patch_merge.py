"""Merged patches of a file, applied by git."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ciguard.levels.app.repair.patch_merge import merge_file_patches
from ciguard.sources import Source


def patch_of(source: Source, old: str, new: str, nth: int = 0) -> str:
    """Return the patch that writes another text for the n-th literal of one."""
    nodes = [node for node in ast.walk(source.tree) if isinstance(node, ast.Constant)]
    several = sorted(
        (node for node in nodes if node.value == old), key=lambda one: (one.lineno, one.col_offset)
    )
    patch = source.replacement_diff({several[nth]: repr(new)})
    assert patch is not None
    return patch


def applied(source: Source, patch: str) -> str:
    with TemporaryDirectory() as name:
        file = Path(name) / source.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(source.text.encode())
        command = ["git", "apply", "-"]
        done = subprocess.run(
            command, cwd=name, input=patch.encode(), capture_output=True, check=False
        )
        assert not done.returncode, done.stderr.decode() + patch
        return file.read_bytes().decode()


@pytest.mark.parametrize("file", ["app.py", "with space/app.py", 'quo"ted.py', "größe.py"])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_patches_of_one_line_and_of_neighbouring_lines_are_merged(
    file: str, end: str, mark: str
) -> None:
    lines = ["x = 'ä'", "if x == 'one' or x == 'two':", "    y = 'three'", "z = x == 'four'"]
    source = Source(file, mark + (end or "\n").join(lines) + end)
    words = ["one", "two", "three", "four"]
    patches = [patch_of(source, word, word.upper()) for word in words]

    patch, left_out = merge_file_patches(source, patches)

    assert left_out == ()
    expected = source.text
    for word in words:
        expected = expected.replace(f"'{word}'", f"'{word.upper()}'")
    assert applied(source, patch) == expected


def test_merge_keeps_the_first_of_two_overlapping_patches() -> None:
    source = Source("app.py", "x = 'one'\ny = 'two'\n")
    first, second = patch_of(source, "one", "1"), patch_of(source, "one", "eins")
    other = patch_of(source, "two", "2")

    patch, left_out = merge_file_patches(source, [first, second, first, other])

    assert left_out == (second,)
    assert applied(source, patch) == "x = '1'\ny = '2'\n"


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(["a b", "c", "", "a\\nb", "ä€"]), min_size=1, max_size=8),
    st.lists(st.integers(0, 7), max_size=8, unique=True),
)
def test_merged_patch_contains_all_changes(words: list[str], chosen: list[int]) -> None:
    lines = [f"v{at} = [{word!r}, 'at {at}']" for at, word in enumerate(words)]
    source = Source("app.py", "\n".join(lines) + "\n")
    changed = sorted(at for at in chosen if at < len(words))
    patches = [patch_of(source, f"at {at}", f"new {at}") for at in changed]

    patch, left_out = merge_file_patches(source, patches)

    assert left_out == ()
    expected = source.text
    for at in changed:
        expected = expected.replace(f"'at {at}'", f"'new {at}'")
    assert (applied(source, patch) if patch else source.text) == expected
