// Words of the field say what they mean where the pointer rests on a head or a label that names one.

type Terms = readonly { readonly name: string; readonly said: string }[];

let terms: Terms = [];
const NAMED = "th, dt, h2, h3, legend, summary, label, .term";

/** Begin to explain; call once, with what reads the words when one is first wanted. */
export function explainTerms(load: () => Promise<Terms>): void {
  let asked = false;
  addEventListener("pointerover", (event) => {
    if (event.buttons !== 0) return;
    const named = event.target instanceof Element ? event.target.closest<HTMLElement>(NAMED) : null;
    if (named === null) return;
    if (!asked) {
      asked = true;
      void load().then((found) => {
        terms = found.toSorted((a, b) => b.name.length - a.name.length);
        explain(named);
      });
    } else explain(named);
  }, { passive: true });
}

function explain(named: HTMLElement): void {
  if (named.title !== "" && named.dataset["term"] === undefined) return;
  const text = named.textContent.trim();
  if (text.length > 60) return;
  const found = terms.filter(({ name }) => new RegExp(`(^|\\W)${name.replace(/[.*+?^$()|[\]\\]/g, "\\$&")}s?(\\W|$)`, "i").test(text));
  const title = found.slice(0, 2).map(({ name, said }) => `${name}: ${said}`).join("\n");
  if (title === named.title) return;
  named.title = title;
  named.dataset["term"] = "";
}
