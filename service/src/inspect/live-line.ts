/** One thing that was recorded in the sandbox. */
export interface LiveLine {
  event: 'decision' | 'event';
  data: object;
}
