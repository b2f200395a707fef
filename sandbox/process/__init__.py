"""The processes of an installation: Celery, the bus, who has something to do."""
