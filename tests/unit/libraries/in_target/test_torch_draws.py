"""Draws of Keras with torch: on a device, those of a shape are made on the CPU and moved."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from ciguard.libraries.keras.in_target.torch_draws import draw_on_cpu

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Tensor:
    drawn_on: str
    device: str

    def to(self, device: str) -> Tensor:
        return Tensor(self.drawn_on, device)


@dataclass
class Random:
    """Keras's module of random functions, as far as it matters here."""

    device: str
    generators: list[str] = field(default_factory=list)

    def get_device(self) -> str:
        return self.device

    def torch_seed_generator(self, seed: int) -> str:
        del seed
        self.generators.append(self.device)
        return self.device

    def normal(self, shape: tuple[int, ...], seed: int = 0) -> Tensor:
        del shape
        return Tensor(self.torch_seed_generator(seed), self.device)

    def dropout(self, tensor: Tensor, seed: int = 0) -> Tensor:
        return Tensor(self.torch_seed_generator(seed), tensor.device)


def changed(device: str, notes: list[str]) -> Random:
    random = Random(device)

    @contextmanager
    def on_cpu() -> Iterator[None]:
        random.device, before = "cpu", random.device
        try:
            yield
        finally:
            random.device = before

    draw_on_cpu(random, on_cpu, lambda: notes.append(random.device))
    return random


@pytest.mark.parametrize("device", ["cuda", "cuda:0"])
def test_weights_of_a_device_are_drawn_on_the_cpu(device: str) -> None:
    notes: list[str] = []
    random = changed(device, notes)

    assert random.normal((2, 3), seed=1) == Tensor("cpu", device)
    assert (notes, random.get_device()) == ([], device)


def test_draws_for_a_tensor_on_the_device_are_noted() -> None:
    notes: list[str] = []

    assert changed("cuda", notes).dropout(Tensor("cpu", "cuda")) == Tensor("cuda", "cuda")
    assert notes == ["cuda"]


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_draws_without_a_device_are_unchanged(device: str) -> None:
    notes: list[str] = []
    random = changed(device, notes)

    assert random.normal((2,)) == Tensor(device, device)
    assert random.dropout(Tensor(device, device)).drawn_on == device
    assert notes == []
