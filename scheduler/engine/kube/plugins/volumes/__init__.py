"""Plug-ins that look at the volumes of a pod's claims."""
