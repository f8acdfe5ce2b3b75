import type { Shape } from '../manifest/shape.ts';
import type { ValuesOf } from '../manifest/values-of.ts';
import type { Section } from '../manifest/section.ts';

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

/** The `console:` section of the manifest. */
export const consoleSection = {
  name: 'console',
  schema: consoleSchema,
  settingFor: () => 'HOST_PASSWORD',
} as const satisfies Section;

/** The console: its path, and who may use it. */
export interface ConsoleModel {
  readonly path: string;
  readonly enabled: 'always' | 'development' | 'never';
  /** Whether the operator may enter. */
  readonly host: boolean;
  /** When `/api/data` can reach every row. */
  readonly adminData: 'always' | 'development' | 'never';
  /** The permissions in the console, by name of the role. */
  readonly roles: Readonly<Record<string, readonly string[]>>;
  /** The folder of the project's own pages, and those of its files; absent without any. */
  readonly ownPages?: { readonly folder: string; readonly list: readonly ConsoleOwnPage[] };
  /**
   * The values of the project's manifest, for the page `Settings`. Absent in an emitted project,
   * whose server reads the file.
   */
  readonly manifest?: Readonly<Record<string, unknown>>;
}

/** A page of the project's own, as its file defines it. */
export interface ConsoleOwnPage {
  readonly title: string;
  /** The path below `pages/`. */
  readonly path: string;
  readonly permission: string | null;
  /** Relative to the project: `src/console/sales.ts`. */
  readonly file: string;
}
