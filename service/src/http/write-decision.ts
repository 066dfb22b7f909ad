import type { Decision } from '@trueward/protocol/wire';

const known = new WeakMap<object, string>();

/** Most of an answer is its ad, which is the same object in many of them: its text is made once. */
export function writeDecision(decision: Decision): string {
  const { creative, ...own } = decision;
  if (creative === undefined) return JSON.stringify(decision);
  let text = known.get(creative);
  if (text === undefined) known.set(creative, (text = JSON.stringify(creative)));
  return `${JSON.stringify(own).slice(0, -1)},"creative":${text}}`;
}
