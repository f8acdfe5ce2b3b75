// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { type Model, duration, size } from '@twofold/runtime';

/** The parts of the model that are not in the SDL: tables, inputs and access rules. */
export const model = {
  name: 'hosting',
  ids: 'integer',
  entities: {
    HostedApp: {
      singular: 'hostedApp',
      plural: 'hostedApps',
      table: 'hosted_apps',
      columns: {
        id: 'id!',
        name: { type: 'text!', unique: true },
        team_id: { type: 'id', references: { entity: 'Team', onDelete: 'set null' } },
      },
      indexes: [{ name: 'hosted_apps_team_id_index', columns: ['team_id'], unique: false }],
    },
    Team: {
      singular: 'team',
      plural: 'teams',
      table: 'teams',
      columns: {
        id: 'id!',
        name: { type: 'text!', unique: true },
      },
    },
  },
  writes: {
    'Mutation.createHostedApp:HostedApp': 'HostedApp',
    'Mutation.createTeam:Team': 'Team',
  },
  api: {
    path: '/graphql',
    access: 'user',
    crud: false,
    rest: true,
    limits: {
      depth: 12,
      cost: 50000,
      aliases: 30,
      rootFields: 20,
      directives: 50,
      tokens: 2000,
      batch: 0,
      list: 100,
      many: 1000,
      time: duration('10s'),
      result: size('10MiB'),
      memory: size('128MiB'),
    },
    introspection: 'development',
    graphiql: 'development',
    suggestions: 'development',
    trustedDocuments: null,
  },
  server: { port: 8080, host: '0.0.0.0', cors: [], trustedProxies: [], bodyLimit: size('1MiB') },
} satisfies Model;
