"""Catalogue of PyTorch's public API."""

from __future__ import annotations

import importlib
import inspect
import re
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target import introspection, tag_names
from ciguard.libraries.torch.in_target.definitions import defined_dtypes, needs_other_layout
from ciguard.libraries.torch.in_target.device_notes import DeviceNotes
from ciguard.libraries.torch.in_target.dispatcher import has_kernel
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
"""Prefixes of operators' names, by the module of the functions."""
_NATIVE_NAMES = {"input": "self", "x": "self", "A": "self"}
_DISPATCH_KEYS = (
    "CPU",
    "MkldnnCPU",
    "QuantizedCPU",
    "SparseCPU",
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)
"""Dispatch keys; operators without a kernel for any of them belong to other devices."""
_BY_POSITION = "positional_or_keyword"
_FIXED_LENGTH = re.compile(r"\[\d+\]")
_INPUT_LINE = re.compile(r"^\s*[-*] Input: (.*)$", re.MULTILINE)
_SHAPE_FORMULA = re.compile(r":math:`(\([^`()]*\))`")
_REFERENCE = re.compile(
    r"\s*(?:[^\n]*->[^\n]*\s+)?(?:Alias (?:for|of)|See|In-place version of)"
    r" :(?:func|meth):`~?(?:torch\.)?(?P<path>[A-Za-z][\w.]*)`"
)
"""Start of a docstring that refers to another function, after an optional signature."""
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType)
_FOREIGN_MODULES = ("typing", "torch.overrides", "warnings", "functools", "collections")


class _Catalogue:
    """PyTorch's stubs and schemas, and the records that are built from them."""

    def __init__(self) -> None:
        self.torch: Any = importlib.import_module("torch")
        self.stubs = Stubs()
        folder = Path(str(self.torch.__file__)).parent
        self.stubs.read(folder / "_C" / "_VariableFunctions.pyi", prefix="torch.")
        self.stubs.read(folder / "_C" / "_nn.pyi", prefix="torch.nn.functional.")
        self.stubs.read(folder / "nn" / "functional.pyi", prefix="torch.nn.functional.")
        for name in ("TensorBase", "_TensorBase"):
            self.stubs.read(folder / "_C" / "__init__.pyi", prefix="torch.Tensor.", class_name=name)
        self.schemas: dict[str, list[list[dict[str, Any]]]] = {}
        for schema in self.torch._C._jit_get_all_schemas():  # noqa: SLF001 - no public listing
            operator_schema = parse_schema(str(schema))
            if operator_schema is not None:
                self.schemas.setdefault(operator_schema.operator, []).append(
                    operator_schema.parameters
                )

    def operator(self, api: str) -> str:
        """Return the operator with the name of an API; empty if there is none."""
        name = api.rpartition(".")[2]
        prefixes = [_NATIVE_PREFIXES[head] for head in _NATIVE_PREFIXES if api.startswith(head)]
        for candidate in (*(prefix + name for prefix in prefixes), name):
            if f"aten::{candidate}" in self.schemas:
                return f"aten::{candidate}"
        return ""

    def parameters(self, api: str, function: Any, doc: str) -> tuple[list[dict[str, Any]], str]:
        """Return the parameters of an API, and the source of their names."""
        name = api.rpartition(".")[2]
        parameters = introspection.from_signature(function)
        if parameters is not None and not _is_variadic_only(parameters):
            return parameters, "signature"
        overloads = list(map(introspection.without_receiver, self.stubs.overloads(api)))
        parameters = introspection.from_docstring(doc, name)
        if parameters is not None and not _lacks_required(parameters, overloads):
            return parameters, "docstring"
        if overloads:
            return max(overloads, key=len), "stub"
        schemas = self.schemas.get(self.operator(api), [])
        return (max(schemas, key=len), "schema") if schemas else ([], "")

    def record(self, api: str, function: Any, kind: str) -> dict[str, Any]:
        """Return the record of a function or method."""
        doc = introspection.doc_of(function)
        parameters, source = self.parameters(api, function, doc)
        operator = self.operator(api)
        parameters = [dict(item) for item in parameters]
        self._add_types(api, operator, parameters)
        introspection.describe_parameters(parameters, doc)
        _describe_missing(parameters, self.referenced_doc(doc))
        _make_optional(parameters)
        record = introspection.record(
            api,
            kind,
            parameters,
            doc=doc,
            source=source,
            operator=operator,
            tags=_tags(api, function),
        )
        overloads = [*self.stubs.overloads(api), *self.schemas.get(operator, [])]
        accepted_names = {item["name"] for overload in overloads for item in overload}
        undeclared_names = [
            name for name in record.pop("strangers", ()) if name not in accepted_names
        ]
        return {**record, "strangers": undeclared_names} if undeclared_names else record

    def referenced_doc(self, doc: str) -> str:
        """Return the docstring of the function that a docstring refers to; empty without one."""
        match = _REFERENCE.match(doc)
        value = self.torch if match else None
        for name in match["path"].split(".") if match else ():
            value = getattr(value, name, None)
        return introspection.doc_of(value)

    def _add_types(self, api: str, operator: str, parameters: list[dict[str, Any]]) -> None:
        """Add types from the operator's schema and hints from the stubs to the parameters."""
        names = [item["name"] for item in parameters]
        schema = best_match(self.schemas.get(operator, []), [_native_name(name) for name in names])
        native_parameters = {item["name"]: item for item in schema or []}
        positions = _by_position(api, parameters, native_parameters)
        for item in parameters:
            native_name = positions.get(item["name"], item["name"])
            hint = self.stubs.hint(api, native_name)
            if hint and not item.get("annotation"):
                item["annotation"] = hint
            native_parameter = native_parameters.get(native_name) or native_parameters.get(
                _native_name(native_name)
            )
            if native_parameter is not None:
                for key in ("schema_type", "length"):
                    if key in native_parameter:
                        item[key] = native_parameter[key]


def _by_position(
    api: str, parameters: list[dict[str, Any]], native_parameters: dict[str, dict[str, Any]]
) -> dict[str, str]:
    """Return the schema's names of parameters by those in the docstring of a method.

    Docstrings of methods name some parameters otherwise: `take(indices)` for `take(self, index)`.
    """
    if not api.startswith("torch.Tensor."):
        return {}
    names = [item["name"] for item in parameters if item["kind"] == _BY_POSITION]
    required = [
        name
        for name, item in native_parameters.items()
        if name != "self" and item["required"] and item["kind"] == _BY_POSITION
    ]
    if len(names) != len(required):
        return {}
    pairs = zip(names, required)
    return {name: other for name, other in pairs if name not in native_parameters}


def describe() -> Iterator[dict[str, Any]]:
    """Yield one record per public function, layer class and tensor method."""
    catalogue = _Catalogue()
    notes = DeviceNotes(catalogue.torch)
    for record in _records(catalogue):
        stated = notes.of(record.get("api", ""), record.get("operator", ""))
        _add_definition(catalogue.torch, record)
        yield {**record, "on_devices": stated} if stated else record


def _add_definition(torch: Any, record: dict[str, Any]) -> None:
    """Add to a record what its operator's definition states of the first tensor."""
    operator, parameters = record.get("operator", ""), record.get("parameters", ())
    if not operator:
        return
    if needs_other_layout(torch, operator):
        record["tags"] = sorted({*record.get("tags", ()), tag_names.LAYOUT})
    if [item["required"] for item in parameters[:2]] in ([True], [True, False]):
        dtypes = defined_dtypes(torch, operator)
        if dtypes and parameters[0].get("schema_type") == "Tensor":
            parameters[0]["dtypes"] = dtypes


def _records(catalogue: _Catalogue) -> Iterator[dict[str, Any]]:
    failures: list[dict[str, Any]] = []
    yield from introspection.each(
        _functions(failures), lambda api, function: catalogue.record(api, function, "function")
    )
    yield from introspection.each(_layers(catalogue.torch), _layer_record)
    yield from introspection.each(
        _methods(catalogue.torch), lambda api, method: _method_record(catalogue, api, method)
    )
    yield from introspection.each(
        ((f"torch.ops.aten.{name}", name) for name in _operators_without_function(catalogue)),
        lambda _, name: _operator_record(catalogue, name),
    )
    yield from failures


def _lacks_required(
    parameters: list[dict[str, Any]], overloads: list[list[dict[str, Any]]]
) -> bool:
    """Return whether each overload requires more parameters, as for `logical_or_() -> Tensor`."""
    required_counts = [sum(item["required"] for item in overload) for overload in overloads]
    return bool(overloads) and len(parameters) < min(required_counts)


def _functions(failures: list[dict[str, Any]]) -> introspection.PublicNames:
    functions = []
    for name, module in introspection.modules(_MODULES, failures=failures):
        for member_name in introspection.public_names(module):
            member = getattr(module, member_name, None)
            if isinstance(member, _FUNCTIONS) and _is_public(member, name):
                functions.append((f"{name}.{member_name}", member))
    return introspection.canonical(functions)


def _native_functions() -> Any:
    return importlib.import_module("torch")._C._VariableFunctions  # noqa: SLF001 - no public listing


def _is_public(function: Any, module: str) -> bool:
    """Return whether a function is part of torch's public API, and not imported from elsewhere."""
    origin = getattr(function, "__module__", None) or ""
    if origin.startswith(_FOREIGN_MODULES):
        return False
    is_native = module == "torch" and hasattr(_native_functions(), function.__name__)
    return is_native or bool(introspection.doc_of(function))


def _layers(torch: Any) -> introspection.PublicNames:
    module = torch.nn.Module
    layers = [
        (f"torch.nn.{name}", layer)
        for name, layer in vars(torch.nn).items()
        if inspect.isclass(layer) and issubclass(layer, module) and not name.startswith("_")
    ]
    return introspection.canonical(layers)


def _methods(torch: Any) -> Iterator[tuple[str, Any]]:
    for name in sorted(set(dir(torch.Tensor))):
        if name.startswith("_"):
            continue
        method = inspect.getattr_static(torch.Tensor, name)
        if isinstance(method, (types.FunctionType, types.MethodDescriptorType)):
            yield f"torch.Tensor.{name}", method


def _layer_record(api: str, layer: type) -> dict[str, Any]:
    record = introspection.layer_record(api, layer, call="forward", tags=_tags(api, layer))
    forms = input_forms(introspection.doc_of(layer))
    return {**record, "forms": forms} if forms else record


def input_forms(doc: str) -> list[str]:
    """Return the shapes of a layer's input in the section `Shape:` of its docstring.

    From `- Input: :math:`(N, C)` or :math:`(C)`, where …` the shapes are `(N, C)` and `(C)`.
    """
    _, _, section = doc.partition("Shape:\n")
    line = _INPUT_LINE.search(section)
    return [] if line is None else _SHAPE_FORMULA.findall(line.group(1).partition(" where ")[0])


def _method_record(catalogue: _Catalogue, api: str, method: Any) -> dict[str, Any]:
    """Return a method's record, with missing descriptions from the function of the same name."""
    record = catalogue.record(api, method, "method")
    name = api.rpartition(".")[2]
    parameters = introspection.without_receiver(record["parameters"])
    function_doc = introspection.doc_of(getattr(catalogue.torch, name.rstrip("_"), None))
    _describe_missing(parameters, function_doc)
    receiver = introspection.parameter("self", kind="positional_only", schema_type="Tensor")
    tensor = introspection.parameter("input")  # what the function calls the tensor
    introspection.describe_parameters([tensor], function_doc)
    receiver.update({key: tensor[key] for key in ("doc", "doc_type") if key in tensor})
    record["parameters"] = [receiver, *parameters]
    return record


def _make_optional(parameters: list[dict[str, Any]]) -> None:
    """Make optional what a docstring's signature lists without default and describes as such."""
    for item in parameters:
        is_described = item.get("doc_type", "").rstrip(" ,").endswith("optional")
        if item["kind"] == "keyword_only" and is_described and "default" not in item:
            item.update(required=False, default="None")


def _describe_missing(parameters: list[dict[str, Any]], doc: str) -> None:
    """Describe the parameters that have no description by another docstring."""
    introspection.describe_parameters([item for item in parameters if "doc" not in item], doc)


def _operators_without_function(catalogue: _Catalogue) -> list[str]:
    """Return the operators without a function or method, mostly those of backward passes."""
    torch = catalogue.torch
    public_names = {*dir(torch), *dir(torch.Tensor), *dir(torch.nn.functional)}
    prefixes = ("_", *_NATIVE_PREFIXES.values())
    names = {operator.partition("::")[2] for operator in catalogue.schemas if "aten::" in operator}
    return sorted(
        name
        for name in names - public_names
        if not name.startswith(prefixes) and has_kernel(torch, f"aten::{name}", _DISPATCH_KEYS)
    )


def _operator_record(catalogue: _Catalogue, name: str) -> dict[str, Any]:
    """Return the record of an operator that is available only in `torch.ops`."""
    operator = f"aten::{name}"
    # Overloads without required keywords, such as `out`, are preferred.
    without_required_keywords = [
        [item for item in schema if item.get("kind") != "keyword_only" or not item.get("required")]
        for schema in catalogue.schemas[operator]
    ]
    preferred_schemas = [
        s
        for s, remaining in zip(catalogue.schemas[operator], without_required_keywords)
        if len(s) == len(remaining)
    ]
    parameters = [
        dict(item) for item in max(preferred_schemas or catalogue.schemas[operator], key=len)
    ]
    for item in parameters:
        # Unlike torch's functions, `torch.ops` does not accept a number for a list of fixed length.
        item["schema_type"] = _FIXED_LENGTH.sub("[]", item.get("schema_type", ""))
    return introspection.record(
        f"torch.ops.aten.{name}",
        "function",
        parameters,
        source="schema",
        operator=operator,
        tags=tags_of(f"torch.{name}", tag_names.UNDOCUMENTED),
    )


def _tags(api: str, value: Any) -> list[str]:
    return tags_of(api) if introspection.doc_of(value) else tags_of(api, tag_names.UNDOCUMENTED)


def _native_name(name: str) -> str:
    return _NATIVE_NAMES.get(name, name)


def _is_variadic_only(parameters: list[dict[str, Any]]) -> bool:
    """Return whether a signature is that of a wrapper, with only `*args` and `**kwargs`."""
    return bool(parameters) and all(item["kind"].startswith("var_") for item in parameters)
