/** A wordless call between the tabs of one origin. */
export interface TabSignal {
  /** Calls the other tabs. */
  send(): void;
  onSignal(listener: () => void): () => void;
  close(): void;
}

/** Opens the signal of this name. */
export type OpenTabSignal = (name: string) => TabSignal;

/** Over BroadcastChannel; where it is missing no tab hears of another, and each finds out later. */
export const browserTabSignal: OpenTabSignal = (name) => {
  const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel(name);
  return {
    send: () => channel?.postMessage(0),
    onSignal(listener) {
      channel?.addEventListener('message', listener);
      return () => channel?.removeEventListener('message', listener);
    },
    close: () => channel?.close(),
  };
};
