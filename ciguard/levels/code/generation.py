"""Random generation (RG): another legal value of one parameter of one call (MoCo, III-C)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.programs import Derivation, Operator
from ciguard.domain.values import LiteralValue
from ciguard.knowledge import ClueSource
from ciguard.levels.code.binding import VARIADIC, bind, default_of, with_argument
from ciguard.levels.code.blocks import BlockMutant
from ciguard.levels.code.knowledge import INPUT_SIZES, is_documented, spatial_dimensions
from ciguard.levels.code.legal import draw, literal_part
from ciguard.levels.code.literals import is_same, text_of, value_of
from ciguard.levels.code.parameter_relations import is_coherent
from ciguard.values import AnyOf, Bool, Float, Int, Optional, Tuple

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from ciguard.domain.records import ApiRecord
    from ciguard.knowledge import Api, Parameter
    from ciguard.levels.code.blocks import Block
    from ciguard.levels.code.knowledge import Apis
    from ciguard.values import Constraint

_EXCLUDED_PARAMETERS = frozenset(
    {
        "_freeze", "_weight", "autocast", "data_format", "device", "dtype", "inplace",
        "is_train", "layout", "memory_format", "name", "names", "out", "pin_memory",
        "return_attention_scores", "return_indices", "return_state", "seed", "sparse",
        "stateful", "trainable",
    }
)  # fmt: skip
"""Parameters that are not mutated. Some would change the form of the input, the output or the
gradients; the others would not change the computation."""
_SIZES = re.compile(r"(?:^units|^filters|_channels|_features|_size|_dim|_heads|_layers)$")
_AXES = frozenset({"dim", "start_dim", "end_dim"})
_COMMON_VALUES: dict[str, Constraint] = {
    "cutoffs": Tuple((Int(min=1, max=1),)),
    "factor": Float(min=0.0, max=1.0),
    "outchannels": Int(min=1, max=6),
    "scale_factor": Int(min=1, max=3),
    "size": Tuple((Int(min=1, max=6), Int(min=1, max=6))),
    "value": Float(min=-1.0, max=1.0),
}
"""Values of required parameters for which the library documents none that a program can write.

They are numbers of classes, strength of image changes, channels, scale, height and width, and the
padding value.
"""
_MAX_ATTEMPTS = 8
_MAX_SMALL_SIZE = 6
_SENTENCE_END = re.compile(r"(?<=[.;])\s+")
_LIMIT_ASPECTS = {"allowed", "range"}
_DOCUMENTATION_SOURCES = (ClueSource.DOC_TYPE, ClueSource.DOC_PHRASE, ClueSource.MINED_RULE)
_MAX_QUOTE_LENGTH = 200


class Generation:
    """Mutation operator RG (random generation)."""

    def __init__(self, apis: Apis) -> None:
        """Create the operator for a library."""
        self._apis = apis

    def __call__(self, block: Block, place: int, rng: random.Random) -> BlockMutant | None:
        """Return a block in which one parameter of one call has another legal value.

        Args:
            block: the block to mutate.
            place: the index of the call in the block.
            rng: the source of randomness.

        Returns:
            The mutant; None if no parameter of the call has another known legal value.
        """
        call = block.calls[place]
        api = self._apis.find(call.api)
        bound = None if api is None else bind(call, api.record)
        if api is None or bound is None:
            return None
        candidates = [
            parameter
            for parameter in api.parameters
            # An argument that is not a literal depends on other parts of the program.
            if is_varied(parameter)
            and not _divides_unknown_channels(parameter.name, api)
            and value_of(bound.named.get(parameter.name, "None"))
        ]
        rng.shuffle(candidates)
        for parameter in candidates:
            text = another_value(parameter, api.record, bound.named, rng)
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
    """Return whether mutation may change a parameter without a change to the model's interface."""
    if parameter.name in INPUT_SIZES | _EXCLUDED_PARAMETERS or parameter.kind in VARIADIC:
        return False
    return parameter.is_generated and is_documented(parameter)


def _divides_unknown_channels(name: str, api: Api) -> bool:
    """Return whether a parameter must divide the number of input channels, which is unknown."""
    sizes = {"in_channels", "num_channels"}
    return name == "groups" and sizes.isdisjoint(parameter.name for parameter in api.parameters)


def drawable_values(
    parameter: Parameter, record: ApiRecord, *, is_needed: bool = False
) -> Constraint | None:
    """Return the legal values of a parameter that a program can write as literals.

    Args:
        parameter: the parameter with its constraint.
        record: the record of the API.
        is_needed: True if the call needs a value; then positive numbers are legal even if the
            documentation has no range.

    Returns:
        The values as a constraint; None if no legal value is known.
    """
    if not is_documented(parameter):
        return _common_values(parameter.name) if is_needed else None
    is_ranged = any(evidence.aspect == "range" for evidence in parameter.evidence)
    # A required parameter is rarely None, even if its annotation allows it.
    declared = parameter.constraint
    typical = declared.inner if parameter.required and isinstance(declared, Optional) else declared
    narrowed = _narrowed_by_default(typical, parameter.name, record)
    constraint = literal_part(
        narrowed, spatial_dimensions(record), is_ranged=is_ranged or is_needed
    )
    if constraint is None:  # for example a list of unknown length
        return _common_values(parameter.name) if is_needed else None
    return _with_positive_size(parameter.name, constraint if is_ranged else _positive(constraint))


def _narrowed_by_default(constraint: Constraint, name: str, record: ApiRecord) -> Constraint:
    """Return a constraint that allows only ints or only floats, like the parameter's default.

    It is unchanged if it does not allow both, or the default is neither.
    """
    if not isinstance(constraint, AnyOf):
        return constraint
    default = value_of(default_of({p.name: p for p in record.parameters}[name]) or "")
    excluded = {int: Float, float: Int}.get(type(getattr(default, "value", None)))
    kept = tuple(
        (weight, option)
        for weight, option in constraint.options
        if excluded is None or type(option) is not excluded
    )
    return AnyOf(kept) if kept else constraint


def _positive(constraint: Constraint) -> Constraint:
    """Return a constraint that is restricted to positive numbers."""
    match constraint:
        case Optional(inner, none_share):
            return Optional(_positive(inner), none_share)
        case AnyOf(options):
            return AnyOf(tuple((weight, _positive(option)) for weight, option in options))
        case Tuple(items):
            return Tuple(tuple(map(_positive, items)))
        case Int(min=low, max=high):
            return Int(min=max(low, 1), max=max(high, 1))
        case Float(max=high):
            return Float(min=high / 2, max=high) if high > 0 else Float(min=1.0, max=1.0)
        case _:
            return constraint


def _common_values(name: str) -> Constraint | None:
    """Return common values of parameters with a name; None if none are known."""
    if name in _COMMON_VALUES:
        return _COMMON_VALUES[name]
    return Int(min=1, max=_MAX_SMALL_SIZE) if name in INPUT_SIZES or _is_size(name) else None


def _is_size(name: str) -> bool:
    return _SIZES.search(name) is not None and name not in _AXES


def _with_positive_size(name: str, constraint: Constraint) -> Constraint:
    """Return a constraint in which a size is at least 1, since no layer has zero units."""
    if isinstance(constraint, Optional):
        return Optional(_with_positive_size(name, constraint.inner), constraint.none_share)
    if isinstance(constraint, Int) and _is_size(name):
        low = max(constraint.min, 0 if name == "proj_size" else 1)
        return Int(min=low, max=max(constraint.max, low))
    return constraint


def another_value(
    parameter: Parameter, record: ApiRecord, arguments: Mapping[str, str], rng: random.Random
) -> str | None:
    """Draw another legal value of a parameter.

    Args:
        parameter: the parameter with its constraint.
        record: the record of the API.
        arguments: source text of the call's arguments, by parameter name.
        rng: the source of randomness.

    Returns:
        The source text of the value. None if no drawn value differs from the current argument or
        default and is compatible with the other arguments.
    """
    constraint = drawable_values(parameter, record)
    if constraint is None:
        return None
    declared = {p.name: p for p in record.parameters}[parameter.name]
    current = arguments.get(parameter.name, default_of(declared))
    for _ in range(_MAX_ATTEMPTS):
        text = _flipped(current) if isinstance(constraint, Bool) else None
        text = text or text_of(draw(constraint, rng))
        if not is_same(text, current) and is_coherent(record, {**arguments, parameter.name: text}):
            return text
    return None


def _flipped(current: str | None) -> str | None:
    """Return the opposite of a flag, as text; None if the current text is not a flag."""
    match value_of(current or ""):
        case LiteralValue(bool() as flag):
            return repr(not flag)
        case _:
            return None


def justification(api: Api, parameter: Parameter) -> str:
    """Return what the documentation says about a parameter's values; empty if there is nothing."""
    record = {p.name: p for p in api.record.parameters}[parameter.name]
    sentences = _SENTENCE_END.split(" ".join(record.doc.split()))
    limits = [
        e.text
        for e in parameter.evidence
        if e.aspect in _LIMIT_ASPECTS and e.source in _DOCUMENTATION_SOURCES
    ]
    sentence = next(
        (candidate for candidate in sentences for limit in limits if limit in candidate),
        sentences[0],
    )
    kind = record.doc_type or record.annotation or record.schema_type
    text = f"{kind}. {sentence}" if kind and sentence else kind or sentence
    return f"{parameter.name}: {text}"[:_MAX_QUOTE_LENGTH] if text else ""
