import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const program = join(import.meta.dirname, '../../service/dist/main.js');
const run = promisify(execFile);

/** Generates the command-line reference page from each command's `--help` output. */
export async function renderCommandLinePage(): Promise<string> {
  const overview = await readHelp();
  const [, list = ''] = /\nCommands\n(.*?)\n\n/s.exec(overview) ?? [];
  const names = list.split('\n').map((line) => line.trim().split(/ {2,}/)[0] ?? '');
  const helpTexts = await Promise.all(names.map((name) => readHelp(...name.split(' '))));
  const commands = names.map(
    (name, index) => `## ${name}\n\n${formatCodeBlock(helpTexts[index] ?? '')}`,
  );
  return `# Command line reference\n\nThis page shows the \`--help\` output of every command. For an introduction, see [Command line](../cli.md).\n\n${formatCodeBlock(overview)}\n${commands.join('\n')}`;
}

async function readHelp(...words: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [program, ...words, '--help']);
  return stdout;
}

const formatCodeBlock = (text: string): string => `\`\`\`text\n${text.trim()}\n\`\`\`\n`;
