"""From annotated functions, seed and index to a batch of calls."""

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

_CALLS = 4
"""Of one batch: functions take turns often, since some take seconds."""
_TRIES = 8
"""Calls that are drawn for each that is made: not every one is valid."""


@dataclass(frozen=True, slots=True)
class FunctionTarget:
    """One function that is tested."""

    file: str
    """Its program, as in `FunctionCase.file`."""
    module: ModuleSpec
    function: FunctionSpec
    about: Json = None
    """See `FunctionCase.about`."""

    @property
    def api(self) -> str:
        """The name by which reports call it."""
        return function_api(self.file, self.function.name)


class FunctionLevel:
    """Calls annotated functions in turn, with arguments as their annotations ask for.

    In the first round each program is imported before its functions are called: what it raises
    then is a case of its own.
    """

    def __init__(self, functions: Sequence[FunctionTarget], seed: int) -> None:
        """Make the level.

        Args:
            functions: that are tested, in the order of their turns; at least one.
            seed: of the run.

        Raises:
            ValueError: if there is no function.
        """
        if not functions:
            msg = "no function to test"
            raise ValueError(msg)
        self._functions = tuple(functions)
        self._samplers = [call_sampler(one.function, one.module) for one in functions]
        self._seed = seed

    def cases(self, index: int) -> Batch:
        """See `Level`."""
        tested = self._of(index)
        made = [*self._imports(index), *self._calls(index)]
        return Batch(api=tested.api, kind=CallKind.FUNCTION, cases=tuple(made))

    def api_of(self, index: int) -> str:
        """See `IndexedLevel`."""
        return self._of(index).api

    def _of(self, index: int) -> FunctionTarget:
        return self._functions[index % len(self._functions)]

    def _imports(self, index: int) -> Iterator[FunctionCase]:
        tested = self._of(index)
        earlier = {one.file for one in self._functions[:index]}
        if index < len(self._functions) and tested.file not in earlier:
            about = {**tested.about, "functions": []} if tested.about else None
            yield FunctionCase(api=function_api(tested.file), file=tested.file, about=about)

    def _calls(self, index: int) -> Iterator[FunctionCase]:
        tested = self._of(index)
        sample = self._samplers[index % len(self._functions)]
        # Its own place among the others must not matter: another function may be annotated.
        rng = random.Random(f"{self._seed} {tested.api} {index // len(self._functions)}")  # noqa: S311
        made = 0
        for _ in range(_CALLS * _TRIES):
            call = sample(rng)
            if call is not None:
                made += 1
                yield FunctionCase(
                    api=tested.api,
                    file=tested.file,
                    call=call.to_json(),
                    seed=rng.getrandbits(31),
                    about=tested.about,
                )
            if made == _CALLS:
                return
