"""What untried settings are expected to come to, by those that were run."""
