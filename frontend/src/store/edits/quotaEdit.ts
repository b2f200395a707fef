// A nominal quota changed by hand: its text, what it would do, the edit itself.

import { record, rowsOf, text, type Json } from "@/net/rest";
import { attempt, nameOf } from "@/store/live/intents";
import { quantity, quotaText } from "@/lib/amounts";
import { t } from "@/lib/words.svelte";
import { foreseeEdits, type Foreseen } from "@/store/edits/foreseen";
import { changeObject, manifestOf } from "@/store/edits/whatIf.svelte";

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

/** Set a nominal quota in the what-if. Returns whether the server took it. */
export async function setQuota(edit: QuotaEdit): Promise<boolean> {
  const body = await attempt(() => patchOf(edit));
  if (body === null) return false;
  const amount = quantity(edit.resource, edit.nominal);
  return changeObject(edit.key, body, [t("quota.done", { name: nameOf(edit.key), flavor: edit.flavor, amount })]);
}

// Lists are replaced whole by a merge patch, so all groups go back as they are but for one.
async function patchOf(edit: QuotaEdit, signal?: AbortSignal): Promise<Json> {
  const manifest = await manifestOf(edit.key, signal);
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
