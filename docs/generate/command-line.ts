import { commands } from '../../service/src/program/cli/commands.ts';
import { formatHelp, formatOverview } from '../../service/src/program/cli/command.ts';

/** Generates the command-line reference page from the texts that `--help` prints. */
export function renderCommandLinePage(): string {
  const sections = commands.map(
    (command) => `## ${command.name}\n\n${formatCodeBlock(formatHelp(command))}`,
  );
  return `# Command line reference\n\nThis page shows the \`--help\` output of every command. For an introduction, see [Command line](../cli.md).\n\n${formatCodeBlock(formatOverview(commands))}\n${sections.join('\n')}`;
}

const formatCodeBlock = (text: string): string => `\`\`\`text\n${text.trim()}\n\`\`\`\n`;
