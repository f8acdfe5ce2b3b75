// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { defineApp, defineProject, ifInstalled } from '@twofold/runtime';
import { consoleSettings } from './console.ts';
import { loaders } from './loaders.ts';
import { model } from './model.ts';
import { fields, resolvers } from './resolvers.ts';
import { sdl } from './schema.graphql.ts';

const project = defineProject({
  sdl,
  model,
  fields,
  loaders,
  console: consoleSettings,
});

/** The model, the resolvers and the settings of the server. */
export const app = defineApp({
  project,
  generatedBy: '0.1.0',
  resolvers,
  capabilities: [
    await ifInstalled('@twofold/auth', async () => (await import('@twofold/auth')).auth(), consoleSettings),
    await ifInstalled('@twofold/console', async () => (await import('@twofold/console/server')).webConsole(), consoleSettings),
  ],
  migrations: new URL('../../migrations/', import.meta.url),
  root: new URL('../../', import.meta.url),
});
