"""Scheduler extenders: webhooks asked through a port."""
