"""The file format `.qrec`: what a cluster was, and every change that was seen."""
