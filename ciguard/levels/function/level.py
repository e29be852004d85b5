"""Draws the batches of calls of level `function`."""

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
"""Number of calls in a batch; small, because calls of some functions take seconds."""
_DRAWS_PER_CALL = 8
"""Maximum number of attempts to draw a valid call, per call of the batch."""


@dataclass(frozen=True, slots=True)
class FunctionUnderTest:
    """A function that the level tests."""

    file: str
    """Path of the program, as in `FunctionCase.file`."""
    module: ModuleSpec
    """Module of the program."""
    function: FunctionSpec
    about: Json = None
    """Description of the program for cases, as in `FunctionCase.about`."""

    @property
    def api(self) -> str:
        """Name of the function in reports."""
        return function_api(self.file, self.function.name)


class FunctionLevel:
    """Level whose batches call annotated functions in turn, with arguments that are valid for them.

    In the first round, a case of its own imports each program before its functions are called.
    """

    def __init__(self, functions: Sequence[FunctionUnderTest], seed: int) -> None:
        """Create the level.

        Args:
            functions: functions to test, in the order of their batches; at least one.
            seed: seed of the campaign.

        Raises:
            ValueError: if there are no functions.
        """
        if not functions:
            msg = "level `function`: there is no function to test"
            raise ValueError(msg)
        self._functions = tuple(functions)
        self._samplers = [call_sampler(item.function, item.module) for item in functions]
        self._seed = seed

    def cases(self, index: int) -> Batch:
        """Return the batch with an index; see `Level`."""
        cases = [*self._imports(index), *self._calls(index)]
        return Batch(api=self.api_of(index), kind=CallKind.FUNCTION, cases=tuple(cases))

    def api_of(self, index: int) -> str:
        """Return the name of the function that the batch with an index calls."""
        return self._function(index).api

    def _function(self, index: int) -> FunctionUnderTest:
        return self._functions[index % len(self._functions)]

    def _imports(self, index: int) -> Iterator[FunctionCase]:
        """Yield the case that imports a program, if no earlier batch uses the program."""
        function = self._function(index)
        earlier_files = {other.file for other in self._functions[:index]}
        if index < len(self._functions) and function.file not in earlier_files:
            about = {**function.about, "functions": []} if function.about else None
            yield FunctionCase(api=function_api(function.file), file=function.file, about=about)

    def _calls(self, index: int) -> Iterator[FunctionCase]:
        """Yield the calls of a batch."""
        function = self._function(index)
        sample = self._samplers[index % len(self._functions)]
        # The seed does not depend on the position, so that new functions do not change old calls.
        rng = random.Random(f"{self._seed} {function.api} {index // len(self._functions)}")  # noqa: S311
        count = 0
        for _ in range(_CALLS_PER_BATCH * _DRAWS_PER_CALL):
            call = sample(rng)
            if call is not None:
                count += 1
                yield FunctionCase(
                    api=function.api,
                    file=function.file,
                    call=call.to_json(),
                    seed=rng.getrandbits(31),
                    about=function.about,
                )
            if count == _CALLS_PER_BATCH:
                return
