import { expect, test } from 'vitest';
import { isMisplaced } from '../../src/access/misplaced-key.ts';

const publicSites = [
  'https://game.example',
  'http://game.example:8080',
  'https://8.8.8.8',
  'https://[2606:4700::1111]',
  'https://html-classic.itch.zone',
];
const developmentServers = [
  'http://localhost:5173',
  'https://game.localhost:8443',
  'http://127.0.0.1:3000',
  'http://192.168.1.20:8080',
  'http://[::1]:3000',
  'http://[fd00::1]:3000',
  'http://my-laptop:8080',
  'http://my-laptop.local:8080',
  'https://game.test:8443',
];
/** Pages of apps and files, and what is no origin at all. */
const neither = ['null', '', 'file://', 'capacitor://localhost', 'https://localhost', 'x:', 'app'];

test('a sandbox key is misplaced on public sites, a live key on development servers', () => {
  const misplaced = (environment: 'live' | 'sandbox', origins: string[]) =>
    origins.filter((origin) => isMisplaced(environment, origin));
  expect(misplaced('sandbox', publicSites)).toEqual(publicSites);
  expect(misplaced('live', publicSites)).toEqual([]);
  expect(misplaced('sandbox', developmentServers)).toEqual([]);
  expect(misplaced('live', developmentServers)).toEqual(developmentServers);
  expect([...misplaced('sandbox', neither), ...misplaced('live', neither)]).toEqual([]);
});
