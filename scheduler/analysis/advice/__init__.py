"""What should be set: the smallest change that reaches a goal, searched and proven."""
