import { openSecretBox, readServiceSecret } from '../../access/secret-box.ts';
import { createPseudonymizer } from '../../decision/decision-service.ts';
import { erasePlayer } from '../../history/erase-player.ts';
import { exportPlayer } from '../../history/export-player.ts';
import { createJob, findJob, type JobStep, runStep } from '../../history/jobs.ts';
import { createAuditLog } from '../../store/audit-log.ts';
import type { Scope } from '../../store/database.ts';
import { createEventBodies } from '../../webhook/event-writer.ts';
import { type Command, printResult, readArguments, UsageError } from './command.ts';
import { chooseAccount, type DatabaseContext, withDatabase } from './with-database.ts';

const options = {
  user: { type: 'string' },
  account: { type: 'string' },
  environment: { type: 'string', default: 'live' },
} as const;
const optionsHelp = `  --user <ref>        the player's user_ref
  --environment <e>   live (default) or sandbox
  --account <id>      required if there are several accounts`;

export const playerCommands: readonly Command[] = [
  {
    name: 'erase',
    summary: 'erase a player',
    help: `Usage: trueward-service erase --user <ref>

${optionsHelp}

Deletes the player's decisions, events, rewards, and webhook events with their deliveries. Counts in reports
stay. Run trueward-service archive afterward if you keep archives. Can be interrupted and run again. With the
embedded database, stop the service first, or send DELETE /v1/users/<ref> instead.

Prints one line of JSON: the job with the number of rows.`,
    run: (args) =>
      withPlayer(args, async ({ database, clock, makeId }, scope, viewer) => {
        const { id } = await database.transaction(async (queries) => {
          const operation = { queries, scope, actor: 'command_line' };
          const job = await createJob(
            operation,
            { makeId, clock },
            { kind: 'erasure', request: { viewer } },
          );
          const after = { job_id: job.id };
          await createAuditLog(clock, makeId).record(operation, {
            action: 'player.erased',
            targetId: viewer,
            after,
          });
          return job;
        });
        // A running service may take some of the steps.
        const steps = { erasure: erasePlayer, recovery: rejectStep };
        const step = () =>
          database.transaction((queries) =>
            runStep(queries, { accountId: scope.accountId, id }, steps, clock.nowMs()),
          );
        while ((await findJob(database, scope, id))?.state === 'running') await step();
        printResult((await findJob(database, scope, id)) ?? {});
      }),
  },
  {
    name: 'export-player',
    summary: 'print what is stored about a player',
    help: `Usage: trueward-service export-player --user <ref>

${optionsHelp}

Prints JSON lines: one per decision, with its events and reward, and one per webhook event, with its deliveries.`,
    run: (args) =>
      withPlayer(args, async ({ database, config }, scope, viewer) => {
        const bodies = createEventBodies(openSecretBox(config));
        for await (const line of exportPlayer(database, scope, viewer, bodies.open))
          printResult(line);
      }),
  },
];

const rejectStep: JobStep = () => Promise.reject(new Error('This command only erases.'));

async function withPlayer(
  args: string[],
  work: (context: DatabaseContext, scope: Scope, viewer: string) => Promise<void>,
): Promise<void> {
  const { values } = readArguments(args, options);
  const { user, environment } = values;
  if (user === undefined) throw new UsageError('No player: pass --user.');
  if (environment !== 'live' && environment !== 'sandbox')
    throw new UsageError('--environment must be live or sandbox.');
  await withDatabase(
    async (context) => {
      const { database, config, clock } = context;
      const accountId = await chooseAccount(database, context, { account: values.account });
      const scope = { accountId, environment } as const;
      const key = await readServiceSecret(database, openSecretBox(config), clock, 'pseudonym');
      await work(context, scope, createPseudonymizer(key)(scope, user));
    },
    { power: 'players' },
  );
}
