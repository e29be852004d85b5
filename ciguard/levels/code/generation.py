"""Random generation (RG): another legal value of one parameter of one call (MoCo, III-C)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.programs import Derivation, Operator
from ciguard.domain.values import LiteralValue
from ciguard.knowledge import ClueSource
from ciguard.levels.code.binding import VARIADIC, bind, default_of, with_argument
from ciguard.levels.code.blocks import BlockMutant
from ciguard.levels.code.coherence import is_coherent
from ciguard.levels.code.knowledge import INPUT_SIZES, is_said, spaces
from ciguard.levels.code.legal import draw, literal_part
from ciguard.levels.code.literals import is_same, text_of, value_of
from ciguard.values import AnyOf, Bool, Float, Int, Optional, Tuple

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from ciguard.domain.records import ApiRecord
    from ciguard.knowledge import Api, Parameter
    from ciguard.levels.code.blocks import Block
    from ciguard.levels.code.knowledge import Apis
    from ciguard.values import Constraint

_LEFT_ALONE = frozenset(
    {
        "_freeze", "_weight", "autocast", "data_format", "device", "dtype", "inplace",
        "is_train", "layout", "memory_format", "name", "names", "out", "pin_memory",
        "return_attention_scores", "return_indices", "return_state", "seed", "sparse",
        "stateful", "trainable",
    }
)  # fmt: skip
"""Legal to change, but not within a model: what comes out, what comes in, or what backpropagation
finds again is of another form then; or nothing of the computation is changed."""
_SIZES = re.compile(r"(?:^units|^filters|_channels|_features|_size|_dim|_heads|_layers)$")
_AXES = frozenset({"dim", "start_dim", "end_dim"})
_USUAL: dict[str, Constraint] = {
    "cutoffs": Tuple((Int(min=1, max=1),)),
    "factor": Float(min=0.0, max=1.0),
    "outchannels": Int(min=1, max=6),
    "scale_factor": Int(min=1, max=3),
    "size": Tuple((Int(min=1, max=6), Int(min=1, max=6))),
    "value": Float(min=-1.0, max=1.0),
}
"""What programs give parameters that have to be given, where the library says nothing that could
be written: of classes, how much an image is changed, channels, how much larger it gets, its height
and width, what padding is filled with."""
_TRIES = 8
_SMALL = 6
_END = re.compile(r"(?<=[.;])\s+")
_LIMITS = {"allowed", "range"}
_OF_WORDS = (ClueSource.DOC_TYPE, ClueSource.DOC_PHRASE, ClueSource.MINED_RULE)
_MAX_QUOTED = 200


class Generation:
    """The operator RG."""

    def __init__(self, apis: Apis) -> None:
        """Prepare it for a library's APIs."""
        self._apis = apis

    def __call__(self, block: Block, place: int, rng: random.Random) -> BlockMutant | None:
        """Return the block with one parameter of one call changed.

        Args:
            block: to be mutated.
            place: of the call in the block.
            rng: what chance there is.

        Returns:
            None where no parameter of the call is known to have another legal value.
        """
        call = block.calls[place]
        api = self._apis.find(call.api)
        bound = None if api is None else bind(call, api.record)
        if api is None or bound is None:
            return None
        variable = [
            parameter
            for parameter in api.parameters
            # An expression that is no literal ties the parameter to something else.
            if is_varied(parameter)
            and not _divides_the_unknown(parameter.name, api)
            and value_of(bound.named.get(parameter.name, "None"))
        ]
        rng.shuffle(variable)
        for parameter in variable:
            text = another(parameter, api.record, bound.named, rng)
            if text is None:
                continue
            step = Derivation(
                block=block.name,
                line=0,
                api=call.api,
                operator=Operator.GENERATION,
                parameter=parameter.name,
                before=bound.named.get(parameter.name, ""),
                after=text,
                sentence=justification(api, parameter),
            )
            changed = with_argument(call, api.record, parameter.name, text)
            return BlockMutant(block.with_call(place, changed), step)
        return None


def is_varied(parameter: Parameter) -> bool:
    """Return whether another value of a parameter makes another model of the same form."""
    if parameter.name in INPUT_SIZES | _LEFT_ALONE or parameter.kind in VARIADIC:
        return False
    return parameter.is_generated and is_said(parameter)


def _divides_the_unknown(name: str, api: Api) -> bool:
    """Return whether a parameter must divide the channels that come in."""
    sizes = {"in_channels", "num_channels"}
    return name == "groups" and sizes.isdisjoint(one.name for one in api.parameters)


def drawable(
    parameter: Parameter, record: ApiRecord, *, is_needed: bool = False
) -> Constraint | None:
    """Return the legal values of a parameter that programs can write; None if there are none.

    Args:
        parameter: what is known of it.
        record: of the API.
        is_needed: numbers are drawn even where nobody says how large they may be: positive ones.
    """
    if not is_said(parameter):
        return _by_name(parameter.name) if is_needed else None
    is_ranged = any(evidence.aspect == "range" for evidence in parameter.evidence)
    # What is required is hardly ever None, even where a hint has room for it.
    whole = parameter.constraint
    constraint = whole.inner if parameter.required and isinstance(whole, Optional) else whole
    constraint = _of_default(constraint, parameter.name, record)
    part = literal_part(constraint, spaces(record), is_ranged=is_ranged or is_needed)
    if part is None:  # a list of nobody knows how many, for one
        return _by_name(parameter.name) if is_needed else None
    return _of_size(parameter.name, part if is_ranged else _positive(part))


def _of_default(constraint: Constraint, name: str, record: ApiRecord) -> Constraint:
    """Let a number, of which nobody says whether it is whole, be as its default is."""
    if not isinstance(constraint, AnyOf):
        return constraint
    default = value_of(default_of({p.name: p for p in record.parameters}[name]) or "")
    other = {int: Float, float: Int}.get(type(getattr(default, "value", None)))
    kept = tuple(
        (w, one) for w, one in constraint.options if other is None or type(one) is not other
    )
    return AnyOf(kept) if kept else constraint


def _positive(part: Constraint) -> Constraint:
    match part:
        case Optional(inner, none_share):
            return Optional(_positive(inner), none_share)
        case AnyOf(options):
            return AnyOf(tuple((weight, _positive(option)) for weight, option in options))
        case Tuple(items):
            return Tuple(tuple(map(_positive, items)))
        case Int(min=least, max=most):
            return Int(min=max(least, 1), max=max(most, 1))
        case Float(max=most):
            return Float(min=most / 2, max=most) if most > 0 else Float(min=1.0, max=1.0)
        case _:
            return part


def _by_name(name: str) -> Constraint | None:
    """Return what programs give a parameter of that name; None where that is not known."""
    if name in _USUAL:
        return _USUAL[name]
    return Int(min=1, max=_SMALL) if name in INPUT_SIZES or _is_size(name) else None


def _is_size(name: str) -> bool:
    return _SIZES.search(name) is not None and name not in _AXES


def _of_size(name: str, part: Constraint) -> Constraint:
    """Let sizes begin at 1: a layer of no unit is legal nowhere, whatever is guessed of axes."""
    if isinstance(part, Optional):
        return Optional(_of_size(name, part.inner), part.none_share)
    if isinstance(part, Int) and _is_size(name):
        least = max(part.min, 0 if name == "proj_size" else 1)
        return Int(min=least, max=max(part.max, least))
    return part


def another(
    parameter: Parameter, record: ApiRecord, arguments: Mapping[str, str], rng: random.Random
) -> str | None:
    """Draw another legal value of a parameter.

    Args:
        parameter: what is known of it.
        record: of the API.
        arguments: of the call, text by parameter.
        rng: what chance there is.

    Returns:
        Its text; None if none was found that differs from what the parameter has now, by default
        too, and agrees with the other arguments.
    """
    part = drawable(parameter, record)
    if part is None:
        return None
    declared = {p.name: p for p in record.parameters}[parameter.name]
    now = arguments.get(parameter.name, default_of(declared))
    for _ in range(_TRIES):
        text = _flipped(now) if isinstance(part, Bool) else None
        text = text or text_of(draw(part, rng))
        if not is_same(text, now) and is_coherent(record, {**arguments, parameter.name: text}):
            return text
    return None


def _flipped(now: str | None) -> str | None:
    match value_of(now or ""):
        case LiteralValue(bool() as flag):
            return repr(not flag)
        case _:
            return None


def justification(api: Api, parameter: Parameter) -> str:
    """Return the words of the library that say what a parameter accepts; empty if it says none."""
    own = {p.name: p for p in api.record.parameters}[parameter.name]
    sentences = _END.split(" ".join(own.doc.split()))
    limits = [e.text for e in parameter.evidence if e.aspect in _LIMITS and e.source in _OF_WORDS]
    telling = next((one for one in sentences for text in limits if text in one), sentences[0])
    kind = own.doc_type or own.annotation or own.schema_type
    said = f"{kind}. {telling}" if kind and telling else kind or telling
    return f"{parameter.name}: {said}"[:_MAX_QUOTED] if said else ""
