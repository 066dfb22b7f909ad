import type { AuthProvider } from 'react-admin';
import { isAllowed } from './roles.ts';
import type { Credentials, Session } from './session.ts';

/** Connects react-admin to the session and its permissions. */
export function createAuthProvider(session: Session): AuthProvider {
  return {
    login: (credentials: Credentials) => session.signIn(credentials),
    logout: () => session.signOut(),
    async checkAuth() {
      await session.read();
    },
    async checkError(error: { status?: number }) {
      if (error.status !== 401 || session.end()) return;
      throw new Error('Sign in first.');
    },
    async getIdentity() {
      const { user } = await session.read();
      return { id: user.id, fullName: user.name };
    },
    async canAccess({ resource, action }) {
      const { user } = await session.read();
      return isAllowed(user.role, resource, action);
    },
  };
}
