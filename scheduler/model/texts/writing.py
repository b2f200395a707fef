"""YAML that kubectl reads back as it was.

A label `1e3` or `n` must be quoted: it would come back as a number or a boolean and
be refused. YAML libraries quote by YAML 1.1 alone, which takes neither for more than
a text (`scalars.py` has what kubectl takes them for).

Source: <https://github.com/kubernetes-sigs/yaml>
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import yaml

_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_Base):  # type: ignore[misc]
    """Quotes what YAML 1.1 takes for no text, and what kubectl takes for none."""


_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"[yYnN]$"), list("yYnN")
)
# Wider than the numbers there are: a pair of quotes too many does no harm.
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?[0-9._]+([eEbBoOxX][-+]?[0-9a-fA-F_]*)?$"),
    list("-+.0123456789"),
)


def write(document: Any) -> str:
    """Return one document as YAML, its keys in the order given."""
    return write_all([document])


def write_all(documents: Iterable[Any]) -> str:
    """Return documents as YAML, with a line `---` between them."""
    text: str = yaml.dump_all(
        documents, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100
    )
    return text
