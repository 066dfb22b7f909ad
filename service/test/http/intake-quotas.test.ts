import type { Usage } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import type { QuotaKind } from '../../src/platform/quota-limits.ts';
import { clip, IntakeSetup, meadow, pollOptions } from './intake-setup.ts';

const intake = new IntakeSetup();

const readUsed = async (kind: QuotaKind): Promise<number> => {
  // The route reads again every two seconds.
  intake.clock.advance(2_000);
  const { data } = await intake.get<Usage>('/v1/usage');
  return data.find((usage) => usage.kind === kind)?.used ?? -1;
};
const readRefusals = async (sourceId: string): Promise<unknown[]> =>
  (await intake.readAuditEntries(sourceId))
    .filter(({ action }) => action === 'creative.refused')
    .map(({ after }) => after?.['reason']);

test.each<QuotaKind>(['creatives', 'advertisers', 'configuration_kb', 'media_mb'])(
  'an ad is refused, with the reason in the audit log, at the account’s limit on %s, and copied when there is room',
  async (kind) => {
    const source = await intake.createSource();
    const offer = { url: `/${kind}.mp4`, advertiserDomain: `${kind.replace('_', '-')}.example` };
    // Only a file that isn't stored yet needs room.
    intake.origin.serve(offer.url, kind === 'media_mb' ? meadow : clip);
    const used = await readUsed(kind);
    const { quotas } = intake.runningService.config;
    quotas[kind] = used;
    intake.submit(source, offer);
    await expect.poll(() => readRefusals(source), pollOptions).toHaveLength(1);
    expect((await readRefusals(source))[0]).toContain(`its limit is ${used}. To make room, `);
    expect(await intake.readCreatives(source)).toEqual([]);
    expect(await intake.readMetricResults()).not.toContain('failed');

    delete quotas[kind];
    intake.clock.advance(3_600_000);
    intake.submit(source, offer);
    await intake.waitForCreatives(source);
  },
);
