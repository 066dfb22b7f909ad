import { expect, test, vi } from 'vitest';
import { printLine, printMessage, printResult } from '../../src/program/cli/command.ts';

/** Sequences that change the title, copy to the clipboard, clear the screen, turn text around or start a line. */
const hostile = [
  '\u001b]0;title\u0007',
  '\u001b]52;c;ZXZpbA==\u0007',
  '\u009b2J',
  '\r\u0008',
  '\u202egnp.exe',
  '\u2028ok   all is well',
  '\u{e0041}',
  '\ud83d',
].join('|');

test('no output of the command line contains control characters of foreign text', () => {
  let output = '';
  const write = (text: string | Uint8Array): boolean => ((output += String(text)), true);
  vi.spyOn(process.stdout, 'write').mockImplementation(write);
  vi.spyOn(process.stderr, 'write').mockImplementation(write);
  printLine(`ok   the source ${hostile}\nok   a forged line`);
  printMessage(`evt_1 → ${hostile}`);
  printResult({ name: hostile });
  vi.restoreAllMocks();
  expect(output).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
  expect(output.split('\n')).toHaveLength(4);
  // The JSON still means the same.
  expect(JSON.parse(output.split('\n')[2] ?? '')).toEqual({ name: hostile });
});

test('text that is not foreign stays as it is', () => {
  const text = 'Größe → 日本語 \u{1f600}';
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  printLine(text);
  expect(write.mock.calls).toEqual([[`${text}\n`]]);
  write.mockRestore();
});
