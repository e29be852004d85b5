"""TensorFlow's definitions of its operations: types and limits of inputs and attributes."""

from __future__ import annotations

import importlib
from typing import Any

_WITHOUT_NUMPY = ("resource", "variant")
_GPU_DEVICES = frozenset({"GPU", "DEFAULT"})
"""Types of devices whose kernels run on a GPU."""
_DEVICES = _GPU_DEVICES | {"CPU"}
"""Devices that eager calls use; kernels for compilers and for remote devices are ignored."""


class OpDefs:
    """TensorFlow's registry of operation definitions and kernels."""

    def __init__(self) -> None:
        self._registry: Any = importlib.import_module("tensorflow.python.framework.op_def_registry")
        self._dtypes: Any = importlib.import_module("tensorflow.python.framework.dtypes")
        self._kernels: dict[str, list[dict[str, list[str]]]] = {}
        """Kernels of each operation: the supported dtypes by attribute."""
        self._on_gpu: set[str] = set()
        """Operations with a kernel for GPUs."""
        test: Any = importlib.import_module("tensorflow.python.platform.test")
        self._is_for_devices = bool(test.is_built_with_cuda() or test.is_built_with_rocm())
        for kernel in self._registered_kernels():
            if kernel.device_type in _GPU_DEVICES:
                self._on_gpu.add(kernel.op)
            entry = {c.name: self._names(c.allowed_values.list.type) for c in kernel.constraint}
            self._kernels.setdefault(kernel.op, []).append(entry)

    @staticmethod
    def _registered_kernels() -> Any:
        kernels: Any = importlib.import_module("tensorflow.python.framework.kernels")
        all_kernels = kernels.get_all_registered_kernels().kernel
        return [kernel for kernel in all_kernels if kernel.device_type in _DEVICES]

    def find(self, operator: str) -> Any:
        """Return the definition of an operation; None if there is none."""
        return self._registry.get(operator)

    def facts(self, definition: Any) -> dict[str, dict[str, Any]]:
        """Return types and limits in a definition: fields of a parameter's record, by its name."""
        attributes = {attribute.name: attribute for attribute in definition.attr}
        facts = {name: self._attribute_facts(item) for name, item in attributes.items()}
        for name, types in self._kernel_types(definition.name).items():
            if name in facts:
                # A kernel may be registered for dtypes that the definition excludes.
                allowed = set(facts[name].get("dtypes") or types)
                facts[name]["dtypes"] = [dtype for dtype in types if dtype in allowed]
        first_of_type: dict[str, str] = {}
        first_of_number: dict[str, str] = {}
        for item in definition.input_arg:
            input_facts = self._input_facts(item, attributes)
            if item.type_attr:
                input_facts["dtypes"] = facts[item.type_attr]["dtypes"]
                leader = first_of_type.setdefault(item.type_attr, item.name)
                if leader != item.name:
                    input_facts["same_dtype_as"] = leader
            if item.number_attr:
                leader = first_of_number.setdefault(item.number_attr, item.name)
                if leader != item.name:
                    input_facts["same_length_as"] = leader
            facts[item.name] = input_facts
        return {name: _without_empty_values(input_facts) for name, input_facts in facts.items()}

    def _kernel_types(self, operator: str) -> dict[str, list[str]]:
        """Return the dtypes that any kernel supports, for each attribute that all kernels limit.

        The definition lists the dtypes of all devices. A call without a kernel fails slowly.
        """
        entries = self._kernels.get(operator, [])
        limited_attributes = set(entries[0]).intersection(*entries[1:]) if entries else set()
        return {
            name: sorted({dtype for entry in entries for dtype in entry[name]})
            for name in limited_attributes
        }

    def lacks_kernel(self, definition: Any) -> bool:
        """Return whether the operation has no kernel for eager calls, so that all are rejected."""
        return definition.name not in self._kernels

    def runs_on_cpus_only(self, definition: Any) -> bool:
        """Return whether the operation has kernels for CPUs only, in a build with kernels for GPUs.

        TensorFlow runs such an operation on the CPU, wherever its tensors are.
        """
        has_other_kernels = definition.name in self._kernels
        return self._is_for_devices and has_other_kernels and definition.name not in self._on_gpu

    def needs_handle(self, definition: Any) -> bool:
        """Return whether an input is a handle of a runtime object."""
        return any(
            item.type and self._name(item.type) in _WITHOUT_NUMPY for item in definition.input_arg
        )

    def needs_graph(self, definition: Any) -> bool:
        """Return whether the operation takes or returns a reference, which eager calls reject."""
        return any(item.is_ref for item in (*definition.input_arg, *definition.output_arg))

    def is_removed(self, definition: Any) -> bool:
        """Return whether the operation exists only for graphs of old versions."""
        return bool(definition.deprecation.version)

    def is_random(self, definition: Any) -> bool:
        """Return whether the operation draws random numbers.

        It then has a pair of seeds, or an input with a seed or the algorithm of a generator.
        Compilers draw other numbers than eager execution, even from equal seeds.
        """
        has_seeds = any(attribute.name == "seed2" for attribute in definition.attr)
        inputs = {item.name for item in definition.input_arg}
        return has_seeds or bool(inputs & {"seed", "alg", "algorithm"})

    def _input_facts(self, item: Any, attributes: dict[str, Any]) -> dict[str, Any]:
        """Return the dtypes and the schema type of an input."""
        facts: dict[str, Any] = {"schema_type": "Tensor"}
        if item.type:
            facts["dtypes"] = self._names([item.type])
        elif item.type_attr:
            facts["dtypes"] = self._allowed_types(attributes.get(item.type_attr))
        if item.number_attr or item.type_list_attr:
            facts["schema_type"] = "list(Tensor)"
            list_attribute = attributes.get(item.number_attr or item.type_list_attr)
            if list_attribute is not None and list_attribute.has_minimum:
                facts["minimum"] = int(list_attribute.minimum)
            if item.type_list_attr:
                facts["dtypes"] = self._allowed_types(list_attribute)
        return facts

    def _attribute_facts(self, attribute: Any) -> dict[str, Any]:
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


def _without_empty_values(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if value not in ("", [], None)}
