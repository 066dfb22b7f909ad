export type Role = 'owner' | 'operator' | 'viewer';

export const roles: readonly { id: Role; name: string; may: string }[] = [
  { id: 'owner', name: 'Owner', may: 'full access' },
  { id: 'operator', name: 'Operator', may: 'can change everything except keys, secrets and users' },
  { id: 'viewer', name: 'Viewer', may: 'read-only' },
];

/** Only owners change these; users are not even shown to others. */
const ofOwners = ['keys', 'users'];
/** Making a webhook, or a new secret of it, shows a secret. */
const secretActions = ['rotate_secret'];

/**
 * Whether the panel offers something. The service decides for itself; this only spares people buttons
 * that would be refused.
 *
 * @param action As react-admin names them: `list`, `show`, `create`, `edit`, `delete`, and our own.
 */
export function mayDo(role: Role, resource: string, action: string): boolean {
  if (role === 'owner') return true;
  const isRead = action === 'list' || action === 'show';
  if (resource === 'users') return false;
  if (isRead) return true;
  return role === 'operator' && !ofOwners.includes(resource) && !secretActions.includes(action);
}
