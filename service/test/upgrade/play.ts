import { setTimeout as sleep } from 'node:timers/promises';

/** A request that a client of the previous release sends, and the response to it. */
export interface Step {
  method: 'GET' | 'POST';
  path: string;
  /** May contain the placeholders `$now`, `$id` (the decision's id) and `$token` (the decision's token). */
  body?: unknown;
  /** How long the player watches before this request. The service's clock advances by this much. */
  afterMs?: number;
  status?: number;
  answer?: unknown;
}

interface PlayTarget {
  url: string;
  key: string;
  nowMs(): number;
  advance?(ms: number): void;
}

/** Sends the requests in sequence. Returns the steps with their responses. */
export async function play(steps: readonly Step[], target: PlayTarget): Promise<Step[]> {
  const { url, key, nowMs, advance } = target;
  let [id, token] = ['', ''];
  const fill = (text: string): string =>
    text
      .replaceAll('$now', new Date(nowMs()).toISOString())
      .replaceAll('$id', id)
      .replaceAll('$token', token);
  const playedSteps: Step[] = [];
  for (const step of steps) {
    if (step.afterMs !== undefined) await (advance?.(step.afterMs) ?? sleep(step.afterMs));
    const response = await fetch(url + fill(step.path), {
      method: step.method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(token === '' ? {} : { 'decision-token': token }),
        ...(step.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(step.body === undefined ? {} : { body: fill(JSON.stringify(step.body)) }),
    });
    const body = (await response.json()) as { id?: string; token?: string };
    id = body.id ?? id;
    token = body.token ?? token;
    playedSteps.push({ ...step, status: response.status, answer: body });
  }
  return playedSteps;
}

const createEvent = (number: number, type: string, overrides: object = {}) => ({
  id: `recorded-${number}`,
  type,
  decision_id: '$id',
  token: '$token',
  occurred_at: '$now',
  ...overrides,
});

/** The requests for one ad and its reward. They cover all data that a client of the previous release sends. */
export const steps: readonly Step[] = [
  {
    method: 'POST',
    path: '/v1/decisions',
    body: {
      placement: 'revive',
      user_ref: 'zoe ~ "42"',
      formats: ['image'],
      viewport: { width: 1280, height: 720 },
      locale: 'de_DE',
      consent: { status: 'granted', tcf_string: 'CPokAsAPokAsA' },
      segments: ['new'],
      custom_data: '{"level":3}',
    },
  },
  {
    method: 'POST',
    path: '/v1/events',
    body: { sent_at: '$now', events: [createEvent(1, 'start')], dropped: { full: 1 } },
  },
  {
    method: 'POST',
    path: '/v1/events',
    afterMs: 5_100,
    body: {
      sent_at: '$now',
      events: [
        createEvent(2, 'impression', { visible: { ratio: 1, ms: 1_000 }, watched_ms: 1_000 }),
        createEvent(3, 'viewable', { visible: { ratio: 1, ms: 2_000 }, watched_ms: 2_000 }),
        createEvent(4, 'first_quartile', { watched_ms: 1_250 }),
        createEvent(5, 'midpoint', { watched_ms: 2_500 }),
        createEvent(6, 'third_quartile', { watched_ms: 3_750 }),
        createEvent(7, 'complete', { watched_ms: 5_000 }),
        createEvent(8, 'close', { detail: 'done' }),
      ],
    },
  },
  { method: 'GET', path: '/v1/decisions/$id?wait_s=1' },
];
