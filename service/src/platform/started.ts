/** The parts that have been started, so that a start that fails halfway leaves nothing running. */
export interface Started {
  /** Remembers a part, and returns it. */
  add<Part extends { stop(): unknown }>(part: Part): Part;
  /** Stops all parts, the last one first. One that cannot be stopped does not keep the others running. */
  stopAll(): Promise<void>;
}

export function createStarted(): Started {
  const parts: { stop(): unknown }[] = [];
  return {
    add(part) {
      parts.push(part);
      return part;
    },
    async stopAll() {
      for (let part = parts.pop(); part; part = parts.pop()) {
        try {
          await part.stop();
        } catch {
          // The error that made the start fail is the one to report.
        }
      }
    },
  };
}
