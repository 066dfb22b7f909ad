import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const service = (name: string): string => `service/test/http/${name}.test.ts`;
const unit = (name: string): string => `service/test/unit/${name}.test.ts`;
const verifier = 'test/unit/server/webhook.test.ts';

/**
 * The service's interface, line by line, and for each line the test that shows it: a file, and text of the test's title
 * or, for tables, of the case.
 */
const lines: readonly [line: string, file: string, test: string][] = [
  // What the service does.
  [
    'An impression counts once it is verified',
    service('rewards'),
    'a reward is pending until its impression arrives',
  ],
  [
    'A completed rewarded ad earns its reward once',
    service('rewards'),
    'many concurrent completions of a watched ad earn a single reward',
  ],
  [
    'A policy can block a request',
    unit('decide'),
    'that blocks %s blocks it only where its conditions are met',
  ],
  [
    'So can a commercial rule and a brand safety rule',
    service('interface'),
    'a request that a rule of the kind %s blocks is an event',
  ],
  [
    'A creative has an approval status, and only approved ones are shown',
    unit('decide'),
    'an approved ad is served in an active placement',
  ],
  [
    'A kill switch stops a source, an advertiser or a placement',
    service('interface'),
    'a kill switch of a %s stops its ads, and is an event when it is turned on and off',
  ],
  [
    'Sandbox and live are separate',
    service('access'),
    'a decision is not accessible from the other environment',
  ],
  [
    'A key of one environment does not work in the other',
    service('interface'),
    'a key of one environment finds nothing of the other, and changes nothing there',
  ],
  [
    'A reference to the other environment is rejected',
    service('resources'),
    'a reference to an object in the other environment is rejected',
  ],
  // Registering a webhook.
  [
    'A webhook is registered with a secret key, a URL and event types',
    service('interface'),
    'a webhook is registered with a secret key, a URL and event types',
  ],
  [
    'An endpoint gets only the events to which it subscribes',
    service('webhooks'),
    'an endpoint gets only events that it subscribes to, from its own environment',
  ],
  [
    'The URL must be https and public',
    service('responses'),
    'a live webhook cannot be registered for %s',
  ],
  [
    'Unknown event types and fields are rejected',
    service('webhook-operations'),
    'updating a webhook validates the changes',
  ],
  [
    'The webhook secret is shown once',
    service('powers'),
    'a secret is shown once, even if its request is repeated',
  ],
  [
    'The webhook secret can be rotated',
    service('webhook-operations'),
    'every secret is valid while rotations overlap',
  ],
  // Keys.
  [
    'The prefix of a key names its kind and environment',
    service('interface'),
    'a key’s prefix names its kind and environment',
  ],
  [
    'A secret key manages placements, policies, house ads and webhooks',
    service('interface'),
    'a secret key manages %s, and a publishable key does not',
  ],
  [
    'A secret key reads reports',
    service('interface'),
    'a secret key reads reports and requests decisions from a server',
  ],
  [
    'A secret key manages, a publishable key only requests decisions and reports events',
    service('access'),
    'publishable keys cannot manage resources, and secret keys cannot report events',
  ],
  [
    'The authority of every route is stated',
    service('powers'),
    'every route lets exactly those pass that the table names',
  ],
  [
    'A secret key in a web page is rejected',
    service('access'),
    'every route rejects a secret key sent from a web page',
  ],
  [
    'A missing, malformed or unknown key is rejected',
    service('access'),
    'a request with %s is rejected',
  ],
  [
    'A leaked key can be regenerated',
    service('powers'),
    'a leaked key is revoked as soon as it is rolled',
  ],
  [
    'A server requests decisions with a secret key',
    service('powers'),
    'a server that repeats an ad request gets the same decision, for the device that it names',
  ],
  // Delivery and signature.
  [
    'An event is posted as JSON with id, type, created_at, environment and data, and two headers',
    service('interface'),
    'an event is posted as JSON, with a timestamp and a signature of both',
  ],
  [
    'An event names its environment, `sandbox` or `live`',
    service('interface'),
    'an event of %s names it',
  ],
  [
    'The signature covers the timestamp and the raw body',
    verifier,
    'signs the timestamp and the body, joined by a period, with the full secret',
  ],
  [
    'A changed body is rejected',
    verifier,
    'rejects a body in which any byte is changed, removed or added',
  ],
  ['Changed headers are rejected', verifier, 'rejects headers in which any character is changed'],
  [
    'An old timestamp is rejected',
    verifier,
    'limits how far the timestamp may be in the past or the future',
  ],
  [
    'Receivers in other languages verify a delivery',
    service('webhook-verifiers'),
    '%s verifies a delivery only with the new or the old secret',
  ],
  [
    'Any 2xx is a success, and nothing else is',
    unit('webhook-rules'),
    'an endpoint that answers with %s has the event: %s',
  ],
  [
    'A failed delivery is retried',
    service('webhooks'),
    'a failed delivery is retried with a new signature',
  ],
  [
    'Sandbox keys change and read test data only',
    service('authority'),
    'no operation can access an object in another environment or account',
  ],
  [
    'An event may arrive twice, with the same id',
    service('webhook-operations'),
    'redelivering an event creates a new delivery',
  ],
  [
    'A dead process’s deliveries are taken over',
    service('delivery-takeover'),
    'a dead process’s deliveries are taken over when its lease ends, those in progress never',
  ],
  [
    'The intervals between attempts grow',
    unit('webhook-rules'),
    'retries back off with ±20% jitter, up to ten attempts in total',
  ],
  // The five events.
  [
    'decision.rewarded names the decision, the placement, the player and the reward',
    service('interface'),
    'a verified impression and an earned reward are events with the player and the reward',
  ],
  [
    'creative.review_updated is sent when the approval of a creative changes',
    service('interface'),
    'a change of a creative’s approval is an event',
  ],
  [
    'decision.served and decision.rewarded are sent with their change',
    service('rewards'),
    'the live environment stores an impression as a webhook event only if a webhook subscribes to it',
  ],
  [
    'policy.blocked is sent for house ads and outside demand',
    service('external-decisions'),
    'a policy that leaves no ad blocks the request with an event, whoever offers the ad',
  ],
  [
    'creative.review_updated and kill_switch.changed are sent',
    service('resources'),
    'reviews, media changes and kill switches emit webhook events',
  ],
  [
    'kill_switch.changed is also sent when a switch expires',
    service('effective-state'),
    'a kill switch that expires is off everywhere, with one event and one audit record',
  ],
  [
    'Events that were missed can be resent',
    service('webhook-operations'),
    'a webhook disabled by a 410 response can recover missed events',
  ],
  // What the interface leaves open.
  [
    'Errors are problem documents',
    service('door'),
    'no hostile body gets a large answer, or one that is not a problem',
  ],
  [
    'Requests are limited, with Retry-After',
    service('operations'),
    'a flood is rejected with 429 and Retry-After while other clients are served',
  ],
  [
    'Repeating a write with a key is safe',
    service('resources'),
    'concurrent requests with the same Idempotency-Key are executed once',
  ],
  [
    'Every path begins with /v1',
    service('interface'),
    'every path of the interface starts with its major version',
  ],
  [
    'Every path is described',
    service('access'),
    'the OpenAPI document describes every route in the contract, with named schemas',
  ],
];

test.each(lines)('%s', (_line, file, title) => {
  const text = readFileSync(join(root, file), 'utf8');
  expect(text.includes(title), `${file} has no test “${title}”`).toBe(true);
});
