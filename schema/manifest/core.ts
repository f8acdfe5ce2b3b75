import { CRUD_OPERATIONS } from '../directives/crud.ts';
import { clientSchema, type ClientSettings } from './client.ts';
import { codegenSchema } from './codegen.ts';
import type { Shape } from './shape.ts';
import type { ValuesOf } from './values-of.ts';

/** The sections of the manifest that every project has, as JSON Schema. */
export const coreSchema = {
  name: {
    type: 'string',
    pattern: '^[a-z][a-z0-9-]{0,62}$',
    description: 'Name of the project: lower case letters, digits and dashes.',
    default: 'app',
  },
  defaults: {
    type: 'string',
    pattern: '^\\d+(\\.\\d+)?$',
    description:
      'The release whose defaults hold, "0.2": a later one changes nothing. Absent: "0.1".',
  },
  server: {
    type: 'object',
    additionalProperties: false,
    default: {},
    description: 'Where and how the server listens.',
    properties: {
      port: {
        type: 'integer',
        minimum: 0,
        maximum: 65535,
        default: 8080,
        description: 'PORT in the environment wins.',
      },
      host: {
        type: 'string',
        minLength: 1,
        description:
          'HOST in the environment wins. Default: 0.0.0.0 with sign-in or api.access: user, else 127.0.0.1',
      },
      cors: {
        type: 'array',
        items: { type: 'string', minLength: 1 },
        default: [],
        description:
          'Origins of browsers that may call: https://app.example.com; ["*"]: every origin, without cookies',
      },
      trusted_proxies: {
        type: 'array',
        items: { type: 'string', minLength: 1 },
        default: [],
        description: 'Addresses of the proxies whose X-Forwarded-For is believed: 10.0.0.0/8',
      },
      body_limit: {
        $ref: '#/definitions/size',
        default: '1MiB',
        description: 'The largest body of a request.',
      },
    },
  },
  database: {
    type: 'object',
    additionalProperties: false,
    default: {},
    description: 'How rows are kept. Where they are kept is the setting DATABASE_URL.',
    properties: {
      managed: {
        type: 'boolean',
        default: true,
        description:
          'false: the tables are those of others, and no statement ever changes their structure.',
      },
      ids: {
        enum: ['integer', 'uuid'],
        default: 'integer',
        description: 'integer: 1, 2, 3 … uuid: version 7.',
      },
      transaction_timeout: {
        $ref: '#/definitions/duration',
        default: '10s',
        description: 'How long a transaction of your own code may stay open.',
      },
      isolation: {
        enum: ['serializable', 'repeatable read', 'read committed'],
        default: 'serializable',
        description:
          'How transactions of your own code are kept apart. One that loses to another runs again.',
      },
      read: {
        type: 'object',
        additionalProperties: false,
        default: {},
        description: 'Which read replicas of DATABASE_READ_URL are used.',
        properties: {
          max_lag: {
            $ref: '#/definitions/duration',
            default: '10s',
            description: 'A replica that is further behind gets no reads.',
          },
        },
      },
      migrations: {
        type: 'object',
        additionalProperties: false,
        default: {},
        description: 'How migrations run on PostgreSQL.',
        properties: {
          lock_timeout: {
            $ref: '#/definitions/duration',
            default: '5s',
            description: 'How long a step may wait for a lock, and so let others wait behind it.',
          },
          online_from: {
            $ref: '#/definitions/count',
            default: 10000,
            description: 'Tables with more rows are changed without blocking reads or writes.',
          },
        },
      },
    },
  },
  jobs: {
    type: 'object',
    additionalProperties: false,
    default: {},
    description:
      'The queue of the jobs in src/jobs. Whether this process runs them is the setting JOBS.',
    properties: {
      concurrency: {
        $ref: '#/definitions/count',
        default: 10,
        description: 'How many jobs run at a time in a process.',
      },
      keep: {
        $ref: '#/definitions/duration',
        default: '24h',
        description: 'How long done jobs stay.',
      },
      keep_failed: {
        $ref: '#/definitions/duration',
        default: '30d',
        description: 'How long failed and cancelled jobs stay.',
      },
    },
  },
  observability: {
    type: 'object',
    additionalProperties: false,
    default: {},
    description: 'What the server tells of itself to other programs.',
    properties: {
      traces: {
        type: 'boolean',
        default: false,
        description: 'true: spans for the OpenTelemetry provider that the project registers.',
      },
      metrics: {
        type: ['boolean', 'object'],
        additionalProperties: false,
        default: false,
        description:
          'true: figures for Prometheus, for callers with METRICS_TOKEN or an API key with metrics:read.',
        properties: {
          path: {
            type: 'string',
            pattern: '^/[A-Za-z0-9/_.-]+$',
            default: '/metrics',
            description: 'Where the page is.',
          },
          port: {
            type: ['integer', 'null'],
            minimum: 1,
            maximum: 65535,
            default: null,
            description: 'A port on loopback that the page has for itself.',
          },
        },
      },
    },
  },
  api: {
    type: 'object',
    additionalProperties: false,
    default: {},
    description: 'The GraphQL and REST surface.',
    properties: {
      path: {
        type: 'string',
        pattern: '^/[A-Za-z0-9/_.-]*$',
        default: '/graphql',
        description: 'Where GraphQL answers.',
      },
      access: {
        enum: ['user', 'public'],
        description:
          'What a type without @auth needs. Default: user when there is an auth section, else public.',
      },
      crud: {
        type: ['boolean', 'array'],
        items: { enum: CRUD_OPERATIONS },
        default: false,
        description:
          'true: get, list, connection, aggregate, create, update and delete for every entity, as SDL that you can read; or a list of operations.',
      },
      rest: {
        type: 'boolean',
        default: false,
        description: 'true: a REST module for every entity, at /api/<plural>.',
      },
      limits: {
        type: 'object',
        additionalProperties: false,
        default: {},
        description: 'What one request may ask for.',
        properties: {
          depth: { $ref: '#/definitions/count', default: 12 },
          cost: {
            $ref: '#/definitions/count',
            default: 50000,
            description:
              'The most objects: each list multiplied by its size, without one by its cap; hops of filters count.',
          },
          aliases: { $ref: '#/definitions/count', default: 30 },
          root_fields: { $ref: '#/definitions/count', default: 20 },
          directives: { $ref: '#/definitions/count', default: 50 },
          tokens: { $ref: '#/definitions/count', default: 2000 },
          batch: {
            type: 'integer',
            minimum: 0,
            default: 0,
            description: 'Operations in one request; 0 is off.',
          },
          list: {
            $ref: '#/definitions/count',
            default: 100,
            description: 'The most rows of any list.',
          },
          many: {
            $ref: '#/definitions/count',
            default: 1000,
            description: 'The most rows that one mutation writes at once.',
          },
          time: { $ref: '#/definitions/duration', default: '10s' },
          result: { $ref: '#/definitions/size', default: '10MiB' },
          memory: {
            $ref: '#/definitions/size',
            default: '128MiB',
            description: 'What answers in the making may hold together.',
          },
        },
      },
      introspection: { $ref: '#/definitions/when', default: 'development' },
      graphiql: { $ref: '#/definitions/when', default: 'development' },
      suggestions: { $ref: '#/definitions/when', default: 'development' },
      trusted_documents: {
        type: ['object', 'null'],
        additionalProperties: false,
        default: null,
        description: 'The operations that may run.',
        properties: {
          file: {
            type: 'string',
            minLength: 1,
            default: 'documents.json',
            description: 'The list, from the project folder. With client: it is kept by generate.',
          },
          required: {
            enum: [true, false, 'production'],
            default: true,
            description:
              'true: nothing else runs. production: nothing else runs where NODE_ENV is production.',
          },
        },
      },
      mcp: {
        type: ['object', 'null'],
        additionalProperties: false,
        default: null,
        required: ['tools'],
        description: 'The API as tools of language models, by the Model Context Protocol.',
        properties: {
          tools: {
            enum: ['documents', 'explore', 'both'],
            description:
              'documents: each trusted document is a tool; explore: four tools that search the schema and run operations.',
          },
          writes: { type: 'boolean', default: false, description: 'true: mutations run too.' },
          path: {
            type: 'string',
            pattern: '^/[A-Za-z0-9/_.-]+$',
            default: '/mcp',
            description: 'Where it answers.',
          },
          result: {
            $ref: '#/definitions/size',
            default: '64KiB',
            description: 'The most that a call answers.',
          },
        },
      },
    },
  },
  client: clientSchema,
  codegen: codegenSchema,
} as const satisfies Readonly<Record<string, Shape>>;

/** Definitions that sections share. `units.ts` converts `duration`, `size` and `limit`. */
export const definitions = {
  duration: {
    type: 'string',
    pattern: '^[0-9]+(ms|s|m|h|d)$',
    description: '500ms, 10s, 15m, 24h or 7d',
  },
  size: {
    anyOf: [
      { type: 'string', pattern: '^[0-9]+(B|KiB|MiB|GiB|TiB)$' },
      { type: 'integer', minimum: 0 },
    ],
    description: '512KiB, 1MiB or 2GiB',
  },
  limit: { type: 'string', pattern: '^[1-9][0-9]*/[1-9][0-9]*(ms|s|m|h|d)$', description: '60/1m' },
  count: { type: 'integer', minimum: 1 },
  when: { enum: ['always', 'development', 'never'] },
} as const satisfies Readonly<Record<string, Shape>>;

/** The sections of the manifest that every project has, with every default. */
export type CoreValues = {
  readonly [Name in Exclude<keyof typeof coreSchema, 'client'>]: ValuesOf<
    (typeof coreSchema)[Name]
  >;
} & {
  /** Absent: off. */
  readonly client?: ClientSettings | readonly ClientSettings[];
};
