"""Questions that are run: asked by a web process, worked out by a worker."""
