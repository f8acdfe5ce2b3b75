import type { JsonSchema } from '../routes/route.ts';
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
    total: { type: 'integer', minimum: 0 },
  },
};
