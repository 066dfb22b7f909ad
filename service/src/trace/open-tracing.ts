import type { Logger } from 'pino';
import { noTracing, type Tracing } from './tracing.ts';
import type { TraceSettings } from './trace-settings.ts';

/** Opens tracing as configured. The packages are loaded only if there is a collector. */
export async function openTracing(
  settings: TraceSettings | undefined,
  log: Logger,
): Promise<Tracing> {
  if (settings === undefined) return noTracing;
  const { createOtlpTracing } = await import('./otlp-tracing.ts');
  return createOtlpTracing(settings, log);
}
