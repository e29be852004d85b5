"""Cases of level `code`: programs that build, train and evaluate a model, and their blocks.

A program is source text. It carries its difference to the program that it was derived from: the
line, the parameter, the old and the new value.
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
    """Mutation operator for a block (MoCo, section III-C). The value is its name in files."""

    NONE = ""
    """No mutation: the block of the seed."""
    REPLACEMENT = "AR"
    """Replace the API by another one, with the arguments that both accept."""
    GENERATION = "RG"
    """Replace the value of one parameter by another one in its legal range."""
    BOUNDARY = "BC"
    """Replace the value of one parameter by one just outside its legal range."""
    UNBATCHED = "UB"
    """Call the changed layer alone, with one sample instead of a batch."""
    OMITTED = "OD"
    """Call the changed API alone, without an argument whose default is None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """One step from a program to the next: a block is inserted into its slot."""

    block: str
    """Name of the block in the seed."""
    line: int
    """Line of the changed call in the derived program, or of the unchanged block, from 1."""
    api: str = ""
    """Qualified public name of the API that the changed call calls; empty without a change."""
    operator: Operator = Operator.NONE
    parameter: str = ""
    """Name of the changed parameter; empty for `AR`."""
    before: str = ""
    """Python text of the old value, or qualified name of the old API; empty if not given."""
    after: str = ""
    """Python text of the new value, or qualified name of the new API."""
    sentence: str = ""
    """Words of the documentation by which the new value is legal or illegal."""
    adapter: str = ""
    """Statement before or after the block that adapts shapes; empty for none."""
    use: str = ""
    """Expression of layer `f` and data `x` that calls the new layer of `AR`; empty if unchanged."""

    @property
    def change(self) -> str:
        """The change as a phrase; empty without one. May hold fuzzed text."""
        api = shortened(self.api, _MAX_NAME_LENGTH)
        before, after = (shortened(text, _MAX_TEXT_LENGTH) for text in (self.before, self.after))
        match self.operator:
            case Operator.NONE:
                return ""
            case Operator.REPLACEMENT:
                use = f", called as {shortened(self.use, _MAX_TEXT_LENGTH)}" if self.use else ""
                return f"{before} → {after}{use}"
            case Operator.GENERATION | Operator.BOUNDARY | Operator.OMITTED:
                parameter = shortened(self.parameter, _MAX_TEXT_LENGTH)
                return f"{parameter} of {api}: {before or 'not given'} → {after}"
            case Operator.UNBATCHED:
                return f"input of {api}: {before} → {after}"

    @property
    def label(self) -> str:
        """Short label such as `AR conv2: Conv2d → ConvTranspose2d`. May hold fuzzed text."""
        block = shortened(self.block, _MAX_TEXT_LENGTH)
        if self.operator is Operator.NONE:
            return f"{block}: as in the seed"
        before, after = (shortened(text, _MAX_TEXT_LENGTH) for text in (self.before, self.after))
        if self.operator is Operator.REPLACEMENT:
            return f"{self.operator.value} {block}: {_short_name(before)} → {_short_name(after)}"
        changed = f"{_short_name(self.api)} {self.parameter}: {before or 'not given'} → {after}"
        return shortened(f"{self.operator.value} {block}: {changed}", 4 * _MAX_TEXT_LENGTH)


def _short_name(name: str) -> str:
    return shortened(name.rpartition(".")[2], _MAX_TEXT_LENGTH)


_MAX_TEXT_LENGTH = 80
_MAX_NAME_LENGTH = 200
"""Maximum length of a qualified name, high enough to show nearly all names in full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ancestry:
    """Derivation of a program from its seed."""

    seed: str
    """Name of the seed program."""
    path: tuple[Derivation, ...] = ()
    """Steps from the template to this program; the case tests the last one."""
    parent: str = ""
    """Source of the complete parent program; empty if unknown."""
    derived: str = ""
    """Source of the complete derived program, if the case was minimised since."""
    tree: int = 0
    """Index of the derivation tree among those grown from the seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramCase:
    """One run of one program."""

    api: str
    """API under test: that of the last derivation, otherwise the library's name."""
    source: str
    """Source of the program."""
    block: str = ""
    """Source of a program that runs before and tests the last block alone, forwards and backwards,
    with an input of the shape in its slot; empty for none."""
    seed: int = 0
    """Seed of the library's random generators, set before each program."""
    intent: Intent = Intent.CONFORMING
    """CONFORMING for a positive node, VIOLATING for a negative one (MoCo, section III-A3)."""
    cycles: int = 1
    """Number of runs in one process, more than 1 to detect leaks."""
    ancestry: Ancestry = Ancestry(seed="")

    relation: ClassVar[str] = ""
    """Programs are checked with no metamorphic relation."""
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
        """The API of the last derivation."""
        return (self.api,)

    @property
    def focus(self) -> str:
        """Name of the parameter that the last derivation changed; empty for none."""
        return self.ancestry.path[-1].parameter if self.ancestry.path else ""

    @property
    def values(self) -> tuple[Value, ...]:
        """Always empty: no value is passed from outside."""
        return ()

    def lowered(self) -> ProgramCase:
        """Return the case itself: workers run it unchanged."""
        return self

    def to_json(self) -> Json:
        """Return the JSON form of the case: `[api, "program", {…}]`, without empty members."""
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
class LocatedMessage:
    """A failure's message and location; workers put the location in front of each message."""

    message: str
    """The message without the location."""
    line: int = 0
    """Line of the program, or of the block's program, from 1; 0 if unknown."""
    in_block: bool = False
    """True if the block's program failed, which runs the block alone."""


def locate_message(message: str) -> LocatedMessage:
    """Split the message of a program's run into location and text.

    A location is `line 23: ` or `block alone, line 7: `.
    """
    match = _LOCATION.match(message)
    if match is None:
        return LocatedMessage(message)
    return LocatedMessage(message[match.end() :], int(match["line"]), bool(match["block"]))


_LOCATION = re.compile(r"(?P<block>block alone, )?line (?P<line>\d{1,9}): ")


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
            msg = f"cycles is {cycles}, less than 1"
            raise ValueError(msg)  # noqa: TRY301 - the handler adds what is malformed
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
        msg = f"malformed program case: {error!r}"
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
    """Return the JSON form of a step, without empty members."""
    rest = {"operator": step.operator.value, **{name: getattr(step, name) for name in _TEXTS}}
    return {"line": step.line, **{key: item for key, item in rest.items() if item}}


def derivation_from_json(encoded: Json) -> Derivation:
    """Rebuild a step.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: if `encoded` is malformed.
    """
    return Derivation(
        line=int(encoded["line"]),
        operator=Operator(encoded.get("operator", "")),
        **{name: str(encoded.get(name, "")) for name in _TEXTS},
    )
