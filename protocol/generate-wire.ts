/**
 * Generates `wire.ts`, the TypeScript types of the wire contract, from the schemas. With `--check`, it only reports
 * whether the file is up to date. The SDK uses these plain types so that it does not contain the schema library.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { schemas } from './index.ts';

const target = new URL('./wire.ts', import.meta.url);

// Schemas refer to each other as `Reward#`, but the generator expects pointers into one document.
const definitions = JSON.parse(
  JSON.stringify(Object.fromEntries(schemas.map((schema) => [readName(schema), schema])))
    .replaceAll(/"\$ref":"([A-Za-z]+)#"/g, '"$ref":"#/definitions/$1"')
    .replaceAll(/"\$id":"[A-Za-z]+",?/g, ''),
) as Record<string, JSONSchema>;

function readName(schema: object): string {
  if ('$id' in schema && typeof schema.$id === 'string') return schema.$id;
  throw new Error(`Every schema of the contract needs a name, got ${JSON.stringify(schema)}.`);
}

const source = await compile({ definitions, type: 'object', additionalProperties: false }, 'Wire', {
  additionalProperties: false,
  bannerComment:
    '/* Written by `npm run generate` from the schemas in this folder; do not edit it by hand. */',
  unreachableDefinitions: true,
  ignoreMinAndMaxItems: true,
  style: { singleQuote: true, printWidth: 100 },
});
const text = source
  .replace(/\nexport interface Wire \{\}\n/, '\n')
  .replaceAll(
    /\n \*\n \* This interface was referenced by `Wire`'s JSON-Schema\n \* via the `definition` "\w+"\.\n/g,
    '\n',
  )
  .replaceAll(
    /\/\*\*\n \* This interface was referenced by `Wire`'s JSON-Schema\n \* via the `definition` "\w+"\.\n \*\/\n/g,
    '',
  );

if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== text) {
    console.error('protocol/wire.ts differs from the schemas: run `npm run generate`.');
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, text);
}
