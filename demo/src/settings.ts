const prefix = 'lantern-run.';

/** Reads a setting from this browser. Returns `null` if there is none or storage is unavailable. */
export function readSetting(name: string): string | null {
  try {
    return localStorage.getItem(prefix + name);
  } catch {
    // If storage is unavailable, settings do not persist between visits.
    return null;
  }
}

export function writeSetting(name: string, value: string): void {
  try {
    localStorage.setItem(prefix + name, value);
  } catch {
    // Storage is unavailable or full. The game works without stored settings.
  }
}
