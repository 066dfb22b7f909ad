import type { Diagnostics } from '../ads.ts';
import { listen, native } from '../platform/native.ts';
import type { RewardReport } from '../outcome.ts';
import type { OutboxDiagnostics } from '../outbox/state.ts';
import { describeResponse, describeReward, joinParts } from './describe.ts';
import type { AdsRecord } from './recorder.ts';

const css = `
:host { all: initial; position: fixed; inset: auto 8px 8px auto; margin: 0; border: 0; padding: 0; background: none; }
details {
  width: min(26rem, calc(100vw - 16px)); max-height: 70vh; overflow: auto; box-sizing: border-box; padding: 8px 12px;
  font: 12px/1.45 ui-monospace, Consolas, monospace; color: #e8ebf5; background: #12151fee; border: 1px solid #3b415a; border-radius: 8px;
}
summary { cursor: pointer; font-weight: 700; color: #ffc857; }
h2 { margin: 10px 0 2px; font: inherit; font-weight: 700; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0 10px; margin: 0; }
dt { color: #a9b1cc; }
dd { margin: 0; overflow-wrap: anywhere; }
`;

/** Returns a constructed stylesheet, because a strict `style-src` blocks style elements and attributes. */
export function panelStyle(): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
}

/** The data that the debug panel displays. */
export interface PanelSource {
  record: AdsRecord;
  diagnostics(): Diagnostics;
  rewards(): Promise<RewardReport[]>;
  /** Aborts when the ads are destroyed, which also closes the panel. */
  signal: AbortSignal;
}

const closers = new WeakMap<PanelSource, () => void>();

/** Opens or closes the panel. */
export function togglePanel(source: PanelSource): void {
  const close = closers.get(source);
  closers.delete(source);
  if (close) return close();
  if (source.signal.aborted) return;
  const closePanel = openPanel(source);
  closers.set(source, closePanel);
  listen(source.signal, 'abort', closePanel);
}

/** How often the panel refreshes, in milliseconds. */
const refreshMs = 500;

type Row = readonly [name: string, value: string];

/** Shows the debug panel in a corner of the page. Returns a function that closes it. */
function openPanel(source: PanelSource): () => void {
  const host = document.createElement('div');
  // A popover appears above a full-screen game and does not block the page.
  host.popover = 'manual';
  host.dataset['trueward'] = 'debug';
  const root = host.attachShadow({ mode: 'open' });
  root.adoptedStyleSheets = [panelStyle()];
  const panel = document.createElement('details');
  panel.open = true;
  const summary = document.createElement('summary');
  const body = document.createElement('div');
  panel.append(summary, body);
  root.append(panel);
  document.body.append(host);
  host.showPopover();

  let closed = false;
  let shownText = '';
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function refresh(): Promise<void> {
    const sections = await describe(source);
    if (closed) return;
    timer = native.setTimeout(() => void refresh(), refreshMs);
    const text = JSON.stringify(sections);
    // Replacing unchanged content would clear the selection while someone is copying text.
    if (text === shownText) return;
    shownText = text;
    summary.textContent = `Trueward · ${source.diagnostics().environment}`;
    body.replaceChildren(...sections.flatMap(([title, rows]) => createSection(title, rows)));
  }
  void refresh();

  return () => {
    closed = true;
    native.clearTimeout(timer);
    host.remove();
  };
}

function createSection(title: string, rows: Row[]): HTMLElement[] {
  const heading = document.createElement('h2');
  heading.textContent = title;
  const list = document.createElement('dl');
  for (const [name, value] of rows.length > 0 ? rows : [['none', ''] as const]) {
    const term = document.createElement('dt');
    const detail = document.createElement('dd');
    term.textContent = name;
    detail.textContent = value;
    list.append(term, detail);
  }
  return [heading, list];
}

async function describe(source: PanelSource): Promise<[string, Row[]][]> {
  const { outbox, rewards, showing } = source.diagnostics();
  const { requests, timeline } = source.record;
  const startedAt = timeline[0]?.at ?? 0;
  return [
    [
      `Last ad break${showing === null ? '' : ` (showing ${showing})`}`,
      timeline.map(({ at, step }) => [`${Math.round(at - startedAt)} ms`, step]),
    ],
    ['Requests', requests.flatMap(formatRequest)],
    ['Queue', describeQueue(outbox)],
    ['Rewards', (await source.rewards()).map(describeRewardRow).concat(errorRows(rewards))],
  ];
}

const describeQueue = (outbox: OutboxDiagnostics): Row[] => {
  const rows: Row[] = [
    ['waiting', String(outbox.stored)],
    ['sent', String(outbox.sent)],
    ['stored in', outbox.storage],
  ];
  return rows.concat(
    countRows('dropped', outbox.dropped),
    countRows('rejected', outbox.rejected),
    errorRows(outbox),
  );
};

const describeRewardRow = (report: RewardReport): Row => [
  report.decisionId,
  describeReward(report),
];

const countRows = (name: string, counts: Record<string, number>): Row[] =>
  Object.entries(counts).map(([reason, count]) => [`${name}: ${reason}`, String(count)]);

const errorRows = ({ lastError }: { lastError?: string }): Row[] =>
  lastError === undefined ? [] : [['last error', lastError]];

function formatRequest({ response, at, placement }: AdsRecord['requests'][number]): Row[] {
  const explain = response.kind === 'ok' ? (response.body.explain ?? []) : [];
  const row: Row = [
    `${new Date(at).toLocaleTimeString()} ${placement}`,
    describeResponse(response),
  ];
  return [row].concat(explain.map((candidate): Row => ['·', describeCandidate(candidate)]));
}

/** Returns a one-line summary of a candidate. */
const describeCandidate = (candidate: object): string =>
  joinParts(
    ...Object.entries(candidate).map(
      ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    ),
  );
