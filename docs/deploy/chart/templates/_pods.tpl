{{- define "quotalab.labels" -}}
app.kubernetes.io/name: quotalab
app.kubernetes.io/component: {{ . }}
{{- end }}

{{- define "quotalab.pod" -}}
automountServiceAccountToken: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext: {runAsNonRoot: true, runAsUser: 999, seccompProfile: {type: RuntimeDefault}}
{{- end }}

{{- define "quotalab.container" -}}
image: {{ .Values.image }}
envFrom:
  - configMapRef: {name: quotalab}
securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
{{- end }}

{{- define "quotalab.env" -}}
- name: SECRET_KEY
  valueFrom: {secretKeyRef: {name: {{ .Values.secret.name }}, key: SECRET_KEY}}
- name: POSTGRES_PASSWORD
  valueFrom: {secretKeyRef: {name: {{ .Values.secret.name }}, key: POSTGRES_PASSWORD}}
- name: DATABASE_URL
  value: postgresql://quotalab:$(POSTGRES_PASSWORD)@$(DATABASE_HOST):5432/quotalab
{{- end }}

{{- define "quotalab.alive" -}}
livenessProbe: {exec: {command: [python, -m, sandbox.base.probe, alive]}, initialDelaySeconds: 20, periodSeconds: 10, timeoutSeconds: 6}
{{- end }}
