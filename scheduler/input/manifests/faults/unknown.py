"""Fields that a kind does not have, left out, as an API server prunes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.faults.further import holder_of
from scheduler.input.manifests.strict import UnknownFieldError
from scheduler.model.errors import ManifestError

#: Objects with such fields that are looked at; the rest is refused by the check.
_MOST_HOLDERS = 100

Check = Callable[[Document], object]


def without_unknown(document: Document, check: Check) -> tuple[Document, list[str]]:
    """Return the document without the fields that `check` does not know, and these.

    Any other fault ends the search: who takes the document reports it. The document
    given stays as it is. Cost: a check per object that has such fields.
    """
    pruned, found = replace(document, data=msgspec.to_builtins(document.data)), []
    for _ in range(_MOST_HOLDERS):
        try:
            check(pruned)
        except UnknownFieldError as error:
            gone = [field for field in error.fields if _left_out(pruned, field)]
            found += gone
            if not gone:
                break
        except ManifestError:
            break
        else:
            break
    return pruned, found


def _left_out(document: Document, field: str) -> bool:
    """Take a field away; False where another version writes it elsewhere."""
    found = holder_of(document.data, field)
    if found is None or not isinstance(found[0], dict) or found[1] not in found[0]:
        return False
    del found[0][found[1]]
    return True
