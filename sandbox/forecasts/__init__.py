"""Forecasts that are kept: fanned out over workers, shown to everybody, scored later."""
