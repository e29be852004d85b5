"""A user's own folder, and all ways to make inputs together."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from ciguard.errors import ConfigurationError
from ciguard.levels.app.input_synthesis.choosing import InOrder, InputSources, inverse_of
from ciguard.levels.app.input_synthesis.folder import LabelledFolder
from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput
from ciguard.levels.app.input_synthesis.variants import alike, different, rng_for
from ciguard.levels.app.providers.description import NOT_MADE, RecognitionTask

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WANTED = InputSpec(RecognitionTask.LABELS, "Camp fire")


def png(colour: int) -> bytes:
    file = io.BytesIO()
    Image.new("L", (4, 4), colour).save(file, "PNG")
    return file.getvalue()


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images" / "camp_fire"
    folder.mkdir(parents=True)
    for at in range(3):
        (folder / f"{at}.png").write_bytes(png(at))
    (folder / "again.png").write_bytes(png(0))
    (folder / "notes.txt").write_text("A fire in a camp.", "utf-8")
    return folder.parent


@pytest.mark.parametrize("label", ["camp fire", "Camp-Fire", "CAMP_FIRE"])
def test_files_of_a_label_are_found_however_it_is_written(images: Path, label: str) -> None:
    made = LabelledFolder(images).inputs(InputSpec(RecognitionTask.LABELS, label), 9, seed=1)

    assert {one.content for one in made} == {png(0), png(1), png(2)}
    assert all(one.origin.startswith("camp_fire/") for one in made)


def test_texts_are_for_categories_alone(images: Path) -> None:
    (made,) = LabelledFolder(images).inputs(
        InputSpec(RecognitionTask.CATEGORIES, "camp fire"), 9, seed=1
    )

    assert made.content == b"A fire in a camp."


def test_other_labels_are_not_served(images: Path) -> None:
    folder = LabelledFolder(images)

    assert not folder.serves(InputSpec(RecognitionTask.LABELS, "fire"))
    assert not folder.serves(InputSpec(RecognitionTask.LABELS))
    assert not folder.serves(InputSpec(RecognitionTask.TEXT, "camp fire"))


def test_no_link_leads_out_of_the_folder(images: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.png").write_bytes(png(9))
    (images / "camp_fire" / "link.png").symlink_to(outside / "secret.png")
    (images / "camp_fire" / "dangling.png").symlink_to(outside / "absent.png")
    (images / "linked").symlink_to(outside)

    folder = LabelledFolder(images)

    assert png(9) not in {one.content for one in folder.inputs(WANTED, 9, seed=1)}
    for label in ("linked", "../outside", "..", "/"):
        assert not folder.serves(InputSpec(RecognitionTask.LABELS, label))


def test_licences_are_recorded(images: Path) -> None:
    (images / "SOURCES.csv").write_text("file,licence,url\ncamp_fire/1.png,CC0,x\n", "utf-8")

    made = LabelledFolder(images).inputs(WANTED, 9, seed=1)

    assert {one.licence for one in made if one.content == png(1)} == {"CC0, x"}
    assert {one.licence for one in made if one.content != png(1)} == {""}


@pytest.mark.parametrize("content", [b"name\na\n", b"\xff"])
def test_sources_that_cannot_be_read_are_an_error(images: Path, content: bytes) -> None:
    (images / "SOURCES.csv").write_bytes(content)

    with pytest.raises(ConfigurationError, match=r"SOURCES\.csv"):
        LabelledFolder(images)


def test_a_folder_that_is_absent_or_empty_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty" / "fire").mkdir(parents=True)

    with pytest.raises(ConfigurationError, match="no such folder"):
        LabelledFolder(tmp_path / "absent")
    with pytest.raises(ConfigurationError, match="no image or text"):
        LabelledFolder(tmp_path / "empty")


def test_a_users_own_images_come_first_and_others_fill_up(images: Path) -> None:
    inverse = inverse_of(InputSources(images=images, is_simulated=True))

    made = inverse.inputs(WANTED, 5, seed=1)

    assert [one.origin.partition("/")[0] for one in made[:3]] == ["camp_fire"] * 3
    assert len({one.digest for one in made}) == 5
    assert made == inverse.inputs(WANTED, 5, seed=1)


@pytest.mark.parametrize("task", RecognitionTask)
def test_every_task_but_others_has_inputs_for_nothing_in_particular(task: RecognitionTask) -> None:
    wanted, inverse = InputSpec(task), inverse_of(InputSources())

    made = inverse.inputs(wanted, 3, seed=1)

    assert inverse.serves(wanted) == (task not in NOT_MADE)
    assert len({one.digest for one in made}) == (0 if task in NOT_MADE else 3)
    assert all(one.wanted == wanted for one in made)


class Lists:
    """Has what it was given, for all labels."""

    def __init__(self, *contents: bytes) -> None:
        self.contents = contents

    def serves(self, wanted: InputSpec) -> bool:
        return wanted.task is RecognitionTask.LABELS and bool(self.contents)

    def inputs(self, wanted: InputSpec, count: int, *, seed: int) -> Sequence[ServiceInput]:
        return [ServiceInput(wanted, one, str(seed)) for one in self.contents[:count]]


contents = st.lists(st.binary(max_size=1), max_size=5)


@given(first=contents, second=contents, count=st.integers(0, 12))
def test_inputs_of_several_ways_differ_and_are_not_more_than_asked_for(
    first: list[bytes], second: list[bytes], count: int
) -> None:
    made = InOrder((Lists(*first), Lists(*second))).inputs(WANTED, count, seed=1)

    found = [one.content for one in made]
    assert len(found) == len(set(found)) <= count
    assert set(found) <= {*first, *second}


@given(name=st.text())
def test_names_compare_the_same_once_and_twice(name: str) -> None:
    assert alike(alike(name)) == alike(name)


@given(key=st.text(), seed=st.integers())
def test_randomness_depends_on_what_is_wanted_and_the_seed(key: str, seed: int) -> None:
    one, same, other = (
        rng_for(InputSpec(RecognitionTask.TEXT, key), number).random()
        for number in (seed, seed, seed + 1)
    )

    assert one == same != other


def test_what_only_repeats_itself_has_an_end() -> None:
    one = ServiceInput(WANTED, b"x", "")

    assert different(iter(lambda: one, None), 5) == (one,)
    assert different(iter(lambda: one, None), 0) == ()
