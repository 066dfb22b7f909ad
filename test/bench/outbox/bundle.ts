import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'vite';
import type { ContenderInfo } from './contenders.ts';

/** A contender's download size, including its adapter of about 20 lines. */
export interface Size {
  minified: number;
  gzip: number;
  brotli: number;
}

const folder = import.meta.dirname;

/** Bundles a file into a classic script, as a game's build would. */
async function bundle(file: string): Promise<string> {
  const results = await build({
    configFile: false,
    root: folder,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"', __SENTRY_DEBUG__: 'false' },
    build: {
      target: 'es2022',
      minify: true,
      write: false,
      lib: { entry: join(folder, file), formats: ['iife'], name: 'bundle' },
    },
  });
  const [result] = [results].flat();
  if (result === undefined || !('output' in result)) throw new Error(`${file} was not built.`);
  return result.output[0].code;
}

/** Bundles the script that drives the page. */
export const bundlePage = (): Promise<string> => bundle('page/bench.ts');

/** Bundles one contender and measures its size. */
export async function bundleContender(
  contender: ContenderInfo,
): Promise<{ code: string; size: Size } | undefined> {
  if (contender.file === undefined) return undefined;
  const code = await bundle(`contenders/${contender.file}`);
  const bytes = Buffer.from(code);
  const size = {
    minified: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes).length,
  };
  return { code, size };
}
