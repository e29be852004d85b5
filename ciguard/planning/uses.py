"""Finds the APIs of known libraries that a repository uses, their places, and changes nearby."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ciguard.domain.plan import Place
from ciguard.domain.text import visible
from ciguard.libraries import LIBRARIES
from ciguard.planning.checkout import ChangedFile, display_path
from ciguard.planning.compiled import modes_in_use
from ciguard.planning.levels import packages_by_level
from ciguard.sources import CodeText, ModuleUses, Project, code_of_notebook, read_module

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ciguard.planning.api_names import ApiNames
    from ciguard.sources import Use

MAX_SOURCES = 5_000
"""Maximum number of analysed files, changed ones first; 500 lines take about 10 ms."""
MAX_PLACES = 20
"""Maximum number of places per API, places in changed lines first."""
MAX_APIS = 2_000
"""Maximum number of APIs in a plan."""
_MAX_NAME_LENGTH = 200
"""Maximum length of an API's name."""
_SIDECAR = ".annotations.py"
_INSTALLED_FOLDERS = frozenset({"site-packages", "node_modules", "dist-packages"})
_TENSOR_LIKE_LIBRARIES = frozenset(
    {"pandas", "polars", "xarray", "dask", "pyspark", "sympy", "cupy"}
)
"""Modules of libraries whose objects have methods with the names of tensor methods."""
_KERNEL_MODULES = frozenset({"cuda", "cupy", "cutlass", "pycuda", "tilelang", "triton", "warp"})
"""Top-level modules with which kernels are written."""
_KERNEL_PARTS = ("numba.cuda",)
"""Submodules with which kernels are written; `Library.kernel_modules` lists further ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a repository uses. Tuples of APIs are ordered: the most used API comes first."""

    places: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)
    """Places where each API is used, by the API's name."""
    in_changes: tuple[str, ...] = ()
    """APIs used in changed lines."""
    in_changed_files: tuple[str, ...] = ()
    """Other APIs used in changed files."""
    elsewhere: tuple[str, ...] = ()
    """Other APIs used in the repository."""
    changed_definitions: tuple[str, ...] = ()
    """Changed functions and classes, each as `NAME in PATH`."""
    annotated_files: tuple[str, ...] = ()
    """Files with annotated functions that a change reaches: changed files, then files that import
    them directly or indirectly, the nearest first."""
    paths_by_level: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Files that a change reaches, by level. Only levels for whose packages the repository has an
    import are included."""
    levels: tuple[str, ...] = ()
    """Levels for whose packages the repository has an import."""
    kernel_files: tuple[str, ...] = ()
    """Files with code for GPUs that a change reaches, and changed files that cannot be parsed."""
    modes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Modes in use by library, each with a name that selects it, such as `torch.compile`."""
    problems: tuple[str, ...] = ()
    """Sentences on files that were not analysed."""

    @property
    def apis(self) -> tuple[str, ...]:
        """All APIs: those in changed lines first, then those in changed files."""
        return (*self.in_changes, *self.in_changed_files, *self.elsewhere)


def is_source(path: str) -> bool:
    """Return whether a file is Python source or a notebook, and not an installed package."""
    return path.endswith((".py", ".ipynb")) and _INSTALLED_FOLDERS.isdisjoint(path.split("/"))


def own_sources(paths: Iterable[str]) -> list[str]:
    """Return the Python sources among tracked files, without those of virtual environments."""
    all_paths = list(paths)
    environments = tuple(
        path.removesuffix("pyvenv.cfg") for path in all_paths if path.endswith("/pyvenv.cfg")
    )
    return [path for path in all_paths if is_source(path) and not path.startswith(environments)]


def own_uses(apis: Iterable[str]) -> dict[str, str]:
    """Return the first API in use of each library by its name, without names of other libraries.

    `tensorflow.keras` is a name of keras in tensorflow.
    """
    libraries = LIBRARIES.items().values()
    exported = tuple(f"{item.exported_as}." for item in libraries if item.exported_as)
    names = {item.module: item.name for item in libraries if item.has_api}
    first_uses: dict[str, str] = {}
    for api in apis:
        name = names.get(api.partition(".")[0])
        if name and not api.startswith(exported):
            first_uses.setdefault(name, api)
    return first_uses


def find_uses(
    sources: Iterable[tuple[str, bytes]], changed: Iterable[ChangedFile], names: ApiNames
) -> Usage:
    """Return what the sources of a repository use.

    Args:
        sources: the path and the content of each source file.
        changed: the files that differ from the base.
        names: the names of the libraries' APIs.
    """
    search = _UsageSearch({change.path: change for change in changed}, names)
    for path, content in sources:
        search.read(path, content)
    return search.usage()


@dataclass(slots=True)
class _Module:
    """Parsed source file of the repository."""

    path: str
    code: CodeText
    summary: ModuleUses


class _UsageSearch:
    """Search that reads all modules, and then resolves every name through the imports."""

    def __init__(self, changed: Mapping[str, ChangedFile], names: ApiNames) -> None:
        self._changed = changed
        self._names = names
        self._modules: list[_Module] = []
        self._own_names: set[str] = set()
        self._unparsed: list[str] = []
        self._problems: list[str] = []

    def read(self, path: str, content: bytes) -> None:
        """Read one file; a file that cannot be parsed is recorded as a problem."""
        folder, _, _ = path.rpartition("/")
        try:
            code = code_of_notebook(content) if path.endswith(".ipynb") else CodeText(content)
            module = _Module(path, code, read_module(code.source, folder.replace("/", ".")))
        except ValueError as error:
            name = visible(display_path(path))
            self._problems.append(f"{name} was not analysed: {visible(str(error))}")
            self._unparsed.append(path)
            return
        self._modules.append(module)
        self._own_names |= module.summary.defined_names

    @cached_property
    def _project(self) -> Project:
        """Project of all modules that were read."""
        modules = {module.path: module.summary for module in self._modules}
        return Project(modules, self._names.is_library)

    def usage(self) -> Usage:
        """Return what all modules use, after all files were read."""
        places_by_api: dict[str, dict[Place, int]] = defaultdict(dict)
        for module in self._modules:
            change = self._changed.get(module.path)
            for api, use in self._apis(module):
                first, last = module.code.line(use.line), module.code.line(use.last_line)
                # Tiers: 0 for changed lines, 1 for other lines of changed files, 2 for other files.
                tier = 2 if change is None else 0 if change.touches(first, last) else 1
                place = Place(path=display_path(module.path), line=first)
                places_by_api[api][place] = min(tier, places_by_api[api].get(place, tier))
        return self._usage(places_by_api)

    def _usage(self, places_by_api: Mapping[str, Mapping[Place, int]]) -> Usage:
        """Return the usage for the places of each API, and the tier of each place."""
        tiers: list[list[str]] = [[], [], []]
        for api in sorted(places_by_api, key=lambda name: (-len(places_by_api[name]), name)):
            tiers[min(places_by_api[api].values())].append(api)
        order = [api for tier in tiers for api in tier]
        kept_apis = frozenset(order[:MAX_APIS])
        if len(order) > len(kept_apis):
            self._problems.append(
                f"{len(order) - len(kept_apis)} APIs that the sources seldom use are left "
                "out of the plan"
            )
        reached_files = list(self._reached_files())
        annotated_files, kernel_files = self._annotated_files(), self._kernel_files()
        return Usage(
            places={api: _first_places(places_by_api[api]) for api in order if api in kept_apis},
            in_changes=tuple(filter(kept_apis.__contains__, tiers[0])),
            in_changed_files=tuple(filter(kept_apis.__contains__, tiers[1])),
            elsewhere=tuple(filter(kept_apis.__contains__, tiers[2])),
            changed_definitions=tuple(self._changed_definitions()),
            annotated_files=tuple(path for path in reached_files if path in annotated_files),
            paths_by_level={name: tuple(reached_files) for name in self._levels}
            if reached_files
            else {},
            levels=self._levels,
            kernel_files=tuple(
                path
                for path in dict.fromkeys((*self._changed, *reached_files))
                if path in kernel_files
            ),
            modes=modes_in_use(self._all_names()),
            problems=tuple(self._problems),
        )

    def _changed_definitions(self) -> Iterator[str]:
        """Yield the changed functions and classes, each as `NAME in PATH`."""
        for module in self._modules:
            change = self._changed.get(module.path)
            for item in module.summary.definitions if change else ():
                span = module.code.line(item.line), module.code.line(item.last_line)
                if change and change.touches(*span):
                    yield f"{item.name} in {display_path(module.path)}"

    def _annotated_files(self) -> set[str]:
        """Return the files with annotated functions."""
        paths = {module.path for module in self._modules}
        sidecars = {p.removesuffix(_SIDECAR) + ".py" for p in paths if p.endswith(_SIDECAR)}
        annotated_files = sidecars | {
            m.path for m in self._modules if "ciguard" in m.summary.imports
        }
        return annotated_files & paths

    def _kernel_files(self) -> set[str]:
        """Return the files that define or build kernels, and files that cannot be parsed."""
        kernel_modules = [
            name for library in LIBRARIES.items().values() for name in library.kernel_modules
        ]
        parts = (*_KERNEL_PARTS, *kernel_modules)
        kernel_paths = {
            module.path
            for module in self._modules
            if module.summary.imports & _KERNEL_MODULES
            or any(use.name.startswith(parts) for use in module.summary.uses)
        }
        return kernel_paths.union(self._unparsed)

    @cached_property
    def _levels(self) -> tuple[str, ...]:
        """Names of the levels for whose packages a file has an import."""
        imported_packages = frozenset[str]().union(
            *(module.summary.imports for module in self._modules)
        )
        return tuple(
            name for name, packages in packages_by_level().items() if packages & imported_packages
        )

    def _reached_files(self) -> Iterator[str]:
        """Yield the changed files, and the files that import them, the nearest first."""
        importers: dict[str, list[str]] = defaultdict(list)
        is_needed = self._annotated_files() or self._levels or self._kernel_files()
        for module in self._modules if is_needed else ():
            for path in self._project.imported_modules(module.path):
                importers[path].append(module.path)
        changed_sources = [
            path.replace(_SIDECAR, ".py") for path in self._changed if path.endswith(".py")
        ]
        reached_files = dict.fromkeys(sorted(changed_sources))
        next_files = list(reached_files)
        while next_files:
            next_files = sorted(
                {importer for path in next_files for importer in importers[path]}
                - reached_files.keys()
            )
            reached_files |= dict.fromkeys(next_files)
        paths = {module.path for module in self._modules}
        yield from (path for path in reached_files if path in paths)

    def _all_names(self) -> Iterator[str]:
        """Yield the public names of everything that the sources name, also as decorators."""
        for module in self._modules:
            for use in module.summary.uses:
                name = self._project.resolve(use.name, module.path)
                yield self._names.with_public_prefix(name or "")

    def _apis(self, module: _Module) -> Iterator[tuple[str, Use]]:
        """Yield the APIs that a file uses, each with its use."""
        for use in module.summary.uses:
            name = self._project.resolve(use.name, module.path)
            api = self._api(name, is_called=use.is_called) if name else ""
            if api:
                yield api, use
        for use in module.summary.unbound if module.summary.star_imports else ():
            for star in module.summary.star_imports:
                name = self._project.resolve(f"{star}.{use.name}", module.path)
                api = self._names.catalogue_name(name) if name else ""
                if api:
                    yield api, use
        yield from self._methods(module)

    def _methods(self, module: _Module) -> Iterator[tuple[str, Use]]:
        """Yield the tensor methods that a file calls, if the file imports exactly one library.

        Methods with a name that the project also defines are left out.
        """
        imported_libraries = [
            name for name in module.summary.imports if self._names.is_library(name)
        ]
        if len(imported_libraries) != 1 or module.summary.imports & _TENSOR_LIKE_LIBRARIES:
            return
        for use in module.summary.methods:
            if use.name not in self._own_names:
                api = self._names.tensor_method(imported_libraries[0], use.name)
                if api:
                    yield api, use

    def _api(self, name: str, *, is_called: bool) -> str:
        """Return the name of the API that a resolved name denotes; empty if it is not an API."""
        api = self._names.catalogue_name(name)
        is_private = "._" in name
        if api or not is_called or is_private or "." not in name or len(name) > _MAX_NAME_LENGTH:
            return api
        return self._names.with_public_prefix(name)


def _first_places(places: Mapping[Place, int]) -> tuple[Place, ...]:
    """Return at most `MAX_PLACES` places, in order of their distance from changes."""
    order = sorted(places, key=lambda place: (places[place], place.path, place.line))
    return tuple(order[:MAX_PLACES])
