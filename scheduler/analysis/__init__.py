"""What a run means: explanations, measures, experiments, forecasts."""
