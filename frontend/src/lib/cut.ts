// Texts that are cut by their box: the whole of one is shown where the pointer rests.

/** Begin to report; call once. Only texts that are really cut get a title. */
export function titleCutTexts(): void {
  addEventListener("pointerover", report, { passive: true });
}

function report(event: PointerEvent): void {
  if (event.buttons !== 0) return; // something is carried: nobody reads what it passes over
  const text = event.target instanceof Element ? event.target.closest<HTMLElement>(".cut") : null;
  if (text === null || (text.title !== "" && text.dataset["cut"] === undefined)) return;
  const whole = text.scrollWidth > text.clientWidth ? text.textContent.trim().replace(/\s+/g, " ") : "";
  if (text.title === whole) return;
  text.title = whole;
  text.dataset["cut"] = "";
}
