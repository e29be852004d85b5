"""Tags of APIs that could harm the machine, block or crash on purpose."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest

from ciguard.libraries import LIBRARIES

if TYPE_CHECKING:
    from ciguard.libraries.in_target.tag_names import TagRow

BUILT_IN = sorted(
    name
    for name, library in LIBRARIES.items().items()
    if library.adapter.with_name("tags.py").is_file()
)


def tags_module(library: str) -> Any:
    return importlib.import_module(f"ciguard.libraries.{library}.in_target.tags")


def tags_of(api: str, *extra: str) -> list[str]:
    tags: list[str] = tags_module(api.partition(".")[0]).tags_of(api, *extra)
    return tags


@pytest.mark.parametrize(
    ("api", "tag"),
    [
        ("tensorflow.io.gfile.rmtree", "files"),
        ("tensorflow.io.write_file", "files"),
        ("tensorflow.raw_ops.WriteFile", "files"),
        ("tensorflow.raw_ops.SaveV2", "files"),
        ("tensorflow.raw_ops.RecordInput", "files"),
        ("tensorflow.raw_ops.WriteScalarSummary", "files"),
        ("tensorflow.saved_model.save", "files"),
        ("tensorflow.load_library", "files"),
        ("torch.save", "files"),
        ("torch.load", "files"),
        ("torch.from_file", "files"),
        ("jax.numpy.save", "files"),
        ("keras.utils.get_file", "files"),
        ("jittor.load", "files"),
        ("torch.hub.load", "network"),
        ("tensorflow.distribute.get_strategy", "network"),
        ("tensorflow.raw_ops.DataServiceDataset", "network"),
        ("tensorflow.raw_ops.CollectiveReduce", "network"),
        ("torch.compile", "process"),
        ("torch.fork", "process"),
        ("torch.set_num_threads", "process"),
        ("jittor.jittor_exit", "process"),
        ("jittor.reindex", "process"),
        ("torch.set_default_dtype", "global-state"),
        ("torch.use_deterministic_algorithms", "global-state"),
        ("torch.manual_seed", "global-state"),
        ("tensorflow.config.run_functions_eagerly", "global-state"),
        ("tensorflow.random.set_seed", "global-state"),
        ("keras.config.set_floatx", "global-state"),
        ("tensorflow.raw_ops.QueueDequeueV2", "blocking"),
        ("tensorflow.raw_ops.BarrierTakeMany", "blocking"),
        ("tensorflow.raw_ops.MapUnstage", "blocking"),
        ("tensorflow.raw_ops.IteratorGetNext", "blocking"),
        ("tensorflow.raw_ops.Unbatch", "blocking"),
        ("tensorflow.raw_ops.Recv", "network"),
        ("torch.rand", "random"),
        ("torch.Tensor.bernoulli_", "random"),
        ("torch.nn.Dropout", "random"),
        ("torch.nn.functional.alpha_dropout", "random"),
        ("tensorflow.raw_ops.RandomShuffle", "random"),
        ("tensorflow.keras.layers.RandomFlip", "random"),
        ("jax.random.normal", "random"),
        ("torch.empty_like", "unstable"),
        ("torch.Tensor.new_empty", "unstable"),
        ("torch.Tensor.resize_", "unstable"),
        ("tensorflow.raw_ops.Empty", "unstable"),
        ("tensorflow.timestamp", "time"),
        ("tensorflow.raw_ops.Abort", "debug"),
        ("tensorflow.raw_ops.PrintV2", "debug"),
        ("tensorflow.print", "debug"),
        ("tensorflow.map_fn", "callback"),
        ("jax.lax.while_loop", "callback"),
    ],
)
def test_an_api_that_needs_care_is_tagged(api: str, tag: str) -> None:
    assert tag in tags_of(api)


@pytest.mark.parametrize(
    "api",
    [
        "torch.conv2d",
        "torch.nn.functional.normalize",
        "torch.sparse_coo_tensor",
        "torch.Tensor.sparse_dim",
        "torch.nn.Conv2d",
        "torch.as_strided",
        "tensorflow.linalg.set_diag",
        "tensorflow.nn.conv2d",
        "tensorflow.raw_ops.BatchMatMulV2",
        "tensorflow.raw_ops.ForwardSomething",
        "tensorflow.raw_ops.MaxPoolGrad",
        "tensorflow.raw_ops.TensorListReserve",
        "tensorflow.raw_ops.SparseConcat",
        "tensorflow.keras.layers.Dense",
        "jax.numpy.reshape",
        "jittor.log",
        "jittor.logical_and",
        "jittor.nn.log_softmax",
        "jittor.normalize",
    ],
)
def test_a_harmless_api_is_not_tagged(api: str) -> None:
    assert tags_of(api) == []


def test_tags_of_the_caller_are_added() -> None:
    assert tags_of("torch.rand", "undocumented") == ["random", "undocumented"]


@pytest.mark.parametrize("library", BUILT_IN)
def test_every_row_has_a_reason_and_the_scope_of_its_library(library: str) -> None:
    rows: tuple[TagRow, ...] = tags_module(library).ROWS

    assert all(row.reason and row.patterns and library in row.scope for row in rows)
