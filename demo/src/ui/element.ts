/** Returns the element with this id. Throws if the page has no such element, because that is a bug in the page. */
export function element<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const match = document.getElementById(id);
  if (!(match instanceof kind)) throw new Error(`The page has no ${kind.name} with the id ${id}.`);
  return match;
}

/** Sets the text of every matching element. Skips unchanged text, so that screen readers don't announce it again. */
export function write(selector: string, text: string | number): void {
  for (const target of document.querySelectorAll(selector)) {
    if (target.textContent !== String(text)) target.textContent = String(text);
  }
}
