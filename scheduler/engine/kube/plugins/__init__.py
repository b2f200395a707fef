"""One file per plug-in; each enrols itself and has only the points it wants."""
