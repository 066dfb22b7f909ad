import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { root } from './run.mjs';

const readyWithinMs = 120_000;

/**
 * @typedef {object} Started
 * @property {number} pid
 * @property {Promise<Record<string, any>>} ready What its line `{"ready":true, …}` said.
 * @property {Promise<string>} ended Why it ended; settles once.
 * @property {() => Promise<void>} stop SIGTERM, and SIGKILL when that was not enough within 4 s.
 */

/**
 * Starts a Node program that says on its standard output when it is ready.
 *
 * @param {string} name
 * @param {string[]} command
 * @param {Record<string, string>} env
 * @param {string} logFile Takes its standard error.
 * @returns {Started}
 */
export function startProcess(name, command, env, logFile) {
  const log = openSync(logFile, 'w');
  const child = spawn(process.execPath, command, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', log],
    // Ctrl-C reaches a whole process group; the order in which things end is decided here.
    detached: process.platform !== 'win32',
  });
  closeSync(log);
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(`${name} could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      const how = signal === null ? `exit code ${code}` : signal;
      resolve(`${name} ended (${how}). The end of ${logFile}:\n${lastLines(logFile)}`);
    });
  });
  return {
    pid: child.pid ?? 0,
    ready: readyLine(child, name, ended),
    ended,
    async stop() {
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), 4000);
      await ended;
      clearTimeout(kill);
    },
  };
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} name
 * @param {Promise<string>} ended
 * @returns {Promise<Record<string, any>>}
 */
function readyLine(child, name, ended) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`${name} was not ready within ${readyWithinMs / 1000} s.`));
    }, readyWithinMs);
    const settle = (/** @type {() => void} */ then) => {
      clearTimeout(timer);
      then();
    };
    if (child.stdout !== null) {
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line.startsWith('{"ready":true')) settle(() => resolve(JSON.parse(line)));
      });
    }
    void ended.then((reason) => settle(() => reject(new Error(reason))));
  });
}

/** @param {string} file */
function lastLines(file) {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-20).join('\n');
}
