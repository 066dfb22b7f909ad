/** Runs the callbacks of one ad break, and remembers whether one of them threw. */
export interface Guard {
  readonly threw: boolean;
  /** Answers whether it went well; an error goes to `window.onerror`. */
  run(callback: () => void): boolean;
}

export function createGuard(): Guard {
  let threw = false;
  return {
    get threw() {
      return threw;
    },
    run(callback) {
      try {
        callback();
        return true;
      } catch (error) {
        threw = true;
        reportError(error);
        return false;
      }
    },
  };
}
