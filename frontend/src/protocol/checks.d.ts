// Generated from schema.json by `npm run types`. Do not edit by hand.

declare module "virtual:checks/live" {
  export const isServerMessage: import("@/protocol/checked").Check<import("@/protocol/types").ServerMessage>;
}

declare module "virtual:checks/imports" {
  export const isImportReportList: import("@/protocol/checked").Check<import("@/protocol/types").ImportReportList>;
  export const isTracePreviews: import("@/protocol/checked").Check<import("@/protocol/types").TracePreviews>;
  export const isConversions: import("@/protocol/checked").Check<import("@/protocol/types").Conversions>;
}

declare module "virtual:checks/lists" {
  export const isEventList: import("@/protocol/checked").Check<import("@/protocol/types").EventList>;
  export const isJoined: import("@/protocol/checked").Check<import("@/protocol/types").Joined>;
  export const isLesson: import("@/protocol/checked").Check<import("@/protocol/types").Lesson>;
  export const isSandbox: import("@/protocol/checked").Check<import("@/protocol/types").Sandbox>;
  export const isSandboxList: import("@/protocol/checked").Check<import("@/protocol/types").SandboxList>;
  export const isSampleList: import("@/protocol/checked").Check<import("@/protocol/types").SampleList>;
  export const isScenarioList: import("@/protocol/checked").Check<import("@/protocol/types").ScenarioList>;
  export const isTable: import("@/protocol/checked").Check<import("@/protocol/types").Table>;
}

declare module "virtual:checks/sandboxes" {
  export const isClusterList: import("@/protocol/checked").Check<import("@/protocol/types").ClusterList>;
  export const isCreated: import("@/protocol/checked").Check<import("@/protocol/types").Created>;
  export const isDisk: import("@/protocol/checked").Check<import("@/protocol/types").Disk>;
  export const isImported: import("@/protocol/checked").Check<import("@/protocol/types").Imported>;
  export const isLinkList: import("@/protocol/checked").Check<import("@/protocol/types").LinkList>;
  export const isMadeLink: import("@/protocol/checked").Check<import("@/protocol/types").MadeLink>;
  export const isMadeToken: import("@/protocol/checked").Check<import("@/protocol/types").MadeToken>;
  export const isMe: import("@/protocol/checked").Check<import("@/protocol/types").Me>;
  export const isMemberList: import("@/protocol/checked").Check<import("@/protocol/types").MemberList>;
  export const isTokenList: import("@/protocol/checked").Check<import("@/protocol/types").TokenList>;
  export const isUse: import("@/protocol/checked").Check<import("@/protocol/types").Use>;
}

declare module "virtual:checks/edits" {
  export const isMoveOutcome: import("@/protocol/checked").Check<import("@/protocol/types").MoveOutcome>;
  export const isPinOutcome: import("@/protocol/checked").Check<import("@/protocol/types").PinOutcome>;
  export const isPreview: import("@/protocol/checked").Check<import("@/protocol/types").Preview>;
}

declare module "virtual:checks/policy" {
  export const isProfileList: import("@/protocol/checked").Check<import("@/protocol/types").ProfileList>;
  export const isRegistry: import("@/protocol/checked").Check<import("@/protocol/types").Registry>;
}

declare module "virtual:checks/explain" {
  export const isAskExplanation: import("@/protocol/checked").Check<import("@/protocol/types").AskExplanation>;
  export const isCounterfactuals: import("@/protocol/checked").Check<import("@/protocol/types").Counterfactuals>;
  export const isExplanation: import("@/protocol/checked").Check<import("@/protocol/types").Explanation>;
  export const isForecast: import("@/protocol/checked").Check<import("@/protocol/types").Forecast>;
  export const isForecastState: import("@/protocol/checked").Check<import("@/protocol/types").ForecastState>;
  export const isForecasts: import("@/protocol/checked").Check<import("@/protocol/types").Forecasts>;
  export const isPodExplanation: import("@/protocol/checked").Check<import("@/protocol/types").PodExplanation>;
  export const isPodPreemption: import("@/protocol/checked").Check<import("@/protocol/types").PodPreemption>;
  export const isPreemption: import("@/protocol/checked").Check<import("@/protocol/types").Preemption>;
  export const isReproduction: import("@/protocol/checked").Check<import("@/protocol/types").Reproduction>;
  export const isSubmissionForecast: import("@/protocol/checked").Check<import("@/protocol/types").SubmissionForecast>;
}

declare module "virtual:checks/capacity" {
  export const isCapacity: import("@/protocol/checked").Check<import("@/protocol/types").Capacity>;
}

declare module "virtual:checks/fairness" {
  export const isFairness: import("@/protocol/checked").Check<import("@/protocol/types").Fairness>;
  export const isQueueFairness: import("@/protocol/checked").Check<import("@/protocol/types").QueueFairness>;
}

declare module "virtual:checks/compare" {
  export const isAgreement: import("@/protocol/checked").Check<import("@/protocol/types").Agreement>;
  export const isComparison: import("@/protocol/checked").Check<import("@/protocol/types").Comparison>;
  export const isIncidentReplay: import("@/protocol/checked").Check<import("@/protocol/types").IncidentReplay>;
  export const isOpened: import("@/protocol/checked").Check<import("@/protocol/types").Opened>;
}

declare module "virtual:checks/runs" {
  export const isAdviceEstimate: import("@/protocol/checked").Check<import("@/protocol/types").AdviceEstimate>;
  export const isExperiment: import("@/protocol/checked").Check<import("@/protocol/types").Experiment>;
  export const isExperimentList: import("@/protocol/checked").Check<import("@/protocol/types").ExperimentList>;
  export const isOneExperiment: import("@/protocol/checked").Check<import("@/protocol/types").OneExperiment>;
  export const isResults: import("@/protocol/checked").Check<import("@/protocol/types").Results>;
}
