// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import type { ConsoleModel } from '@twofold/console/server';

/** Where the console answers, and whom it lets in: the manifest's `console` section with every default filled in. */
export const consoleSettings: ConsoleModel = {
  path: '/console',
  enabled: 'development',
  host: true,
  adminData: 'development',
  roles: { Owner: ['*'] },
};
