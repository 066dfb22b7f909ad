import { ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { TraceSettings } from './trace-settings.ts';

/** Longer than a collector takes, and shorter than the time between two batches. */
const timeoutMs = 4_000;

/** Sends spans by OTLP over HTTP. That the collector takes none is logged once, until it does again. */
export function createOtlpExporter(
  { endpoint, headers }: Pick<TraceSettings, 'endpoint' | 'headers'>,
  log: Logger,
): SpanExporter {
  const url = `${endpoint}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: timeoutMs });
  let failing = false;
  return {
    export(spans, done) {
      exporter.export(spans, ({ code, error }) => {
        const failed = code !== ExportResultCode.SUCCESS;
        if (failed && !failing)
          log.warn({ err: error }, 'the collector takes no traces; they are dropped until it does');
        if (!failed && failing) log.info('the collector takes traces again');
        failing = failed;
        // It has been told here: the package would write it to the console each time.
        done({ code: ExportResultCode.SUCCESS });
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}
