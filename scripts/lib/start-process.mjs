import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { readWhole } from './read-whole.mjs';
import { root } from './run.mjs';

const isWindows = process.platform === 'win32';

/** How long a program may take to report that it is ready, in milliseconds. Wine on a busy machine needs longer. */
const startTimeoutMs = 1_000 * readWhole('TRUEWARD_START_TIMEOUT_S', 120, { most: 86_400 });

/**
 * @typedef {object} StartedProcess
 * @property {number} pid
 * @property {Promise<Record<string, any>>} ready Resolves to the `{"ready":true, …}` line that the process prints. Rejects
 * if the process exits before it prints this line.
 * @property {Promise<string>} exited Resolves to the reason why the process exited.
 * @property {() => Promise<void>} stop Asks the process to stop, and kills it after 4 s.
 */

/**
 * Starts a Node program that prints a line to standard output when it is ready. The `concurrently` package can't wait
 * for such a line.
 *
 * @param {string} name
 * @param {string[]} command
 * @param {Record<string, string>} env
 * @param {string} logFile Receives the program's standard error.
 * @returns {StartedProcess}
 */
export function startProcess(name, command, env, logFile) {
  const log = openSync(logFile, 'w');
  const child = spawn(process.execPath, command, {
    cwd: root,
    env: { ...process.env, ...env },
    // Windows has no signal that asks a process to stop, so there it gets a message.
    stdio: isWindows ? ['ignore', 'pipe', log, 'ipc'] : ['ignore', 'pipe', log],
    windowsHide: true,
    // Starts a new process group, so that Ctrl-C reaches only the parent. The parent then stops its child processes.
    detached: !isWindows,
  });
  closeSync(log);
  const exited = new Promise((resolve) => {
    child.once('error', (error) => resolve(`${name} could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      const cause = signal === null ? `exit code ${code}` : signal;
      resolve(`${name} exited (${cause}). Last lines of ${logFile}:\n${readLastLines(logFile)}`);
    });
  });
  return {
    pid: child.pid ?? 0,
    ready: waitForReady(child, name, exited),
    exited,
    async stop() {
      if (isWindows && child.connected) child.send('stop', () => {});
      else child.kill('SIGTERM');
      const killTimer = setTimeout(() => child.kill('SIGKILL'), 4000);
      await exited;
      clearTimeout(killTimer);
    },
  };
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} name
 * @param {Promise<string>} exited
 * @returns {Promise<Record<string, any>>}
 */
function waitForReady(child, name, exited) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`${name} was not ready within ${startTimeoutMs / 1000} s.`));
    }, startTimeoutMs);
    const settle = (/** @type {() => void} */ callback) => {
      clearTimeout(timer);
      callback();
    };
    if (child.stdout !== null) {
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line.startsWith('{"ready":true')) settle(() => resolve(JSON.parse(line)));
      });
    }
    void exited.then((reason) => settle(() => reject(new Error(reason))));
  });
}

/** @param {string} file */
function readLastLines(file) {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-20).join('\n');
}
