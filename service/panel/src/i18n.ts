import { defaultI18nProvider } from 'react-admin';

/** Nouns for notifications, by resource. */
const nouns: Readonly<Record<string, string>> = {
  placements: 'Placement',
  'house-ads': 'House ad',
  creatives: 'Creative',
  advertisers: 'Advertiser',
  sources: 'Source',
  policies: 'Policy',
  'ad-rules': 'Ad rule',
  webhooks: 'Webhook',
  keys: 'Key',
  users: 'User',
};

const overrides: Readonly<Record<string, string>> = {
  'ra.auth.logout': 'Sign out',
  'ra.message.unsaved_changes': 'Leave without saving? Your changes will be lost.',
  'ra.message.invalid_form': 'Fix the highlighted fields',
  ...Object.fromEntries(
    Object.entries(nouns).flatMap(([name, noun]) => [
      [`resources.${name}.notifications.created`, `${noun} created`],
      [`resources.${name}.notifications.updated`, `${noun} saved`],
      [`resources.${name}.notifications.deleted`, `${noun} archived`],
    ]),
  ),
  'resources.users.notifications.deleted': 'User removed',
};

/** React-admin's messages. Some of them are replaced with more specific messages. */
export const i18nProvider: typeof defaultI18nProvider = {
  ...defaultI18nProvider,
  translate(key, options: Record<string, unknown> = {}) {
    const text = overrides[key];
    const count = Number(options['smart_count'] ?? 1);
    if (text === undefined) return defaultI18nProvider.translate(key, options);
    // Several objects were changed together: “3 × House ad archived”.
    return count > 1 ? `${count} × ${text}` : text;
  },
};
