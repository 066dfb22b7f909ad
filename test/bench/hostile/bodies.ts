import { deriveHostileBodies } from '../../../service/test/hostile/bodies.ts';
import { listBodyRoutes } from '../../../service/test/hostile/routes.ts';
import { signInOwner } from '../../../service/test/http/panel-client.ts';
import type { InProcessService } from '../../../service/test/in-process.ts';
import { type Finding, print } from './measure.ts';

/** Each request is repeated, and the smallest cost counts, because garbage collection adds to some. */
const repetitions = 5;

interface Cost {
  name: string;
  ms: number;
  bytes: number;
  ratio: number;
}

/** Sends every route the hostile bodies that are derived from its schema, as large as the route admits. */
export async function benchBodies(running: InProcessService): Promise<Finding[]> {
  const { service, keys, url: serviceUrl } = running;
  const owner = await signInOwner(running);
  const costs: Cost[] = [];
  for (const { method, url, schema, limit } of listBodyRoutes(service)) {
    const key = /decisions$|events$/.test(url) ? keys.sandbox.publishable : keys.sandbox.secret;
    const headers = {
      host: new URL(serviceUrl).host,
      'content-type': 'application/json',
      ...(url.startsWith('/panel')
        ? {
            cookie: owner.cookie() ?? '',
            origin: serviceUrl,
            'trueward-csrf': owner.csrf(),
            'trueward-environment': 'sandbox',
          }
        : { authorization: `Bearer ${key}` }),
    };
    const send = async (payload: string): Promise<{ ms: number; bytes: number }> => {
      let [ms, bytes] = [Infinity, 0];
      for (let times = 0; times < repetitions; times += 1) {
        const before = process.cpuUsage();
        const response = await service.app.inject({
          method: method as 'POST',
          url,
          payload,
          headers,
        });
        const { user, system } = process.cpuUsage(before);
        ms = Math.min(ms, (user + system) / 1_000);
        bytes = Math.max(bytes, response.rawPayload.length);
      }
      return { ms, bytes };
    };
    const plain = await send(`{"unknown":"${'x'.repeat(limit - 100)}"}`);
    for (const { name, text } of deriveHostileBodies(schema, limit)) {
      const { ms, bytes } = await send(text);
      costs.push({ name: `${method} ${url}, ${name}`, ms, bytes, ratio: ms / plain.ms });
    }
  }
  const worst = costs.toSorted((a, b) => b.ratio - a.ratio);
  print(`${costs.length} hostile bodies; the worst compared with a plain body of the same size:`);
  for (const { name, ratio, ms } of worst.slice(0, 15))
    print(`  ${ratio.toFixed(1)} ×, ${ms.toFixed(2)} ms of CPU: ${name}`);
  return [
    { name: 'CPU of a body', value: worst[0]?.ratio ?? 0, unit: '× a plain one', bound: 3 },
    {
      name: 'answer',
      value: Math.max(...costs.map(({ bytes }) => bytes)),
      unit: 'bytes',
      bound: 16_384,
    },
  ];
}
