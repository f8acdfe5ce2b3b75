import type { JsonSchema } from '../routes/route.ts';
import { count } from './json-shapes.ts';
import { app } from './route-shapes.ts';

/** The JSON Schemas of projects. */

export const project: JsonSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, apps: { type: 'array', items: app } },
};

export const projectList: JsonSchema = {
  type: 'object',
  properties: {
    projects: { type: 'array', items: project },
    total: count,
  },
};

const names = { type: 'array', items: { type: 'string' } } as const;

/** Names of apps. */
export const composeReport: JsonSchema = {
  type: 'object',
  properties: { created: names, changed: names, unchanged: names, gone: names },
};
