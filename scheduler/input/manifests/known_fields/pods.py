"""Fields that a Pod may have: `Type: field field:Type-of-its-value`.

Source: <https://kubernetes.io/docs/reference/kubernetes-api/>
"""

from __future__ import annotations

PODS = """
Pod: apiVersion kind metadata:ObjectMeta spec:PodSpec status
PodTemplateSpec: metadata:ObjectMeta spec:PodSpec
ObjectMeta: annotations clusterName creationTimestamp deletionGracePeriodSeconds
  deletionTimestamp finalizers generateName generation labels managedFields name
  namespace ownerReferences:OwnerReference resourceVersion selfLink uid
OwnerReference: apiVersion blockOwnerDeletion controller kind name uid
PodSpec: activeDeadlineSeconds affinity:Affinity automountServiceAccountToken
  containers:Container dnsConfig:PodDNSConfig dnsPolicy enableServiceLinks
  ephemeralContainers:EphemeralContainer hostAliases:HostAlias hostIPC hostNetwork
  hostPID hostUsers hostname hostnameOverride imagePullSecrets:LocalObjectReference
  initContainers:Container nodeName nodeSelector os:PodOS overhead preemptionPolicy
  priority priorityClassName readinessGates:PodReadinessGate
  resourceClaims:PodResourceClaim resources:ResourceRequirements restartPolicy
  runtimeClassName schedulerName schedulingGates:PodSchedulingGate
  schedulingGroup:PodSchedulingGroup securityContext:PodSecurityContext serviceAccount
  serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain
  terminationGracePeriodSeconds tolerations:Toleration
  topologySpreadConstraints:TopologySpreadConstraint volumes:Volume workloadRef
Affinity: nodeAffinity:NodeAffinity podAffinity:PodAffinity
  podAntiAffinity:PodAntiAffinity
Container: args command env:EnvVar envFrom:EnvFromSource image imagePullPolicy
  lifecycle:Lifecycle livenessProbe:Probe name ports:ContainerPort
  readinessProbe:Probe resizePolicy:ContainerResizePolicy
  resources:ResourceRequirements restartPolicy restartPolicyRules:ContainerRestartRule
  securityContext:SecurityContext startupProbe:Probe stdin stdinOnce
  terminationMessagePath terminationMessagePolicy tty volumeDevices:VolumeDevice
  volumeMounts:VolumeMount workingDir
PodDNSConfig: nameservers options:PodDNSConfigOption searches
EphemeralContainer: args command env:EnvVar envFrom:EnvFromSource image
  imagePullPolicy lifecycle:Lifecycle livenessProbe:Probe name ports:ContainerPort
  readinessProbe:Probe resizePolicy:ContainerResizePolicy
  resources:ResourceRequirements restartPolicy restartPolicyRules:ContainerRestartRule
  securityContext:SecurityContext startupProbe:Probe stdin stdinOnce
  targetContainerName terminationMessagePath terminationMessagePolicy tty
  volumeDevices:VolumeDevice volumeMounts:VolumeMount workingDir
HostAlias: hostnames ip
PodOS: name
PodReadinessGate: conditionType
PodResourceClaim: name resourceClaimName resourceClaimTemplateName
ResourceRequirements: claims:ContainerClaim limits requests
PodSchedulingGate: name
PodSchedulingGroup: podGroupName
PodSecurityContext: appArmorProfile:AppArmorProfile fsGroup fsGroupChangePolicy
  runAsGroup runAsNonRoot runAsUser seLinuxChangePolicy seLinuxOptions:SELinuxOptions
  seccompProfile:SeccompProfile supplementalGroups supplementalGroupsPolicy
  sysctls:Sysctl windowsOptions:WindowsSecurityContextOptions
Toleration: effect key operator tolerationSeconds value
TopologySpreadConstraint: labelSelector:LabelSelector matchLabelKeys maxSkew
  minDomains nodeAffinityPolicy nodeTaintsPolicy topologyKey whenUnsatisfiable
NodeAffinity: preferredDuringSchedulingIgnoredDuringExecution:PreferredSchedulingTerm
  requiredDuringSchedulingIgnoredDuringExecution:NodeSelector
PodAffinity: preferredDuringSchedulingIgnoredDuringExecution:WeightedPodAffinityTerm
  requiredDuringSchedulingIgnoredDuringExecution:PodAffinityTerm
PodAntiAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:WeightedPodAffinityTerm
  requiredDuringSchedulingIgnoredDuringExecution:PodAffinityTerm
EnvVar: name value valueFrom:EnvVarSource
EnvFromSource: configMapRef:ConfigMapEnvSource prefix secretRef:SecretEnvSource
Lifecycle: postStart:LifecycleHandler preStop:LifecycleHandler stopSignal
Probe: exec:ExecAction failureThreshold grpc:GRPCAction httpGet:HTTPGetAction
  initialDelaySeconds periodSeconds successThreshold tcpSocket:TCPSocketAction
  terminationGracePeriodSeconds timeoutSeconds
ContainerPort: containerPort hostIP hostPort name protocol
ContainerResizePolicy: resourceName restartPolicy
ContainerRestartRule: action exitCodes:ContainerRestartRuleOnExitCodes
SecurityContext: allowPrivilegeEscalation appArmorProfile:AppArmorProfile
  capabilities:Capabilities privileged procMount readOnlyRootFilesystem runAsGroup
  runAsNonRoot runAsUser seLinuxOptions:SELinuxOptions seccompProfile:SeccompProfile
  windowsOptions:WindowsSecurityContextOptions
VolumeDevice: devicePath name
VolumeMount: mountPath mountPropagation name readOnly recursiveReadOnly subPath
  subPathExpr
PodDNSConfigOption: name value
ContainerClaim: name request
AppArmorProfile: localhostProfile type
SELinuxOptions: level role type user
SeccompProfile: localhostProfile type
Sysctl: name value
WindowsSecurityContextOptions: gmsaCredentialSpec gmsaCredentialSpecName hostProcess
  runAsUserName
LabelSelector: matchExpressions:LabelSelectorRequirement matchLabels
PreferredSchedulingTerm: preference:NodeSelectorTerm weight
NodeSelector: nodeSelectorTerms:NodeSelectorTerm
WeightedPodAffinityTerm: podAffinityTerm:PodAffinityTerm weight
PodAffinityTerm: labelSelector:LabelSelector matchLabelKeys mismatchLabelKeys
  namespaceSelector:LabelSelector namespaces topologyKey
EnvVarSource: configMapKeyRef:ConfigMapKeySelector fieldRef:ObjectFieldSelector
  fileKeyRef:FileKeySelector resourceFieldRef:ResourceFieldSelector
  secretKeyRef:SecretKeySelector
ConfigMapEnvSource: name optional
SecretEnvSource: name optional
LifecycleHandler: exec:ExecAction httpGet:HTTPGetAction sleep:SleepAction
  tcpSocket:TCPSocketAction
ExecAction: command
GRPCAction: port service
HTTPGetAction: host httpHeaders:HTTPHeader path port scheme
TCPSocketAction: host port
ContainerRestartRuleOnExitCodes: operator values
Capabilities: add drop
LabelSelectorRequirement: key operator values
NodeSelectorTerm: matchExpressions:NodeSelectorRequirement
  matchFields:NodeSelectorRequirement
ConfigMapKeySelector: key name optional
FileKeySelector: key optional path volumeName
SecretKeySelector: key name optional
SleepAction: seconds
HTTPHeader: name value
NodeSelectorRequirement: key operator values
"""
