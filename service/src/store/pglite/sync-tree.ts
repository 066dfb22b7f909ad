import { closeSync, fsyncSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Forces a folder and what lies in it to the disk, `depth` levels down. */
export function syncTree(path: string, depth = Infinity): void {
  if (depth > 0) {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inner = join(path, entry.name);
      if (entry.isDirectory()) syncTree(inner, depth - 1);
      else sync(inner);
    }
  }
  sync(path);
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
