"""Live updates: WebSockets, subscriptions, limits on both."""
