import { createContext, useContext } from 'react';

export type Environment = 'sandbox' | 'live';

/** Stored per tab, so that two tabs can show different environments. */
const storageKey = 'trueward.environment';

/** Returns this tab's environment; `sandbox` by default. */
export const readEnvironment = (): Environment =>
  sessionStorage.getItem(storageKey) === 'live' ? 'live' : 'sandbox';

export const storeEnvironment = (environment: Environment): void =>
  sessionStorage.setItem(storageKey, environment);

interface EnvironmentSwitch {
  environment: Environment;
  switchTo(environment: Environment): void;
}

export const EnvironmentContext = createContext<EnvironmentSwitch>({
  environment: 'sandbox',
  switchTo: () => {},
});

/** Returns the current environment and a function to switch it. */
export const useEnvironment = (): EnvironmentSwitch => useContext(EnvironmentContext);
