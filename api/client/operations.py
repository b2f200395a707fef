"""The API's operations. Made by `manage.py apitypes` from the schema; not edited by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from .sending import AsyncSender, Sender, given
from .records import (
    AdviceEstimate,
    Agreement,
    ApplicationExplanation,
    AskExplanation,
    AuditList,
    Capacity,
    ClusterChange,
    ClusterList,
    Comparison,
    Conversion,
    Conversions,
    Convert,
    Converted,
    Counterfactuals,
    Create,
    Created,
    Delete,
    Disk,
    Done,
    DryImport,
    DryImportQuestion,
    EventList,
    Experiment,
    ExperimentList,
    Explanation,
    Fairness,
    Film,
    Forecast,
    ForecastOptions,
    ForecastState,
    Forecasts,
    Fork,
    Guess,
    Hash,
    Import,
    ImportReportList,
    Imported,
    Incident,
    IncidentReplay,
    Join,
    Joined,
    KeptWhatIf,
    Lesson,
    LinkList,
    Look,
    MadeLink,
    MadeToken,
    Me,
    Member,
    MemberList,
    Move,
    NewLink,
    NewToken,
    NodeChange,
    OneExperiment,
    Open,
    OpenLink,
    Opened,
    PageState,
    PairVerdict,
    PatchedChange,
    Pin,
    Play,
    PodExplanation,
    PodPreemption,
    Preemption,
    ProfileList,
    QueueFairness,
    Registry,
    Reproduction,
    Results,
    Rewind,
    Rewound,
    Role,
    SampleList,
    Sandbox,
    SandboxList,
    Scenario,
    ScenarioList,
    Script,
    Speed,
    Start,
    StepRequest,
    Stepping,
    Submission,
    SubmissionForecast,
    Table,
    TokenList,
    TracePreviews,
    TraceQuestion,
    Twin,
    Use,
    WhatIfBegin,
    WhatIfFiles,
    WhatIfPatch,
    WhatIfState,
    WhatIfs,
)


class Operations(Sender):
    """Every operation of the API; each waits for its answer."""

    def answers_read(
        self,
        answer_id: str | int,
        *,
        format: Literal['json', 'yaml'] | None = None,
        wait: int | None = None,
    ) -> dict[str, Any]:
        """Return the answer, as the first request would; a 202 while it is not ready."""
        return cast('dict[str, Any]', self.send('GET', f"/answers/{self.part(answer_id)}", query=given({'format': format, 'wait': wait})))

    def apply(
        self,
        sandbox_id: str | int,
        body: Import | None = None,
        *,
        dry_run: str | None = None,
        skip_errors: bool | None = None,
    ) -> Imported:
        """Create and change objects; an error changes nothing, unless skipErrors is set."""
        return cast('Imported', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/apply", body=body, query=given({'dryRun': dry_run, 'skipErrors': skip_errors})))

    def archive(
        self,
        sandbox_id: str | int,
    ) -> Sandbox:
        """Archive the sandbox into one file on the server and delete its rows."""
        return cast('Sandbox', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/archive"))

    def archive_read(
        self,
        sandbox_id: str | int,
    ) -> bytes:
        """Return the sandbox as one file; a link that only allows looking may not export."""
        return cast('bytes', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/archive", accept='application/vnd.quotalab.sandbox'))

    def archives_create(
        self,
        body: bytes | None = None,
    ) -> Sandbox:
        """Create a sandbox from an exported archive."""
        return cast('Sandbox', self.send('POST', f"/archives", body=body, media='application/vnd.quotalab.sandbox'))

    def audit_read(
        self,
        sandbox_id: str | int,
        *,
        limit: int | None = None,
    ) -> AuditList:
        """Return the newest lines of the audit log; for the owner only."""
        return cast('AuditList', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/audit", query=given({'limit': limit})))

    def capacity_read(
        self,
        sandbox_id: str | int,
        *,
        tick: int | None = None,
    ) -> Capacity:
        """Return node groups and pools, their cost, and why none grows for pending work."""
        return cast('Capacity', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/capacity", query=given({'tick': tick})))

    def cluster(
        self,
        sandbox_id: str | int,
        body: ClusterChange,
    ) -> Done:
        """Disconnect a worker cluster from the manager, or connect it again."""
        return cast('Done', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/cluster", body=body))

    def clusters_list(
        self,
    ) -> ClusterList:
        """Return the clusters that you may follow, and the sandboxes that follow them."""
        return cast('ClusterList', self.send('GET', f"/clusters"))

    def compare_read(
        self,
        sandbox_id: str | int,
        *,
        points: int | None = None,
        to_tick: int | None = None,
        with_: str | None = None,
    ) -> Comparison:
        """Return where the branches diverge, workloads that differ, preemptions, curves, totals."""
        return cast('Comparison', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/compare", query=given({'points': points, 'toTick': to_tick, 'with': with_})))

    def conversions(
        self,
        body: Conversion | None = None,
    ) -> Conversions:
        """Return Volcano's, KAI's and Armada's objects converted; changes nothing."""
        return cast('Conversions', self.send('POST', f"/conversions", body=body))

    def convert(
        self,
        sandbox_id: str | int,
        body: Convert,
    ) -> Converted:
        """Convert Kueue to YuniKorn or back; every setting that is lost is named."""
        return cast('Converted', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/convert", body=body))

    def counterfactuals_read(
        self,
        sandbox_id: str | int,
        namespace: str | int,
        name: str | int,
        *,
        horizon_ms: int | None = None,
        limit: int | None = None,
        tick: int | None = None,
        wait: int | None = None,
    ) -> Counterfactuals:
        """Return what would admit the workload; each answer was run on a copy of the world."""
        return cast('Counterfactuals', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/explain/{self.part(namespace)}/{self.part(name)}/counterfactuals", query=given({'horizonMs': horizon_ms, 'limit': limit, 'tick': tick, 'wait': wait})))

    def delete_objects(
        self,
        sandbox_id: str | int,
        body: Delete,
    ) -> Done:
        """Delete objects; their running work stops."""
        return cast('Done', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/delete", body=body))

    def disk_read(
        self,
    ) -> Disk:
        """Return the bytes of each of your sandboxes, and of the whole database."""
        return cast('Disk', self.send('GET', f"/disk"))

    def embedded_film_read(
        self,
        secret: str | int,
        place: str | int,
    ) -> Film:
        """Return the frames of one decision, without a sign-in."""
        return cast('Film', self.send('GET', f"/embeds/{self.part(secret)}/{self.part(place)}/film"))

    def event_film_read(
        self,
        sandbox_id: str | int,
        place: str | int,
        *,
        other: bool | None = None,
    ) -> Film:
        """Return the frames of a decision, in order; no frame reveals the result of a later one."""
        return cast('Film', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/events/{self.part(place)}/film", query=given({'other': other})))

    def events_read(
        self,
        sandbox_id: str | int,
        *,
        after: str | None = None,
        from_tick: int | None = None,
        limit: int | None = None,
        newest: bool | None = None,
        subject: str | None = None,
        to_tick: int | None = None,
        type: str | None = None,
    ) -> EventList:
        """Return events in order."""
        return cast('EventList', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/events", query=given({'after': after, 'fromTick': from_tick, 'limit': limit, 'newest': newest, 'subject': subject, 'toTick': to_tick, 'type': type})))

    def experiments_cancel(
        self,
        experiment_id: str | int,
    ) -> Experiment:
        """Cancel the runs that have not ended; results of ended runs are kept."""
        return cast('Experiment', self.send('POST', f"/experiments/{self.part(experiment_id)}/cancel"))

    def experiments_compare(
        self,
        experiment_id: str | int,
        *,
        points: int | None = None,
        runs: str | None = None,
        to_tick: int | None = None,
    ) -> Comparison:
        """Return the differences between runs, as `compare` does between sandboxes."""
        return cast('Comparison', self.send('GET', f"/experiments/{self.part(experiment_id)}/compare", query=given({'points': points, 'runs': runs, 'toTick': to_tick})))

    def experiments_create(
        self,
        body: Start | None = None,
        *,
        wait: int | None = None,
    ) -> Experiment:
        """Start an experiment; workers begin its runs at once."""
        return cast('Experiment', self.send('POST', f"/experiments", body=body, query=given({'wait': wait})))

    def experiments_delete(
        self,
        experiment_id: str | int,
    ) -> None:
        """Delete it with its results; sandboxes opened from it stay."""
        self.send('DELETE', f"/experiments/{self.part(experiment_id)}")

    def experiments_estimate(
        self,
        body: Start | None = None,
    ) -> AdviceEstimate:
        """Return the number of runs of a search and a time estimate; nothing is stored."""
        return cast('AdviceEstimate', self.send('POST', f"/experiments/estimate", body=body))

    def experiments_list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
    ) -> ExperimentList:
        """Return your experiments, newest first."""
        return cast('ExperimentList', self.send('GET', f"/experiments", query=given({'limit': limit, 'offset': offset})))

    def experiments_patches(
        self,
        experiment_id: str | int,
    ) -> str:
        """Return the answer as manifests for `kubectl apply -f`."""
        return cast('str', self.send('GET', f"/experiments/{self.part(experiment_id)}/patches.yaml", accept='application/yaml'))

    def experiments_read(
        self,
        experiment_id: str | int,
        *,
        front: str | None = None,
        sort: str | None = None,
        wait: int | None = None,
    ) -> OneExperiment:
        """Return the progress, and one line per variant from the runs that have ended."""
        return cast('OneExperiment', self.send('GET', f"/experiments/{self.part(experiment_id)}", query=given({'front': front, 'sort': sort, 'wait': wait})))

    def experiments_report_html(
        self,
        experiment_id: str | int,
    ) -> str:
        """Return the report of an answer as one HTML file."""
        return cast('str', self.send('GET', f"/experiments/{self.part(experiment_id)}/report.html", accept='text/html'))

    def experiments_report_markdown(
        self,
        experiment_id: str | int,
    ) -> str:
        """Return the report of an answer as Markdown."""
        return cast('str', self.send('GET', f"/experiments/{self.part(experiment_id)}/report.md", accept='text/markdown'))

    def experiments_results(
        self,
        experiment_id: str | int,
        *,
        after: int | None = None,
        limit: int | None = None,
    ) -> Results:
        """Return the runs in the order in which they ended, page by page."""
        return cast('Results', self.send('GET', f"/experiments/{self.part(experiment_id)}/results", query=given({'after': after, 'limit': limit})))

    def experiments_results_csv(
        self,
        experiment_id: str | int,
    ) -> str:
        """Return a CSV with one line per run and one column per measure."""
        return cast('str', self.send('GET', f"/experiments/{self.part(experiment_id)}/results.csv", accept='text/csv'))

    def experiments_runs_open(
        self,
        experiment_id: str | int,
        run: str | int,
        body: Open | None = None,
    ) -> Sandbox:
        """Create a paused sandbox from a run, at a tick or at its end."""
        return cast('Sandbox', self.send('POST', f"/experiments/{self.part(experiment_id)}/runs/{self.part(run)}/open", body=body))

    def experiments_take(
        self,
        experiment_id: str | int,
    ) -> Experiment:
        """End a search: the best settings so far are verified on held-out seeds, then returned."""
        return cast('Experiment', self.send('POST', f"/experiments/{self.part(experiment_id)}/take"))

    def explain_read(
        self,
        sandbox_id: str | int,
        namespace: str | int,
        name: str | int,
        *,
        kind: Literal['Application', 'Pod', 'Workload'] | None = None,
        tick: int | None = None,
    ) -> Explanation | PodExplanation | AskExplanation | ApplicationExplanation:
        """Return conditions, arithmetic, searches or node tables, and sentences."""
        return cast('Explanation | PodExplanation | AskExplanation | ApplicationExplanation', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/explain/{self.part(namespace)}/{self.part(name)}", query=given({'kind': kind, 'tick': tick})))

    def export_read(
        self,
        sandbox_id: str | int,
        *,
        output: Literal['csv', 'json', 'yaml'] | None = None,
        status: bool | None = None,
        what: Literal['all', 'events', 'objects', 'policy', 'queues', 'samples', 'workloads'] | None = None,
    ) -> Any:
        """Return files that load again, or tables."""
        return cast('Any', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/export", query=given({'output': output, 'status': status, 'what': what})))

    def fairness_read(
        self,
        sandbox_id: str | int,
        *,
        tick: int | None = None,
    ) -> Fairness | QueueFairness:
        """Return the share formulas with numbers, borrowing flows, queue heads and next victims."""
        return cast('Fairness | QueueFairness', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/fairness", query=given({'tick': tick})))

    def forecast_read(
        self,
        sandbox_id: str | int,
        *,
        arrivals: Literal['continued', 'known'] | None = None,
        futures: int | None = None,
        horizon_ms: int | None = None,
        id: int | None = None,
        seconds: int | None = None,
        seed: int | None = None,
        tick: int | None = None,
        within_ms: int | None = None,
    ) -> Forecast:
        """Return p10, p50, p90 and chances; every future was run on a copy of the world."""
        return cast('Forecast', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/forecast", query=given({'arrivals': arrivals, 'futures': futures, 'horizonMs': horizon_ms, 'id': id, 'seconds': seconds, 'seed': seed, 'tick': tick, 'withinMs': within_ms})))

    def forecast_submission_create(
        self,
        sandbox_id: str | int,
        body: Submission | None = None,
    ) -> SubmissionForecast:
        """Return when a manifest would start if it were submitted, for each queue."""
        return cast('SubmissionForecast', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/forecast", body=body))

    def forecasts_create(
        self,
        sandbox_id: str | int,
        body: ForecastOptions | None = None,
        *,
        wait: int | None = None,
    ) -> ForecastState:
        """Start a forecast, or return the one that was asked for before."""
        return cast('ForecastState', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/forecasts", body=body, query=given({'wait': wait})))

    def forecasts_list(
        self,
        sandbox_id: str | int,
        *,
        limit: int | None = None,
    ) -> Forecasts:
        """Return kept forecasts, newest first, with their track record."""
        return cast('Forecasts', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/forecasts", query=given({'limit': limit})))

    def forecasts_read(
        self,
        sandbox_id: str | int,
        forecast_id: str | int,
        *,
        wait: int | None = None,
    ) -> ForecastState:
        """Return the progress, and the forecast when it is done."""
        return cast('ForecastState', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/forecasts/{self.part(forecast_id)}", query=given({'wait': wait})))

    def fork(
        self,
        sandbox_id: str | int,
        body: Fork | None = None,
    ) -> Sandbox:
        """Fork the sandbox; everyone who may see it may fork it."""
        return cast('Sandbox', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/fork", body=body))

    def hash_read(
        self,
        sandbox_id: str | int,
        *,
        tick: int | None = None,
    ) -> Hash:
        """Return the SHA-256 of the world at the last commit, or at a tick."""
        return cast('Hash', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/hash", query=given({'tick': tick})))

    def import_files(
        self,
        sandbox_id: str | int,
        body: Import | None = None,
        *,
        dry_run: str | None = None,
        skip_errors: bool | None = None,
    ) -> Imported:
        """Create and change objects; an error changes nothing, unless skipErrors is set."""
        return cast('Imported', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/import", body=body, query=given({'dryRun': dry_run, 'skipErrors': skip_errors})))

    def imports_dry(
        self,
        body: DryImportQuestion,
    ) -> DryImport:
        """Return every finding in the files, with its repair; changes nothing."""
        return cast('DryImport', self.send('POST', f"/imports/dry", body=body))

    def incident_create(
        self,
        sandbox_id: str | int,
        body: Incident,
    ) -> IncidentReplay:
        """Return a window of time as recorded, replayed, and replayed with the edits."""
        return cast('IncidentReplay', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/incident", body=body))

    def lesson_end(
        self,
        sandbox_id: str | int,
    ) -> None:
        """End the lesson; followers lose access."""
        self.send('DELETE', f"/sandboxes/{self.part(sandbox_id)}/lesson")

    def lesson_guess(
        self,
        sandbox_id: str | int,
        follower: str | int,
        body: Guess,
    ) -> None:
        """Send a guess at a stop; the last one counts."""
        self.send('PUT', f"/sandboxes/{self.part(sandbox_id)}/lesson/followers/{self.part(follower)}", body=body)

    def lesson_join(
        self,
        body: Join,
    ) -> Joined:
        """Join the lesson: its sandbox can be seen until it ends."""
        return cast('Joined', self.send('POST', f"/lessons/join", body=body))

    def lesson_open(
        self,
        sandbox_id: str | int,
    ) -> Lesson:
        """Open a lesson, or return the one that runs; the answer holds its code."""
        return cast('Lesson', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/lesson"))

    def lesson_read(
        self,
        sandbox_id: str | int,
    ) -> Lesson:
        """Return the presenter's place and the followers' guesses."""
        return cast('Lesson', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/lesson"))

    def lesson_show(
        self,
        sandbox_id: str | int,
        body: Look,
    ) -> Lesson:
        """Show followers what the presenter sees."""
        return cast('Lesson', self.send('PUT', f"/sandboxes/{self.part(sandbox_id)}/lesson", body=body))

    def me_read(
        self,
    ) -> Me:
        """Return the user's name and the scope of the token of this request."""
        return cast('Me', self.send('GET', f"/me"))

    def members_delete(
        self,
        sandbox_id: str | int,
        username: str | int,
    ) -> None:
        """Remove a member; members may remove themselves."""
        self.send('DELETE', f"/sandboxes/{self.part(sandbox_id)}/members/{self.part(username)}")

    def members_list(
        self,
        sandbox_id: str | int,
    ) -> MemberList:
        """Return the members; for the owner only."""
        return cast('MemberList', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/members"))

    def members_put(
        self,
        sandbox_id: str | int,
        username: str | int,
        body: Role,
    ) -> Member:
        """Add a member as editor or viewer, or change the role."""
        return cast('Member', self.send('PUT', f"/sandboxes/{self.part(sandbox_id)}/members/{self.part(username)}", body=body))

    def metrics_read(
        self,
        sandbox_id: str | int,
    ) -> str:
        """Return Prometheus text, in simulated time."""
        return cast('str', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/metrics", accept='text/plain'))

    def move(
        self,
        sandbox_id: str | int,
        body: Move,
    ) -> Done:
        """Move a workload to another queue. A what-if shows the effect beforehand."""
        return cast('Done', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/move", body=body))

    def node(
        self,
        sandbox_id: str | int,
        body: NodeChange,
    ) -> Done:
        """Change a node: cordon, uncordon, drain, fail or recover."""
        return cast('Done', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/node", body=body))

    def object_film_read(
        self,
        sandbox_id: str | int,
        namespace: str | int,
        name: str | int,
        *,
        kind: Literal['Pod', 'Workload'] | None = None,
        other: bool | None = None,
        tick: int | None = None,
    ) -> Film:
        """Return the frames of the next attempt for an object; a 422 says why there is none."""
        return cast('Film', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/explain/{self.part(namespace)}/{self.part(name)}/film", query=given({'kind': kind, 'other': other, 'tick': tick})))

    def objects_delete(
        self,
        sandbox_id: str | int,
        kind: str | int,
        namespace: str | int,
        name: str | int,
        *,
        format: Literal['json', 'yaml'] | None = None,
    ) -> Done:
        """Delete the object; its running work stops."""
        return cast('Done', self.send('DELETE', f"/sandboxes/{self.part(sandbox_id)}/objects/{self.part(kind)}/{self.part(namespace)}/{self.part(name)}", query=given({'format': format})))

    def objects_patch(
        self,
        sandbox_id: str | int,
        kind: str | int,
        namespace: str | int,
        name: str | int,
        body: dict[str, Any] | None = None,
        *,
        dry_run: str | None = None,
        format: Literal['json', 'yaml'] | None = None,
    ) -> Imported:
        """Apply a merge patch to the manifest."""
        return cast('Imported', self.send('PATCH', f"/sandboxes/{self.part(sandbox_id)}/objects/{self.part(kind)}/{self.part(namespace)}/{self.part(name)}", body=body, query=given({'dryRun': dry_run, 'format': format})))

    def objects_put(
        self,
        sandbox_id: str | int,
        kind: str | int,
        namespace: str | int,
        name: str | int,
        body: dict[str, Any] | None = None,
        *,
        dry_run: str | None = None,
        format: Literal['json', 'yaml'] | None = None,
    ) -> Imported:
        """Create or replace the object."""
        return cast('Imported', self.send('PUT', f"/sandboxes/{self.part(sandbox_id)}/objects/{self.part(kind)}/{self.part(namespace)}/{self.part(name)}", body=body, query=given({'dryRun': dry_run, 'format': format})))

    def objects_read(
        self,
        sandbox_id: str | int,
        kind: str | int,
        namespace: str | int,
        name: str | int,
        *,
        format: Literal['json', 'yaml'] | None = None,
        tick: int | None = None,
    ) -> dict[str, Any]:
        """Return the object with its status, as an API server does."""
        return cast('dict[str, Any]', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/objects/{self.part(kind)}/{self.part(namespace)}/{self.part(name)}", query=given({'format': format, 'tick': tick})))

    def pair_read(
        self,
        sandbox_id: str | int,
        *,
        with_: str | None = None,
    ) -> PairVerdict:
        """Return who comes out otherwise in the other branch, as the verdict of a what-if."""
        return cast('PairVerdict', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/pair", query=given({'with': with_})))

    def pause(
        self,
        sandbox_id: str | int,
    ) -> Done:
        """Pause after the current tick."""
        return cast('Done', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/pause"))

    def pin(
        self,
        sandbox_id: str | int,
        body: Pin,
    ) -> Done:
        """Pin a pod to a node, or unpin it. A what-if shows the effect beforehand."""
        return cast('Done', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/pin", body=body))

    def play(
        self,
        sandbox_id: str | int,
        body: Play | None = None,
    ) -> Done:
        """Start the clock of the sandbox."""
        return cast('Done', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/play", body=body))

    def policy_patch(
        self,
        sandbox_id: str | int,
        body: dict[str, Any] | None = None,
        *,
        dry_run: str | None = None,
        format: Literal['json', 'yaml'] | None = None,
    ) -> Imported:
        """Apply a merge patch to the policy document."""
        return cast('Imported', self.send('PATCH', f"/sandboxes/{self.part(sandbox_id)}/policy", body=body, query=given({'dryRun': dry_run, 'format': format})))

    def policy_profiles_read(
        self,
        sandbox_id: str | int,
    ) -> ProfileList:
        """Return, per profile and plug-in, its extension points, weight and args."""
        return cast('ProfileList', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/policy/profiles"))

    def policy_put(
        self,
        sandbox_id: str | int,
        body: dict[str, Any] | None = None,
        *,
        dry_run: str | None = None,
        format: Literal['json', 'yaml'] | None = None,
    ) -> Imported:
        """Replace the policy."""
        return cast('Imported', self.send('PUT', f"/sandboxes/{self.part(sandbox_id)}/policy", body=body, query=given({'dryRun': dry_run, 'format': format})))

    def policy_read(
        self,
        sandbox_id: str | int,
        *,
        format: Literal['json', 'yaml'] | None = None,
        tick: int | None = None,
    ) -> dict[str, Any]:
        """Return the policy in force."""
        return cast('dict[str, Any]', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/policy", query=given({'format': format, 'tick': tick})))

    def preemption_steps_read(
        self,
        sandbox_id: str | int,
        place: str | int,
    ) -> Preemption | PodPreemption:
        """Return the traced search that chose the victim; its tick is run again for this."""
        return cast('Preemption | PodPreemption', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/preemptions/{self.part(place)}"))

    def preemptions_read(
        self,
        sandbox_id: str | int,
        *,
        after: str | None = None,
        from_tick: int | None = None,
        limit: int | None = None,
        newest: bool | None = None,
        subject: str | None = None,
        to_tick: int | None = None,
    ) -> EventList:
        """Return the preemptions in order."""
        return cast('EventList', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/preemptions", query=given({'after': after, 'fromTick': from_tick, 'limit': limit, 'newest': newest, 'subject': subject, 'toTick': to_tick})))

    def redo(
        self,
        sandbox_id: str | int,
    ) -> Done:
        """Redo the edit that was undone last: run again with it."""
        return cast('Done', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/redo"))

    def registry_read(
        self,
    ) -> Registry:
        """Return every registered strategy, plug-in, sort and process."""
        return cast('Registry', self.send('GET', f"/registry"))

    def reproduction_read(
        self,
        sandbox_id: str | int,
        place: str | int,
        *,
        format: Literal['json', 'yaml'] | None = None,
        runs: int | None = None,
        seconds: int | None = None,
    ) -> Reproduction:
        """Return the smallest world that still takes the decision; every step is run."""
        return cast('Reproduction', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/events/{self.part(place)}/reproduction", query=given({'format': format, 'runs': runs, 'seconds': seconds})))

    def rewind(
        self,
        sandbox_id: str | int,
        body: Rewind,
    ) -> Rewound:
        """Continue from an earlier tick; the later history is kept as a fork."""
        return cast('Rewound', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/rewind", body=body))

    def samples_read(
        self,
        sandbox_id: str | int,
        *,
        from_tick: int | None = None,
        limit: int | None = None,
        to_tick: int | None = None,
    ) -> SampleList:
        """Return samples in order, thinned when there are more than `limit`."""
        return cast('SampleList', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/samples", query=given({'fromTick': from_tick, 'limit': limit, 'toTick': to_tick})))

    def sandboxes_change(
        self,
        sandbox_id: str | int,
        body: PatchedChange | None = None,
    ) -> Sandbox:
        """Change the name, the visibility or the kept history."""
        return cast('Sandbox', self.send('PATCH', f"/sandboxes/{self.part(sandbox_id)}", body=body))

    def sandboxes_create(
        self,
        body: Create | None = None,
        *,
        skip_errors: bool | None = None,
    ) -> Created:
        """Create a sandbox from a scenario, from files, or empty; it is paused."""
        return cast('Created', self.send('POST', f"/sandboxes", body=body, query=given({'skipErrors': skip_errors})))

    def sandboxes_delete(
        self,
        sandbox_id: str | int,
    ) -> None:
        """Delete the sandbox with its history; forks keep their own."""
        self.send('DELETE', f"/sandboxes/{self.part(sandbox_id)}")

    def sandboxes_disk_read(
        self,
        sandbox_id: str | int,
    ) -> Use:
        """Return the bytes of the sandbox by purpose."""
        return cast('Use', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/disk"))

    def sandboxes_imports_list(
        self,
        sandbox_id: str | int,
    ) -> ImportReportList:
        """Return the report of each import, newest first."""
        return cast('ImportReportList', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/imports"))

    def sandboxes_list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
    ) -> SandboxList:
        """Return your sandboxes, newest change first."""
        return cast('SandboxList', self.send('GET', f"/sandboxes", query=given({'limit': limit, 'offset': offset})))

    def sandboxes_read(
        self,
        sandbox_id: str | int,
    ) -> Sandbox:
        """Return the sandbox."""
        return cast('Sandbox', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}"))

    def scenarios_list(
        self,
    ) -> ScenarioList:
        """Return every scenario, in the library's order."""
        return cast('ScenarioList', self.send('GET', f"/scenarios"))

    def script_file_read(
        self,
        sandbox_id: str | int,
    ) -> Any:
        """Return the lesson with its first world as one file, which plays the same anywhere."""
        return cast('Any', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/script/file", accept='application/yaml'))

    def script_read(
        self,
        sandbox_id: str | int,
    ) -> Scenario:
        """Return the lesson written here, else the one of its files, else of the library."""
        return cast('Scenario', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/script"))

    def script_write(
        self,
        sandbox_id: str | int,
        body: Script,
    ) -> Scenario:
        """Save the stops; the decisions between each stop and its answer become expectations."""
        return cast('Scenario', self.send('PUT', f"/sandboxes/{self.part(sandbox_id)}/script", body=body))

    def shadow_decision_read(
        self,
        sandbox_id: str | int,
        event: str | int,
        *,
        seconds: int | None = None,
    ) -> Opened:
        """Return a real decision, the engine's decision, and the smallest world that shows it."""
        return cast('Opened', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/shadow/{self.part(event)}", query=given({'seconds': seconds})))

    def shadow_read(
        self,
        sandbox_id: str | int,
        *,
        most: int | None = None,
        seconds: int | None = None,
    ) -> Agreement:
        """Return how many decisions agree, by kind, and each one that differs."""
        return cast('Agreement', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/shadow", query=given({'most': most, 'seconds': seconds})))

    def shares_create(
        self,
        sandbox_id: str | int,
        body: NewLink | None = None,
    ) -> MadeLink:
        """Create one; only this answer contains its secret."""
        return cast('MadeLink', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/shares", body=body))

    def shares_delete(
        self,
        sandbox_id: str | int,
        link_id: str | int,
    ) -> None:
        """Delete the link; people who came by it lose access."""
        self.send('DELETE', f"/sandboxes/{self.part(sandbox_id)}/shares/{self.part(link_id)}")

    def shares_list(
        self,
        sandbox_id: str | int,
    ) -> LinkList:
        """Return the links, newest first; for the owner only."""
        return cast('LinkList', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/shares"))

    def shares_open(
        self,
        body: OpenLink,
    ) -> Sandbox:
        """Open a link: the user may see the sandbox from now on."""
        return cast('Sandbox', self.send('POST', f"/shares/open", body=body))

    def speed(
        self,
        sandbox_id: str | int,
        body: Speed,
    ) -> Done:
        """Set the speed."""
        return cast('Done', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/speed", body=body))

    def state_read(
        self,
        sandbox_id: str | int,
        *,
        tick: int | None = None,
    ) -> PageState:
        """Return every row of the page at a tick."""
        return cast('PageState', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/state", query=given({'tick': tick})))

    def step(
        self,
        sandbox_id: str | int,
        body: StepRequest | None = None,
        *,
        wait: int | None = None,
    ) -> Stepping:
        """Run ticks, up to a tick or to an event; answers at once, or with `wait` when done."""
        return cast('Stepping', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/step", body=body, query=given({'wait': wait})))

    def tables_read(
        self,
        sandbox_id: str | int,
        table: str | int,
        *,
        fields: Mapping[str, str] | None = None,
        group: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        search: str | None = None,
        sort: str | None = None,
        tick: int | None = None,
    ) -> Table:
        """Return a page of the table."""
        return cast('Table', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/tables/{self.part(table)}", query=given({**(fields or {}), 'group': group, 'limit': limit, 'offset': offset, 'search': search, 'sort': sort, 'tick': tick})))

    def tokens_create(
        self,
        body: NewToken,
    ) -> MadeToken:
        """Create one; only this answer contains its secret."""
        return cast('MadeToken', self.send('POST', f"/tokens", body=body))

    def tokens_delete(
        self,
        token_id: str | int,
    ) -> None:
        """Revoke a token, and the tokens that were made with it."""
        self.send('DELETE', f"/tokens/{self.part(token_id)}")

    def tokens_list(
        self,
    ) -> TokenList:
        """Return the tokens, newest first, without secrets."""
        return cast('TokenList', self.send('GET', f"/tokens"))

    def traces_preview(
        self,
        body: TraceQuestion,
    ) -> TracePreviews:
        """Return a preview of the traces among the files; changes nothing."""
        return cast('TracePreviews', self.send('POST', f"/traces/preview", body=body))

    def twins_create(
        self,
        body: Twin | None = None,
    ) -> Sandbox:
        """Create a twin of a real cluster, or of a recording (paused)."""
        return cast('Sandbox', self.send('POST', f"/twins", body=body))

    def unarchive(
        self,
        sandbox_id: str | int,
    ) -> Sandbox:
        """Restore an archived sandbox under its address, paused."""
        return cast('Sandbox', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/unarchive"))

    def undo(
        self,
        sandbox_id: str | int,
    ) -> Done:
        """Undo the last edit: run again without it, up to the present tick."""
        return cast('Done', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/undo"))

    def what_ifs_create(
        self,
        sandbox_id: str | int,
        body: WhatIfBegin,
        *,
        wait: int | None = None,
    ) -> WhatIfState:
        """Start a what-if, and return the workloads whose outcome differs at the horizon."""
        return cast('WhatIfState', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/what-ifs", body=body, query=given({'wait': wait})))

    def what_ifs_discard(
        self,
        sandbox_id: str | int,
        what_if_id: str | int,
    ) -> WhatIfState:
        """Discard the what-if; the run stays as it is."""
        return cast('WhatIfState', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/what-ifs/{self.part(what_if_id)}/discard"))

    def what_ifs_keep(
        self,
        sandbox_id: str | int,
        what_if_id: str | int,
    ) -> KeptWhatIf:
        """Keep the what-if: continue from its tick with its changes; the later history becomes a fork."""
        return cast('KeptWhatIf', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/what-ifs/{self.part(what_if_id)}/keep"))

    def what_ifs_list(
        self,
        sandbox_id: str | int,
        *,
        limit: int | None = None,
    ) -> WhatIfs:
        """Return the newest what-ifs, with the totals of their verdicts."""
        return cast('WhatIfs', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/what-ifs", query=given({'limit': limit})))

    def what_ifs_patch(
        self,
        sandbox_id: str | int,
        what_if_id: str | int,
        body: WhatIfFiles,
    ) -> WhatIfPatch:
        """Return the changes as a diff of the files, with comments and lines kept."""
        return cast('WhatIfPatch', self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/what-ifs/{self.part(what_if_id)}/patch", body=body))

    def what_ifs_read(
        self,
        sandbox_id: str | int,
        what_if_id: str | int,
        *,
        wait: int | None = None,
    ) -> WhatIfState:
        """Return a what-if with its verdict; while it runs, a 202 with the verdict so far."""
        return cast('WhatIfState', self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/what-ifs/{self.part(what_if_id)}", query=given({'wait': wait})))


class AsyncOperations(AsyncSender):
    """Every operation of the API; each is awaited."""

    async def answers_read(
        self,
        answer_id: str | int,
        *,
        format: Literal['json', 'yaml'] | None = None,
        wait: int | None = None,
    ) -> dict[str, Any]:
        """Return the answer, as the first request would; a 202 while it is not ready."""
        return cast('dict[str, Any]', await self.send('GET', f"/answers/{self.part(answer_id)}", query=given({'format': format, 'wait': wait})))

    async def apply(
        self,
        sandbox_id: str | int,
        body: Import | None = None,
        *,
        dry_run: str | None = None,
        skip_errors: bool | None = None,
    ) -> Imported:
        """Create and change objects; an error changes nothing, unless skipErrors is set."""
        return cast('Imported', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/apply", body=body, query=given({'dryRun': dry_run, 'skipErrors': skip_errors})))

    async def archive(
        self,
        sandbox_id: str | int,
    ) -> Sandbox:
        """Archive the sandbox into one file on the server and delete its rows."""
        return cast('Sandbox', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/archive"))

    async def archive_read(
        self,
        sandbox_id: str | int,
    ) -> bytes:
        """Return the sandbox as one file; a link that only allows looking may not export."""
        return cast('bytes', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/archive", accept='application/vnd.quotalab.sandbox'))

    async def archives_create(
        self,
        body: bytes | None = None,
    ) -> Sandbox:
        """Create a sandbox from an exported archive."""
        return cast('Sandbox', await self.send('POST', f"/archives", body=body, media='application/vnd.quotalab.sandbox'))

    async def audit_read(
        self,
        sandbox_id: str | int,
        *,
        limit: int | None = None,
    ) -> AuditList:
        """Return the newest lines of the audit log; for the owner only."""
        return cast('AuditList', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/audit", query=given({'limit': limit})))

    async def capacity_read(
        self,
        sandbox_id: str | int,
        *,
        tick: int | None = None,
    ) -> Capacity:
        """Return node groups and pools, their cost, and why none grows for pending work."""
        return cast('Capacity', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/capacity", query=given({'tick': tick})))

    async def cluster(
        self,
        sandbox_id: str | int,
        body: ClusterChange,
    ) -> Done:
        """Disconnect a worker cluster from the manager, or connect it again."""
        return cast('Done', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/cluster", body=body))

    async def clusters_list(
        self,
    ) -> ClusterList:
        """Return the clusters that you may follow, and the sandboxes that follow them."""
        return cast('ClusterList', await self.send('GET', f"/clusters"))

    async def compare_read(
        self,
        sandbox_id: str | int,
        *,
        points: int | None = None,
        to_tick: int | None = None,
        with_: str | None = None,
    ) -> Comparison:
        """Return where the branches diverge, workloads that differ, preemptions, curves, totals."""
        return cast('Comparison', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/compare", query=given({'points': points, 'toTick': to_tick, 'with': with_})))

    async def conversions(
        self,
        body: Conversion | None = None,
    ) -> Conversions:
        """Return Volcano's, KAI's and Armada's objects converted; changes nothing."""
        return cast('Conversions', await self.send('POST', f"/conversions", body=body))

    async def convert(
        self,
        sandbox_id: str | int,
        body: Convert,
    ) -> Converted:
        """Convert Kueue to YuniKorn or back; every setting that is lost is named."""
        return cast('Converted', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/convert", body=body))

    async def counterfactuals_read(
        self,
        sandbox_id: str | int,
        namespace: str | int,
        name: str | int,
        *,
        horizon_ms: int | None = None,
        limit: int | None = None,
        tick: int | None = None,
        wait: int | None = None,
    ) -> Counterfactuals:
        """Return what would admit the workload; each answer was run on a copy of the world."""
        return cast('Counterfactuals', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/explain/{self.part(namespace)}/{self.part(name)}/counterfactuals", query=given({'horizonMs': horizon_ms, 'limit': limit, 'tick': tick, 'wait': wait})))

    async def delete_objects(
        self,
        sandbox_id: str | int,
        body: Delete,
    ) -> Done:
        """Delete objects; their running work stops."""
        return cast('Done', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/delete", body=body))

    async def disk_read(
        self,
    ) -> Disk:
        """Return the bytes of each of your sandboxes, and of the whole database."""
        return cast('Disk', await self.send('GET', f"/disk"))

    async def embedded_film_read(
        self,
        secret: str | int,
        place: str | int,
    ) -> Film:
        """Return the frames of one decision, without a sign-in."""
        return cast('Film', await self.send('GET', f"/embeds/{self.part(secret)}/{self.part(place)}/film"))

    async def event_film_read(
        self,
        sandbox_id: str | int,
        place: str | int,
        *,
        other: bool | None = None,
    ) -> Film:
        """Return the frames of a decision, in order; no frame reveals the result of a later one."""
        return cast('Film', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/events/{self.part(place)}/film", query=given({'other': other})))

    async def events_read(
        self,
        sandbox_id: str | int,
        *,
        after: str | None = None,
        from_tick: int | None = None,
        limit: int | None = None,
        newest: bool | None = None,
        subject: str | None = None,
        to_tick: int | None = None,
        type: str | None = None,
    ) -> EventList:
        """Return events in order."""
        return cast('EventList', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/events", query=given({'after': after, 'fromTick': from_tick, 'limit': limit, 'newest': newest, 'subject': subject, 'toTick': to_tick, 'type': type})))

    async def experiments_cancel(
        self,
        experiment_id: str | int,
    ) -> Experiment:
        """Cancel the runs that have not ended; results of ended runs are kept."""
        return cast('Experiment', await self.send('POST', f"/experiments/{self.part(experiment_id)}/cancel"))

    async def experiments_compare(
        self,
        experiment_id: str | int,
        *,
        points: int | None = None,
        runs: str | None = None,
        to_tick: int | None = None,
    ) -> Comparison:
        """Return the differences between runs, as `compare` does between sandboxes."""
        return cast('Comparison', await self.send('GET', f"/experiments/{self.part(experiment_id)}/compare", query=given({'points': points, 'runs': runs, 'toTick': to_tick})))

    async def experiments_create(
        self,
        body: Start | None = None,
        *,
        wait: int | None = None,
    ) -> Experiment:
        """Start an experiment; workers begin its runs at once."""
        return cast('Experiment', await self.send('POST', f"/experiments", body=body, query=given({'wait': wait})))

    async def experiments_delete(
        self,
        experiment_id: str | int,
    ) -> None:
        """Delete it with its results; sandboxes opened from it stay."""
        await self.send('DELETE', f"/experiments/{self.part(experiment_id)}")

    async def experiments_estimate(
        self,
        body: Start | None = None,
    ) -> AdviceEstimate:
        """Return the number of runs of a search and a time estimate; nothing is stored."""
        return cast('AdviceEstimate', await self.send('POST', f"/experiments/estimate", body=body))

    async def experiments_list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
    ) -> ExperimentList:
        """Return your experiments, newest first."""
        return cast('ExperimentList', await self.send('GET', f"/experiments", query=given({'limit': limit, 'offset': offset})))

    async def experiments_patches(
        self,
        experiment_id: str | int,
    ) -> str:
        """Return the answer as manifests for `kubectl apply -f`."""
        return cast('str', await self.send('GET', f"/experiments/{self.part(experiment_id)}/patches.yaml", accept='application/yaml'))

    async def experiments_read(
        self,
        experiment_id: str | int,
        *,
        front: str | None = None,
        sort: str | None = None,
        wait: int | None = None,
    ) -> OneExperiment:
        """Return the progress, and one line per variant from the runs that have ended."""
        return cast('OneExperiment', await self.send('GET', f"/experiments/{self.part(experiment_id)}", query=given({'front': front, 'sort': sort, 'wait': wait})))

    async def experiments_report_html(
        self,
        experiment_id: str | int,
    ) -> str:
        """Return the report of an answer as one HTML file."""
        return cast('str', await self.send('GET', f"/experiments/{self.part(experiment_id)}/report.html", accept='text/html'))

    async def experiments_report_markdown(
        self,
        experiment_id: str | int,
    ) -> str:
        """Return the report of an answer as Markdown."""
        return cast('str', await self.send('GET', f"/experiments/{self.part(experiment_id)}/report.md", accept='text/markdown'))

    async def experiments_results(
        self,
        experiment_id: str | int,
        *,
        after: int | None = None,
        limit: int | None = None,
    ) -> Results:
        """Return the runs in the order in which they ended, page by page."""
        return cast('Results', await self.send('GET', f"/experiments/{self.part(experiment_id)}/results", query=given({'after': after, 'limit': limit})))

    async def experiments_results_csv(
        self,
        experiment_id: str | int,
    ) -> str:
        """Return a CSV with one line per run and one column per measure."""
        return cast('str', await self.send('GET', f"/experiments/{self.part(experiment_id)}/results.csv", accept='text/csv'))

    async def experiments_runs_open(
        self,
        experiment_id: str | int,
        run: str | int,
        body: Open | None = None,
    ) -> Sandbox:
        """Create a paused sandbox from a run, at a tick or at its end."""
        return cast('Sandbox', await self.send('POST', f"/experiments/{self.part(experiment_id)}/runs/{self.part(run)}/open", body=body))

    async def experiments_take(
        self,
        experiment_id: str | int,
    ) -> Experiment:
        """End a search: the best settings so far are verified on held-out seeds, then returned."""
        return cast('Experiment', await self.send('POST', f"/experiments/{self.part(experiment_id)}/take"))

    async def explain_read(
        self,
        sandbox_id: str | int,
        namespace: str | int,
        name: str | int,
        *,
        kind: Literal['Application', 'Pod', 'Workload'] | None = None,
        tick: int | None = None,
    ) -> Explanation | PodExplanation | AskExplanation | ApplicationExplanation:
        """Return conditions, arithmetic, searches or node tables, and sentences."""
        return cast('Explanation | PodExplanation | AskExplanation | ApplicationExplanation', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/explain/{self.part(namespace)}/{self.part(name)}", query=given({'kind': kind, 'tick': tick})))

    async def export_read(
        self,
        sandbox_id: str | int,
        *,
        output: Literal['csv', 'json', 'yaml'] | None = None,
        status: bool | None = None,
        what: Literal['all', 'events', 'objects', 'policy', 'queues', 'samples', 'workloads'] | None = None,
    ) -> Any:
        """Return files that load again, or tables."""
        return cast('Any', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/export", query=given({'output': output, 'status': status, 'what': what})))

    async def fairness_read(
        self,
        sandbox_id: str | int,
        *,
        tick: int | None = None,
    ) -> Fairness | QueueFairness:
        """Return the share formulas with numbers, borrowing flows, queue heads and next victims."""
        return cast('Fairness | QueueFairness', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/fairness", query=given({'tick': tick})))

    async def forecast_read(
        self,
        sandbox_id: str | int,
        *,
        arrivals: Literal['continued', 'known'] | None = None,
        futures: int | None = None,
        horizon_ms: int | None = None,
        id: int | None = None,
        seconds: int | None = None,
        seed: int | None = None,
        tick: int | None = None,
        within_ms: int | None = None,
    ) -> Forecast:
        """Return p10, p50, p90 and chances; every future was run on a copy of the world."""
        return cast('Forecast', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/forecast", query=given({'arrivals': arrivals, 'futures': futures, 'horizonMs': horizon_ms, 'id': id, 'seconds': seconds, 'seed': seed, 'tick': tick, 'withinMs': within_ms})))

    async def forecast_submission_create(
        self,
        sandbox_id: str | int,
        body: Submission | None = None,
    ) -> SubmissionForecast:
        """Return when a manifest would start if it were submitted, for each queue."""
        return cast('SubmissionForecast', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/forecast", body=body))

    async def forecasts_create(
        self,
        sandbox_id: str | int,
        body: ForecastOptions | None = None,
        *,
        wait: int | None = None,
    ) -> ForecastState:
        """Start a forecast, or return the one that was asked for before."""
        return cast('ForecastState', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/forecasts", body=body, query=given({'wait': wait})))

    async def forecasts_list(
        self,
        sandbox_id: str | int,
        *,
        limit: int | None = None,
    ) -> Forecasts:
        """Return kept forecasts, newest first, with their track record."""
        return cast('Forecasts', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/forecasts", query=given({'limit': limit})))

    async def forecasts_read(
        self,
        sandbox_id: str | int,
        forecast_id: str | int,
        *,
        wait: int | None = None,
    ) -> ForecastState:
        """Return the progress, and the forecast when it is done."""
        return cast('ForecastState', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/forecasts/{self.part(forecast_id)}", query=given({'wait': wait})))

    async def fork(
        self,
        sandbox_id: str | int,
        body: Fork | None = None,
    ) -> Sandbox:
        """Fork the sandbox; everyone who may see it may fork it."""
        return cast('Sandbox', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/fork", body=body))

    async def hash_read(
        self,
        sandbox_id: str | int,
        *,
        tick: int | None = None,
    ) -> Hash:
        """Return the SHA-256 of the world at the last commit, or at a tick."""
        return cast('Hash', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/hash", query=given({'tick': tick})))

    async def import_files(
        self,
        sandbox_id: str | int,
        body: Import | None = None,
        *,
        dry_run: str | None = None,
        skip_errors: bool | None = None,
    ) -> Imported:
        """Create and change objects; an error changes nothing, unless skipErrors is set."""
        return cast('Imported', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/import", body=body, query=given({'dryRun': dry_run, 'skipErrors': skip_errors})))

    async def imports_dry(
        self,
        body: DryImportQuestion,
    ) -> DryImport:
        """Return every finding in the files, with its repair; changes nothing."""
        return cast('DryImport', await self.send('POST', f"/imports/dry", body=body))

    async def incident_create(
        self,
        sandbox_id: str | int,
        body: Incident,
    ) -> IncidentReplay:
        """Return a window of time as recorded, replayed, and replayed with the edits."""
        return cast('IncidentReplay', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/incident", body=body))

    async def lesson_end(
        self,
        sandbox_id: str | int,
    ) -> None:
        """End the lesson; followers lose access."""
        await self.send('DELETE', f"/sandboxes/{self.part(sandbox_id)}/lesson")

    async def lesson_guess(
        self,
        sandbox_id: str | int,
        follower: str | int,
        body: Guess,
    ) -> None:
        """Send a guess at a stop; the last one counts."""
        await self.send('PUT', f"/sandboxes/{self.part(sandbox_id)}/lesson/followers/{self.part(follower)}", body=body)

    async def lesson_join(
        self,
        body: Join,
    ) -> Joined:
        """Join the lesson: its sandbox can be seen until it ends."""
        return cast('Joined', await self.send('POST', f"/lessons/join", body=body))

    async def lesson_open(
        self,
        sandbox_id: str | int,
    ) -> Lesson:
        """Open a lesson, or return the one that runs; the answer holds its code."""
        return cast('Lesson', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/lesson"))

    async def lesson_read(
        self,
        sandbox_id: str | int,
    ) -> Lesson:
        """Return the presenter's place and the followers' guesses."""
        return cast('Lesson', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/lesson"))

    async def lesson_show(
        self,
        sandbox_id: str | int,
        body: Look,
    ) -> Lesson:
        """Show followers what the presenter sees."""
        return cast('Lesson', await self.send('PUT', f"/sandboxes/{self.part(sandbox_id)}/lesson", body=body))

    async def me_read(
        self,
    ) -> Me:
        """Return the user's name and the scope of the token of this request."""
        return cast('Me', await self.send('GET', f"/me"))

    async def members_delete(
        self,
        sandbox_id: str | int,
        username: str | int,
    ) -> None:
        """Remove a member; members may remove themselves."""
        await self.send('DELETE', f"/sandboxes/{self.part(sandbox_id)}/members/{self.part(username)}")

    async def members_list(
        self,
        sandbox_id: str | int,
    ) -> MemberList:
        """Return the members; for the owner only."""
        return cast('MemberList', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/members"))

    async def members_put(
        self,
        sandbox_id: str | int,
        username: str | int,
        body: Role,
    ) -> Member:
        """Add a member as editor or viewer, or change the role."""
        return cast('Member', await self.send('PUT', f"/sandboxes/{self.part(sandbox_id)}/members/{self.part(username)}", body=body))

    async def metrics_read(
        self,
        sandbox_id: str | int,
    ) -> str:
        """Return Prometheus text, in simulated time."""
        return cast('str', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/metrics", accept='text/plain'))

    async def move(
        self,
        sandbox_id: str | int,
        body: Move,
    ) -> Done:
        """Move a workload to another queue. A what-if shows the effect beforehand."""
        return cast('Done', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/move", body=body))

    async def node(
        self,
        sandbox_id: str | int,
        body: NodeChange,
    ) -> Done:
        """Change a node: cordon, uncordon, drain, fail or recover."""
        return cast('Done', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/node", body=body))

    async def object_film_read(
        self,
        sandbox_id: str | int,
        namespace: str | int,
        name: str | int,
        *,
        kind: Literal['Pod', 'Workload'] | None = None,
        other: bool | None = None,
        tick: int | None = None,
    ) -> Film:
        """Return the frames of the next attempt for an object; a 422 says why there is none."""
        return cast('Film', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/explain/{self.part(namespace)}/{self.part(name)}/film", query=given({'kind': kind, 'other': other, 'tick': tick})))

    async def objects_delete(
        self,
        sandbox_id: str | int,
        kind: str | int,
        namespace: str | int,
        name: str | int,
        *,
        format: Literal['json', 'yaml'] | None = None,
    ) -> Done:
        """Delete the object; its running work stops."""
        return cast('Done', await self.send('DELETE', f"/sandboxes/{self.part(sandbox_id)}/objects/{self.part(kind)}/{self.part(namespace)}/{self.part(name)}", query=given({'format': format})))

    async def objects_patch(
        self,
        sandbox_id: str | int,
        kind: str | int,
        namespace: str | int,
        name: str | int,
        body: dict[str, Any] | None = None,
        *,
        dry_run: str | None = None,
        format: Literal['json', 'yaml'] | None = None,
    ) -> Imported:
        """Apply a merge patch to the manifest."""
        return cast('Imported', await self.send('PATCH', f"/sandboxes/{self.part(sandbox_id)}/objects/{self.part(kind)}/{self.part(namespace)}/{self.part(name)}", body=body, query=given({'dryRun': dry_run, 'format': format})))

    async def objects_put(
        self,
        sandbox_id: str | int,
        kind: str | int,
        namespace: str | int,
        name: str | int,
        body: dict[str, Any] | None = None,
        *,
        dry_run: str | None = None,
        format: Literal['json', 'yaml'] | None = None,
    ) -> Imported:
        """Create or replace the object."""
        return cast('Imported', await self.send('PUT', f"/sandboxes/{self.part(sandbox_id)}/objects/{self.part(kind)}/{self.part(namespace)}/{self.part(name)}", body=body, query=given({'dryRun': dry_run, 'format': format})))

    async def objects_read(
        self,
        sandbox_id: str | int,
        kind: str | int,
        namespace: str | int,
        name: str | int,
        *,
        format: Literal['json', 'yaml'] | None = None,
        tick: int | None = None,
    ) -> dict[str, Any]:
        """Return the object with its status, as an API server does."""
        return cast('dict[str, Any]', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/objects/{self.part(kind)}/{self.part(namespace)}/{self.part(name)}", query=given({'format': format, 'tick': tick})))

    async def pair_read(
        self,
        sandbox_id: str | int,
        *,
        with_: str | None = None,
    ) -> PairVerdict:
        """Return who comes out otherwise in the other branch, as the verdict of a what-if."""
        return cast('PairVerdict', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/pair", query=given({'with': with_})))

    async def pause(
        self,
        sandbox_id: str | int,
    ) -> Done:
        """Pause after the current tick."""
        return cast('Done', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/pause"))

    async def pin(
        self,
        sandbox_id: str | int,
        body: Pin,
    ) -> Done:
        """Pin a pod to a node, or unpin it. A what-if shows the effect beforehand."""
        return cast('Done', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/pin", body=body))

    async def play(
        self,
        sandbox_id: str | int,
        body: Play | None = None,
    ) -> Done:
        """Start the clock of the sandbox."""
        return cast('Done', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/play", body=body))

    async def policy_patch(
        self,
        sandbox_id: str | int,
        body: dict[str, Any] | None = None,
        *,
        dry_run: str | None = None,
        format: Literal['json', 'yaml'] | None = None,
    ) -> Imported:
        """Apply a merge patch to the policy document."""
        return cast('Imported', await self.send('PATCH', f"/sandboxes/{self.part(sandbox_id)}/policy", body=body, query=given({'dryRun': dry_run, 'format': format})))

    async def policy_profiles_read(
        self,
        sandbox_id: str | int,
    ) -> ProfileList:
        """Return, per profile and plug-in, its extension points, weight and args."""
        return cast('ProfileList', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/policy/profiles"))

    async def policy_put(
        self,
        sandbox_id: str | int,
        body: dict[str, Any] | None = None,
        *,
        dry_run: str | None = None,
        format: Literal['json', 'yaml'] | None = None,
    ) -> Imported:
        """Replace the policy."""
        return cast('Imported', await self.send('PUT', f"/sandboxes/{self.part(sandbox_id)}/policy", body=body, query=given({'dryRun': dry_run, 'format': format})))

    async def policy_read(
        self,
        sandbox_id: str | int,
        *,
        format: Literal['json', 'yaml'] | None = None,
        tick: int | None = None,
    ) -> dict[str, Any]:
        """Return the policy in force."""
        return cast('dict[str, Any]', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/policy", query=given({'format': format, 'tick': tick})))

    async def preemption_steps_read(
        self,
        sandbox_id: str | int,
        place: str | int,
    ) -> Preemption | PodPreemption:
        """Return the traced search that chose the victim; its tick is run again for this."""
        return cast('Preemption | PodPreemption', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/preemptions/{self.part(place)}"))

    async def preemptions_read(
        self,
        sandbox_id: str | int,
        *,
        after: str | None = None,
        from_tick: int | None = None,
        limit: int | None = None,
        newest: bool | None = None,
        subject: str | None = None,
        to_tick: int | None = None,
    ) -> EventList:
        """Return the preemptions in order."""
        return cast('EventList', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/preemptions", query=given({'after': after, 'fromTick': from_tick, 'limit': limit, 'newest': newest, 'subject': subject, 'toTick': to_tick})))

    async def redo(
        self,
        sandbox_id: str | int,
    ) -> Done:
        """Redo the edit that was undone last: run again with it."""
        return cast('Done', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/redo"))

    async def registry_read(
        self,
    ) -> Registry:
        """Return every registered strategy, plug-in, sort and process."""
        return cast('Registry', await self.send('GET', f"/registry"))

    async def reproduction_read(
        self,
        sandbox_id: str | int,
        place: str | int,
        *,
        format: Literal['json', 'yaml'] | None = None,
        runs: int | None = None,
        seconds: int | None = None,
    ) -> Reproduction:
        """Return the smallest world that still takes the decision; every step is run."""
        return cast('Reproduction', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/events/{self.part(place)}/reproduction", query=given({'format': format, 'runs': runs, 'seconds': seconds})))

    async def rewind(
        self,
        sandbox_id: str | int,
        body: Rewind,
    ) -> Rewound:
        """Continue from an earlier tick; the later history is kept as a fork."""
        return cast('Rewound', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/rewind", body=body))

    async def samples_read(
        self,
        sandbox_id: str | int,
        *,
        from_tick: int | None = None,
        limit: int | None = None,
        to_tick: int | None = None,
    ) -> SampleList:
        """Return samples in order, thinned when there are more than `limit`."""
        return cast('SampleList', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/samples", query=given({'fromTick': from_tick, 'limit': limit, 'toTick': to_tick})))

    async def sandboxes_change(
        self,
        sandbox_id: str | int,
        body: PatchedChange | None = None,
    ) -> Sandbox:
        """Change the name, the visibility or the kept history."""
        return cast('Sandbox', await self.send('PATCH', f"/sandboxes/{self.part(sandbox_id)}", body=body))

    async def sandboxes_create(
        self,
        body: Create | None = None,
        *,
        skip_errors: bool | None = None,
    ) -> Created:
        """Create a sandbox from a scenario, from files, or empty; it is paused."""
        return cast('Created', await self.send('POST', f"/sandboxes", body=body, query=given({'skipErrors': skip_errors})))

    async def sandboxes_delete(
        self,
        sandbox_id: str | int,
    ) -> None:
        """Delete the sandbox with its history; forks keep their own."""
        await self.send('DELETE', f"/sandboxes/{self.part(sandbox_id)}")

    async def sandboxes_disk_read(
        self,
        sandbox_id: str | int,
    ) -> Use:
        """Return the bytes of the sandbox by purpose."""
        return cast('Use', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/disk"))

    async def sandboxes_imports_list(
        self,
        sandbox_id: str | int,
    ) -> ImportReportList:
        """Return the report of each import, newest first."""
        return cast('ImportReportList', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/imports"))

    async def sandboxes_list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
    ) -> SandboxList:
        """Return your sandboxes, newest change first."""
        return cast('SandboxList', await self.send('GET', f"/sandboxes", query=given({'limit': limit, 'offset': offset})))

    async def sandboxes_read(
        self,
        sandbox_id: str | int,
    ) -> Sandbox:
        """Return the sandbox."""
        return cast('Sandbox', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}"))

    async def scenarios_list(
        self,
    ) -> ScenarioList:
        """Return every scenario, in the library's order."""
        return cast('ScenarioList', await self.send('GET', f"/scenarios"))

    async def script_file_read(
        self,
        sandbox_id: str | int,
    ) -> Any:
        """Return the lesson with its first world as one file, which plays the same anywhere."""
        return cast('Any', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/script/file", accept='application/yaml'))

    async def script_read(
        self,
        sandbox_id: str | int,
    ) -> Scenario:
        """Return the lesson written here, else the one of its files, else of the library."""
        return cast('Scenario', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/script"))

    async def script_write(
        self,
        sandbox_id: str | int,
        body: Script,
    ) -> Scenario:
        """Save the stops; the decisions between each stop and its answer become expectations."""
        return cast('Scenario', await self.send('PUT', f"/sandboxes/{self.part(sandbox_id)}/script", body=body))

    async def shadow_decision_read(
        self,
        sandbox_id: str | int,
        event: str | int,
        *,
        seconds: int | None = None,
    ) -> Opened:
        """Return a real decision, the engine's decision, and the smallest world that shows it."""
        return cast('Opened', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/shadow/{self.part(event)}", query=given({'seconds': seconds})))

    async def shadow_read(
        self,
        sandbox_id: str | int,
        *,
        most: int | None = None,
        seconds: int | None = None,
    ) -> Agreement:
        """Return how many decisions agree, by kind, and each one that differs."""
        return cast('Agreement', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/shadow", query=given({'most': most, 'seconds': seconds})))

    async def shares_create(
        self,
        sandbox_id: str | int,
        body: NewLink | None = None,
    ) -> MadeLink:
        """Create one; only this answer contains its secret."""
        return cast('MadeLink', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/shares", body=body))

    async def shares_delete(
        self,
        sandbox_id: str | int,
        link_id: str | int,
    ) -> None:
        """Delete the link; people who came by it lose access."""
        await self.send('DELETE', f"/sandboxes/{self.part(sandbox_id)}/shares/{self.part(link_id)}")

    async def shares_list(
        self,
        sandbox_id: str | int,
    ) -> LinkList:
        """Return the links, newest first; for the owner only."""
        return cast('LinkList', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/shares"))

    async def shares_open(
        self,
        body: OpenLink,
    ) -> Sandbox:
        """Open a link: the user may see the sandbox from now on."""
        return cast('Sandbox', await self.send('POST', f"/shares/open", body=body))

    async def speed(
        self,
        sandbox_id: str | int,
        body: Speed,
    ) -> Done:
        """Set the speed."""
        return cast('Done', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/speed", body=body))

    async def state_read(
        self,
        sandbox_id: str | int,
        *,
        tick: int | None = None,
    ) -> PageState:
        """Return every row of the page at a tick."""
        return cast('PageState', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/state", query=given({'tick': tick})))

    async def step(
        self,
        sandbox_id: str | int,
        body: StepRequest | None = None,
        *,
        wait: int | None = None,
    ) -> Stepping:
        """Run ticks, up to a tick or to an event; answers at once, or with `wait` when done."""
        return cast('Stepping', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/step", body=body, query=given({'wait': wait})))

    async def tables_read(
        self,
        sandbox_id: str | int,
        table: str | int,
        *,
        fields: Mapping[str, str] | None = None,
        group: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        search: str | None = None,
        sort: str | None = None,
        tick: int | None = None,
    ) -> Table:
        """Return a page of the table."""
        return cast('Table', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/tables/{self.part(table)}", query=given({**(fields or {}), 'group': group, 'limit': limit, 'offset': offset, 'search': search, 'sort': sort, 'tick': tick})))

    async def tokens_create(
        self,
        body: NewToken,
    ) -> MadeToken:
        """Create one; only this answer contains its secret."""
        return cast('MadeToken', await self.send('POST', f"/tokens", body=body))

    async def tokens_delete(
        self,
        token_id: str | int,
    ) -> None:
        """Revoke a token, and the tokens that were made with it."""
        await self.send('DELETE', f"/tokens/{self.part(token_id)}")

    async def tokens_list(
        self,
    ) -> TokenList:
        """Return the tokens, newest first, without secrets."""
        return cast('TokenList', await self.send('GET', f"/tokens"))

    async def traces_preview(
        self,
        body: TraceQuestion,
    ) -> TracePreviews:
        """Return a preview of the traces among the files; changes nothing."""
        return cast('TracePreviews', await self.send('POST', f"/traces/preview", body=body))

    async def twins_create(
        self,
        body: Twin | None = None,
    ) -> Sandbox:
        """Create a twin of a real cluster, or of a recording (paused)."""
        return cast('Sandbox', await self.send('POST', f"/twins", body=body))

    async def unarchive(
        self,
        sandbox_id: str | int,
    ) -> Sandbox:
        """Restore an archived sandbox under its address, paused."""
        return cast('Sandbox', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/unarchive"))

    async def undo(
        self,
        sandbox_id: str | int,
    ) -> Done:
        """Undo the last edit: run again without it, up to the present tick."""
        return cast('Done', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/actions/undo"))

    async def what_ifs_create(
        self,
        sandbox_id: str | int,
        body: WhatIfBegin,
        *,
        wait: int | None = None,
    ) -> WhatIfState:
        """Start a what-if, and return the workloads whose outcome differs at the horizon."""
        return cast('WhatIfState', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/what-ifs", body=body, query=given({'wait': wait})))

    async def what_ifs_discard(
        self,
        sandbox_id: str | int,
        what_if_id: str | int,
    ) -> WhatIfState:
        """Discard the what-if; the run stays as it is."""
        return cast('WhatIfState', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/what-ifs/{self.part(what_if_id)}/discard"))

    async def what_ifs_keep(
        self,
        sandbox_id: str | int,
        what_if_id: str | int,
    ) -> KeptWhatIf:
        """Keep the what-if: continue from its tick with its changes; the later history becomes a fork."""
        return cast('KeptWhatIf', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/what-ifs/{self.part(what_if_id)}/keep"))

    async def what_ifs_list(
        self,
        sandbox_id: str | int,
        *,
        limit: int | None = None,
    ) -> WhatIfs:
        """Return the newest what-ifs, with the totals of their verdicts."""
        return cast('WhatIfs', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/what-ifs", query=given({'limit': limit})))

    async def what_ifs_patch(
        self,
        sandbox_id: str | int,
        what_if_id: str | int,
        body: WhatIfFiles,
    ) -> WhatIfPatch:
        """Return the changes as a diff of the files, with comments and lines kept."""
        return cast('WhatIfPatch', await self.send('POST', f"/sandboxes/{self.part(sandbox_id)}/what-ifs/{self.part(what_if_id)}/patch", body=body))

    async def what_ifs_read(
        self,
        sandbox_id: str | int,
        what_if_id: str | int,
        *,
        wait: int | None = None,
    ) -> WhatIfState:
        """Return a what-if with its verdict; while it runs, a 202 with the verdict so far."""
        return cast('WhatIfState', await self.send('GET', f"/sandboxes/{self.part(sandbox_id)}/what-ifs/{self.part(what_if_id)}", query=given({'wait': wait})))
