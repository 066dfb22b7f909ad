import { OptionError } from '../options.ts';

/** What the adapter uses, as paths from the `cc` module. Cocos Creator 2 lacks some of them. */
const needs: Record<string, string> = {
  'game.on': 'function',
  'game.pause': 'function',
  'game.resume': 'function',
  'game.isPaused': 'function',
  'Game.EVENT_SHOW': 'string',
  'director.on': 'function',
  'director.isPaused': 'function',
  'Director.EVENT_BEGIN_FRAME': 'string',
  'Director.EVENT_AFTER_UPDATE': 'string',
};

/**
 * Checks that this is the module of a supported engine.
 *
 * @throws OptionError that names the received and the supported versions.
 */
export function checkEngine(cc: unknown): void {
  const missing = Object.entries(needs).find(([path, type]) => typeof read(cc, path) !== type);
  if (missing === undefined) return;
  const version = read(cc, 'VERSION') ?? read(cc, 'ENGINE_VERSION');
  const received =
    typeof version === 'string' ? `version ${version}` : `a module without \`${missing[0]}\``;
  throw new OptionError(
    'option_invalid',
    `the adapter for Cocos Creator supports versions 3.8 and 4, and received ${received}. ` +
      'Pass the whole module (`import * as cc from "cc"`), or use another version with a driver of your own (docs/engine-driver.md).',
  );
}

function read(object: unknown, path: string): unknown {
  let value = object;
  for (const name of path.split('.'))
    value = (value as Record<string, unknown> | null | undefined)?.[name];
  return value;
}
