import type { Creative } from '@trueward/protocol/wire';
import { expect, test, vi } from 'vitest';
import {
  IntakeSetup,
  clip,
  meadow,
  pollOptions,
  readVideo,
  type SourceRules,
} from './intake-setup.ts';

const intake = new IntakeSetup();
const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Advances the fake timers by one minute, so that the service checks which file comparisons are due. */
const advanceMinute = (): void => void vi.advanceTimersByTime(minuteMs);
const readDueAtMs = async (creativeId: string): Promise<number | undefined> => {
  const [row] = await intake.runningService.service.database.query<{ due_at: Date }>(
    'SELECT due_at FROM creative_origins WHERE creative_id = $1',
    [creativeId],
  );
  return row?.due_at.getTime();
};
async function createApprovedCreative(path: string, rules?: SourceRules): Promise<Creative> {
  const source = await intake.createSource(rules);
  intake.origin.serve(path, clip);
  intake.submit(source, { url: path });
  const creative = await intake.waitForCreatives(source);
  await intake.review(creative.id, 'approved');
  return creative;
}

test('a creative stays approved while the file at its origin is unchanged', async () => {
  const { id } = await createApprovedCreative('/same.mp4');
  const firstDueAtMs = await readDueAtMs(id);
  advanceMinute();
  intake.clock.advance(dayMs);
  advanceMinute();
  await expect.poll(() => readDueAtMs(id), pollOptions).toBe(intake.clock.nowMs() + dayMs);
  expect(firstDueAtMs).toBe(intake.clock.nowMs());
  expect(intake.countFetches('/same.mp4')).toBe(2);
  expect((await intake.readCreative(id)).review.status).toBe('approved');
});

test('a creative returns to review after its file at the origin has changed', async () => {
  const rules: SourceRules = { review: 'automatic', allowed_domains: ['meadow.example'] };
  const creative = await createApprovedCreative('/swapped.mp4', rules);
  intake.origin.serve('/swapped.mp4', meadow);
  intake.clock.advance(dayMs);
  advanceMinute();
  const readReviewStatus = async () => (await intake.readCreative(creative.id)).review.status;
  await expect.poll(readReviewStatus, pollOptions).toBe('pending_review');
  const updatedCreative = await intake.readCreative(creative.id);
  expect(updatedCreative.review).toMatchObject({
    reason_code: 'origin_changed',
    feedback: 'The source replaced the file after it was approved.',
  });
  expect(readVideo(updatedCreative).duration_ms).toBe(12_000);
  expect((await intake.download(readVideo(updatedCreative).files[0]?.url)).equals(meadow)).toBe(
    true,
  );
  // The approved version is kept for comparison.
  const [auditEntry] = await intake.readAuditEntries(creative.id);
  expect(auditEntry).toMatchObject({ action: 'creative.origin_changed', actor: 'service' });
  const previous = auditEntry?.before as Creative | undefined;
  expect(previous && readVideo(previous)).toEqual(readVideo(creative));
  expect((await intake.download(readVideo(creative).files[0]?.url)).equals(clip)).toBe(true);

  // After approval, the file at the origin is compared with the new copy.
  await intake.review(creative.id, 'approved');
  intake.clock.advance(dayMs);
  advanceMinute();
  await expect.poll(() => readDueAtMs(creative.id), pollOptions).toBe(intake.clock.nowMs() + dayMs);
  expect(await readReviewStatus()).toBe('approved');
  expect(intake.countFetches('/swapped.mp4')).toBe(3);
});

test('an unusable replacement file is reported once and not copied', async () => {
  const creative = await createApprovedCreative('/spoiled.mp4');
  intake.origin.serve('/spoiled.mp4', '<!doctype html><script>1</script>');
  intake.clock.advance(dayMs);
  advanceMinute();
  const readReviewStatus = async () => (await intake.readCreative(creative.id)).review.status;
  await expect.poll(readReviewStatus, pollOptions).toBe('pending_review');
  const updatedCreative = await intake.readCreative(creative.id);
  expect(updatedCreative.media).toEqual(creative.media);
  expect(updatedCreative.review.feedback).toMatch(/cannot be shown: The file is text\/html/);
  await intake.review(creative.id, 'approved');
  await expect.poll(() => readDueAtMs(creative.id), pollOptions).toBe(intake.clock.nowMs() + dayMs);
  intake.clock.advance(dayMs);
  advanceMinute();
  await expect.poll(() => readDueAtMs(creative.id), pollOptions).toBe(intake.clock.nowMs() + dayMs);
  expect(await readReviewStatus()).toBe('approved');
  expect(intake.countFetches('/spoiled.mp4')).toBe(3);
});

test("the service's copy stays in use while the file's origin is unreachable", async () => {
  const creative = await createApprovedCreative('/gone.mp4');
  intake.origin.serve('/gone.mp4', (_request, response) => response.writeHead(503).end());
  intake.clock.advance(dayMs);
  advanceMinute();
  await expect.poll(() => readDueAtMs(creative.id), pollOptions).toBe(intake.clock.nowMs() + dayMs);
  expect(intake.countFetches('/gone.mp4')).toBe(2);
  expect((await intake.readCreative(creative.id)).review.status).toBe('approved');
});

test('the files of rejected and archived creatives are not fetched again', async () => {
  const rejectedCreative = await createApprovedCreative('/rejected.mp4');
  await intake.review(rejectedCreative.id, 'rejected');
  const archivedCreative = await createApprovedCreative('/archived.mp4');
  await intake.client.call('DELETE', `/v1/creatives/${archivedCreative.id}`, intake.client.secret);
  intake.clock.advance(dayMs);
  advanceMinute();
  await expect
    .poll(() => readDueAtMs(rejectedCreative.id), pollOptions)
    .toBe(intake.clock.nowMs() + dayMs);
  await expect.poll(() => readDueAtMs(archivedCreative.id), pollOptions).toBeUndefined();
  expect([intake.countFetches('/rejected.mp4'), intake.countFetches('/archived.mp4')]).toEqual([
    1, 1,
  ]);
});

test('a creative is archived if its source has not offered it for 30 days', async () => {
  const [unofferedCreative, offeredCreative, rejectedCreative] = [
    await createApprovedCreative('/unoffered.mp4'),
    await createApprovedCreative('/offered.mp4'),
    await createApprovedCreative('/unoffered-rejected.mp4'),
  ];
  await intake.review(rejectedCreative.id, 'rejected');
  intake.clock.advance(29 * dayMs);
  advanceMinute();
  for (const { id } of [unofferedCreative, offeredCreative, rejectedCreative])
    await expect.poll(() => readDueAtMs(id), pollOptions).toBe(intake.clock.nowMs() + dayMs);
  intake.runningService.service.intake.recordOffer(
    intake.createScope('sandbox').accountId,
    offeredCreative.id,
  );
  advanceMinute();
  const offeredAt = async () =>
    (
      await intake.runningService.service.database.query<{ offered_at: Date }>(
        'SELECT offered_at FROM creative_origins WHERE creative_id = $1',
        [offeredCreative.id],
      )
    )[0]?.offered_at.getTime();
  await expect.poll(offeredAt, pollOptions).toBe(intake.clock.nowMs());

  intake.clock.advance(2 * dayMs);
  advanceMinute();
  for (const { id } of [offeredCreative, rejectedCreative])
    await expect.poll(() => readDueAtMs(id), pollOptions).toBe(intake.clock.nowMs() + dayMs);
  await expect.poll(() => readDueAtMs(unofferedCreative.id), pollOptions).toBeUndefined();
  const statuses = [offeredCreative, rejectedCreative, unofferedCreative].map(
    async ({ id }) =>
      (await intake.client.call('GET', `/v1/creatives/${id}`, intake.client.secret)).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 200, 404]);
  const [auditEntry] = await intake.readAuditEntries(unofferedCreative.id);
  expect(auditEntry).toMatchObject({ action: 'creative.archived', actor: 'service' });
});

test('metrics count replaced and archived creatives', async () => {
  expect(await intake.readMetricResults()).toEqual(['archived', 'copied', 'replaced']);
});
