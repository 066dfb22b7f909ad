import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AuditEntry, Creative } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import type { Offer } from '../../src/demand/offer.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Client, createClient } from './client.ts';
import { type MediaOrigin, startMediaOrigin } from './media-origin.ts';

const readFile = (path: string): Buffer =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)));
export const meadow = readFile('demo/creatives/dist/meadow.mp4');
export const meadowWebm = readFile('demo/creatives/dist/meadow.webm');
export const clip = readFile('test/media/clip.mp4');
export const picture = readFile('test/media/picture.png');
export const banner = readFile('demo/creatives/dist/lobby-banner.png');
/**
 * The meadow video, relabeled as HEVC: its sample entry and its decoder configuration have the HEVC FourCCs (ISO/IEC
 * 14496-15, 8.3.3 and 8.4.1).
 */
export const hevc = (() => {
  const body = Buffer.from(meadow);
  const config = body.indexOf('avcC');
  body.write('hvc1', body.indexOf('avc1', 40), 'latin1');
  body.write('hvcC', config, 'latin1');
  body.fill(0, config + 4, config + 44);
  Buffer.from('01016000000090000000000078f000fcfdf8f800000f00', 'hex').copy(body, config + 4);
  return body;
})();
export const pollOptions = { timeout: 20_000 };

export interface OfferInput extends Partial<Omit<Offer, 'media'>> {
  /** An absolute URL, or a path on the media origin. */
  url: string;
  mime?: string;
  declaredMs?: number;
}
export interface SourceRules {
  review?: 'manual' | 'automatic';
  allowed_domains?: string[];
}

/** Starts a service and a media origin for the tests in one file. Read the properties only in tests and hooks. */
export class IntakeSetup {
  readonly clock = createManualClock(Date.now());
  runningService!: InProcessService;
  client!: Client;
  origin!: MediaOrigin;
  #accountId = '';
  #sourceCount = 0;

  constructor() {
    beforeAll(async () => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      this.runningService = await startInProcess({ RATE_LIMITS: 'off' }, { clock: this.clock });
      this.client = createClient(this.runningService);
      this.origin = await startMediaOrigin();
      const [account] = await this.runningService.service.database.query<{ account_id: string }>(
        `SELECT account_id FROM accounts WHERE name = 'Demo'`,
      );
      this.#accountId = account?.account_id ?? '';
    });
    afterAll(async () => {
      await this.runningService.stop();
      await this.origin.stop();
      vi.useRealTimers();
    });
  }

  createScope(environment: 'sandbox' | 'live') {
    return { accountId: this.#accountId, environment };
  }

  /** Creates a source. Each test needs its own, because unusable files slow down a source's later jobs. */
  async createSource(rules?: SourceRules): Promise<string> {
    this.#sourceCount += 1;
    const { id } = await this.client.manage<{ id: string }>('POST', '/v1/sources', {
      name: `Network ${this.#sourceCount}`,
      ...(rules
        ? { kind: 'vast', tag_url: 'https://play.example/v', ...rules }
        : { kind: 'direct' }),
    });
    return id;
  }

  submit(sourceId: string, input: OfferInput, environment: 'sandbox' | 'live' = 'sandbox'): void {
    this.runningService.service.intake.submit(
      this.createScope(environment),
      { id: sourceId },
      this.#createOffer({ ...input, sourceId }),
    );
  }

  #createOffer({ url, mime = 'video/mp4', declaredMs, ...offerFields }: OfferInput): Offer {
    return {
      sourceId: '',
      creativeKey: 'ad-id.org 1',
      advertiserDomain: 'meadow.example',
      priceMicros: 1_000_000,
      currency: 'USD',
      media: {
        url: url.startsWith('/') ? this.origin.url + url : url,
        mime,
        width: 1_920,
        height: 1_080,
        ...(declaredMs === undefined ? {} : { durationMs: declaredMs }),
      },
      captions: [],
      categories: [],
      trackers: { byEvent: {}, progress: [], macros: {} },
      ...offerFields,
    };
  }

  async get<T>(path: string): Promise<T> {
    return (await this.client.call<T>('GET', path, this.client.secret)).body;
  }
  post<T>(path: string, body: object): Promise<T> {
    return this.client.manage<T>('POST', path, body);
  }
  review(id: string, status: string): Promise<unknown> {
    return this.post(`/v1/creatives/${id}/review`, { status });
  }
  readCreative(id: string): Promise<Creative> {
    return this.get<Creative>(`/v1/creatives/${id}`);
  }
  async readCreatives(sourceId: string): Promise<Creative[]> {
    const { data } = await this.get<{ data: Creative[] }>('/v1/creatives?limit=100');
    return data.filter((creative) => creative.source_id === sourceId);
  }
  async readAuditEntries(targetId: string): Promise<AuditEntry[]> {
    return (await this.get<{ data: AuditEntry[] }>(`/v1/audit-entries?target_id=${targetId}`)).data;
  }
  async waitForCreatives(sourceId: string, count = 1): Promise<Creative> {
    await expect.poll(() => this.readCreatives(sourceId), pollOptions).toHaveLength(count);
    const [creative] = await this.readCreatives(sourceId);
    if (!creative) throw new Error('Expected a creative.');
    return creative;
  }
  /** Returns how many times a file was requested from the origin. */
  countFetches(path: string): number {
    return this.origin.requests.filter((requestPath) => requestPath === path).length;
  }
  /** Downloads the service's copy of a file. */
  async download(url: string | undefined): Promise<Buffer> {
    const { pathname } = new URL(url ?? '');
    return Buffer.from(await (await fetch(this.runningService.url + pathname)).arrayBuffer());
  }
  /** Returns the results that the intake metric has counted at least once. */
  async readMetricResults(): Promise<string[]> {
    const text = await (await fetch(`${this.runningService.url}/metrics`)).text();
    return [...text.matchAll(/^trueward_intake_creatives_total\{result="(\w+)"\} [1-9]/gm)]
      .map(([, result = '']) => result)
      .toSorted();
  }
}

export function readVideo({ media }: Creative) {
  if (media.format !== 'video') throw new Error(`The media is ${media.format}.`);
  return media;
}
