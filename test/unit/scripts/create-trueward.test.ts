import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { askForServer } from '../../../create-trueward/lib/ask-for-server.js';

const root = join(import.meta.dirname, '..', '..', '..');

/** Creates a game without a dev file, and returns its folder and the command's output. */
function create(...options: string[]): { game: string; output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-starter-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const game = join(folder, 'my-game');
  const output = execFileSync(
    process.execPath,
    [join(root, 'create-trueward/index.js'), game, ...options],
    { encoding: 'utf8', cwd: folder },
  );
  return { game, output };
}
const readGame = (game: string, file: string): string => readFileSync(join(game, file), 'utf8');

test('in a clone, create-trueward prints how to install the clone’s package', () => {
  const { game, output } = create();
  expect(output).toContain(`\n  npm install ${relative(game, root)}\n`);
});

test.each([['--server'], []])('creates a game server with the options %j', (...options) => {
  const { game, output } = create(...options);
  expect(readdirSync(game)).toContain('server');
  expect(readGame(game, '.env')).toContain('SECRET_KEY=');
  expect(output).toContain('npm test');
});

test('without a server, creates at most 120 lines of game code and asks for no secret key', () => {
  const { game, output } = create('--no-server');
  expect(readdirSync(game)).not.toContain('server');
  expect(readGame(game, '.env')).not.toMatch(/secret_key/i);
  expect(output).toContain('npm run build');
  const lines = readdirSync(join(game, 'src')).flatMap((file) =>
    readGame(game, `src/${file}`).trimEnd().split('\n'),
  );
  expect(lines.length).toBeLessThanOrEqual(120);
});

test.each([
  ['1\n', true],
  ['\n', true],
  ['2\n', false],
  ['three\n 2 \n', false],
])('the answer %j to the question about a server means %j', async (typed, hasServer) => {
  const input = new PassThrough();
  const answer = askForServer(input, new PassThrough());
  for (const line of typed.match(/.*\n/g) ?? []) {
    await new Promise(setImmediate);
    input.write(line);
  }
  expect(await answer).toBe(hasServer);
});

test('without an answer to the question about a server, says how to skip it', async () => {
  const input = new PassThrough();
  const answer = askForServer(input, new PassThrough());
  input.end();
  await expect(answer).rejects.toThrow('--no-server');
});
