import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { signWebhook } from 'trueward/server';
import { afterAll, describe, expect, test } from 'vitest';
import { transformWithOxc } from 'vite';
import { findRunnableBlock, root } from './code-blocks.ts';

const page = 'docs/webhooks-by-hand.md';
const secret = 'whsec_0123456789abcdefghijklmnopqrstuv';
const body = '{"id":"evt_1","type":"decision.rewarded","data":{"user_ref":"zoë"}}';
const now = Math.floor(Date.now() / 1000);
const folder = mkdtempSync(join(tmpdir(), 'trueward-by-hand-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Attempt {
  timestamp: string;
  signatures: string;
  body: string;
}

async function signAttempt(atS = now, signingSecret = secret): Promise<Attempt> {
  const headers = await signWebhook(body, signingSecret, atS);
  return {
    timestamp: headers['service-timestamp'],
    signatures: headers['service-signature'],
    body,
  };
}

/** Webhooks for the tests. Verification must accept those with `accept: true` and reject all others. */
const genuine = await signAttempt();
const forged = await signAttempt(now, 'whsec_vutsrqponmlkjihgfedcba9876543210');
const attempts: (Attempt & { name: string; accept: boolean })[] = [
  { name: 'a genuine webhook', ...genuine, accept: true },
  {
    name: 'the second of two signatures',
    ...genuine,
    signatures: `${forged.signatures}, ${genuine.signatures}`,
    accept: true,
  },
  { name: 'a changed body', ...genuine, body: body.replace('zoë', 'bob'), accept: false },
  { name: 'another secret', ...forged, accept: false },
  { name: 'an old webhook', ...(await signAttempt(now - 400)), accept: false },
  { name: 'a webhook from the future', ...(await signAttempt(now + 400)), accept: false },
  { name: 'an invalid timestamp', ...genuine, timestamp: 'soon', accept: false },
  { name: 'no signature', ...genuine, signatures: '', accept: false },
];
const expected = attempts.map(({ accept }) => accept);
const listAccepted = (check: (attempt: Attempt) => boolean): boolean[] => attempts.map(check);

test('the Node function accepts only genuine webhooks', async () => {
  const file = join(folder, 'by-hand.mjs');
  writeFileSync(file, findRunnableBlock(page, 'node'));
  const { isGenuine } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
    isGenuine(timestamp: string, signatures: string, body: string, secret: string): boolean;
  };
  const check = (attempt: Attempt) =>
    isGenuine(attempt.timestamp, attempt.signatures, attempt.body, secret);
  expect(listAccepted(check)).toEqual(expected);
});

test('the worker returns 204 for genuine webhooks and 400 for others', async () => {
  const code = findRunnableBlock(page, 'worker').replace(
    "'trueward/server'",
    JSON.stringify(pathToFileURL(join(root, 'dist/server.js')).href),
  );
  const file = join(folder, 'worker.mjs');
  writeFileSync(
    file,
    `const creditOnce = () => {};\n${(await transformWithOxc(code, 'w.ts')).code}`,
  );
  const worker = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
    default: { fetch(request: Request, env: object): Promise<Response> };
  };
  const statuses = attempts.map(async (attempt) => {
    const headers = {
      'service-timestamp': attempt.timestamp,
      'service-signature': attempt.signatures,
    };
    const request = new Request('https://game.example', {
      method: 'POST',
      headers,
      body: attempt.body,
    });
    return (await worker.default.fetch(request, { WEBHOOK_SECRET: secret })).status;
  });
  expect(await Promise.all(statuses)).toEqual(expected.map((accept) => (accept ? 204 : 400)));
});

test('the server that uses the library returns 204 for genuine webhooks and 400 for others', async () => {
  // The library's import resolves only from this folder.
  const file = join(import.meta.dirname, `with-library-${process.pid}.mjs`);
  const code = findRunnableBlock(page, 'standardwebhooks').replace(
    'process.env.WEBHOOK_SECRET',
    JSON.stringify(secret),
  );
  writeFileSync(file, `const creditOnce = () => {};\n${code}`);
  const { server } = (await import(/* @vite-ignore */ pathToFileURL(file).href).finally(() =>
    rmSync(file),
  )) as { server: Server };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const post = async (headers: Record<string, string>, text = body): Promise<number> =>
    (await fetch(url, { method: 'POST', headers, body: text })).status;
  const sign = (atS: number, signingSecret = secret) =>
    signWebhook(body, signingSecret, atS, 'evt_1');
  const headers = await sign(now);
  expect([
    await post(headers),
    await post(headers, body.replace('zoë', 'bob')),
    await post({ ...headers, 'webhook-id': 'evt_2' }),
    await post(await sign(now, 'whsec_vutsrqponmlkjihgfedcba9876543210')),
    await post(await sign(now - 400)),
    await post(await sign(now + 400)),
    await post({}),
  ]).toEqual([204, 400, 400, 400, 400, 400, 400]);
  await new Promise((resolve) => server.close(resolve));
});

/** How to run one language's function as a standalone program. */
interface Language {
  name: string;
  version: string[];
  file: string;
  wrap(code: string): string;
  command(file: string): string[];
}

const toLiteral = (text: string): string => JSON.stringify(text);
const createCalls = (call: (attempt: Attempt) => string): string => attempts.map(call).join('\n');

const languages: Language[] = [
  {
    name: 'python3',
    version: ['python3', '--version'],
    file: 'by_hand.py',
    wrap: (code) =>
      `from __future__ import annotations\n${code}\n${createCalls(
        (attempt) =>
          `print(str(is_genuine(${toLiteral(attempt.timestamp)}, ${toLiteral(attempt.signatures)}, ${toLiteral(attempt.body)}.encode(), ${toLiteral(secret)})).lower())`,
      )}`,
    command: (file) => ['python3', file],
  },
  {
    name: 'php',
    version: ['php', '--version'],
    file: 'by_hand.php',
    wrap: (code) =>
      `${code}\n${createCalls(
        (attempt) =>
          `echo var_export(is_genuine(${toLiteral(attempt.timestamp)}, ${toLiteral(attempt.signatures)}, ${toLiteral(attempt.body)}, ${toLiteral(secret)}), true), "\\n";`,
      )}`,
    command: (file) => ['php', file],
  },
  {
    name: 'ruby',
    version: ['ruby', '--version'],
    file: 'by_hand.rb',
    wrap: (code) =>
      `${code}\n${createCalls(
        (attempt) =>
          `puts genuine?(${toLiteral(attempt.timestamp)}, ${toLiteral(attempt.signatures)}, ${toLiteral(attempt.body)}, ${toLiteral(secret)})`,
      )}`,
    command: (file) => ['ruby', file],
  },
  {
    name: 'go',
    version: ['go', 'version'],
    file: 'by_hand.go',
    wrap: (code) =>
      `${code.replace('package webhook', 'package main')}\nfunc main() {\n${createCalls(
        (attempt) =>
          `println(IsGenuine(${toLiteral(attempt.timestamp)}, ${toLiteral(attempt.signatures)}, []byte(${toLiteral(attempt.body)}), ${toLiteral(secret)}, time.Now()))`,
      )}\n}\n`,
    command: (file) => ['go', 'run', file],
  },
  {
    name: 'java',
    version: ['java', '-version'],
    file: 'ByHand.java',
    wrap: (code) => {
      const [imports = '', declarations = ''] = code.split(/(?=^final class)/m);
      const lines = createCalls(
        (attempt) =>
          `System.out.println(Webhook.isGenuine(${toLiteral(attempt.timestamp)}, ${toLiteral(attempt.signatures)}, ${toLiteral(attempt.body)}.getBytes(StandardCharsets.UTF_8), ${toLiteral(secret)}, System.currentTimeMillis() / 1000));`,
      );
      return `${imports}public class ByHand { public static void main(String[] a) throws Exception {\n${lines}\n} }\n${declarations}`;
    },
    command: (file) => ['java', file],
  },
];

const isInstalled = ([program = '', ...args]: string[]): boolean =>
  spawnSync(program, args).status === 0;

describe.each(languages)('$name', ({ name, version, file, wrap, command }) => {
  test.skipIf(!isInstalled(version))('accepts only genuine webhooks', () => {
    const path = join(folder, file);
    writeFileSync(path, wrap(findRunnableBlock(page, name)));
    const [program = '', ...args] = command(path);
    // Go’s `println` writes to standard error.
    const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: folder });
    const outputLines = (name === 'go' ? stderr : stdout).trim().split('\n');
    expect(outputLines, stderr).toEqual(expected.map(String));
  });
});
