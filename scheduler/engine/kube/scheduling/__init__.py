"""One scheduler: the scheduling cycle, binding cycles, what wakes waiting pods."""
