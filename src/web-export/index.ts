/**
 * Ads for web exports of GDevelop, Construct 3 and Unity.
 *
 * @module trueward/web-export
 */
import { createEngineDriver } from '../engine/create-engine-driver.ts';
import type { EngineDriver } from '../engine/engine-driver.ts';
import { callEachFrame } from '../engine/no-engine.ts';
import { collectSounds } from './collect-sounds.ts';
import { holdConstruct } from './construct.ts';
import { watchForGames } from './find-games.ts';

/**
 * Creates the engine driver for a web export. It recognizes GDevelop, Construct 3 and Unity WebGL by what they add to the
 * page, and holds whatever it finds. On any other page, it pauses only sounds.
 *
 * Create it before the export's scripts run, because it finds the game and its sounds when they are created.
 *
 * @example
 * const ads = createAds({ publishableKey, serviceUrl, engine: webExportDriver() });
 */
export function webExportDriver(): EngineDriver {
  const listSounds = collectSounds();
  const games = watchForGames();
  return createEngineDriver({
    canvas: () => document.querySelector('canvas'),
    audio: listSounds,
    onFrame: callEachFrame,
    pause(postpone) {
      const resumes = games.map((hold) => hold(postpone)).concat(holdConstruct());
      return () => resumes.forEach((resume) => resume());
    },
  });
}
