"""Thin views: parse, call one function of the sandbox, answer."""
