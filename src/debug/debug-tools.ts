/** The debug panel, the log and the warnings: one file, because all are for developers only. */
export { togglePanel } from './open-panel.ts';
export { warnOfMistake } from './warn-of-mistake.ts';
export { writeLog } from './write-log.ts';
