// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { loadMany, loadOne } from '@twofold/runtime';
import type * as types from './types.ts';

/** Loaders that fetch rows in batches: `ctx.loaders.user.load(id)`. They are created for every request. */
export const loaders = {
  hostedApp: loadOne<types.HostedAppRow>('HostedApp', 'id'),
  hostedAppByName: loadOne<types.HostedAppRow>('HostedApp', 'name'),
  hostedAppsByTeam: loadMany<types.HostedAppRow>('HostedApp', 'team_id'),
  team: loadOne<types.TeamRow>('Team', 'id'),
  teamByName: loadOne<types.TeamRow>('Team', 'name'),
};
