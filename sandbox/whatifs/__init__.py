"""What-ifs: changes from a tick on, run beside the run without them, kept or discarded."""
