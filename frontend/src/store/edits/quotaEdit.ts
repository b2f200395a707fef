// A nominal quota changed by hand.

import { record, rowsOf, text, type Json } from "@/net/rest";
import { attempt, nameOf } from "@/store/live/intents";
import { quantity, quotaText } from "@/lib/amounts";
import { t } from "@/lib/words.svelte";
import type { Change } from "@/store/edits/changes";
import { manifestOf } from "@/store/edits/manifest";
import { change, objectChange } from "@/store/edits/whatIf.svelte";

export interface QuotaEdit {
  readonly key: string; // of the ClusterQueue
  readonly flavor: string;
  readonly resource: string;
  readonly nominal: number; // in base units
}

/** Return the change that another nominal quota is. Throws Refusal. */
export async function quotaChange(edit: QuotaEdit): Promise<Change> {
  const amount = quantity(edit.resource, edit.nominal);
  return objectChange(edit.key, await patchOf(edit), [t("quota.done", { name: nameOf(edit.key), flavor: edit.flavor, amount })]);
}

/** Set a nominal quota in the what-if. Returns whether the server took it. */
export async function setQuota(edit: QuotaEdit): Promise<boolean> {
  const found = await attempt(() => quotaChange(edit));
  return found !== null && change(found.said, found.parts);
}

// Lists are replaced whole by a merge patch, so all groups go back as they are but for one.
async function patchOf(edit: QuotaEdit): Promise<Json> {
  const manifest = await manifestOf(edit.key);
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
