/** Makes an error visible to the game's developer without stopping what goes on here. */
export function surface(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

/** Runs code that is not ours, so that its error takes nothing down with it. */
export function guarded(callback: (() => void) | undefined): void {
  try {
    callback?.();
  } catch (error) {
    surface(error);
  }
}
