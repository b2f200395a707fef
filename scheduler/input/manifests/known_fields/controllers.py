"""Fields of what makes pods, and of what they need: `Type: field field:Type`.

Source: <https://kubernetes.io/docs/reference/kubernetes-api/>
"""

from __future__ import annotations

CONTROLLERS = """
Job: apiVersion kind metadata:ObjectMeta spec:JobSpec status
JobSpec: activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode
  completions managedBy manualSelector maxFailedIndexes parallelism
  podFailurePolicy:PodFailurePolicy podReplacementPolicy selector:LabelSelector
  successPolicy:SuccessPolicy suspend template:PodTemplateSpec ttlSecondsAfterFinished
PodFailurePolicy: rules:PodFailurePolicyRule
SuccessPolicy: rules:SuccessPolicyRule
PodFailurePolicyRule: action onExitCodes:PodFailurePolicyOnExitCodesRequirement
  onPodConditions:PodFailurePolicyOnPodConditionsPattern
SuccessPolicyRule: succeededCount succeededIndexes
PodFailurePolicyOnExitCodesRequirement: containerName operator values
PodFailurePolicyOnPodConditionsPattern: status type
CronJob: apiVersion kind metadata:ObjectMeta spec:CronJobSpec status
CronJobSpec: concurrencyPolicy failedJobsHistoryLimit jobTemplate:JobTemplateSpec
  schedule startingDeadlineSeconds successfulJobsHistoryLimit suspend timeZone
JobTemplateSpec: metadata:ObjectMeta spec:JobSpec
Deployment: apiVersion kind metadata:ObjectMeta spec:DeploymentSpec status
DeploymentSpec: minReadySeconds paused progressDeadlineSeconds replicas
  revisionHistoryLimit selector:LabelSelector strategy:DeploymentStrategy
  template:PodTemplateSpec
DeploymentStrategy: rollingUpdate:RollingUpdateDeployment type
RollingUpdateDeployment: maxSurge maxUnavailable
StatefulSet: apiVersion kind metadata:ObjectMeta spec:StatefulSetSpec status
StatefulSetSpec: minReadySeconds ordinals:StatefulSetOrdinals
  persistentVolumeClaimRetentionPolicy:StatefulSetPersistentVolumeClaimRetentionPolicy
  podManagementPolicy replicas revisionHistoryLimit selector:LabelSelector serviceName
  template:PodTemplateSpec updateStrategy:StatefulSetUpdateStrategy
  volumeClaimTemplates:PersistentVolumeClaim
StatefulSetOrdinals: start
StatefulSetPersistentVolumeClaimRetentionPolicy: whenDeleted whenScaled
StatefulSetUpdateStrategy: rollingUpdate:RollingUpdateStatefulSetStrategy type
PersistentVolumeClaim: apiVersion kind metadata:ObjectMeta
  spec:PersistentVolumeClaimSpec status
RollingUpdateStatefulSetStrategy: maxUnavailable partition
DaemonSet: apiVersion kind metadata:ObjectMeta spec:DaemonSetSpec status
DaemonSetSpec: minReadySeconds revisionHistoryLimit selector:LabelSelector
  template:PodTemplateSpec updateStrategy:DaemonSetUpdateStrategy
DaemonSetUpdateStrategy: rollingUpdate:RollingUpdateDaemonSet type
RollingUpdateDaemonSet: maxSurge maxUnavailable
ReplicaSet: apiVersion kind metadata:ObjectMeta spec:ReplicaSetSpec status
ReplicaSetSpec: minReadySeconds replicas selector:LabelSelector
  template:PodTemplateSpec
Node: apiVersion kind metadata:ObjectMeta spec:NodeSpec status
NodeSpec: configSource externalID podCIDR podCIDRs providerID taints:Taint
  unschedulable
Taint: effect key timeAdded value
Namespace: apiVersion kind metadata:ObjectMeta spec:NamespaceSpec status
NamespaceSpec: finalizers
PriorityClass: apiVersion description globalDefault kind metadata:ObjectMeta
  preemptionPolicy value
LimitRange: apiVersion kind metadata:ObjectMeta spec:LimitRangeSpec
LimitRangeSpec: limits:LimitRangeItem
LimitRangeItem: default defaultRequest max maxLimitRequestRatio min type
ResourceQuota: apiVersion kind metadata:ObjectMeta spec:ResourceQuotaSpec status
ResourceQuotaSpec: hard scopeSelector:ScopeSelector scopes
ScopeSelector: matchExpressions:ScopeRequirement
ScopeRequirement: operator scopeName values
PodDisruptionBudget: apiVersion kind metadata:ObjectMeta spec:PodDisruptionBudgetSpec
  status
PodDisruptionBudgetSpec: maxUnavailable minAvailable selector:LabelSelector
  unhealthyPodEvictionPolicy
PersistentVolume: apiVersion kind metadata:ObjectMeta spec:PersistentVolumeSpec status
PersistentVolumeSpec: accessModes awsElasticBlockStore azureDisk azureFile capacity
  cephfs cinder claimRef csi fc flexVolume flocker gcePersistentDisk glusterfs
  hostPath iscsi local mountOptions nfs nodeAffinity:VolumeNodeAffinity
  persistentVolumeReclaimPolicy photonPersistentDisk portworxVolume quobyte rbd
  scaleIO storageClassName storageos volumeAttributesClassName volumeMode
  vsphereVolume
VolumeNodeAffinity: required:NodeSelector
StorageClass: allowVolumeExpansion allowedTopologies:TopologySelectorTerm apiVersion
  kind metadata:ObjectMeta mountOptions parameters provisioner reclaimPolicy
  volumeBindingMode
TopologySelectorTerm: matchLabelExpressions:TopologySelectorLabelRequirement
TopologySelectorLabelRequirement: key values
RuntimeClass: apiVersion handler kind metadata:ObjectMeta overhead:Overhead
  scheduling:Scheduling
Overhead: podFixed
Scheduling: nodeSelector tolerations:Toleration
CSINode: apiVersion kind metadata:ObjectMeta spec:CSINodeSpec
CSINodeSpec: drivers:CSINodeDriver
CSINodeDriver: allocatable:VolumeNodeResources name nodeID topologyKeys
VolumeNodeResources: count
NodeResourceTopology: apiVersion attributes:TopologyAttribute kind metadata:ObjectMeta
  topologyPolicies zones:TopologyZone
TopologyAttribute: name value
TopologyZone: attributes:TopologyAttribute costs:TopologyCost name parent
  resources:TopologyResource type
TopologyCost: name value
TopologyResource: allocatable available capacity name
"""
