"""Fields of job kinds of their own groups: `Type: field field:Type`, `*` per key.

Sources: <https://jobset.sigs.k8s.io/docs/reference/jobset.v1alpha2/>,
<https://lws.sigs.k8s.io/docs/reference/leaderworkerset.v1/> and
<https://www.kubeflow.org/docs/components/trainer/legacy-v1/>.
"""

from __future__ import annotations

OTHER_JOBS = """
JobSet: apiVersion kind metadata:ObjectMeta spec:JobSetSpec status
JobSetSpec: coordinator:JobSetCoordinator failurePolicy:JobSetFailurePolicy managedBy
  network:JobSetNetwork replicatedJobs:ReplicatedJob startupPolicy:JobSetStartupPolicy
  successPolicy:JobSetSuccessPolicy suspend ttlSecondsAfterFinished
  volumeClaimPolicies
JobSetCoordinator: jobIndex podIndex replicatedJob
JobSetFailurePolicy: maxRestarts restartStrategy rules
JobSetNetwork: enableDNSHostnames publishNotReadyAddresses subdomain
JobSetStartupPolicy: startupPolicyOrder
JobSetSuccessPolicy: operator targetReplicatedJobs
ReplicatedJob: dependsOn groupName name replicas template:JobTemplateSpec
LeaderWorkerSet: apiVersion kind metadata:ObjectMeta spec:LeaderWorkerSetSpec status
LeaderWorkerSetSpec: leaderWorkerTemplate:LeaderWorkerTemplate networkConfig replicas
  rolloutStrategy startupPolicy
LeaderWorkerTemplate: leaderTemplate:PodTemplateSpec
  persistentVolumeClaimRetentionPolicy resourceClaimTemplates restartPolicy size
  subGroupPolicy volumeClaimTemplates workerTemplate:PodTemplateSpec
PyTorchJob: apiVersion kind metadata:ObjectMeta spec:PyTorchJobSpec status
PyTorchJobSpec: elasticPolicy nprocPerNode pytorchReplicaSpecs:*ReplicaSpec
  runPolicy:RunPolicy
TFJob: apiVersion kind metadata:ObjectMeta spec:TFJobSpec status
TFJobSpec: enableDynamicWorker runPolicy:RunPolicy successPolicy
  tfReplicaSpecs:*ReplicaSpec
XGBoostJob: apiVersion kind metadata:ObjectMeta spec:XGBoostJobSpec status
XGBoostJobSpec: runPolicy:RunPolicy xgbReplicaSpecs:*ReplicaSpec
PaddleJob: apiVersion kind metadata:ObjectMeta spec:PaddleJobSpec status
PaddleJobSpec: elasticPolicy paddleReplicaSpecs:*ReplicaSpec runPolicy:RunPolicy
JAXJob: apiVersion kind metadata:ObjectMeta spec:JAXJobSpec status
JAXJobSpec: jaxReplicaSpecs:*ReplicaSpec runPolicy:RunPolicy
MPIJob: apiVersion kind metadata:ObjectMeta spec:MPIJobSpec status
MPIJobSpec: cleanPodPolicy launcherCreationPolicy mainContainer mpiImplementation
  mpiReplicaSpecs:*ReplicaSpec runLauncherAsWorker runPolicy:RunPolicy slotsPerWorker
  sshAuthMountPath
RunPolicy: activeDeadlineSeconds backoffLimit cleanPodPolicy managedBy
  schedulingPolicy:SchedulingPolicy suspend ttlSecondsAfterFinished
SchedulingPolicy: minAvailable minResources priorityClass queue scheduleTimeoutSeconds
ReplicaSpec: replicas restartPolicy template:PodTemplateSpec
"""
