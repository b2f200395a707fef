"""The worker and the clock: which sandbox ticks next, and where."""
