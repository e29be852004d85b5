"""Draws inputs with a library of contracts; run by the interpreter of its environment.

Usage: `rivals.py deal|icontract SECONDS FILE FUNCTION...`; what was drawn is pickled into the file.
"""

from __future__ import annotations

import importlib
import pickle
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from function_sets.drawing import Drawn, draw
from function_sets.requiring import decorate_with, is_valid


def _by_deal(function: Any, name: str, seconds: float) -> Drawn:
    """Draw as `deal.cases` does: by the types, what the preconditions refuse is rejected."""
    strategy = importlib.import_module("deal").cases(function).strategy.map(lambda made: made[1])
    return draw(strategy, lambda made: is_valid(name, made), None, seconds)


def _by_icontract(function: Any, name: str, seconds: float) -> Drawn:
    """Draw by the strategy that icontract-hypothesis infers from types and preconditions."""
    del name
    strategy = importlib.import_module("icontract_hypothesis").infer_strategy(function)
    return draw(strategy, lambda _: True, None, seconds)


_TOOLS = {"deal": _by_deal, "icontract": _by_icontract}


def _drawn(tool: str, name: str, seconds: float) -> Drawn:
    contracts = importlib.import_module("function_sets.contracts")
    try:
        return _TOOLS[tool](vars(contracts)[name], name, seconds)
    except Exception as error:  # noqa: BLE001 - told in the table: it cannot express the set
        return Drawn(error=f"{type(error).__name__}: {error}")


def main() -> None:
    """Draw inputs of functions."""
    tool, seconds, file, *names = sys.argv[1:]
    if tool == "icontract":
        decorate_with(importlib.import_module("icontract").require)
    drawn = {name: _drawn(tool, name, float(seconds)) for name in names}
    Path(file).write_bytes(pickle.dumps(drawn))


if __name__ == "__main__":
    main()
