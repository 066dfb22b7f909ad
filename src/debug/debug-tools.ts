/** The debug panel and the log: one file, because both are for developers only. */
export { togglePanel } from './open-panel.ts';
export { writeLog } from './write-log.ts';
