"""PodTopologySpread: the counts that its plug-in keeps through a cycle."""
