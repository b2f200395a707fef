"""MultiKueue: worker clusters as worlds inside a manager's, and who runs what."""
