// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { defineApp, defineProject } from '@twofold/runtime';
import { loaders } from './loaders.ts';
import { model } from './model.ts';
import { fields, resolvers } from './resolvers.ts';
import { sdl } from './schema.graphql.ts';

const project = defineProject({
  sdl,
  model,
  fields,
  loaders,
});

/** The model, the resolvers and the settings of the server. */
export const app = defineApp({
  project,
  resolvers,
  migrations: new URL('../../migrations/', import.meta.url),
  root: new URL('../../', import.meta.url),
});
