// What a reader cannot read: returns one line per text that is cut, crushed or under another.
() => {
  const FAR = 1.5; // px a glyph's box may reach over an edge: line boxes are larger than ink
  const SMALLEST = 11; // px of a text
  const LEAST = 22; // px of a shortened text that must stay to be seen
  const found = [];
  const texts = [];
  const styles = new Map();
  const styleOf = (element) => {
    if (!styles.has(element)) styles.set(element, getComputedStyle(element));
    return styles.get(element);
  };
  const zoom = document.body.currentCSSZoom ?? 1;
  const where = (element) => {
    const path = [];
    for (let at = element; at && path.length < 4 && at !== document.body; at = at.parentElement) {
      const name = typeof at.className === "string" ? at.className : (at.getAttribute("class") ?? "");
      const own = name.split(" ").filter((one) => one && !one.startsWith("svelte-") && !one.startsWith("s-"));
      path.unshift([at.localName, ...own].join("."));
    }
    return path.join(" > ");
  };
  const layerOf = (element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      const position = styleOf(at).position;
      if (position === "fixed" || position === "sticky" || at.localName === "dialog") return at;
      if (at.matches("[popover]")) return at;
    }
    return null;
  };
  const unseen = (element) =>
    element.closest(".unseen, title, option, script, style, noscript, [hidden]") !== null ||
    !element.checkVisibility({ opacityProperty: true, visibilityProperty: true });

  // The part of a box that its clipping ancestors leave; null when it is scrolled away.
  function seenPart(element, box, words) {
    let seen = { left: box.left, top: box.top, right: box.right, bottom: box.bottom };
    for (let at = element; at && at !== document.documentElement; at = at.parentElement) {
      if (at instanceof SVGElement && at.localName !== "svg") continue;
      const style = styleOf(at);
      if (style.clipPath !== "none") return null;
      const clips = [style.overflowX, style.overflowY];
      if (at === document.body || clips.every((one) => one === "visible")) continue;
      const edge = at.getBoundingClientRect();
      const next = {
        left: clips[0] === "visible" ? seen.left : Math.max(seen.left, edge.left),
        right: clips[0] === "visible" ? seen.right : Math.min(seen.right, edge.right),
        top: clips[1] === "visible" ? seen.top : Math.max(seen.top, edge.top),
        bottom: clips[1] === "visible" ? seen.bottom : Math.min(seen.bottom, edge.bottom),
      };
      const scrolls = (one) => one === "auto" || one === "scroll";
      const far = FAR * zoom;
      const cutX = Math.max(next.left - seen.left, seen.right - next.right) > far;
      const cutY = Math.max(next.top - seen.top, seen.bottom - next.bottom) > far;
      if (cutX && !scrolls(clips[0])) {
        const shortened = style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none";
        const left = next.right - next.left;
        if (!shortened) found.push(`cut at the side: "${words}" by ${where(at)}`);
        else if (left < Math.min(LEAST * zoom, box.right - box.left)) {
          found.push(`crushed to ${Math.max(0, Math.round(left))} px: "${words}" in ${where(at)}`);
        }
      }
      if (cutY && !scrolls(clips[1]) && style.webkitLineClamp === "none") found.push(`cut above or below: "${words}" by ${where(at)}`);
      if (next.right - next.left < 1 || next.bottom - next.top < 1) return null;
      seen = next;
    }
    return seen;
  }

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const words = node.data.trim().replace(/\s+/g, " ");
    const element = node.parentElement;
    if (words === "" || element === null || unseen(element)) continue;
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      if (box.width < 2 || box.height < 2) continue;
      const seen = seenPart(element, box, words.slice(0, 40));
      if (seen === null) continue;
      const size = parseFloat(styleOf(element).fontSize);
      if (size < SMALLEST) found.push(`${size} px: "${words.slice(0, 40)}" in ${where(element)}`);
      texts.push({ element, words: words.slice(0, 40), seen, layer: layerOf(element) });
    }
  }

  // Two texts on one place; sorted by their left edges, so that few pairs are looked at.
  texts.sort((a, b) => a.seen.left - b.seen.left);
  texts.forEach((one, index) => {
    for (let at = index + 1; at < texts.length; at++) {
      const other = texts[at];
      const [a, b] = [one.seen, other.seen];
      if (b.left > a.right - 2) break;
      const wide = Math.min(a.right, b.right) - b.left;
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide < 2 * zoom || high < 4 * zoom || one.layer !== other.layer) continue;
      if (one.element === other.element) continue;
      found.push(`over each other: "${one.words}" and "${other.words}" in ${where(other.element)}`);
    }
  });
  const page = document.scrollingElement;
  if (page.scrollWidth > page.clientWidth + 1) {
    const beyond = [...document.querySelectorAll("body *")].filter((one) => {
      for (let at = one.parentElement; at && at !== document.body; at = at.parentElement) {
        if (getComputedStyle(at).overflowX !== "visible") return false;
      }
      return one.getBoundingClientRect().right > page.clientWidth + 1;
    });
    const widest = beyond.sort((a, b) => b.getBoundingClientRect().right - a.getBoundingClientRect().right)[0];
    const who = widest ? ` (${where(widest)})` : "";
    found.push(`the page scrolls sideways: ${page.scrollWidth} px in ${page.clientWidth}${who}`);
  }
  // The list of views is whole wherever there is height for it.
  const rail = document.querySelector(".rail");
  if (rail && innerHeight >= 720 && rail.scrollHeight > rail.clientHeight + 1) {
    found.push(`the list of views is cut: ${rail.scrollHeight} px in ${rail.clientHeight}`);
  }
  return [...new Set(found)];
}
