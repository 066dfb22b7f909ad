const prefix = 'lantern-run.';

/** Reads a word that was kept in this browser; `null` where there is none, or storage is refused. */
export function readSetting(name: string): string | null {
  try {
    return localStorage.getItem(prefix + name);
  } catch {
    // A browser may refuse storage altogether; the game then begins anew with each visit.
    return null;
  }
}

export function writeSetting(name: string, value: string): void {
  try {
    localStorage.setItem(prefix + name, value);
  } catch {
    // Refused or full: what this keeps is a convenience.
  }
}
