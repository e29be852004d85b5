"""A program that is being edited: blocks are changed, removed or adapted; the result is text."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.levels.code.programs import Program, elements_of, layer_of
from ciguard.levels.code.syntax import parse_positional
from ciguard.sources import dotted_name, opening, parse_expression

if TYPE_CHECKING:
    from ciguard.levels.code.blocks import Block, LibraryCall
    from ciguard.levels.code.models import Style
    from ciguard.levels.code.places import BlockPlace, CallSite, SharedDefinition


@dataclass(slots=True)
class Draft:
    """A freshly parsed program that can be edited."""

    program: Program
    style: Style
    """Style in which the model is written."""
    data: str
    """Name of the variable that holds the model's input."""
    imports: list[str] = field(default_factory=list)
    """Import statements to add at the top."""
    replacements: dict[int, ast.AST] = field(default_factory=dict)
    """Replacement of a node, by the `id` of the old node."""
    nodes_kept_alive: list[ast.AST] = field(default_factory=list)
    """Nodes that are kept alive, so that no other node gets their `id` after they are removed."""
    usage_rewrites: list[tuple[ast.AST, str]] = field(default_factory=list)
    """Calls of layers to rewrite after all other edits, each with its new usage."""

    def node(self, number: int) -> ast.AST:
        """Return the node with a number, or the node that has replaced it."""
        node = self.program.nodes[number]
        while id(node) in self.replacements:
            node = self.replacements[id(node)]
        return node

    # --- changes of calls -------------------------------------------------------------------------

    def change(self, place: BlockPlace, seed: Block, block: Block) -> list[ast.AST]:
        """Replace the calls of the seed's block by those of another block.

        Definitions that other blocks share are copied before they are changed.

        Args:
            place: the place of the block.
            seed: the block of the seed at that place.
            block: the new block, with as many calls.

        Returns:
            The nodes of the calls.
        """
        changed = {
            place.calls[index].definition
            for index, (old, new) in enumerate(zip(seed.calls, block.calls, strict=True))
            if old != new
        }
        copies = {
            index: self._copy(place.shared[index], block.name) for index in sorted(changed - {-1})
        }
        nodes: list[ast.AST] = []
        for call, old, new in zip(place.calls, seed.calls, block.calls, strict=True):
            node = self._node_in_copy(call, copies)
            nodes.append(node)
            if old != new:
                self.rewrite(node, old, new)
            if old.use != new.use:
                copied = copies.get(call.definition, {})
                usages = (self.program.nodes[number] for number in call.uses)
                self.usage_rewrites += [(copied.get(id(usage), usage), new.use) for usage in usages]
        for number, before, after in zip(
            place.sized_calls, seed.own_calls, block.own_calls, strict=True
        ):
            if before != after:
                self.rewrite(self.program.nodes[number], before.call, after.call)
        return nodes

    def _node_in_copy(self, call: CallSite, copies: dict[int, dict[int, ast.AST]]) -> ast.AST:
        node = self.program.nodes[call.node]
        return copies[call.definition][id(node)] if call.definition in copies else node

    def _copy(self, shared: SharedDefinition, name: str) -> dict[int, ast.AST]:
        """Give a block its own copy of a shared definition; return the copies by original `id`.

        The nodes of the block that refer to the definition are renamed, so that they refer to the
        copy.
        """
        statement = self.program.nodes[shared.statement]
        duplicate = copy.deepcopy(statement)
        assert isinstance(statement, ast.stmt)  # noqa: S101 - only statements are shared
        assert isinstance(duplicate, ast.stmt)  # noqa: S101 - a copy of a statement
        self._register(duplicate, self.program.parents[id(statement)])
        body = self.program.body(statement)
        body.insert(body.index(statement) + 1, duplicate)
        new = self.unused_name(f"{shared.name.rpartition('.')[2]}_{name}")
        old = shared.name.rpartition(".")[2]
        _rename(duplicate, old, new)
        for number in shared.references:
            _rename_node(self.program.nodes[number], old, new)
        return dict(zip(map(id, ast.walk(statement)), ast.walk(duplicate), strict=True))

    def unused_name(self, name: str) -> str:
        """Return a name that the program does not use: `name`, with a number if necessary."""
        taken = {getattr(node, "attr", "") for node in self.program.nodes}
        taken |= {getattr(node, "id", getattr(node, "name", "")) for node in self.program.nodes}
        number = 2
        candidate = name
        while candidate in taken:
            candidate = f"{name}_{number}"
            number += 1
        return candidate

    def rewrite(self, node: ast.AST, old: LibraryCall, new: LibraryCall) -> None:
        """Change the node of one call; arguments with unchanged text keep their nodes."""
        assert isinstance(node, ast.Call)  # noqa: S101 - the number denotes a call
        unclaimed = [*zip(old.positional, node.args, strict=True)]
        unclaimed += [(ast.unparse(item.value), item.value) for item in node.keywords]
        node.args = [
            _pop_node(unclaimed, text) or parse_positional(text) for text in new.positional
        ]
        node.keywords = [
            ast.keyword(
                arg=None if name == "**" else name,
                value=_pop_node(unclaimed, text) or self.expression(text),
            )
            for name, text in new.keywords
        ]
        if old.api != new.api:
            node.func = parse_expression(self.spell(new.api))
        self.program.adopt(node)

    def spell(self, api: str) -> str:
        """Return the program's spelling of a qualified name; add the import that the name needs."""
        text, missing_import = self.program.spelling(api)
        if missing_import and missing_import not in self.imports:
            self.imports.append(missing_import)
        return text

    def expression(self, text: str) -> ast.expr:
        """Return the node of an expression, with library names in the program's spelling."""
        return self.spell_names(parse_expression(text))

    def spell_names(self, node: ast.expr) -> ast.expr:
        """Return a node in which all library names have the program's spelling."""
        return _Speller(self).visit(node)  # type: ignore[no-any-return]  # `visit` is typed as Any

    # --- blocks that are absent -------------------------------------------------------------------

    def remove(self, place: BlockPlace) -> None:
        """Remove a block, so that its input becomes its output."""
        if place.element is not None:
            self._remove_element(place)
        elif place.steps:
            self._collapse(place)
        else:
            first, *rest = (self.program.nodes[number] for number in place.statements)
            bridge = None
            if place.output_name != place.input_name:
                bridge = ast.parse(f"{place.output_name} = {place.input_name}").body[0]
            self._replace_statement(first, bridge)
            for statement in rest:
                self._replace_statement(statement, None)

    def _remove_element(self, place: BlockPlace) -> None:
        """Remove a block's element from its list, and the sequences that become empty."""
        element = self.program.nodes[place.element or 0]
        sequences = [self.program.nodes[number] for number in place.sequences]
        for depth, sequence in enumerate(sequences):
            assert isinstance(sequence, ast.Call)  # noqa: S101 - the number denotes a call
            elements = elements_of(sequence)
            elements[:] = [
                remaining
                for remaining in elements
                if layer_of(remaining) is not element and remaining is not element
            ]
            if elements or (depth == len(sequences) - 1 and not place.keys):
                return
            element = sequence

    def _collapse(self, place: BlockPlace) -> None:
        """Replace the operations of a block by the data that they are applied to."""
        outermost, _ = place.steps[-1]
        _, innermost = place.steps[0]
        data: ast.AST = ast.Name(id=place.input_name, ctx=ast.Load())
        if innermost is not None:
            data = self.node(innermost)
        self.replace(self.node(outermost), data)

    def is_read(self, key: str, owner: str) -> bool:
        """Return whether a definition is still read.

        Args:
            key: the name that calls the definition, e.g. `self.conv1`.
            owner: the class in which to look for reads; the whole program if it is not a class.
        """
        scope: ast.AST = self.program.classes.get(owner, self.program.tree)
        return any(
            dotted_name(node) == key and isinstance(getattr(node, "ctx", None), ast.Load)
            for node in ast.walk(scope)
        )

    def skip_empty(self, place: BlockPlace) -> None:
        """Remove the calls of a sequence that became empty, so that their input is their output."""
        outermost = self.program.nodes[place.sequences[-1]]
        if not isinstance(outermost, ast.Call) or elements_of(outermost):
            return
        for node in [
            n for number in place.statements for n in ast.walk(self.program.nodes[number])
        ]:
            if isinstance(node, ast.Call) and dotted_name(node.func) in place.keys and node.args:
                self.replace(node, node.args[0])

    def drop_no_op(self, place: BlockPlace) -> None:
        """Remove the statement of an absent block if it assigns a variable to itself."""
        for number in place.statements:
            match statement := self.program.nodes[number]:
                case ast.Assign(targets=[ast.Name(id=to)], value=ast.Name(id=source)) if (
                    to == source
                ):
                    if id(statement) not in self.replacements:
                        self._replace_statement(statement, None)
                        self.replacements[id(statement)] = ast.Pass()

    # --- replacing --------------------------------------------------------------------------------

    def replace(self, old: ast.AST, new: ast.AST) -> None:
        """Replace a node by another one."""
        parent = self.program.parents[id(old)]
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list):
                value[:] = [new if child is old else child for child in value]
        self._register(new, parent)
        self.nodes_kept_alive.append(old)
        self.replacements[id(old)] = new

    def _register(self, node: ast.AST, parent: ast.AST) -> None:
        self.nodes_kept_alive.append(node)
        self.program.parents[id(node)] = parent
        self.program.adopt(node)

    def _replace_statement(self, old: ast.AST, new: ast.stmt | None) -> None:
        assert isinstance(old, ast.stmt)  # noqa: S101 - the number denotes a statement
        body = self.program.body(old)
        index = body.index(old)
        body[index : index + 1] = [] if new is None else [new]
        if new is not None:
            self._register(new, self.program.parents[id(old)])
        if not body:
            body.append(ast.Pass())
        self.nodes_kept_alive.append(old)

    def delete(self, number: int) -> None:
        """Remove a statement."""
        self._replace_statement(self.program.nodes[number], None)

    def insert(self, before: ast.stmt, text: str) -> None:
        """Insert the statement of a text before another statement."""
        body = self.program.body(before)
        statement = ast.parse(text).body[0]
        body.insert(body.index(before), statement)
        self._register(statement, self.program.parents[id(before)])

    # --- text -------------------------------------------------------------------------------------

    def insert_at_top(self, text: str) -> None:
        """Insert statements after the imports at the start of the program."""
        body = self.program.tree.body
        index = opening(self.program.tree)
        body[index:index] = ast.parse(text).body

    def text(self, nodes: list[list[ast.AST]]) -> tuple[str, tuple[tuple[int, ...], ...]]:
        """Return the program's text, and the line of each node, 0 for a node that was removed."""
        for statement in self.imports:
            self.insert_at_top(statement)
        tree = ast.fix_missing_locations(self.program.tree)
        source = ast.unparse(tree) + "\n"
        pairs = zip(ast.walk(tree), ast.walk(ast.parse(source)), strict=True)
        lines = {id(old): getattr(new, "lineno", 0) for old, new in pairs}
        return source, tuple(tuple(lines.get(id(node), 0) for node in row) for row in nodes)


def _pop_node(pairs: list[tuple[str, ast.expr]], text: str) -> ast.expr | None:
    """Remove the first pair of a text and a node, and return its node; None if there is none."""
    for index, (node_text, node) in enumerate(pairs):
        if node_text == text:
            del pairs[index]
            return node
    return None


def _rename(node: ast.AST, old: str, new: str) -> None:
    for descendant in ast.walk(node):
        _rename_node(descendant, old, new)


def _rename_node(node: ast.AST, old: str, new: str) -> None:
    match node:
        case ast.Attribute(value=ast.Name(), attr=attr) if attr == old:
            node.attr = new
        case ast.Name(id=name) if name == old:
            node.id = new
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) if name == old:
            node.name = new


class _Speller(ast.NodeTransformer):
    """Replaces qualified library names by the program's spelling."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        name = dotted_name(node)
        root = name.partition(".")[0]
        dialect = self.draft.program.dialect
        if not name or root not in {*dialect.conventions.roots, "numpy"}:
            return self.generic_visit(node)
        return parse_expression(self.draft.spell(name))
