"""The API's types. Made by `manage.py apitypes` from the schema; not edited by hand."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


ArrivalsEnum: TypeAlias = Literal['known', 'continued']


BetterEnum: TypeAlias = Literal['low', 'high']


BlankEnum: TypeAlias = Literal['']


ClusterChangeChangeEnum: TypeAlias = Literal['lose', 'recover']


ConvertedStack: TypeAlias = Literal['kueue', 'yunikorn']


ExperimentRole: TypeAlias = Literal['owner', 'viewer']


ExperimentState: TypeAlias = Literal['running', 'done', 'failed', 'cancelled']


LevelEnum: TypeAlias = Literal['error', 'unsupported', 'warning']


MemberRole: TypeAlias = Literal['editor', 'viewer']


NodeChangeChangeEnum: TypeAlias = Literal['add', 'cordon', 'uncordon', 'drain', 'fail', 'recover']


NullEnum: TypeAlias = None


OutcomeEnum: TypeAlias = Literal['simulated', 'kept', 'configuration', 'refused']


OverEnum: TypeAlias = Literal['mean', 'every']


ReadsEnum: TypeAlias = Literal['annotations', 'sleep', 'deadline', 'sleep-deadline']


RunStateEnum: TypeAlias = Literal['waiting', 'running', 'done', 'failed', 'cancelled']


SandboxRole: TypeAlias = Literal['owner', 'editor', 'viewer']


ScopeEnum: TypeAlias = Literal['read', 'write', 'admin']


SourceEnum: TypeAlias = Literal['simulated', 'recording', 'cluster']


SpanStateEnum: TypeAlias = Literal['waiting', 'running', 'finished']


Stack: TypeAlias = Literal['kueue', 'yunikorn', 'kube']


VerdictEnum: TypeAlias = Literal['improved', 'no improvement found', 'unmet']


VerdictsEnum: TypeAlias = Literal['same', 'earlier', 'later', 'never', 'only']


VisibilityEnum: TypeAlias = Literal['private', 'public']


WhyEnum: TypeAlias = Literal['noFile', 'unwritable', 'action']


class AdviceAnswer(TypedDict):
    """What to set, and why to believe it."""

    verdict: VerdictEnum
    summary: str
    edits: list[AdviceEdit]
    rows: list[AdviceRow]
    constraints: list[AdviceConstraint]
    sensitivity: list[AdviceNear]
    front: list[AdviceFrontPoint]
    gain: AdviceMean | None
    trail: list[list[float]]
    settings: int
    tried: int
    dropped: int
    unrunnable: NotRequired[int]
    runs: int
    proofRuns: int
    point: list[int]
    seeds: list[int]
    heldOut: list[int]
    patches: str
    undo: str


class AdviceBound(TypedDict):
    """A constraint in numbers: bounds of a measure, or how much worse it may become."""

    measure: str
    min: NotRequired[float]
    max: NotRequired[float]
    over: NotRequired[OverEnum]
    loses: NotRequired[float]


class AdviceConstraint(TypedDict):
    """One constraint on seeds that the search did not use."""

    text: str
    constraint: NotRequired[AdviceBound]
    before: float | None
    after: float | None
    heldBefore: bool
    heldAfter: bool


class AdviceEdit(TypedDict):
    """One edit, and what leaving it out alone does."""

    object: str
    field: str
    before: str
    after: str
    leftOut: str
    effect: dict[str, AdviceMean]
    needed: bool


class AdviceEstimate(TypedDict):
    """What a search would take, before it is started."""

    settings: int
    runs: int
    secondsPerRun: float
    cpuSeconds: float


class AdviceFrontPoint(TypedDict):
    """A setting that no other one beats in every objective."""

    name: str
    edits: list[str]
    values: dict[str, float]


class AdviceMean(TypedDict):
    """A mean over seeds and its 95% interval; null with one seed."""

    count: int
    mean: float
    low: float | None
    high: float | None


class AdviceNear(TypedDict):
    """A setting next to the answer."""

    text: str
    change: float
    holds: bool


class AdviceRow(TypedDict):
    """One measure before and after; held = on seeds that the search did not use."""

    measure: str
    better: BetterEnum | BlankEnum
    before: AdviceMean | None
    after: AdviceMean | None
    heldBefore: AdviceMean | None
    heldAfter: AdviceMean | None
    heldDifference: AdviceMean | None


class AppliedRepair(TypedDict):
    """A repair to apply, as an answer offered it."""

    said: NotRequired[Said]
    file: str
    line: NotRequired[int]
    old: NotRequired[str]
    new: NotRequired[str]
    document: NotRequired[str]


class AssertionResult(TypedDict):
    """An assertion about one variant; null = a simulation cannot show it."""

    variant: int
    text: str
    holds: bool | None
    value: float | None


class Audit(TypedDict):
    """One line of the audit log."""

    at: str
    who: str
    action: str
    subject: str
    detail: dict[str, Any]


class AuditList(TypedDict):
    """The newest lines, newest first."""

    items: list[Audit]


class Beside(TypedDict):
    """Another policy that a stop is run on with, beside the run itself."""

    title: dict[str, str]
    policy: dict[str, Any]
    expect: NotRequired[list[dict[str, Any]]]
    reports: NotRequired[list[str]]


class Branch(TypedDict):
    """One branch."""

    id: str
    title: str
    branch: str
    stack: str
    tick: int


class ChangedFile(TypedDict):
    """A file as it is after the changes."""

    name: str
    text: str | None


class Checkpoint(TypedDict):
    """A stop of a lesson; texts by language tag."""

    at: str
    atMs: int
    say: dict[str, str]
    ask: dict[str, str]
    answer: dict[str, str]
    choices: list[dict[str, str]]
    right: int | None
    beside: list[Beside]
    untilMs: int
    switch: str
    spot: list[str]
    notes: dict[str, str]
    shownMs: int | None


class Cluster(TypedDict):
    """A cluster that may be followed."""

    name: str
    sandbox: str | None
    followed: bool


class ClusterChange(TypedDict):
    """A worker cluster and what happens to the connection to it."""

    name: str
    change: ClusterChangeChangeEnum


class ClusterList(TypedDict):
    """The clusters that you may follow; none where the operator names none."""

    items: list[Cluster]


class ColumnPreview(TypedDict):
    """A column that a queue may be chosen by."""

    name: str
    distinct: int
    values: list[Counted]


class Comparison(TypedDict):
    """Two or more branches; the first is what the others are held against."""

    branches: list[Branch]
    fromTick: int
    toTick: int
    historyFrom: int
    sameSubjects: bool
    differences: list[Difference | None]
    counts: list[OutcomeCounts]
    workloads: list[OutcomeDiff]
    moreWorkloads: int
    preemptions: list[Preemptions]
    series: Series
    totals: list[Total]


class Conversion(TypedDict):
    """Files to be converted, for a stack or for the sandbox that they would come to."""

    files: list[File]
    into: NotRequired[str]
    stack: NotRequired[ConvertedStack | BlankEnum]


class Conversions(TypedDict):
    """What comes of files when they are converted."""

    systems: list[str]
    changed: list[str]
    kinds: dict[str, int]
    losses: list[PlacedLoss]
    files: list[ConvertedFile]
    unread: list[Finding]


class Convert(TypedDict):
    """Which stack the new sandbox runs, and its title if not one made up."""

    stack: ConvertedStack
    title: NotRequired[str]


class Converted(TypedDict):
    """The new sandbox, what was found in it, and what could not be carried over."""

    id: str
    title: str
    branch: str
    parent: str | None
    parentRevision: int
    scenario: str
    owner: str
    role: SandboxRole
    visibility: VisibilityEnum
    stack: Stack
    seed: str
    revision: int
    tick: int
    tMs: int
    tickMs: int
    playing: bool
    speed: float
    until: str
    problem: str
    hash: str
    firstTick: int
    keepTicks: int
    keepDays: int
    archived: bool
    source: SourceEnum
    sourceName: str
    lastTick: int | None
    createdAt: str
    changedAt: str
    findings: list[Finding]
    losses: list[Loss]


class ConvertedFile(TypedDict):
    """A file to take instead of those that were given."""

    name: str
    text: str


class Counted(TypedDict):
    """A value, and how many jobs have it."""

    value: str
    jobs: int


class CoursePlace(TypedDict):
    """The place of a lesson in a course: the lessons of one text, in the text's
    order.
    """

    text: str
    place: int
    of: int


class Create(TypedDict):
    """A new sandbox: of a scenario of the library, of files, or empty."""

    title: NotRequired[str]
    scenario: NotRequired[str]
    files: NotRequired[list[File]]
    traces: NotRequired[Traces]
    runTimes: NotRequired[RunTimes]
    seed: NotRequired[int | None]
    policy: NotRequired[dict[str, Any]]
    release: NotRequired[Release]
    skipErrors: NotRequired[bool]
    convert: NotRequired[bool]


class Created(TypedDict):
    """A sandbox just made, and what was found in its files."""

    id: str
    title: str
    branch: str
    parent: str | None
    parentRevision: int
    scenario: str
    owner: str
    role: SandboxRole
    visibility: VisibilityEnum
    stack: Stack
    seed: str
    revision: int
    tick: int
    tMs: int
    tickMs: int
    playing: bool
    speed: float
    until: str
    problem: str
    hash: str
    firstTick: int
    keepTicks: int
    keepDays: int
    archived: bool
    source: SourceEnum
    sourceName: str
    lastTick: int | None
    createdAt: str
    changedAt: str
    findings: list[Finding]
    report: Report


class Curves(TypedDict):
    """One branch over the ticks; null where nothing is known."""

    pending: list[float | None]
    running: list[float | None]
    waitP50Ms: list[float | None]
    utilisation: dict[str, list[float | None]]
    shares: dict[str, list[float | None]]
    used: dict[str, dict[str, list[float | None]]]


class Database(TypedDict):
    """What the whole database takes; free = space in it for new rows (SQLite)."""

    bytes: int
    free: int


class Decided(TypedDict):
    """One decision."""

    tMs: int
    type: str
    subject: str
    by: str
    reason: str
    message: str


class Delete(TypedDict):
    """Objects to delete."""

    revision: NotRequired[int | None]
    objects: list[Key]


class Difference(TypedDict):
    """The first decision that is not the same; null = nothing is decided there."""

    tick: int
    tMs: int
    ours: Decided | None
    theirs: Decided | None


class Disk(TypedDict):
    """What your sandboxes take on disk; what a fork shares is its parent's."""

    items: list[Use]
    bytes: int
    database: Database


class Done(TypedDict):
    """The revision that an action made; the diff to it is on its way to everyone."""

    revision: int
    tick: int


class DryImport(TypedDict):
    """What an import would say, errors first; nothing was changed."""

    files: list[ConvertedFile]
    findings: list[Repairable]
    errors: int
    left: int
    report: Report
    refused: Said | None
    stacks: list[str]
    untimed: list[Untimed]


class DryImportQuestion(TypedDict):
    """Files as a new sandbox or an import would get them."""

    files: list[File]
    into: NotRequired[str]
    policy: NotRequired[dict[str, Any]]
    traces: NotRequired[Traces]
    runTimes: NotRequired[RunTimes]
    convert: NotRequired[bool]
    repairs: NotRequired[list[AppliedRepair]]
    repairAll: NotRequired[bool]


class Entry(TypedDict):
    """A strategy or plug-in that is enrolled."""

    family: str
    name: str
    label: str
    help: str
    parameters: dict[str, Any] | None


class Event(TypedDict):
    """One decision or edit; `data` holds what only its type has."""

    revision: int
    seq: int
    tick: int
    tMs: int
    type: str
    subject: str
    by: str
    reason: str
    message: str
    said: NotRequired[Said]
    data: dict[str, Any]


class EventList(TypedDict):
    """Events in order; `next` is the revision and seq to go on after."""

    items: list[Event]
    next: str


class Experiment(TypedDict):
    """An experiment as lists show it."""

    id: str
    title: str
    owner: str
    role: ExperimentRole
    visibility: VisibilityEnum
    state: ExperimentState
    isSearch: bool
    total: int
    done: int
    failed: int
    variants: list[str]
    seeds: list[str]
    horizonMs: int
    limitMs: int
    createdAt: str
    finishedAt: str | None


class ExperimentList(TypedDict):
    """A page of experiments, newest first."""

    items: list[Experiment]
    remaining: int


class File(TypedDict):
    """One file: its name, for messages, and its text, or its bytes in base64. Bytes
    may be packed (`.gz`, `.zip`, `.tar`, `.tgz`); they are unpacked here.
    """

    name: NotRequired[str]
    text: NotRequired[str]
    data: NotRequired[str]


class FileOutcome(TypedDict):
    """What one file gave: its documents by what became of them, and by kind."""

    file: str
    simulated: int
    kept: int
    configuration: int
    refused: int
    kinds: dict[str, int]


class Finding(TypedDict):
    """Something that the importer found: its first place, and how often."""

    level: LevelEnum
    file: str
    line: int
    field: str
    problem: str
    count: int
    repairs: NotRequired[list[Repair]]


class FindingGroup(TypedDict):
    """One sort of finding: how often, the first places, what it changes."""

    level: LevelEnum
    problem: str
    effect: str
    code: NotRequired[str]
    count: int
    places: list[Place]
    said: NotRequired[Said | None]
    repairs: NotRequired[list[Repair]]


class FollowerNews(TypedDict):
    """One who follows, and the stops they answered."""

    number: int
    name: str
    answered: list[int]


class ForecastOptions(TypedDict):
    """How a forecast is asked for."""

    futures: NotRequired[int]
    horizonMs: NotRequired[int]
    seed: NotRequired[int]
    seconds: NotRequired[int]
    arrivals: NotRequired[ArrivalsEnum]
    withinMs: NotRequired[int | None]
    tick: NotRequired[int | None]


class Fork(TypedDict):
    """Where to fork; now when there is no tick."""

    tick: NotRequired[int | None]
    title: NotRequired[str]


class Group(TypedDict):
    """One value of the field that parts the rows."""

    value: str
    count: int


class Guess(TypedDict):
    """What a follower expects: the index of a choice at the index of a stop."""

    stop: int
    choice: int


class Hash(TypedDict):
    """SHA-256 of the world's canonical msgpack."""

    hash: str
    revision: int
    tick: int


class Import(TypedDict):
    """Files, or manifests as JSON objects, or both."""

    revision: NotRequired[int | None]
    files: NotRequired[list[File]]
    traces: NotRequired[Traces]
    runTimes: NotRequired[RunTimes]
    objects: NotRequired[list[dict[str, Any]]]
    skipErrors: NotRequired[bool]
    dryRun: NotRequired[bool]
    convert: NotRequired[bool]


class ImportReport(TypedDict):
    """What came of one import."""

    revision: int
    tick: int
    at: str
    who: str
    report: Report


class ImportReportList(TypedDict):
    """The reports of a sandbox, newest first."""

    items: list[ImportReport]


class Imported(TypedDict):
    """What an import did, or with dryRun would do."""

    created: list[str]
    changed: list[str]
    unchanged: list[str]
    policy: bool
    findings: list[Finding]
    report: Report
    revision: int


class Incident(TypedDict):
    """A window of a twin, and what would have been otherwise in it."""

    fromTick: int
    toTick: int
    edits: list[Patch]
    seconds: NotRequired[int]


class Interval(TypedDict):
    """A mean over seeds and its 95% interval; null with one run alone."""

    count: int
    mean: float
    low: float | None
    high: float | None


class JobPreview(TypedDict):
    """One job as it would come; times in seconds."""

    name: str
    queue: str
    submitS: float
    runS: float | None
    limitS: float | None
    pods: int | None
    requests: dict[str, str]
    user: str


class Join(TypedDict):
    """A code that was said, and who this browser was when it joined before."""

    code: str
    follower: NotRequired[str]
    name: NotRequired[str | None]
    notes: NotRequired[bool]


class Joined(TypedDict):
    """What was joined, and the name under which to guess."""

    sandbox: str
    follower: str
    number: int


class KeptWhatIf(TypedDict):
    """The run once it is that of the what-if."""

    revision: int
    tick: int
    fork: str | None


class Key(TypedDict):
    """An object by name."""

    kind: str
    namespace: NotRequired[str]
    name: str


class Kind(TypedDict):
    """A kind of object: which stacks simulate it, or why none does."""

    kind: str
    group: str
    versions: list[str]
    plural: str
    level: str
    stacks: list[str]
    namespaced: bool
    note: str


class KindOutcome(TypedDict):
    """What became of the documents of a kind, and what that changes for decisions."""

    kind: str
    outcome: OutcomeEnum
    count: int
    effect: str
    unread: list[UnreadField]


class LeftOut(TypedDict):
    """A change that is in no file."""

    kind: str
    namespace: str
    name: str
    why: WhyEnum


class Lesson(TypedDict):
    """A lesson; `code` is shown to the owner of the sandbox alone."""

    running: bool
    version: int
    code: str | None
    view: str
    query: str
    revealed: list[int]
    followers: int
    tallies: list[Tally]
    people: list[FollowerNews]


class Link(TypedDict):
    """A link; its secret is only in the answer that made it."""

    id: int
    mayFork: bool
    createdAt: str
    expiresAt: str | None


class LinkList(TypedDict):
    """The links to a sandbox."""

    items: list[Link]


class Look(TypedDict):
    """Where the presenter's page is, and which answers were shown."""

    view: str
    query: NotRequired[str]
    revealed: NotRequired[list[int]]


class Loss(TypedDict):
    """Something that the other stack has no word for."""

    subject: str
    lost: str
    said: Said


class MadeLink(TypedDict):
    """A link just made."""

    id: int
    mayFork: bool
    createdAt: str
    expiresAt: str | None
    secret: str


class MadeToken(TypedDict):
    """A token just made."""

    id: int
    name: str
    scope: ScopeEnum
    madeWith: str
    createdAt: str
    expiresAt: str | None
    usedAt: str | None
    token: str


class Me(TypedDict):
    """Who asks, and whether this is a server that people sign in to."""

    user: str
    server: bool
    scope: ScopeEnum
    guest: bool
    reachedAt: str | None


class Member(TypedDict):
    """Somebody who was let in."""

    user: str
    role: MemberRole


class MemberList(TypedDict):
    """Everybody who was let in."""

    items: list[Member]


class Move(TypedDict):
    """What moves, and where to. A Workload (`workload`) goes to a LocalQueue of its
    namespace by name, or to "ClusterQueue/NAME". Anything that moves (`object`)
    is named by its key; a ClusterQueue or Cohort goes to "Cohort/NAME", or
    "Cohort/" for none.
    """

    revision: NotRequired[int | None]
    workload: NotRequired[str]
    object: NotRequired[str]
    to: str


class NewLink(TypedDict):
    """A link to make."""

    mayFork: NotRequired[bool]
    expiresAt: NotRequired[str | None]


class NewToken(TypedDict):
    """A token to make."""

    name: str
    scope: NotRequired[ScopeEnum]
    expiresAt: NotRequired[str | None]


class NodeChange(TypedDict):
    """A node and what happens to it; a new one has a size, or that of another."""

    name: str
    change: NodeChangeChangeEnum
    like: NotRequired[str]
    labels: NotRequired[dict[str, str]]
    allocatable: NotRequired[dict[str, str]]


class ObjectKey(TypedDict):
    """The key of an object that is there."""

    kind: str
    namespace: NotRequired[str]
    name: str


class ObjectMove(TypedDict):
    """A Workload that goes to another queue, a queue or cohort to another cohort."""

    kind: str
    namespace: NotRequired[str]
    name: str
    to: ObjectKey


class ObjectPatch(TypedDict):
    """A merge patch of one object."""

    kind: str
    namespace: NotRequired[str]
    name: str
    body: dict[str, Any]


class Objective(TypedDict):
    """What the front is of."""

    measure: str
    better: BetterEnum


class OneExperiment(TypedDict):
    """An experiment with what came out so far."""

    id: str
    title: str
    owner: str
    role: ExperimentRole
    visibility: VisibilityEnum
    state: ExperimentState
    isSearch: bool
    total: int
    done: int
    failed: int
    variants: list[str]
    seeds: list[str]
    horizonMs: int
    limitMs: int
    createdAt: str
    finishedAt: str | None
    document: dict[str, Any]
    objectives: list[Objective]
    better: dict[str, Literal['low', 'high']]
    lines: list[ResultLine]
    verdicts: list[AssertionResult]
    search: SearchState | None


class Open(TypedDict):
    """At which tick; null = where the run ended."""

    tick: NotRequired[int | None]


class OpenLink(TypedDict):
    """The secret of a link."""

    secret: str


class OutcomeCounts(TypedDict):
    """How many workloads ended how in another branch."""

    same: int
    earlier: int
    later: int
    never: int
    only: int


class OutcomeDiff(TypedDict):
    """A workload whose outcome differs; one verdict per other branch."""

    subject: str
    verdicts: list[VerdictsEnum]
    timelines: list[Timeline | None]


class Patch(TypedDict):
    """A merge patch of one object."""

    kind: str
    namespace: NotRequired[str]
    name: str
    patch: dict[str, Any]


class PatchedChange(TypedDict):
    """What may be changed of a sandbox itself."""

    title: NotRequired[str]
    visibility: NotRequired[VisibilityEnum]
    keepTicks: NotRequired[int]
    keepDays: NotRequired[int]


class Picture(TypedDict):
    """What a run of the scenario looked like, for its card."""

    queues: list[list[int]]
    nodes: list[int]
    waiting: list[int]
    loop: int
    workloads: int
    nodeCount: int
    topics: list[str]


class Pin(TypedDict):
    """A pod and the only node that it may run on."""

    pod: str
    node: str


class Place(TypedDict):
    """A place in a file."""

    file: str
    line: int
    field: str


class PlacedLoss(TypedDict):
    """Something that is not carried over, and where it was said."""

    subject: str
    lost: str
    said: Said
    file: str
    line: int


class Play(TypedDict):
    """Speed in ticks per second, 0 = as fast as it goes."""

    speed: NotRequired[float | None]


class PodPin(TypedDict):
    """A pod and the only node that it may run on."""

    namespace: str
    name: str
    node: str


class Preempted(TypedDict):
    """A preemption."""

    tick: int
    tMs: int
    subject: str
    by: str
    reason: str


class Preemptions(TypedDict):
    """Preemptions that another branch has and the first has not, and the reverse."""

    same: int
    added: list[Preempted]
    removed: list[Preempted]


class Registry(TypedDict):
    """Everything that can be chosen, for forms and documentation."""

    entries: list[Entry]
    kinds: list[Kind]
    policy: dict[str, Any]
    snippets: dict[str, str]


class Release(TypedDict):
    """A release of each scheduler, such as 0.19.2; docs/releases.md lists them."""

    kueue: NotRequired[str]
    kubernetes: NotRequired[str]
    yunikorn: NotRequired[str]


class Repair(TypedDict):
    """One way to repair a finding. With a `line` (from 1) `new` takes the place of
    `old`, which stands there once as a whole word; without one `document` is
    added at the end of the file, which may be new.
    """

    said: Said
    file: str
    line: int
    old: str
    new: str
    document: str


class Repairable(TypedDict):
    """A finding at its place, and the choices that repair it: one is the one repair."""

    level: LevelEnum
    place: Place
    problem: str
    said: Said
    effect: str
    code: str
    repairs: list[Repair]


class Report(TypedDict):
    """What was taken, what was kept, what was left out and why."""

    files: list[FileOutcome]
    kinds: list[KindOutcome]
    findings: list[FindingGroup]


class Reproduction(TypedDict):
    """The smallest world that still shows a decision."""

    found: bool
    decision: str
    atMs: int
    before: int
    after: int
    runs: int
    minimal: bool
    documents: list[dict[str, Any]]


class ResultLine(TypedDict):
    """One variant over all seeds that have ended."""

    variant: int
    runs: int
    measures: dict[str, Interval]
    differences: dict[str, Interval]
    front: bool


class Results(TypedDict):
    """Runs in the order in which they ended; ask again after `next`."""

    items: list[Run]
    next: int
    state: ExperimentState


class Rewind(TypedDict):
    """Which tick to go on from."""

    tick: int


class Rewound(TypedDict):
    """Where the sandbox is now, and the fork that keeps what came after."""

    revision: int
    tick: int
    fork: str


class Role(TypedDict):
    """What somebody is to be."""

    role: MemberRole


class Run(TypedDict):
    """One run; `measures` by flat name, empty while there are none."""

    number: int
    variant: int
    seed: str
    state: RunStateEnum
    ended: int
    hash: str
    tick: int | None
    endMs: int | None
    settled: bool | None
    problems: list[str]
    problemsSaid: list[Said]
    error: str
    said: Said
    measures: dict[str, float]


class RunTimeRule(TypedDict):
    """How long work takes that matches all terms; a term may hold `*`, "" is any."""

    takes: str
    kind: NotRequired[str]
    namespace: NotRequired[str]
    name: NotRequired[str]
    queue: NotRequired[str]
    image: NotRequired[str]
    labels: NotRequired[dict[str, str]]


class RunTimes(TypedDict):
    """How long work takes that comes without a run time; annotations count first."""

    rules: NotRequired[list[RunTimeRule]]
    like: NotRequired[list[File]]
    reads: NotRequired[ReadsEnum | NullEnum]
    strict: NotRequired[bool]


class Said(TypedDict):
    """A sentence: its code, the same in English, and what fills the holes of its
    words. A hole is a text, a number, another such sentence, `{resource,
    amount}`, `{key}` of an object, `{place}` in a line from 1, or `{items, all}`.
    """

    code: str
    text: str
    holes: dict[str, Any]


class SampleList(TypedDict):
    """SampleList"""

    items: list[Sample]


class Sandbox(TypedDict):
    """A sandbox as lists show it."""

    id: str
    title: str
    branch: str
    parent: str | None
    parentRevision: int
    scenario: str
    owner: str
    role: SandboxRole
    visibility: VisibilityEnum
    stack: Stack
    seed: str
    revision: int
    tick: int
    tMs: int
    tickMs: int
    playing: bool
    speed: float
    until: str
    problem: str
    hash: str
    firstTick: int
    keepTicks: int
    keepDays: int
    archived: bool
    source: SourceEnum
    sourceName: str
    lastTick: int | None
    createdAt: str
    changedAt: str


class SandboxList(TypedDict):
    """A page of sandboxes, newest change first."""

    items: list[Sandbox]
    remaining: int


class Scenario(TypedDict):
    """A scenario of the library; texts by language tag."""

    name: str
    title: dict[str, str]
    summary: dict[str, str]
    lesson: bool
    stack: str
    seed: str
    picture: Picture | None
    courses: list[CoursePlace]
    checkpoints: list[Checkpoint]


class ScenarioList(TypedDict):
    """The library, in its order."""

    items: list[Scenario]


class Script(TypedDict):
    """A lesson: its title, and its stops in their order."""

    title: dict[str, str]
    summary: NotRequired[dict[str, str]]
    checkpoints: list[Stop]


class SearchStanding(TypedDict):
    """A setting that has all its runs, before anything is proven."""

    variant: int
    missed: list[str]
    missedConstraints: list[AdviceBound]
    values: dict[str, float]


class SearchState(TypedDict):
    """How far a search is, and its answer when it has ended."""

    searching: bool
    taken: bool
    mostRuns: int
    best: list[SearchStanding]
    compared: int
    keeping: int
    failures: list[str]
    failuresSaid: list[Said]
    error: str
    said: Said
    answer: AdviceAnswer | None
    answerRun: int | None


class Series(TypedDict):
    """Curves over the same ticks."""

    ticks: list[int]
    branches: list[Curves]


class Span(TypedDict):
    """A span of a timeline."""

    state: SpanStateEnum
    fromMs: int
    untilMs: int | None


class Speed(TypedDict):
    """Speed in ticks per second, 0 = as fast as it goes."""

    speed: float


class Start(TypedDict):
    """A new experiment: its document, or a file that holds it, and texts it names."""

    document: NotRequired[dict[str, Any]]
    files: NotRequired[list[File]]
    title: NotRequired[str]
    visibility: NotRequired[VisibilityEnum]


class StepRequest(TypedDict):
    """A number of ticks; or a tick to reach, an event to see, whichever comes first."""

    ticks: NotRequired[int]
    untilTick: NotRequired[int | None]
    untilEvent: NotRequired[UntilEvent | None]
    speed: NotRequired[float]


class Stepping(TypedDict):
    """The revision from which a step runs, and the tick that ends it at the latest.
    When it is done, the revision and tick at which it ended.
    """

    revision: int
    tick: int
    untilTick: int | None
    done: bool


class Stop(TypedDict):
    """A stop; lengths of time from the start as "29s", texts by language tag."""

    at: str
    shown: NotRequired[str]
    say: dict[str, str]
    ask: NotRequired[dict[str, str]]
    answer: NotRequired[dict[str, str]]
    choices: NotRequired[list[dict[str, str]]]
    right: NotRequired[int | None]
    spot: NotRequired[list[str]]
    notes: NotRequired[dict[str, str]]
    beside: NotRequired[list[Beside]]
    until: NotRequired[str]
    switch: NotRequired[str]


class Submission(TypedDict):
    """A manifest that is not submitted yet, and where it might be sent."""

    futures: NotRequired[int]
    horizonMs: NotRequired[int]
    seed: NotRequired[int]
    seconds: NotRequired[int]
    arrivals: NotRequired[ArrivalsEnum]
    withinMs: NotRequired[int | None]
    tick: NotRequired[int | None]
    files: NotRequired[list[File]]
    objects: NotRequired[list[dict[str, Any]]]
    queues: NotRequired[list[str]]


class Table(TypedDict):
    """A page of rows, as on the live page."""

    items: list[dict[str, Any]]
    total: int
    groups: list[Group]
    offset: int
    revision: int


class Tally(TypedDict):
    """How many expect it."""

    stop: int
    choice: int
    count: int


class Timeline(TypedDict):
    """What happened to a workload in one branch."""

    arrivedMs: int | None
    firstMs: int | None
    startedMs: int | None
    finishedMs: int | None
    evictions: int
    spans: list[Span]


class Token(TypedDict):
    """A token; its secret is only in the answer that made it."""

    id: int
    name: str
    scope: ScopeEnum
    madeWith: str
    createdAt: str
    expiresAt: str | None
    usedAt: str | None


class TokenList(TypedDict):
    """One's own tokens."""

    items: list[Token]


class Total(TypedDict):
    """One measure: a value per branch, a delta per other branch."""

    measure: str
    better: BetterEnum | NullEnum
    values: list[float | None]
    deltas: list[float | None]


class TracePreview(TypedDict):
    """One trace: what it holds, and what of it would come."""

    file: str
    format: str
    label: str
    jobs: int
    leftOut: int
    nodes: int
    lastS: float
    columns: list[ColumnPreview]
    header: list[str]
    mapping: dict[str, str]
    lacks: list[str]
    queues: list[Counted]
    first: list[JobPreview]
    findings: list[FindingGroup]


class TracePreviews(TypedDict):
    """Every trace among the files."""

    traces: list[TracePreview]
    queues: list[str]
    tableFields: list[str]


class TraceQuestion(TypedDict):
    """Files with traces among them, and the sandbox that they would come to."""

    files: list[File]
    traces: NotRequired[Traces]
    into: NotRequired[str]


class Traces(TypedDict):
    """How the traces among the files are taken; everything has a default."""

    format: NotRequired[str]
    queueBy: NotRequired[str]
    queue: NotRequired[str]
    queues: NotRequired[dict[str, str]]
    pace: NotRequired[float]
    begin: NotRequired[str]
    end: NotRequired[str]
    most: NotRequired[int]
    columns: NotRequired[dict[str, str]]
    totals: NotRequired[bool]
    cpuPerProcessor: NotRequired[str]


class Twin(TypedDict):
    """A new sandbox that shows a real cluster: of a recording's files, or one to
    follow.
    """

    title: NotRequired[str]
    files: NotRequired[list[File]]
    cluster: NotRequired[str]


class UnreadField(TypedDict):
    """A field that is kept and not followed: how often, where first, what it
    changes.
    """

    field: str
    count: int
    effect: str
    code: NotRequired[str]
    place: Place


class UntilEvent(TypedDict):
    """The first event that matches ends the run: one of several types, or one."""

    type: str | list[str]
    subject: NotRequired[str]
    reason: NotRequired[str]


class Untimed(TypedDict):
    """Work whose run time would be assumed."""

    kind: str
    namespace: str
    name: str
    queue: str
    size: str


class Use(TypedDict):
    """What a sandbox takes on disk, in bytes."""

    id: str
    title: str
    archived: bool
    bytes: int
    parts: dict[str, int]


class WhatIfBegin(TypedDict):
    """Changes from a tick on, how far both runs go, and which seeds they draw from."""

    at: NotRequired[int | None]
    changes: list[WhatIfChange]
    horizonMs: NotRequired[int]
    seeds: NotRequired[list[int]]


class WhatIfChange(TypedDict):
    """One change: exactly one of these."""

    patch: NotRequired[ObjectPatch]
    apply: NotRequired[dict[str, Any]]
    delete: NotRequired[ObjectKey]
    policy: NotRequired[dict[str, Any]]
    release: NotRequired[Release]
    move: NotRequired[ObjectMove]
    pin: NotRequired[PodPin]
    node: NotRequired[NodeChange]
    cluster: NotRequired[ClusterChange]
    yaml: NotRequired[str]


class WhatIfFiles(TypedDict):
    """The files that the changes are to be made in."""

    files: list[File]


class WhatIfPatch(TypedDict):
    """The changes as a unified diff of the files."""

    diff: str
    files: list[ChangedFile]
    left: list[LeftOut]


class Explanation(TypedDict):
    """Why a workload is where it is, at this instant. `state`: "pending",
    "reserved", "admitted", "evicted" (its job has not stopped yet), "requeued"
    (evicted and waiting again), "finished", "inactive". `chain` names what it
    passes: LocalQueue, ClusterQueue and cohorts to the root. `decisive` is the
    index of the search that decided. `said` are the sentences with their codes.
    """

    workload: str
    atMs: int
    tick: int
    state: str
    priority: int
    chain: list[NodeName]
    condition: Condition | None
    conditions: list[Condition]
    waiting: Waiting | None
    attempt: FlavorAttempt
    flavors: list[FlavorRow]
    searches: list[PreemptionSearch]
    cost: SearchCost
    decisive: int | None
    sentences: list[str]
    said: list[Sentence]
    topology: list[TopologySearch]
    checks: list[CheckRow]
    clusters: list[ClusterRow]
    usage: list[UsageRow]


class NodeName(TypedDict):
    """A place in the quota tree."""

    kind: str
    name: str


class Condition(TypedDict):
    """A condition as the API shows it."""

    type: str
    status: bool
    reason: str
    message: str
    sinceMs: int


class Waiting(TypedDict):
    """Where a workload stands in its ClusterQueue; positions from 1."""

    position: int
    of: int
    ahead: list[str]
    moreAhead: int
    inadmissible: bool
    sticky: bool
    strategy: str
    notBeforeMs: int | None


class FlavorAttempt(TypedDict):
    """What one admission cycle decides about the workload now. `ran` is False when
    the workload may not be tried; `reason` and `message` say why, and `said` is
    the message with its code. `order` is its turn among `heads`, from 1.
    `status`: "admitted", "preempting", "skipped" (others of the cycle came
    first), "held" (pods of those admitted are waited for) or "refused".
    """

    ran: bool
    status: str
    reason: str
    message: str
    borrow: int
    order: int | None
    heads: list[str]
    targets: list[Victim]
    said: Sentence | None


class Victim(TypedDict):
    """Who is evicted, and why."""

    workload: str
    queue: str
    reason: str
    priority: int
    held: list[Amount]
    message: str
    atMs: int | None
    workLostMs: int


class Amount(TypedDict):
    """An amount of one resource, of one flavor when `flavor` says so."""

    resource: str
    amount: str
    flavor: str


class Sentence(TypedDict):
    """A sentence: its code, the same in English, and what fills the holes of its
    words. A hole is a text, a number, another sentence, `{resource, amount}`,
    `{key}` of an object, `{place}` in a line from 1, or `{items, all}`.
    """

    code: str
    text: str
    holes: dict[str, Any]


class FlavorRow(TypedDict):
    """What one flavor offers a podset for one resource. `verdict`: "fit", "preempt"
    (somebody of the same ClusterQueue goes), "reclaim" (only others go),
    "noCandidates", "noFit", "barred" (taints, affinity, no such flavor),
    "notTried" (an earlier flavor was good enough) or "uncovered" (no quota of
    this resource at all: no numbers). `requested` includes `assigned`, which
    earlier podsets ask of the same. `potential` is what would be available if
    nothing were used. `chain` goes from the ClusterQueue to the root.
    """

    podSet: str
    flavor: str
    resource: str
    verdict: str
    reason: str
    requested: str
    assigned: str
    chosen: bool
    borrow: int
    available: str
    potential: str
    shortfall: str
    chain: list[Level]


class Level(TypedDict):
    """Quota and usage of one node for one flavor and resource. `subtree` is what the
    node and all below bring together, `lendable` the part of it that the parent
    may give to others.
    """

    kind: str
    name: str
    nominal: str
    subtree: str
    used: str
    borrowed: str
    lendable: str
    borrowingLimit: str | None
    lendingLimit: str | None


class PreemptionSearch(TypedDict):
    """One search for victims: its purpose, candidates, steps and result. `purpose`:
    "flavor" (would preemption help here?) or "assignment" (for the whole
    request). `law`: "Classical" or "FairSharing"; `rules` are the strategies of
    fair sharing in their order.
    """

    purpose: str
    law: str
    rules: list[str]
    requests: list[Amount]
    sources: list[Source]
    steps: list[PreemptionStep]
    targets: list[Victim]
    cost: SearchCost


class Source(TypedDict):
    """Where candidates may come from. `relation`: "same" (its own ClusterQueue),
    "hierarchy" (lent from within a subtree where the request is covered),
    "priority" (lent from farther away), "fair" (any borrower of the tree),
    "other" (nobody of it: `why`). `holders` hold what is needed, `candidates` of
    them may be preempted. `why` nobody of it may is a sentence; `code` names it:
    "reclaimNever", "withinNominal", "inactive" or "borrowsNone".
    """

    queue: str
    relation: str
    policy: str
    holders: int
    candidates: int
    code: str
    cells: list[Standing]
    why: str


class Standing(TypedDict):
    """What a node uses of what it brings, for one flavor and resource."""

    kind: str
    name: str
    flavor: str
    resource: str
    used: str
    quota: str


class PreemptionStep(TypedDict):
    """One step of a search, in order. `kind`: "setup", "attempt" (with or without
    borrowing), "round" (a rule of fair sharing), "turn" (whose candidates are
    looked at next), "candidate", "putBack" (a target that may not be needed),
    "failed", "targets". `verdict` of a candidate: "taken", "refused" or
    "skipped"; of a target that is put back: "spared" or "needed". `shares` are
    those after the step.
    """

    kind: str
    headline: str
    sentence: str
    workload: str
    queue: str
    relation: str
    verdict: str
    reason: str
    priority: int | None
    evicted: bool
    reservedMs: int | None
    held: list[Amount]
    test: Test | None
    quotaChecks: list[QuotaCheck]
    fits: bool | None
    borrowing: bool | None
    rule: str
    withinNominal: bool | None
    shares: list[ShareRow]


class Test(TypedDict):
    """The question a candidate was judged by, with its numbers. `kind` "share":
    `rule` of the two, whose shares. "priority": `below` is the priority to be
    under, None if nobody is. "withinNominal": a node of `cells` whose usage is no
    more than its quota has nothing to give back.
    """

    kind: str
    rule: int | None
    ours: NodeName | None
    theirs: NodeName | None
    preemptorShare: float | None
    targetShareBefore: float | None
    targetShareAfter: float | None
    priority: int | None
    below: int | None
    cells: list[Standing]


class QuotaCheck(TypedDict):
    """What is free for a request at one step of a search. `amount` is asked.
    `within_nominal` is what is left of the ClusterQueue's own quota where it may
    not borrow, None where it may.
    """

    resource: str
    amount: str
    flavor: str
    available: str
    withinNominal: str | None


class ShareRow(TypedDict):
    """The weighted share of one node."""

    kind: str
    name: str
    share: float | None
    weight: float
    borrowing: bool


class SearchCost(TypedDict):
    """What searches for victims cost, in work that does not depend on the machine.
    `looked` counts looks at candidates: one that is looked at in two rounds
    counts twice. `simulations` counts how often it was tried whether the
    preemptor fits after a victim was taken out of the usage or put back.
    """

    searches: int
    looked: int
    simulations: int


class TopologySearch(TypedDict):
    """A search for places for one podset, from the highest level down. `empty`: as
    if nobody else had places, which is what preemption could reach. `reason` is
    Kueue's where nothing was found.
    """

    podSet: str
    flavor: str
    empty: bool
    reason: str
    levels: list[TopologyLevel]
    sentence: str
    said: Sentence | None


class TopologyLevel(TypedDict):
    """One level of a search for places; `more` domains are not listed."""

    level: str
    requested: bool
    needed: int
    domains: list[TopologyDomain]
    more: int


class TopologyDomain(TypedDict):
    """A domain in a search for places. `fits` pods of the podset have places there,
    `taken` of them are placed below; `why` it was left, "" where it was taken.
    """

    path: str
    fits: int
    taken: int
    why: str
    said: Sentence | None


class CheckRow(TypedDict):
    """One admission check of a workload; `answers_ms`: when its rule answers.
    `since_ms`: since when it is in its state, None where the status does not say.
    """

    name: str
    state: str
    message: str
    sinceMs: int | None
    answersMs: int | None


class ClusterRow(TypedDict):
    """A worker cluster of a workload's check, in the order of the MultiKueueConfig.
    `state`: what its copy there is, "admitted", "reserved" or "pending"; or why
    there is none: "missing" (no MultiKueueCluster), "lost" (not reached),
    "absent" (no object of it is in this world), "unasked" (not nominated),
    "dropped" (another cluster admitted it), "taken" (the cluster has a Workload
    or job of its own of this name). `reason`, `message` and `since_ms` are of the
    condition that says so. `until_ms`: of "lost", when the workload is taken from
    it; of "unasked", the next round.
    """

    cluster: str
    state: str
    copy: str
    reason: str
    message: str
    sinceMs: int | None
    untilMs: int | None


class UsageRow(TypedDict):
    """A LocalQueue of the ClusterQueue as admission fair sharing orders it. `usage`
    is consumed and pending together, weighted; None is infinite.
    """

    localQueue: str
    weight: float
    usage: float | None
    consumed: dict[str, str]
    pending: dict[str, str]
    ours: bool


class PodExplanation(TypedDict):
    """Where kube-scheduler could place a pod, node by node. `points` is its cycle as
    a strip, from PreEnqueue to PostBind.
    """

    pod: str
    atMs: int
    node: str
    condition: Condition | None
    queue: str
    nominated: str
    scorers: list[Scorer]
    nodes: list[NodeRowRecord]
    totalNodes: int
    feasible: int
    best: list[str]
    counts: dict[str, int]
    problem: str
    sentences: list[str]
    growth: list[GrowthRefusal]
    points: list[ExtensionPoint]


class Scorer(TypedDict):
    """A scoring plug-in and its weight; `skipped` where it had nothing to say."""

    plugin: str
    weight: int
    skipped: bool


class NodeRowRecord(TypedDict):
    """One node in the table of a pod."""

    node: str
    fits: bool
    code: str
    plugin: str
    reasons: list[str]
    scores: list[Score]
    total: int | None


class Score(TypedDict):
    """One scorer on one node."""

    plugin: str
    raw: int
    normalized: int


class GrowthRefusal(TypedDict):
    """Why one of them does not grow for a pod; "" where it may. `code` names it."""

    kind: str
    name: str
    reason: str
    code: str


class ExtensionPoint(TypedDict):
    """One extension point of a cycle, with the plug-ins that are enabled there."""

    point: str
    plugins: list[PluginVerdict]


class PluginVerdict(TypedDict):
    """What one plug-in says at one extension point. `verdict`: "ok", "skip" (it has
    nothing to say of this pod), "refused", "wait" (at Permit), "idle" where the
    cycle does not come to it, or "notRun" where no scheduler bound the pod: it
    came with its node. `detail` is the plug-in's own message, the node, or the
    numbers that it gave.
    """

    plugin: str
    verdict: str
    detail: str


class AskExplanation(TypedDict):
    """Why a pod has no place under YuniKorn, and what both sets of laws would do."""

    pod: str
    atMs: int
    application: str
    applicationState: str
    queue: str
    node: str
    reservedOn: str
    requests: list[Amount]
    allowPreemptSelf: bool
    allowPreemptOther: bool
    originator: bool
    path: list[QueueHeadroom]
    headroom: list[Amount]
    checks: list[Check]
    sorting: list[SortedLevel]
    nodeSort: str
    nodeVerdicts: list[NodeVerdict]
    feasibleNodes: int
    nodes: int
    plans: list[Plan]
    lawsDiffer: bool
    log: list[str]
    sentences: list[str]


class QueueHeadroom(TypedDict):
    """One queue on the path of a YuniKorn ask, leaf first."""

    queue: str
    resource: str
    guaranteed: str | None
    max: str | None
    used: str
    pending: str
    left: str | None


class Check(TypedDict):
    """One condition and whether it holds; `detail` says why with its numbers. Those
    numbers: `asked` of a quota, empty where it limits nothing that is asked, and
    from when on, of a delay.
    """

    name: str
    holds: bool
    detail: str
    asked: list[Asked]
    notBeforeMs: int | None


class Asked(TypedDict):
    """What is asked of one resource against what a limit leaves."""

    resource: str
    amount: str
    left: str


class SortedLevel(TypedDict):
    """Who is visited at one level on the way to an ask, first one first. `kind`:
    "queues" below `name`, "applications" of it, or "asks" of an application. Of
    queues `shares` are those they are sorted by.
    """

    kind: str
    name: str
    order: list[str]
    shares: list[float]


class NodeVerdict(TypedDict):
    """Why a node does not take an ask now, "" when it does; its place in the order.
    `used` is the weighted mean of `shares`: 0.7 where 90 % of the cpu and 50 % of
    the memory are used and both weigh the same. Nodes are tried from the least
    `score` on. `code` names the verdict: "cordoned", "tooSmall", "reserved" (for
    the pods `names`), "short" (of the resources `names`) or "predicate", whose
    message is kube-scheduler's; "" when it takes it.
    """

    node: str
    verdict: str
    used: float
    score: float
    shares: list[UsedShare]
    code: str
    names: list[str]


class UsedShare(TypedDict):
    """How much of one resource of a node is used, and its weight in the order."""

    resource: str
    share: float
    weight: float


class Plan(TypedDict):
    """Whom one set of preemption laws would preempt for an ask."""

    laws: str
    inForce: bool
    node: str
    victims: list[Victim]
    reason: str


class ApplicationExplanation(TypedDict):
    """An application, who stands before it in its queue, and its next ask."""

    application: str
    atMs: int
    queue: str
    state: str
    user: str
    submittedMs: int
    mayRun: bool
    allocated: list[Amount]
    pending: list[Amount]
    before: list[str]
    waiting: list[str]
    placed: list[str]
    next: AskExplanation | None
    lawsDiffer: bool
    sentences: list[str]


class Counterfactuals(TypedDict):
    """Verdicts, each one run; `tried` of `questions` were asked before `limit` runs."""

    workload: str
    atMs: int
    horizonMs: int
    questions: int
    tried: int
    runs: int
    verdicts: list[Verdict]


class Verdict(TypedDict):
    """One counterfactual that was really run. `verdict`: "yes", "but" (admitted, and
    its pods stay pending), "no", or "unknown" when the run was given up. `kind`:
    "wait", "nominalQuota", "borrowingLimit", "priority", "weight",
    "reclaimWithinCohort", "withinClusterQueue", "borrowWithinCohort",
    "queueingStrategy", "topology" or "localQueue". `finishes` are the workloads
    whose end came right before (kind "wait"). `subject` and `effect` are
    sentences.
    """

    id: str
    kind: str
    verdict: str
    subject: str
    now: str
    effect: str
    change: Change | None
    outcome: ChangeOutcome
    amounts: list[Amount]
    value: str
    finishes: list[str]
    runs: int


class Change(TypedDict):
    """Edits that belong together. `pause` holds those that come first where the
    change needs an instant between them: a Workload with quota is inactive before
    it can move.
    """

    edits: list[Edit]
    pause: list[Edit]


class Edit(TypedDict):
    """A JSON merge patch of one object: enough to do the change for real. Kind
    "Policy" patches the policy document; it has no namespace and no name.
    """

    kind: str
    namespace: str
    name: str
    patch: dict[str, Any]


class ChangeOutcome(TypedDict):
    """What a run on a copy of the world came to. `outcome`: "admitted", "waits",
    "inactive", "finished" (before it was asked), "gone" or "unknown" (given up
    after very many decisions, at `ran_to_ms`). `ran_from_ms`: the world's time
    when it was copied; it may have gone on since. `pods`: "" when pods are not
    placed, "placed", or "pending" with `pods_message`. `victims` are those
    preempted for it, with what was lost.
    """

    outcome: str
    atMs: int | None
    tick: int | None
    ranFromMs: int
    ranToMs: int
    settled: bool
    reason: str
    message: str
    pods: str
    podsMessage: str
    position: int | None
    victims: list[Victim]
    shares: list[ShareChange]
    workLostMs: int


class ShareChange(TypedDict):
    """A weighted share before and after something."""

    kind: str
    name: str
    before: float | None
    after: float | None


class Forecast(TypedDict):
    """When each waiting workload starts, and what that rests on."""

    tick: int
    nowMs: int
    seed: str
    asked: int
    futures: int
    horizonMs: int
    finished: int
    arrivals: Literal['continued', 'known']
    came: int
    enough: bool
    starts: list[StartForecast]
    correctedBy: int
    revision: int
    curves: CurveBands


class StartForecast(TypedDict):
    """When one workload starts, in virtual ms from now; None is beyond the horizon."""

    workload: str
    queue: str
    p10Ms: int | None
    p50Ms: int | None
    p90Ms: int | None
    chances: list[StartChance]
    basis: str
    message: str
    lastWaitsMs: int | None
    boundMs: int | None
    speaks: Literal['history', 'model']


class StartChance(TypedDict):
    """How likely it is that a workload starts within a time."""

    withinMs: int
    chance: float


class CurveBands(TypedDict):
    """How shares and utilisation go on."""

    atMs: list[int]
    bands: list[CurveBand]


class CurveBand(TypedDict):
    """One curve of many futures: three values per instant; None is infinite."""

    of: Literal['share', 'utilisation']
    name: str
    p10: list[float | None]
    p50: list[float | None]
    p90: list[float | None]


class Forecasts(TypedDict):
    """The forecasts that are kept of a sandbox, newest first, and how they came out."""

    items: list[ForecastState]
    record: TrackRecord


class ForecastState(TypedDict):
    """A kept forecast as it is looked at."""

    id: int
    state: str
    tick: int
    revision: int
    nowMs: int
    asked: int
    ended: int
    error: str
    said: Sentence | None
    forecast: Forecast | None


class TrackRecord(TypedDict):
    """How past forecasts came out; None where nothing is judged yet."""

    forecasts: int
    judged: int
    open: int
    enough: bool
    coverage50: float | None
    coverage90: float | None
    medianErrorMs: int | None
    crpsS: float | None
    lastWaitsS: float | None
    boundS: float | None


class SubmissionForecast(TypedDict):
    """When work would start that does not exist yet: one of `starts` per queue. They
    are in order, the soonest first; `queue` is the LocalQueue with its namespace.
    Each queue has futures of its own, so there are no `curves`.
    """

    tick: int
    nowMs: int
    seed: str
    asked: int
    futures: int
    horizonMs: int
    finished: int
    arrivals: Literal['continued', 'known']
    came: int
    enough: bool
    starts: list[StartForecast]
    correctedBy: int
    revision: int
    curves: CurveBands
    soonest: str | None


class Capacity(TypedDict):
    """Nodes that come and go. `cost` is what they cost since they were ordered."""

    atMs: int
    cost: float
    perHour: float
    groups: list[GrowingNodes]
    unplaced: list[UnplacedPods]
    looksMs: int | None


class GrowingNodes(TypedDict):
    """A NodeGroup or NodePool: its nodes, and what an hour of them costs now. `most`
    is its maximum, None where only limits of resources bound it.
    """

    kind: str
    name: str
    nodes: int
    booting: int
    most: int | None
    perHour: float


class UnplacedPods(TypedDict):
    """Pods of one shape that fit nowhere: how many, and the first of them."""

    pod: str
    pods: int
    refusals: list[GrowthRefusal]


class Fairness(TypedDict):
    """Shares, flows and whose turn it is, at this instant."""

    atMs: int
    tick: int
    fairSharing: bool
    strategies: list[str]
    formulas: list[Formula]
    flows: list[Flow]
    heads: list[Head]
    nextVictims: list[NextVictim]


class Formula(TypedDict):
    """The weighted share of one node, with its numbers filled in."""

    kind: str
    name: str
    parent: str
    fractions: list[Fraction]
    ratio: float
    weight: float
    share: float | None
    borrowing: bool


class Fraction(TypedDict):
    """What a node has borrowed of what its cohort could lend, for one resource."""

    resource: str
    borrowed: str
    lendable: str
    ratio: float
    winning: bool
    workloads: list[str]


class Flow(TypedDict):
    """Quota of one lender that one borrower uses, in one cohort. Kueue keeps no
    account of who lends to whom: what is borrowed in a cohort is spread over its
    lenders in proportion to what each has to spare.
    """

    cohort: str
    flavor: str
    resource: str
    lender: NodeName
    borrower: NodeName
    amount: str


class Head(TypedDict):
    """A head of a queue in the order in which the next cycle takes it."""

    order: int
    workload: str
    queue: str
    requests: list[Amount]
    shareAfter: float | None
    borrow: int
    status: str
    reason: str
    message: str
    targets: list[Victim]


class NextVictim(TypedDict):
    """Who goes first when a queue within its nominal quota reclaims."""

    tree: str
    flavor: str
    resource: str
    workload: str
    queue: str
    priority: int
    amount: str
    reservedMs: int | None
    share: float | None


class QueueFairness(TypedDict):
    """Every queue of the partition, parents first."""

    atMs: int
    tick: int
    laws: str
    queues: list[QueueShare]
    partition: str
    others: list[PartitionQueues]


class QueueShare(TypedDict):
    """The fair share of one queue, and its place in the line of its parent. `order`
    is None when the queue waits for nothing. `priority` is what it publishes to
    its parent; whether that or the share comes first is the parent's.
    """

    name: str
    parent: str
    leaf: bool
    fractions: list[QueueFraction]
    share: float
    priority: int
    order: int | None
    pending: list[Amount]
    next: str
    sortPolicy: str
    sortFrom: str


class QueueFraction(TypedDict):
    """What a queue holds of what it is held against, for one resource."""

    resource: str
    allocated: str
    whole: str
    of: str
    ratio: float
    winning: bool


class PartitionQueues(TypedDict):
    """The queues of another partition: on Kubernetes no node or pod is in it."""

    name: str
    queues: list[QueueShare]


class Film(TypedDict):
    """One decision, frame by frame; no frame says what a later one finds.
    `scheduler`: "Kueue", "kube-scheduler" or "YuniKorn"; `law` is the strategy,
    policy or laws it decides by. `hidden` cards are not shown, for there are too
    many.
    """

    scheduler: str
    law: str
    subject: str
    atMs: int
    tick: int
    cards: list[FilmCard]
    bars: list[FilmBar]
    frames: list[FilmFrame]
    hidden: int


class FilmCard(TypedDict):
    """A workload, pod, queue or application that moves; `zone` is where it begins.
    Zones: "line" (it waits), "head" (lifted), "candidates", "running", "gone"
    (sent back), "in" (it has quota), and "Node/NAME".
    """

    id: str
    group: str
    priority: int | None
    held: list[Amount]
    zone: str


class FilmBar(TypedDict):
    """Something that is filled: `limit` is its mark, None without one. `kind`:
    "ClusterQueue", "Cohort", "Queue", "Node", "Domain", "Share", "Score", "Cost"
    or "Free". `resource` is "" where a plain number is shown.
    """

    id: str
    kind: str
    name: str
    resource: str
    used: float
    limit: float | None


class FilmFrame(TypedDict):
    """One step: its words, and what changes on the stage since the one before.
    `moves`: card -> zone. `marks`: card or bar -> what became of it, "" takes it
    away. `used`: bar -> what fills it from now on. `demand`: bar -> what is laid
    on top of it, in this frame only. `spot`: cards and bars that it is about.
    """

    kind: str
    title: Sentence
    said: Sentence
    spot: list[str]
    moves: dict[str, str]
    marks: dict[str, str]
    used: dict[str, float]
    demand: dict[str, float]
    tests: list[Inequality]
    bet: FilmBet | None


class Inequality(TypedDict):
    """A test as a question about two bars; `holds` is None before its verdict."""

    left: FilmTerm
    sign: str
    right: FilmTerm
    holds: bool | None


class FilmTerm(TypedDict):
    """One side of an inequality; `value` None is infinite."""

    label: Sentence
    value: float | None
    resource: str


class FilmBet(TypedDict):
    """What may be guessed before the next frame; `right` is the index of its answer."""

    ask: Sentence
    choices: list[Sentence]
    right: int


class Preemption(TypedDict):
    """A preemption step by step, found by running its tick again. `cost` is of all
    searches of the decision, those for single flavors too. `shares` are those
    before the search and after it, victims out and the preemptor in.
    `search.steps` begin with the setup and end with the targets.
    """

    preemptor: str
    queue: str
    atMs: int
    tick: int
    search: PreemptionSearch
    cost: SearchCost
    flavors: list[FlavorRow]
    shares: list[ShareChange]
    targets: list[Victim]
    reason: str
    message: str


class PodPreemption(TypedDict):
    """A preemption of pods step by step, found by running its tick again.
    `scheduler`: "kube-scheduler" or "YuniKorn"; `strategy` as the decision has
    it, `laws` of YuniKorn in force. `nodes` come in the order in which they were
    looked at, the first two hundred of `total_nodes`. `wanted` candidates are
    enough for kube-scheduler. `tied` nodes were equal in all rules; one of them
    was drawn.
    """

    scheduler: str
    strategy: str
    laws: str
    preemptor: str
    queue: str
    priority: int
    atMs: int
    tick: int
    requests: list[Amount]
    node: str
    rules: list[str]
    nodes: list[TriedNode]
    totalNodes: int
    wanted: int | None
    tied: list[str]
    budgets: list[Budget]
    path: list[QueueHeadroom]
    sources: list[CandidateQueue]
    targets: list[Victim]
    reason: str
    message: str


class TriedNode(TypedDict):
    """One node and what became of it. `outcome`: "chosen"; "lost" to the chosen one
    by `lost_by`, a rule of the answer, "draw" (equal in all rules) or "order"
    (equal, and looked at later); "doesNotFit" (even with all candidates gone),
    "noCandidates", "notHelpful" (no removal could help), "notTried" (enough were
    found before), "refused" (by an extender or a predicate). `why` are the
    scheduler's own words.
    """

    node: str
    outcome: str
    why: str
    lostBy: str
    victims: list[str]
    violations: int
    costs: list[Cost]
    missing: list[Amount]
    pods: list[TriedPod]


class Cost(TypedDict):
    """What one rule counts for a node; the lowest is best, the first rule decides."""

    rule: str
    value: int


class TriedPod(TypedDict):
    """One thing that was tried with one pod of a node, in order. `kind` "candidate":
    may go. Under kube-scheduler all of them are taken off a copy of the node
    first (`verdict` "removed"), then each is put back (`kind` "putBack"):
    "spared" where the preemptor still fits, else "needed", and `why` is what the
    filters said. Under YuniKorn a candidate is "taken", "spared" (enough is free
    without it), "noHelp" (it holds nothing that is short), "withinGuarantee" (its
    queue would fall below its guarantee), or "overAskGuarantee" (the preemptor's
    queue would pass its own). `budgets` name the PodDisruptionBudgets that have
    no disruption left for it.
    """

    pod: str
    kind: str
    verdict: str
    queue: str
    priority: int
    sinceMs: int | None
    held: list[Amount]
    optedOut: bool
    originator: bool
    budgets: list[str]
    why: str


class Budget(TypedDict):
    """A PodDisruptionBudget, and how many more pods it let go before the search."""

    name: str
    allowed: int


class CandidateQueue(TypedDict):
    """A leaf of YuniKorn and how many of its pods may go. `why` not: "own" (the
    preemptor's), "outOfScope" (beyond a fence or a full queue), "disabled",
    "none" (within its guarantee, or more important).
    """

    queue: str
    candidates: int
    why: str


class PairVerdict(TypedDict):
    """What a change makes different, from one instant to one horizon, per seed.
    `sums`: `earlier`, `later`, `never` and `only` count starts (`never`: without
    the change alone, `only`: with it alone); `onlyWith` and `onlyWithout` count
    subjects; all others are differences, with the change less without it. `same`
    says that every seed names the same subjects with the same times. `lines`: how
    queues go on on both sides, and what pods hold on nodes, of the first seed,
    where the sides differ; `nodesLeftOut` counts the nodes that differ and are
    not told, where they are many.
    """

    fromMs: int
    toMs: int
    differs: bool
    same: bool
    sums: dict[str, PairSum]
    seeds: list[SeedVerdict]
    lines: list[PairLine]
    nodesLeftOut: int
    assumed: list[Sentence]
    rules: list[ReleaseRule]
    reasons: dict[str, list[int]]


class PairSum(TypedDict):
    """One number of each seed, in their order; `interval` where seeds differ."""

    values: list[float | None]
    same: bool
    interval: IntervalRecord | None


class IntervalRecord(TypedDict):
    """A mean and where the true one lies with 95% confidence. With one value alone
    there is no interval: low and high are None.
    """

    count: int
    mean: float
    low: float | None
    high: float | None


class SeedVerdict(TypedDict):
    """Two runs with one seed. `only_with` and `only_without` are subjects that are
    there in one of the runs alone.
    """

    seed: int
    verdict: ChangeVerdict
    onlyWith: list[str]
    onlyWithout: list[str]
    without: PairFigures
    changed: PairFigures


class ChangeVerdict(TypedDict):
    """What a change makes different: two runs from one instant to one horizon.
    `workloads` are all whose outcome differs, Pods where nothing but pods is
    scheduled; `pods` counts the pods of Workloads that get another node, or get
    one at another time. Nothing changes exactly when `differs` is false.
    """

    fromMs: int
    toMs: int
    differs: bool
    workloads: list[WorkloadVerdict]
    pods: int
    without: RunTotals
    changed: RunTotals


class WorkloadVerdict(TypedDict):
    """One subject whose outcome differs with the change. `start` compares the starts
    that hold; where they are equal, `gains` and `loses` go by the ends. Neither:
    it only gets another place, or is evicted on the way.
    """

    subject: str
    start: Literal['earlier', 'later', 'never', 'only', 'same']
    gains: bool
    loses: bool
    without: RunCourse
    changed: RunCourse


class RunCourse(TypedDict):
    """What became of one subject in one run; milliseconds of virtual time.
    `started_ms` is the start that holds at the horizon, or that it ended from.
    None: it waits, or did not end. `place` is "" where it is as at the begin.
    `lost_ms` is held and thrown away by evictions, `preemptions` are among the
    evictions.
    """

    startedMs: int | None
    finishedMs: int | None
    place: str
    evictions: int
    preemptions: int
    lostMs: int


class RunTotals(TypedDict):
    """One run in sums over the same time."""

    started: int
    finished: int
    evictions: int
    preemptions: int
    workLostMs: int


class PairFigures(TypedDict):
    """One run in figures; milliseconds of virtual time, None for what it cannot say.
    Waits are of what waited at the begin, from its arrival, and of what came
    since. The `waiting` that never started count with what they have waited up to
    the horizon.
    """

    waited: int
    waiting: int
    waitMeanMs: float | None
    waitP50Ms: float | None
    waitP95Ms: float | None
    waitMaxMs: float | None
    jain: float | None
    shareError: float | None
    unfairSpans: int
    timeToFairMs: float | None
    timeToFairMaxMs: int | None
    goodput: dict[str, float]
    idleHours: dict[str, float]
    largestShare: float | None
    largestShareQueue: str
    largestShareMs: int


class PairLine(TypedDict):
    """One line of both sides of a pair. `held` counts workloads with quota."""

    of: Literal['cohortHeld', 'cohortUsed', 'cohortWaiting', 'held', 'node', 'share', 'used', 'waiting']
    queue: str
    flavor: str
    resource: str
    without: RunLine
    changed: RunLine


class RunLine(TypedDict):
    """Values from instants on (ms), each until the next; None is an infinite share."""

    atMs: list[int]
    values: list[float | None]


class ReleaseRule(TypedDict):
    """A rule by which two releases differ. `has` says which side of it the later one
    has. `gate`, given as `given`, turns it back there; "" where no gate does. Of
    one that is not `followed` both sides decide as the newest release.
    """

    rule: str
    now: str
    before: str
    has: bool
    followed: bool
    gate: str
    given: bool | None


class WhatIfs(TypedDict):
    """The what-ifs of a sandbox, newest first; their verdicts without `seeds` and
    `lines`.
    """

    items: list[WhatIfState]


class WhatIfState(TypedDict):
    """A what-if as it is looked at: where it begins, its changes, how far it is.
    `state`: "running", "open", "kept", "discarded", or "failed" with the reason
    in `said`.
    """

    id: int
    state: str
    at: int
    revision: int
    changes: list[dict[str, Any]]
    horizonMs: int
    seeds: list[int]
    said: Sentence | None
    verdict: PairVerdict | None


class IncidentReplay(TypedDict):
    """A window as it was, replayed, and replayed with a change."""

    fromMs: int
    toMs: int
    real: WindowRun
    same: WindowRun
    changed: WindowRun
    startErrorMs: list[int]
    sentence: str


class WindowRun(TypedDict):
    """A window as it was, or as one policy would have had it."""

    queues: list[QueueWaits]
    admitted: int
    preemptions: int


class QueueWaits(TypedDict):
    """How long work of one ClusterQueue waited in a window; what waits still counts
    as far.
    """

    queue: str
    workloads: int
    admitted: int
    waitMs: int


class Agreement(TypedDict):
    """The real decisions that were held against the engine's, the newest ones."""

    decisions: int
    judged: int
    agree: int
    kinds: list[KindAgreement]
    times: list[AgreementAt]
    disagreements: list[Disagreement]


class KindAgreement(TypedDict):
    """How often the engine agrees on one kind of decision."""

    kind: str
    judged: int
    agree: int


class AgreementAt(TypedDict):
    """How often the engine agrees on one kind of decision in a stretch of time."""

    kind: str
    tMs: int
    tick: int
    judged: int
    agree: int


class Disagreement(TypedDict):
    """A real decision that the engine does not take from the state just before it."""

    event: int
    kind: str
    subject: str
    tMs: int
    tick: int
    difference: str


class Opened(TypedDict):
    """A real decision opened, and what its smallest world is made a sandbox with."""

    decision: OpenedDecision
    tick: int
    policy: dict[str, Any]


class OpenedDecision(TypedDict):
    """A real decision and the engine's on the same state, step by step."""

    kind: str
    subject: str
    tMs: int
    difference: str
    real: list[ShadowStep]
    engine: list[ShadowStep]
    smallest: SmallestWorld


class ShadowStep(TypedDict):
    """One step: a decision, or a sentence of the search behind it."""

    kind: str
    tMs: int
    subject: str
    by: str
    queue: str
    flavors: list[str]
    text: str


class SmallestWorld(TypedDict):
    """The objects that the engine's part needs, and how many there were."""

    before: int
    after: int
    minimal: bool
    documents: list[dict[str, Any]]


class PageState(TypedDict):
    """Server: everything at one revision. The newest 600 samples and 200 events.
    Arrive and Wait are left out of the events: of a large world they would be all
    200.
    """

    type: Literal['page_state']
    revision: int
    rows: list[AnyRow]
    samples: list[Sample]
    events: list[EventLine]
    protocol: int


class SandboxRow(TypedDict):
    """The sandbox itself: clock, transport and what may be done with it."""

    kind: Literal['Sandbox']
    key: str
    name: str
    namespace: str
    id: str
    title: str
    branch: str
    parent: str | None
    stack: Literal['kube', 'kueue', 'yunikorn']
    fairSharing: bool
    laws: str
    seed: str
    tick: int
    tMs: int
    tickMs: int
    firstTick: int
    playing: bool
    speed: float
    until: str
    problem: str
    problemSaid: list[Sentence]
    hash: str
    resources: list[str]
    notSimulated: list[str]
    notSimulatedSaid: list[Sentence]
    source: Literal['cluster', 'recording', 'simulated']
    sourceName: str
    sourceStart: str
    lastTick: int | None
    lagMs: int
    cost: float | None
    costPerHour: float | None
    release: NotRequired[dict[str, str]]


class CohortRow(TypedDict):
    """A cohort: an inner node of the quota tree."""

    kind: Literal['Cohort']
    key: str
    name: str
    namespace: str
    parent: str
    implicit: bool
    weight: str
    share: str
    cells: list[QuotaCell]
    lendable: dict[str, str]


class QuotaCell(TypedDict):
    """Quota and usage of one (flavor, resource) at one node of the quota tree."""

    flavor: str
    resource: str
    nominal: str
    used: str
    borrowed: str
    lent: str
    available: str
    borrowingLimit: str | None
    lendingLimit: str | None


class ClusterQueueRow(TypedDict):
    """A ClusterQueue: a leaf of the quota tree."""

    kind: Literal['ClusterQueue']
    key: str
    name: str
    namespace: str
    cohort: str
    queueingStrategy: str
    stopPolicy: str
    active: bool
    inactiveReason: str
    weight: str
    share: str
    cells: list[QuotaCell]
    counts: WorkloadCounts
    withinClusterQueue: str
    reclaimWithinCohort: str
    borrowWithinCohort: str


class WorkloadCounts(TypedDict):
    """Workloads by state."""

    pending: int
    inadmissible: int
    reserved: int
    admitted: int
    evicted: int
    finished: int


class LocalQueueRow(TypedDict):
    """A LocalQueue: the queue of a namespace that leads to a ClusterQueue."""

    kind: Literal['LocalQueue']
    key: str
    name: str
    namespace: str
    clusterQueue: str
    stopPolicy: str
    active: bool
    counts: WorkloadCounts


class ResourceFlavorRow(TypedDict):
    """A ResourceFlavor."""

    kind: Literal['ResourceFlavor']
    key: str
    name: str
    namespace: str
    nodeLabels: dict[str, str]
    taints: list[str]


class MultiKueueClusterRow(TypedDict):
    """A worker cluster as the manager sees it: its condition Active."""

    kind: Literal['MultiKueueCluster']
    key: str
    name: str
    namespace: str
    active: bool
    reason: str
    message: str
    sinceMs: int | None


class WorkloadRow(TypedDict):
    """A Workload as a card shows it."""

    kind: Literal['Workload']
    key: str
    name: str
    namespace: str
    uid: str
    localQueue: str
    clusterQueue: str
    phase: Literal['admitted', 'finished', 'inactive', 'inadmissible', 'pending', 'reserved']
    priority: int
    priorityClass: str
    podSets: list[PodSetCell]
    totals: dict[str, str]
    reason: str
    message: str
    conditions: list[ConditionCell]
    sticky: bool
    orderUs: str
    createdMs: int
    reservedMs: int | None
    admittedMs: int | None
    readyMs: int | None
    endsMs: int | None
    runtimeMs: int
    requeueMs: int | None
    evictions: int
    evicted: bool
    owner: str
    checks: list[CheckCell]
    worker: str
    tried: list[str]
    copy: bool
    finishedMs: int | None


class PodSetCell(TypedDict):
    """One pod set of a Workload."""

    name: str
    count: int
    minCount: int | None
    requests: dict[str, str]
    flavors: dict[str, str]


class ConditionCell(TypedDict):
    """One condition of a Workload's status."""

    type: str
    status: bool
    reason: str
    message: str
    sinceMs: int


class CheckCell(TypedDict):
    """What one admission check says of a Workload."""

    name: str
    state: str
    message: str


class NodeRow(TypedDict):
    """A node with what is taken on it."""

    kind: Literal['Node']
    key: str
    name: str
    namespace: str
    state: Literal['cordoned', 'failed', 'ready']
    flavor: str
    allocatable: dict[str, str]
    used: dict[str, str]
    pods: int
    held: dict[str, str]
    heldPods: int
    lockedBy: str
    taints: list[str]
    labels: dict[str, str]


class PodRow(TypedDict):
    """A pod."""

    kind: Literal['Pod']
    key: str
    name: str
    namespace: str
    uid: str
    node: str
    nominated: str
    heldOn: str
    permitBy: str
    permitUntilMs: int | None
    phase: Literal['bound', 'failed', 'gated', 'pending', 'ready', 'running', 'succeeded', 'waiting']
    workload: str
    queue: str
    scheduler: str
    priority: int
    requests: dict[str, str]
    qos: str
    reason: str
    message: str


class QueueRow(TypedDict):
    """A YuniKorn queue; `name` is its full path."""

    kind: Literal['Queue']
    key: str
    name: str
    namespace: str
    parent: str
    leaf: bool
    guaranteed: dict[str, str]
    max: dict[str, str]
    allocated: dict[str, str]
    pending: dict[str, str]
    share: float
    sortPolicy: str
    preemptionPolicy: str
    preemptionDelayMs: int
    priorityPolicy: str
    priorityOffset: int
    applications: int


class ApplicationRow(TypedDict):
    """A YuniKorn application."""

    kind: Literal['Application']
    key: str
    name: str
    namespace: str
    queue: str
    state: str
    user: str
    submittedMs: int
    allocated: dict[str, str]
    pending: dict[str, str]
    asks: int
    allocations: int


class PolicyRow(TypedDict):
    """The policy document in force; `changed` are paths that differ from the start."""

    kind: Literal['Policy']
    key: str
    name: str
    namespace: str
    document: dict[str, Any]
    changed: list[str]


class Sample(TypedDict):
    """The whole world at one tick, for the curves."""

    tick: int
    tMs: int
    pending: int
    admitted: int
    finished: int
    preemptions: int
    evictions: int
    used: dict[str, str]
    capacity: dict[str, str]
    queues: list[QueueSample]
    cost: float | None
    searches: int | None
    candidatesLookedAt: int | None
    simulations: int | None
    shareError: float | None


class QueueSample(TypedDict):
    """One queue at one tick, for the curves."""

    queue: str
    share: float | None
    used: dict[str, str]
    pending: int


class EventLine(TypedDict):
    """One decision or edit, as the event list shows it. `said` is the message with
    its code, where it is in words of this program; a scheduler's own words have
    none.
    """

    revision: int
    seq: int
    tick: int
    tMs: int
    type: str
    subject: str
    by: str
    reason: str
    message: str
    said: NotRequired[Sentence]


Diff = TypedDict(
    "Diff",
    {
        "type": "Literal['diff']",
        "from": "int",
        "revision": "int",
        "tick": "int",
        "added": "list[AnyRow]",
        "updated": "dict[str, Any]",
        "removed": "list[str]",
        "samples": "list[Sample]",
        "events": "list[EventLine]",
    },
)


class Resync(TypedDict):
    """Server: the diffs you need are gone; say hello without `since`."""

    type: Literal['resync']
    revision: int


class ServiceStatus(TypedDict):
    """Server: how the service is. Errors stay until a status without one. `said` is
    the message with its code; none with an empty one.
    """

    type: Literal['status']
    level: Literal['error', 'live', 'waiting']
    message: str
    said: Sentence | None


class LessonNews(TypedDict):
    """Server: a lesson begins, shows something else, is answered, or ends. `view`
    and `query` are where the presenter's page is; an older `version` than one
    that was seen is stale. `people` are the first 200 followers.
    """

    type: Literal['lesson']
    running: bool
    version: int
    view: str
    query: str
    revealed: list[int]
    followers: int
    tallies: list[TallyRecord]
    people: list[FollowerNewsRecord]


class TallyRecord(TypedDict):
    """How many followers expect one choice at one stop of a lesson."""

    stop: int
    choice: int
    count: int


class FollowerNewsRecord(TypedDict):
    """One who follows: the number that their page shows, their name or "", what they
    answered.
    """

    number: int
    name: str
    answered: list[int]


class Hello(TypedDict):
    """Client: what it has and wants. `since` asks for diffs above a revision."""

    type: Literal['hello']
    since: int | None
    views: list[str]


class ProfileState(TypedDict):
    """One profile: the how manieth of the how manieth configuration, from 0."""

    configuration: int
    index: int
    schedulerName: str
    percentageOfNodesToScore: int
    plugins: list[PluginState]


class PluginState(TypedDict):
    """One plug-in in one profile; `points` it could work at, `on` where it does.
    `weight` is None where it does not score; `args` are those in force, with
    defaults filled in, None for a plug-in that takes none.
    """

    name: str
    points: list[str]
    on: list[str]
    weight: int | None
    args: dict[str, Any] | None


class SandboxRowPatch(TypedDict):
    """Changed fields of a SandboxRow, whole values."""

    name: NotRequired[str]
    namespace: NotRequired[str]
    id: NotRequired[str]
    title: NotRequired[str]
    branch: NotRequired[str]
    parent: NotRequired[str | None]
    stack: NotRequired[Literal['kube', 'kueue', 'yunikorn']]
    fairSharing: NotRequired[bool]
    laws: NotRequired[str]
    seed: NotRequired[str]
    tick: NotRequired[int]
    tMs: NotRequired[int]
    tickMs: NotRequired[int]
    firstTick: NotRequired[int]
    playing: NotRequired[bool]
    speed: NotRequired[float]
    until: NotRequired[str]
    problem: NotRequired[str]
    problemSaid: NotRequired[list[Sentence]]
    hash: NotRequired[str]
    resources: NotRequired[list[str]]
    notSimulated: NotRequired[list[str]]
    notSimulatedSaid: NotRequired[list[Sentence]]
    source: NotRequired[Literal['cluster', 'recording', 'simulated']]
    sourceName: NotRequired[str]
    sourceStart: NotRequired[str]
    lastTick: NotRequired[int | None]
    lagMs: NotRequired[int]
    cost: NotRequired[float | None]
    costPerHour: NotRequired[float | None]
    release: NotRequired[dict[str, str]]


class CohortRowPatch(TypedDict):
    """Changed fields of a CohortRow, whole values."""

    name: NotRequired[str]
    namespace: NotRequired[str]
    parent: NotRequired[str]
    implicit: NotRequired[bool]
    weight: NotRequired[str]
    share: NotRequired[str]
    cells: NotRequired[list[QuotaCell]]
    lendable: NotRequired[dict[str, str]]


class ClusterQueueRowPatch(TypedDict):
    """Changed fields of a ClusterQueueRow, whole values."""

    name: NotRequired[str]
    namespace: NotRequired[str]
    cohort: NotRequired[str]
    queueingStrategy: NotRequired[str]
    stopPolicy: NotRequired[str]
    active: NotRequired[bool]
    inactiveReason: NotRequired[str]
    weight: NotRequired[str]
    share: NotRequired[str]
    cells: NotRequired[list[QuotaCell]]
    counts: NotRequired[WorkloadCounts]
    withinClusterQueue: NotRequired[str]
    reclaimWithinCohort: NotRequired[str]
    borrowWithinCohort: NotRequired[str]


class LocalQueueRowPatch(TypedDict):
    """Changed fields of a LocalQueueRow, whole values."""

    name: NotRequired[str]
    namespace: NotRequired[str]
    clusterQueue: NotRequired[str]
    stopPolicy: NotRequired[str]
    active: NotRequired[bool]
    counts: NotRequired[WorkloadCounts]


class ResourceFlavorRowPatch(TypedDict):
    """Changed fields of a ResourceFlavorRow, whole values."""

    name: NotRequired[str]
    namespace: NotRequired[str]
    nodeLabels: NotRequired[dict[str, str]]
    taints: NotRequired[list[str]]


class MultiKueueClusterRowPatch(TypedDict):
    """Changed fields of a MultiKueueClusterRow, whole values."""

    name: NotRequired[str]
    namespace: NotRequired[str]
    active: NotRequired[bool]
    reason: NotRequired[str]
    message: NotRequired[str]
    sinceMs: NotRequired[int | None]


class WorkloadRowPatch(TypedDict):
    """Changed fields of a WorkloadRow, whole values."""

    name: NotRequired[str]
    namespace: NotRequired[str]
    uid: NotRequired[str]
    localQueue: NotRequired[str]
    clusterQueue: NotRequired[str]
    phase: NotRequired[Literal['admitted', 'finished', 'inactive', 'inadmissible', 'pending', 'reserved']]
    priority: NotRequired[int]
    priorityClass: NotRequired[str]
    podSets: NotRequired[list[PodSetCell]]
    totals: NotRequired[dict[str, str]]
    reason: NotRequired[str]
    message: NotRequired[str]
    conditions: NotRequired[list[ConditionCell]]
    sticky: NotRequired[bool]
    orderUs: NotRequired[str]
    createdMs: NotRequired[int]
    reservedMs: NotRequired[int | None]
    admittedMs: NotRequired[int | None]
    readyMs: NotRequired[int | None]
    endsMs: NotRequired[int | None]
    runtimeMs: NotRequired[int]
    requeueMs: NotRequired[int | None]
    evictions: NotRequired[int]
    evicted: NotRequired[bool]
    owner: NotRequired[str]
    checks: NotRequired[list[CheckCell]]
    worker: NotRequired[str]
    tried: NotRequired[list[str]]
    copy: NotRequired[bool]
    finishedMs: NotRequired[int | None]


class NodeRowPatch(TypedDict):
    """Changed fields of a NodeRow, whole values."""

    name: NotRequired[str]
    namespace: NotRequired[str]
    state: NotRequired[Literal['cordoned', 'failed', 'ready']]
    flavor: NotRequired[str]
    allocatable: NotRequired[dict[str, str]]
    used: NotRequired[dict[str, str]]
    pods: NotRequired[int]
    held: NotRequired[dict[str, str]]
    heldPods: NotRequired[int]
    lockedBy: NotRequired[str]
    taints: NotRequired[list[str]]
    labels: NotRequired[dict[str, str]]


class PodRowPatch(TypedDict):
    """Changed fields of a PodRow, whole values."""

    name: NotRequired[str]
    namespace: NotRequired[str]
    uid: NotRequired[str]
    node: NotRequired[str]
    nominated: NotRequired[str]
    heldOn: NotRequired[str]
    permitBy: NotRequired[str]
    permitUntilMs: NotRequired[int | None]
    phase: NotRequired[Literal['bound', 'failed', 'gated', 'pending', 'ready', 'running', 'succeeded', 'waiting']]
    workload: NotRequired[str]
    queue: NotRequired[str]
    scheduler: NotRequired[str]
    priority: NotRequired[int]
    requests: NotRequired[dict[str, str]]
    qos: NotRequired[str]
    reason: NotRequired[str]
    message: NotRequired[str]


class QueueRowPatch(TypedDict):
    """Changed fields of a QueueRow, whole values."""

    name: NotRequired[str]
    namespace: NotRequired[str]
    parent: NotRequired[str]
    leaf: NotRequired[bool]
    guaranteed: NotRequired[dict[str, str]]
    max: NotRequired[dict[str, str]]
    allocated: NotRequired[dict[str, str]]
    pending: NotRequired[dict[str, str]]
    share: NotRequired[float]
    sortPolicy: NotRequired[str]
    preemptionPolicy: NotRequired[str]
    preemptionDelayMs: NotRequired[int]
    priorityPolicy: NotRequired[str]
    priorityOffset: NotRequired[int]
    applications: NotRequired[int]


class ApplicationRowPatch(TypedDict):
    """Changed fields of a ApplicationRow, whole values."""

    name: NotRequired[str]
    namespace: NotRequired[str]
    queue: NotRequired[str]
    state: NotRequired[str]
    user: NotRequired[str]
    submittedMs: NotRequired[int]
    allocated: NotRequired[dict[str, str]]
    pending: NotRequired[dict[str, str]]
    asks: NotRequired[int]
    allocations: NotRequired[int]


class PolicyRowPatch(TypedDict):
    """Changed fields of a PolicyRow, whole values."""

    name: NotRequired[str]
    namespace: NotRequired[str]
    document: NotRequired[dict[str, Any]]
    changed: NotRequired[list[str]]


class ProfileList(TypedDict):
    """ProfileList"""

    items: list[ProfileState]


class Status(TypedDict):
    """An error, as Kubernetes words it."""

    kind: Literal['Status']
    apiVersion: Literal['v1']
    metadata: NotRequired[dict[str, Any]]
    status: Literal['Failure']
    message: str
    reason: str
    code: int
    details: NotRequired[dict[str, Any]]


class StatusCause(TypedDict):
    """One thing that is wrong, and where."""

    reason: str
    message: str
    field: str
    file: str
    line: int
    level: Literal['error', 'warning', 'unsupported']
    said: NotRequired[Said]


AnyRow: TypeAlias = SandboxRow | CohortRow | ClusterQueueRow | LocalQueueRow | ResourceFlavorRow | MultiKueueClusterRow | WorkloadRow | NodeRow | PodRow | QueueRow | ApplicationRow | PolicyRow


ServerMessage: TypeAlias = PageState | Diff | Resync | ServiceStatus | LessonNews
