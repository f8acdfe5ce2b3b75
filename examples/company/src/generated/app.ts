// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { auth } from '@twofold/auth';
import { defineApp, defineProject, ifInstalled } from '@twofold/runtime';
import { listeners } from '../auth-events.ts';
import { extend } from '../extend.ts';
import { authSettings } from './auth.ts';
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
  auth: authSettings,
  console: consoleSettings,
});

/** The model, the resolvers and the settings of the server. */
export const app = defineApp({
  project,
  generatedBy: '0.1.0',
  resolvers,
  capabilities: [
    auth({ extend, listeners }),
    await ifInstalled('@twofold/console', async () => (await import('@twofold/console/server')).webConsole(), consoleSettings),
  ],
  migrations: new URL('../../migrations/', import.meta.url),
  root: new URL('../../', import.meta.url),
});
