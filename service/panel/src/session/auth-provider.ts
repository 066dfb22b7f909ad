import type { AuthProvider } from 'react-admin';
import { mayDo } from './roles.ts';
import type { Credentials, Session } from './session.ts';

/** Tells react-admin who is signed in, and what they may do. */
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
      return mayDo(user.role, resource, action);
    },
  };
}
