"""Equivalent calls of several libraries, and the translation of one into another."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import TYPE_CHECKING, Any

from ciguard.domain import dtypes
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import ListValue, LiteralValue, TensorValue, TupleValue
from ciguard.errors import RegistrationError
from ciguard.libraries import LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from ciguard.domain.values import Value

_ELEMENTS = {
    "float": ("float32", "float64"),
    "single": ("float32",),
    "integer": ("int32", "int64"),
    "bool": dtypes.BOOLEAN,
    "complex": dtypes.COMPLEX,
}
_WIDE_DTYPES = frozenset({"float64", "int64", "complex128"})
_OPERANDS = frozenset({"x", "y", "z"})
"""Names of tensor arguments that have one element type."""
_MASK = "mask"
_OPERAND_LIST = "xs"
_OUTPUT_KEYWORD = "out"
"""Keyword that names where to write the result; it does not change the result."""
_REQUIRED = object()
"""Placeholder for a default that is absent, or the same in every library of the row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument in the syntax of one library."""

    keyword: str
    """Keyword of the argument; empty if it is positional."""
    name: str
    """Name shared by all libraries of the row; empty if the value is fixed."""
    value: Any = _REQUIRED
    """The fixed value, or the library's default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallForm:
    """The syntax of one library for the calls of a row."""

    api: str
    arguments: tuple[Argument, ...]
    result_index: int | None = None
    """Index of the returned item that corresponds to the result of the other libraries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence:
    """One row of the table: APIs that have the same definition."""

    forms: Mapping[str, CallForm]
    """Call forms by library."""
    dtypes: Mapping[str, frozenset[str]]
    """Element types for which the definitions agree, by library."""


def equivalence_of(api: str) -> Equivalence | None:
    """Return the row that contains an API; None if there is none."""
    return _by_api().get(api)


def equivalent_call(case: ApiCall, library: str) -> ApiCall | None:
    """Return the call of another library that must return the same.

    Returns:
        None if no equivalence is known for this API or these arguments.
    """
    row = equivalence_of(case.api)
    if row is None or library not in row.forms or case.kind is not CallKind.FUNCTION:
        return None
    own_library, own = next(
        (name, form) for name, form in row.forms.items() if form.api == case.api
    )
    arguments = _arguments_by_name(case, own)
    if arguments is None or not _is_defined(
        arguments, row.dtypes[own_library] & row.dtypes[library]
    ):
        return None
    defaults = {a.name: LiteralValue(a.value) for a in own.arguments if _has_default(a)}
    return _call_with(arguments, {**defaults, **arguments}, row.forms[library], case)


def translated_calls(case: ApiCall, libraries: Iterable[str]) -> dict[str, ApiCall]:
    """Return the equivalent calls by library, the case itself under its own library.

    Only libraries whose calls can be translated into each other are included: a finding may be
    reported with any of them.
    """
    row = equivalence_of(case.api)
    if row is None:
        return {}
    own = next(library for library, form in row.forms.items() if form.api == case.api)
    calls = {own: case}
    for library in libraries:
        call = equivalent_call(case, library) if library != own else None
        if call is not None and all(
            equivalent_call(call, other) is not None and equivalent_call(known, library) is not None
            for other, known in calls.items()
        ):
            calls[library] = call
    return calls


# --- reading and writing calls --------------------------------------------------------------------


def _has_default(argument: Argument) -> bool:
    return bool(argument.name) and argument.value is not _REQUIRED


def _arguments_by_name(case: ApiCall, form: CallForm) -> dict[str, Value] | None:
    """Return a call's arguments by the names of its row; None if the row lacks one."""
    if len(case.arguments) > len(form.arguments):
        return None
    by_keyword = {argument.keyword: argument for argument in form.arguments if argument.keyword}
    fixed = {argument.keyword for argument in form.arguments if not argument.name}
    arguments: dict[str, Value] = {}
    named = ((by_keyword.get(key), value) for key, value in case.keywords if key != _OUTPUT_KEYWORD)
    for argument, value in chain(zip(form.arguments, case.arguments, strict=False), named):
        is_none = value == LiteralValue(None)
        if argument is None and is_none:
            continue
        if argument is None:
            return None
        if not argument.name:
            fixed.discard(argument.keyword)
            if value != LiteralValue(argument.value):
                return None
        elif is_none and argument.value not in {None, _REQUIRED}:
            return None  # the meaning of None instead of the default is specific to this library
        elif not is_none:
            arguments[argument.name] = value
    return None if fixed else arguments


def _is_defined(arguments: Mapping[str, Value], known: frozenset[str]) -> bool:
    """Return whether the definitions agree for these arguments.

    `known` holds the element types for which the definitions agree.
    """
    tensors = list(_operands(arguments))
    if not tensors or not all(isinstance(tensor, TensorValue) for tensor in tensors):
        return False
    types = {tensor.dtype for tensor in tensors if isinstance(tensor, TensorValue)}
    mask = arguments.get(_MASK)
    if mask is not None and not (isinstance(mask, TensorValue) and mask.dtype == "bool"):
        return False
    # Definitions often leave open the result of empty tensors.
    is_empty = any(0 in tensor.shape for tensor in tensors if isinstance(tensor, TensorValue))
    settings = (
        v for name, v in arguments.items() if name not in {*_OPERANDS, _MASK, _OPERAND_LIST}
    )
    return len(types) == 1 and types <= known and not is_empty and all(map(_is_plain, settings))


def _operands(arguments: Mapping[str, Value]) -> Iterator[Value]:
    """Yield the operands, those in lists included."""
    for name, value in arguments.items():
        if name in _OPERANDS:
            yield value
        elif name == _OPERAND_LIST:
            yield from value.items if isinstance(value, ListValue | TupleValue) else (value,)


def _is_plain(value: Value) -> bool:
    """Return whether a value is a literal or a list of literals that all libraries read alike."""
    match value:
        case LiteralValue():
            return True
        case ListValue(items) | TupleValue(items):
            # An empty list of axes means every axis in one library and no axis in another.
            return bool(items) and all(isinstance(item, LiteralValue) for item in items)
        case _:
            return False


def _call_with(
    named: Mapping[str, Value], values: Mapping[str, Value], form: CallForm, case: ApiCall
) -> ApiCall | None:
    """Return the call with these arguments; None if the form cannot express them."""
    arguments: list[Value] = []
    keywords: list[tuple[str, Value]] = []
    for argument in form.arguments:
        value = values.get(argument.name) if argument.name else LiteralValue(argument.value)
        if value is None and not argument.keyword:
            return None
        if value is None:
            continue
        if argument.name and value == LiteralValue(None) and argument.value is not None:
            return None
        if argument.keyword:
            keywords.append((argument.keyword, _normalised_sequence(value)))
        else:
            arguments.append(_normalised_sequence(value))
    if not named.keys() <= {argument.name for argument in form.arguments}:
        return None
    return replace(
        case, api=form.api, arguments=tuple(arguments), keywords=tuple(keywords), focus=""
    )


def _normalised_sequence(value: Value) -> Value:
    """Return a sequence as every library accepts it: tensors as list, numbers as tuple."""
    match value:
        case ListValue(items) | TupleValue(items):
            has_tensors = any(isinstance(item, TensorValue) for item in items)
            return ListValue(items) if has_tensors else TupleValue(items)
        case _:
            return value


# --- the rows -------------------------------------------------------------------------------------


@cache
def shipped_equivalences() -> tuple[Equivalence, ...]:
    """Return the rows that ciguard ships."""
    return tuple(equivalences((files(__package__) / "equivalents.toml").read_text("utf-8")))


@cache
def _by_api() -> dict[str, Equivalence]:
    rows = list(shipped_equivalences())
    for library in LIBRARIES.items().values():
        if library.equivalents is not None:
            rows = joined(rows, _own_rows(library.name, library.equivalents))
    return {form.api: row for row in rows for form in row.forms.values()}


def _own_rows(library: str, path: Path) -> list[Equivalence]:
    """Return the rows that a library's adapter adds.

    Raises:
        RegistrationError: if the file cannot be read or has an invalid row.
    """
    try:
        return equivalences(path.read_text("utf-8"))
    except (OSError, ValueError, KeyError) as error:
        msg = f"library {library!r}: cannot read equivalent calls from {path}: {error}"
        raise RegistrationError(msg) from error


def joined(existing: Iterable[Equivalence], added: Iterable[Equivalence]) -> list[Equivalence]:
    """Return rows with those of one more library, each merged with the row that shares a call.

    Raises:
        RegistrationError: if both define one call differently.
    """
    rows = list(existing)
    for row in added:
        apis = _apis(row)
        index = next((i for i, other in enumerate(rows) if apis & _apis(other)), None)
        if index is None:
            rows.append(row)
        else:
            rows[index] = _merged(rows[index], row)
    return rows


def _apis(row: Equivalence) -> set[str]:
    return {form.api for form in row.forms.values()}


def _merged(row: Equivalence, added: Equivalence) -> Equivalence:
    for library, form in added.forms.items():
        if row.forms.get(library, form) != form:
            msg = (
                f"equivalents: {form.api} of {library!r} differs from the call in ciguard's own row"
            )
            raise RegistrationError(msg)
    return Equivalence(forms={**row.forms, **added.forms}, dtypes={**added.dtypes, **row.dtypes})


def equivalences(text: str) -> list[Equivalence]:
    """Return the rows of a TOML document.

    Raises:
        ValueError: if the text is invalid or an API is in two rows; the message names the row.
    """
    document = tomllib.loads(text)
    narrow = frozenset(document.get("narrow", ()))
    entries = enumerate(document["equivalent"])
    rows = [_row(entry, number, narrow=narrow) for number, entry in entries]
    apis = Counter(form.api for row in rows for form in row.forms.values())
    repeated = [api for api, count in apis.items() if count > 1]
    if repeated:
        msg = f"equivalents.toml: {', '.join(repeated)} in two rows; keep one row"
        raise ValueError(msg)
    return rows


def _row(entry: Mapping[str, Any], number: int, *, narrow: frozenset[str]) -> Equivalence:
    row_name = f"equivalent {number + 1} ({next(iter(entry.values()), '')})"
    calls = {library: call for library, call in entry.items() if library != "elements"}
    kinds = entry.get("elements", ["float"])
    if len(calls) < 2 or not set(kinds) <= _ELEMENTS.keys():  # noqa: PLR2004 - a pair
        msg = f"{row_name}: needs calls of two libraries; known elements are {', '.join(_ELEMENTS)}"
        raise ValueError(msg)
    try:
        forms = {library: _form(call) for library, call in calls.items()}
    except (AttributeError, SyntaxError, TypeError, ValueError) as error:
        msg = f"{row_name}: expected calls such as 'torch.sum(x, dim=axis)': {error}"
        raise ValueError(msg) from error
    known = frozenset(chain.from_iterable(_ELEMENTS[kind] for kind in kinds))
    return Equivalence(
        forms=forms,
        dtypes={library: known - _WIDE_DTYPES if library in narrow else known for library in forms},
    )


def _form(text: str) -> CallForm:
    """Return the call form of a text such as `torch.sum(x, dim=axis)`."""
    node = ast.parse(text, mode="eval").body
    result_index = None
    if isinstance(node, ast.Subscript):
        result_index, node = int(ast.literal_eval(node.slice)), node.value
    if not isinstance(node, ast.Call):
        raise TypeError(text)
    by_position = [_argument("", arg) for arg in node.args]
    by_keyword = [_argument(str(key.arg or ""), key.value) for key in node.keywords]
    return CallForm(
        api=ast.unparse(node.func), arguments=(*by_position, *by_keyword), result_index=result_index
    )


def _argument(keyword: str, node: ast.expr) -> Argument:
    """Return the argument of a syntax node: a name, `name or default`, or a fixed literal."""
    match node:
        case ast.Name(name):
            return Argument(keyword=keyword, name=name)
        case ast.BoolOp(ast.Or(), [ast.Name(name), default]):
            return Argument(keyword=keyword, name=name, value=ast.literal_eval(default))
        case _:
            return Argument(keyword=keyword, name="", value=ast.literal_eval(node))
