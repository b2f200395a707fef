// Generated from schema.json by `npm run types`. Do not edit by hand.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description What to set, and why to believe it. */
        readonly AdviceAnswer: {
            readonly verdict: components["schemas"]["VerdictEnum"];
            readonly summary: string;
            readonly edits: readonly components["schemas"]["AdviceEdit"][];
            readonly rows: readonly components["schemas"]["AdviceRow"][];
            readonly constraints: readonly components["schemas"]["AdviceConstraint"][];
            readonly sensitivity: readonly components["schemas"]["AdviceNear"][];
            readonly front: readonly components["schemas"]["AdviceFrontPoint"][];
            readonly gain: components["schemas"]["AdviceMean"] | null;
            /** @description [runs, missed constraints, objectives as a share of the base's]. */
            readonly trail: readonly (readonly number[])[];
            readonly settings: number;
            readonly tried: number;
            readonly dropped: number;
            /** @description Of those tried; not in answers of older versions. */
            readonly unrunnable?: number;
            readonly runs: number;
            readonly proofRuns: number;
            readonly point: readonly number[];
            readonly seeds: readonly number[];
            readonly heldOut: readonly number[];
            /** @description What `kubectl apply -f` takes. */
            readonly patches: string;
            /** @description The same objects as they are. */
            readonly undo: string;
        };
        /** @description A constraint in numbers: bounds of a measure, or how much worse it may become. */
        readonly AdviceBound: {
            readonly measure: string;
            /** Format: double */
            readonly min?: number;
            /** Format: double */
            readonly max?: number;
            /**
             * @description Seeds; the mean when absent.
             *
             *     * `mean` - mean
             *     * `every` - every
             */
            readonly over?: components["schemas"]["OverEnum"];
            /**
             * Format: double
             * @description A share: 0.1 = 10%.
             */
            readonly loses?: number;
        };
        /** @description One constraint on seeds that the search did not use. */
        readonly AdviceConstraint: {
            readonly text: string;
            /** @description Not in answers of older versions. */
            readonly constraint?: components["schemas"]["AdviceBound"];
            /** Format: double */
            readonly before: number | null;
            /** Format: double */
            readonly after: number | null;
            readonly heldBefore: boolean;
            readonly heldAfter: boolean;
        };
        /** @description One edit, and what leaving it out alone does. */
        readonly AdviceEdit: {
            readonly object: string;
            readonly field: string;
            readonly before: string;
            readonly after: string;
            /** @description What is set then, in words. */
            readonly leftOut: string;
            /** @description Left out less answer, by measure. */
            readonly effect: {
                readonly [key: string]: components["schemas"]["AdviceMean"];
            };
            /** @description A constraint is missed without it. */
            readonly needed: boolean;
        };
        /** @description What a search would take, before it is started. */
        readonly AdviceEstimate: {
            /** @description That there are to choose from. */
            readonly settings: number;
            /** @description At most about this many. */
            readonly runs: number;
            /**
             * Format: double
             * @description Of CPU.
             */
            readonly secondsPerRun: number;
            /**
             * Format: double
             * @description Of all runs, on one worker.
             */
            readonly cpuSeconds: number;
        };
        /** @description A setting that no other one beats in every objective. */
        readonly AdviceFrontPoint: {
            readonly name: string;
            readonly edits: readonly string[];
            readonly values: {
                readonly [key: string]: number;
            };
        };
        /** @description A mean over seeds and its 95% interval; null with one seed. */
        readonly AdviceMean: {
            readonly count: number;
            /** Format: double */
            readonly mean: number;
            /** Format: double */
            readonly low: number | null;
            /** Format: double */
            readonly high: number | null;
        };
        /** @description A setting next to the answer. */
        readonly AdviceNear: {
            readonly text: string;
            /**
             * Format: double
             * @description Of the objectives; above 0 = worse.
             */
            readonly change: number;
            /** @description Every constraint. */
            readonly holds: boolean;
        };
        /** @description One measure before and after; held = on seeds that the search did not use. */
        readonly AdviceRow: {
            readonly measure: string;
            readonly better: components["schemas"]["BetterEnum"] | components["schemas"]["BlankEnum"];
            readonly before: components["schemas"]["AdviceMean"] | null;
            readonly after: components["schemas"]["AdviceMean"] | null;
            readonly heldBefore: components["schemas"]["AdviceMean"] | null;
            readonly heldAfter: components["schemas"]["AdviceMean"] | null;
            readonly heldDifference: components["schemas"]["AdviceMean"] | null;
        };
        /**
         * @description * `known` - known
         *     * `continued` - continued
         * @enum {string}
         */
        readonly ArrivalsEnum: "known" | "continued";
        /** @description An assertion about one variant; null = a simulation cannot show it. */
        readonly AssertionResult: {
            readonly variant: number;
            readonly text: string;
            readonly holds: boolean | null;
            /** Format: double */
            readonly value: number | null;
        };
        /** @description One line of the audit log. */
        readonly Audit: {
            /** Format: date-time */
            readonly at: string;
            readonly who: string;
            readonly action: string;
            readonly subject: string;
            readonly detail: {
                readonly [key: string]: unknown;
            };
        };
        /** @description The newest lines, newest first. */
        readonly AuditList: {
            readonly items: readonly components["schemas"]["Audit"][];
        };
        /**
         * @description * `low` - low
         *     * `high` - high
         *     * `` -
         * @enum {string}
         */
        readonly BetterEnum: "low" | "high";
        /** @enum {unknown} */
        readonly BlankEnum: "";
        /** @description One branch. */
        readonly Branch: {
            readonly id: string;
            readonly title: string;
            readonly branch: string;
            readonly stack: string;
            readonly tick: number;
        };
        /** @description A stop of a lesson; texts by language tag. */
        readonly Checkpoint: {
            readonly at: string;
            readonly atMs: number;
            readonly say: {
                readonly [key: string]: string;
            };
            readonly ask: {
                readonly [key: string]: string;
            };
            readonly answer: {
                readonly [key: string]: string;
            };
            readonly choices: readonly {
                readonly [key: string]: string;
            }[];
            readonly right: number | null;
        };
        /** @description A cluster that may be followed. */
        readonly Cluster: {
            readonly name: string;
            /** @description which shows it already, where you may see that */
            readonly sandbox: string | null;
            readonly followed: boolean;
        };
        /** @description A worker cluster and what happens to the connection to it. */
        readonly ClusterChange: {
            readonly name: string;
            readonly change: components["schemas"]["ClusterChangeChangeEnum"];
        };
        /**
         * @description * `lose` - lose
         *     * `recover` - recover
         * @enum {string}
         */
        readonly ClusterChangeChangeEnum: "lose" | "recover";
        /** @description The clusters that you may follow; none where the operator names none. */
        readonly ClusterList: {
            readonly items: readonly components["schemas"]["Cluster"][];
        };
        /** @description A column that a queue may be chosen by. */
        readonly ColumnPreview: {
            readonly name: string;
            readonly distinct: number;
            readonly values: readonly components["schemas"]["Counted"][];
        };
        /** @description Two or more branches; the first is what the others are held against. */
        readonly Comparison: {
            readonly branches: readonly components["schemas"]["Branch"][];
            /** @description The last tick that all have in common. */
            readonly fromTick: number;
            readonly toTick: number;
            /** @description Waits that began before this tick are not known. */
            readonly historyFrom: number;
            /** @description false: the stacks are too different to compare single workloads. */
            readonly sameSubjects: boolean;
            /** @description One per other branch; null = they decide the same. */
            readonly differences: readonly (components["schemas"]["Difference"] | null)[];
            readonly counts: readonly components["schemas"]["OutcomeCounts"][];
            readonly workloads: readonly components["schemas"]["OutcomeDiff"][];
            readonly moreWorkloads: number;
            readonly preemptions: readonly components["schemas"]["Preemptions"][];
            readonly series: components["schemas"]["Series"];
            readonly totals: readonly components["schemas"]["Total"][];
        };
        /** @description Files to be converted, for a stack or for the sandbox that they would come to. */
        readonly Conversion: {
            readonly files: readonly components["schemas"]["File"][];
            /** @default  */
            readonly into?: string;
            /**
             * @description that of the sandbox, else kueue
             *
             *     * `kueue` - kueue
             *     * `yunikorn` - yunikorn
             * @default
             */
            readonly stack?: components["schemas"]["ConvertedStack"] | components["schemas"]["BlankEnum"];
        };
        /** @description What comes of files when they are converted. */
        readonly Conversions: {
            /** @description whose objects were found */
            readonly systems: readonly string[];
            /** @description files that were written anew */
            readonly changed: readonly string[];
            /** @description how many of each were written */
            readonly kinds: {
                readonly [key: string]: number;
            };
            readonly losses: readonly components["schemas"]["PlacedLoss"][];
            readonly files: readonly components["schemas"]["ConvertedFile"][];
            /** @description files that cannot be read */
            readonly unread: readonly components["schemas"]["Finding"][];
        };
        /** @description Which stack the new sandbox runs, and its title if not one made up. */
        readonly Convert: {
            readonly stack: components["schemas"]["ConvertedStack"];
            /** @default  */
            readonly title?: string;
        };
        /** @description The new sandbox, what was found in it, and what could not be carried over. */
        readonly Converted: {
            readonly id: string;
            readonly title: string;
            readonly branch: string;
            readonly parent: string | null;
            readonly parentRevision: number;
            readonly scenario: string;
            readonly owner: string;
            readonly role: components["schemas"]["SandboxRole"];
            readonly visibility: components["schemas"]["VisibilityEnum"];
            readonly stack: components["schemas"]["Stack"];
            readonly seed: string;
            readonly revision: number;
            readonly tick: number;
            readonly tMs: number;
            readonly tickMs: number;
            readonly playing: boolean;
            /** Format: double */
            readonly speed: number;
            readonly until: string;
            readonly problem: string;
            readonly hash: string;
            /** @description the earliest that can be looked at */
            readonly firstTick: number;
            /** @description history kept; 0 = as the operator keeps */
            readonly keepTicks: number;
            readonly keepDays: number;
            /** @description in a file; to be opened again */
            readonly archived: boolean;
            /**
             * @description other than simulated: a real cluster, which cannot be edited
             *
             *     * `simulated` - simulated
             *     * `recording` - recording
             *     * `cluster` - cluster
             */
            readonly source: components["schemas"]["SourceEnum"];
            readonly sourceName: string;
            /** @description of a recording */
            readonly lastTick: number | null;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly changedAt: string;
            readonly findings: readonly components["schemas"]["Finding"][];
            readonly losses: readonly components["schemas"]["Loss"][];
        };
        /** @description A file to take instead of those that were given. */
        readonly ConvertedFile: {
            readonly name: string;
            readonly text: string;
        };
        /**
         * @description * `kueue` - kueue
         *     * `yunikorn` - yunikorn
         * @enum {string}
         */
        readonly ConvertedStack: "kueue" | "yunikorn";
        /** @description A value, and how many jobs have it. */
        readonly Counted: {
            readonly value: string;
            readonly jobs: number;
        };
        /** @description A new sandbox: of a scenario of the library, of files, or empty. */
        readonly Create: {
            /** @default  */
            readonly title?: string;
            /** @default  */
            readonly scenario?: string;
            readonly files?: readonly components["schemas"]["File"][];
            readonly traces?: components["schemas"]["Traces"];
            /** Format: int64 */
            readonly seed?: number | null;
            /** @description Merge patch of the policy's spec. */
            readonly policy?: {
                readonly [key: string]: unknown;
            };
            /**
             * @description leave out what cannot be taken
             * @default false
             */
            readonly skipErrors?: boolean;
            /**
             * @description write what is of Volcano, KAI or Armada in the sandbox's terms; the report says what is lost
             * @default false
             */
            readonly convert?: boolean;
        };
        /** @description A sandbox just made, and what was found in its files. */
        readonly Created: {
            readonly id: string;
            readonly title: string;
            readonly branch: string;
            readonly parent: string | null;
            readonly parentRevision: number;
            readonly scenario: string;
            readonly owner: string;
            readonly role: components["schemas"]["SandboxRole"];
            readonly visibility: components["schemas"]["VisibilityEnum"];
            readonly stack: components["schemas"]["Stack"];
            readonly seed: string;
            readonly revision: number;
            readonly tick: number;
            readonly tMs: number;
            readonly tickMs: number;
            readonly playing: boolean;
            /** Format: double */
            readonly speed: number;
            readonly until: string;
            readonly problem: string;
            readonly hash: string;
            /** @description the earliest that can be looked at */
            readonly firstTick: number;
            /** @description history kept; 0 = as the operator keeps */
            readonly keepTicks: number;
            readonly keepDays: number;
            /** @description in a file; to be opened again */
            readonly archived: boolean;
            /**
             * @description other than simulated: a real cluster, which cannot be edited
             *
             *     * `simulated` - simulated
             *     * `recording` - recording
             *     * `cluster` - cluster
             */
            readonly source: components["schemas"]["SourceEnum"];
            readonly sourceName: string;
            /** @description of a recording */
            readonly lastTick: number | null;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly changedAt: string;
            readonly findings: readonly components["schemas"]["Finding"][];
            readonly report: components["schemas"]["Report"];
        };
        /** @description One branch over the ticks; null where nothing is known. */
        readonly Curves: {
            readonly pending: readonly (number | null)[];
            readonly running: readonly (number | null)[];
            readonly waitP50Ms: readonly (number | null)[];
            /** @description By resource. */
            readonly utilisation: {
                readonly [key: string]: readonly (number | null)[];
            };
            /** @description By queue. */
            readonly shares: {
                readonly [key: string]: readonly (number | null)[];
            };
            /** @description By queue and resource. */
            readonly used: {
                readonly [key: string]: {
                    readonly [key: string]: readonly (number | null)[];
                };
            };
        };
        /** @description What the whole database takes; free = space in it for new rows (SQLite). */
        readonly Database: {
            readonly bytes: number;
            readonly free: number;
        };
        /** @description One decision. */
        readonly Decided: {
            readonly tMs: number;
            readonly type: string;
            readonly subject: string;
            readonly by: string;
            readonly reason: string;
            readonly message: string;
        };
        /** @description Objects to delete. */
        readonly Delete: {
            /** Format: int64 */
            readonly revision?: number | null;
            readonly objects: readonly components["schemas"]["Key"][];
        };
        /** @description The first decision that is not the same; null = nothing is decided there. */
        readonly Difference: {
            readonly tick: number;
            readonly tMs: number;
            readonly ours: components["schemas"]["Decided"] | null;
            readonly theirs: components["schemas"]["Decided"] | null;
        };
        /** @description What your sandboxes take on disk; what a fork shares is its parent's. */
        readonly Disk: {
            readonly items: readonly components["schemas"]["Use"][];
            readonly bytes: number;
            readonly database: components["schemas"]["Database"];
        };
        /** @description The revision that an action made; the diff to it is on its way to everyone. */
        readonly Done: {
            readonly revision: number;
            readonly tick: number;
        };
        /** @description A strategy or plug-in that is enrolled. */
        readonly Entry: {
            readonly family: string;
            readonly name: string;
            readonly label: string;
            readonly help: string;
            /** @description JSON Schema of its arguments. */
            readonly parameters: {
                readonly [key: string]: unknown;
            } | null;
        };
        /** @description One decision or edit; `data` holds what only its type has. */
        readonly Event: {
            readonly revision: number;
            readonly seq: number;
            readonly tick: number;
            readonly tMs: number;
            readonly type: string;
            readonly subject: string;
            readonly by: string;
            readonly reason: string;
            readonly message: string;
            /** @description the message with its code, where it is in words of this program */
            readonly said?: components["schemas"]["Said"];
            readonly data: {
                readonly [key: string]: unknown;
            };
        };
        /** @description Events in order; `next` is the revision and seq to go on after. */
        readonly EventList: {
            readonly items: readonly components["schemas"]["Event"][];
            /** @description "revision.seq", "" at the end */
            readonly next: string;
        };
        /** @description An experiment as lists show it. */
        readonly Experiment: {
            readonly id: string;
            readonly title: string;
            readonly owner: string;
            readonly role: components["schemas"]["ExperimentRole"];
            readonly visibility: components["schemas"]["VisibilityEnum"];
            readonly state: components["schemas"]["ExperimentState"];
            /** @description Asks for its runs as it goes, towards a goal. */
            readonly isSearch: boolean;
            /** @description Runs. */
            readonly total: number;
            /** @description Runs that ended, well or not. */
            readonly done: number;
            readonly failed: number;
            readonly variants: readonly string[];
            readonly seeds: readonly string[];
            readonly horizonMs: number;
            readonly limitMs: number;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly finishedAt: string | null;
        };
        /** @description A page of experiments, newest first. */
        readonly ExperimentList: {
            readonly items: readonly components["schemas"]["Experiment"][];
            readonly remaining: number;
        };
        /**
         * @description * `owner` - owner
         *     * `viewer` - viewer
         * @enum {string}
         */
        readonly ExperimentRole: "owner" | "viewer";
        /**
         * @description * `running` - running
         *     * `done` - done
         *     * `failed` - failed
         *     * `cancelled` - cancelled
         * @enum {string}
         */
        readonly ExperimentState: "running" | "done" | "failed" | "cancelled";
        /**
         * @description One file: its name, for messages, and its text, or its bytes in base64.
         *
         *     Bytes may be packed (`.gz`, `.zip`, `.tar`, `.tgz`); they are unpacked here.
         */
        readonly File: {
            /** @default input.yaml */
            readonly name?: string;
            /** @default  */
            readonly text?: string;
            /**
             * @description base64, instead of `text`
             * @default
             */
            readonly data?: string;
        };
        /** @description What one file gave: its documents by what became of them, and by kind. */
        readonly FileOutcome: {
            readonly file: string;
            readonly simulated: number;
            readonly kept: number;
            readonly configuration: number;
            readonly refused: number;
            readonly kinds: {
                readonly [key: string]: number;
            };
        };
        /** @description Something that the importer found. */
        readonly Finding: {
            readonly level: components["schemas"]["LevelEnum"];
            readonly file: string;
            readonly line: number;
            readonly field: string;
            readonly problem: string;
        };
        /** @description One sort of finding: how often, the first places, what it changes. */
        readonly FindingGroup: {
            readonly level: components["schemas"]["LevelEnum"];
            readonly problem: string;
            readonly effect: string;
            /**
             * @description names the effect
             * @default
             */
            readonly code?: string;
            readonly count: number;
            readonly places: readonly components["schemas"]["Place"][];
            /** @description The problem with its code, where it has one. */
            readonly said?: components["schemas"]["Said"] | null;
        };
        /** @description How a forecast is asked for. */
        readonly ForecastOptions: {
            /** @default 20 */
            readonly futures?: number;
            /** @default 3600000 */
            readonly horizonMs?: number;
            /**
             * Format: int64
             * @default 1
             */
            readonly seed?: number;
            /** @default 20 */
            readonly seconds?: number;
            readonly arrivals?: components["schemas"]["ArrivalsEnum"];
            /** @description a further time to give the chance of */
            readonly withinMs?: number | null;
            /**
             * Format: int64
             * @description as it was then; now
             */
            readonly tick?: number | null;
        };
        /** @description Where to fork; now when there is no tick. */
        readonly Fork: {
            /** Format: int64 */
            readonly tick?: number | null;
            /** @default  */
            readonly title?: string;
        };
        /** @description One value of the field that parts the rows. */
        readonly Group: {
            readonly value: string;
            readonly count: number;
        };
        /** @description What a follower expects: the index of a choice at the index of a stop. */
        readonly Guess: {
            readonly stop: number;
            readonly choice: number;
        };
        /** @description SHA-256 of the world's canonical msgpack. */
        readonly Hash: {
            readonly hash: string;
            readonly revision: number;
            readonly tick: number;
        };
        /** @description Files, or manifests as JSON objects, or both. */
        readonly Import: {
            /** Format: int64 */
            readonly revision?: number | null;
            readonly files?: readonly components["schemas"]["File"][];
            readonly traces?: components["schemas"]["Traces"];
            readonly objects?: readonly {
                readonly [key: string]: unknown;
            }[];
            /** @default false */
            readonly skipErrors?: boolean;
            /** @default false */
            readonly dryRun?: boolean;
            /**
             * @description write what is of Volcano, KAI or Armada in the sandbox's terms; the report says what is lost
             * @default false
             */
            readonly convert?: boolean;
        };
        /** @description What came of one import. */
        readonly ImportReport: {
            readonly revision: number;
            readonly tick: number;
            /** Format: date-time */
            readonly at: string;
            readonly who: string;
            readonly report: components["schemas"]["Report"];
        };
        /** @description The reports of a sandbox, newest first. */
        readonly ImportReportList: {
            readonly items: readonly components["schemas"]["ImportReport"][];
        };
        /** @description What an import did, or with dryRun would do. */
        readonly Imported: {
            readonly created: readonly string[];
            readonly changed: readonly string[];
            readonly unchanged: readonly string[];
            readonly policy: boolean;
            readonly findings: readonly components["schemas"]["Finding"][];
            readonly report: components["schemas"]["Report"];
            readonly revision: number;
        };
        /** @description A window of a twin, and what would have been otherwise in it. */
        readonly Incident: {
            /** Format: int64 */
            readonly fromTick: number;
            /** Format: int64 */
            readonly toTick: number;
            readonly edits: readonly components["schemas"]["Patch"][];
            /** @default 30 */
            readonly seconds?: number;
        };
        /** @description A mean over seeds and its 95% interval; null with one run alone. */
        readonly Interval: {
            readonly count: number;
            /** Format: double */
            readonly mean: number;
            /** Format: double */
            readonly low: number | null;
            /** Format: double */
            readonly high: number | null;
        };
        /** @description One job as it would come; times in seconds. */
        readonly JobPreview: {
            readonly name: string;
            readonly queue: string;
            /** Format: double */
            readonly submitS: number;
            /** Format: double */
            readonly runS: number | null;
            /** Format: double */
            readonly limitS: number | null;
            readonly pods: number | null;
            readonly requests: {
                readonly [key: string]: string;
            };
            readonly user: string;
        };
        /** @description A code that was said, and who this browser was when it joined before. */
        readonly Join: {
            readonly code: string;
            /** @default  */
            readonly follower?: string;
        };
        /** @description What was joined, and the name under which to guess. */
        readonly Joined: {
            readonly sandbox: string;
            readonly follower: string;
        };
        /** @description An object by name. */
        readonly Key: {
            readonly kind: string;
            /** @default  */
            readonly namespace?: string;
            readonly name: string;
        };
        /** @description A kind of object: which stacks simulate it, or why none does. */
        readonly Kind: {
            readonly kind: string;
            readonly group: string;
            readonly versions: readonly string[];
            readonly plural: string;
            readonly level: string;
            readonly stacks: readonly string[];
            readonly namespaced: boolean;
            readonly note: string;
        };
        /** @description What became of the documents of a kind, and what that changes for decisions. */
        readonly KindOutcome: {
            readonly kind: string;
            readonly outcome: components["schemas"]["KindOutcomeOutcomeEnum"];
            readonly count: number;
            readonly effect: string;
            readonly unread: readonly components["schemas"]["UnreadField"][];
        };
        /**
         * @description * `simulated` - simulated
         *     * `kept` - kept
         *     * `configuration` - configuration
         *     * `refused` - refused
         * @enum {string}
         */
        readonly KindOutcomeOutcomeEnum: "simulated" | "kept" | "configuration" | "refused";
        /** @description A lesson; `code` is shown to the owner of the sandbox alone. */
        readonly Lesson: {
            readonly running: boolean;
            readonly version: number;
            readonly code: string | null;
            readonly view: string;
            readonly query: string;
            readonly revealed: readonly number[];
            readonly followers: number;
            readonly tallies: readonly components["schemas"]["Tally"][];
        };
        /**
         * @description * `error` - error
         *     * `unsupported` - unsupported
         *     * `warning` - warning
         * @enum {string}
         */
        readonly LevelEnum: "error" | "unsupported" | "warning";
        /** @description A link; its secret is only in the answer that made it. */
        readonly Link: {
            readonly id: number;
            readonly mayFork: boolean;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly expiresAt: string | null;
        };
        /** @description The links to a sandbox. */
        readonly LinkList: {
            readonly items: readonly components["schemas"]["Link"][];
        };
        /** @description Where the presenter's page is, and which answers were shown. */
        readonly Look: {
            readonly view: string;
            /** @default  */
            readonly query?: string;
            readonly revealed?: readonly number[];
        };
        /** @description Something that the other stack has no word for. */
        readonly Loss: {
            /** @description kind and name, or a queue's path */
            readonly subject: string;
            /** @description what, in English */
            readonly lost: string;
            /** @description the same with its code */
            readonly said: components["schemas"]["Said"];
        };
        /** @description A link just made. */
        readonly MadeLink: {
            readonly id: number;
            readonly mayFork: boolean;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly expiresAt: string | null;
            /** @description It is not shown again. */
            readonly secret: string;
        };
        /** @description A token just made. */
        readonly MadeToken: {
            readonly id: number;
            readonly name: string;
            readonly scope: components["schemas"]["ScopeEnum"];
            /** @description The name of the token that asked for it and ends it; or empty. */
            readonly madeWith: string;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly expiresAt: string | null;
            /** Format: date-time */
            readonly usedAt: string | null;
            /** @description The secret; it is not shown again. */
            readonly token: string;
        };
        /** @description Who asks, and whether this is a server that people sign in to. */
        readonly Me: {
            readonly user: string;
            readonly server: boolean;
            readonly scope: components["schemas"]["ScopeEnum"];
            /** @description Follows a lesson, and nothing else. */
            readonly guest: boolean;
            /** @description Where others come in; null: this machine alone. */
            readonly reachedAt: string | null;
        };
        /** @description Somebody who was let in. */
        readonly Member: {
            readonly user: string;
            readonly role: components["schemas"]["MemberRole"];
        };
        /** @description Everybody who was let in. */
        readonly MemberList: {
            readonly items: readonly components["schemas"]["Member"][];
        };
        /**
         * @description * `editor` - editor
         *     * `viewer` - viewer
         * @enum {string}
         */
        readonly MemberRole: "editor" | "viewer";
        /**
         * @description What moves, and where to.
         *
         *     A Workload (`workload`) goes to a LocalQueue of its namespace by name, or
         *     to "ClusterQueue/NAME". Anything that moves (`object`) is named by its key;
         *     a ClusterQueue or Cohort goes to "Cohort/NAME", or "Cohort/" for none.
         */
        readonly Move: {
            /** Format: int64 */
            readonly revision?: number | null;
            /**
             * @description namespace/name
             * @default
             */
            readonly workload?: string;
            /**
             * @description Kind/namespace/name
             * @default
             */
            readonly object?: string;
            readonly to: string;
            /** @default false */
            readonly dryRun?: boolean;
        };
        /** @description What a move would come to: it was run on a copy of the world. */
        readonly MoveOutcome: {
            readonly outcome: components["schemas"]["MoveOutcomeOutcomeEnum"];
            /** @description of the admission */
            readonly tick: number | null;
            /** @description milliseconds */
            readonly ranFrom: number;
            /** @description milliseconds */
            readonly ranTo: number;
            readonly reason: string;
            readonly message: string;
            /** @description it holds quota and would lose it */
            readonly evicted: boolean;
            /** @description in the queue, from 1 */
            readonly position: number | null;
            readonly victims: readonly components["schemas"]["MoveVictim"][];
            readonly shares: readonly components["schemas"]["Share"][];
            readonly sentences: readonly string[];
            /** @description the sentences about quota */
            readonly usage: readonly string[];
            /** @description the same with their codes */
            readonly usageSaid: readonly components["schemas"]["Said"][];
            /** @description who gains and who loses beside a run without the move */
            readonly effects: readonly string[];
            /** @description the same with their codes */
            readonly effectsSaid: readonly components["schemas"]["Said"][];
            /** @description the whole of it, as from `whatif` */
            readonly preview: {
                readonly [key: string]: unknown;
            };
        };
        /**
         * @description * `admitted` - admitted
         *     * `waits` - waits
         *     * `inactive` - inactive
         *     * `finished` - finished
         *     * `gone` - gone
         *     * `changes` - changes
         * @enum {string}
         */
        readonly MoveOutcomeOutcomeEnum: "admitted" | "waits" | "inactive" | "finished" | "gone" | "changes";
        /** @description Who would be evicted, and why. */
        readonly MoveVictim: {
            readonly workload: string;
            readonly atMs: number;
            readonly reason: string;
            readonly message: string;
            readonly workLostMs: number;
        };
        /** @description A link to make. */
        readonly NewLink: {
            /** @default false */
            readonly mayFork?: boolean;
            /** Format: date-time */
            readonly expiresAt?: string | null;
        };
        /** @description A token to make. */
        readonly NewToken: {
            readonly name: string;
            /** @default read */
            readonly scope?: components["schemas"]["ScopeEnum"];
            /** Format: date-time */
            readonly expiresAt?: string | null;
        };
        /** @description A node and what happens to it; a new one has a size, or that of another. */
        readonly NodeChange: {
            readonly name: string;
            readonly change: components["schemas"]["NodeChangeChangeEnum"];
            /**
             * @description add: as this node
             * @default
             */
            readonly like?: string;
            readonly labels?: {
                readonly [key: string]: string;
            };
            readonly allocatable?: {
                readonly [key: string]: string;
            };
        };
        /**
         * @description * `add` - add
         *     * `cordon` - cordon
         *     * `uncordon` - uncordon
         *     * `drain` - drain
         *     * `fail` - fail
         *     * `recover` - recover
         * @enum {string}
         */
        readonly NodeChangeChangeEnum: "add" | "cordon" | "uncordon" | "drain" | "fail" | "recover";
        readonly NullEnum: null;
        /** @description What the front is of. */
        readonly Objective: {
            readonly measure: string;
            readonly better: components["schemas"]["BetterEnum"];
        };
        /** @description An experiment with what came out so far. */
        readonly OneExperiment: {
            readonly id: string;
            readonly title: string;
            readonly owner: string;
            readonly role: components["schemas"]["ExperimentRole"];
            readonly visibility: components["schemas"]["VisibilityEnum"];
            readonly state: components["schemas"]["ExperimentState"];
            /** @description Asks for its runs as it goes, towards a goal. */
            readonly isSearch: boolean;
            /** @description Runs. */
            readonly total: number;
            /** @description Runs that ended, well or not. */
            readonly done: number;
            readonly failed: number;
            readonly variants: readonly string[];
            readonly seeds: readonly string[];
            readonly horizonMs: number;
            readonly limitMs: number;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly finishedAt: string | null;
            readonly document: {
                readonly [key: string]: unknown;
            };
            readonly objectives: readonly components["schemas"]["Objective"][];
            /** @description Which way each measure is better; absent where neither is. */
            readonly better: {
                readonly [key: string]: "low" | "high";
            };
            readonly lines: readonly components["schemas"]["ResultLine"][];
            readonly verdicts: readonly components["schemas"]["AssertionResult"][];
            /** @description Null for an experiment that is no search. */
            readonly search: components["schemas"]["SearchState"] | null;
        };
        /** @description At which tick; null = where the run ended. */
        readonly Open: {
            readonly tick?: number | null;
        };
        /** @description The secret of a link. */
        readonly OpenLink: {
            readonly secret: string;
        };
        /** @description How many workloads ended how in another branch. */
        readonly OutcomeCounts: {
            readonly same: number;
            readonly earlier: number;
            readonly later: number;
            readonly never: number;
            readonly only: number;
        };
        /** @description A workload whose outcome differs; one verdict per other branch. */
        readonly OutcomeDiff: {
            readonly subject: string;
            readonly verdicts: readonly components["schemas"]["VerdictsEnum"][];
            /** @description One per branch; null = not there. */
            readonly timelines: readonly (components["schemas"]["Timeline"] | null)[];
        };
        /**
         * @description * `mean` - mean
         *     * `every` - every
         * @enum {string}
         */
        readonly OverEnum: "mean" | "every";
        /** @description A merge patch of one object. */
        readonly Patch: {
            readonly kind: string;
            /** @default  */
            readonly namespace?: string;
            readonly name: string;
            readonly patch: {
                readonly [key: string]: unknown;
            };
        };
        /** @description What may be changed of a sandbox itself. */
        readonly PatchedChange: {
            readonly title?: string;
            readonly visibility?: components["schemas"]["VisibilityEnum"];
            /**
             * Format: int64
             * @description history kept; 0 = as the operator keeps
             */
            readonly keepTicks?: number;
            readonly keepDays?: number;
        };
        /** @description What a run of the scenario looked like, for its card. */
        readonly Picture: {
            /** @description [depth, own, borrowed, nominal], in percent of the widest */
            readonly queues: readonly (readonly number[])[];
            /** @description how full, 0 to 9; -1 = closed */
            readonly nodes: readonly number[];
            readonly waiting: readonly number[];
            /** @description how often a pair preempted one another */
            readonly loop: number;
            readonly workloads: number;
            readonly nodeCount: number;
            readonly topics: readonly string[];
        };
        /** @description A pod and the only node that it may run on. */
        readonly Pin: {
            /** @description namespace/name */
            readonly pod: string;
            /** @description "" unpins it */
            readonly node: string;
            /** @default false */
            readonly dryRun?: boolean;
        };
        /** @description What a pin would come to: it was run on a copy of the world. */
        readonly PinOutcome: {
            readonly outcome: components["schemas"]["PinOutcomeOutcomeEnum"];
            /** @description of the binding */
            readonly tick: number | null;
            /** @description milliseconds */
            readonly ranFrom: number;
            /** @description milliseconds */
            readonly ranTo: number;
            /** @description that it is bound to, or "" */
            readonly node: string;
            /** @description the filters' verdict on the node, before the pin */
            readonly fits: boolean | null;
            readonly victims: readonly components["schemas"]["MoveVictim"][];
            readonly sentences: readonly string[];
            /** @description the sentences with their codes */
            readonly said: readonly components["schemas"]["Said"][];
            /** @description beside a run without the pin, as that of `whatif` */
            readonly verdict: {
                readonly [key: string]: unknown;
            };
        };
        /**
         * @description * `bound` - bound
         *     * `waits` - waits
         * @enum {string}
         */
        readonly PinOutcomeOutcomeEnum: "bound" | "waits";
        /** @description A place in a file. */
        readonly Place: {
            readonly file: string;
            readonly line: number;
            readonly field: string;
        };
        /** @description Something that is not carried over, and where it was said. */
        readonly PlacedLoss: {
            /** @description kind and name, or a system */
            readonly subject: string;
            /** @description what, in English */
            readonly lost: string;
            /** @description the same with its code */
            readonly said: components["schemas"]["Said"];
            readonly file: string;
            readonly line: number;
        };
        /** @description Speed in ticks per second, 0 = as fast as it goes. */
        readonly Play: {
            /** Format: double */
            readonly speed?: number | null;
        };
        /** @description A preemption. */
        readonly Preempted: {
            readonly tick: number;
            readonly tMs: number;
            readonly subject: string;
            readonly by: string;
            readonly reason: string;
        };
        /** @description Preemptions that another branch has and the first has not, and the reverse. */
        readonly Preemptions: {
            readonly same: number;
            readonly added: readonly components["schemas"]["Preempted"][];
            readonly removed: readonly components["schemas"]["Preempted"][];
        };
        /** @description Everything that can be chosen, for forms and documentation. */
        readonly Registry: {
            readonly entries: readonly components["schemas"]["Entry"][];
            readonly kinds: readonly components["schemas"]["Kind"][];
            /** @description JSON Schema of the policy document. */
            readonly policy: {
                readonly [key: string]: unknown;
            };
        };
        /** @description What was taken, what was kept, what was left out and why. */
        readonly Report: {
            readonly files: readonly components["schemas"]["FileOutcome"][];
            readonly kinds: readonly components["schemas"]["KindOutcome"][];
            readonly findings: readonly components["schemas"]["FindingGroup"][];
        };
        /** @description The smallest world that still shows a decision. */
        readonly Reproduction: {
            readonly found: boolean;
            readonly decision: string;
            readonly atMs: number;
            /** @description objects there were */
            readonly before: number;
            /** @description objects that are left */
            readonly after: number;
            /** @description worlds that were run */
            readonly runs: number;
            /** @description no object can be left out */
            readonly minimal: boolean;
            /** @description a Scenario and its objects */
            readonly documents: readonly {
                readonly [key: string]: unknown;
            }[];
        };
        /** @description One variant over all seeds that have ended. */
        readonly ResultLine: {
            /** @description Place in `variants`. */
            readonly variant: number;
            readonly runs: number;
            readonly measures: {
                readonly [key: string]: components["schemas"]["Interval"];
            };
            /** @description To the first variant, seed by seed. */
            readonly differences: {
                readonly [key: string]: components["schemas"]["Interval"];
            };
            /** @description On the Pareto front. */
            readonly front: boolean;
        };
        /** @description Runs in the order in which they ended; ask again after `next`. */
        readonly Results: {
            readonly items: readonly components["schemas"]["Run"][];
            readonly next: number;
            readonly state: components["schemas"]["ExperimentState"];
        };
        /** @description Which tick to go on from. */
        readonly Rewind: {
            /** Format: int64 */
            readonly tick: number;
        };
        /** @description Where the sandbox is now, and the fork that keeps what came after. */
        readonly Rewound: {
            readonly revision: number;
            readonly tick: number;
            readonly fork: string;
        };
        /** @description What somebody is to be. */
        readonly Role: {
            readonly role: components["schemas"]["MemberRole"];
        };
        /** @description One run; `measures` by flat name, empty while there are none. */
        readonly Run: {
            readonly number: number;
            readonly variant: number;
            readonly seed: string;
            readonly state: components["schemas"]["RunStateEnum"];
            /** @description As the how many-th it ended. */
            readonly ended: number;
            readonly hash: string;
            readonly tick: number | null;
            readonly endMs: number | null;
            readonly settled: boolean | null;
            readonly problems: readonly string[];
            /** @description The same with codes; an empty one where there is none. */
            readonly problemsSaid: readonly components["schemas"]["Said"][];
            readonly error: string;
            /** @description The error with its code; empty without one. */
            readonly said: components["schemas"]["Said"];
            readonly measures: {
                readonly [key: string]: number;
            };
        };
        /**
         * @description * `waiting` - waiting
         *     * `running` - running
         *     * `done` - done
         *     * `failed` - failed
         *     * `cancelled` - cancelled
         * @enum {string}
         */
        readonly RunStateEnum: "waiting" | "running" | "done" | "failed" | "cancelled";
        /**
         * @description A sentence: its code, the same in English, and what fills the holes of its words.
         *
         *     A hole is a text, a number, another such sentence, `{resource, amount}`, `{key}` of
         *     an object, `{place}` in a line from 1, or `{items, all}`.
         */
        readonly Said: {
            readonly code: string;
            readonly text: string;
            readonly holes: {
                readonly [key: string]: unknown;
            };
        };
        readonly SampleList: {
            readonly items: readonly components["schemas"]["Sample"][];
        };
        /** @description A sandbox as lists show it. */
        readonly Sandbox: {
            readonly id: string;
            readonly title: string;
            readonly branch: string;
            readonly parent: string | null;
            readonly parentRevision: number;
            readonly scenario: string;
            readonly owner: string;
            readonly role: components["schemas"]["SandboxRole"];
            readonly visibility: components["schemas"]["VisibilityEnum"];
            readonly stack: components["schemas"]["Stack"];
            readonly seed: string;
            readonly revision: number;
            readonly tick: number;
            readonly tMs: number;
            readonly tickMs: number;
            readonly playing: boolean;
            /** Format: double */
            readonly speed: number;
            readonly until: string;
            readonly problem: string;
            readonly hash: string;
            /** @description the earliest that can be looked at */
            readonly firstTick: number;
            /** @description history kept; 0 = as the operator keeps */
            readonly keepTicks: number;
            readonly keepDays: number;
            /** @description in a file; to be opened again */
            readonly archived: boolean;
            /**
             * @description other than simulated: a real cluster, which cannot be edited
             *
             *     * `simulated` - simulated
             *     * `recording` - recording
             *     * `cluster` - cluster
             */
            readonly source: components["schemas"]["SourceEnum"];
            readonly sourceName: string;
            /** @description of a recording */
            readonly lastTick: number | null;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly changedAt: string;
        };
        /** @description A page of sandboxes, newest change first. */
        readonly SandboxList: {
            readonly items: readonly components["schemas"]["Sandbox"][];
            readonly remaining: number;
        };
        /**
         * @description * `owner` - owner
         *     * `editor` - editor
         *     * `viewer` - viewer
         * @enum {string}
         */
        readonly SandboxRole: "owner" | "editor" | "viewer";
        /** @description A scenario of the library; texts by language tag. */
        readonly Scenario: {
            readonly name: string;
            readonly title: {
                readonly [key: string]: string;
            };
            readonly summary: {
                readonly [key: string]: string;
            };
            readonly lesson: boolean;
            readonly stack: string;
            readonly seed: string;
            readonly picture: components["schemas"]["Picture"] | null;
            readonly checkpoints: readonly components["schemas"]["Checkpoint"][];
        };
        /** @description The library, in its order. */
        readonly ScenarioList: {
            readonly items: readonly components["schemas"]["Scenario"][];
        };
        /**
         * @description * `read` - read
         *     * `write` - write
         *     * `admin` - admin
         * @enum {string}
         */
        readonly ScopeEnum: "read" | "write" | "admin";
        /** @description A setting that has all its runs, before anything is proven. */
        readonly SearchStanding: {
            /** @description Place in `variants`. */
            readonly variant: number;
            /** @description Constraints that its runs miss. */
            readonly missed: readonly string[];
            /** @description The same in numbers. */
            readonly missedConstraints: readonly components["schemas"]["AdviceBound"][];
            /** @description Means of the objectives; without any, of what is bounded first. */
            readonly values: {
                readonly [key: string]: number;
            };
        };
        /** @description How far a search is, and its answer when it has ended. */
        readonly SearchState: {
            /** @description More runs may follow. */
            readonly searching: boolean;
            /** @description Ended early: the best is proven. */
            readonly taken: boolean;
            /** @description That the search may take; the proof takes some more. */
            readonly mostRuns: number;
            /** @description The best settings so far: constraints, then objectives. */
            readonly best: readonly components["schemas"]["SearchStanding"][];
            /** @description Settings that have all their runs. */
            readonly compared: number;
            /** @description Of these, with every constraint kept. */
            readonly keeping: number;
            /** @description Why runs failed; the first reasons. */
            readonly failures: readonly string[];
            /** @description The same with codes; an empty one where there is none. */
            readonly failuresSaid: readonly components["schemas"]["Said"][];
            /** @description Why there is no answer; mostly empty. */
            readonly error: string;
            /** @description The error with its code; empty without one. */
            readonly said: components["schemas"]["Said"];
            readonly answer: components["schemas"]["AdviceAnswer"] | null;
            /** @description The run to open to see the answer at work. */
            readonly answerRun: number | null;
        };
        /** @description Curves over the same ticks. */
        readonly Series: {
            readonly ticks: readonly number[];
            readonly branches: readonly components["schemas"]["Curves"][];
        };
        /** @description A queue's weighted share before and after; "inf" for a weightless borrower. */
        readonly Share: {
            readonly queue: string;
            readonly before: string;
            readonly after: string;
        };
        /**
         * @description * `simulated` - simulated
         *     * `recording` - recording
         *     * `cluster` - cluster
         * @enum {string}
         */
        readonly SourceEnum: "simulated" | "recording" | "cluster";
        /** @description A span of a timeline. */
        readonly Span: {
            readonly state: components["schemas"]["SpanStateEnum"];
            readonly fromMs: number;
            readonly untilMs: number | null;
        };
        /**
         * @description * `waiting` - waiting
         *     * `running` - running
         *     * `finished` - finished
         * @enum {string}
         */
        readonly SpanStateEnum: "waiting" | "running" | "finished";
        /** @description Speed in ticks per second, 0 = as fast as it goes. */
        readonly Speed: {
            /** Format: double */
            readonly speed: number;
        };
        /**
         * @description * `kueue` - kueue
         *     * `yunikorn` - yunikorn
         *     * `kube` - kube
         * @enum {string}
         */
        readonly Stack: "kueue" | "yunikorn" | "kube";
        /** @description A new experiment: its document, or a file that holds it, and texts it names. */
        readonly Start: {
            readonly document?: {
                readonly [key: string]: unknown;
            };
            readonly files?: readonly components["schemas"]["File"][];
            /** @default  */
            readonly title?: string;
            /** @default private */
            readonly visibility?: components["schemas"]["VisibilityEnum"];
        };
        /** @description A number of ticks; or a tick to reach, an event to see, whichever comes first. */
        readonly StepRequest: {
            /** @default 1 */
            readonly ticks?: number;
            /** Format: int64 */
            readonly untilTick?: number | null;
            readonly untilEvent?: components["schemas"]["UntilEvent"] | null;
            /**
             * Format: double
             * @description ticks a second; as fast as it goes when it is left out
             * @default 0
             */
            readonly speed?: number;
        };
        /** @description The revision from which a step runs, and the tick that ends it at the latest. */
        readonly Stepping: {
            readonly revision: number;
            readonly tick: number;
            /** @description null when only an event ends it */
            readonly untilTick: number | null;
        };
        /** @description A manifest that is not there yet, and where it might be sent. */
        readonly Submission: {
            /** @default 20 */
            readonly futures?: number;
            /** @default 3600000 */
            readonly horizonMs?: number;
            /**
             * Format: int64
             * @default 1
             */
            readonly seed?: number;
            /** @default 20 */
            readonly seconds?: number;
            readonly arrivals?: components["schemas"]["ArrivalsEnum"];
            /** @description a further time to give the chance of */
            readonly withinMs?: number | null;
            /**
             * Format: int64
             * @description as it was then; now
             */
            readonly tick?: number | null;
            readonly files?: readonly components["schemas"]["File"][];
            readonly objects?: readonly {
                readonly [key: string]: unknown;
            }[];
            /** @description LocalQueues, name or namespace/name; all is every one; its own */
            readonly queues?: readonly string[];
        };
        /** @description A page of rows, as on the live page. */
        readonly Table: {
            readonly items: readonly {
                readonly [key: string]: unknown;
            }[];
            /** @description rows that match */
            readonly total: number;
            /** @description Of all that match, not of the page. */
            readonly groups: readonly components["schemas"]["Group"][];
            readonly offset: number;
            readonly revision: number;
        };
        /** @description How many expect it. */
        readonly Tally: {
            readonly stop: number;
            readonly choice: number;
            readonly count: number;
        };
        /** @description What happened to a workload in one branch. */
        readonly Timeline: {
            readonly arrivedMs: number | null;
            readonly firstMs: number | null;
            readonly startedMs: number | null;
            readonly finishedMs: number | null;
            readonly evictions: number;
            readonly spans: readonly components["schemas"]["Span"][];
        };
        /** @description A token; its secret is only in the answer that made it. */
        readonly Token: {
            readonly id: number;
            readonly name: string;
            readonly scope: components["schemas"]["ScopeEnum"];
            /** @description The name of the token that asked for it and ends it; or empty. */
            readonly madeWith: string;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly expiresAt: string | null;
            /** Format: date-time */
            readonly usedAt: string | null;
        };
        /** @description One's own tokens. */
        readonly TokenList: {
            readonly items: readonly components["schemas"]["Token"][];
        };
        /** @description One measure: a value per branch, a delta per other branch. */
        readonly Total: {
            readonly measure: string;
            /**
             * @description null = neither way.
             *
             *     * `low` - low
             *     * `high` - high
             */
            readonly better: components["schemas"]["BetterEnum"] | components["schemas"]["NullEnum"];
            readonly values: readonly (number | null)[];
            readonly deltas: readonly (number | null)[];
        };
        /** @description One trace: what it holds, and what of it would come. */
        readonly TracePreview: {
            readonly file: string;
            readonly format: string;
            /** @description the format, for people */
            readonly label: string;
            readonly jobs: number;
            readonly leftOut: number;
            readonly nodes: number;
            /** Format: double */
            readonly lastS: number;
            readonly columns: readonly components["schemas"]["ColumnPreview"][];
            readonly header: readonly string[];
            readonly mapping: {
                readonly [key: string]: string;
            };
            readonly lacks: readonly string[];
            readonly queues: readonly components["schemas"]["Counted"][];
            readonly first: readonly components["schemas"]["JobPreview"][];
            readonly findings: readonly components["schemas"]["FindingGroup"][];
        };
        /** @description Every trace among the files. */
        readonly TracePreviews: {
            readonly traces: readonly components["schemas"]["TracePreview"][];
            /** @description LocalQueues that are there */
            readonly queues: readonly string[];
            /** @description what a column may be chosen for */
            readonly tableFields: readonly string[];
        };
        /** @description Files with traces among them, and the sandbox that they would come to. */
        readonly TraceQuestion: {
            readonly files: readonly components["schemas"]["File"][];
            readonly traces?: components["schemas"]["Traces"];
            /** @default  */
            readonly into?: string;
        };
        /** @description How the traces among the files are taken; everything has a default. */
        readonly Traces: {
            readonly format?: string;
            /** @description a column: it names the LocalQueue */
            readonly queueBy?: string;
            /** @description LocalQueue of the other jobs */
            readonly queue?: string;
            /** @description a value of the column -> a LocalQueue */
            readonly queues?: {
                readonly [key: string]: string;
            };
            /**
             * Format: double
             * @description 2 = the jobs come twice as fast
             */
            readonly pace?: number;
            /** @description a duration since the trace's begin */
            readonly begin?: string;
            readonly end?: string;
            /** @description jobs; 0 = all */
            readonly most?: number;
            /** @description field -> column, or column:unit */
            readonly columns?: {
                readonly [key: string]: string;
            };
            /** @description amounts are of a whole job, not of a pod */
            readonly totals?: boolean;
            readonly cpuPerProcessor?: string;
        };
        /** @description A new sandbox that shows a real cluster: of a recording's files, or one to follow. */
        readonly Twin: {
            /** @default  */
            readonly title?: string;
            readonly files?: readonly components["schemas"]["File"][];
            /**
             * @description instead of files: a cluster that the operator allows to be followed
             * @default
             */
            readonly cluster?: string;
        };
        /** @description A field that is kept and not followed: how often, where first, what it changes. */
        readonly UnreadField: {
            readonly field: string;
            readonly count: number;
            readonly effect: string;
            /**
             * @description names the effect
             * @default
             */
            readonly code?: string;
            readonly place: components["schemas"]["Place"];
        };
        /** @description The first event that matches ends the run: one of several types, or one. */
        readonly UntilEvent: {
            /** @description Admit, or [Preempt, Evict] */
            readonly type: string | readonly string[];
            readonly subject?: string;
            readonly reason?: string;
        };
        /** @description What a sandbox takes on disk, in bytes. */
        readonly Use: {
            readonly id: string;
            readonly title: string;
            readonly archived: boolean;
            readonly bytes: number;
            /** @description objects, events, diffs, checkpoints, samples, operations, archive */
            readonly parts: {
                readonly [key: string]: number;
            };
        };
        /**
         * @description * `improved` - improved
         *     * `no improvement found` - no improvement found
         *     * `unmet` - unmet
         * @enum {string}
         */
        readonly VerdictEnum: "improved" | "no improvement found" | "unmet";
        /**
         * @description * `same` - same
         *     * `earlier` - earlier
         *     * `later` - later
         *     * `never` - never
         *     * `only` - only
         * @enum {string}
         */
        readonly VerdictsEnum: "same" | "earlier" | "later" | "never" | "only";
        /**
         * @description * `private` - private
         *     * `public` - public
         * @enum {string}
         */
        readonly VisibilityEnum: "private" | "public";
        /**
         * @description Edits to try on a copy, and the Workload that they are for, if one.
         *
         *     Kind Policy, of any name, patches the policy document.
         */
        readonly WhatIf: {
            readonly edits: readonly components["schemas"]["Patch"][];
            readonly pause?: readonly components["schemas"]["Patch"][];
            /**
             * @description Kind/namespace/name
             * @default
             */
            readonly subject?: string;
        };
        /**
         * @description Why a workload is where it is, at this instant.
         *
         *         `state`: "pending", "reserved", "admitted", "evicted" (its job has not
         *         stopped yet), "requeued" (evicted and waiting again), "finished",
         *         "inactive". `chain` names what it passes: LocalQueue, ClusterQueue and
         *         cohorts to the root. `decisive` is the index of the search that decided.
         *         `said` are the sentences with their codes.
         */
        readonly Explanation: {
            readonly workload: string;
            readonly atMs: number;
            readonly tick: number;
            readonly state: string;
            readonly priority: number;
            readonly chain: readonly components["schemas"]["NodeName"][];
            readonly condition: components["schemas"]["Condition"] | null;
            readonly conditions: readonly components["schemas"]["Condition"][];
            readonly waiting: components["schemas"]["Waiting"] | null;
            readonly attempt: components["schemas"]["FlavorAttempt"];
            readonly flavors: readonly components["schemas"]["FlavorRow"][];
            readonly searches: readonly components["schemas"]["PreemptionSearch"][];
            readonly decisive: number | null;
            readonly sentences: readonly string[];
            readonly said: readonly components["schemas"]["Sentence"][];
            readonly topology: readonly components["schemas"]["TopologySearch"][];
            readonly checks: readonly components["schemas"]["CheckRow"][];
            readonly clusters: readonly components["schemas"]["ClusterRow"][];
            readonly usage: readonly components["schemas"]["UsageRow"][];
        };
        /** @description A place in the quota tree. */
        readonly NodeName: {
            readonly kind: string;
            readonly name: string;
        };
        /** @description A condition as the API shows it. */
        readonly Condition: {
            readonly type: string;
            readonly status: boolean;
            readonly reason: string;
            readonly message: string;
            readonly sinceMs: number;
        };
        /** @description Where a workload stands in its ClusterQueue; positions from 1. */
        readonly Waiting: {
            readonly position: number;
            readonly of: number;
            readonly ahead: readonly string[];
            readonly moreAhead: number;
            readonly inadmissible: boolean;
            readonly sticky: boolean;
            readonly strategy: string;
            readonly notBeforeMs: number | null;
        };
        /**
         * @description What one admission cycle decides about the workload now.
         *
         *         `ran` is False when the workload may not be tried; `reason` and `message`
         *         say why, and `said` is the message with its code. `order` is its turn among `heads`, from 1. `status`: "admitted",
         *         "preempting", "skipped" (others of the cycle came first), "held" (pods of
         *         those admitted are waited for) or "refused".
         */
        readonly FlavorAttempt: {
            readonly ran: boolean;
            readonly status: string;
            readonly reason: string;
            readonly message: string;
            readonly borrow: number;
            readonly order: number | null;
            readonly heads: readonly string[];
            readonly targets: readonly components["schemas"]["Victim"][];
            readonly said: components["schemas"]["Sentence"] | null;
        };
        /** @description Who is evicted, and why. */
        readonly Victim: {
            readonly workload: string;
            readonly queue: string;
            readonly reason: string;
            readonly priority: number;
            readonly held: readonly components["schemas"]["Amount"][];
            readonly message: string;
            readonly atMs: number | null;
            readonly workLostMs: number;
        };
        /** @description An amount of one resource, of one flavor when `flavor` says so. */
        readonly Amount: {
            readonly resource: string;
            readonly amount: string;
            readonly flavor: string;
        };
        /**
         * @description A sentence: its code, the same in English, and what fills the holes of its words.
         *
         *         A hole is a text, a number, another sentence, `{resource, amount}`, `{key}` of an
         *         object, `{place}` in a line from 1, or `{items, all}`.
         */
        readonly Sentence: {
            readonly code: string;
            readonly text: string;
            readonly holes: {
                readonly [key: string]: unknown;
            };
        };
        /**
         * @description What one flavor offers a podset for one resource.
         *
         *         `verdict`: "fit", "preempt" (somebody of the same ClusterQueue goes),
         *         "reclaim" (only others go), "noCandidates", "noFit", "barred" (taints,
         *         affinity, no such flavor), "notTried" (an earlier flavor was good enough)
         *         or "uncovered" (no quota of this resource at all: no numbers).
         *         `requested` includes `assigned`, which earlier podsets ask of the same.
         *         `potential` is what would be available if nothing were used. `chain` goes
         *         from the ClusterQueue to the root.
         */
        readonly FlavorRow: {
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
            readonly chain: readonly components["schemas"]["Level"][];
        };
        /**
         * @description Quota and usage of one node for one flavor and resource.
         *
         *         `subtree` is what the node and all below bring together, `lendable` the
         *         part of it that the parent may give to others.
         */
        readonly Level: {
            readonly kind: string;
            readonly name: string;
            readonly nominal: string;
            readonly subtree: string;
            readonly used: string;
            readonly borrowed: string;
            readonly lendable: string;
            readonly borrowingLimit: string | null;
            readonly lendingLimit: string | null;
        };
        /**
         * @description One search for victims: what for, among whom, how, and whom it found.
         *
         *         `purpose`: "flavor" (would preemption help here?) or "assignment" (for
         *         the whole request). `law`: "Classical" or "FairSharing"; `rules` are the
         *         strategies of fair sharing in their order.
         */
        readonly PreemptionSearch: {
            readonly purpose: string;
            readonly law: string;
            readonly rules: readonly string[];
            readonly requests: readonly components["schemas"]["Amount"][];
            readonly sources: readonly components["schemas"]["Source"][];
            readonly steps: readonly components["schemas"]["PreemptionStep"][];
            readonly targets: readonly components["schemas"]["Victim"][];
        };
        /**
         * @description Where candidates may come from.
         *
         *         `relation`: "same" (its own ClusterQueue), "hierarchy" (lent from within a
         *         subtree where the request is covered), "priority" (lent from farther away),
         *         "fair" (any borrower of the tree), "other" (nobody of it: `why`).
         *         `holders` hold what is needed, `candidates` of them may be preempted. `why`
         *         nobody of it may is a sentence; `code` names it: "reclaimNever",
         *         "withinNominal", "inactive" or "borrowsNone".
         */
        readonly Source: {
            readonly queue: string;
            readonly relation: string;
            readonly policy: string;
            readonly holders: number;
            readonly candidates: number;
            readonly code: string;
            readonly cells: readonly components["schemas"]["Standing"][];
            readonly why: string;
        };
        /** @description What a node uses of what it brings, for one flavor and resource. */
        readonly Standing: {
            readonly kind: string;
            readonly name: string;
            readonly flavor: string;
            readonly resource: string;
            readonly used: string;
            readonly quota: string;
        };
        /**
         * @description One step of a search, in order.
         *
         *         `kind`: "setup", "attempt" (with or without borrowing), "round" (a rule of
         *         fair sharing), "turn" (whose candidates are looked at next), "candidate",
         *         "putBack" (a target that may not be needed), "failed", "targets".
         *         `verdict` of a candidate: "taken", "refused" or "skipped"; of a target that
         *         is put back: "spared" or "needed". `shares` are those after the step.
         */
        readonly PreemptionStep: {
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
            readonly held: readonly components["schemas"]["Amount"][];
            readonly test: components["schemas"]["Test"] | null;
            readonly quotaChecks: readonly components["schemas"]["QuotaCheck"][];
            readonly fits: boolean | null;
            readonly borrowing: boolean | null;
            readonly rule: string;
            readonly withinNominal: boolean | null;
            readonly shares: readonly components["schemas"]["ShareRow"][];
        };
        /**
         * @description The question a candidate was judged by, with its numbers.
         *
         *         `kind` "share": `rule` of the two, whose shares. "priority": `below` is the
         *         priority to be under, None if nobody is. "withinNominal": a node of `cells`
         *         whose usage is no more than its quota has nothing to give back.
         */
        readonly Test: {
            readonly kind: string;
            readonly rule: number | null;
            readonly ours: components["schemas"]["NodeName"] | null;
            readonly theirs: components["schemas"]["NodeName"] | null;
            readonly preemptorShare: number | null;
            readonly targetShareBefore: number | null;
            readonly targetShareAfter: number | null;
            readonly priority: number | null;
            readonly below: number | null;
            readonly cells: readonly components["schemas"]["Standing"][];
        };
        /**
         * @description What is free for a request at one step of a search.
         *
         *         `amount` is asked. `within_nominal` is what is left of the ClusterQueue's
         *         own quota where it may not borrow, None where it may.
         */
        readonly QuotaCheck: {
            readonly resource: string;
            readonly amount: string;
            readonly flavor: string;
            readonly available: string;
            readonly withinNominal: string | null;
        };
        /** @description The weighted share of one node. */
        readonly ShareRow: {
            readonly kind: string;
            readonly name: string;
            readonly share: number | null;
            readonly weight: number;
            readonly borrowing: boolean;
        };
        /**
         * @description A search for places for one podset, from the highest level down.
         *
         *         `empty`: as if nobody else had places, which is what preemption could reach.
         *         `reason` is Kueue's where nothing was found.
         */
        readonly TopologySearch: {
            readonly podSet: string;
            readonly flavor: string;
            readonly empty: boolean;
            readonly reason: string;
            readonly levels: readonly components["schemas"]["TopologyLevel"][];
            readonly sentence: string;
            readonly said: components["schemas"]["Sentence"] | null;
        };
        /** @description One level of a search for places; `more` domains are not listed. */
        readonly TopologyLevel: {
            readonly level: string;
            readonly requested: boolean;
            readonly needed: number;
            readonly domains: readonly components["schemas"]["TopologyDomain"][];
            readonly more: number;
        };
        /**
         * @description A domain in a search for places.
         *
         *         `fits` pods of the podset have places there, `taken` of them are placed below;
         *         `why` it was left, "" where it was taken.
         */
        readonly TopologyDomain: {
            readonly path: string;
            readonly fits: number;
            readonly taken: number;
            readonly why: string;
            readonly said: components["schemas"]["Sentence"] | null;
        };
        /**
         * @description One admission check of a workload; `answers_ms`: when its rule answers.
         *
         *         `since_ms`: since when it is in its state, None where the status does not say.
         */
        readonly CheckRow: {
            readonly name: string;
            readonly state: string;
            readonly message: string;
            readonly sinceMs: number | null;
            readonly answersMs: number | null;
        };
        /**
         * @description A worker cluster of a workload's check, in the order of the MultiKueueConfig.
         *
         *         `state`: what its copy there is, "admitted", "reserved" or "pending"; or why
         *         there is none: "missing" (no MultiKueueCluster), "lost" (not reached), "absent"
         *         (no object of it is in this world), "unasked" (not nominated), "dropped" (another
         *         cluster admitted it), "taken" (the cluster has a Workload or job of its own of this name).
         *         `reason`, `message` and `since_ms` are of the condition that says so. `until_ms`:
         *         of "lost", when the workload is taken from it; of "unasked", the next round.
         */
        readonly ClusterRow: {
            readonly cluster: string;
            readonly state: string;
            readonly copy: string;
            readonly reason: string;
            readonly message: string;
            readonly sinceMs: number | null;
            readonly untilMs: number | null;
        };
        /**
         * @description A LocalQueue of the ClusterQueue as admission fair sharing orders it.
         *
         *         `usage` is consumed and pending together, weighted; None is infinite.
         */
        readonly UsageRow: {
            readonly localQueue: string;
            readonly weight: number;
            readonly usage: number | null;
            readonly consumed: {
                readonly [key: string]: string;
            };
            readonly pending: {
                readonly [key: string]: string;
            };
            readonly ours: boolean;
        };
        /** @description Where kube-scheduler could place a pod, node by node. */
        readonly PodExplanation: {
            readonly pod: string;
            readonly atMs: number;
            readonly node: string;
            readonly condition: components["schemas"]["Condition"] | null;
            readonly queue: string;
            readonly nominated: string;
            readonly scorers: readonly components["schemas"]["Scorer"][];
            readonly nodes: readonly components["schemas"]["NodeRowRecord"][];
            readonly totalNodes: number;
            readonly feasible: number;
            readonly best: readonly string[];
            readonly counts: {
                readonly [key: string]: number;
            };
            readonly problem: string;
            readonly sentences: readonly string[];
            readonly growth: readonly components["schemas"]["GrowthRefusal"][];
        };
        /** @description A scoring plug-in and its weight; `skipped` where it had nothing to say. */
        readonly Scorer: {
            readonly plugin: string;
            readonly weight: number;
            readonly skipped: boolean;
        };
        /** @description One node in the table of a pod. */
        readonly NodeRowRecord: {
            readonly node: string;
            readonly fits: boolean;
            readonly code: string;
            readonly plugin: string;
            readonly reasons: readonly string[];
            readonly scores: readonly components["schemas"]["Score"][];
            readonly total: number | null;
        };
        /** @description One scorer on one node. */
        readonly Score: {
            readonly plugin: string;
            readonly raw: number;
            readonly normalized: number;
        };
        /** @description Why one of them does not grow for a pod; "" where it may. `code` names it. */
        readonly GrowthRefusal: {
            readonly kind: string;
            readonly name: string;
            readonly reason: string;
            readonly code: string;
        };
        /** @description Why a pod has no place under YuniKorn, and what both sets of laws would do. */
        readonly AskExplanation: {
            readonly pod: string;
            readonly atMs: number;
            readonly application: string;
            readonly applicationState: string;
            readonly queue: string;
            readonly node: string;
            readonly reservedOn: string;
            readonly requests: readonly components["schemas"]["Amount"][];
            readonly allowPreemptSelf: boolean;
            readonly allowPreemptOther: boolean;
            readonly originator: boolean;
            readonly path: readonly components["schemas"]["QueueHeadroom"][];
            readonly headroom: readonly components["schemas"]["Amount"][];
            readonly checks: readonly components["schemas"]["Check"][];
            readonly sorting: readonly components["schemas"]["SortedLevel"][];
            readonly nodeSort: string;
            readonly nodeVerdicts: readonly components["schemas"]["NodeVerdict"][];
            readonly feasibleNodes: number;
            readonly nodes: number;
            readonly plans: readonly components["schemas"]["Plan"][];
            readonly lawsDiffer: boolean;
            readonly log: readonly string[];
            readonly sentences: readonly string[];
        };
        /** @description One queue on the path of a YuniKorn ask, leaf first. */
        readonly QueueHeadroom: {
            readonly queue: string;
            readonly resource: string;
            readonly guaranteed: string | null;
            readonly max: string | null;
            readonly used: string;
            readonly pending: string;
            readonly left: string | null;
        };
        /**
         * @description One condition and whether it holds; `detail` says why with its numbers.
         *
         *         Those numbers: `asked` of a quota, empty where it limits nothing that is
         *         asked, and from when on, of a delay.
         */
        readonly Check: {
            readonly name: string;
            readonly holds: boolean;
            readonly detail: string;
            readonly asked: readonly components["schemas"]["Asked"][];
            readonly notBeforeMs: number | null;
        };
        /** @description What is asked of one resource against what a limit leaves. */
        readonly Asked: {
            readonly resource: string;
            readonly amount: string;
            readonly left: string;
        };
        /**
         * @description Who is visited at one level on the way to an ask, first one first.
         *
         *         `kind`: "queues" below `name`, "applications" of it, or "asks" of an
         *         application. Of queues `shares` are those they are sorted by.
         */
        readonly SortedLevel: {
            readonly kind: string;
            readonly name: string;
            readonly order: readonly string[];
            readonly shares: readonly number[];
        };
        /**
         * @description Why a node does not take an ask now, "" when it does; its place in the order.
         *
         *         `used` is the weighted mean of `shares`: 0.7 where 90 % of the cpu and 50 %
         *         of the memory are used and both weigh the same. Nodes are tried from the
         *         least `score` on. `code` names the verdict: "cordoned", "tooSmall",
         *         "reserved" (for the pods `names`), "short" (of the resources `names`) or
         *         "predicate", whose message is kube-scheduler's; "" when it takes it.
         */
        readonly NodeVerdict: {
            readonly node: string;
            readonly verdict: string;
            readonly used: number;
            readonly score: number;
            readonly shares: readonly components["schemas"]["UsedShare"][];
            readonly code: string;
            readonly names: readonly string[];
        };
        /** @description How much of one resource of a node is used, and its weight in the order. */
        readonly UsedShare: {
            readonly resource: string;
            readonly share: number;
            readonly weight: number;
        };
        /** @description Whom one set of preemption laws would preempt for an ask. */
        readonly Plan: {
            readonly laws: string;
            readonly inForce: boolean;
            readonly node: string;
            readonly victims: readonly components["schemas"]["Victim"][];
            readonly reason: string;
        };
        /** @description An application, who stands before it in its queue, and its next ask. */
        readonly ApplicationExplanation: {
            readonly application: string;
            readonly atMs: number;
            readonly queue: string;
            readonly state: string;
            readonly user: string;
            readonly submittedMs: number;
            readonly mayRun: boolean;
            readonly allocated: readonly components["schemas"]["Amount"][];
            readonly pending: readonly components["schemas"]["Amount"][];
            readonly before: readonly string[];
            readonly waiting: readonly string[];
            readonly placed: readonly string[];
            readonly next: components["schemas"]["AskExplanation"] | null;
            readonly lawsDiffer: boolean;
            readonly sentences: readonly string[];
        };
        /** @description Verdicts, each one run; `tried` of `questions` were asked before `limit` runs. */
        readonly Counterfactuals: {
            readonly workload: string;
            readonly atMs: number;
            readonly horizonMs: number;
            readonly questions: number;
            readonly tried: number;
            readonly runs: number;
            readonly verdicts: readonly components["schemas"]["Verdict"][];
        };
        /**
         * @description One counterfactual that was really run.
         *
         *         `verdict`: "yes", "but" (admitted, and its pods stay pending), "no", or
         *         "unknown" when the run was given up.
         *         `kind`: "wait", "nominalQuota", "borrowingLimit", "priority", "weight",
         *         "reclaimWithinCohort", "withinClusterQueue", "borrowWithinCohort",
         *         "queueingStrategy", "topology" or "localQueue". `finishes` are the workloads whose end
         *         came right before (kind "wait"). `subject` and `effect` are sentences.
         */
        readonly Verdict: {
            readonly id: string;
            readonly kind: string;
            readonly verdict: string;
            readonly subject: string;
            readonly now: string;
            readonly effect: string;
            readonly change: components["schemas"]["Change"] | null;
            readonly outcome: components["schemas"]["ChangeOutcome"];
            readonly amounts: readonly components["schemas"]["Amount"][];
            readonly value: string;
            readonly finishes: readonly string[];
            readonly runs: number;
        };
        /**
         * @description Edits that belong together.
         *
         *         `pause` holds those that come first where the change needs an instant
         *         between them: a Workload with quota is inactive before it can move.
         */
        readonly Change: {
            readonly edits: readonly components["schemas"]["Edit"][];
            readonly pause: readonly components["schemas"]["Edit"][];
        };
        /**
         * @description A JSON merge patch of one object: enough to do the change for real.
         *
         *         Kind "Policy" patches the policy document; it has no namespace and no name.
         */
        readonly Edit: {
            readonly kind: string;
            readonly namespace: string;
            readonly name: string;
            readonly patch: Record<string, never>;
        };
        /**
         * @description What a run on a copy of the world came to.
         *
         *         `outcome`: "admitted", "waits", "inactive", "finished" (before it was asked),
         *         "gone", "unknown" (given up after very many decisions, at `ran_to_ms`), or
         *         "ran" when it is about no workload. `ran_from_ms`: the world's time when it was copied;
         *         it may have gone on since. `pods`: "" when pods are not placed, "placed", or "pending" with
         *         `pods_message`. `victims` are those preempted for it, with what was lost. In a
         *         preview `victims` are those preempted only with the change, and `shares` and
         *         `work_lost_ms` compare the two runs at their horizon.
         */
        readonly ChangeOutcome: {
            readonly outcome: string;
            readonly atMs: number | null;
            readonly tick: number | null;
            readonly ranFromMs: number;
            readonly ranToMs: number;
            readonly settled: boolean;
            readonly reason: string;
            readonly message: string;
            readonly pods: string;
            readonly podsMessage: string;
            readonly position: number | null;
            readonly victims: readonly components["schemas"]["Victim"][];
            readonly shares: readonly components["schemas"]["ShareChange"][];
            readonly workLostMs: number;
        };
        /** @description A weighted share before and after something. */
        readonly ShareChange: {
            readonly kind: string;
            readonly name: string;
            readonly before: number | null;
            readonly after: number | null;
        };
        /** @description When each waiting workload starts, and what that rests on. */
        readonly Forecast: {
            readonly tick: number;
            readonly nowMs: number;
            readonly seed: string;
            readonly asked: number;
            readonly futures: number;
            readonly horizonMs: number;
            readonly finished: number;
            /** @enum {unknown} */
            readonly arrivals: "continued" | "known";
            readonly came: number;
            readonly enough: boolean;
            readonly starts: readonly components["schemas"]["StartForecast"][];
            readonly revision: number;
            readonly curves: components["schemas"]["CurveBands"];
        };
        /** @description When one workload starts, in virtual ms from now; None is beyond the horizon. */
        readonly StartForecast: {
            readonly workload: string;
            readonly queue: string;
            readonly p10Ms: number | null;
            readonly p50Ms: number | null;
            readonly p90Ms: number | null;
            readonly chances: readonly components["schemas"]["StartChance"][];
            readonly basis: string;
            readonly message: string;
            readonly lastWaitsMs: number | null;
            readonly boundMs: number | null;
        };
        /** @description How likely it is that a workload starts within a time. */
        readonly StartChance: {
            readonly withinMs: number;
            readonly chance: number;
        };
        /** @description How shares and utilisation go on. */
        readonly CurveBands: {
            readonly atMs: readonly number[];
            readonly bands: readonly components["schemas"]["CurveBand"][];
        };
        /** @description One curve of many futures: three values per instant; None is infinite. */
        readonly CurveBand: {
            /** @enum {unknown} */
            readonly of: "share" | "utilisation";
            readonly name: string;
            readonly p10: readonly (number | null)[];
            readonly p50: readonly (number | null)[];
            readonly p90: readonly (number | null)[];
        };
        /** @description The forecasts that are kept of a sandbox, newest first, and how they came out. */
        readonly Forecasts: {
            readonly items: readonly components["schemas"]["ForecastState"][];
            readonly record: components["schemas"]["TrackRecord"];
        };
        /** @description A kept forecast as it is looked at. */
        readonly ForecastState: {
            readonly id: number;
            readonly state: string;
            readonly tick: number;
            readonly revision: number;
            readonly nowMs: number;
            readonly asked: number;
            readonly ended: number;
            readonly error: string;
            readonly said: components["schemas"]["Sentence"] | null;
            readonly forecast: components["schemas"]["Forecast"] | null;
        };
        /** @description How past forecasts came out; None where nothing is judged yet. */
        readonly TrackRecord: {
            readonly forecasts: number;
            readonly judged: number;
            readonly open: number;
            readonly enough: boolean;
            readonly coverage50: number | null;
            readonly coverage90: number | null;
            readonly medianErrorMs: number | null;
            readonly crpsS: number | null;
            readonly lastWaitsS: number | null;
            readonly boundS: number | null;
        };
        /**
         * @description When work would start that does not exist yet: one of `starts` per queue.
         *
         *         They are in order, the soonest first; `queue` is the LocalQueue with its namespace.
         *         Each queue has futures of its own, so there are no `curves`.
         */
        readonly SubmissionForecast: {
            readonly tick: number;
            readonly nowMs: number;
            readonly seed: string;
            readonly asked: number;
            readonly futures: number;
            readonly horizonMs: number;
            readonly finished: number;
            /** @enum {unknown} */
            readonly arrivals: "continued" | "known";
            readonly came: number;
            readonly enough: boolean;
            readonly starts: readonly components["schemas"]["StartForecast"][];
            readonly revision: number;
            readonly curves: components["schemas"]["CurveBands"];
            readonly soonest: string | null;
        };
        /** @description Nodes that come and go. `cost` is what they cost since they were ordered. */
        readonly Capacity: {
            readonly atMs: number;
            readonly cost: number;
            readonly perHour: number;
            readonly groups: readonly components["schemas"]["GrowingNodes"][];
            readonly unplaced: readonly components["schemas"]["UnplacedPods"][];
            readonly looksMs: number | null;
        };
        /**
         * @description A NodeGroup or NodePool: its nodes, and what an hour of them costs now.
         *
         *         `most` is its maximum, None where only limits of resources bound it.
         */
        readonly GrowingNodes: {
            readonly kind: string;
            readonly name: string;
            readonly nodes: number;
            readonly booting: number;
            readonly most: number | null;
            readonly perHour: number;
        };
        /** @description Pods of one shape that fit nowhere: how many, and the first of them. */
        readonly UnplacedPods: {
            readonly pod: string;
            readonly pods: number;
            readonly refusals: readonly components["schemas"]["GrowthRefusal"][];
        };
        /** @description Shares, flows and whose turn it is, at this instant. */
        readonly Fairness: {
            readonly atMs: number;
            readonly tick: number;
            readonly fairSharing: boolean;
            readonly strategies: readonly string[];
            readonly formulas: readonly components["schemas"]["Formula"][];
            readonly flows: readonly components["schemas"]["Flow"][];
            readonly heads: readonly components["schemas"]["Head"][];
            readonly nextVictims: readonly components["schemas"]["NextVictim"][];
        };
        /** @description The weighted share of one node, with its numbers filled in. */
        readonly Formula: {
            readonly kind: string;
            readonly name: string;
            readonly parent: string;
            readonly fractions: readonly components["schemas"]["Fraction"][];
            readonly ratio: number;
            readonly weight: number;
            readonly share: number | null;
            readonly borrowing: boolean;
        };
        /** @description What a node has borrowed of what its cohort could lend, for one resource. */
        readonly Fraction: {
            readonly resource: string;
            readonly borrowed: string;
            readonly lendable: string;
            readonly ratio: number;
            readonly winning: boolean;
            readonly workloads: readonly string[];
        };
        /**
         * @description Quota of one lender that one borrower uses, in one cohort.
         *
         *         Kueue keeps no account of who lends to whom: what is borrowed in a cohort is
         *         spread over its lenders in proportion to what each has to spare.
         */
        readonly Flow: {
            readonly cohort: string;
            readonly flavor: string;
            readonly resource: string;
            readonly lender: components["schemas"]["NodeName"];
            readonly borrower: components["schemas"]["NodeName"];
            readonly amount: string;
        };
        /** @description A head of a queue in the order in which the next cycle takes it. */
        readonly Head: {
            readonly order: number;
            readonly workload: string;
            readonly queue: string;
            readonly requests: readonly components["schemas"]["Amount"][];
            readonly shareAfter: number | null;
            readonly borrow: number;
            readonly status: string;
            readonly reason: string;
            readonly message: string;
            readonly targets: readonly components["schemas"]["Victim"][];
        };
        /** @description Who goes first when a queue within its nominal quota reclaims. */
        readonly NextVictim: {
            readonly tree: string;
            readonly flavor: string;
            readonly resource: string;
            readonly workload: string;
            readonly queue: string;
            readonly priority: number;
            readonly amount: string;
            readonly reservedMs: number | null;
            readonly share: number | null;
        };
        /** @description Every queue of the partition, parents first. */
        readonly QueueFairness: {
            readonly atMs: number;
            readonly tick: number;
            readonly laws: string;
            readonly queues: readonly components["schemas"]["QueueShare"][];
        };
        /**
         * @description The fair share of one queue, and its place in the line of its parent.
         *
         *         `order` is None when the queue waits for nothing. `priority` is what it
         *         publishes to its parent; whether that or the share comes first is the parent's.
         */
        readonly QueueShare: {
            readonly name: string;
            readonly parent: string;
            readonly leaf: boolean;
            readonly fractions: readonly components["schemas"]["QueueFraction"][];
            readonly share: number;
            readonly priority: number;
            readonly order: number | null;
            readonly pending: readonly components["schemas"]["Amount"][];
            readonly next: string;
        };
        /** @description What a queue holds of what it is held against, for one resource. */
        readonly QueueFraction: {
            readonly resource: string;
            readonly allocated: string;
            readonly whole: string;
            readonly of: string;
            readonly ratio: number;
            readonly winning: boolean;
        };
        /**
         * @description A preemption step by step, found by running its tick again.
         *
         *         `shares` are those before the search and after it, victims out and the
         *         preemptor in. `search.steps` begin with the setup and end with the targets.
         */
        readonly Preemption: {
            readonly preemptor: string;
            readonly queue: string;
            readonly atMs: number;
            readonly tick: number;
            readonly search: components["schemas"]["PreemptionSearch"];
            readonly flavors: readonly components["schemas"]["FlavorRow"][];
            readonly shares: readonly components["schemas"]["ShareChange"][];
            readonly targets: readonly components["schemas"]["Victim"][];
            readonly reason: string;
            readonly message: string;
        };
        /**
         * @description A preemption of pods step by step, found by running its tick again.
         *
         *         `scheduler`: "kube-scheduler" or "YuniKorn"; `strategy` as the decision has
         *         it, `laws` of YuniKorn in force. `nodes` come in the order in which they were
         *         looked at, the first two hundred of `total_nodes`. `wanted` candidates are
         *         enough for kube-scheduler. `tied` nodes were equal in all rules; one of them
         *         was drawn.
         */
        readonly PodPreemption: {
            readonly scheduler: string;
            readonly strategy: string;
            readonly laws: string;
            readonly preemptor: string;
            readonly queue: string;
            readonly priority: number;
            readonly atMs: number;
            readonly tick: number;
            readonly requests: readonly components["schemas"]["Amount"][];
            readonly node: string;
            readonly rules: readonly string[];
            readonly nodes: readonly components["schemas"]["TriedNode"][];
            readonly totalNodes: number;
            readonly wanted: number | null;
            readonly tied: readonly string[];
            readonly budgets: readonly components["schemas"]["Budget"][];
            readonly path: readonly components["schemas"]["QueueHeadroom"][];
            readonly sources: readonly components["schemas"]["CandidateQueue"][];
            readonly targets: readonly components["schemas"]["Victim"][];
            readonly reason: string;
            readonly message: string;
        };
        /**
         * @description One node and what became of it.
         *
         *         `outcome`: "chosen"; "lost" to the chosen one by `lost_by`, a rule of the
         *         answer, "draw" (equal in all rules) or "order" (equal, and looked at later);
         *         "doesNotFit" (even with all candidates gone), "noCandidates", "notHelpful"
         *         (no removal could help), "notTried" (enough were found before), "refused" (by
         *         an extender or a predicate). `why` are the scheduler's own words.
         */
        readonly TriedNode: {
            readonly node: string;
            readonly outcome: string;
            readonly why: string;
            readonly lostBy: string;
            readonly victims: readonly string[];
            readonly violations: number;
            readonly costs: readonly components["schemas"]["Cost"][];
            readonly missing: readonly components["schemas"]["Amount"][];
            readonly pods: readonly components["schemas"]["TriedPod"][];
        };
        /** @description What one rule counts for a node; the lowest is best, the first rule decides. */
        readonly Cost: {
            readonly rule: string;
            readonly value: number;
        };
        /**
         * @description One thing that was tried with one pod of a node, in order.
         *
         *         `kind` "candidate": may go. Under kube-scheduler all of them are taken off a
         *         copy of the node first (`verdict` "removed"), then each is put back
         *         (`kind` "putBack"): "spared" where the preemptor still fits, else "needed",
         *         and `why` is what the filters said. Under YuniKorn a candidate is "taken",
         *         "spared" (enough is free without it), "noHelp" (it holds nothing that is
         *         short), "withinGuarantee" (its queue would fall below its guarantee), or
         *         "overAskGuarantee" (the preemptor's queue would pass its own). `budgets` name
         *         the PodDisruptionBudgets that have no disruption left for it.
         */
        readonly TriedPod: {
            readonly pod: string;
            readonly kind: string;
            readonly verdict: string;
            readonly queue: string;
            readonly priority: number;
            readonly sinceMs: number | null;
            readonly held: readonly components["schemas"]["Amount"][];
            readonly optedOut: boolean;
            readonly originator: boolean;
            readonly budgets: readonly string[];
            readonly why: string;
        };
        /** @description A PodDisruptionBudget, and how many more pods it let go before the search. */
        readonly Budget: {
            readonly name: string;
            readonly allowed: number;
        };
        /**
         * @description A leaf of YuniKorn and how many of its pods may go.
         *
         *         `why` not: "own" (the preemptor's), "outOfScope" (beyond a fence or a full
         *         queue), "disabled", "none" (within its guarantee, or more important).
         */
        readonly CandidateQueue: {
            readonly queue: string;
            readonly candidates: number;
            readonly why: string;
        };
        /**
         * @description What an edit would come to, run on a copy; for drag and drop.
         *
         *         `cells` is the quota that the workload's ClusterQueue has afterwards, with
         *         the request in `amount`; `refused` says why the edit cannot be made. `sentences`
         *         say all of it, `usage` what they say of quota, `effects` who gains and who loses;
         *         `said`, `usage_said` and `effects_said` are the same with their codes.
         */
        readonly Preview: {
            readonly change: components["schemas"]["Change"] | null;
            readonly refused: string;
            readonly workload: string;
            readonly queue: string;
            readonly evicted: boolean;
            readonly cells: readonly components["schemas"]["FlavorRow"][];
            readonly outcome: components["schemas"]["ChangeOutcome"] | null;
            readonly verdict: components["schemas"]["ChangeVerdict"] | null;
            readonly effects: readonly string[];
            readonly sentences: readonly string[];
            readonly usage: readonly string[];
            readonly said: readonly components["schemas"]["Sentence"][];
            readonly usageSaid: readonly components["schemas"]["Sentence"][];
            readonly effectsSaid: readonly components["schemas"]["Sentence"][];
        };
        /**
         * @description What a change makes different: two runs from one instant to one horizon.
         *
         *         `workloads` are all that come out otherwise, Pods where nothing but pods is scheduled;
         *         `pods` counts the pods of Workloads that get another node, or get one at another
         *         time. Nothing changes exactly when `differs` is false.
         */
        readonly ChangeVerdict: {
            readonly fromMs: number;
            readonly toMs: number;
            readonly differs: boolean;
            readonly workloads: readonly components["schemas"]["WorkloadVerdict"][];
            readonly pods: number;
            readonly without: components["schemas"]["RunTotals"];
            readonly changed: components["schemas"]["RunTotals"];
        };
        /**
         * @description One subject that comes out otherwise with the change.
         *
         *         `start` compares the starts that hold; where they are equal, `gains` and `loses`
         *         go by the ends. Neither: it only gets another place, or is evicted on the way.
         */
        readonly WorkloadVerdict: {
            readonly subject: string;
            /** @enum {unknown} */
            readonly start: "earlier" | "later" | "never" | "only" | "same";
            readonly gains: boolean;
            readonly loses: boolean;
            readonly without: components["schemas"]["RunCourse"];
            readonly changed: components["schemas"]["RunCourse"];
        };
        /**
         * @description What became of one subject in one run; milliseconds of virtual time.
         *
         *         `started_ms` is the start that holds at the horizon, or that it ended from. None: it
         *         waits, or did not end. `place` is "" where it is as at the begin. `lost_ms` is held
         *         and thrown away by evictions, `preemptions` are among the evictions.
         */
        readonly RunCourse: {
            readonly startedMs: number | null;
            readonly finishedMs: number | null;
            readonly place: string;
            readonly evictions: number;
            readonly preemptions: number;
            readonly lostMs: number;
        };
        /** @description One run in sums over the same time. */
        readonly RunTotals: {
            readonly started: number;
            readonly finished: number;
            readonly evictions: number;
            readonly preemptions: number;
            readonly workLostMs: number;
        };
        /** @description A window as it was, replayed, and replayed with a change. */
        readonly IncidentReplay: {
            readonly fromMs: number;
            readonly toMs: number;
            readonly real: components["schemas"]["WindowRun"];
            readonly same: components["schemas"]["WindowRun"];
            readonly changed: components["schemas"]["WindowRun"];
            readonly startErrorMs: readonly number[];
            readonly sentence: string;
        };
        /** @description A window as it was, or as one policy would have had it. */
        readonly WindowRun: {
            readonly queues: readonly components["schemas"]["QueueWaits"][];
            readonly admitted: number;
            readonly preemptions: number;
        };
        /** @description How long work of one ClusterQueue waited in a window; what waits still counts as far. */
        readonly QueueWaits: {
            readonly queue: string;
            readonly workloads: number;
            readonly admitted: number;
            readonly waitMs: number;
        };
        /** @description The real decisions that were held against the engine's, the newest ones. */
        readonly Agreement: {
            readonly decisions: number;
            readonly judged: number;
            readonly agree: number;
            readonly kinds: readonly components["schemas"]["KindAgreement"][];
            readonly times: readonly components["schemas"]["AgreementAt"][];
            readonly disagreements: readonly components["schemas"]["Disagreement"][];
        };
        /** @description How often the engine agrees on one kind of decision. */
        readonly KindAgreement: {
            readonly kind: string;
            readonly judged: number;
            readonly agree: number;
        };
        /** @description How often the engine agrees on one kind of decision in a stretch of time. */
        readonly AgreementAt: {
            readonly kind: string;
            readonly tMs: number;
            readonly tick: number;
            readonly judged: number;
            readonly agree: number;
        };
        /** @description A real decision that the engine does not take from the state just before it. */
        readonly Disagreement: {
            readonly event: number;
            readonly kind: string;
            readonly subject: string;
            readonly tMs: number;
            readonly tick: number;
            readonly difference: string;
        };
        /** @description A real decision opened, and what its smallest world is made a sandbox with. */
        readonly Opened: {
            readonly decision: components["schemas"]["OpenedDecision"];
            readonly tick: number;
            readonly policy: Record<string, never>;
        };
        /** @description A real decision and the engine's on the same state, step by step. */
        readonly OpenedDecision: {
            readonly kind: string;
            readonly subject: string;
            readonly tMs: number;
            readonly difference: string;
            readonly real: readonly components["schemas"]["ShadowStep"][];
            readonly engine: readonly components["schemas"]["ShadowStep"][];
            readonly smallest: components["schemas"]["SmallestWorld"];
        };
        /** @description One step: a decision, or a sentence of the search behind it. */
        readonly ShadowStep: {
            readonly kind: string;
            readonly tMs: number;
            readonly subject: string;
            readonly by: string;
            readonly queue: string;
            readonly flavors: readonly string[];
            readonly text: string;
        };
        /** @description The objects that the engine's part needs, and how many there were. */
        readonly SmallestWorld: {
            readonly before: number;
            readonly after: number;
            readonly minimal: boolean;
            readonly documents: readonly Record<string, never>[];
        };
        /**
         * @description Server: everything at one revision. The newest 600 samples and 200 events.
         *
         *         Arrive and Wait are left out of the events: of a large world they would be all 200.
         */
        readonly PageState: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "page_state";
            readonly revision: number;
            readonly rows: readonly components["schemas"]["AnyRow"][];
            readonly samples: readonly components["schemas"]["Sample"][];
            readonly events: readonly components["schemas"]["EventLine"][];
            readonly protocol: number;
        };
        /** @description The sandbox itself: clock, transport and what may be done with it. */
        readonly SandboxRow: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "Sandbox";
            readonly key: string;
            readonly name: string;
            readonly namespace: string;
            readonly id: string;
            readonly title: string;
            readonly branch: string;
            readonly parent: string | null;
            /** @enum {unknown} */
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
            readonly problemSaid: readonly components["schemas"]["Sentence"][];
            readonly hash: string;
            readonly resources: readonly string[];
            readonly notSimulated: readonly string[];
            readonly notSimulatedSaid: readonly components["schemas"]["Sentence"][];
            /** @enum {unknown} */
            readonly source: "cluster" | "recording" | "simulated";
            readonly sourceName: string;
            readonly sourceStart: string;
            readonly lastTick: number | null;
            readonly lagMs: number;
            readonly cost: number | null;
            readonly costPerHour: number | null;
        };
        /** @description A cohort: an inner node of the quota tree. */
        readonly CohortRow: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "Cohort";
            readonly key: string;
            readonly name: string;
            readonly namespace: string;
            readonly parent: string;
            readonly implicit: boolean;
            readonly weight: string;
            readonly share: string;
            readonly cells: readonly components["schemas"]["QuotaCell"][];
            readonly lendable: {
                readonly [key: string]: string;
            };
        };
        /** @description Quota and usage of one (flavor, resource) at one node of the quota tree. */
        readonly QuotaCell: {
            readonly flavor: string;
            readonly resource: string;
            readonly nominal: string;
            readonly used: string;
            readonly borrowed: string;
            readonly lent: string;
            readonly available: string;
            readonly borrowingLimit: string | null;
            readonly lendingLimit: string | null;
        };
        /** @description A ClusterQueue: a leaf of the quota tree. */
        readonly ClusterQueueRow: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
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
            readonly cells: readonly components["schemas"]["QuotaCell"][];
            readonly counts: components["schemas"]["WorkloadCounts"];
            readonly withinClusterQueue: string;
            readonly reclaimWithinCohort: string;
            readonly borrowWithinCohort: string;
        };
        /** @description Workloads by state. */
        readonly WorkloadCounts: {
            readonly pending: number;
            readonly inadmissible: number;
            readonly reserved: number;
            readonly admitted: number;
            readonly evicted: number;
            readonly finished: number;
        };
        /** @description A LocalQueue: the queue of a namespace that leads to a ClusterQueue. */
        readonly LocalQueueRow: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "LocalQueue";
            readonly key: string;
            readonly name: string;
            readonly namespace: string;
            readonly clusterQueue: string;
            readonly stopPolicy: string;
            readonly active: boolean;
            readonly counts: components["schemas"]["WorkloadCounts"];
        };
        /** @description A ResourceFlavor. */
        readonly ResourceFlavorRow: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "ResourceFlavor";
            readonly key: string;
            readonly name: string;
            readonly namespace: string;
            readonly nodeLabels: {
                readonly [key: string]: string;
            };
            readonly taints: readonly string[];
        };
        /** @description A worker cluster as the manager sees it: its condition Active. */
        readonly MultiKueueClusterRow: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "MultiKueueCluster";
            readonly key: string;
            readonly name: string;
            readonly namespace: string;
            readonly active: boolean;
            readonly reason: string;
            readonly message: string;
            readonly sinceMs: number | null;
        };
        /** @description A Workload as a card shows it. */
        readonly WorkloadRow: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "Workload";
            readonly key: string;
            readonly name: string;
            readonly namespace: string;
            readonly uid: string;
            readonly localQueue: string;
            readonly clusterQueue: string;
            /** @enum {unknown} */
            readonly phase: "admitted" | "finished" | "inactive" | "inadmissible" | "pending" | "reserved";
            readonly priority: number;
            readonly priorityClass: string;
            readonly podSets: readonly components["schemas"]["PodSetCell"][];
            readonly totals: {
                readonly [key: string]: string;
            };
            readonly reason: string;
            readonly message: string;
            readonly conditions: readonly components["schemas"]["ConditionCell"][];
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
            readonly checks: readonly components["schemas"]["CheckCell"][];
            readonly worker: string;
            readonly tried: readonly string[];
            readonly copy: boolean;
        };
        /** @description One pod set of a Workload. */
        readonly PodSetCell: {
            readonly name: string;
            readonly count: number;
            readonly minCount: number | null;
            readonly requests: {
                readonly [key: string]: string;
            };
            readonly flavors: {
                readonly [key: string]: string;
            };
        };
        /** @description One condition of a Workload's status. */
        readonly ConditionCell: {
            readonly type: string;
            readonly status: boolean;
            readonly reason: string;
            readonly message: string;
            readonly sinceMs: number;
        };
        /** @description What one admission check says of a Workload. */
        readonly CheckCell: {
            readonly name: string;
            readonly state: string;
            readonly message: string;
        };
        /** @description A node with what is taken on it. */
        readonly NodeRow: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "Node";
            readonly key: string;
            readonly name: string;
            readonly namespace: string;
            /** @enum {unknown} */
            readonly state: "cordoned" | "failed" | "ready";
            readonly flavor: string;
            readonly allocatable: {
                readonly [key: string]: string;
            };
            readonly used: {
                readonly [key: string]: string;
            };
            readonly pods: number;
            readonly taints: readonly string[];
            readonly labels: {
                readonly [key: string]: string;
            };
        };
        /** @description A pod. */
        readonly PodRow: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "Pod";
            readonly key: string;
            readonly name: string;
            readonly namespace: string;
            readonly uid: string;
            readonly node: string;
            readonly nominated: string;
            /** @enum {unknown} */
            readonly phase: "bound" | "failed" | "gated" | "pending" | "ready" | "running" | "succeeded" | "waiting";
            readonly workload: string;
            readonly queue: string;
            readonly scheduler: string;
            readonly priority: number;
            readonly requests: {
                readonly [key: string]: string;
            };
            readonly qos: string;
            readonly reason: string;
            readonly message: string;
        };
        /** @description A YuniKorn queue; `name` is its full path. */
        readonly QueueRow: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "Queue";
            readonly key: string;
            readonly name: string;
            readonly namespace: string;
            readonly parent: string;
            readonly leaf: boolean;
            readonly guaranteed: {
                readonly [key: string]: string;
            };
            readonly max: {
                readonly [key: string]: string;
            };
            readonly allocated: {
                readonly [key: string]: string;
            };
            readonly pending: {
                readonly [key: string]: string;
            };
            readonly share: number;
            readonly sortPolicy: string;
            readonly preemptionPolicy: string;
            readonly preemptionDelayMs: number;
            readonly priorityPolicy: string;
            readonly priorityOffset: number;
            readonly applications: number;
        };
        /** @description A YuniKorn application. */
        readonly ApplicationRow: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "Application";
            readonly key: string;
            readonly name: string;
            readonly namespace: string;
            readonly queue: string;
            readonly state: string;
            readonly user: string;
            readonly submittedMs: number;
            readonly allocated: {
                readonly [key: string]: string;
            };
            readonly pending: {
                readonly [key: string]: string;
            };
            readonly asks: number;
            readonly allocations: number;
        };
        /** @description The policy document in force; `changed` are paths that differ from the start. */
        readonly PolicyRow: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "Policy";
            readonly key: string;
            readonly name: string;
            readonly namespace: string;
            readonly document: Record<string, never>;
            readonly changed: readonly string[];
        };
        /** @description The whole world at one tick, for the curves. */
        readonly Sample: {
            readonly tick: number;
            readonly tMs: number;
            readonly pending: number;
            readonly admitted: number;
            readonly finished: number;
            readonly preemptions: number;
            readonly evictions: number;
            readonly used: {
                readonly [key: string]: string;
            };
            readonly capacity: {
                readonly [key: string]: string;
            };
            readonly queues: readonly components["schemas"]["QueueSample"][];
            readonly cost: number | null;
        };
        /** @description One queue at one tick, for the curves. */
        readonly QueueSample: {
            readonly queue: string;
            readonly share: number | null;
            readonly used: {
                readonly [key: string]: string;
            };
            readonly pending: number;
        };
        /**
         * @description One decision or edit, as the event list shows it.
         *
         *         `said` is the message with its code, where it is in words of this program; a
         *         scheduler's own words have none.
         */
        readonly EventLine: {
            readonly revision: number;
            readonly seq: number;
            readonly tick: number;
            readonly tMs: number;
            readonly type: string;
            readonly subject: string;
            readonly by: string;
            readonly reason: string;
            readonly message: string;
            readonly said?: components["schemas"]["Sentence"];
        };
        /**
         * @description Server: from one revision to a later one; may span several.
         *
         *         `updated` holds the changed fields only, whole values. A client whose
         *         revision is not `from_revision` says hello again.
         */
        readonly Diff: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "diff";
            readonly from: number;
            readonly revision: number;
            readonly tick: number;
            readonly added: readonly components["schemas"]["AnyRow"][];
            readonly updated: {
                readonly [key: string]: components["schemas"]["SandboxRowPatch"] | components["schemas"]["CohortRowPatch"] | components["schemas"]["ClusterQueueRowPatch"] | components["schemas"]["LocalQueueRowPatch"] | components["schemas"]["ResourceFlavorRowPatch"] | components["schemas"]["MultiKueueClusterRowPatch"] | components["schemas"]["WorkloadRowPatch"] | components["schemas"]["NodeRowPatch"] | components["schemas"]["PodRowPatch"] | components["schemas"]["QueueRowPatch"] | components["schemas"]["ApplicationRowPatch"] | components["schemas"]["PolicyRowPatch"];
            };
            readonly removed: readonly string[];
            readonly samples: readonly components["schemas"]["Sample"][];
            readonly events: readonly components["schemas"]["EventLine"][];
        };
        /** @description Server: the diffs you need are gone; say hello without `since`. */
        readonly Resync: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "resync";
            readonly revision: number;
        };
        /**
         * @description Server: how the service is. Errors stay until a status without one.
         *
         *         `said` is the message with its code; none with an empty one.
         */
        readonly ServiceStatus: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "status";
            /** @enum {unknown} */
            readonly level: "error" | "live" | "waiting";
            readonly message: string;
            readonly said: components["schemas"]["Sentence"] | null;
        };
        /**
         * @description Server: a lesson begins, shows something else, is answered, or ends.
         *
         *         `view` and `query` are where the presenter's page is; an older `version`
         *         than one that was seen is stale.
         */
        readonly LessonNews: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "lesson";
            readonly running: boolean;
            readonly version: number;
            readonly view: string;
            readonly query: string;
            readonly revealed: readonly number[];
            readonly followers: number;
            readonly tallies: readonly components["schemas"]["TallyRecord"][];
        };
        /** @description How many followers expect one choice at one stop of a lesson. */
        readonly TallyRecord: {
            readonly stop: number;
            readonly choice: number;
            readonly count: number;
        };
        /** @description Client: what it has and wants. `since` asks for diffs above a revision. */
        readonly Hello: {
            /** @enum {unknown} */
            readonly type: "hello";
            readonly since: number | null;
            readonly views: readonly string[];
        };
        /** @description One profile: the how manieth of the how manieth configuration, from 0. */
        readonly ProfileState: {
            readonly configuration: number;
            readonly index: number;
            readonly schedulerName: string;
            readonly percentageOfNodesToScore: number;
            readonly plugins: readonly components["schemas"]["PluginState"][];
        };
        /**
         * @description One plug-in in one profile; `points` it could work at, `on` where it does.
         *
         *         `weight` is None where it does not score; `args` are those in force, with
         *         defaults filled in, None for a plug-in that takes none.
         */
        readonly PluginState: {
            readonly name: string;
            readonly points: readonly string[];
            readonly on: readonly string[];
            readonly weight: number | null;
            readonly args: Record<string, never> | null;
        };
        readonly AnyRow: components["schemas"]["SandboxRow"] | components["schemas"]["CohortRow"] | components["schemas"]["ClusterQueueRow"] | components["schemas"]["LocalQueueRow"] | components["schemas"]["ResourceFlavorRow"] | components["schemas"]["MultiKueueClusterRow"] | components["schemas"]["WorkloadRow"] | components["schemas"]["NodeRow"] | components["schemas"]["PodRow"] | components["schemas"]["QueueRow"] | components["schemas"]["ApplicationRow"] | components["schemas"]["PolicyRow"];
        readonly ServerMessage: components["schemas"]["PageState"] | components["schemas"]["Diff"] | components["schemas"]["Resync"] | components["schemas"]["ServiceStatus"] | components["schemas"]["LessonNews"];
        /** @description Changed fields of a SandboxRow, whole values. */
        readonly SandboxRowPatch: {
            readonly name?: string;
            readonly namespace?: string;
            readonly id?: string;
            readonly title?: string;
            readonly branch?: string;
            readonly parent?: string | null;
            /** @enum {unknown} */
            readonly stack?: "kube" | "kueue" | "yunikorn";
            readonly fairSharing?: boolean;
            readonly laws?: string;
            readonly seed?: string;
            readonly tick?: number;
            readonly tMs?: number;
            readonly tickMs?: number;
            readonly firstTick?: number;
            readonly playing?: boolean;
            readonly speed?: number;
            readonly until?: string;
            readonly problem?: string;
            readonly problemSaid?: readonly components["schemas"]["Sentence"][];
            readonly hash?: string;
            readonly resources?: readonly string[];
            readonly notSimulated?: readonly string[];
            readonly notSimulatedSaid?: readonly components["schemas"]["Sentence"][];
            /** @enum {unknown} */
            readonly source?: "cluster" | "recording" | "simulated";
            readonly sourceName?: string;
            readonly sourceStart?: string;
            readonly lastTick?: number | null;
            readonly lagMs?: number;
            readonly cost?: number | null;
            readonly costPerHour?: number | null;
        };
        /** @description Changed fields of a CohortRow, whole values. */
        readonly CohortRowPatch: {
            readonly name?: string;
            readonly namespace?: string;
            readonly parent?: string;
            readonly implicit?: boolean;
            readonly weight?: string;
            readonly share?: string;
            readonly cells?: readonly components["schemas"]["QuotaCell"][];
            readonly lendable?: {
                readonly [key: string]: string;
            };
        };
        /** @description Changed fields of a ClusterQueueRow, whole values. */
        readonly ClusterQueueRowPatch: {
            readonly name?: string;
            readonly namespace?: string;
            readonly cohort?: string;
            readonly queueingStrategy?: string;
            readonly stopPolicy?: string;
            readonly active?: boolean;
            readonly inactiveReason?: string;
            readonly weight?: string;
            readonly share?: string;
            readonly cells?: readonly components["schemas"]["QuotaCell"][];
            readonly counts?: components["schemas"]["WorkloadCounts"];
            readonly withinClusterQueue?: string;
            readonly reclaimWithinCohort?: string;
            readonly borrowWithinCohort?: string;
        };
        /** @description Changed fields of a LocalQueueRow, whole values. */
        readonly LocalQueueRowPatch: {
            readonly name?: string;
            readonly namespace?: string;
            readonly clusterQueue?: string;
            readonly stopPolicy?: string;
            readonly active?: boolean;
            readonly counts?: components["schemas"]["WorkloadCounts"];
        };
        /** @description Changed fields of a ResourceFlavorRow, whole values. */
        readonly ResourceFlavorRowPatch: {
            readonly name?: string;
            readonly namespace?: string;
            readonly nodeLabels?: {
                readonly [key: string]: string;
            };
            readonly taints?: readonly string[];
        };
        /** @description Changed fields of a MultiKueueClusterRow, whole values. */
        readonly MultiKueueClusterRowPatch: {
            readonly name?: string;
            readonly namespace?: string;
            readonly active?: boolean;
            readonly reason?: string;
            readonly message?: string;
            readonly sinceMs?: number | null;
        };
        /** @description Changed fields of a WorkloadRow, whole values. */
        readonly WorkloadRowPatch: {
            readonly name?: string;
            readonly namespace?: string;
            readonly uid?: string;
            readonly localQueue?: string;
            readonly clusterQueue?: string;
            /** @enum {unknown} */
            readonly phase?: "admitted" | "finished" | "inactive" | "inadmissible" | "pending" | "reserved";
            readonly priority?: number;
            readonly priorityClass?: string;
            readonly podSets?: readonly components["schemas"]["PodSetCell"][];
            readonly totals?: {
                readonly [key: string]: string;
            };
            readonly reason?: string;
            readonly message?: string;
            readonly conditions?: readonly components["schemas"]["ConditionCell"][];
            readonly sticky?: boolean;
            readonly orderUs?: string;
            readonly createdMs?: number;
            readonly reservedMs?: number | null;
            readonly admittedMs?: number | null;
            readonly readyMs?: number | null;
            readonly endsMs?: number | null;
            readonly runtimeMs?: number;
            readonly requeueMs?: number | null;
            readonly evictions?: number;
            readonly evicted?: boolean;
            readonly owner?: string;
            readonly checks?: readonly components["schemas"]["CheckCell"][];
            readonly worker?: string;
            readonly tried?: readonly string[];
            readonly copy?: boolean;
        };
        /** @description Changed fields of a NodeRow, whole values. */
        readonly NodeRowPatch: {
            readonly name?: string;
            readonly namespace?: string;
            /** @enum {unknown} */
            readonly state?: "cordoned" | "failed" | "ready";
            readonly flavor?: string;
            readonly allocatable?: {
                readonly [key: string]: string;
            };
            readonly used?: {
                readonly [key: string]: string;
            };
            readonly pods?: number;
            readonly taints?: readonly string[];
            readonly labels?: {
                readonly [key: string]: string;
            };
        };
        /** @description Changed fields of a PodRow, whole values. */
        readonly PodRowPatch: {
            readonly name?: string;
            readonly namespace?: string;
            readonly uid?: string;
            readonly node?: string;
            readonly nominated?: string;
            /** @enum {unknown} */
            readonly phase?: "bound" | "failed" | "gated" | "pending" | "ready" | "running" | "succeeded" | "waiting";
            readonly workload?: string;
            readonly queue?: string;
            readonly scheduler?: string;
            readonly priority?: number;
            readonly requests?: {
                readonly [key: string]: string;
            };
            readonly qos?: string;
            readonly reason?: string;
            readonly message?: string;
        };
        /** @description Changed fields of a QueueRow, whole values. */
        readonly QueueRowPatch: {
            readonly name?: string;
            readonly namespace?: string;
            readonly parent?: string;
            readonly leaf?: boolean;
            readonly guaranteed?: {
                readonly [key: string]: string;
            };
            readonly max?: {
                readonly [key: string]: string;
            };
            readonly allocated?: {
                readonly [key: string]: string;
            };
            readonly pending?: {
                readonly [key: string]: string;
            };
            readonly share?: number;
            readonly sortPolicy?: string;
            readonly preemptionPolicy?: string;
            readonly preemptionDelayMs?: number;
            readonly priorityPolicy?: string;
            readonly priorityOffset?: number;
            readonly applications?: number;
        };
        /** @description Changed fields of a ApplicationRow, whole values. */
        readonly ApplicationRowPatch: {
            readonly name?: string;
            readonly namespace?: string;
            readonly queue?: string;
            readonly state?: string;
            readonly user?: string;
            readonly submittedMs?: number;
            readonly allocated?: {
                readonly [key: string]: string;
            };
            readonly pending?: {
                readonly [key: string]: string;
            };
            readonly asks?: number;
            readonly allocations?: number;
        };
        /** @description Changed fields of a PolicyRow, whole values. */
        readonly PolicyRowPatch: {
            readonly name?: string;
            readonly namespace?: string;
            readonly document?: Record<string, never>;
            readonly changed?: readonly string[];
        };
        readonly ProfileList: {
            readonly items: readonly components["schemas"]["ProfileState"][];
        };
        /** @description An error, as Kubernetes words it. */
        readonly Status: {
            /** @constant */
            readonly kind: "Status";
            /** @constant */
            readonly apiVersion: "v1";
            readonly metadata?: Record<string, never>;
            /** @constant */
            readonly status: "Failure";
            readonly message: string;
            readonly reason: string;
            readonly code: number;
            readonly details?: {
                readonly said?: components["schemas"]["Said"];
                readonly causes?: readonly components["schemas"]["StatusCause"][];
            };
        };
        /** @description One thing that is wrong, and where. */
        readonly StatusCause: {
            readonly reason: string;
            readonly message: string;
            readonly field: string;
            readonly file: string;
            readonly line: number;
            /** @enum {unknown} */
            readonly level: "error" | "warning" | "unsupported";
            readonly said?: components["schemas"]["Said"];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type AdviceAnswer = components['schemas']['AdviceAnswer'];
export type AdviceBound = components['schemas']['AdviceBound'];
export type AdviceConstraint = components['schemas']['AdviceConstraint'];
export type AdviceEdit = components['schemas']['AdviceEdit'];
export type AdviceEstimate = components['schemas']['AdviceEstimate'];
export type AdviceFrontPoint = components['schemas']['AdviceFrontPoint'];
export type AdviceMean = components['schemas']['AdviceMean'];
export type AdviceNear = components['schemas']['AdviceNear'];
export type AdviceRow = components['schemas']['AdviceRow'];
export type ArrivalsEnum = components['schemas']['ArrivalsEnum'];
export type AssertionResult = components['schemas']['AssertionResult'];
export type Audit = components['schemas']['Audit'];
export type AuditList = components['schemas']['AuditList'];
export type BetterEnum = components['schemas']['BetterEnum'];
export type BlankEnum = components['schemas']['BlankEnum'];
export type Branch = components['schemas']['Branch'];
export type Checkpoint = components['schemas']['Checkpoint'];
export type Cluster = components['schemas']['Cluster'];
export type ClusterChange = components['schemas']['ClusterChange'];
export type ClusterChangeChangeEnum = components['schemas']['ClusterChangeChangeEnum'];
export type ClusterList = components['schemas']['ClusterList'];
export type ColumnPreview = components['schemas']['ColumnPreview'];
export type Comparison = components['schemas']['Comparison'];
export type Conversion = components['schemas']['Conversion'];
export type Conversions = components['schemas']['Conversions'];
export type Convert = components['schemas']['Convert'];
export type Converted = components['schemas']['Converted'];
export type ConvertedFile = components['schemas']['ConvertedFile'];
export type ConvertedStack = components['schemas']['ConvertedStack'];
export type Counted = components['schemas']['Counted'];
export type Create = components['schemas']['Create'];
export type Created = components['schemas']['Created'];
export type Curves = components['schemas']['Curves'];
export type Database = components['schemas']['Database'];
export type Decided = components['schemas']['Decided'];
export type Delete = components['schemas']['Delete'];
export type Difference = components['schemas']['Difference'];
export type Disk = components['schemas']['Disk'];
export type Done = components['schemas']['Done'];
export type Entry = components['schemas']['Entry'];
export type Event = components['schemas']['Event'];
export type EventList = components['schemas']['EventList'];
export type Experiment = components['schemas']['Experiment'];
export type ExperimentList = components['schemas']['ExperimentList'];
export type ExperimentRole = components['schemas']['ExperimentRole'];
export type ExperimentState = components['schemas']['ExperimentState'];
export type File = components['schemas']['File'];
export type FileOutcome = components['schemas']['FileOutcome'];
export type Finding = components['schemas']['Finding'];
export type FindingGroup = components['schemas']['FindingGroup'];
export type ForecastOptions = components['schemas']['ForecastOptions'];
export type Fork = components['schemas']['Fork'];
export type Group = components['schemas']['Group'];
export type Guess = components['schemas']['Guess'];
export type Hash = components['schemas']['Hash'];
export type Import = components['schemas']['Import'];
export type ImportReport = components['schemas']['ImportReport'];
export type ImportReportList = components['schemas']['ImportReportList'];
export type Imported = components['schemas']['Imported'];
export type Incident = components['schemas']['Incident'];
export type Interval = components['schemas']['Interval'];
export type JobPreview = components['schemas']['JobPreview'];
export type Join = components['schemas']['Join'];
export type Joined = components['schemas']['Joined'];
export type Key = components['schemas']['Key'];
export type Kind = components['schemas']['Kind'];
export type KindOutcome = components['schemas']['KindOutcome'];
export type KindOutcomeOutcomeEnum = components['schemas']['KindOutcomeOutcomeEnum'];
export type Lesson = components['schemas']['Lesson'];
export type LevelEnum = components['schemas']['LevelEnum'];
export type Link = components['schemas']['Link'];
export type LinkList = components['schemas']['LinkList'];
export type Look = components['schemas']['Look'];
export type Loss = components['schemas']['Loss'];
export type MadeLink = components['schemas']['MadeLink'];
export type MadeToken = components['schemas']['MadeToken'];
export type Me = components['schemas']['Me'];
export type Member = components['schemas']['Member'];
export type MemberList = components['schemas']['MemberList'];
export type MemberRole = components['schemas']['MemberRole'];
export type Move = components['schemas']['Move'];
export type MoveOutcome = components['schemas']['MoveOutcome'];
export type MoveOutcomeOutcomeEnum = components['schemas']['MoveOutcomeOutcomeEnum'];
export type MoveVictim = components['schemas']['MoveVictim'];
export type NewLink = components['schemas']['NewLink'];
export type NewToken = components['schemas']['NewToken'];
export type NodeChange = components['schemas']['NodeChange'];
export type NodeChangeChangeEnum = components['schemas']['NodeChangeChangeEnum'];
export type NullEnum = components['schemas']['NullEnum'];
export type Objective = components['schemas']['Objective'];
export type OneExperiment = components['schemas']['OneExperiment'];
export type Open = components['schemas']['Open'];
export type OpenLink = components['schemas']['OpenLink'];
export type OutcomeCounts = components['schemas']['OutcomeCounts'];
export type OutcomeDiff = components['schemas']['OutcomeDiff'];
export type OverEnum = components['schemas']['OverEnum'];
export type Patch = components['schemas']['Patch'];
export type PatchedChange = components['schemas']['PatchedChange'];
export type Picture = components['schemas']['Picture'];
export type Pin = components['schemas']['Pin'];
export type PinOutcome = components['schemas']['PinOutcome'];
export type PinOutcomeOutcomeEnum = components['schemas']['PinOutcomeOutcomeEnum'];
export type Place = components['schemas']['Place'];
export type PlacedLoss = components['schemas']['PlacedLoss'];
export type Play = components['schemas']['Play'];
export type Preempted = components['schemas']['Preempted'];
export type Preemptions = components['schemas']['Preemptions'];
export type Registry = components['schemas']['Registry'];
export type Report = components['schemas']['Report'];
export type Reproduction = components['schemas']['Reproduction'];
export type ResultLine = components['schemas']['ResultLine'];
export type Results = components['schemas']['Results'];
export type Rewind = components['schemas']['Rewind'];
export type Rewound = components['schemas']['Rewound'];
export type Role = components['schemas']['Role'];
export type Run = components['schemas']['Run'];
export type RunStateEnum = components['schemas']['RunStateEnum'];
export type Said = components['schemas']['Said'];
export type SampleList = components['schemas']['SampleList'];
export type Sandbox = components['schemas']['Sandbox'];
export type SandboxList = components['schemas']['SandboxList'];
export type SandboxRole = components['schemas']['SandboxRole'];
export type Scenario = components['schemas']['Scenario'];
export type ScenarioList = components['schemas']['ScenarioList'];
export type ScopeEnum = components['schemas']['ScopeEnum'];
export type SearchStanding = components['schemas']['SearchStanding'];
export type SearchState = components['schemas']['SearchState'];
export type Series = components['schemas']['Series'];
export type Share = components['schemas']['Share'];
export type SourceEnum = components['schemas']['SourceEnum'];
export type Span = components['schemas']['Span'];
export type SpanStateEnum = components['schemas']['SpanStateEnum'];
export type Speed = components['schemas']['Speed'];
export type Stack = components['schemas']['Stack'];
export type Start = components['schemas']['Start'];
export type StepRequest = components['schemas']['StepRequest'];
export type Stepping = components['schemas']['Stepping'];
export type Submission = components['schemas']['Submission'];
export type Table = components['schemas']['Table'];
export type Tally = components['schemas']['Tally'];
export type Timeline = components['schemas']['Timeline'];
export type Token = components['schemas']['Token'];
export type TokenList = components['schemas']['TokenList'];
export type Total = components['schemas']['Total'];
export type TracePreview = components['schemas']['TracePreview'];
export type TracePreviews = components['schemas']['TracePreviews'];
export type TraceQuestion = components['schemas']['TraceQuestion'];
export type Traces = components['schemas']['Traces'];
export type Twin = components['schemas']['Twin'];
export type UnreadField = components['schemas']['UnreadField'];
export type UntilEvent = components['schemas']['UntilEvent'];
export type Use = components['schemas']['Use'];
export type VerdictEnum = components['schemas']['VerdictEnum'];
export type VerdictsEnum = components['schemas']['VerdictsEnum'];
export type VisibilityEnum = components['schemas']['VisibilityEnum'];
export type WhatIf = components['schemas']['WhatIf'];
export type Explanation = components['schemas']['Explanation'];
export type NodeName = components['schemas']['NodeName'];
export type Condition = components['schemas']['Condition'];
export type Waiting = components['schemas']['Waiting'];
export type FlavorAttempt = components['schemas']['FlavorAttempt'];
export type Victim = components['schemas']['Victim'];
export type Amount = components['schemas']['Amount'];
export type Sentence = components['schemas']['Sentence'];
export type FlavorRow = components['schemas']['FlavorRow'];
export type Level = components['schemas']['Level'];
export type PreemptionSearch = components['schemas']['PreemptionSearch'];
export type Source = components['schemas']['Source'];
export type Standing = components['schemas']['Standing'];
export type PreemptionStep = components['schemas']['PreemptionStep'];
export type Test = components['schemas']['Test'];
export type QuotaCheck = components['schemas']['QuotaCheck'];
export type ShareRow = components['schemas']['ShareRow'];
export type TopologySearch = components['schemas']['TopologySearch'];
export type TopologyLevel = components['schemas']['TopologyLevel'];
export type TopologyDomain = components['schemas']['TopologyDomain'];
export type CheckRow = components['schemas']['CheckRow'];
export type ClusterRow = components['schemas']['ClusterRow'];
export type UsageRow = components['schemas']['UsageRow'];
export type PodExplanation = components['schemas']['PodExplanation'];
export type Scorer = components['schemas']['Scorer'];
export type NodeRowRecord = components['schemas']['NodeRowRecord'];
export type Score = components['schemas']['Score'];
export type GrowthRefusal = components['schemas']['GrowthRefusal'];
export type AskExplanation = components['schemas']['AskExplanation'];
export type QueueHeadroom = components['schemas']['QueueHeadroom'];
export type Check = components['schemas']['Check'];
export type Asked = components['schemas']['Asked'];
export type SortedLevel = components['schemas']['SortedLevel'];
export type NodeVerdict = components['schemas']['NodeVerdict'];
export type UsedShare = components['schemas']['UsedShare'];
export type Plan = components['schemas']['Plan'];
export type ApplicationExplanation = components['schemas']['ApplicationExplanation'];
export type Counterfactuals = components['schemas']['Counterfactuals'];
export type Verdict = components['schemas']['Verdict'];
export type Change = components['schemas']['Change'];
export type Edit = components['schemas']['Edit'];
export type ChangeOutcome = components['schemas']['ChangeOutcome'];
export type ShareChange = components['schemas']['ShareChange'];
export type Forecast = components['schemas']['Forecast'];
export type StartForecast = components['schemas']['StartForecast'];
export type StartChance = components['schemas']['StartChance'];
export type CurveBands = components['schemas']['CurveBands'];
export type CurveBand = components['schemas']['CurveBand'];
export type Forecasts = components['schemas']['Forecasts'];
export type ForecastState = components['schemas']['ForecastState'];
export type TrackRecord = components['schemas']['TrackRecord'];
export type SubmissionForecast = components['schemas']['SubmissionForecast'];
export type Capacity = components['schemas']['Capacity'];
export type GrowingNodes = components['schemas']['GrowingNodes'];
export type UnplacedPods = components['schemas']['UnplacedPods'];
export type Fairness = components['schemas']['Fairness'];
export type Formula = components['schemas']['Formula'];
export type Fraction = components['schemas']['Fraction'];
export type Flow = components['schemas']['Flow'];
export type Head = components['schemas']['Head'];
export type NextVictim = components['schemas']['NextVictim'];
export type QueueFairness = components['schemas']['QueueFairness'];
export type QueueShare = components['schemas']['QueueShare'];
export type QueueFraction = components['schemas']['QueueFraction'];
export type Preemption = components['schemas']['Preemption'];
export type PodPreemption = components['schemas']['PodPreemption'];
export type TriedNode = components['schemas']['TriedNode'];
export type Cost = components['schemas']['Cost'];
export type TriedPod = components['schemas']['TriedPod'];
export type Budget = components['schemas']['Budget'];
export type CandidateQueue = components['schemas']['CandidateQueue'];
export type Preview = components['schemas']['Preview'];
export type ChangeVerdict = components['schemas']['ChangeVerdict'];
export type WorkloadVerdict = components['schemas']['WorkloadVerdict'];
export type RunCourse = components['schemas']['RunCourse'];
export type RunTotals = components['schemas']['RunTotals'];
export type IncidentReplay = components['schemas']['IncidentReplay'];
export type WindowRun = components['schemas']['WindowRun'];
export type QueueWaits = components['schemas']['QueueWaits'];
export type Agreement = components['schemas']['Agreement'];
export type KindAgreement = components['schemas']['KindAgreement'];
export type AgreementAt = components['schemas']['AgreementAt'];
export type Disagreement = components['schemas']['Disagreement'];
export type Opened = components['schemas']['Opened'];
export type OpenedDecision = components['schemas']['OpenedDecision'];
export type ShadowStep = components['schemas']['ShadowStep'];
export type SmallestWorld = components['schemas']['SmallestWorld'];
export type PageState = components['schemas']['PageState'];
export type SandboxRow = components['schemas']['SandboxRow'];
export type CohortRow = components['schemas']['CohortRow'];
export type QuotaCell = components['schemas']['QuotaCell'];
export type ClusterQueueRow = components['schemas']['ClusterQueueRow'];
export type WorkloadCounts = components['schemas']['WorkloadCounts'];
export type LocalQueueRow = components['schemas']['LocalQueueRow'];
export type ResourceFlavorRow = components['schemas']['ResourceFlavorRow'];
export type MultiKueueClusterRow = components['schemas']['MultiKueueClusterRow'];
export type WorkloadRow = components['schemas']['WorkloadRow'];
export type PodSetCell = components['schemas']['PodSetCell'];
export type ConditionCell = components['schemas']['ConditionCell'];
export type CheckCell = components['schemas']['CheckCell'];
export type NodeRow = components['schemas']['NodeRow'];
export type PodRow = components['schemas']['PodRow'];
export type QueueRow = components['schemas']['QueueRow'];
export type ApplicationRow = components['schemas']['ApplicationRow'];
export type PolicyRow = components['schemas']['PolicyRow'];
export type Sample = components['schemas']['Sample'];
export type QueueSample = components['schemas']['QueueSample'];
export type EventLine = components['schemas']['EventLine'];
export type Diff = components['schemas']['Diff'];
export type Resync = components['schemas']['Resync'];
export type ServiceStatus = components['schemas']['ServiceStatus'];
export type LessonNews = components['schemas']['LessonNews'];
export type TallyRecord = components['schemas']['TallyRecord'];
export type Hello = components['schemas']['Hello'];
export type ProfileState = components['schemas']['ProfileState'];
export type PluginState = components['schemas']['PluginState'];
export type AnyRow = components['schemas']['AnyRow'];
export type ServerMessage = components['schemas']['ServerMessage'];
export type SandboxRowPatch = components['schemas']['SandboxRowPatch'];
export type CohortRowPatch = components['schemas']['CohortRowPatch'];
export type ClusterQueueRowPatch = components['schemas']['ClusterQueueRowPatch'];
export type LocalQueueRowPatch = components['schemas']['LocalQueueRowPatch'];
export type ResourceFlavorRowPatch = components['schemas']['ResourceFlavorRowPatch'];
export type MultiKueueClusterRowPatch = components['schemas']['MultiKueueClusterRowPatch'];
export type WorkloadRowPatch = components['schemas']['WorkloadRowPatch'];
export type NodeRowPatch = components['schemas']['NodeRowPatch'];
export type PodRowPatch = components['schemas']['PodRowPatch'];
export type QueueRowPatch = components['schemas']['QueueRowPatch'];
export type ApplicationRowPatch = components['schemas']['ApplicationRowPatch'];
export type PolicyRowPatch = components['schemas']['PolicyRowPatch'];
export type ProfileList = components['schemas']['ProfileList'];
export type Status = components['schemas']['Status'];
export type StatusCause = components['schemas']['StatusCause'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
