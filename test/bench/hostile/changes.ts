import { createKey } from '../../../service/src/access/key-store.ts';
import { incrementConfigVersion } from '../../../service/src/store/config-version.ts';
import { addAccount } from '../../../service/test/add-account.ts';
import { createClient } from '../../../service/test/http/client.ts';
import type { InProcessService } from '../../../service/test/in-process.ts';
import {
  describeLatencies,
  type Finding,
  measureDecisions,
  print,
  quantile,
  sleep,
} from './measure.ts';

const seconds = 15;
const writers = 2;
const policies = 90;

/** Adds an account with a large configuration, and returns a function that changes an object of it. */
async function addBusyAccount({ service, url }: InProcessService): Promise<() => Promise<void>> {
  const { database, makeId, configuration } = service;
  const accountId = makeId('account');
  await addAccount(database, accountId);
  const { text: secret } = await createKey(database, service.clock, makeId, {
    accountId,
    environment: 'sandbox',
    kind: 'sk',
    allowedOrigins: ['*'],
  });
  await incrementConfigVersion(database, accountId);
  await configuration.refresh();
  const pair = { secret, publishable: '' };
  const client = createClient({ url, keys: { sandbox: pair, live: pair } });
  const ids: string[] = [];
  for (let index = 0; index < policies; index += 1) {
    const { id } = await client.manage<{ id: string }>('POST', '/v1/policies', {
      name: `Policy ${index}`,
      kind: 'policy',
      block: {
        domains: Array.from(
          { length: 500 },
          (_, n) => `${'a'.repeat(50)}-${n}.of-${index}.example`,
        ),
      },
    });
    ids.push(id);
  }
  let count = 0;
  return async () => {
    count += 1;
    await client.manage('PATCH', `/v1/policies/${ids[count % ids.length]}`, { name: `P${count}` });
  };
}

/** One account changes a large configuration all the time, while another account's decisions are measured. */
export async function benchChanges(running: InProcessService): Promise<Finding[]> {
  const change = await addBusyAccount(running);
  await measureDecisions(running, sleep(3_000));
  const quiet = await measureDecisions(running, sleep(seconds * 1_000));
  let changes = 0;
  const writeAll = async (): Promise<void> => {
    const endsAtMs = performance.now() + seconds * 1_000;
    while (performance.now() < endsAtMs) {
      await change();
      changes += 1;
    }
  };
  const busy = await measureDecisions(
    running,
    Promise.all(Array.from({ length: writers }, writeAll)),
  );
  const stored = `${policies} policies of 40 KB`;
  print(`${(changes / seconds).toFixed(0)} changes a second in an account with ${stored}`);
  print(`  decisions of another account before: ${describeLatencies(quiet)}`);
  print(`  decisions of another account meanwhile: ${describeLatencies(busy)}`);
  return [
    {
      name: 'p99 of decisions during changes of another account',
      value: quantile(busy, 0.99) / quantile(quiet, 0.99),
      unit: '× quiet',
      bound: 1.5,
    },
  ];
}
