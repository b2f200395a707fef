// Which answers the page checks, by the part of the page that asks for them.
//
// A group is one module, "virtual:checks/<group>": what only one view asks for is not
// loaded with the first. A name is a component of the schema.

export const GROUPS = {
  live: ["ServerMessage"],
  imports: ["ImportReportList", "TracePreviews", "Conversions", "DryImport"],
  lists: ["EventList", "Joined", "Lesson", "Sandbox", "SandboxList", "SampleList", "Scenario", "ScenarioList", "Table"],
  sandboxes: ["ClusterList", "Created", "Disk", "Imported", "LinkList", "MadeLink", "MadeToken", "Me", "MemberList", "TokenList", "Use"],
  edits: ["KeptWhatIf", "PairVerdict", "FilesPatch", "WhatIfState", "WhatIfs"],
  policy: ["ProfileList", "Registry"],
  explain: ["AskExplanation", "Counterfactuals", "Explanation", "Film", "Forecast", "ForecastState", "Forecasts", "Overview", "PodExplanation", "Reproduction", "SubmissionForecast", "Would"],
  capacity: ["Capacity"],
  fairness: ["Fairness", "QueueFairness"],
  compare: ["Agreement", "Comparison", "IncidentReplay", "Opened"],
  runs: ["AdviceEstimate", "Experiment", "ExperimentList", "OneExperiment", "Results"],
};
