"""The routes of version 1."""

from __future__ import annotations

from django.urls import include, path

from api.cluster.discovery import Unserved
from api.metrics.views import SandboxMetrics
from api.schema import Document, Index, Reference
from api.views import access
from api.views.actions import ACTIONS
from api.views.answers import OneAnswer
from api.views.comparing import Archive, Archives, Compare, Pair
from api.views.explaining import (
    Capacity,
    Counterfactuals,
    EmbeddedFilm,
    EventFilm,
    Explain,
    Fairness,
    ObjectFilm,
    PreemptionSteps,
    Reproduce,
    Waiting,
)
from api.views.export import Export
from api.views.forecasting import Forecasts, KeptForecast, KeptForecasts, Would
from api.views.imports import Conversions, DryImports, Imports, TracePreviews
from api.views.lessons import FollowerGuess, JoinLesson, OneLesson, Script, ScriptFile
from api.views.library import Registry, Scenarios
from api.views.objects import OneObject, PolicyView, Profiles
from api.views.reading import Events, Hash, Preemptions, Samples, State, Table
from api.views.sandboxes import Disk, OneDisk, OneSandbox, Sandboxes
from api.views.twins import Clusters, Incident, OneShadow, Shadow, Twins
from api.views.whatifs import DiscardWhatIf, KeepWhatIf, OneWhatIf, WhatIfPatch, WhatIfs

_ONE = "sandboxes/<str:sandbox_id>"

urlpatterns = [
    path("", Index.as_view(), name="index"),
    path("schema", Document.as_view(), name="schema"),
    path("docs", Reference.as_view(), name="docs"),
    path("me", access.Me.as_view(), name="me"),
    path("tokens", access.Tokens.as_view(), name="tokens"),
    path("tokens/<int:token_id>", access.OneToken.as_view(), name="token"),
    path("shares/open", access.Open.as_view(), name="share-open"),
    path("embeds/open", EmbeddedFilm.as_view(), name="embed-open"),
    path("lessons/join", JoinLesson.as_view(), name="lesson-join"),
    path("registry", Registry.as_view(), name="registry"),
    path("scenarios", Scenarios.as_view(), name="scenarios"),
    path("answers/<int:answer_id>", OneAnswer.as_view(), name="answer"),
    path("archives", Archives.as_view(), name="archives"),
    path("traces/preview", TracePreviews.as_view(), name="traces-preview"),
    path("imports/dry", DryImports.as_view(), name="imports-dry"),
    path("conversions", Conversions.as_view(), name="conversions"),
    path("disk", Disk.as_view(), name="disk"),
    path("clusters", Clusters.as_view(), name="clusters"),
    path("twins", Twins.as_view(), name="twins"),
    path("sandboxes", Sandboxes.as_view(), name="sandboxes"),
    path(_ONE, OneSandbox.as_view(), name="sandbox"),
    *(
        path(f"{_ONE}/actions/{name}", view.as_view(), name=f"action-{name}")
        for name, view in ACTIONS.items()
    ),
    path(f"{_ONE}/members", access.Members.as_view(), name="members"),
    path(f"{_ONE}/members/<str:username>", access.OneMember.as_view(), name="member"),
    path(f"{_ONE}/shares", access.Shares.as_view(), name="shares"),
    path(f"{_ONE}/shares/<int:link_id>", access.OneShare.as_view(), name="share"),
    path(f"{_ONE}/audit", access.SandboxAudit.as_view(), name="audit"),
    path(f"{_ONE}/lesson", OneLesson.as_view(), name="lesson"),
    path(
        f"{_ONE}/lesson/followers/<str:follower>",
        FollowerGuess.as_view(),
        name="lesson-guess",
    ),
    path(f"{_ONE}/script", Script.as_view(), name="script"),
    path(f"{_ONE}/script/file", ScriptFile.as_view(), name="script-file"),
    path(f"{_ONE}/imports", Imports.as_view(), name="imports"),
    path(f"{_ONE}/policy", PolicyView.as_view(), name="policy"),
    path(f"{_ONE}/policy/profiles", Profiles.as_view(), name="policy-profiles"),
    path(
        f"{_ONE}/objects/<str:kind>/<str:namespace>/<str:name>",
        OneObject.as_view(),
        name="object",
    ),
    path(f"{_ONE}/tables/<str:table>", Table.as_view(), name="table"),
    path(f"{_ONE}/events", Events.as_view(), name="events"),
    path(
        f"{_ONE}/events/<str:place>/reproduction",
        Reproduce.as_view(),
        name="reproduction",
    ),
    path(f"{_ONE}/events/<str:place>/film", EventFilm.as_view(), name="event-film"),
    path(
        f"{_ONE}/explain/<str:namespace>/<str:name>/film",
        ObjectFilm.as_view(),
        name="object-film",
    ),
    path(f"{_ONE}/preemptions", Preemptions.as_view(), name="preemptions"),
    path(
        f"{_ONE}/preemptions/<str:place>",
        PreemptionSteps.as_view(),
        name="preemption-steps",
    ),
    path(
        f"{_ONE}/explain/<str:namespace>/<str:name>", Explain.as_view(), name="explain"
    ),
    path(
        f"{_ONE}/explain/<str:namespace>/<str:name>/counterfactuals",
        Counterfactuals.as_view(),
        name="counterfactuals",
    ),
    path(f"{_ONE}/capacity", Capacity.as_view(), name="capacity"),
    path(f"{_ONE}/fairness", Fairness.as_view(), name="fairness"),
    path(f"{_ONE}/waiting", Waiting.as_view(), name="waiting"),
    path(f"{_ONE}/forecast", Forecasts.as_view(), name="forecast"),
    path(f"{_ONE}/would", Would.as_view(), name="would"),
    path(f"{_ONE}/forecasts", KeptForecasts.as_view(), name="forecasts"),
    path(
        f"{_ONE}/forecasts/<int:forecast_id>",
        KeptForecast.as_view(),
        name="one-forecast",
    ),
    path(f"{_ONE}/incident", Incident.as_view(), name="incident"),
    path(f"{_ONE}/shadow", Shadow.as_view(), name="shadow"),
    path(f"{_ONE}/shadow/<int:event>", OneShadow.as_view(), name="shadow-decision"),
    path(f"{_ONE}/pair", Pair.as_view(), name="pair"),
    path(f"{_ONE}/what-ifs", WhatIfs.as_view(), name="what-ifs"),
    path(f"{_ONE}/what-ifs/<int:what_if_id>", OneWhatIf.as_view(), name="one-what-if"),
    path(
        f"{_ONE}/what-ifs/<int:what_if_id>/keep",
        KeepWhatIf.as_view(),
        name="what-if-keep",
    ),
    path(
        f"{_ONE}/what-ifs/<int:what_if_id>/discard",
        DiscardWhatIf.as_view(),
        name="what-if-discard",
    ),
    path(
        f"{_ONE}/what-ifs/<int:what_if_id>/patch",
        WhatIfPatch.as_view(),
        name="what-if-patch",
    ),
    path(f"{_ONE}/compare", Compare.as_view(), name="compare"),
    path(f"{_ONE}/disk", OneDisk.as_view(), name="sandbox-disk"),
    path(f"{_ONE}/archive", Archive.as_view(), name="archive"),
    path(f"{_ONE}/samples", Samples.as_view(), name="samples"),
    path(f"{_ONE}/state", State.as_view(), name="state"),
    path(f"{_ONE}/hash", Hash.as_view(), name="hash"),
    path(f"{_ONE}/export", Export.as_view(), name="export"),
    path(f"{_ONE}/metrics", SandboxMetrics.as_view(), name="sandbox-metrics"),
    path(f"{_ONE}/", include("api.cluster.urls")),
    path("", include("api.experiments")),
]
#: First names of the paths below a sandbox that are no cluster's.
_OWN = frozenset(
    place.removeprefix(f"{_ONE}/").partition("/")[0]
    for one in urlpatterns
    if (place := str(one.pattern)).startswith(f"{_ONE}/")
)
urlpatterns.append(path(f"{_ONE}/<path:rest>", Unserved.as_view(own=_OWN)))
