// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { create, get, list, many, one, remove } from '@twofold/runtime';

/** The resolver of each field. A field that is not listed is a column, or a property of its parent's value. */
export const fields = {
  HostedApp: {
    team: one('Team', 'team_id', { inverse: 'apps' }),
  },
  Mutation: {
    createTeam: create('Team', { write: 'Mutation.createTeam:Team' }),
    createHostedApp: create('HostedApp', { write: 'Mutation.createHostedApp:HostedApp' }),
    deleteHostedApp: remove('HostedApp', ['id'], { returns: 'boolean' }),
  },
  Query: {
    team: get('Team', { id: 'id' }),
    teams: list('Team', { paged: true, max: 100 }),
    hostedApps: list('HostedApp', { paged: true, max: 100 }),
  },
  Team: {
    apps: many('HostedApp', 'team_id', { inverse: 'team', paged: true, max: 100 }),
  },
};
