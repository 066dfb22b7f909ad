import { readFileSync, writeFileSync } from 'node:fs';
import getPort from 'get-port';
import { readWhole } from './read-whole.mjs';

const host = '127.0.0.1';

/** The servers that `npm start` runs, with the ports that they have if nobody chooses others. */
const servers = /** @type {const} */ ([
  { name: 'service', setting: 'TRUEWARD_SERVICE_PORT', defaultPort: 8787 },
  { name: 'gameServer', setting: 'TRUEWARD_GAME_PORT', defaultPort: 8788 },
]);

/**
 * Returns a port for each server: the one that the user has chosen, otherwise the one from the last start, the default or,
 * if those are in use, any free one. Saves the ports for the next start.
 *
 * @param {string} file where the ports of the last start are
 * @param {Record<string, string | undefined>} env
 * @returns {Promise<{ service: number, gameServer: number }>}
 * @throws Error if a chosen port can't be used
 */
export async function choosePorts(file, env) {
  const lastPorts = readPorts(file);
  const ports = { service: 0, gameServer: 0 };
  const chosenPorts = servers.map(({ setting }) =>
    readWhole(setting, undefined, { most: 65_535, what: 'a port', env }),
  );
  for (const [index, { name, setting, defaultPort }] of servers.entries()) {
    const chosen = chosenPorts[index];
    const taken = Object.values(ports);
    if (chosen !== undefined) {
      if (taken.includes(chosen) || (await getPort({ host, port: chosen })) !== chosen)
        throw new Error(
          `Port ${chosen} is in use. Stop the program that uses it, or set ${setting} to another port.`,
        );
      ports[name] = chosen;
    } else {
      // A port that the user has chosen for another server isn't free.
      const exclude = [...taken, ...chosenPorts.filter((port) => port !== undefined)];
      ports[name] = await getPort({ host, port: [lastPorts[name], defaultPort], exclude });
    }
  }
  writeFileSync(file, JSON.stringify(ports));
  return ports;
}

/**
 * @param {string} file
 * @returns {{ service: number, gameServer: number }}
 */
function readPorts(file) {
  const defaultPorts = { service: servers[0].defaultPort, gameServer: servers[1].defaultPort };
  try {
    return { ...defaultPorts, ...JSON.parse(readFileSync(file, 'utf8')) };
  } catch {
    return defaultPorts; // the first start, or the file is incomplete
  }
}
