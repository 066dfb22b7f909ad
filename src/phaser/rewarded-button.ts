import type * as Phaser from 'phaser';
import { listen, native } from '../platform/native.ts';
import type { Ads } from '../ads.ts';
import type { Availability, ShowResult } from '../outcome.ts';
import { systemClock } from '../platform/clock.ts';
import { loadPart } from '../platform/load-part.ts';
import { type ButtonView, english, formatLabel, nextUpdateMs, idleView } from './button-view.ts';

/** Options for `addRewardedButton()`. */
export interface RewardedButtonOptions {
  placement: string;
  /** The center of the button, in scene coordinates. */
  x: number;
  y: number;
  /** Returns the label, which screen readers also announce. Default: short labels in the ads’ language. */
  label?: (view: ButtonView) => string;
  /** Text style. `backgroundColor` is ignored. */
  style?: Phaser.Types.GameObjects.Text.TextStyle;
  /** Color of the button when an ad is ready. Default: 0x2f6f4f. */
  color?: number;
  /** Called with the result after the button has shown an ad. Rewards are delivered through the `reward` event. */
  onResult?: (result: ShowResult) => void;
}

const padding = { x: 14, y: 9 };
const disabledColor = 0x55606b;

/** Draws the visible part of a button: text on a box, with a focus ring. */
export function createButtonView(
  scene: Phaser.Scene,
  { color = 0x2f6f4f, style, x, y }: Pick<RewardedButtonOptions, 'color' | 'style' | 'x' | 'y'>,
): {
  container: Phaser.GameObjects.Container;
  write(label: string, enabled: boolean): void;
  focus(focused: boolean): void;
} {
  const { backgroundColor: _, ...textStyle } = { fontSize: '16px', color: '#ffffff', ...style };
  const box = scene.add.rectangle(0, 0, 1, 1, disabledColor);
  const text = scene.add.text(0, 0, '', textStyle).setOrigin(0.5);
  const container = scene.add.container(x, y, [box, text]);
  container.setInteractive({
    hitArea: box,
    // In a container, pointer coordinates are relative to the container's upper-left corner.
    hitAreaCallback: (area: Phaser.GameObjects.Rectangle, pressX: number, pressY: number) =>
      pressX >= 0 && pressY >= 0 && pressX <= area.width && pressY <= area.height,
  });
  return {
    container,
    write(label, enabled) {
      text.setText(label);
      box.setSize(text.width + 2 * padding.x, text.height + 2 * padding.y).setOrigin(0.5);
      box.setFillStyle(enabled ? color : disabledColor);
      container.setSize(box.width, box.height);
      if (container.input) container.input.cursor = enabled ? 'pointer' : '';
    },
    focus(focused) {
      if (focused) box.setStrokeStyle(3, 0xffffff);
      else box.setStrokeStyle();
    },
  };
}

/** An invisible HTML button for keyboards and screen readers. */
export interface FallbackButton {
  write(label: string, enabled: boolean): void;
  /** Sets the label’s language (BCP 47). */
  setLanguage(language: string): void;
  remove(): void;
}

/**
 * Adds a button to the canvas element's content, which is the accessible fallback for what the canvas draws. The button
 * can be focused and is announced by screen readers, even in full screen. It is removed with its canvas.
 * https://html.spec.whatwg.org/multipage/canvas.html#the-canvas-element
 */
export function addFallbackButton(
  canvas: HTMLCanvasElement,
  { onPress, onFocus }: { onPress(): void; onFocus(focused: boolean): void },
): FallbackButton {
  const element = canvas.ownerDocument.createElement('button');
  element.type = 'button';
  element.dir = 'auto';
  listen(element, 'click', onPress);
  listen(element, 'focus', () => onFocus(true));
  listen(element, 'blur', () => onFocus(false));
  // Phaser listens on the window and prevents the default action of captured keys. Without this, Space might make the
  // player jump instead of pressing the button.
  for (const type of ['keydown', 'keyup'] as const) {
    listen<KeyboardEvent>(element, type, (event) => {
      if (event.key === ' ' || event.key === 'Enter') event.stopPropagation();
    });
  }
  canvas.append(element);
  return {
    write(label, enabled) {
      if (element.textContent !== label) element.textContent = label;
      // Not `disabled`, which would make the button lose focus while the player waits for the ad.
      element.ariaDisabled = String(!enabled);
    },
    setLanguage(language) {
      element.lang = language;
    },
    remove: () => element.remove(),
  };
}

/**
 * Adds a button that loads an ad and shows it when pressed. The button shows whether an ad is available, or when the
 * next one will be available. It supports pointers, keyboards (Tab, Enter, Space) and screen readers. It is destroyed
 * with its scene or by `destroy()`, which also aborts its ad.
 */
export function addRewardedButton(
  ads: Pick<Ads, 'availability' | 'preload' | 'showRewarded' | 'on'>,
  scene: Phaser.Scene,
  { label, onResult, placement, ...viewOptions }: RewardedButtonOptions,
  locale: string,
): Phaser.GameObjects.Container {
  const destroyController = new native.AbortController();
  const { signal } = destroyController;
  let busy: 'loading' | 'showing' | undefined;
  let availability: Availability = { available: false };
  let timer: Phaser.Time.TimerEvent | undefined;
  let strings = english;
  let prepareText = (text: string): string => text;

  const buttonView = createButtonView(scene, viewOptions);
  const fallback = addFallbackButton(scene.game.canvas, {
    onPress: press,
    onFocus: buttonView.focus,
  });

  function refresh(): void {
    if (signal.aborted) return;
    timer?.remove();
    timer = undefined;
    const now = native.now();
    const view: ButtonView = busy ? { state: busy, secondsLeft: 0 } : idleView(availability, now);
    const text = label ? label(view) : formatLabel(view, strings);
    buttonView.write(prepareText(text), view.state === 'ready');
    fallback.write(text, view.state === 'ready');
    const waitMs = busy ? undefined : nextUpdateMs(availability, now);
    if (waitMs === undefined) return;
    timer = scene.time.delayedCall(waitMs, () => {
      // If the scene was asleep or running slowly, the cooldown may already be over.
      if (idleView(availability, native.now()).secondsLeft > 0) refresh();
      else void load();
    });
  }

  async function load(): Promise<void> {
    busy = 'loading';
    refresh();
    availability = await ads.preload(placement, { signal });
    busy = undefined;
    refresh();
  }

  async function show(): Promise<void> {
    busy = 'showing';
    refresh();
    const result = await ads.showRewarded(placement, { signal });
    if (signal.aborted) return;
    void load();
    onResult?.(result);
  }

  function press(): void {
    if (!busy && availability.available) void show();
  }

  const removeListener = ads.on('change', () => {
    if (busy) return;
    const current = ads.availability(placement);
    if (current.outcome === 'already_showing') return;
    if (!current.available) {
      availability = current;
      refresh();
    } else if (!availability.available) {
      // An ad may be offered again, for example because consent was given or the network is back. A sleeping scene
      // waits until it wakes. A request that fails makes the ad unavailable for a while, so two buttons can't trigger
      // each other's requests endlessly.
      timer?.remove();
      timer = scene.time.delayedCall(0, () => void load());
    }
  });
  buttonView.container.on('pointerup', press);
  buttonView.container.once('destroy', () => {
    removeListener();
    destroyController.abort();
    timer?.remove();
    fallback.remove();
  });
  void load();
  if (!label) {
    const { signal } = destroyController;
    const importPart = () => import('./button-languages.ts');
    void loadPart(importPart, 'getButtonStrings', { clock: systemClock, signal })
      .then((getButtonStrings) => {
        const translated = getButtonStrings(locale);
        if (!translated) return;
        ({ prepareText, strings } = translated);
        fallback.setLanguage(translated.language);
        refresh();
      })
      // If the locale is invalid, the label stays in English.
      .catch(() => undefined);
  }
  return buttonView.container;
}
