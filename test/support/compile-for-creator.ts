import { transformAsync } from '@babel/core';
import presetEnv from '@babel/preset-env';

/**
 * Compiles a module the way Cocos Creator does for old browsers when its _Loose_ option is on. With this option,
 * Creator compiles the game's scripts and npm packages to ES5 with Babel in loose mode.
 */
export async function compileForCreator(code: string): Promise<string> {
  const compiled = await transformAsync(code, {
    configFile: false,
    compact: false,
    presets: [[presetEnv, { loose: true, modules: false, targets: 'ie 11' }]],
  });
  return compiled?.code ?? '';
}
