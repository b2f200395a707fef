"""The OpenAPI document as code: types for Python and TypeScript, a client's operations."""
