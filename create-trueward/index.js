#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { askForServer } from './lib/ask-for-server.js';
import { findDevFile, readDevFile } from './lib/dev-file.js';
import { makeProject } from './lib/make-project.js';
import { help, readArguments } from './lib/read-arguments.js';

try {
  const { devFile, directory, wantsHelp, ...answers } = readArguments(process.argv.slice(2));
  if (wantsHelp) {
    console.log(help);
  } else {
    const file = devFile ?? findDevFile(process.cwd());
    const service = file === undefined ? undefined : readDevFile(file);
    const { stdin, stdout } = process;
    const canAsk = stdin.isTTY && stdout.isTTY;
    const hasServer = answers.hasServer ?? (canAsk ? await askForServer(stdin, stdout) : true);
    makeProject(directory, hasServer, service);
    console.log(nextSteps(relative('', directory), hasServer, service));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/**
 * @param {string} directory
 * @param {boolean} hasServer
 * @param {import('./lib/dev-file.js').Service | undefined} service
 */
function nextSteps(directory, hasServer, service) {
  const keys =
    service === undefined
      ? `Fill in your ad service’s URL and sandbox ${hasServer ? 'keys' : 'key'} in .env. Then:`
      : `It uses the ad service at ${service.serviceUrl}. Next:`;
  const commands = hasServer
    ? `npm start      starts the game and its server on http://127.0.0.1:5173
  npm test       tests that coins are credited once, and only for signed webhooks`
    : `npm start      starts the game on http://127.0.0.1:5173
  npm run build  writes the game’s files to dist, for any static host`;
  return `Created a game in ${directory}. ${keys}

  cd ${/\s/.test(directory) ? JSON.stringify(directory) : directory}
  ${getInstallCommand(directory)}
  ${commands}`;
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
