import type { Shape } from '../manifest/shape.ts';
import type { ValuesOf } from '../manifest/values-of.ts';

/** The JSON Schema of the manifest's `hosting:` section, without the part of `models`. */
export const hostingSchema = {
  type: ['object', 'null'],
  additionalProperties: false,
  description: 'Running containers. Present, even empty, means on.',
  properties: {
    engine: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        kind: { enum: ['auto', 'docker', 'podman', 'swarm'], default: 'auto' },
        socket: {
          type: ['string', 'null'],
          default: null,
          description: 'Default: DOCKER_HOST, then the usual places.',
        },
      },
    },
    domain: {
      type: 'string',
      minLength: 1,
      default: 'localhost',
      description: 'An app answers at <name>.<domain>.',
    },
    access: {
      enum: ['host', 'users'],
      default: 'host',
      description:
        'Who may call: the operator and API keys with the scope, or users with the permission that a route names too.',
    },
    defaults: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        port: { type: 'integer', minimum: 1, maximum: 65535, default: 8080 },
        memory: { $ref: '#/definitions/size', default: '512MiB' },
        cpus: { type: 'number', exclusiveMinimum: 0, default: 1 },
        pids: { $ref: '#/definitions/count', default: 512 },
      },
    },
    deploys: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        keep: { $ref: '#/definitions/count', default: 5 },
        ready_timeout: { $ref: '#/definitions/duration', default: '60s' },
        drain: { $ref: '#/definitions/duration', default: '30s' },
      },
    },
    build: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        timeout: { $ref: '#/definitions/duration', default: '15m' },
        memory: { $ref: '#/definitions/size', default: '2GiB' },
        concurrency: { $ref: '#/definitions/count', default: 1 },
        buildkit: {
          enum: ['auto', 'required'],
          default: 'auto',
          description: 'auto: where the engine has it and a Dockerfile needs it. required: always.',
        },
        cache: {
          $ref: '#/definitions/size',
          default: '10GiB',
          description: 'The most that the build cache may occupy after a build.',
        },
        allow_add_url: { type: 'boolean', default: false },
        from: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          default: ['*'],
          description: 'Images that a Dockerfile may build on.',
        },
      },
    },
    source: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        max: { $ref: '#/definitions/size', default: '256MiB' },
        max_unpacked: { $ref: '#/definitions/size', default: '2GiB' },
        entries: { $ref: '#/definitions/count', default: 50000 },
      },
    },
    git: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        allow_http: { type: 'boolean', default: false },
        allow_private: { type: 'boolean', default: false },
      },
    },
    ingress: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        http: { type: 'integer', minimum: 0, maximum: 65535, default: 80 },
        https: { type: 'integer', minimum: 0, maximum: 65535, default: 443 },
        ports: {
          type: 'string',
          pattern: '^\\d{1,5}-\\d{1,5}$',
          default: '1024-65535',
          description: 'The ports that apps may have besides HTTP.',
        },
        http2: { type: 'boolean', default: true, description: 'HTTP/2 for clients with TLS.' },
        access_log: {
          type: 'boolean',
          default: true,
          description: 'Whether the requests of apps are written to data/requests.',
        },
        api: {
          type: 'boolean',
          default: true,
          description:
            'Whether the host of APP_URL is served too. false leaves it to a proxy in front.',
        },
        acme: {
          type: 'object',
          additionalProperties: false,
          default: {},
          properties: {
            email: { type: ['string', 'null'], default: null },
            directory: { type: ['string', 'null'], default: null },
          },
        },
      },
    },
    registry: {
      type: ['string', 'null'],
      default: null,
      description: 'Where built images go on a Swarm, as registry.example.com/team.',
    },
    previews: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        limit: { $ref: '#/definitions/count', default: 10, description: 'Previews of one app.' },
        expire: {
          $ref: '#/definitions/duration',
          default: '72h',
          description: 'How long a preview lasts after its last change.',
        },
      },
    },
    disk_floor: {
      $ref: '#/definitions/size',
      default: '2GiB',
      description: 'Deploys are refused when less is free.',
    },
    templates: { type: 'string', minLength: 1, default: 'templates/' },
    backups: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        directory: {
          type: 'string',
          minLength: 1,
          default: 'data/backups',
          description: 'The folder of the backup target `local`.',
        },
      },
    },
  },
} as const satisfies Shape;

/** The `hosting:` section with every default. Times are in milliseconds, sizes in bytes. */
export type HostingValues = NonNullable<ValuesOf<typeof hostingSchema>>;
