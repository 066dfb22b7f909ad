import { once } from 'node:events';
import { createHostileFiles } from '../../../service/test/hostile/media.ts';
import { createPanelClient } from '../../../service/test/http/panel-client.ts';

/*
 * Uploads hostile files through the panel of the service at the given URL, one after another. Runs in a process of its
 * own, because the process that measures decisions must not be busy with 20 MB of bodies. It says when it is ready, starts
 * when it is told, and answers with what came of each file.
 */

export interface Upload {
  name: string;
  ms: number;
  status: number;
}

const [url = ''] = process.argv.slice(2);
const owner = createPanelClient(url);
await owner.signIn('owner@example.com');
const files = createHostileFiles().map(({ name, bytes }) => ({
  name,
  body: new Blob([new Uint8Array(bytes)]),
}));
process.send?.('ready');
await once(process, 'message');
const uploads: Upload[] = [];
for (const { name, body } of files) {
  const startedAtMs = performance.now();
  const type = { 'content-type': 'application/octet-stream' };
  const { status } = await owner.send('POST', '/panel/api/media?name=file', body, type);
  uploads.push({ name, ms: performance.now() - startedAtMs, status });
}
process.send?.(uploads);
process.disconnect();
