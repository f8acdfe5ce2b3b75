import { closed, type Shaped, text } from '@twofold/schema/shapes';
import type { AppSource } from '../records/app.ts';
import { deployConfig, env, image, type NamedFields, userName } from '../records/app-shape.ts';

/** What the stream says of the app, before its image and its files. */
export interface MoveDescription {
  readonly version: 1;
  /** The version of the source, for the error of a target that is older. */
  readonly from?: string;
  readonly app: NamedFields;
  readonly secrets: Readonly<Record<string, string>>;
  /** Hashes of `http.basic_auth`: nobody has the passwords. */
  readonly passwords?: readonly { readonly user: string; readonly hash: string }[] | null;
  readonly gitToken?: string | null;
  readonly webhookSecret?: string | null;
  readonly deployKey?: string | null;
  readonly certificates?: readonly MovedCertificate[];
  /** Null for an app that was never deployed. */
  readonly deployed: {
    readonly image: string;
    readonly source: AppSource;
    readonly running: boolean;
  } | null;
}

export interface MovedCertificate {
  readonly certificate: string;
  readonly key: string;
  /** Whether a user has brought it; otherwise it is renewed. */
  readonly own: boolean;
}

const name = { type: 'string', minLength: 1, maxLength: 500 } as const;
const secretText = { type: ['string', 'null'], maxLength: 65_536 } as const;

const sources = {
  oneOf: [
    closed({ kind: { const: 'image' }, image }, ['kind', 'image']),
    closed(
      {
        kind: { const: 'git' },
        url: { type: 'string', minLength: 1, maxLength: 2000 },
        ref: name,
        path: name,
        commit: { type: 'string', pattern: '^[0-9a-f]{7,64}$' },
      },
      ['kind', 'url'],
    ),
    closed({ kind: { const: 'tarball' }, sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' } }, [
      'kind',
    ]),
    closed({ kind: { const: 'template' }, template: name, image }, ['kind', 'template', 'image']),
  ],
};

/** The first member of the stream. `app` is what `POST /api/apps` takes. */
export const moveDescription: Shaped<MoveDescription> = closed(
  {
    version: { const: 1 },
    from: text,
    app: deployConfig,
    secrets: {
      type: 'object',
      maxProperties: 500,
      propertyNames: env.propertyNames,
      additionalProperties: { type: 'string', maxLength: 65_536 },
    },
    passwords: {
      type: ['array', 'null'],
      maxItems: 100,
      items: closed(
        {
          user: userName,
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
      items: closed(
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
        closed({ image: name, source: sources, running: { type: 'boolean' } }, [
          'image',
          'source',
          'running',
        ]),
      ],
    },
  },
  ['version', 'app', 'secrets', 'deployed'],
);
