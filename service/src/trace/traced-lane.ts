import {
  ROOT_CONTEXT,
  type SpanContext,
  SpanStatusCode,
  trace,
  type Tracer,
  TraceFlags,
} from '@opentelemetry/api';
import { createLane, type Lane, type LaneOptions, type OpenLane } from '../store/group-commit.ts';

/**
 * Creates lanes whose transactions are spans. Each span belongs to the trace of the first sampled request in
 * it, and links to the others.
 */
export function createTracedLane(
  name: string,
  tracer: Tracer,
  active: () => SpanContext | undefined,
): OpenLane {
  return <T extends object, R>(options: LaneOptions<T, R>): Lane<T, R> => {
    const origins = new WeakMap<T, SpanContext>();
    const lane = createLane<T, R>({
      ...options,
      async commit(items, attempt) {
        const span = begin(items.flatMap((item) => origins.get(item) ?? []));
        span.setAttribute('trueward.batch_size', items.length);
        try {
          return await options.commit(items, attempt);
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) });
          throw error;
        } finally {
          span.end();
        }
      },
    });
    return {
      ...lane,
      push(item) {
        const origin = active();
        if (origin) origins.set(item, origin);
        return lane.push(item);
      },
    };
  };

  function begin(origins: readonly SpanContext[]) {
    const sampled = origins.filter(({ traceFlags }) => traceFlags & TraceFlags.SAMPLED);
    const [first = origins[0], ...others] = sampled;
    const links = others.map((context) => ({ context }));
    const parent = first ? trace.setSpanContext(ROOT_CONTEXT, first) : ROOT_CONTEXT;
    return tracer.startSpan(`commit ${name}`, { links }, parent);
  }
}
