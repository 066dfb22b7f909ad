import type { AuditEntry, Placement } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import { password } from './panel-client.ts';
import { PanelSetup, summarize } from './panel-setup.ts';

const panel = new PanelSetup();
const { openBrowser, signInAs } = panel;

test("the audit log names the session's user", async () => {
  const list = await panel.owner.send<{ data: Placement[] }>('GET', '/v1/placements');
  expect([list.status, list.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const [placement] = list.body.data;
  await panel.owner.send('PATCH', `/v1/placements/${placement?.id}`, { status: 'paused' });
  const entries = await panel.owner.send<{ data: AuditEntry[] }>('GET', '/v1/audit-entries');
  expect(entries.body.data[0]).toMatchObject({
    actor: 'owner@example.com',
    action: 'placement.updated',
    target_id: placement?.id,
  });
});

test('the audit log has every change to a user', async () => {
  const person = { email: 'audited@example.com', name: 'Audited', role: 'viewer' };
  const { body } = await panel.owner.send<{ id: string }>('POST', '/panel/api/users', person);
  const path = `/panel/api/users/${body.id}`;
  const responses = [
    await panel.owner.send('PATCH', path, { role: 'operator' }),
    await panel.owner.send('POST', `${path}/link`, {}),
    await panel.owner.send('DELETE', path),
  ];
  expect(responses.map(({ status }) => status < 300)).toEqual([true, true, true]);
  const entries = await panel.owner.send<{ data: AuditEntry[] }>(
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
  const client = await signInAs('operator');
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
  const secondOwner = await signInAs('owner');
  const patch = (id: string, body: object, headers = {}) =>
    panel.owner.send('PATCH', `/panel/api/users/${id}`, body, headers);
  expect((await patch(secondOwner.id, { role: 'viewer' }, { 'if-match': '"99"' })).status).toBe(
    412,
  );
  expect((await patch(secondOwner.id, { role: 'viewer' })).status).toBe(200);
  expect(summarize(await secondOwner.send('GET', '/panel/api/users'))).toEqual([
    403,
    'role_not_permitted',
  ]);
  const { body } = await panel.owner.send<{ user: { id: string } }>('GET', '/panel/api/session');
  expect(summarize(await patch(body.user.id, { role: 'viewer' }))).toEqual([409, 'conflict']);
  const remove = (id: string) => panel.owner.send('DELETE', `/panel/api/users/${id}`);
  expect(summarize(await remove(body.user.id))).toEqual([409, 'conflict']);
  expect((await remove(secondOwner.id)).status).toBe(204);
  expect((await secondOwner.send('GET', '/panel/api/session')).status).toBe(401);
});
