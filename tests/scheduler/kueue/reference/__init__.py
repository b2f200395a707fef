"""Kueue's decisions the slow way: the text taken word for word, nothing kept.

Every number is computed anew from its definition each time it is asked for, so
that a shortcut of the engine that holds only by accident shows as a difference.
"""
