"""Parsing of targets: valid texts, rejected texts, and the round trip of names."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ciguard.errors import TargetSyntaxError, UnknownLibraryError
from ciguard.targets import (
    ActiveEnvironment,
    IndexPackage,
    Target,
    Wheel,
    libraries_of,
    parse_device,
    parse_target,
    unique_names,
)
from ciguard.targets.variables import refusal

NAME_BY_TEXT = {
    "torch==2.13.0": "torch==2.13.0",
    "torch==2.13.0@cpu": "torch==2.13.0",
    "torch==2.13.0@cuda": "torch==2.13.0@cuda",
    "torch==2.13.0@cuda:0": "torch==2.13.0@cuda",
    "torch==2.13.0 @cuda:1": "torch==2.13.0@cuda:1",
    "torch >= 2.0, < 3": "torch<3,>=2.0",
    "Tensorflow_CPU==2.12.0": "tensorflow-cpu==2.12.0",
    "tensorflow==2.21.0[and-cuda]@cuda": "tensorflow[and-cuda]==2.21.0@cuda",
    "keras==3.15.1 + jax": "keras==3.15.1 + jax",
    "keras==3.15.1[jax]": "keras==3.15.1 + jax",
    "keras[jax]==3.15.1": "keras==3.15.1 + jax",
    "keras[jax]==3.15.1 + jax==0.5": "keras==3.15.1 + jax==0.5",
    "current": "current",
    "current[torch]@cuda": "current[torch]@cuda",
    "./dist/torch-2.14.0a0-cp311-cp311-linux_x86_64.whl": (
        "dist/torch-2.14.0a0-cp311-cp311-linux_x86_64.whl"
    ),
    "torch python3.10 B=2 A='x y'": "torch A='x y' B=2 python3.10",
    "torch==2.13.0 eager": "torch==2.13.0",
    "torch python3.10 A=1 trace @cuda": "torch@cuda trace A=1 python3.10",
    "current[jax] jit": "current[jax] jit",
    "current jit": "current jit",
}


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("cpu", "cpu"),
        ("cuda", "cuda:0"),
        ("cuda:01", "cuda:1"),
        ("cuda:", None),
        ("cuda:1000", None),
        ("cpu:0", None),
        ("mps", None),
        ("", None),
    ],
)
def test_a_device_is_parsed_completely_or_not_at_all(text: str, device: str | None) -> None:
    assert parse_device(text) == device


@pytest.mark.parametrize(("text", "name"), NAME_BY_TEXT.items())
def test_a_target_has_one_canonical_name(text: str, name: str) -> None:
    target = parse_target(text)

    assert target.name == name
    assert parse_target(target.name) == target


REMEDY_BY_TEXT = {
    "": "the text is empty",
    "torch=2.13.0": "write NAME==VERSION",
    "torch@cude": "Did you mean 'cuda'?",
    "torch @cpu @cuda": "two devices",
    "torch==2.13.0@cuda guarded": "write @cpu",
    "torch==2.13.0 tf32": "only GPUs compute with TF32; write @cuda",
    "jittor@cuda tf32": "'tf32' is not a mode of jittor",
    "torch@cuda NVIDIA_TF32_OVERRIDE=1": "write tf32, or no mode",
    "torch Foo": "join packages with ' + '",
    "torch numpy": "'numpy' is not a mode of torch; use a known mode, or join packages with ' + '",
    "torch complie": "Did you mean 'compile'? Known: aot_eager, compile, eager,",
    "torch jit": "Known: aot_eager, compile, eager, export, guarded, tf32, trace.",
    "keras==3.15.1[jax] jit": "Known: eager, guarded, tf32.",
    "torch trace export": "two modes, trace and export",
    "current foo": "'foo' is not a mode of any library",
    "torch +": "no package after a '+'",
    "+ torch": "no package before a '+'",
    "torch @cuda + numpy": "no package before a '+'",
    "jax@cuda + keras": "write the device after all packages",
    "torch + torch==2.0": "the same package",
    "tensorflow + tensorflow-cpu": "the same package",
    "keras==3.15.1": "needs a backend",
    "current + torch": "keep only 'current' or only the packages",
    "current[toch]": "Did you mean 'torch'?",
    "current python3.10": "cannot be combined with another interpreter",
    "torch python3.8": "write 3.9 or later",
    "torch python3": "write 3.9 or later, e.g. python3.10",
    "torch python3.10 python3.11": "two interpreters",
    "torch A=1 A=2": "set twice",
    "torch 'A=1": "add the closing quotation mark",
    "./torch.whl": "keep the file name from the build",
    "torch@https://example.org/torch": "download the wheel",
    "torch LD_PRELOAD=/tmp/x.so": "which code the worker loads",
    "torch PYTHONPATH=/tmp": "ciguard sets the variable",
    "torch GITHUB_TOKEN=x": "credentials",
    "torch MY_API_KEY=x": "name suggests a secret",
    "torch CUDA_VISIBLE_DEVICES=1": "write @cpu, @cuda",
    "torch@cuda CUDA_DEVICE_ORDER=FASTEST_FIRST": "write @cpu, @cuda",
}


@pytest.mark.parametrize(("text", "remedy"), REMEDY_BY_TEXT.items())
def test_an_invalid_target_is_rejected_with_text_and_remedy(text: str, remedy: str) -> None:
    with pytest.raises(TargetSyntaxError) as caught:
        parse_target(text)

    assert str(caught.value).startswith(f"target {text!r}: ")
    assert remedy in str(caught.value)


def test_an_unknown_library_is_rejected_with_a_suggestion() -> None:
    with pytest.raises(UnknownLibraryError, match="Did you mean 'tensorflow-cpu'"):
        parse_target("tensorfow-cpu==2.12.0")


def test_an_extension_is_tested_as_the_library_that_it_extends() -> None:
    target = parse_target("./ext_ops-1.0-py3-none-any.whl + torch==2.13.0")

    assert [library.name for library in libraries_of(target)] == ["torch"]


def test_keras_is_under_test_before_its_backend_in_any_order() -> None:
    target = parse_target("jax + keras==3.15.1")

    assert [library.name for library in libraries_of(target)] == ["keras", "jax"]


def test_repeated_targets_get_unique_names() -> None:
    torch, jax = parse_target("torch"), parse_target("jax")

    assert unique_names([torch, jax, torch, torch]) == ["torch", "jax", "torch #2", "torch #3"]


versions = st.builds("{}.{}.{}".format, st.integers(0, 30), st.integers(0, 99), st.integers(0, 9))
specifiers = st.one_of(
    st.just(""),
    st.builds("=={}".format, versions),
    st.builds("=={}+cpu".format, versions),
    st.builds("<{0},>=0.1".format, versions),
)
published = st.builds(
    "{}{}".format, st.sampled_from(["torch", "jax", "jittor", "tf-nightly"]), specifiers
).map(IndexPackage)
folders = st.text(string.ascii_letters + " @='\"éß+", min_size=1, max_size=12)
wheels = st.builds("/{}/torch-{}-py3-none-any.whl".format, folders, versions).map(
    lambda path: Wheel(Path(path))
)
variable_names = st.from_regex(r"[A-Z_][A-Z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: not refusal(name)
)
values = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])).filter(
    lambda value: not value.startswith("=")
)
targets = st.builds(
    lambda package, device, variables, python: Target(
        packages=(package,),
        device=device,
        variables=tuple(sorted(variables.items())),
        python="" if isinstance(package, ActiveEnvironment) else python,
    ),
    st.one_of(
        published, wheels, st.sampled_from([ActiveEnvironment(), ActiveEnvironment("torch")])
    ),
    st.sampled_from(["cpu", "cuda:0", "cuda:1"]),
    st.dictionaries(variable_names, values, max_size=3),
    st.sampled_from(["", "3.9", "3.12", "3.11.7"]),
)


@settings(deadline=None)
@given(targets)
def test_the_name_of_a_target_is_parsed_to_an_equal_target(target: Target) -> None:
    assert parse_target(target.name) == target


@settings(deadline=None)
@given(st.text())
def test_any_text_is_parsed_or_rejected_with_a_ciguard_error(text: str) -> None:
    try:
        target = parse_target(text)
    except (TargetSyntaxError, UnknownLibraryError):
        return

    assert parse_target(target.name) == target
