import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A title and its file, relative to the project root or to `docs/`. */
type Entry = [title: string, file: string];

const sections: { text: string; entries: Entry[] }[] = [
  {
    text: 'Start',
    entries: [
      ['Quick start', 'docs/quick-start.md'],
      ['No backend', 'docs/no-backend.md'],
      ['Phaser', 'docs/phaser.md'],
      ['Cocos Creator', 'docs/cocos.md'],
      ['Script tag', 'docs/script-tag.md'],
      ['Plain canvas', 'docs/canvas.md'],
      ['Other engines', 'docs/engines.md'],
      ['Engine drivers', 'docs/engine-driver.md'],
      ['Browsers', 'docs/browsers.md'],
      ['Operating systems', 'docs/systems.md'],
      ['FAQ', 'docs/faq.md'],
    ],
  },
  {
    text: 'Understand',
    entries: [
      ['Concepts', 'docs/concepts.md'],
      ['Glossary', 'docs/glossary.md'],
      ['The ad break', 'docs/ad-break.md'],
      ['Creatives', 'docs/creatives.md'],
      ['Rewards', 'docs/rewards.md'],
      ['The outbox', 'docs/outbox.md'],
      ['Architecture', 'ARCHITECTURE.md'],
    ],
  },
  {
    text: 'Build and ship',
    entries: [
      ['Recipes', 'docs/recipes.md'],
      ['Webhooks', 'docs/webhooks.md'],
      ['Webhooks in any language', 'docs/webhooks-by-hand.md'],
      ['Test your integration', 'docs/test-your-integration.md'],
      ['Going-live checklist', 'docs/going-live.md'],
      ['Publish on a portal', 'docs/portals.md'],
      ['Write a portal adapter', 'docs/portal-adapter.md'],
      ['How often to show ads', 'docs/ad-rules.md'],
      ['Monetization', 'docs/monetization.md'],
      ['Networks and bidders', 'docs/external-sources.md'],
      ['Google’s H5 ads on your site', 'docs/page-ads.md'],
      ['Troubleshooting', 'docs/troubleshooting.md'],
    ],
  },
  {
    text: 'Migrate',
    entries: [
      ['From Google H5, Poki or CrazyGames', 'docs/migration.md'],
      ['Coming from Google’s H5 ads', 'docs/ad-placement.md'],
    ],
  },
  {
    text: 'Run the service',
    entries: [
      ['Command line', 'docs/cli.md'],
      ['Panel', 'docs/panel.md'],
      ['Panel access', 'docs/panel-access.md'],
      ['Operate', 'docs/operate.md'],
      ['Runbook', 'docs/runbook.md'],
      ['Backup', 'docs/backup.md'],
      ['Scale', 'docs/scale.md'],
      ['Clocks', 'docs/clocks.md'],
    ],
  },
  {
    text: 'Look up',
    entries: [
      ['trueward', 'docs/reference/sdk/trueward.md'],
      ['trueward/phaser', 'docs/reference/sdk/trueward/phaser.md'],
      ['trueward/cocos', 'docs/reference/sdk/trueward/cocos.md'],
      ['trueward/pixi', 'docs/reference/sdk/trueward/pixi.md'],
      ['trueward/babylon', 'docs/reference/sdk/trueward/babylon.md'],
      ['trueward/web-export', 'docs/reference/sdk/trueward/web-export.md'],
      ['trueward/ad-placement', 'docs/reference/sdk/trueward/ad-placement.md'],
      ['trueward/server', 'docs/reference/sdk/trueward/server.md'],
      ['Outcomes and errors', 'docs/errors.md'],
      ['HTTP API', 'docs/api.md'],
      ['HTTP reference', 'docs/reference/http.md'],
      ['Command line reference', 'docs/reference/cli.md'],
    ],
  },
  {
    text: 'Trust',
    entries: [
      ['Threat model', 'docs/threat-model.md'],
      ['Privacy', 'docs/privacy.md'],
      ['Accessibility', 'docs/accessibility.md'],
      ['Benchmarks', 'docs/benchmarks/README.md'],
      ['Security policy', 'docs/SECURITY.md'],
    ],
  },
  {
    text: 'Project',
    entries: [
      ['Overview', 'README.md'],
      ['Contributing', 'CONTRIBUTING.md'],
      ['Changelog', 'CHANGELOG.md'],
      ['Packages and licenses', 'docs/licenses.md'],
    ],
  },
];

const root = join(import.meta.dirname, '..', '..');

/** Returns the path of a file's page on the site. For example, `docs/phaser.md` becomes `phaser.md`. */
export function getPagePath(file: string): string {
  return file.replace(/^docs\//, '');
}

/** The sections with their pages. Pages whose files are missing are omitted. */
export const sidebar = sections.map(({ text, entries }) => ({
  text,
  items: entries
    .filter(([, file]) => existsSync(join(root, file)))
    .map(([title, file]) => ({
      text: title,
      link: `/${getPagePath(file).replace(/\.md$/, '')}`,
    })),
}));
