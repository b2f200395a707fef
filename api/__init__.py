"""HTTP: routes, views and documents over the packages below."""
