import type { Decision } from '@trueward/protocol/wire';
import { asciiJson } from '../platform/ascii-json.ts';

/**
 * The JSON of a decision, in ASCII. What most of them have in common is the same object or name in many, and its
 * text is made once; the rest needs no escapes. In the sandbox, and where no ad is shown, it is
 * whatever {@link asciiJson} makes of it.
 */
export function writeDecision(decision: Decision): string {
  const { creative, explain, reward, min_watch_ms: watchMs, close_after_ms: closeMs } = decision;
  if (creative === undefined || explain !== undefined) return asciiJson(decision);
  return (
    `{"id":"${decision.id}","status":"${decision.status}","placement":"${decision.placement}",` +
    `"format":"${decision.format}","issued_at":"${decision.issued_at}",` +
    `"expires_at":"${decision.expires_at}","creative":${textOf(creative)}` +
    (watchMs === undefined ? '' : `,"min_watch_ms":${watchMs}`) +
    (reward === undefined ? '' : `,"reward":${textOf(reward)}`) +
    (closeMs === undefined ? '' : `,"close_after_ms":${closeMs}`) +
    `,"token":"${decision.token}"}`
  );
}

const known = new WeakMap<object, string>();

function textOf(part: object): string {
  let text = known.get(part);
  if (text === undefined) known.set(part, (text = asciiJson(part)));
  return text;
}
