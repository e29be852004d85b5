"""The folders are the architecture: every import of the package is walked, culprits are named."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ciguard"

ORDER = (
    {"errors", "files", "interrupts", "registry", "annotations", "programs", "project", "__init__"},
    {"sources"},
    {"domain"},
    {"config"},
    {"values"},
    {"libraries"},
    {"knowledge"},
    {"targets"},
    {"execution"},
    {"writing"},
    {"functions"},
    {"applications"},
    {"levels"},
    {"oracles"},
    {"triage"},
    {"baseline"},
    {"campaign"},
    {"levels.api", "levels.model", "levels.code", "levels.function"},
    {"levels.app"},
    {"planning"},
    {"suggesting"},
    {"reports", "trackers"},
    {"actions"},
    {"cli"},
    {"pytest_items"},
    {"pytest_plugin"},
    {"__main__"},
)
"""Rooms from left to right; those of one set know nothing of each other."""
LEVELS = {room for rooms in ORDER for room in rooms if room.startswith("levels.")}
"""Rooms inside a room: nothing but `config/levels.py` names them, as text."""
HEIGHT = {room: height for height, rooms in enumerate(ORDER) for room in rooms}
MAY_IMPORT = {
    "registry": {"errors"},
    "files": set[str](),
    "programs": set[str](),
    "project": {"files", "programs"},
    "sources": {"files"},
    "__main__": {"cli"},
}
"""What a room at the bottom or at the top may import, where that is less than all below it."""

INNER_ORDER = {
    "functions": (
        "in_target", "specs", "solving", "drawing", "checking", "hosting", "writing", "searching",
    ),
    "functions/in_target": ("describing", "calling"),
    "applications": (
        "in_target", "providers", "finding", "judging", "inverting", "answering", "emulating",
        "repairing", "exploring", "assessing",
    ),
}  # fmt: skip
"""Packages inside a room from left to right; what lies beside them is to the right of all."""

MODULES_ARE_DOORS = {"domain"}
"""Rooms whose modules are imported from: each is one part of the vocabulary."""
MAX_OFFERED = 45
"""Names at one door."""

WORKER = "execution/worker"
IN_TARGET = "in_target"
"""Runs inside the target's interpreter: oldest Python, and no door can be opened there."""
SHARED = {
    "ciguard.execution.worker.fills",
    "ciguard.execution.worker.layer_weights",
    "ciguard.execution.worker.samples",
}
"""Worker code that the orchestrator runs or writes into scripts, since all must make the same
elements: no door in the target could offer it."""
COPIED = "ciguard/annotations/"
"""Folder of which a program may carry a copy: its own imports are relative."""
OLDEST = (3, 9)
UNDER_TEST = {
    "torch", "tensorflow", "jittor", "jittor_utils", "keras", "jax", "jaxlib",
    "azure", "boto3", "botocore", "google", "grpc", "msrest", "requests", "urllib3",
}  # fmt: skip
"""Libraries, and clients of services that applications bring."""
NEWER_CALLS = {
    "dataclass": {"slots", "kw_only"},
    "zip": {"strict"},
}
"""Arguments that Python 3.9 does not know."""


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module or name."""

    file: str
    line: int
    module: str
    name: str
    """Empty for `import module`."""

    @property
    def importer(self) -> str:
        """The room that imports."""
        return room_of_file(self.file)

    @property
    def room(self) -> str:
        """The room that is imported; empty for other packages."""
        package, _, rest = self.module.partition(".")
        if package != "ciguard":
            return ""
        first, _, below = rest.partition(".")
        level = f"{first}.{below.partition('.')[0] or self.name}"
        return (
            level
            if level in LEVELS
            else first or (self.name if self.name in HEIGHT else "__init__")
        )

    def __str__(self) -> str:
        """Name the culprit."""
        what = f"from {self.module} import {self.name}" if self.name else f"import {self.module}"
        return f"{self.file}:{self.line}: {what}"


def room_of_file(file: str) -> str:
    parts = Path(file).relative_to("ciguard").parts
    level = ".".join(parts[:2])
    return level if level in LEVELS else parts[0] if len(parts) > 1 else Path(parts[0]).stem


@cache
def sources() -> dict[str, ast.Module]:
    files = sorted(PACKAGE.rglob("*.py"))
    return {f.relative_to(ROOT).as_posix(): ast.parse(f.read_text("utf-8")) for f in files}


def imports_of(file: str, tree: ast.Module) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(file, node.lineno, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level or file.startswith(COPIED), f"{file}:{node.lineno}: relative"
            module = f"ciguard.annotations.{node.module}" if node.level else node.module or ""
            yield from (Import(file, node.lineno, module, alias.name) for alias in node.names)


@cache
def every_import() -> tuple[Import, ...]:
    return tuple(found for file, tree in sources().items() for found in imports_of(file, tree))


@cache
def own_imports() -> tuple[Import, ...]:
    return tuple(found for found in every_import() if found.room)


def runs_in_target(file: str) -> bool:
    folder = file.rpartition("/")[0]
    return folder.startswith(f"ciguard/{WORKER}") or IN_TARGET in folder.split("/")


def door(package: str) -> set[str]:
    """Return the names that a package's `__all__` offers."""
    tree = sources()[f"ciguard/{package.replace('.', '/')}/__init__.py"]
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return set(names)
    return set()


def is_to_the_left(found: Import) -> bool:
    if found.importer in MAY_IMPORT:
        return found.room in MAY_IMPORT[found.importer] | {"__init__"}
    return HEIGHT[found.room] < HEIGHT[found.importer]


def goes_through_the_door(found: Import) -> bool:
    if (PACKAGE / f"{found.room}.py").is_file() or found.room == "__init__":
        return True
    if found.module in SHARED:
        return True
    if found.room in MODULES_ARE_DOORS:
        return True
    inner = found.module.removeprefix("ciguard.")
    return (PACKAGE / inner.replace(".", "/")).is_dir() and found.name in door(inner)


def test_every_room_has_its_place_in_the_order() -> None:
    rooms = {room_of_file(file) for file in sources()}

    assert rooms <= set(HEIGHT), f"no place in ORDER: {sorted(rooms - set(HEIGHT))}"


def test_the_picture_shows_every_room_in_the_order() -> None:
    picture = runpy.run_path(str(ROOT / "docs" / "picture.py"))
    shown = [room for rooms in picture["BANDS"].values() for room in rooms]

    assert set(shown) == {room for room in HEIGHT if (PACKAGE / room.replace(".", "/")).is_dir()}
    assert [HEIGHT[room] for room in shown] == sorted(HEIGHT[room] for room in shown)


def test_a_room_imports_only_from_rooms_to_its_left() -> None:
    culprits = [f for f in own_imports() if f.room != f.importer and not is_to_the_left(f)]

    assert not culprits, "imports from the right:\n" + "\n".join(map(str, culprits))


def test_the_packages_inside_a_room_keep_to_their_order() -> None:
    culprits = [
        found for found in own_imports() for room in INNER_ORDER if not _keeps_order(found, room)
    ]

    assert not culprits, "imports from the right:\n" + "\n".join(map(str, culprits))


def _keeps_order(found: Import, room: str) -> bool:
    importer = found.file.removeprefix("ciguard/")
    imported = found.module.removeprefix("ciguard.").replace(".", "/") + "/"
    if not (importer.startswith(f"{room}/") and imported.startswith(f"{room}/")):
        return True
    return _inner_height(imported, room) <= _inner_height(importer, room)


def _inner_height(path: str, room: str) -> int:
    packages = INNER_ORDER[room]
    first = path.removeprefix(f"{room}/").partition("/")[0]
    return packages.index(first) if first in packages else len(packages)


def test_every_package_inside_an_ordered_room_has_its_place() -> None:
    for room, packages in INNER_ORDER.items():
        there = {path.parent.name for path in (PACKAGE / room).glob("*/__init__.py")}

        assert there == set(packages), room


def test_no_two_rooms_import_each_other_in_a_circle() -> None:
    needs: dict[str, set[str]] = {}
    for found in own_imports():
        if found.room != found.importer:
            needs.setdefault(found.importer, set()).add(found.room)

    assert circle_of(needs) == []


def test_no_two_files_import_each_other_in_a_circle_not_even_for_types() -> None:
    needs = {module_of(file): set[str]() for file in sources()}
    for found in own_imports():
        submodule = f"{found.module}.{found.name}"
        needed = submodule if submodule in needs else found.module
        if needed != module_of(found.file):
            needs[module_of(found.file)].add(needed)

    assert circle_of(needs) == []


def module_of(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def circle_of(needs: dict[str, set[str]]) -> list[str]:
    """Return the names of a circle of dependencies; none if there is none."""
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle
    return []


def test_code_outside_a_room_uses_its_door() -> None:
    culprits = [
        found
        for found in own_imports()
        if found.room != found.importer
        and not runs_in_target(found.file)
        and not goes_through_the_door(found)
    ]

    assert not culprits, "past the door:\n" + "\n".join(map(str, culprits))


def test_every_room_offers_something_at_its_door_or_at_those_of_its_packages() -> None:
    packages = [file for file in sources() if file.endswith("/__init__.py") and file.count("/") > 1]
    offering = {room_of_file(file) for file in packages if door(package_of(file))}

    bare = {room_of_file(file) for file in packages} - offering - MODULES_ARE_DOORS - LEVELS

    assert not bare, f"no __all__: {bare}"


def package_of(file: str) -> str:
    return file.removeprefix("ciguard/").removesuffix("/__init__.py").replace("/", ".")


def test_no_door_offers_more_than_a_reader_can_take_in() -> None:
    offered = {
        file: len(door(package_of(file)))
        for file in sources()
        if file.endswith("/__init__.py") and file.count("/") > 1
    }
    for file, tree in sources().items():
        if room_of_file(file) in MODULES_ARE_DOORS:
            offered[file] = sum(map(_is_public_definition, tree.body))

    assert {file: count for file, count in offered.items() if count > MAX_OFFERED} == {}


def _is_public_definition(node: ast.stmt) -> bool:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return not name.startswith("_")
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return not name.startswith("_")
        case _:
            return False


def test_code_in_targets_imports_the_standard_library_numpy_and_the_library_only() -> None:
    allowed = set(sys.stdlib_module_names) | {"numpy"} | UNDER_TEST
    culprits = [
        found
        for found in every_import()
        if runs_in_target(found.file)
        and found.module.partition(".")[0] not in allowed
        and not runs_in_target(f"{found.module.replace('.', '/')}/")
        and not _is_plain_vocabulary(found)
    ]

    assert not culprits, "not there in a target:\n" + "\n".join(map(str, culprits))


def _is_plain_vocabulary(found: Import) -> bool:
    """Return whether it is the one module of `domain` that the bootstrap can open: plain tables."""
    return found.module == "ciguard.domain.dtypes"


def test_what_targets_borrow_of_the_vocabulary_runs_there_too() -> None:
    borrowed = sources()["ciguard/domain/dtypes.py"]

    assert not list(_newer_than_oldest("ciguard/domain/dtypes.py", borrowed))
    assert {f.module for f in imports_of("ciguard/domain/dtypes.py", borrowed)} == {"__future__"}


def test_code_in_targets_is_python_of_the_oldest_interpreter() -> None:
    culprits: list[str] = []
    for file, tree in sources().items():
        if runs_in_target(file):
            culprits += _newer_than_oldest(file, tree)

    assert not culprits, f"newer than Python {OLDEST}:\n" + "\n".join(culprits)


def _newer_than_oldest(file: str, tree: ast.Module) -> Iterator[str]:
    try:
        ast.parse((ROOT / file).read_text("utf-8"), feature_version=OLDEST)
    except SyntaxError as error:
        yield f"{file}:{error.lineno}: {error.msg}"
    yield from (f"{file}:{line}: {what}" for line, what in _evaluated_newer(tree))


def _evaluated_newer(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield what parses on the oldest Python and fails when it is evaluated there."""
    annotations = _annotations(tree) if _postpones_annotations(tree) else set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Match):
            yield node.lineno, "match statement"
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            if id(node) not in annotations and _looks_like_types(node):
                yield node.lineno, f"{ast.unparse(node)} outside an annotation"
        elif isinstance(node, ast.Call):
            newer = NEWER_CALLS.get(ast.unparse(node.func).rpartition(".")[2], set())
            for keyword in node.keywords:
                if keyword.arg in newer:
                    yield node.lineno, f"{ast.unparse(node.func)}(…, {keyword.arg}=…)"


def _postpones_annotations(tree: ast.Module) -> bool:
    return any(isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in tree.body)


def _annotations(tree: ast.Module) -> set[int]:
    """Return the identities of all nodes inside annotations."""
    roots: list[ast.AST | None] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.AnnAssign, ast.arg)):
            roots.append(node.annotation)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            roots.append(node.returns)
    return {id(inner) for root in roots if root is not None for inner in ast.walk(root)}


def _looks_like_types(node: ast.BinOp) -> bool:
    names = {"None", "str", "int", "float", "bool", "bytes", "list", "dict", "tuple", "set", "Any"}
    sides = {ast.unparse(side).partition("[")[0] for side in (node.left, node.right)}
    return bool(sides & names)


def test_what_runs_in_targets_has_the_syntax_of_their_oldest_python() -> None:
    files = [str(ROOT / file) for file in sources() if runs_in_target(file)]
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F821"]

    checked = subprocess.run(
        [*ruff, "--target-version", "py39", *files], capture_output=True, text=True, check=False
    )

    assert checked.returncode == 0, checked.stdout
