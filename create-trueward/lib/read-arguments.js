import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const help = `npm create trueward [folder] [-- --server | --no-server] [--dev-file FILE]

Creates a Phaser game with rewarded ads in a new folder (default:
trueward-game).

  --server          with a game server, which credits what players earn.
  --no-server       without a server: the ad service keeps what players earn,
                    and the game can be put on any static host. Without
                    either option, asks or, if nobody can answer, creates a
                    server.
  --dev-file FILE   use the service that wrote this file: \`npm start\` in
                    Trueward's repository writes dev.json. Default:
                    .trueward/dev.json in this folder or a parent, if any.
  --help            show this help.`;

/**
 * @param {string[]} args
 * @returns {{ wantsHelp: boolean, directory: string, hasServer?: boolean, devFile?: string }}
 * @throws Error that says which argument is invalid.
 */
export function readArguments(args) {
  const { positionals, values } = parse(args);
  if (positionals.length > 1) {
    throw new Error(`Expected one folder, received ${positionals.join(' ')}. See --help.`);
  }
  return {
    wantsHelp: values.help === true,
    directory: resolve(positionals[0] ?? 'trueward-game'),
    ...(values.server === undefined ? {} : { hasServer: values.server }),
    ...(values['dev-file'] === undefined ? {} : { devFile: resolve(values['dev-file']) }),
  };
}

/** @param {string[]} args */
function parse(args) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      allowNegative: true,
      options: {
        'dev-file': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
        server: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\nSee --help.`, {
      cause: error,
    });
  }
}
