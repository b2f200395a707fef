var e=`# Drain a queue before its nodes are serviced: nothing new is admitted, what runs goes back in line,
# and all of it starts again when the queue opens.
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: gpu}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team-a}
spec:
  cohortName: company
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: gpu
      resources:
      - {name: nvidia.com/gpu, nominalQuota: 8}
  stopPolicy: None
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: team-a, namespace: default}
spec: {clusterQueue: team-a}
---
# Here a Change does it; in a cluster: kubectl patch clusterqueue team-a --type merge
#   -p '{"spec": {"stopPolicy": "HoldAndDrain"}}', at night by a CronJob.
apiVersion: quotalab.dev/v1
kind: Change
metadata: {name: drain, annotations: {quotalab.dev/arrival: 10m}}
spec:
  target: {kind: ClusterQueue, name: team-a}
  patch: {spec: {stopPolicy: HoldAndDrain}}
---
# Here a Change does it; in a cluster: kubectl patch clusterqueue team-a --type merge
#   -p '{"spec": {"stopPolicy": "None"}}', at night by a CronJob.
apiVersion: quotalab.dev/v1
kind: Change
metadata: {name: open, annotations: {quotalab.dev/arrival: 30m}}
spec:
  target: {kind: ClusterQueue, name: team-a}
  patch: {spec: {stopPolicy: None}}
`;export{e as default};