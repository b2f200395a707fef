"""How long history is stored; archives, restoring, exports."""
