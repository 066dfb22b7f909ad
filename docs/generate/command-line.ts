import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const program = join(import.meta.dirname, '../../service/dist/main.js');
const run = promisify(execFile);

/** Generates the command-line page from the `--help` output of every command. */
export async function readCommandLine(): Promise<string> {
  const overview = await help();
  const [, list = ''] = /\nCommands\n(.*?)\n\n/s.exec(overview) ?? [];
  const names = list.split('\n').map((line) => line.trim().split(/ {2,}/)[0] ?? '');
  const helps = await Promise.all(names.map((name) => help(...name.split(' '))));
  const commands = names.map((name, index) => `## ${name}\n\n${fenced(helps[index] ?? '')}`);
  return `# Command line reference\n\nThe output of \`--help\`. For an introduction, see [Command line](../cli.md).\n\n${fenced(overview)}\n${commands.join('\n')}`;
}

async function help(...words: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [program, ...words, '--help']);
  return stdout;
}

const fenced = (text: string): string => `\`\`\`text\n${text.trim()}\n\`\`\`\n`;
