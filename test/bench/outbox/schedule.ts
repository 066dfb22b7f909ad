import { measureFaultyDrain } from './measure/faulty-drain.ts';
import { measureKill, type KillCase } from './measure/kill.ts';
import { measureLife } from './measure/life.ts';
import type { Setting } from './measure/setting.ts';
import type { Measured } from './results.ts';

/** One measurement of one contestant. */
export interface Job {
  title: string;
  run(): Promise<void>;
}

const sends = ({ facts }: Measured): boolean => facts.kind === 'ours' || facts.kind === 'peer';

/** Plans all jobs. The contestants alternate, so that other load on the machine affects all of them equally. */
export function planJobs(setting: Setting, measured: Measured[]): Job[] {
  const lives = measured.map((entry) => ({
    title: `${entry.facts.name}: cost, frames and drain`,
    run: async () => {
      entry.life = await measureLife(setting, entry.facts);
    },
  }));
  const cases = setting.plan.kills.flatMap(({ delaysMs, ...size }) =>
    delaysMs.map((delayMs) => ({ ...size, delayMs })),
  );
  const killJobs = (killCase: KillCase): Job[] =>
    measured
      .filter(({ facts }) => facts.kind !== 'control')
      .map((entry) => ({
        title: `${entry.facts.name}: killed ${killCase.delayMs} ms after ${killCase.events} events`,
        run: async () => void entry.kills.push(await measureKill(setting, entry.facts, killCase)),
      }));
  const faulty = measured.filter(sends).map((entry) => ({
    title: `${entry.facts.name}: lost answer and kill while sending`,
    run: async () => {
      entry.faultyDrain = await measureFaultyDrain(setting, entry.facts);
    },
  }));
  // The longest jobs come last. The last jobs are skipped if the time runs out.
  const [short, long] = [cases.filter(isShort), cases.filter((candidate) => !isShort(candidate))];
  return [...lives, ...short.flatMap(killJobs), ...faulty, ...long.flatMap(killJobs)];
}

const isShort = ({ events }: KillCase): boolean => events <= 1_000;
