"""What a partition consists of: queues, applications, asks and nodes."""
