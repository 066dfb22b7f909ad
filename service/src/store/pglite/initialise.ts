import { chmodSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startDatabaseThread } from './database-thread.ts';
import { syncTree } from './sync-tree.ts';

/**
 * Makes an empty cluster in `directory`. It is made beside its place and moved in when it is
 * complete, so that a kill half-way leaves nothing that looks like a database. A thread of its own
 * gives its 400 MB back at the end.
 */
export async function initialise(directory: string): Promise<void> {
  const draft = `${directory}.new`;
  rmSync(draft, { recursive: true, force: true });
  const thread = await startDatabaseThread({ directory: draft, mode: 'initialise' });
  await thread.end();
  keepPrivate(draft);
  syncTree(draft);
  renameSync(draft, directory);
  syncTree(dirname(directory), 0);
}

/** PGlite unpacks its files with mode 0666, whatever the umask of the process is. */
function keepPrivate(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600);
}
