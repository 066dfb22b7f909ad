import { readConfig } from '../config/config.ts';
import {
  beginFileRotation,
  openSecretBox,
  reencrypt,
  discardSecrets,
} from '../../access/secret-box.ts';
import {
  type Command,
  CommandError,
  readArguments,
  printMessage,
  printResult,
  createProgress,
} from './command.ts';
import { withDatabase } from './with-database.ts';
import { readReceiptKeys, rotateReceiptKey } from '../../reward/receipt.ts';

export const masterKeyCommands: Command[] = [
  {
    name: 'master-key rotate',
    summary: 'encrypt all secrets with a new master key',
    help: `Usage: trueward-service master-key rotate

With master.key in the data folder: stop the service, then run this. It creates a new key, encrypts
every secret in the database with it, and replaces master.key. Back up the new file.

With TRUEWARD_MASTER_KEY, without stopping the service:
  1. Set TRUEWARD_OTHER_MASTER_KEY to the new key and restart each process.
  2. Swap the two: the new key in TRUEWARD_MASTER_KEY, the old one in TRUEWARD_OTHER_MASTER_KEY.
     Restart each process.
  3. Run this command with both variables.
  4. Remove TRUEWARD_OTHER_MASTER_KEY and restart each process.

If the command is interrupted, nothing is lost: run it again.
Prints one line of JSON with the number of secrets that are now encrypted with the new key.`,
    async run(args) {
      readArguments(args, {});
      const { masterKey, otherMasterKey } = readConfig(process.env);
      if (masterKey !== undefined && otherMasterKey === undefined) {
        throw new CommandError(
          'TRUEWARD_OTHER_MASTER_KEY is not set. Set TRUEWARD_MASTER_KEY to the new key and TRUEWARD_OTHER_MASTER_KEY to the old one.',
        );
      }
      const reencrypted = await withDatabase(
        async ({ database, config }) => {
          const { box, finish } =
            masterKey === undefined
              ? beginFileRotation(config)
              : { box: openSecretBox(config), finish: async () => undefined };
          const progress = createProgress((done) => `${done} secrets re-encrypted…`);
          const count = await reencrypt(database, box, progress);
          await finish();
          return count;
        },
        { power: 'master_key' },
      );
      printResult({ reencrypted });
    },
  },
  {
    name: 'master-key discard',
    summary: 'start over with a new master key after losing the old one',
    help: `Usage: trueward-service master-key discard --confirm

Use this only if the master key is lost for good. If you have a backup of it, restore the backup instead.
Stop the service first. This removes everything from the database that can no longer be decrypted:

  - webhook secrets: rotate each webhook's secret and configure the new one in its receiver
  - the keys that sign decisions and receipts: ads that players are watching now, or have watched offline, earn
    no reward, and issued receipts can no longer be verified
  - the keys for players: frequency caps start over, and guests become new players
  - panel users' one-time codes: each user must set them up again
  - undelivered webhook events about children, because their bodies are encrypted

Prints one line of JSON with the number of secrets and webhook events that were removed.`,
    async run(args) {
      const { values } = readArguments(args, { confirm: { type: 'boolean' } });
      if (values.confirm !== true) {
        throw new CommandError(
          'This cannot be undone. See master-key discard --help, then run it again with --confirm.',
        );
      }
      printResult(await withDatabase(({ database }) => discardSecrets(database)));
      printMessage(
        'The next time the service starts, it creates new secrets and encrypts them with the configured master key.',
      );
    },
  },
];

export const rotateReceiptKeyCommand: Command = {
  name: 'receipt-keys rotate',
  summary: 'sign new receipts with a new key',
  help: `Usage: trueward-service receipt-keys rotate

Running services on the same database start using the new key within a minute. The old keys stay in
/.well-known/jwks.json until the last receipt that they signed has expired, 30 days later.

Prints one line of JSON with the ids of all valid keys; the first one signs new receipts.`,
  async run(args) {
    readArguments(args, {});
    const kids = await withDatabase(
      async ({ database, clock, config }) => {
        const box = openSecretBox(config);
        await rotateReceiptKey(database, box, clock);
        const keys = await readReceiptKeys(database, box, clock);
        return keys.map(({ kid }) => kid);
      },
      { power: 'receipt_keys' },
    );
    printResult({ kids });
  },
};
