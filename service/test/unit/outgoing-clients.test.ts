import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { guardedClients, operatorClients } from '../outgoing-clients.ts';

// Finds the files that can open a connection, so that a new client can't be forgotten in the tests of inside addresses.

const folder = fileURLToPath(new URL('../../src/', import.meta.url));
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replaceAll('\\', '/'))
  .toSorted();
const read = (file: string): string => readFileSync(`${folder}${file}`, 'utf8');

/** Packages that open connections. */
const connecting = ['aws4fetch', 'openid-client', '@opentelemetry/exporter-trace-otlp-http', 'pg'];
/** Packages that open none, or only accept them. */
const others = [
  '@electric-sql/pglite',
  '@fastify/proxy-addr',
  '@fastify/static',
  '@fastify/swagger',
  '@opentelemetry/api',
  '@opentelemetry/context-async-hooks',
  '@opentelemetry/core',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
  '@zxcvbn-ts/core',
  '@zxcvbn-ts/language-common',
  'ajv',
  'ajv-formats',
  'fastify',
  'file-type',
  'image-size',
  'ipaddr.js',
  'jose',
  'mediabunny',
  'otpauth',
  'pino',
  'prom-client',
  'saxes',
];

/** The names that a module's code imports from a package as values. */
const importsValue = (code: string, name: string): string[] =>
  [...code.matchAll(/^(?:import|export) (?!type\b)([^;]*?) from '([^']+)';/gms)]
    .filter(([, , from]) => from === name)
    .flatMap(([, names = '']) => names.replaceAll(/[{}\s]/g, ' ').split(','))
    .map((imported) => imported.trim())
    .filter((imported) => imported !== '' && !imported.startsWith('type '));

/** What these modules have that accepts connections, or opens none. */
const harmless = /^(?:createServer|STATUS_CODES|isIP|isIPv4|isIPv6|TLSSocket)$/;
const networkModules = ['http', 'https', 'http2', 'net', 'tls', 'dgram', 'dns', 'dns/promises'];

/** Whether a module's code can open a connection. */
function canConnect(code: string): boolean {
  const fromNode = networkModules.flatMap((name) => [
    ...importsValue(code, name),
    ...importsValue(code, `node:${name}`),
  ]);
  const names = ['undici', ...connecting];
  return (
    fromNode.some((name) => !harmless.test(name)) ||
    names.some((name) => importsValue(code, name).length > 0) ||
    names.some((name) => code.includes(`import('${name}')`)) ||
    /(?<![.\w#'`])(?:globalThis\.)?fetch\((?!\w+: )|new (?:WebSocket|EventSource)\(/.test(code) ||
    importsValue(code, 'jose').includes('createRemoteJWKSet') ||
    importsValue(code, 'mediabunny').includes('UrlSource') ||
    importsValue(code, '../../platform/bounded-request.ts').includes('requestBounded') ||
    importsValue(code, '../platform/bounded-request.ts').includes('requestBounded')
  );
}

/** The guard itself. */
const guard = ['platform/guarded-agent.ts'];

test('every file that can open a connection is known, with who chooses the address', () => {
  const found = files.filter((file) => !guard.includes(file) && canConnect(read(file)));
  const known = [...Object.keys(guardedClients), ...Object.keys(operatorClients)];
  expect(found).toEqual(known.toSorted());
});

test.each([
  [`import { request } from 'node:http';`, true],
  [`import { type IncomingMessage, createServer } from 'node:http';`, false],
  [`import type { Socket } from 'node:net';`, false],
  [`import {\n  connect,\n} from 'node:tls';`, true],
  [`import * as net from 'node:net';`, true],
  [`import { resolve4 } from 'node:dns/promises';`, true],
  [`import { Pool } from 'undici';`, true],
  [`const { Client } = await import('pg');`, true],
  [`const a = await fetch(url);`, true],
  [`const a = globalThis.fetch(url);`, true],
  [`const a = await source.fetch(url);`, false],
  [`import { requestBounded } from '../platform/bounded-request.ts';`, true],
  [`import { errors, createRemoteJWKSet } from 'jose';`, true],
])('whether code can open a connection: %s', (code, expected) => {
  expect(canConnect(code)).toBe(expected);
});

test('it is known of every dependency whether it opens connections', () => {
  const { dependencies } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as { dependencies: Record<string, string> };
  expect(Object.keys(dependencies).toSorted()).toEqual([...connecting, ...others].toSorted());
});
