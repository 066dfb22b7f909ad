import { type Config, readConfig } from '../config/config.ts';
import { ConfigError, unknownSettings } from '../config/read-settings.ts';
import { DirectoryInUseError } from '../store/directory-lock.ts';
import { type Command, CommandError, readArguments } from './command.ts';
import { databaseFindings } from './doctor-database.ts';
import { fail, type Finding, ok, warn, machineFindings, runningFinding } from './doctor-machine.ts';
import { withDatabase } from './with-database.ts';

const marks = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' };

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'check this installation for problems',
  help: `Usage: trueward-service doctor

Checks the configuration, the data folder, the database and the webhooks, and suggests fixes. It
migrates the database schema, as start does, and changes nothing else. Only one process can open the
embedded database: while a service runs, its checks are skipped. The exit code is 1 if a check fails.`,
  async run(args) {
    readArguments(args, {});
    let failures = 0;
    const show = (findings: readonly Finding[]): void => {
      for (const { state, text } of findings) {
        process.stdout.write(`${marks[state]} ${text}\n`);
        if (state === 'fail') failures += 1;
      }
    };
    const config = loadConfig();
    if ('state' in config) show([config]);
    else {
      show([
        ok('the configuration is valid'),
        ...unknownSettings(process.env).map((name) =>
          warn(`${name} is not a known setting and is ignored: correct its name or remove it`),
        ),
        ...machineFindings(config),
      ]);
      show(await databaseReport());
      show([await runningFinding(config)]);
    }
    if (failures > 0)
      throw new CommandError(`${failures} ${failures === 1 ? 'check' : 'checks'} failed.`);
  },
};

function loadConfig(): Config | Finding {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (error instanceof ConfigError) return fail(error.message);
    throw error;
  }
}

async function databaseReport(): Promise<readonly Finding[]> {
  try {
    return await withDatabase(databaseFindings);
  } catch (error) {
    if (error instanceof DirectoryInUseError) {
      return [ok(`process ${error.pid} has the embedded database open: database checks skipped`)];
    }
    return [fail(`the database cannot be opened: ${(error as Error).message}`)];
  }
}
