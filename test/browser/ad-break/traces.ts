import { native } from '../../../src/platform/native.ts';

/** Tracks requested animation frames, and listeners on objects that outlive an ad. */
export function trackLeaks(): { remaining(): string[]; stop(): void } {
  const remaining = new Set<string>();
  const names = new Map<unknown, number>();
  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
  const { requestAnimationFrame: request, cancelAnimationFrame: cancel } = native;
  const outlivesAd = (target: unknown): boolean =>
    target === window || target === document || target instanceof AbortSignal;
  const describeListener = (type: string, listener: unknown): string => {
    if (!names.has(listener)) names.set(listener, names.size);
    return `${type} listener ${names.get(listener)}`;
  };

  EventTarget.prototype.addEventListener = function (type, listener, options) {
    const { once = false, signal } = typeof options === 'object' ? options : {};
    add.call(this, type, listener, options);
    // Other listeners are garbage-collected together with the SDK's objects.
    if (listener === null || !outlivesAd(this ?? window) || once) return;
    const name = describeListener(type, listener);
    remaining.add(name);
    if (signal) add.call(signal, 'abort', () => remaining.delete(name));
  };
  EventTarget.prototype.removeEventListener = function (type, listener, options) {
    remove.call(this, type, listener, options);
    remaining.delete(describeListener(type, listener));
  };
  Object.assign(native, {
    addEventListener: EventTarget.prototype.addEventListener,
    removeEventListener: EventTarget.prototype.removeEventListener,
  });
  native.requestAnimationFrame = (callback) => {
    const frame = request((time) => {
      remaining.delete(`frame ${frame}`);
      callback(time);
    });
    remaining.add(`frame ${frame}`);
    return frame;
  };
  native.cancelAnimationFrame = (frame) => {
    remaining.delete(`frame ${frame}`);
    cancel(frame);
  };

  return {
    remaining: () => [...remaining],
    stop() {
      EventTarget.prototype.addEventListener = add;
      EventTarget.prototype.removeEventListener = remove;
      Object.assign(native, { addEventListener: add, removeEventListener: remove });
      native.requestAnimationFrame = request;
      native.cancelAnimationFrame = cancel;
    },
  };
}
