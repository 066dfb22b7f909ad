import { spawn } from 'node:child_process';

/**
 * Opens the address in the user's browser, where there is a screen and nobody asked otherwise.
 *
 * @param {string} url
 */
export function openBrowser(url) {
  const { TRUEWARD_NO_OPEN, CI, DISPLAY, WAYLAND_DISPLAY } = process.env;
  if (TRUEWARD_NO_OPEN === '1' || CI) return;
  const [program = '', ...args] =
    {
      darwin: ['open'],
      win32: ['cmd', '/c', 'start', ''],
      linux: DISPLAY || WAYLAND_DISPLAY ? ['xdg-open'] : [],
    }[/** @type {string} */ (process.platform)] ?? [];
  if (program === '') return;
  const opener = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  opener.once('error', () => console.log(`Could not open a browser; the game is at ${url}`));
  opener.unref();
}
