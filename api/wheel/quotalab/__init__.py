"""What `import quotalab` gives where the wheel is installed: `api.notebook`."""

from __future__ import annotations

from api.notebook import *  # noqa: F403 - the same names
from api.notebook import __all__ as __all__
from api.notebook import __doc__ as __doc__
