"""Images from a search engine: real HTTP on the loopback, in the formats of two of them."""

from __future__ import annotations

import csv
import io
import time
from email.utils import formatdate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from image_server import Answer, ImageServer, Photo, photo, photos
from PIL import Image

from ciguard.errors import ConfigurationError
from ciguard.levels.app.input_synthesis import web as module
from ciguard.levels.app.input_synthesis.folder import LabelledFolder
from ciguard.levels.app.input_synthesis.image_search import SearchedImages
from ciguard.levels.app.input_synthesis.inputs import InputSpec
from ciguard.levels.app.input_synthesis.inverse_chain import InputSources, inverse_of
from ciguard.levels.app.input_synthesis.search_engines import SEARCHES, search_of
from ciguard.levels.app.input_synthesis.web import FetchError, Web
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRE = InputSpec(RecognitionTask.LABELS, "Camp fire")


@pytest.fixture
def server() -> Iterator[ImageServer]:
    with ImageServer(photos(45)) as started:
        yield started


def searched(server: ImageServer, folder: Path, name: str = "openverse") -> SearchedImages:
    search = search_of(name, {"openverse": server.openverse, "wikimedia": server.commons}[name])
    return SearchedImages(search, folder, Web(search.endpoint, pause_s=0.0, retry_budget_s=3.0))


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "SOURCES.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


CREDITS = {
    "openverse": ("CC BY 2.0", "Jane Doe", "https://photos.example/0/photos/0.jpg"),
    "wikimedia": ("CC BY 4.0", "Jane Doe ok", "https://commons.example/wiki/File:0/photos/0.jpg"),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_found_images_are_cached_with_credits(
    server: ImageServer, tmp_path: Path, name: str
) -> None:
    licence, creator, page = CREDITS[name]

    made = searched(server, tmp_path / "kept", name).inputs(FIRE, 30, seed=1)

    rows = rows_of(tmp_path / "kept")
    assert len({one.digest for one in made}) == len(made) == len(rows) == 30
    assert {row["licence"] for row in rows} == {licence}
    assert {row["creator"] for row in rows} == {creator}
    assert rows[0]["url"] == page  # the best first
    assert f"{licence}, {creator}, {page}" in {one.licence for one in made}
    for one in made:
        assert one.origin.startswith("camp_fire/")
        picture = Image.open(io.BytesIO(one.content), formats=("JPEG",))
        assert picture.size == (96, 80)
        assert not picture.getexif()
    first, second = server.searches()  # 20 results each
    assert "camp fire" in {*first.query.values(), first.query.get("gsrsearch", "")[:9]}
    assert first.query != second.query
    assert all(one.agent.startswith("ciguard/") for one in server.asked)
    assert len(server.asked) == 32


@pytest.mark.parametrize("name", SEARCHES)
def test_cached_images_are_not_searched_for_again(
    server: ImageServer, tmp_path: Path, name: str
) -> None:
    first = searched(server, tmp_path, name).inputs(FIRE, 10, seed=1)
    asked = len(server.asked)

    again = searched(server, tmp_path, name).inputs(
        InputSpec(RecognitionTask.OBJECTS, "camp-fire"), 10, seed=1
    )
    own = LabelledFolder(tmp_path).inputs(FIRE, 99, seed=2)

    assert len(server.asked) == asked == 11
    assert {one.content for one in first} == {one.content for one in own}
    assert {one.content for one in again} == {one.content for one in own}
    more = searched(server, tmp_path, name).inputs(FIRE, 12, seed=1)
    assert len(more) == 12
    assert len(server.asked) == asked + 3  # one page of results, two images


@pytest.mark.parametrize("name", SEARCHES)
def test_exhausted_search_is_not_repeated(tmp_path: Path, name: str) -> None:
    with ImageServer(photos(3)) as server:
        made = searched(server, tmp_path, name).inputs(FIRE, 10, seed=1)
        again = searched(server, tmp_path, name).inputs(FIRE, 10, seed=1)
        asked = len(server.asked)
        server.found = []
        nothing = searched(server, tmp_path, name).inputs(
            InputSpec(RecognitionTask.LABELS, "x"), 10, seed=1
        )

    assert {one.digest for one in made} == {one.digest for one in again}
    assert (len(made), len(nothing), asked) == (3, 0, 4)


def test_second_search_engine_finds_images_that_the_first_lacks(tmp_path: Path) -> None:
    with ImageServer(photos(3)) as server:
        first = searched(server, tmp_path, "openverse").inputs(FIRE, 4, seed=1)
        server.found = [Photo("/photos/9.jpg", answer=Answer(photo(9)))]
        both = searched(server, tmp_path, "wikimedia").inputs(FIRE, 4, seed=1)

    assert (len(first), len(both)) == (3, 4)
    assert {row["licence"] for row in rows_of(tmp_path)} == {"CC BY 2.0", "CC BY 4.0"}


def test_faces_are_searched_for_by_words_and_empty_keys_are_not_searched_for(
    server: ImageServer, tmp_path: Path
) -> None:
    inverse = searched(server, tmp_path)

    inverse.inputs(InputSpec(RecognitionTask.FACES, "joy_likelihood"), 1, seed=1)

    assert server.searches()[0].query["q"] == "joy human face"
    assert not inverse.serves(InputSpec(RecognitionTask.FACES))
    assert not inverse.serves(InputSpec(RecognitionTask.TEXT, "joy"))
    assert not inverse.serves(InputSpec(RecognitionTask.CATEGORIES, "joy"))


@pytest.mark.parametrize(
    ("label", "folder", "words"),
    [
        ("../../etc/passwd", "%2E%2E%2F%2E%2E%2Fetc%2Fpasswd", "etc passwd"),
        ("..", "", ""),
        ("AC/DC", "ac%2Fdc", "ac dc"),
        ("dog.", "dog%2E", "dog"),
        ('-cat +dog | "bird*"', "cat_%2Bdog_%7C_%22bird%2A%22", "cat dog bird"),
        ("insource:/a{9}/ OR x", "insource%3A%2Fa%7B9%7D%2F_or_x", "insource a 9 or x"),
        ("Kätzchen", "kätzchen", "kätzchen"),
        ("犬", "犬", "犬"),
        ("driver's seat", "driver%27s_seat", "driver's seat"),
        ("100% cotton", "100%25_cotton", "100 cotton"),
        ("con\x00trol", "", ""),
        ("line\nbreak", "", ""),
        ("\ud800", "", ""),
        ("x" * 101, "", ""),
        ("é/" * 60, "", ""),
        ("🐶", "", ""),
    ],
)
def test_label_becomes_search_words_and_a_subfolder(
    server: ImageServer, tmp_path: Path, label: str, folder: str, words: str
) -> None:
    wanted = InputSpec(RecognitionTask.LABELS, label)
    kept = tmp_path / "kept"

    made = searched(server, kept).inputs(wanted, 2, seed=1)

    assert [one.query["q"] for one in server.searches()] == ([words] if words else [])
    assert len(made) == (2 if words else 0)
    assert [one.name for one in tmp_path.iterdir()] == (["kept"] if words else [])
    if words:
        assert [one.name for one in kept.iterdir() if one.is_dir()] == [folder]
        assert len(LabelledFolder(kept).inputs(wanted, 9, seed=1)) == 2


def test_results_that_are_not_images_too_large_or_not_openly_licensed_are_skipped(
    tmp_path: Path,
) -> None:
    bomb = io.BytesIO()
    Image.new("1", (9_000, 9_000)).save(bomb, "PNG")
    tiny = io.BytesIO()
    Image.new("RGB", (1, 1)).save(tiny, "PNG")
    broken = [
        Photo("/broken.jpg", answer=Answer(photo(1)[:300])),
        Photo("/text.jpg", answer=Answer(b"<svg onload='alert(1)'/>")),
        Photo("/empty.jpg"),
        Photo("/bomb.png", answer=Answer(bomb.getvalue())),
        Photo("/tiny.png", answer=Answer(tiny.getvalue())),
        Photo("/huge.jpg", answer=Answer(photo(2) + bytes(11 * 2**20))),
        Photo("/cut.jpg", answer=Answer(photo(3)[:-1], is_cut=True)),
        Photo("/none.jpg", answer=Answer(status=404)),
        Photo("/other.jpg", answer=Answer(photo(4)), licence="by-nc-nd"),
        Photo("/nameless.jpg", answer=Answer(photo(5)), licence=""),
    ]
    good = Photo("/gööd.jpg", answer=Answer(photo(6, (3000, 1500))))
    with ImageServer([*broken, good]) as server:
        (made,) = searched(server, tmp_path).inputs(FIRE, 10, seed=1)

    assert Image.open(io.BytesIO(made.content)).size == (1024, 512)
    assert [row["file"] for row in rows_of(tmp_path)] == [made.origin]
    assert [one.suffix for one in (tmp_path / "camp_fire").iterdir()] == [".jpg"]


def test_redirects_and_results_with_private_addresses_are_not_requested(tmp_path: Path) -> None:
    with ImageServer() as inside:
        port = inside.root.rpartition(":")[2]
        elsewhere = [
            f"https://127.0.0.1:{port}/photos/1.jpg",
            f"https://localhost:{port}/photos/1.jpg",
            f"https://[::ffff:127.0.0.1]:{port}/photos/1.jpg",
            f"http://127.0.0.1:{port}/photos/1.jpg",
            f"https://user:word@127.0.0.1:{port}/photos/1.jpg",
            "file:///etc/hostname",
            f"ftp://127.0.0.1:{port}/x",
            "data:image/png;base64,AAAA",
            "https://127.0.0.1:99999/",
            "//[",
            "http://",
        ]
        led = [
            Photo(f"/to/{at}", answer=Answer(status=302, headers={"Location": url}))
            for at, url in enumerate(elsewhere)
        ]
        named = [Photo(f"/said/{at}", url=url) for at, url in enumerate(elsewhere)]
        circle = Photo("/round", answer=Answer(status=301, headers={"Location": "/round"}))
        good = Photo("/moved", answer=Answer(status=308, headers={"Location": "/photos/0.jpg"}))
        with ImageServer([*led, *named, circle, good, *photos(1)]) as server:
            web = Web(server.openverse, pause_s=0.0)
            for one in (*led, circle):
                with pytest.raises(FetchError):
                    web.fetch(server.root + one.path, accept="*/*", max_bytes=9_999)
            made = searched(server, tmp_path).inputs(FIRE, 20, seed=1)
            rounds = [one for one in server.asked if one.path == "/round"]

        assert len(made) == 1  # the same one twice
        assert len(rounds) == 2 * 4
        assert inside.asked == []
        with pytest.raises(FetchError, match="not a public address"):
            web.fetch(elsewhere[0], accept="*/*", max_bytes=9)


def test_busy_server_is_retried_after_the_time_that_it_asks_for(
    server: ImageServer, tmp_path: Path
) -> None:
    later = formatdate(time.time() + 2, usegmt=True)
    server.next = [
        Answer(status=429, headers={"Retry-After": "1"}),
        Answer(status=503, headers={"Retry-After": later}),
    ]
    began = time.monotonic()

    made = searched(server, tmp_path).inputs(FIRE, 2, seed=1)

    assert len(made) == 2
    assert time.monotonic() - began > 2.5
    assert len(server.searches()) == 3


@pytest.mark.parametrize("header", ["3600", "Fri, 31 Dec 2099 23:59:59 GMT", "9" * 400])
def test_server_that_stays_busy_ends_the_search_and_found_images_are_kept(
    server: ImageServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, header: str
) -> None:
    inverse = searched(server, tmp_path)
    inverse.inputs(FIRE, 2, seed=1)
    if len(header) < 99:
        server.next = [Answer(status=429, headers={"Retry-After": header})]
    else:
        server.next = [Answer(status=429, headers={"Retry-After": header})] * 9

    made = inverse.inputs(FIRE, 10, seed=1)
    other = inverse.inputs(InputSpec(RecognitionTask.LABELS, "smoke"), 10, seed=1)
    asked = len(server.searches())
    server.next = []
    again = searched(server, tmp_path).inputs(FIRE, 10, seed=1)

    assert (len(made), len(other), len(again)) == (2, 0, 10)
    assert asked <= 4
    assert "429" in caplog.text
    assert "the search for images stopped" in caplog.text


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"\xff",
        b"[]",
        b"[" * 100_000,
        b'{"error": {"info": "\\u001b[31mbusy"}}',
        b" " * (5 * 2**20),
    ],
)
def test_invalid_response_is_reported_and_ends_the_search(
    server: ImageServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, body: bytes
) -> None:
    server.next = [Answer(body)]
    inverse = searched(server, tmp_path)

    assert inverse.inputs(FIRE, 10, seed=1) == ()
    assert inverse.inputs(FIRE, 10, seed=1) == ()
    assert len(server.asked) == 1
    assert "the search for images stopped" in caplog.text
    assert "\x1b" not in caplog.text


@pytest.mark.parametrize(
    "body",
    [b"{}", b'{"results": 1, "query": []}', b'{"results": [1, {}], "query": {"pages": [[], {}]}}'],
)
@pytest.mark.parametrize("name", SEARCHES)
def test_response_with_unexpected_types_yields_no_images(
    server: ImageServer, tmp_path: Path, name: str, body: bytes
) -> None:
    server.next = [Answer(body)]

    assert searched(server, tmp_path, name).inputs(FIRE, 10, seed=1) == ()
    assert len(server.asked) == 1


def test_unreachable_server_is_reported(
    server: ImageServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.next = [Answer(status=500)]
    assert searched(server, tmp_path).inputs(FIRE, 3, seed=1) == ()
    with ImageServer() as ended:
        gone = searched(ended, tmp_path)

    assert gone.inputs(FIRE, 3, seed=1) == ()
    assert "500" in caplog.text
    assert "refused" in caplog.text


def test_creator_is_stored_as_one_readable_cell(tmp_path: Path) -> None:
    hostile = '=1+1,"x"\n\x1b[31m<b>' + "y" * 5000
    found = [Photo("/a.jpg", creator=hostile, answer=Answer(photo(1)))]
    with ImageServer(found) as server:
        (made,) = searched(server, tmp_path).inputs(FIRE, 3, seed=1)

    (row,) = rows_of(tmp_path)
    assert row["creator"].startswith('=1+1,"x"\\n\\x1b[31m<b>yyy')
    assert len(row["creator"]) <= 1000
    assert row["creator"] in made.licence


def test_interrupted_search_leaves_only_images_with_a_licence_and_is_continued(
    server: ImageServer, tmp_path: Path
) -> None:
    class Ends(Web):
        """Is interrupted."""

        def fetch(self, url: str, **options: Any) -> bytes:
            if len(server.asked) == 5:
                raise KeyboardInterrupt
            return super().fetch(url, **options)

    inverse = searched(server, tmp_path)
    inverse.web = Ends(server.openverse, pause_s=0.0)
    with pytest.raises(KeyboardInterrupt):
        inverse.inputs(FIRE, 10, seed=1)

    left = {one.origin for one in LabelledFolder(tmp_path).inputs(FIRE, 99, seed=1)}
    assert left == {row["file"] for row in rows_of(tmp_path)}
    assert len(left) == 4
    assert not list(tmp_path.rglob(".new-*"))
    (tmp_path / min(left)).unlink()  # as if it had ended between the row and the file
    assert len(searched(server, tmp_path).inputs(FIRE, 10, seed=1)) == 10


def test_damaged_foreign_or_read_only_cache_folder_raises_an_error(
    server: ImageServer, tmp_path: Path
) -> None:
    foreign, file = tmp_path / "foreign", tmp_path / "file"
    foreign.mkdir()
    (foreign / "SOURCES.csv").write_text("file,licence,url,note\na/b.png,CC0,x,mine\n")
    file.touch()

    for folder in (foreign, file, file / "inside"):
        with pytest.raises(ConfigurationError, match="--cache"):
            searched(server, folder).inputs(FIRE, 1, seed=1)
    assert "mine" in (foreign / "SOURCES.csv").read_text()
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "SEARCHES.csv").write_bytes(b"label\xff\ncamp fire,x\nx,y,z\n")
    assert len(searched(server, damaged).inputs(FIRE, 1, seed=1)) == 1


@pytest.mark.parametrize(
    "url",
    [
        "openverse.org",
        "file:///etc/passwd",
        "https://",
        "https://user:word@host/",
        "https://host/?q=x",
        "https://host:99999/",
        "https://[",
    ],
)
def test_invalid_search_url_raises_an_error(url: str) -> None:
    with pytest.raises(ConfigurationError, match="--search-url"):
        search_of("openverse", url)


def test_no_search_without_the_option_search() -> None:
    for sources in (InputSources(), InputSources(image_folder=Path("kept"))):
        assert not any(isinstance(one, SearchedImages) for one in inverse_of(sources).inverses)


def test_images_of_the_user_come_first_then_found_images(
    server: ImageServer, tmp_path: Path
) -> None:
    own = tmp_path / "own" / "camp fire"
    own.mkdir(parents=True)
    (own / "mine.jpg").write_bytes(photo(99))
    search = search_of("openverse", server.openverse)
    kept = tmp_path / "kept"
    sources = InputSources(images=own.parent, search=search, image_folder=kept, is_simulated=True)

    made = inverse_of(sources).inputs(FIRE, 3, seed=1)

    assert [one.origin.partition("/")[0] for one in made] == ["camp fire", *["camp_fire"] * 2]


def test_requests_are_paused_and_slow_responses_are_aborted(
    server: ImageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = Web(server.openverse, pause_s=0.2)
    began = time.monotonic()
    for _ in range(3):
        web.fetch(f"{server.root}/photos/1.jpg", accept="*/*", max_bytes=99_999)
    assert 0.4 <= time.monotonic() - began < 5.0

    monkeypatch.setattr(module, "_CONTENT_TIMEOUT_S", -1.0)
    with pytest.raises(FetchError, match="took longer"):
        web.fetch(f"{server.root}/photos/1.jpg", accept="*/*", max_bytes=99_999)


def test_proxy_of_the_environment_is_used_even_on_the_loopback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    site = "http://images.example"
    found = [Photo("/photos/1.jpg", url=f"{site}/photos/1.jpg", answer=Answer(photo(1)))]
    with ImageServer(found) as proxy:
        monkeypatch.setenv("http_proxy", proxy.root)
        search = search_of("openverse", f"{site}/v1/images/")
        made = SearchedImages(search, tmp_path, Web(search.endpoint)).inputs(FIRE, 3, seed=1)

    assert len(made) == 1
    assert [one.path for one in proxy.asked] == ["/v1/images/", "/photos/1.jpg"]
