import type { JsonSchema } from '../routes/route.ts';
import { closedObject, count, dateTime, text } from './json-shapes.ts';
import { deployConfig, env, image } from './route-shapes.ts';

/** The JSON Schemas of moves: bodies, responses, and what the stream says of the app. */

const id = { type: 'string', pattern: '^[0-9a-f]{32}$' } as const;
const key = { type: 'string', pattern: '^[A-Za-z0-9+/]{43}=$' } as const;
const origin = { type: 'string', pattern: '^https?://[^\\s/?#@]+$', maxLength: 300 } as const;

export const exportBody = closedObject(
  {
    move: id,
    step: { enum: ['check', 'copy', 'commit', 'cancel'] },
    key,
    to: origin,
  },
  ['move', 'step'],
);

/** What a step of the source answers, except `copy`, which answers with the stream. */
export const exported: JsonSchema = {
  type: 'object',
  properties: {
    move: text,
    state: { enum: ['ready', 'copying', 'stopped', 'moved', 'cancelled'] },
    version: text,
    volumes: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: text, bytes: { type: ['integer', 'null'], minimum: 0 } },
      },
    },
    domains: { type: 'array', items: text },
    image: { type: ['integer', 'null'], minimum: 0 },
    backup_target: { type: ['string', 'null'] },
    to: text,
    until: dateTime,
  },
};

export const exportQuery = { move: id } as const;
export const importQuery = {
  move: id,
  step: { enum: ['check', 'copy', 'last', 'cancel'], default: 'copy' },
  backup_target: { type: 'string', maxLength: 100 },
  part: { type: 'integer', minimum: 1, default: 1 },
} as const;

export const imported: JsonSchema = {
  type: 'object',
  properties: {
    move: text,
    state: { enum: ['ready', 'copying', 'started', 'cancelled'] },
    bytes: count,
  },
};

export const keepBody = closedObject({ proof: { type: 'string', maxLength: 100 } }, ['proof']);
export const kept: JsonSchema = {
  type: 'object',
  properties: {
    proof: text,
    ingress: { type: 'object', properties: { http: count, https: count } },
  },
};

const name = { type: 'string', minLength: 1, maxLength: 500 } as const;
const secretText = { type: ['string', 'null'], maxLength: 65_536 } as const;

const sources: JsonSchema = {
  oneOf: [
    closedObject({ kind: { const: 'image' }, image }, ['kind', 'image']),
    closedObject(
      {
        kind: { const: 'git' },
        ...{ url: { type: 'string', minLength: 1, maxLength: 2000 }, ref: name, path: name },
        commit: { type: 'string', pattern: '^[0-9a-f]{7,64}$' },
      },
      ['kind', 'url'],
    ),
    closedObject(
      { kind: { const: 'tarball' }, sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' } },
      ['kind'],
    ),
    closedObject({ kind: { const: 'template' }, template: name, image }, [
      'kind',
      'template',
      'image',
    ]),
  ],
};

/** The first member of the stream. `app` is what `POST /api/apps` takes. */
export const moveDescription = closedObject(
  {
    version: { const: 1 },
    from: text,
    app: deployConfig,
    secrets: {
      type: 'object',
      maxProperties: 500,
      propertyNames: (env as { propertyNames: JsonSchema }).propertyNames,
      additionalProperties: { type: 'string', maxLength: 65_536 },
    },
    passwords: {
      type: ['array', 'null'],
      maxItems: 100,
      items: closedObject(
        {
          user: { type: 'string', pattern: '^[^:\\x00-\\x1f\\x7f]{1,100}$' },
          hash: { type: 'string', pattern: '^scrypt\\$[A-Za-z0-9_-]{22}\\$[A-Za-z0-9_-]{43}$' },
        },
        ['user', 'hash'],
      ),
    },
    gitToken: secretText,
    webhookSecret: secretText,
    deployKey: secretText,
    certificates: {
      type: 'array',
      maxItems: 30,
      items: closedObject(
        {
          certificate: { type: 'string', maxLength: 200_000 },
          key: { type: 'string', maxLength: 50_000 },
          own: { type: 'boolean' },
        },
        ['certificate', 'key', 'own'],
      ),
    },
    deployed: {
      anyOf: [
        { type: 'null' },
        closedObject({ image: name, source: sources, running: { type: 'boolean' } }, [
          'image',
          'source',
          'running',
        ]),
      ],
    },
  },
  ['version', 'app', 'secrets', 'deployed'],
);
