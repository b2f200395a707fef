// A field of a form whose change was refused.

/** Put a field back to what holds, unless its change was taken. */
export async function orBack(field: HTMLInputElement | HTMLSelectElement, before: string | boolean, done: Promise<boolean>): Promise<void> {
  if (await done) return;
  if (typeof before === "string") field.value = before;
  else if (field instanceof HTMLInputElement) field.checked = before;
}
