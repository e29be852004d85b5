"""Calls of several libraries that are defined alike, and how one becomes the other."""

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
_WIDE = frozenset({"float64", "int64", "complex128"})
_SHARED = frozenset({"x", "y", "z"})
"""Tensors of one element type."""
_MASK = "mask"
_SEVERAL = "xs"
_STORAGE = "out"
"""Where a result is kept too changes no number of it."""
_REQUIRED = object()
"""In the place of a default: the library has none, or the same as every other of the row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument as one library writes it."""

    keyword: str
    """Empty where it goes by position."""
    name: str
    """The same in every library of the row; empty where the value is fixed."""
    value: Any = _REQUIRED
    """What is fixed, or what this library takes where the argument is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallForm:
    """How one library writes the calls of a row."""

    api: str
    arguments: tuple[Argument, ...]
    part: int | None = None
    """The item of what is returned that the others return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence:
    """One row: APIs that are defined alike."""

    forms: Mapping[str, CallForm]
    """By library."""
    dtypes: Mapping[str, frozenset[str]]
    """Element types for which the definitions agree, by library."""


def equivalence_of(api: str) -> Equivalence | None:
    """Return the row that an API is in, if there is one."""
    return _by_api().get(api)


def equivalent(case: ApiCall, library: str) -> ApiCall | None:
    """Return the call of another library that must come to the same.

    Returns:
        None where no equivalence is known, or not for these arguments.
    """
    row = equivalence_of(case.api)
    if row is None or library not in row.forms or case.kind is not CallKind.FUNCTION:
        return None
    of, own = next((name, form) for name, form in row.forms.items() if form.api == case.api)
    given = _read(case, own)
    if given is None or not _is_defined(given, row.dtypes[of] & row.dtypes[library]):
        return None
    left_out = {a.name: LiteralValue(a.value) for a in own.arguments if _has_default(a)}
    return _written(given, {**left_out, **given}, row.forms[library], case)


def calls_across(case: ApiCall, libraries: Iterable[str]) -> dict[str, ApiCall]:
    """Return the equivalent calls by library, the case itself under its own.

    Only libraries are taken whose calls can be turned into each other's: any of them may be the
    one that a finding is shown with.
    """
    row = equivalence_of(case.api)
    if row is None:
        return {}
    own = next(library for library, form in row.forms.items() if form.api == case.api)
    calls = {own: case}
    for library in libraries:
        call = equivalent(case, library) if library != own else None
        if call is not None and all(
            equivalent(call, other) is not None and equivalent(known, library) is not None
            for other, known in calls.items()
        ):
            calls[library] = call
    return calls


# --- reading and writing calls --------------------------------------------------------------------


def _has_default(argument: Argument) -> bool:
    return bool(argument.name) and argument.value is not _REQUIRED


def _read(case: ApiCall, form: CallForm) -> dict[str, Value] | None:
    """Return the arguments of a call by the names of its row; None if the row lacks one."""
    if len(case.arguments) > len(form.arguments):
        return None
    by_keyword = {argument.keyword: argument for argument in form.arguments if argument.keyword}
    fixed = {argument.keyword for argument in form.arguments if not argument.name}
    given: dict[str, Value] = {}
    named = ((by_keyword.get(key), value) for key, value in case.keywords if key != _STORAGE)
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
            return None  # what None means instead of the default is this library's own
        elif not is_none:
            given[argument.name] = value
    return None if fixed else given


def _is_defined(given: Mapping[str, Value], known: frozenset[str]) -> bool:
    """Return whether the definitions agree for these arguments; `known` are element types."""
    tensors = list(_tensors(given))
    if not tensors or not all(isinstance(tensor, TensorValue) for tensor in tensors):
        return False
    types = {tensor.dtype for tensor in tensors if isinstance(tensor, TensorValue)}
    mask = given.get(_MASK)
    if mask is not None and not (isinstance(mask, TensorValue) and mask.dtype == "bool"):
        return False
    # What is made of no elements at all is left open now and then.
    is_empty = any(0 in tensor.shape for tensor in tensors if isinstance(tensor, TensorValue))
    settings = (v for name, v in given.items() if name not in {*_SHARED, _MASK, _SEVERAL})
    return len(types) == 1 and types <= known and not is_empty and all(map(_is_plain, settings))


def _tensors(given: Mapping[str, Value]) -> Iterator[Value]:
    for name, value in given.items():
        if name in _SHARED:
            yield value
        elif name == _SEVERAL:
            yield from value.items if isinstance(value, ListValue | TupleValue) else (value,)


def _is_plain(value: Value) -> bool:
    match value:
        case LiteralValue():
            return True
        case ListValue(items) | TupleValue(items):
            # No axes at all are every axis to one library and none to another.
            return bool(items) and all(isinstance(item, LiteralValue) for item in items)
        case _:
            return False


def _written(
    given: Mapping[str, Value], values: Mapping[str, Value], form: CallForm, case: ApiCall
) -> ApiCall | None:
    """Return the call with these arguments; None where the form cannot say them."""
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
            keywords.append((argument.keyword, _form_of(value)))
        else:
            arguments.append(_form_of(value))
    if not given.keys() <= {argument.name for argument in form.arguments}:
        return None
    return replace(
        case, api=form.api, arguments=tuple(arguments), keywords=tuple(keywords), focus=""
    )


def _form_of(value: Value) -> Value:
    """Return a sequence as every library takes it: tensors in a list, numbers in a tuple."""
    match value:
        case ListValue(items) | TupleValue(items):
            has_tensors = any(isinstance(item, TensorValue) for item in items)
            return ListValue(items) if has_tensors else TupleValue(items)
        case _:
            return value


# --- the rows -------------------------------------------------------------------------------------


@cache
def shipped_equivalences() -> tuple[Equivalence, ...]:
    """Return the rows that come with ciguard."""
    return tuple(equivalences((files(__package__) / "equivalents.toml").read_text("utf-8")))


@cache
def _by_api() -> dict[str, Equivalence]:
    rows = list(shipped_equivalences())
    for library in LIBRARIES.items().values():
        if library.equivalents is not None:
            rows = joined(rows, _own_rows(library.name, library.equivalents))
    return {form.api: row for row in rows for form in row.forms.values()}


def _own_rows(library: str, path: Path) -> list[Equivalence]:
    """Return the rows that a library brings.

    Raises:
        RegistrationError: if the file cannot be read, or a row is none.
    """
    try:
        return equivalences(path.read_text("utf-8"))
    except (OSError, ValueError, KeyError) as error:
        msg = f"library {library!r}: {path} holds no rows of equivalent calls: {error}"
        raise RegistrationError(msg) from error


def joined(known: Iterable[Equivalence], added: Iterable[Equivalence]) -> list[Equivalence]:
    """Return rows with those of one more library, each joined to the row whose call it repeats.

    Raises:
        RegistrationError: if it writes a library's call otherwise than the row does.
    """
    rows = list(known)
    for row in added:
        apis = _apis(row)
        place = next((n for n, other in enumerate(rows) if apis & _apis(other)), None)
        if place is None:
            rows.append(row)
        else:
            rows[place] = _merged(rows[place], row)
    return rows


def _apis(row: Equivalence) -> set[str]:
    return {form.api for form in row.forms.values()}


def _merged(row: Equivalence, added: Equivalence) -> Equivalence:
    for library, form in added.forms.items():
        if row.forms.get(library, form) != form:
            msg = (
                f"equivalents: {form.api} of {library!r} is written otherwise in ciguard's own row"
            )
            raise RegistrationError(msg)
    return Equivalence(forms={**row.forms, **added.forms}, dtypes={**added.dtypes, **row.dtypes})


def equivalences(text: str) -> list[Equivalence]:
    """Return the rows of a TOML text.

    Raises:
        ValueError: if it is not such a text, or an API is in two rows; names the row.
    """
    document = tomllib.loads(text)
    narrow = frozenset(document.get("narrow", ()))
    entries = enumerate(document["equivalent"])
    rows = [_row(entry, number, narrow=narrow) for number, entry in entries]
    apis = Counter(form.api for row in rows for form in row.forms.values())
    twice = [api for api, count in apis.items() if count > 1]
    if twice:
        msg = f"equivalents.toml: {', '.join(twice)} in two rows"
        raise ValueError(msg)
    return rows


def _row(entry: Mapping[str, Any], number: int, *, narrow: frozenset[str]) -> Equivalence:
    where = f"equivalent {number + 1} ({next(iter(entry.values()), '')})"
    calls = {library: call for library, call in entry.items() if library != "elements"}
    kinds = entry.get("elements", ["float"])
    if len(calls) < 2 or not set(kinds) <= _ELEMENTS.keys():  # noqa: PLR2004 - a pair
        msg = f"{where}: needs calls of two libraries; elements are {', '.join(_ELEMENTS)}"
        raise ValueError(msg)
    try:
        forms = {library: _form(call) for library, call in calls.items()}
    except (AttributeError, SyntaxError, TypeError, ValueError) as error:
        msg = f"{where}: not calls such as 'torch.sum(x, dim=axis)': {error}"
        raise ValueError(msg) from error
    known = frozenset(chain.from_iterable(_ELEMENTS[kind] for kind in kinds))
    return Equivalence(
        forms=forms,
        dtypes={library: known - _WIDE if library in narrow else known for library in forms},
    )


def _form(text: str) -> CallForm:
    node = ast.parse(text, mode="eval").body
    part = None
    if isinstance(node, ast.Subscript):
        part, node = int(ast.literal_eval(node.slice)), node.value
    if not isinstance(node, ast.Call):
        raise TypeError(text)
    by_position = [_argument("", arg) for arg in node.args]
    by_keyword = [_argument(str(key.arg or ""), key.value) for key in node.keywords]
    return CallForm(api=ast.unparse(node.func), arguments=(*by_position, *by_keyword), part=part)


def _argument(keyword: str, node: ast.expr) -> Argument:
    match node:
        case ast.Name(name):
            return Argument(keyword=keyword, name=name)
        case ast.BoolOp(ast.Or(), [ast.Name(name), default]):
            return Argument(keyword=keyword, name=name, value=ast.literal_eval(default))
        case _:
            return Argument(keyword=keyword, name="", value=ast.literal_eval(node))
