"""Order of queues, and the sorting policies; each policy registers itself."""
