import type { Shape } from './shape.ts';
import type { ValuesOf } from './values-of.ts';

const properties = {
  documents: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    minItems: 1,
    description:
      'Globs of the files with documents, from the project folder: ../web/src/**/*.{graphql,ts,tsx}. ! excludes.',
  },
  out: {
    type: 'string',
    minLength: 1,
    description: 'The folder of the typed documents and the client: ../web/src/api/',
  },
  format: {
    enum: ['string', 'ast'],
    default: 'string',
    description: 'string: our client, TanStack Query. ast: Apollo Client, urql.',
  },
  send: {
    enum: ['hash', 'text', 'hash-only'],
    default: 'hash',
    description:
      'hash: the hash, then the text if the server does not know it. hash-only: no text is in the bundle.',
  },
  scalars: {
    type: 'object',
    additionalProperties: { type: 'string', minLength: 1 },
    default: {},
    description: 'The TypeScript type that the JSON of a scalar has: { Money: string }',
  },
  imports: {
    enum: ['auto', 'none', '.ts', '.js'],
    default: 'auto',
    description: 'How the files import each other. auto reads the tsconfig.json above out.',
  },
} as const satisfies Readonly<Record<string, Shape>>;

const one = {
  type: 'object',
  additionalProperties: false,
  required: ['documents', 'out'],
  properties,
} as const satisfies Shape;

/** `client:` of the manifest: a section, or a list of them, one for each front end. */
export const clientSchema = {
  type: ['object', 'array'],
  additionalProperties: false,
  required: ['documents', 'out'],
  properties,
  items: one,
  minItems: 1,
  description: 'Typed documents and a client for front ends. Absent: off.',
} as const satisfies Shape;

/** One front end. */
export type ClientSettings = ValuesOf<typeof one>;
