// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { loadMany, loadOne } from '@twofold/runtime';
import type * as types from './types.ts';

/** Loaders that fetch rows in batches: `ctx.loaders.user.load(id)`. They are created for every request. */
export const loaders = {
  companiesByOwner: loadMany<types.CompanyRow>('Company', 'owner_id'),
  company: loadOne<types.CompanyRow>('Company', 'id'),
  project: loadOne<types.ProjectRow>('Project', 'id'),
  projectsByCompany: loadMany<types.ProjectRow>('Project', 'company_id'),
  projectsByOwner: loadMany<types.ProjectRow>('Project', 'owner_id'),
  user: loadOne<types.UserRow>('User', 'id'),
  userByEmail: loadOne<types.UserRow>('User', 'email'),
  usersByCompany: loadMany<types.UserRow>('User', 'company_id'),
};
