import { createServer } from 'node:net';

/**
 * The first of these ports that is free on this machine, or else any free one.
 *
 * @param {readonly number[]} wanted
 * @param {readonly number[]} [taken] Ports that were given away but are not open yet.
 * @returns {Promise<number>}
 */
export async function freePort(wanted, taken = []) {
  for (const port of [...wanted, 0]) {
    const free = taken.includes(port) ? undefined : await tryPort(port);
    if (free !== undefined) return free;
  }
  throw new Error('No port is free on 127.0.0.1.');
}

/**
 * @param {number} port
 * @returns {Promise<number | undefined>}
 */
function tryPort(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}
