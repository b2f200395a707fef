"""Ray: a cluster, a job and a service, each with the pods of a RayCluster."""
