"""What PyTorch says of its public API."""

from __future__ import annotations

import importlib
import inspect
import re
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target import introspection, tag_names
from ciguard.libraries.torch.in_target.schemas import Stubs, best_match, parse_schema
from ciguard.libraries.torch.in_target.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODULES = (
    "torch",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.utils",
    "torch.nn.utils.rnn",
    "torch.nn.utils.parametrizations",
    "torch.linalg",
    "torch.fft",
    "torch.special",
    "torch.sparse",
    "torch.signal.windows",
    "torch.nested",
    "torch.masked",
    "torch.distributions",
    "torch.random",
    "torch.utils.dlpack",
)
_NATIVE_PREFIXES = {
    "torch.linalg.": "linalg_",
    "torch.fft.": "fft_",
    "torch.special.": "special_",
    "torch.sparse.": "sparse_",
    "torch.nested.": "nested_",
}
"""How an operator's name begins for the functions of a module."""
_OTHER_NAMES = {"input": "self", "x": "self", "A": "self"}
_KERNELS = (
    "CPU",
    "MkldnnCPU",
    "QuantizedCPU",
    "SparseCPU",
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)
"""Where an operator must have a kernel to be worth calling; those of one other device refuse."""
_FIXED = re.compile(r"\[\d+\]")
_INPUT = re.compile(r"^\s*[-*] Input: (.*)$", re.MULTILINE)
_FORM = re.compile(r":math:`(\([^`()]*\))`")
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType)
_FOREIGN_MODULES = ("typing", "torch.overrides", "warnings", "functools", "collections")


class _Catalogue:
    """Everything needed to describe one name."""

    def __init__(self) -> None:
        self.torch: Any = importlib.import_module("torch")
        self.stubs = Stubs()
        folder = Path(str(self.torch.__file__)).parent
        self.stubs.read(folder / "_C" / "_VariableFunctions.pyi", prefix="torch.")
        self.stubs.read(folder / "_C" / "_nn.pyi", prefix="torch.nn.functional.")
        self.stubs.read(folder / "nn" / "functional.pyi", prefix="torch.nn.functional.")
        for name in ("TensorBase", "_TensorBase"):
            self.stubs.read(folder / "_C" / "__init__.pyi", prefix="torch.Tensor.", inside=name)
        self.schemas: dict[str, list[list[dict[str, Any]]]] = {}
        for schema in self.torch._C._jit_get_all_schemas():  # noqa: SLF001 - no public listing
            parsed = parse_schema(str(schema))
            if parsed is not None:
                self.schemas.setdefault(parsed.operator, []).append(parsed.parameters)

    def operator(self, api: str) -> str:
        """Return the operator of the same name, if there is one."""
        name = api.rpartition(".")[2]
        prefixes = [_NATIVE_PREFIXES[head] for head in _NATIVE_PREFIXES if api.startswith(head)]
        for candidate in (*(prefix + name for prefix in prefixes), name):
            if f"aten::{candidate}" in self.schemas:
                return f"aten::{candidate}"
        return ""

    def parameters(self, api: str, thing: Any, doc: str) -> tuple[list[dict[str, Any]], str]:
        """Return the parameters and where their names come from."""
        name = api.rpartition(".")[2]
        found = introspection.from_signature(thing)
        if found is not None and not _says_nothing(found):
            return found, "signature"
        found = introspection.from_docstring(doc, name)
        if found is not None:
            return found, "docstring"
        overloads = self.stubs.overloads(api)
        if overloads:
            return introspection.without_receiver(max(overloads, key=len)), "stub"
        schemas = self.schemas.get(self.operator(api), [])
        return (max(schemas, key=len), "schema") if schemas else ([], "")

    def record(self, api: str, thing: Any, kind: str) -> dict[str, Any]:
        """Return the record of a function or method."""
        doc = introspection.doc_of(thing)
        parameters, source = self.parameters(api, thing, doc)
        operator = self.operator(api)
        parameters = [dict(item) for item in parameters]
        self._add_types(api, operator, parameters)
        introspection.describe_parameters(parameters, doc)
        record = introspection.record(
            api, kind, parameters, doc=doc, source=source, operator=operator, tags=_tags(api, thing)
        )
        overloads = [*self.stubs.overloads(api), *self.schemas.get(operator, [])]
        accepted = {item["name"] for overload in overloads for item in overload}
        strangers = [name for name in record.pop("strangers", ()) if name not in accepted]
        return {**record, "strangers": strangers} if strangers else record

    def _add_types(self, api: str, operator: str, parameters: list[dict[str, Any]]) -> None:
        names = [item["name"] for item in parameters]
        schema = best_match(self.schemas.get(operator, []), [_native(name) for name in names])
        native = {item["name"]: item for item in schema or []}
        for item in parameters:
            hint = self.stubs.hint(api, item["name"])
            if hint and not item.get("annotation"):
                item["annotation"] = hint
            known = native.get(item["name"]) or native.get(_native(item["name"]))
            if known is not None:
                for key in ("schema_type", "length"):
                    if key in known:
                        item[key] = known[key]


def describe() -> Iterator[dict[str, Any]]:
    """Yield one record per public function, layer class and tensor method."""
    catalogue = _Catalogue()
    lost: list[dict[str, Any]] = []
    yield from introspection.each(
        _functions(lost), lambda api, thing: catalogue.record(api, thing, "function")
    )
    yield from introspection.each(_layers(catalogue.torch), _layer_record)
    yield from introspection.each(
        _methods(catalogue.torch), lambda api, method: _method_record(catalogue, api, method)
    )
    yield from introspection.each(
        ((f"torch.ops.aten.{name}", name) for name in _bare_operators(catalogue)),
        lambda _, name: _operator_record(catalogue, name),
    )
    yield from lost


def _functions(lost: list[dict[str, Any]]) -> introspection.Names:
    found = []
    for name, module in introspection.modules(_MODULES, lost=lost):
        for member in introspection.public_names(module):
            thing = getattr(module, member, None)
            if isinstance(thing, _FUNCTIONS) and _is_public(thing, name):
                found.append((f"{name}.{member}", thing))
    return introspection.canonical(found)


def _native_functions() -> Any:
    return importlib.import_module("torch")._C._VariableFunctions  # noqa: SLF001 - no public listing


def _is_public(thing: Any, module: str) -> bool:
    """Whether a function belongs to torch's public API, and not to a module that imported it."""
    origin = getattr(thing, "__module__", None) or ""
    if origin.startswith(_FOREIGN_MODULES):
        return False
    native = module == "torch" and hasattr(_native_functions(), thing.__name__)
    return native or bool(introspection.doc_of(thing))


def _layers(torch: Any) -> introspection.Names:
    module = torch.nn.Module
    layers = [
        (f"torch.nn.{name}", thing)
        for name, thing in vars(torch.nn).items()
        if inspect.isclass(thing) and issubclass(thing, module) and not name.startswith("_")
    ]
    return introspection.canonical(layers)


def _methods(torch: Any) -> Iterator[tuple[str, Any]]:
    for name in sorted(set(dir(torch.Tensor))):
        if name.startswith("_"):
            continue
        thing = inspect.getattr_static(torch.Tensor, name)
        if isinstance(thing, (types.FunctionType, types.MethodDescriptorType)):
            yield f"torch.Tensor.{name}", thing


def _layer_record(api: str, layer: type) -> dict[str, Any]:
    record = introspection.layer_record(api, layer, call="forward", tags=_tags(api, layer))
    forms = input_forms(introspection.doc_of(layer))
    return {**record, "forms": forms} if forms else record


def input_forms(doc: str) -> list[str]:
    """Return the shapes of a layer's input that its section `Shape:` lists, if it lists several.

    `- Input: :math:`(N, C)` or :math:`(C)`, where …` gives `(N, C)` and `(C)`.
    """
    _, _, section = doc.partition("Shape:\n")
    line = _INPUT.search(section)
    return [] if line is None else _FORM.findall(line.group(1).partition(" where ")[0])


def _method_record(catalogue: _Catalogue, api: str, method: Any) -> dict[str, Any]:
    """Return a method's record, its receiver first; its namesake describes the rest."""
    record = catalogue.record(api, method, "method")
    name = api.rpartition(".")[2]
    parameters = introspection.without_receiver(record["parameters"])
    function = getattr(catalogue.torch, name.rstrip("_"), None)
    introspection.describe_parameters(
        [item for item in parameters if "doc" not in item], introspection.doc_of(function)
    )
    receiver = introspection.parameter("self", kind="positional_only", schema_type="Tensor")
    record["parameters"] = [receiver, *parameters]
    return record


def _bare_operators(catalogue: _Catalogue) -> list[str]:
    """Return the operators that no function or method offers: the backward halves, for the most."""
    torch = catalogue.torch
    offered = {*dir(torch), *dir(torch.Tensor), *dir(torch.nn.functional)}
    prefixes = ("_", *_NATIVE_PREFIXES.values())
    names = {operator.partition("::")[2] for operator in catalogue.schemas if "aten::" in operator}
    return sorted(
        name
        for name in names - offered
        if not name.startswith(prefixes) and _runs_here(torch, f"aten::{name}")
    )


def _runs_here(torch: Any, operator: str) -> bool:
    """Whether some overload has a kernel; the schemas hold TorchScript's own builtins too."""
    packet = getattr(torch.ops.aten, operator.partition("::")[2], None)
    overloads = packet.overloads() if packet is not None else ()
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key  # noqa: SLF001 - no public query
    for overload in overloads:
        name = operator if overload == "default" else f"{operator}.{overload}"
        try:
            if any(has_kernel(name, key) for key in _KERNELS):
                return True
        except RuntimeError:
            continue  # a builtin: the dispatcher does not know it
    return False


def _operator_record(catalogue: _Catalogue, name: str) -> dict[str, Any]:
    """Return the record of an operator that can be called through `torch.ops` only."""
    operator = f"aten::{name}"
    # Overloads that write to `out` refuse a call without it, and return nothing else.
    required = [
        [item for item in schema if item.get("kind") != "keyword_only" or not item.get("required")]
        for schema in catalogue.schemas[operator]
    ]
    whole = [s for s, kept in zip(catalogue.schemas[operator], required) if len(s) == len(kept)]
    parameters = [dict(item) for item in max(whole or catalogue.schemas[operator], key=len)]
    for item in parameters:
        # Unlike torch's own functions, `torch.ops` takes no number in place of a list of length n.
        item["schema_type"] = _FIXED.sub("[]", item.get("schema_type", ""))
    return introspection.record(
        f"torch.ops.aten.{name}",
        "function",
        parameters,
        source="schema",
        operator=operator,
        tags=tags_of(f"torch.{name}", tag_names.UNDOCUMENTED),
    )


def _tags(api: str, thing: Any) -> list[str]:
    return tags_of(api) if introspection.doc_of(thing) else tags_of(api, tag_names.UNDOCUMENTED)


def _native(name: str) -> str:
    return _OTHER_NAMES.get(name, name)


def _says_nothing(parameters: list[dict[str, Any]]) -> bool:
    """Whether a signature is that of a wrapper: only `*args` and `**kwargs`."""
    return bool(parameters) and all(item["kind"].startswith("var_") for item in parameters)
