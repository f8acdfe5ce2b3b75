// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { create, custom, get, list, many, one, remove, update } from '@twofold/runtime';
import { resolvers as ofMutation } from '../resolvers/Mutation.ts';

/** The resolver of each field. A field that is not listed is a column, or a property of its parent's value. */
export const fields = {
  Company: {
    owner: one('User', 'owner_id'),
    employees: many('User', 'company_id', { inverse: 'company', paged: true, max: 100 }),
    projects: many('Project', 'company_id', { inverse: 'company', paged: true, max: 100 }),
  },
  Mutation: {
    createCompany: create('Company', { write: 'Mutation.createCompany:Company' }),
    createProject: create('Project', { write: 'CreateProjectInput:Project', input: 'input' }),
    updateProject: update('Project', ['id'], { write: 'Mutation.updateProject:Project' }),
    deleteProject: remove('Project', ['id'], { returns: 'boolean' }),
    joinCompany: custom(),
  },
  Project: {
    company: one('Company', 'company_id', { inverse: 'projects' }),
    owner: one('User', 'owner_id'),
  },
  Query: {
    company: get('Company', { id: 'id' }),
    companies: list('Company', { page: { limit: 'limit', offset: 'offset' }, max: 100 }),
    project: get('Project', { id: 'id' }),
    projects: list('Project', { filters: { done: 'done' }, page: { limit: 'limit', offset: 'offset' }, max: 100 }),
    user: get('User', { id: 'id' }),
    users: list('User', { page: { limit: 'limit', offset: 'offset' }, max: 100 }),
  },
  User: {
    company: one('Company', 'company_id', { inverse: 'employees' }),
  },
};

/** Your functions: each replaces the inferred resolver above. */
export const resolvers = {
  Mutation: ofMutation,
};
