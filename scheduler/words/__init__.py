"""Sentences for people: a code and what fills its holes, and how English says it.

Who translates them writes words of their own for each code, with the same holes.
"""
