"""Writing bindings: modes, versions and locks of several schedulers, and what sharing cost."""
