import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';

const question = `Will the game have its own server?
  1  with a server, which credits what players earn
  2  without a server: the ad service keeps what players earn, and the game
     can be put on any static host, such as itch.io or GitHub Pages
1 or 2 (1): `;

/**
 * Asks until the answer is valid.
 *
 * @param {NodeJS.ReadableStream} input
 * @param {NodeJS.WritableStream} output
 * @returns {Promise<boolean>} Whether the game has a server.
 * @throws Error if the input ends, for example after Ctrl-D.
 */
export async function askForServer(input, output) {
  const reader = createInterface({ input, output });
  const end = once(reader, 'close').then(() => Promise.reject(new Error('There is no answer.')));
  try {
    for (let prompt = question; ; prompt = 'Type 1 or 2: ') {
      const answer = (await Promise.race([reader.question(prompt), end])).trim();
      if (['', '1', '2'].includes(answer)) return answer !== '2';
    }
  } catch (cause) {
    throw new Error('Nothing was created. To skip the question, pass --server or --no-server.', {
      cause,
    });
  } finally {
    end.catch(() => {});
    reader.close();
  }
}
