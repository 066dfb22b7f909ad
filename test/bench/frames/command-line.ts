import { resolve } from 'node:path';
import { readOptions } from '../../../scripts/lib/read-options.mjs';

const options = readOptions({
  name: 'bench:frames',
  about: `Measures the SDK's overhead in each frame of a game, in real Chromium with real Phaser. Writes docs/benchmarks/frames.
Takes about 3 minutes. Slow frames do not fail the run.`,
  options: {
    peer: {
      type: 'text',
      shown: 'folder',
      help: 'compares with this checkout of github.com/poki/phaser-plugin',
    },
  },
});

/** A checkout of github.com/poki/phaser-plugin. */
export const peer = options.peer === undefined ? undefined : resolve(options.peer);
