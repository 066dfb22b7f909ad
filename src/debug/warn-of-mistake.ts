import type { Decision, Mistake } from '../../protocol/wire.ts';
import type { ServiceResult } from '../transport/service-client.ts';
import { warnOnce } from '../platform/warn.ts';

/** Something that went wrong, perhaps because of a developer's mistake. */
export type Incident =
  | { type: 'response'; placement: string; serviceUrl: string; response: ServiceResult<Decision> }
  /** A player has earned a reward that no handler receives. */
  | { type: 'unhandledReward' };

/** Writes a typical mistake and its remedy to the console, once. Used with sandbox keys only. */
export function warnOfMistake(incident: Incident): void {
  for (const { name, evidence, remedy, guide } of findMistakes(incident))
    // The figures change with each response.
    warnOnce(`${evidence} ${remedy} (${guide})`, name);
  const message = describeMistake(incident);
  if (message !== undefined) warnOnce(message);
}

/** Returns what the service found in the integration. */
function findMistakes(incident: Incident): readonly Mistake[] {
  if (incident.type !== 'response' || incident.response.kind !== 'ok') return [];
  const { mistakes } = incident.response.body as { mistakes?: unknown };
  return Array.isArray(mistakes) ? mistakes.filter((item) => item instanceof Object) : [];
}

/** Returns the mistake and its remedy in one or two sentences, or `undefined` if there is no mistake. */
export function describeMistake(incident: Incident): string | undefined {
  if (incident.type === 'unhandledReward')
    return "a reward was earned, but no handler receives it. Add one with `ads.on('reward', …)`, unless only your server credits rewards.";
  const { placement, response, serviceUrl } = incident;
  if (response.kind === 'unreachable') {
    const causes = ['network', 'unexpected_response', 'blocked'];
    return causes.includes(response.cause) && globalThis.navigator?.onLine !== false
      ? `no ad service answered at ${serviceUrl} (${response.cause}). Check \`serviceUrl\`, that the service is running, and that no extension blocks it.`
      : undefined;
  }
  if (response.kind !== 'refused') return undefined;
  const { code, detail = '', errors = [] } = response.problem;
  switch (code) {
    case 'placement_not_found':
      return `${detail || `There is no placement ${placement}.`} Placements are listed in the panel.`;
    case 'origin_not_allowed':
      return `${detail} Add ${globalThis.location?.origin} to the key’s allowed origins in the panel.`;
    case 'invalid_request':
      return errors.some(({ pointer }) => pointer === '/user_ref')
        ? `the placement ${placement} needs a player. Pass \`userRef\`, your own id for the player.`
        : undefined;
    default:
      return undefined;
  }
}
