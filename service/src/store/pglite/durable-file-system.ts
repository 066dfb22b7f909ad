import { closeSync, fsyncSync, openSync } from 'node:fs';
import { NodeFS } from '@electric-sql/pglite/nodefs';

interface Stream {
  nfd?: number;
  node: unknown;
}

/** The part of Emscripten's NODEFS that is needed here; the package does not describe it. */
interface NodeFileSystem {
  realPath(node: unknown): string;
  stream_ops: { fsync?: (stream: Stream) => number };
}

/**
 * PGlite's file system on disk, with fsync. Emscripten's NODEFS has none, so that a commit would
 * not survive a power cut (https://github.com/electric-sql/pglite/issues/1107).
 */
export class DurableFileSystem extends NodeFS {
  override async init(...args: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(...args);
    const addFsync = (module: object): void => {
      const files = (module as { NODEFS: NodeFileSystem }).NODEFS;
      files.stream_ops.fsync = (stream) => {
        if (stream.nfd === undefined) syncPath(files.realPath(stream.node));
        else fsyncSync(stream.nfd);
        return 0;
      };
    };
    return {
      emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), addFsync] },
    };
  }
}

/** A directory's stream has no descriptor of its own. */
function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
