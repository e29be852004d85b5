"""A program under the knife: blocks changed, taken out, adapted; then text again."""

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
    from ciguard.levels.code.places import BlockPlace, CallSite, Copied


@dataclass(slots=True)
class Draft:
    """A fresh parse of a program that is being changed."""

    program: Program
    style: Style
    data: str
    """The variable of the model's input."""
    imports: list[str] = field(default_factory=list)
    """Statements that have to be put at the top."""
    moved: dict[int, ast.AST] = field(default_factory=dict)
    """What stands now where a node stood, by its `id`."""
    kept: list[ast.AST] = field(default_factory=list)
    """What was taken out: an `id` must not be given to another node."""
    uses: list[tuple[ast.AST, str]] = field(default_factory=list)
    """Calls of layers that are written otherwise once all else stands, and how."""

    def node(self, number: int) -> ast.AST:
        """Return what stands now where a node stood."""
        found = self.program.nodes[number]
        while id(found) in self.moved:
            found = self.moved[id(found)]
        return found

    # --- changes of calls -------------------------------------------------------------------------

    def change(self, place: BlockPlace, seed: Block, block: Block) -> list[ast.AST]:
        """Put a block's calls in place of the seed's; return the node of each."""
        changed = {
            place.calls[at].copied
            for at, (old, new) in enumerate(zip(seed.calls, block.calls, strict=True))
            if old != new
        }
        copies = {at: self._copy(place.copied[at], block.name) for at in sorted(changed - {-1})}
        nodes: list[ast.AST] = []
        for call, old, new in zip(place.calls, seed.calls, block.calls, strict=True):
            node = self._of_copy(call, copies)
            nodes.append(node)
            if old != new:
                self.rewrite(node, old, new)
            if old.use != new.use:
                twins = copies.get(call.copied, {})
                used = (self.program.nodes[number] for number in call.uses)
                self.uses += [(twins.get(id(one), one), new.use) for one in used]
        for number, was, now in zip(place.own, seed.own, block.own, strict=True):
            if was != now:
                self.rewrite(self.program.nodes[number], was.call, now.call)
        return nodes

    def _of_copy(self, call: CallSite, copies: dict[int, dict[int, ast.AST]]) -> ast.AST:
        node = self.program.nodes[call.node]
        return copies[call.copied][id(node)] if call.copied in copies else node

    def _copy(self, shared: Copied, name: str) -> dict[int, ast.AST]:
        """Give a block a copy of something shared; return the nodes of the copy by the original's.

        Nodes that the place names stay what they are; what they name is the copy's.
        """
        statement = self.program.nodes[shared.statement]
        twin = copy.deepcopy(statement)
        assert isinstance(statement, ast.stmt)  # noqa: S101 - only statements are shared
        assert isinstance(twin, ast.stmt)  # noqa: S101 - a copy of one
        self._register(twin, self.program.parents[id(statement)])
        body = self.program.body(statement)
        body.insert(body.index(statement) + 1, twin)
        new = self.unused(f"{shared.name.rpartition('.')[2]}_{name}")
        old = shared.name.rpartition(".")[2]
        _rename(twin, old, new)
        for number in shared.references:
            _rename_node(self.program.nodes[number], old, new)
        return dict(zip(map(id, ast.walk(statement)), ast.walk(twin), strict=True))

    def unused(self, name: str) -> str:
        """Return a name that nothing in the program has, from a wish."""
        taken = {getattr(node, "attr", "") for node in self.program.nodes}
        taken |= {getattr(node, "id", getattr(node, "name", "")) for node in self.program.nodes}
        number = 2
        wanted = name
        while wanted in taken:
            wanted = f"{name}_{number}"
            number += 1
        return wanted

    def rewrite(self, node: ast.AST, old: LibraryCall, new: LibraryCall) -> None:
        """Change one call; arguments whose text is the same stay the nodes that they are."""
        assert isinstance(node, ast.Call)  # noqa: S101 - numbered as one
        rest = [*zip(old.positional, node.args, strict=True)]
        rest += [(ast.unparse(item.value), item.value) for item in node.keywords]
        node.args = [_taken(rest, text) or parse_positional(text) for text in new.positional]
        node.keywords = [
            ast.keyword(
                arg=None if name == "**" else name,
                value=_taken(rest, text) or self.expression(text),
            )
            for name, text in new.keywords
        ]
        if old.api != new.api:
            node.func = parse_expression(self.spell(new.api))
        self.program.adopt(node)

    def spell(self, api: str) -> str:
        """Return how the program writes a qualified name; what has to be imported is noted."""
        text, needed = self.program.spelling(api)
        if needed and needed not in self.imports:
            self.imports.append(needed)
        return text

    def expression(self, text: str) -> ast.expr:
        """Return an expression in which qualified names of the library are spelled as here."""
        return self.spelled(parse_expression(text))

    def spelled(self, node: ast.expr) -> ast.expr:
        """Spell qualified names of the library as the program does, wherever they stand below."""
        return _Speller(self).visit(node)  # type: ignore[no-any-return]  # ast says Any

    # --- blocks that are absent -------------------------------------------------------------------

    def remove(self, place: BlockPlace) -> None:
        """Take out what stands for a block: the data goes on as it came."""
        if place.element is not None:
            self._remove_element(place)
        elif place.steps:
            self._collapse(place)
        else:
            first, *rest = (self.program.nodes[number] for number in place.statements)
            bridge = None
            if place.gives != place.takes:
                bridge = ast.parse(f"{place.gives} = {place.takes}").body[0]
            self._replace_statement(first, bridge)
            for statement in rest:
                self._replace_statement(statement, None)

    def _remove_element(self, place: BlockPlace) -> None:
        element = self.program.nodes[place.element or 0]
        sequences = [self.program.nodes[number] for number in place.within]
        for at, sequence in enumerate(sequences):
            assert isinstance(sequence, ast.Call)  # noqa: S101 - numbered as one
            listed = elements_of(sequence)
            listed[:] = [
                one for one in listed if layer_of(one) is not element and one is not element
            ]
            if listed or (at == len(sequences) - 1 and not place.keys):
                return
            element = sequence

    def _collapse(self, place: BlockPlace) -> None:
        outermost, _ = place.steps[-1]
        _, innermost = place.steps[0]
        rest: ast.AST = ast.Name(id=place.takes, ctx=ast.Load())
        if innermost is not None:
            rest = self.node(innermost)
        self.replace(self.node(outermost), rest)

    def speaks_of(self, key: str, owner: str) -> bool:
        """Return whether a definition is still read in the class that makes it, or anywhere."""
        scope: ast.AST = self.program.classes.get(owner, self.program.tree)
        return any(
            dotted_name(node) == key and isinstance(getattr(node, "ctx", None), ast.Load)
            for node in ast.walk(scope)
        )

    def skip_empty(self, place: BlockPlace) -> None:
        """Take out the call of a sequence that is empty now: the data goes on as it came."""
        outermost = self.program.nodes[place.within[-1]]
        if not isinstance(outermost, ast.Call) or elements_of(outermost):
            return
        for node in [
            n for number in place.statements for n in ast.walk(self.program.nodes[number])
        ]:
            if isinstance(node, ast.Call) and dotted_name(node.func) in place.keys and node.args:
                self.replace(node, node.args[0])

    def drop_idle(self, place: BlockPlace) -> None:
        """Take out the statement of an absent block, if it gives a variable to itself now."""
        for number in place.statements:
            match statement := self.program.nodes[number]:
                case ast.Assign(targets=[ast.Name(id=to)], value=ast.Name(id=it)) if to == it:
                    if id(statement) not in self.moved:
                        self._replace_statement(statement, None)
                        self.moved[id(statement)] = ast.Pass()

    # --- replacing --------------------------------------------------------------------------------

    def replace(self, old: ast.AST, new: ast.AST) -> None:
        """Put a node where another one stands."""
        parent = self.program.parents[id(old)]
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list):
                value[:] = [new if one is old else one for one in value]
        self._register(new, parent)
        self.kept.append(old)
        self.moved[id(old)] = new

    def _register(self, node: ast.AST, parent: ast.AST) -> None:
        self.kept.append(node)
        self.program.parents[id(node)] = parent
        self.program.adopt(node)

    def _replace_statement(self, old: ast.AST, new: ast.stmt | None) -> None:
        assert isinstance(old, ast.stmt)  # noqa: S101 - numbered as one
        body = self.program.body(old)
        at = body.index(old)
        body[at : at + 1] = [] if new is None else [new]
        if new is not None:
            self._register(new, self.program.parents[id(old)])
        if not body:
            body.append(ast.Pass())
        self.kept.append(old)

    def delete(self, number: int) -> None:
        """Take out a statement."""
        self._replace_statement(self.program.nodes[number], None)

    def insert(self, before: ast.stmt, text: str) -> None:
        """Put a statement before another one."""
        body = self.program.body(before)
        statement = ast.parse(text).body[0]
        body.insert(body.index(before), statement)
        self._register(statement, self.program.parents[id(before)])

    # --- text -------------------------------------------------------------------------------------

    def at_top(self, text: str) -> None:
        """Put statements behind the imports that a program begins with."""
        body = self.program.tree.body
        at = opening(self.program.tree)
        body[at:at] = ast.parse(text).body

    def text(self, nodes: list[list[ast.AST]]) -> tuple[str, tuple[tuple[int, ...], ...]]:
        """Return the program's text, and the line of each of the nodes, 0 where it is gone."""
        for line in self.imports:
            self.at_top(line)
        tree = ast.fix_missing_locations(self.program.tree)
        source = ast.unparse(tree) + "\n"
        pairs = zip(ast.walk(tree), ast.walk(ast.parse(source)), strict=True)
        lines = {id(old): getattr(new, "lineno", 0) for old, new in pairs}
        return source, tuple(tuple(lines.get(id(node), 0) for node in row) for row in nodes)


def _taken(rest: list[tuple[str, ast.expr]], text: str) -> ast.expr | None:
    """Take the first node of a text out of a list of nodes with their texts."""
    for at, (known, node) in enumerate(rest):
        if known == text:
            del rest[at]
            return node
    return None


def _rename(node: ast.AST, old: str, new: str) -> None:
    for one in ast.walk(node):
        _rename_node(one, old, new)


def _rename_node(node: ast.AST, old: str, new: str) -> None:
    match node:
        case ast.Attribute(value=ast.Name(), attr=attr) if attr == old:
            node.attr = new
        case ast.Name(id=name) if name == old:
            node.id = new
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) if name == old:
            node.name = new


class _Speller(ast.NodeTransformer):
    def __init__(self, draft: Draft) -> None:
        self.draft = draft

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        name = dotted_name(node)
        root = name.partition(".")[0]
        dialect = self.draft.program.dialect
        if not name or root not in {*dialect.style.roots, "numpy"}:
            return self.generic_visit(node)
        return parse_expression(self.draft.spell(name))
