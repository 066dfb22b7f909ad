import { openSecretBox } from '../key/master-key.ts';
import { systemClock } from '../platform/clock.ts';
import { readReceiptKeys, rotateReceiptKey } from '../reward/receipt-keys.ts';
import { type Command, readArguments, tell } from './command.ts';
import { withDatabase } from './with-database.ts';

export const rotateReceiptKeyCommand: Command = {
  name: 'receipt-keys rotate',
  summary: 'sign receipts with a new key from now on',
  help: `Usage: trueward-service receipt-keys rotate

Running services on the same database sign with the new key within a minute. The old keys stay in
/.well-known/jwks.json until the last receipt that they signed has expired, 30 days later.

Prints one line of JSON with the ids of all keys that verify; the first one signs.`,
  async run(args) {
    readArguments(args, {});
    const kids = await withDatabase(async ({ database, config }) => {
      const box = openSecretBox(config);
      await rotateReceiptKey(database, box, systemClock);
      const keys = await readReceiptKeys(database, box, systemClock);
      return keys.map(({ kid }) => kid);
    });
    tell({ kids });
  },
};
