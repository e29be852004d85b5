"""What belongs to one level or oracle is asked of it: who names one elsewhere is counted."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
OF_LEVELS = {"AppCase", "FunctionCase", "ModelCase", "ProgramCase"}
"""Kinds of cases that one level alone makes."""
CALLS = {
    "announcements/observed.py": "finds the arguments of a call that documentation may name",
    "campaign/stages/detect.py": "keeps calls, into whose APIs defects are planted",
    "campaign/stages/relatives.py": "repeats calls on APIs with the same parameters",
    "campaign/stages/equivalents.py": "an equivalence is defined between calls",
    "campaign/rating.py": "holds the arguments of a call against what its API documents",
    "campaign/stages/suspects.py": "calls are measured, on larger and larger arguments",
    "oracles/across_libraries.py": "an equivalence is defined between calls",
    "oracles/specifications/violations.py": "a specification is about a parameter of an API",
    "oracles/relations/contract.py": "a relation is defined on calls",
    "triage/neighbours.py": "varies the arguments of a call",
    "triage/reach.py": "looks for arguments that public functions do not pass on",
    "triage/realism.py": "weighs how plain the arguments of a call are",
}
"""Files that ask whether a case is a call of an API, which every level comes down to, and why."""

OF_CLOUDS = re.compile(r"cloud|google|(?<![a-z])aws(?![a-z])|azure", re.IGNORECASE)
"""Words of what level `app` alone tests: services, and who provides them."""
CLOUDS = {
    "functions/in_target/describing/notes.py": "a style of docstrings is named after one",
    "libraries/in_target/docstrings.py": "a style of docstrings is named after one",
    "libraries/services/description.py": "distributions of clients that targets hold",
    "libraries/services/in_target/adapter.py": "modules of those clients",
    "targets/variables.py": "variables that may hold secrets",
}
"""Files outside of the level that hold such a word, and why."""


@cache
def outside() -> dict[str, ast.Module]:
    """Return every source but those of the levels, and of the domain, which defines the cases."""
    files = sorted((ROOT / "ciguard").rglob("*.py"))
    named = {file.relative_to(ROOT / "ciguard").as_posix(): file for file in files}
    return {
        name: ast.parse(file.read_text("utf-8"))
        for name, file in named.items()
        if not name.startswith("domain/") and not (name.startswith("levels/") and "/" in name[7:])
    }


def names_in(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                yield name
            case _:
                pass


def test_case_kinds_of_a_level_are_named_only_in_its_package() -> None:
    culprits = {
        name: found for name, tree in outside().items() if (found := OF_LEVELS & {*names_in(tree)})
    }

    assert not culprits


def test_checks_for_api_calls_are_listed_with_a_reason() -> None:
    asking = {
        name for name, tree in outside().items() if any(map(_asks_for_a_call, ast.walk(tree)))
    }

    assert asking == set(CALLS)


def _asks_for_a_call(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
            return "ApiCall" in ast.unparse(kinds)
        case ast.MatchClass(cls=ast.Name(id="ApiCall")):
            return True
        case _:
            return False


def test_no_module_outside_imports_from_a_levels_package() -> None:
    levels = tuple(
        f"ciguard.levels.{path.parent.name}" for path in ROOT.glob("ciguard/levels/*/spec.py")
    )

    naming = {
        name
        for name, tree in outside().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(levels)
    }

    assert len(levels) == 6
    assert not naming


def test_names_of_cloud_providers_outside_of_the_level_are_listed_with_a_reason() -> None:
    package = ROOT / "ciguard"
    texts = {
        file.relative_to(package).as_posix(): file.read_text("utf-8")
        for pattern in ("*.py", "*.toml", "*.j2", "*.js", "*.css", "*.jsonl", "*.tsv", "*.txt")
        for file in package.rglob(pattern)
    }

    naming = {
        name
        for name, text in texts.items()
        if OF_CLOUDS.search(text) and not name.startswith("levels/app/")
    }

    assert naming == set(CLOUDS)


def test_oracle_names_occur_only_in_oracles() -> None:
    culprits = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, tree in outside().items()
        if not name.startswith("oracles/")
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and _compares_an_oracle_with_a_name(node)
    ]

    assert not culprits


def _compares_an_oracle_with_a_name(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    asked = [isinstance(side, ast.Attribute) and side.attr == "oracle" for side in sides]
    return any(asked) and not all(asked)
