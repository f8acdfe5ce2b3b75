import type { Shape } from '../manifest/shape.ts';
import type { ValuesOf } from '../manifest/values-of.ts';

/** The JSON Schema of `auth.pages`: the pages of the module, to which links of mails lead. */
export const pagesSchema = {
  type: ['object', 'boolean'],
  additionalProperties: false,
  default: {},
  description:
    'The pages to sign in and to manage the account. false: none, and links of mails lead to pages of yours.',
  properties: {
    path: {
      type: 'string',
      pattern: '^/[A-Za-z0-9/_-]*[A-Za-z0-9_-]$',
      default: '/auth',
      description: 'Where they are served.',
    },
    url: {
      type: ['string', 'null'],
      default: null,
      pattern: '^https?://[^/?#]+$',
      description: 'The origin at which people reach them. Default: APP_URL.',
    },
    languages: {
      type: 'array',
      items: { type: 'string', pattern: '^[a-z]{2,3}(-[A-Za-z0-9]+)*$' },
      minItems: 1,
      uniqueItems: true,
      default: ['en'],
      description:
        'The languages of mails and pages; the first one where none fits. Built in: en de fr es, others by src/texts/<language>.ts.',
    },
    theme: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        accent: {
          type: 'string',
          pattern: '^#[0-9a-fA-F]{6}$',
          default: '#2a55c0',
          description: 'Color of buttons and links: #rrggbb.',
        },
        logo: {
          type: ['string', 'null'],
          default: null,
          description: 'An image file of the project: src/logo.svg',
        },
        css: {
          type: ['string', 'null'],
          default: null,
          description: 'A stylesheet of the project that comes after ours: src/pages.css',
        },
      },
    },
  },
} as const satisfies Shape;

/** `auth.pages` with every default. */
export type PagesModel = Exclude<ValuesOf<typeof pagesSchema>, boolean>;

/** The value of `pages: {}`. */
export const DEFAULT_PAGES: PagesModel = {
  path: pagesSchema.properties.path.default,
  url: null,
  languages: pagesSchema.properties.languages.default,
  theme: { accent: pagesSchema.properties.theme.properties.accent.default, logo: null, css: null },
};
