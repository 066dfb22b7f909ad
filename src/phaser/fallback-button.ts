/** A button that is not seen: what keyboards and screen readers use in place of a drawn one. */
export interface FallbackButton {
  write(label: string, enabled: boolean): void;
  /** Says in which language its label is, by BCP 47. */
  setLanguage(language: string): void;
  remove(): void;
}

/**
 * Puts a button inside the canvas element, where HTML keeps the accessible stand-ins of what is
 * drawn: it takes the Tab key and is read out, also in fullscreen, and it goes with its canvas.
 * https://html.spec.whatwg.org/multipage/canvas.html#the-canvas-element
 */
export function addFallbackButton(
  canvas: HTMLCanvasElement,
  { onPress, onFocus }: { onPress(): void; onFocus(focused: boolean): void },
): FallbackButton {
  const element = canvas.ownerDocument.createElement('button');
  element.type = 'button';
  element.dir = 'auto';
  element.addEventListener('click', onPress);
  element.addEventListener('focus', () => onFocus(true));
  element.addEventListener('blur', () => onFocus(false));
  // Phaser listens on the window, and prevents what the game captured: Space would jump, not press.
  for (const type of ['keydown', 'keyup'] as const) {
    element.addEventListener(type, (event) => {
      if (event.key === ' ' || event.key === 'Enter') event.stopPropagation();
    });
  }
  canvas.append(element);
  return {
    write(label, enabled) {
      if (element.textContent !== label) element.textContent = label;
      // Not `disabled`: that would take the focus away from somebody who waits for the ad.
      element.ariaDisabled = String(!enabled);
    },
    setLanguage(language) {
      element.lang = language;
    },
    remove: () => element.remove(),
  };
}
