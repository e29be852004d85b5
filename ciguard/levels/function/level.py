"""Makes batches of calls from annotated functions, a seed and an index."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import CallKind
from ciguard.domain.function_calls import FunctionCase, function_api
from ciguard.functions.drawing import call_sampler
from ciguard.levels import Batch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.domain.values import Json
    from ciguard.functions.specs import FunctionSpec, ModuleSpec

_CALLS_PER_BATCH = 4
"""Number of calls in a batch; small, since calls of some functions take seconds."""
_DRAWS_PER_CALL = 8
"""Number of draws per call, since not every draw is valid."""


@dataclass(frozen=True, slots=True)
class FunctionTarget:
    """A function to test."""

    file: str
    """File of its program, as in `FunctionCase.file`."""
    module: ModuleSpec
    function: FunctionSpec
    about: Json = None
    """Description for its cases, as in `FunctionCase.about`."""

    @property
    def api(self) -> str:
        """Name of the function in reports."""
        return function_api(self.file, self.function.name)


class FunctionLevel:
    """Calls annotated functions in turn, with arguments drawn by their annotations.

    In the first round each program is imported before its functions are called, as a separate case.
    """

    def __init__(self, functions: Sequence[FunctionTarget], seed: int) -> None:
        """Prepare the functions' samplers.

        Args:
            functions: functions to test, in order; at least one.
            seed: seed of the run.

        Raises:
            ValueError: if there is no function.
        """
        if not functions:
            msg = "no function to test"
            raise ValueError(msg)
        self._functions = tuple(functions)
        self._samplers = [call_sampler(target.function, target.module) for target in functions]
        self._seed = seed

    def cases(self, index: int) -> Batch:
        """Return the batch of an index; see `Level`."""
        target = self._target(index)
        cases = [*self._imports(index), *self._calls(index)]
        return Batch(api=target.api, kind=CallKind.FUNCTION, cases=tuple(cases))

    def api_of(self, index: int) -> str:
        """Return the function of an index; see `IndexedLevel`."""
        return self._target(index).api

    def _target(self, index: int) -> FunctionTarget:
        return self._functions[index % len(self._functions)]

    def _imports(self, index: int) -> Iterator[FunctionCase]:
        target = self._target(index)
        earlier_files = {other.file for other in self._functions[:index]}
        if index < len(self._functions) and target.file not in earlier_files:
            about = {**target.about, "functions": []} if target.about else None
            yield FunctionCase(api=function_api(target.file), file=target.file, about=about)

    def _calls(self, index: int) -> Iterator[FunctionCase]:
        target = self._target(index)
        sample = self._samplers[index % len(self._functions)]
        # The seed must not depend on the function's position, since users annotate more functions.
        rng = random.Random(f"{self._seed} {target.api} {index // len(self._functions)}")  # noqa: S311
        count = 0
        for _ in range(_CALLS_PER_BATCH * _DRAWS_PER_CALL):
            call = sample(rng)
            if call is not None:
                count += 1
                yield FunctionCase(
                    api=target.api,
                    file=target.file,
                    call=call.to_json(),
                    seed=rng.getrandbits(31),
                    about=target.about,
                )
            if count == _CALLS_PER_BATCH:
                return
