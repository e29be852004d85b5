"""Views of a Django project, called with requests, settings, and a database in memory."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from running_applications import explored, failures, never

from ciguard.levels.app.exploration import ExploredFunction, ProcessEnvironment, explore
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = """
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
SECRET_KEY = "x"
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "photos"]
DATABASES = {"default": {"ENGINE": "django.db.backends.mysql", "NAME": "photos", "HOST": "db"}}
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
"""

UNUSABLE = "Django's settings {} cannot be loaded, and defaults are used:"
UNDEFINED = "NameError: name 'undefined' is not defined"

MANAGE = """
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
"""

MODELS = """
from django.db import models

class Seen(models.Model):
    name = models.CharField(max_length=100)
"""

VIEWS = """
import json

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from google.cloud import language_v1, vision

from .models import Seen

def labels_of(content):
    image = vision.Image(content=content)
    return vision.ImageAnnotatorClient().label_detection(image=image).label_annotations

def score_of(text):
    document = language_v1.Document(content=text, type_=language_v1.Document.Type.PLAIN_TEXT)
    client = language_v1.LanguageServiceClient()
    return client.analyze_sentiment(request={"document": document}).document_sentiment.score

@csrf_exempt
@login_required
def upload(request):
    if request.method == "POST":
        found = labels_of(request.FILES["photo"].read())
        Seen.objects.create(name=found[0].description)
        messages.success(request, "seen")
        if Seen.objects.filter(name="Dog").exists():
            return render(request, "dog.html", {"owner": request.POST.get("owner")})
    return HttpResponse("")

def mood(request, name):
    body = json.loads(request.body)
    if score_of(body["message"]["texts"][0]["content"]) > 0.3:
        return JsonResponse({"name": name})
    return JsonResponse({})

def asked(request):
    return HttpResponse("good" if score_of(request.GET.get("q", "")) > 0.3 else "bad")

class Board(View):
    def post(self, request):
        if score_of(request.POST["text"]) > 0.3:
            return HttpResponse("good")
        return HttpResponse("bad")
"""


def write_project(folder: Path, *, settings: str = SETTINGS, manage: str = MANAGE) -> Path:
    files = {
        "manage.py": manage,
        "project/__init__.py": "",
        "project/settings.py": settings,
        "photos/__init__.py": "",
        "photos/models.py": MODELS,
        "photos/views.py": VIEWS,
        "photos/templates/dog.html": "Dog of {{ owner }}",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_views_get_requests_a_user_and_a_database(tmp_path: Path) -> None:
    results = explored(write_project(tmp_path / "site"))

    views = {"upload", "mood", "asked", "Board.post"}
    problems = {name.removeprefix("photos.views."): one.problem for name, one in results.items()}
    assert {name: problems[name] for name in views} == dict.fromkeys(views, "")
    assert {name for name, _, _ in never(results)} & {
        f"photos.views.{view}" for view in views
    } == set()
    assert failures(results) == {"photos.views.upload": {"IndexError"}}


def explored_as_it_lies(folder: Path) -> dict[str, ExploredFunction]:
    application = read_application(folder)
    functions = find_service_functions(application, known_providers())
    results = explore(
        application,
        functions,
        python=sys.executable,
        budget_s=30.0,
        process_environment=ProcessEnvironment(is_lenient=True),
    )
    return {result.function.name: result for result in results}


def test_project_may_lie_below_the_folder_that_is_explored(tmp_path: Path) -> None:
    project = write_project(tmp_path / "repository/backend")
    views = (project / "photos/views.py").read_text()
    (project / "photos/seeing.py").write_text(views.partition("@csrf_exempt\n@login")[0])
    (project / "photos/views.py").write_text(
        views.replace("def labels_of", "def unused").replace(
            "from .models import Seen",
            "from photos.models import Seen\nfrom photos.seeing import labels_of",
        )
    )

    results = explored(tmp_path / "repository")

    assert results["backend.photos.views.upload"].problem == ""
    assert failures(results)["backend.photos.views.upload"] == {"IndexError"}


@pytest.mark.parametrize(
    ("settings", "manage", "remark"),
    [
        (
            f"{SETTINGS}\nKEY = undefined",
            MANAGE,
            f"{UNUSABLE.format('project.settings')} {UNDEFINED} (project/settings.py, line 10)",
        ),
        (
            SETTINGS,
            MANAGE.replace("project.settings", "config.settings"),
            f"{UNUSABLE.format('config.settings')} there is no such module",
        ),
        (
            SETTINGS.replace('"photos"]', '"photos", "app_of_nobody"]'),
            MANAGE,
            "app_of_nobody of INSTALLED_APPS is not installed, and was left out",
        ),
    ],
    ids=["invalid", "missing", "missing app"],
)
def test_settings_that_cannot_be_used_are_named_with_the_reason(
    tmp_path: Path, settings: str, manage: str, remark: str
) -> None:
    results = explored(write_project(tmp_path / "site", settings=settings, manage=manage))

    assert remark in results["photos.views.upload"].remarks
    assert failures(results) == {"photos.views.upload": {"IndexError"}}


def test_failing_model_is_reported_alike_for_each_function(tmp_path: Path) -> None:
    folder = write_project(tmp_path / "site")
    (folder / "photos/models.py").write_text("KEY = undefined")

    results = explored(folder)

    assert {one.problem for one in results.values()} == {
        f"cannot be imported: {UNDEFINED} (photos/models.py, line 1)"
    }


@pytest.mark.slow
def test_settings_may_import_a_package_that_is_missing(tmp_path: Path) -> None:
    settings = f"{SETTINGS}\nimport package_of_nobody\npackage_of_nobody.configure()"

    results = explored_as_it_lies(write_project(tmp_path / "site", settings=settings))

    assert failures(results) == {"photos.views.upload": {"IndexError"}}


def test_installed_application_may_import_packages_that_are_missing(tmp_path: Path) -> None:
    folder = write_project(tmp_path / "site")
    (folder / "photos/models.py").write_text(f"{MODELS}\nimport package_of_nobody")
    (folder / "photos/apps.py").write_text(
        "from django.apps import AppConfig\n\n"
        "class Photos(AppConfig):\n"
        "    name = 'photos'\n"
        "    def ready(self):\n"
        "        from nobody_else.parts import part\n"
    )

    results = explored_as_it_lies(folder)

    assert failures(results) == {"photos.views.upload": {"IndexError"}}
    assert {one.problem for one in results.values()} == {""}
    remarks = results["photos.views.upload"].remarks
    for package in ("package_of_nobody", "nobody_else"):
        assert f"{package} is not installed, and was stubbed" in remarks


@pytest.mark.slow
def test_settings_may_be_named_by_an_assignment(tmp_path: Path) -> None:
    manage = "import os\nos.environ['DJANGO_SETTINGS_MODULE'] = 'project.settings'"

    results = explored(write_project(tmp_path / "site", manage=manage))

    assert failures(results) == {"photos.views.upload": {"IndexError"}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "manage"),
    [(SETTINGS, ""), ("KEY = undefined", MANAGE)],
    ids=["without settings", "with settings that fail"],
)
def test_views_without_models_run_with_default_settings(
    tmp_path: Path, settings: str, manage: str
) -> None:
    folder = write_project(tmp_path / "site", settings=settings, manage=manage)
    head, _, rest = VIEWS.replace("from .models import Seen", "").partition("@csrf_exempt\n@login")
    without_upload = f"{head}def mood{rest.partition('def mood')[2]}"
    (folder / "photos/views.py").write_text(without_upload)

    results = explored(folder)

    assert {one.problem for name, one in results.items() if name.endswith(("mood", "asked"))} == {
        ""
    }
