"""Cases of level `code`: programs that build, train and evaluate a model, and their blocks.

A program is source text. Its case also stores how the program differs from its parent: the line,
the parameter, the old and the new value.
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
    """Mutation operator for a block (the MoCo paper, section III-C).

    The value is the operator's name in files.
    """

    NONE = ""
    """No mutation: the block is unchanged."""
    REPLACEMENT = "AR"
    """Replace the API by another API, with the arguments that both APIs accept."""
    GENERATION = "RG"
    """Replace the value of one parameter by another one in its legal range."""
    BOUNDARY = "BC"
    """Replace the value of one parameter by one just outside its legal range."""
    UNBATCHED = "UB"
    """Call the changed layer alone, with a single sample instead of a batch."""
    OMITTED = "OD"
    """Call the changed API alone, without an argument whose default is None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """One step from a program to the next: a block is added at its place in the template."""

    block: str
    """Name that the block has in the seed program."""
    line: int
    """Line of the changed call in the derived program, or of the unchanged block, from 1."""
    api: str = ""
    """Qualified public name of the API in the changed call; empty if the block is unchanged."""
    operator: Operator = Operator.NONE
    parameter: str = ""
    """Name of the changed parameter; empty for `AR`."""
    before: str = ""
    """Python text of the old value, or qualified name of the old API; empty if the old call did not
    pass the argument."""
    after: str = ""
    """Python text of the new value, or qualified name of the new API."""
    sentence: str = ""
    """Sentence of the documentation that makes the new value legal or illegal."""
    adapter: str = ""
    """Statement before or after the block that makes shapes match; empty if none is needed."""
    use: str = ""
    """Python expression that calls the new layer `f` of `AR` on the data `x`; empty if it is called
    as before."""

    @property
    def change(self) -> str:
        """The change as a phrase; empty if the block is unchanged.

        The phrase may contain fuzzed text, which must be escaped before it is shown.
        """
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
        """Short label such as `AR conv2: Conv2d → ConvTranspose2d`.

        The label may contain fuzzed text, which must be escaped before it is shown.
        """
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
    """Steps from the template to this program. The case tests the last step."""
    parent: str = ""
    """Source of the complete parent program; empty if unknown."""
    derived: str = ""
    """Source of the complete derived program if minimisation has shortened the case's program;
    otherwise empty."""
    tree: int = 0
    """Index of the derivation tree among those grown from the seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramCase:
    """One run of one program."""

    api: str
    """API under test: the API of the last step, or the library's name if the step has none."""
    source: str
    """Source of the program."""
    block: str = ""
    """Source of a program that runs first; empty if there is none. It tests the last block alone,
    forwards and backwards, with an input of the shape that the block receives."""
    seed: int = 0
    """Seed of the library's random generators, set before each program."""
    intent: Intent = Intent.CONFORMING
    """CONFORMING for a positive node, VIOLATING for a negative node (the MoCo paper, section
    III-A3)."""
    cycles: int = 1
    """Number of runs in one process; more than 1 to detect memory leaks."""
    ancestry: Ancestry = Ancestry(seed="")

    relation: ClassVar[str] = ""
    """Always empty: metamorphic relations do not apply to programs."""
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
        """The API under test."""
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
                *filter(None, [_details_to_json(self.ancestry)]),
            ],
        }
        members = {key: item for key, item in rest.items() if item or key == "source"}
        return [self.api, PROGRAM, members]


@dataclass(frozen=True, slots=True)
class LocatedMessage:
    """Message and location of a program's failure."""

    message: str
    """The message without the location, which workers put in front of it."""
    line: int = 0
    """Line of the program, or of the program that runs the block alone, from 1; 0 if unknown."""
    in_block: bool = False
    """True if the program that runs the block alone failed."""


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
        seed, path, *details = rest["ancestry"]
        cycles = int(rest.get("cycles", 1))
        if cycles < 1:
            msg = f"'cycles' is {cycles}; it must be at least 1"
            raise ValueError(msg)  # noqa: TRY301 - the handler below adds the kind of case
        return ProgramCase(
            api=str(api),
            source=str(rest["source"]),
            block=str(rest.get("block", "")),
            seed=int(rest.get("seed", 0)),
            intent=Intent(rest.get("intent", Intent.CONFORMING)),
            cycles=cycles,
            ancestry=_ancestry(str(seed), tuple(map(derivation_from_json, path)), *details),
        )
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        msg = f"malformed program case: {error!r}"
        raise ValueError(msg) from error


PROGRAM_KIND = CaseKind(read=program_case_from_json, is_program=True)


def _details_to_json(ancestry: Ancestry) -> Json:
    rest = {"parent": ancestry.parent, "derived": ancestry.derived, "tree": ancestry.tree}
    return {key: item for key, item in rest.items() if item}


def _ancestry(seed: str, path: tuple[Derivation, ...], details: Json = None) -> Ancestry:
    members = details or {}
    return Ancestry(
        seed=seed,
        path=path,
        parent=str(members.get("parent", "")),
        derived=str(members.get("derived", "")),
        tree=int(members.get("tree", 0)),
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
