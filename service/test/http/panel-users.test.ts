import type { AuditEntry, Placement } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import {
  createPanelClient,
  password,
  type PanelClient,
  signInAs,
  signInOwner,
} from './panel-client.ts';

let runningService: InProcessService;
let owner: PanelClient;
beforeAll(async () => {
  runningService = await startInProcess({ RATE_LIMITS: 'off' });
  owner = await signInOwner(runningService);
});
afterAll(() => runningService.stop());

const openBrowser = () => createPanelClient(runningService.url);
const summarize = ({ status, body }: { status: number; body?: { code?: string } }) => [
  status,
  body?.code,
];

test("the audit log names the session's user", async () => {
  const list = await owner.send<{ data: Placement[] }>('GET', '/v1/placements');
  expect([list.status, list.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const [placement] = list.body.data;
  await owner.send('PATCH', `/v1/placements/${placement?.id}`, { status: 'paused' });
  const entries = await owner.send<{ data: AuditEntry[] }>('GET', '/v1/audit-entries');
  expect(entries.body.data[0]).toMatchObject({
    actor: 'owner@example.com',
    action: 'placement.updated',
    target_id: placement?.id,
  });
});

test('the audit log has every change to a user', async () => {
  const person = { email: 'audited@example.com', name: 'Audited', role: 'viewer' };
  const { body } = await owner.send<{ id: string }>('POST', '/panel/api/users', person);
  const path = `/panel/api/users/${body.id}`;
  const responses = [
    await owner.send('PATCH', path, { role: 'operator' }),
    await owner.send('POST', `${path}/link`, {}),
    await owner.send('DELETE', path),
  ];
  expect(responses.map(({ status }) => status < 300)).toEqual([true, true, true]);
  const entries = await owner.send<{ data: AuditEntry[] }>(
    'GET',
    `/v1/audit-entries?target_id=${body.id}`,
    undefined,
    { 'trueward-environment': 'live' },
  );
  expect(entries.body.data.map(({ action }) => action).toSorted()).toEqual([
    'user.invited',
    'user.link_made',
    'user.removed',
    'user.updated',
  ]);
});

test('changing the password requires the old password and ends all other sessions', async () => {
  const client = await signInAs(runningService, owner, 'operator');
  const { body } = await client.send<{ user: { email: string } }>('GET', '/panel/api/session');
  const otherSession = openBrowser();
  await otherSession.signIn(body.user.email);
  const change = (currentPassword: string, newPassword: string) =>
    client.send('POST', '/panel/api/account/password', {
      current: currentPassword,
      next: newPassword,
    });
  expect(summarize(await change('a guess', 'another long password'))).toEqual([
    422,
    'invalid_request',
  ]);
  expect(summarize(await change(password, 'short'))).toEqual([422, 'invalid_request']);
  expect((await change(password, 'another long password')).status).toBe(200);
  expect((await otherSession.send('GET', '/panel/api/session')).status).toBe(401);
  expect((await client.send('GET', '/panel/api/session')).status).toBe(200);
  expect((await openBrowser().signIn(body.user.email)).status).toBe(401);
});

test('changes to users apply immediately, and the last owner cannot be removed', async () => {
  const secondOwner = await signInAs(runningService, owner, 'owner');
  const patch = (id: string, body: object, headers = {}) =>
    owner.send('PATCH', `/panel/api/users/${id}`, body, headers);
  expect((await patch(secondOwner.id, { role: 'viewer' }, { 'if-match': '"99"' })).status).toBe(
    412,
  );
  expect((await patch(secondOwner.id, { role: 'viewer' })).status).toBe(200);
  expect(summarize(await secondOwner.send('GET', '/panel/api/users'))).toEqual([
    403,
    'role_not_permitted',
  ]);
  const { body } = await owner.send<{ user: { id: string } }>('GET', '/panel/api/session');
  expect(summarize(await patch(body.user.id, { role: 'viewer' }))).toEqual([409, 'conflict']);
  const remove = (id: string) => owner.send('DELETE', `/panel/api/users/${id}`);
  expect(summarize(await remove(body.user.id))).toEqual([409, 'conflict']);
  expect((await remove(secondOwner.id)).status).toBe(204);
  expect((await secondOwner.send('GET', '/panel/api/session')).status).toBe(401);
});
