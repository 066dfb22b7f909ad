import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { createMakeDecision } from './decision/decision-service.ts';
import { createDecisionLane } from './decision/record-decisions.ts';
import { createDecisionTokens } from './decision/token.ts';
import { createPseudonyms } from './decision/viewer.ts';
import { readMasterKey } from './key/master-key.ts';
import { createSecretBox } from './key/secret-box.ts';
import { readServiceSecret } from './key/service-secrets.ts';
import type { Clock } from './platform/clock.ts';
import { createIds, type MakeId } from './platform/ids.ts';
import { openConfiguration, type Configuration } from './resource/configuration.ts';
import { createResourceStore, type ResourceStore } from './resource/resource-store.ts';
import type { Database } from './store/database.ts';
import { migrate } from './store/migrate.ts';
import { openDatabase } from './store/open-database.ts';
import { createEventWriter } from './webhook/event-writer.ts';

/** The parts of a running service that its starter needs. */
export interface Service {
  app: FastifyInstance;
  database: Database;
  configuration: Configuration;
  resources: ResourceStore;
  makeId: MakeId;
  /** Ends everything; what was acknowledged is in the database. */
  stop(): Promise<void>;
}

/** Opens the database and wires all parts; the one place where they are made. */
export async function assemble(config: Config, clock: Clock, log: Logger): Promise<Service> {
  const database = await openDatabase(config, log);
  try {
    await migrate(database);
    return await wire(config, clock, log, database);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function wire(config: Config, clock: Clock, log: Logger, database: Database): Promise<Service> {
  const box = createSecretBox(readMasterKey(config));
  const makeId = createIds(clock, randomBytes);
  const resources = createResourceStore(clock, makeId);
  const tokens = createDecisionTokens(await readServiceSecret(database, box, clock, 'decision_token'));
  const pseudonym = createPseudonyms(await readServiceSecret(database, box, clock, 'pseudonym'));
  const configuration = await openConfiguration({ database, clock, log });
  const writeEvents = createEventWriter({
    clock,
    makeId,
    webhooks: (scope) => configuration.snapshot(scope).webhooks,
  });
  const lane = createDecisionLane(database, writeEvents, () => undefined);
  const makeDecision = createMakeDecision({
    database,
    configuration,
    lane,
    tokens,
    pseudonym,
    clock,
    makeId,
    random: Math.random,
  });
  const { mediaDirectory } = config;
  const app = await createApp({ database, configuration, resources, makeDecision, mediaDirectory, clock, log });

  return {
    app,
    database,
    configuration,
    resources,
    makeId,
    async stop() {
      await app.close();
      await lane.drain();
      await configuration.stop();
      await database.close();
    },
  };
}
