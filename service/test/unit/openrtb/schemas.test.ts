/*
 * Checks requests against the public JSON schemas, which are not part of this repository. `OPENRTB_SCHEMAS` is the path
 * to the OpenRTB 2.6 schemas: the `jsonschema` folder in InteractiveAdvertisingBureau/openrtb2.x.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { type BidRequestInput, buildBidRequest } from '../../../src/demand/openrtb/request.ts';
import { fullBidRequestInput } from './bid-request-input.ts';

const folder = process.env['OPENRTB_SCHEMAS'];

if (folder === undefined) {
  test.skip('public OpenRTB schemas: skipped, because OPENRTB_SCHEMAS is not set', () => undefined);
} else {
  describe('validated against the public schemas', () => testRequests(folder));
}

function testRequests(root: string): void {
  const validate = compile(root, 'BidRequest.json');
  const validateRequest = (request: unknown) => {
    validate(request);
    return validate.errors ?? [];
  };

  const { playerSize: _, ...rest } = fullBidRequestInput;
  const minimalInput: BidRequestInput = {
    ...rest,
    site: {},
    player: { limitAdTracking: true, childDirected: true },
    supplyChain: [],
    blocked: { advertisers: [], categories: [], seats: [], attributes: [] },
  };

  test.each([
    ['with all fields', fullBidRequestInput],
    ['without optional fields', minimalInput],
    ['in version 2.5', { ...fullBidRequestInput, version: '2.5' }],
    [
      'in the sandbox, with an IPv6 address',
      {
        ...fullBidRequestInput,
        isTest: true,
        player: { ...fullBidRequestInput.player, ip: '2001:db8::' },
      },
    ],
    [
      'with extensions',
      { ...fullBidRequestInput, ext: { imp: [{ ext: { bidder: 1 } }], ext: { a: 1 } } },
    ],
  ] satisfies [string, BidRequestInput][])('a request %s is valid', (_what, input) => {
    expect(validateRequest(buildBidRequest(input))).toEqual([]);
  });

  test('a bid request without media types is invalid', () => {
    const request = { ...buildBidRequest(fullBidRequestInput), imp: [{ id: '1', video: {} }] };
    expect(validateRequest(request)).toMatchObject([{ instancePath: '/imp/0/video' }]);
  });
}

function compile(root: string, name: string) {
  const ajv = new Ajv2020({ strict: false });
  const schemas = readdirSync(root)
    .filter((file) => file.endsWith('.json'))
    .map((file) => JSON.parse(readFileSync(join(root, file), 'utf8')) as { $id: string });
  for (const schema of schemas) ajv.addSchema(schema);
  const id = schemas.find(({ $id }) => $id.endsWith(`/${name}`))?.$id;
  const validate = id === undefined ? undefined : ajv.getSchema(id);
  if (!validate) throw new Error(`${root} has no ${name}.`);
  return validate;
}
