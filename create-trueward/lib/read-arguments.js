import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const help = `npm create trueward [folder] [-- --dev-file FILE]

Makes a Phaser game with rewarded ads, and the game server that credits them, in a
new folder (default: trueward-game).

  --dev-file FILE   the dev.json that \`npm start\` of Trueward's repository writes:
                    the game then uses that service. Default: .trueward/dev.json
                    here or in a folder above, where there is one.
  --help            says this.`;

/**
 * @param {string[]} list
 * @returns {{ wantsHelp: boolean, directory: string, devFile?: string }}
 * @throws Error that says which argument is invalid.
 */
export function readArguments(list) {
  const { positionals, values } = parse(list);
  if (positionals.length > 1) {
    throw new Error(`Expected one folder, got ${positionals.join(' ')}. See --help.`);
  }
  return {
    wantsHelp: values.help === true,
    directory: resolve(positionals[0] ?? 'trueward-game'),
    ...(values['dev-file'] === undefined ? {} : { devFile: resolve(values['dev-file']) }),
  };
}

/** @param {string[]} args */
function parse(args) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { 'dev-file': { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\nSee --help.`, {
      cause: error,
    });
  }
}
