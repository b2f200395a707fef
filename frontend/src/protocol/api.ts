// The API's types. Made by `manage.py apitypes` from its schema; not edited by hand.

/** One line of the audit log. */
export interface Audit {
  readonly at: string;
  readonly who: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The newest lines, newest first. */
export interface AuditList {
  readonly items: readonly Audit[];
}

export type BetterEnum = "low" | "high";

/** One branch. */
export interface Branch {
  readonly id: string;
  readonly title: string;
  readonly branch: string;
  readonly stack: string;
  readonly tick: number;
}

export type ChangeEnum = "add" | "cordon" | "uncordon" | "drain" | "fail" | "recover";

/** A stop of a lesson; texts by language tag. */
export interface Checkpoint {
  readonly at: string;
  readonly atMs: number;
  readonly say: Readonly<Record<string, string>>;
  readonly ask: Readonly<Record<string, string>>;
  readonly answer: Readonly<Record<string, string>>;
  readonly choices: readonly (Readonly<Record<string, string>>)[];
  readonly right: number | null;
}

/** Two or more branches; the first is what the others are held against. */
export interface Comparison {
  readonly branches: readonly Branch[];
  /** The last tick that all have in common. */
  readonly fromTick: number;
  readonly toTick: number;
  /** Waits that began before this tick are not known. */
  readonly historyFrom: number;
  /** false: the stacks are too different to compare single workloads. */
  readonly sameSubjects: boolean;
  /** One per other branch; null = they decide the same. */
  readonly differences: readonly Difference[];
  readonly counts: readonly OutcomeCounts[];
  readonly workloads: readonly OutcomeDiff[];
  readonly moreWorkloads: number;
  readonly preemptions: readonly Preemptions[];
  readonly series: Series;
  readonly totals: readonly Total[];
}

/** Which stack the new sandbox runs, and its title if not one made up. */
export interface Convert {
  readonly stack: ConvertedStack;
  readonly title?: string;
}

/** The new sandbox, what was found in it, and what could not be carried over. */
export interface Converted {
  readonly id: string;
  readonly title: string;
  readonly branch: string;
  readonly parent: string | null;
  readonly parentRevision: number;
  readonly scenario: string;
  readonly owner: string;
  readonly role: SandboxRole;
  readonly visibility: VisibilityEnum;
  readonly stack: Stack;
  readonly seed: string;
  readonly revision: number;
  readonly tick: number;
  readonly tMs: number;
  readonly tickMs: number;
  readonly playing: boolean;
  readonly speed: number;
  readonly until: string;
  readonly problem: string;
  readonly hash: string;
  /** the earliest that can be looked at */
  readonly firstTick: number;
  /** history kept; 0 = as the operator keeps */
  readonly keepTicks: number;
  readonly keepDays: number;
  /** in a file; to be opened again */
  readonly archived: boolean;
  readonly createdAt: string;
  readonly changedAt: string;
  readonly findings: readonly Finding[];
  readonly losses: readonly Loss[];
}

export type ConvertedStack = "kueue" | "yunikorn";

/** A new sandbox: of a scenario of the library, of files, or empty. */
export interface Create {
  readonly title?: string;
  readonly scenario?: string;
  readonly files?: readonly File[];
  readonly seed?: number | null;
  /** Merge patch of the policy's spec. */
  readonly policy?: Readonly<Record<string, unknown>>;
}

/** A sandbox just made, and what was found in its files. */
export interface Created {
  readonly id: string;
  readonly title: string;
  readonly branch: string;
  readonly parent: string | null;
  readonly parentRevision: number;
  readonly scenario: string;
  readonly owner: string;
  readonly role: SandboxRole;
  readonly visibility: VisibilityEnum;
  readonly stack: Stack;
  readonly seed: string;
  readonly revision: number;
  readonly tick: number;
  readonly tMs: number;
  readonly tickMs: number;
  readonly playing: boolean;
  readonly speed: number;
  readonly until: string;
  readonly problem: string;
  readonly hash: string;
  /** the earliest that can be looked at */
  readonly firstTick: number;
  /** history kept; 0 = as the operator keeps */
  readonly keepTicks: number;
  readonly keepDays: number;
  /** in a file; to be opened again */
  readonly archived: boolean;
  readonly createdAt: string;
  readonly changedAt: string;
  readonly findings: readonly Finding[];
}

/** One branch over the ticks; null where nothing is known. */
export interface Curves {
  readonly pending: readonly (number | null)[];
  readonly running: readonly (number | null)[];
  readonly waitP50Ms: readonly (number | null)[];
  /** By resource. */
  readonly utilisation: Readonly<Record<string, readonly (number | null)[]>>;
  /** By queue. */
  readonly shares: Readonly<Record<string, readonly (number | null)[]>>;
  /** By queue and resource. */
  readonly used: Readonly<Record<string, Readonly<Record<string, readonly (number | null)[]>>>>;
}

/** What the whole database takes; free = space in it for new rows (SQLite). */
export interface Database {
  readonly bytes: number;
  readonly free: number;
}

/** One decision. */
export interface Decided {
  readonly tMs: number;
  readonly type: string;
  readonly subject: string;
  readonly by: string;
  readonly reason: string;
  readonly message: string;
}

/** Objects to delete. */
export interface Delete {
  readonly revision?: number | null;
  readonly objects: readonly Key[];
}

/** The first decision that is not the same; null = nothing is decided there. */
export interface Difference {
  readonly tick: number;
  readonly tMs: number;
  readonly ours: Decided | null;
  readonly theirs: Decided | null;
}

/** What your sandboxes take on disk; what a fork shares is its parent's. */
export interface Disk {
  readonly items: readonly Use[];
  readonly bytes: number;
  readonly database: Database;
}

/** The revision that an action made; the diff to it is on its way to everyone. */
export interface Done {
  readonly revision: number;
  readonly tick: number;
}

/** A strategy or plug-in that is enrolled. */
export interface Entry {
  readonly family: string;
  readonly name: string;
  readonly label: string;
  readonly help: string;
  /** JSON Schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>> | null;
}

/** One decision or edit; `data` holds what only its type has. */
export interface Event {
  readonly revision: number;
  readonly seq: number;
  readonly tick: number;
  readonly tMs: number;
  readonly type: string;
  readonly subject: string;
  readonly by: string;
  readonly reason: string;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Events in order; `next` is the revision and seq to go on after. */
export interface EventList {
  readonly items: readonly Event[];
  /** "revision.seq", "" at the end */
  readonly next: string;
}

/** An experiment as lists show it. */
export interface Experiment {
  readonly id: string;
  readonly title: string;
  readonly owner: string;
  readonly role: ExperimentRole;
  readonly visibility: VisibilityEnum;
  readonly state: ExperimentState;
  /** Runs. */
  readonly total: number;
  /** Runs that ended, well or not. */
  readonly done: number;
  readonly failed: number;
  readonly variants: readonly string[];
  readonly seeds: readonly string[];
  readonly horizonMs: number;
  readonly limitMs: number;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

/** A page of experiments, newest first. */
export interface ExperimentList {
  readonly items: readonly Experiment[];
  readonly remaining: number;
}

export type ExperimentRole = "owner" | "viewer";

export type ExperimentState = "running" | "done" | "cancelled";

/** One file: its name, for messages, and its text. */
export interface File {
  readonly name?: string;
  readonly text: string;
}

/** Something that the importer found. */
export interface Finding {
  readonly level: LevelEnum;
  readonly file: string;
  readonly line: number;
  readonly field: string;
  readonly problem: string;
}

/** Where to fork; now when there is no tick. */
export interface Fork {
  readonly tick?: number | null;
  readonly title?: string;
}

/** One value of the field that parts the rows. */
export interface Group {
  readonly value: string;
  readonly count: number;
}

/** What a follower expects: the index of a choice at the index of a stop. */
export interface Guess {
  readonly stop: number;
  readonly choice: number;
}

/** SHA-256 of the world's canonical msgpack. */
export interface Hash {
  readonly hash: string;
  readonly revision: number;
  readonly tick: number;
}

/** Files, or manifests as JSON objects, or both. */
export interface Import {
  readonly revision?: number | null;
  readonly files?: readonly File[];
  readonly objects?: readonly (Readonly<Record<string, unknown>>)[];
  readonly skipErrors?: boolean;
  readonly dryRun?: boolean;
}

/** What an import did, or with dryRun would do. */
export interface Imported {
  readonly created: readonly string[];
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
  readonly policy: boolean;
  readonly findings: readonly Finding[];
  readonly revision: number;
}

/** A mean over seeds and its 95% interval; null with one run alone. */
export interface Interval {
  readonly count: number;
  readonly mean: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** A code that was said, and who this browser was when it joined before. */
export interface Join {
  readonly code: string;
  readonly follower?: string;
}

/** What was joined, and the name under which to guess. */
export interface Joined {
  readonly sandbox: string;
  readonly follower: string;
}

/** An object by name. */
export interface Key {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** A kind of object: which stacks simulate it, or why none does. */
export interface Kind {
  readonly kind: string;
  readonly group: string;
  readonly versions: readonly string[];
  readonly plural: string;
  readonly level: string;
  readonly stacks: readonly string[];
  readonly namespaced: boolean;
  readonly note: string;
}

/** A lesson; `code` is shown to the owner of the sandbox alone. */
export interface Lesson {
  readonly running: boolean;
  readonly version: number;
  readonly code: string | null;
  readonly view: string;
  readonly query: string;
  readonly revealed: readonly number[];
  readonly followers: number;
  readonly tallies: readonly Tally[];
}

export type LevelEnum = "error" | "unsupported" | "warning";

/** One variant over all seeds that have ended. */
export interface Line {
  /** Place in `variants`. */
  readonly variant: number;
  readonly runs: number;
  readonly measures: Readonly<Record<string, Interval>>;
  /** To the first variant, seed by seed. */
  readonly differences: Readonly<Record<string, Interval>>;
  /** On the Pareto front. */
  readonly front: boolean;
}

/** A link; its secret is only in the answer that made it. */
export interface Link {
  readonly id: number;
  readonly mayFork: boolean;
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

/** The links to a sandbox. */
export interface LinkList {
  readonly items: readonly Link[];
}

/** Where the presenter's page is, and which answers were shown. */
export interface Look {
  readonly view: string;
  readonly query?: string;
  readonly revealed?: readonly number[];
}

/** Something that the other stack has no word for. */
export interface Loss {
  /** kind and name, or a queue's path */
  readonly subject: string;
  readonly lost: string;
}

/** A link just made. */
export interface MadeLink {
  readonly id: number;
  readonly mayFork: boolean;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  /** It is not shown again. */
  readonly secret: string;
}

/** A token just made. */
export interface MadeToken {
  readonly id: number;
  readonly name: string;
  readonly scope: ScopeEnum;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly usedAt: string | null;
  /** The secret; it is not shown again. */
  readonly token: string;
}

/** Who asks, and whether this is a server that people sign in to. */
export interface Me {
  readonly user: string;
  readonly server: boolean;
  readonly scope: ScopeEnum;
}

/** Somebody who was let in. */
export interface Member {
  readonly user: string;
  readonly role: MemberRole;
}

/** Everybody who was let in. */
export interface MemberList {
  readonly items: readonly Member[];
}

export type MemberRole = "editor" | "viewer";

/**
 * What moves, and where to. A Workload (`workload`) goes to a LocalQueue of its namespace by name, or to
 * "ClusterQueue/NAME". Anything that moves (`object`) is named by its key; a ClusterQueue or Cohort goes to
 * "Cohort/NAME", or "Cohort/" for none.
 */
export interface Move {
  readonly revision?: number | null;
  /** namespace/name */
  readonly workload?: string;
  /** Kind/namespace/name */
  readonly object?: string;
  readonly to: string;
  readonly dryRun?: boolean;
}

/** What a move would come to: it was run on a copy of the world. */
export interface MoveOutcome {
  readonly outcome: MoveOutcomeOutcomeEnum;
  /** of the admission */
  readonly tick: number | null;
  /** milliseconds */
  readonly ranTo: number;
  readonly reason: string;
  readonly message: string;
  /** it holds quota and would lose it */
  readonly evicted: boolean;
  /** in the queue, from 1 */
  readonly position: number | null;
  readonly victims: readonly Victim[];
  readonly shares: readonly Share[];
  readonly sentences: readonly string[];
  /** the whole of it, as from `whatif` */
  readonly preview: Readonly<Record<string, unknown>>;
}

export type MoveOutcomeOutcomeEnum = "admitted" | "waits" | "inactive" | "finished" | "gone" | "changes";

/** A link to make. */
export interface NewLink {
  readonly mayFork?: boolean;
  readonly expiresAt?: string | null;
}

/** A token to make. */
export interface NewToken {
  readonly name: string;
  readonly scope?: ScopeEnum;
  readonly expiresAt?: string | null;
}

/** A node and what happens to it; a new one has a size, or that of another. */
export interface Node {
  readonly name: string;
  readonly change: ChangeEnum;
  /** add: as this node */
  readonly like?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly allocatable?: Readonly<Record<string, string>>;
}

export type NullEnum = null;

/** What the front is of. */
export interface Objective {
  readonly measure: string;
  readonly better: BetterEnum;
}

/** An experiment with what came out so far. */
export interface OneExperiment {
  readonly id: string;
  readonly title: string;
  readonly owner: string;
  readonly role: ExperimentRole;
  readonly visibility: VisibilityEnum;
  readonly state: ExperimentState;
  /** Runs. */
  readonly total: number;
  /** Runs that ended, well or not. */
  readonly done: number;
  readonly failed: number;
  readonly variants: readonly string[];
  readonly seeds: readonly string[];
  readonly horizonMs: number;
  readonly limitMs: number;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  readonly document: Readonly<Record<string, unknown>>;
  readonly objectives: readonly Objective[];
  /** Which way each measure is better; absent where neither is. */
  readonly better: Readonly<Record<string, "low" | "high">>;
  readonly lines: readonly Line[];
  readonly verdicts: readonly Verdict[];
}

/** At which tick; null = where the run ended. */
export interface Open {
  readonly tick?: number | null;
}

/** The secret of a link. */
export interface OpenLink {
  readonly secret: string;
}

/** How many workloads ended how in another branch. */
export interface OutcomeCounts {
  readonly same: number;
  readonly earlier: number;
  readonly later: number;
  readonly never: number;
  readonly only: number;
}

/** A workload whose outcome differs; one verdict per other branch. */
export interface OutcomeDiff {
  readonly subject: string;
  readonly verdicts: readonly VerdictsEnum[];
  /** One per branch; null = not there. */
  readonly timelines: readonly Timeline[];
}

/** A merge patch of one object. */
export interface Patch {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly patch: Readonly<Record<string, unknown>>;
}

/** What may be changed of a sandbox itself. */
export interface PatchedChange {
  readonly title?: string;
  readonly visibility?: VisibilityEnum;
  /** history kept; 0 = as the operator keeps */
  readonly keepTicks?: number;
  readonly keepDays?: number;
}

/** What a run of the scenario looked like, for its card. */
export interface Picture {
  /** [depth, own, borrowed, nominal], in percent of the widest */
  readonly queues: readonly (readonly number[])[];
  /** how full, 0 to 9; -1 = closed */
  readonly nodes: readonly number[];
  readonly waiting: readonly number[];
  /** how often a pair preempted one another */
  readonly loop: number;
  readonly workloads: number;
  readonly nodeCount: number;
  readonly topics: readonly string[];
}

/** A pod and the only node that it may run on. */
export interface Pin {
  /** namespace/name */
  readonly pod: string;
  /** "" unpins it */
  readonly node: string;
  readonly dryRun?: boolean;
}

/** What a pin would come to: it was run on a copy of the world. */
export interface PinOutcome {
  readonly outcome: PinOutcomeOutcomeEnum;
  /** of the binding */
  readonly tick: number | null;
  /** milliseconds */
  readonly ranTo: number;
  /** that it is bound to, or "" */
  readonly node: string;
  /** the filters' verdict on the node, before the pin */
  readonly fits: boolean | null;
  readonly victims: readonly Victim[];
  readonly sentences: readonly string[];
}

export type PinOutcomeOutcomeEnum = "bound" | "waits";

/** Speed in ticks per second, 0 = as fast as it goes. */
export interface Play {
  readonly speed?: number | null;
}

/** A preemption. */
export interface Preempted {
  readonly tick: number;
  readonly tMs: number;
  readonly subject: string;
  readonly by: string;
  readonly reason: string;
}

/** Preemptions that another branch has and the first has not, and the reverse. */
export interface Preemptions {
  readonly same: number;
  readonly added: readonly Preempted[];
  readonly removed: readonly Preempted[];
}

/** Everything that can be chosen, for forms and documentation. */
export interface Registry {
  readonly entries: readonly Entry[];
  readonly kinds: readonly Kind[];
  /** JSON Schema of the policy document. */
  readonly policy: Readonly<Record<string, unknown>>;
}

/** The smallest world that still shows a decision. */
export interface Reproduction {
  readonly found: boolean;
  readonly decision: string;
  readonly atMs: number;
  /** objects there were */
  readonly before: number;
  /** objects that are left */
  readonly after: number;
  /** worlds that were run */
  readonly runs: number;
  /** no object can be left out */
  readonly minimal: boolean;
  /** a Scenario and its objects */
  readonly documents: readonly (Readonly<Record<string, unknown>>)[];
}

/** Runs in the order in which they ended; ask again after `next`. */
export interface Results {
  readonly items: readonly Run[];
  readonly next: number;
  readonly state: ExperimentState;
}

/** Which tick to go on from. */
export interface Rewind {
  readonly tick: number;
}

/** Where the sandbox is now, and the fork that keeps what came after. */
export interface Rewound {
  readonly revision: number;
  readonly tick: number;
  readonly fork: string;
}

/** What somebody is to be. */
export interface Role {
  readonly role: MemberRole;
}

/** One run; `measures` by flat name, empty while there are none. */
export interface Run {
  readonly number: number;
  readonly variant: number;
  readonly seed: string;
  readonly state: RunStateEnum;
  /** As the how many-th it ended. */
  readonly ended: number;
  readonly hash: string;
  readonly tick: number | null;
  readonly endMs: number | null;
  readonly settled: boolean | null;
  readonly problems: readonly string[];
  readonly error: string;
  readonly measures: Readonly<Record<string, number>>;
}

export type RunStateEnum = "waiting" | "running" | "done" | "failed" | "cancelled";

/** Samples in order of revision, as on the live page. */
export interface SampleList {
  readonly items: readonly (Readonly<Record<string, unknown>>)[];
}

/** A sandbox as lists show it. */
export interface Sandbox {
  readonly id: string;
  readonly title: string;
  readonly branch: string;
  readonly parent: string | null;
  readonly parentRevision: number;
  readonly scenario: string;
  readonly owner: string;
  readonly role: SandboxRole;
  readonly visibility: VisibilityEnum;
  readonly stack: Stack;
  readonly seed: string;
  readonly revision: number;
  readonly tick: number;
  readonly tMs: number;
  readonly tickMs: number;
  readonly playing: boolean;
  readonly speed: number;
  readonly until: string;
  readonly problem: string;
  readonly hash: string;
  /** the earliest that can be looked at */
  readonly firstTick: number;
  /** history kept; 0 = as the operator keeps */
  readonly keepTicks: number;
  readonly keepDays: number;
  /** in a file; to be opened again */
  readonly archived: boolean;
  readonly createdAt: string;
  readonly changedAt: string;
}

/** A page of sandboxes, newest change first. */
export interface SandboxList {
  readonly items: readonly Sandbox[];
  readonly remaining: number;
}

export type SandboxRole = "owner" | "editor" | "viewer";

/** A scenario of the library; texts by language tag. */
export interface Scenario {
  readonly name: string;
  readonly title: Readonly<Record<string, string>>;
  readonly summary: Readonly<Record<string, string>>;
  readonly lesson: boolean;
  readonly stack: string;
  readonly seed: string;
  readonly picture: Picture | null;
  readonly checkpoints: readonly Checkpoint[];
}

/** The library, in its order. */
export interface ScenarioList {
  readonly items: readonly Scenario[];
}

export type ScopeEnum = "read" | "write" | "admin";

/** Curves over the same ticks. */
export interface Series {
  readonly ticks: readonly number[];
  readonly branches: readonly Curves[];
}

/** A queue's weighted share before and after; "inf" for a weightless borrower. */
export interface Share {
  readonly queue: string;
  readonly before: string;
  readonly after: string;
}

/** A span of a timeline. */
export interface Span {
  readonly state: SpanStateEnum;
  readonly fromMs: number;
  readonly untilMs: number | null;
}

export type SpanStateEnum = "waiting" | "running" | "finished";

/** Speed in ticks per second, 0 = as fast as it goes. */
export interface Speed {
  readonly speed: number;
}

export type Stack = "kueue" | "yunikorn" | "kube";

/** A new experiment: its document, or a file that holds it, and texts it names. */
export interface Start {
  readonly document?: Readonly<Record<string, unknown>>;
  readonly files?: readonly File[];
  readonly title?: string;
  readonly visibility?: VisibilityEnum;
}

/** A number of ticks; or a tick to reach, an event to see, whichever comes first. */
export interface Step {
  readonly ticks?: number;
  readonly untilTick?: number | null;
  readonly untilEvent?: UntilEvent | null;
}

/** A page of rows, as on the live page. */
export interface Table {
  readonly items: readonly (Readonly<Record<string, unknown>>)[];
  /** rows that match */
  readonly total: number;
  /** Of all that match, not of the page. */
  readonly groups: readonly Group[];
  readonly offset: number;
  readonly revision: number;
}

/** How many expect it. */
export interface Tally {
  readonly stop: number;
  readonly choice: number;
  readonly count: number;
}

/** What happened to a workload in one branch. */
export interface Timeline {
  readonly arrivedMs: number | null;
  readonly firstMs: number | null;
  readonly startedMs: number | null;
  readonly finishedMs: number | null;
  readonly evictions: number;
  readonly spans: readonly Span[];
}

/** A token; its secret is only in the answer that made it. */
export interface Token {
  readonly id: number;
  readonly name: string;
  readonly scope: ScopeEnum;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly usedAt: string | null;
}

/** One's own tokens. */
export interface TokenList {
  readonly items: readonly Token[];
}

/** One measure: a value per branch, a delta per other branch. */
export interface Total {
  readonly measure: string;
  /** null = neither way. * `low` - low * `high` - high */
  readonly better: BetterEnum | NullEnum;
  readonly values: readonly (number | null)[];
  readonly deltas: readonly (number | null)[];
}

/** The first event that matches ends the run: one of several types, or one. */
export interface UntilEvent {
  /** Admit, or [Preempt, Evict] */
  readonly type: string | readonly string[];
  readonly subject?: string;
  readonly reason?: string;
}

/** What a sandbox takes on disk, in bytes. */
export interface Use {
  readonly id: string;
  readonly title: string;
  readonly archived: boolean;
  readonly bytes: number;
  /** objects, events, diffs, checkpoints, samples, operations, archive */
  readonly parts: Readonly<Record<string, number>>;
}

/** An assertion about one variant; null = a simulation cannot show it. */
export interface Verdict {
  readonly variant: number;
  readonly text: string;
  readonly holds: boolean | null;
  readonly value: number | null;
}

export type VerdictsEnum = "same" | "earlier" | "later" | "never" | "only";

/** Who would be evicted, and why. */
export interface Victim {
  readonly workload: string;
  readonly atMs: number;
  readonly reason: string;
  readonly message: string;
  readonly workLostMs: number;
}

export type VisibilityEnum = "private" | "public";

/** Edits to try on a copy, and the Workload that they are for, if one. */
export interface WhatIf {
  readonly edits: readonly Patch[];
  readonly pause?: readonly Patch[];
  /** Kind/namespace/name */
  readonly subject?: string;
}

/**
 * Why a workload is where it is, at this instant. `state`: "pending", "reserved", "admitted", "evicted" (its job
 * has not stopped yet), "requeued" (evicted and waiting again), "finished", "inactive". `chain` names what it
 * passes: LocalQueue, ClusterQueue and cohorts to the root. `decisive` is the index of the search that decided.
 */
export interface Explanation {
  readonly workload: string;
  readonly atMs: number;
  readonly tick: number;
  readonly state: string;
  readonly priority: number;
  readonly chain: readonly NodeName[];
  readonly condition: Condition | null;
  readonly conditions: readonly Condition[];
  readonly waiting: Waiting | null;
  readonly attempt: Attempt;
  readonly flavors: readonly FlavorRow[];
  readonly searches: readonly Search[];
  readonly decisive: number | null;
  readonly sentences: readonly string[];
}

/** A place in the quota tree. */
export interface NodeName {
  readonly kind: string;
  readonly name: string;
}

/** A condition as the API shows it. */
export interface Condition {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
  readonly sinceMs: number;
}

/** Where a workload stands in its ClusterQueue; positions from 1. */
export interface Waiting {
  readonly position: number;
  readonly of: number;
  readonly ahead: readonly string[];
  readonly moreAhead: number;
  readonly inadmissible: boolean;
  readonly sticky: boolean;
  readonly strategy: string;
  readonly notBeforeMs: number | null;
}

/**
 * What one admission cycle decides about the workload now. `ran` is False when the workload may not be tried;
 * `reason` and `message` say why. `order` is its turn among `heads`, from 1. `status`: "admitted", "preempting",
 * "skipped" (others of the cycle came first), "held" (pods of those admitted are waited for) or "refused".
 */
export interface Attempt {
  readonly ran: boolean;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly borrow: number;
  readonly order: number | null;
  readonly heads: readonly string[];
  readonly targets: readonly VictimRecord[];
}

/** Who is evicted, and why. */
export interface VictimRecord {
  readonly workload: string;
  readonly queue: string;
  readonly reason: string;
  readonly priority: number;
  readonly held: readonly Amount[];
  readonly message: string;
  readonly atMs: number | null;
  readonly workLostMs: number;
}

/** An amount of one resource, of one flavor when `flavor` says so. */
export interface Amount {
  readonly resource: string;
  readonly amount: string;
  readonly flavor: string;
}

/**
 * What one flavor offers a podset for one resource. `verdict`: "fit", "preempt" (somebody of the same
 * ClusterQueue goes), "reclaim" (only others go), "noCandidates", "noFit", "barred" (taints, affinity, no such
 * flavor), "notTried" (an earlier flavor was good enough) or "uncovered" (no quota of this resource at all: no
 * numbers). `requested` includes `assigned`, which earlier podsets ask of the same. `potential` is what would be
 * available if nothing were used. `chain` goes from the ClusterQueue to the root.
 */
export interface FlavorRow {
  readonly podSet: string;
  readonly flavor: string;
  readonly resource: string;
  readonly verdict: string;
  readonly reason: string;
  readonly requested: string;
  readonly assigned: string;
  readonly chosen: boolean;
  readonly borrow: number;
  readonly available: string;
  readonly potential: string;
  readonly shortfall: string;
  readonly chain: readonly Level[];
}

/**
 * Quota and usage of one node for one flavor and resource. `subtree` is what the node and all below bring
 * together, `lendable` the part of it that the parent may give to others.
 */
export interface Level {
  readonly kind: string;
  readonly name: string;
  readonly nominal: string;
  readonly subtree: string;
  readonly used: string;
  readonly borrowed: string;
  readonly lendable: string;
  readonly borrowingLimit: string | null;
  readonly lendingLimit: string | null;
}

/**
 * One search for victims: what for, among whom, how, and whom it found. `purpose`: "flavor" (would preemption
 * help here?) or "assignment" (for the whole request). `law`: "Classical" or "FairSharing"; `rules` are the
 * strategies of fair sharing in their order.
 */
export interface Search {
  readonly purpose: string;
  readonly law: string;
  readonly rules: readonly string[];
  readonly requests: readonly Amount[];
  readonly sources: readonly Source[];
  readonly steps: readonly StepRecord[];
  readonly targets: readonly VictimRecord[];
}

/**
 * Where candidates may come from. `relation`: "same" (its own ClusterQueue), "hierarchy" (lent from within a
 * subtree where the request is covered), "priority" (lent from farther away), "fair" (any borrower of the tree),
 * "other" (nobody of it: `why`). `holders` hold what is needed, `candidates` of them may be preempted.
 */
export interface Source {
  readonly queue: string;
  readonly relation: string;
  readonly policy: string;
  readonly holders: number;
  readonly candidates: number;
  readonly why: string;
  readonly cells: readonly Standing[];
}

/** What a node uses of what it brings, for one flavor and resource. */
export interface Standing {
  readonly kind: string;
  readonly name: string;
  readonly flavor: string;
  readonly resource: string;
  readonly used: string;
  readonly quota: string;
}

/**
 * One step of a search, in order. `kind`: "setup", "attempt" (with or without borrowing), "round" (a rule of
 * fair sharing), "turn" (whose candidates are looked at next), "candidate", "putBack" (a target that may not be
 * needed), "failed", "targets". `verdict` of a candidate: "taken", "refused" or "skipped"; of a target that is
 * put back: "spared" or "needed". `shares` are those after the step.
 */
export interface StepRecord {
  readonly kind: string;
  readonly headline: string;
  readonly sentence: string;
  readonly workload: string;
  readonly queue: string;
  readonly relation: string;
  readonly verdict: string;
  readonly reason: string;
  readonly priority: number | null;
  readonly evicted: boolean;
  readonly reservedMs: number | null;
  readonly held: readonly Amount[];
  readonly test: Test | null;
  readonly quotaChecks: readonly QuotaCheck[];
  readonly fits: boolean | null;
  readonly borrowing: boolean | null;
  readonly rule: string;
  readonly withinNominal: boolean | null;
  readonly shares: readonly ShareRow[];
}

/**
 * The question a candidate was judged by, with its numbers. `kind` "share": `rule` of the two, whose shares.
 * "priority": `below` is the priority to be under, None if nobody is. "withinNominal": a node of `cells` whose
 * usage is no more than its quota has nothing to give back.
 */
export interface Test {
  readonly kind: string;
  readonly rule: number | null;
  readonly ours: NodeName | null;
  readonly theirs: NodeName | null;
  readonly preemptorShare: number | null;
  readonly targetShareBefore: number | null;
  readonly targetShareAfter: number | null;
  readonly priority: number | null;
  readonly below: number | null;
  readonly cells: readonly Standing[];
}

/**
 * What is free for a request at one step of a search. `amount` is asked. `within_nominal` is what is left of the
 * ClusterQueue's own quota where it may not borrow, None where it may.
 */
export interface QuotaCheck {
  readonly resource: string;
  readonly amount: string;
  readonly flavor: string;
  readonly available: string;
  readonly withinNominal: string | null;
}

/** The weighted share of one node. */
export interface ShareRow {
  readonly kind: string;
  readonly name: string;
  readonly share: number | null;
  readonly weight: number;
  readonly borrowing: boolean;
}

/** Where kube-scheduler could place a pod, node by node. */
export interface PodExplanation {
  readonly pod: string;
  readonly atMs: number;
  readonly node: string;
  readonly condition: Condition | null;
  readonly queue: string;
  readonly nominated: string;
  readonly scorers: readonly Scorer[];
  readonly nodes: readonly NodeRowRecord[];
  readonly totalNodes: number;
  readonly feasible: number;
  readonly best: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly problem: string;
  readonly sentences: readonly string[];
}

/** A scoring plug-in and its weight; `skipped` where it had nothing to say. */
export interface Scorer {
  readonly plugin: string;
  readonly weight: number;
  readonly skipped: boolean;
}

/** One node in the table of a pod. */
export interface NodeRowRecord {
  readonly node: string;
  readonly fits: boolean;
  readonly code: string;
  readonly plugin: string;
  readonly reasons: readonly string[];
  readonly scores: readonly Score[];
  readonly total: number | null;
}

/** One scorer on one node. */
export interface Score {
  readonly plugin: string;
  readonly raw: number;
  readonly normalized: number;
}

/** Why a pod has no place under YuniKorn, and what both sets of laws would do. */
export interface AskExplanation {
  readonly pod: string;
  readonly atMs: number;
  readonly application: string;
  readonly applicationState: string;
  readonly queue: string;
  readonly node: string;
  readonly reservedOn: string;
  readonly requests: readonly Amount[];
  readonly path: readonly QueueRoom[];
  readonly headroom: readonly Amount[];
  readonly checks: readonly Check[];
  readonly line: readonly LineLevel[];
  readonly nodeVerdicts: readonly NodeVerdict[];
  readonly nodesWithRoom: number;
  readonly nodes: number;
  readonly plans: readonly Plan[];
  readonly lawsDiffer: boolean;
  readonly log: readonly string[];
  readonly sentences: readonly string[];
}

/** One queue on the path of a YuniKorn ask, leaf first. */
export interface QueueRoom {
  readonly queue: string;
  readonly resource: string;
  readonly guaranteed: string | null;
  readonly max: string | null;
  readonly used: string;
  readonly pending: string;
  readonly left: string | null;
}

/** One condition and whether it holds. */
export interface Check {
  readonly name: string;
  readonly holds: boolean;
  readonly detail: string;
}

/**
 * Who is visited at one level on the way to an ask, first one first. `kind`: "queues" below `name`,
 * "applications" of it, or "asks" of an application. Of queues `shares` are those they are sorted by.
 */
export interface LineLevel {
  readonly kind: string;
  readonly name: string;
  readonly order: readonly string[];
  readonly shares: readonly number[];
}

/** Why a node does not take an ask now; "" when it does. */
export interface NodeVerdict {
  readonly node: string;
  readonly verdict: string;
}

/** Whom one set of preemption laws would preempt for an ask. */
export interface Plan {
  readonly laws: string;
  readonly inForce: boolean;
  readonly node: string;
  readonly victims: readonly VictimRecord[];
  readonly reason: string;
}

/** An application, who stands before it in its queue, and its next ask. */
export interface ApplicationExplanation {
  readonly application: string;
  readonly atMs: number;
  readonly queue: string;
  readonly state: string;
  readonly user: string;
  readonly submittedMs: number;
  readonly mayRun: boolean;
  readonly allocated: readonly Amount[];
  readonly pending: readonly Amount[];
  readonly before: readonly string[];
  readonly waiting: readonly string[];
  readonly placed: readonly string[];
  readonly next: AskExplanation | null;
  readonly lawsDiffer: boolean;
  readonly sentences: readonly string[];
}

/** Verdicts, each one run; `tried` of `questions` were asked before `limit` runs. */
export interface Counterfactuals {
  readonly workload: string;
  readonly atMs: number;
  readonly horizonMs: number;
  readonly questions: number;
  readonly tried: number;
  readonly runs: number;
  readonly verdicts: readonly VerdictRecord[];
}

/**
 * One counterfactual that was really run. `verdict`: "yes", "but" (admitted, and its pods stay pending), "no",
 * or "unknown" when the run was given up. `kind`: "wait", "nominalQuota", "borrowingLimit", "priority",
 * "weight", "reclaimWithinCohort", "withinClusterQueue", "borrowWithinCohort", "queueingStrategy" or
 * "localQueue". `finishes` are the workloads whose end came right before (kind "wait"). `subject` and `effect`
 * are sentences.
 */
export interface VerdictRecord {
  readonly id: string;
  readonly kind: string;
  readonly verdict: string;
  readonly subject: string;
  readonly now: string;
  readonly effect: string;
  readonly change: Change | null;
  readonly outcome: Outcome;
  readonly amounts: readonly Amount[];
  readonly value: string;
  readonly finishes: readonly string[];
  readonly runs: number;
}

/**
 * Edits that belong together. `pause` holds those that come first where the change needs an instant between
 * them: a Workload with quota is inactive before it can move.
 */
export interface Change {
  readonly edits: readonly Edit[];
  readonly pause: readonly Edit[];
}

/** A JSON merge patch of one object: enough to do the change for real. */
export interface Edit {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly patch: Readonly<Record<string, unknown>>;
}

/**
 * What a run on a copy of the world came to. `outcome`: "admitted", "waits", "inactive", "finished" (before it
 * was asked), "gone", "unknown" (given up after very many decisions, at `ran_to_ms`), or "ran" when it is about
 * no workload. `pods`: "" when pods are not placed, "placed", or "pending" with `pods_message`. `victims` are
 * those preempted for it, with what was lost.
 */
export interface Outcome {
  readonly outcome: string;
  readonly atMs: number | null;
  readonly tick: number | null;
  readonly ranToMs: number;
  readonly settled: boolean;
  readonly reason: string;
  readonly message: string;
  readonly pods: string;
  readonly podsMessage: string;
  readonly position: number | null;
  readonly victims: readonly VictimRecord[];
  readonly shares: readonly ShareChange[];
  readonly workLostMs: number;
}

/** A weighted share before and after something. */
export interface ShareChange {
  readonly kind: string;
  readonly name: string;
  readonly before: number | null;
  readonly after: number | null;
}

/** Shares, flows and whose turn it is, at this instant. */
export interface Fairness {
  readonly atMs: number;
  readonly tick: number;
  readonly fairSharing: boolean;
  readonly strategies: readonly string[];
  readonly formulas: readonly Formula[];
  readonly flows: readonly Flow[];
  readonly heads: readonly Head[];
  readonly nextVictims: readonly NextVictim[];
}

/** The weighted share of one node, with its numbers filled in. */
export interface Formula {
  readonly kind: string;
  readonly name: string;
  readonly parent: string;
  readonly fractions: readonly Fraction[];
  readonly ratio: number;
  readonly weight: number;
  readonly share: number | null;
  readonly borrowing: boolean;
}

/** What a node has borrowed of what its cohort could lend, for one resource. */
export interface Fraction {
  readonly resource: string;
  readonly borrowed: string;
  readonly lendable: string;
  readonly ratio: number;
  readonly winning: boolean;
  readonly workloads: readonly string[];
}

/**
 * Quota of one lender that one borrower uses, in one cohort. Kueue keeps no account of who lends to whom: what
 * is borrowed in a cohort is spread over its lenders in proportion to what each has to spare.
 */
export interface Flow {
  readonly cohort: string;
  readonly flavor: string;
  readonly resource: string;
  readonly lender: NodeName;
  readonly borrower: NodeName;
  readonly amount: string;
}

/** A head of a queue in the order in which the next cycle takes it. */
export interface Head {
  readonly order: number;
  readonly workload: string;
  readonly queue: string;
  readonly requests: readonly Amount[];
  readonly shareAfter: number | null;
  readonly borrow: number;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly targets: readonly VictimRecord[];
}

/** Who goes first when a queue within its nominal quota reclaims. */
export interface NextVictim {
  readonly tree: string;
  readonly flavor: string;
  readonly resource: string;
  readonly workload: string;
  readonly queue: string;
  readonly priority: number;
  readonly amount: string;
  readonly reservedMs: number | null;
  readonly share: number | null;
}

/**
 * A preemption step by step, found by running its tick again. `shares` are those before the search and after it,
 * victims out and the preemptor in. `search.steps` begin with the setup and end with the targets.
 */
export interface Preemption {
  readonly preemptor: string;
  readonly queue: string;
  readonly atMs: number;
  readonly tick: number;
  readonly search: Search;
  readonly flavors: readonly FlavorRow[];
  readonly shares: readonly ShareChange[];
  readonly targets: readonly VictimRecord[];
  readonly reason: string;
  readonly message: string;
}

/**
 * What an edit would come to, run on a copy; for drag and drop. `cells` is the quota that the workload's
 * ClusterQueue has afterwards, with the request in `amount`; `refused` says why the edit cannot be made.
 */
export interface Preview {
  readonly change: Change | null;
  readonly refused: string;
  readonly workload: string;
  readonly queue: string;
  readonly evicted: boolean;
  readonly cells: readonly FlavorRow[];
  readonly outcome: Outcome | null;
  readonly admitted: readonly string[];
  readonly sentences: readonly string[];
}

/** Server: everything at one revision. The newest 600 samples and 200 events. */
export interface PageState {
  readonly type: "page_state";
  readonly revision: number;
  readonly rows: readonly (SandboxRow | CohortRow | ClusterQueueRow | LocalQueueRow | ResourceFlavorRow | WorkloadRow | NodeRow | PodRow | QueueRow | ApplicationRow | PolicyRow)[];
  readonly samples: readonly Sample[];
  readonly events: readonly EventLine[];
  readonly protocol: number;
}

/** The sandbox itself: clock, transport and what may be done with it. */
export interface SandboxRow {
  readonly kind: "Sandbox";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly id: string;
  readonly title: string;
  readonly branch: string;
  readonly parent: string | null;
  readonly stack: "kube" | "kueue" | "yunikorn";
  readonly fairSharing: boolean;
  readonly laws: string;
  readonly seed: string;
  readonly tick: number;
  readonly tMs: number;
  readonly tickMs: number;
  readonly firstTick: number;
  readonly playing: boolean;
  readonly speed: number;
  readonly until: string;
  readonly problem: string;
  readonly hash: string;
  readonly resources: readonly string[];
  readonly notSimulated: readonly string[];
}

/** A cohort: an inner node of the quota tree. */
export interface CohortRow {
  readonly kind: "Cohort";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly parent: string;
  readonly implicit: boolean;
  readonly weight: string;
  readonly share: string;
  readonly cells: readonly QuotaCell[];
  readonly lendable: Readonly<Record<string, string>>;
}

/** Quota and usage of one (flavor, resource) at one node of the quota tree. */
export interface QuotaCell {
  readonly flavor: string;
  readonly resource: string;
  readonly nominal: string;
  readonly used: string;
  readonly borrowed: string;
  readonly lent: string;
  readonly available: string;
  readonly borrowingLimit: string | null;
  readonly lendingLimit: string | null;
}

/** A ClusterQueue: a leaf of the quota tree. */
export interface ClusterQueueRow {
  readonly kind: "ClusterQueue";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly cohort: string;
  readonly queueingStrategy: string;
  readonly stopPolicy: string;
  readonly active: boolean;
  readonly inactiveReason: string;
  readonly weight: string;
  readonly share: string;
  readonly cells: readonly QuotaCell[];
  readonly counts: WorkloadCounts;
  readonly withinClusterQueue: string;
  readonly reclaimWithinCohort: string;
  readonly borrowWithinCohort: string;
}

/** Workloads by state. */
export interface WorkloadCounts {
  readonly pending: number;
  readonly inadmissible: number;
  readonly reserved: number;
  readonly admitted: number;
  readonly evicted: number;
  readonly finished: number;
}

/** A LocalQueue: the queue of a namespace that leads to a ClusterQueue. */
export interface LocalQueueRow {
  readonly kind: "LocalQueue";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly clusterQueue: string;
  readonly stopPolicy: string;
  readonly active: boolean;
  readonly counts: WorkloadCounts;
}

/** A ResourceFlavor. */
export interface ResourceFlavorRow {
  readonly kind: "ResourceFlavor";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly taints: readonly string[];
}

/** A Workload as a card shows it. */
export interface WorkloadRow {
  readonly kind: "Workload";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly localQueue: string;
  readonly clusterQueue: string;
  readonly phase: "admitted" | "finished" | "inactive" | "inadmissible" | "pending" | "reserved";
  readonly priority: number;
  readonly priorityClass: string;
  readonly podSets: readonly PodSetCell[];
  readonly totals: Readonly<Record<string, string>>;
  readonly reason: string;
  readonly message: string;
  readonly sticky: boolean;
  readonly orderUs: string;
  readonly createdMs: number;
  readonly reservedMs: number | null;
  readonly admittedMs: number | null;
  readonly readyMs: number | null;
  readonly endsMs: number | null;
  readonly runtimeMs: number;
  readonly requeueMs: number | null;
  readonly evictions: number;
  readonly evicted: boolean;
  readonly owner: string;
}

/** One pod set of a Workload. */
export interface PodSetCell {
  readonly name: string;
  readonly count: number;
  readonly minCount: number | null;
  readonly requests: Readonly<Record<string, string>>;
  readonly flavors: Readonly<Record<string, string>>;
}

/** A node with what is taken on it. */
export interface NodeRow {
  readonly kind: "Node";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly state: "cordoned" | "failed" | "ready";
  readonly flavor: string;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly used: Readonly<Record<string, string>>;
  readonly pods: number;
  readonly taints: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** A pod. */
export interface PodRow {
  readonly kind: "Pod";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly node: string;
  readonly nominated: string;
  readonly phase: "bound" | "failed" | "gated" | "pending" | "ready" | "running" | "succeeded" | "waiting";
  readonly workload: string;
  readonly queue: string;
  readonly scheduler: string;
  readonly priority: number;
  readonly requests: Readonly<Record<string, string>>;
  readonly qos: string;
  readonly reason: string;
  readonly message: string;
}

/** A YuniKorn queue; `name` is its full path. */
export interface QueueRow {
  readonly kind: "Queue";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly parent: string;
  readonly leaf: boolean;
  readonly guaranteed: Readonly<Record<string, string>>;
  readonly max: Readonly<Record<string, string>>;
  readonly allocated: Readonly<Record<string, string>>;
  readonly pending: Readonly<Record<string, string>>;
  readonly share: number;
  readonly sortPolicy: string;
  readonly preemptionPolicy: string;
  readonly preemptionDelayMs: number;
  readonly priorityPolicy: string;
  readonly priorityOffset: number;
  readonly applications: number;
}

/** A YuniKorn application. */
export interface ApplicationRow {
  readonly kind: "Application";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly queue: string;
  readonly state: string;
  readonly user: string;
  readonly submittedMs: number;
  readonly allocated: Readonly<Record<string, string>>;
  readonly pending: Readonly<Record<string, string>>;
  readonly asks: number;
  readonly allocations: number;
}

/** The policy document in force; `changed` are paths that differ from the start. */
export interface PolicyRow {
  readonly kind: "Policy";
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly document: Readonly<Record<string, unknown>>;
  readonly changed: readonly string[];
}

/** The whole world at one tick, for the curves. */
export interface Sample {
  readonly tick: number;
  readonly tMs: number;
  readonly pending: number;
  readonly admitted: number;
  readonly finished: number;
  readonly preemptions: number;
  readonly evictions: number;
  readonly used: Readonly<Record<string, string>>;
  readonly capacity: Readonly<Record<string, string>>;
  readonly queues: readonly QueueSample[];
}

/** One queue at one tick, for the curves. */
export interface QueueSample {
  readonly queue: string;
  readonly share: number | null;
  readonly used: Readonly<Record<string, string>>;
  readonly pending: number;
}

/** One decision or edit, as the event list shows it. */
export interface EventLine {
  readonly revision: number;
  readonly seq: number;
  readonly tick: number;
  readonly tMs: number;
  readonly type: string;
  readonly subject: string;
  readonly by: string;
  readonly reason: string;
  readonly message: string;
}

/** An error, as Kubernetes words it. */
export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly status: "Failure";
  readonly message: string;
  readonly reason: string;
  readonly code: number;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** One thing that is wrong, and where. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
  readonly file: string;
  readonly line: number;
  readonly level: "error" | "warning" | "unsupported";
}
