"""YuniKorn's queues.yaml: its fields, their checks, resources."""
