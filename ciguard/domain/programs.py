"""Cases of level `code`: whole programs that build, train and evaluate a model, and their parts.

A program is text. What it differs in from the program that it was derived from is known exactly,
and travels with it: the line, the parameter, the old and the new value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.case import CaseKind
from ciguard.domain.intent import Intent
from ciguard.domain.text import shortened

if TYPE_CHECKING:
    from ciguard.domain.values import Json, Value

PROGRAM = "program"
"""Second member of an encoded `ProgramCase`, where an API call has its kind."""


class Operator(StrEnum):
    """What is done to a block (MoCo, section III-C). The value is its name in files."""

    NONE = ""
    """Nothing: the block is the seed's own."""
    REPLACEMENT = "AR"
    """Another API in place of its own, with the arguments that both take."""
    GENERATION = "RG"
    """Another value of one parameter, within its legal range."""
    BOUNDARY = "BC"
    """A value of one parameter just outside of its legal range."""
    UNBATCHED = "UB"
    """One sample in the place of a batch: what was changed alone, without the batch dimension."""
    OMITTED = "OD"
    """No argument for a parameter whose default is None: what was changed alone, without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """One step from a program to the next: a block is put into its slot."""

    block: str
    """Name of the block in the seed."""
    line: int
    """Of the changed call in the derived program, from 1; where nothing was changed, the block's
    first."""
    api: str = ""
    """Qualified public name of what the changed call calls now; empty where none was changed."""
    operator: Operator = Operator.NONE
    parameter: str = ""
    """For `AR` empty."""
    before: str = ""
    """Python text of the old value, or the qualified name of the old API; empty: not given."""
    after: str = ""
    sentence: str = ""
    """Words of the documentation that justify the new value as legal, or as illegal."""
    adapter: str = ""
    """Statement that was put before the block, or behind it, so that it fits; empty: none."""
    use: str = ""
    """For `AR`, how the new API's layer is called: an expression of the layer `f` and the data `x`;
    empty: as the old one was."""

    @property
    def change(self) -> str:
        """What was changed, in words; empty where nothing was. May hold fuzzed text."""
        api = shortened(self.api, _MAX_NAME)
        before, after = (shortened(text, _MAX_SHOWN) for text in (self.before, self.after))
        match self.operator:
            case Operator.NONE:
                return ""
            case Operator.REPLACEMENT:
                use = f", called as {shortened(self.use, _MAX_SHOWN)}" if self.use else ""
                return f"{before} → {after}{use}"
            case Operator.GENERATION | Operator.BOUNDARY | Operator.OMITTED:
                parameter = shortened(self.parameter, _MAX_SHOWN)
                return f"{parameter} of {api}: {before or 'not given'} → {after}"
            case Operator.UNBATCHED:
                return f"input of {api}: {before} → {after}"

    @property
    def label(self) -> str:
        """What was done in a few words: `AR conv2: Conv2d → ConvTranspose2d`.

        May hold fuzzed text.
        """
        block = shortened(self.block, _MAX_SHOWN)
        if self.operator is Operator.NONE:
            return f"{block}: as in the seed"
        before, after = (shortened(text, _MAX_SHOWN) for text in (self.before, self.after))
        if self.operator is Operator.REPLACEMENT:
            return f"{self.operator.value} {block}: {_last(before)} → {_last(after)}"
        changed = f"{_last(self.api)} {self.parameter}: {before or 'not given'} → {after}"
        return shortened(f"{self.operator.value} {block}: {changed}", 4 * _MAX_SHOWN)


def _last(name: str) -> str:
    return shortened(name.rpartition(".")[2], _MAX_SHOWN)


_MAX_SHOWN = 80
_MAX_NAME = 200
"""Of a qualified name, which is to be told whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ancestry:
    """Where a program comes from."""

    seed: str
    """Name of the seed program."""
    path: tuple[Derivation, ...] = ()
    """From the template to this program; the last one is what the case is about."""
    parent: str = ""
    """The program that this one was derived from, of a whole program; empty: not known."""
    derived: str = ""
    """The whole program as it was derived, where the case was made simpler since."""
    tree: int = 0
    """Which of the trees that were grown of this seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramCase:
    """One run of one program."""

    api: str
    """What is tested: the API of the last derivation, else the library's name."""
    source: str
    """The program."""
    block: str = ""
    """A program that runs the last block alone, forwards and backwards, on an input such as it
    meets in its slot; it is run before. Empty: nothing is run before."""
    seed: int = 0
    """The library's random generators are seeded with it before either is run."""
    intent: Intent = Intent.CONFORMING
    """CONFORMING for a positive node, VIOLATING for a negative one (MoCo, section III-A3)."""
    cycles: int = 1
    """Times that the program is run in one process, to see what it leaves behind."""
    ancestry: Ancestry = Ancestry(seed="")

    relation: ClassVar[str] = ""
    """No metamorphic relation is tried with a program."""
    level: ClassVar[str] = "code"
    noun: ClassVar[str] = "program"
    given: ClassVar[str] = "inputs"
    is_api_use: ClassVar[bool] = False
    is_user_code: ClassVar[bool] = False
    place: ClassVar[tuple[str, int]] = ("", 0)
    is_run_by_worker: ClassVar[bool] = True
    has_verdict_alone: ClassVar[bool] = True

    @property
    def apis(self) -> tuple[str, ...]:
        """What the last derivation is about."""
        return (self.api,)

    @property
    def focus(self) -> str:
        """The parameter that is on or beyond the edge of its range."""
        return self.ancestry.path[-1].parameter if self.ancestry.path else ""

    @property
    def values(self) -> tuple[Value, ...]:
        """No value is given from outside."""
        return ()

    def lowered(self) -> ProgramCase:
        """Return the case: workers run it as it is."""
        return self

    def to_json(self) -> Json:
        """Return the JSON form of the case: `[api, "program", {…}]`; what is empty is left out."""
        rest = {
            "source": self.source,
            "block": self.block,
            "seed": self.seed,
            "intent": self.intent.value if self.intent is not Intent.CONFORMING else "",
            "cycles": self.cycles if self.cycles != 1 else 0,
            "ancestry": [
                self.ancestry.seed,
                [derivation_to_json(step) for step in self.ancestry.path],
                *filter(None, [_kin_to_json(self.ancestry)]),
            ],
        }
        filled = {key: item for key, item in rest.items() if item or key == "source"}
        return [self.api, PROGRAM, filled]


@dataclass(frozen=True, slots=True)
class Located:
    """What a program's run said, and where: the worker puts the place before every message."""

    message: str
    """Without the place."""
    line: int = 0
    """Of the program or of the block's program, from 1; 0 where it is not known."""
    in_block: bool = False
    """Whether it is the block, run alone, that said it."""


def located(message: str) -> Located:
    """Part the message of a program's run from its place.

    That is `line 23: …`, or `block alone, line 7: …`.
    """
    match = _PLACE.match(message)
    if match is None:
        return Located(message)
    return Located(message[match.end() :], int(match["line"]), bool(match["block"]))


_PLACE = re.compile(r"(?P<block>block alone, )?line (?P<line>\d{1,9}): ")


def program_case_from_json(encoded: Json) -> ProgramCase:
    """Rebuild a case.

    Raises:
        ValueError: if `encoded` is not the JSON form of a case of this level.
    """
    try:
        api, _, rest = encoded
        seed, path, *kin = rest["ancestry"]
        cycles = int(rest.get("cycles", 1))
        if cycles < 1:
            msg = f"{cycles} cycles"
            raise ValueError(msg)  # noqa: TRY301 - one message for all that may be wrong
        return ProgramCase(
            api=str(api),
            source=str(rest["source"]),
            block=str(rest.get("block", "")),
            seed=int(rest.get("seed", 0)),
            intent=Intent(rest.get("intent", Intent.CONFORMING)),
            cycles=cycles,
            ancestry=_ancestry(str(seed), tuple(map(derivation_from_json, path)), *kin),
        )
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        msg = f"not an encoded program case: {error!r}"
        raise ValueError(msg) from error


PROGRAM_KIND = CaseKind(read=program_case_from_json, is_program=True)


def _kin_to_json(ancestry: Ancestry) -> Json:
    rest = {"parent": ancestry.parent, "derived": ancestry.derived, "tree": ancestry.tree}
    return {key: item for key, item in rest.items() if item}


def _ancestry(seed: str, path: tuple[Derivation, ...], kin: Json = None) -> Ancestry:
    known = kin or {}
    return Ancestry(
        seed=seed,
        path=path,
        parent=str(known.get("parent", "")),
        derived=str(known.get("derived", "")),
        tree=int(known.get("tree", 0)),
    )


_TEXTS = ("block", "api", "parameter", "before", "after", "sentence", "adapter", "use")


def derivation_to_json(step: Derivation) -> Json:
    """Return the JSON form of a step; what is empty is left out."""
    rest = {"operator": step.operator.value, **{name: getattr(step, name) for name in _TEXTS}}
    return {"line": step.line, **{key: item for key, item in rest.items() if item}}


def derivation_from_json(encoded: Json) -> Derivation:
    """Rebuild a step.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: if `encoded` is not the JSON form of one.
    """
    return Derivation(
        line=int(encoded["line"]),
        operator=Operator(encoded.get("operator", "")),
        **{name: str(encoded.get(name, "")) for name in _TEXTS},
    )
