"""One run of the C++ compiler for all kernels that inductor generates for a function.

Inductor compiles each kernel by itself. Starting the compiler, loading the headers, the bindings
for Python and linking take most of that time. Here, the kernels of a function are written into one
file, each in a namespace of its own, and compiled with the same flags. Their text is unchanged.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)
_OTHER_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?!include\b|pragma\b)\w+", re.MULTILINE)
"""A directive, such as a macro, that has an effect beyond its namespace."""
_LINKAGE = 'extern "C"'
"""Functions with this linkage would be the same one in all namespaces."""
_ENTRY = "kernel"
"""Name of a kernel's function, and with a number of its module and of its function for Python."""
_MIN_KERNELS = 2
_SCOPE = """
namespace joint{number} {{
{text}
}}
"""


class _Kernel:
    """A kernel that waits to be compiled with others."""

    def __init__(self, argument_types: Sequence[str], source: str) -> None:
        self.argument_types = argument_types
        self.source = source

    @property
    def is_joinable(self) -> bool:
        """True if the source has its effects within its namespace only."""
        return self.source.count(_LINKAGE) == 1 and not _OTHER_DIRECTIVE.search(self.source)


def install() -> None:
    """Let inductor compile the kernels of a function together; without effect if repeated.

    Versions of torch whose compiler has another structure compile as before.
    """
    compiler = importlib.import_module("torch._inductor.async_compile").AsyncCompile
    codecache = importlib.import_module("torch._inductor.codecache")
    bindings = getattr(codecache, "CppPythonBindingsCodeCache", None)
    needed = ("suffix_template", "call_entry_function", "load_async", "load_pybinding")
    if not all(hasattr(bindings, name) for name in needed) or hasattr(compiler, "compiles_jointly"):
        return
    compile_one, wait = compiler.cpp_pybinding, compiler.wait

    def cpp_pybinding(self: Any, argument_types: list[str], source: str) -> Any:
        threads = importlib.import_module("torch._inductor.async_compile").get_compile_threads()
        if threads > 1:
            return compile_one(self, argument_types, source)
        return _Kernel(argument_types, source)

    def waiting(self: Any, scope: dict[str, Any]) -> None:
        kernels = {name: value for name, value in scope.items() if isinstance(value, _Kernel)}
        scope.update(_compiled(kernels, bindings))
        wait(self, scope)

    compiler.cpp_pybinding = cpp_pybinding
    compiler.wait = waiting
    compiler.compiles_jointly = True


def _compiled(kernels: dict[str, _Kernel], bindings: Any) -> dict[str, Callable[..., Any]]:
    """Return the functions of kernels."""
    joint = {name: kernel for name, kernel in kernels.items() if kernel.is_joinable}
    functions: dict[str, Callable[..., Any]] = {}
    if len(joint) >= _MIN_KERNELS:
        try:
            functions = _compiled_jointly(joint, bindings)
        except Exception:  # noqa: BLE001 - compiled one by one, the kernel at fault raises its error
            functions = {}
    for name, kernel in kernels.items():
        if name not in functions:
            functions[name] = bindings.load_pybinding(kernel.argument_types, kernel.source)
    return functions


def _compiled_jointly(kernels: dict[str, _Kernel], bindings: Any) -> dict[str, Callable[..., Any]]:
    texts = [
        _SCOPE.format(number=number, text=_body(number, kernel, bindings))
        for number, kernel in enumerate(kernels.values())
    ]
    everything = "\n".join(texts)
    includes = dict.fromkeys(line.strip() for line in _INCLUDE.findall(everything))
    source = "\n".join([*includes, _INCLUDE.sub("", everything)])
    modules = _cache_class(bindings).load_async(source)()
    return {name: modules.function(number) for number, name in enumerate(kernels)}


def _body(number: int, kernel: _Kernel, bindings: Any) -> str:
    """Return a kernel with bindings for Python, whose module has a number in its name."""
    parsed = ", ".join(
        f"parse_arg<{kind.replace('const ', '')}>(args, {place})"
        for place, kind in enumerate(kernel.argument_types)
    )
    suffix = bindings.suffix_template.format(
        arg_len=len(kernel.argument_types),
        call_entry_func=bindings.call_entry_function.format(parsed),
        entry_func=f"{_ENTRY}{number}",
        extra_parse_arg="",
    )
    return f"{kernel.source.replace(_LINKAGE, '', 1)}\n{suffix}"


class _Modules:
    """The modules in one shared library."""

    def __init__(self, path: str, key: str) -> None:
        self._path = path
        self.key = key

    def function(self, number: int) -> Callable[..., Any]:
        """Return the function of one kernel."""
        entry = f"{_ENTRY}{number}"
        name = f"{self.key}.{entry}"
        if name not in sys.modules:
            spec = importlib.util.spec_from_file_location(name, self._path)
            if spec is None or spec.loader is None:
                msg = f"no module in {self._path}"
                raise ImportError(msg)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            sys.modules[name] = module
        function: Callable[..., Any] = getattr(sys.modules[name], entry)
        return function


@cache
def _cache_class(bindings: Any) -> Any:
    """Return the class that compiles several kernels, with its own libraries in memory."""

    class JointKernels(bindings):  # type: ignore[misc]  # no stub
        cache: ClassVar[dict[str, Any]] = {}
        entry_function = f"{_ENTRY}0"

        @classmethod
        def _load_library_inner(cls, path: str, key: str) -> _Modules:
            super()._load_library_inner(path, key)  # passes on the address of a function of torch
            return _Modules(path, key)

    return JointKernels
