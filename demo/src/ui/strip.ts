import type { Simulation } from 'trueward';
import type { TruewardPlugin } from 'trueward/phaser';
import type { Account } from '../../game-server/bank.ts';
import { readSetting, writeSetting } from '../settings.ts';
import type { SwitchableNetwork } from '../switchable-network.ts';
import { element, write } from './element.ts';

/** The status strip, which shows the rewards on this device next to the rewards that the game server has credited. */
export interface Strip {
  showAccount(account: Account): void;
  showConnection(connected: boolean): void;
  showOutcome(text: string): void;
  /** Records a delivered reward, so that it is still counted after a reload. */
  recordDelivery(decisionId: string): void;
  refresh(): Promise<void>;
}

const simulations: Record<Simulation, string> = {
  no_fill: 'No ad',
  blocked: 'Blocked by a policy',
  killed: 'Kill switch',
  slow: 'Slow response',
  error: 'Service error',
  reward_denied: 'Reward denied',
  reward_pending: 'Reward pending',
};

export function createStrip(ads: TruewardPlugin, network: SwitchableNetwork): Strip {
  const deliveredIds = new Set((readSetting('delivered') ?? '').split(' ').filter(Boolean));
  const writeValue = (name: string, text: string | number) =>
    write(`[data-testid="${name}"]`, text);
  setUpControls(ads, network);

  return {
    showAccount({ coins, credits }) {
      write('[data-coins]', coins);
      writeValue('server-coins', coins);
      writeValue('server-credits', credits.length);
      const latest = credits.slice(0, 4).map(({ amount, placement, creditedAt }) => {
        const item = document.createElement('li');
        const amountText = document.createElement('b');
        amountText.textContent = `+${amount}`;
        item.append(`${placement}, ${new Date(creditedAt).toLocaleTimeString()}`, amountText);
        return item;
      });
      document.querySelector('[data-testid="credit-list"]')?.replaceChildren(...latest);
    },
    showConnection: (connected) =>
      writeValue('server-connection', connected ? 'live' : 'lost, reconnecting'),
    showOutcome: (text) => writeValue('last-outcome', text),
    recordDelivery(decisionId) {
      deliveredIds.add(decisionId);
      writeSetting('delivered', [...deliveredIds].slice(-200).join(' '));
    },
    async refresh() {
      const rewards = await ads.rewards();
      const count = (state: string) => rewards.filter((reward) => reward.state === state).length;
      writeValue('device-pending', count('pending'));
      writeValue('device-earned', count('earned'));
      writeValue('device-delivered', deliveredIds.size);
      writeValue('device-queued', ads.diagnostics().outbox.stored);
    },
  };
}

function setUpControls(ads: TruewardPlugin, network: SwitchableNetwork): void {
  const offline = element('offline', HTMLInputElement);
  offline.addEventListener('change', () => network.setOffline(offline.checked));
  const select = element('simulate', HTMLSelectElement);
  select.append(new Option('Decided by the service', ''));
  for (const [name, text] of Object.entries(simulations)) select.append(new Option(text, name));
  select.addEventListener('change', () => {
    ads.simulate(select.value === '' ? undefined : (select.value as Simulation));
  });
}
