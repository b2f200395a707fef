"""Fields that volumes of a Pod may have: `Type: field field:Type-of-its-value`.

Source: <https://kubernetes.io/docs/reference/kubernetes-api/>
"""

from __future__ import annotations

VOLUMES = """
Volume: awsElasticBlockStore:AWSElasticBlockStoreVolumeSource
  azureDisk:AzureDiskVolumeSource azureFile:AzureFileVolumeSource
  cephfs:CephFSVolumeSource cinder:CinderVolumeSource configMap:ConfigMapVolumeSource
  csi:CSIVolumeSource downwardAPI:DownwardAPIVolumeSource
  emptyDir:EmptyDirVolumeSource ephemeral:EphemeralVolumeSource fc:FCVolumeSource
  flexVolume:FlexVolumeSource flocker:FlockerVolumeSource
  gcePersistentDisk:GCEPersistentDiskVolumeSource gitRepo:GitRepoVolumeSource
  glusterfs:GlusterfsVolumeSource hostPath:HostPathVolumeSource
  image:ImageVolumeSource iscsi:ISCSIVolumeSource name nfs:NFSVolumeSource
  persistentVolumeClaim:PersistentVolumeClaimVolumeSource
  photonPersistentDisk:PhotonPersistentDiskVolumeSource
  portworxVolume:PortworxVolumeSource projected:ProjectedVolumeSource
  quobyte:QuobyteVolumeSource rbd:RBDVolumeSource scaleIO:ScaleIOVolumeSource
  secret:SecretVolumeSource storageos:StorageOSVolumeSource
  vsphereVolume:VsphereVirtualDiskVolumeSource
AWSElasticBlockStoreVolumeSource: fsType partition readOnly volumeID
AzureDiskVolumeSource: cachingMode diskName diskURI fsType kind readOnly
AzureFileVolumeSource: readOnly secretName shareName
CephFSVolumeSource: monitors path readOnly secretFile secretRef:LocalObjectReference
  user
CinderVolumeSource: fsType readOnly secretRef:LocalObjectReference volumeID
ConfigMapVolumeSource: defaultMode items:KeyToPath name optional
CSIVolumeSource: driver fsType nodePublishSecretRef:LocalObjectReference readOnly
  volumeAttributes
DownwardAPIVolumeSource: defaultMode items:DownwardAPIVolumeFile
EmptyDirVolumeSource: medium sizeLimit
EphemeralVolumeSource: volumeClaimTemplate:PersistentVolumeClaimTemplate
FCVolumeSource: fsType lun readOnly targetWWNs wwids
FlexVolumeSource: driver fsType options readOnly secretRef:LocalObjectReference
FlockerVolumeSource: datasetName datasetUUID
GCEPersistentDiskVolumeSource: fsType partition pdName readOnly
GitRepoVolumeSource: directory repository revision
GlusterfsVolumeSource: endpoints path readOnly
HostPathVolumeSource: path type
ImageVolumeSource: pullPolicy reference
ISCSIVolumeSource: chapAuthDiscovery chapAuthSession fsType initiatorName iqn
  iscsiInterface lun portals readOnly secretRef:LocalObjectReference targetPortal
NFSVolumeSource: path readOnly server
PersistentVolumeClaimVolumeSource: claimName readOnly
PhotonPersistentDiskVolumeSource: fsType pdID
PortworxVolumeSource: fsType readOnly volumeID
ProjectedVolumeSource: defaultMode sources:VolumeProjection
QuobyteVolumeSource: group readOnly registry tenant user volume
RBDVolumeSource: fsType image keyring monitors pool readOnly
  secretRef:LocalObjectReference user
ScaleIOVolumeSource: fsType gateway protectionDomain readOnly
  secretRef:LocalObjectReference sslEnabled storageMode storagePool system volumeName
SecretVolumeSource: defaultMode items:KeyToPath optional secretName
StorageOSVolumeSource: fsType readOnly secretRef:LocalObjectReference volumeName
  volumeNamespace
VsphereVirtualDiskVolumeSource: fsType storagePolicyID storagePolicyName volumePath
LocalObjectReference: name
KeyToPath: key mode path
DownwardAPIVolumeFile: fieldRef:ObjectFieldSelector mode path
  resourceFieldRef:ResourceFieldSelector
PersistentVolumeClaimTemplate: metadata:ObjectMeta spec:PersistentVolumeClaimSpec
VolumeProjection: clusterTrustBundle:ClusterTrustBundleProjection
  configMap:ConfigMapProjection downwardAPI:DownwardAPIProjection
  podCertificate:PodCertificateProjection secret:SecretProjection
  serviceAccountToken:ServiceAccountTokenProjection
ObjectFieldSelector: apiVersion fieldPath
ResourceFieldSelector: containerName divisor resource
PersistentVolumeClaimSpec: accessModes dataSource:TypedLocalObjectReference
  dataSourceRef:TypedObjectReference resources:VolumeResourceRequirements
  selector:LabelSelector storageClassName volumeAttributesClassName volumeMode
  volumeName
ClusterTrustBundleProjection: labelSelector:LabelSelector name optional path
  signerName
ConfigMapProjection: items:KeyToPath name optional
DownwardAPIProjection: items:DownwardAPIVolumeFile
PodCertificateProjection: certificateChainPath credentialBundlePath keyPath keyType
  maxExpirationSeconds signerName userAnnotations
SecretProjection: items:KeyToPath name optional
ServiceAccountTokenProjection: audience expirationSeconds path
TypedLocalObjectReference: apiGroup kind name
TypedObjectReference: apiGroup kind name namespace
VolumeResourceRequirements: limits requests
"""
