"""Describes seed models of level `model` as data: builder scripts, saved models, applications."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from typing import Any, Callable, Iterable, Iterator

from ciguard.libraries.keras.in_target.graphs import INPUT, graph_of

_EMBEDDING = "keras.layers.Embedding"


class SourceError(ValueError):
    """A source contains no usable model. The message contains a remedy."""


def describe_models(sources: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield one record per source with the model's graph and inputs, or with an error.

    Args:
        sources: the sources, each with a `name` and one of:
            `script` (path), `function`, `width` and `root`: a function that returns the model;
            `file`: a `.keras` or `.h5` file, whose weights the graph refers to;
            `application`: a name of `keras.applications`, with the `folder` of its ImageNet
            weights; without `folder` the weights are random.

    Returns:
        `{"name", "graph", "data", "truth", "classes"}` or `{"name", "error"}`. `data` describes
        each input: its `kind` (of `domain.models.SampleKind`, or empty), `shape`, `dtype` and, for
        the indices of an embedding, their exclusive maximum (`below`). `truth` is the shape of the
        first output; `classes` is 0 for a regression.
    """
    keras = importlib.import_module("keras")
    for source in sources:
        # Restart Keras's numbering of layer names for each model.
        keras.utils.clear_session()
        try:
            yield {"name": source["name"], **_describe_source(keras, source)}
        except Exception as error:  # noqa: BLE001 - scripts and files of users may raise any exception
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            yield {"name": source["name"], "error": f"{kind}{error}"}


def _describe_source(keras: Any, source: dict[str, Any]) -> dict[str, Any]:
    """Return the record of the model that a source contains."""
    if "script" in source:
        module = _import_script(source["script"], source["root"])
        model = _build_model(keras, module, source)
        return _record(graph_of(model), kind=str(getattr(module, "DATA", "")))
    file = source.get("file", "")
    if "application" in source:
        file = _cached_application(keras, source) if "folder" in source else ""
        if not file:
            model = _application(keras, source["application"])(weights=None)
            return _record(graph_of(model))
    model = keras.saving.load_model(file, compile=False)
    return _record(graph_of(model, file=file))


def _import_script(path: str, root: str) -> Any:
    """Import a script and return its module.

    The script can import modules from its folder and from `root`.

    Raises:
        SourceError: if the script cannot be read.
    """
    specification = importlib.util.spec_from_file_location("ciguard_seed_model", path)
    if specification is None or specification.loader is None or not os.access(path, os.R_OK):
        message = (
            f"{path} cannot be read: the file is not a Python file, or workers have no access to it"
        )
        raise SourceError(message)
    module = importlib.util.module_from_spec(specification)
    sys.modules["ciguard_seed_model"] = module
    sys.path[:0] = [os.path.dirname(path), root]
    specification.loader.exec_module(module)
    return module


def _build_model(keras: Any, module: Any, source: dict[str, Any]) -> Any:
    """Return the model that a function of the script builds."""
    name = source["function"]
    build = getattr(module, name, None)
    if not callable(build):
        functions = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        message = f"{source['script']} has no function {name!r}; it has: {', '.join(functions)}"
        raise SourceError(message)
    takes_width = "width" in inspect.signature(build).parameters
    model = build(width=source["width"]) if takes_width else build()
    if not isinstance(model, keras.Model):
        kind = type(model).__name__
        message = f"{name}() of {source['script']} returns {kind}, not a keras.Model"
        raise SourceError(message)
    return model


def _application(keras: Any, name: str) -> Callable[..., Any]:
    names_by_key = {key.lower(): key for key in dir(keras.applications) if key[0].isupper()}
    if name.lower() not in names_by_key:
        message = f"keras.applications has no {name!r}; it has: {', '.join(names_by_key.values())}"
        raise SourceError(message)
    function: Callable[..., Any] = getattr(keras.applications, names_by_key[name.lower()])
    return function


def _cached_application(keras: Any, source: dict[str, Any]) -> str:
    """Return the file of an application with its ImageNet weights; create it if it is missing.

    Raises:
        SourceError: if the weights cannot be downloaded.
    """
    name = source["application"]
    build = _application(keras, name)
    file = os.path.join(source["folder"], f"{name.lower()}-{keras.__version__}.keras")
    if os.path.exists(file):
        return file
    try:
        model = build(weights="imagenet")
    except Exception as error:  # the download may raise any exception
        message = f"the ImageNet weights of {name} cannot be downloaded ({error!s:.300}). "
        remedy = f"Connect to the network, or use application:{name}, which needs no weights"
        raise SourceError(message + remedy) from error
    # Renaming a complete file ensures that other processes never read a part of it.
    unfinished_file = os.path.join(source["folder"], f".{os.getpid()}-{name.lower()}.keras")
    try:
        model.save(unfinished_file)
        os.replace(unfinished_file, file)
    finally:
        if os.path.exists(unfinished_file):
            os.remove(unfinished_file)
    return file


def _record(graph: dict[str, Any], *, kind: str = "") -> dict[str, Any]:
    nodes = {node["name"]: node for node in graph["nodes"]}
    data = [
        _input_description(node, graph, kind) for node in nodes.values() if node["layer"] == INPUT
    ]
    first = nodes[graph["outputs"][0]]
    classes = first["shape"][-1] if _is_softmax(first) else 0
    return {"graph": graph, "data": data, "truth": first["shape"], "classes": classes}


def _is_softmax(node: dict[str, Any]) -> bool:
    activation = node.get("config", {}).get("activation")
    return bool(node["layer"] == "keras.layers.Softmax" or activation == "softmax")


def _input_description(node: dict[str, Any], graph: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the description of one input of the graph."""
    tables = [
        embedding["config"]["input_dim"]
        for embedding in graph["nodes"]
        if embedding["layer"] == _EMBEDDING and node["name"] in embedding["inputs"]
    ]
    return {
        "kind": kind,
        "shape": node["shape"],
        "dtype": node.get("dtype", "float32"),
        "below": min(tables, default=0),
    }
