const prefix = 'lantern-run.';

/** Reads a setting from this browser; `null` if there is none or storage is unavailable. */
export function readSetting(name: string): string | null {
  try {
    return localStorage.getItem(prefix + name);
  } catch {
    // Storage may be unavailable; then nothing is remembered between visits.
    return null;
  }
}

export function writeSetting(name: string, value: string): void {
  try {
    localStorage.setItem(prefix + name, value);
  } catch {
    // Unavailable or full: the settings are a convenience only.
  }
}
