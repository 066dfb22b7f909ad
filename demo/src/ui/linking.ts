import type { LinkResult, Wallet } from 'trueward';
import { element, write } from './element.ts';

const linkTexts: Record<Exclude<LinkResult['outcome'], 'not_empty'>, string> = {
  linked: 'Linked: both browsers now have the same gems. What you bought there costs nothing here.',
  wrong_code: 'This code is wrong, or has expired.',
  offline: 'You are offline.',
  unavailable: 'Linking is not possible here.',
  error: 'That did not work. Try again later.',
};

/** Lets the player go on in a second browser, with the same wallet: one browser makes a code, the other one takes it. */
export function setUpLinking(wallet: Wallet, showToast: (text: string) => void): void {
  const make = element('make-code', HTMLButtonElement);
  const input = element('code-input', HTMLInputElement);
  const submit = element('link-submit', HTMLButtonElement);
  const note = element('link-note', HTMLElement);
  /** Writes below the form. On a small screen, that is below the edge of the shop. */
  const say = (text: string): void => {
    note.textContent = text;
    if (text !== '') note.scrollIntoView({ block: 'nearest' });
  };
  /** The code for which the player has been asked whether to give up this browser's own gems. */
  let askedFor: string | undefined;

  const makeCode = async (): Promise<void> => {
    make.disabled = true;
    const result = await wallet.createLinkCode();
    make.disabled = false;
    if (result.outcome === 'created') {
      write('#code', result.code);
      say(`Enter ${result.code} in the other browser within ten minutes.`);
    } else if (result.outcome === 'offline') showToast('You are offline.');
    else if (result.reason === 'player_required')
      showToast('Watch an ad first: there is nothing to share yet.');
    else showToast('That did not work. Try again later.');
  };
  input.addEventListener('input', () => {
    askedFor = undefined;
    say('');
    submit.textContent = 'Link';
  });
  const link = async (): Promise<void> => {
    const code = input.value.trim();
    if (code === '') return input.focus();
    submit.disabled = true;
    const { outcome } = await wallet.link(code, { replace: askedFor === code });
    submit.disabled = false;
    if (outcome === 'not_empty') {
      askedFor = code;
      say('This browser has gems or items of its own, which would stay behind.');
      submit.textContent = 'Link anyway';
      return;
    }
    if (outcome === 'linked') input.value = '';
    input.dispatchEvent(new Event('input'));
    say(linkTexts[outcome]);
  };
  make.addEventListener('click', () => void makeCode());
  // On a small screen, it opens below the edge of the shop.
  const details = element('linking', HTMLDetailsElement);
  details.addEventListener('toggle', () => details.scrollIntoView({ block: 'nearest' }));
  element('link', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    void link();
  });
}
