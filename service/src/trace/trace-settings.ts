/** Where spans are exported, and how they are sampled. */
export interface TraceSettings {
  /** The OTLP/HTTP base URL of the collector, without `/v1/traces`. */
  endpoint: string;
  headers: Record<string, string>;
  serviceName: string;
  sampler: SamplerName;
  /** The fraction of traces that a ratio sampler keeps, from 0 to 1. */
  ratio: number;
}

/** The samplers of the specification that need at most a ratio. */
export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type SamplerName = (typeof samplerNames)[number];

/** Parses `name=value,name=value`, percent-encoded; undefined when malformed. */
export function parseHeaders(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (const pair of text.split(',')) {
    const [, name, value] =
      /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x21-\x7e]+(?: [\x21-\x7e]+)*)\s*$/.exec(pair) ?? [];
    if (name === undefined || value === undefined) return undefined;
    try {
      headers[name] = decodeURIComponent(value);
    } catch {
      return undefined;
    }
  }
  return headers;
}
