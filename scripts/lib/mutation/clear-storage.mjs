/**
 * A setup file for the browser tests: deletes what the run before has stored. The browser stays open from mutant to mutant,
 * and what a test finds would fail it whether or not the mutant is noticed.
 */
import { beforeAll } from 'vitest';

beforeAll(async () => {
  localStorage.clear();
  sessionStorage.clear();
  const databases = await indexedDB.databases();
  await Promise.all(databases.map(({ name = '' }) => deleteDatabase(name)));
});

/** @param {string} name */
const deleteDatabase = (name) =>
  new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name);
    request.addEventListener('success', () => resolve(undefined));
    request.addEventListener('error', () => reject(request.error));
  });
