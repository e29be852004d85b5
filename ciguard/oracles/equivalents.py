"""A table of equivalent calls of several libraries, and translations between them."""

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

_ELEMENT_TYPES = {
    "float": ("float32", "float64"),
    "single": ("float32",),
    "integer": ("int32", "int64"),
    "bool": dtypes.BOOLEAN,
    "complex": dtypes.COMPLEX,
}
_WIDE_DTYPES = frozenset({"float64", "int64", "complex128"})
_OPERANDS = frozenset({"x", "y", "z"})
"""Names, in the table, of tensor arguments that must have the same element type."""
_MASK = "mask"
"""Name, in the table, of an argument that is a boolean tensor."""
_OPERAND_LIST = "xs"
"""Name, in the table, of an argument that is a list of tensors."""
_OUTPUT_KEYWORD = "out"
"""Keyword argument that receives the result. It does not change the result."""
_REQUIRED = object()
"""Placeholder for an argument without a default, or with the same default in all libraries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument of a call in one library."""

    keyword: str
    """Keyword of the argument in the library; empty if the argument is positional."""
    name: str
    """Name of the argument in the table's row; empty if the argument has a fixed value."""
    value: Any = _REQUIRED
    """The fixed value, or the library's default value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallForm:
    """The call of one library in a row of the table."""

    api: str
    """Qualified name of the called API."""
    arguments: tuple[Argument, ...]
    """Arguments of the call, positional ones first."""
    result_index: int | None = None
    """Index of the item of the result that corresponds to the result of the other libraries; None
    if the whole result does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence:
    """One row of the table: APIs of several libraries that have the same definition."""

    forms: Mapping[str, CallForm]
    """Call forms by library."""
    dtypes: Mapping[str, frozenset[str]]
    """Element types for which the definitions are the same, by library."""


def equivalence_of(api: str) -> Equivalence | None:
    """Return the row that contains an API; None if there is none."""
    return _by_api().get(api)


def equivalent_call(case: ApiCall, library: str) -> ApiCall | None:
    """Return the call of another library that must return the same result as `case`.

    Returns:
        None if the table has no equivalent call for the API or for the arguments.
    """
    row = equivalence_of(case.api)
    if row is None or library not in row.forms or case.kind is not CallKind.FUNCTION:
        return None
    own_library, own_form = next(
        (name, form) for name, form in row.forms.items() if form.api == case.api
    )
    arguments = _arguments_by_name(case, own_form)
    if arguments is None or not _is_defined(
        arguments, row.dtypes[own_library] & row.dtypes[library]
    ):
        return None
    defaults = {a.name: LiteralValue(a.value) for a in own_form.arguments if _has_default(a)}
    return _call_with(arguments, {**defaults, **arguments}, row.forms[library], case)


def translated_calls(case: ApiCall, libraries: Iterable[str]) -> dict[str, ApiCall]:
    """Return the equivalent calls of a case by library, including the case itself.

    A library is included only if its call can be translated to and from the calls of all others.
    The reason is that a finding may have any of these calls as its case.
    """
    row = equivalence_of(case.api)
    if row is None:
        return {}
    own_form = next(library for library, form in row.forms.items() if form.api == case.api)
    calls = {own_form: case}
    for library in libraries:
        call = equivalent_call(case, library) if library != own_form else None
        if call is not None and all(
            equivalent_call(call, other) is not None
            and equivalent_call(known_dtypes, library) is not None
            for other, known_dtypes in calls.items()
        ):
            calls[library] = call
    return calls


# --- reading and writing calls --------------------------------------------------------------------


def _has_default(argument: Argument) -> bool:
    return bool(argument.name) and argument.value is not _REQUIRED


def _arguments_by_name(case: ApiCall, form: CallForm) -> dict[str, Value] | None:
    """Return a call's arguments by their names in the table's row; None if the row lacks one."""
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
            return None  # only this library defines what None means for the argument
        elif not is_none:
            arguments[argument.name] = value
    return None if fixed else arguments


def _is_defined(arguments: Mapping[str, Value], known_dtypes: frozenset[str]) -> bool:
    """Return whether the definitions of the libraries agree for the given arguments.

    `known` holds the element types for which the definitions agree.
    """
    tensors = list(_operands(arguments))
    if not tensors or not all(isinstance(tensor, TensorValue) for tensor in tensors):
        return False
    types = {tensor.dtype for tensor in tensors if isinstance(tensor, TensorValue)}
    mask = arguments.get(_MASK)
    if mask is not None and not (isinstance(mask, TensorValue) and mask.dtype == "bool"):
        return False
    # Definitions often do not specify the result for empty tensors.
    is_empty = any(0 in tensor.shape for tensor in tensors if isinstance(tensor, TensorValue))
    settings = (
        v for name, v in arguments.items() if name not in {*_OPERANDS, _MASK, _OPERAND_LIST}
    )
    return (
        len(types) == 1
        and types <= known_dtypes
        and not is_empty
        and all(map(_is_plain_setting, settings))
    )


def _operands(arguments: Mapping[str, Value]) -> Iterator[Value]:
    """Yield the operands among the arguments, including those in a list of operands."""
    for name, value in arguments.items():
        if name in _OPERANDS:
            yield value
        elif name == _OPERAND_LIST:
            yield from value.items if isinstance(value, ListValue | TupleValue) else (value,)


def _is_plain_setting(value: Value) -> bool:
    """Return whether a value means the same in all libraries: a literal or a list of literals."""
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
    """Return the call of `form`; None if the form lacks one of the arguments.

    Args:
        named: arguments that the case passes, by their names in the table's row.
        values: those arguments, and the defaults of the case's library for the others.
        form: the form of the call in the other library.
        case: the case, whose other properties are kept.
    """
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
    """Return a sequence of tensors as a list, and one of numbers as a tuple.

    All libraries accept these types.
    """
    match value:
        case ListValue(items) | TupleValue(items):
            has_tensors = any(isinstance(item, TensorValue) for item in items)
            return ListValue(items) if has_tensors else TupleValue(items)
        case _:
            return value


# --- the rows of the table ------------------------------------------------------------------------


@cache
def shipped_equivalences() -> tuple[Equivalence, ...]:
    """Return the rows of the table that ciguard ships."""
    return tuple(parse_equivalences((files(__package__) / "equivalents.toml").read_text("utf-8")))


@cache
def _by_api() -> dict[str, Equivalence]:
    """Return the row of each API, including rows of installed libraries."""
    rows = list(shipped_equivalences())
    for library in LIBRARIES.items().values():
        if library.equivalents is not None:
            rows = join_rows(rows, _library_rows(library.name, library.equivalents))
    return {form.api: row for row in rows for form in row.forms.values()}


def _library_rows(library: str, path: Path) -> list[Equivalence]:
    """Return the rows that a library's adapter adds.

    Raises:
        RegistrationError: if the file cannot be read, or a row is invalid.
    """
    try:
        return parse_equivalences(path.read_text("utf-8"))
    except (OSError, ValueError, KeyError) as error:
        msg = f"library {library!r}: cannot read equivalent calls from {path}: {error}"
        raise RegistrationError(msg) from error


def join_rows(existing: Iterable[Equivalence], added: Iterable[Equivalence]) -> list[Equivalence]:
    """Return the rows of two tables. Rows that have an API in common are merged.

    Raises:
        RegistrationError: if the tables define the call of a library differently.
    """
    rows = list(existing)
    for row in added:
        apis = _apis(row)
        index = next((i for i, other in enumerate(rows) if apis & _apis(other)), None)
        if index is None:
            rows.append(row)
        else:
            rows[index] = _merge_rows(rows[index], row)
    return rows


def _apis(row: Equivalence) -> set[str]:
    return {form.api for form in row.forms.values()}


def _merge_rows(row: Equivalence, added: Equivalence) -> Equivalence:
    """Return one row for two rows that have an API in common."""
    for library, form in added.forms.items():
        if row.forms.get(library, form) != form:
            msg = (
                f"equivalents: {form.api} of {library!r} differs from the call in "
                f"ciguard's table; remove the call of {library!r} from your row"
            )
            raise RegistrationError(msg)
    return Equivalence(forms={**row.forms, **added.forms}, dtypes={**added.dtypes, **row.dtypes})


def parse_equivalences(text: str) -> list[Equivalence]:
    """Return the rows of a table in a TOML document.

    Raises:
        ValueError: if the text is invalid or an API is in two rows; the message names the row.
    """
    document = tomllib.loads(text)
    narrow = frozenset(document.get("narrow", ()))
    entries = enumerate(document["equivalent"])
    rows = [_parse_row(entry, number, narrow=narrow) for number, entry in entries]
    apis = Counter(form.api for row in rows for form in row.forms.values())
    repeated = [api for api, count in apis.items() if count > 1]
    if repeated:
        msg = f"equivalents.toml: two rows contain {', '.join(repeated)}; merge the rows"
        raise ValueError(msg)
    return rows


def _parse_row(entry: Mapping[str, Any], number: int, *, narrow: frozenset[str]) -> Equivalence:
    """Return the row for an entry of the TOML document; `narrow` libraries lack 64-bit types."""
    row_name = f"equivalent {number + 1} ({next(iter(entry.values()), '')})"
    calls = {library: call for library, call in entry.items() if library != "elements"}
    kinds = entry.get("elements", ["float"])
    if len(calls) < 2 or not set(kinds) <= _ELEMENT_TYPES.keys():  # noqa: PLR2004 - two libraries
        names = ", ".join(_ELEMENT_TYPES)
        msg = (
            f"{row_name}: a row needs calls of at least two libraries, and the values of "
            f"'elements' must be among {names}"
        )
        raise ValueError(msg)
    try:
        forms = {library: _parse_form(call) for library, call in calls.items()}
    except (AttributeError, SyntaxError, TypeError, ValueError) as error:
        msg = f"{row_name}: expected calls such as 'torch.sum(x, dim=axis)': {error}"
        raise ValueError(msg) from error
    known_dtypes = frozenset(chain.from_iterable(_ELEMENT_TYPES[kind] for kind in kinds))
    return Equivalence(
        forms=forms,
        dtypes={
            library: known_dtypes - _WIDE_DTYPES if library in narrow else known_dtypes
            for library in forms
        },
    )


def _parse_form(text: str) -> CallForm:
    """Parse the form of a call, such as `torch.sum(x, dim=axis)`."""
    node = ast.parse(text, mode="eval").body
    result_index = None
    if isinstance(node, ast.Subscript):
        result_index, node = int(ast.literal_eval(node.slice)), node.value
    if not isinstance(node, ast.Call):
        raise TypeError(text)
    by_position = [_parse_argument("", arg) for arg in node.args]
    by_keyword = [_parse_argument(str(key.arg or ""), key.value) for key in node.keywords]
    return CallForm(
        api=ast.unparse(node.func), arguments=(*by_position, *by_keyword), result_index=result_index
    )


def _parse_argument(keyword: str, node: ast.expr) -> Argument:
    """Parse an argument of a call's form: `NAME`, `NAME or DEFAULT`, or a literal."""
    match node:
        case ast.Name(name):
            return Argument(keyword=keyword, name=name)
        case ast.BoolOp(ast.Or(), [ast.Name(name), default]):
            return Argument(keyword=keyword, name=name, value=ast.literal_eval(default))
        case _:
            return Argument(keyword=keyword, name="", value=ast.literal_eval(node))
