"""What functions read of the request that they answer, as people write it."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from ciguard.applications.finding.naming import names_of
from ciguard.applications.finding.requested import read_of_event, requested


@pytest.mark.parametrize(
    ("written", "parameters", "found"),
    [
        ("file = request.files['a']", [], {"files": ("a",)}),
        ("files = request.files\nfiles.get('a')", [], {"files": ("a",)}),
        ("request.form.getlist('a')\nrequest.form['b']", [], {"form": ("a", "b")}),
        ("'a' in flask.request.values", [], {"form": ("a",)}),
        ("q = request.args.get('q', 'x')", [], {"args": ("q",)}),
        ("request.json['a']", [], {"json": ("a",)}),
        ("d = request.get_json(force=True) or {}\nd.get('a')", [], {"json": ("a",)}),
        ("d = json.loads(request.data)\nd['a']", [], {"data": (), "json": ("a",)}),
        ("content = request.get_data()", [], {"data": ()}),
        ("request.get_json()['a']", ["request"], {"json": ("a",)}),
        ("other.get_json()['a']", ["other"], {}),
        ("request.method == 'POST'", [], {}),
        ("data = {}\ndata['a']", [], {}),
    ],
)
def test_parts_and_their_fields(
    written: str, parameters: list[str], found: dict[str, tuple[str, ...]]
) -> None:
    head = "import flask, json\nfrom flask import request\n"
    tree = ast.parse(head + dedent(written))

    assert requested(tree.body, parameters, names_of(tree, "")) == found


def test_a_request_of_somebody_else_is_none() -> None:
    tree = ast.parse("from acme import request\nrequest.files['a']")

    assert requested(tree.body, [], names_of(tree, "")) == {}
    assert requested(tree.body, ["request"], names_of(tree, "")) == {"files": ("a",)}


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("for one in event['Records']: print(one['body'])", {"event": ("Records",)}),
        ("print(event)", {"event": ()}),
        (
            "body = json.loads(event.get('body') or '{}')\nimage = body['image']",
            {"event": ("body",), "data": (), "json": ("image",)},
        ),
        (
            "q = event['queryStringParameters'].get('q')",
            {"event": ("queryStringParameters",), "args": ("q",)},
        ),
        ("other['Records']", {}),
    ],
)
def test_parts_of_an_event(written: str, found: dict[str, tuple[str, ...]]) -> None:
    tree = ast.parse(f"import json\n{written}")

    assert read_of_event(tree.body, ("event", "context"), names_of(tree, "")) == found
    assert read_of_event(tree.body, ("self", "event"), names_of(tree, "")) == {}
