import { listen } from '../../platform/native.ts';

type Globals = Record<string, unknown>;

/** Returns a global variable of the page, such as a portal's SDK. */
export const findGlobal = <Sdk>(name: string): Sdk | undefined =>
  (globalThis as Globals)[name] as Sdk | undefined;

/**
 * Loads a portal's script, unless the page has done so, and returns the variable that it defines.
 *
 * @throws Error if the script is blocked or can't be reached.
 */
export async function loadScript<Sdk>(url: string, name: string): Promise<Sdk> {
  if (findGlobal(name) === undefined) await waitForTag(url);
  if (findGlobal(name) === undefined)
    await new Promise<void>((resolve, reject) => {
      const script = document.createElement('script');
      const fail = (): void => {
        // The next attempt adds another one.
        script.remove();
        reject(new Error(`${url} could not be loaded.`));
      };
      listen(script, 'load', () => resolve());
      listen(script, 'error', fail);
      script.src = url;
      document.head.append(script);
    });
  return requireGlobal(name, `Expected ${url} to define it.`);
}

/**
 * Waits until the page's own tag has ended, if it has one: a portal's SDK that is loaded twice is another one than the one
 * that the game uses. Once the page has loaded, nothing tells a tag that goes on loading from one that has failed.
 */
async function waitForTag(url: string): Promise<void> {
  const { href } = new URL(url, document.baseURI);
  const tag = Array.from(document.querySelectorAll('script')).find(
    ({ src }) => /^[^?#]*/.exec(src)?.[0] === href,
  );
  if (!tag || document.readyState === 'complete') return;
  let stops: (() => void)[] = [];
  await new Promise<void>((resolve) => {
    const end = (): void => resolve();
    stops = [listen(tag, 'load', end), listen(tag, 'error', end), listen(window, 'load', end)];
  });
  for (const stop of stops) stop();
}

/** @throws Error with `advice` if the page has no such variable. */
export function requireGlobal<Sdk>(name: string, advice: string): Sdk {
  const sdk = findGlobal<Sdk>(name);
  if (sdk === undefined) throw new Error(`\`${name}\` is not defined. ${advice}`);
  return sdk;
}
