import { measureFaultyDrain } from './measure/faulty-drain.ts';
import { measureKill, type KillCase } from './measure/kill.ts';
import { measureFaultFree } from './measure/life.ts';
import type { Setting } from './measure/setting.ts';
import type { Measurements } from './results.ts';

/** One measurement of one contender. */
export interface Job {
  title: string;
  run(): Promise<void>;
}

const sends = ({ facts }: Measurements): boolean => facts.kind === 'ours' || facts.kind === 'peer';

/** Plans all jobs. The contenders take turns, so that other load on the machine affects all of them equally. */
export function planJobs(setting: Setting, measurements: Measurements[]): Job[] {
  const lifeJobs = measurements.map((entry) => ({
    title: `${entry.facts.name}: cost, frames and drain`,
    run: async () => {
      entry.life = await measureFaultFree(setting, entry.facts);
    },
  }));
  const killCases = setting.plan.kills.flatMap(({ delaysMs, ...size }) =>
    delaysMs.map((delayMs) => ({ ...size, delayMs })),
  );
  const killJobs = (killCase: KillCase): Job[] =>
    measurements
      .filter(({ facts }) => facts.kind !== 'control')
      .map((entry) => ({
        title: `${entry.facts.name}: killed ${killCase.delayMs} ms after ${killCase.events} events`,
        run: async () => void entry.kills.push(await measureKill(setting, entry.facts, killCase)),
      }));
  const faultyDrainJobs = measurements.filter(sends).map((entry) => ({
    title: `${entry.facts.name}: lost response and kill while sending`,
    run: async () => {
      entry.faultyDrain = await measureFaultyDrain(setting, entry.facts);
    },
  }));
  // The longest jobs come last, because the last jobs are skipped if time runs out.
  const [shortKills, longKills] = [
    killCases.filter(isShort),
    killCases.filter((candidate) => !isShort(candidate)),
  ];
  return [
    ...lifeJobs,
    ...shortKills.flatMap(killJobs),
    ...faultyDrainJobs,
    ...longKills.flatMap(killJobs),
  ];
}

const isShort = ({ events }: KillCase): boolean => events <= 1_000;
