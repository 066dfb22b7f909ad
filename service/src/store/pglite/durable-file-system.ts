import { closeSync, fsyncSync, lstatSync, openSync } from 'node:fs';
import { NodeFS } from '@electric-sql/pglite/nodefs';

interface Stream {
  nfd?: number;
  node: unknown;
}

/** The part of Emscripten's file systems that is needed here; the package does not describe it. */
interface EmscriptenModule {
  FS: { ErrnoError: new (code: number) => unknown };
  NODEFS: {
    realPath(node: unknown): string;
    getMode(path: string): number;
    stream_ops: { fsync?: (stream: Stream) => number };
    node_ops: { setattr(node: unknown, attributes: { mode?: number }): void };
  };
}

/** "No such file", as Emscripten counts errors. */
const noEntry = 44;

/**
 * PGlite's file system on disk, with fsync and for this user only. Emscripten's NODEFS has no fsync, so
 * that a commit would not survive a power cut (https://github.com/electric-sql/pglite/issues/1107).
 */
export class DurableFileSystem extends NodeFS {
  override async init(...args: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(...args);
    const change = (module: object): void => {
      addFsync(module as EmscriptenModule);
      expectMissing(module as EmscriptenModule);
      keepPrivate(module as EmscriptenModule);
    };
    return {
      emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), change] },
    };
  }
}

function addFsync({ NODEFS: files }: EmscriptenModule): void {
  files.stream_ops.fsync = (stream) => {
    if (stream.nfd === undefined) syncPath(files.realPath(stream.node));
    else fsyncSync(stream.nfd);
    return 0;
  };
}

/**
 * Each time that a page of an index is full, PostgreSQL looks for the index's map of free space, which
 * is mostly not there. Node.js takes 50 µs to make the exception that says so.
 */
function expectMissing({ FS, NODEFS: files }: EmscriptenModule): void {
  const { getMode } = files;
  files.getMode = (path) => {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) throw new FS.ErrnoError(noEntry);
    return getMode(path);
  };
}

/** Emscripten sets the mode of a new file explicitly, past the umask of the process. */
function keepPrivate({ NODEFS: files }: EmscriptenModule): void {
  const { setattr } = files.node_ops;
  files.node_ops.setattr = (node, attributes) => {
    const { mode } = attributes;
    setattr(node, mode === undefined ? attributes : { ...attributes, mode: mode & ~0o077 });
  };
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
