/** What the doctor found: in order, worth a look, or wrong; the text says what to do. */
export interface Finding {
  state: 'good' | 'odd' | 'bad';
  text: string;
}

const finding =
  (state: Finding['state']) =>
  (text: string): Finding => ({ state, text });

export const good = finding('good');
export const odd = finding('odd');
export const bad = finding('bad');
