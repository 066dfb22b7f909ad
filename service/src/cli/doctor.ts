import { type Config, readConfig } from '../config/config.ts';
import { ConfigError, unknownSettings } from '../config/read-settings.ts';
import { DirectoryInUseError } from '../store/directory-lock.ts';
import { type Command, CommandError, readArguments } from './command.ts';
import { databaseFindings } from './doctor-database.ts';
import { bad, type Finding, good, odd, machineFindings, runningFinding } from './doctor-machine.ts';
import { withDatabase } from './with-database.ts';

const marks = { good: 'ok   ', odd: 'look ', bad: 'WRONG' };

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'look for what is wrong with this installation',
  help: `Usage: trueward-service doctor

Looks at the configuration, the data folder, the database and the webhooks, and says what to do.
It changes nothing but the schema of the database, as the start would. On the embedded database it
sees less while a service runs, which alone may open it. The exit code is 1 when something is wrong.`,
  async run(args) {
    readArguments(args, {});
    let wrong = 0;
    const show = (findings: readonly Finding[]): void => {
      for (const { state, text } of findings) {
        process.stdout.write(`${marks[state]} ${text}\n`);
        if (state === 'bad') wrong += 1;
      }
    };
    const config = configured();
    if ('state' in config) show([config]);
    else {
      show([
        good('the configuration is valid'),
        ...unknownSettings(process.env).map((name) =>
          odd(`${name} is not a setting and is ignored: correct its name or remove it`),
        ),
        ...machineFindings(config),
      ]);
      show(await lookIntoDatabase());
      show([await runningFinding(config)]);
    }
    if (wrong > 0) throw new CommandError(`${wrong} to put right.`);
  },
};

function configured(): Config | Finding {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (error instanceof ConfigError) return bad(error.message);
    throw error;
  }
}

async function lookIntoDatabase(): Promise<readonly Finding[]> {
  try {
    return await withDatabase(databaseFindings);
  } catch (error) {
    if (error instanceof DirectoryInUseError) {
      return [good(`process ${error.pid} has the embedded database open: not looked into it`)];
    }
    return [bad(`the database cannot be opened: ${(error as Error).message}`)];
  }
}
