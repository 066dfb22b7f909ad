#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { findDevFile, readDevFile } from './lib/dev-file.js';
import { makeProject } from './lib/make-project.js';
import { help, readArguments } from './lib/read-arguments.js';

try {
  const { devFile, directory, wantsHelp } = readArguments(process.argv.slice(2));
  if (wantsHelp) {
    console.log(help);
  } else {
    const file = devFile ?? findDevFile(process.cwd());
    const service = file === undefined ? undefined : readDevFile(file);
    makeProject(directory, service);
    console.log(nextSteps(relative('', directory), service));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/**
 * @param {string} directory
 * @param {import('./lib/dev-file.js').Service | undefined} service
 */
function nextSteps(directory, service) {
  const keys =
    service === undefined
      ? 'Fill in your ad service’s URL and sandbox keys in .env. Then:'
      : `It uses the ad service at ${service.serviceUrl}. Next:`;
  return `Created a game in ${directory}. ${keys}

  cd ${/\s/.test(directory) ? JSON.stringify(directory) : directory}
  ${getInstallCommand(directory)}
  npm start      starts the game and its server on http://127.0.0.1:5173
  npm test       tests that coins are credited once, and only for signed webhooks`;
}

/**
 * Returns the command that installs the game's packages. `trueward` is not on npm yet, so in a clone of the repository,
 * the command installs the package that was built there.
 *
 * @param {string} directory
 */
function getInstallCommand(directory) {
  const clone = join(import.meta.dirname, '..');
  if (!existsSync(join(clone, 'src', 'create-ads.ts'))) return 'npm install';
  const path = relative(directory, clone);
  return `npm install ${/\s/.test(path) ? JSON.stringify(path) : path}`;
}
