// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { auth } from '@twofold/auth';
import { hosting } from '@twofold/hosting';
import { models } from '@twofold/models';
import { defineApp, defineProject, ifInstalled } from '@twofold/runtime';
import { consoleSettings } from './console.ts';
import { hostingSettings } from './hosting.ts';
import { loaders } from './loaders.ts';
import { model } from './model.ts';
import { fields } from './resolvers.ts';
import { sdl } from './schema.graphql.ts';

const project = defineProject({
  sdl,
  model,
  fields,
  loaders,
  hosting: hostingSettings,
  console: consoleSettings,
});

/** The model, the resolvers and the settings of the server. */
export const app = defineApp({
  project,
  generatedBy: '0.1.0',
  capabilities: [
    auth(),
    hosting(),
    models(),
    await ifInstalled('@twofold/console', async () => (await import('@twofold/console/server')).webConsole(), consoleSettings),
  ],
  migrations: new URL('../../migrations/', import.meta.url),
  root: new URL('../../', import.meta.url),
});
