"""The commands that work on files; `verbs.py` lists them."""
