// Names for parts of rows that the schema has no name for.

import type { AnyRow, WorkloadRow } from "@/protocol/types";

export type RowKind = AnyRow["kind"];
export type RowOf<K extends RowKind> = Extract<AnyRow, { kind: K }>;
export type Phase = WorkloadRow["phase"];
