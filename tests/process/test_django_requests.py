"""Requests of Django's views: their user, session, messages and REST framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from running_applications import explored, failures, never

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.levels.app.exploration import ExploredFunction

AUTH = "'django.contrib.contenttypes', 'django.contrib.auth',"

MODELS = """
from django.conf import settings
from django.db import models

class Mood(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    felt = models.CharField(max_length=100)
"""

OWN_USERS = """
import uuid

from django.contrib.auth.models import AbstractBaseUser
from django.db import models

class Member(AbstractBaseUser):
    USERNAME_FIELD = "email"
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    email = models.EmailField(unique=True)
    born = models.DateField()
    age = models.IntegerField()

    def get_full_name(self):
        return self.email
"""

HEAD = """
import json

from django.contrib import messages
from django.http import JsonResponse
from django.shortcuts import render
from google.cloud import language_v1

from .models import Mood

def score_of(text):
    document = language_v1.Document(content=text, type_=language_v1.Document.Type.PLAIN_TEXT)
    client = language_v1.LanguageServiceClient()
    return client.analyze_sentiment(request={"document": document}).document_sentiment.score
"""

VIEWS = f"""{HEAD}
def remember(request):
    request.session.setdefault("moods", []).append("good")
    request.session.modified = True
    if score_of(request.POST["text"]) > 0.3:
        return JsonResponse({{"key": request.session.session_key[:8], **request.session}})
    request.session.cycle_key()
    request.session.flush()
    return JsonResponse({{}})

def own(request):
    Mood.objects.get_or_create(user=request.user, felt="good")
    if score_of(request.POST["text"]) > 0.3:
        return JsonResponse({{"name": request.user.get_full_name().upper()}})
    return JsonResponse({{"moods": Mood.objects.get(user=request.user).felt[3]}})

def shown(request):
    messages.info(request, "good")
    if score_of(request.POST["text"]) > 0.3:
        return render(request, "shown.html", {{"texts": list(messages.get_messages(request))}})
    return render(request, "shown.html")

def of_others(request):
    if score_of(request.POST["text"]) > 0.3:
        return JsonResponse({{"name": request.tenant.name}})
    if score_of(request.POST["text"]) < -0.3:
        return JsonResponse({{"cart": request.session["cart"]}})
    if score_of(request.POST["text"]) == 0:
        return JsonResponse({{"cart": request.COOKIES["cart"]}})
    return JsonResponse({{}})

def keyed(request):
    body = json.loads(request.body)
    if score_of(body["texts"][12]["by/whom"]["0"]) > 0.3:
        return JsonResponse({{"name": request.GET["user/name"], "last": body["texts"][-2]["at"]}})
    return JsonResponse({{}})

def wrong(request):
    if score_of(request.POST["text"]) > 0.3:
        return JsonResponse({{"name": request.user.get_full_name()[1000]}})
    return JsonResponse({{}})
"""

REST_VIEWS = f"""{HEAD}
from rest_framework import serializers, viewsets
from rest_framework.decorators import api_view
from rest_framework.generics import GenericAPIView
from rest_framework.response import Response
from rest_framework.views import APIView

class Said(serializers.Serializer):
    text = serializers.CharField(default="good")

class Asked(APIView):
    def get(self, request):
        felt = score_of(request.query_params.get("q", ""))
        if felt > 0.3 and self.request.user.is_staff:
            return Response({{"name": request.query_params.get("q")}})
        return Response({{"user": request.user.pk, "by": request.auth}})

class Posted(GenericAPIView):
    serializer_class = Said

    def post(self, request, name):
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        if score_of(serializer.validated_data["text"]) > 0.3:
            return Response(serializer.data)
        return Response({{"name": self.kwargs["name"]}})

class Moods(viewsets.ViewSet):
    def create(self, request):
        if score_of(request.data["text"]) > 0.3:
            return Response({{self.action: request.session.session_key}})
        if score_of(request.data["text"]) < -0.3:
            return Response(name_of(request.data))
        return Response({{"create": 1}}[self.action])

def name_of(body):
    return body["name"]

@api_view(["POST"])
def uploaded(request):
    image = request.FILES["image"].read()
    if request.data["image"].size != len(image) or not image:
        return Response({{"unlike": request.nothing}})
    return Response({{"felt": score_of(request.data["text"]) > 0.3}})

@api_view(["POST"])
def shown(request):
    if score_of(request.data["text"]) > 0.3:
        return Response({{"name": request.user.get_full_name()}})
    return Response(request.query_params)
"""


def explored_project(
    folder: Path, *, views: str, models: str = MODELS, user: str = "", apps: str = AUTH
) -> dict[str, ExploredFunction]:
    processors = [
        f"django.{name}"
        for name in (
            "contrib.auth.context_processors.auth",
            "contrib.messages.context_processors.messages",
        )
    ]
    settings = f"""
import os

SECRET_KEY = os.environ.get("KEY_OF_NOBODY", "")
INSTALLED_APPS = [{apps} "moods"]
TEMPLATES = [{{
    "BACKEND": "django.template.backends.django.DjangoTemplates",
    "APP_DIRS": True,
    "OPTIONS": {{"context_processors": {processors}}},
}}]
{user}
"""
    files = {
        "manage.py": "import os\nos.environ['DJANGO_SETTINGS_MODULE'] = 'project.settings'",
        "project/__init__.py": "",
        "project/settings.py": settings,
        "moods/__init__.py": "",
        "moods/models.py": models,
        "moods/views.py": views,
        "moods/templates/shown.html": "{% for one in messages %}{{ one }}{% endfor %}{{ user.pk }}",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    results = explored(folder)
    return {name.removeprefix("moods.views."): one for name, one in results.items()}


def problems(results: dict[str, ExploredFunction], *names: str) -> dict[str, str]:
    return {name: results[name].problem for name in names if results[name].problem}


def unjudged(results: dict[str, ExploredFunction]) -> set[tuple[str, str]]:
    """Return the types of the exceptions that a request of ours may have caused."""
    return {
        (name, crash.error.partition(":")[0])
        for name, one in results.items()
        for crash in one.unjudged_crashes
    }


@pytest.mark.parametrize(
    ("models", "user"),
    [(MODELS, ""), (f"{OWN_USERS}{MODELS}", "AUTH_USER_MODEL = 'moods.Member'")],
    ids=["users of Django", "users of the project"],
)
def test_views_use_the_user_the_session_and_messages(
    tmp_path: Path, models: str, user: str
) -> None:
    results = explored_project(tmp_path / "site", views=VIEWS, models=models, user=user)

    assert problems(results, "remember", "own", "shown", "of_others", "keyed", "wrong") == {}
    assert never(results) == set()
    assert failures(results) == {"wrong": {"IndexError"}}
    assert unjudged(results) == {("of_others", "AttributeError"), ("of_others", "NotGivenError")}


def test_views_of_the_rest_framework_get_its_requests(tmp_path: Path) -> None:
    results = explored_project(
        tmp_path / "site", views=REST_VIEWS, apps=f"{AUTH} 'rest_framework',"
    )

    views = ("Asked.get", "Posted.post", "Moods.create", "uploaded", "shown")
    assert problems(results, *views) == {}
    assert never(results) == set()
    assert failures(results) == {}
    assert unjudged(results) == {("Moods.create", "NotGivenError")}


def test_views_of_a_project_without_users_get_a_user(tmp_path: Path) -> None:
    views = f"""{HEAD.replace("from .models import Mood", "")}
def greeted(request):
    if not request.user.is_authenticated:
        return JsonResponse({{}})
    if score_of(request.POST["text"]) > 0.3:
        return JsonResponse({{"name": request.user.username}})
    if score_of(request.POST["text"]) < -0.3:
        return JsonResponse({{"name": request.user.get_full_name()}})
    return JsonResponse({{}})
"""

    results = explored_project(tmp_path / "site", views=views, models="", apps="")

    assert problems(results, "greeted") == {}
    assert failures(results) == {}
    assert unjudged(results) == {("greeted", "AttributeError")}
