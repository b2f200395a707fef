"""Backtests: forecasts at past instants of a log, held against what came."""
