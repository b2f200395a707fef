// Generated from schema.json by `npm run types`. Do not edit by hand.

import type { Check } from "@/protocol/checked";
import type * as types from "@/protocol/types";

/** What may be asked for: the name of an answer -> its type. */
export interface Answers {
  readonly AdviceEstimate: types.AdviceEstimate;
  readonly Agreement: types.Agreement;
  readonly AskExplanation: types.AskExplanation;
  readonly Capacity: types.Capacity;
  readonly ClusterList: types.ClusterList;
  readonly Comparison: types.Comparison;
  readonly Conversions: types.Conversions;
  readonly Counterfactuals: types.Counterfactuals;
  readonly Created: types.Created;
  readonly Disk: types.Disk;
  readonly EventList: types.EventList;
  readonly Experiment: types.Experiment;
  readonly ExperimentList: types.ExperimentList;
  readonly Explanation: types.Explanation;
  readonly Fairness: types.Fairness;
  readonly Forecast: types.Forecast;
  readonly ForecastState: types.ForecastState;
  readonly Forecasts: types.Forecasts;
  readonly ImportReportList: types.ImportReportList;
  readonly Imported: types.Imported;
  readonly IncidentReplay: types.IncidentReplay;
  readonly Joined: types.Joined;
  readonly Lesson: types.Lesson;
  readonly LinkList: types.LinkList;
  readonly MadeLink: types.MadeLink;
  readonly MadeToken: types.MadeToken;
  readonly Me: types.Me;
  readonly MemberList: types.MemberList;
  readonly MoveOutcome: types.MoveOutcome;
  readonly OneExperiment: types.OneExperiment;
  readonly Opened: types.Opened;
  readonly PinOutcome: types.PinOutcome;
  readonly PodExplanation: types.PodExplanation;
  readonly PodPreemption: types.PodPreemption;
  readonly Preemption: types.Preemption;
  readonly Preview: types.Preview;
  readonly ProfileList: types.ProfileList;
  readonly QueueFairness: types.QueueFairness;
  readonly Registry: types.Registry;
  readonly Reproduction: types.Reproduction;
  readonly Results: types.Results;
  readonly SampleList: types.SampleList;
  readonly Sandbox: types.Sandbox;
  readonly SandboxList: types.SandboxList;
  readonly ScenarioList: types.ScenarioList;
  readonly ServerMessage: types.ServerMessage;
  readonly SubmissionForecast: types.SubmissionForecast;
  readonly Table: types.Table;
  readonly TokenList: types.TokenList;
  readonly TracePreviews: types.TracePreviews;
  readonly Use: types.Use;
}

/** How each is checked; loaded when it is first asked for. */
export const CHECKS: { readonly [N in keyof Answers]: () => Promise<Check<Answers[N]>> } = {
  AdviceEstimate: async () => (await import("virtual:checks/runs")).isAdviceEstimate,
  Agreement: async () => (await import("virtual:checks/compare")).isAgreement,
  AskExplanation: async () => (await import("virtual:checks/explain")).isAskExplanation,
  Capacity: async () => (await import("virtual:checks/capacity")).isCapacity,
  ClusterList: async () => (await import("virtual:checks/sandboxes")).isClusterList,
  Comparison: async () => (await import("virtual:checks/compare")).isComparison,
  Conversions: async () => (await import("virtual:checks/imports")).isConversions,
  Counterfactuals: async () => (await import("virtual:checks/explain")).isCounterfactuals,
  Created: async () => (await import("virtual:checks/sandboxes")).isCreated,
  Disk: async () => (await import("virtual:checks/sandboxes")).isDisk,
  EventList: async () => (await import("virtual:checks/lists")).isEventList,
  Experiment: async () => (await import("virtual:checks/runs")).isExperiment,
  ExperimentList: async () => (await import("virtual:checks/runs")).isExperimentList,
  Explanation: async () => (await import("virtual:checks/explain")).isExplanation,
  Fairness: async () => (await import("virtual:checks/fairness")).isFairness,
  Forecast: async () => (await import("virtual:checks/explain")).isForecast,
  ForecastState: async () => (await import("virtual:checks/explain")).isForecastState,
  Forecasts: async () => (await import("virtual:checks/explain")).isForecasts,
  ImportReportList: async () => (await import("virtual:checks/imports")).isImportReportList,
  Imported: async () => (await import("virtual:checks/sandboxes")).isImported,
  IncidentReplay: async () => (await import("virtual:checks/compare")).isIncidentReplay,
  Joined: async () => (await import("virtual:checks/lists")).isJoined,
  Lesson: async () => (await import("virtual:checks/lists")).isLesson,
  LinkList: async () => (await import("virtual:checks/sandboxes")).isLinkList,
  MadeLink: async () => (await import("virtual:checks/sandboxes")).isMadeLink,
  MadeToken: async () => (await import("virtual:checks/sandboxes")).isMadeToken,
  Me: async () => (await import("virtual:checks/sandboxes")).isMe,
  MemberList: async () => (await import("virtual:checks/sandboxes")).isMemberList,
  MoveOutcome: async () => (await import("virtual:checks/edits")).isMoveOutcome,
  OneExperiment: async () => (await import("virtual:checks/runs")).isOneExperiment,
  Opened: async () => (await import("virtual:checks/compare")).isOpened,
  PinOutcome: async () => (await import("virtual:checks/edits")).isPinOutcome,
  PodExplanation: async () => (await import("virtual:checks/explain")).isPodExplanation,
  PodPreemption: async () => (await import("virtual:checks/explain")).isPodPreemption,
  Preemption: async () => (await import("virtual:checks/explain")).isPreemption,
  Preview: async () => (await import("virtual:checks/edits")).isPreview,
  ProfileList: async () => (await import("virtual:checks/policy")).isProfileList,
  QueueFairness: async () => (await import("virtual:checks/fairness")).isQueueFairness,
  Registry: async () => (await import("virtual:checks/policy")).isRegistry,
  Reproduction: async () => (await import("virtual:checks/explain")).isReproduction,
  Results: async () => (await import("virtual:checks/runs")).isResults,
  SampleList: async () => (await import("virtual:checks/lists")).isSampleList,
  Sandbox: async () => (await import("virtual:checks/lists")).isSandbox,
  SandboxList: async () => (await import("virtual:checks/lists")).isSandboxList,
  ScenarioList: async () => (await import("virtual:checks/lists")).isScenarioList,
  ServerMessage: async () => (await import("virtual:checks/live")).isServerMessage,
  SubmissionForecast: async () => (await import("virtual:checks/explain")).isSubmissionForecast,
  Table: async () => (await import("virtual:checks/lists")).isTable,
  TokenList: async () => (await import("virtual:checks/sandboxes")).isTokenList,
  TracePreviews: async () => (await import("virtual:checks/imports")).isTracePreviews,
  Use: async () => (await import("virtual:checks/sandboxes")).isUse,
};
