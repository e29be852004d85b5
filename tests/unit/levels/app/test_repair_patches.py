"""Patches of sub-conditions: their content, and that git applies them."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ciguard.levels.app.repair.patches import (
    add_labels,
    compare_bare_text,
    replace_label,
    replace_threshold,
)
from ciguard.levels.app.repair.thresholds import DecisionLine
from ciguard.levels.app.static_analysis.conditions import Branch
from ciguard.sources import Source, place_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.sources import Place

FILE = "app.py"


def place_in(source: Source, text: str) -> Place:
    """Return the place of the only expression that is written so."""
    (place,) = {
        place_of(node)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.expr) and ast.unparse(node) == ast.unparse(ast.parse(text))
    }
    return place


def applied(source: Source, patch: str) -> str:
    """Return what git makes of a file."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / PurePosixPath(source.file)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(source.text.encode())
        command = ["git", "apply", "--verbose", "-"]
        done = subprocess.run(
            command, cwd=folder, input=patch.encode(), capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode() + patch
        return file.read_bytes().decode()


def made_of(text: str, change: Callable[[Source, Place], str | None], at: str) -> str | None:
    """Return a file of one function after a change of the sub-condition `at`."""
    source = Source(FILE, text)
    patch = change(source, place_in(source, at))
    if patch is None:
        return None
    changed = by_hand(source, patch)
    ast.parse(changed)
    return changed


def by_hand(source: Source, patch: str) -> str:
    """Return what a diff makes of a file, without starting git: for many examples."""
    before, after, at = source.text.split("\n"), list[str](), 0
    for line in patch.split("\n")[2:-1]:
        if line.startswith("@@"):
            start = int(line.split()[1][1:].partition(",")[0]) - 1
            after += before[at:start]
            at = start
        elif not line.startswith("\\"):
            if line[0] in " -":
                assert before[at] == line[1:]
                at += 1
            if line[0] in " +":
                after.append(line[1:])
    return "\n".join(after + before[at:])


@pytest.mark.parametrize(
    ("condition", "at", "expected"),
    [
        ("x == 'fire'", None, "x in ('fire', 'flame')"),
        ("'fire' == x", None, "x in ('fire', 'flame')"),
        ("x != 'fire'", None, "x not in ('fire', 'flame')"),
        ("x in ('fire', 'ash')", None, "x in ('fire', 'ash', 'flame')"),
        ("x in ['fire']", None, "x in ['fire', 'flame']"),
        ("x in {'fire', 'ash'}", None, "x in {'fire', 'ash', 'flame'}"),
        ("x in ('fire',)", None, "x in ('fire', 'flame',)"),
        ("x in ()", None, "x in ('flame',)"),
        ("x in []", None, "x in ['flame']"),
        ("x not in ['fire']", None, "x not in ['fire', 'flame']"),
        ("'fire' in x", None, "'fire' in x or 'flame' in x"),
        ("'fire' not in x", None, "'fire' not in x and 'flame' not in x"),
        ("'fire' in x and y", "'fire' in x", "('fire' in x or 'flame' in x) and y"),
        ("not 'fire' in x", "'fire' in x", "not ('fire' in x or 'flame' in x)"),
        ("'a' in x or 'fire' in x", "'fire' in x", "'a' in x or 'fire' in x or 'flame' in x"),
        ("x == 'a' or x == 'fire'", "x == 'fire'", "x == 'a' or x == 'fire' or x == 'flame'"),
        ("x == 'fire' or x == 'a'", "x == 'fire'", "x == 'fire' or x == 'flame' or x == 'a'"),
        ("y and x == 'fire'", "x == 'fire'", "y and x in ('fire', 'flame')"),
        ("(x == 'fire') or y", "x == 'fire'", "(x == 'fire' or x == 'flame') or y"),
        ("y or x.pop() == 'fire'", "x.pop() == 'fire'", "y or x.pop() in ('fire', 'flame')"),
        ("x.lower() == 'fire'", None, "x.lower() in ('fire', 'flame')"),
        ("'fire' in x.lower()", None, "'fire' in x.lower() or 'flame' in x.lower()"),
        ("'fire' in (x or y)", None, "'fire' in (x or y) or 'flame' in (x or y)"),
        ("(x or y) == 'fire'", None, "(x or y) in ('fire', 'flame')"),
        ("x == ('fi'\n  're')", None, "x in (('fi'\n  're'), 'flame')"),
        ("x in (\n  'fire',  # hot\n  'ash'\n )", "x in ('fire', 'ash')",
         "x in (\n  'fire',  # hot\n  'ash', 'flame'\n )"),
        ("'é🔥' in x or 'fire' in x", "'fire' in x", "'é🔥' in x or 'fire' in x or 'flame' in x"),
        ("x in ALONE", None, "x in ALONE"),
        ("x in SHARED", None, "x in (*SHARED, 'flame')"),
        ("x == TEXT", None, "x in (TEXT, 'flame')"),
        ("TEXT in x", None, "TEXT in x or 'flame' in x"),
    ],
)  # fmt: skip
def test_add_labels_writes_idiomatic_comparisons(
    condition: str, at: str | None, expected: str
) -> None:
    head = "ALONE: list[str] = ['fire']\nSHARED = ['fire']\nTEXT = 'fire'\nprint(SHARED)\n"
    program = head + "if (%s):\n    print('yes')\n"

    changed = made_of(
        program % condition, lambda source, at: add_labels(source, at, ["flame"]), at or condition
    )

    if "ALONE" in condition:
        program = program.replace("= ['fire']", "= ['fire', 'flame']", 1)
    assert changed == program % expected


def test_add_labels_writes_parentheses_where_lines_need_them() -> None:
    source = Source(FILE, "if x and 'fire' in (y\n or z): pass\n")

    patch = add_labels(source, place_in(source, "'fire' in (y or z)"), ["a", "b"])

    assert patch is not None
    assert "('fire' in (y\n+ or z) or 'a' in (y\n+ or z) or 'b' in (y\n+ or z))" in patch


@pytest.mark.parametrize(
    "condition",
    [
        "x", "x < 'fire'", "'a' < x < 'fire'", "x == y", "x == 1", "x in y", "x in (1, 'fire')",
        "x in 'fire, ash'", "'fire' in next(x)", "'fire' in [a for a in next(x)]", "x is 'fire'",
        "x == 'flame'", "x in ('fire', 'flame')", "'fire' in ['fire']", "x in {'fire': 1}",
        "x == {'fire': 1}", "x in KEYS",
        "x == ['fire']", "x in [('fire')]", "x in CHANGED", "x in EXTENDED", "x in PARAMETER",
        "x in ('fire', *y)", "'fire' in (await_ := x)", "x in LISTS[0]", "x in WORD",
    ],
)  # fmt: skip
def test_add_labels_leaves_unsupported_code_alone(condition: str) -> None:
    program = f"""
CHANGED = ['fire']
CHANGED = ['ash']
EXTENDED = ['fire']
EXTENDED.append('ash')
PARAMETER = ['fire']
WORD = 'fire'
KEYS = {{'fire': 1}}
LISTS = [['fire']]
def f(PARAMETER): pass
if {condition}: pass
"""

    add = made_of(program, lambda source, at: add_labels(source, at, ["flame"]), condition)

    assert add is None


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x == 'fires'", "x == 'Fire'"),
        ("x in ['ash', 'fires']", "x in ['ash', 'Fire']"),
        ("x in ['fires', 'ash', 'fires']", "x in ['Fire', 'ash', 'Fire']"),
        ("'fires' in x", "'Fire' in x"),
        ("'fires' != x", "'Fire' != x"),
        ("x == TEXT", "x == 'Fire'"),
        ("x in ALONE", "x in ALONE"),
        ("x == 'fire'", None),
        ("x in SHARED", None),
        ("x == f('fires')", None),
    ],
)
def test_replace_label_changes_only_the_label(condition: str, expected: str | None) -> None:
    head = "ALONE = ['fires']\nSHARED = ['fires']\nTEXT = 'fires'\nprint(SHARED, TEXT)\n"

    changed = made_of(
        f"{head}if {condition}: pass\n",
        lambda source, at: replace_label(source, at, "fires", "Fire"), condition,
    )  # fmt: skip

    if "ALONE" in condition:
        head = head.replace("ALONE = ['fires']", "ALONE = ['Fire']")
    assert changed == (None if expected is None else f"{head}if {expected}: pass\n")


@pytest.mark.parametrize(
    ("condition", "text", "expected"),
    [
        ("x.name == 'dog' or 'animal'", "'animal'", "x.name == 'dog' or x.name == 'animal'"),
        ('x == "dog" or "a" or "b"', "'a'", 'x == "dog" or x == "a" or "b"'),
        ("'a' or x == 'dog' or 'a'", "'a'", "x == 'a' or x == 'dog' or x == 'a'"),
        ("'dog' in x or 'animal'", "'animal'", "'dog' in x or 'animal' in x"),
        ("x in ('a', 'b') or 'c'", "'c'", "x in ('a', 'b') or x == 'c'"),
        ("x != 'dog' and 'animal'", "'animal'", "x != 'dog' and x != 'animal'"),
        ("not (x == 'dog' or 'a')", "'a'", "not (x == 'dog' or x == 'a')"),
        ("x == 'dog' or y == 'cat' or 'a'", "'a'", None),
        ("next(x) == 'dog' or 'a'", "'a'", None),
        ("x or 'a'", "'a'", None),
        ("x == 'dog' or 1", "1", None),
        ("x == 'dog' or 'a'", "'b'", None),
    ],
)
def test_compare_bare_text_copies_the_neighbouring_comparison(
    condition: str, text: str, expected: str | None
) -> None:
    program = "for x in y:\n    if {}:\n        pass\n"
    branch = Branch(FILE, 2, 7, ast.unparse(ast.parse(condition)), (text,))

    changed = made_of(
        program.format(condition),
        lambda source, _: compare_bare_text(source, branch, text),
        condition,
    )

    assert changed == (None if expected is None else program.format(expected))


@pytest.mark.parametrize(
    ("condition", "line", "expected"),
    [
        ("m.score > 0", DecisionLine(1, 0, -0.2), "m.score > 0.2"),
        ("0 <= m.score", DecisionLine(-1, 0, 0.2), "m.score < 0.2"),
        ("m.score > -0.5", DecisionLine(1, -0.1, 0.3), "m.score - 0.1 * m.magnitude + 0.3 > 0"),
        ("m['score'] > 0", DecisionLine(-1, 0.5, 0), "-m['score'] + 0.5 * m['magnitude'] > 0"),
        ("a and not m.score > 0", DecisionLine(1, 1, 0), "a and not m.score + m.magnitude > 0"),
        ("m > 0", DecisionLine(1, 0, -0.2), "m > 0.2"),
        ("m > 0", DecisionLine(1, 1, 0), None),
        ("f(m).score > 0", DecisionLine(1, 1, 0), None),
        ("f(m).score > 0", DecisionLine(1, 0, 0), None),  # as it is
        ("f(m).score > 0", DecisionLine(1, 0, -1), "f(m).score > 1"),
        ("m.score == 0", DecisionLine(1, 0, 0), None),
        ("m.score > n", DecisionLine(1, 0, 0), None),
        ("0 < m.score < 1", DecisionLine(1, 0, 0), None),
        ("1 < 2", DecisionLine(1, 0, 0), None),
    ],
)
def test_replace_threshold_rewrites_the_comparison(
    condition: str, line: DecisionLine, expected: str | None
) -> None:
    source = Source(FILE, f"if {condition}: pass\n")
    at = condition.removeprefix("a and not ")

    patch = replace_threshold(source, place_in(source, at), line)

    if expected is None:
        assert patch is None
    else:
        assert patch is not None
        assert by_hand(source, patch) == f"if {expected}: pass\n"


SHAPES = {
    "plain": "# é\nif x == 'fire':\n    pass\n",
    "crlf": "# é\r\nif x == 'fire':\r\n    '''a\r\nb'''\r\n",
    "cr": "# é\rif x == 'fire':\r    pass\r",
    "no final newline": "y = 1\nif x == 'fire': pass",
    "tabs": "def f(x):\n\tif 'é🔥\t' in x and x == 'fire':\n\t\tpass\n",
    "mark": "\ufeffif x == 'fire': pass\n",
    "separators": "y = 'a\x0cb\u2028c\x85d'\nif x == 'fire': pass\n",
    "long": "y = 1\n" * 300 + "if x == 'fire': pass\n" + "y = 1\n" * 300,
    "form feed": "y = 1\n\x0c\nif 1:\n\x0c    if x == 'fire': pass\n",
}


@pytest.mark.parametrize("file", ["app.py", "src/my app.py", "é/日本.py", 'qu"ote\\.py', "a\tb.py"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.lengthy
def test_patch_applies_with_git_to_all_kinds_of_files(shape: str, file: str) -> None:
    source = Source(file, SHAPES[shape])

    patch = add_labels(source, place_in(source, "x == 'fire'"), ["flame"])

    assert patch is not None
    expected = SHAPES[shape].replace("x == 'fire'", "x in ('fire', 'flame')")
    assert applied(source, patch) == expected


def test_diff_of_a_path_with_a_space_ends_with_a_tab() -> None:
    source = Source("my app.py", SHAPES["plain"])

    patch = add_labels(source, place_in(source, "x == 'fire'"), ["flame"]) or ""

    assert patch.startswith("--- a/my app.py\t\n+++ b/my app.py\t\n@@ ")


def test_patch_of_an_empty_position_is_none() -> None:
    source = Source(FILE, "if x == 'fire': pass\n")

    assert add_labels(source, (1, 0, 1, 3), ["flame"]) is None
    assert replace_label(source, (9, 0, 9, 3), "fire", "flame") is None


# --- random programs ------------------------------------------------------------------------------

labels = st.one_of(
    st.sampled_from(["fire", "ash", "Flame", "it's", 'say "hi"', "a\\b", "é", "🔥", "\n", "{x}"]),
    st.text(max_size=4),
)
operands = st.sampled_from(["x", "x.lower()", "(x)", "x.strip().lower()", "(x or 'fire')"])


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[str, str]:
    """Return a comparison, and what it should be once `MORE` is compared with as well."""
    label, operand = repr(draw(labels)), draw(operands)
    several = ", ".join(map(repr, draw(st.lists(labels, min_size=2, max_size=3))))
    one, within = f"{operand} in MORE", f"any(label in {operand} for label in MORE)"
    return draw(st.sampled_from([
        *((text, f"(({text}) or {one})") for text in (
            f"{operand} == {label}", f"{label} == {operand}", f"{operand} in ({several})",
            f"{operand} in [{several},]", f"{operand} in NAMES", f"{operand} == NAME",
        )),
        *((text, f"(({text}) or {within})") for text in (
            f"{label} in {operand}", f"NAME in {operand}",
        )),
        *((text, f"(({text}) and not {one})") for text in (
            f"{operand} != {label}", f"{operand} not in {{{several}}}",
        )),
        (f"{label} not in {operand}", f"(({label} not in {operand}) and not {within})"),
    ]))  # fmt: skip


SHAPES_OF_CONDITIONS = [
    "LEFT", "not LEFT", "(LEFT)", "LEFT or RIGHT", "RIGHT or LEFT", "RIGHT and LEFT",
    "not (RIGHT or LEFT)", "RIGHT if LEFT else True", "(RIGHT) == (LEFT)",
]  # fmt: skip


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, str, str, str]:
    """Return a program up to a sub-condition, that, what it should be, and the rest."""
    (left, wanted), (right, _) = draw(comparisons()), draw(comparisons())
    before, _, after = draw(st.sampled_from(SHAPES_OF_CONDITIONS)).partition("LEFT")
    head = [
        f"NAMES = [{draw(labels)!r}, {draw(labels)!r}]",
        f"NAME = {draw(labels)!r}",
        *draw(st.lists(st.just("print(NAMES, NAME)"), max_size=1)),
        "def decide(x):",
        f"    return bool({before.replace('RIGHT', right)}",
    ]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join(head), left, wanted, f"{after.replace('RIGHT', right)})"


def decided(program: str, more: list[str], text: str) -> object:
    scope: dict[str, Any] = {"print": lambda *_: None, "MORE": more}
    exec(program, scope)
    return scope["decide"](text)


@settings(max_examples=300)
@given(programs(), st.lists(labels, min_size=1, max_size=3), st.lists(labels))
@pytest.mark.lengthy
def test_add_labels_changes_only_the_results_for_new_labels(
    program: tuple[str, str, str, str], more: list[str], texts: list[str]
) -> None:
    before, left, wanted, after = program
    lines = before.splitlines()
    line, start = len(lines), len(lines[-1].encode())
    source = Source(FILE, before + left + after)

    patch = add_labels(source, (line, start, line, start + len(left.encode())), more)

    changed = by_hand(source, patch) if patch else source.text
    for text in (*more, *texts, "fire", ""):
        assert decided(changed, more, text) == decided(before + wanted + after, more, text)
    pairs = zip(source.text.split("\n"), changed.split("\n"), strict=True)
    different = [at for at, (old, new) in enumerate(pairs, 1) if old != new]
    assert different in ([], [line], [1] if " in NAMES" in left else [line])
    assert bool(different) is (patch is not None)


@settings(max_examples=20)
@given(programs(), st.lists(labels, min_size=1, max_size=3))
def test_patch_applied_by_git_equals_the_patch_applied_by_the_tests(
    program: tuple[str, str, str, str], more: list[str]
) -> None:
    before, left, _, after = program
    source = Source(FILE, before + left + after)
    start = len(before.splitlines()[-1].encode())
    line = len(before.splitlines())

    patch = add_labels(source, (line, start, line, start + len(left.encode())), more)

    if patch is not None:
        assert applied(source, patch) == by_hand(source, patch)
