"""PyTorch's execution modes other than eager."""

from __future__ import annotations

import contextlib
import contextvars
import importlib
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from ciguard.libraries.torch.in_target import joint_kernels
from ciguard.libraries.torch.in_target.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_UNSUPPORTED_CLASSES = frozenset({"Unsupported", "UserError"})
"""Names of exception classes of `torch._dynamo.exc` for unsupported calls."""
_TRACING_MESSAGES = re.compile(
    r"[Tt]rac(?:e|er|ed|ing)\b"
    r"|Cannot insert a Tensor that requires grad"
    r"|Only tensors"
    r"|data-dependent"
    r"|Runtime assertion failed for expression .*\bu\d"  # a size that depends on data
    r"|but got a Tensor"
    r"|not supported by (?:export|the ONNX|fake tensor)"
)


_SAME_TENSOR = frozenset({"aten::detach", "aten::to"})
"""Operators in traced graphs whose result may be their first argument."""


class NotExpressedError(Exception):
    """A call could not be exported or traced."""


def modes() -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
    """Return functions by mode, which run a function of tensors in the mode."""
    return {
        "aot_eager": partial(_run_compiled, backend="aot_eager"),
        "compile": partial(_run_compiled, backend="inductor"),
        "export": _run_exported,
        "trace": _run_traced,
    }


def stages(mode: str) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
    """Return functions by stage of `torch.compile`, each of which compiles more than the last one.

    The stages of inductor switch one part of it off, so that the part is at fault if the result is
    right without it.
    """
    chosen: dict[str, Callable[[Callable[..., Any], list[Any]], Any]]
    backends = {"dynamo": "eager", "aot_autograd": "aot_eager"}
    if mode == "compile":
        backends |= {"decompositions": "aot_eager_decomp_partition"}
    chosen = {name: partial(_run_compiled, backend=backend) for name, backend in backends.items()}
    if mode == "aot_eager":
        return chosen
    if mode != "compile":
        return {}
    return chosen | {
        name: partial(_run_compiled, backend="inductor", settings=settings)
        for name, settings in _INDUCTOR_STAGES.items()
    }


def options(mode: str) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
    """Return functions by options of inductor; other modes have none."""
    if mode != "compile":
        return {}
    return {name: partial(_run_with_options, options=known) for name, known in OPTIONS.items()}


def _run_with_options(
    function: Callable[..., Any], tensors: list[Any], options: Mapping[str, Any]
) -> Any:
    """Return the result of a function that inductor compiles with other options."""
    return _run_compiled(function, tensors, backend="inductor", options=_known(options))


_PLAIN: dict[str, Any] = {
    "pattern_matcher": False,
    "joint_graph_constant_folding": False,
    "max_fusion_size": 1,
    "cpp.simdlen": 1,
}
"""Settings of inductor with which it neither rewrites, folds, fuses nor vectorises."""
_OWN_HEADERS = {"cpp_cache_precompile_headers": False}
"""Settings for flags of the C++ compiler that no other worker uses: a worker may not add compiled
headers to those that all workers share."""
_INDUCTOR_STAGES: dict[str, dict[str, Any]] = {
    "lowering": {**_PLAIN, **_OWN_HEADERS},
    "rewriting": {"max_fusion_size": 1, "cpp.simdlen": 1, **_OWN_HEADERS},
    "fusion": {"cpp.simdlen": 1, **_OWN_HEADERS},
    "vectorisation": {},
}
"""Settings of inductor by stage. Each stage adds the part that it is named after."""


_KEEPS_CODE: contextvars.ContextVar[bool] = contextvars.ContextVar("keeps_code", default=False)


@contextlib.contextmanager
def kept_code() -> Iterator[None]:
    """Keep compiled code in this context: a call with other sizes compiles for dynamic shapes."""
    token = _KEEPS_CODE.set(True)
    try:
        yield
    finally:
        _KEEPS_CODE.reset(token)


def _run_compiled(
    function: Callable[..., Any],
    tensors: list[Any],
    backend: str,
    settings: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """Return the result of a function compiled by `torch.compile`.

    Args:
        function: the function, see `Adapter.modes`.
        tensors: its arguments.
        backend: name of the backend.
        settings: settings of inductor while the function is compiled; None for no others.
        options: settings of inductor for the function and its gradient; None for no others.
    """
    torch = importlib.import_module("torch")
    if backend == "inductor":
        joint_kernels.install()
    if not _KEEPS_CODE.get():
        importlib.import_module("torch._dynamo").reset()  # clear compiled code of earlier cases
    # Without `fullgraph`, parts that cannot be compiled would run eagerly, as on the reference.
    compiled = torch.compile(function, backend=backend, fullgraph=True, options=options)
    if settings:
        with importlib.import_module("torch._inductor.config").patch(_known(settings)):
            return compiled(*tensors)
    return compiled(*tensors)


def _known(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of inductor that this version has."""
    known = importlib.import_module("torch._inductor.config").get_config_copy()
    return {key: value for key, value in settings.items() if key in known}


def _run_exported(function: Callable[..., Any], tensors: list[Any]) -> Any:
    """Return the result of a function exported by `torch.export`."""
    torch = importlib.import_module("torch")
    importlib.import_module("torch._dynamo").reset()

    class Module(torch.nn.Module):  # type: ignore[misc,name-defined]  # no stub
        def __init__(self) -> None:
            super().__init__()
            self.call = function  # the weights of a layer become weights of the module

        def forward(self, *inputs: Any) -> Any:
            return self.call(*inputs)

    with _translated_errors():
        program = torch.export.export(Module(), tuple(tensors))
    return program.module()(*tensors)


def _run_traced(function: Callable[..., Any], tensors: list[Any]) -> Any:
    """Return the result of a function traced by `torch.jit.trace`."""
    torch = importlib.import_module("torch")
    # Tracing executes the call, which may change its arguments. A clone may have other strides.
    copies = tuple([tensor.__deepcopy__({}) for tensor in tensors])
    with _translated_errors():
        traced_function = torch.jit.trace(function, copies, check_trace=False)
    if any(map(_changes_constant, traced_function.graph.nodes())):
        msg = "a tensor that the call makes became a constant, which tracing has changed"
        raise NotExpressedError(msg)
    return traced_function(*tensors)


def _changes_constant(node: Any) -> bool:
    """Return whether a node of a traced graph changes a constant in place."""
    changed = next(node.inputs(), None) if node.kind().endswith("_") else None
    while changed is not None and changed.node().kind() in _SAME_TENSOR:
        changed = next(changed.node().inputs(), None)
    return changed is not None and changed.node().kind() == "prim::Constant"


@contextlib.contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        raise NotExpressedError(message) from error


def cannot_express(error: BaseException) -> bool:
    """Return whether an error means that a mode does not support a call."""
    if isinstance(error, NotExpressedError):
        return True  # documented limits: sparse and nested tensors, data-dependent sizes, …
    classes = type(error).__mro__
    if any(
        c.__module__.startswith("torch._dynamo") and c.__name__ in _UNSUPPORTED_CLASSES
        for c in classes
    ):
        return True
    return bool(_TRACING_MESSAGES.search(str(error)))
