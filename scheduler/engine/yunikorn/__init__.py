"""YuniKorn: applications on a tree of queues, as yunikorn-core places them."""
