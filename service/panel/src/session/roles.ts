export type Role = 'owner' | 'operator' | 'viewer';

export const roles: readonly { id: Role; name: string; permissions: string }[] = [
  { id: 'owner', name: 'Owner', permissions: 'full access' },
  {
    id: 'operator',
    name: 'Operator',
    permissions: 'can change everything except keys, secrets and users',
  },
  { id: 'viewer', name: 'Viewer', permissions: 'read-only' },
];

/** Resources that only owners can change. Users are visible only to owners. */
const ownerOnlyResources = ['keys', 'users', 'grant-budgets', 'erasures', 'retention'];
/** Actions that reveal a secret, by resource. */
const secretActions: Readonly<Record<string, readonly string[]>> = {
  webhooks: ['create', 'rotate_secret'],
  sources: ['set_callback'],
};

/**
 * Whether the panel offers an action. The service enforces permissions. This function only hides buttons for requests
 * that the service would reject.
 *
 * @param action a react-admin action (`list`, `show`, `create`, `edit`, `delete`) or one of the panel's own
 */
export function isAllowed(role: Role, resource: string, action: string): boolean {
  if (role === 'owner') return true;
  const isRead = action === 'list' || action === 'show';
  if (resource === 'users') return false;
  if (isRead) return true;
  return (
    role === 'operator' &&
    !ownerOnlyResources.includes(resource) &&
    secretActions[resource]?.includes(action) !== true
  );
}
