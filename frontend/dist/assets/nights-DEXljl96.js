var e=`# Nights for batch: the queue is held by day, opens at 20:00 and is emptied at 06:00. The run begins
# at 08:00.
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: gpu}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: batch}
spec:
  cohortName: company
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: gpu
      resources:
      - {name: nvidia.com/gpu, nominalQuota: 8}
  stopPolicy: Hold
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: batch, namespace: default}
spec: {clusterQueue: batch}
---
# Here a Change does it; in a cluster: kubectl patch clusterqueue batch --type merge
#   -p '{"spec": {"stopPolicy": "None"}}', at night by a CronJob.
apiVersion: quotalab.dev/v1
kind: Change
metadata: {name: evening, annotations: {quotalab.dev/arrival: 12h}}
spec:
  target: {kind: ClusterQueue, name: batch}
  patch: {spec: {stopPolicy: None}}
---
# Here a Change does it; in a cluster: kubectl patch clusterqueue batch --type merge
#   -p '{"spec": {"stopPolicy": "HoldAndDrain"}}', at night by a CronJob.
apiVersion: quotalab.dev/v1
kind: Change
metadata: {name: morning, annotations: {quotalab.dev/arrival: 22h}}
spec:
  target: {kind: ClusterQueue, name: batch}
  patch: {spec: {stopPolicy: HoldAndDrain}}
`;export{e as default};