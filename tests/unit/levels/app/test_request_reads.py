"""Parts of a web request or event that functions read."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from ciguard.levels.app.static_analysis.request_reads import Field, event_reads, request_reads
from ciguard.sources import imports_of


def arguments(*parameters: str) -> ast.arguments:
    (function,) = ast.parse(f"def f({', '.join(parameters)}): ...").body
    assert isinstance(function, ast.FunctionDef)
    return function.args


@pytest.mark.parametrize(
    ("source", "parameters", "expected"),
    [
        ("file = request.files['a']", [], {"files": (("a",),)}),
        ("files = request.files\nfiles.get('a')", [], {"files": (("a",),)}),
        ("request.form.getlist('a')\nrequest.form['b']", [], {"form": (("a",), ("b",))}),
        ("'a' in flask.request.values", [], {"form": (("a",),)}),
        ("q = request.args.get('q', 'x')", [], {"args": (("q",),)}),
        ("request.json['a']", [], {"json": (("a",),)}),
        ("d = request.get_json(force=True) or {}\nd.get('a')", [], {"json": (("a",),)}),
        ("d = json.loads(request.data)\nd['a']", [], {"data": (), "json": (("a",),)}),
        ("content = request.get_data()", [], {"data": ()}),
        ("request.get_json()['a']", ["request"], {"json": (("a",),)}),
        ("request.json['a']['b'].get('c')", [], {"json": (("a", "b", "c"),)}),
        (
            "d = request.json['a']\nd['b'], d[0]['x/y'], d['b']['c']",
            [],
            {"json": (("a", 0, "x/y"), ("a", "b", "c"))},
        ),
        ("for one in request.json['a']: one['b']", [], {"json": (("a", 0, "b"),)}),
        ("[one['b'] for one in request.json.get('a', [])]", [], {"json": (("a", 0, "b"),)}),
        ("request.form['a']['b']", [], {"form": (("a",),)}),
        ("request.form['a'], request.form['a/b']", [], {"form": (("a",), ("a/b",))}),
        ("request.args['a~1b']", [], {"args": (("a~1b",),)}),
        (
            "d = request.json\nd['a']['0'], d['b'][-1], d['c'][0][12]",
            [],
            {"json": (("a", "0"), ("b", -1), ("c", 0, 12))},
        ),
        ("other.get_json()['a']", ["other"], {}),
        ("request.method == 'POST'", [], {}),
        ("data = {}\ndata['a']", [], {}),
    ],
)
def test_request_reads_returns_parts_with_their_fields(
    source: str, parameters: list[str], expected: dict[str, tuple[Field, ...]]
) -> None:
    head = "import flask, json\nfrom flask import request\n"
    tree = ast.parse(head + dedent(source))

    assert request_reads(tree.body, arguments(*parameters), imports_of(tree, "")) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("request.FILES['a'].read()", {"files": (("a",),)}),
        ("request.POST.get('a'); request.GET['q']", {"form": (("a",),), "args": (("q",),)}),
        ("d = json.loads(request.body)\nd['a']['b']", {"data": (), "json": (("a", "b"),)}),
        ("request.data['a']", {"json": (("a",),)}),
        ("request.user.name", {"args": ()}),
    ],
)
def test_request_reads_returns_parts_of_requests_of_django(
    source: str, expected: dict[str, tuple[Field, ...]]
) -> None:
    for module in ("django.http", "rest_framework.views"):
        tree = ast.parse(f"import json\nimport {module}\n{source}")
        names = imports_of(tree, "")

        assert request_reads(tree.body, arguments("request"), names) == expected
        assert request_reads(tree.body, arguments(), names) == {}


def test_request_reads_ignores_objects_other_than_flask_requests() -> None:
    tree = ast.parse("from acme import request\nrequest.files['a']")

    assert request_reads(tree.body, arguments(), imports_of(tree, "")) == {}
    assert request_reads(tree.body, arguments("request"), imports_of(tree, "")) == {
        "files": (("a",),)
    }


@pytest.mark.parametrize(
    ("head", "parameter", "reading"),
    [
        ("import grpc", "request", "request.data"),
        ("from fastapi import Request", "request: Request", "request.json['a']"),
        ("", "request", "request.data; request.user"),
        ("", "request", "request.FILES['a']; request.data"),
        ("", "request: 'AnalyzeRequest'", "request.data"),
    ],
)
def test_request_reads_ignores_requests_of_other_frameworks(
    head: str, parameter: str, reading: str
) -> None:
    tree = ast.parse(f"{head}\n{reading}")

    assert request_reads(tree.body, arguments(parameter), imports_of(tree, "")) == {}


@pytest.mark.parametrize(
    ("parameter", "reading"),
    [
        ("event", "event.widget.config()"),
        ("event: 'Event'", "event['x']"),
        ("event: str", "event['x']"),
    ],
)
def test_event_reads_ignores_events_other_than_dictionaries(parameter: str, reading: str) -> None:
    tree = ast.parse(reading)

    assert event_reads(tree.body, arguments(parameter), imports_of(tree, "")) == {}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("for one in event['Records']: print(one['body'])", {"event": (("Records",),)}),
        ("print(event)", {"event": ()}),
        (
            "body = json.loads(event.get('body') or '{}')\nimage = body['image']",
            {"event": (("body",),), "data": (), "json": (("image",),)},
        ),
        (
            "q = event['queryStringParameters'].get('q')",
            {"event": (("queryStringParameters",),), "args": (("q",),)},
        ),
        ("other['Records']", {}),
    ],
)
def test_event_reads_returns_fields_of_the_event(
    source: str, expected: dict[str, tuple[Field, ...]]
) -> None:
    tree = ast.parse(f"import json\n{source}")

    for first in ("event", "event: dict", "event: 'typing.Dict[str, Any]'"):
        assert event_reads(tree.body, arguments(first, "context"), imports_of(tree, "")) == expected
    assert event_reads(tree.body, arguments("self", "event"), imports_of(tree, "")) == {}
