"""Version 1 of the API, a module a resource."""
