import { createContext, useContext } from 'react';

export type Environment = 'sandbox' | 'live';

/** Kept for each tab: two tabs can look at both at the same time. */
const storageKey = 'trueward.environment';

/** The environment that this tab looks at; the sandbox, until it is switched. */
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

/** Which environment the panel shows, and how to change it. */
export const useEnvironment = (): EnvironmentSwitch => useContext(EnvironmentContext);
