"""Changes of files that leave everything else as it stands."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from ciguard.sources import Source, opening, read_source

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_with_lines_uses_the_line_ends_of_the_file(end: str, mark: str) -> None:
    source = Source("a.py", f"{mark}a{end}b\x0cc{end}d")

    changed = source.with_lines({1: ["x"], 3: ["y", "z"]}, [2])

    assert changed == f"{mark}x{end}a{end}y{end}z{end}d"


def test_with_lines_appends_at_the_end() -> None:
    assert Source("a.py", "a\n").with_lines({2: ["b"]}) == "a\nb\n"


def test_spliced_replaces_the_text_of_an_expression() -> None:
    source = Source("a.py", "\ufeffé = 'ü'; n = 12  # twelve\r\n")
    number = next(
        node
        for node in source.nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, int)
    )

    assert source.text_with_replacement(number, "6") == "\ufeffé = 'ü'; n = 6  # twelve\r\n"


@pytest.mark.parametrize(
    ("text", "all_imports", "of_future"),
    [
        ("", 0, 0),
        ("x = 1", 0, 0),
        ('"""Text."""\nfrom __future__ import annotations\nimport a\nx = 1\nimport b', 3, 2),
        ("import a\n'text'", 2, 0),
    ],
)
def test_opening_counts_docstring_and_imports(text: str, all_imports: int, of_future: int) -> None:
    tree = ast.parse(text)

    assert opening(tree) == all_imports
    assert opening(tree, with_imports=False) == of_future


@pytest.mark.parametrize(
    ("content", "is_read"),
    [
        (b"x = 1\r\n", True),
        ("\ufeffx = 'é'".encode(), True),
        ("x = 'é'".encode("latin-1"), False),
        (b"# coding: latin-1\nx = 1\n", False),
        (b"# coding: nonsense\n", False),
        (b"x = \n", False),
        (b"x = '\0'", False),
        (b"", True),
    ],
)  # fmt: skip
def test_read_source_accepts_only_python_in_utf8(
    tmp_path: Path,
    content: bytes,
    is_read: bool,  # noqa: FBT001
) -> None:
    (tmp_path / "a.py").write_bytes(content)

    source = read_source(tmp_path, "a.py")

    assert source == (Source("a.py", content.decode()) if is_read else None)


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        ("y = a * b", "c + d", "y = a * (c + d)"),
        ("y = a * b", "c", "y = a * c"),
        ("y = a * (b)", "c + d", "y = a * (c + d)"),
        ("y = a * b", "c d", None),
        ("y = a * b", "b", None),
    ],
)
def test_replaced_preserves_the_meaning_of_other_code(
    text: str, other: str, expected: str | None
) -> None:
    source = Source("a.py", text)
    node = next(item for item in source.nodes if isinstance(item, ast.Name) and item.id == "b")

    diff = source.replacement_diff({node: other})

    assert (diff and diff.splitlines()[-2]) == (expected and f"+{expected}")
