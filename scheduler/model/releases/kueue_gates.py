"""Kueue's feature gates: their stage and default in each release.

A row is the gate and its runs: from that release on, in the order of releases, it has
this stage and default, or does not exist. A branch that got a gate in a patch has a run
of its own. Read from `pkg/features/kube_features.go` of each tag.
"""

from __future__ import annotations

#: Gate -> "first release, stage, default[, locked]", and "absent" where it is unknown.
KUEUE_GATES: dict[str, str] = {
    "AdmissionCheckValidationRules": "0.11.0 deprecated off; 0.12.0 absent",
    "AdmissionFairSharing": "0.12.0 alpha off; 0.15.0 beta on",
    "AdmissionGatedBy": "0.17.0 alpha off; 0.19.0 beta on",
    "AssignQueueLabelsForPods": "0.17.0 beta on",
    "CleanupProvisioningRequestsOnEviction": (
        "0.17.7 beta on; 0.18.0 absent; 0.18.3 beta on"
    ),
    "ConcurrentAdmission": "0.18.0 alpha off",
    "ConfigurableResourceTransformations": (
        "0.11.0 beta on; 0.14.0 ga on locked; 0.16.0 absent"
    ),
    "CustomMetricLabels": "0.17.0 alpha off",
    "DRAExtendedResources": (
        "0.17.0 alpha off; 0.18.0 deprecated off locked; 0.19.0 absent"
    ),
    "DeferRayServiceFinalizationForRedisCleanup": (
        "0.17.7 beta on; 0.18.0 absent; 0.18.3 beta on"
    ),
    "DisableWaitForPodsReady": "0.19.0 alpha off",
    "DynamicResourceAllocation": (
        "0.14.0 alpha off; 0.18.0 deprecated off locked; 0.19.0 absent"
    ),
    "ElasticJobsViaWorkloadSlices": "0.13.0 alpha off; 0.18.0 beta on",
    "ElasticJobsViaWorkloadSlicesWithTAS": "0.17.0 alpha off",
    "ExposeFlavorsInLocalQueue": "0.11.0 beta on; 0.15.0 absent",
    "FailureRecoveryPolicy": "0.15.0 alpha off",
    "FairSharingPreemptWithinNominal": "0.15.6 beta on; 0.16.0 absent; 0.16.3 beta on",
    "FairSharingPrioritizeNonBorrowing": (
        "0.15.5 beta on; 0.16.0 absent; 0.16.2 beta on"
    ),
    "FastQuotaReleaseInPodIntegration": "0.17.0 alpha off",
    "FinishOrphanedWorkloads": (
        "0.16.6 beta on; 0.16.8 alpha off; 0.17.0 absent; 0.17.1 beta on; "
        "0.17.3 alpha off; 0.18.0 beta on"
    ),
    "FlavorFungibility": "0.11.0 beta on",
    "FlavorFungibilityImplicitPreferenceDefault": (
        "0.13.0 alpha off; 0.15.0 deprecated off; 0.16.0 absent; "
        "0.16.4 deprecated off; 0.17.0 absent"
    ),
    "FlavorFungibilityPreserveScanProgress": (
        "0.18.5 beta on; 0.19.0 absent; 0.19.1 beta on"
    ),
    "HierarchicalCohorts": "0.11.4 beta on; 0.17.0 ga on locked; 0.20.0-devel absent",
    "KeepQuotaForProvReqRetry": "0.11.0 deprecated off; 0.12.0 absent",
    "KueueDRAIntegration": "0.18.0 beta on",
    "KueueDRAIntegrationConsumableCapacity": "0.19.0 alpha off",
    "KueueDRAIntegrationExtendedResource": "0.18.0 alpha off; 0.19.0 beta on",
    "KueueDRAIntegrationPartitionableDevices": "0.18.0 alpha off; 0.19.0 beta on",
    "KueueDRARejectWorkloadsWhenDRADisabled": "0.18.0 beta on",
    "LWSImmutableGroupSize": "0.18.5 beta on; 0.19.0 absent; 0.19.1 beta on",
    "LendingLimit": "0.11.0 beta on; 0.17.0 ga on locked; 0.19.0 absent",
    "LocalQueueDefaulting": (
        "0.11.0 alpha off; 0.12.0 beta on; 0.17.0 ga on locked; 0.19.0 absent"
    ),
    "LocalQueueMetrics": "0.11.0 alpha off; 0.17.0 beta on",
    "ManagedJobsNamespaceSelector": (
        "0.11.0 beta on; 0.13.0 ga on locked; 0.15.0 absent"
    ),
    "ManagedJobsNamespaceSelectorAlwaysRespected": (
        "0.13.0 alpha off; 0.15.0 beta on; 0.19.0 ga on locked"
    ),
    "MetricForWorkloadCreationLatency": "0.18.0 beta on",
    "MetricsForCohorts": "0.18.0 beta on",
    "MultiKueue": "0.11.0 beta on",
    "MultiKueueAdaptersForCustomJobs": "0.14.0 alpha off; 0.15.0 beta on",
    "MultiKueueAllowInsecureKubeconfigs": (
        "0.13.8 alpha off; 0.14.0 absent; 0.14.3 alpha off; 0.17.0 deprecated off; "
        "0.19.0 deprecated off locked; 0.20.0-devel absent"
    ),
    "MultiKueueBatchJobWithManagedBy": (
        "0.11.0 alpha off; 0.15.0 beta on; 0.17.0 ga on locked; 0.19.0 absent"
    ),
    "MultiKueueClusterProfile": "0.15.0 alpha off",
    "MultiKueueIncrementalDispatcherConfig": "0.19.0 beta on",
    "MultiKueueIncrementalDispatcherRespectConfigOrder": "0.19.0 beta on",
    "MultiKueueKubeConfigPathValidation": "0.19.0 alpha off; 0.20.0-devel beta on",
    "MultiKueueManagerQuotaAutomation": "0.18.0 alpha off",
    "MultiKueueOrchestratedPreemption": "0.17.0 alpha off",
    "MultiKueueRedoAdmissionOnEvictionInWorker": (
        "0.16.0 beta on; 0.18.0 ga on locked; 0.20.0-devel absent"
    ),
    "MultiKueueRemoteSpecSync": "0.18.5 beta on; 0.19.0 absent; 0.19.1 beta on",
    "MultiKueueWaitForWorkloadAdmitted": (
        "0.14.8 beta on; 0.15.0 absent; 0.15.3 beta on; 0.18.0 ga on locked; "
        "0.20.0-devel absent"
    ),
    "MultiplePreemptions": "0.11.0 ga on locked; 0.13.0 absent",
    "ObjectRetentionPolicies": (
        "0.12.0 alpha off; 0.13.0 beta on; 0.17.0 ga on locked; 0.20.0-devel absent"
    ),
    "PartialAdmission": "0.11.0 beta on",
    "PodIntegrationValidateGroupOwner": "0.18.6 beta on; 0.19.0 absent; 0.19.2 beta on",
    "PrioritizePreemptorWorkloads": "0.18.6 alpha off; 0.19.0 absent; 0.19.2 alpha off",
    "PriorityBoost": "0.17.0 alpha off",
    "PrioritySortingWithinCohort": "0.11.0 beta on",
    "PropagateBatchJobLabelsToWorkload": (
        "0.13.10 beta on; 0.14.0 absent; 0.14.5 beta on; 0.17.0 ga on locked; "
        "0.20.0-devel absent"
    ),
    "ProvisioningACC": "0.11.0 beta on; 0.14.0 ga on locked; 0.15.0 absent",
    "QueueVisibility": "0.11.0 deprecated off; 0.14.0 absent",
    "QuotaCheckStrategy": "0.18.0 alpha off; 0.19.0 beta on",
    "ReclaimablePods": "0.13.9 beta on; 0.14.0 absent; 0.14.4 beta on",
    "RecomputeAssignmentUponPreemptionTargetsOverlap": (
        "0.18.5 alpha off; 0.19.0 absent; 0.19.1 alpha off; 0.20.0-devel beta on"
    ),
    "RejectUpdatesToCQWithInvalidOnFlavors": (
        "0.16.6 alpha off; 0.17.0 absent; 0.17.1 alpha off"
    ),
    "RemoveFinalizersWithStrictPatch": "0.15.4 beta on; 0.16.0 absent; 0.16.1 beta on",
    "SanitizePodSets": (
        "0.13.8 beta on; 0.14.0 absent; 0.14.3 beta on; 0.17.0 ga on locked; "
        "0.19.0 absent"
    ),
    "SchedulerLibraryIntegration": "0.19.0 alpha off",
    "SchedulerLongRequeueInterval": (
        "0.15.6 alpha off; 0.16.0 absent; 0.16.3 alpha off; 0.20.0-devel absent"
    ),
    "SchedulerTimestampPreemptionBuffer": (
        "0.15.6 alpha off; 0.16.0 absent; 0.16.3 alpha off; 0.20.0-devel absent"
    ),
    "SchedulingEquivalenceHashing": (
        "0.15.6 beta on; 0.15.7 beta off; 0.16.0 absent; 0.16.3 beta on; "
        "0.16.4 beta off; 0.18.0 beta on"
    ),
    "ShortWorkloadNames": "0.15.8 alpha off; 0.16.0 absent; 0.16.5 alpha off",
    "SkipAncestorCheckForDeletedWorkloads": (
        "0.18.5 beta on; 0.19.0 absent; 0.19.1 beta on"
    ),
    "SkipFinalizersForPodsSuspendedByParent": (
        "0.14.8 beta on; 0.15.0 absent; 0.15.3 beta on; 0.18.0 ga on locked; "
        "0.20.0-devel absent"
    ),
    "SkipReassignmentForPodOwnedWorkloads": (
        "0.17.8 alpha off; 0.18.0 absent; 0.18.4 alpha off; 0.19.0 beta on"
    ),
    "SparkApplicationIntegration": "0.17.0 alpha off",
    "TASAssignmentsEncodingByHostnamePrefix": "0.19.0 beta on",
    "TASBalancedPlacement": "0.15.0 alpha off",
    "TASCacheNodeMatchResults": "0.17.8 beta on; 0.18.0 absent; 0.18.4 beta on",
    "TASCacheTopologyTree": (
        "0.18.6 alpha off; 0.19.0 absent; 0.19.2 alpha off; 0.20.0-devel beta on"
    ),
    "TASCachingRemainingResources": "0.17.8 beta on; 0.18.0 absent; 0.18.4 beta on",
    "TASFailedNodeReplacement": "0.12.0 alpha off; 0.14.0 beta on",
    "TASFailedNodeReplacementFailFast": "0.13.0 alpha off; 0.14.0 beta on",
    "TASHandleOverlappingFlavors": (
        "0.16.9 alpha off; 0.17.0 absent; 0.17.4 alpha off; 0.18.0 beta on"
    ),
    "TASMultiLayerTopology": "0.17.0 alpha off; 0.19.0 beta on",
    "TASProfileLeastFreeCapacity": "0.11.0 deprecated off; 0.17.0 absent",
    "TASProfileMixed": "0.11.0 deprecated off; 0.15.0 beta on",
    "TASProfileMostFreeCapacity": "0.11.0 deprecated off; 0.13.0 absent",
    "TASRecomputeAssignmentWithinSchedulingCycle": (
        "0.17.6 beta on; 0.18.0 absent; 0.18.2 beta on"
    ),
    "TASReplaceNodeDueToNotReadyOverFixedTime": (
        "0.17.8 beta on; 0.18.0 absent; 0.18.4 beta on; 0.19.0 deprecated off"
    ),
    "TASReplaceNodeOnNodeTaints": (
        "0.15.5 alpha off; 0.16.0 absent; 0.16.2 alpha off; 0.17.0 beta on"
    ),
    "TASReplaceNodeOnPodTermination": "0.13.0 alpha off; 0.14.0 beta on",
    "TASRespectNodeAffinityPreferred": "0.18.0 alpha off",
    "TASValidateWorkloadSliceSize": "0.18.5 beta on; 0.19.0 absent; 0.19.1 beta on",
    "TLSOptions": "0.16.0 beta on; 0.20.0-devel ga on locked",
    "TopologyAwareScheduling": "0.11.0 alpha off; 0.14.0 beta on",
    "UnadmittedWorkloadsExplicitStatus": "0.18.5 alpha off; 0.19.0 beta off",
    "UnadmittedWorkloadsObservability": (
        "0.18.5 alpha off; 0.19.0 beta off; 0.20.0-devel beta on"
    ),
    "ValidateRayAndSparkJobUpdates": "0.18.6 beta on; 0.19.0 absent; 0.19.2 beta on",
    "VectorizedResourceRequests": "0.17.8 beta on; 0.18.0 absent; 0.18.4 beta on",
    "VisibilityOnDemand": "0.11.0 beta on",
    "WorkloadIdentifierAnnotations": "0.17.4 alpha off; 0.18.0 beta on",
    "WorkloadPriorityClassDefaulting": "0.18.0 alpha off; 0.20.0-devel beta on",
    "WorkloadRequestUseMergePatch": "0.14.0 alpha off",
    "WorkloadResourceRequestsSummary": "0.11.0 ga on locked; 0.13.0 absent",
    "WorkloadValidateResourcesAreNonNegative": (
        "0.18.5 beta on; 0.19.0 absent; 0.19.1 beta on"
    ),
    "WorkloadValidationForPodSetMetadata": (
        "0.18.5 beta on; 0.19.0 absent; 0.19.1 beta on"
    ),
}
