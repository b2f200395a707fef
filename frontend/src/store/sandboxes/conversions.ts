// Objects of other systems among dropped files: what they come to, before they are taken.

import { ask } from "@/net/rest";
import type { Conversions } from "@/protocol/types";
import type { SourceFile } from "@/store/sandboxes/loading";
import { isPacked } from "@/store/sandboxes/traces";

const OTHERS = /volcano\.sh|scheduling\.incubator\.k8s\.io|scheduling\.k8s\.io\/group-name|scheduling\.run\.ai|kai\.scheduler\/|runai\/queue/;

/** Files that somebody is asked about, and what they would come to. */
export interface Converting {
  readonly files: readonly SourceFile[];
  readonly found: Conversions;
}

/** Return whether the server should look for objects of other systems in these files. */
export function mayBeOthers(files: readonly SourceFile[]): boolean {
  return files.some((file) => isPacked(file.name) || OTHERS.test(file.text));
}

/** Return what the files come to in the terms of the sandbox, of Kueue for a new one. */
export function convertFiles(files: readonly SourceFile[], into: string | null): Promise<Conversions> {
  return ask("Conversions", "POST", "/conversions", { body: { files, into: into ?? "" } });
}
