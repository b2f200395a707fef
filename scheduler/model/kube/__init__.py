"""KubeSchedulerConfiguration: profiles, plug-ins and their arguments, extenders."""
