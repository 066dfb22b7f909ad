/** The element with this id; the page is ours, so a missing one is a mistake of ours. */
export function element<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`The page has no ${kind.name} with the id ${id}.`);
  return found;
}

/** Writes a text into every element that matches; leaves equal text alone, so that nothing is announced twice. */
export function write(selector: string, text: string | number): void {
  for (const target of document.querySelectorAll(selector)) {
    if (target.textContent !== String(text)) target.textContent = String(text);
  }
}
