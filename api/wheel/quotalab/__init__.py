"""What `import quotalab` gives where the wheel is installed: `api.notebook`.

Its names are imported when one is asked for: the server's processes need none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from api.notebook import *  # noqa: F403 - the same names


def __getattr__(name: str) -> Any:
    if name.startswith("_") and name != "__all__":
        raise AttributeError(name)
    from api import notebook

    return getattr(notebook, name)


def __dir__() -> list[str]:
    from api import notebook

    return list(notebook.__all__)
