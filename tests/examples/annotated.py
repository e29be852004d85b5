"""Modules with annotated functions, made from source, and what can be drawn for them."""

from __future__ import annotations

import json
import linecache
import random
import sys
import textwrap
import types
from typing import TYPE_CHECKING, Any

from ciguard.functions.checking import module_from_json
from ciguard.functions.drawing import call_sampler
from ciguard.functions.in_target.calling.caller import Caller
from ciguard.functions.in_target.describing.module import Description

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.functions.specs import Call, ModuleSpec

IMPORTS = "from ciguard.annotations import *\nfrom ciguard.annotations import Range\n"


class Annotated:
    """A module made from source, described and ready to be called."""

    def __init__(self, source: str, name: str = "annotated_program") -> None:
        text = IMPORTS + textwrap.dedent(source)
        file = f"<{name} {next(_NUMBERS)}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        self.module = types.ModuleType(name)
        self.module.__file__ = file
        sys.modules[name] = self.module
        exec(compile(text, file, "exec"), vars(self.module))
        self.description = Description(self.module)
        self.json: Any = json.loads(json.dumps(self.description.json()))
        self.spec: ModuleSpec = module_from_json(self.json)
        self.caller = Caller(self.module, description=self.description)

    @property
    def problems(self) -> list[str]:
        return [problem.message for problem in self.spec.problems]

    def calls(self, name: str, count: int = 200) -> list[Call | None]:
        sample = call_sampler(self.spec.function(name), self.spec)
        rng = random.Random(0)
        return [sample(rng) for _ in range(count)]

    def results(self, name: str, count: int = 200) -> list[dict[str, Any]]:
        found = [call for call in self.calls(name, count) if call is not None]
        return [self.run(call) for call in found]

    def run(self, call: Call) -> dict[str, Any]:
        return self.caller.run(json.loads(json.dumps(call.to_json())))

    def statuses(self, name: str, count: int = 200) -> set[str]:
        return {result["status"] for result in self.results(name, count)}


def _numbers() -> Iterator[int]:
    number = 0
    while True:
        number += 1
        yield number


_NUMBERS = _numbers()
