import { transformAsync } from '@babel/core';
import presetEnv from '@babel/preset-env';

/**
 * Compiles a module as Cocos Creator does for old browsers with its option _Loose_. Creator compiles the game's scripts
 * and npm packages to Babel's loose ES5.
 */
export async function compileForCreator(code: string): Promise<string> {
  const compiled = await transformAsync(code, {
    configFile: false,
    compact: false,
    presets: [[presetEnv, { loose: true, modules: false, targets: 'ie 11' }]],
  });
  return compiled?.code ?? '';
}
