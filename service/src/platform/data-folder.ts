import { mkdirSync } from 'node:fs';

/**
 * Makes the data folder if it is missing, accessible only to its owner. Whoever writes to the folder calls this first,
 * because with PostgreSQL and a master key from the environment, a service may need no data folder at all.
 */
export function makeDataFolder(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
}
