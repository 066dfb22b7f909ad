import type { Decision } from '../../protocol/wire.ts';
import type { RewardReport, ShowResult } from '../outcome.ts';
import type { ServiceResult } from '../transport/service-client.ts';
import { describeResponse, describeReward, joinParts } from './describe.ts';

/** An entry for the debug log. */
export type LogEntry =
  | {
      type: 'request';
      input: RequestInfo | URL;
      init: RequestInit | undefined;
      response: Promise<Response>;
    }
  | { type: 'decision'; placement: string; response: ServiceResult<Decision> }
  | { type: 'step'; step: string }
  | { type: 'result'; placement: string; result: ShowResult }
  | { type: 'reward'; entry: RewardReport & { delivered: boolean } };

/** Writes one line to the console. */
export function writeLog(entry: LogEntry): void {
  switch (entry.type) {
    case 'request':
      return void writeRequest(entry);
    case 'decision':
      return write(`decision for ${entry.placement}:`, describeResponse(entry.response));
    case 'step':
      return write(`ad break: ${entry.step}`);
    case 'result':
      return write(`result for ${entry.placement}:`, describeResult(entry.result));
    case 'reward':
      return write(`reward for ${entry.entry.decisionId}:`, describeEntry(entry.entry));
  }
}

function write(...parts: string[]): void {
  // oxlint-disable-next-line no-console -- The `debug` option enables it.
  console.info(['[trueward]', ...parts.filter(Boolean)].join(' '));
}

/** Logs the request and the response separately, so that a request without a response is logged too. */
async function writeRequest({
  input,
  init,
  response,
}: Extract<LogEntry, { type: 'request' }>): Promise<void> {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  const name = `${init?.method ?? 'GET'} ${pathname}`;
  const startedAt = performance.now();
  const formatElapsed = (): string => `after ${Math.round(performance.now() - startedAt)} ms`;
  write(name);
  try {
    const { status, ok } = await response;
    write(name, `→ ${status}`, formatElapsed(), ok ? '' : retryNote(pathname));
  } catch (error) {
    write(name, '→', String(error), formatElapsed(), retryNote(pathname));
  }
}

const retryNote = (pathname: string): string =>
  pathname.endsWith('/events') ? '(the events stay queued and will be sent again)' : '';

const describeResult = ({ decisionId, detail, outcome, reason, retryAt }: ShowResult): string =>
  joinParts(outcome, reason, detail, retryAt && `not before ${retryAt.toISOString()}`, decisionId);

const describeEntry = (entry: RewardReport & { delivered: boolean }): string =>
  joinParts(
    describeReward(entry),
    entry.state === 'earned' &&
      (entry.delivered ? 'delivered to the game' : 'waiting for delivery'),
  );
