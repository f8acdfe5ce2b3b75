import type { JsonSchema, RouteSpec } from './route.ts';

const tag = 'jobs';
const text = { type: 'string' } as const;
const time = { type: 'string', format: 'date-time' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const STATES = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const;

const members = {
  id: { type: 'integer' },
  name: text,
  state: { type: 'string', enum: STATES },
  attempt: { ...count, description: 'Attempts that have begun' },
  attempts: { ...count, description: 'The most attempts' },
  at: { ...time, description: 'It does not run before this time' },
  created_at: time,
  started_at: { type: ['string', 'null'], format: 'date-time' },
  finished_at: { type: ['string', 'null'], format: 'date-time' },
  error: { type: ['string', 'null'], description: 'Of the last attempt that failed' },
} as const;
const listed: JsonSchema = {
  type: 'object',
  required: Object.keys(members),
  properties: members,
};
const job: JsonSchema = {
  type: 'object',
  required: [...Object.keys(members), 'data', 'errors'],
  properties: {
    ...members,
    data: { description: 'JSON, as it was sent' },
    errors: {
      type: 'array',
      description: 'One for each attempt that failed',
      items: { type: 'object', properties: { attempt: count, at: time, message: text } },
    },
  },
};
const schedule: JsonSchema = {
  type: 'object',
  required: ['name', 'cron', 'timezone', 'next_at'],
  properties: {
    name: text,
    cron: text,
    timezone: text,
    next_at: { type: ['string', 'null'], format: 'date-time', description: 'When it sends a job' },
  },
};
const refused = (description: string) => ({
  description,
  schema: { type: 'object', required: ['error'], properties: { error: text } },
});
const refusals = { 401: refused('API key required'), 403: refused('Forbidden') };
const onJob = { ...refusals, 404: refused('Job not found') };
const onState = { ...onJob, 409: refused('It is in another state') };
const shown = (description: string) => ({ description, schema: job });

/**
 * Routes of a project with jobs whose callers are known, for the operator, an API key or a user with
 * `jobs:read` or `jobs:write`.
 */
export const jobRoutes = [
  {
    id: 'listJobs',
    method: 'GET',
    path: '/api/system/jobs',
    access: 'jobs:read',
    tag,
    summary: 'Jobs, the newest first',
    query: {
      state: { type: 'string', enum: STATES },
      name: { type: 'string', maxLength: 63 },
      limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      cursor: { type: 'string', maxLength: 20 },
    },
    responses: {
      200: {
        description: 'A page',
        schema: {
          type: 'object',
          required: ['jobs', 'total', 'next_cursor'],
          properties: {
            jobs: { type: 'array', items: listed },
            total: count,
            next_cursor: { type: ['string', 'null'] },
          },
        },
      },
      ...refusals,
    },
  },
  {
    id: 'jobStats',
    method: 'GET',
    path: '/api/system/jobs/stats',
    access: 'jobs:read',
    tag,
    summary: 'How many jobs there are, by name and state, and what sends them by a schedule',
    responses: {
      200: {
        description: 'The counts and the schedules',
        schema: {
          type: 'object',
          required: ['stats', 'schedules'],
          properties: {
            stats: {
              type: 'array',
              items: { type: 'object', properties: { name: text, state: text, count } },
            },
            schedules: { type: 'array', items: schedule },
          },
        },
      },
      ...refusals,
    },
  },
  {
    id: 'getJob',
    method: 'GET',
    path: '/api/system/jobs/:id',
    access: 'jobs:read',
    tag,
    summary: 'One job with its data',
    responses: { 200: shown('The job'), ...onJob },
  },
  {
    id: 'sendJob',
    method: 'POST',
    path: '/api/system/jobs',
    access: 'jobs:write',
    tag,
    summary: 'Send a job',
    audit: { target: 'job:{id}', values: ['name', 'at'], atomic: true },
    body: {
      kind: 'json',
      schema: {
        type: 'object',
        required: ['name'],
        additionalProperties: false,
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 63 },
          data: {},
          at: { type: 'string', maxLength: 64, description: 'Not before this time: ISO 8601' },
          key: {
            type: 'string',
            minLength: 1,
            maxLength: 1000,
            description: 'While a job of this name and key waits, none is added',
          },
        },
      },
    },
    responses: { 201: shown('The job'), 400: refused('A value is wrong'), ...refusals },
  },
  {
    id: 'retryJob',
    method: 'POST',
    path: '/api/system/jobs/:id/retry',
    access: 'jobs:write',
    tag,
    summary: 'Begin a failed job anew',
    audit: { target: 'job:{id}', atomic: true },
    responses: { 200: shown('The job'), ...onState },
  },
  {
    id: 'cancelJob',
    method: 'POST',
    path: '/api/system/jobs/:id/cancel',
    access: 'jobs:write',
    tag,
    summary: 'Cancel a waiting job, or abort the signal of a running one',
    audit: { target: 'job:{id}', atomic: true },
    responses: { 200: shown('The job'), ...onState },
  },
] as const satisfies readonly RouteSpec[];
