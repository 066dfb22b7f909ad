import { toList } from '../platform/guard.ts';
import type { InputGate } from './input-gate.ts';

/** Operates an ad's controls, and decides which presses count. */
export interface PressJudge {
  /** Handles a key event. */
  onKey(event: KeyboardEvent): void;
  /** Handles the start of a press by pointer, mouse or touch. */
  begin(event: Event): void;
  /** Whether the press began while the ad was open. */
  knows(press: unknown): boolean;
  /** Ignores the clicks that follow from this press. */
  refuse(press: unknown): void;
  /** Handles a click, and prevents its default action if it doesn't count. */
  click(event: MouseEvent): void;
  /** Handles the end of a touch. */
  endTouch(event: TouchEvent): void;
  /** Whether the event belongs to something that the page shows on top of the ad. */
  isForeign(event: Event): boolean;
}

type Control = HTMLElement & { href?: string };

export function createPressJudge(ad: HTMLElement, gate: InputGate): PressJudge {
  /** Whether each press counts, by its {@link identifyPress | identity}. */
  const presses = new Map<unknown, boolean>();
  /** Whether each key that is down counts. */
  const keys = new Map<string, boolean>();
  /** Whether the last key counts. `undefined` if the last press was not a key. */
  let lastKey: boolean | undefined;
  /** Whether the last click counted. */
  let lastCounted = false;
  /** The control under a finger whose click the page has prevented. */
  let touched: Control | undefined;

  const isOurs = ({ target }: Event): boolean => target instanceof Node && ad.contains(target);
  const findControl = (event: Event, name: 'onclick' | 'onauxclick'): Control | undefined => {
    const path = event.composedPath();
    return (path.slice(0, path.indexOf(ad)) as Partial<Control>[]).find(
      (node): node is Control => typeof node[name] === 'function',
    );
  };

  function counts(event: MouseEvent): boolean {
    // A script, such as the creative's own, requests the click.
    if (!event.isTrusted) return gate.admit(event);
    if (event.detail === 0 && lastKey !== undefined) return lastKey;
    // Players who keep clicking reach higher numbers. The gate decides about those.
    const endsDoubleClick = event.detail === 2 && !lastCounted;
    const press = presses.get(identifyPress(event));
    // Assistive technology clicks without a press.
    lastCounted = (press ?? gate.admit(event)) && !endsDoubleClick;
    return lastCounted;
  }

  /** Does what a click on a control does. The browser's own click is missing or has been prevented by the page. */
  function operate(control: Control | undefined): void {
    if (control === undefined) return;
    if (control.href) window.open(control.href, '_blank', 'noopener');
    control.onclick?.(new PointerEvent('click'));
  }

  return {
    onKey(event) {
      const { code, defaultPrevented: prevented, key, repeat, type } = event;
      if (type === 'keydown') keys.set(code, !repeat && gate.admit(event));
      lastKey = keys.get(code) === true;
      const control = ad.shadowRoot?.activeElement as Control | null | undefined;
      if (!lastKey) {
        if (key === 'Escape') event.preventDefault();
      } else if (prevented && type !== 'keyup' && key === 'Enter') {
        operate(control ?? undefined);
      } else if (prevented && type === 'keydown' && key === 'Escape') {
        ad.shadowRoot
          ?.querySelector('dialog')
          ?.dispatchEvent(new Event('cancel', { cancelable: true }));
      } else if (prevented && type === 'keyup' && key === ' ' && control?.tagName === 'BUTTON') {
        operate(control);
      }
      if (type === 'keyup') keys.delete(code);
    },
    begin(event) {
      presses.set(identifyPress(event), gate.admit(event));
      lastKey = undefined;
      if (event.type === 'touchstart')
        touched = event.defaultPrevented ? findControl(event, 'onclick') : undefined;
    },
    knows: (press) => presses.has(press),
    refuse: (press) => void presses.set(press, false),
    click(event) {
      const { defaultPrevented: prevented, type } = event;
      const control = findControl(event, type === 'click' ? 'onclick' : 'onauxclick');
      if (!isOurs(event) || !counts(event)) return event.preventDefault();
      if (prevented && type === 'click') operate(control);
      else if (type === 'click') control?.onclick?.(event as PointerEvent);
      else control?.onauxclick?.(event as PointerEvent);
    },
    endTouch(event) {
      const { changedTouches, defaultPrevented, touches } = event;
      const [touch] = changedTouches;
      if (touch === undefined || presses.get(identifyPress(event)) !== true) return;
      const control = findControl(event, 'onclick');
      // While a finger still rests on the game, browsers take no touch for a click.
      const rests = toList(touches).some(({ target }) => !presses.has(target));
      if (touched === undefined && !defaultPrevented && !rests) return;
      event.preventDefault();
      const under = ad.shadowRoot?.elementFromPoint(touch.clientX, touch.clientY);
      if (control?.contains(under ?? null)) operate(control);
    },
    isForeign(event) {
      // While a modal dialog is open, the browser makes everything inert that isn't on top of it.
      return (
        !isOurs(event) &&
        event
          .composedPath()
          .some((node) => node instanceof HTMLElement && node.matches('dialog, [popover]'))
      );
    },
  };
}

/** Identifies a press by its pointer, its mouse button, or the element under the finger. */
export function identifyPress(event: Event): unknown {
  if (event instanceof PointerEvent) return event.pointerId;
  if (event instanceof MouseEvent) return `button ${event.button}`;
  return event.target;
}
