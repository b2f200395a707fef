"""What waits: pending queues, requeueing, backoff and deadlines."""
