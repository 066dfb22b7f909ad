import { transformAsync } from '@babel/core';
import presetEnv from '@babel/preset-env';

/**
 * Compiles a module like Cocos Creator with its option _Loose_ for old browsers: Babel's loose ES5,
 * for the game's scripts and for npm packages.
 */
export async function compileForCreator(code: string): Promise<string> {
  const compiled = await transformAsync(code, {
    configFile: false,
    compact: false,
    presets: [[presetEnv, { loose: true, modules: false, targets: 'ie 11' }]],
  });
  return compiled?.code ?? '';
}
