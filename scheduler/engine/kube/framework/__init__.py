"""The scheduling framework: plug-ins, extension points, statuses, events."""
