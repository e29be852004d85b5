"""TensorFlow's own definitions of its operations: types and limits of inputs and attributes."""

from __future__ import annotations

import importlib
from typing import Any

_WITHOUT_NUMPY = ("resource", "variant")
_DEVICES = ("CPU", "GPU", "DEFAULT")
"""What eager calls run on; kernels of compilers and of remote devices are out of reach."""


class OpDefs:
    """Reads the registry of operation definitions."""

    def __init__(self) -> None:
        self._registry: Any = importlib.import_module("tensorflow.python.framework.op_def_registry")
        self._dtypes: Any = importlib.import_module("tensorflow.python.framework.dtypes")
        self._kernels: dict[str, list[dict[str, list[str]]]] = {}
        """By operation, one entry per kernel: the types it is registered for, by attribute."""
        for kernel in self._registered_kernels():
            entry = {c.name: self._names(c.allowed_values.list.type) for c in kernel.constraint}
            self._kernels.setdefault(kernel.op, []).append(entry)

    @staticmethod
    def _registered_kernels() -> Any:
        kernels: Any = importlib.import_module("tensorflow.python.framework.kernels")
        every = kernels.get_all_registered_kernels().kernel
        return [kernel for kernel in every if kernel.device_type in _DEVICES]

    def find(self, operator: str) -> Any:
        """Return the definition of an operation, or None."""
        return self._registry.get(operator)

    def facts(self, definition: Any) -> dict[str, dict[str, Any]]:
        """Return what a definition says, by the name of the input or attribute."""
        attributes = {attribute.name: attribute for attribute in definition.attr}
        found = {name: self._of_attribute(item) for name, item in attributes.items()}
        for name, types in self._kernel_types(definition.name).items():
            if name in found:
                found[name]["dtypes"] = types
        first_of_type: dict[str, str] = {}
        for item in definition.input_arg:
            facts = self._of_input(item, attributes)
            if item.type_attr:
                facts["dtypes"] = found[item.type_attr]["dtypes"]
                first = first_of_type.setdefault(item.type_attr, item.name)
                if first != item.name:
                    facts["same_dtype_as"] = first
            found[item.name] = facts
        return {name: _without_nothing(facts) for name, facts in found.items()}

    def _kernel_types(self, operator: str) -> dict[str, list[str]]:
        """Return the types that some kernel takes, for the attributes that every kernel limits.

        The definition lists the types of all devices; a call of another type is refused, slowly.
        """
        entries = self._kernels.get(operator, [])
        limited = set(entries[0]).intersection(*entries[1:]) if entries else set()
        return {
            name: sorted({dtype for entry in entries for dtype in entry[name]}) for name in limited
        }

    def lacks_kernel(self, definition: Any) -> bool:
        """Whether no device at hand implements the operation, so that every call is refused."""
        return definition.name not in self._kernels

    def needs_handle(self, definition: Any) -> bool:
        """Whether an input is a handle of a runtime object."""
        return any(
            item.type and self._name(item.type) in _WITHOUT_NUMPY for item in definition.input_arg
        )

    def needs_graph(self, definition: Any) -> bool:
        """Whether it takes or returns a reference to a variable, which eager calls refuse."""
        return any(item.is_ref for item in (*definition.input_arg, *definition.output_arg))

    def is_removed(self, definition: Any) -> bool:
        """Whether the operation is left only for graphs that old versions have written."""
        return bool(definition.deprecation.version)

    def is_random(self, definition: Any) -> bool:
        """Whether the operation draws numbers, told by its pair of seeds."""
        return any(attribute.name == "seed2" for attribute in definition.attr)

    def _of_input(self, item: Any, attributes: dict[str, Any]) -> dict[str, Any]:
        facts: dict[str, Any] = {"schema_type": "Tensor"}
        if item.type:
            facts["dtypes"] = self._names([item.type])
        elif item.type_attr:
            facts["dtypes"] = self._allowed_types(attributes.get(item.type_attr))
        if item.number_attr or item.type_list_attr:
            facts["schema_type"] = "list(Tensor)"
            counted = attributes.get(item.number_attr or item.type_list_attr)
            if counted is not None and counted.has_minimum:
                facts["minimum"] = int(counted.minimum)
            if item.type_list_attr:
                facts["dtypes"] = self._allowed_types(counted)
        return facts

    def _of_attribute(self, attribute: Any) -> dict[str, Any]:
        facts: dict[str, Any] = {"schema_type": str(attribute.type)}
        if attribute.has_minimum:
            facts["minimum"] = int(attribute.minimum)
        facts["allowed"] = [text.decode() for text in attribute.allowed_values.list.s]
        facts["dtypes"] = self._allowed_types(attribute)
        return facts

    def _allowed_types(self, attribute: Any) -> list[str]:
        return [] if attribute is None else self._names(attribute.allowed_values.list.type)

    def _names(self, numbers: Any) -> list[str]:
        return [self._name(number) for number in numbers]

    def _name(self, number: int) -> str:
        return str(self._dtypes.as_dtype(number).base_dtype.name)


def _without_nothing(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if value not in ("", [], None)}
