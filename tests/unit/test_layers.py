"""The architecture: all imports of the package follow its layers, and violations are named."""

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
    {
        "errors",
        "files",
        "interrupts",
        "registry",
        "annotations",
        "programs",
        "project",
        "scratch",
        "__init__",
    },
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
    {"levels"},
    {"oracles"},
    {"triage"},
    {"announcements"},
    {"baseline"},
    {"campaign"},
    {"planning"},
    {"suggesting"},
    {"reports", "trackers"},
    {"levels.api", "levels.model", "levels.code", "levels.function"},
    {"levels.graph", "levels.app"},
    {"actions"},
    {"cli"},
    {"pytest_items"},
    {"pytest_plugin"},
    {"__main__"},
)
"""Components from the lowest to the highest; those of one set do not import each other."""
LEVELS = {
    component for components in ORDER for component in components if component.startswith("levels.")
}
"""Packages of levels, which only `config/levels.py` names, as text."""
HEIGHT = {component: height for height, components in enumerate(ORDER) for component in components}
MAY_IMPORT = {
    "registry": {"errors"},
    "files": set[str](),
    "programs": set[str](),
    "scratch": set[str](),
    "project": {"files", "programs"},
    "sources": {"files"},
    "__main__": {"cli"},
}
"""Imports of the lowest and highest components, where they are fewer than all lower ones."""

INNER_ORDER = {
    "functions": (
        "in_target", "specs", "solving", "drawing", "checking", "hosting", "writing", "searching",
    ),
    "functions/in_target": ("describing", "calling"),
    "levels/app": (
        "in_target", "providers", "static_analysis", "dead_conditions", "input_synthesis",
        "virtualization", "emulation", "repair", "exploration", "accuracy", "reports", "commands",
    ),
}  # fmt: skip
"""Inner packages of a component, lowest first; other modules of the component are higher."""

COMPONENTS_OF_PUBLIC_MODULES = {"domain"}
"""Rooms whose modules are imported from: each is one part of the vocabulary."""
MAX_PUBLIC_NAMES = 45
"""Maximum number of names in one public API."""

WORKER = "execution/worker"
IN_TARGET = "in_target"
"""Folders of code that runs in the target's interpreter, without the packages' `__init__`."""
SHARED = {
    "ciguard.execution.worker.callgrind",
    "ciguard.execution.worker.fills",
    "ciguard.execution.worker.guard",
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
        """The importing component."""
        return component_of_file(self.file)

    @property
    def component(self) -> str:
        """The imported component; empty for other packages."""
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
        """Return file, line and statement of the import."""
        what = f"from {self.module} import {self.name}" if self.name else f"import {self.module}"
        return f"{self.file}:{self.line}: {what}"


def component_of_file(file: str) -> str:
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
    return tuple(found for found in every_import() if found.component)


def runs_in_target(file: str) -> bool:
    folder = file.rpartition("/")[0]
    return folder.startswith(f"ciguard/{WORKER}") or IN_TARGET in folder.split("/")


def public_names(package: str) -> set[str]:
    """Return the names that a package's `__all__` offers."""
    tree = sources()[f"ciguard/{package.replace('.', '/')}/__init__.py"]
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return set(names)
    return set()


def is_lower(found: Import) -> bool:
    if found.importer in MAY_IMPORT:
        return found.component in MAY_IMPORT[found.importer] | {"__init__"}
    return HEIGHT[found.component] < HEIGHT[found.importer]


def uses_public_api(found: Import) -> bool:
    if (PACKAGE / f"{found.component}.py").is_file() or found.component == "__init__":
        return True
    if found.module in SHARED:
        return True
    if found.component in COMPONENTS_OF_PUBLIC_MODULES:
        return True
    inner = found.module.removeprefix("ciguard.")
    return (PACKAGE / inner.replace(".", "/")).is_dir() and found.name in public_names(inner)


def test_order_contains_all_components() -> None:
    components = {component_of_file(file) for file in sources()}

    assert components <= set(HEIGHT), f"no place in ORDER: {sorted(components - set(HEIGHT))}"


def test_picture_shows_all_packages_in_order() -> None:
    picture = runpy.run_path(str(ROOT / "docs" / "picture.py"))
    shown = [component for components in picture["BANDS"].values() for component in components]

    assert set(shown) == {
        component for component in HEIGHT if (PACKAGE / component.replace(".", "/")).is_dir()
    }
    assert [HEIGHT[component] for component in shown] == sorted(
        HEIGHT[component] for component in shown
    )


def test_component_imports_only_lower_components() -> None:
    violations = [f for f in own_imports() if f.component != f.importer and not is_lower(f)]

    assert not violations, "imports of higher components:\n" + "\n".join(map(str, violations))


def test_inner_packages_import_only_lower_inner_packages() -> None:
    violations = [
        found
        for found in own_imports()
        for component in INNER_ORDER
        if not _keeps_order(found, component)
    ]

    assert not violations, "imports of higher components:\n" + "\n".join(map(str, violations))


def _keeps_order(found: Import, component: str) -> bool:
    importer = found.file.removeprefix("ciguard/")
    imported = found.module.removeprefix("ciguard.").replace(".", "/") + "/"
    if not (importer.startswith(f"{component}/") and imported.startswith(f"{component}/")):
        return True
    return _inner_height(imported, component) <= _inner_height(importer, component)


def _inner_height(path: str, component: str) -> int:
    packages = INNER_ORDER[component]
    first = path.removeprefix(f"{component}/").partition("/")[0]
    return packages.index(first) if first in packages else len(packages)


def test_inner_order_contains_all_inner_packages() -> None:
    for component, packages in INNER_ORDER.items():
        there = {path.parent.name for path in (PACKAGE / component).glob("*/__init__.py")}

        assert there == set(packages), component


def test_components_have_no_import_cycle() -> None:
    needs: dict[str, set[str]] = {}
    for found in own_imports():
        if found.component != found.importer:
            needs.setdefault(found.importer, set()).add(found.component)

    assert circle_of(needs) == []


def test_files_have_no_import_cycle_even_for_types() -> None:
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


def test_imports_of_other_components_use_their_public_api() -> None:
    violations = [
        found
        for found in own_imports()
        if found.component != found.importer
        and not runs_in_target(found.file)
        and not uses_public_api(found)
    ]

    assert not violations, "not of a public API:\n" + "\n".join(map(str, violations))


def test_each_package_declares_a_public_api() -> None:
    packages = [file for file in sources() if file.endswith("/__init__.py") and file.count("/") > 1]
    offering = {component_of_file(file) for file in packages if public_names(package_of(file))}

    bare = (
        {component_of_file(file) for file in packages}
        - offering
        - COMPONENTS_OF_PUBLIC_MODULES
        - LEVELS
    )

    assert not bare, f"no __all__: {bare}"


def package_of(file: str) -> str:
    return file.removeprefix("ciguard/").removesuffix("/__init__.py").replace("/", ".")


def test_no_public_api_has_too_many_names() -> None:
    offered = {
        file: len(public_names(package_of(file)))
        for file in sources()
        if file.endswith("/__init__.py") and file.count("/") > 1
    }
    for file, tree in sources().items():
        if component_of_file(file) in COMPONENTS_OF_PUBLIC_MODULES:
            offered[file] = sum(map(_is_public_definition, tree.body))

    assert {file: count for file, count in offered.items() if count > MAX_PUBLIC_NAMES} == {}


def _is_public_definition(node: ast.stmt) -> bool:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return not name.startswith("_")
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return not name.startswith("_")
        case _:
            return False


def test_code_in_targets_imports_only_standard_library_numpy_and_library() -> None:
    allowed = set(sys.stdlib_module_names) | {"numpy"} | UNDER_TEST
    violations = [
        found
        for found in every_import()
        if runs_in_target(found.file)
        and found.module.partition(".")[0] not in allowed
        and not runs_in_target(f"{found.module.replace('.', '/')}/")
        and not _is_plain_vocabulary(found)
    ]

    assert not violations, "not available in targets:\n" + "\n".join(map(str, violations))


def _is_plain_vocabulary(found: Import) -> bool:
    """Return whether it is the one module of `domain` that the bootstrap can open: plain tables."""
    return found.module == "ciguard.domain.dtypes"


def test_domain_modules_used_in_targets_run_there() -> None:
    borrowed = sources()["ciguard/domain/dtypes.py"]

    assert not list(_newer_than_oldest("ciguard/domain/dtypes.py", borrowed))
    assert {f.module for f in imports_of("ciguard/domain/dtypes.py", borrowed)} == {"__future__"}


def test_code_in_targets_runs_on_the_oldest_python() -> None:
    violations: list[str] = []
    for file, tree in sources().items():
        if runs_in_target(file):
            violations += _newer_than_oldest(file, tree)

    assert not violations, f"newer than Python {OLDEST}:\n" + "\n".join(violations)


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


def test_code_in_targets_has_the_syntax_of_the_oldest_python() -> None:
    files = [str(ROOT / file) for file in sources() if runs_in_target(file)]
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F821"]

    checked = subprocess.run(
        [*ruff, "--target-version", "py39", *files], capture_output=True, text=True, check=False
    )

    assert checked.returncode == 0, checked.stdout
