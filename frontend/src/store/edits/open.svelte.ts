// Which form for something new is open.

import type { Addable } from "@/store/edits/adding";

class Adding {
  /** What is being added; null: nothing, the form is closed. */
  kind = $state<Addable | null>(null);
}

export const adding = new Adding();
