"""Storage as the documents give it: claims, volumes, classes, CSI nodes."""
