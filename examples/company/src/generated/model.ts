// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { type Model, duration, size } from '@twofold/runtime';

/** The parts of the model that are not in the SDL: tables, inputs and access rules. */
export const model = {
  name: 'company',
  ids: 'integer',
  entities: {
    Company: {
      singular: 'company',
      plural: 'companies',
      table: 'companies',
      columns: {
        id: 'id!',
        name: 'text!',
        owner_id: { type: 'id!', references: { entity: 'User', onDelete: 'restrict' } },
      },
      indexes: [{ name: 'companies_owner_id_index', columns: ['owner_id'], unique: false }],
    },
    Project: {
      singular: 'project',
      plural: 'projects',
      table: 'projects',
      columns: {
        id: 'id!',
        title: 'text!',
        done: { type: 'boolean!', default: { kind: 'value', value: false } },
        company_id: { type: 'id!', references: { entity: 'Company', onDelete: 'restrict' } },
        owner_id: { type: 'id!', references: { entity: 'User', onDelete: 'restrict' } },
        created_at: { type: 'timestamp!', field: 'createdAt', stamp: 'created' },
      },
      indexes: [
        { name: 'projects_company_id_index', columns: ['company_id'], unique: false },
        { name: 'projects_owner_id_index', columns: ['owner_id'], unique: false },
      ],
    },
    User: {
      singular: 'user',
      plural: 'users',
      table: 'users',
      columns: {
        id: 'id!',
        name: 'text!',
        email: { type: 'text!', unique: true },
        company_id: { type: 'id', references: { entity: 'Company', onDelete: 'set null' } },
      },
      indexes: [
        { name: 'users_company_id_index', columns: ['company_id'], unique: false },
        { name: 'users_email_identity_key', columns: ['email'], unique: true, fold: 'letters' },
      ],
    },
  },
  scalars: {
    DateTime: { column: 'timestamp', source: 'known' },
  },
  writes: {
    'CreateProjectInput:Project': { title: 'title', companyId: { key: 'company' } },
    'Mutation.createCompany:Company': { name: 'name' },
    'Mutation.updateProject:Project': { title: 'title', done: 'done' },
  },
  access: {
    Company: [
      { allow: ['OWNER'], roles: [], owner: 'owner_id', on: ['READ', 'CREATE', 'UPDATE', 'DELETE'] },
      { allow: ['ROLE'], roles: ['Owner', 'Administrator'], on: ['READ', 'UPDATE', 'DELETE'] },
    ],
    Project: [
      { allow: ['OWNER'], roles: [], owner: 'owner_id', on: ['READ', 'CREATE', 'UPDATE', 'DELETE'] },
      { allow: ['ROLE'], roles: ['Owner', 'Administrator'], on: ['READ', 'UPDATE', 'DELETE'] },
    ],
    User: [
      { allow: ['USER'], roles: [], on: ['READ'], implied: true },
      { allow: ['OWNER'], roles: [], owner: 'id', on: ['UPDATE'], implied: true },
      { allow: [], roles: [], on: ['CREATE', 'DELETE'], implied: true },
    ],
    'User.email': [{ allow: ['OWNER'], roles: [], owner: 'id', on: ['READ'], implied: true }],
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
