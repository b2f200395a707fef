// Returns what of the stage is cut, covers another thing or is too small, in words.
() => {
  const found = [];
  const scene = document.querySelector(".scene").getBoundingClientRect();
  const corner = document.querySelector(".corner").getBoundingClientRect();
  const scale = scene.width / 1280;
  const name = (one) => one.textContent.trim().slice(0, 60);
  for (const one of document.querySelectorAll("[data-part]")) {
    const box = one.getBoundingClientRect();
    const part = `${one.dataset.part}: ${name(one)}`;
    if (one.scrollHeight > one.clientHeight + 3 || one.scrollWidth > one.clientWidth + 3) found.push(`cut: ${part}`);
    const home = one.parentElement.getBoundingClientRect();
    if (box.top < home.top || box.bottom > home.bottom) found.push(`out of its place: ${part}`);
    if (box.left < scene.left - 1 || box.right > scene.right + 1 || box.top < scene.top - 1 || box.bottom > corner.top + 2) found.push(`out of the screen: ${part}`);
  }
  const drawing = document.querySelector(".board svg").getBoundingClientRect();
  const written = [];
  for (const group of document.querySelectorAll(".board svg g")) {
    const ground = group.querySelector("rect")?.getBoundingClientRect();
    for (const text of group.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      if (name(text) === "") continue;
      const within = ground ?? drawing;
      const part = `${group.dataset.group}: ${name(text)}`;
      if (box.left < within.left - 1 || box.right > within.right + 1) found.push(`wider than its box: ${part}`);
      if (box.top < drawing.top - 1 || box.bottom > drawing.bottom + 1) found.push(`out of the board: ${part}`);
      if (Number(text.getAttribute("font-size")) < 14) found.push(`small: ${part}`);
      if (name(text).includes("…") && !group.classList.contains("dim") && text.dataset.whole === undefined) found.push(`shortened: ${part}`);
      written.push([box, part, group.dataset.group]);
    }
  }
  for (const [index, [one, part]] of written.entries()) {
    for (const [other, third] of written.slice(index + 1)) {
      const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (wide > 2 * scale && high > 3 * scale) found.push(`over another: ${part} and ${third}`);
    }
  }
  // Choices stand beside one another, and the answer below them.
  const parts = [...document.querySelectorAll("[data-part]")].map((one) => [one.getBoundingClientRect(), one.dataset.part]);
  for (const [index, [one, part]] of parts.entries()) {
    for (const [other, third] of parts.slice(index + 1)) {
      const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (wide > 1 && high > 1) found.push(`over another: ${part} and ${third}`);
    }
  }
  return found;
}
