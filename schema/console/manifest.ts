import type { Shape } from '../manifest/shape.ts';
import type { ValuesOf } from '../manifest/values-of.ts';

const permissions = { type: 'array', items: { type: 'string', minLength: 1 } } as const;

/** The JSON Schema of the manifest's `console:` section. */
export const consoleSchema = {
  type: ['object', 'null'],
  additionalProperties: false,
  description:
    'A web application for the people who run this server. Present, even empty, means on.',
  properties: {
    path: {
      type: 'string',
      // Browsers read `//x` as the host x.
      pattern: '^(/[A-Za-z0-9_.-]+)*/?$',
      default: '/console',
      description: 'Where it answers.',
    },
    enabled: { $ref: '#/definitions/when', default: 'development' },
    host: {
      type: 'boolean',
      default: true,
      description: 'Whether the operator, who knows HOST_PASSWORD, may enter.',
    },
    admin_data: {
      $ref: '#/definitions/when',
      default: 'development',
      description:
        'Whether /api/data reads and writes every row past the rules of the schema, for who has data:read and data:write.',
    },
    pages: {
      type: 'string',
      pattern: '^src/[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*/?$',
      default: 'src/console/',
      description: 'The folder of pages of your own.',
    },
    roles: {
      anyOf: [
        { type: 'array', items: { type: 'string', minLength: 1 } },
        { type: 'object', additionalProperties: permissions },
      ],
      description:
        'Roles whose users may enter, with every permission or with those listed. Default: auth.roles.first.',
    },
  },
} as const satisfies Shape;

/** The `console:` section with its defaults. */
export type ConsoleValues = NonNullable<ValuesOf<typeof consoleSchema>>;
