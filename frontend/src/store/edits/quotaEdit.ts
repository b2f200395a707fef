// A nominal quota changed by hand: its text, what it would do, the edit itself.

import { record, request, rowsOf, text, type Json } from "@/net/rest";
import { attempt, fork, nameOf, announceEdit } from "@/store/live/intents";
import { quantity, quotaText } from "@/lib/amounts";
import { t } from "@/lib/words.svelte";
import { live } from "@/store/live/live.svelte";
import { foreseeEdits, type Foreseen } from "@/store/edits/foreseen";
import { codeOf } from "@/store/edits/moves";
import { objectPath } from "@/store/live/server";

export interface QuotaEdit {
  readonly key: string; // of the ClusterQueue
  readonly flavor: string;
  readonly resource: string;
  readonly nominal: number; // in base units
}

/** Ask what another nominal quota would do to everybody; run on a copy. */
export async function foreseeQuota(edit: QuotaEdit, signal: AbortSignal): Promise<Foreseen> {
  const [kind = "", namespace = ""] = edit.key.split("/");
  const patch = await patchOf(edit, signal);
  return foreseeEdits([{ kind, namespace, name: nameOf(edit.key), patch }], signal);
}

/** Set a nominal quota; says what it was in YAML and as a REST call, with Undo. */
export async function setQuota(edit: QuotaEdit, onFork: boolean): Promise<boolean> {
  if (onFork && (await fork()) === null) return false;
  const path = `/sandboxes/${String(live.id)}/${objectPath(edit.key)}`;
  const name = nameOf(edit.key);
  const body = await attempt(() => patchOf(edit));
  if (body === null || (await attempt(() => request("PATCH", path, { body }))) === null) return false;
  const yaml = { kind: "ClusterQueue", metadata: { name }, ...body };
  const amount = quantity(edit.resource, edit.nominal);
  announceEdit(t("quota.done", { name, flavor: edit.flavor, amount }), codeOf("PATCH", path, body, yaml));
  return true;
}

// Lists are replaced whole by a merge patch, so all groups go back as they are but for one.
async function patchOf(edit: QuotaEdit, signal?: AbortSignal): Promise<Json> {
  const path = `/sandboxes/${String(live.id)}/${objectPath(edit.key)}`;
  const manifest = record(await request("GET", path, signal ? { signal } : {}));
  const groups = rowsOf(record(manifest["spec"])["resourceGroups"]).map((group) => ({
    ...group,
    flavors: rowsOf(group["flavors"]).map((flavor) =>
      text(flavor["name"]) === edit.flavor ? { ...flavor, resources: changed(flavor, edit) } : flavor,
    ),
  }));
  return { spec: { resourceGroups: groups } };
}

function changed(flavor: Json, edit: QuotaEdit): Json[] {
  return rowsOf(flavor["resources"]).map((row) =>
    text(row["name"]) === edit.resource
      ? { ...row, nominalQuota: quotaText(edit.resource, edit.nominal) }
      : row,
  );
}
