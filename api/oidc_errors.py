"""What may go wrong on the way back from a provider of sign-ins."""

from __future__ import annotations


class ProviderUnavailableError(Exception):
    """The provider does not answer, or not as the provider that was named."""


class InvalidCallbackError(Exception):
    """What came back is not what was asked for."""
