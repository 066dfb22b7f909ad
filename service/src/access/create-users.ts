import type { AuditLog } from '../store/audit-log.ts';
import type { SecretBox } from './secret-box.ts';
import type { Clock } from '../platform/time.ts';
import type { MakeId } from '../platform/ids.ts';
import type { Database } from '../store/database.ts';
import type { Quotas } from '../store/quotas.ts';
import { createLinks, type Links } from './links.ts';
import { createUserManager, type UserManager } from './user-manager.ts';
import { createOneTimeCodes, type Passwords } from './credentials.ts';
import { createOwnAccount, type OwnAccount } from './own-account.ts';
import { createSessions, type Sessions } from './sessions.ts';
import {
  createSingleSignOn,
  type SingleSignOn,
  type SingleSignOnSettings,
} from './single-sign-on.ts';
import { createSignIn, type SignIn } from './sign-in.ts';

interface Deps {
  database: Database;
  box: SecretBox;
  clock: Clock;
  makeId: MakeId;
  audit: AuditLog;
  passwords: Passwords;
  quotas: Quotas;
  singleSignOn: SingleSignOnSettings | undefined;
}

/** The panel users, their credentials and sessions. */
export interface Users {
  sessions: Sessions;
  signIn: SignIn;
  links: Links;
  manager: UserManager;
  ownAccount: OwnAccount;
  /** Undefined if users sign in with passwords only. */
  singleSignOn: SingleSignOn | undefined;
}

export function createUsers({
  database,
  box,
  clock,
  makeId,
  audit,
  passwords,
  quotas,
  singleSignOn,
}: Deps): Users {
  const sessions = createSessions(database, clock);
  const codes = createOneTimeCodes(box, clock);
  const links = createLinks({ database, clock, makeId, audit, sessions, passwords });
  return {
    sessions,
    links,
    signIn: createSignIn({ database, clock, codes, sessions, passwords }),
    manager: createUserManager({ clock, makeId, audit, quotas, links, sessions }),
    ownAccount: createOwnAccount({ database, audit, codes, sessions, passwords }),
    singleSignOn: singleSignOn && createSingleSignOn(singleSignOn),
  };
}
